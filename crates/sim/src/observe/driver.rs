//! The observables of a driver's transmit ring below the queue of a wired link.

use super::observable::Kind::{Gauge, MeanTime, Ratio};
use super::observable::{Condition, Observable, observables};
use crate::observers::World;
use crate::plan::Plan;
use crate::topology::WireId;
use kernel::Id;
use net::{Driver, DriverSettings};

const DRIVER: Condition = Condition {
    says: "with a driver",
    holds: |plan, wire| settings(plan, wire).is_some(),
    lacks: |_, _, name| format!("without a driver (driver.ring_packets) there is no {name}"),
};

const BQL: Condition = Condition {
    says: "with byte queue limits",
    holds: |plan, wire| settings(plan, wire).is_some_and(|driver| driver.bql),
    lacks: |_, _, name| format!("without byte queue limits (driver.bql) there is no {name}"),
};

pub(super) static RING: &[Observable] = observables! {
    /// Packets that wait in the driver's ring, without the one in transmission; part of
    /// `queue_packets`.
    "ring.packets": "packets" if DRIVER => Gauge(|world, w| of(world, w, Driver::len) as f64);
    /// Their bytes.
    "ring.bytes": "bytes" if DRIVER => Gauge(|world, w| of(world, w, Driver::backlog).0 as f64);
    /// Mean time of a packet in the driver's ring before its transmission; part of `queueing_s`.
    "ring.queueing_s": "s" as "in the\nring" if DRIVER =>
        MeanTime(|world, w| of(world, w, |driver| driver.waited(world.now)), carried);
    /// The limit of bytes in the ring (BQL).
    "ring.limit_bytes": "bytes" if BQL => Gauge(limit);
    /// The limit of bytes in the ring, averaged over time.
    "ring.limit_bytes.mean": "bytes" as "byte\nlimit" if BQL => Ratio(
        |world, w| of(world, w, |driver| driver.limited(world.now)),
        |world, _| world.now.0 / 1000,
    );
};

fn settings(plan: &Plan, wire: usize) -> Option<DriverSettings> {
    let (link, direction) = plan.link(WireId(wire as u32));
    link.directions[direction].driver
}

/// A value of the driver of a link direction, which has one.
fn of<T: Default>(world: &World, wire: usize, read: impl FnOnce(&Driver) -> T) -> T {
    world.wires[WireId::at(wire)].link().driver().map(read).unwrap_or_default()
}

fn limit(world: &World, wire: usize) -> f64 {
    of(world, wire, Driver::limit).unwrap_or_default().0 as f64
}

fn carried(world: &World, wire: usize) -> u64 {
    world.wires[WireId::at(wire)].link().counters().packets
}
