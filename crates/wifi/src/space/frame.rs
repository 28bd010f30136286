//! Frames and their Duration fields (clauses 9.2.5, 9.3.1, 10.6.6).

use super::per_cache::FactsPlace;
use super::rules::{Responses, SpaceRules};
use crate::mac::{ACK, Deferral, Edcaf, ElicitedResponse, RTS, Timing};
use crate::phy::{Airtime, Guard, Mode};
use kernel::{Bytes, Db, Duration, Instant};
use wire::FrameKind;

/// For whom a frame is where a PPDU may have several users, or what else it is in such an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Users {
    /// For its receiver, or for all.
    #[default]
    One,
    /// An HE MU PPDU, or the MU-BAR that follows it, to the users of its transmitter's exchange.
    Several,
    /// A BlockAckReq or BlockAck for one of them.
    Chained,
    /// One of the equal CTSs that answer an MU-RTS.
    Together,
    /// An HE TB PPDU in the resource unit of this user of its receiver's exchange.
    Unit(u8),
    /// An MU-RTS to the stations with whom its transmitter begins an exchange.
    Opening,
}

impl Users {
    /// Whether it is an HE TB PPDU.
    pub fn is_unit(self) -> bool {
        matches!(self, Self::Unit(_))
    }

    /// Whether its data is in resource units.
    pub fn has_units(self, kind: FrameKind) -> bool {
        match self {
            Self::Several => kind == FrameKind::Data,
            Self::Unit(_) => true,
            Self::One | Self::Chained | Self::Together | Self::Opening => false,
        }
    }
}

/// A frame or A-MPDU as all receivers decode it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnAir {
    pub(super) kind: FrameKind,
    pub(super) from: u32,
    /// Its receiver; `None` is broadcast.
    pub(super) to: Option<u32>,
    /// The EDCAF to whose exchange it belongs, at the node that began the exchange.
    pub(super) edcaf: u8,
    pub(super) mode: Mode,
    pub(super) psdu: Bytes,
    /// Duration field: how long after its end the medium is reserved.
    pub(super) reserves: Duration,
    /// The response that it elicits.
    pub(super) answer: ElicitedResponse,
    /// Of a CTS that announces a secondary frame, and of the frames after it: how much later than a
    /// SIFS after the data frame the response to it begins, because the other data frame lasts
    /// longer. A CTS tells it of the primary frame.
    pub(super) beside: Option<Duration>,
    /// For whom it is.
    pub(super) users: Users,
}

impl OnAir {
    /// The data frame or BlockAckReq that the EDCAF of this number has assembled. A BlockAck has
    /// `block_ack` bytes.
    pub(super) fn body(timing: &Timing, index: u8, edcaf: &Edcaf, block_ack: Bytes) -> Self {
        let Edcaf { node, mode, response, psdu, .. } = edcaf;
        let lasting = match psdu.answer {
            ElicitedResponse::None => None,
            ElicitedResponse::Ack => Some(response.ack.total()),
            ElicitedResponse::BlockAck => Some(timing.airtime(&response.mode, block_ack).total()),
        };
        let reserves = |lasting| timing.reservation(timing.sifs() + lasting);
        let is_request = psdu.mpdus == 0;
        Self {
            kind: if is_request { FrameKind::BlockAckRequest } else { FrameKind::Data },
            from: *node,
            to: edcaf.to(),
            edcaf: index,
            mode: *mode,
            psdu: psdu.bytes,
            reserves: lasting.map_or(Duration::ZERO, reserves),
            answer: psdu.answer,
            beside: None,
            users: Users::One,
        }
    }

    /// The same after a CTS that may announce a secondary frame beside it.
    pub(super) fn after_cts(self, timing: &Timing, cts: &Self) -> Self {
        let Some(delay) = cts.beside else { return self };
        let lasting = timing.frame_airtime(self.kind, &self.mode, self.psdu).total();
        let reserves = cts.reserves.saturating_sub(timing.sifs() + lasting);
        Self { reserves, beside: Some(delay), ..self }
    }

