//! Sizes and limits of aggregates: A-MSDU (clause 9.3.2.2) and A-MPDU (clause 9.7).

use super::timing::Timing;
use crate::phy::{Mode, ModeClass, longest_psdu};
use kernel::{Bytes, Duration};
use settings::{Choice, Settings};

/// Bytes that the `QoS` Control field adds to the header of a data frame (clause 9.2.4.5).
pub const QOS_CONTROL: Bytes = Bytes(2);
/// Bytes of a compressed BlockAckReq frame (clause 9.3.1.7).
pub const BLOCK_ACK_REQUEST: Bytes = Bytes(24);
/// Bytes of the delimiter before each MPDU of an A-MPDU (clause 9.7.1).
pub const DELIMITER: Bytes = Bytes(4);
/// Bytes of the header before each MSDU of an A-MSDU (clause 9.3.2.2.2).
pub(crate) const SUBFRAME_HEADER: Bytes = Bytes(14);

/// Bytes of a compressed BlockAck for a window of so many MPDUs: its bitmap has 64 or 256 bits
/// (clause 9.3.1.8.3).
pub const fn block_ack(window: u16) -> Bytes {
    if window <= 64 { Bytes(32) } else { Bytes(56) }
}

/// When the originator discards an MPDU under a block ack agreement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
#[settings(name = "Retries")]
pub enum RetryRule {
    /// When the lifetime of the MPDU ends. Attempts do not count (clause 10.23.2.12.1).
    #[default]
    Lifetime,
    /// When the lifetime of the MPDU ends, or after as many attempts as `wlan.short_retry_limit`
    /// says. ns-3 did this up to version 3.43.
    Counted,
}

/// What the originator does when it receives no BlockAck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum MissedBlockAck {
    /// The originator sends a BlockAckReq before anything else (clause 10.25.6.5 permits it).
    #[default]
    #[setting(name = "bar")]
    Request,
    /// The originator retransmits all MPDUs.
    Retransmit,
}

/// When the recipient delivers the MPDUs of an A-MPDU to the layer above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Delivery {
    /// The recipient delivers all MPDUs when the PPDU ends.
    #[default]
    Ppdu,
    /// The recipient delivers each MPDU when its own bytes end, with one event for each. ns-3 does
    /// this: the layers above then respond to each MPDU at another time, and these responses take
    /// more accesses to the medium.
    Mpdu,
}

/// The modes in which an A-MPDU must not last longer than `duration_us`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum DurationIn {
    /// The one in which it is sent.
    #[default]
    Mode,
    /// Each one in the retry chain of the rate control, as in the driver ath9k: only `minstrel_ht`
    /// has a chain of modes with aggregation.
    Chain,
}

/// Limits and rules of aggregation under immediate block ack agreements. The PHY and other keys
/// determine what no key here sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Aggregation {
    /// The most MPDUs that may be outstanding, up to 256: the buffer size of the agreement (clause
    /// 10.25.2).
    #[setting(skip, default = 64)]
    pub window: u16,
    /// The most MPDUs in an A-MPDU; 1 turns A-MPDUs off.
    #[setting(skip, default = 64)]
    pub frames: u16,
    /// The most bytes in an A-MPDU.
    #[setting(skip, default = longest_psdu(ModeClass::Ht))]
    pub bytes: Bytes,
    /// The longest PPDU that carries an A-MPDU, if that is less than the PHY allows (aPPDUMaxTime).
    #[setting(key = "duration_us", default = 5484.0, range = 100.0..=5484.0)]
    pub duration: Duration,
    /// The modes in which an A-MPDU must not last longer than that.
    pub duration_in: DurationIn,
    /// The most bytes in an A-MSDU, up to 7935 in 802.11n and 11398 in later standards; 0 turns
    /// A-MSDUs off (table 9-25).
    #[setting(key = "amsdu_bytes")]
    pub amsdu: Bytes,
    /// How long an MPDU may be retransmitted, counted from the time at which it was taken into
    /// service (dot11EDCATableMSDULifetime).
    #[setting(key = "lifetime_ms", default = 500.0, range = 0.001..=1e6)]
    pub lifetime: Duration,
    /// When the originator discards an MPDU.
    #[setting(key = "retries")]
    pub retry_rule: RetryRule,
    /// What the originator does when it receives no BlockAck.
    #[setting(key = "missed_block_ack")]
    pub missed: MissedBlockAck,
    /// When the recipient delivers the MPDUs of an A-MPDU; not "mpdu" with a radio.
    pub delivery: Delivery,
}

