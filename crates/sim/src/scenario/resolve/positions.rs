//! Positions and movement of stations.

use super::check::{Check, number};
use crate::mobility::movement::{FileFault, MovementFile, MovementSettings, Source};
use crate::mobility::placement::{PlacementSettings, Position};
use crate::mobility::{FASTEST_MPS, TimedPosition};
use crate::plan::{MovementPlan, PlacePlan};
use crate::scenario::Issue;
use crate::scenario::document::{Document, Station, Stations, Waypoint};
use crate::scenario::radio::Radio;
use settings::{Choice, Said, said};

/// The maximum number of waypoints of a group in the scenario.
const MOST_WAYPOINTS: usize = 10_000;
/// The maximum number of waypoints that movements draw, about 300 MB.
const MOST_DRAWN: f64 = 1e7;

/// A position; the origin if none is given and the default is allowed.
pub(super) fn position(
    path: &str,
    given: Option<&Vec<f64>>,
    radio: &Radio,
    check: &mut Check,
) -> [f64; 2] {
    let Some(given) = given else { return [0.0, 0.0] };
    if radio.radio.losses.is_some() {
        let message =
            said!("radio.losses_db sets the path losses whatever the positions", "remove one");
        check.fault(path, message);
    }
    if let [x, y] = given[..] {
        return [x, y];
    }
    let count = given.len();
    check.fault(path, format!("must be two numbers, [east, north], has {count}"));
    [0.0, 0.0]
}

/// The position of each station over time.
pub(super) fn places(
    document: &Document,
    radio: &Radio,
    cells: usize,
    duration_s: f64,
    check: &mut Check,
) -> Vec<PlacePlan> {
    let plain;
    let mut groups = document.groups();
    if let Stations::Count(count) = document.stations {
        plain = Station { count, ..Station::default() };
        groups.push(("stations".to_owned(), &plain));
    }
    let mut places = Vec::new();
    for (path, group) in groups {
        check_keys(&path, group, radio, check);
        let highest = cells as u64 - 1;
        let cell = check.whole(format!("{path}.cell"), group.cell.unwrap_or(0), 0, highest) as u32;
        let room = crate::scenario::limits::MOST_STATIONS.saturating_sub(places.len() as u64);
        let count = group.count.min(room);
        let tx_power = group.tx_power.unwrap_or(radio.radio.tx_power);
        let place = |movement| PlacePlan { cell, tx_power, movement };
        if let Some(written) = &group.waypoints {
            let waypoints = waypoints(&path, written, radio, check);
            places.extend((0..count).map(|_| place(MovementPlan::Waypoints(waypoints.clone()))));
            continue;
        }
        if let Some(movement) = &group.movement {
            let plans = movements(&path, movement, count, duration_s, check);
            places.extend(plans.into_iter().map(place));
            continue;
        }
        let centre = centre(document, &path, group, cell, radio, check);
        let movement = |number| standing(group, centre, number);
        places.extend((0..count).map(|number| place(movement(number))));
    }
    let are_known = check.found_nothing();
    if radio.ad_hoc && radio.radio.losses.is_none() && are_known {
        check_apart(document, &places, check);
    }
    places
}

/// Where a station stands that does not move.
fn standing(group: &Station, [x, y]: [f64; 2], number: u64) -> MovementPlan {
    let [east, north] =
        if let Some(placement) = group.placement.as_ref().map(PlacementSettings::get) {
            match placement.position(number) {
                Position::In(area) => return MovementPlan::Anywhere(area),
                Position::From(offset) => offset,
            }
        } else {
            // Evenly on the ring; the first station is in the east.
            let ring = group.ring_m.unwrap_or(0.0);
            let turn = std::f64::consts::TAU * number as f64 / group.count as f64;
            [ring * libm::cos(turn), ring * libm::sin(turn)]
        };
    MovementPlan::at([x + east, y + north])
}

/// A group says once where its stations are.
fn check_keys(path: &str, group: &Station, radio: &Radio, check: &mut Check) {
    let keys = [
        ("movement", group.movement.is_some(), "the movement says"),
        ("waypoints", group.waypoints.is_some(), "the waypoints say"),
        ("placement", group.placement.is_some(), "the placement says"),
        ("ring_m", group.ring_m.is_some(), "the ring says"),
        ("position_m", group.position_m.is_some(), "the position says"),
    ];
    let mut given = keys.iter().filter(|(_, given, _)| *given);
    let Some((first, _, says)) = given.next() else {
        if radio.radio.losses.is_none() {
            let message = said!(
                "missing",
                "with [radio] a station has a place, as [10.0, 0.0], or a ring_m around its access \
                 point, or waypoints, a placement or a movement, or there is radio.losses_db"
            );
            check.fault(format!("{path}.position_m"), message);
        }
        return;
    };
    // The position is the centre of the ring, or where the placement begins.
    let is_origin = |key: &str| key == "position_m" && matches!(*first, "placement" | "ring_m");
    for (key, ..) in given.filter(|(key, ..)| !is_origin(key)) {
        let message = said!("{says} where they are", "remove one of the two keys");
        check.fault(format!("{path}.{key}"), message);
    }
    if radio.radio.losses.is_some() && matches!(*first, "movement" | "placement") {
        let message =
            said!("radio.losses_db sets the path losses whatever the positions", "remove one");
        check.fault(format!("{path}.{first}"), message);
    }
}

