//! Full duplex: an access point that sends to one station while it receives from another, as in
//! V. U. Pai, N. B. Mehta, C. Singh, "TCP throughput over full-duplex WLANs: novel implications of
//! the AP's new capability".
//!
//! Station A wins the contention, alone or at the same instant as the access point. After its RTS
//! and the CTS of the access point, A sends its data frame, the primary frame. At the same instant
//! the access point sends a data frame to another station B, the secondary frame, without an RTS of
//! its own and without a CTS of B. The MAC ACKs of the access point and of B begin together, a SIFS
//! after the end of the longer frame.
//!
//! Three options go beyond the paper. With full-duplex stations, the secondary frame may also be
//! for A. Where the access point wins alone, its data frame is the primary one, and the station to
//! which it is addressed sends the secondary one. Where RTS and CTS are optional, a secondary frame
//! joins a data frame without them once the MAC header of that frame is decoded. A busy tone fills
//! the time in which only the longer frame is on the air. This file has the settings, and the
//! secondary frame as data.
//!
//! The secondary frame is data beside the exchange: `Exchange::join` moves the responses behind the
//! longer frame, and `cell/duplex.rs` begins and ends both. The ledger counts the time of two data
//! frames once, as its own kind.

mod choice;

pub(crate) use choice::SecondaryChoice;

use super::exchange::{ElicitedResponse, Exchange, ExchangeOutcome, OtherFrame, Step};
use super::timing::{ACK, Timing};
use crate::phy::{Mode, TxVector};
use kernel::{BitRate, Bytes, Db, Duration, Instant};
use settings::{Choice, Settings};
use wire::FrameKind;

/// Which packet an access point sends while it receives from a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Serve {
    /// The first packet that is not for that station: of the packet in service and then of the
    /// queue, by the order of its discipline.
    #[default]
    First,
    /// The packet in service. If it is for that station, the access point sends nothing.
    HeadOfLine,
    /// The first packet for the station to which the secondary rate is highest.
    BestRate,
    /// The first packet for a station drawn at random among those with packets.
    Random,
}

/// The contention window of an access point whose own RTS went on the air together with the RTS of
/// one station, and which has then sent a secondary frame with success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum OwnRts {
    /// It returns to its minimum, as after any success.
    #[default]
    Reset,
    /// It doubles, because the RTS was not received.
    Double,
}

/// Which exchanges a secondary frame joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RtsCts {
    /// Those that begin with RTS and CTS: both data frames begin together, a SIFS after the CTS.
    #[default]
    Required,
    /// Those without RTS and CTS, too. The receiver of the primary frame begins the secondary one
    /// when it has decoded the MAC header of the primary frame, which names the transmitter, and
    /// has ended an RTS of its own (M. Jain et al., "Practical, real-time, full duplex wireless",
    /// `MobiCom` 2011). A data frame of the access point that begins together with that of one
    /// station is the secondary frame.
    Optional,
}

/// The rate of secondary frames where no fixed one is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum SecondaryRateRule {
    /// The rate of the access point's other data frames to the station.
    Link,
    /// The highest rate, up to that of the access point's other data frames to the station, at
    /// which the station decodes the frame while the primary transmitter interferes, by the mean
    /// powers of both. The access point does not serve the station at all beside a primary
    /// transmitter if there is no such rate, or if one of the other frames of the exchange would
    /// get lost: the primary frame in what remains of the access point's own signal, or one of the
    /// two MAC ACKs. Needs the table `radio`.
    Sinr,
}

