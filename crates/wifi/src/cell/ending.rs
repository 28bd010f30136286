//! What follows when frames end: who has received what, whether an attempt succeeded, and from
//! when each node may count slots again.

use super::{ACCESS_POINT, Cell, Command, Outcome, link_between};
use crate::mac::{Exchange, Failure, Fate, Frame, SlotGrid};
use crate::phy::Mode;
use kernel::Instant;
use wire::Packet;

impl Cell {
    /// The data frame or the exchange on the air ends.
    pub fn on_step(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(exchange) = self.exchange else { return };
        if exchange.fate == Fate::Collision {
            return self.end_collision(&exchange, out);
        }
        if self.data_pending {
            self.data_pending = false;
            if exchange.fate != Fate::DataLost {
                self.receive(exchange.sender, out);
            }
            if exchange.end > now {
                return out.push(Command::Step(exchange.end));
            }
        }
        self.end_exchange(&exchange, out);
    }

    /// Hands the data frame on the air to its receivers, unless they have it already.
    fn receive(&mut self, sender: u32, out: &mut Vec<Command>) {
        let Frame { packet, to, sequence, retry, .. } = *self.frame(sender);
        let Some(receiver) = to else { return self.receive_broadcast(sender, packet, out) };
        self.note_received(sender);
        let node = &mut self.nodes[receiver as usize];
        let from = if receiver == ACCESS_POINT { sender as usize } else { 0 };
        // A repeated sequence number is a duplicate only on a retry (clause 10.3.2.14.3).
        if retry && node.heard_from[from] == Some(sequence) {
            node.counters.duplicates += 1;
        } else {
            node.heard_from[from] = Some(sequence);
            out.push(Command::Deliver { node: receiver, packet });
        }
    }

    /// Noise takes a broadcast from each receiver on its own account.
    fn receive_broadcast(&mut self, sender: u32, packet: Packet, out: &mut Vec<Command>) {
        self.missed.clear();
        for node in (0..self.nodes.len() as u32).filter(|&node| node != sender) {
            let loss = self.links[link_between(sender, node)].data_loss;
            if self.nodes[node as usize].noise.chance(loss) {
                self.missed.push(node);
            } else {
                self.note_received(sender);
                out.push(Command::Deliver { node, packet });
            }
        }
    }

    fn note_received(&mut self, sender: u32) {
        if let Some(frame) = &mut self.nodes[sender as usize].dcf.frame {
            frame.received = true;
        }
    }

    fn end_exchange(&mut self, exchange: &Exchange, out: &mut Vec<Command>) {
        let frame = *self.frame(exchange.sender);
        let timing = &self.config.timing;
        let reserved_until = exchange.reserved_until(timing, &frame.mode);
        let difs = timing.difs();
        self.exchange = None;
        self.contention.begin_idle(reserved_until + difs, reserved_until);
        out.push(Command::Ended);
        match exchange.fate {
            Fate::Success | Fate::Collision => {
                self.succeed(exchange.sender, out);
                self.outrun_nav(exchange.end, reserved_until, exchange.sender);
                if let Some(receiver) = frame.to {
                    self.outrun_nav(exchange.end, reserved_until, receiver);
                } else {
                    let eifs = exchange.end + self.config.timing.eifs(&frame.mode);
                    for node in self.missed.drain(..) {
                        self.contention.lag(node, eifs);
                    }
                }
            }
            Fate::DataLost => {
                let eifs = exchange.end + timing.eifs(&frame.mode);
                let resume = self.resume_after_timeout(exchange.end, exchange.end, &frame.mode);
                if let Some(receiver) = frame.to {
                    self.contention.lag(receiver, eifs);
                }
                self.lose(exchange.sender, resume, frame.with_rts, out);
            }
            Fate::AckLost => {
                // The answer began in time, so the sender waits for its end, and then an EIFS.
                let answer = timing.response_mode(&frame.mode);
                let resume = exchange.end + timing.eifs(&answer);
                self.lose(exchange.sender, resume, frame.with_rts, out);
                if let Some(receiver) = frame.to {
                    self.outrun_nav(exchange.end, reserved_until, receiver);
                }
            }
        }
        self.schedule_access(out);
    }

