//! HE TB PPDUs, the frames around them, and what they tell of queues.

use crate::mu::durations::{DELIMITER, announced, control};
use crate::mu::fill::{End, Unit};
use kernel::Duration;

/// MAC header with `QoS` Control and FCS.
const NULL_MPDU: u64 = 24 + 2 + 4;
/// HT Control, which has the sizes of all queues (clause 9.2.4.6a.4).
const HT_CONTROL: u64 = 4;
/// The same and LLC.
pub(super) const AROUND_MSDU: u64 = NULL_MPDU + 8;
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
}

/// A `QoS` Null that answers a Trigger frame, in an A-MPDU.
pub(super) const NULL: u64 = DELIMITER + NULL_MPDU + HT_CONTROL;

/// Where the longest PPDU that is announced to last no longer ends.
pub(super) fn last(unit: Unit, longest: Duration) -> Option<End> {
    let end = unit.last((longest.0 / 100).checked_sub(480)? / 144)?;
    if announced(end) <= longest {
        return Some(end);
    }
    let symbols = end.symbols - 1;
    (symbols > 0).then_some(End { symbols, ..end })
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
