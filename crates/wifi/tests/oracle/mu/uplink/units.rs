//! HE TB PPDUs, the frames around them, and what they tell of queues.

use crate::mu::durations::{DELIMITER, control, tenths_of_us, twelfths};
use kernel::Duration;

/// MAC header with `QoS` Control and FCS.
const NULL_MPDU: u64 = 24 + 2 + 4;
/// HT Control, which has the sizes of all queues (clause 9.2.4.6a.4).
const HT_CONTROL: u64 = 4;
/// The same and LLC.
pub(super) const AROUND_MSDU: u64 = NULL_MPDU + 8;
/// Data tones of a resource unit, and those of a quarter of a symbol (table 27-28).
const QUARTERS: [(u64, u64); 4] = [(24, 6), (48, 12), (102, 24), (234, 60)];

/// Trigger frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// For data, which is acknowledged.
    Basic,
    /// For the sizes of queues.
    Bsrp,
}

impl Kind {
    /// A Trigger frame to so many stations, with padding for so many µs at 24 Mb/s (clauses
    /// 9.3.1.22 and 26.5.2.2.3).
    pub(super) fn lasts(self, users: u64, padding_us: u64) -> Duration {
        // Trigger Dependent User Info.
        let each = if self == Self::Basic { 5 + 1 } else { 5 };
        control(28 + each * users + 12 * padding_us.div_ceil(4))
    }

    /// A `QoS` Null that answers it, in an A-MPDU.
    pub(super) const fn null(self) -> u64 {
        match self {
            Self::Basic => DELIMITER + NULL_MPDU,
            Self::Bsrp => DELIMITER + NULL_MPDU + HT_CONTROL,
        }
    }
}

/// A resource unit of an HE TB PPDU with a guard interval of 1.6 µs and 2x HE-LTF.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) tones: u64,
    pub(super) mcs: u8,
}

/// The symbols of a PPDU, and how many quarters of the last its data fills.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) symbols: u64,
    pub(super) quarters: u64,
}

impl Unit {
    /// Bits of a symbol, and of a quarter (clause 27.3.12.5).
    fn bits(self) -> (u64, u64) {
        let quarter = QUARTERS.iter().find(|(tones, _)| *tones == self.tones).expect("a size").1;
        let bits = |tones: u64| tones * twelfths(self.mcs) / 12;
        (bits(self.tones), bits(quarter))
    }

    /// Where the data of a PSDU ends.
    pub(super) fn end(self, psdu: u64) -> End {
        let (symbol, quarter) = self.bits();
        let bits = 16 + 8 * psdu + 6;
        let quarters = match bits % symbol {
            0 => 4,
            rest => rest.div_ceil(quarter).min(4),
        };
        End { symbols: bits.div_ceil(symbol), quarters }
    }

    /// The bytes of a PSDU and its padding up to there.
    pub(super) fn room(self, end: End) -> u64 {
        let (symbol, quarter) = self.bits();
        let bits = match end.quarters {
            4 => end.symbols * symbol,
            quarters => (end.symbols - 1) * symbol + quarters * quarter,
        };
        bits.saturating_sub(16 + 6) / 8
    }

    /// Where the longest PPDU that is announced to last no longer ends.
    pub(super) fn last(longest: Duration) -> Option<End> {
        let symbols = (longest.0 / 100).checked_sub(480)? / 144;
        let end = End { symbols, quarters: 4 };
        let fits = announced(end) <= longest;
        let end = End { symbols: if fits { symbols } else { symbols.checked_sub(1)? }, ..end };
        (end.symbols > 0).then_some(end)
    }
}

/// HE TB PPDUs.
pub(super) fn lasts(end: End) -> Duration {
    tenths_of_us(480 + 144 * end.symbols)
}

/// The same up to the end that L-SIG announces.
pub(super) fn announced(end: End) -> Duration {
    tenths_of_us(200 + (480 + 144 * end.symbols - 200).next_multiple_of(40))
}

/// A Multi-STA BlockAck, with a bitmap of 256 bits to those who have sent several MPDUs (clause
/// 9.3.1.8.7).
pub(super) fn multi_sta(mpdus: impl Iterator<Item = usize>) -> Duration {
    control(22 + mpdus.map(|mpdus| if mpdus == 1 { 2 } else { 36 }).sum::<u64>())
}

/// The Queue Size of `QoS` Control: rounded up (clause 9.2.4.5.6).
pub(super) fn queue_size(bytes: u64) -> u64 {
    let scales = [(0, 16), (1024, 256), (17_408, 2048), (148_480, 32_768)];
    let fits = |&&(least, unit): &&(u64, u64)| bytes.saturating_sub(least).div_ceil(unit) <= 63;
    let &(least, unit) = scales.iter().find(fits).expect("queues are short");
    least + bytes.saturating_sub(least).div_ceil(unit) * unit
}
