//! How far nodes are apart that exchange frames, and whether signals take time between them.

use crate::plan::{Endpoint, Plan, SpacePlan};
use crate::topology::RadioId;
use kernel::{Dbm, Duration, Instant};
use wifi::phy::propagation::{Path, delay};
use wifi::space::{Losses, Radio, Site};

/// The distance in metres whose propagation delay the slot time without a coverage class has room
/// for: 1 us (802.11-2020 table 9-95).
pub(crate) const NEAR_M: f64 = 300.0;
/// In networks of more nodes without an access point, not all pairs are looked at.
const MANY: usize = 300;

/// Two nodes that exchange frames, and the longest distance between them in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Farthest {
    pub(crate) distance: f64,
    pub(crate) ends: (u32, u32),
}

impl Farthest {
    /// Whether a medium on which signals take time is right for them: a frame arrives before its
    /// transmitter has ceased to wait for the response, and before it may send another.
    pub(crate) fn is_modelled(&self, plan: &Plan) -> bool {
        delay(self.distance) < longest_delay(plan) && plan.wlan.full_duplex.is_none()
    }
}

/// The delay beyond which a transmitter may end its exchange before its frame has arrived.
fn longest_delay(plan: &Plan) -> Duration {
    let timing = &plan.wlan.timing;
    let timeouts = timing.standard.modes.iter().map(|mode| timing.response_timeout(mode));
    timeouts.min().unwrap_or_default().min(timing.difs())
}

/// Whether signals take time between nodes that exchange frames, which the slot time without a
/// coverage class has no room for, and the medium can tell.
pub(crate) fn takes_time(plan: &Plan, space: &SpacePlan, radio: &Radio, sites: &[Site]) -> bool {
    farthest(plan, space, radio, sites).is_some_and(|farthest| farthest.is_modelled(plan))
}

/// The nodes that exchange frames over the longest distance, if it is more than [`NEAR_M`].
pub(crate) fn farthest(
    plan: &Plan,
    space: &SpacePlan,
    radio: &Radio,
    sites: &[Site],
) -> Option<Farthest> {
    let Losses::Places(model) = &radio.losses else { return None };
    let receiver = &radio.receiver;
    let is_received = |tx_power: Dbm, distance, ends, now| {
        let level = tx_power - model.loss(&Path { distance, ends, now });
        level >= receiver.detect && level >= receiver.sensitivity()
    };
    let highest = strongest(sites.iter());
    if model.goes_by_distance() && !is_received(highest, NEAR_M, (0, 1), Instant::ZERO) {
        return None;
    }
    let mut farthest: Option<Farthest> = None;
    for (a, b) in pairs(plan, space) {
        let (one, other) = (&sites[a as usize], &sites[b as usize]);
        for now in instants(plan, space, [one, other]) {
            let distance = one.trajectory.at(now).distance(other.trajectory.at(now));
            if distance <= farthest.map_or(NEAR_M, |farthest| farthest.distance) {
                continue;
            }
            if is_received(strongest([one, other].into_iter()), distance, (a.min(b), a.max(b)), now)
            {
                farthest = Some(Farthest { distance, ends: (a, b) });
            }
        }
    }
    farthest
}

/// The highest transmit power of these nodes.
fn strongest<'a>(sites: impl Iterator<Item = &'a Site>) -> Dbm {
    Dbm(sites.map(|site| site.tx_power.0).fold(f64::NEG_INFINITY, f64::max))
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