    /// The RTS before this frame.
    pub(super) fn rts(self, rules: &SpaceRules) -> Self {
        let timing = rules.timing();
        let mode = rules.responses(&self.mode).rts_mode;
        let cts = rules.responses(&mode).ack;
        let body = timing.frame_airtime(self.kind, &self.mode, self.psdu).total();
        let lasting = timing.sifs() + cts + timing.sifs() + body + self.reserves;
        let reserves = timing.reservation(lasting);
        Self { kind: FrameKind::Rts, mode, psdu: RTS, reserves, ..self }
    }

    /// The CTS-to-self before this frame.
    pub(super) fn cts_to_self(self, timing: &Timing) -> Self {
        let mode = timing.rts_mode(&self.mode);
        let body = timing.frame_airtime(self.kind, &self.mode, self.psdu).total();
        let reserves = timing.reservation(timing.sifs() + body + self.reserves);
        let (kind, to, answer) = (FrameKind::CtsToSelf, Some(self.from), ElicitedResponse::None);
        Self { kind, to, mode, psdu: ACK, reserves, answer, ..self }
    }

    /// The CTS, Ack or BlockAck of `psdu` bytes with which `from` responds to this frame. It
    /// reserves the rest of the exchange.
    pub(super) fn response(
        &self,
        rules: &SpaceRules,
        from: u32,
        kind: FrameKind,
        psdu: Bytes,
    ) -> Self {
        let timing = rules.timing();
        let Responses { mode, ack, .. } = *rules.responses(&self.mode);
        let lasting = if psdu == ACK { ack } else { timing.airtime(&mode, psdu).total() };
        let taken = timing.sifs() + lasting;
        // The CTS has reserved the medium for both responses to two data frames.
        let is_last = self.beside.is_some();
        let reserves = if is_last { Duration::ZERO } else { self.reserves.saturating_sub(taken) };
        let (to, answer) = (Some(self.from), ElicitedResponse::None);
        Self { kind, from, to, mode, psdu, reserves, answer, ..*self }
    }

    /// Whether its transmitter has nothing more to do in the exchange once it has arrived.
    pub(super) fn ends_exchange(&self) -> bool {
        let is_answer = self.is_control_response() || self.answers_trigger();
        let is_last = self.answer == ElicitedResponse::None && !is_answer;
        is_last && self.kind != FrameKind::CtsToSelf || self.is_multi_sta()
    }

    /// Whether it is the Multi-STA BlockAck of an access point.
    pub(super) fn is_multi_sta(&self) -> bool {
        self.users == Users::Several && self.kind == FrameKind::BlockAck
    }

    /// Whether it is an HE TB PPDU that a Trigger frame other than a MU-BAR asks for.
    pub(super) fn answers_trigger(&self) -> bool {
        self.users.is_unit() && !self.is_control_response()
    }

    /// Whether those set a NAV, by its HE-SIG-A, who decode nothing of what it has for them.
    pub(super) fn sets_nav_by_signal(&self) -> bool {
        self.users == Users::Several && self.kind == FrameKind::Data
    }

    /// Whether it is an MU-RTS.
    pub(super) fn is_mu_rts(&self) -> bool {
        self.users == Users::Opening
    }

    /// Whether it is one of the CTSs that answer an MU-RTS.
    pub(super) fn answers_mu_rts(&self) -> bool {
        self.users == Users::Together
    }

    /// Whether other nodes answer the same frame at the same time, so that their preambles are
    /// received as one.
    pub(super) fn is_joint(&self) -> bool {
        matches!(self.users, Users::Together | Users::Unit(_))
    }

    /// Of one of several answers to a frame: the guard interval of its symbols. Answers that arrive
    /// within this time after the first are received as one.
    pub(super) fn joint_within(&self) -> Duration {
        let guard =
            if self.users.is_unit() { self.mode.guard.of_trigger_based() } else { Guard::Ns800 };
        Duration(guard.ns())
    }

    /// Whether it is for several users, or of one of several, whom the exchange tells.
    pub(super) fn is_by_user(&self) -> bool {
        matches!(self.users, Users::Several | Users::Unit(_) | Users::Opening)
    }

    /// Whether it is a control response.
    pub(super) fn is_control_response(&self) -> bool {
        matches!(self.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck)
    }
}

/// What a transmission is where signals take time to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It arrives everywhere at once.
    Whole,
    /// It arrives by waves, and lasts until the last of them has.
    Source,
    /// A wave of the source with this number.
    Wave(u32),
}

