//! The LENGTH field of L-SIG in HE PPDUs, and the UL Length of a Trigger frame (802.11ax-2021
//! clauses 27.3.11.5 and 26.5.2.2.4).
//!
//! A third party computes from it how long a PPDU lasts: in steps of 4 µs.

use crate::phy::Band;
use crate::phy::layout::SIGNAL_EXTENSION;
use kernel::Duration;

/// L-STF, L-LTF and L-SIG, which LENGTH does not count.
const LEGACY: u64 = 20_000;
/// Duration of a symbol of L-SIG's rate, 6 Mb/s, which carries three bytes.
const STEP: u64 = 4000;

/// The format of an HE PPDU (clause 27.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeFormat {
    /// To or from a single user.
    Su,
    /// To or from a single user with extended range.
    ErSu,
    /// To several users.
    Mu,
    /// From one of several users whom a Trigger frame has asked.
    Tb,
}

impl HeFormat {
    /// What LENGTH modulo 3 tells apart (`m` of equation 27-11).
    const fn remainder(self) -> u64 {
        match self {
            Self::Su | Self::Tb => 2,
            Self::ErSu | Self::Mu => 1,
        }
    }

    /// LENGTH of a PPDU that lasts so long, its signal extension included (equation 27-11).
    pub const fn length(self, lasting: Duration, band: Band) -> u16 {
        let legacy = lasting.0.saturating_sub(extension(band).0 + LEGACY);
        (3 * legacy.div_ceil(STEP)).saturating_sub(3 + self.remainder()) as u16
    }

    /// How long a PPDU with this LENGTH lasts for a third party (clause 27.3.22, RXTIME).
    pub const fn announced(self, length: u16, band: Band) -> Duration {
        let steps = (length as u64 + 3 + self.remainder()).div_ceil(3);
        Duration(LEGACY + STEP * steps + extension(band).0)
    }
}

/// Signal extension of a band.
pub(super) const fn extension(band: Band) -> Duration {
    match band {
        Band::Ghz2_4 => SIGNAL_EXTENSION,
        Band::Ghz5 | Band::Ghz6 => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use HeFormat::{ErSu, Mu, Su, Tb};

    #[test]
    fn lengths_and_what_they_announce() {
        // (format, TXTIME in ns, LENGTH, announced µs). 76 and 418 are the limits below which ns-3
        // clears CS Required.
        let expected = [
            (Tb, 1_502_400, 1108, 1504),
            (Tb, 76_800, 40, 80),
            (Tb, 5_484_000, 4093, 5484),
            (Tb, 128_000, 76, 128),
            (Tb, 584_000, 418, 584),
            (Tb, 584_100, 421, 588),
            (Su, 192_800, 127, 196),
            (Mu, 74_400, 38, 76),
            (ErSu, 76_000, 38, 76),
        ];
        for (format, txtime, length, announced) in expected {
            assert_eq!(format.length(Duration(txtime), Band::Ghz5), length, "{format:?} {txtime}");
            let told = format.announced(length, Band::Ghz5);
            assert_eq!(told, Duration::from_micros(announced), "{format:?} {length}");
            let with_extension = Duration(txtime + 6000);
            assert_eq!(format.length(with_extension, Band::Ghz2_4), length);
            let told = format.announced(length, Band::Ghz2_4);
            assert_eq!(told, Duration::from_micros(announced + 6));
        }
    }

    #[test]
    fn the_announced_end_is_less_than_4_us_late_and_tells_the_format() {
        for format in [Su, ErSu, Mu, Tb] {
            for txtime in (40_000..200_000).step_by(100) {
                let length = format.length(Duration(txtime), Band::Ghz6);
                let late = format.announced(length, Band::Ghz6).0 - txtime;
                assert!(late < 4000, "{format:?}: {txtime} is {late} late");
                assert_eq!(u64::from(length) % 3, 3 - format.remainder());
            }
        }
    }
}
