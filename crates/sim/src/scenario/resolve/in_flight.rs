//! The packets in flight on links, each of which needs memory: rate times propagation delay.

use super::check::{Check, number};
use super::work::MOST_WAITING;
use crate::plan::{FlowPlan, Plan, RatePlan};
use crate::topology::{Hop, WireId};
use crate::traffic::{Pace, Transport};
use kernel::{BitRate, Bytes, Duration, IdVec};
use settings::Said;

/// Traffic that enters a path.
#[derive(Clone, Copy)]
struct Stream {
    packet: Bytes,
    /// Packets per second.
    per_s: f64,
    /// The most packets on the way.
    window: f64,
}

/// The way of a stream.
#[derive(Clone, Copy)]
struct Way<'a> {
    plan: &'a Plan,
    /// The rate of the fastest mode of any station.
    on_air: Option<BitRate>,
    path: &'a [Hop],
}

/// An upper bound of the packets in flight on a link direction.
#[derive(Clone, Copy, Default)]
struct Flight {
    /// Of all flows, as if each had the link alone.
    packets: f64,
    /// The length of the shortest packets.
    shortest: Option<Bytes>,
}

type Flights = IdVec<WireId, Flight>;

/// Checks that the packets in flight on each link find room in memory.
pub(super) fn is_bounded(plan: &Plan, check: &mut Check) {
    let mut flights: Flights = IdVec::filled(plan.topology.wires().len(), Flight::default());
    let on_air = fastest_on_air(plan);
    for flow in &plan.flows {
        let (data, back) = streams(flow);
        let mut left = data.window;
        for (stream, from, to) in [(data, flow.from, flow.to), (back, flow.to, flow.from)] {
            let path = plan.topology.path(from, to).unwrap_or_default();
            let stream = Stream { window: left, ..stream };
            left = add(Way { plan, on_air, path: &path }, stream, &mut flights);
        }
    }
    for (wire, flight) in flights.entries() {
        let (link, direction) = plan.link(wire);
        let settings = &link.directions[direction];
        let by_rate = match (settings.rate, flight.shortest) {
            (Some(rate), Some(shortest)) => {
                per_second(rate, shortest) * within(plan, settings.delay).as_secs_f64()
            }
            _ => f64::INFINITY,
        };
        let packets = flight.packets.min(by_rate);
        if packets > MOST_WAITING {
            let message = Said::new(
                format!(
                    "up to {} packets could be in flight on {}, whose delay is {} ms, and memory \
                     is kept for 10000000",
                    number(packets.round()),
                    link.name,
                    number(settings.delay.as_secs_f64() * 1e3)
                ),
                "lower its rate or its delay",
            );
            check.fault(format!("{}.delay_ms", link.path(direction)), message);
        }
    }
}

/// The packets of a flow, and what its destination sends back.
fn streams(flow: &FlowPlan) -> (Stream, Stream) {
    if let Some(tcp) = &flow.tcp {
        let (mss, header) = (tcp.config.mss(), tcp.config.header());
        let window = tcp.config.window_max().0 as f64 / mss.0 as f64;
        let stream = |packet| Stream { packet, per_s: f64::INFINITY, window };
        return (stream(mss + header), stream(header));
    }
    let of = |packet, per_s| Stream { packet, per_s, window: f64::INFINITY };
    let traffic = flow.settings.traffic.get();
    let (packet, per_s) = match traffic.transport() {
        Transport::Udp(size, Pace::PerSecond(per_s)) => (size.packet(), per_s),
        // The first link of its path limits a saturated source.
        Transport::Udp(size, Pace::Saturated) => (size.packet(), f64::INFINITY),
        Transport::Tcp => unreachable!("the plan has TCP for it"),
    };
    let back = match (traffic.echo(), traffic.feedback()) {
        (Some(_), _) => per_s,
        (None, Some(interval)) => 1.0 / interval.as_secs_f64(),
        (None, None) => 0.0,
    };
    (of(packet, per_s), of(packet, back))
}

/// Adds a stream to all links of its path. Returns how much of its window is left.
fn add(way: Way<'_>, stream: Stream, flights: &mut Flights) -> f64 {
    let Way { plan, on_air, path } = way;
    let (mut per_s, mut left) = (stream.per_s, stream.window);
    for hop in path {
        let &Hop::Wire(wire) = hop else {
            if matches!(hop, Hop::Air { .. }) {
                let most = on_air.map_or(f64::INFINITY, |rate| per_second(rate, stream.packet));
                per_s = per_s.min(most);
            }
            continue;
        };
        let (link, direction) = plan.link(wire);
        let settings = &link.directions[direction];
        if let Some(rate) = settings.rate {
            per_s = per_s.min(per_second(rate, stream.packet + settings.overhead));
        }
        let delay_s = within(plan, settings.delay).as_secs_f64();
        let packets = if delay_s > 0.0 { (per_s * delay_s).min(left) } else { 0.0 };
        left -= packets;
        let flight = &mut flights[wire];
        flight.packets += packets;
        let packet = stream.packet + settings.overhead;
        flight.shortest = Some(flight.shortest.map_or(packet, |other| other.min(packet)));
    }
    left
}

/// A delay, but no longer than the run.
fn within(plan: &Plan, delay: Duration) -> Duration {
    delay.min(plan.duration)
}

fn per_second(rate: BitRate, packet: Bytes) -> f64 {
    rate.0 as f64 / packet.bits() as f64
}

/// The rate of the fastest mode of any station.
fn fastest_on_air(plan: &Plan) -> Option<BitRate> {
    let plans = plan.stations.iter().flat_map(|station| [&station.up, &station.down]);
    plans.flat_map(RatePlan::modes).map(|mode| mode.rate).max()
}
