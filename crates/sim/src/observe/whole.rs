//! The observables of all flows together, of the medium, and of the run.

use super::flow::TRIMMED;
use super::observable::Kind::{Counter, Delays, Fractions, Gauge, Once, Rate, Ratio};
use super::observable::{CATEGORIES, CELL, Observable, PINGS, POWER_SAVE, observables};
use crate::measure::{DelayStats, jain};
use crate::meter::FlowMeter;
use crate::observers::World;
use std::borrow::Cow;
use std::slice::from_ref;
use wifi::Counters;
use wire::DropCause;

pub(super) static TOTAL: &[Observable] = observables! {
    /// User data delivered in order by all flows.
    "goodput_mbps": "Mb/s" as "total goodput" => Rate(
        |world, _| over_flows(world, |flow| flow.bytes),
        |world, _| world.observers.meter.goodput_mbps(&world.observers.meter.flows),
    );
    /// Half the 95 % confidence interval of the total goodput, by batch means within the run.
    "goodput_ci95_mbps": "Mb/s" as "95 %" => Once(|world, _| {
        let meter = &world.observers.meter;
        meter.goodput_half_width_mbps(&meter.flows).into()
    });
    /// Jain's index of fairness of the flows' goodputs: 1 if all are equal.
    "jain_index": "1" as "Jain's index" => Once(|world, _| fairness(world).into());
    /// Packets of all flows that were lost on their way, by all causes.
    "lost": "packets" as "lost" => Counter(|world, _| over_flows(world, FlowMeter::lost));
    /// Packets that queues dropped, because of a limit or to signal congestion.
    "queue_drops": "packets" as "queue\ndrops" =>
        Counter(|world, _| over_flows(world, |flow| flow.drops[DropCause::Queue]));
    /// Packets of flows that MACs discarded at a retry limit, at all hops, whether they had arrived
    /// or not.
    "retry_drops": "packets" as "retry\ndrops" if CELL =>
        Counter(|world, _| over_flows(world, |flow| flow.served.retry_drops));
    /// Packets of flows that MACs discarded at the end of their lifetime, likewise.
    "lifetime_drops": "packets" as "lifetime\ndrops" if CATEGORIES =>
        Counter(|world, _| over_flows(world, |flow| flow.served.lifetime_drops));
    /// Packets that access points dropped while they buffered them for stations that save power.
    "power_save_drops": "packets" as "power-save\ndrops" if POWER_SAVE =>
        Counter(|world, _| over_flows(world, |flow| flow.drops[DropCause::PowerSave]));
    /// Packets that wired links lost.
    "wire_losses": "packets" =>
        Counter(|world, _| over_flows(world, |flow| flow.drops[DropCause::WireLoss]));
    /// Packets that queues marked instead of dropping them.
    "ecn_marks": "packets" as "ECN\nmarks" =>
        Counter(|world, _| over_flows(world, |flow| flow.ecn_marks.all));
    /// Transmission attempts of all nodes: of data frames, of the RTS frames before them, and of
    /// beacons and other frames of the MAC itself.
    "attempts": "attempts" if CELL => Counter(|world, _| attempts(world));
    /// The fraction of attempts that collided.
    "collision_probability": "1" as "collision\nprobability" if CELL =>
        Ratio(|world, _| over_nodes(world, |node| node.collisions), |world, _| outcomes(world));
    /// One-way delay of data packets, from the sender's transport to the receiver's.
    "delay_s": "s" as "delay" => Delays {
        read: |world, _| Some(merged(world, DelayStats::coarse(), |flow| &flow.delay)),
        title: "packet delay",
        of: "packets",
    };
    /// Responsiveness under working conditions, in round trips per minute: the mean of that of
    /// pings and of that of loaded TCP connections, whose own measurements stand for probes on them
    /// (draft-ietf-ippm-responsiveness-09, "For the TCP-Only Case").
    "rpm": "1/min" as "RPM" if PINGS => Once(|world, _| responsiveness(world).into());
    /// Time from the request of a file, or from a write, to its complete reception.
    "session_delay_s": "s" as "file" => Delays {
        read: |world, _| {
            let all = merged(world, DelayStats::fine(), |flow| &flow.session);
            (all.count() > 0).then_some(all)
        },
        title: "time per file",
        of: "files",
    };
};

fn over_flows(world: &World, count: fn(&FlowMeter) -> u64) -> u64 {
    world.observers.meter.flows.iter().map(count).sum()
}

fn over_nodes(world: &World, count: fn(&Counters) -> u64) -> u64 {
    (0..world.queues.len() as u32).map(|radio| count(world.cell.counters(radio))).sum()
}

fn attempts(world: &World) -> u64 {
    over_nodes(world, |node| node.attempts)
}

fn outcomes(world: &World) -> u64 {
    over_nodes(world, |node| node.outcomes)
}

fn fairness(world: &World) -> f64 {
    let rates = world
        .observers
        .meter
        .flows
        .iter()
        .filter_map(|flow| world.observers.meter.byte_rate(from_ref(flow)));
    jain(rates.map(|rate| rate.mean))
}

/// The round trips in a minute of all pings and TCP connections; of pings alone without the latter.
fn responsiveness(world: &World) -> f64 {
    let mean = |is_tcp: bool| {
        let mut all = if is_tcp { DelayStats::coarse() } else { DelayStats::fine() };
        let flows = world.flows.iter().zip(&world.observers.meter.flows);
        for (_, meter) in flows.filter(|(flow, _)| flow.tcp().is_some() == is_tcp) {
            all.merge(&meter.rtt);
        }
        all.trimmed_mean(TRIMMED)
    };
    let (foreign, loaded) = (60.0 / mean(false), 60.0 / mean(true));
    if loaded.is_nan() { foreign } else { 0.5 * (foreign + loaded) }
}

fn merged(
    world: &World,
    mut all: DelayStats,
    of: fn(&FlowMeter) -> &DelayStats,
) -> Cow<'_, DelayStats> {
    for flow in &world.observers.meter.flows {
        all.merge(of(flow));
    }
    Cow::Owned(all)
}

pub(super) static CONTENDING: &[Observable] = observables! {
    /// Stations that have a frame to send.
    "stations": "stations" => Gauge(|world, _| f64::from(world.cell.contending_stations()));
    /// Stations that have a frame to send, averaged over time.
    "stations_mean": "stations" => Once(|world, _| world.observers.meter.contending.mean().into());
    /// The fraction of time in which this many stations have a frame to send.
    "stations_fraction": "1" => Fractions(|world, _| world.observers.meter.contending.fractions());
    /// The fraction of time in which the access point has a frame to send.
    "ap_fraction": "1" => Once(|world, _| world.observers.meter.contending_ap.fraction(1).into());
};

pub(super) static RUN: &[Observable] = observables! {
    /// Simulated time.
    "simulated_s": "s" => Once(|world, _| world.end.as_secs_f64().into());
    /// Simulated time without the warm-up.
    "measured_s": "s" => Once(|world, _| world.observers.meter.window().as_secs_f64().into());
    /// Events that were handled, including those of probes.
    "events": "events" => Once(|world, _| world.events().into());
};
