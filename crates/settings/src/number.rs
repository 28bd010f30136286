//! Numbers in documents, and the types to which they are converted.

use crate::check::Check;
use crate::fault::Fault;
use crate::range::Range;
use crate::schema::Definitions;
use crate::setting::Setting;
use crate::tree::{Node, Value};
use crate::unit::Unit;
use kernel::{BitRate, Bytes, Db, Dbm, Duration, Instant, Segments};
use serde_json::{Value as Json, json};

/// A quantity that a document writes as a number.
pub trait Number: Sized {
    /// The quantity of this many units.
    fn written(value: f64, unit: Unit) -> Self;
}

/// Formats a number for people: integers without a point, very large and very small ones with an
/// exponent, at most six digits.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value == value.trunc() && value.abs() < 1e9 {
        return format!("{value:.0}");
    }
    if !(1e-4..1e9).contains(&value.abs()) {
        let short = format!("{value:.5e}");
        // Integers with more digits than the exponent form has are printed in full.
        if value == value.trunc() && value.abs() < 1e15 && short.parse() != Ok(value) {
            return format!("{value:.0}");
        }
        return match short.split_once('e') {
            Some((digits, exponent)) if digits.contains('.') => {
                format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => short,
        };
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whether a number is in the range of its key.
#[inline(never)]
fn check_number(node: &Node, check: &mut Check<'_>) {
    let (value, is) = match node.value {
        // Integers are shown with all digits.
        Value::Integer(value) => (value as f64, value.to_string()),
        Value::Float(value) => (value, number(value)),
        _ => return,
    };
    if let Some(message) = check.range.fault(value, &is, check.unit) {
        check.faults.fault(check.at, message);
    }
}

/// Quantities that are written with fractions.
macro_rules! real {
    ($(
        $ty:ty: |$value:ident, $unit:ident| $from:expr, |$this:ident, $to_unit:ident| $to:expr;
    )*) => {$(
        impl Number for $ty {
            fn written($value: f64, $unit: Unit) -> Self {
                $from
            }
        }
        impl Setting for $ty {
            fn read(node: &Node, unit: Unit) -> Result<Self, Fault> {
                node.number().map(|value| Self::written(value, unit))
            }
            fn write(&self, $to_unit: Unit) -> Json {
                let $this = *self;
                Json::from($to)
            }
            fn schema(_: Unit, range: &Range, _: &mut Definitions) -> Json {
                let mut schema = json!({ "type": "number" });
                range.describe(&mut schema);
                schema
            }
            fn check(node: &Node, mut check: Check<'_>) {
                check_number(node, &mut check);
            }
        }
    )*};
}

real! {
    f64: |value, _unit| value, |this, _unit| this;
    Db: |value, _unit| Self(value), |this, _unit| this.0;
    Dbm: |value, _unit| Self(value), |this, _unit| this.0;
    BitRate: |value, _unit| Self::from_mbps(value), |this, _unit| this.0 as f64 / 1e6;
    Duration: |value, unit| Self::from_secs_f64(value * unit.seconds()),
        |this, unit| this.0 as f64 / unit.nanoseconds();
    Instant: |value, unit| Self::ZERO + Duration::from_secs_f64(value * unit.seconds()),
        |this, unit| this.0 as f64 / unit.nanoseconds();
}

/// Quantities that are written as whole numbers.
macro_rules! whole {
    ($($ty:ty: |$value:ident| $from:expr, |$this:ident| $to:expr;)*) => {$(
        impl Number for $ty {
            fn written(value: f64, _: Unit) -> Self {
                let $value = value as u64;
                $from.expect("a default is of its type")
            }
        }
        impl Setting for $ty {
            fn read(node: &Node, _: Unit) -> Result<Self, Fault> {
                let $value = node.whole()?;
                $from.ok_or_else(|| Fault::here(format!("{} is too large", $value)))
            }
            fn write(&self, _: Unit) -> Json {
                let $this = *self;
                Json::from($to)
            }
            fn schema(_: Unit, range: &Range, _: &mut Definitions) -> Json {
                let mut schema = json!({ "type": "integer", "minimum": 0 });
                range.describe(&mut schema);
                schema
            }
            fn check(node: &Node, mut check: Check<'_>) {
                check_number(node, &mut check);
            }
        }
    )*};
}

whole! {
    u64: |value| Some(value), |this| this;
    u32: |value| Self::try_from(value).ok(), |this| u64::from(this);
    u16: |value| Self::try_from(value).ok(), |this| u64::from(this);
    u8: |value| Self::try_from(value).ok(), |this| u64::from(this);
    usize: |value| Self::try_from(value).ok(), |this| this as u64;
    Bytes: |value| Some(Self(value)), |this| this.0;
    Segments: |value| Some(Self(value as f64)), |this| this.0 as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_written() {
        let prints = |value: f64, text: &str| assert_eq!(number(value), text);
        prints(30.0, "30");
        prints(5.5, "5.5");
        prints(0.1, "0.1");
        prints(-3.0, "-3");
        prints(1e300, "1e300");
        prints(1e9, "1e9");
        prints(1_073_741_824.0, "1073741824");
        prints(1.25e-7, "1.25e-7");
        prints(0.0, "0");
        prints(f64::NAN, "NaN");
        prints(f64::INFINITY, "inf");
        prints(f64::NEG_INFINITY, "-inf");
    }

    #[test]
    fn times_and_rates_come_back_as_they_were_written() {
        for (value, key) in [(5.0, "a_ms"), (0.1, "a_ms"), (300.0, "a_us"), (1.5, "a_s")] {
            let unit = Unit::of(key);
            assert_eq!(Duration::written(value, unit).write(unit), value, "{key}");
        }
        assert_eq!(BitRate::from_mbps(5.5).write(Unit::NONE), 5.5);
    }
}