    /// One of the two parties of an exchange has no NAV: where that of the others outlasts the
    /// exchange, the party's interframe space begins before theirs.
    fn outrun_nav(&mut self, end: Instant, reserved_until: Instant, party: u32) {
        if reserved_until > end {
            self.contention.lag(party, end + self.config.timing.difs());
        }
    }

    /// When a sender whose frame ended at `sent` without an answer may count slots again, on a
    /// medium that is idle since `idle`.
    fn resume_after_timeout(&self, sent: Instant, idle: Instant, mode: &Mode) -> Instant {
        let timing = &self.config.timing;
        let expiry = sent + timing.response_timeout(mode);
        let earliest = idle + timing.difs();
        match timing.slot_grid {
            SlotGrid::Free => expiry.max(earliest),
            SlotGrid::Standard | SlotGrid::Shared => idle + timing.on_grid(expiry.since(idle)),
        }
    }

    fn succeed(&mut self, sender: u32, out: &mut Vec<Command>) {
        let node = &mut self.nodes[sender as usize];
        node.counters.sent += 1;
        let frame = node.dcf.succeed(&self.persistence);
        self.finish(sender, frame, Outcome::Sent, out);
    }

    /// An attempt failed by noise.
    fn lose(&mut self, sender: u32, resume: Instant, with_rts: bool, out: &mut Vec<Command>) {
        self.nodes[sender as usize].counters.noise_losses += 1;
        self.fail(sender, with_rts, out);
        self.contention.lag(sender, resume);
    }

    fn fail(&mut self, sender: u32, after_cts: bool, out: &mut Vec<Command>) {
        let node = &mut self.nodes[sender as usize];
        match node.dcf.fail(&self.persistence, after_cts) {
            Failure::Retry => self.back_off(sender),
            Failure::Drop => {
                node.counters.retry_drops += 1;
                let frame = node.dcf.frame.take();
                self.finish(sender, frame, Outcome::RetryLimit, out);
            }
        }
    }

    /// Frees the node and starts its post-back-off (clause 10.3.4.3).
    fn finish(
        &mut self,
        node: u32,
        frame: Option<Frame>,
        outcome: Outcome,
        out: &mut Vec<Command>,
    ) {
        self.contending_stations -= u32::from(node != ACCESS_POINT);
        self.contention.rest(node);
        self.back_off(node);
        if let Some(frame) = frame {
            let Frame { packet, received, .. } = frame;
            out.push(Command::Done { node, packet, outcome, received });
        }
    }

    /// Mode of the first frame of this node's exchange.
    fn first_mode(&self, node: u32) -> Mode {
        Exchange::first_frame(&self.config.timing, &self.request(node)).0
    }

    fn end_collision(&mut self, exchange: &Exchange, out: &mut Vec<Command>) {
        let colliders = std::mem::take(&mut self.colliders);
        let timing = &self.config.timing;
        let shared_grid = timing.slot_grid == SlotGrid::Shared;
        // Bystanders could decode none of the frames; the one with the shortest answer is as good
        // a guess as any.
        let eifs = |&(node, _): &(u32, Instant)| timing.eifs(&self.first_mode(node));
        let start = exchange.end + colliders.iter().map(eifs).min().unwrap_or(timing.difs());
        self.exchange = None;
        self.contention.begin_idle(start, exchange.end);
        out.push(Command::Ended);
        for &(node, sent) in &colliders {
            let first = self.first_mode(node);
            let resume = if self.frame(node).to.is_none() {
                // A broadcast frame expects no answer: its sender cannot know.
                self.succeed(node, out);
                exchange.end + self.config.timing.difs()
            } else {
                self.fail(node, false, out);
                self.resume_after_timeout(sent, exchange.end, &first)
            };
            if !shared_grid {
                self.contention.lag(node, resume);
            }
        }
        self.colliders = colliders;
        self.schedule_access(out);
    }
}
