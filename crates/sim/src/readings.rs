//! Readings of observables over steps of the caller, as an agent sees a run.

use crate::control::External;
use crate::observe::{self, Count, Counter, Gauge, Kind, Observable, Place};
use crate::observers::World;
use crate::plan::Plan;
use crate::probe::{Named, control_gauge, named};
use crate::scenario::Issue;
use kernel::{Duration, Instant};

/// How an observable is read over a step.
#[derive(Clone, Copy, Debug)]
enum Over {
    /// The value at the end of the step; 0 while there is none.
    Gauge(Gauge),
    /// A gauge of the flow's congestion control.
    Controller(&'static str),
    /// The increase of a counter.
    Increase(Counter),
    /// The increase of a counter of bytes, in Mb/s.
    Rate(Count),
    /// The ratio of the increases of two counters, times a factor; 0 if the second has none.
    Ratio { of: Count, to: Count, times: f64 },
    /// The increase of a counter of nanoseconds, as a fraction of the step.
    Share(Counter),
}

impl Over {
    /// How an observable is read over a step, if it can be.
    fn of(observable: &Observable) -> Option<Self> {
        let ratio = |of, to, times| Some(Self::Ratio { of, to, times });
        match observable.kind {
            Kind::Counter(count) | Kind::Total(count) => Some(Self::Increase(Counter::Of(count))),
            Kind::Lost(cause) => Some(Self::Increase(Counter::Lost(cause))),
            Kind::Rate(bytes, _) => Some(Self::Rate(bytes)),
            Kind::Gauge(now) | Kind::Last(now, _) => Some(Self::Gauge(now)),
            Kind::Controller(name) => Some(Self::Controller(name)),
            Kind::Ratio(of, to) | Kind::Part(of, to) => ratio(of, to, 1.0),
            Kind::MeanRate(of, to) => ratio(of, to, 1e-6),
            Kind::MeanTime(of, to) => ratio(of, to, 1e-9),
            Kind::Share(count) => Some(Self::Share(Counter::Of(count))),
            Kind::Airtime(kind) => Some(Self::Share(Counter::Airtime(kind))),
            Kind::Text(_)
            | Kind::Each(_)
            | Kind::Delays { .. }
            | Kind::Fractions(_)
            | Kind::Once(_) => None,
        }
    }
}

/// The paths of the uses of airtime that a run of this plan has. They add up to 1 over steps that
/// the medium's accounts cover; the airtime of the warm-up is not accounted for.
pub fn airtime_uses(plan: &Plan) -> Vec<String> {
    let subjects = observe::subjects(plan).into_iter();
    let cells = subjects.filter(|subject| subject.place == Place::Airtime);
    let paths = cells.flat_map(|cell| {
        observe::of(plan, cell).map(move |use_of| format!("{}.{}", cell.path(), use_of.name))
    });
    paths.collect()
}

/// Observables of a run that are read step by step: counters as their increase in the step, rates
/// and ratios over the step, gauges at its end.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    all: Vec<Named<Over>>,
    /// The counters of each at the end of the last step.
    last: Vec<[u64; 2]>,
    read_at: Instant,
}

impl Readings {
    /// Finds what these paths name, which may contain wildcards.
    ///
    /// # Errors
    /// Each path that names nothing that can be read during a run.
    pub fn new(plan: &Plan, paths: &[String], external: &dyn External) -> Result<Self, Vec<Issue>> {
        let (mut all, mut issues) = (Vec::new(), Vec::new());
        for path in paths {
            match named(plan, path, external, Over::of, Over::Controller) {
                Ok(found) => all.extend(found),
                Err(message) => issues.push(Issue::new(path, message)),
            }
        }
        let last = vec![[0; 2]; all.len()];
        if issues.is_empty() { Ok(Self { all, last, read_at: Instant::ZERO }) } else { Err(issues) }
    }

    /// The path of each, with its number.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|named| named.path.as_str())
    }

    /// Reads each over the time since it was last read, in the order of the paths.
    pub(crate) fn read(&mut self, world: &World, into: &mut [f64]) {
        let step = world.now.since(self.read_at);
        self.read_at = world.now;
        for ((named, last), into) in self.all.iter().zip(&mut self.last).zip(into) {
            let value = over(named, last, world, step);
            *into = if value.is_nan() { 0.0 } else { value };
        }
    }
}

fn over(named: &Named<Over>, last: &mut [u64; 2], world: &World, step: Duration) -> f64 {
    let mut grown = |which: usize, counter: Counter| {
        let now = counter.read(world, named.index);
        now.saturating_sub(std::mem::replace(&mut last[which], now)) as f64
    };
    match named.read {
        Over::Gauge(gauge) => gauge(world, named.index),
        Over::Controller(name) => control_gauge(world, named.index, name),
        Over::Increase(counter) => grown(0, counter),
        // Nothing has grown at the start of a run.
        Over::Rate(bytes) => grown(0, Counter::Of(bytes)) * 8e-6 / step.as_secs_f64(),
        Over::Ratio { of, to, times } => {
            match (grown(0, Counter::Of(of)), grown(1, Counter::Of(to))) {
                (_, 0.0) => 0.0,
                (of, to) => of / to * times,
            }
        }
        Over::Share(counter) => {
            Duration(grown(0, counter) as u64).as_secs_f64() / step.as_secs_f64()
        }
    }
}
