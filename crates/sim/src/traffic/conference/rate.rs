//! The rate controller of the delay-based half, and the loss-based half (draft-ietf-rmcat-gcc-02
//! sections 5.5 and 6). Rates are in bit/s.

use super::detector::Signal;
use kernel::{Duration, Instant};
use std::collections::VecDeque;

/// The factor of a decrease, and the growth of a second.
const BETA: f64 = 0.85;
const GROWTH: f64 = 1.08;
/// The estimate is at most this multiple of the received rate, and this much more.
const MOST_OF_RECEIVED: f64 = 1.5;
const MORE_THAN_RECEIVED: f64 = 10e3;
/// The window of the received rate; the draft recommends 0.5 to 1 s.
const WINDOW: Duration = Duration::from_millis(500);
/// The received rate is unknown before this time.
const SHORTEST: Duration = Duration::from_millis(100);

/// The rate at which packets arrive.
#[derive(Debug, Default)]
pub(super) struct Received {
    packets: VecDeque<(Instant, u64)>,
    bits: u64,
    first: Option<Instant>,
}

impl Received {
    /// Bytes have arrived.
    pub(super) fn add(&mut self, at: Instant, bytes: u64) {
        self.first.get_or_insert(at);
        self.packets.push_back((at, 8 * bytes));
        self.bits += 8 * bytes;
        while let Some(&(oldest, bits)) = self.packets.front()
            && oldest + WINDOW <= at
        {
            self.bits -= bits;
            self.packets.pop_front();
        }
    }

    /// The rate at the last arrival.
    fn rate(&self) -> Option<f64> {
        let (last, _) = *self.packets.back()?;
        let age = last.since(self.first?).min(WINDOW);
        (age >= SHORTEST).then(|| self.bits as f64 / age.as_secs_f64())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Increase,
    Hold,
    Decrease,
}

/// The received rates at which decreases began: their moving mean and variance, smoothed by 0.95.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    mean: f64,
    variance: f64,
}

const SMOOTHING: f64 = 0.95;

impl Capacity {
    /// Whether a rate is within three standard deviations of the mean, or where else it is.
    fn compare(self, rate: f64) -> std::cmp::Ordering {
        let width = 3.0 * self.variance.sqrt();
        if (rate - self.mean).abs() <= width {
            return std::cmp::Ordering::Equal;
        }
        rate.total_cmp(&self.mean)
    }

    fn with(self, rate: f64) -> Self {
        let off = rate - self.mean;
        let mean = SMOOTHING * self.mean + (1.0 - SMOOTHING) * rate;
        let variance = SMOOTHING * self.variance + (1.0 - SMOOTHING) * off * off;
        Self { mean, variance: variance.max(Self::least(mean)) }
    }

    /// A first rate, whose variance is unknown.
    fn first(mean: f64) -> Self {
        Self { mean, variance: Self::least(mean) }
    }

    /// The least variance: 0.4 of the mean in kb/s, as in the implementation of WebRTC.
    fn least(mean: f64) -> f64 {
        0.4e3 * mean
    }
}

/// Sets the estimate by the signals of the detector.
#[derive(Debug)]
pub(super) struct RateController {
    pub(super) rate: f64,
    state: State,
    capacity: Option<Capacity>,
    updated: Option<Instant>,
}

impl RateController {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, state: State::Increase, capacity: None, updated: None }
    }

    /// The rate after a signal.
    pub(super) fn update(
        &mut self,
        now: Instant,
        signal: Signal,
        received: &Received,
        rtt: Duration,
    ) -> f64 {
        self.state = match (signal, self.state) {
            (Signal::Overuse, _) => State::Decrease,
            (Signal::Underuse, _) | (Signal::Normal, State::Decrease) => State::Hold,
            (Signal::Normal, _) => State::Increase,
        };
        let passed = self.updated.map_or(0.0, |before| now.since(before).as_secs_f64()).min(1.0);
        self.updated = Some(now);
        let arriving = received.rate();
        match self.state {
            State::Hold => {}
            State::Increase => self.increase(passed, arriving, rtt),
            State::Decrease => self.decrease(arriving),
        }
        self.rate
    }

    fn increase(&mut self, passed_s: f64, received: Option<f64>, rtt: Duration) {
        let near = self.capacity.zip(received).map(|(known, rate)| known.compare(rate));
        if near == Some(std::cmp::Ordering::Greater) {
            self.capacity = None;
        }
        let more = if near == Some(std::cmp::Ordering::Equal) {
            let response_s = 0.1 + rtt.as_secs_f64();
            let alpha = 0.5 * (passed_s / response_s).min(1.0);
            (alpha * packet_bits(self.rate)).max(1000.0 * passed_s)
        } else {
            self.rate * (libm::pow(GROWTH, passed_s) - 1.0)
        };
        let most =
            received.map_or(f64::INFINITY, |rate| MOST_OF_RECEIVED * rate + MORE_THAN_RECEIVED);
        self.rate = (self.rate + more).min(most.max(self.rate));
    }

    fn decrease(&mut self, received: Option<f64>) {
        let rate = received.unwrap_or(self.rate);
        self.capacity = Some(match self.capacity {
            Some(known) if known.compare(rate).is_ge() => known.with(rate),
            _ => Capacity::first(rate),
        });
        self.rate = self.rate.min(BETA * rate);
    }
}