/// An access point that sends to one station while it receives from another.
///
/// It joins each exchange of a station that begins with RTS and CTS, if it has a packet for another
/// station. Where stations collide, where the access point wins alone, and where it has no such
/// packet, the exchange is half duplex. `bidirectional` and `rts_cts` add cases. After a collision,
/// stations wait for a CTS timeout and an EIFS, or with `wlan.slot_grid = "difs"` all for a DIFS.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct FullDuplex {
    /// Rate of secondary frames in Mb/s, which the interference between the two stations limits.
    /// Default: by `secondary_rate_rule`.
    #[setting(key = "secondary_rate_mbps", range = 0.1..=1e4)]
    pub secondary_rate: Option<BitRate>,
    /// MCS of secondary frames, in standards that have MCSs. Default: by `secondary_rate_rule`.
    /// Streams, width and guard interval are always those of the other frames.
    #[setting(range = 0..=11)]
    pub secondary_mcs: Option<u32>,
    /// Which rate secondary frames have if neither `secondary_rate_mbps` nor `secondary_mcs` sets
    /// it. Default: "sinr" with the table `radio`, "link" without it.
    pub secondary_rate_rule: Option<SecondaryRateRule>,
    /// By the rule "sinr", the least probability with which a frame of 1536 bytes is decoded.
    #[setting(default = 0.9, range = 0.0..=1.0)]
    pub secondary_success: f64,
    /// How much weaker the signal of a node arrives at its own receiver than it was transmitted,
    /// after all cancellation of self-interference. Needs the table `radio`. Default: nothing of it
    /// remains.
    #[setting(key = "cancellation_db", range = 0.0..=300.0)]
    pub cancellation: Option<Db>,
    /// Which packet the access point sends while it receives.
    pub serve: Serve,
    /// The contention window after a success in which the access point's own RTS was not received.
    pub own_rts: OwnRts,
    /// Whether stations are full duplex, too: the access point may send to the station from which
    /// it receives, and a station that answers an RTS of the access point sends its first packet
    /// while it receives. These frames have the rate of other data frames between the two.
    pub bidirectional: bool,
    /// Which exchanges a secondary frame joins.
    pub rts_cts: RtsCts,
    /// Whether the transmitter of the shorter data frame sends a busy tone until the longer one
    /// ends, so that nodes that receive only the former find the medium busy (Jain et al. 2011).
    pub busy_tone: bool,
}

impl FullDuplex {
    /// The mode of secondary frames to a station to which other frames have the mode `other`;
    /// `None` if the rate is no rate of the standard, or the MCS none of its PHY.
    pub fn mode(&self, timing: &Timing, other: &Mode) -> Option<Mode> {
        if other.class.is_high() {
            let Some(mcs) = self.secondary_mcs else { return Some(*other) };
            return with_mcs(timing, other, mcs as u8);
        }
        match self.secondary_rate {
            None => Some(*other),
            Some(rate) if timing.model_header.is_some() => Some(other.at_rate(rate)),
            Some(rate) => timing.standard.mode(rate),
        }
    }

    /// Whether the positions of stations decide on the rate.
    pub fn is_by_sinr(&self) -> bool {
        let is_fixed = self.secondary_rate.is_some() || self.secondary_mcs.is_some();
        !is_fixed && self.secondary_rate_rule == Some(SecondaryRateRule::Sinr)
    }

    /// The modes that a secondary frame may have by the rule "sinr", to a station to which other
    /// frames have the mode `other`; the fastest first.
    pub(crate) fn candidates(timing: &Timing, other: Mode) -> Vec<Mode> {
        if other.class.is_high() {
            let slower = (0..other.mcs).rev().filter_map(|mcs| with_mcs(timing, &other, mcs));
            return std::iter::once(other).chain(slower).collect();
        }
        let is_dsss = other.class.is_dsss();
        let modes = timing.standard.modes.iter().rev().copied();
        modes.filter(|mode| mode.class.is_dsss() == is_dsss && mode.rate <= other.rate).collect()
    }

    /// The rates of the access point's secondary frames to stations to which its other frames have
    /// these modes, in ascending order and each once.
    pub fn rates<'a>(
        &self,
        timing: &Timing,
        others: impl Iterator<Item = &'a Mode>,
    ) -> Vec<BitRate> {
        let mut rates = Vec::new();
        for other in others {
            if self.is_by_sinr() {
                rates.extend(Self::candidates(timing, *other).iter().map(|mode| mode.rate));
                continue;
            }
            rates.extend(self.mode(timing, other).map(|mode| mode.rate));
            let may_be_own = self.bidirectional || self.rts_cts == RtsCts::Optional;
            rates.extend(may_be_own.then_some(other.rate));
        }
        rates.sort_unstable();
        rates.dedup();
        rates
    }
}

