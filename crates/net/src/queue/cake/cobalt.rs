//! COBALT: `CoDel`, whose count decays while the delay is short, and BLUE for flows that do not
//! respond.

use kernel::{Duration, Instant, Rng};
use wire::{Ecn, Packet};

/// The parameters of COBALT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// The time of the largest packet at the rate of the tin.
    mtu_time: Duration,
}

impl Law {
    /// The parameters for a usual round-trip time: as Linux's `cake_set_rate`.
    pub(super) fn new(rtt: Duration, mtu_time: Duration) -> Self {
        let usual = rtt / 20;
        let target = usual.max(mtu_time * 3 / 2);
        let interval = (rtt + target).saturating_sub(usual).max(target * 2);
        Self { target, interval, mtu_time }
    }

    /// The control law of `CoDel` (RFC 8289 section 3.3).
    fn after(&self, last: Instant, count: u32) -> Instant {
        let root = libm::sqrt(f64::from(count.max(1)));
        last + Duration((self.interval.0 as f64 / root) as u64)
    }
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Mark,
    Drop,
}

/// The probability of a drop grows by this when the buffer overflows.
const INCREMENT: f64 = 1.0 / 256.0;
/// And shrinks by this when the flow is empty.
const DECREMENT: f64 = 1.0 / 4096.0;

/// The state of COBALT for a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    pub(super) count: u32,
    drop_next: Instant,
    dropping: bool,
    /// BLUE: the probability of a drop.
    pub(super) probability: f64,
    blue_timer: Instant,
}

impl Cobalt {
    /// The fate of a packet that leaves after this sojourn.
    pub(super) fn decide(
        &mut self,
        law: &Law,
        now: Instant,
        sojourn: Duration,
        packet: &Packet,
        rng: &mut Rng,
    ) -> Verdict {
        let over_target = sojourn > law.target && sojourn > law.mtu_time * 4;
        let mut is_due = self.count > 0 && now >= self.drop_next;
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = law.after(now, self.count);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut verdict = Verdict::Pass;
        if is_due && self.dropping {
            let is_capable = packet.ecn != Ecn::NotCapable;
            verdict = if is_capable { Verdict::Mark } else { Verdict::Drop };
            self.count = self.count.saturating_add(1);
            self.drop_next = law.after(self.drop_next, self.count);
        } else {
            while is_due {
                self.count -= 1;
                self.drop_next = law.after(self.drop_next, self.count);
                is_due = self.count > 0 && now >= self.drop_next;
            }
        }
        // Without ECN: BLUE is for flows that do not respond.
        if self.probability > 0.0 && rng.chance(self.probability) {
            verdict = Verdict::Drop;
        }
        if self.count == 0 {
            self.drop_next = now + law.interval;
        } else if now > self.drop_next && verdict != Verdict::Drop {
            self.drop_next = now;
        }
        verdict
    }

    /// The buffer overflows, and this flow has most of it.
    pub(super) fn on_full(&mut self, law: &Law, now: Instant) {
        if now.since(self.blue_timer) > law.target {
            self.probability = (self.probability + INCREMENT).min(1.0);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// No packet of the flow waits.
    pub(super) fn on_empty(&mut self, law: &Law, now: Instant) {
        if self.probability > 0.0 && now.since(self.blue_timer) > law.target {
            self.probability = (self.probability - DECREMENT).max(0.0);
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = law.after(self.drop_next, self.count);
        }
    }
}
