//! A frame exchange is data: the frames that go over the air once the medium is won.

use super::Timing;
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
    /// Noise destroys the data frame: no ACK follows.
    DataLost,
    /// Noise destroys the ACK.
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
    /// Bytes of the data frame, FCS included.
    pub psdu: Bytes,
    /// The receiver has this data frame already: its ACK was lost.
    pub repeated: bool,
    steps: [Option<Step>; 4],
}

/// What the sender wants to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) sender: u32,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    pub(crate) with_rts: bool,
    pub(crate) broadcast: bool,
    pub(crate) repeated: bool,
}

impl Exchange {
    /// The exchange of one sender: `[Rts, Cts,] Data [, Ack]`.
    pub(crate) fn of(timing: &Timing, request: &Request, start: Instant, fate: Fate) -> Self {
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
        let mut end = add(StepKind::Data, &request.mode, request.psdu);
        if !request.broadcast && fate != Fate::DataLost {
            end = add(StepKind::Ack, &timing.response_mode(&request.mode), ACK);
        }
        let Request { sender, psdu, repeated, .. } = *request;
        Self { start, end, fate, sender, psdu, repeated, steps }
    }

    /// Several first frames at once; the medium is busy for the longest.
    pub(crate) fn collision(start: Instant, longest: Duration, sender: u32) -> Self {
        let end = start + longest;
        let (fate, psdu, steps) = (Fate::Collision, Bytes::ZERO, [None; 4]);
        Self { start, end, fate, sender, psdu, repeated: false, steps }
    }

    /// The first frame that a request puts on the air.
    pub(crate) fn first_frame(timing: &Timing, request: &Request) -> (Mode, Airtime) {
        if request.with_rts {
            let rts = timing.rts_mode(&request.mode);
            (rts, timing.airtime(&rts, RTS))
        } else {
            (request.mode, timing.airtime(&request.mode, request.psdu))
        }
    }

    /// The frames in order; none for a collision.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flatten()
    }

    /// The data frame; none for a collision.
    pub fn data(&self) -> Option<&Step> {
        self.steps().find(|step| step.kind == StepKind::Data)
    }

    /// When virtual carrier sense lets bystanders go: the Duration field reserves the medium for
    /// the ACK even if it does not come (clause 9.2.5).
    pub(crate) fn reserved_until(&self, timing: &Timing, mode: &Mode) -> Instant {
        let planned = match self.fate {
            Fate::DataLost => {
                let ack = timing.airtime(&timing.response_mode(mode), ACK).total();
                self.end + timing.sifs() + ack
            }
            Fate::Success | Fate::AckLost | Fate::Collision => self.end,
        };
        // What the first frame reserves, if its Duration field is no less than that.
        let first = self.steps().next().map_or(planned, Step::end);
        planned.max(first + timing.reservation(planned - first))
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
        Request { sender: 1, mode, psdu, with_rts, broadcast, repeated: false }
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
    fn the_medium_is_reserved_for_an_ack_that_does_not_come() {
        let mode = DOT11B.fastest();
        let reserved = |with_rts, fate| {
            let exchange = Exchange::of(&timing(), &request(with_rts, false), Instant::ZERO, fate);
            (exchange.end.0 / 1000, exchange.reserved_until(&timing(), &mode).0 / 1000)
        };
        assert_eq!(reserved(false, Fate::Success), (1250, 1250));
        assert_eq!(reserved(false, Fate::AckLost), (1250, 1250));
        assert_eq!(reserved(false, Fate::DataLost), (992, 1250));
        assert_eq!(reserved(true, Fate::DataLost), (1532, 1790));
    }

    #[test]
    fn the_first_frame_is_what_can_collide() {
        let first = |with_rts| Exchange::first_frame(&timing(), &request(with_rts, false));
        assert_eq!(first(false).1.total(), Duration::from_micros(992));
        assert_eq!(first(true).1.total(), Duration::from_micros(272));
        assert_eq!(first(true).0.rate, kernel::BitRate(2_000_000));
    }
}
