//! The end of two data frames that were on the air at once, and of their exchange.

use super::super::ending::Resume;
use super::super::{ACCESS_POINT, Cell};
use crate::Command;
use crate::mac::{Bitmap, Exchange, ExchangeOutcome, OwnFrame, OwnRts, Response, Secondary, Step};
use kernel::{Duration, Instant};

impl Cell {
    /// Whether an MPDU of the secondary frame on the air is lost.
    pub(in crate::cell) fn is_secondary_lost(&self, index: u16) -> bool {
        self.duplex.as_ref().is_some_and(|duplex| {
            duplex.secondary.as_ref().is_some_and(|secondary| {
                !secondary.outcome.data_arrives() || secondary.mpdus > 1 && duplex.lost.has(index)
            })
        })
    }

    /// One of the two data frames ends, or the exchange.
    pub(in crate::cell) fn on_duplex_step(&mut self, now: Instant, out: &mut Vec<Command>) {
        let (Some(exchange), Some(duplex)) = (self.exchange, self.duplex.as_mut()) else { return };
        let Some(secondary) = duplex.secondary else { return };
        let ends = [exchange.data().map_or(exchange.end, Step::end), secondary.data.end()];
        let primary_over = self.data_pending && now >= ends[0];
        let secondary_over = duplex.is_pending && now >= ends[1];
        self.data_pending &= !primary_over;
        duplex.is_pending &= !secondary_over;
        let pending = [self.data_pending, duplex.is_pending];
        if primary_over && exchange.outcome.data_arrives() {
            self.receive(self.sender, 0..exchange.mpdus, out);
        }
        if secondary_over && secondary.outcome.data_arrives() {
            self.receive_secondary(&secondary, out);
        }
        let next =
            ends.into_iter().zip(pending).filter_map(|(end, pending)| pending.then_some(end));
        let next = next.min().unwrap_or(exchange.end);
        if next > now {
            return out.push(Command::Step(next));
        }
        self.end_both(now, &exchange, &secondary, out);
    }

    /// The secondary frame arrives at its receiver, without the MPDUs that noise destroys.
    fn receive_secondary(&mut self, secondary: &Secondary, out: &mut Vec<Command>) {
        let f = self.edcaf_of(secondary);
        let lost = self.duplex.as_ref().map_or(Bitmap::default(), |duplex| duplex.lost);
        let lost_of_first = std::mem::replace(&mut self.lost, lost);
        self.receive(f, 0..secondary.mpdus, out);
        self.lost = lost_of_first;
    }

    /// Both exchanges end. If a response was sent, all nodes know that the medium is idle now: who
    /// waits for another response receives this one in its place.
    fn end_both(
        &mut self,
        now: Instant,
        exchange: &Exchange,
        secondary: &Secondary,
        out: &mut Vec<Command>,
    ) {
        if self.watch.is_some() {
            self.record_exchange();
        }
        self.exchange = None;
        let duplex = self.duplex.as_mut().expect("a full-duplex access point");
        duplex.secondary = None;
        let is_success = secondary.outcome == ExchangeOutcome::Success && secondary.mpdus > 0;
        let is_sent = secondary.sender == ACCESS_POINT && is_success;
        duplex.counters.secondary_sent += u64::from(is_sent);
        let (difs, end) = (self.rules.timing().difs(), exchange.end);
        // What a data frame announces may be over.
        let reserved_until = exchange.reserved_until(self.rules.timing()).max(end);
        self.contention.begin_idle(reserved_until + difs, reserved_until);
        out.push(Command::Ended);
        let answered = exchange.outcome.data_arrives() || secondary.outcome.data_arrives();
        let first = self.edcaf(self.sender).response;
        let second = Response::to(self.rules.timing(), &secondary.mode);
        // When the longer data frame ended.
        let data = exchange.data().map_or(end, Step::end);
        let sent = data.max(secondary.data.end());
        // The secondary transmitter receives the primary frame, and perhaps the reverse.
        let is_received = secondary.outcome != ExchangeOutcome::Collision;
        let is_mutual = secondary.receiver == exchange.sender && is_received;
        for (f, outcome, response, other) in [
            (self.sender, exchange.outcome, first, is_mutual.then_some(second)),
            (self.edcaf_of(secondary), secondary.outcome, second, Some(first)),
        ] {
            match outcome {
                ExchangeOutcome::Success => {
                    self.succeed_beside(now, f, secondary, out);
                    self.resume_without_nav(end, reserved_until, self.node_of(f));
                }
                // The station receives the ACK of the other in place of its own.
                ExchangeOutcome::DataLost if answered && other.is_none() => {
                    self.lose(now, f, end + difs, out);
                }
                ExchangeOutcome::DataLost | ExchangeOutcome::Collision => {
                    let error = other.filter(|_| !answered);
                    let resume = self.resume_unanswered(sent, end, response.timeout, error);
                    if outcome == ExchangeOutcome::DataLost {
                        self.lose(now, f, resume, out);
                    } else {
                        self.miss(now, f, true, out);
                        self.resume(self.node_of(f), resume);
                    }
                }
                ExchangeOutcome::AckLost => {
                    let eifs = self.rules.config.timing.eifs(&response.mode);
                    self.lose(now, f, end + eifs, out);
                }
            }
        }
        if !answered && !is_mutual && secondary.outcome == ExchangeOutcome::DataLost {
            // The NAV of the receiver of the secondary frame is set, too.
            let receiver = self.edcafs_of(secondary.receiver);
            self.contention.count_separately_after_nav(receiver, end + second.eifs, difs);
        }
        self.schedule_access(out);
    }

    /// When a transmitter without a response may count slots again. If it sends no ACK, it has
    /// received an erroneous frame, too.
    fn resume_unanswered(
        &self,
        sent: Instant,
        end: Instant,
        timeout: Duration,
        error: Option<Response>,
    ) -> Resume {
        let Resume { at, .. } = self.resume_after_timeout(sent, end, timeout);
        let difs = self.rules.timing().difs();
        Resume { at, space: end + error.map_or(difs, |other| other.eifs) }
    }

    /// The packet that stepped aside returns to service if there is no other.
    pub(in crate::cell) fn resume_aside(&mut self, f: u32) {
        let edcaf = &mut self.edcafs[f as usize];
        if edcaf.is_idle() {
            edcaf.originator.swap_aside();
        }
    }

    /// The primary or the secondary frame was acknowledged.
    fn succeed_beside(
        &mut self,
        now: Instant,
        f: u32,
        secondary: &Secondary,
        out: &mut Vec<Command>,
    ) {
        let arrived = self.block_acked(f);
        let is_secondary = f == self.edcaf_of(secondary);
        let (edcaf, settled) = (&mut self.edcafs[f as usize], &mut self.settled);
        let before = edcaf.window();
        edcaf.succeed(now, &self.rules, arrived.as_ref(), None, |_| None, settled);
        let doubles = self.duplex.as_ref().is_some_and(|d| d.settings.own_rts == OwnRts::Double);
        if is_secondary && secondary.own == OwnFrame::Rts && doubles {
            edcaf.double_window(&self.rules, before);
        }
        self.settle(f, out);
    }
}
