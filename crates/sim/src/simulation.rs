//! A run from outside: start it, advance it, read its results.

use crate::control::{self, External, NoExternal};
use crate::plan::Plan;
use crate::probe::Probes;
use crate::scenario::Issue;
use crate::summary::{self, Value};
use crate::world::World;
use kernel::Seed;
use std::sync::Arc;

/// A run in progress.
#[derive(Debug)]
pub struct Simulation {
    plan: Plan,
    world: World,
    running: bool,
}

/// A probe's samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The probe's path.
    pub path: String,
    /// When it was read, in seconds of simulated time.
    pub time_s: Vec<f64>,
    /// What it showed.
    pub value: Vec<f64>,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Every result by its path, in printing order.
    pub summary: Vec<(String, Value)>,
    /// The samples of each probe.
    pub series: Vec<Series>,
    /// Fingerprint of all that was sent and delivered, and when.
    pub digest: u64,
    /// Events handled.
    pub events: u64,
    /// Simulated time in seconds.
    pub simulated_s: f64,
}

impl Simulation {
    /// Prepares a run. Each of `probes` is a path, perhaps with a wildcard; one that names
    /// nothing is an issue.
    pub fn new(
        plan: &Plan,
        seed: Seed,
        probes: &[String],
        check: bool,
    ) -> Result<Self, Vec<Issue>> {
        Self::with_external(plan, seed, probes, check, &(Arc::new(NoExternal) as _))
    }

    /// As [`Simulation::new`], with somebody to make the controllers that are not Simoom's own.
    pub fn with_external(
        plan: &Plan,
        seed: Seed,
        probes: &[String],
        check: bool,
        external: &Arc<dyn External>,
    ) -> Result<Self, Vec<Issue>> {
        control::check(plan, &**external)?;
        let probes = Probes::new(plan, probes, &**external)?;
        let world = World::new(plan, &seed, probes, check, external);
        Ok(Self { plan: plan.clone(), world, running: true })
    }

    /// Handles up to `max_events` events; `true` while there is more to do.
    ///
    /// # Panics
    /// With `check`, where a rule of the checker is broken: that is a defect of the simulator.
    pub fn advance(&mut self, max_events: u64) -> bool {
        for _ in 0..max_events {
            if !self.running {
                break;
            }
            self.running = self.world.step();
        }
        self.running
    }

    /// Simulated time over the scenario's duration, 0 to 1.
    pub fn progress(&self) -> f64 {
        (self.world.now.0 as f64 / self.world.end.0 as f64).min(1.0)
    }

    /// Runs to the end, if it is not there yet, and reads the results.
    ///
    /// # Panics
    /// As [`Simulation::advance`].
    pub fn finish(mut self) -> Run {
        while self.advance(u64::MAX) {}
        self.world.close();
        Run {
            summary: summary::summarise(&self.plan, &self.world),
            series: self.world.probes.take_series(),
            digest: self.world.digest.0,
            events: self.world.events,
            simulated_s: self.world.end.as_secs_f64(),
        }
    }
}

/// Runs a plan from start to end.
///
/// # Panics
/// Never, without a defect of the simulator.
pub fn run(plan: &Plan, seed: Seed) -> Run {
    Simulation::new(plan, seed, &[], false).expect("no probe can be wrong").finish()
}
