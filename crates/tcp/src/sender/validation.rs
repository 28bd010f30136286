//! Congestion window validation (RFC 7661): a window that is not used is kept for five minutes, and
//! then halved, where RFC 5681 would restart after an idle time.

use super::Sender;
use kernel::{Duration, Instant};
use std::collections::VecDeque;

/// §4.1, the non-validated period.
const KEPT: Duration = Duration::from_secs(300);
/// §4.2, the pipeACK sampling period: so many round trips, and so long at least.
const ROUNDS: u64 = 3;
const LEAST_PERIOD: Duration = Duration::from_secs(1);

/// What has been acknowledged of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Validation {
    /// What each of the last round trips acknowledged, by its end.
    rounds: VecDeque<(Instant, u64)>,
    /// The round trip that is being measured.
    began: Instant,
    acked: u64,
    last_ack: Instant,
    /// Since when less than half of the window was acknowledged in a round trip.
    unused_since: Option<Instant>,
}

impl Validation {
    /// §4.2 and §4.3: `acked` bytes arrived while `window` were allowed.
    fn on_ack(&mut self, now: Instant, acked: u64, window: u64, srtt: Duration) {
        self.last_ack = now;
        self.acked += acked;
        if now.since(self.began) < srtt {
            return;
        }
        self.rounds.push_back((now, std::mem::take(&mut self.acked)));
        self.began = now;
        let period = LEAST_PERIOD.max(srtt * ROUNDS);
        while self.rounds.front().is_some_and(|(at, _)| now.since(*at) > period) {
            self.rounds.pop_front();
        }
        let most = self.rounds.iter().map(|(_, acked)| *acked).max().unwrap_or(0);
        // A window is validated where pipeACK is half of it at least.
        self.unused_since = if 2 * most >= window { None } else { self.unused_since.or(Some(now)) };
    }
}

impl Sender {
    /// So much was acknowledged.
    pub(super) fn validate(&mut self, now: Instant, acked: u64) {
        let (window, srtt) = (self.window, self.rtt.srtt().unwrap_or_default());
        if let Some(validation) = &mut self.validation {
            validation.on_ack(now, acked, window, srtt);
            self.decay(now);
        }
    }

    /// §4.4.3: each five minutes in which the window was not used halve it, down to the initial
    /// window; slow start leads back to three quarters of it. Nothing outstanding is not used.
    pub(super) fn decay(&mut self, now: Instant) {
        let idle = self.una == self.max;
        let Some(validation) = &self.validation else { return };
        let since = validation.unused_since.or(idle.then_some(validation.last_ack));
        let Some(mut since) = since.filter(|since| now.since(*since) >= KEPT) else { return };
        let least = self.config.initial_window.0.max(1.0);
        while now.since(since) >= KEPT {
            since += KEPT;
            let window = self.window_segments();
            if window > least {
                let ssthresh = self.ssthresh_segments().unwrap_or(f64::INFINITY);
                let ssthresh = if ssthresh.is_finite() { ssthresh } else { 0.0 };
                self.start_ramp(least.max(window / 2.0), ssthresh.max(0.75 * window));
            }
        }
        if let Some(validation) = &mut self.validation {
            validation.unused_since = Some(since);
        }
    }
}
