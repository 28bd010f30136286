//! Limits of the cost of a run, in time and in memory.

use super::check::{Check, number};
use crate::plan::{Endpoint, FlowPlan, Plan, TcpPlan};
use crate::traffic::{Pace, Transport};
use kernel::Duration;
use net::{Limit, LinkSettings, QueueSettings};
use settings::{Said, said};

/// An upper bound of the frame exchanges in a cell per second: an exchange takes at least DIFS, a
/// preamble, SIFS and an ACK, about 100 us in total.
const EXCHANGES_PER_S: f64 = 1e4;
/// About a day of computing.
const MOST_WORK: f64 = 1e11;
/// About a gigabyte of waiting packets.
pub(super) const MOST_WAITING: f64 = 1e7;
/// Below this retransmission timeouts are shorter than the round trips of any path.
const SHORT_TIMEOUT: Duration = Duration::from_micros(1000);

/// Checks that time and memory are reasonable. To be called only if there are no other faults,
/// because the arithmetic requires valid values.
pub(super) fn is_bounded(plan: &Plan, check: &mut Check) {
    if !check.found_nothing() {
        return;
    }
    let duration_s = plan.duration.as_secs_f64();
    let channel_per_s = channel_changes_per_s(plan);
    let (mut sources_per_s, mut links_per_s) = (0.0, 0.0);
    let (mut waiting, mut worst) = (0.0, (0.0, 0));
    segments_are_bounded(plan, duration_s, check);
    for flow in &plan.flows {
        let Some(tcp) = &flow.tcp else {
            let per_s = datagrams_per_s(plan, flow);
            sources_per_s += per_s;
            if passes_unlimited_queue(plan, flow) {
                let datagrams = per_s * duration_s;
                waiting += datagrams;
                if datagrams > worst.0 {
                    worst = (datagrams, flow.group);
                }
            }
            continue;
        };
        if !in_cell(flow.from) && !in_cell(flow.to) {
            links_per_s += segments_per_s(plan, flow, tcp);
        }
    }
    let cell_per_s = if plan.stations.is_empty() { 0.0 } else { EXCHANGES_PER_S };
    let work = duration_s * (cell_per_s + sources_per_s + links_per_s + channel_per_s);
    if work > MOST_WORK {
        let (work, sources) = (number(work), number(sources_per_s));
        let part = |(per_s, of): (f64, &str)| match per_s {
            0.0 => String::new(),
            per_s => format!(", {} of {of}", number(per_s)),
        };
        let more = [(links_per_s, "TCP over links"), (channel_per_s, "links' channels")]
            .map(part)
            .concat();
        check.fault(
            "duration_s",
            Said::new(
                format!(
                    "{} s would take about {work} steps ({} a second in the cell, {sources} of \
                     datagram sources{more}), and at most 1e11 are run",
                    number(duration_s),
                    number(cell_per_s)
                ),
                "shorten it or lower the rates",
            ),
        );
    }
    if waiting > MOST_WAITING {
        let (waiting, group) = (number(waiting.round()), worst.1);
        check.fault(
            format!("flows[{group}].traffic"),
            said!(
                "up to {waiting} datagrams could wait in a queue without limit, and memory is kept \
                 for 10000000",
                "limit the queues on the path, as ap.queue.drop_tail.limit_packets"
            ),
        );
    }
}

/// The segments that a flow may have on the way.
type Segments<'a> = &'a dyn Fn(&FlowPlan, &tcp::Config) -> f64;

