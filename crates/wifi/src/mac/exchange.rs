//! A frame exchange as data: the frames that a node and its receiver send after the node has won
//! the contention.
//!
//! `[Rts, Cts, Data, Ack]`, or `[CtsToSelf, Data, Ack]` where OFDM must be protected from stations
//! of 802.11b, is laid out by pure functions when a node alone has won the medium.

use super::Timing;
use super::edcaf::Response;
use super::timing::{ACK, Opening, RTS};
use crate::phy::{Airtime, Mode};
use kernel::{Bytes, Duration, Instant};
use wire::FrameKind;

/// The response that a PSDU elicits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElicitedResponse {
    /// None: the PSDU is a broadcast.
    None,
    /// An Ack.
    Ack,
    /// A BlockAck.
    BlockAck,
}

/// One frame of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The type of the frame.
    pub kind: FrameKind,
    /// When its PPDU begins.
    pub start: Instant,
    /// Durations of the parts of its PPDU.
    pub airtime: Airtime,
}

impl Step {
    /// When its PPDU ends.
    pub fn end(&self) -> Instant {
        self.start + self.airtime.total()
    }
}

/// The outcome of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeOutcome {
    /// All frames are received.
    Success,
    /// Noise destroys the data frame, all MPDUs of the A-MPDU, or the BlockAckReq: no response
    /// follows.
    DataLost,
    /// Noise destroys the response.
    AckLost,
    /// Several stations transmit at once, and no receiver decodes any of the frames.
    Collision,
}

impl ExchangeOutcome {
    /// Whether the receiver has the data, or a part of the MPDUs.
    pub fn data_arrives(self) -> bool {
        matches!(self, Self::Success | Self::AckLost)
    }
}

/// The frames of one exchange, a SIFS apart.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// When the medium becomes busy.
    pub start: Instant,
    /// When the last frame ends.
    pub end: Instant,
    /// The outcome.
    pub outcome: ExchangeOutcome,
    /// Node that won the medium (one of them in a collision).
    pub sender: u32,
    /// Bytes of the data frame or A-MPDU, FCS included.
    pub psdu: Bytes,
    /// The number of MPDUs; 0 in a collision, for a BlockAckReq, and with several users.
    pub mpdus: u16,
    /// The receiver has all of these MPDUs already: the response to an earlier attempt was lost.
    pub repeated: bool,
    /// When the last frame ends if all frames are received.
    planned: Instant,
    /// The end that the Duration field of the first frame announces.
    announced: Instant,
    steps: [Option<Step>; 4],
}

/// The data frame that another node sends at the same time as the data frame of an exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherFrame {
    /// When its PPDU ends.
    pub(crate) end: Instant,
    /// Duration of the response that it elicits.
    pub(crate) response: Duration,
    /// Whether the response is sent.
    pub(crate) is_answered: bool,
}

/// What a node wants to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) sender: u32,
    pub(crate) mode: &'a Mode,
    /// What this mode elicits.
    pub(crate) response: &'a Response,
    pub(crate) psdu: Bytes,
    /// Durations of the PPDU with this PSDU.
    pub(crate) airtime: Airtime,
    pub(crate) opening: Opening,
    /// The number of MPDUs; 0: the PSDU is a BlockAckReq.
    pub(crate) mpdus: u16,
    pub(crate) answer: ElicitedResponse,
    /// Bytes of a BlockAck.
    pub(crate) block_ack: Bytes,
    pub(crate) repeated: bool,
}

impl Exchange {
    /// The exchange of one transmitter: `[Rts, Cts,] Data [, Ack]`, or with a CTS-to-self, or with
    /// a BlockAck, or `BlockAckRequest, BlockAck`.
    pub(crate) fn of(
        timing: &Timing,
        request: &Request<'_>,
        start: Instant,
        outcome: ExchangeOutcome,
    ) -> Self {
        let Request { sender, psdu, mpdus, repeated, .. } = *request;
        let mut exchange = Self { psdu, mpdus, repeated, ..Self::empty(start, sender, outcome) };
        let mut next = 0;
        let mut at = start;
        let mut add = |kind, airtime: Airtime| {
            let end = at + airtime.total();
            exchange.steps[next] = Some(Step { kind, start: at, airtime });
            next += 1;
            at = end + timing.sifs();
            end
        };
        match request.opening {
            Opening::None => {}
            Opening::Rts => {
                let rts = timing.rts_mode(request.mode);
                add(FrameKind::Rts, timing.airtime(&rts, RTS));
                add(FrameKind::Cts, timing.airtime(&timing.response_mode(&rts), ACK));
            }
            Opening::CtsToSelf => {
                let cts = timing.rts_mode(request.mode);
                add(FrameKind::CtsToSelf, timing.airtime(&cts, ACK));
            }
        }
        let kind = if request.mpdus == 0 { FrameKind::BlockAckRequest } else { FrameKind::Data };
        let sent = add(kind, request.airtime);
        let answer = |kind, airtime| Step { kind, start: sent + timing.sifs(), airtime };
        let Response { mode, ack, .. } = request.response;
        let answer = match request.answer {
            ElicitedResponse::None => None,
            ElicitedResponse::Ack => Some(answer(FrameKind::Ack, *ack)),
            ElicitedResponse::BlockAck => {
                let airtime = timing.airtime(mode, request.block_ack);
                Some(answer(FrameKind::BlockAck, airtime))
            }
        };
        exchange.planned = answer.map_or(sent, |step| step.end());
        exchange.announced = exchange.planned;
        exchange.end = sent;
        if outcome != ExchangeOutcome::DataLost && answer.is_some() {
            exchange.steps[next] = answer;
            exchange.end = exchange.planned;
        }
        exchange
    }

