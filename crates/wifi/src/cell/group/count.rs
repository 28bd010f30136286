//! What is counted of PPDUs to several users.

use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::MuExchange;
use crate::mac::{Edcaf, MuCounters};

impl Cell {
    /// Counters of the PPDUs to several users; `None` without OFDMA.
    pub fn mu_counters(&self) -> Option<&MuCounters> {
        self.groups.as_ref().map(|groups| &groups.counters)
    }

    /// Counts an attempt of the access point to these users: one PPDU, with data for each.
    pub(in crate::cell) fn count_group(&mut self, f: u32, group: &MuExchange) {
        let Some(groups) = &mut self.groups else { return };
        let (queue, all) = (&groups.queues[f as usize], &mut groups.counters);
        let counters = &mut self.nodes[ACCESS_POINT as usize].counters;
        Edcaf::count_group(counters);
        let frames = &mut counters.frames;
        frames.data_attempts += 1;
        all.ppdus += 1;
        for user in &group.users {
            let repeated = queue.of(&self.edcafs[f as usize], user.station).repeated();
            frames.count_mpdus(user.mpdus(), repeated);
            all.data_rates += user.rate.0;
            all.users[user.station as usize].count(user);
        }
    }
}
