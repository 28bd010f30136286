//! Wired links.

use crate::topology::Endpoint;
use net::LinkSettings;

/// A full-duplex link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkPlan {
    /// What a report calls it, as `r1-r2`.
    pub name: String,
    /// Which `[[links]]` table of the scenario it is, counted from 0; `None` is `[wire]`.
    pub number: Option<usize>,
    /// Its two ends: server, access point or host, and not the same twice.
    pub ends: [Endpoint; 2],
    /// From the first end to the second, and back.
    pub directions: [LinkSettings; 2],
}

impl LinkPlan {
    /// Where its first direction stands in a scenario, and its results.
    pub fn path(&self, direction: usize) -> String {
        match (self.number, direction) {
            (None, 0) => "wire.down".to_owned(),
            (None, _) => "wire.up".to_owned(),
            (Some(number), 0) => format!("links[{number}]"),
            (Some(number), _) => format!("links[{number}].reverse"),
        }
    }
}
