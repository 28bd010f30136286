//! The end of a PPDU to several users, and of its exchange.

use super::Groups;
use crate::Command;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::MuExchange;
use crate::mac::{Exchange, ExchangeOutcome};
use kernel::{Duration, Instant};

impl Cell {
    /// The data of several users ends, or their exchange.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn on_group_step(
        &mut self,
        now: Instant,
        exchange: &Exchange,
        out: &mut Vec<Command>,
    ) {
        if self.data_pending {
            self.data_pending = false;
            self.receive_group(out);
            if exchange.end > now {
                return out.push(Command::Step(exchange.end));
            }
        }
        self.end_group(now, exchange, out);
    }

    /// Each user receives its MPDUs, without those that noise destroys.
    fn receive_group(&mut self, out: &mut Vec<Command>) {
        let Some((f, group)) = self.take_group() else { return };
        for user in group.users.iter().filter(|user| user.arrives()) {
            self.turn_to(f, Some(user.station));
            self.edcafs[f as usize].psdu = user.psdu;
            self.lost = user.lost;
            self.receive(f, 0..user.mpdus(), out);
        }
        self.put_group(f, group);
    }

    fn take_group(&mut self) -> Option<(u32, MuExchange)> {
        self.groups.as_mut()?.exchange.take()
    }

    fn put_group(&mut self, f: u32, group: MuExchange) {
        if let Some(groups) = &mut self.groups {
            groups.exchange = Some((f, group));
        }
    }

    /// The exchange is over: the attempt has succeeded if any user has answered.
    fn end_group(&mut self, now: Instant, exchange: &Exchange, out: &mut Vec<Command>) {
        if self.watch.is_some() {
            self.record_group(exchange);
        }
        self.exchange = None;
        let Some((f, group)) = self.take_group() else { return };
        if group.is_complete && self.may_go_on(exchange, out) {
            out.push(Command::Ended);
            self.settle_group(now, f, &group, group.is_answered(), out);
            return self.keep_spare(group);
        }
        self.txop = None;
        let timing = &self.rules.config.timing;
        let timeout = self.edcaf(f).response.timeout;
        let reserved_until = exchange.reserved_until(timing);
        let difs = timing.difs();
        self.contention.begin_idle(reserved_until + difs, reserved_until);
        out.push(Command::Ended);
        let is_answered = exchange.outcome == ExchangeOutcome::Success;
        if !is_answered {
            self.nodes[ACCESS_POINT as usize].counters.exchanges.noise_losses += 1;
        }
        self.settle_group(now, f, &group, is_answered, out);
        for user in &group.users {
            self.resume_without_nav(exchange.end, reserved_until, user.station);
        }
        if group.is_complete {
            self.resume_without_nav(exchange.end, reserved_until, ACCESS_POINT);
        } else {
            let resume = self.resume_after_timeout(exchange.end, exchange.end, timeout);
            self.resume(ACCESS_POINT, resume);
        }
        self.keep_spare(group);
        self.schedule_access(out);
    }

    /// The PPDU to several users has collided: none of them answers.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn miss_group(&mut self, now: Instant, f: u32, out: &mut Vec<Command>) {
        let Some((_, mut group)) = self.take_group() else { return };
        group.users.iter_mut().for_each(|user| user.is_answered = false);
        self.settle_group(now, f, &group, false, out);
        self.keep_spare(group);
    }

    /// The attempt to each user ends, and then that of the EDCAF.
    fn settle_group(
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

    fn keep_spare(&mut self, group: MuExchange) {
        if let Some(groups) = &mut self.groups {
            groups.spare = Some(group);
        }
    }

    /// A collision begins in which the access point sends to several stations.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn count_collided_group(&mut self, f: u32) {
        let Some(mut groups) = self.groups.take() else { return };
        let Groups { queues, exchange, counters, .. } = &mut *groups;
        if let Some((_, group)) = exchange {
            self.count_group(f, &queues[f as usize], group, counters);
        }
        self.groups = Some(groups);
    }

    /// Reports the airtime that each user has of a collision.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn report_collided_group(
        &self,
        f: u32,
        used: Duration,
        out: &mut Vec<Command>,
    ) {
        let Some(Groups { queues, exchange: Some((_, group)), .. }) = self.groups.as_deref() else {
            return;
        };
        self.report_users(f, &queues[f as usize], group, used, true, out);
    }
}
