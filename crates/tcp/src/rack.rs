//! RACK-TLP: loss detection by time, and tail loss probes (RFC 8985).

use crate::sent::Sent;
use kernel::{Duration, Instant};

/// The number of recoveries for which a wider reordering window is kept (§6.2, step 4).
const PERSIST: u32 = 16;
/// The longest time for which a receiver may delay the acknowledgement of a single segment
/// (`TLP.max_ack_delay`, §7.2).
const MAX_ACK_DELAY: Duration = Duration(200_000_000);
/// This many segments delivered above a hole indicate a loss while no reordering was seen.
const DUP_THRESH: u64 = 3;

/// What is known about the order of delivery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// Of the most recently sent segment among those delivered: when it left, its end and its
    /// round-trip time.
    pub(crate) at: Instant,
    pub(crate) end: u64,
    pub(crate) rtt: Duration,
    /// The highest sequence number delivered (`RACK.fack`).
    highest: u64,
    reordered: bool,
    multiple: u64,
    persist: u32,
    /// Until this is acknowledged, further D-SACKs belong to the same round.
    round: Option<u64>,
    /// The tail loss probe in flight: its end, and whether it was a retransmission.
    pub(crate) probe: Option<(u64, bool)>,
}

/// The outcome of a tail loss probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    /// No probe is in flight, or its outcome is not known yet.
    Nothing,
    /// Nothing was lost.
    Unharmed,
    /// The probe repaired a loss that was not detected otherwise (§7.4).
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
    /// A segment was newly delivered; `echo` is the timestamp that its acknowledgement echoes
    /// (§6.2, steps 1 to 3).
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
        let rtt = now.since(sent.at);
        if sent.was_resent() {
            // The original may have arrived, and not the retransmission.
            let original = echo.is_some_and(|echo| echo < sent.at);
            if original || rtt_min.is_some_and(|least| rtt < least) {
                return;
            }
        }
        if (sent.at, sent.end) > (self.at, self.end) {
            (self.at, self.end, self.rtt) = (sent.at, sent.end, rtt);
        }
    }

    /// A duplicate was reported: the reordering window widens, at most once per round trip (step
    /// 4).
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

    /// Whether a segment was seen to arrive out of order.
    pub(crate) fn is_reordered(&self) -> bool {
        self.reordered
    }

    /// The reordering window: how much later than the most recently sent segment an earlier one may
    /// arrive (step 4).
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

    /// The probe timeout: how long to wait for an acknowledgement before the tail is probed (§7.2).
    pub(crate) fn probe_delay(srtt: Option<Duration>, alone: bool) -> Duration {
        match srtt {
            Some(srtt) => srtt * 2 + if alone { MAX_ACK_DELAY } else { Duration::ZERO },
            None => Duration::from_secs(1),
        }
    }

    /// An acknowledgement of `una` arrived: returns the outcome of the probe (§7.4.2). `duplicated`
    /// is the end of the segment that it reports as a duplicate. `plain` means that it is a
    /// duplicate acknowledgement without SACK blocks.
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