/// A mode with another MCS; `None` if the PHY has none, or if the mode has parameters other than
/// MCS, streams, width, guard interval and code.
fn with_mcs(timing: &Timing, other: &Mode, mcs: u8) -> Option<Mode> {
    let Mode { streams, width, guard, coding, .. } = *other;
    let usual = TxVector { streams, width, guard, ..timing.standard.tx_vector()? };
    let own = TxVector { mcs: other.mcs, ..usual };
    let like = [own, TxVector { coding: Some(coding), ..own }];
    let same = like.into_iter().find(|vector| vector.mode().is_ok_and(|mode| mode == *other))?;
    TxVector { mcs, ..same }.mode().ok()
}

/// When the receiver of a data frame has decoded its MAC header of this length: the symbols that
/// carry it have ended.
pub(crate) fn header_decoded(timing: &Timing, data: &Step, mode: &Mode, header: Bytes) -> Instant {
    let parts = timing.data_airtime(mode, header);
    (data.start + parts.preamble + parts.header + parts.payload).min(data.end())
}

/// The busy tone of the node whose data frame ends before the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusyTone {
    /// The node that sends it.
    pub sender: u32,
    /// When its data frame ends.
    pub start: Instant,
    /// When the longer data frame ends.
    pub end: Instant,
}

/// The data frame that the receiver of the primary frame sends while it receives, and the response
/// to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secondary {
    /// The access point, or where stations are full duplex, a station.
    pub sender: u32,
    /// The index of the access category that sends it, 0 under DCF.
    pub category: u8,
    /// The node to which it is addressed.
    pub receiver: u32,
    /// The data frame, A-MPDU or BlockAckReq.
    pub data: Step,
    /// The response; none if the data frame is lost.
    pub answer: Option<Step>,
    /// The outcome. A data frame of the access point that began together with that of a station,
    /// and that its receiver cannot decode beside it, has [`ExchangeOutcome::Collision`].
    pub outcome: ExchangeOutcome,
    /// Bytes of the data frame or A-MPDU, FCS included.
    pub psdu: Bytes,
    /// The number of MPDUs; 0 for a BlockAckReq.
    pub mpdus: u16,
    /// Mode of the data frame.
    pub mode: Mode,
    /// The receiver has the packets already.
    pub repeated: bool,
    /// What the transmitter sent when the exchange began.
    pub own: OwnFrame,
    /// The busy tone after the shorter of the two data frames.
    pub tone: Option<BusyTone>,
}

/// What the transmitter of a secondary frame sent at the instant at which the exchange began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFrame {
    /// Nothing: the primary transmitter won the contention alone.
    None,
    /// An RTS, which was not received.
    Rts,
    /// The data frame that is the secondary one.
    Data,
}

/// What a node sends while it receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecondaryRequest {
    pub(crate) sender: u32,
    pub(crate) category: u8,
    pub(crate) receiver: u32,
    /// When the frame begins.
    pub(crate) start: Instant,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    pub(crate) mpdus: u16,
    pub(crate) answer: ElicitedResponse,
    /// Bytes of a BlockAck.
    pub(crate) block_ack: Bytes,
    pub(crate) outcome: ExchangeOutcome,
    pub(crate) repeated: bool,
    pub(crate) own: OwnFrame,
    /// A busy tone follows the shorter frame.
    pub(crate) with_tone: bool,
}

impl Secondary {
    /// Lays out the secondary frame beside the data frame of an exchange, and moves the responses
    /// of the exchange to the end of the longer frame.
    pub(crate) fn beside(
        exchange: &mut Exchange,
        timing: &Timing,
        request: &SecondaryRequest,
    ) -> Self {
        let SecondaryRequest { sender, category, receiver, start, mode, psdu, mpdus, .. } =
            *request;
        let SecondaryRequest { outcome, repeated, own, .. } = *request;
        let primary_end = exchange.data().expect("a primary frame").end();
        let (kind, airtime) = match mpdus {
            0 => (FrameKind::BlockAckRequest, timing.airtime(&mode, psdu)),
            _ => (FrameKind::Data, timing.data_airtime(&mode, psdu)),
        };
        let data = Step { kind, start, airtime };
        let (kind, bytes) = match request.answer {
            ElicitedResponse::BlockAck => (FrameKind::BlockAck, request.block_ack),
            _ => (FrameKind::Ack, ACK),
        };
        let airtime = timing.airtime(&timing.response_mode(&mode), bytes);
        let is_answered = outcome.data_arrives();
        let other = OtherFrame { end: data.end(), response: airtime.total(), is_answered };
        let start = exchange.join(&other, timing.sifs());
        let answer = is_answered.then_some(Step { kind, start, airtime });
        let [shorter, longer] = if primary_end <= data.end() {
            [(exchange.sender, primary_end), (sender, data.end())]
        } else {
            [(sender, data.end()), (exchange.sender, primary_end)]
        };
        let tone = BusyTone { sender: shorter.0, start: shorter.1, end: longer.1 };
        let tone = (request.with_tone && tone.start < tone.end).then_some(tone);
        Self {
            sender,
            category,
            receiver,
            data,
            answer,
            outcome,
            psdu,
            mpdus,
            mode,
            repeated,
            own,
            tone,
        }
    }

