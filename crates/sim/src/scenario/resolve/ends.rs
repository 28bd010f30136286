//! The ends of flows: `server`, `ap`, `sta3`, `sta*`, `sta0-4`, `broadcast`, and nodes of links.

use super::check::Check;
use crate::plan::{Endpoint, LinkPlan};
use crate::scenario::document::{Document, Station};
use crate::topology::Topology;
use settings::{Said, nearest, said, shown};
use std::ops::Range;

const ENDS: [&str; 5] = ["server", "ap", "broadcast", "sta0", "sta*"];

/// The ends that a pattern names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ends {
    One(Endpoint),
    /// Stations, at least one, all of which exist.
    Stations(Range<u32>),
}

impl Ends {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Stations(range) => u64::from(range.end - range.start),
        }
    }

    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = Endpoint> + '_> {
        match self {
            Self::One(end) => Box::new(std::iter::once(*end)),
            Self::Stations(range) => Box::new(range.clone().map(Endpoint::Station)),
        }
    }

    /// One of them.
    pub(super) fn first(&self) -> Endpoint {
        match self {
            Self::One(end) => *end,
            Self::Stations(range) => Endpoint::Station(range.start),
        }
    }

    /// The number of pairs whose two ends are the same.
    pub(super) fn shared_with(&self, other: &Self) -> u64 {
        let range = |ends: &Self| match ends {
            Self::One(Endpoint::Station(n)) => *n..*n + 1,
            Self::Stations(range) => range.clone(),
            Self::One(_) => 0..0,
        };
        if let (Self::One(a), Self::One(b)) = (self, other) {
            return u64::from(a == b);
        }
        let (a, b) = (range(self), range(other));
        u64::from(a.end.min(b.end).saturating_sub(a.start.max(b.start)))
    }
}

/// The ends that a flow may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'a> {
    pub(super) has_cell: bool,
    /// The number of stations.
    pub(super) stations: usize,
    /// The stations of tables with names.
    pub(super) groups: &'a [Group],
    /// All nodes.
    pub(super) topology: &'a Topology,
    pub(super) links: &'a [LinkPlan],
    /// Whether no link of the scenario is missing because of a fault.
    pub(super) has_all_links: bool,
}

/// The stations of a table, or of tables beside each other, with a name.
#[derive(Clone, Debug)]
pub(super) struct Group {
    name: String,
    stations: Range<u32>,
}

/// The stations of each name in the tables of stations.
pub(super) fn groups(document: &Document, topology: &Topology, check: &mut Check) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut first = 0u32;
    for (path, Station { name, count, .. }) in document.groups() {
        let stations = first..first.saturating_add(u32::try_from(*count).unwrap_or(u32::MAX));
        first = stations.end;
        if name.is_empty() {
            continue;
        }
        let number = name.strip_prefix("sta").filter(|rest| !rest.starts_with(char::is_alphabetic));
        let is_end =
            ENDS.contains(&&name[..]) || number.is_some() || topology.wired(name).is_some();
        let same = groups.iter_mut().find(|group| group.name == *name);
        if is_end {
            let message = Said::new(
                format!("\"{}\" is an end of flows already", shown(name)),
                "take another",
            );
            check.fault(format!("{path}.name"), message);
        } else if let Some(group) = same {
            if group.stations.end == stations.start {
                group.stations.end = stations.end;
            } else {
                let message = format!(
                    "\"{}\" is the name of another table, which is not beside this one",
                    shown(name)
                );
                check.fault(format!("{path}.name"), message);
            }
        } else {
            groups.push(Group { name: name.clone(), stations });
        }
    }
    groups
}

/// Parses a pattern; the error is the message.
pub(super) fn parse(pattern: &str, places: Places<'_>) -> Result<Ends, Said> {
    let Places { stations, topology, .. } = places;
    if let Some(node) = topology.wired(pattern) {
        return Ok(Ends::One(node));
    }
    if !places.has_cell {
        return Err(no_node(pattern, topology));
    }
    match pattern {
        "" => {
            let ends = "\"server\", \"ap\", a station as \"sta0\", or all of them, \"sta*\"";
            return Err(said!("missing", "an end of a flow is {ends}"));
        }
        "server" => return Ok(Ends::One(Endpoint::Server)),
        "ap" => return Ok(Ends::One(Endpoint::AccessPoint)),
        "broadcast" => return Ok(Ends::One(Endpoint::Broadcast)),
        _ => {}
    }
    if let Some(group) = places.groups.iter().find(|group| group.name == pattern) {
        if group.stations.is_empty() || group.stations.end as usize > stations {
            return Err(format!("there are no stations \"{}\"", shown(pattern)).into());
        }
        return Ok(Ends::Stations(group.stations.clone()));
    }
    let unknown = |pattern| unknown(pattern, places);
    let Some(which) = pattern.strip_prefix("sta") else { return Err(unknown(pattern)) };
    let number = |text: &str| text.parse::<u64>().ok().filter(|_| !text.starts_with('+'));
    let (first, last) = match (which.split_once('-'), number(which)) {
        (None, Some(only)) => (only, only),
        (None, None) if which == "*" => (0, (stations as u64).saturating_sub(1)),
        (Some((first, last)), _) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => (first, last),
            (Some(first), Some(last)) => {
                return Err(said!(
                    "\"sta{first}-{last}\" counts backwards",
                    "write \"sta{last}-{first}\""
                ));
            }
            _ => return Err(unknown(pattern)),
        },
        _ => return Err(unknown(pattern)),
    };
    match stations {
        0 => Err(format!("there is no \"{}\": the cell has no stations", shown(pattern)).into()),
        _ if last < stations as u64 => Ok(Ends::Stations(first as u32..last as u32 + 1)),
        _ => Err(no_station(last, stations)),
    }
}

