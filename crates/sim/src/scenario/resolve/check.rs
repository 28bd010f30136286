//! The collector of faults, and the rules that many keys share.

use crate::plan::Plan;
use crate::scenario::Issue;
use kernel::{Bytes, Duration};
use std::fmt::Display;

/// Faults found so far.
#[derive(Debug, Default)]
pub(super) struct Check {
    issues: Vec<Issue>,
}

impl Check {
    pub(super) fn fault(&mut self, path: impl Display, message: impl Into<String>) {
        self.issues.push(Issue { path: path.to_string(), message: message.into() });
    }

    /// Takes over what another has found at those paths.
    pub(super) fn absorb(&mut self, other: Self, at: impl Fn(&str) -> bool) {
        self.issues.extend(other.issues.into_iter().filter(|issue| at(&issue.path)));
    }

    /// The plan, if nothing was found.
    pub(super) fn finish(self, plan: Plan) -> Result<Plan, Vec<Issue>> {
        if self.issues.is_empty() { Ok(plan) } else { Err(self.issues) }
    }

    /// How many faults were found.
    pub(super) fn faults(&self) -> usize {
        self.issues.len()
    }

    pub(super) fn found_nothing(&self) -> bool {
        self.issues.is_empty()
    }

    /// A number from `low` to `high`.
    pub(super) fn real(&mut self, path: impl Display, value: f64, low: f64, high: f64) -> f64 {
        self.quantity(path, value, low, high, "")
    }

    /// A time in seconds from `low` to `high`.
    pub(super) fn seconds(&mut self, path: impl Display, value: f64, low: f64, high: f64) -> f64 {
        self.quantity(path, value, low, high, " s")
    }

    /// A time in milliseconds from `low` to `high`.
    pub(super) fn millis(
        &mut self,
        path: impl Display,
        value: f64,
        low: f64,
        high: f64,
    ) -> Duration {
        Duration::from_secs_f64(self.quantity(path, value, low, high, " ms") * 1e-3)
    }

    fn quantity(&mut self, path: impl Display, value: f64, low: f64, high: f64, unit: &str) -> f64 {
        if (low..=high).contains(&value) {
            return value;
        }
        let (is, from, to) = (number(value), number(low), number(high));
        self.fault(path, format!("must be from {from} to {to}{unit}, is {is}"));
        // Any value in range goes on; a large one stays large, so that no further fault follows.
        if value > high { high } else { low }
    }

    /// A probability from 0 to below 1.
    pub(super) fn probability(&mut self, path: impl Display, value: f64) -> f64 {
        if (0.0..1.0).contains(&value) {
            return value;
        }
        let is = number(value);
        let remedy = if value > 1.0 && value <= 100.0 {
            format!("; {is} % is {}", number(value / 100.0))
        } else {
            String::new()
        };
        self.fault(path, format!("a probability is from 0 to below 1, is {is}{remedy}"));
        0.0
    }

    /// A part of a whole, above 0 up to 1.
    pub(super) fn fraction(&mut self, path: impl Display, value: f64) -> f64 {
        if value > 0.0 && value <= 1.0 {
            return value;
        }
        self.fault(path, format!("must be above 0 and at most 1, is {}", number(value)));
        1.0
    }

    /// A whole number from `low` to `high`.
    pub(super) fn whole(&mut self, path: impl Display, value: u64, low: u64, high: u64) -> u64 {
        if !(low..=high).contains(&value) {
            self.fault(path, format!("must be from {low} to {high}, is {value}"));
        }
        value.clamp(low, high)
    }

    /// An amount of data from `low` to `high` bytes.
    pub(super) fn bytes(&mut self, path: impl Display, value: u64, low: u64, high: u64) -> Bytes {
        if !(low..=high).contains(&value) {
            self.fault(path, format!("must be from {low} to {high} bytes, is {value}"));
        }
        Bytes(value.clamp(low, high))
    }
}

/// A number as a person writes it: whole ones without a point, huge and tiny ones with an exponent,
/// nothing beyond six digits.
pub(super) fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value == value.trunc() && value.abs() < 1e9 {
        return format!("{value:.0}");
    }
    if !(1e-4..1e9).contains(&value.abs()) {
        let short = format!("{value:.5e}");
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
        prints(1.25e-7, "1.25e-7");
        prints(0.0, "0");
        prints(f64::NAN, "NaN");
        prints(f64::INFINITY, "inf");
        prints(f64::NEG_INFINITY, "-inf");
    }
}