/// The bits of a packet at this rate, with 30 frames a second in packets of at most 1200 bytes.
fn packet_bits(rate: f64) -> f64 {
    let frame = rate / 30.0;
    frame / (frame / (1200.0 * 8.0)).ceil().max(1.0)
}

/// Losses are counted over this time, that of an RTCP report.
const REPORT: Duration = Duration::from_secs(1);
/// Below the first fraction the rate grows, above the second it falls.
const FEW: f64 = 0.02;
const MANY: f64 = 0.1;

/// The loss-based half.
#[derive(Debug)]
pub(super) struct LossBased {
    pub(super) rate: f64,
    since: Option<Instant>,
    lost: u64,
    expected: u64,
}

impl LossBased {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, since: None, lost: 0, expected: 0 }
    }

    /// The receiver reports losses; `used` is the rate at which was sent.
    pub(super) fn update(&mut self, now: Instant, lost: u64, expected: u64, used: f64) {
        self.lost += lost;
        self.expected += expected;
        if now.since(*self.since.get_or_insert(now)) < REPORT || self.expected == 0 {
            return;
        }
        let fraction = self.lost as f64 / self.expected as f64;
        if fraction < FEW {
            self.rate = 1.05 * (self.rate + 1000.0);
        } else if fraction > MANY {
            self.rate = self.rate.min(used) * (1.0 - 0.5 * fraction);
        }
        (self.since, self.lost, self.expected) = (Some(now), 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// 1 Mb/s up to this time.
    fn megabit(until: u64) -> Received {
        let mut received = Received::default();
        (0..=until).step_by(10).for_each(|at| received.add(ms(at), 1250));
        received
    }

    #[test]
    fn the_received_rate_is_that_of_half_a_second() {
        assert!((megabit(2000).rate().expect("known") - 1e6).abs() < 1.0);
        assert_eq!(megabit(90).rate(), None);
    }

    #[test]
    fn it_grows_by_8_percent_a_second_and_falls_to_85_percent_of_what_arrives() {
        let rtt = Duration::from_millis(100);
        let received = megabit(1000);
        let mut control = RateController::new(1e6);
        control.update(ms(0), Signal::Normal, &received, rtt);
        assert!((control.update(ms(1000), Signal::Normal, &received, rtt) - 1.08e6).abs() < 1.0);
        assert!((control.update(ms(1100), Signal::Underuse, &received, rtt) - 1.08e6).abs() < 1.0);
        assert!((control.update(ms(1200), Signal::Overuse, &received, rtt) - 0.85e6).abs() < 1.0);
        let held = control.update(ms(1300), Signal::Normal, &received, rtt);
        assert!((held - 0.85e6).abs() < 1.0, "held once");
        // Near the rate of the decrease it grows by half a packet per response time, 200 ms:
        // 28,333 bits a frame are 3 packets of 9,444.
        let next = control.update(ms(1500), Signal::Normal, &received, rtt);
        assert!((next - held - 0.5 * 0.85e6 / 90.0).abs() < 1.0, "{next}");
    }

    #[test]
    fn it_is_at_most_one_and_a_half_times_what_arrives() {
        let mut control = RateController::new(2e6);
        let received = megabit(1000);
        control.update(ms(0), Signal::Normal, &received, Duration::ZERO);
        assert_eq!(control.update(ms(900), Signal::Normal, &received, Duration::ZERO), 2e6);
    }

    #[test]
    fn losses_below_2_and_above_10_percent_change_the_rate() {
        let after = |lost| {
            let mut loss = LossBased::new(1e6);
            loss.update(ms(0), 0, 0, 1e6);
            loss.update(ms(500), 0, 500, 1e6);
            loss.update(ms(1000), lost, 500, 1e6);
            loss.rate
        };
        assert_eq!(after(19), 1.05 * 1.001e6, "1.9 %");
        assert_eq!(after(20), 1e6);
        assert_eq!(after(100), 1e6);
        assert!((after(200) - 0.9e6).abs() < 1e-6, "1 - 0.5 * 0.2");
    }
}