    /// From the start of the data frame to the end of the response.
    pub fn used(&self) -> Duration {
        self.answer.map_or(self.data.end(), |answer| answer.end()) - self.data.start
    }
}

/// Counters of a full-duplex access point and of its cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuplexCounters {
    /// Exchanges in which the access point received the RTS of a station, or a data frame that it
    /// may join.
    pub primary: u64,
    /// Those of them in which it sent a secondary frame.
    pub secondary: u64,
    /// Secondary frames that were acknowledged.
    pub secondary_sent: u64,
    /// The sum of the rates of secondary frames, in bit/s.
    pub secondary_rates: u64,
    /// Exchanges that the access point and one station began at the same instant.
    pub joint: u64,
    /// Exchanges that the access point began alone.
    pub alone: u64,
    /// Exchanges in which a station and the access point sent data frames to each other.
    pub bidirectional: u64,
    /// Those of them that the access point began alone: the station sent the secondary frame.
    pub station_secondary: u64,
    /// In space, the time in which two data frames are on the air, as far as the secondary
    /// transmitter knows.
    pub together: Duration,
    /// Instants at which a back-off could end: the ends of idle slots, and the beginnings of busy
    /// periods without an idle slot before them.
    pub steps: u64,
}

impl DuplexCounters {
    /// The sums of the counters of two access points.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            primary: self.primary + other.primary,
            secondary: self.secondary + other.secondary,
            secondary_sent: self.secondary_sent + other.secondary_sent,
            secondary_rates: self.secondary_rates + other.secondary_rates,
            joint: self.joint + other.joint,
            alone: self.alone + other.alone,
            bidirectional: self.bidirectional + other.bidirectional,
            station_secondary: self.station_secondary + other.station_secondary,
            together: self.together + other.together,
            steps: self.steps + other.steps,
        }
    }
}

