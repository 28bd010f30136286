//! Nodes in space: places, propagation and receivers.

use crate::medium::Bss;
use crate::plan::{Endpoint, Plan, SpacePlan, WaypointPlan};
use kernel::Seed;
use wifi::Link;
use wifi::phy::propagation::{ANTENNA_HEIGHT_M, Course, Position};
use wifi::space::{Radio, Site, Space, SpaceConfig};

/// The medium of a plan with places.
pub(super) fn space(plan: &Plan, space: &SpacePlan, seed: &Seed) -> Space {
    let config = SpaceConfig {
        mac: plan.wlan.clone(),
        radio: space.radio.radio(seed),
        nav_reset: space.radio.nav_reset,
        sites: sites(space),
        links: links(plan, space),
    };
    Space::new(config, seed)
}

/// What the air of a plan does, and where its nodes are: all that powers follow from.
pub(crate) fn radio_and_sites(space: &SpacePlan, seed: &Seed) -> (Radio, Vec<Site>) {
    (space.radio.radio(seed), sites(space))
}

/// Access point, stations, further access points.
fn sites(space: &SpacePlan) -> Vec<Site> {
    let place = |[x, y]: [f64; 2]| Position { x, y, z: ANTENNA_HEIGHT_M };
    let site = |course: Course, cell: u32, is_access_point| Site {
        course,
        channel: space.cells[cell as usize].channel,
        tx_power: space.radio.tx_power,
        is_access_point,
    };
    let mut access_points = space
        .cells
        .iter()
        .zip(0..)
        .map(|(bss, cell)| site(place(bss.position_m).into(), cell, true));
    let first = access_points.next();
    let course = |waypoints: &[WaypointPlan]| {
        let waypoints = waypoints.iter().map(|point| (point.at, place(point.position_m)));
        Course::through(waypoints.collect())
    };
    let stations =
        space.stations.iter().map(|plan| site(course(&plan.waypoints), plan.cell, false));
    first.into_iter().chain(stations).chain(access_points).collect()
}

/// Between stations and their access points; ad hoc, between stations that a flow joins.
fn links(plan: &Plan, space: &SpacePlan) -> Vec<(u32, u32, Link)> {
    let link = |station: usize| {
        let station = &plan.stations[station];
        let mode = station.up.mode();
        Link { mode, data_loss: station.data_loss, ack_loss: station.ack_loss }
    };
    if !space.ad_hoc {
        let bss = Bss::new(plan);
        let station = |i: usize| (i as u32 + 1, bss.access_point_of(i as u32 + 1), link(i));
        return (0..plan.stations.len()).map(station).collect();
    }
    let mut pairs: Vec<(u32, u32)> = plan
        .flows
        .iter()
        .filter_map(|flow| match (flow.from, flow.to) {
            (Endpoint::Station(a), Endpoint::Station(b)) => Some((a.min(b) + 1, a.max(b) + 1)),
            _ => None,
        })
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().map(|(a, b)| (a, b, link(a as usize - 1))).collect()
}
