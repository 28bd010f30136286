//! The observables of stations that save power, and of their access points.

use super::node::airtime;
use super::observable::Kind::{Counter, MeanTime, Share};
use super::observable::{Condition, Observable, observables};
use crate::meter::NodeMeter;
use crate::observers::World;
use crate::plan::{Endpoint, Plan};
use crate::topology::RadioId;
use kernel::Id;
use wifi::power_save::{Held, Station};
use wifi::station::power_save::Savers;
use wire::{DropCause, FrameGroup};

/// A station saves power.
const SAVES_POWER: Condition = Condition {
    says: "of stations that save power",
    holds: saves_power,
    lacks: |_, _, name| format!("only stations that save power (stations.power_save) have {name}"),
};

/// A station saves power, and distance decides who receives whom.
const RADIO: Condition = Condition {
    says: "of stations that save power, with a radio",
    holds: |plan, n| plan.has_radio() && saves_power(plan, n),
    lacks: |_, _, name| {
        format!("without a radio and power save (stations.power_save) no station has {name}")
    },
};

/// An access point has such stations.
const SERVES: Condition = Condition {
    says: "of access points with stations that save power",
    holds: |plan, n| {
        let own = |&number: &usize| {
            let radio = plan.topology.station(number);
            plan.topology.access_point_of(radio) == RadioId(n as u32)
        };
        (0..plan.stations.len())
            .filter(own)
            .any(|number| plan.stations[number].power_save.is_some())
    },
    lacks: |_, _, name| {
        format!("only access points of stations that save power (stations.power_save) have {name}")
    },
};

fn saves_power(plan: &Plan, n: usize) -> bool {
    match plan.topology.node(plan.topology.radio(RadioId(n as u32)).node).end {
        Endpoint::Station(number) => plan.stations[number as usize].power_save.is_some(),
        _ => false,
    }
}

pub(super) static STATION: &[Observable] = observables! {
    /// The fraction of time in which the station is awake: its receiver is on.
    "power_save.awake_fraction": "1" as "awake" if SAVES_POWER =>
        Share(|world, n| machine(world, n).map_or(0, |it| it.awake(world.now).0));
    /// PS-Polls, and trigger frames without data, by which the station requested frames.
    "power_save.polls": "frames" as "polls" if SAVES_POWER =>
        Counter(|world, n| machine(world, n).map_or(0, Station::solicitations));
    /// Null frames by which the station announced that it sleeps or wakes.
    "power_save.null_frames": "frames" as "null\nframes" if SAVES_POWER =>
        Counter(|world, n| machine(world, n).map_or(0, Station::nulls));
    /// Beacons for which the station waited in vain.
    "power_save.beacons_missed": "frames" as "beacons\nmissed" if SAVES_POWER =>
        Counter(|world, n| machine(world, n).map_or(0, Station::missed));
    /// Packets that the access point buffered because the station slept.
    "power_save.buffered": "packets" as "buffered" if SAVES_POWER =>
        Counter(|world, n| held(world, n).packets);
    /// Mean time of these packets in that buffer.
    "power_save.buffering_s": "s" as "buffer-\ning" if SAVES_POWER =>
        MeanTime(|world, n| held(world, n).time.0, |world, n| held(world, n).left);
    /// Packets that were dropped there, because the buffer was full or they were too old.
    "power_save.drops": "packets" as "power-save\ndrops" if SAVES_POWER =>
        Counter(|world, n| held(world, n).dropped);
    /// The fraction of time in which the station sends Null frames and PS-Polls.
    "airtime.power_save_fraction": "1" as "power save" if RADIO =>
        Share(|world, n| airtime(world, n, FrameGroup::PowerSave));
};

pub(super) static ACCESS_POINT: &[Observable] = observables! {
    /// Packets that the access point dropped while it buffered them.
    "power_save.drops": "packets" as "power-save\ndrops" if SERVES =>
        Counter(|world, n| meter(world, n).drops[DropCause::PowerSave]);
    /// Broadcast packets that the access point buffered up to a DTIM.
    "power_save.group_buffered": "packets" as "group\nbuffered" if SERVES => Counter(|world, n| {
        savers(world).map_or(0, |all| all.group_held(n as u32))
    });
};

fn savers(world: &World) -> Option<&Savers> {
    world.stations.power_save()
}

fn machine(world: &World, node: usize) -> Option<&Station> {
    savers(world)?.machine(node as u32)
}

fn held(world: &World, node: usize) -> Held {
    savers(world).map_or_else(Held::default, |all| all.held(node as u32))
}

fn meter(world: &World, node: usize) -> &NodeMeter {
    &world.observers.meter.nodes[RadioId::at(node)]
}
