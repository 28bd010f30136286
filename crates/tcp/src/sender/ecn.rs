//! The sender's side of explicit congestion notification (RFC 3168 §6.1.2).

use wire::{Flags, Segment};

/// The ECN state of a sender: off if ECN was not negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EcnSender {
    #[default]
    Off,
    On {
        /// Whether the next new data carries CWR, which reports that the window was reduced.
        cwr: bool,
        /// One past the highest number sent when the window was last reduced: a sequence number, or
        /// the number of a unit of coded data.
        reduced: u64,
    },
}

impl EcnSender {
    /// The result of the negotiation between both ends.
    pub(super) fn negotiated(on: bool) -> Self {
        if on { Self::On { cwr: false, reduced: 0 } } else { Self::Off }
    }

    /// Whether the segment has ECE, the echo of a congestion mark.
    pub(super) fn is_echoed(self, segment: &Segment) -> bool {
        self != Self::Off && segment.flags.has(Flags::ECE)
    }

    /// The flags of new data: ECT, and CWR once after each reduction.
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

    /// The window was reduced, for a mark or for a loss. CWR is sent in both cases. Echoes of marks
    /// cause no further reduction before `next` is acknowledged.
    pub(super) fn on_reduction(&mut self, next: u64) {
        if *self != Self::Off {
            *self = Self::On { cwr: true, reduced: next };
        }
    }

    /// The segment that carried CWR may be lost: CWR is sent again.
    pub(super) fn repeat_cwr(&mut self) {
        if let Self::On { cwr, .. } = self {
            *cwr = true;
        }
    }

    /// Whether CWR is still to be sent.
    pub(super) fn is_cwr_pending(self) -> bool {
        matches!(self, Self::On { cwr: true, .. })
    }

    /// One past the highest number sent at the last reduction; zero before the first.
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
