//! Builds the nodes in space: positions, propagation and receivers.

use crate::distance;
use crate::mobility::TimedPosition;
use crate::mobility::movement::Source;
use crate::plan::{Endpoint, MovementPlan, Plan, SpacePlan};
use crate::topology::Radio;
use kernel::{Instant, Seed};
use wifi::phy::propagation::{ANTENNA_HEIGHT_M, Position, Trajectory};
use wifi::space::{self, Losses, PropagationDelay, Site, Space, SpaceConfig};
use wifi::{Link, MacConfig};

/// The medium of a plan with positions.
pub(super) fn space(plan: &Plan, space: &SpacePlan, seed: &Seed) -> Space {
    let (radio, sites) = radio_and_sites(plan, space, seed);
    let config = SpaceConfig {
        mac: mac(plan, space),
        radio,
        nav_reset: space.radio.nav_reset,
        sites,
        links: links(plan, space),
    };
    Space::new(config, seed)
}

/// The rules of medium access, with the BSS colors of the nodes.
pub(crate) fn mac(plan: &Plan, space: &SpacePlan) -> MacConfig {
    let mut mac = plan.wlan.clone();
    if let Some(reuse) = &mut mac.spatial_reuse {
        let color = |radio: &Radio| space.cells[radio.cell as usize].color;
        reuse.colors = plan.topology.radios().iter().map(color).collect();
    }
    mac
}

/// The propagation and the node positions of a plan, which determine all powers.
pub(crate) fn radio_and_sites(
    plan: &Plan,
    space: &SpacePlan,
    seed: &Seed,
) -> (space::Radio, Vec<Site>) {
    let (mut radio, sites) = (space.radio.radio(seed), sites(plan, space, seed));
    radio.has_delays = match space.radio.propagation_delay {
        PropagationDelay::Off => false,
        PropagationDelay::On => matches!(radio.losses, Losses::Places(_)),
        PropagationDelay::Auto => distance::takes_time(plan, space, &radio, &sites),
    };
    (radio, sites)
}

/// The positions of all radios, in the order of the radios.
fn sites(plan: &Plan, space: &SpacePlan, seed: &Seed) -> Vec<Site> {
    let place = |[x, y]: [f64; 2]| Position { x, y, z: ANTENNA_HEIGHT_M };
    let through = |waypoints: &[TimedPosition]| {
        let waypoints = waypoints.iter().map(|point| (point.at, place(point.position_m)));
        Trajectory::through(waypoints.collect())
    };
    // Each station draws by its own number, so that a further station changes no other movement.
    let trajectory = |station: u32| match &space.stations[station as usize].movement {
        MovementPlan::Waypoints(waypoints) => through(waypoints),
        MovementPlan::Anywhere(area) => {
            place(area.uniform(&mut seed.stream("placement", station))).into()
        }
        MovementPlan::Random(movement) => match movement.get().source() {
            Source::Random(random) => {
                let until = Instant::ZERO + plan.duration;
                through(&random.waypoints(until, &mut seed.stream("movement", station)))
            }
            Source::File(_) => unreachable!("the waypoints of files are in the plan"),
        },
    };
    let site = |radio: &Radio| {
        let cell = &space.cells[radio.cell as usize];
        let (trajectory, tx_power, is_access_point) = match plan.topology.node(radio.node).end {
            Endpoint::Station(n) => (trajectory(n), space.stations[n as usize].tx_power, false),
            _ => (place(cell.position_m).into(), cell.tx_power, !space.ad_hoc),
        };
        Site { trajectory, channel: cell.channel, tx_power, is_access_point }
    };
    plan.topology.radios().iter().map(site).collect()
}

/// The links: between stations and their access points, with the mode of the latter's frames; in an
/// ad-hoc network, between stations that a flow connects. If nodes forward, links are added during
/// the run.
fn links(plan: &Plan, space: &SpacePlan) -> Vec<(u32, u32, Link)> {
    if plan.routing.is_some() {
        return Vec::new();
    }
    let link = |station: usize| {
        let station = &plan.stations[station];
        let mode = if space.ad_hoc { station.up.mode() } else { station.down.mode() };
        Link { mode, data_loss: station.data_loss, ack_loss: station.ack_loss }
    };
    let radio = |station: usize| plan.topology.station(station);
    if !space.ad_hoc {
        let station = |station: usize| {
            let radio = radio(station);
            (radio.0, plan.topology.access_point_of(radio).0, link(station))
        };
        return (0..plan.stations.len()).map(station).collect();
    }
    let mut pairs: Vec<(u32, u32)> = plan
        .flows
        .iter()
        .filter_map(|flow| match (flow.from, flow.to) {
            (Endpoint::Station(a), Endpoint::Station(b)) => Some((a.min(b), a.max(b))),
            _ => None,
        })
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let ends = |(a, b): (u32, u32)| (radio(a as usize).0, radio(b as usize).0, link(a as usize));
    pairs.into_iter().map(ends).collect()
}
