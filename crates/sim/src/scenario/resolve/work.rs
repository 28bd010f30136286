//! Bounds on what a run may cost, in time and in memory.

use super::check::{Check, number};
use crate::plan::{Discipline, Endpoint, Limit, Loss, Plan, TrafficPlan};
use crate::scenario::document::{Document, Stations};
use kernel::Bytes;

/// A cell can hardly have more frame exchanges a second: one takes at least DIFS, a preamble, SIFS
/// and an ACK, together some 100 us.
const EXCHANGES_PER_S: f64 = 1e4;
/// A day or so of computing.
const MOST_WORK: f64 = 1e11;
/// A gigabyte or so of waiting packets.
const MOST_WAITING: f64 = 1e7;

/// Each buffer holds at least one packet of any flow: else that flow would be dead.
pub(super) fn queues_hold_a_packet(document: &Document, plan: &Plan, check: &mut Check) {
    let largest = plan.flows.iter().map(packet_size).max().unwrap_or(Bytes::ZERO);
    let mut holds = |path: &str, queue: &Discipline| {
        let mut path = format!("{path}.queue.{}", queue.key());
        let mut levels = vec![(path.clone(), queue.limit())];
        if let Discipline::AirtimeFair { station, .. } = queue {
            path = format!("{path}.station.{}", station.key());
            levels.push((path, station.limit()));
        }
        for (path, limit) in levels {
            if let Some(limit) = limit.bytes.filter(|limit| *limit < largest) {
                check.fault(
                    format!("{path}.limit_bytes"),
                    format!(
                        "{} bytes do not hold one packet of {} bytes, the largest of all flows",
                        limit.0, largest.0
                    ),
                );
            }
        }
    };
    match &document.stations {
        Stations::Count(_) | Stations::Equal(_) => {
            plan.stations.iter().take(1).for_each(|station| holds("stations", &station.queue));
        }
        Stations::Groups(groups) => {
            let mut first = 0;
            for (index, group) in groups.iter().enumerate() {
                if let Some(station) = plan.stations.get(first).filter(|_| group.count > 0) {
                    holds(&format!("stations[{index}]"), &station.queue);
                }
                first = first.saturating_add(group.count as usize);
            }
        }
    }
    holds("ap", &plan.ap.queue);
    if let Some(wire) = &plan.wire {
        holds("wire", &wire.queue);
    }
}

fn packet_size(flow: &crate::plan::FlowPlan) -> Bytes {
    match (&flow.traffic, &flow.tcp) {
        (
            TrafficPlan::Cbr { payload, header, .. } | TrafficPlan::Saturated { payload, header },
            _,
        ) => *payload + *header,
        (_, Some(tcp)) => tcp.mss + tcp.header,
        (_, None) => Bytes::ZERO,
    }
}

/// Neither time nor memory is absurd. Only asked when all else is right, for its arithmetic means
/// nothing otherwise.
pub(super) fn is_bounded(plan: &Plan, check: &mut Check) {
    if !check.found_nothing() {
        return;
    }
    let duration_s = plan.duration.as_secs_f64();
    let channel_per_s = channel_changes_per_s(plan);
    let mut sources_per_s = 0.0;
    let mut waiting = 0.0;
    let mut worst = (0.0, 0);
    for flow in &plan.flows {
        let per_s = datagrams_per_s(plan, flow);
        sources_per_s += per_s;
        if passes_unlimited_queue(plan, flow) {
            let datagrams = per_s * duration_s;
            waiting += datagrams;
            if datagrams > worst.0 {
                worst = (datagrams, flow.group);
            }
        }
    }
    let work = duration_s * (EXCHANGES_PER_S + sources_per_s + channel_per_s);
    if work > MOST_WORK {
        let (work, sources) = (number(work), number(sources_per_s));
        let channel = match channel_per_s {
            0.0 => String::new(),
            per_s => format!(", {} of the wire's channel", number(per_s)),
        };
        check.fault(
            "duration_s",
            format!(
                "{} s would take about {work} steps (10000 a second in the cell, {sources} of \
                 datagram sources{channel}), and at most 1e11 are run; shorten it or lower the \
                 rates",
                number(duration_s)
            ),
        );
    }
    if waiting > MOST_WAITING {
        let (waiting, group) = (number(waiting.round()), worst.1);
        check.fault(
            format!("flows[{group}].traffic"),
            format!(
                "up to {waiting} datagrams could wait in a queue without limit, and memory is kept \
                 for 10000000; limit the queues on the way, as ap.queue.drop_tail.limit_packets"
            ),
        );
    }
}

/// What a source may send a second independently of the cell.
fn datagrams_per_s(plan: &Plan, flow: &crate::plan::FlowPlan) -> f64 {
    match &flow.traffic {
        TrafficPlan::Cbr { rate, payload, .. } => rate.0 as f64 / payload.bits() as f64,
        TrafficPlan::Saturated { payload, header } if flow.from == Endpoint::Server => {
            let wire_rate = plan.wire.as_ref().and_then(|wire| wire.rate);
            wire_rate.map_or(0.0, |rate| rate.0 as f64 / (*payload + *header).bits() as f64)
        }
        _ => 0.0,
    }
}

/// How often a wire's channel changes a second, whether or not anything is sent.
fn channel_changes_per_s(plan: &Plan) -> f64 {
    match plan.wire.as_ref().map(|wire| &wire.loss) {
        Some(Loss::GilbertElliott { good, bad, .. }) => 4.0 / (*good + *bad).as_secs_f64(),
        _ => 0.0,
    }
}

fn passes_unlimited_queue(plan: &Plan, flow: &crate::plan::FlowPlan) -> bool {
    let unlimited = |queue: &Discipline| queue.limit() == Limit::NONE;
    let through_wire = flow.from == Endpoint::Server || flow.to == Endpoint::Server;
    let wire = plan.wire.as_ref().is_some_and(|wire| through_wire && unlimited(&wire.queue));
    let ap = match flow.to {
        Endpoint::Station(_) | Endpoint::Broadcast => unlimited(&plan.ap.queue),
        Endpoint::Server | Endpoint::AccessPoint => false,
    };
    let station = match flow.from {
        Endpoint::Station(number) => unlimited(&plan.stations[number as usize].queue),
        _ => false,
    };
    wire || ap || station
}
