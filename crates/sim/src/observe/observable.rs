//! What an observable is, and how it is declared.

use super::place::NO_CELL;
use super::value::Value;
use crate::measure::{AirtimeKind, DelayStats, SampleSeries};
use crate::observers::World;
use crate::plan::Plan;
use kernel::Id;
use std::borrow::Cow;
use wire::{DropCause, FlowId};

/// Reads a counter of the flow, node or link direction with this index; a counter never decreases.
pub(crate) type Count = fn(&World, usize) -> u64;
/// Reads a value of the flow, node or link direction with this index.
pub(crate) type Gauge = fn(&World, usize) -> f64;

/// A counter of the flow, node or link direction with some index.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counter {
    Of(Count),
    /// The packets of a flow that were lost by this cause.
    Lost(DropCause),
    /// The airtime of the window that was used in this way, in nanoseconds.
    Airtime(AirtimeKind),
}

impl Counter {
    /// Its current value.
    pub(crate) fn read(self, world: &World, index: usize) -> u64 {
        match self {
            Self::Of(count) => count(world, index),
            Self::Lost(cause) => world.observers.meter.flows[FlowId::at(index)].drops[cause],
            Self::Airtime(kind) => world.observers.meter.ledger.spent(kind).0,
        }
    }
}

/// How an observable is read, and which result and probe follow from it.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A name. Result.
    Text(fn(&Plan, usize) -> String),
    /// A counter from the start of the run. Result: the increase in the window. Probe: the counter.
    Counter(Count),
    /// The packets of a flow that were lost by this cause, likewise.
    Lost(DropCause),
    /// The fraction of the window's airtime that this has used. Result.
    Airtime(AirtimeKind),
    /// A counter from the start of the run. Result: the counter at the end. Probe: the counter.
    Total(Count),
    /// The ratio of the increases of two counters in the window. Result.
    Ratio(Count, Count),
    /// A ratio of what ends to what begins, at most 1: what begins before the window may end in it.
    /// Result.
    Part(Count, Count),
    /// A ratio in bit/s, converted to Mb/s. Result.
    MeanRate(Count, Count),
    /// A counter of nanoseconds and one of events: the mean time of an event in seconds. Result;
    /// NaN without events.
    MeanTime(Count, Count),
    /// A counter of nanoseconds. Result: its increase as a fraction of the window.
    Share(Count),
    /// A rate in Mb/s: the counter of bytes, and its mean over the batches. Result: that mean.
    /// Probe: the rate since the last sample.
    Rate(Count, Gauge),
    /// A current value. Probe.
    Gauge(Gauge),
    /// A current value. Probe, and if the condition holds result: the value at the end.
    Last(Gauge, &'static Condition),
    /// A value of each of certain events, at the instant of the event and not at equal intervals.
    /// Probe.
    Each(Events),
    /// A gauge of this name, if the flow's congestion control has one. Probe.
    Controller(&'static str),
    /// Delays. Result: the statistics in [`PARTS`], or none.
    Delays {
        read: for<'a> fn(&'a World, usize) -> Option<Cow<'a, DelayStats>>,
        /// The name in figures.
        title: &'static str,
        /// The events that have such a delay, in the plural.
        of: &'static str,
    },
    /// Fractions of the window by number, from 0. Result.
    Fractions(fn(&World, usize) -> Vec<f64>),
    /// A value that is known at the end. Result.
    Once(fn(&World, usize) -> Value),
}

/// The values of events, which a run keeps only if they are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Events {
    /// From now on they are kept.
    pub(crate) keep: fn(&mut World, usize),
    /// Those kept; none if they are not.
    pub(crate) kept: for<'a> fn(&'a World, usize) -> Option<&'a SampleSeries>,
}

/// How a probe is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    Gauge(Gauge),
    Count(Counter),
    /// The increase of a byte counter since the last sample, in Mb/s.
    Rate(Count),
    /// A value of each event.
    Each(Events),
    /// A gauge of the flow's congestion control.
    Controller(&'static str),
}

