//! What the end of HE TB PPDUs, and of a triggered exchange, means for its stations.

use super::Triggers;
use crate::Command;
use crate::cell::Cell;
use crate::mac::Txop;
use crate::mac::mu::{TriggeredExchange, TriggeredUser};
use kernel::Instant;

impl Triggers {
    /// What an EDCAF had in service has left, at the last slot of its back-off.
    fn leave(&mut self, now: Instant, f: u32) {
        if std::mem::replace(&mut self.left_at, now) != now {
            self.left.clear();
        }
        self.left.push(f);
    }
}

impl Cell {
    /// The access point receives what noise does not destroy.
    pub(in crate::cell) fn receive_triggered(
        &mut self,
        now: Instant,
        triggered: &TriggeredExchange,
        out: &mut Vec<Command>,
    ) {
        for user in triggered.users.iter().filter(|user| user.arrives()) {
            let e = user.edcaf(self.rules.per_node);
            if user.sends() {
                self.hear_backlog(now, e);
                self.edcafs[e as usize].psdu = user.psdu;
                self.lost = user.lost;
                self.receive(e, 0..user.psdu.mpdus, out);
            } else {
                self.edcafs_of(user.station).for_each(|e| self.hear_backlog(now, e));
            }
        }
    }

    /// Whether a Basic Trigger frame follows the reports in a TXOP without a limit.
    pub(in crate::cell) fn may_ask(
        &mut self,
        now: Instant,
        f: u32,
        triggered: &TriggeredExchange,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(triggers) = &self.triggers else { return false };
        let has_units = |station| self.has_units(station);
        if !triggers.triggering.may_follow(now, triggered, self.edcaf(f), has_units) {
            return false;
        }
        let next = now + self.rules.timing().sifs();
        self.txop = Some(Txop::for_answers(f, next));
        out.push(Command::Step(next));
        true
    }

    /// Whether a packet follows those that an EDCAF has just sent in answer to a Trigger frame, and
    /// waits for the end of its back-off.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn follows(&mut self, now: Instant, f: u32) -> bool {
        let Some(triggers) = &mut self.triggers else { return false };
        let place = triggers.left.iter().position(|&left| left == f);
        let follows = triggers.left_at == now && place.is_some();
        if let Some(place) = place {
            triggers.left.swap_remove(place);
        }
        if follows {
            self.contention.follow(f);
        }
        follows
    }

    /// The stations learn what has arrived. Their contention windows and their back-offs stay as
    /// they are (clause 10.23.2.2).
    pub(in crate::cell) fn settle_triggered(
        &mut self,
        now: Instant,
        f: u32,
        triggered: &TriggeredExchange,
        out: &mut Vec<Command>,
    ) {
        for user in triggered.users.iter().filter(|user| user.sends()) {
            self.settle_answer(now, user, out);
        }
        self.settle_random(triggered);
        self.settle_access_point(f, triggered.is_answered() || triggered.asks_nobody());
    }

    fn settle_answer(&mut self, now: Instant, user: &TriggeredUser, out: &mut Vec<Command>) {
        let e = user.edcaf(self.rules.per_node);
        self.edcafs[e as usize].psdu = user.psdu;
        let is_told = user.is_told();
        let acked = if is_told { self.block_acked(e) } else { None };
        let (originator, settled) = (&mut self.edcafs[e as usize].originator, &mut self.settled);
        match acked {
            Some(acked) => {
                originator.on_multi_sta(&self.rules.framing, now, &acked, settled);
            }
            None => originator.on_no_answer(&self.rules.framing, now, settled),
        }
        let member = &mut self.nodes[user.station as usize];
        if originator.is_idle() {
            member.contending -= 1;
            self.contending_stations -= u32::from(member.contending == 0);
            if self.contention.leave(e)
                && let Some(triggers) = &mut self.triggers
            {
                triggers.leave(now, e);
            }
        }
        member.counters.settle(user.station, &mut self.settled, out);
        self.note_wait(now, e);
    }

    /// The attempt of the access point ends, and its back-off begins.
    pub(in crate::cell) fn settle_access_point(&mut self, f: u32, is_answered: bool) {
        let edcaf = &mut self.edcafs[f as usize];
        edcaf.end_group(&self.rules, is_answered);
        if edcaf.is_idle() {
            self.contention.stop_waiting(f);
        }
        if let Some(triggers) = &mut self.triggers {
            triggers.triggering.asking.take(f);
        }
        if !self.goes_on(f) {
            self.back_off(f);
        }
    }
}