/// A frame that is being transmitted, or was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) frame: OnAir,
    pub(super) part: Part,
    /// How many exchanges its transmitter had ended when it began.
    pub(super) exchanges: u32,
    pub(super) start: Instant,
    end: Instant,
    /// How much less than its transmit power its transmitter sends it with.
    pub(super) cut: Db,
    pub(super) airtime: Airtime,
    /// What it causes at nodes that cannot decode it.
    pub(super) deferral: Deferral,
    /// Where the facts of such frames were when it began.
    pub(super) facts: FactsPlace,
    pub(super) reach: Reach,
    /// It is one of the frames of a full-duplex exchange that bear each other.
    pub(super) bears: bool,
}

/// The numbers of addressed receivers that decoded a frame, lost it to interference, and lost it to
/// noise.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reach {
    pub(super) decoded: u32,
    pub(super) interfered: u32,
    pub(super) noise: u32,
    /// Lost it to interferers.
    pub(super) by_interferers: u32,
}

impl Reach {
    /// What has been added to these numbers.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            decoded: self.decoded - before.decoded,
            interfered: self.interfered - before.interfered,
            noise: self.noise - before.noise,
            by_interferers: self.by_interferers - before.by_interferers,
        }
    }

    /// Whether no addressed receiver has received it to its end.
    pub(super) fn is_none(&self) -> bool {
        self.decoded + self.interfered + self.noise + self.by_interferers == 0
    }

    /// A receiver lost the frame to interferers, or to other frames, or to noise.
    pub(super) fn note_loss(&mut self, by_interferers: bool, is_interfered: bool) {
        match (by_interferers, is_interfered) {
            (true, _) => self.by_interferers += 1,
            (false, true) => self.interfered += 1,
            (false, false) => self.noise += 1,
        }
    }
}

impl Transmission {
    /// A transmission of which nobody has received anything yet.
    pub(super) fn new(frame: OnAir, start: Instant, airtime: Airtime, deferral: Deferral) -> Self {
        let (end, reach) = (start + airtime.total(), Reach::default());
        let (part, exchanges, facts) = (Part::Whole, 0, FactsPlace::default());
        let bears = frame.beside.is_some();
        let cut = Db(0.0);
        Self { frame, part, exchanges, start, end, cut, airtime, deferral, facts, reach, bears }
    }

    /// What arrives of it after a delay. It has this number.
    pub(super) fn wave(&self, number: u32, delay: Duration) -> Self {
        let (start, end) = (self.start + delay, self.end + delay);
        Self { part: Part::Wave(number), start, end, ..*self }
    }

    /// Its transmitter, and when it begins.
    pub(super) fn begin(&self) -> (u32, Instant) {
        (self.frame.from, self.start)
    }

    pub(super) fn end(&self) -> Instant {
        self.end
    }

    /// When its transmitter falls silent: a signal extension ends later.
    pub(super) fn silent_from(&self) -> Instant {
        self.end - self.airtime.extension
    }

    /// When the PSDU begins and receivers have decoded the PHY header.
    pub(super) fn payload(&self) -> Instant {
        self.start + self.airtime.preamble + self.airtime.header
    }

    /// When receivers know that it is a frame: at the end of its PHY header, or of the L-SIG of an
    /// HE TB PPDU, in which whoever asked for it sees the answer.
    pub(super) fn detected(&self) -> Instant {
        /// L-SIG.
        const SIGNAL: Duration = Duration::from_micros(4);
        match self.frame.users {
            Users::Unit(_) => self.start + self.airtime.preamble + SIGNAL,
            _ => self.payload(),
        }
    }

    /// Whether another transmission answers the same frame, and begins within a guard interval of
    /// this one: stations at several distances do not answer at the same instant.
    pub(super) fn is_joint_with(&self, other: &Self) -> bool {
        let (one, two) = (&self.frame, &other.frame);
        let apart = self.start.max(other.start).since(self.start.min(other.start));
        one.is_joint() && two.is_joint() && one.to == two.to && apart <= one.joint_within()
    }

    /// When the first `bytes` of the PSDU have ended.
    pub(super) fn sent_by(&self, bytes: Bytes) -> Instant {
        self.start + self.airtime.until(bytes, self.frame.psdu)
    }
}
