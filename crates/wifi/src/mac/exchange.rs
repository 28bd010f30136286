//! A frame exchange is data: the frames that go over the air once the medium is won.

use super::Timing;
use super::originator::Answer;
use super::timing::{ACK, RTS};
use crate::phy::{Airtime, Mode};
use kernel::{Bytes, Duration, Instant};

/// Which frame a step sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Request to send.
    Rts,
    /// Clear to send, by the receiver.
    Cts,
    /// The data frame.
    Data,
    /// Acknowledgement, by the receiver.
    Ack,
    /// Request for a block ack.
    BlockAckRequest,
    /// Block ack, by the receiver.
    BlockAck,
}

/// One frame of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which frame.
    pub kind: StepKind,
    /// When its PPDU begins.
    pub start: Instant,
    /// How long its PPDU takes, by part.
    pub airtime: Airtime,
}

impl Step {
    /// When its PPDU ends.
    pub fn end(&self) -> Instant {
        self.start + self.airtime.total()
    }
}

/// How an exchange ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// All frames arrive.
    Success,
    /// Noise destroys the data frame, in an A-MPDU each of them, or the block-ack request: no
    /// answer follows.
    DataLost,
    /// Noise destroys the answer.
    AckLost,
    /// Several stations send at once, and none is understood.
    Collision,
}

/// The frames of one access to the medium, a SIFS apart.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// When the medium becomes busy.
    pub start: Instant,
    /// When the last frame ends.
    pub end: Instant,
    /// How it ends.
    pub fate: Fate,
    /// Node that won the medium (one of them in a collision).
    pub sender: u32,
    /// Bytes of the data frame or A-MPDU, FCS included.
    pub psdu: Bytes,
    /// Data frames in it; none in a collision and in a block-ack request.
    pub mpdus: u16,
    /// The receiver has these data frames already: the answer was lost.
    pub repeated: bool,
    /// When the last frame ends if all goes well.
    planned: Instant,
    steps: [Option<Step>; 4],
}

/// What the sender wants to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) sender: u32,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    pub(crate) with_rts: bool,
    /// Data frames; none: the PSDU is a block-ack request.
    pub(crate) mpdus: u16,
    pub(crate) answer: Answer,
    /// Bytes of a block ack.
    pub(crate) block_ack: Bytes,
    pub(crate) repeated: bool,
}

impl Exchange {
    /// The exchange of one sender: `[Rts, Cts,] Data [, Ack]`, or with a block ack, or
    /// `BlockAckRequest, BlockAck`.
    pub(crate) fn of(timing: &Timing, request: &Request, start: Instant, fate: Fate) -> Self {
        Self::answered(timing, request, &timing.response_mode(&request.mode), start, fate)
    }

    /// Likewise, where the mode of the answer is known already.
    pub(crate) fn answered(
        timing: &Timing,
        request: &Request,
        response: &Mode,
        start: Instant,
        fate: Fate,
    ) -> Self {
        let mut steps = [None; 4];
        let mut next = 0;
        let mut at = start;
        let mut add = |kind, mode: &Mode, psdu| {
            let step = Step { kind, start: at, airtime: timing.airtime(mode, psdu) };
            at = step.end() + timing.sifs();
            steps[next] = Some(step);
            next += 1;
            step.end()
        };
        if request.with_rts {
            let rts = timing.rts_mode(&request.mode);
            add(StepKind::Rts, &rts, RTS);
            add(StepKind::Cts, &timing.response_mode(&rts), ACK);
        }
        let kind = if request.mpdus == 0 { StepKind::BlockAckRequest } else { StepKind::Data };
        let sent = add(kind, &request.mode, request.psdu);
        let answer = |kind, bytes| {
            let airtime = timing.airtime(response, bytes);
            Step { kind, start: sent + timing.sifs(), airtime }
        };
        let answer = match request.answer {
            Answer::None => None,
            Answer::Ack => Some(answer(StepKind::Ack, ACK)),
            Answer::BlockAck => Some(answer(StepKind::BlockAck, request.block_ack)),
        };
        let planned = answer.map_or(sent, |step| step.end());
        let mut end = sent;
        if fate != Fate::DataLost && answer.is_some() {
            steps[next] = answer;
            end = planned;
        }
        let Request { sender, psdu, mpdus, repeated, .. } = *request;
        Self { start, end, fate, sender, psdu, mpdus, repeated, planned, steps }
    }

    /// Several first frames at once; the medium is busy for the longest.
    pub(crate) fn collision(start: Instant, longest: Duration, sender: u32) -> Self {
        let end = start + longest;
        let (psdu, mpdus, repeated, steps) = (Bytes::ZERO, 0, false, [None; 4]);
        let (fate, planned) = (Fate::Collision, end);
        Self { start, end, fate, sender, psdu, mpdus, repeated, planned, steps }
    }

