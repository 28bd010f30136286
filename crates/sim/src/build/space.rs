//! Nodes in space: places, propagation and receivers.

use crate::medium::Bss;
use crate::plan::{Endpoint, ErrorPlan, LossPlan, Plan, SpacePlan, WaypointPlan};
use kernel::{Db, Seed};
use wifi::phy::error::{AwgnTable, ErrorModel, Nist, Threshold, Yans};
use wifi::phy::propagation::{
    Course, Fading, Friis, LogDistance, Position, Propagation, Shadowing, TwoRay,
};
use wifi::space::{Capture, Losses, MeanKnown, Radio, Site, Space, SpaceConfig};
use wifi::{Link, MacConfig};

/// Height of all antennas: that of ns-2's two-ray model.
const HEIGHT_M: f64 = 1.5;

/// The medium of a plan with places.
pub(super) fn space(plan: &Plan, space: &SpacePlan, mac: MacConfig, seed: &Seed) -> Space {
    let config = SpaceConfig {
        mac,
        radio: radio(space, seed),
        nav_reset: space.nav_reset,
        sites: sites(space),
        links: links(plan, space),
    };
    Space::new(config, seed)
}

/// What the air of a plan does, and where its nodes are: all that powers follow from.
pub(crate) fn radio_and_sites(space: &SpacePlan, seed: &Seed) -> (Radio, Vec<Site>) {
    (radio(space, seed), sites(space))
}

/// Access point, stations, further access points.
fn sites(space: &SpacePlan) -> Vec<Site> {
    let place = |[x, y]: [f64; 2]| Position { x, y, z: HEIGHT_M };
    let site = |course: Course, cell: u32, is_access_point| Site {
        course,
        channel: space.cells[cell as usize].channel,
        tx_power: space.tx_power,
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
        let mode = station.up.mode;
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

fn radio(space: &SpacePlan, seed: &Seed) -> Radio {
    let losses = match &space.losses {
        LossPlan::Matrix(rows) => Losses::Matrix(rows.clone()),
        LossPlan::Friis { frequency_hz } => {
            places(Friis { frequency_hz: *frequency_hz }, space, seed)
        }
        &LossPlan::LogDistance { exponent, reference_m, reference_loss } => {
            places(LogDistance { exponent, reference_m, reference_loss }, space, seed)
        }
        LossPlan::TwoRay => places(TwoRay::NS2, space, seed),
    };
    let defaults = Radio::new(losses, error_model(space.errors));
    Radio {
        fading: space.fading.map(|fading| Fading {
            inner: MeanKnown,
            m: fading.m,
            coherence: fading.coherence,
            seed: *seed,
        }),
        noise_figure: space.noise_figure,
        detect: space.detect,
        detect_snr: Some(space.detect_snr),
        sensitivity: space.sensitivity.unwrap_or(defaults.sensitivity),
        energy: space.energy,
        capture: space.capture.map(|(margin, window)| Capture { margin, window }),
        ..defaults
    }
}

pub(super) fn error_model(errors: ErrorPlan) -> Box<dyn ErrorModel> {
    match errors {
        ErrorPlan::Table => Box::new(AwgnTable),
        ErrorPlan::Nist => Box::new(Nist),
        ErrorPlan::Yans => Box::new(Yans),
        ErrorPlan::Threshold(capture) => Box::new(Threshold { capture, ..Threshold::NS2 }),
    }
}

fn places(model: impl Propagation + 'static, space: &SpacePlan, seed: &Seed) -> Losses {
    if space.shadowing == Db(0.0) {
        return Losses::Places(Box::new(model));
    }
    let (deviation, seed) = (space.shadowing, *seed);
    Losses::Places(Box::new(Shadowing { inner: model, deviation, seed }))
}
