//! Positions and radios.

use super::channels;
use super::check::{Check, number};
use super::positions::{places, position};
use super::queues::queue;
use super::spatial_reuse::color;
use crate::plan::{
    ApPlan, BssPlan, Endpoint, FlowPlan, MovementPlan, PlacePlan, RoutingPlan, SpacePlan,
    StationPlan, access_point, highest_power,
};
use crate::scenario::document::Document;
use crate::scenario::radio::{AccessPoint, Radio};
use kernel::{Db, Dbm, Instant};
use settings::{Said, said};
use wifi::MacConfig;
use wifi::mac::{Collisions, Delivery, Eifs, SlotGrid};
use wifi::phy::{Milliwatts, propagation};
use wifi::space::{PropagationDelay, RadioSettings, STRONGEST_SUM};

/// The maximum number of cells.
const MOST_CELLS: usize = 1000;

/// The space, if the scenario has a radio, or what a cell does not have; without a radio, positions
/// are not allowed.
pub(super) fn space(
    document: &Document,
    wlan: &MacConfig,
    ap: &ApPlan,
    stations: &[StationPlan],
    duration_s: f64,
    check: &mut Check,
) -> Option<SpacePlan> {
    let Some(radio) = document.radio.as_ref().filter(|_| document.has_cell()) else {
        no_radio(document, check);
        return flat(document, wlan, ap, stations, check);
    };
    of_a_cell_only(document, "[radio]", check);
    let cells = cells(document, radio, wlan, ap, stations, check);
    let places = places(document, radio, cells.len(), duration_s, check);
    let nodes = places.len() + cells.len();
    if let Some(rows) = &radio.radio.losses {
        check_matrix(rows, nodes, check);
    }
    if radio.radio.propagation_delay == PropagationDelay::On {
        check_delay(document, radio, check);
    }
    // The stations of a group with waypoints are at one place.
    let alone = document.groups().iter().all(|(_, group)| group.waypoints.is_none());
    check_strength(&radio.radio, &cells, &places, alone, check);
    let (ad_hoc, radio) = (radio.ad_hoc, radio.radio.clone());
    Some(SpacePlan { is_flat: false, cells, stations: places, ad_hoc, radio })
}

/// A space in which every node hears every other, if there is something that a cell does not have.
fn flat(
    document: &Document,
    wlan: &MacConfig,
    ap: &ApPlan,
    stations: &[StationPlan],
    check: &mut Check,
) -> Option<SpacePlan> {
    if document.interferers.is_empty() || !document.has_cell() {
        if document.wlan.mac.timing.eifs == Eifs::Ns2 {
            let message = said!(
                "\"ns2\" needs nodes with receivers of their own",
                "take \"standard\", or add a table [radio]"
            );
            check.fault("wlan.eifs", message);
        }
        return None;
    }
    of_a_cell_only(document, "[[interferers]]", check);
    let radio = RadioSettings::flat();
    let access_point = BssPlan {
        position_m: [0.0, 0.0],
        channel: channels::number(None, wlan),
        color: color(None, 0),
        tx_power: radio.tx_power,
        queue: ap.queue.clone(),
        device: ap.device,
    };
    let place =
        PlacePlan { cell: 0, tx_power: radio.tx_power, movement: MovementPlan::at([0.0, 0.0]) };
    Some(SpacePlan {
        is_flat: true,
        cells: vec![access_point],
        stations: vec![place; stations.len()],
        ad_hoc: false,
        radio,
    })
}

/// What only a cell has cannot be together with this table.
fn of_a_cell_only(document: &Document, table: &str, check: &mut Check) {
    let grid = document.wlan.mac.timing.slot_grid;
    if grid.is_shared() {
        let name = if grid == SlotGrid::Difs { "difs" } else { "shared" };
        let message = said!(
            "\"{name}\" is not supported together with {table}",
            "take \"standard\" or \"free\", or remove {table}"
        );
        check.fault("wlan.slot_grid", message);
    }
    if document.wlan.aggregation.rules.delivery == Delivery::Mpdu {
        let message = said!("\"mpdu\" is not supported together with {table}", "take \"ppdu\"");
        check.fault("wlan.aggregation.delivery", message);
    }
    if document.wlan.mac.collisions != Collisions::Standard {
        let message = said!("\"none\" is not supported together with {table}", "remove one");
        check.fault("wlan.collisions", message);
    }
}