impl Aggregation {
    /// The limits of a PHY: its block ack window, its longest PSDU and its longest PPDU. `None`
    /// before 802.11n.
    pub fn of(class: ModeClass) -> Option<Self> {
        let window = class.high()?.block_ack_window;
        Some(Self { window, frames: window, bytes: longest_psdu(class), ..Self::default() })
    }

    /// The number of MPDUs that may be outstanding in PPDUs of this class.
    pub(crate) const fn window_in(&self, class: ModeClass) -> u16 {
        match class.high() {
            Some(high) if high.block_ack_window < self.window => high.block_ack_window,
            _ => self.window,
        }
    }

    /// The most bytes in an A-MSDU in PPDUs of this class.
    pub(crate) fn amsdu_in(&self, class: ModeClass) -> Bytes {
        class.high().map_or(self.amsdu, |high| self.amsdu.min(high.longest_amsdu))
    }

    /// How much the PSDU of one access may hold, if its PPDU may last no longer than `within`.
    pub(crate) fn room(&self, mode: &Mode, timing: &Timing, within: Duration) -> PsduLimits {
        let within = within.min(self.duration);
        let longest = timing.psdu_within(mode, within).unwrap_or(Bytes::ZERO);
        let window = self.window_in(mode.class);
        let frames = if mode.class.is_high() { self.frames.clamp(1, window.max(1)) } else { 1 };
        PsduLimits { frames, bytes: self.bytes.min(longest) }
    }

    /// The same for a frame that may have to be sent in a slower mode too.
    pub(crate) fn room_in_chain(
        &self,
        mode: &Mode,
        slowest: &Mode,
        timing: &Timing,
        within: Duration,
    ) -> PsduLimits {
        let room = self.room(mode, timing, within);
        if self.duration_in == DurationIn::Mode || slowest == mode {
            return room;
        }
        let last = self.room(slowest, timing, Duration(u64::MAX));
        PsduLimits { frames: room.frames.min(last.frames), bytes: room.bytes.min(last.bytes) }
    }
}

/// How much a PSDU may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PsduLimits {
    pub(crate) frames: u16,
    pub(crate) bytes: Bytes,
}

impl PsduLimits {
    /// One MPDU of any size.
    pub(crate) const SINGLE: Self = Self { frames: 1, bytes: Bytes(u64::MAX) };
}

/// A length that is padded to a multiple of 4.
pub const fn padded(bytes: Bytes) -> Bytes {
    Bytes(bytes.0.next_multiple_of(4))
}

/// The length of the A-MPDU when another MPDU is added: the MPDUs before it are padded.
pub(crate) const fn ampdu(before: Bytes, mpdu: Bytes) -> Bytes {
    Bytes(padded(before).0 + DELIMITER.0 + mpdu.0)
}

/// The length of an A-MPDU with this number of MPDUs of one size.
pub const fn ampdu_of(mpdus: u64, mpdu: Bytes) -> Bytes {
    let subframe = Bytes(DELIMITER.0 + mpdu.0);
    Bytes((mpdus - 1) * padded(subframe).0 + subframe.0)
}

/// The number of MPDUs of one size in the longest A-MPDU with at most so many bytes.
pub const fn mpdus_within(room: Bytes, mpdu: Bytes) -> u64 {
    let subframe = Bytes(DELIMITER.0 + mpdu.0);
    if subframe.0 > room.0 { 0 } else { 1 + (room.0 - subframe.0) / padded(subframe).0 }
}

/// The length of a PSDU with a single MPDU that an Ack acknowledges. From VHT on, the MPDU has a
/// delimiter (S-MPDU, clause 10.12.8).
pub(crate) const fn single(class: ModeClass, mpdu: Bytes) -> Bytes {
    match class.high() {
        Some(high) if high.delimits_single => Bytes(DELIMITER.0 + mpdu.0),
        _ => mpdu,
    }
}

