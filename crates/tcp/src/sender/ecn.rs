//! The sender's side of explicit congestion notification (RFC 3168 §6.1.2).

use wire::{Flags, Segment};

/// Whether ECN was negotiated; and if so, what is to be told of the last reduction of the window,
/// and which data it answers for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EcnSender {
    #[default]
    Off,
    On {
        /// The next new data tells that the window was reduced (CWR).
        cwr: bool,
        /// One past the highest sent when it last was: a sequence number, or the number of a unit
        /// of coded data.
        reduced: u64,
    },
}

impl EcnSender {
    /// Both ends have agreed, or have not.
    pub(super) fn negotiated(on: bool) -> Self {
        if on { Self::On { cwr: false, reduced: 0 } } else { Self::Off }
    }

    /// Whether the segment echoes a mark.
    pub(super) fn is_echoed(self, segment: &Segment) -> bool {
        self != Self::Off && segment.flags.has(Flags::ECE)
    }

    /// What new data carries: that its packet is ECN-capable, and once that the window was reduced.
    pub(super) fn on_new_data(&mut self) -> Flags {
        match self {
            Self::Off => Flags::NONE,
            Self::On { cwr: tells @ true, .. } => {
                *tells = false;
                Flags::ECT.and(Flags::CWR)
            }
            Self::On { .. } => Flags::ECT,
        }
    }

    /// The window was reduced, for a mark or for a loss: told whatever the cause, and a mark gives
    /// no second reason before `next` is reached.
    pub(super) fn on_reduction(&mut self, next: u64) {
        if *self != Self::Off {
            *self = Self::On { cwr: true, reduced: next };
        }
    }

    /// What told of the reduction may be lost: it is told again.
    pub(super) fn repeat_cwr(&mut self) {
        if let Self::On { cwr, .. } = self {
            *cwr = true;
        }
    }

    /// Whether new data is still to tell of the reduction.
    pub(super) fn is_cwr_pending(self) -> bool {
        matches!(self, Self::On { cwr: true, .. })
    }

    /// The data from before which the window has been reduced already; zero if it never was.
    pub(super) fn reduced(self) -> u64 {
        match self {
            Self::Off => 0,
            Self::On { reduced, .. } => reduced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::segment;

    #[test]
    fn a_reduction_is_told_once_and_by_new_data() {
        let mut ecn = EcnSender::negotiated(true);
        assert_eq!(ecn.on_new_data(), Flags::ECT);
        ecn.on_reduction(1001);
        assert!(ecn.is_cwr_pending());
        assert_eq!(ecn.on_new_data(), Flags::ECT.and(Flags::CWR));
        assert_eq!(ecn.on_new_data(), Flags::ECT);
        assert_eq!(ecn.reduced(), 1001);
        ecn.repeat_cwr();
        assert_eq!(ecn.on_new_data(), Flags::ECT.and(Flags::CWR));
        assert_eq!(ecn.reduced(), 1001, "it is no further reduction");
    }

    #[test]
    fn without_negotiation_nothing_is_heard_and_nothing_told() {
        let echo = segment(false, 1, 0, 1, Flags::ACK.and(Flags::ECE));
        assert!(EcnSender::negotiated(true).is_echoed(&echo));
        let mut ecn = EcnSender::negotiated(false);
        assert!(!ecn.is_echoed(&echo));
        ecn.on_reduction(1001);
        ecn.repeat_cwr();
        assert_eq!((ecn.on_new_data(), ecn.reduced()), (Flags::NONE, 0));
    }
}