/// Signals are to take time to arrive.
fn check_delay(document: &Document, radio: &Radio, check: &mut Check) {
    let path = "radio.propagation_delay";
    if radio.radio.losses.is_some() {
        let message =
            said!("\"on\" needs distances, which radio.losses_db does not give", "remove one");
        check.fault(path, message);
    }
    if document.wlan.mac.full_duplex.is_some() {
        let message =
            said!("\"on\" is not supported together with [wlan.full_duplex]", "remove one");
        check.fault(path, message);
    }
}

fn no_radio(document: &Document, check: &mut Check) {
    let mut unused = |given: bool, path: String| {
        if given {
            let only = "nodes have places only where there is a radio";
            check.fault(path, Said::new(only, "add a table [radio], or remove the key"));
        }
    };
    unused(!document.cells.is_empty(), "cells".to_owned());
    unused(document.ap.access_point.position_m.is_some(), "ap.position_m".to_owned());
    unused(document.ap.access_point.channel.is_some(), "ap.channel".to_owned());
    for (path, group) in document.groups() {
        unused(group.position_m.is_some(), format!("{path}.position_m"));
        unused(group.ring_m.is_some(), format!("{path}.ring_m"));
        unused(group.waypoints.is_some(), format!("{path}.waypoints"));
        unused(group.placement.is_some(), format!("{path}.placement"));
        unused(group.movement.is_some(), format!("{path}.movement"));
        unused(group.cell.is_some(), format!("{path}.cell"));
    }
    no_powers(document, check);
    if document.radio.is_some() {
        check.fault("radio", Said::remove("there is no cell without `standard` and `stations`"));
    }
}

/// Nodes have powers of their own only with a radio.
fn no_powers(document: &Document, check: &mut Check) {
    let stations = document.groups().into_iter().map(|(path, group)| (path, group.tx_power));
    let all = std::iter::once(("ap".to_owned(), document.ap.access_point.tx_power)).chain(stations);
    for (path, _) in all.filter(|(_, power)| power.is_some()) {
        let only = "frames have powers only where there is a radio";
        let message = Said::new(only, "add a table [radio], or remove the key");
        check.fault(format!("{path}.tx_power_dbm"), message);
    }
}

fn cells(
    document: &Document,
    radio: &Radio,
    wlan: &MacConfig,
    ap: &ApPlan,
    stations: &[StationPlan],
    check: &mut Check,
) -> Vec<BssPlan> {
    if document.cells.len() > MOST_CELLS {
        check.fault(
            "cells",
            Said::new(
                format!("{} are too many", document.cells.len()),
                format!("at most {MOST_CELLS}"),
            ),
        );
    }
    if radio.ad_hoc && !document.cells.is_empty() {
        check.fault(
            "cells",
            said!("an ad-hoc network has no access points", "remove the tables [[cells]]"),
        );
    }
    let output_link = access_point(stations);
    let cell = |(cell, (path, own)): (usize, (String, &AccessPoint))| {
        let at = format!("{path}.position_m");
        let position_m = position(&at, own.position_m.as_ref(), radio, check);
        let (queue, device) = match cell.checked_sub(1).map(|index| &document.cells[index]) {
            None => (ap.queue.clone(), ap.device),
            Some(bss) => {
                (queue(&format!("{path}.queue"), &bss.queue, output_link, check), bss.device)
            }
        };
        BssPlan {
            position_m,
            channel: channels::number(own.channel, wlan),
            color: color(own.bss_color, cell),
            tx_power: own.tx_power.unwrap_or(radio.radio.tx_power),
            queue,
            device,
        }
    };
    document.access_points().enumerate().take(1 + MOST_CELLS).map(cell).collect()
}