/// A statistic of a distribution of delays: its name, and how it is read.
type Part = (&'static str, fn(&DelayStats) -> Value);

/// The statistics of a distribution of delays, in this order.
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

/// The condition on a run, flow or node to have an observable.
pub(crate) struct Condition {
    /// The subjects that fulfil it, in a few words.
    pub(crate) says: &'static str,
    pub(crate) holds: fn(&Plan, usize) -> bool,
    /// Why another subject has no observable of this name.
    pub(crate) lacks: fn(&Plan, usize, &str) -> String,
}

/// There is a cell.
pub(super) const CELL: Condition = Condition {
    says: "with a cell",
    holds: |plan, _| !plan.stations.is_empty(),
    lacks: |_, _, _| NO_CELL.to_owned(),
};

/// There are pings.
pub(super) const PINGS: Condition = Condition {
    says: "with pings",
    holds: |plan, _| plan.flows.iter().any(|flow| flow.settings.traffic.get().echo().is_some()),
    lacks: |_, _, name| format!("without pings (traffic.ping) there is no {name}"),
};

/// There are access categories, and so a cell.
pub(super) const CATEGORIES: Condition = Condition {
    says: "with access categories",
    holds: |plan, _| plan.wlan.edca.is_some(),
    lacks: |_, _, name| format!("without access categories (wlan.qos) there is no {name}"),
};

/// Access points send beacons.
pub(super) const BEACONS: Condition = Condition {
    says: "with beacons",
    holds: |plan, _| plan.wlan.beacons.is_some(),
    lacks: |_, _, name| format!("without beacons (wlan.beacons) there is no {name}"),
};

/// A station saves power.
pub(super) const POWER_SAVE: Condition = Condition {
    says: "with stations that save power",
    holds: |plan, _| plan.stations.iter().any(|station| station.power_save.is_some()),
    lacks: |_, _, name| format!("no station saves power (stations.power_save): there is no {name}"),
};

/// Full-duplex nodes send a busy tone.
pub(super) const BUSY_TONE: Condition = Condition {
    says: "with busy tones",
    holds: |plan, _| {
        let settings = plan.wlan.full_duplex.as_ref();
        settings.is_some_and(|settings| settings.busy_tone) && !plan.stations.is_empty()
    },
    lacks: |_, _, name| {
        format!("without busy tones (wlan.full_duplex.busy_tone) there is no {name}")
    },
};

/// The access point is full duplex.
pub(super) const FULL_DUPLEX: Condition = Condition {
    says: "with full duplex",
    holds: |plan, _| plan.wlan.full_duplex.is_some() && !plan.stations.is_empty(),
    lacks: |_, _, name| format!("without full duplex (wlan.full_duplex) there is no {name}"),
};

/// The access point sends to several stations at once.
pub(super) const MU: Condition = Condition {
    says: "with downlink OFDMA",
    holds: |plan, _| plan.wlan.mu.is_some() && !plan.stations.is_empty(),
    lacks: |_, _, name| format!("without downlink OFDMA (wlan.mu) there is no {name}"),
};

/// The access point triggers its stations.
pub(super) const UPLINK: Condition = Condition {
    says: "with uplink OFDMA",
    holds: |plan, _| plan.wlan.mu.as_ref().is_some_and(|mu| mu.uplink.is_some()),
    lacks: |_, _, name| format!("without uplink OFDMA (wlan.mu.uplink) there is no {name}"),
};

/// Trigger frames have resource units for random access.
pub(super) const UORA: Condition = Condition {
    says: "with random access of uplink OFDMA",
    holds: |plan, _| {
        let uplink = plan.wlan.mu.as_ref().and_then(|mu| mu.uplink.as_ref());
        uplink.is_some_and(|uplink| uplink.random_access.is_some())
    },
    lacks: |_, _, name| {
        format!("without random access (wlan.mu.uplink.random_access) there is no {name}")
    },
};

/// Stations that were triggered contend by parameters of MU EDCA.
pub(super) const MU_EDCA: Condition = Condition {
    says: "with MU EDCA",
    holds: |plan, _| plan.wlan.mu.as_ref().is_some_and(|mu| mu.edca.is_some()),
    lacks: |_, _, name| format!("without MU EDCA (wlan.mu.edca) there is no {name}"),
};

/// Nodes ignore PPDUs of other BSSs.
pub(super) const SPATIAL_REUSE: Condition = Condition {
    says: "with spatial reuse",
    holds: |plan, _| plan.wlan.spatial_reuse.is_some() && !plan.stations.is_empty(),
    lacks: |_, _, name| format!("without spatial reuse (wlan.spatial_reuse) there is no {name}"),
};

/// BSSs of a group have another level for each other.
pub(super) const REUSE_GROUPS: Condition = Condition {
    says: "with spatial reuse groups",
    holds: |plan, _| {
        let reuse = plan.wlan.spatial_reuse.as_ref();
        reuse.is_some_and(|reuse| !reuse.srg.is_empty()) && !plan.stations.is_empty()
    },
    lacks: |_, _, name| {
        format!("without spatial reuse groups (wlan.spatial_reuse.srg) there is no {name}")
    },
};

/// Distance decides who receives whom.
pub(super) const SPACE: Condition = Condition {
    says: "with a radio",
    holds: |plan, _| plan.has_radio(),
    lacks: |_, _, name| format!("without a radio there is no {name}"),
};

/// All nodes count the same idle slots, because each receives every other.
pub(super) const SHARED_SLOTS: Condition = Condition {
    says: "without a radio",
    holds: |plan, _| !plan.has_radio(),
    lacks: |_, _, name| {
        format!("with a radio each node counts its own idle slots: there is no {name}")
    },
};

/// An observable.
#[derive(Clone, Copy)]
pub(crate) struct Observable {
    /// Its path within its place.
    pub(crate) name: &'static str,
    /// The unit: "1" for a number without a unit, "text" for a name.
    pub(crate) unit: &'static str,
    /// Its heading in a table, of one or two lines and without unit; empty if it equals the name.
    pub(crate) heading: &'static str,
    /// The condition on subjects of its place to have it; none if all have it.
    pub(crate) only: Option<&'static Condition>,
    /// Its name before version 0.2; empty if unchanged.
    pub(crate) formerly: &'static str,
    /// Its description, in a sentence.
    pub(crate) says: &'static str,
    pub(crate) kind: Kind,
}

impl Observable {
    /// The heading in a table.
    pub(crate) fn heading(&self) -> String {
        if self.heading.is_empty() {
            self.name.replace(['_', '.'], " ")
        } else {
            self.heading.to_owned()
        }
    }

    /// What it is, in a sentence.
    pub(crate) fn meaning(&self) -> String {
        let says = self.says.trim();
        match self.kind {
            Kind::Lost(_) => format!("Packets of the flow that were lost: {}", within(says)),
            Kind::Airtime(_) => format!("The fraction of airtime for {}", within(says)),
            _ => says.to_owned(),
        }
    }

    /// Whether the flow, node or link direction with this index has it.
    pub(crate) fn is_of(&self, plan: &Plan, index: usize) -> bool {
        self.only.is_none_or(|condition| (condition.holds)(plan, index))
    }

    /// The counters of which a result needs the increase in the window.
    pub(super) fn counts(&self) -> impl Iterator<Item = Counter> + use<> {
        let (first, second) = match self.kind {
            Kind::Lost(cause) => return Some(Counter::Lost(cause)).into_iter().chain(None),
            Kind::Counter(count) | Kind::Share(count) => (Some(count), None),
            Kind::Ratio(of, to)
            | Kind::Part(of, to)
            | Kind::MeanRate(of, to)
            | Kind::MeanTime(of, to) => (Some(of), Some(to)),
            _ => (None, None),
        };
        first.map(Counter::Of).into_iter().chain(second.map(Counter::Of))
    }

    /// How it is read as a probe, if it is one.
    pub(crate) fn probe(&self) -> Option<Read> {
        match self.kind {
            Kind::Counter(count) | Kind::Total(count) => Some(Read::Count(Counter::Of(count))),
            Kind::Lost(cause) => Some(Read::Count(Counter::Lost(cause))),
            Kind::Rate(bytes, _) => Some(Read::Rate(bytes)),
            Kind::Gauge(now) | Kind::Last(now, _) => Some(Read::Gauge(now)),
            Kind::Each(each) => Some(Read::Each(each)),
            Kind::Controller(name) => Some(Read::Controller(name)),
            Kind::Text(_)
            | Kind::Airtime(_)
            | Kind::Ratio(..)
            | Kind::Part(..)
            | Kind::MeanRate(..)
            | Kind::MeanTime(..)
            | Kind::Share(_)
            | Kind::Delays { .. }
            | Kind::Fractions(_)
            | Kind::Once(_) => None,
        }
    }

    /// Whether it is a result.
    pub(crate) fn is_result(&self) -> bool {
        !matches!(self.kind, Kind::Gauge(_) | Kind::Each(_) | Kind::Controller(_))
    }
}

/// A sentence that continues another one.
fn within(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first = chars.next().into_iter();
    // An abbreviation keeps its capitals.
    let is_word = chars.clone().next().is_some_and(|next| !next.is_uppercase());
    if is_word {
        first.flat_map(char::to_lowercase).chain(chars).collect()
    } else {
        sentence.to_owned()
    }
}

/// Declares observables: each with its description, name, unit, heading, condition, former name,
/// and how it is read.
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
