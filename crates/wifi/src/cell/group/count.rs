//! What is counted of PPDUs to several users.

use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::MuExchange;
use crate::mac::{Edcaf, MuCounters};

impl Cell {
    /// Counters of the PPDUs to several users; `None` without OFDMA.
    pub fn mu_counters(&self) -> Option<&MuCounters> {
        self.groups.as_ref().map(|groups| &groups.downlink.counters)
    }

    /// An attempt of the access point to these users begins.
    pub(in crate::cell) fn count_group(&mut self, group: &MuExchange) {
        let counters = &mut self.nodes[ACCESS_POINT as usize].counters;
        Edcaf::count_group(counters);
        if let Some(groups) = &mut self.groups {
            groups.downlink.on_sent(group, &mut counters.frames);
        }
    }
}
