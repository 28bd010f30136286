//! What probes read of a sender. All reads, no cost.

use super::Sender;
use super::recovery::LossRecovery;
use crate::Control;
use kernel::Duration;

/// How the sender takes the path to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No loss known.
    Open,
    /// Fast recovery (RFC 6582, RFC 6675).
    Recovery,
    /// Slow start after the retransmission timer expired, until all that was outstanding then is
    /// acknowledged.
    Loss,
}

/// What a sender has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Segments with data, retransmissions included.
    pub segments: u64,
    /// Bytes of data in them.
    pub bytes: u64,
    /// Those of them that were sent before.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer, a lost SYN's or FIN's included.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_retransmits: u64,
    /// Acknowledgements that arrived.
    pub acks_received: u64,
    /// Duplicates among them (RFC 5681 §2).
    pub duplicate_acks: u64,
    /// Duplicate data the receiver reported (RFC 2883).
    pub duplicates_reported: u64,
    /// Losses that were taken back.
    pub undone: u64,
    /// Tail loss probes (RFC 8985) and probes of a closed window.
    pub probes: u64,
    /// Reductions of the window for a congestion mark (RFC 3168).
    pub marks_answered: u64,
    /// Segments with parity that left with their block.
    pub proactive: u64,
    /// Segments with parity for holes.
    pub reactive: u64,
    /// Bytes of parity.
    pub parity_bytes: u64,
}

impl Sender {
    /// The connection's number within its flow.
    pub fn connection(&self) -> u32 {
        self.tcb.connection
    }

    /// The congestion window in segments, without recovery's inflation.
    pub fn window_segments(&self) -> f64 {
        self.tcb.cwnd.segments()
    }

    /// Where slow start ends, in segments; `None` while that is arbitrarily high, or if the
    /// controller knows no such thing.
    pub fn ssthresh_segments(&self) -> Option<f64> {
        self.tcb.cwnd.ssthresh()
    }

    /// What was sent and not acknowledged, as far as it is not taken for lost.
    pub fn in_flight_bytes(&self) -> u64 {
        self.recovery.in_flight(&self.tcb)
    }

    /// The state as Linux names it: "open", "disorder" while a hole may be reordering, "cwr" while
    /// the data of a marked window is acknowledged, "recovery" or "loss".
    pub fn ca_state(&self) -> &'static str {
        let coded = matches!(self.recovery, LossRecovery::Coded(_));
        match self.state() {
            State::Recovery => "recovery",
            State::Loss => "loss",
            // The units of coded data are counted apart from its sequence numbers.
            State::Open if !coded && self.tcb.snd.una < self.tcb.ecn.reduced() => "cwr",
            State::Open if self.recovery.is_disordered() => "disorder",
            State::Open => "open",
        }
    }

    /// What has arrived beyond a hole, and what is taken for lost, in bytes.
    pub fn sacked_and_lost(&self) -> (u64, u64) {
        match &self.recovery {
            LossRecovery::Selective(selective) => selective.sacked_and_lost(),
            LossRecovery::Cumulative(_) | LossRecovery::Coded(_) => (0, 0),
        }
    }

    /// What was sent and not acknowledged cumulatively.
    pub fn outstanding_bytes(&self) -> u64 {
        self.tcb.snd.outstanding()
    }

    /// The probability that a unit of coded data is lost, as it is estimated; 0 without a code.
    pub fn loss_estimate(&self) -> f64 {
        match &self.recovery {
            LossRecovery::Coded(coded) => coded.loss_estimate(),
            LossRecovery::Cumulative(_) | LossRecovery::Selective(_) => 0.0,
        }
    }

    /// How large the next block's units are; a full segment without a code.
    pub fn unit_bytes(&self) -> u64 {
        match &self.recovery {
            LossRecovery::Coded(coded) => coded.unit(),
            LossRecovery::Cumulative(_) | LossRecovery::Selective(_) => self.tcb.snd.mss,
        }
    }

    /// Whether the connection is established, and not closed yet.
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

    /// The retransmission timeout, backed off.
    pub fn rto(&self) -> Duration {
        self.tcb.rtt.rto()
    }

    /// How the sender takes the path to be.
    pub fn state(&self) -> State {
        self.recovery.state()
    }

    /// What it has counted.
    pub fn counters(&self) -> SenderCounters {
        self.tcb.counters
    }

    /// Its controller, for its gauges.
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
        self.proactive += other.proactive;
        self.reactive += other.reactive;
        self.parity_bytes += other.parity_bytes;
    }
}
