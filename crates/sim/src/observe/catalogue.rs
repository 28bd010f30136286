//! All observables, by place.

use super::observable::Observable;
use super::place::{Place, Subject};
use super::whole;
use super::{
    declared, driver, dual, duplex, flow, hop, interferer, link, mu, node, power_save, roaming,
    routing, spatial_reuse,
};
use crate::plan::Plan;

/// Observables that belong to the same places.
pub(crate) struct Group {
    pub(crate) places: &'static [Place],
    pub(crate) observables: &'static [Observable],
}

/// All observables. At a place, those of an earlier group come first in the summary.
pub(crate) static CATALOGUE: [Group; 34] = [
    Group { places: &[Place::Total], observables: whole::TOTAL },
    Group { places: &[Place::Total], observables: roaming::TOTAL },
    Group { places: &[Place::Airtime], observables: &declared::AIRTIME },
    Group { places: &[Place::Contending], observables: whole::CONTENDING },
    Group { places: &[Place::FullDuplex], observables: duplex::FULL_DUPLEX },
    Group { places: &[Place::SecondaryRate], observables: duplex::SECONDARY_RATE },
    Group { places: &[Place::Flow], observables: flow::FLOW },
    Group { places: &[Place::Flow], observables: &declared::LOST },
    Group { places: &[Place::Flow], observables: flow::SERVICE },
    Group { places: &[Place::Flow], observables: flow::CONTROL },
    Group { places: &[Place::Flow], observables: routing::ROUTED_FLOW },
    Group { places: &[Place::Hop], observables: hop::HOP },
    Group { places: &[Place::Routing], observables: routing::ROUTING_TOTAL },
    Group { places: &[Place::Station], observables: node::STATION },
    Group { places: &[Place::Ap, Place::Station, Place::Cell], observables: node::NODE },
    Group { places: &[Place::Ap, Place::Cell], observables: node::ACCESS_POINT },
    Group { places: &[Place::Ap], observables: mu::ACCESS_POINT },
    Group { places: &[Place::Station], observables: mu::STATION },
    Group { places: &[Place::Station], observables: power_save::STATION },
    Group { places: &[Place::Ap, Place::Cell], observables: power_save::ACCESS_POINT },
    Group { places: &[Place::Station], observables: roaming::STATION },
    Group { places: &[Place::Ap, Place::Station, Place::Cell], observables: roaming::NODE },
    Group { places: &[Place::Ap, Place::Station, Place::Cell], observables: spatial_reuse::NODE },
    Group { places: &[Place::Ap, Place::Station, Place::Cell], observables: dual::NODE_MARKS },
    Group { places: &[Place::Ap, Place::Station, Place::Cell], observables: dual::NODE_DUAL },
    Group { places: &[Place::Interferer], observables: interferer::INTERFERER },
    Group { places: &[Place::Down, Place::Up], observables: link::WIRE },
    Group { places: &[Place::Link], observables: link::NAME },
    Group { places: &[Place::Link, Place::Reverse], observables: link::LINK },
    Group {
        places: &[Place::Down, Place::Up, Place::Link, Place::Reverse],
        observables: link::DIRECTION,
    },
    Group {
        places: &[Place::Down, Place::Up, Place::Link, Place::Reverse],
        observables: dual::WIRE_MARKS,
    },
    Group {
        places: &[Place::Down, Place::Up, Place::Link, Place::Reverse],
        observables: dual::WIRE_DUAL,
    },
    Group {
        places: &[Place::Down, Place::Up, Place::Link, Place::Reverse],
        observables: driver::RING,
    },
    Group { places: &[Place::Run], observables: whole::RUN },
];

/// The observables of a place.
pub(crate) fn at(place: Place) -> impl Iterator<Item = &'static Observable> {
    let groups = CATALOGUE.iter().filter(move |group| group.places.contains(&place));
    groups.flat_map(|group| group.observables)
}

/// The observables of a subject of this plan.
pub(crate) fn of(plan: &Plan, subject: Subject) -> impl Iterator<Item = &'static Observable> {
    at(subject.place).filter(move |observable| observable.is_of(plan, subject.index))
}