/// The access point's secondary frames of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondaryRate {
    /// The rate.
    pub rate: BitRate,
    /// The number of data frames.
    pub frames: u64,
    /// The sum of their durations.
    pub airtime: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::exchange::{ElicitedResponse, Request};
    use crate::mac::{Opening, Response};
    use crate::phy::{DOT11A, DOT11AC, DOT11G, Guard, Width};

    /// Table I of the paper: RTS at 12 Mb/s, CTS and ACK at 6 Mb/s, data frames of 24 us and bits.
    fn table_1() -> Timing {
        Timing {
            basic_rates: vec![BitRate::from_mbps(6.0)],
            model_header: Some(Duration::from_micros(24)),
            rts: DOT11A.mode(BitRate::from_mbps(12.0)),
            ..Timing::of(&DOT11A)
        }
    }

    fn exchange(timing: &Timing, mode: Mode, psdu: u64, outcome: ExchangeOutcome) -> Exchange {
        let request = Request {
            sender: 1,
            mode: &mode,
            response: &Response::to(timing, &mode),
            psdu: Bytes(psdu),
            airtime: timing.data_airtime(&mode, Bytes(psdu)),
            opening: Opening::Rts,
            mpdus: 1,
            answer: ElicitedResponse::Ack,
            block_ack: Bytes(32),
            repeated: false,
        };
        Exchange::of(timing, &request, Instant::ZERO, outcome)
    }

    #[test]
    fn exchanges_last_as_long_as_in_table_1() {
        let timing = table_1();
        let settings =
            |mbps| FullDuplex { secondary_rate: Some(BitRate::from_mbps(mbps)), ..USUAL };
        for (mbps, segment_us, tcp_ack_us) in [
            (54.0, 534.3, 243.9),
            (36.0, 686.4, 250.9),
            (27.0, 838.6, 257.9),
            (12.0, 1599.3, 292.7),
        ] {
            let mode = settings(mbps).mode(&timing, &DOT11A.fastest()).expect("any rate");
            for (psdu, expected) in [(2054, segment_us), (94, tcp_ack_us)] {
                let exchange = exchange(&timing, mode, psdu, ExchangeOutcome::Success);
                let lasts = (exchange.planned() + timing.difs()).0 as f64 / 1e3;
                assert!((lasts - expected).abs() < 0.1, "{mbps} Mb/s: {lasts} us");
            }
        }
    }

    const USUAL: FullDuplex = FullDuplex {
        secondary_rate: None,
        secondary_mcs: None,
        secondary_rate_rule: None,
        secondary_success: 0.9,
        cancellation: None,
        serve: Serve::First,
        own_rts: OwnRts::Reset,
        bidirectional: false,
        rts_cts: RtsCts::Required,
        busy_tone: false,
    };

    #[test]
    fn a_rate_that_the_standard_lacks_needs_the_frames_of_a_model() {
        let odd = FullDuplex { secondary_rate: Some(BitRate::from_mbps(27.0)), ..USUAL };
        assert_eq!(odd.mode(&Timing::of(&DOT11G), &DOT11G.fastest()), None);
        assert!(odd.mode(&table_1(), &DOT11A.fastest()).is_some());
        assert_eq!(USUAL.mode(&table_1(), &DOT11A.fastest()), Some(DOT11A.fastest()));
    }

    #[test]
    fn a_full_duplex_station_receives_at_its_own_rate_too() {
        let modes = [54.0, 6.0, 54.0].map(|mbps| DOT11A.mode(BitRate::from_mbps(mbps)).unwrap());
        let rates = |settings: FullDuplex| -> Vec<f64> {
            let rates = settings.rates(&Timing::of(&DOT11A), modes.iter());
            rates.iter().map(|rate| rate.as_mbps()).collect()
        };
        let given = FullDuplex { secondary_rate: Some(BitRate::from_mbps(36.0)), ..USUAL };
        assert_eq!(rates(USUAL), [6.0, 54.0]);
        assert_eq!(rates(given), [36.0]);
        assert_eq!(rates(FullDuplex { bidirectional: true, ..given }), [6.0, 36.0, 54.0]);
        let by_sinr = FullDuplex { secondary_rate_rule: Some(SecondaryRateRule::Sinr), ..USUAL };
        assert_eq!(rates(by_sinr), [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0]);
        assert_eq!(by_sinr.rates(&Timing::of(&DOT11A), modes[1..2].iter()).len(), 1);
    }

    /// Kind, start and end in microseconds.
    type Frames = Vec<(FrameKind, u64, u64)>;

    /// The frames of a TCP ACK of 94 bytes at 54 Mb/s with a segment of 2054 bytes beside it.
    fn both(first: ExchangeOutcome, second: ExchangeOutcome) -> (Frames, Frames, u64, u64) {
        let timing = Timing::of(&DOT11A);
        let mut exchange = exchange(&timing, DOT11A.fastest(), 94, first);
        let request = SecondaryRequest {
            sender: 0,
            category: 0,
            receiver: 2,
            start: exchange.data().expect("data").start,
            mode: DOT11A.mode(BitRate::from_mbps(12.0)).expect("a rate of 802.11a"),
            psdu: Bytes(2054),
            mpdus: 1,
            answer: ElicitedResponse::Ack,
            block_ack: Bytes(32),
            outcome: second,
            repeated: false,
            own: OwnFrame::None,
            with_tone: true,
        };
        let secondary = Secondary::beside(&mut exchange, &timing, &request);
        let us = |at: Instant| at.0 / 1000;
        let frame = |step: &Step| (step.kind, us(step.start), us(step.end()));
        let beside = [&secondary.data].into_iter().chain(&secondary.answer).map(frame).collect();
        let reserved = us(exchange.reserved_until(&timing));
        (exchange.steps().map(frame).collect(), beside, us(exchange.end), reserved)
    }

    /// RTS and CTS at 24 Mb/s last 28 us. 94 bytes at 54 Mb/s have 4 symbols, 2054 bytes at 12 Mb/s
    /// 343. The ACK to the latter is at 12 Mb/s and lasts 32 us, the other 28 us.
    #[test]
    fn both_responses_follow_the_longer_frame() {
        use ExchangeOutcome::{AckLost, DataLost, Success};
        use FrameKind::{Ack, Cts, Data, Rts};
        let opened = [(Rts, 0, 28), (Cts, 44, 72), (Data, 88, 124)];
        let with_ack = [&opened[..], &[(Ack, 1496, 1524)]].concat();
        let secondary = vec![(Data, 88, 1480), (Ack, 1496, 1528)];
        let all = both(Success, Success);
        assert_eq!(all, (with_ack.clone(), secondary.clone(), 1528, 1528));
        let lost = both(DataLost, AckLost);
        assert_eq!(lost, (opened.to_vec(), secondary.clone(), 1528, 1528));
        let lost = both(Success, DataLost);
        assert_eq!(lost, (with_ack, vec![secondary[0]], 1524, 1528), "the NAV lasts longer");
        let lost = both(DataLost, DataLost);
        assert_eq!(lost, (opened.to_vec(), vec![secondary[0]], 1480, 1528));
    }

    /// A data frame of 94 bytes at 54 Mb/s without RTS and CTS lasts 20 us and 4 symbols; its
    /// header of 24 bytes and the SERVICE field take one symbol. That of 2054 bytes beside it lasts
    /// 1392 us.
    #[test]
    fn without_rts_the_secondary_frame_follows_the_header() {
        let (timing, mode) = (Timing::of(&DOT11A), DOT11A.fastest());
        let request = Request {
            sender: 1,
            mode: &mode,
            response: &Response::to(&timing, &mode),
            psdu: Bytes(94),
            airtime: timing.data_airtime(&mode, Bytes(94)),
            opening: Opening::None,
            mpdus: 1,
            answer: ElicitedResponse::Ack,
            block_ack: Bytes(32),
            repeated: false,
        };
        let mut exchange = Exchange::of(&timing, &request, Instant::ZERO, ExchangeOutcome::Success);
        let data = *exchange.data().expect("data");
        let start = header_decoded(&timing, &data, &mode, Bytes(24));
        let secondary = Secondary::beside(
            &mut exchange,
            &timing,
            &SecondaryRequest {
                sender: 0,
                category: 0,
                receiver: 2,
                start,
                mode: DOT11A.mode(BitRate::from_mbps(12.0)).expect("a rate of 802.11a"),
                psdu: Bytes(2054),
                mpdus: 1,
                answer: ElicitedResponse::Ack,
                block_ack: Bytes(32),
                outcome: ExchangeOutcome::Success,
                repeated: false,
                own: OwnFrame::None,
                with_tone: true,
            },
        );
        let us = |at: Instant| at.0 / 1000;
        assert_eq!((us(data.end()), us(start)), (36, 24));
        assert_eq!((us(secondary.data.start), us(secondary.data.end())), (24, 1416));
        let tone = secondary.tone.expect("the primary frame is shorter");
        assert_eq!((tone.sender, us(tone.start), us(tone.end)), (1, 36, 1416));
        // SIFS, and an ACK of 32 us. The header of the primary frame announced its own ACK of 28
        // us.
        assert_eq!((us(exchange.end), us(exchange.reserved_until(&timing))), (1464, 80));
    }

    #[test]
    fn a_secondary_mcs_keeps_streams_width_and_guard_interval() {
        let vector = TxVector {
            mcs: 7,
            streams: 2,
            width: Width::Mhz80,
            guard: Guard::Ns400,
            ..DOT11AC.tx_vector().expect("VHT")
        };
        let mode = |mcs| TxVector { mcs, ..vector }.mode().expect("a mode");
        let timing = Timing::of(&DOT11AC);
        let given = FullDuplex { secondary_mcs: Some(4), ..USUAL };
        assert_eq!(given.mode(&timing, &mode(7)), Some(mode(4)));
        let none = FullDuplex { secondary_mcs: Some(11), ..USUAL };
        assert_eq!(none.mode(&timing, &mode(7)), None);
    }
}
