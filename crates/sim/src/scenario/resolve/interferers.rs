//! Interferers.

use super::check::{Check, number};
use crate::plan::{InterfererPlan, SpacePlan};
use crate::scenario::document::Document;
use crate::scenario::interferer::Interferer;
use kernel::{Dbm, Duration, Instant};
use settings::{Choice, Said, said};
use wifi::interferer::{Device, InterfererConfig};
use wifi::phy::propagation::{ANTENNA_HEIGHT_M, Path, Position};

/// The maximum number of interferers.
const MOST: usize = 100;

/// The interferers of a run that lasts for `duration_s`.
pub(super) fn interferers(
    document: &Document,
    space: Option<&SpacePlan>,
    duration_s: f64,
    check: &mut Check,
) -> Vec<InterfererPlan> {
    let written = &document.interferers;
    if !written.is_empty() && !document.has_cell() {
        check.fault(
            "interferers",
            said!("there is no cell that they could disturb", "remove the tables"),
        );
    }
    if written.len() > MOST {
        check.fault(
            "interferers",
            Said::new(format!("{} are too many", written.len()), format!("at most {MOST}")),
        );
    }
    let mut plans: Vec<InterfererPlan> = Vec::new();
    for (interferer, index) in written.iter().zip(0..).take(MOST) {
        let path = format!("interferers[{index}]");
        let name = name(&path, interferer, &plans, check);
        let (from, until) = active(&path, interferer, duration_s, check);
        let radio = space.filter(|space| !space.is_flat);
        let (devices, sensed) = if let Some(space) = radio {
            let devices = devices(&path, interferer, document, check);
            check_strength(&path, &devices, 2 * written.len(), space, check);
            (devices, interferer.sensed.unwrap_or(true))
        } else {
            no_radio(&path, interferer, check);
            (Vec::new(), false)
        };
        let source = interferer.source.clone();
        let config = InterfererConfig { source, from, until, devices, sensed };
        plans.push(InterfererPlan { name, config });
    }
    plans
}

/// The name; by default the source, with a number from the second of its kind on.
fn name(
    path: &str,
    interferer: &Interferer,
    before: &[InterfererPlan],
    check: &mut Check,
) -> String {
    let is_taken = |name: &str| before.iter().position(|plan| plan.name == name);
    if let Some(name) = &interferer.name {
        if let Some(index) = is_taken(name) {
            let message = format!(
                "\"{name}\" is interferers[{index}] already: a Bluetooth link has one packet type, \
                 and each interferer a name of its own"
            );
            check.fault(format!("{path}.name"), message);
        }
        return name.clone();
    }
    let kind = interferer.source.name();
    let numbered = (2..).map(|number| format!("{kind} {number}"));
    let mut names = std::iter::once(kind.to_owned()).chain(numbered);
    names.find(|name| is_taken(name).is_none()).unwrap_or_default()
}

/// From when until when it sends.
fn active(
    path: &str,
    interferer: &Interferer,
    duration_s: f64,
    check: &mut Check,
) -> (Instant, Instant) {
    let (start, end) = (interferer.start, Instant::ZERO + Duration::from_secs_f64(duration_s));
    let seconds = |at: Instant| number(at.as_secs_f64());
    if start >= end && duration_s > 0.0 {
        let (start, end) = (seconds(start), seconds(end));
        check.fault(
            format!("{path}.start_s"),
            format!("{start} is not before the end of the run, {end} s"),
        );
    }
    if let Some(stop) = interferer.stop.filter(|&stop| stop <= start) {
        let (stop, start) = (seconds(stop), seconds(start));
        let message = format!("{stop} is not after start_s, {start}");
        check.fault(format!("{path}.stop_s"), message);
    }
    (start, interferer.stop.unwrap_or(end))
}

/// Without radios an interferer has no place and no power.
fn no_radio(path: &str, interferer: &Interferer, check: &mut Check) {
    if !interferer.corrupts {
        let message = said!(
            "missing",
            "without [radio] there are no powers, and an interferer destroys what it overlaps: \
             corrupts = true"
        );
        check.fault(format!("{path}.corrupts"), message);
    }
    let given = [
        (interferer.position_m.is_some(), "position_m"),
        (interferer.tx_power.is_some(), "tx_power_dbm"),
        (interferer.peer_position_m.is_some(), "peer_position_m"),
        (interferer.peer_tx_power.is_some(), "peer_tx_power_dbm"),
        (interferer.sensed.is_some(), "sensed"),
    ];
    for (_, key) in given.into_iter().filter(|&(given, _)| given) {
        let message = said!(
            "has a meaning only where there is a radio",
            "add a table [radio], or remove the key"
        );
        check.fault(format!("{path}.{key}"), message);
    }
}

