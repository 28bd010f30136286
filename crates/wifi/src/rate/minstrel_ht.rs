//! Minstrel for HT, VHT and HE.

use super::candidates::{Candidates, Kind, MOST};
use super::sampling::{CERTAIN, Chain, Columns, NEGLIGIBLE, Stats, attempts_for, two_best};
use super::{Answer, AttemptParameters, Ladder, LinkModes, RateControl, Rule, Rung, TxReport};
use crate::phy::error::ErrorModel;
use crate::phy::{Guard, Mode, Width};
use kernel::{Duration, Instant, Rng};
use settings::{Choice, Faults, Path, Settings, said};

/// Minstrel for modes with an MCS (Linux).
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct MinstrelHtSettings {
    /// Which modes are sampled, and when.
    pub sampling: Sampling,
    /// Whether the last mode of the retry chain has fewer streams than the best one, if there are
    /// such modes, as in Linux. With `wlan.aggregation.duration_in = "chain"` it then limits
    /// A-MPDUs.
    pub fewer_streams_last: bool,
}

/// How Minstrel-HT samples modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Sampling {
    /// A random mode after some frames, slow ones rarely (before 2021).
    #[default]
    Linux5,
    /// At most one mode every 20 ms: three times of six the next faster one than the best, twice a
    /// random faster one, and once a slower one that may fail (since Linux 5.13).
    Linux6,
}

impl Rule for MinstrelHtSettings {
    fn check(&self, link: &LinkModes, _: Instant, at: &Path, faults: &mut Faults) {
        if link.vector.is_none() {
            let name = link.standard.name();
            let message =
                said!("is for modes with an MCS, and 802.{name} has none", "take \"minstrel\"");
            faults.fault(at, message);
        }
    }

    fn modes(&self, link: &LinkModes) -> Vec<Mode> {
        link.modes_from(1)
    }

    fn build(
        &self,
        link: &LinkModes,
        _: &dyn ErrorModel,
        rng: Rng,
    ) -> Option<Box<dyn RateControl>> {
        let ladder = Ladder::new(link.standard, self.modes(link));
        Some(Box::new(MinstrelHt::new(&ladder, rng).with(self)))
    }
}

/// Minstrel-HT (F. Fietkau, Linux, 2010, before its sampling of 2021): modes are in groups of equal
/// streams, width and guard interval. The MPDUs of an A-MPDU share the overhead of an access in the
/// throughput. Samples are rare, and slow modes are hardly sampled. A sample is one MPDU, which the
/// drivers of Linux do not aggregate: an A-MPDU in a mode that fails would waste milliseconds.
#[derive(Clone, Debug)]
pub struct MinstrelHt {
    entries: Vec<Entry>,
    groups: Vec<Group>,
    /// The group that is sampled next.
    turn: usize,
    best: Best,
    update_at: Instant,
    chain: Chain,
    /// Whether the chain is that of a frame that has not been sent yet.
    planned: bool,
    /// Whether the first attempt of the chain is a sample.
    samples: bool,
    /// Smoothed number of MPDUs in an A-MPDU.
    mean_mpdus: f64,
    mpdus: u32,
    ppdus: u32,
    /// MPDUs to send before the next sample.
    wait: u32,
    /// With the sampling of Linux 6.
    candidates: Option<Candidates>,
    fewer_streams_last: bool,
}

#[derive(Clone, Debug)]
struct Entry {
    rung: Rung,
    /// Duration of 1200 bytes of data at its rate.
    data: Duration,
    stats: Stats,
}

/// Entries of equal streams, width and guard interval.
#[derive(Clone, Debug)]
struct Group {
    first: usize,
    columns: Columns,
}

#[derive(Clone, Copy, Debug, Default)]
struct Best {
    throughput: usize,
    second: usize,
    probability: usize,
}

/// Interval of updates.
const INTERVAL: Duration = Duration::from_millis(50);
/// Upper limit of the success probability in a throughput.
const TRUST: f64 = 0.9;
/// A mode with a higher success probability is safe.
const SAFE: f64 = 0.75;
/// A slow mode is sampled after this number of updates without an attempt.
const SLOW_AFTER: u32 = 20;
/// Weight of the old mean number of MPDUs in a new one.
const KEPT: f64 = 0.75;
/// Bits of the frame that compares modes.
const REFERENCE_BITS: u64 = 8 * 1200;

