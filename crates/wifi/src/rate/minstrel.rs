//! Minstrel.

use super::sampling::{CERTAIN, Chain, Columns, NEGLIGIBLE, Stats, attempts_for, two_best};
use super::{Answer, AttemptParameters, Ladder, LinkModes, RateControl, Rule, TxReport};
use crate::phy::error::ErrorModel;
use kernel::{Duration, Instant, Rng};
use settings::Settings;

/// Minstrel (Linux).
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct MinstrelSettings {}

impl Rule for MinstrelSettings {
    fn build(
        &self,
        link: &LinkModes,
        _: &dyn ErrorModel,
        rng: Rng,
    ) -> Option<Box<dyn RateControl>> {
        Some(Box::new(Minstrel::new(link.ladder(), rng)))
    }
}

/// Minstrel (D. Smithies, F. Fietkau, Linux, 2005 to 2009): the mode with the highest throughput by
/// measured success probabilities, which one sample in ten frames keeps up to date. A retry chain
/// has safer modes for further attempts.
#[derive(Clone, Debug)]
pub struct Minstrel {
    ladder: Ladder,
    stats: Vec<Stats>,
    columns: Columns,
    best: Best,
    update_at: Instant,
    chain: Chain,
    /// Whether the chain is that of a frame that has not been sent yet.
    planned: bool,
    frames: u32,
    samples: u32,
    /// Samples in the second place of a chain, which may never be sent.
    deferred: u32,
    waiting: Option<usize>,
}

/// Indices into the ladder.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    throughput: usize,
    second: usize,
    probability: usize,
}

/// Interval of updates.
const INTERVAL: Duration = Duration::from_millis(100);
/// One frame in this number is a sample.
const LOOK_AROUND: u32 = 10;
/// The counters restart after this number of frames.
const EPOCH: u32 = 10_000;

impl Minstrel {
    /// Begins at the slowest mode, without any statistics.
    pub fn new(ladder: Ladder, mut rng: Rng) -> Self {
        let modes = ladder.rungs().len();
        Self {
            stats: vec![Stats::default(); modes],
            columns: Columns::new(modes, &mut rng),
            ladder,
            best: Best::default(),
            update_at: Instant::ZERO + INTERVAL,
            chain: Chain::default(),
            planned: false,
            frames: 0,
            samples: 0,
            deferred: 0,
            waiting: None,
        }
    }

    fn throughput(&self, place: usize) -> f64 {
        let probability = self.stats[place].probability();
        if probability < NEGLIGIBLE { 0.0 } else { probability / self.time(place).as_secs_f64() }
    }

    fn time(&self, place: usize) -> Duration {
        self.ladder.rungs()[place].time
    }

    fn update(&mut self, now: Instant) {
        self.update_at = now + INTERVAL;
        self.stats.iter_mut().for_each(Stats::update);
        let (throughput, second) = two_best((0..self.stats.len()).map(|n| self.throughput(n)));
        // Among modes with few failures, the one with the highest throughput counts as the safest.
        let safety = |place: usize| match self.stats[place].probability() {
            probability if probability >= CERTAIN => 1.0 + self.throughput(place),
            probability => probability,
        };
        let (probability, _) = two_best((0..self.stats.len()).map(safety));
        self.best = Best { throughput, second, probability };
    }

    /// The mode to sample with this frame, if one is due.
    fn sample(&mut self) -> Option<usize> {
        self.frames += 1;
        let due = i64::from(self.frames / LOOK_AROUND)
            - i64::from(self.samples)
            - i64::from(self.deferred / 2);
        if self.frames >= EPOCH {
            (self.frames, self.samples, self.deferred) = (0, 0, 0);
        }
        if due <= 0 {
            return None;
        }
        // After many frames without a sample, this avoids a burst of samples.
        let most = 2 * self.stats.len() as i64;
        self.samples += (due - most).max(0) as u32;
        Some(self.columns.next()).filter(|&place| place != self.best.throughput)
    }

    fn plan(&mut self) {
        let Best { throughput, second, probability } = self.best;
        self.waiting = None;
        let places = match self.sample() {
            Some(sample) if self.time(sample) < self.time(throughput) => {
                self.samples += 1;
                [sample, throughput, probability, 0]
            }
            // A slower mode cannot increase the throughput: it is sampled after a failure of the
            // better one.
            Some(sample) => {
                self.deferred += 1;
                self.waiting = Some(sample);
                [throughput, sample, probability, 0]
            }
            None => [throughput, second, probability, 0],
        };
        self.chain = Chain::default();
        for place in places {
            let attempts = attempts_for(self.time(place), &self.stats[place]);
            self.chain.push(place, attempts);
        }
    }
}

