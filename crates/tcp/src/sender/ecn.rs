//! The sender's side of explicit congestion notification (RFC 3168 §6.1.2, RFC 9768).

use super::accurate::Accurate;
use super::sequence::Outstanding;
use crate::Feedback;
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
    /// Each acknowledgement has counters of marks.
    Accurate(Accurate),
}

/// The marks that an acknowledgement reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Marks {
    #[default]
    None,
    /// Everything that it delivers.
    All,
    /// This many packets.
    Packets(u64),
}

impl Marks {
    /// Whether there are any.
    pub(super) fn any(self) -> bool {
        self != Self::None
    }
}

impl EcnSender {
    /// The result of the negotiation between both ends; the congestion control sends data with
    /// `ect`.
    pub(super) fn negotiated(feedback: Feedback, ect: Flags, wraps: bool) -> Self {
        match feedback {
            Feedback::None => Self::Off,
            Feedback::Classic => Self::On { cwr: false, reduced: 0 },
            Feedback::Accurate => Self::Accurate(Accurate::new(ect, wraps)),
        }
    }

    /// The feedback that both ends agreed on.
    pub(super) fn feedback(&self) -> Feedback {
        match self {
            Self::Off => Feedback::None,
            Self::On { .. } => Feedback::Classic,
            Self::Accurate(_) => Feedback::Accurate,
        }
    }

    /// Whether the segment echoes congestion marks.
    pub(super) fn is_echoed(&self, segment: &Segment) -> bool {
        match self {
            Self::Off => false,
            Self::On { .. } => segment.flags.has(Flags::ECE),
            Self::Accurate(accurate) => accurate.is_echoed(segment),
        }
    }

    /// Reads the marks of an acknowledgement that delivers `delivered` bytes, in segments of `mss`
    /// bytes; `sent` is outstanding after it.
    pub(super) fn read(
        &mut self,
        segment: &Segment,
        delivered: u64,
        mss: u64,
        sent: Outstanding,
    ) -> Marks {
        match self {
            Self::On { .. } if segment.flags.has(Flags::ECE) => Marks::All,
            Self::Off | Self::On { .. } => Marks::None,
            Self::Accurate(accurate) => match accurate.on_ack(segment, delivered, mss, sent) {
                0 => Marks::None,
                marked => Marks::Packets(marked),
            },
        }
    }

    /// The flags of any segment but a SYN: the counter ACE, and ECT(1) where data has it.
    pub(super) fn on_any(&self) -> Flags {
        if let Self::Accurate(accurate) = self { accurate.on_any() } else { Flags::NONE }
    }

    /// The flags of retransmitted data: classic ECN sends it without ECT (RFC 3168 §6.1.5).
    pub(super) fn on_old_data(&self) -> Flags {
        match self {
            Self::Accurate(accurate) => accurate.field(),
            _ => Flags::NONE,
        }
    }

    /// The flags of new data: ECT, and CWR once after each reduction.
    pub(super) fn on_new_data(&mut self) -> Flags {
        match self {
            Self::Accurate(accurate) => accurate.field(),
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
        match self {
            Self::Off => {}
            Self::On { .. } => *self = Self::On { cwr: true, reduced: next },
            Self::Accurate(accurate) => accurate.reduced = next,
        }
    }

    /// The segment that carried CWR may be lost: CWR is sent again.
    pub(super) fn repeat_cwr(&mut self) {
        if let Self::On { cwr, .. } = self {
            *cwr = true;
        }
    }

    /// Whether CWR is still to be sent.
    pub(super) fn is_cwr_pending(&self) -> bool {
        matches!(self, Self::On { cwr: true, .. })
    }

    /// One past the highest number sent at the last reduction; zero before the first.
    pub(super) fn reduced(&self) -> u64 {
        match self {
            Self::Off => 0,
            Self::On { reduced, .. } => *reduced,
            Self::Accurate(accurate) => accurate.reduced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::segment;

    #[test]
    fn a_reduction_is_told_once_and_by_new_data() {
        let mut ecn = EcnSender::negotiated(Feedback::Classic, Flags::ECT, true);
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
        assert!(EcnSender::negotiated(Feedback::Classic, Flags::ECT, true).is_echoed(&echo));
        let mut ecn = EcnSender::negotiated(Feedback::None, Flags::ECT, true);
        assert!(!ecn.is_echoed(&echo));
        ecn.on_reduction(1001);
        ecn.repeat_cwr();
        assert_eq!((ecn.on_new_data(), ecn.reduced()), (Flags::NONE, 0));
    }
}