impl MinstrelHt {
    /// Begins at the slowest mode of the first group, without any statistics.
    pub fn new(ladder: &Ladder, mut rng: Rng) -> Self {
        let mut rungs = ladder.rungs().to_vec();
        rungs.sort_by_key(|rung| (key(&rung.mode), rung.mode.rate));
        let groups = rungs
            .chunk_by(|a, b| key(&a.mode) == key(&b.mode))
            .scan(0, |next, group| {
                let first = *next;
                *next += group.len();
                Some(Group { first, columns: Columns::new(group.len(), &mut rng) })
            })
            .collect();
        let entry = |rung: Rung| {
            let data = Duration(REFERENCE_BITS * 1_000_000_000 / rung.mode.rate.0);
            Entry { rung, data, stats: Stats::default() }
        };
        Self {
            entries: rungs.into_iter().map(entry).collect(),
            groups,
            turn: 0,
            best: Best::default(),
            update_at: Instant::ZERO + INTERVAL,
            chain: Chain::default(),
            planned: false,
            samples: false,
            mean_mpdus: 1.0,
            mpdus: 0,
            ppdus: 0,
            wait: 0,
            candidates: None,
            fewer_streams_last: false,
        }
    }

    /// The same with these settings.
    #[must_use]
    pub fn with(mut self, settings: &MinstrelHtSettings) -> Self {
        self.candidates = (settings.sampling == Sampling::Linux6).then(Candidates::default);
        self.fewer_streams_last = settings.fewer_streams_last;
        self
    }

    /// Duration of an MPDU with its share of the overhead of an access.
    fn time(&self, entry: &Entry) -> f64 {
        let overhead = entry.rung.time.saturating_sub(entry.data).as_secs_f64();
        overhead / self.mean_mpdus + entry.data.as_secs_f64()
    }

    fn throughput(&self, entry: &Entry) -> f64 {
        let probability = entry.stats.probability();
        if probability < NEGLIGIBLE { 0.0 } else { probability.min(TRUST) / self.time(entry) }
    }

    fn update(&mut self, now: Instant) {
        self.update_at = now + INTERVAL;
        if self.ppdus > 0 {
            let mean = f64::from(self.mpdus) / f64::from(self.ppdus);
            self.mean_mpdus = KEPT * self.mean_mpdus + (1.0 - KEPT) * mean;
            (self.mpdus, self.ppdus) = (0, 0);
        }
        for entry in &mut self.entries {
            entry.stats.update();
        }
        self.rank();
        self.choose_candidates();
    }

    /// Chooses the modes that may be sampled until the next update.
    fn choose_candidates(&mut self) {
        let Some(mut candidates) = self.candidates.take() else { return };
        let Best { throughput, second, probability } = self.best;
        let used = [throughput, second, probability];
        let data = |place: usize| self.entries[place].data;
        let fastest = used.map(data).into_iter().min().unwrap_or_default();
        let slowest = used.map(data).into_iter().max().unwrap_or_default();
        let groups = self.groups.len();
        let next = (0..groups).filter_map(|group| {
            let Group { first, ref columns } = self.groups[(self.turn + group) % groups];
            (first..first + columns.modes()).find(|&place| data(place) < data(throughput))
        });
        candidates.refill(Kind::Next, next);
        let slow = (0..self.entries.len()).filter(|&place| {
            let is_between = data(place) > fastest && data(place) <= slowest;
            let is_sure = self.entries[place].stats.probability() > CERTAIN;
            is_between && !is_sure && !used.contains(&place)
        });
        candidates.refill(Kind::Slow, slow);
        let mut jumps = Vec::new();
        for group in 0..groups * MOST {
            let group = &mut self.groups[(self.turn + group) % groups];
            let place = group.first + group.columns.next();
            if self.entries[place].data < fastest && !jumps.contains(&place) {
                jumps.push(place);
            }
        }
        candidates.refill(Kind::Jump, jumps);
        self.turn = (self.turn + 1) % groups;
        self.candidates = Some(candidates);
    }

