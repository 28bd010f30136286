//! What a radio tells its queue about the link to a station.

use super::AirtimeEstimate;
use kernel::{BitRate, Bytes};
use wire::NodeId;

/// The state of the link from a radio to a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// The station at the other end.
    pub station: NodeId,
    /// Its weight in shares of airtime.
    pub weight: u32,
    /// The throughput that Linux's rate control expects.
    pub expected: BitRate,
    /// How much an A-MPDU may hold.
    pub room: Room,
    /// How Linux estimates the airtime of a packet.
    pub airtime: AirtimeEstimate,
}

impl LinkState {
    /// The weight of a station for which the scenario has none
    /// (`IEEE80211_DEFAULT_AIRTIME_WEIGHT`).
    pub const WEIGHT: u32 = 256;

    /// A link of 54 Mb/s without aggregation.
    #[cfg(test)]
    pub(super) fn of(station: NodeId) -> Self {
        let (expected, room) = (BitRate::from_mbps(54.0), Room::default());
        let airtime = AirtimeEstimate { per_kib: 155_344, overhead_us: 36, aggregates: false };
        Self { station, weight: Self::WEIGHT, expected, room, airtime }
    }
}

/// How much an A-MPDU may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The most MPDUs; 1: no aggregation.
    pub frames: u32,
    /// The most bytes, delimiters included.
    pub bytes: Bytes,
    /// Bytes of an MPDU beside its packet, delimiter included.
    pub overhead: Bytes,
}

impl Default for Room {
    /// One packet of any size.
    fn default() -> Self {
        Self { frames: 1, bytes: Bytes(u64::MAX), overhead: Bytes::ZERO }
    }
}

impl Room {
    /// The length of an A-MPDU of so many bytes with another packet: MPDUs before it are padded to
    /// a multiple of 4.
    pub(super) fn with(&self, bytes: Bytes, packet: Bytes) -> Bytes {
        Bytes(bytes.0.next_multiple_of(4)) + self.overhead + packet
    }

    /// The largest packet that still fits; `None` if none does.
    pub(super) fn left(&self, bytes: Bytes) -> Option<Bytes> {
        self.bytes.0.checked_sub(self.with(bytes, Bytes::ZERO).0).map(Bytes)
    }
}
