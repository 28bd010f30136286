//! Movement files of ns-2.

use super::super::TimedPosition;
use super::file::{Rules, instant, lines, parse_number};
use super::{FileFault, Movement, MovementFile, Source, Tracks};
use settings::{Settings, said};

/// A movement file of ns-2, as its program `setdest` writes them. A node moves straight to the
/// place that `setdest` names, from where it is at that time, and stays there. Lines about `god_`
/// are ignored.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct SetdestConfig {
    /// The file, relative to the folder of the scenario. Its node 0 is the first station of the
    /// group.
    #[setting(required = "as \"movement.tcl\"")]
    pub file: String,
    /// Width and height of the area in metres; no node leaves it. Default: as the file's first
    /// comment says, if it does.
    #[setting(range = 1e-3..=1e6)]
    pub area_m: Option<[f64; 2]>,
}

impl Movement for SetdestConfig {
    fn source(&self) -> Source<'_> {
        Source::File(self)
    }
}

/// A line of the file.
#[derive(Clone, Copy, Debug)]
enum Line<'a> {
    /// A coordinate of a node at the start.
    Place { node: &'a str, axis: &'a str, metres: &'a str },
    /// A node begins to move.
    Move { at: &'a str, node: &'a str, to: [&'a str; 2], speed: &'a str },
    /// Distances in hops, which ns-2's setdest computes.
    God,
}

/// A node begins to move.
#[derive(Clone, Copy, Debug)]
struct Trip {
    at_s: f64,
    node: usize,
    to: [f64; 2],
    speed_mps: f64,
}

impl MovementFile for SetdestConfig {
    fn file(&self) -> &str {
        &self.file
    }

    fn read(&self, text: &str, nodes: usize) -> Result<Tracks, FileFault> {
        let rules = Rules { nodes, area_m: self.area_m.or_else(|| declared_area(text)) };
        let mut starts = vec![[None; 2]; nodes];
        let mut trips = Vec::new();
        for (line, written) in lines(text) {
            match parse(written) {
                None => return Err(FileFault::at(line, unknown(written))),
                Some(Line::God) => {}
                Some(Line::Place { node, axis, metres }) => {
                    let node = rules.node(line, node)?;
                    let metres = parse_number(line, metres)?;
                    match axis {
                        "X_" => starts[node][0] = Some((line, metres)),
                        "Y_" => starts[node][1] = Some((line, metres)),
                        _ if metres == 0.0 => {}
                        _ => {
                            let message = "Z_ must be 0: the positions have no height";
                            return Err(FileFault::at(line, message));
                        }
                    }
                }
                Some(Line::Move { at, node, to: [x, y], speed }) => {
                    let node = rules.node(line, node)?;
                    let to = [parse_number(line, x)?, parse_number(line, y)?];
                    let (at_s, speed_mps) = (parse_number(line, at)?, parse_number(line, speed)?);
                    instant(line, at_s)?;
                    rules.check_position(line, node, to)?;
                    Rules::check_speed(line, node, speed_mps)?;
                    trips.push(Trip { at_s, node, to, speed_mps });
                }
            }
        }
        let mut legs = begin(&rules, &starts)?;
        // ns-2 carries out the lines by their times.
        trips.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        for trip in &trips {
            turn(&mut legs[trip.node], trip);
        }
        let tracks = legs.into_iter().map(track).collect();
        rules.check_starts(&tracks)?;
        Ok(tracks)
    }
}

/// Waypoints in seconds and metres.
type Legs = Vec<(f64, [f64; 2])>;

/// The nodes at their first positions.
fn begin(rules: &Rules, starts: &[[Option<(usize, f64)>; 2]]) -> Result<Vec<Legs>, FileFault> {
    let place = |(node, start): (usize, &[Option<(usize, f64)>; 2])| {
        if let [Some((_, x)), Some((line, y))] = *start {
            rules.check_position(line, node, [x, y])?;
            Ok(vec![(0.0, [x, y])])
        } else {
            let nodes = rules.nodes;
            let message = said!(
                "node {node} has no X_ and Y_",
                "the group has {nodes} stations, and each is a node of the file"
            );
            Err(FileFault::whole(message))
        }
    };
    starts.iter().enumerate().map(place).collect()
}

/// A node sets out for another place, from where it is.
fn turn(legs: &mut Legs, trip: &Trip) {
    let (end_s, end) = legs[legs.len() - 1];
    let here = if trip.at_s < end_s {
        // It is still under way.
        let (begin_s, begin) = legs[legs.len() - 2];
        legs.pop();
        let part = (trip.at_s - begin_s) / (end_s - begin_s);
        [0, 1].map(|axis| begin[axis] + (end[axis] - begin[axis]) * part)
    } else {
        end
    };
    legs.push((trip.at_s, here));
    let distance = libm::hypot(trip.to[0] - here[0], trip.to[1] - here[1]);
    if trip.speed_mps > 0.0 && distance > 0.0 {
        legs.push((trip.at_s + distance / trip.speed_mps, trip.to));
    }
}

/// The waypoints, of which each is later than the one before.
fn track(legs: Legs) -> Vec<TimedPosition> {
    let mut track: Vec<TimedPosition> = Vec::with_capacity(legs.len());
    for (at_s, position_m) in legs {
        let at = kernel::Instant::ZERO + kernel::Duration::from_secs_f64(at_s);
        match track.last_mut() {
            Some(last) if last.at >= at => last.position_m = position_m,
            _ => track.push(TimedPosition { at, position_m }),
        }
    }
    track
}

fn parse(line: &str) -> Option<Line<'_>> {
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || c == '"')
        .filter(|word| !word.is_empty())
        .collect();
    match words[..] {
        ["$god_", ..] | ["$ns_", "at", _, "$god_", ..] => Some(Line::God),
        [node, "set", axis @ ("X_" | "Y_" | "Z_"), metres] => {
            Some(Line::Place { node: number_of(node)?, axis, metres })
        }
        ["$ns_", "at", at, node, "setdest", x, y, speed] => {
            Some(Line::Move { at, node: number_of(node)?, to: [x, y], speed })
        }
        _ => None,
    }
}

/// The number in `$node_(7)`.
fn number_of(node: &str) -> Option<&str> {
    node.strip_prefix("$node_(")?.strip_suffix(')')
}

fn unknown(line: &str) -> String {
    format!(
        "{} is no line of a setdest file, such as `$node_(0) set X_ 10.0` or `$ns_ at 2.0 \
         \"$node_(0) setdest 30.0 40.0 1.5\"`",
        settings::shown(line)
    )
}

/// The area in setdest's own comment: `# nodes: 50, ..., max x: 1000.00, max y: 1000.00`.
fn declared_area(text: &str) -> Option<[f64; 2]> {
    let comments = text.lines().map(str::trim).take_while(|line| line.starts_with('#'));
    let declares = |line: &str| {
        let value = |name| -> Option<f64> {
            let (_, rest) = line.split_once(name)?;
            rest.split(',').next()?.trim().parse().ok()
        };
        Some([value("max x:")?, value("max y:")?])
    };
    comments.filter_map(declares).find(|area| area.iter().all(|side| *side > 0.0))
}
