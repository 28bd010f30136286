//! What a node does on its own account: its exchange, the response that it waits for, its TXOP.
//!
//! What it does for another node, a response that it sends, is beside that (`Node::answer`): a
//! full-duplex node answers while it is in an exchange of its own.

use crate::mac::Txop;
use kernel::{Duration, Instant};
use wire::FrameKind;

/// What a node does on its own account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Own {
    /// Nothing: its EDCAFs may contend.
    #[default]
    Idle,
    /// It sends the frames of an exchange.
    Sending(Exchange),
    /// It waits for a response in its exchange.
    Awaiting(Exchange, Awaited),
    /// It holds a TXOP, whose next exchange begins a SIFS after the last one.
    Holding(Txop),
}

/// An exchange that a node has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Its EDCAF.
    pub(super) edcaf: usize,
    /// When it began.
    pub(super) opened: Instant,
    /// The TXOP in which it is.
    pub(super) txop: Option<Txop>,
}

/// A response that a node waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub(super) kind: FrameKind,
    /// The end of the frame that elicits the response.
    pub(super) since: Instant,
    /// When the response begins.
    pub(super) due: Instant,
    /// Of a response in a chain of them: when the next is asked for, if the medium is idle then.
    pub(super) recovers: Option<Instant>,
    /// The end of the timeout, unless the node is receiving a frame by then.
    pub(super) until: Instant,
    /// Whether the node is receiving a frame whose PHY header ended before the timeout.
    pub(super) receiving: bool,
}

impl Awaited {
    /// A response to a frame that ends now: it is due a SIFS later.
    #[inline]
    pub(super) fn after(now: Instant, kind: FrameKind, sifs: Duration, timeout: Duration) -> Self {
        let (due, until) = (now + sifs, now + timeout);
        Self { kind, since: now, due, recovers: None, until, receiving: false }
    }

    /// When the node acts, unless it is receiving a frame by then.
    #[inline]
    pub(super) fn acts_at(&self) -> Instant {
        self.recovers.unwrap_or(self.until)
    }
}

impl Own {
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        matches!(self, Self::Idle)
    }

    #[inline]
    pub(super) fn exchange(&self) -> Option<&Exchange> {
        match self {
            Self::Sending(exchange) | Self::Awaiting(exchange, _) => Some(exchange),
            Self::Idle | Self::Holding(_) => None,
        }
    }

    /// The EDCAF of the exchange.
    #[inline]
    pub(super) fn edcaf(&self) -> Option<usize> {
        self.exchange().map(|exchange| exchange.edcaf)
    }

    #[inline]
    pub(super) fn awaited(&self) -> Option<&Awaited> {
        if let Self::Awaiting(_, awaited) = self { Some(awaited) } else { None }
    }

    #[inline]
    pub(super) fn awaited_mut(&mut self) -> Option<&mut Awaited> {
        if let Self::Awaiting(_, awaited) = self { Some(awaited) } else { None }
    }

    /// Whether an EDCAF begins another exchange a SIFS after its last one.
    #[inline]
    pub(super) fn goes_on(&self, edcaf: usize) -> bool {
        matches!(self, Self::Holding(txop) if txop.goes_on(edcaf as u32))
    }

    /// The node has sent a frame of its exchange that elicits a response.
    pub(super) fn wait_for(&mut self, awaited: Awaited) {
        if let Some(&exchange) = self.exchange() {
            *self = Self::Awaiting(exchange, awaited);
        }
    }

    /// The node waits no longer: the response is there, or another frame takes its place.
    pub(super) fn stop_waiting(&mut self) {
        if let Some(&exchange) = self.exchange() {
            *self = Self::Sending(exchange);
        }
    }

    /// The exchange has succeeded at this instant. Returns whether the TXOP goes on.
    pub(super) fn end_exchange(
        &mut self,
        txop: Option<Txop>,
        now: Instant,
        sifs: Duration,
    ) -> bool {
        let txop = txop.and_then(|txop| txop.after_success(now, sifs));
        *self = txop.map_or(Self::Idle, Self::Holding);
        txop.is_some()
    }

    /// The TXOP ends with the exchange.
    pub(super) fn end_txop(&mut self) {
        match self {
            Self::Sending(exchange) | Self::Awaiting(exchange, _) => exchange.txop = None,
            Self::Holding(_) => *self = Self::Idle,
            Self::Idle => {}
        }
    }
}