/// Checks the segments that senders may have on the way before the network limits them: their
/// initial windows, and retransmissions after timeouts that are shorter than round trips.
fn segments_are_bounded(plan: &Plan, duration_s: f64, check: &mut Check) {
    let initial = |_: &FlowPlan, config: &tcp::Config| {
        let receive_window = config.window_max().0 as f64 / config.mss().0 as f64;
        config.initial_window().0.min(receive_window)
    };
    let repeated = |flow: &FlowPlan, config: &tcp::Config| {
        let is_short = config.rto_max < SHORT_TIMEOUT && passes_unlimited_queue(plan, flow);
        if is_short { duration_s / config.rto_max.as_secs_f64() } else { 0.0 }
    };
    let per_flow: [(Segments<'_>, &str, &str); 2] = [
        (&initial, "initial_window_segments", "segments of initial windows"),
        (&repeated, "rto_max_ms", "retransmissions after timeouts below 1 ms"),
    ];
    for (segments_of, key, what) in per_flow {
        let tcp = plan.flows.iter().filter_map(|flow| Some((flow, flow.tcp.as_ref()?)));
        let segments = tcp.map(|(flow, tcp)| (segments_of(flow, &tcp.config), flow.group));
        let (sum, worst) = segments.fold((0.0, (0.0, 0)), |(sum, worst), segments| {
            (sum + segments.0, if segments.0 > worst.0 { segments } else { worst })
        });
        if sum > MOST_WAITING {
            let (sum, group) = (number(f64::round(sum)), worst.1);
            let message = said!(
                "up to {sum} {what} could be on the way, and memory is kept for 10000000",
                "take less, or fewer flows"
            );
            check.fault(format!("flows[{group}].tcp.{key}"), message);
        }
    }
}

/// The number of packets that a source of datagrams may send per second, without the limit of the
/// cell.
fn datagrams_per_s(plan: &Plan, flow: &FlowPlan) -> f64 {
    match flow.settings.traffic.get().transport() {
        Transport::Udp(_, Pace::PerSecond(datagrams)) => datagrams,
        Transport::Udp(size, Pace::Saturated) if !in_cell(flow.from) => {
            let rate = path_links(plan, flow).next().and_then(|first| first.rate);
            rate.map_or(0.0, |rate| rate.0 as f64 / size.packet().bits() as f64)
        }
        _ => 0.0,
    }
}

/// The number of packets that TCP may send per second over links alone, including acknowledgements.
fn segments_per_s(plan: &Plan, flow: &FlowPlan, tcp: &TcpPlan) -> f64 {
    let mss = tcp.config.mss();
    let slowest = path_links(plan, flow).filter_map(|direction| direction.rate).min();
    let by_rate = slowest.map(|rate| rate.0 as f64 / (mss + tcp.config.header()).bits() as f64);
    let delay_s: f64 = path_links(plan, flow).map(|direction| direction.delay.as_secs_f64()).sum();
    let by_window = tcp.config.window_max().0 as f64 / mss.0 as f64 / delay_s;
    2.0 * f64::min(by_rate.unwrap_or(f64::INFINITY), by_window)
}

/// The link directions on the path of a flow's data.
fn path_links<'a>(plan: &'a Plan, flow: &FlowPlan) -> impl Iterator<Item = &'a LinkSettings> {
    let links = plan.topology.links_on_path(flow.from, flow.to).unwrap_or_default();
    links.into_iter().map(|wire| {
        let (link, direction) = plan.link(wire);
        &link.directions[direction]
    })
}

fn in_cell(end: Endpoint) -> bool {
    matches!(end, Endpoint::Station(_) | Endpoint::Broadcast)
}

/// How often the loss channels of links change state per second, whether or not packets are sent.
fn channel_changes_per_s(plan: &Plan) -> f64 {
    let losses = plan.links.iter().flat_map(|link| &link.directions);
    losses.filter_map(|direction| direction.loss.as_ref()).map(|l| l.get().changes_per_s()).sum()
}

fn passes_unlimited_queue(plan: &Plan, flow: &FlowPlan) -> bool {
    let unlimited = |queue: &QueueSettings| queue.get().limit() == Limit::NONE;
    let linked = path_links(plan, flow).any(|direction| unlimited(&direction.queue));
    let ap = in_cell(flow.to) && unlimited(&plan.ap.queue);
    let station = match flow.from {
        Endpoint::Station(number) => unlimited(&plan.stations[number as usize].queue),
        _ => false,
    };
    linked || ap || station
}
