//! The quantities that probes read of a sender. Reading them changes no state.

use super::Sender;
use super::connection::Connection;
use super::ecn::EcnSender;
use super::recovery::LossRecovery;
use crate::{Control, Feedback};
use kernel::Duration;

/// The congestion state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No loss is known.
    Open,
    /// Fast recovery (RFC 6582, RFC 6675).
    Recovery,
    /// Slow start after a retransmission timeout, until all data that was outstanding then is
    /// acknowledged.
    Loss,
}

/// The counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Segments with data, retransmissions included.
    pub segments: u64,
    /// Bytes of data in them.
    pub bytes: u64,
    /// Those of these bytes that were retransmissions.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer, including those for a lost SYN or FIN.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_retransmits: u64,
    /// Acknowledgements that arrived.
    pub acks_received: u64,
    /// Duplicates among them (RFC 5681 §2).
    pub duplicate_acks: u64,
    /// Duplicate segments that the receiver reported by D-SACK (RFC 2883).
    pub duplicates_reported: u64,
    /// Window reductions that were undone.
    pub undone: u64,
    /// Tail loss probes (RFC 8985), zero-window probes and probes of a failed route.
    pub probes: u64,
    /// Reductions of the window for a congestion mark (RFC 3168).
    pub marks_answered: u64,
    /// Marked packets that accurate feedback (RFC 9768) has counted.
    pub marks_reported: u64,
    /// Challenge ACKs (RFC 5961).
    pub challenges: u64,
    /// Parity segments of the first transmission of a block.
    pub proactive: u64,
    /// Parity segments that repair losses.
    pub reactive: u64,
    /// Bytes of parity.
    pub parity_bytes: u64,
}

impl Sender {
    /// The connection's number within its flow.
    pub fn connection(&self) -> u32 {
        self.tcb.connection
    }

    /// The congestion window in segments, without the inflation of fast recovery.
    pub fn window_segments(&self) -> f64 {
        self.tcb.cwnd.segments()
    }

    /// The slow start threshold in segments; `None` while it is arbitrarily high, or if the
    /// congestion control has none.
    pub fn ssthresh_segments(&self) -> Option<f64> {
        self.tcb.cwnd.ssthresh()
    }

    /// Data in flight: sent, not acknowledged and not considered lost; none after a reset.
    pub fn in_flight_bytes(&self) -> u64 {
        if self.connection == Connection::Over { 0 } else { self.recovery.in_flight(&self.tcb) }
    }

    /// The state by its name in Linux: "open", "disorder" while a hole may be reordering, "cwr"
    /// after a reduction for a mark until its window of data is acknowledged, "recovery" or "loss".
    pub fn ca_state(&self) -> &'static str {
        let coded = matches!(self.recovery, LossRecovery::Coded(_));
        match self.state() {
            State::Recovery => "recovery",
            State::Loss => "loss",
            // The units of coded data have numbers of their own, apart from sequence numbers.
            State::Open if !coded && self.tcb.snd.una < self.tcb.ecn.reduced() => "cwr",
            State::Open if self.recovery.is_disordered() => "disorder",
            State::Open => "open",
        }
    }

    /// Bytes that have arrived above a hole, and bytes considered lost.
    pub fn sacked_and_lost(&self) -> (u64, u64) {
        match &self.recovery {
            LossRecovery::Selective(selective) => selective.sacked_and_lost(),
            LossRecovery::Cumulative(_) | LossRecovery::Coded(_) => (0, 0),
        }
    }

    /// Whether segments were seen to arrive out of order, which RACK (RFC 8985) allows for.
    pub fn has_seen_reordering(&self) -> bool {
        match &self.recovery {
            LossRecovery::Selective(selective) => selective.has_seen_reordering(),
            LossRecovery::Cumulative(_) | LossRecovery::Coded(_) => false,
        }
    }

    /// Outstanding data: sent and not acknowledged cumulatively.
    pub fn outstanding_bytes(&self) -> u64 {
        self.tcb.snd.outstanding()
    }

    /// The receive window, as the receiver last advertised it.
    pub fn receive_window_bytes(&self) -> u64 {
        self.tcb.snd.wnd
    }

    /// The estimated probability that a unit of coded data is lost; 0 without a code.
    pub fn loss_estimate(&self) -> f64 {
        match &self.recovery {
            LossRecovery::Coded(coded) => coded.loss_estimate(),
            LossRecovery::Cumulative(_) | LossRecovery::Selective(_) => 0.0,
        }
    }

    /// The unit size of the next block; a full segment without a code.
    pub fn unit_bytes(&self) -> u64 {
        match &self.recovery {
            LossRecovery::Coded(coded) => coded.unit(),
            LossRecovery::Cumulative(_) | LossRecovery::Selective(_) => self.tcb.snd.mss,
        }
    }

    /// Whether the connection is established and not closed yet.
    pub fn is_connected(&self) -> bool {
        self.connection.is_open()
    }

    /// Data acknowledged so far.
    pub fn acknowledged_bytes(&self) -> u64 {
        self.tcb.snd.una.min(self.tcb.snd.end).saturating_sub(1)
    }

    /// The smoothed round-trip time, once there is a sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.tcb.rtt.srtt()
    }

    /// The retransmission timeout, including back-off.
    pub fn rto(&self) -> Duration {
        self.tcb.rtt.rto()
    }

    /// The congestion state.
    pub fn state(&self) -> State {
        self.recovery.state()
    }

    /// The congestion feedback that both ends agreed on.
    pub fn feedback(&self) -> Feedback {
        self.tcb.ecn.feedback()
    }

    /// With accurate feedback: whether the path lets marks pass, and whether the receiver sends its
    /// counters of bytes.
    pub fn accurate_feedback(&self) -> Option<(bool, bool)> {
        match &self.tcb.ecn {
            EcnSender::Accurate(accurate) => Some((accurate.is_trusted(), accurate.has_option())),
            EcnSender::Off | EcnSender::On { .. } => None,
        }
    }

    /// The counters.
    pub fn counters(&self) -> SenderCounters {
        self.tcb.counters
    }

    /// The congestion control, whose gauges can be read.
    pub fn control(&self) -> &dyn Control {
        self.tcb.cwnd.control()
    }
}

impl std::ops::AddAssign for SenderCounters {
    fn add_assign(&mut self, other: Self) {
        self.segments += other.segments;
        self.bytes += other.bytes;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
        self.acks_received += other.acks_received;
        self.duplicate_acks += other.duplicate_acks;
        self.duplicates_reported += other.duplicates_reported;
        self.undone += other.undone;
        self.probes += other.probes;
        self.marks_answered += other.marks_answered;
        self.marks_reported += other.marks_reported;
        self.challenges += other.challenges;
        self.proactive += other.proactive;
        self.reactive += other.reactive;
        self.parity_bytes += other.parity_bytes;
    }
}
