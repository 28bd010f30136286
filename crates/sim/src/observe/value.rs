//! The values of results.

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A measured quantity.
    Number(f64),
    /// A count.
    Count(u64),
    /// A name.
    Text(String),
    /// There was nothing to measure.
    None,
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Number(value) } else { Self::None }
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Count(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}