impl RateControl for Minstrel {
    fn select(&mut self, now: Instant, attempt: u32) -> AttemptParameters {
        if now >= self.update_at {
            self.update(now);
        }
        if attempt == 0 && !self.planned {
            self.plan();
            self.planned = true;
        }
        AttemptParameters::plain(self.ladder.rungs()[self.chain.mode(attempt)].mode)
    }

    fn on_report(&mut self, _now: Instant, report: &TxReport) {
        self.planned = false;
        if report.answer == Answer::NoCts {
            return;
        }
        let Some(place) = self.ladder.find(&report.mode) else { return };
        self.stats[place].count(report.sent, report.acked());
        if self.waiting == Some(place) {
            self.waiting = None;
            self.samples += 1;
            self.deferred -= u32::from(self.deferred > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ladder;
    use super::*;
    use kernel::Seed;

    fn minstrel() -> Minstrel {
        Minstrel::new(ladder(), Seed { root: 4, replication: 0 }.stream("rate.sample", 0))
    }

    /// Sets the success probability of each mode.
    fn known(probabilities: &[f64]) -> Minstrel {
        let mut minstrel = minstrel();
        for (stats, probability) in minstrel.stats.iter_mut().zip(probabilities) {
            stats.count(1000, (probability * 1000.0) as u32);
        }
        minstrel.update(Instant::ZERO);
        minstrel
    }

    #[test]
    fn the_best_are_by_throughput_and_by_probability() {
        let best = known(&[1.0, 0.99, 0.98, 0.96, 0.9, 0.5, 0.3, 0.05]).best;
        // Exchanges at 24 Mb/s have 0.9/595 µs, at 36 Mb/s 0.5/461 µs: the fifth mode is best, then
        // 18 Mb/s.
        assert_eq!((best.throughput, best.second), (4, 3));
        assert_eq!(best.probability, 3, "the fastest of those above 95 %");
        assert_eq!(known(&[0.5, 0.6, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0]).best.probability, 1);
        let unlikely = known(&[0.0, 0.0, 0.0, 0.09, 0.09, 0.09, 0.09, 0.09]);
        assert_eq!(unlikely.throughput(7), 0.0);
    }

    #[test]
    fn a_chain_ends_at_the_slowest_mode() {
        let mut minstrel = known(&[1.0, 1.0, 0.9, 0.9, 0.9, 0.6, 0.3, 0.0]);
        let best = minstrel.best;
        let modes: Vec<usize> = (0..40)
            .map(|attempt| {
                let mode = minstrel.select(Instant::ZERO, attempt).mode;
                minstrel.ladder.find(&mode).unwrap()
            })
            .collect();
        let mut order = modes.clone();
        order.dedup();
        let mut expected = vec![best.throughput, best.second, best.probability, 0];
        expected.dedup();
        assert_eq!(order, expected);
        assert_eq!((order.len(), modes[39]), (4, 0));
    }

    #[test]
    fn one_frame_in_ten_is_a_sample() {
        let mut minstrel = known(&[1.0, 1.0, 1.0, 1.0, 0.9, 0.3, 0.1, 0.0]);
        let best = minstrel.best.throughput;
        let (mut faster, mut slower) = (0, 0);
        for _ in 0..5000 {
            let first = minstrel.select(Instant::ZERO, 0).mode;
            let place = minstrel.ladder.find(&first).unwrap();
            assert!(place >= best, "a slower mode never goes first");
            faster += u32::from(place > best);
            slower += u32::from(minstrel.waiting.is_some());
            let report =
                TxReport { mode: first, rts: false, sent: 1, answer: Answer::Acked(1), snr: None };
            minstrel.on_report(Instant::ZERO, &report);
        }
        // Deferred samples that are never sent count half.
        assert!((200..=500).contains(&faster), "{faster}");
        assert!((200..=700).contains(&slower), "{slower}");
    }

    #[test]
    fn estimates_are_updated_by_the_clock() {
        let mut minstrel = minstrel();
        let first = minstrel.select(Instant::ZERO, 0).mode;
        let report =
            TxReport { mode: first, rts: false, sent: 1, answer: Answer::Acked(1), snr: None };
        minstrel.on_report(Instant::ZERO, &report);
        minstrel.select(Instant(99_999_999), 0);
        assert_eq!(minstrel.stats[0].probability(), 0.0);
        minstrel.select(Instant(100_000_000), 0);
        assert_eq!(minstrel.stats[0].probability(), 1.0);
        assert_eq!(minstrel.update_at, Instant(200_000_000));
    }
}
