//! The end of HE TB PPDUs, and of a triggered exchange.

use super::Triggers;
use crate::Command;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{AfterBsrp, TriggeredExchange, TriggeredUser};
use crate::mac::{Exchange, ExchangeOutcome, TriggerKind, Txop};
use kernel::{Duration, Instant};

impl Cell {
    /// The HE TB PPDUs end, or the exchange.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn on_triggered_step(
        &mut self,
        now: Instant,
        exchange: &Exchange,
        out: &mut Vec<Command>,
    ) {
        if self.data_pending {
            self.data_pending = false;
            self.receive_triggered(out);
            if exchange.end > now {
                return out.push(Command::Step(exchange.end));
            }
        }
        self.end_triggered(now, exchange, out);
    }

    /// The access point receives what noise does not destroy.
    fn receive_triggered(&mut self, out: &mut Vec<Command>) {
        let Some((f, triggered)) = self.take_triggered() else { return };
        for user in triggered.users.iter().filter(|user| user.arrives()) {
            let e = self.function_of(user);
            if user.sends() {
                self.hear_backlog(e);
                self.edcafs[e as usize].psdu = user.psdu;
                self.lost = user.lost;
                self.receive(e, 0..user.psdu.mpdus, out);
            } else {
                self.edcafs_of(user.station).for_each(|e| self.hear_backlog(e));
            }
        }
        self.put_triggered(f, triggered);
    }

    fn take_triggered(&mut self) -> Option<(u32, TriggeredExchange)> {
        self.triggers.as_mut()?.exchange.take()
    }

    fn put_triggered(&mut self, f: u32, triggered: TriggeredExchange) {
        if let Some(triggers) = &mut self.triggers {
            triggers.exchange = Some((f, triggered));
        }
    }

    /// The exchange is over: it has succeeded if the access point has received anything.
    fn end_triggered(&mut self, now: Instant, exchange: &Exchange, out: &mut Vec<Command>) {
        if self.watch.is_some() {
            self.record_triggered(exchange);
        }
        self.exchange = None;
        let Some((f, triggered)) = self.take_triggered() else { return };
        let is_answered = exchange.outcome == ExchangeOutcome::Success;
        self.start_timers(now, &triggered, out);
        let goes_on =
            is_answered && (self.may_go_on(exchange, out) || self.may_ask(now, f, &triggered, out));
        if goes_on {
            out.push(Command::Ended);
            return self.settle_triggered(now, f, &triggered, out);
        }
        self.txop = None;
        let timing = &self.rules.config.timing;
        let timeout = self.edcaf(f).response.timeout;
        let reserved_until = exchange.reserved_until(timing);
        let difs = timing.difs();
        self.contention.begin_idle(reserved_until + difs, reserved_until);
        out.push(Command::Ended);
        if !is_answered {
            self.nodes[ACCESS_POINT as usize].counters.exchanges.noise_losses += 1;
        }
        self.settle_triggered(now, f, &triggered, out);
        for user in &triggered.users {
            self.resume_without_nav(exchange.end, reserved_until, user.station);
        }
        if triggered.answers.is_some() {
            self.resume_without_nav(exchange.end, reserved_until, ACCESS_POINT);
        } else {
            let resume = self.resume_after_timeout(exchange.end, exchange.end, timeout);
            self.resume(ACCESS_POINT, resume);
        }
        self.schedule_access(out);
    }

    /// Whether a Basic Trigger frame follows the reports in a TXOP without a limit.
    fn may_ask(
        &mut self,
        now: Instant,
        f: u32,
        triggered: &TriggeredExchange,
        out: &mut Vec<Command>,
    ) -> bool {
        let continues = self.triggers.as_ref().is_some_and(|triggers| {
            let follows = triggers.settings.after_bsrp == AfterBsrp::Basic;
            follows && triggers.reports.any()
        });
        let is_unlimited = self.edcaf(f).longest() == Duration(u64::MAX);
        if triggered.kind != TriggerKind::Bsrp || !continues || !is_unlimited {
            return false;
        }
        let next = now + self.rules.timing().sifs();
        self.txop = Some(Txop::for_answers(f, next));
        out.push(Command::Step(next));
        true
    }

    /// The Trigger frame has collided: nobody answers.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn miss_triggered(&mut self, f: u32) {
        let _ = self.take_triggered();
        self.settle_access_point(f, false);
    }

    /// The stations learn what has arrived. Their contention windows and their back-offs stay as
    /// they are (clause 10.23.2.2).
    fn settle_triggered(
        &mut self,
        now: Instant,
        f: u32,
        triggered: &TriggeredExchange,
        out: &mut Vec<Command>,
    ) {
        for user in triggered.users.iter().filter(|user| user.sends()) {
            self.settle_answer(now, user, out);
        }
        self.settle_access_point(f, triggered.is_answered());
    }

    fn settle_answer(&mut self, now: Instant, user: &TriggeredUser, out: &mut Vec<Command>) {
        let e = self.function_of(user);
        self.edcafs[e as usize].psdu = user.psdu;
        let is_told = user.is_acknowledged() && user.hears_ack();
        let acked = if is_told { self.block_acked(e) } else { None };
        let (originator, settled) = (&mut self.edcafs[e as usize].originator, &mut self.settled);
        match acked {
            Some(acked) => {
                originator.on_block_ack(&self.rules.framing, now, &acked, settled);
            }
            None => originator.on_no_answer(&self.rules.framing, now, settled),
        }
        let member = &mut self.nodes[user.station as usize];
        if originator.is_idle() {
            member.contending -= 1;
            self.contending_stations -= u32::from(member.contending == 0);
            self.contention.stop_waiting(e);
        }
        member.counters.settle(user.station, &mut self.settled, out);
    }

    /// The attempt of the access point ends, and its back-off begins.
    fn settle_access_point(&mut self, f: u32, is_answered: bool) {
        let edcaf = &mut self.edcafs[f as usize];
        edcaf.end_group(&self.rules, is_answered);
        if edcaf.is_idle() {
            self.contention.stop_waiting(f);
        }
        if let Some(Triggers { asking, .. }) = self.triggers.as_deref_mut() {
            asking.asked = None;
        }
        if !self.goes_on(f) {
            self.back_off(f);
        }
    }
}
