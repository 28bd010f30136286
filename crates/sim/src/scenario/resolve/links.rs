//! Wired links, and the network that they form.

use super::check::{Check, when};
use super::ends::{Places, no_station};
use super::queues::queue;
use crate::plan::{self, Endpoint, LinkPlan, StationPlan};
use crate::scenario::document::Document;
use crate::scenario::flow::Flow;
use crate::scenario::link::{Link, Wire};
use crate::topology::{Hop, WireId};
use kernel::Duration;
use net::LinkSettings;
use settings::{Choice, Said, is_bare, said, shown};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a name, which keeps columns readable.
const LONGEST_NAME: usize = 40;

/// The maximum number of links.
const MOST_LINKS: usize = 999;

/// The nodes of the cell, at which links may end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    pub(super) stations: &'a [StationPlan],
    /// Whether stations send to each other without an access point.
    pub(super) ad_hoc: bool,
}

/// The hosts and links of a scenario, without faulty links.
pub(super) fn links(
    document: &Document,
    cell: Cell<'_>,
    check: &mut Check,
) -> (Vec<String>, Vec<LinkPlan>) {
    if document.links.len() > MOST_LINKS {
        let links = document.links.len();
        check.fault("links", said!("{links} are too many", "at most {MOST_LINKS}"));
        return (Vec::new(), Vec::new());
    }
    let mut islands = Islands::default();
    if document.wire.is_some() {
        islands.join("server", "ap");
    }
    let names: Vec<Option<[&str; 2]>> = document
        .links
        .iter()
        .enumerate()
        .map(|(number, link)| {
            let ends = ends(number, link, document, cell, check)?;
            if let Some([one, other]) = islands.join(ends[0], ends[1]) {
                let message = said!(
                    "wires now lead from {one} to {other}",
                    "what is wired reaches the air by one of them only"
                );
                check.fault(format!("links[{number}].to"), message);
                return None;
            }
            Some(ends)
        })
        .collect();
    let hosts: BTreeSet<&str> = names.iter().flatten().flatten().copied().collect();
    let hosts: Vec<String> =
        hosts.into_iter().filter(|name| !is_fixed(name)).map(str::to_owned).collect();
    let end = |name: &str| match name {
        "server" => Endpoint::Server,
        "ap" => Endpoint::AccessPoint,
        name if let Some(Ok(number)) = station(name) => Endpoint::Station(number),
        _ => Endpoint::Host(hosts.partition_point(|host| **host < *name) as u32),
    };
    let mut links: Vec<LinkPlan> =
        document.wire.iter().map(|wire| self::wire(wire, document, check)).collect();
    let mut called = BTreeMap::new();
    for (number, (link, names)) in document.links.iter().zip(names).enumerate() {
        let directions = link.directions();
        queue(
            &format!("links[{number}].queue"),
            &link.there.queue,
            directions[0].output_link(),
            check,
        );
        if let Some(back) = &link.reverse.queue {
            let path = format!("links[{number}].reverse.queue");
            queue(&path, back, directions[1].output_link(), check);
        }
        driver(number, link, &directions, check);
        let Some([from, to]) = names else { continue };
        let name = if link.name.is_empty() { format!("{from}-{to}") } else { link.name.clone() };
        if let Some(other) = called.insert(name.clone(), number) {
            let name = shown(&name);
            let message =
                said!("links[{other}] is called \"{name}\" too", "each link needs its own name");
            check.fault(format!("links[{number}].name"), message);
        }
        links.push(LinkPlan { name, number: Some(number), ends: [end(from), end(to)], directions });
    }
    (hosts, links)
}

/// Whether the drivers of a link of `[[links]]` have rings that can fill.
fn driver(number: usize, link: &Link, [there, back]: &[LinkSettings; 2], check: &mut Check) {
    let path = format!("links[{number}]");
    if no_ring(&path, there, check) && link.reverse.driver.is_none() {
        return;
    }
    no_ring(&format!("{path}.reverse"), back, check);
}

/// Reports a driver whose ring never fills, or holds what the queue above should hold; returns
/// whether it did.
fn no_ring(path: &str, direction: &LinkSettings, check: &mut Check) -> bool {
    if direction.driver.is_none() {
        return false;
    }
    let queue = &direction.queue;
    let shapes = queue.get().traits().shaper.is_some();
    let name = queue.name();
    let faults = [
        when(
            direction.rate.is_none(),
            "the ring before an infinitely fast link is empty",
            format!("give {path}.rate_mbps"),
        ),
        when(
            shapes,
            format!("the queue {name} limits the rate itself, below which the ring is empty"),
            format!("remove it, or the rate of {name}"),
        ),
    ];
    check.refuse(format!("{path}.driver"), faults)
}

