//! The observables of spatial reuse.

use super::observable::Kind::Counter;
use super::observable::{Observable, REUSE_GROUPS, SPATIAL_REUSE, observables};
use crate::observers::World;
use wifi::space::ReuseCounters;

pub(super) static NODE: &[Observable] = observables! {
    /// PPDUs of other BSSs that the node stopped to receive, because they arrived below the OBSS PD
    /// level for them.
    "spatial_reuse.ignored": "PPDUs" as "PPDUs\nignored" if SPATIAL_REUSE =>
        Counter(|world, n| counters(world, n).ignored);
    /// Those of `spatial_reuse.ignored` that were of the node's spatial reuse group.
    "spatial_reuse.ignored_in_group": "PPDUs" as "of its\ngroup" if REUSE_GROUPS =>
        Counter(|world, n| counters(world, n).ignored_in_group);
    /// TXOPs that the node won while a PPDU that it ignored was on the air.
    "spatial_reuse.txops": "TXOPs" as "TXOPs\nbeside" if SPATIAL_REUSE =>
        Counter(|world, n| counters(world, n).reused);
    /// TXOPs in which the node sent with less power, because it had ignored a PPDU.
    "spatial_reuse.reduced": "TXOPs" as "TXOPs with\nless power" if SPATIAL_REUSE =>
        Counter(|world, n| counters(world, n).reduced);
};

fn counters(world: &World, node: usize) -> ReuseCounters {
    world.cell.reuse_counters(node as u32).unwrap_or_default()
}
