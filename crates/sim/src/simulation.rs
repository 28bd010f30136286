//! The interface of a run: start it, advance it, read its results.

use crate::adjustable::Adjustable;
use crate::control::{self, External, NoExternal};
use crate::look::{Look, Step};
use crate::observe::{Counters, Value};
use crate::observers::{Observers, World};
use crate::plan::Plan;
use crate::probe::{Probes, Series};
use crate::readings::Readings;
use crate::scenario::Issue;
use crate::summary;
use crate::trace::{Failure, Filter, Tracer};
use ::trace::Sink;
use kernel::{Duration, Instant, Seed};
use std::sync::Arc;

/// Events of a traced run after which its records are handed out in any case.
const EVENTS_PER_CUT: u64 = 1 << 14;
/// The longest wait that holds back later records then.
const LONGEST_WAIT: Duration = Duration::from_micros(100_000);

/// A run in progress.
#[derive(Debug)]
pub struct Simulation {
    plan: Plan,
    /// The values of the settings that may change.
    settings: Arc<Adjustable>,
    world: World,
    probes: Probes,
    counters: Counters,
    running: bool,
    is_traced: bool,
    /// Events that only read the state: samples of probes, steps of an agent.
    looks: u64,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Every result by its path, in the order of the summary.
    pub summary: Vec<(String, Value)>,
    /// The samples of each probe.
    pub series: Vec<Series>,
    /// Fingerprint of all that was sent and delivered, and when.
    pub digest: u64,
    /// Events handled, without those that only read the state, as for probes: equal runs have
    /// equal counts.
    pub events: u64,
    /// Simulated time in seconds.
    pub simulated_s: f64,
}

impl Simulation {
    /// Prepares a run. Each of `probes` is a path, which may contain wildcards. A path that names
    /// nothing is an issue.
    pub fn new(
        plan: &Plan,
        seed: Seed,
        probes: &[String],
        check: bool,
    ) -> Result<Self, Vec<Issue>> {
        Self::with_external(plan, seed, probes, check, &(Arc::new(NoExternal) as _))
    }

    /// Like [`Simulation::new`], with a factory for user-defined congestion controls.
    pub fn with_external(
        plan: &Plan,
        seed: Seed,
        probes: &[String],
        check: bool,
        external: &Arc<dyn External>,
    ) -> Result<Self, Vec<Issue>> {
        control::check(plan, &**external)?;
        let probes = Probes::new(plan, probes, &**external)?;
        let observers = Observers::new(plan, check, &seed);
        let mut world = World::new(plan, &seed, external, observers);
        if check {
            world.listen();
        }
        probes.keep(&mut world);
        let counters = Counters::new(plan);
        let settings = Arc::new(Adjustable::of_plan(plan));
        let mut run = Self {
            plan: plan.clone(),
            settings,
            world,
            probes,
            counters,
            running: true,
            is_traced: false,
            looks: 0,
        };
        run.look_again(Look::Batch, run.world.observers.meter.next_batch());
        run.look_again(Look::Probes, run.probes.next_sample());
        Ok(run)
    }

    /// Traces the run, which must not have advanced yet: the sinks receive its records in the order
    /// of time. Returns where the failure of a sink will be, or the faults of the filter.
    pub fn trace(
        &mut self,
        filter: &Filter,
        sinks: Vec<Box<dyn Sink>>,
    ) -> Result<Failure, Vec<Issue>> {
        let tracer = Tracer::new(&self.plan, filter, sinks)?;
        let failure = tracer.failure();
        self.world.observers.trace(tracer);
        self.world.watch();
        self.is_traced = true;
        Ok(failure)
    }

    /// Handles up to `max_events` events; `true` while events remain.
    ///
    /// # Panics
    /// With `check`, if a rule of the checker is violated, which is a defect of the simulator.
    pub fn advance(&mut self, max_events: u64) -> bool {
        if !self.is_traced {
            return self.handle(max_events);
        }
        let mut left = max_events;
        while left > 0 && self.running {
            let until_cut = EVENTS_PER_CUT - self.world.event_queue.taken() % EVENTS_PER_CUT;
            let slice = until_cut.min(left);
            self.handle(slice);
            left -= slice;
            if slice == until_cut {
                self.world.cut_waits(LONGEST_WAIT);
            }
        }
        self.running
    }