/// Whether a name is that of a node that exists without links.
fn is_fixed(name: &str) -> bool {
    matches!(name, "server" | "ap") || is_station(name)
}

/// Whether a name is that of a station.
fn is_station(name: &str) -> bool {
    station(name).is_some_and(|number| number.is_ok())
}

/// The number of a station; an error if the name begins like one, but is that of no single station.
fn station(name: &str) -> Option<Result<u32, ()>> {
    let which = name.strip_prefix("sta")?;
    let like_number = |c: char| c.is_ascii_digit() || matches!(c, '*' | '-');
    which.starts_with(like_number).then(|| {
        let number = which.parse().map_err(|_| ())?;
        if name == format!("sta{number}") { Ok(number) } else { Err(()) }
    })
}

/// Nodes that wires join.
#[derive(Debug, Default)]
struct Islands<'a> {
    /// Of each node, its island, by number.
    of: BTreeMap<&'a str, usize>,
    /// Of each island, its node with a radio.
    radios: Vec<Option<&'a str>>,
}

impl<'a> Islands<'a> {
    /// Joins two nodes; returns the two with radios that wires join now, if there are.
    fn join(&mut self, a: &'a str, b: &'a str) -> Option<[&'a str; 2]> {
        let [into, from] = [a, b].map(|name| {
            *self.of.entry(name).or_insert_with(|| {
                self.radios.push((name == "ap" || is_station(name)).then_some(name));
                self.radios.len() - 1
            })
        });
        if into == from {
            return None;
        }
        if let (Some(one), Some(other)) = (self.radios[into], self.radios[from]) {
            return Some([one, other]);
        }
        self.radios[into] = self.radios[into].or(self.radios[from]);
        self.of.values_mut().filter(|island| **island == from).for_each(|island| *island = into);
        None
    }
}

/// The names of a link's ends, if a link is possible between them.
fn ends<'a>(
    number: usize,
    link: &'a Link,
    document: &'a Document,
    cell: Cell<'_>,
    check: &mut Check,
) -> Option<[&'a str; 2]> {
    let path = format!("links[{number}]");
    let mut good = true;
    for (key, name) in [("from", &link.from), ("to", &link.to)] {
        if let Some(message) = no_node(name, document, cell) {
            check.fault(format!("{path}.{key}"), message);
            good = false;
        }
    }
    if !good {
        return None;
    }
    let (from, to) = (&link.from[..], &link.to[..]);
    if from == to {
        check.fault(
            format!("{path}.to"),
            said!("from and to are both \"{to}\"", "a link has two ends"),
        );
        return None;
    }
    let same = |a: &str, b: &str| (a == from && b == to) || (a == to && b == from);
    let before = &document.links[..number];
    let other = if document.wire.is_some() && same("server", "ap") {
        Some("wire".to_owned())
    } else {
        let other = before.iter().position(|other| same(&other.from, &other.to));
        other.map(|other| format!("links[{other}]"))
    };
    if let Some(other) = other {
        let message = said!(
            "{from} and {to} are linked by {other} already",
            "a link has two directions, and its `reverse` says how the reverse one differs"
        );
        check.fault(format!("{path}.to"), message);
        return None;
    }
    Some([from, to])
}

/// Why no link can end at a node with this name.
fn no_node(name: &str, document: &Document, cell: Cell<'_>) -> Option<Said> {
    let shown = shown(name);
    if name.is_empty() {
        Some(said!("missing", "\"server\", \"ap\", or a name for a host or router, as \"r1\""))
    } else if let Some(number) = station(name) {
        no_router(&shown, number.ok(), cell)
    } else if name == "broadcast" {
        Some("\"broadcast\" is all stations of the cell and not a node".into())
    } else if name == "ap" && !document.has_cell() {
        Some("there is no access point: without `standard` and `stations` there is no cell".into())
    } else if !is_bare(name) || name.len() > LONGEST_NAME {
        Some(said!(
            "\"{shown}\" is no name of a node: it has up to {LONGEST_NAME} letters, digits, \
             underscores and hyphens"
        ))
    } else {
        None
    }
}

