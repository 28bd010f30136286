//! Detection of spurious losses: F-RTO after a timeout (RFC 5682), and D-SACK reports of all
//! retransmissions (RFC 3708). Both only detect; the sender undoes the reduction.

/// F-RTO (RFC 5682 §3.1): the state of the detection of a spurious timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FRto {
    Off,
    /// Step 2: no acknowledgement has arrived since the timeout.
    First,
    /// Step 3: new data was sent after the first acknowledgement.
    Second,
}

/// How the sender continues after an acknowledgement that follows a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    /// Slow start continues.
    None,
    /// Step (2b): the sender sends up to two new segments instead of retransmissions. If there are
    /// any, [`FRto::Second`] follows.
    SendNew,
    /// Step (3b): the timeout was spurious.
    Undo,
}

impl FRto {
    /// An acknowledgement arrived. The arguments tell whether it acknowledges data, whether it
    /// SACKs data, and whether it newly delivers a segment that was sent only once, before the
    /// timeout.
    pub(super) fn on_ack(&mut self, acked: bool, sacked: bool, original: bool) -> Advice {
        let advice = match self {
            Self::First if acked => Advice::SendNew,
            Self::Second if original => Advice::Undo,
            Self::First | Self::Second if !acked && !sacked => return Advice::None,
            Self::Off | Self::First | Self::Second => Advice::None,
        };
        *self = Self::Off;
        advice
    }
}

/// The number of segments that were retransmitted since the last loss and not reported as
/// duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resent {
    /// Nothing is counted: there was no loss, or it was undone.
    Uncounted,
    Segments(u32),
}

impl Resent {
    /// A segment is retransmitted.
    pub(super) fn on_resend(&mut self) {
        if let Self::Segments(count) = self {
            *count += 1;
        }
    }

    /// The receiver reported a duplicate (RFC 2883); returns whether it has now reported all
    /// retransmissions (RFC 3708 §2).
    pub(super) fn on_duplicate(&mut self) -> bool {
        match self {
            Self::Uncounted | Self::Segments(0) => false,
            Self::Segments(count) => {
                *count -= 1;
                *count == 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_spurious_if_two_acknowledgements_advance_over_what_was_not_resent() {
        let mut f_rto = FRto::First;
        assert_eq!(f_rto.on_ack(true, false, true), Advice::SendNew);
        assert_eq!(f_rto, FRto::Off, "unless there is new data to send");
        f_rto = FRto::Second;
        assert_eq!(f_rto.on_ack(false, false, false), Advice::None);
        assert_eq!(f_rto, FRto::Second, "nothing new: wait on");
        assert_eq!(f_rto.on_ack(true, false, true), Advice::Undo);
        assert_eq!(f_rto.on_ack(true, false, true), Advice::None, "decided once");
    }

    #[test]
    fn selected_data_or_an_arrived_retransmission_shows_that_the_timeout_was_right() {
        let mut f_rto = FRto::First;
        assert_eq!(f_rto.on_ack(false, true, false), Advice::None);
        assert_eq!(f_rto, FRto::Off);
        f_rto = FRto::Second;
        assert_eq!(f_rto.on_ack(true, false, false), Advice::None);
        assert_eq!(f_rto, FRto::Off);
    }

    #[test]
    fn a_loss_is_none_once_all_that_was_resent_is_reported_as_a_duplicate() {
        let mut resent = Resent::Segments(0);
        assert!(!resent.on_duplicate(), "of something resent before the loss");
        resent.on_resend();
        resent.on_resend();
        assert!(!resent.on_duplicate());
        assert!(resent.on_duplicate());
        resent = Resent::Uncounted;
        resent.on_resend();
        assert!(!resent.on_duplicate());
    }
}
