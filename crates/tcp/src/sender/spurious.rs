//! Detection of spurious losses: the Eifel algorithm by timestamps (RFC 3522), F-RTO after a
//! timeout (RFC 5682), and D-SACK reports of all retransmissions (RFC 3708). They only detect; the
//! sender undoes the reduction.

use kernel::Instant;
use std::collections::VecDeque;
use wire::SackBlock;

/// The Eifel detection algorithm (RFC 3522 §3.2): if the first acknowledgement of new data after a
/// retransmission echoes an earlier timestamp, the original segment had arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eifel {
    is_on: bool,
    phase: EifelPhase,
    /// Whether the receiver has reported a duplicate by D-SACK during the connection.
    pub(super) reports_duplicates: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EifelPhase {
    /// No loss recovery is examined.
    Idle,
    /// Step (1): loss recovery has begun, and nothing is retransmitted yet.
    Began,
    /// Step (3): the first retransmission left at this time (`RetransmitTS`).
    Resent(Instant),
}

impl Eifel {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, phase: EifelPhase::Idle, reports_duplicates: false }
    }

    /// Loss recovery begins. Later timeouts in the same recovery do not restart the algorithm.
    pub(super) fn on_loss(&mut self) {
        if self.is_on && self.phase == EifelPhase::Idle {
            self.phase = EifelPhase::Began;
        }
    }

    /// A segment is retransmitted. The algorithm examines only a recovery that begins with the
    /// retransmission of the oldest outstanding segment: the acknowledgement of new data would not
    /// concern another one.
    pub(super) fn on_resend(&mut self, now: Instant, is_oldest: bool) {
        if self.phase == EifelPhase::Began {
            self.phase = if is_oldest { EifelPhase::Resent(now) } else { EifelPhase::Idle };
        }
    }

    /// Whether no recovery is examined.
    pub(super) fn is_idle(&self) -> bool {
        self.phase == EifelPhase::Idle
    }

    /// An acknowledgement of new data arrived, which echoes the timestamp `echo`; returns whether
    /// it shows that the loss was spurious. `has_duplicate` tells whether it reports a duplicate,
    /// and `is_complete` whether it acknowledges all outstanding data. If it does, it may be the
    /// acknowledgement of a retransmission that followed the loss of all acknowledgements (§3.3).
    pub(super) fn on_ack(
        &mut self,
        echo: Option<Instant>,
        has_duplicate: bool,
        is_complete: bool,
    ) -> bool {
        let EifelPhase::Resent(resent_at) = self.phase else { return false };
        self.phase = EifelPhase::Idle;
        echo.is_some_and(|echo| echo < resent_at)
            && !has_duplicate
            && (self.reports_duplicates || !is_complete)
    }
}

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

/// The segments that were retransmitted since the last loss and are not reported as duplicates.
#[derive(Clone, Debug, Default)]
pub(super) struct Resent {
    /// Whether retransmissions are recorded: a loss was detected and not undone.
    is_on: bool,
    /// The range of each retransmission.
    segments: VecDeque<SackBlock>,
}

impl Resent {
    /// A loss is detected.
    pub(super) fn begin(&mut self) {
        self.is_on = true;
        self.segments.clear();
    }

    /// The loss was undone.
    pub(super) fn end(&mut self) {
        self.is_on = false;
        self.segments.clear();
    }

    /// A segment is retransmitted.
    pub(super) fn on_resend(&mut self, start: u64, end: u64) {
        if self.is_on {
            self.segments.push_back(SackBlock { start, end });
        }
    }

    /// The receiver reported this range as a duplicate (RFC 2883); returns whether it has now
    /// reported each retransmission (RFC 3708 §2). A report of anything else, or a second report of
    /// the same retransmission, shows nothing.
    pub(super) fn on_duplicate(&mut self, reported: SackBlock) -> bool {
        let before = self.segments.len();
        // A segment that was retransmitted twice is reported twice.
        let mut next = reported.start;
        while let Some(index) = self
            .segments
            .iter()
            .position(|segment| segment.start == next && segment.end <= reported.end)
        {
            next = self.segments.remove(index).map_or(u64::MAX, |segment| segment.end);
        }
        before > 0 && self.segments.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::ms;

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
        let block = |start, end| SackBlock { start, end };
        let mut resent = Resent::default();
        resent.begin();
        assert!(!resent.on_duplicate(block(1, 101)), "of something resent before the loss");
        resent.on_resend(101, 201);
        resent.on_resend(301, 401);
        assert!(!resent.on_duplicate(block(101, 201)));
        assert!(!resent.on_duplicate(block(101, 201)), "the same report again");
        assert!(!resent.on_duplicate(block(201, 301)), "was not retransmitted");
        assert!(resent.on_duplicate(block(301, 401)));
        resent.end();
        resent.on_resend(101, 201);
        assert!(!resent.on_duplicate(block(101, 201)));
    }

    #[test]
    fn one_report_may_cover_several_retransmissions() {
        let mut resent = Resent::default();
        resent.begin();
        resent.on_resend(101, 201);
        resent.on_resend(201, 301);
        resent.on_resend(201, 301);
        assert!(!resent.on_duplicate(SackBlock { start: 101, end: 301 }));
        assert!(resent.on_duplicate(SackBlock { start: 201, end: 301 }), "its second copy");
    }

    #[test]
    fn an_echo_from_before_the_retransmission_shows_that_the_original_arrived() {
        let [before, at, after] = [ms(400), ms(500), ms(600)].map(Some);
        let examined = || {
            let mut eifel = Eifel::new(true);
            eifel.on_loss();
            eifel.on_resend(ms(500), true);
            eifel
        };
        assert!(examined().on_ack(before, false, false));
        assert!(!examined().on_ack(at, false, false) && !examined().on_ack(after, false, false));
        assert!(!examined().on_ack(before, true, false), "the duplicate is reported");
        assert!(!examined().on_ack(before, false, true), "all acknowledgements may be lost");
        let mut reports = Eifel { reports_duplicates: true, ..examined() };
        assert!(reports.on_ack(before, false, true), "the receiver would report a duplicate");
        assert!(!reports.on_ack(before, false, false), "only the first acknowledgement counts");
    }

    #[test]
    fn a_recovery_of_a_later_segment_is_not_examined() {
        let mut eifel = Eifel::new(true);
        eifel.on_loss();
        eifel.on_resend(ms(500), false);
        eifel.on_resend(ms(510), true);
        assert!(!eifel.on_ack(Some(ms(400)), false, false));
    }

    #[test]
    fn a_second_timeout_does_not_restart_the_examination() {
        let mut eifel = Eifel::new(true);
        eifel.on_loss();
        eifel.on_resend(ms(500), true);
        eifel.on_loss();
        eifel.on_resend(ms(900), true);
        assert!(!eifel.on_ack(Some(ms(700)), false, false));
        let mut off = Eifel::new(false);
        off.on_loss();
        off.on_resend(ms(500), true);
        assert!(!off.on_ack(Some(ms(400)), false, false));
    }
}
