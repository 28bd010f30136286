//! What the results of a plan are not right about, because it is not modelled.

use crate::build;
use crate::plan::{Endpoint, Plan, SpacePlan};
use crate::topology::RadioId;
use kernel::{Instant, Seed};
use wifi::phy::propagation::Path;
use wifi::space::{Losses, Site};

/// The distance in metres whose propagation delay the slot time without a coverage class has room
/// for: 1 us (802.11-2020 table 9-95).
const NEAR_M: f64 = 300.0;
/// What a coverage class adds to the time for a signal to a station and back, in microseconds.
const CLASS_US: f64 = 3.0;
/// The speed of light in metres per microsecond.
const LIGHT_M_PER_US: f64 = 299.792_458;
/// In networks of more nodes without an access point, not all pairs are looked at.
const MANY: usize = 300;

/// What the results of a plan are not right about, in one sentence each; nothing if it is all
/// modelled.
pub fn caveats(plan: &Plan, seed: &Seed) -> Vec<String> {
    plan.space.iter().filter_map(|space| distance(plan, space, seed)).collect()
}

/// Nodes that exchange frames over a distance for which the slot has no room.
fn distance(plan: &Plan, space: &SpacePlan, seed: &Seed) -> Option<String> {
    let (radio, sites) = build::radio_and_sites(plan, space, seed);
    let Losses::Places(model) = &radio.losses else { return None };
    let receiver = &radio.receiver;
    let is_received = |distance, ends, now| {
        let level = space.radio.tx_power - model.loss(&Path { distance, ends, now });
        level >= receiver.detect && level >= receiver.sensitivity()
    };
    if model.goes_by_distance() && !is_received(NEAR_M, (0, 1), Instant::ZERO) {
        return None;
    }
    let mut farthest: Option<(f64, u32, u32)> = None;
    for (a, b) in pairs(plan, space) {
        let (one, other) = (&sites[a as usize], &sites[b as usize]);
        for now in instants(plan, space, [one, other]) {
            let distance = one.trajectory.at(now).distance(other.trajectory.at(now));
            if distance <= farthest.map_or(NEAR_M, |(farthest, ..)| farthest) {
                continue;
            }
            if is_received(distance, (a.min(b), a.max(b)), now) {
                farthest = Some((distance, a, b));
            }
        }
    }
    let (distance, a, b) = farthest?;
    let [a, b] = [a, b].map(|radio| plan.topology.radio_name(RadioId(radio)));
    let delay_us = distance / LIGHT_M_PER_US;
    let class = (2.0 * delay_us / CLASS_US).ceil();
    let needs = if f64::from(plan.wlan.timing.coverage_class) < class {
        format!(", and no response would come in time without wlan.coverage_class = {class}")
    } else {
        String::new()
    };
    Some(format!(
        "{a} and {b} are up to {distance:.0} m apart; signals take {delay_us:.1} us over this \
         distance, which is not modelled: results are right up to {NEAR_M} m{needs}"
    ))
}

/// Pairs of radios that may exchange frames.
fn pairs(plan: &Plan, space: &SpacePlan) -> Vec<(u32, u32)> {
    let topology = &plan.topology;
    let stations = (0..plan.stations.len()).map(|station| topology.station(station));
    if !space.ad_hoc {
        let to = |station| match plan.stations[station_number(plan, station)].roaming {
            Some(_) => topology.access_points().to_vec(),
            None => vec![topology.access_point_of(station)],
        };
        let pairs =
            stations.flat_map(|station| to(station).into_iter().map(move |to| (station, to)));
        return pairs.map(|(a, b)| (a.0, b.0)).collect();
    }
    let nodes: Vec<u32> = stations.take(MANY).map(|radio| radio.0).collect();
    let with_others = |(place, &node)| nodes[..place].iter().map(move |&other| (other, node));
    nodes.iter().enumerate().flat_map(with_others).collect()
}

/// The instants between which two nodes move in straight lines, so that they are farthest from each
/// other at one of them; where nodes move without an access point, three of the run.
fn instants(plan: &Plan, space: &SpacePlan, sites: [&Site; 2]) -> Vec<Instant> {
    let end = Instant::ZERO + plan.duration;
    if space.ad_hoc {
        return vec![Instant::ZERO, Instant(end.0 / 2), end];
    }
    let mut all = vec![end];
    for site in sites {
        let mut now = Instant::ZERO;
        while now < end {
            all.push(now);
            now = site.trajectory.leg(now).during.end;
        }
    }
    all
}

/// The number of the station with a radio.
fn station_number(plan: &Plan, radio: RadioId) -> usize {
    match plan.topology.node(plan.topology.radio(radio).node).end {
        Endpoint::Station(number) => number as usize,
        _ => unreachable!("it is a station's radio"),
    }
}
