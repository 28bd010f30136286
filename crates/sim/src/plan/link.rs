//! Wired links.

use crate::topology::Endpoint;
use net::LinkSettings;

/// A full-duplex link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkPlan {
    /// The name in reports, as `r1-r2`.
    pub name: String,
    /// Which `[[links]]` table of the scenario it is, counted from 0; `None` is `[wire]`.
    pub number: Option<usize>,
    /// Its two ends: server, access point or host; the two differ.
    pub ends: [Endpoint; 2],
    /// From the first end to the second, and the reverse.
    pub directions: [LinkSettings; 2],
}

impl LinkPlan {
    /// The path of its first direction in a scenario and in results.
    pub fn path(&self, direction: usize) -> String {
        match (self.number, direction) {
            (None, 0) => "wire.down".to_owned(),
            (None, _) => "wire.up".to_owned(),
            (Some(number), 0) => format!("links[{number}]"),
            (Some(number), _) => format!("links[{number}].reverse"),
        }
    }
}
