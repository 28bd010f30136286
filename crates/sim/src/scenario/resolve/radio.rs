//! Positions and radios.

use super::check::{Check, number};
use super::queues::queue;
use crate::plan::{
    ApPlan, BssPlan, Endpoint, FlowPlan, PlacePlan, RoutingPlan, SpacePlan, StationPlan,
    WaypointPlan, access_point,
};
use crate::scenario::document::{Document, Station, Stations, Waypoint};
use crate::scenario::radio::Radio;
use kernel::{Db, Instant};
use wifi::mac::{Delivery, SlotGrid};
use wifi::phy::propagation;
use wifi::space::{RadioSettings, STRONGEST_SUM};

/// The maximum number of cells.
const MOST_CELLS: usize = 1000;
/// The maximum number of waypoints.
const MOST_WAYPOINTS: usize = 10_000;

/// The space, if the scenario has a radio; otherwise positions are not allowed.
pub(super) fn space(
    document: &Document,
    ap: &ApPlan,
    stations: &[StationPlan],
    check: &mut Check,
) -> Option<SpacePlan> {
    let Some(radio) = document.radio.as_ref().filter(|_| document.has_cell()) else {
        no_radio(document, check);
        return None;
    };
    if document.wlan.mac.timing.slot_grid == SlotGrid::Shared {
        let message = "\"shared\" needs a cell in which all hear all; take \"standard\" or \
                       \"free\", or remove [radio]";
        check.fault("wlan.slot_grid", message);
    }
    if document.wlan.aggregation.rules.delivery == Delivery::Mpdu {
        let message = "\"mpdu\" is not supported together with [radio]; take \"ppdu\"";
        check.fault("wlan.aggregation.delivery", message);
    }
    let cells = cells(document, radio, ap, stations, check);
    let places = places(document, radio, cells.len(), check);
    let nodes = places.len() + cells.len();
    if let Some(rows) = &radio.radio.losses {
        check_matrix(rows, nodes, check);
    }
    check_strength(&radio.radio, &cells, &places, check);
    let (ad_hoc, radio) = (radio.ad_hoc, radio.radio.clone());
    Some(SpacePlan { cells, stations: places, ad_hoc, radio })
}

/// The groups of stations, and the path of each in the scenario.
fn groups(document: &Document) -> Vec<(String, &Station)> {
    match &document.stations {
        Stations::Count(_) => Vec::new(),
        Stations::Equal(station) => vec![("stations".to_owned(), &**station)],
        Stations::Groups(groups) => {
            let path = |index| format!("stations[{index}]");
            groups.iter().enumerate().map(|(index, group)| (path(index), group)).collect()
        }
    }
}

fn no_radio(document: &Document, check: &mut Check) {
    let message = "nodes have places only where there is a radio; add a table [radio], or remove \
                   the key";
    let mut unused = |given: bool, path: String| {
        if given {
            check.fault(path, message);
        }
    };
    unused(!document.cells.is_empty(), "cells".to_owned());
    unused(document.ap.position_m.is_some(), "ap.position_m".to_owned());
    unused(document.ap.channel.is_some(), "ap.channel".to_owned());
    for (path, group) in groups(document) {
        unused(group.position_m.is_some(), format!("{path}.position_m"));
        unused(group.ring_m.is_some(), format!("{path}.ring_m"));
        unused(group.waypoints.is_some(), format!("{path}.waypoints"));
        unused(group.cell.is_some(), format!("{path}.cell"));
    }
    if document.radio.is_some() {
        check.fault("radio", "there is no cell without `standard` and `stations`; remove the key");
    }
}

/// A position; the origin if none is given and the default is allowed.
fn position(path: &str, given: Option<&Vec<f64>>, radio: &Radio, check: &mut Check) -> [f64; 2] {
    let Some(given) = given else { return [0.0, 0.0] };
    if radio.radio.losses.is_some() {
        let message = "radio.losses_db sets the path losses whatever the positions; remove one";
        check.fault(path, message);
    }
    if let [x, y] = given[..] {
        return [x, y];
    }
    let count = given.len();
    check.fault(path, format!("must be two numbers, [east, north]; has {count}"));
    [0.0, 0.0]
}

fn channel(given: Option<u64>) -> u16 {
    given.unwrap_or(1) as u16
}