    fn handle(&mut self, max_events: u64) -> bool {
        for _ in 0..max_events {
            if !self.running {
                break;
            }
            match self.world.step() {
                Step::Event => {}
                Step::Look(look) => self.look(look),
                Step::End => self.running = false,
            }
        }
        self.world.catch_up();
        self.running
    }

    /// Reads the state of the world between two events.
    fn look(&mut self, look: Look) {
        self.looks += u64::from(look != Look::Batch);
        self.world.catch_up();
        let next = match look {
            Look::Probes => Some(self.probes.sample(&self.world)),
            Look::Batch => {
                if !self.world.observers.meter.is_open() {
                    self.counters.open(&self.world);
                }
                self.world.observers.meter.end_batch(self.world.now);
                self.world.observers.meter.next_batch()
            }
            Look::Step => None,
        };
        self.look_again(look, next);
    }

    fn look_again(&mut self, look: Look, at: Option<Instant>) {
        if let Some(at) = at.filter(|&at| at <= self.world.end) {
            self.world.look_at(at, look);
        }
    }

    /// Advances an untraced run by this time, at most to its end; `false` at the end.
    ///
    /// # Panics
    /// Like [`Simulation::advance`].
    pub fn step(&mut self, by: Duration) -> bool {
        if !self.running || self.world.now >= self.world.end {
            return false;
        }
        self.look_again(Look::Step, Some((self.world.now + by).min(self.world.end)));
        loop {
            match self.world.step() {
                Step::Event => {}
                Step::Look(Look::Step) => {
                    self.world.catch_up();
                    break;
                }
                Step::Look(look) => self.look(look),
                Step::End => {
                    self.running = false;
                    break;
                }
            }
        }
        self.running && self.world.now < self.world.end
    }

    /// From now on, the settings that may change during a run have these values: those of the same
    /// scenario with other choices.
    pub fn adopt(&mut self, settings: &Arc<Adjustable>) {
        let old = std::mem::replace(&mut self.settings, Arc::clone(settings));
        if !Arc::ptr_eq(&old, settings) && old != *settings {
            self.world.adopt(&self.plan.wlan, &old, settings);
        }
    }

    /// Reads observables over the time since they were last read, in the order of their paths.
    pub fn read(&self, readings: &mut Readings, into: &mut [f64]) {
        readings.read(&self.world, into);
    }

    /// Simulated time over the scenario's duration, 0 to 1.
    pub fn progress(&self) -> f64 {
        (self.world.now.0 as f64 / self.world.end.0 as f64).min(1.0)
    }

    /// The present instant of the run.
    pub fn now(&self) -> Instant {
        self.world.now
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The samples of each probe after an instant, while the run goes on.
    pub fn samples_since(&self, after: Option<Instant>) -> Vec<Series> {
        self.probes.since(&self.world, after).collect()
    }

    /// Runs to the end, if it has not ended yet, and reads the results.
    ///
    /// # Panics
    /// Like [`Simulation::advance`].
    pub fn finish(mut self) -> Run {
        while self.advance(u64::MAX) {}
        self.world.close();
        self.world.observers.check_meter(&self.world.cell);
        Run {
            summary: summary::summarise(&self.plan, &self.world, &self.counters),
            series: self.probes.take_series(&self.world),
            digest: self.world.observers.digest.value(),
            events: self.world.events() - self.looks,
            simulated_s: self.world.end.as_secs_f64(),
        }
    }
}

/// Runs a plan from start to end.
///
/// # Panics
/// Only by a defect of the simulator.
pub fn run(plan: &Plan, seed: Seed) -> Run {
    Simulation::new(plan, seed, &[], false).expect("no probe can be wrong").finish()
}
