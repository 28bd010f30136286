//! Echo requests and their replies.

use crate::measure::SampleSeries;
use kernel::{Duration, Instant};

/// The echo requests of a flow in the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct EchoMeter {
    from: Instant,
    /// The replies to later requests may still come in time after the end.
    last: Instant,
    timeout: Duration,
    /// Requests.
    pub(crate) requests: u64,
    /// Those to which a reply came in time.
    answered: u64,
    /// The round-trip time of the latest reply.
    pub(crate) latest: Option<Duration>,
    /// The round-trip times of all replies, in seconds, if they are kept.
    replies: Option<SampleSeries>,
}

impl EchoMeter {
    pub(super) fn new(from: Instant, to: Instant, timeout: Duration) -> Self {
        let last = Instant(to.0.saturating_sub(timeout.0));
        Self { from, last, timeout, ..Self::default() }
    }

    fn counts(&self, asked: Instant) -> bool {
        self.from <= asked && asked <= self.last
    }

    pub(super) fn on_request(&mut self, now: Instant) {
        self.requests += u64::from(self.counts(now));
    }

    pub(super) fn on_reply(&mut self, now: Instant, asked: Instant) {
        let rtt = now - asked;
        self.latest = Some(rtt);
        if let Some(replies) = &mut self.replies {
            replies.push(now, rtt.as_secs_f64());
        }
        self.answered += u64::from(self.counts(asked) && rtt <= self.timeout);
    }

    /// From now on the round-trip times of all replies are kept.
    pub(crate) fn keep_replies(&mut self) {
        self.replies = Some(SampleSeries::new(SampleSeries::MOST));
    }

    /// The round-trip times of all replies, in seconds, if they are kept.
    pub(crate) fn replies(&self) -> Option<&SampleSeries> {
        self.replies.as_ref()
    }

    /// Requests to which no reply came in time.
    pub(crate) fn lost(&self) -> u64 {
        self.requests - self.answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_reply_is_a_loss_and_the_last_requests_do_not_count() {
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut meter = EchoMeter::new(ms(100), ms(1000), Duration::from_millis(50));
        for (asked, replied) in [(90, 120), (100, 150), (200, 251), (950, 990), (951, 960)] {
            meter.on_request(ms(asked));
            meter.on_reply(ms(replied), ms(asked));
        }
        meter.on_request(ms(300));
        assert_eq!((meter.requests, meter.lost()), (4, 2), "one late, one without reply");
        assert_eq!(meter.latest, Some(Duration::from_millis(9)));
    }
}
