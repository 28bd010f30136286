//! What the simulator declares once and others show: kinds of frames and their outcomes, causes of
//! losses, uses of airtime, standards; and what a scenario resolves to.
//!
//! Each is a line of an enum (`kernel::listed!`), from which results, tables of traces and
//! `docs/results.md` follow. Python has no list of its own: colours and hatchings are a cycle by
//! order (`palette.py`), so that what is new has a look. `tests/test_toy.py` adds a toy of each to
//! a copy of the tree and finds it everywhere.

use crate::measure::AirtimeKind;
use crate::plan::{BssPlan, Endpoint, FlowPlan, Plan};
use crate::topology::Interface;
use crate::traffic::Transport;
use serde_json::{Value as Json, json};
use wifi::phy::{Primary, Standard, Width, subchannels};
use wire::{DropCause, DropFacts, FrameKind, FrameOutcome};

/// All of it as JSON: an object with an array for each kind of fact, in the order of declaration.
pub fn listing() -> String {
    let frame = |kind: FrameKind| json!({ "name": kind.name() });
    let outcome = |outcome: FrameOutcome| {
        let is_lost = matches!(outcome, FrameOutcome::Lost(_));
        json!({ "name": outcome.name(), "is_lost": is_lost })
    };
    let cause = |cause: DropCause| {
        let DropFacts { name, label, result, hint, .. } = cause.facts();
        json!({ "name": name, "label": label, "result": result, "hint": hint })
    };
    let airtime = |kind: AirtimeKind| {
        let name = kind.name().trim_end_matches("_fraction");
        json!({ "name": name, "label": kind.facts().label })
    };
    let standard = |it: &Standard| json!({ "name": it.name(), "has_mcs": it.high.is_some() });
    json!({
        "frames": FrameKind::ALL.map(frame).to_vec(),
        "outcomes": FrameOutcome::ALL.map(outcome).to_vec(),
        "waits": ::trace::columns::WAIT_NAMES.map(|name| json!({ "name": name })),
        "causes": DropCause::ALL.map(cause).to_vec(),
        "airtime": AirtimeKind::ALL.map(airtime).to_vec(),
        "standards": Standard::all().map(standard).collect::<Vec<_>>(),
    })
    .to_string()
}

/// The interfaces of a plan as a JSON array: the name of each in results, and what it is, so that
/// no name is parsed.
///
/// `kind` is "ap", "station", "cell" (a further access point), "wire" or "link". `number` is the
/// number of the station, or of the table in `cells` or `links`. `is_reverse` tells the second
/// direction of a link from its first.
pub fn interfaces(plan: &Plan) -> String {
    let radios = plan.topology.radios().ids().map(Interface::Radio);
    let wires = plan.topology.wires().ids().map(Interface::Wire);
    Json::Array(radios.chain(wires).map(|it| interface(plan, it)).collect()).to_string()
}

/// The channels of the access points of a plan as a JSON array: the path of the table of each, and
/// the lower edges of the 20 MHz subchannels of its widest frames and of the primary one. Empty
/// without a radio.
pub fn channels(plan: &Plan) -> String {
    let space = plan.space.as_ref().filter(|space| !space.is_flat);
    let cells = space.into_iter().flat_map(|space| {
        space
            .cells
            .iter()
            .enumerate()
            .map(move |(cell, bss)| (space.widest(cell, &plan.stations), bss))
    });
    let told = |(cell, (width, bss)): (usize, (Width, &BssPlan))| {
        let primary = Primary { band: plan.wlan.timing.standard.band, number: bss.channel };
        let lowest = |width| Some(primary.channel(width)?.edges_mhz().0);
        let path = cell.checked_sub(1).map_or("ap".to_owned(), |cell| format!("cells[{cell}]"));
        let parts = 0..subchannels(width);
        let parts_mhz = lowest(width).map(|mhz| parts.map(|n| mhz + 20 * n).collect::<Vec<_>>());
        json!({ "path": path, "parts_mhz": parts_mhz, "primary_mhz": lowest(Width::Mhz20) })
    };
    Json::Array(cells.enumerate().map(told).collect()).to_string()
}

fn interface(plan: &Plan, interface: Interface) -> Json {
    let (kind, number, is_reverse) = match interface {
        Interface::Radio(radio) => {
            let radio = plan.topology.radio(radio);
            match (plan.topology.node(radio.node).end, radio.cell) {
                (Endpoint::Station(number), _) => ("station", Some(number as usize), false),
                (_, 0) => ("ap", None, false),
                (_, cell) => ("cell", Some(cell as usize - 1), false),
            }
        }
        Interface::Wire(wire) => {
            let (link, direction) = plan.link(wire);
            let kind = if link.number.is_some() { "link" } else { "wire" };
            (kind, link.number, direction != 0)
        }
    };
    let name = plan.interface_name(interface);
    json!({ "name": name, "kind": kind, "number": number, "is_reverse": is_reverse })
}

/// The single flows of a plan as a JSON array, in the order of the summary.
///
/// `table` is the number of the table in `flows` from which a flow comes. `from_station` and
/// `to_station` are the numbers of the stations at its ends, null at another end. `payload_bytes`
/// is the user data of a full packet and `header_bytes` the rest of it; of a flow over TCP these
/// are its MSS and the size of an ACK. `latest_start_s` is when it starts at the latest.
/// `window_bytes` is the largest receive window.
pub fn flows(plan: &Plan) -> String {
    Json::Array(plan.flows.iter().map(|flow| told(plan, flow)).collect()).to_string()
}

/// The number of a station.
fn station(end: Endpoint) -> Option<u32> {
    if let Endpoint::Station(number) = end { Some(number) } else { None }
}

fn told(plan: &Plan, flow: &FlowPlan) -> Json {
    let mut facts = json!({
        "name": flow.name,
        "table": flow.group,
        "from": plan.topology.name(flow.from),
        "to": plan.topology.name(flow.to),
        "from_station": station(flow.from),
        "to_station": station(flow.to),
        "latest_start_s": (flow.settings.start + flow.start_spread).as_secs_f64(),
    });
    if let Transport::Udp(size, _) = flow.settings.traffic.get().transport() {
        facts["payload_bytes"] = size.payload.0.into();
        facts["header_bytes"] = size.header.0.into();
    }
    if let Some(tcp) = &flow.tcp {
        let config = &tcp.config;
        facts["payload_bytes"] = config.mss().0.into();
        facts["header_bytes"] = config.header().0.into();
        facts["tcp"] = json!({
            "window_bytes": config.window_max().0,
            "has_fixed_window": config.fixed_window().is_some(),
            "initial_window_segments": config.initial_window().0,
        });
    }
    facts
}