    fn rank(&mut self) {
        let (throughput, second) = two_best(self.entries.iter().map(|e| self.throughput(e)));
        let safety = |entry: &Entry| match entry.stats.probability() {
            probability if probability > SAFE => 1.0 + self.throughput(entry),
            probability => probability,
        };
        let (mut probability, _) = two_best(self.entries.iter().map(safety));
        if self.fewer_streams_last {
            let streams = self.entries[throughput].rung.mode.streams;
            let safest = |group: &Group| {
                let modes = &self.entries[group.first..group.first + group.columns.modes()];
                group.first + two_best(modes.iter().map(safety)).0
            };
            let fewer = self.groups.iter().map(safest);
            let fewer = fewer.filter(|&place| self.entries[place].rung.mode.streams < streams);
            let works = |&(_, throughput): &(usize, f64)| throughput > 0.0;
            let tried = fewer.map(|place| (place, self.throughput(&self.entries[place])));
            let best = tried.filter(works).max_by(|a, b| a.1.total_cmp(&b.1));
            probability = best.map_or(probability, |(place, _)| place);
        }
        self.best = Best { throughput, second, probability };
    }

    /// The mode to sample with this frame, if a sample is due and useful.
    fn sample(&mut self, now: Instant) -> Option<usize> {
        if let Some(candidates) = &mut self.candidates {
            return candidates.take(now);
        }
        if self.wait > 0 {
            return None;
        }
        self.wait = 16 + 2 * self.mean_mpdus as u32;
        let group = &mut self.groups[self.turn];
        let place = group.first + group.columns.next();
        self.turn = (self.turn + 1) % self.groups.len();
        let Best { throughput, probability, .. } = self.best;
        let entry = &self.entries[place];
        let known = [throughput, probability].contains(&place);
        let slow = self.time(entry) >= self.time(&self.entries[throughput]);
        let sure = entry.stats.probability() > CERTAIN;
        if known || sure || slow && entry.stats.idle < SLOW_AFTER { None } else { Some(place) }
    }

    fn plan(&mut self, now: Instant) {
        let Best { throughput, second, probability } = self.best;
        self.chain = Chain::default();
        let sample = self.sample(now);
        self.samples = sample.is_some();
        let fallback = if let Some(sample) = sample {
            self.chain.push(sample, 1);
            throughput
        } else {
            self.push(throughput);
            second
        };
        self.push(fallback);
        self.push(probability);
    }

    fn push(&mut self, place: usize) {
        let entry = &self.entries[place];
        let ppdu = Duration::from_secs_f64(self.time(entry) * self.mean_mpdus);
        let attempts = attempts_for(ppdu, &entry.stats);
        self.chain.push(place, attempts);
    }

    /// If the best mode begins to fail, changes to fewer streams before the next update.
    fn downgrade(&mut self, place: usize) {
        let stats = self.entries[place].stats;
        if place != self.best.throughput || stats.attempts() <= 30 || stats.recent() >= 0.2 {
            return;
        }
        let streams = self.entries[place].rung.mode.streams;
        let fewer = |entry: &Entry| {
            if entry.rung.mode.streams < streams { self.throughput(entry) } else { -1.0 }
        };
        let (best, _) = two_best(self.entries.iter().map(fewer));
        if self.entries[best].rung.mode.streams < streams {
            self.best.throughput = best;
        }
    }
}

fn key(mode: &Mode) -> (u8, Width, Guard) {
    (mode.streams, mode.width, mode.guard)
}

impl RateControl for MinstrelHt {
    fn select(&mut self, now: Instant, attempt: u32) -> AttemptParameters {
        if now >= self.update_at {
            self.update(now);
        }
        if attempt == 0 && !self.planned {
            self.plan(now);
            self.planned = true;
        }
        let mode = |place: usize| self.entries[place].rung.mode;
        let chosen = mode(self.chain.mode(attempt));
        AttemptParameters {
            mode: chosen,
            rts: false,
            alone: self.samples && attempt == 0,
            slowest: self.chain.modes().map(mode).min_by_key(|mode| mode.rate).unwrap_or(chosen),
        }
    }

    fn on_report(&mut self, _now: Instant, report: &TxReport) {
        self.planned = false;
        if report.answer == Answer::NoCts {
            return;
        }
        let place = self.entries.iter().position(|entry| entry.rung.mode == report.mode);
        let Some(place) = place else { return };
        self.entries[place].stats.count(report.sent, report.acked());
        self.mpdus += report.sent;
        self.ppdus += 1;
        self.wait = self.wait.saturating_sub(report.sent);
        self.downgrade(place);
    }
}

#[cfg(test)]
#[path = "minstrel_ht_tests.rs"]
mod tests;
