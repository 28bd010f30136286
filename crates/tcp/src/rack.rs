//! RACK-TLP: losses found by time, and probes for lost tails (RFC 8985).

use crate::scoreboard::Sent;
use kernel::{Duration, Instant};

/// Recoveries for which a wider reordering window is kept (§6.2, step 4).
const PERSIST: u32 = 16;
/// What a lone segment's acknowledgement may be delayed by (`TLP.max_ack_delay`, §7.2).
const MAX_ACK_DELAY: Duration = Duration(200_000_000);
/// So many segments beyond a hole stand for a loss while no reordering was seen.
const DUP_THRESH: u64 = 3;

/// What is known of the order of delivery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// When the most recently sent of all delivered segments left, its end and its round trip.
    pub(crate) at: Instant,
    pub(crate) end: u64,
    pub(crate) rtt: Duration,
    /// The highest sequence number delivered (`RACK.fack`).
    highest: u64,
    reordered: bool,
    multiple: u64,
    persist: u32,
    /// Until this is acknowledged, further D-SACKs are of the same round.
    round: Option<u64>,
    /// The tail loss probe that is out: its end, and whether it was a retransmission.
    pub(crate) probe: Option<(u64, bool)>,
}

/// What became of a tail loss probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    /// None is out, or it is not known yet.
    Nothing,
    /// Nothing was lost.
    Unharmed,
    /// The probe repaired a loss that was not noticed otherwise (§7.4).
    Repaired,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            at: Instant::ZERO,
            end: 0,
            rtt: Duration::ZERO,
            highest: 0,
            reordered: false,
            multiple: 1,
            persist: 0,
            round: None,
            probe: None,
        }
    }
}

impl Rack {
    /// A segment was newly delivered; `echo` is the timestamp that says so (§6.2, steps 1 to 3).
    pub(crate) fn on_delivered(
        &mut self,
        now: Instant,
        echo: Option<Instant>,
        rtt_min: Option<Duration>,
        sent: &Sent,
    ) {
        if sent.end > self.highest {
            self.highest = sent.end;
        } else if sent.end < self.highest && !sent.was_resent() {
            self.reordered = true;
        }
        let rtt = now.since(sent.at());
        if sent.was_resent() {
            // Perhaps it is the original that arrived.
            let original = echo.is_some_and(|echo| echo < sent.at());
            if original || rtt_min.is_some_and(|least| rtt < least) {
                return;
            }
        }
        if (sent.at(), sent.end) > (self.at, self.end) {
            (self.at, self.end, self.rtt) = (sent.at(), sent.end, rtt);
        }
    }

    /// A duplicate was reported: once a round trip, the window of reordering widens (step 4).
    pub(crate) fn on_duplicate(&mut self, una: u64, max: u64) {
        if self.round.is_none_or(|round| una >= round) {
            self.round = Some(max);
            self.multiple += 1;
            self.persist = PERSIST;
        }
    }

    /// A recovery has ended (step 4).
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiple = 1;
        }
    }

    /// How much later than the most recently sent one a segment may arrive (step 4).
    pub(crate) fn window(
        &self,
        recovering: bool,
        sacked_segments: u64,
        rtt_min: Duration,
        srtt: Duration,
    ) -> Duration {
        if !self.reordered && (recovering || sacked_segments >= DUP_THRESH) {
            return Duration::ZERO;
        }
        Duration((rtt_min.0 / 4).saturating_mul(self.multiple).min(srtt.0))
    }

    /// How long to wait for an acknowledgement before the tail is probed (§7.2).
    pub(crate) fn probe_delay(srtt: Option<Duration>, alone: bool) -> Duration {
        match srtt {
            Some(srtt) => srtt * 2 + if alone { MAX_ACK_DELAY } else { Duration::ZERO },
            None => Duration::from_secs(1),
        }
    }

    /// An acknowledgement of `una` arrived: what it says of the probe (§7.4.2). `duplicated` is the
    /// end of what it reports as a duplicate; `plain` that it is a duplicate acknowledgement
    /// without selective blocks.
    pub(crate) fn on_probe_ack(
        &mut self,
        una: u64,
        duplicated: Option<u64>,
        plain: bool,
    ) -> Probed {
        let Some((end, resent)) = self.probe.filter(|probe| una >= probe.0) else {
            return Probed::Nothing;
        };
        let unharmed = !resent || duplicated == Some(end) || una == end && plain;
        if !unharmed && una == end {
            return Probed::Nothing;
        }
        self.probe = None;
        if unharmed { Probed::Unharmed } else { Probed::Repaired }
    }
}
