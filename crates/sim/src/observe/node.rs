//! The observables of a node of the cell.

use super::mu;
use super::observable::Kind::{Counter, Gauge, MeanRate, MeanTime, Once, Ratio, Share, Text};
use super::observable::{CATEGORIES, Condition, Observable, observables};
use crate::meter::NodeMeter;
use crate::observers::World;
use crate::plan::{Endpoint, Plan};
use crate::topology::RadioId;
use kernel::Id;
use wifi::mac::MuCounters;
use wifi::phy::Mode;
use wifi::{Counters, FrameCounters};
use wire::{DropCause, FrameGroup};

const RADIO: Condition = Condition {
    says: "with a radio",
    holds: |plan, _| plan.has_radio(),
    lacks: |_, _, name| format!("without a radio no node has {name}"),
};

const INTERFERERS: Condition = Condition {
    says: "with interferers",
    holds: |plan, _| !plan.interferers.is_empty(),
    lacks: |_, _, name| format!("without interferers no node has {name}"),
};

/// Access points send beacons, and distance decides who receives them.
const RADIO_BEACONS: Condition = Condition {
    says: "of access points with beacons, with a radio",
    holds: |plan, n| plan.has_radio() && (BEACONS.holds)(plan, n),
    lacks: |_, _, name| format!("without beacons and a radio no node has {name}"),
};

/// Access points send beacons.
const BEACONS: Condition = Condition {
    says: "of access points with beacons",
    holds: |plan, n| {
        plan.wlan.beacons.is_some() && plan.topology.is_access_point(RadioId(n as u32))
    },
    lacks: |_, _, name| format!("only access points with beacons (wlan.beacons) have {name}"),
};

/// Transmitters leave out busy parts of their channel.
const DYNAMIC: Condition = Condition {
    says: "with `wlan.bandwidth_operation` other than \"static\"",
    holds: |plan, _| plan.wlan.bandwidth_operation.is_dynamic(),
    lacks: |_, _, name| format!("with wlan.bandwidth_operation \"static\" no node has {name}"),
};

const MCS: Condition = Condition {
    says: "of standards with MCSs",
    holds: |plan, _| plan.wlan.timing.standard.high.is_some(),
    lacks: |plan, _, _| format!("802.{} has no MCS", plan.wlan.timing.standard.name()),
};

const GROUP: Condition = Condition {
    says: "of stations whose table has a name",
    holds: |plan, n| !group(plan, n).is_empty(),
    lacks: |_, _, _| "the station's table has no name".to_owned(),
};

/// The name of a station's table.
fn group(plan: &Plan, n: usize) -> &str {
    match plan.topology.node(plan.topology.radio(RadioId(n as u32)).node).end {
        Endpoint::Station(number) => &plan.stations[number as usize].group,
        _ => "",
    }
}

pub(super) static STATION: &[Observable] = observables! {
    /// The station's name: `sta0`, `sta1` and so on.
    "name": "text" as "station" => Text(|plan, n| plan.topology.radio_name(RadioId(n as u32)));
    /// The name of the station's table.
    "group": "text" if GROUP => Text(|plan, n| group(plan, n).to_owned());
    /// The MCS of frames from the station to its access point.
    "mcs": "1" if MCS => Gauge(|world, n| of_mode(up(world, n), |mode| f64::from(mode.mcs)));
    /// The MCS of frames from the access point to the station.
    "ap_mcs": "1" if MCS => Gauge(|world, n| of_mode(down(world, n), |mode| f64::from(mode.mcs)));
    /// The rate of frames from the station to its access point.
    "rate_mbps": "Mb/s" as "rate" =>
        Gauge(|world, n| of_mode(up(world, n), |mode| mode.rate.as_mbps()));
    /// The rate of frames from the access point to the station.
    "ap_rate_mbps": "Mb/s" as "AP rate" =>
        Gauge(|world, n| of_mode(down(world, n), |mode| mode.rate.as_mbps()));
};

pub(super) static ACCESS_POINT: &[Observable] = observables! {
    /// The fraction of time in which the access point sends beacons.
    "airtime.beacon_fraction": "1" as "beacons" if RADIO_BEACONS =>
        Share(|world, n| airtime(world, n, FrameGroup::Beacon));
    /// Beacons that the access point sent.
    "beacons": "frames" if BEACONS => Counter(|world, n| {
        world.stations.beacons().map_or(0, |all| all.sent(n as u32))
    });
    /// Beacons that still waited for the medium when the next one was due, and were not sent.
    "beacons_skipped": "frames" if BEACONS => Counter(|world, n| {
        world.stations.beacons().map_or(0, |all| all.skipped(n as u32))
    });
};

