//! What an observable is, and how it is declared.

use super::place::NO_CELL;
use super::value::Value;
use crate::measure::DelayStats;
use crate::observers::World;
use crate::plan::Plan;
use std::borrow::Cow;

/// Reads a count of the flow, node or direction of a link with this index; it never falls.
pub(crate) type Count = fn(&World, usize) -> u64;
/// Reads a value of the flow, node or direction of a link with this index.
pub(crate) type Gauge = fn(&World, usize) -> f64;

/// How an observable is read, and what of it is a result and a probe.
pub(crate) enum Kind {
    /// A name. Result.
    Text(fn(&Plan, usize) -> String),
    /// A count from the start of the run. Result: what the window has added. Probe: the count.
    Counter(Count),
    /// A count from the start of the run. Result: the count at the end. Probe: the count.
    Total(Count),
    /// What the window has added to the first count over what it has added to the second. Result.
    Ratio(Count, Count),
    /// As a ratio of bit/s, in Mb/s. Result.
    MeanRate(Count, Count),
    /// A count of nanoseconds. Result: which fraction of the window was counted.
    Share(Count),
    /// A rate in Mb/s: the bytes that it counts, and its mean over the batches. Result: that mean.
    /// Probe: the rate since the last sample.
    Rate(Count, Gauge),
    /// A value of the moment. Probe.
    Gauge(Gauge),
    /// A value of the moment. Probe, and where the condition holds result: that at the end.
    Last(Gauge, &'static Condition),
    /// A gauge of this name, where the flow's controller has one. Probe.
    Controller(&'static str),
    /// Delays. Result: [`PARTS`] of them, or none.
    Delays {
        read: for<'a> fn(&'a World, usize) -> Option<Cow<'a, DelayStats>>,
        /// What a picture calls them.
        title: &'static str,
        /// What has such a delay, in the plural.
        of: &'static str,
    },
    /// Fractions of the window by number, from 0. Result.
    Fractions(fn(&World, usize) -> Vec<f64>),
    /// What is known at the end. Result.
    Once(fn(&World, usize) -> Value),
}

/// How a probe is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    Gauge(Gauge),
    Count(Count),
    /// What the count of bytes has grown by since the last sample, in Mb/s.
    Rate(Count),
    /// A gauge of the flow's controller.
    Controller(&'static str),
}

/// A part of a distribution of delays: its name, and how it is read.
type Part = (&'static str, fn(&DelayStats) -> Value);

/// What is told of a distribution of delays, in this order.
pub(crate) const PARTS: [Part; 8] = [
    ("count", |delays| delays.count().into()),
    ("mean", |delays| delays.mean().into()),
    ("sd", |delays| delays.sd().into()),
    ("p50", |delays| delays.quantile(0.5).into()),
    ("p90", |delays| delays.quantile(0.9).into()),
    ("p95", |delays| delays.quantile(0.95).into()),
    ("p99", |delays| delays.quantile(0.99).into()),
    ("max", |delays| delays.max().into()),
];

/// What a run, flow or node must be to have an observable.
pub(crate) struct Condition {
    /// Which these are, in a few words.
    pub(crate) says: &'static str,
    pub(crate) holds: fn(&Plan, usize) -> bool,
    /// Why another one has no observable of this name.
    pub(crate) lacks: fn(&Plan, usize, &str) -> String,
}

/// There is a cell.
pub(super) const CELL: Condition = Condition {
    says: "with a cell",
    holds: |plan, _| !plan.stations.is_empty(),
    lacks: |_, _, _| NO_CELL.to_owned(),
};

/// There are access categories, and so a cell.
pub(super) const CATEGORIES: Condition = Condition {
    says: "with access categories",
    holds: |plan, _| plan.wlan.edca.is_some(),
    lacks: |_, _, name| format!("without access categories (wlan.qos) there is no {name}"),
};

/// Anything observed.
pub(crate) struct Observable {
    /// Its path within its place.
    pub(crate) name: &'static str,
    /// "1" of a number without one; "text" of a name.
    pub(crate) unit: &'static str,
    /// What a table calls it, perhaps in two lines, and without its unit; empty: as its name.
    pub(crate) heading: &'static str,
    /// Which of those at its place have it; all without a condition.
    pub(crate) only: Option<&'static Condition>,
    /// What it was called before 0.2; empty if nothing else.
    pub(crate) formerly: &'static str,
    /// What it is, in a sentence.
    pub(crate) says: &'static str,
    pub(crate) kind: Kind,
}

impl Observable {
    /// What a table calls it.
    pub(crate) fn heading(&self) -> String {
        if self.heading.is_empty() {
            self.name.replace(['_', '.'], " ")
        } else {
            self.heading.to_owned()
        }
    }

    /// Whether the flow, node or direction of a link with this index has it.
    pub(crate) fn is_of(&self, plan: &Plan, index: usize) -> bool {
        self.only.is_none_or(|condition| (condition.holds)(plan, index))
    }

    /// The counts of which a result needs what the window has added.
    pub(super) fn counts(&self) -> impl Iterator<Item = Count> + use<> {
        let (first, second) = match self.kind {
            Kind::Counter(count) | Kind::Share(count) => (Some(count), None),
            Kind::Ratio(of, to) | Kind::MeanRate(of, to) => (Some(of), Some(to)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// How it is read as a probe, if it is one.
    pub(crate) fn probe(&self) -> Option<Read> {
        match self.kind {
            Kind::Counter(count) | Kind::Total(count) => Some(Read::Count(count)),
            Kind::Rate(bytes, _) => Some(Read::Rate(bytes)),
            Kind::Gauge(now) | Kind::Last(now, _) => Some(Read::Gauge(now)),
            Kind::Controller(name) => Some(Read::Controller(name)),
            Kind::Text(_)
            | Kind::Ratio(..)
            | Kind::MeanRate(..)
            | Kind::Share(_)
            | Kind::Delays { .. }
            | Kind::Fractions(_)
            | Kind::Once(_) => None,
        }
    }

    /// Whether it is a result.
    pub(crate) fn is_result(&self) -> bool {
        !matches!(self.kind, Kind::Gauge(_) | Kind::Controller(_))
    }
}

/// Declares observables: each with its sentence, its name and unit, what a table calls it, what it
/// is only of, its former name, and how it is read.
macro_rules! observables {
    ($(
        $(#[doc = $says:literal])+
        $name:literal: $unit:literal
            $(as $heading:literal)? $(if $only:ident)? $(was $formerly:literal)? => $kind:expr;
    )*) => {
        &[$(Observable {
            name: $name,
            unit: $unit,
            heading: concat!($($heading)?),
            only: observables!(@only $($only)?),
            formerly: concat!($($formerly)?),
            says: concat!($($says),+),
            kind: $kind,
        }),*]
    };
    (@only) => { None };
    (@only $only:ident) => { Some(&$only) };
}
pub(super) use observables;