/// Why there is no station with this number.
pub(super) fn no_station(number: u64, stations: usize) -> Said {
    match stations {
        0 => said!("there is no sta{number}: the cell has no stations"),
        1 => said!("there is no sta{number}: the only station is sta0"),
        _ => format!(
            "there is no sta{number}: there are {stations} stations, sta0 to sta{}",
            stations - 1
        )
        .into(),
    }
}

/// Why a pattern names no end if there is no cell.
fn no_node(pattern: &str, topology: &Topology) -> Said {
    const MOST: usize = 12;
    let mut nodes: Vec<&str> = topology.hosts().collect();
    nodes.extend(topology.wired("server").map(|_| "server"));
    let near = nearest(pattern, nodes.iter().copied()).first().copied();
    let meant =
        near.map_or("there are".to_owned(), |near| format!("did you mean \"{near}\"? There are"));
    let more = if nodes.len() > MOST { ", …" } else { "" };
    nodes.truncate(MOST);
    let nodes = nodes.join(", ");
    if pattern.is_empty() {
        return said!("missing", "an end of a flow is a node of a link: {nodes}{more}");
    }
    let pattern = shown(pattern);
    said!("\"{pattern}\" is no node of a link", "{meant} {nodes}{more}").with_text(near)
}

fn unknown(pattern: &str, Places { topology, groups, .. }: Places<'_>) -> Said {
    let digits: String = pattern.chars().filter(char::is_ascii_digit).take(9).collect();
    let lower = pattern.to_lowercase();
    let is_end = |word: &&str| ENDS.contains(word) || word.starts_with("sta");
    let are_several = pattern.split([',', ' ']).filter(is_end).count() > 1;
    let near = if are_several {
        None
    } else if lower.starts_with("sta") && !digits.is_empty() {
        Some(format!("sta{digits}"))
    } else if matches!(&lower[..], "access_point" | "access point" | "accesspoint") {
        Some("ap".to_owned())
    } else if matches!(&lower[..], "station" | "stations" | "all" | "*") {
        Some("sta*".to_owned())
    } else {
        let named = groups.iter().map(|group| &group.name[..]);
        let near = nearest(&lower, topology.hosts().chain(named).chain(ENDS));
        near.first().map(|near| (*near).to_owned())
    };
    let meant = match &near {
        Some(near) => format!("did you mean \"{near}\"? "),
        None if are_several => {
            "each end is one word: write a table [[flows]] for each. ".to_owned()
        }
        None => String::new(),
    };
    let pattern = shown(pattern);
    let node = if topology.hosts().next().is_none() { "" } else { ", or a node of a link" };
    let an = if meant.is_empty() { "an" } else { "An" };
    said!(
        "\"{pattern}\" is no end of a flow",
        "{meant}{an} end is \"server\", \"ap\", a station \"sta3\", all stations \"sta*\", or some \
         \"sta0-4\"{node}; a flow may go to \"broadcast\""
    )
    .with_text(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Members;

    fn parse(pattern: &str, stations: usize) -> Result<Ends, Said> {
        let topology = &Topology::new(&Members::default());
        let (has_cell, has_all_links) = (true, true);
        let (links, groups) = (&[], &[]);
        super::parse(pattern, Places { has_cell, stations, groups, topology, links, has_all_links })
    }

    #[test]
    fn patterns_name_ends() {
        assert_eq!(parse("server", 0), Ok(Ends::One(Endpoint::Server)));
        assert_eq!(parse("sta*", 3), Ok(Ends::Stations(0..3)));
        assert_eq!(parse("sta2", 3), Ok(Ends::Stations(2..3)));
        assert_eq!(parse("sta1-2", 3), Ok(Ends::Stations(1..3)));
    }

    #[test]
    fn several_ends_are_several_tables() {
        let message = parse("sta0,sta1", 3).unwrap_err().remedy;
        assert!(message.contains("write a table [[flows]] for each"), "{message}");
    }

    #[test]
    fn pairs_with_the_same_end_twice_are_counted() {
        let shared = |a, b| parse(a, 10).unwrap().shared_with(&parse(b, 10).unwrap());
        assert_eq!(shared("sta*", "sta*"), 10);
        assert_eq!(shared("sta0-4", "sta3-9"), 2);
        assert_eq!(shared("sta3", "sta*"), 1);
        assert_eq!(shared("sta0-2", "sta5-9"), 0);
        assert_eq!(shared("ap", "sta*"), 0);
        assert_eq!(shared("ap", "ap"), 1);
        assert_eq!(shared("ap", "server"), 0);
    }

    #[test]
    fn what_is_no_end_says_what_was_meant() {
        let message = |pattern, stations| parse(pattern, stations).unwrap_err().to_string();
        assert!(message("sever", 3).contains("did you mean \"server\"?"));
        assert!(message("AP", 3).contains("did you mean \"ap\"?"));
        assert!(message("station 2", 3).contains("did you mean \"sta2\"?"));
        assert!(message("STA2", 3).contains("did you mean \"sta2\"?"));
        assert_eq!(message("sta3", 3), "there is no sta3: there are 3 stations, sta0 to sta2");
        assert_eq!(message("sta1", 1), "there is no sta1: the only station is sta0");
        assert!(message("sta2-1", 3).contains("write \"sta1-2\""));
        for pattern in ["sta", "sta-", "sta1-", "sta-1", "sta+1", "sta**", "station", "*"] {
            assert!(message(pattern, 3).contains("is no end of a flow"), "{pattern}");
        }
        let beyond = message("sta99999999999", 3);
        assert!(beyond.contains("there is no sta99999999999"), "{beyond}");
    }
}