pub(super) static NODE: &[Observable] = observables! {
    /// Transmission attempts: of data frames, of the RTS frames before them, and of beacons and
    /// other frames of the MAC itself.
    "attempts": "attempts" => Counter(|world, n| mac(world, n).attempts);
    /// Data frames that were acknowledged, or broadcast; those of the MAC itself count too.
    "sent": "frames" => Counter(|world, n| mac(world, n).sent);
    /// Attempts that collided.
    "collisions": "attempts" => Counter(|world, n| mac(world, n).collisions);
    /// The fraction of attempts that collided.
    "collision_probability": "1" as "collision\nprobability" =>
        Ratio(|world, n| mac(world, n).collisions, |world, n| mac(world, n).outcomes);
    /// Attempts in which noise corrupted a frame.
    "noise_losses": "attempts" as "lost to\nnoise" =>
        Counter(|world, n| mac(world, n).noise_losses);
    /// Attempts in which an interferer corrupted a frame.
    "interference_losses": "attempts" as "lost to\ninterference" if INTERFERERS =>
        Counter(|world, n| mac(world, n).interference_losses);
    /// Duplicates: frames that were received before.
    "duplicates": "frames" => Counter(|world, n| mac(world, n).duplicates);
    /// Packets that the node's MAC discarded at a retry limit (dot11FailedCount), also those that
    /// had arrived and of which only the MAC ACKs were lost.
    "retry_drops": "packets" as "retry\ndrops" =>
        Counter(|world, n| mac(world, n).retry_drops);
    /// Broadcast packets that no node received, most of them in collisions; nobody retransmits
    /// them.
    "broadcast_losses": "packets" =>
        Counter(|world, n| meter(world, n).drops[DropCause::Broadcast]);
    /// Packets that the node's queue dropped.
    "queue_drops": "packets" as "queue\ndrops" =>
        Counter(|world, n| meter(world, n).drops[DropCause::Queue]);
    /// Packets that the node's queue marked instead of dropping them.
    "ecn_marks": "packets" as "ECN\nmarks" => Counter(|world, n| meter(world, n).ecn_marks.all);
    /// Packets that wait in the node's queue, without the one in service; at an access point also
    /// those that it buffers for stations that save power.
    "queue_packets": "packets" => Gauge(|world, n| world.backlog(RadioId(n as u32)) as f64);
    /// Packets that wait in the node's queue, averaged over time.
    "queue_packets.mean": "packets" as "queue\nmean" =>
        Once(|world, n| meter(world, n).queue.mean().into());
    /// Mean time of a packet in the node's queue: of all packets whose service ended, of all flows.
    "queueing_s": "s" as "queue-\ning" =>
        MeanTime(|world, n| meter(world, n).queue.time(), served);
    /// Mean time of a packet in service without being on the air: interframe spaces, back-off, and
    /// the transmissions of others.
    "contention_s": "s" as "conten-\ntion" =>
        MeanTime(|world, n| meter(world, n).service.contention(world.now), served);
    /// Mean time of the first exchange that carries a packet, from RTS to MAC ACK. A collision ends
    /// with its longest frame; among radios, for each node with the node's own frame.
    "transmission_s": "s" as "on the\nair" =>
        MeanTime(|world, n| meter(world, n).service.transmission, new_mpdus);
    /// Mean time of the further exchanges that carry it again.
    "retries_s": "s" as "retries" =>
        MeanTime(|world, n| meter(world, n).service.retries, new_mpdus);
    /// The maximum number of packets that waited in the node's queue.
    "queue_packets.max": "packets" as "queue\nmax" =>
        Once(|world, n| (meter(world, n).queue.max() as u64).into());
    /// Bytes that wait in the node's queue.
    "queue_bytes": "bytes" => Gauge(|world, n| world.queues[RadioId::at(n)].backlog().0 as f64);
    /// The contention window from which the node draws its back-off, in slots.
    "contention_window": "slots" => Gauge(|world, n| f64::from(world.cell.window(n as u32)));
    /// The mean rate of the modes of the node's data frames, each attempt counted once, and each
    /// user of a PPDU to several.
    "data_rate_mbps": "Mb/s" as "rate" =>
        MeanRate(data_rates, psdus);
    /// The fraction of time in which the node sends RTS frames.
    "airtime.rts_fraction": "1" as "RTS" if RADIO =>
        Share(|world, n| airtime(world, n, FrameGroup::Rts));
    /// The fraction of time in which the node sends CTS frames.
    "airtime.cts_fraction": "1" as "CTS" if RADIO =>
        Share(|world, n| airtime(world, n, FrameGroup::Cts));
    /// The fraction of time in which the node sends data frames.
    "airtime.data_fraction": "1" as "data" if RADIO =>
        Share(|world, n| airtime(world, n, FrameGroup::Data));
    /// The fraction of time in which the node sends Ack and BlockAck frames.
    "airtime.ack_fraction": "1" as "MAC ACKs" if RADIO =>
        Share(|world, n| airtime(world, n, FrameGroup::Ack));
    /// The fraction of time in which the node sends BlockAckReq frames.
    "airtime.request_fraction": "1" as "block-ack requests" if RADIO =>
        Share(|world, n| airtime(world, n, FrameGroup::Request));
    /// Data PPDUs that the node sent; one to several users counts once.
    "ppdus": "PPDUs" if CATEGORIES => Counter(|world, n| frames(world, n).data_attempts);
    /// Data frames in the node's PPDUs; each MPDU of an A-MPDU counts.
    "mpdus": "frames" if CATEGORIES => Counter(|world, n| frames(world, n).mpdus);
    /// Data frames in a PPDU, on average.
    "mpdus_per_ppdu": "frames" as "frames\nper PPDU" if CATEGORIES =>
        Ratio(|world, n| frames(world, n).mpdus, |world, n| frames(world, n).data_attempts);
    /// Data frames that were retransmitted.
    "repeated_mpdus": "frames" if CATEGORIES => Counter(|world, n| frames(world, n).repeated_mpdus);
    /// Retransmissions per data frame.
    "repeats_per_mpdu": "1" as "repeats\nper frame" if CATEGORIES => Ratio(
        |world, n| frames(world, n).repeated_mpdus,
        |world, n| frames(world, n).mpdus - frames(world, n).repeated_mpdus,
    );
    /// BlockAck frames that were requested or expected and did not arrive.
    "block_ack_requests": "requests" if CATEGORIES =>
        Counter(|world, n| frames(world, n).block_ack_requests);
    /// Data PPDUs that left out 20 MHz subchannels which were busy before their TXOP, and those
    /// that were to and received no CTS.
    "punctured_ppdus": "PPDUs" as "punctured\nPPDUs" if DYNAMIC =>
        Counter(|world, n| frames(world, n).punctured);
    /// Data PPDUs in a narrower channel than that of the link, because a part of it was busy before
    /// their TXOP, and those that were to and received no CTS.
    "narrower_ppdus": "PPDUs" as "narrower\nPPDUs" if DYNAMIC =>
        Counter(|world, n| frames(world, n).narrower);
    /// Internal collisions in which an access category yielded to a higher one.
    "internal_collisions": "1" if CATEGORIES =>
        Counter(|world, n| frames(world, n).internal_collisions);
    /// Packets discarded because their lifetime expired.
    "lifetime_drops": "packets" as "lifetime\ndrops" if CATEGORIES =>
        Counter(|world, n| frames(world, n).lifetime_drops);
};

