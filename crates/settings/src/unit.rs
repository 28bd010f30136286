//! Units of numbers: the last word of a key.

/// The unit in which a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The last word of the key; empty without a unit.
    suffix: &'static str,
    /// The text after a number in a message.
    symbol: &'static str,
}

impl Unit {
    /// A number without a unit.
    pub const NONE: Self = Self { suffix: "", symbol: "" };

    /// A unit stands before those with which it ends.
    const ALL: [Self; 17] = [
        Self { suffix: "per_s", symbol: " per second" },
        Self { suffix: "s", symbol: " s" },
        Self { suffix: "ms", symbol: " ms" },
        Self { suffix: "us", symbol: " us" },
        Self { suffix: "ns", symbol: " ns" },
        Self { suffix: "mbps", symbol: " Mb/s" },
        Self { suffix: "bytes", symbol: " bytes" },
        Self { suffix: "segments", symbol: " segments" },
        Self { suffix: "packets", symbol: " packets" },
        Self { suffix: "attempts", symbol: " attempts" },
        Self { suffix: "hops", symbol: " hops" },
        Self { suffix: "m", symbol: " m" },
        Self { suffix: "db", symbol: " dB" },
        Self { suffix: "dbm", symbol: " dBm" },
        Self { suffix: "mhz", symbol: " MHz" },
        Self { suffix: "ghz", symbol: " GHz" },
        Self { suffix: "mps", symbol: " m/s" },
    ];

    /// The unit that a key names with its last word.
    pub const fn of(key: &str) -> Self {
        let mut number = 0;
        while number < Self::ALL.len() {
            if ends_with_word(key.as_bytes(), Self::ALL[number].suffix.as_bytes()) {
                return Self::ALL[number];
            }
            number += 1;
        }
        Self::NONE
    }

    /// The text after a number in a message, with a space before it.
    pub fn symbol(self) -> &'static str {
        self.symbol
    }

    /// The number of nanoseconds in one unit.
    ///
    /// # Panics
    /// If the unit is none of time: the key of a `Duration` ends with one.
    pub(crate) fn nanoseconds(self) -> f64 {
        match self.suffix {
            "s" => 1e9,
            "ms" => 1e6,
            "us" => 1e3,
            "ns" => 1.0,
            _ => unreachable!("the key of a time ends with _s, _ms, _us or _ns"),
        }
    }

    /// The factor that converts a time in this unit to seconds.
    pub(crate) fn seconds(self) -> f64 {
        match self.suffix {
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            _ => 1e-9,
        }
    }
}

/// Whether a key ends with an underscore and this word.
const fn ends_with_word(key: &[u8], word: &[u8]) -> bool {
    if key.len() < word.len() + 2 || key[key.len() - word.len() - 1] != b'_' {
        return false;
    }
    let mut at = 0;
    while at < word.len() {
        if key[key.len() - word.len() + at] != word[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_key_is_its_unit() {
        assert_eq!(Unit::of("target_delay_ms").symbol(), " ms");
        assert_eq!(Unit::of("rate_mbps").symbol(), " Mb/s");
        assert_eq!(Unit::of("frames_per_s").symbol(), " per second");
        assert_eq!(Unit::of("beta"), Unit::NONE);
        assert_eq!(Unit::of("ms"), Unit::NONE, "a key is more than its unit");
    }
}
