//! Ranges of numbers in documents.

use crate::issue::Said;
use crate::number::number;
use crate::said;
use crate::unit::Unit;
use serde_json::Value;
use std::ops::RangeInclusive;

/// The numbers that a key accepts, and the message for others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    /// Whether `low` itself is excluded.
    above: bool,
    /// Whether `high` itself is excluded.
    below: bool,
    wording: Wording,
    too_low: Option<[&'static str; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wording {
    /// "must be from 1 to 2".
    Interval,
    /// A probability; the message suggests that a number above 1 is a percentage.
    Probability,
    /// "is not of the form 2^k - 1".
    Window,
}

impl Range {
    /// Any number.
    pub const ANY: Self = Self::closed(f64::NEG_INFINITY, f64::INFINITY);

    /// A probability below 1: from 0 to below 1.
    pub const PROBABILITY: Self =
        Self { below: true, wording: Wording::Probability, ..Self::closed(0.0, 1.0) };

    /// A transmit power in dBm.
    pub const TX_POWER: Self = Self::closed(-50.0, 60.0);

    /// A fraction: above 0 up to 1.
    pub const FRACTION: Self = Self { above: true, ..Self::closed(0.0, 1.0) };

    /// Between 0 and 1, both excluded.
    pub const OPEN_UNIT: Self = Self { above: true, below: true, ..Self::closed(0.0, 1.0) };

    /// A contention window in slots, of the form 2^k - 1, at most 32767 (802.11-2020 clause
    /// 9.4.2.28).
    pub const CONTENTION_WINDOW: Self =
        Self { wording: Wording::Window, ..Self::closed(1.0, 32_767.0) };

    /// From `low` to `high`.
    pub const fn closed(low: f64, high: f64) -> Self {
        Self { low, high, above: false, below: false, wording: Wording::Interval, too_low: None }
    }

    /// Above `low`, up to `high`.
    pub const fn above(low: f64, high: f64) -> Self {
        Self { above: true, ..Self::closed(low, high) }
    }

