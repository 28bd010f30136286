//! Loss recovery: the three ways in which a connection detects and repairs losses. Each has its own
//! state and works on the connection's [`Tcb`].

use super::coded::Coded;
use super::cumulative::Cumulative;
use super::gauges::State;
use super::selective::Selective;
use super::tcb::Tcb;
use super::timer::Timer;
use crate::{Command, Config};
use kernel::Instant;
use wire::Segment;

/// How a connection detects and repairs losses.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the largest is the usual one, and a sender has one")]
pub(super) enum LossRecovery {
    /// By cumulative acknowledgements alone (RFC 5681, RFC 6582).
    Cumulative(Cumulative),
    /// By selective acknowledgements (RFC 6675, RFC 8985).
    Selective(Selective),
    /// By parity in blocks of coded data (`LT-TCP`).
    Coded(Box<Coded>),
}

impl LossRecovery {
    pub(super) fn new(config: &Config) -> Self {
        match (config.fec, config.sack()) {
            (Some(fec), sack) => Self::Coded(Box::new(Coded::new(&fec, config.mss().0, sack))),
            (None, Some(sack)) => Self::Selective(Selective::new(sack)),
            (None, None) => Self::Cumulative(Cumulative::default()),
        }
    }

    /// Whether the SYN carries the SACK-permitted option.
    pub(super) fn wants_sack(&self) -> bool {
        match self {
            Self::Cumulative(_) => false,
            Self::Selective(_) => true,
            Self::Coded(coded) => coded.wants_sack(),
        }
    }

    /// RFC 2018 §2: the receiver sends SACK blocks if both SYNs permit them. Otherwise `NewReno`
    /// recovers losses.
    pub(super) fn on_sack_refused(&mut self) {
        match self {
            Self::Cumulative(_) => {}
            Self::Selective(_) => *self = Self::Cumulative(Cumulative::default()),
            Self::Coded(coded) => coded.on_sack_refused(),
        }
    }

    /// An acknowledgement arrived that does not exceed what was sent.
    pub(super) fn on_ack(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) {
        match self {
            Self::Cumulative(cumulative) => cumulative.on_ack(tcb, now, segment, out),
            Self::Selective(selective) => selective.on_ack(tcb, now, segment, out),
            Self::Coded(coded) => coded.on_ack(tcb, now, segment, out),
        }
    }

    /// The timer expired, for any purpose except a zero-window probe.
    pub(super) fn on_timer(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        expired: Timer,
        out: &mut Vec<Command>,
    ) {
        match self {
            Self::Cumulative(cumulative) => cumulative.on_timer(tcb, now, out),
            Self::Selective(selective) => selective.on_timer(tcb, now, expired, out),
            Self::Coded(coded) => coded.on_timer(tcb, now, expired, out),
        }
    }

    /// Sends what the windows allow.
    pub(super) fn transmit(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        match self {
            Self::Cumulative(cumulative) => cumulative.transmit(tcb, now, out),
            Self::Selective(selective) => selective.transmit(tcb, now, out),
            Self::Coded(coded) => coded.transmit(tcb, now, out),
        }
    }

    /// The connection is over.
    pub(super) fn on_closed(&mut self) {
        if let Self::Coded(coded) = self {
            coded.on_closed();
        }
    }

    pub(super) fn state(&self) -> State {
        match self {
            Self::Cumulative(cumulative) => cumulative.state(),
            Self::Selective(selective) => selective.state(),
            Self::Coded(coded) => coded.state(),
        }
    }

    /// Whether there is a hole that may be caused by reordering.
    pub(super) fn is_disordered(&self) -> bool {
        match self {
            Self::Cumulative(cumulative) => cumulative.is_disordered(),
            Self::Selective(selective) => selective.is_disordered(),
            Self::Coded(_) => false,
        }
    }

    /// Data in flight: sent, not acknowledged and not considered lost.
    pub(super) fn in_flight(&self, tcb: &Tcb) -> u64 {
        match self {
            Self::Cumulative(_) => tcb.snd.nxt - tcb.snd.una,
            Self::Selective(selective) => selective.in_flight(tcb),
            Self::Coded(coded) => coded.in_flight(),
        }
    }
}