/// Why no link can end at a station.
fn no_router(shown: &str, number: Option<u32>, cell: Cell<'_>) -> Option<Said> {
    let Some(number) = number else {
        return Some(said!("\"{shown}\" is not one station", "a link ends at one, as \"sta0\""));
    };
    let Some(station) = cell.stations.get(number as usize) else {
        return Some(no_station(u64::from(number), cell.stations.len()));
    };
    if cell.ad_hoc {
        Some(said!(
            "\"{shown}\" is a node of an ad-hoc network, whose wires lead from its gateway: give \
             \"ap\""
        ))
    } else if station.power_save.is_some() {
        Some(said!("\"{shown}\" saves power, and a router with wires is always awake"))
    } else if station.roaming.is_some() {
        Some(said!("\"{shown}\" roams, and a router with wires stays with its access point"))
    } else {
        None
    }
}

/// The link between server and access point.
fn wire(wire: &Wire, document: &Document, check: &mut Check) -> LinkPlan {
    if !document.has_cell() {
        let message = said!(
            "it ends at the access point, and without `standard` and `stations` there is no cell",
            "take [[links]]"
        );
        check.fault("wire", message);
    }
    queue("wire.queue", &wire.direction.queue, wire.direction.output_link(), check);
    no_ring("wire", &wire.direction, check);
    let ends = [Endpoint::Server, Endpoint::AccessPoint];
    LinkPlan { name: "wire".to_owned(), number: None, ends, directions: wire.directions() }
}

/// Why no flow is possible over the links between these ends.
pub(super) fn impassable(
    flow: &Flow,
    places: Places<'_>,
    [from, to]: [Endpoint; 2],
) -> Option<Said> {
    let topology = places.topology;
    let [from_name, to_name] = [from, to].map(|end| topology.name(end));
    let reverse =
        if to == Endpoint::Broadcast { Some(Vec::new()) } else { topology.links_on_path(to, from) };
    let (Some(forward), Some(reverse)) = (topology.links_on_path(from, to), reverse) else {
        let reached = topology.reached_from(from).join(", ");
        let what = if reached.is_empty() { "nothing".to_owned() } else { reached };
        return Some(said!(
            "no links lead from {from_name} to {to_name}",
            "{from_name} reaches {what}"
        ));
    };
    let path = topology.path(from, to).unwrap_or_default();
    if to == Endpoint::Broadcast
        && path.iter().any(|hop| matches!(hop, Hop::Air { to: Some(_), .. }))
    {
        return Some(said!(
            "{from_name} is behind a station, and what is broadcast comes from the access point's \
             side"
        ));
    }
    if path.iter().any(|hop| matches!(hop, Hop::Air { .. })) {
        return endless(flow, places, &path);
    }
    if forward.is_empty() {
        return Some(said!(
            "{from_name} is at {to_name}: no link ends at \"server\", and no packet crosses any"
        ));
    }
    let takes_time = |&wire: &WireId| {
        let (link, direction) = plan::link(topology, places.links, wire);
        let LinkSettings { rate, delay, .. } = link.directions[direction];
        rate.is_some() || delay > Duration::ZERO
    };
    if !forward.iter().chain(&reverse).any(takes_time) {
        return Some(Said::new(
            format!(
                "no link from {from_name} to {to_name} has a rate or a delay, so that everything \
                 would happen in one instant"
            ),
            format!("give {}", key(places, forward[0], "rate_mbps")),
        ));
    }
    endless(flow, places, &path)
}

/// Why a saturated source cannot send over this path.
fn endless(flow: &Flow, places: Places<'_>, path: &[Hop]) -> Option<Said> {
    let Hop::Wire(first) = path.iter().copied().find(|hop| hop.interface().is_some())? else {
        return None;
    };
    if !flow.traffic.is_saturated() {
        return None;
    }
    let (link, direction) = plan::link(places.topology, places.links, first);
    link.directions[direction].rate.is_none().then(|| {
        let key = key(places, first, "rate_mbps");
        said!("a saturated source before an infinitely fast link would never end", "give {key}")
    })
}

/// A key of a link direction.
fn key(places: Places<'_>, wire: WireId, key: &str) -> String {
    let (link, direction) = plan::link(places.topology, places.links, wire);
    match link.number {
        None => format!("wire.{key}"),
        Some(_) => format!("{}.{key}", link.path(direction)),
    }
}