/// Packets whose service has ended.
fn served(world: &World, node: usize) -> u64 {
    meter(world, node).served.total()
}

/// The sum of the rates of data frames; PPDUs to several users are those of the access point.
fn data_rates(world: &World, node: usize) -> u64 {
    frames(world, node).data_rates + mu::counters(world, node, |all| all.data_rates)
}

/// Data frames that have such a rate.
fn psdus(world: &World, node: usize) -> u64 {
    let further = |all: &MuCounters| all.all().ppdus - all.ppdus;
    frames(world, node).data_attempts + mu::counters(world, node, further)
}

/// MPDUs that were sent for the first time.
fn new_mpdus(world: &World, node: usize) -> u64 {
    frames(world, node).mpdus - frames(world, node).repeated_mpdus
}

fn meter(world: &World, node: usize) -> &NodeMeter {
    &world.observers.meter.nodes[RadioId::at(node)]
}

fn mac(world: &World, node: usize) -> &Counters {
    world.cell.counters(node as u32)
}

fn frames(world: &World, node: usize) -> &FrameCounters {
    world.cell.frame_counters(node as u32)
}

/// For how many nanoseconds a radio has sent frames of this group; 0 without a radio.
pub(super) fn airtime(world: &World, node: usize, group: FrameGroup) -> u64 {
    world.cell.airtimes(node as u32, world.now).map_or(0, |airtimes| airtimes.of(group).0)
}

fn up(world: &World, station: usize) -> Option<&Mode> {
    let station = RadioId(station as u32);
    world.cell.mode(station.0, world.access_point_of(station).0)
}

fn down(world: &World, station: usize) -> Option<&Mode> {
    let station = RadioId(station as u32);
    world.cell.mode(world.access_point_of(station).0, station.0)
}

/// Reads a property of a mode; NaN without a link.
fn of_mode(mode: Option<&Mode>, read: fn(&Mode) -> f64) -> f64 {
    mode.map_or(f64::NAN, read)
}
