//! The observables of stations that roam.

use super::node::airtime;
use super::observable::Kind::{Counter, Fractions, Gauge, Once, Share, Total};
use super::observable::{Condition, Observable, observables};
use crate::meter::NodeMeter;
use crate::observers::World;
use crate::plan::{Endpoint, Plan};
use crate::topology::RadioId;
use kernel::Id;
use wifi::roaming::{Client, Handover};
use wire::{DropCause, FrameGroup};

/// A station roams.
const ROAMS: Condition = Condition {
    says: "of stations that roam",
    holds: |plan, n| match plan.topology.node(plan.topology.radio(RadioId(n as u32)).node).end {
        Endpoint::Station(number) => plan.stations[number as usize].roaming.is_some(),
        _ => false,
    },
    lacks: |_, _, name| format!("only stations that roam (stations.roaming) have {name}"),
};

/// Some station roams.
pub(super) const ROAMING: Condition = Condition {
    says: "with stations that roam",
    holds: |plan, _| has_clients(plan),
    lacks: |_, _, name| format!("no station roams (stations.roaming): there is no {name}"),
};

fn has_clients(plan: &Plan) -> bool {
    plan.stations.iter().any(|station| station.roaming.is_some())
}

pub(super) static STATION: &[Observable] = observables! {
    /// How often the station has changed to another access point.
    "roaming.handovers": "1" as "hand-\novers" if ROAMS =>
        Counter(|world, n| of(world, n, |client| client.handovers().len() as u64));
    /// How often the station has scanned for access points.
    "roaming.scans": "1" as "scans" if ROAMS => Counter(|world, n| of(world, n, Client::scans));
    /// The time since the start of the run in which the station could exchange no packets, because
    /// it scanned or had no access point.
    "roaming.outage_s": "s" as "outage" if ROAMS => Once(|world, n| {
        client(world, n).map_or(0.0, |client| client.outage(world.now).as_secs_f64()).into()
    });
    /// The fraction of time in which it could exchange no packets.
    "roaming.outage_fraction": "1" as "outage" if ROAMS =>
        Share(|world, n| of(world, n, |client| client.outage(world.now).0));
    /// The instants of its changes since the start of the run.
    "roaming.handover_at_s": "s" if ROAMS =>
        Fractions(|world, n| each(world, n, |_, it| it.at.as_secs_f64()));
    /// The cells that it left by these changes: 0 is that of `ap`, 1 the first of `cells`.
    "roaming.handover_from": "1" if ROAMS =>
        Fractions(|world, n| each(world, n, |world, it| cell(world, it.from)));
    /// The cells to which it changed.
    "roaming.handover_to": "1" if ROAMS =>
        Fractions(|world, n| each(world, n, |world, it| cell(world, it.to)));
    /// The time since the start of the run in which it exchanged packets with the access point of
    /// each cell.
    "roaming.associated_s": "s" if ROAMS => Fractions(|world, n| {
        let served = client(world, n).map(|client| client.served(world.now));
        served.unwrap_or_default().iter().map(|time| time.as_secs_f64()).collect()
    });
    /// The cell of its access point; NaN while it has none.
    "roaming.cell": "1" as "cell" if ROAMS => Gauge(|world, n| {
        let own = client(world, n).and_then(Client::access_point);
        own.map_or(f64::NAN, |own| cell(world, own))
    });
    /// The signal of the last beacon of its access point.
    "roaming.signal_dbm": "dBm" as "signal" if ROAMS => Gauge(|world, n| {
        client(world, n).and_then(Client::signal).map_or(f64::NAN, |signal| signal.0)
    });
};

pub(super) static NODE: &[Observable] = observables! {
    /// Packets that were lost because their station scanned, or had moved to another access point:
    /// the node discarded them at a retry limit, or flushed them.
    "roaming_drops": "packets" as "roaming\ndrops" if ROAMING =>
        Counter(|world, n| meter(world, n).drops[DropCause::Roaming]);
    /// The fraction of time in which the node sends Authentication and Reassociation frames.
    "airtime.association_fraction": "1" as "association" if ROAMING =>
        Share(|world, n| airtime(world, n, FrameGroup::Association));
    /// The fraction of time in which the node sends Null frames, by which stations announce scans.
    "airtime.null_fraction": "1" as "null frames" if ROAMING =>
        Share(|world, n| airtime(world, n, FrameGroup::PowerSave));
};

pub(super) static TOTAL: &[Observable] = observables! {
    /// How often stations have changed to another access point.
    "handovers": "1" if ROAMING => Total(|world, _| {
        let all = (0..world.topology.radios().len()).map(|n| of(world, n, handovers));
        all.sum()
    });
};

fn handovers(client: &Client) -> u64 {
    client.handovers().len() as u64
}

fn client(world: &World, node: usize) -> Option<&Client> {
    world.stations.roaming()?.get(node as u32)
}

fn of(world: &World, node: usize, read: impl Fn(&Client) -> u64) -> u64 {
    client(world, node).map_or(0, read)
}

fn each(world: &World, node: usize, read: fn(&World, &Handover) -> f64) -> Vec<f64> {
    let handovers = client(world, node).map(Client::handovers).unwrap_or_default();
    handovers.iter().map(|handover| read(world, handover)).collect()
}

/// The number of the cell of an access point.
fn cell(world: &World, access_point: u32) -> f64 {
    f64::from(world.topology.radio(RadioId(access_point)).cell)
}

fn meter(world: &World, node: usize) -> &NodeMeter {
    &world.observers.meter.nodes[RadioId::at(node)]
}
