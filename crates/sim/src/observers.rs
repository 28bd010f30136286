//! The observers of a run, composed into one.

use crate::check::Checker;
use crate::digest::Digest;
use crate::exits::{Exits, Left};
use crate::medium::Medium;
use crate::meter::{HopMeter, Meter};
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::trace::Tracer;
use crate::world;
use kernel::{Instant, Seed};

/// The world with its observers.
pub(crate) type World = world::World<Observers>;

/// All observers of a run.
#[derive(Debug)]
pub(crate) struct Observers {
    pub(crate) meter: Meter,
    pub(crate) digest: Digest,
    /// The observers that most runs do without.
    rare: Option<Box<Rare>>,
}

impl Observers {
    /// The observers of a plan, with a checker or without.
    pub(crate) fn new(plan: &Plan, check: bool, seed: &Seed) -> Self {
        let rare = Rare {
            checker: check.then(|| Checker::new(plan, seed)),
            tracer: None,
            exits: None,
            hops: (!plan.measure.hops.is_empty()).then(|| HopMeter::new(plan)),
        };
        let is_needed = rare.checker.is_some() || rare.hops.is_some();
        Self {
            meter: Meter::new(plan),
            digest: Digest::new(plan),
            rare: is_needed.then(|| Box::new(rare)),
        }
    }

    /// The measurements of hops, if the scenario asks for them.
    pub(crate) fn hops(&self) -> Option<&HopMeter> {
        self.rare.as_ref()?.hops.as_ref()
    }

    /// Adds a tracer.
    pub(crate) fn trace(&mut self, tracer: Tracer) {
        self.rare.get_or_insert_default().tracer = Some(tracer);
    }

    /// From now on, what becomes of packets of real programs is collected.
    pub(crate) fn tell_what_leaves(&mut self) {
        self.rare.get_or_insert_default().exits = Some(Exits::default());
    }

    /// What has become of packets of real programs since this list was emptied.
    pub(crate) fn left(&mut self) -> &mut Vec<Left> {
        &mut self.rare.get_or_insert_default().exits.get_or_insert_default().0
    }

    /// At the end of the run: the checker compares the meter with its records and the medium.
    pub(crate) fn check_meter(&self, medium: &Medium) {
        if let Some(Rare { checker: Some(checker), .. }) = self.rare.as_deref() {
            checker.check_meter(&self.meter, medium);
        }
    }
}

impl Observer for Observers {
    #[allow(clippy::inline_always, reason = "an unread notice is never constructed")]
    #[inline(always)]
    fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        self.meter.on(now, notice);
        self.digest.on(now, notice);
        if let Some(rare) = &mut self.rare {
            rare.on(now, notice);
        }
    }
}

/// Observers that most runs do without.
#[derive(Debug, Default)]
struct Rare {
    checker: Option<Checker>,
    tracer: Option<Tracer>,
    hops: Option<HopMeter>,
    exits: Option<Exits>,
}

impl Observer for Rare {
    #[allow(clippy::inline_always, reason = "an unread notice is never constructed")]
    #[inline(always)]
    fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        if let Some(checker) = &mut self.checker {
            checker.on(now, notice);
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.on(now, notice);
        }
        if let Some(hops) = &mut self.hops {
            hops.on(now, notice);
        }
        if let Some(exits) = &mut self.exits {
            exits.on(now, notice);
        }
    }
}