    /// An exchange without frames.
    fn empty(start: Instant, sender: u32, outcome: ExchangeOutcome) -> Self {
        let (end, planned, announced) = (start, start, start);
        let (psdu, mpdus, repeated, steps) = (Bytes::ZERO, 0, false, [None; 4]);
        Self { start, end, outcome, sender, psdu, mpdus, repeated, planned, announced, steps }
    }

    /// Another data frame is on the air beside that of this exchange. The responses to both begin a
    /// SIFS after the end of the longer frame. A CTS announces the end of the longer response;
    /// without RTS and CTS, the Duration field of the data frame knows nothing of the other frame.
    /// Returns when the responses begin.
    pub(crate) fn join(&mut self, other: &OtherFrame, sifs: Duration) -> Instant {
        let data = self.data().expect("an exchange has a data frame").end();
        let longest = other.end.max(data);
        let start = longest + sifs;
        let own = self.planned - (data + sifs);
        self.planned = start + own.max(other.response);
        if self.has_rts() {
            self.announced = self.planned;
        }
        for step in self.steps.iter_mut().flatten().filter(|step| step.start > data) {
            step.start = start;
        }
        self.end = match (self.outcome != ExchangeOutcome::DataLost, other.is_answered) {
            (true, true) => self.planned,
            (true, false) => start + own,
            (false, true) => start + other.response,
            (false, false) => longest,
        };
        start
    }

    /// A collision of several first frames. The medium is busy for the longest of them.
    pub(crate) fn collision(start: Instant, longest: Duration, sender: u32) -> Self {
        let end = start + longest;
        let empty = Self::empty(start, sender, ExchangeOutcome::Collision);
        Self { end, planned: end, announced: end, ..empty }
    }

    /// An exchange with data for several users, whose further frames are not among its steps.
    /// `planned` is its end if all frames are received.
    pub(crate) fn of_group(
        sender: u32,
        data: Step,
        psdu: Bytes,
        outcome: ExchangeOutcome,
        end: Instant,
        planned: Instant,
    ) -> Self {
        let steps = [Some(data), None, None, None];
        let announced = planned.max(end);
        let empty = Self::empty(data.start, sender, outcome);
        Self { end, psdu, planned, announced, steps, ..empty }
    }

    /// An MU-RTS and CTSs precede the first frame.
    pub(crate) fn open(&mut self, steps: [Step; 2]) {
        self.start = steps[0].start;
        self.steps = [Some(steps[0]), Some(steps[1]), self.steps[0], None];
    }

    /// How long a node transmits before a missing response can stop it: for its RTS, or for its
    /// PSDU and a CTS-to-self before it.
    pub(crate) fn exposed(timing: &Timing, mode: &Mode, psdu: Bytes, opening: Opening) -> Duration {
        match opening {
            Opening::None => timing.data_airtime(mode, psdu).total(),
            Opening::Rts => timing.airtime(&timing.rts_mode(mode), RTS).total(),
            Opening::CtsToSelf => {
                let cts = timing.airtime(&timing.rts_mode(mode), ACK).total();
                cts + timing.sifs() + timing.data_airtime(mode, psdu).total()
            }
        }
    }

