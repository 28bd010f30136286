//! The observables of interferers.

use super::observable::Kind::{Counter, Part, Text};
use super::observable::{Condition, Observable, observables};
use crate::observers::World;
use wifi::interferer::{InterfererCounters, Packets};

const LINK: Condition = Condition {
    says: "of Bluetooth links",
    holds: |plan, i| plan.interferers[i].is_link(),
    lacks: |plan, i, name| format!("{} is no Bluetooth link: no {name}", plan.interferers[i].name),
};

pub(super) static INTERFERER: &[Observable] = observables! {
    /// The interferer's name.
    "name": "text" as "interferer" => Text(|plan, i| plan.interferers[i].name.clone());
    /// Data frames, each MPDU of an A-MPDU counted, that were lost while one of its bursts
    /// overlapped them.
    "data_frames_lost": "frames" as "data frames\nlost to it" =>
        Counter(|world, i| counters(world, i).data_frames);
    /// RTS, CTS, Ack, BlockAckReq and BlockAck frames that were lost likewise.
    "control_frames_lost": "frames" as "control frames\nlost to it" =>
        Counter(|world, i| counters(world, i).control_frames);
    /// Packets that the two devices of the Bluetooth link sent, each counted once.
    "packets": "packets" as "Bluetooth\npackets" if LINK =>
        Counter(|world, i| packets(world, i).sent);
    /// Packets that the link repeated because the network had destroyed them.
    "repeated_packets": "packets" if LINK => Counter(|world, i| packets(world, i).repeated);
    /// The fraction of the link's transmissions that the network destroyed.
    "error_rate": "1" as "Bluetooth\nerror rate" if LINK =>
        Part(|world, i| packets(world, i).destroyed, |world, i| packets(world, i).transmissions());
    /// The fraction of the link's packets that were lost after all repetitions.
    "loss_rate": "1" as "Bluetooth\nloss rate" if LINK =>
        Part(|world, i| packets(world, i).lost(), |world, i| packets(world, i).sent);
};

fn counters(world: &World, interferer: usize) -> InterfererCounters {
    let all = world.cell.interferers();
    all.map(|all| *all.counters(interferer as u32)).unwrap_or_default()
}

fn packets(world: &World, interferer: usize) -> Packets {
    let all = world.cell.interferers();
    all.and_then(|all| all.packets(interferer as u32, world.now)).unwrap_or_default()
}
