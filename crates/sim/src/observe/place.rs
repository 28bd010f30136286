//! The places of observables: the beginnings of their paths.

use crate::plan::{Endpoint, Plan};
use crate::topology::Wire;
use kernel::{BitRate, Id, listed};

/// The message if a scenario has no such place.
pub(super) const NO_CELL: &str = "there is no cell: the scenario has links alone";

listed! {
    /// A kind of flow, node or link, or the whole run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Place {
        Total,
        Airtime,
        Contending,
        /// A full-duplex access point.
        FullDuplex,
        /// A rate of its secondary frames.
        SecondaryRate,
        Flow,
        /// A hop of a flow.
        Hop,
        Ap,
        Station,
        /// A further access point.
        Cell,
        Interferer,
        /// Routing in an ad-hoc network.
        Routing,
        /// The direction of `[wire]` to the access point.
        Down,
        /// The direction of `[wire]` to the server.
        Up,
        /// The first direction of a link of `[[links]]`.
        Link,
        /// Its other direction.
        Reverse,
        Run,
    }
}

impl Place {
    /// The beginning of its paths; `[i]` stands for a number.
    pub(crate) fn pattern(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Airtime => "airtime",
            Self::Contending => "contending",
            Self::FullDuplex => "full_duplex",
            Self::SecondaryRate => "full_duplex.rates[i]",
            Self::Flow => "flows[i]",
            Self::Hop => "hops[i]",
            Self::Ap => "ap",
            Self::Station => "stations[i]",
            Self::Cell => "cells[i]",
            Self::Interferer => "interferers[i]",
            Self::Routing => "routing",
            Self::Down => "wire.down",
            Self::Up => "wire.up",
            Self::Link => "links[i]",
            Self::Reverse => "links[i].reverse",
            Self::Run => "run",
        }
    }

    /// The part of its paths before the number; all of it if there is no number.
    pub(crate) fn list(self) -> &'static str {
        self.pattern().split_once("[i]").map_or(self.pattern(), |(list, _)| list)
    }

    /// Whether its paths have a number.
    pub(crate) fn is_list(self) -> bool {
        self.list() != self.pattern()
    }

    /// The number in a path of this place, and the rest of the path; `None` for another place.
    pub(crate) fn split(self, path: &str) -> Option<(&str, &str)> {
        let Some((list, end)) = self.pattern().split_once("[i]") else {
            return Some(("", path.strip_prefix(self.pattern())?.strip_prefix('.')?));
        };
        let (number, rest) = path.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?;
        Some((number, rest.strip_prefix(end)?.strip_prefix('.')?))
    }

    /// The message that a scenario has no such place.
    pub(crate) fn absent(self) -> String {
        match self {
            Self::Ap | Self::Contending => NO_CELL.to_owned(),
            Self::Routing => "stations do not forward: there is no table [routing]".to_owned(),
            Self::FullDuplex | Self::SecondaryRate => "the access point is half duplex".to_owned(),
            Self::Hop => "delays are not measured by hop: measure.hops is false".to_owned(),
            Self::Down | Self::Up => {
                "there is no wire: the server is at the access point".to_owned()
            }
            _ => format!("there are no {}", self.list()),
        }
    }
}

/// The subject of observables: one flow, node or link direction, or the whole run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) place: Place,
    /// Its number within its place, counted from 0.
    pub(crate) number: usize,
    /// The index of the flow, node or link direction in the world.
    pub(crate) index: usize,
}

impl Subject {
    /// The beginning of its paths.
    pub(crate) fn path(self) -> String {
        self.place.pattern().replace("[i]", &format!("[{}]", self.number))
    }
}

/// All subjects of observables, in the order of the summary.
pub(crate) fn subjects(plan: &Plan) -> Vec<Subject> {
    let one = |place| Subject { place, number: 0, index: 0 };
    let has_cell = !plan.stations.is_empty();
    let mut all = vec![one(Place::Total)];
    if has_cell && !plan.has_radio() {
        all.push(one(Place::Airtime));
    }
    if has_cell {
        all.push(one(Place::Contending));
    }
    if has_cell && plan.wlan.full_duplex.is_some() {
        all.push(one(Place::FullDuplex));
        let rate = |i| Subject { place: Place::SecondaryRate, number: i, index: i };
        all.extend((0..secondary_rates(plan).len()).map(rate));
    }
    if plan.routing.is_some() {
        all.push(one(Place::Routing));
    }
    let flow = |i| Subject { place: Place::Flow, number: i, index: i };
    all.extend((0..plan.flows.len()).map(flow));
    let hop = |i| Subject { place: Place::Hop, number: i, index: i };
    all.extend((0..plan.measure.hops.len()).map(hop));
    if has_cell {
        all.extend(radios(plan));
    }
    let interferer = |i| Subject { place: Place::Interferer, number: i, index: i };
    all.extend((0..plan.interferers.len()).map(interferer));
    all.extend(plan.topology.wires().iter().map(|wire| direction(plan, wire)));
    all.push(one(Place::Run));
    all
}

/// The rates of the secondary frames of a full-duplex access point.
pub(super) fn secondary_rates(plan: &Plan) -> Vec<BitRate> {
    let Some(settings) = &plan.wlan.full_duplex else { return Vec::new() };
    let modes: Vec<_> = plan.stations.iter().map(|station| station.down.mode()).collect();
    settings.rates(&plan.wlan.timing, modes.iter())
}

/// The radios of the cells: access point, stations, further access points.
fn radios(plan: &Plan) -> impl Iterator<Item = Subject> {
    plan.topology.radios().iter().enumerate().map(|(index, radio)| {
        let (place, number) = match (plan.topology.node(radio.node).end, radio.cell) {
            (Endpoint::Station(number), _) => (Place::Station, number),
            (_, 0) => (Place::Ap, 0),
            (_, cell) => (Place::Cell, cell - 1),
        };
        Subject { place, number: number as usize, index }
    })
}

fn direction(plan: &Plan, wire: &Wire) -> Subject {
    let (link, direction) = plan.link(wire.id);
    let place = match (link.number, direction) {
        (None, 0) => Place::Down,
        (None, _) => Place::Up,
        (Some(_), 0) => Place::Link,
        (Some(_), _) => Place::Reverse,
    };
    Subject { place, number: link.number.unwrap_or(0), index: wire.id.index() }
}