fn cells(
    document: &Document,
    radio: &Radio,
    ap: &ApPlan,
    stations: &[StationPlan],
    check: &mut Check,
) -> Vec<BssPlan> {
    let first = BssPlan {
        position_m: position("ap.position_m", document.ap.position_m.as_ref(), radio, check),
        channel: channel(document.ap.channel),
        queue: ap.queue.clone(),
        ring: ap.ring,
    };
    if document.cells.len() > MOST_CELLS {
        check
            .fault("cells", format!("{} are too many; at most {MOST_CELLS}", document.cells.len()));
    }
    if radio.ad_hoc && !document.cells.is_empty() {
        check.fault("cells", "an ad-hoc network has no access points; remove the tables [[cells]]");
    }
    let output_link = access_point(stations);
    let mut cells = vec![first];
    for (bss, index) in document.cells.iter().zip(0..).take(MOST_CELLS) {
        let path = |key: &str| format!("cells[{index}].{key}");
        cells.push(BssPlan {
            position_m: position(&path("position_m"), bss.position_m.as_ref(), radio, check),
            channel: channel(bss.channel),
            queue: queue(&path("queue"), &bss.queue, output_link, check),
            ring: bss.ring_packets,
        });
    }
    cells
}

fn places(document: &Document, radio: &Radio, cells: usize, check: &mut Check) -> Vec<PlacePlan> {
    let plain;
    let mut groups = groups(document);
    if let Stations::Count(count) = document.stations {
        plain = Station { count, ..Station::default() };
        groups.push(("stations".to_owned(), &plain));
    }
    let mut places = Vec::new();
    for (path, group) in groups {
        let is_placed = group.position_m.is_some() || group.ring_m.is_some();
        if !is_placed && group.waypoints.is_none() && radio.radio.losses.is_none() {
            let message = "missing; with [radio] a station has a place, as [10.0, 0.0], or a \
                           ring_m around its access point, or waypoints, or there is \
                           radio.losses_db";
            check.fault(format!("{path}.position_m"), message);
        }
        let highest = cells as u64 - 1;
        let cell = check.whole(format!("{path}.cell"), group.cell.unwrap_or(0), 0, highest) as u32;
        let room = super::cell::MOST_STATIONS.saturating_sub(places.len() as u64);
        let count = group.count.min(room);
        if let Some(written) = &group.waypoints {
            let waypoints = course(&path, group, written, radio, check);
            places.extend((0..count).map(|_| PlacePlan { cell, waypoints: waypoints.clone() }));
            continue;
        }
        let [x, y] = centre(document, &path, group, cell, radio, check);
        let ring = group.ring_m.unwrap_or(0.0);
        for i in 0..count {
            // Evenly on the ring; the first station is in the east.
            let turn = std::f64::consts::TAU * i as f64 / group.count as f64;
            let position_m = [x + ring * libm::cos(turn), y + ring * libm::sin(turn)];
            let waypoints = vec![WaypointPlan { at: Instant::ZERO, position_m }];
            places.push(PlacePlan { cell, waypoints });
        }
    }
    places
}

/// The position of stations, or the centre of their ring.
fn centre(
    document: &Document,
    path: &str,
    group: &Station,
    cell: u32,
    radio: &Radio,
    check: &mut Check,
) -> [f64; 2] {
    if group.position_m.is_some() {
        let key = format!("{path}.position_m");
        return position(&key, group.position_m.as_ref(), radio, check);
    }
    let own = [&document.ap.position_m].into_iter();
    let further = document.cells.iter().map(|bss| &bss.position_m);
    let centre = own.chain(further).nth(cell as usize).and_then(Option::as_ref);
    centre.and_then(|at| <[f64; 2]>::try_from(&at[..]).ok()).unwrap_or([0.0; 2])
}

/// The waypoints of mobile stations.
fn course(
    path: &str,
    group: &Station,
    written: &[Waypoint],
    radio: &Radio,
    check: &mut Check,
) -> Vec<WaypointPlan> {
    for (given, key) in
        [(group.position_m.is_some(), "position_m"), (group.ring_m.is_some(), "ring_m")]
    {
        if given {
            let message = "the waypoints say where they are; remove one of the two keys";
            check.fault(format!("{path}.{key}"), message);
        }
    }
    let path = format!("{path}.waypoints");
    if written.is_empty() {
        let message = "there are none; one reads { at_s = 20.0, position_m = [10.0, 0.0] }";
        check.fault(&path, message);
    } else if written.len() > MOST_WAYPOINTS {
        let message = format!("{} are too many; at most {MOST_WAYPOINTS}", written.len());
        check.fault(&path, message);
    }
    let mut waypoints: Vec<WaypointPlan> = Vec::new();
    for (point, index) in written.iter().zip(0..).take(MOST_WAYPOINTS) {
        if let Some(before) = waypoints.last().filter(|before| point.at <= before.at) {
            let [is, before] = [point.at, before.at].map(|at| number(at.as_secs_f64()));
            let message = format!("{is} is not after the previous waypoint, {before}");
            check.fault(format!("{path}[{index}].at_s"), message);
        }
        let key = format!("{path}[{index}].position_m");
        let position_m = position(&key, Some(&point.position_m), radio, check);
        waypoints.push(WaypointPlan { at: point.at, position_m });
    }
    waypoints
}