/// The transmitters where there are radios.
fn devices(
    path: &str,
    interferer: &Interferer,
    document: &Document,
    check: &mut Check,
) -> Vec<Device> {
    let mut fault = |key: &str, said: Said| check.fault(format!("{path}.{key}"), said);
    if interferer.corrupts {
        fault("corrupts", Said::remove("with [radio] the power decides what is lost"));
    }
    if interferer.source.get().whole_slots().is_some() {
        fault(
            "source.sco.rule",
            said!("\"slots\" knows no powers", "take \"bursts\", or remove [radio]"),
        );
    }
    if document.radio.as_ref().is_some_and(|radio| radio.radio.losses.is_some()) {
        let message = said!(
            "radio.losses_db has no losses of interferers",
            "give positions and radio.propagation"
        );
        fault("position_m", message);
    }
    let is_link = interferer.source.get().is_link();
    let mut devices = Vec::new();
    let Interferer { position_m, tx_power, peer_position_m, peer_tx_power, .. } = interferer;
    if tx_power.is_none() {
        let message = said!("missing", "where there are radios an interferer has a power, as 4.0");
        fault("tx_power_dbm", message);
    }
    let mut place = |key: &str, given: &Option<Vec<f64>>, is_needed: bool| match given.as_deref() {
        Some(&[x, y]) => Position { x, y, z: ANTENNA_HEIGHT_M },
        Some(numbers) => {
            let count = numbers.len();
            fault(key, said!("must be two numbers, [east, north], has {count}"));
            Position::default()
        }
        None => {
            if is_needed {
                let message = said!(
                    "missing",
                    "where there are radios an interferer has a place, as [10.0, 0.0]"
                );
                fault(key, message);
            }
            Position::default()
        }
    };
    let (own, power) = (place("position_m", position_m, true), tx_power.unwrap_or(Dbm(0.0)));
    devices.push(Device { position: own, tx_power: power });
    let peer = place("peer_position_m", peer_position_m, is_link);
    if is_link {
        devices.push(Device { position: peer, tx_power: peer_tx_power.unwrap_or(power) });
    }
    for (given, key) in [
        (peer_position_m.is_some(), "peer_position_m"),
        (peer_tx_power.is_some(), "peer_tx_power_dbm"),
    ] {
        if given && !is_link {
            fault(key, Said::remove("is of the second device of a Bluetooth link"));
        }
    }
    devices
}

/// The most that the signals of all interferers may add up to at a node, beside those of nodes.
const STRONGEST: Dbm = Dbm(35.0);

/// The signals of an interferer, one of `count` devices, must be such that a receiver can add them
/// up.
fn check_strength(
    path: &str,
    devices: &[Device],
    count: usize,
    space: &SpacePlan,
    check: &mut Check,
) {
    let radio = &space.radio;
    let cells = space.cells.iter().map(|cell| cell.position_m);
    let stations = space.stations.iter().map(|place| place.movement.fixed_position());
    let nodes: Vec<Option<[f64; 2]>> = cells.map(Some).chain(stations).collect();
    for (device, key) in devices.iter().zip(["tx_power_dbm", "peer_tx_power_dbm"]) {
        let distance = |node: &Option<[f64; 2]>| match *node {
            Some([x, y]) => device.position.distance(Position { x, y, ..device.position }),
            // A node that moves may come near.
            None => 0.0,
        };
        let nearest = nodes.iter().map(distance).fold(f64::INFINITY, f64::min);
        let on_path = Path { distance: nearest, ends: (0, 1), now: Instant::ZERO };
        let loss = radio.propagation.get().loss(&on_path);
        if radio.strongest_sum(device.tx_power, loss, count) > STRONGEST {
            let message = Said::new(
                format!(
                    "{} dBm: the signals of interferers may add up to more than {} dBm at a node",
                    number(device.tx_power.0),
                    number(STRONGEST.0)
                ),
                "take less power or more distance",
            );
            check.fault(format!("{path}.{key}"), message);
        }
    }
}