fn check_matrix(rows: &[Vec<Db>], nodes: usize, check: &mut Check) {
    let path = "radio.losses_db";
    if rows.len() != nodes {
        let given = rows.len();
        check.fault(
            path,
            said!(
                "has {given} rows",
                "there are {nodes} nodes: ap, stations, further access points"
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
    alone: bool,
    check: &mut Check,
) {
    let nodes = cells.len() + places.len();
    let tx_power = highest_power(cells, places);
    let exceeds = |loss: Db| radio.strongest_sum(tx_power, loss, nodes) > STRONGEST_SUM;
    let loss_at = |distance| {
        let path = propagation::Path { distance, ends: (0, 1), now: Instant::ZERO };
        radio.propagation.get().loss(&path)
    };
    let (path, loss) = if let Some(rows) = &radio.losses {
        let others = |(from, row): (usize, &Vec<Db>)| -> Vec<f64> {
            let others = row.iter().enumerate().filter(|&(to, _)| to != from);
            others.map(|(_, loss)| loss.0).collect()
        };
        let least = rows.iter().enumerate().flat_map(others).fold(f64::INFINITY, f64::min);
        ("radio.losses_db", Db(least))
    } else {
        // Loss does not decrease with distance: the nearest pair is looked for only if need be.
        let near = loss_at(0.0);
        let near = if !exceeds(near) {
            near
        } else if alone && places.iter().any(|place| place.movement.fixed_position().is_none()) {
            crowded(radio, near, loss_at(1.0), nodes)
        } else {
            loss_at(least_distance(cells, places))
        };
        ("radio.tx_power_dbm", near)
    };
    // Nodes at one place whose path has the least shadowing of all are no case.
    let shadowed = (radio.shadowing > Db(0.0)).then(|| {
        let apart = loss_at(least_distance(cells, places).max(1.0));
        let sum = radio.strongest_shadowed_sum(tx_power, apart, nodes)?;
        (sum > STRONGEST_SUM).then_some(apart)
    });
    let shadowed = shadowed.flatten();
    if shadowed.is_some() || exceeds(loss) {
        let [deviation, remedy] = match shadowed {
            Some(_) => [
                format!(" with {} dB of shadowing", number(radio.shadowing.0)),
                ", less shadowing_db".to_owned(),
            ],
            None => [String::new(), String::new()],
        };
        let message = Said::new(
            format!(
                "{} dBm over a loss of {} dB{deviation}: the signals of {nodes} nodes may add up \
                 to more than {} dBm at a receiver",
                number(tx_power.0),
                number((shadowed.unwrap_or(loss).0 * 10.0).round() / 10.0),
                number(STRONGEST_SUM.0)
            ),
            format!("take less power{remedy} or more loss"),
        );
        check.fault(path, message);
    }
}

/// The loss of all nodes on average where each moves on its own: some are at the place of the
/// receiver, and all others a metre away or more. That more of them meet at one place, and all
/// transmit there at once, has no probability that matters.
fn crowded(radio: &RadioSettings, near: Db, far: Db, nodes: usize) -> Db {
    const SOME: usize = 8;
    let some = nodes.min(SOME);
    let power = |loss, count| Milliwatts::from(radio.strongest_sum(Dbm(0.0), loss, count)).0;
    let all = power(near, some) + power(far, (nodes - some).max(1));
    radio.strongest_sum(Dbm(0.0), Db(0.0), nodes) - Dbm::from(Milliwatts(all))
}

/// The least distance of two nodes in metres; 0 if some move or if there are very many.
fn least_distance(cells: &[BssPlan], places: &[PlacePlan]) -> f64 {
    const MANY: usize = 3000;
    let fixed: Option<Vec<[f64; 2]>> =
        places.iter().map(|place| place.movement.fixed_position()).collect();
    let Some(stations) = fixed.filter(|stations| stations.len() <= MANY) else { return 0.0 };
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
    space: Option<&SpacePlan>,
    routing: Option<&RoutingPlan>,
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