fn check_matrix(rows: &[Vec<Db>], nodes: usize, check: &mut Check) {
    let path = "radio.losses_db";
    if rows.len() != nodes {
        let given = rows.len();
        check.fault(
            path,
            format!(
                "has {given} rows; there are {nodes} nodes: ap, stations, further access points"
            ),
        );
    }
    for (row, index) in rows.iter().zip(0..).filter(|(row, _)| row.len() != nodes) {
        let given = row.len();
        check.fault(format!("{path}[{index}]"), format!("has {given} numbers, not {nodes}"));
    }
}

/// A receiver adds up powers exactly up to a limit: all signals together must stay below it.
fn check_strength(
    radio: &RadioSettings,
    cells: &[BssPlan],
    places: &[PlacePlan],
    check: &mut Check,
) {
    let nodes = cells.len() + places.len();
    let exceeds = |loss: Db| radio.strongest_sum(radio.tx_power, loss, nodes) > STRONGEST_SUM;
    let (path, loss) = if let Some(rows) = &radio.losses {
        let others = |(from, row): (usize, &Vec<Db>)| -> Vec<f64> {
            let others = row.iter().enumerate().filter(|&(to, _)| to != from);
            others.map(|(_, loss)| loss.0).collect()
        };
        let least = rows.iter().enumerate().flat_map(others).fold(f64::INFINITY, f64::min);
        ("radio.losses_db", Db(least))
    } else {
        let loss = |distance| {
            let path = propagation::Path { distance, ends: (0, 1), now: Instant::ZERO };
            radio.propagation.get().loss(&path)
        };
        // Loss does not decrease with distance: the nearest pair is looked for only if need be.
        let near = loss(0.0);
        let near = if exceeds(near) { loss(least_distance(cells, places)) } else { near };
        ("radio.tx_power_dbm", near)
    };
    if exceeds(loss) {
        let message = format!(
            "{} dBm over a loss of {} dB: the signals of {nodes} nodes may add up to more than {} \
             dBm at a receiver; take less power or more loss",
            number(radio.tx_power.0),
            number((loss.0 * 10.0).round() / 10.0),
            number(STRONGEST_SUM.0)
        );
        check.fault(path, message);
    }
}

/// The least distance of two nodes in metres; 0 if some move or if there are very many.
fn least_distance(cells: &[BssPlan], places: &[PlacePlan]) -> f64 {
    const MANY: usize = 3000;
    let is_fixed = places.iter().all(|place| place.waypoints.len() == 1);
    if !is_fixed || places.len() > MANY {
        return 0.0;
    }
    let stations = places.iter().map(|place| place.waypoints[0].position_m);
    let all: Vec<[f64; 2]> = cells.iter().map(|cell| cell.position_m).chain(stations).collect();
    let mut least = f64::INFINITY;
    for (index, [x, y]) in all.iter().enumerate() {
        for [there_x, there_y] in &all[..index] {
            least = least.min(libm::hypot(x - there_x, y - there_y));
        }
    }
    least
}

/// In an ad-hoc network without a gateway flows are between stations.
pub(super) fn flows(
    (space, routing): (Option<&SpacePlan>, Option<&RoutingPlan>),
    flows: &[FlowPlan],
    check: &mut Check,
) {
    if !space.is_some_and(|space| space.ad_hoc) || routing.is_some_and(|routing| routing.gateway) {
        return;
    }
    let is_station = |end| matches!(end, Endpoint::Station(_));
    let mut last = None;
    for flow in flows.iter().filter(|flow| !(is_station(flow.from) && is_station(flow.to))) {
        if last.replace(flow.group) != Some(flow.group) {
            let message = "with radio.ad_hoc there are stations only: a flow goes from one to \
                           another, as from = \"sta0\", to = \"sta1\", unless routing.gateway \
                           is set";
            check.fault(format!("flows[{}]", flow.group), message);
        }
    }
}