    /// The frames in order; none in a collision.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flatten()
    }

    /// The data frame or BlockAckReq; none in a collision.
    pub fn data(&self) -> Option<&Step> {
        let is_data =
            |step: &&Step| matches!(step.kind, FrameKind::Data | FrameKind::BlockAckRequest);
        self.steps().find(is_data)
    }

    /// Whether the exchange begins with an RTS.
    pub fn has_rts(&self) -> bool {
        self.steps().next().is_some_and(|first| first.kind == FrameKind::Rts)
    }

    /// The duration of the exchange if all frames are received.
    pub(crate) fn planned(&self) -> Duration {
        self.planned - self.start
    }

    /// The end that the Duration field of the first frame announces, before it is rounded.
    pub(crate) fn announced(&self) -> Instant {
        self.announced
    }

    /// When the NAV of third parties expires: the Duration field reserves the medium for the
    /// response even if there is none (clause 9.2.5).
    pub(crate) fn reserved_until(&self, timing: &Timing) -> Instant {
        // The first frame reserves the medium until the announced end, or longer if its Duration
        // field is rounded up.
        let first = self.steps().next().map_or(self.announced, Step::end);
        self.announced.max(first + timing.reservation(self.announced - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::Protection;
    use crate::phy::{DOT11B, DOT11G, Preamble};
    use kernel::BitRate;

    fn timing() -> Timing {
        Timing::of(&DOT11B)
    }

    /// A PSDU at the fastest rate of a standard.
    struct Sent {
        timing: Timing,
        mode: Mode,
        psdu: u64,
        mpdus: u16,
        opening: Opening,
        answer: ElicitedResponse,
    }

    impl Sent {
        fn unicast(timing: Timing, psdu: u64, opening: Opening) -> Self {
            let (mode, answer) = (timing.standard.fastest(), ElicitedResponse::Ack);
            Self { timing, mode, psdu, mpdus: 1, opening, answer }
        }

        fn exchange(&self, outcome: ExchangeOutcome) -> Exchange {
            let Self { timing, mode, mpdus, opening, answer, .. } = self;
            let (psdu, response) = (Bytes(self.psdu), &Response::to(timing, mode));
            let kind = if *mpdus == 0 { FrameKind::BlockAckRequest } else { FrameKind::Data };
            let request = Request {
                sender: 1,
                mode,
                response,
                psdu,
                airtime: timing.frame_airtime(kind, mode, psdu),
                opening: *opening,
                mpdus: *mpdus,
                answer: *answer,
                block_ack: Bytes(32),
                repeated: false,
            };
            Exchange::of(timing, &request, Instant::ZERO, outcome)
        }
    }

    /// 1100 bytes at 11 Mb/s.
    fn sent(opening: Opening) -> Sent {
        Sent::unicast(timing(), 1100, opening)
    }

    /// Type, start and end in microseconds.
    fn steps(exchange: &Exchange) -> Vec<(FrameKind, u64, u64)> {
        let us = |at: Instant| at.0 / 1000;
        exchange.steps().map(|step| (step.kind, us(step.start), us(step.end()))).collect()
    }

    #[test]
    fn frames_are_a_sifs_apart() {
        use FrameKind::{Ack, Cts, Data, Rts};
        let basic = sent(Opening::None).exchange(ExchangeOutcome::Success);
        assert_eq!(steps(&basic), [(Data, 0, 992), (Ack, 1002, 1250)]);
        let rts = sent(Opening::Rts).exchange(ExchangeOutcome::Success);
        let expected = [(Rts, 0, 272), (Cts, 282, 530), (Data, 540, 1532), (Ack, 1542, 1790)];
        assert_eq!(steps(&rts), expected);
        assert_eq!(rts.end, Instant(1_790_000));
        let broadcast = Sent { answer: ElicitedResponse::None, ..sent(Opening::None) };
        let all = broadcast.exchange(ExchangeOutcome::Success);
        assert_eq!(steps(&all), [(Data, 0, 992)]);
    }

    #[test]
    fn an_aggregate_gets_a_block_ack_and_so_does_a_request() {
        use FrameKind::{BlockAck, BlockAckRequest, Data};
        let of = |psdu, mpdus, outcome| {
            let answer = ElicitedResponse::BlockAck;
            steps(&Sent { psdu, mpdus, answer, ..sent(Opening::None) }.exchange(outcome))
        };
        // 32 bytes at 2 Mb/s with a long preamble are 320 µs.
        assert_eq!(of(1100, 2, ExchangeOutcome::Success), [(Data, 0, 992), (BlockAck, 1002, 1322)]);
        assert_eq!(of(1100, 2, ExchangeOutcome::DataLost), [(Data, 0, 992)]);
        let asked = [(BlockAckRequest, 0, 210), (BlockAck, 220, 540)];
        assert_eq!(of(24, 0, ExchangeOutcome::Success), asked);
    }

    #[test]
    fn the_medium_is_reserved_for_an_ack_that_does_not_come() {
        let reserved = |opening, outcome| {
            let exchange = sent(opening).exchange(outcome);
            (exchange.end.0 / 1000, exchange.reserved_until(&timing()).0 / 1000)
        };
        assert_eq!(reserved(Opening::None, ExchangeOutcome::Success), (1250, 1250));
        assert_eq!(reserved(Opening::None, ExchangeOutcome::AckLost), (1250, 1250));
        assert_eq!(reserved(Opening::None, ExchangeOutcome::DataLost), (992, 1250));
        assert_eq!(reserved(Opening::Rts, ExchangeOutcome::DataLost), (1532, 1790));
    }

    #[test]
    fn only_the_first_frame_can_collide() {
        let first = |opening| Exchange::exposed(&timing(), &DOT11B.fastest(), Bytes(1100), opening);
        assert_eq!(first(Opening::None), Duration::from_micros(992));
        assert_eq!(first(Opening::Rts), Duration::from_micros(272), "at 2 Mb/s");
    }

    /// 802.11g with 802.11b stations: basic rates 1, 2, 5.5 and 11 Mb/s.
    fn mixed(protection: Protection, preamble: Preamble, fastest_mbps: f64) -> Timing {
        let rates = DOT11B.modes.iter().map(|mode| mode.rate);
        Timing {
            standard: &DOT11G,
            preamble,
            basic_rates: rates.filter(|&r| r <= BitRate::from_mbps(fastest_mbps)).collect(),
            slot: DOT11B.slot,
            protection,
            ..timing()
        }
    }

    /// 1536 bytes at 54 Mb/s: 16 + 8·1536 + 6 bits in 57 symbols of 216 bits, 20 + 4·57 + 6 µs with
    /// the signal extension. The Ack at the mandatory 24 Mb/s: 20 + 4·2 + 6 µs.
    #[test]
    fn an_ofdm_frame_is_protected_in_dsss() {
        use FrameKind::{Ack, Cts, CtsToSelf, Data, Rts};
        let of = |timing: &Timing, with_rts| {
            let mode = DOT11G.fastest();
            let opening = timing.opening_of(&mode, with_rts);
            let sent = Sent::unicast(timing.clone(), 1536, opening);
            let exchange = sent.exchange(ExchangeOutcome::DataLost);
            assert_eq!(exchange.reserved_until(timing), Instant::ZERO + exchange.planned());
            let exchange = sent.exchange(ExchangeOutcome::Success);
            let exposed = Exchange::exposed(timing, &mode, Bytes(sent.psdu), opening).0 / 1000;
            (steps(&exchange), exposed)
        };
        let long = |protection, fastest| mixed(protection, Preamble::Long, fastest);
        // 14 bytes at 11 Mb/s: 192 + 10.2 µs, rounded up to a whole µs.
        let bare = of(&long(Protection::None, 11.0), false);
        assert_eq!(bare, (vec![(Data, 0, 254), (Ack, 264, 298)], 254));
        let to_self = of(&long(Protection::CtsToSelf, 11.0), false);
        let frames = vec![(CtsToSelf, 0, 203), (Data, 213, 467), (Ack, 477, 511)];
        assert_eq!(to_self, (frames, 467));
        // At 2 Mb/s: 192 + 56 µs.
        let slow = of(&long(Protection::CtsToSelf, 2.0), false);
        assert_eq!(slow, (vec![(CtsToSelf, 0, 248), (Data, 258, 512), (Ack, 522, 556)], 512));
        let short = of(&mixed(Protection::CtsToSelf, Preamble::Short, 11.0), false);
        assert_eq!(short, (vec![(CtsToSelf, 0, 107), (Data, 117, 371), (Ack, 381, 415)], 371));
        // 20 bytes at 11 Mb/s: 192 + 14.5 µs.
        let frames = vec![(Rts, 0, 207), (Cts, 217, 420), (Data, 430, 684), (Ack, 694, 728)];
        assert_eq!(of(&long(Protection::RtsCts, 11.0), false), (frames.clone(), 207));
        let both = of(&long(Protection::CtsToSelf, 11.0), true);
        assert_eq!(both, (frames, 207), "the RTS is protection enough");
    }

    #[test]
    fn a_dsss_frame_needs_no_protection() {
        let timing = mixed(Protection::CtsToSelf, Preamble::Long, 11.0);
        let cck = DOT11B.fastest();
        assert_eq!(timing.opening_of(&cck, false), Opening::None);
        assert_eq!(timing.opening_of(&cck, true), Opening::Rts);
        let mbps = |mode: Mode| mode.rate.as_mbps();
        assert_eq!(mbps(timing.rts_mode(&cck)), 11.0);
        assert_eq!(mbps(timing.rts_mode(&DOT11G.fastest())), 11.0);
        // A basic rate set without DSSS: the mandatory rates apply.
        let basic_rates = vec![BitRate::from_mbps(6.0)];
        let odd = Timing { basic_rates, ..timing };
        assert_eq!(mbps(odd.rts_mode(&DOT11G.fastest())), 11.0);
        let bare = Timing { protection: Protection::None, ..odd };
        assert_eq!(mbps(bare.rts_mode(&DOT11G.fastest())), 6.0, "in its own family");
    }
}
