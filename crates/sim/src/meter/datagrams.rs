//! Jitter and late datagrams.

use kernel::{Duration, Instant};

/// The datagrams of a flow in the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct DatagramMeter {
    from: Instant,
    /// Datagrams sent later may still arrive in time after the end.
    last: Instant,
    deadline: Duration,
    sent: u64,
    in_time: u64,
    /// The delay of the previous datagram, and its number.
    previous: Option<(Duration, u64)>,
    /// Sum of the differences of delays of consecutive datagrams, and their number.
    differences: (Duration, u64),
}

impl DatagramMeter {
    pub(super) fn new(from: Instant, to: Instant, deadline: Duration) -> Self {
        let last = Instant(to.0.saturating_sub(deadline.0));
        Self { from, last, deadline, ..Self::default() }
    }

    fn counts(&self, born: Instant) -> bool {
        self.from <= born && born <= self.last
    }

    pub(super) fn on_sent(&mut self, now: Instant) {
        self.sent += u64::from(self.counts(now));
    }

    pub(super) fn on_arrived(&mut self, now: Instant, born: Instant, number: u64) {
        let delay = now - born;
        self.in_time += u64::from(self.counts(born) && delay <= self.deadline);
        if now < self.from {
            return;
        }
        if let Some((before, _)) = self.previous.filter(|&(_, before)| before + 1 == number) {
            self.differences.0 += Duration(delay.0.abs_diff(before.0));
            self.differences.1 += 1;
        }
        self.previous = Some((delay, number));
    }

    /// The fraction of the datagrams that did not arrive in time.
    pub(crate) fn late_fraction(&self) -> f64 {
        1.0 - self.in_time as f64 / self.sent as f64
    }

    /// The mean difference of the delays of consecutive datagrams, in seconds.
    pub(crate) fn jitter_s(&self) -> f64 {
        let (sum, count) = self.differences;
        sum.as_secs_f64() / count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_lost_datagram_is_late_and_gives_no_jitter() {
        let mut meter = DatagramMeter::new(ms(10), ms(1000), Duration::from_millis(20));
        for (number, born, arrived) in [(0, 5, 6), (1, 20, 25), (2, 40, 47), (4, 80, 110)] {
            meter.on_sent(ms(born));
            meter.on_arrived(ms(arrived), ms(born), number);
        }
        meter.on_sent(ms(60));
        meter.on_sent(ms(990));
        // Of those sent at 20, 40, 60 and 80 ms one is lost, and one arrives after 30 ms.
        assert!((meter.late_fraction() - 0.5).abs() < 1e-12);
        assert!((meter.jitter_s() - 0.002).abs() < 1e-12, "7 ms after 5 ms");
    }
}
