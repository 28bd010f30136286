//! What stations that roam need.

use super::check::{Check, beside, when};
use crate::plan::{MovementPlan, SpacePlan, StationPlan};
use crate::scenario::document::Document;
use settings::Said;
use wifi::MacConfig;
use wire::Beacon;

/// The rules of stations that roam.
pub(super) fn roaming(
    document: &Document,
    wlan: &MacConfig,
    stations: &[StationPlan],
    space: Option<&SpacePlan>,
    check: &mut Check,
) {
    if document.standard.is_none() {
        return;
    }
    let saves_power = document.groups().iter().any(|(_, group)| group.power_save.is_some());
    let mut first = 0;
    for (group, station) in document.groups() {
        let own = first..first + station.count as usize;
        first = own.end;
        if station.roaming.is_none() {
            continue;
        }
        let has_waypoints = station.waypoints.is_some() || station.movement.is_some();
        let moves = has_waypoints && own.clone().all(|number| moves(space, number));
        let path = format!("{group}.roaming");
        if document.radio.as_ref().is_some_and(|radio| radio.ad_hoc) {
            check.fault(path, Said::remove("an ad-hoc network has no access points"));
            continue;
        }
        let faults = [
            when(
                !moves,
                "the station does not move",
                "give it waypoints or a movement, or remove the key",
            ),
            beside(saves_power, "stations.power_save"),
        ];
        check.refuse(path, unsupported(document, wlan).into_iter().chain(faults));
    }
    let count = stations.iter().filter(|station| station.roaming.is_some()).count();
    let path = document.groups().into_iter().rfind(|(_, group)| group.roaming.is_some());
    if let Some((path, _)) = path.filter(|_| count > Beacon::STATIONS as usize) {
        let message =
            Said::new(format!("{count} stations roam"), format!("at most {}", Beacon::STATIONS));
        check.fault(format!("{path}.roaming"), message);
    }
}

/// What no station can roam with, or without.
fn unsupported(document: &Document, wlan: &MacConfig) -> [Option<Said>; 5] {
    [
        when(
            document.radio.is_none(),
            "needs signals that change with distance",
            "add a table [radio]",
        ),
        when(
            document.cells.is_empty(),
            "there is one access point",
            "add others by tables [[cells]], or remove the key",
        ),
        when(
            wlan.beacons.is_none(),
            "needs beacons, whose signal a station measures",
            "add wlan.beacons = {}",
        ),
        beside(wlan.full_duplex.is_some(), "wlan.full_duplex"),
        beside(document.measure.hops, "measure.hops, which needs fixed paths"),
    ]
}

/// Whether a station moves, as far as it is known before the run.
fn moves(space: Option<&SpacePlan>, number: usize) -> bool {
    let place = space.and_then(|space| space.stations.get(number));
    place.is_none_or(|place| match &place.movement {
        MovementPlan::Waypoints(points) => {
            points.windows(2).any(|pair| pair[0].position_m != pair[1].position_m)
        }
        MovementPlan::Random(_) => true,
        MovementPlan::Anywhere(_) => false,
    })
}