    /// The same range with a message and a remedy of its own for numbers that are too low; `{is}`
    /// stands for the number.
    #[must_use]
    pub const fn too_low(self, said: [&'static str; 2]) -> Self {
        Self { too_low: Some(said), ..self }
    }

    fn contains(&self, value: f64) -> bool {
        let high_enough = if self.above { value > self.low } else { value >= self.low };
        let low_enough = if self.below { value < self.high } else { value <= self.high };
        let formed =
            self.wording != Wording::Window || (value as u64).saturating_add(1).is_power_of_two();
        high_enough && low_enough && formed
    }

    /// Why a number is not in the range, with the number written as `is`; `None` if it is.
    pub(crate) fn fault(&self, value: f64, is: &str, unit: Unit) -> Option<Said> {
        if *self == Self::ANY || self.contains(value) {
            return None;
        }
        if let Some([message, remedy]) = self.too_low.filter(|_| value <= self.low) {
            return Some(Said::new(message.replace("{is}", is), remedy));
        }
        let (low, high, unit) = (number(self.low), number(self.high), unit.symbol());
        let rule = match (self.wording, self.above, self.below) {
            (Wording::Probability, ..) => return Some(probability(value, is)),
            (Wording::Window, ..) => return Some(contention_window(value, is, self.high)),
            (_, true, true) => format!("must be in ({low}, {high}), is {is}"),
            (_, true, _) if self.high.is_infinite() => {
                format!("must be above {low}{unit}, is {is}")
            }
            (_, true, _) => format!("must be above {low} and at most {high}{unit}, is {is}"),
            (_, _, true) => format!("must be from {low} to below {high}{unit}, is {is}"),
            _ if self.high.is_infinite() => format!("must be at least {low}{unit}, is {is}"),
            _ => format!("must be from {low} to {high}{unit}, is {is}"),
        };
        Some(rule.into())
    }

    /// Writes the bounds into the schema of a number.
    pub(crate) fn describe(&self, schema: &mut Value) {
        let whole = schema.get("type").and_then(Value::as_str) == Some("integer");
        let bound = |value: f64| if whole { Value::from(value as u64) } else { Value::from(value) };
        if self.low.is_finite() {
            let key = if self.above { "exclusiveMinimum" } else { "minimum" };
            schema[key] = bound(self.low);
        }
        if self.high.is_finite() {
            let key = if self.below { "exclusiveMaximum" } else { "maximum" };
            schema[key] = bound(self.high);
        }
    }
}

fn probability(value: f64, is: &str) -> Said {
    let remedy = if value > 1.0 && value <= 100.0 {
        format!("{is} % is {}", number(value / 100.0))
    } else {
        String::new()
    };
    Said::new(format!("a probability is from 0 to below 1, is {is}"), remedy)
}

fn contention_window(value: f64, is: &str, largest: f64) -> Said {
    let nearest = if value < 1.0 {
        "the least is 1".to_owned()
    } else if value > largest {
        format!("the most is {}", number(largest))
    } else if (value as u64).is_power_of_two() {
        format!("the nearest is {}", (value as u64).max(2) - 1)
    } else {
        let above = (value as u64).next_power_of_two();
        format!("the nearest are {} and {}", above / 2 - 1, above - 1)
    };
    said!("{is} is not of the form 2^k - 1", "{nearest}")
}

impl From<RangeInclusive<f64>> for Range {
    fn from(range: RangeInclusive<f64>) -> Self {
        Self::closed(*range.start(), *range.end())
    }
}

impl From<RangeInclusive<u64>> for Range {
    fn from(range: RangeInclusive<u64>) -> Self {
        Self::closed(*range.start() as f64, *range.end() as f64)
    }
}

impl From<std::ops::RangeFrom<f64>> for Range {
    fn from(range: std::ops::RangeFrom<f64>) -> Self {
        Self::closed(range.start, f64::INFINITY)
    }
}

impl From<std::ops::RangeFrom<u64>> for Range {
    fn from(range: std::ops::RangeFrom<u64>) -> Self {
        Self::closed(range.start as f64, f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(range: Range, value: f64, key: &str) -> String {
        range
            .fault(value, &number(value), Unit::of(key))
            .map_or(String::new(), |said| said.to_string())
    }

    #[test]
    fn a_message_names_the_range_the_unit_and_the_value() {
        let range = Range::from(0.0..=60_000.0);
        assert_eq!(fault_of(range, 5.0, "target_ms"), "");
        assert_eq!(fault_of(range, -1.0, "target_ms"), "must be from 0 to 60000 ms, is -1");
        assert_eq!(fault_of(range, f64::NAN, "target_ms"), "must be from 0 to 60000 ms, is NaN");
        assert_eq!(fault_of(Range::from(1..=255), 300.0, "limit"), "must be from 1 to 255, is 300");
        assert_eq!(fault_of(Range::FRACTION, 0.0, "p"), "must be above 0 and at most 1, is 0");
        assert_eq!(fault_of(Range::OPEN_UNIT, 1.0, "beta"), "must be in (0, 1), is 1");
    }

    #[test]
    fn a_probability_above_1_is_likely_a_percentage() {
        let message = "a probability is from 0 to below 1, is 5; 5 % is 0.05";
        assert_eq!(fault_of(Range::PROBABILITY, 5.0, "loss"), message);
        assert_eq!(fault_of(Range::PROBABILITY, 0.0, "loss"), "");
    }

    #[test]
    fn a_contention_window_has_its_form() {
        let window = |value| fault_of(Range::CONTENTION_WINDOW, value, "cw_min");
        assert_eq!(window(31.0), "");
        assert_eq!(window(30.0), "30 is not of the form 2^k - 1; the nearest are 15 and 31");
        assert_eq!(window(32.0), "32 is not of the form 2^k - 1; the nearest is 31");
        assert_eq!(window(0.0), "0 is not of the form 2^k - 1; the least is 1");
        assert_eq!(window(65_535.0), "65535 is not of the form 2^k - 1; the most is 32767");
    }

    #[test]
    fn what_is_too_low_may_have_a_message_of_its_own() {
        let range = Range::from(1..=9).too_low(["0 would drop every packet", ""]);
        assert_eq!(fault_of(range, 0.0, "limit_packets"), "0 would drop every packet");
        assert_eq!(fault_of(range, 10.0, "limit_packets"), "must be from 1 to 9 packets, is 10");
        let range = Range::above(1.0, 9.0).too_low(["is {is}: too steep", ""]);
        assert_eq!(fault_of(range, 0.5, "shape"), "is 0.5: too steep");
    }
}