/// The movement of each of some stations.
fn movements(
    path: &str,
    movement: &MovementSettings,
    count: u64,
    duration_s: f64,
    check: &mut Check,
) -> Vec<MovementPlan> {
    let path = format!("{path}.movement.{}", movement.name());
    match movement.get().source() {
        Source::Random(random) => {
            let waypoints = random.waypoints_per_s() * duration_s * count as f64;
            if waypoints > MOST_DRAWN {
                let (waypoints, most) = (number(waypoints.round()), number(MOST_DRAWN));
                let message = Said::new(
                    format!(
                        "{count} stations have about {waypoints} waypoints in {} s, and at most \
                         {most} are kept",
                        number(duration_s)
                    ),
                    "take longer steps or a shorter run",
                );
                check.fault(path, message);
            }
            vec![MovementPlan::Random(movement.clone()); count as usize]
        }
        Source::File(_) if !check.opens_files => {
            vec![MovementPlan::Random(movement.clone()); count as usize]
        }
        Source::File(file) => match read(file, count as usize) {
            Ok(tracks) => tracks.into_iter().map(MovementPlan::Waypoints).collect(),
            Err(fault) => {
                let line = fault.line.unwrap_or_default();
                let issue = Issue::new(format!("{path}.file"), fault.said);
                check.add(Issue { file_line: line, ..issue });
                // Somewhere: one place for all would be a further fault.
                vec![MovementPlan::Random(movement.clone()); count as usize]
            }
        },
    }
}

/// The waypoints in a file; its first fault with the name of the file.
fn read(movement: &dyn MovementFile, nodes: usize) -> Result<Vec<Vec<TimedPosition>>, FileFault> {
    let name = movement.file();
    let text = super::file::text(name).map_err(FileFault::whole)?;
    movement.read(&text, nodes).map_err(|FileFault { line, said }| {
        let place = line.map_or(String::new(), |line| format!(", line {line}"));
        FileFault { line, said: said.after(format_args!("{name}{place}: ")) }
    })
}

/// The position of stations, the centre of their ring, or where their placement begins.
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
    let centre = document.access_points().nth(cell as usize);
    let centre = centre.and_then(|(_, own)| own.position_m.as_ref());
    centre.and_then(|at| <[f64; 2]>::try_from(&at[..]).ok()).unwrap_or([0.0; 2])
}

/// The waypoints in the scenario.
fn waypoints(
    path: &str,
    written: &[Waypoint],
    radio: &Radio,
    check: &mut Check,
) -> Vec<TimedPosition> {
    let path = format!("{path}.waypoints");
    if written.is_empty() {
        let message =
            said!("there are none", "one reads {{ at_s = 20.0, position_m = [10.0, 0.0] }}");
        check.fault(&path, message);
    } else if written.len() > MOST_WAYPOINTS {
        let message = Said::new(
            format!("{} are too many", written.len()),
            format!("at most {MOST_WAYPOINTS}"),
        );
        check.fault(&path, message);
    }
    let mut waypoints: Vec<TimedPosition> = Vec::new();
    for (point, index) in written.iter().zip(0..).take(MOST_WAYPOINTS) {
        let key = format!("{path}[{index}].position_m");
        let position_m = position(&key, Some(&point.position_m), radio, check);
        if let Some(before) = waypoints.last() {
            if point.at <= before.at {
                let [is, before] = [point.at, before.at].map(|at| number(at.as_secs_f64()));
                let message = format!("{is} is not after the previous waypoint, {before}");
                check.fault(format!("{path}[{index}].at_s"), message);
            } else {
                let [x, y] = [0, 1].map(|axis| position_m[axis] - before.position_m[axis]);
                let mps = libm::hypot(x, y) / (point.at - before.at).as_secs_f64();
                if mps > FASTEST_MPS {
                    let (mps, fastest) = (number(mps.round()), number(FASTEST_MPS));
                    let message = said!(
                        "{mps} m/s from the previous waypoint",
                        "stations move at most at {fastest} m/s"
                    );
                    check.fault(key, message);
                }
            }
        }
        waypoints.push(TimedPosition { at: point.at, position_m });
    }
    waypoints
}

/// Nodes of an ad-hoc network that stand at one place are a mistake.
fn check_apart(document: &Document, places: &[PlacePlan], check: &mut Check) {
    let place =
        |(number, place): (usize, &PlacePlan)| Some((place.movement.fixed_position()?, number));
    let mut fixed: Vec<([f64; 2], usize)> = places.iter().enumerate().filter_map(place).collect();
    fixed
        .sort_by(|(a, m), (b, n)| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])).then(m.cmp(n)));
    let Some(pair) = fixed.windows(2).find(|pair| pair[0].0 == pair[1].0) else { return };
    let ([x, y], first, second) = (pair[0].0.map(number), pair[0].1, pair[1].1);
    let mut group = ("stations".to_owned(), 0);
    for (path, stations) in document.groups() {
        if second < group.1 {
            break;
        }
        group = (path, group.1 + stations.count as usize);
    }
    let message = said!(
        "sta{first} and sta{second} are at one place, [{x}, {y}]",
        "give them positions, a ring_m, a placement or a movement"
    );
    check.fault(group.0, message);
}
