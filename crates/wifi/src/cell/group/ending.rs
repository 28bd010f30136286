//! What the end of a PPDU to several users, and of its exchange, means for them.

use crate::Command;
use crate::cell::Cell;
use crate::cell::several::Several;
use crate::mac::mu::MuExchange;
use kernel::{Duration, Instant};

impl Cell {
    /// Each user receives its MPDUs, without those that noise destroys.
    pub(in crate::cell) fn receive_group(
        &mut self,
        f: u32,
        group: &MuExchange,
        out: &mut Vec<Command>,
    ) {
        for user in group.users.iter().filter(|user| user.arrives()) {
            self.turn_to(f, Some(user.station));
            self.edcafs[f as usize].psdu = user.psdu;
            self.lost = user.lost;
            self.receive(f, 0..user.mpdus(), out);
        }
    }

    /// The attempt to each user ends, and then that of the EDCAF.
    pub(in crate::cell) fn settle_group(
        &mut self,
        now: Instant,
        f: u32,
        group: &MuExchange,
        is_answered: bool,
        out: &mut Vec<Command>,
    ) {
        let drops = self.edcafs[f as usize].end_group(&self.rules, is_answered);
        for user in &group.users {
            self.turn_to(f, Some(user.station));
            self.edcafs[f as usize].psdu = user.psdu;
            let acked = if user.is_answered { self.block_acked(f) } else { None };
            let rate = Self::rate_to(&mut self.rates, user.station);
            let (edcaf, settled) = (&mut self.edcafs[f as usize], &mut self.settled);
            edcaf.end_user(now, &self.rules, user, acked.as_ref(), rate, settled);
            if drops {
                edcaf.originator.on_retry_limit(&self.rules.framing, settled);
            }
        }
        self.settle(f, out);
    }

    /// Reports the airtime that each user has of a collision. Returns whether it has users.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn report_collided_group(
        &self,
        f: u32,
        used: Duration,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(Several::Group(group)) = self.several_of(f) else { return false };
        self.report_users(f, group, used, true, out);
        true
    }
}