/// The length of the A-MSDU when another MSDU with its LLC header is added: the subframes before it
/// are padded.
pub(crate) const fn amsdu(before: Bytes, msdu: Bytes) -> Bytes {
    Bytes(padded(before).0 + SUBFRAME_HEADER.0 + msdu.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{DOT11AC, DOT11N, TxVector};

    #[test]
    fn sizes() {
        assert_eq!((block_ack(64), block_ack(256)), (Bytes(32), Bytes(56)));
        let mpdu = Bytes(1538);
        let two = ampdu(ampdu(Bytes::ZERO, mpdu), mpdu);
        assert_eq!(two, Bytes(1544 + 1542), "4 + 1538 are padded by 2");
        assert_eq!((ampdu_of(1, mpdu), ampdu_of(2, mpdu)), (Bytes(1542), two));
        let within = |room| mpdus_within(Bytes(room), mpdu);
        assert_eq!([within(1541), within(1542), within(3085), within(3086)], [0, 1, 1, 2]);
        assert_eq!(single(ModeClass::Ht, mpdu), mpdu);
        assert_eq!(single(ModeClass::Vht, mpdu), Bytes(1542));
        let acks = amsdu(amsdu(Bytes::ZERO, Bytes(60)), Bytes(60));
        assert_eq!(acks, Bytes(76 + 74));
    }

    /// The throughput table of Sharon and Alpert: MPDUs of 1528 bytes, at most 32, 802.11ac at 20
    /// MHz with a short guard interval, within 5.484 ms.
    #[test]
    fn the_longest_ppdu_limits_the_mpdus() {
        let aggregation = Aggregation::of(ModeClass::Vht).unwrap();
        let expected = [3, 6, 9, 12, 19, 25, 28, 32, 32];
        for (mcs, frames) in (0..).zip(expected) {
            let guard = crate::phy::Guard::Ns400;
            let vector = TxVector { mcs, guard, ..DOT11AC.tx_vector().unwrap() };
            let mode = vector.mode().unwrap();
            let aggregation = Aggregation { frames: 32, ..aggregation };
            let room = aggregation.room(&mode, &Timing::of(&DOT11AC), Duration::from_secs_f64(1.0));
            let mut psdu = Bytes::ZERO;
            let fit = (0..room.frames).take_while(|_| {
                psdu = ampdu(psdu, Bytes(1528));
                psdu <= room.bytes
            });
            assert_eq!(fit.count(), frames, "MCS {mcs}");
        }
    }

    #[test]
    fn the_header_of_a_model_takes_its_time_from_the_mpdus() {
        let plain = Timing::of(&DOT11AC);
        let header = Some(Duration::from_micros(1000));
        let timing = Timing { model_header: header, ..plain.clone() };
        let mode = DOT11AC.tx_vector().unwrap().mode().unwrap();
        let aggregation = Aggregation::of(ModeClass::Vht).unwrap();
        let within = Duration::from_micros(2528);
        let longest = |timing| aggregation.room(&mode, timing, within).bytes;
        let room = longest(&timing);
        assert!(room < longest(&plain));
        assert!(timing.data_airtime(&mode, room).total() <= within);
        assert!(timing.data_airtime(&mode, room + Bytes(1)).total() > within);
        assert_eq!(timing.psdu_within(&mode, Duration::from_micros(999)), None);
    }

    #[test]
    fn limits_of_a_phy() {
        assert_eq!(Aggregation::default().duration, crate::phy::LONGEST_PPDU);
        let ht = Aggregation::of(ModeClass::Ht).unwrap();
        assert_eq!((ht.window, ht.frames, ht.bytes), (64, 64, Bytes(65_535)));
        assert_eq!(Aggregation::of(ModeClass::He).unwrap().window, 256);
        assert_eq!(Aggregation::of(ModeClass::Ofdm), None);
        let legacy = DOT11N.fastest();
        let room = ht.room(&legacy, &Timing::of(&DOT11N), Duration::from_secs_f64(1.0));
        assert_eq!(room.frames, 1, "OFDM has no A-MPDU");
    }
}