    /// How long the first frame takes that a PSDU puts on the air, itself or its RTS.
    pub(crate) fn first_frame(
        timing: &Timing,
        mode: &Mode,
        psdu: Bytes,
        with_rts: bool,
    ) -> Airtime {
        if with_rts {
            timing.airtime(&timing.rts_mode(mode), RTS)
        } else {
            timing.airtime(mode, psdu)
        }
    }

    /// The frames in order; none for a collision.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flatten()
    }

    /// The data frame or block-ack request; none for a collision.
    pub fn data(&self) -> Option<&Step> {
        let is_data =
            |step: &&Step| matches!(step.kind, StepKind::Data | StepKind::BlockAckRequest);
        self.steps().find(is_data)
    }

    /// How long the exchange takes if all goes well.
    pub(crate) fn planned(&self) -> Duration {
        self.planned - self.start
    }

    /// When virtual carrier sense lets bystanders go: the Duration field reserves the medium for
    /// the answer even if it does not come (clause 9.2.5).
    pub(crate) fn reserved_until(&self, timing: &Timing) -> Instant {
        // What the first frame reserves, if its Duration field is no less than that.
        let first = self.steps().next().map_or(self.planned, Step::end);
        self.planned.max(first + timing.reservation(self.planned - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::{Durations, Eifs, SlotGrid};
    use crate::phy::{DOT11B, Preamble};

    fn timing() -> Timing {
        Timing {
            standard: &DOT11B,
            preamble: Preamble::Long,
            basic_rates: DOT11B.default_basic_rates().collect(),
            slot: DOT11B.slot,
            eifs: Eifs::Standard,
            slot_grid: SlotGrid::Standard,
            durations: Durations::Standard,
        }
    }

    fn request(with_rts: bool, broadcast: bool) -> Request {
        let (mode, psdu) = (DOT11B.fastest(), Bytes(1100));
        let answer = if broadcast { Answer::None } else { Answer::Ack };
        let (mpdus, block_ack, repeated) = (1, Bytes(32), false);
        Request { sender: 1, mode, psdu, with_rts, mpdus, answer, block_ack, repeated }
    }

    /// Kind, begin and end in microseconds.
    fn steps(exchange: &Exchange) -> Vec<(StepKind, u64, u64)> {
        let us = |at: Instant| at.0 / 1000;
        exchange.steps().map(|step| (step.kind, us(step.start), us(step.end()))).collect()
    }

    #[test]
    fn frames_are_a_sifs_apart() {
        use StepKind::{Ack, Cts, Data, Rts};
        let basic = Exchange::of(&timing(), &request(false, false), Instant::ZERO, Fate::Success);
        assert_eq!(steps(&basic), [(Data, 0, 992), (Ack, 1002, 1250)]);
        let rts = Exchange::of(&timing(), &request(true, false), Instant::ZERO, Fate::Success);
        let expected = [(Rts, 0, 272), (Cts, 282, 530), (Data, 540, 1532), (Ack, 1542, 1790)];
        assert_eq!(steps(&rts), expected);
        assert_eq!(rts.end, Instant(1_790_000));
        let all = Exchange::of(&timing(), &request(false, true), Instant::ZERO, Fate::Success);
        assert_eq!(steps(&all), [(Data, 0, 992)]);
    }

    #[test]
    fn an_aggregate_gets_a_block_ack_and_so_does_a_request() {
        use StepKind::{BlockAck, BlockAckRequest, Data};
        let of = |psdu, mpdus, fate| {
            let psdu = Bytes(psdu);
            let request =
                Request { psdu, mpdus, answer: Answer::BlockAck, ..request(false, false) };
            steps(&Exchange::of(&timing(), &request, Instant::ZERO, fate))
        };
        // 32 bytes at 2 Mb/s with a long preamble are 320 µs.
        assert_eq!(of(1100, 2, Fate::Success), [(Data, 0, 992), (BlockAck, 1002, 1322)]);
        assert_eq!(of(1100, 2, Fate::DataLost), [(Data, 0, 992)]);
        let asked = [(BlockAckRequest, 0, 210), (BlockAck, 220, 540)];
        assert_eq!(of(24, 0, Fate::Success), asked);
    }

    #[test]
    fn the_medium_is_reserved_for_an_ack_that_does_not_come() {
        let reserved = |with_rts, fate| {
            let exchange = Exchange::of(&timing(), &request(with_rts, false), Instant::ZERO, fate);
            (exchange.end.0 / 1000, exchange.reserved_until(&timing()).0 / 1000)
        };
        assert_eq!(reserved(false, Fate::Success), (1250, 1250));
        assert_eq!(reserved(false, Fate::AckLost), (1250, 1250));
        assert_eq!(reserved(false, Fate::DataLost), (992, 1250));
        assert_eq!(reserved(true, Fate::DataLost), (1532, 1790));
    }

    #[test]
    fn the_first_frame_is_what_can_collide() {
        let first = |with_rts| {
            Exchange::first_frame(&timing(), &DOT11B.fastest(), Bytes(1100), with_rts).total()
        };
        assert_eq!(first(false), Duration::from_micros(992));
        assert_eq!(first(true), Duration::from_micros(272), "at 2 Mb/s");
    }
}
