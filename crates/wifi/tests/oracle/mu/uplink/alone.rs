//! What stations send by themselves, and frames that collide.

use super::{Cell, Txop, Winner, fail};
use crate::function::Hindrance;
use crate::mu::durations::{ACK, BLOCK_ACK, DELIMITER, RX_START_DELAY, control};
use crate::record::OnAir;
use kernel::{Bytes, Duration, Instant};
use wire::FrameKind;

/// An A-MPDU, or an MPDU alone, and what answers it (clause 10.12.8).
struct Psdu {
    mpdus: usize,
    lasts: Duration,
    kind: FrameKind,
    answer: Duration,
}

/// How an exchange has ended.
struct Ended {
    at: Instant,
    is_heard: bool,
}

impl Cell<'_> {
    /// A station has won the medium.
    pub(super) fn send_in_txop(&mut self, now: Instant, winner: Winner) {
        self.freeze(&[winner]);
        let Winner { node, category } = winner;
        let limit = self.station(node).queues[category].function.parameters.txop_limit;
        let txop = Txop::of(now, limit);
        let (mut start, mut end, mut over) = (now, now, false);
        while let Some(ended) = self.send(start, winner, &txop, start == now) {
            (end, start) = (ended.at, ended.at + self.times.sifs());
            self.note_asking(end);
            self.end_timers(end);
            let function = &mut self.station(node).queues[category].function;
            if ended.is_heard {
                function.reset_window();
            } else {
                function.window = (2 * function.window + 1).min(function.parameters.cw_max);
            }
            over = !ended.is_heard || limit == Duration::ZERO || start >= txop.until;
            if over {
                break;
            }
        }
        self.station(node).queues[category].function.back_off();
        // A cell is busy between the exchanges of a TXOP, and before the access point knows that
        // there is none any more.
        self.note_asking(if over { end } else { start });
        self.resume(end);
    }

    /// The next PSDU of a function, which ends within the TXOP if there is one that does.
    fn assemble(&mut self, now: Instant, winner: Winner, txop: &Txop) -> Option<Psdu> {
        let (times, mode, frames) = (self.times, self.mode, self.frames);
        let queue = &self.station(winner.node).queues[winner.category];
        let first = queue.waiting.first()?;
        let lasts = |psdu: u64| times.airtime(&mode, Bytes(psdu)).total();
        let answer = times.sifs() + control(BLOCK_ACK);
        let within = txop.until.since(now).saturating_sub(answer).min(Duration::from_micros(5484));
        let most = frames.min(queue.waiting.len());
        let more = (2..=most).take_while(|&count| lasts(queue.psdu(count)) <= within).count();
        Some(if more == 0 {
            let lasts = lasts(DELIMITER + first.1);
            Psdu { mpdus: 1, lasts, kind: FrameKind::Ack, answer: control(ACK) }
        } else {
            let mpdus = 1 + more;
            let lasts = lasts(queue.psdu(mpdus));
            Psdu { mpdus, lasts, kind: FrameKind::BlockAck, answer: control(BLOCK_ACK) }
        })
    }

    /// One exchange of a station; `None` if it has nothing to send that ends within the TXOP, which
    /// does not matter for the first of an access.
    fn send(&mut self, now: Instant, winner: Winner, txop: &Txop, is_first: bool) -> Option<Ended> {
        let sifs = self.times.sifs();
        let Psdu { mpdus, lasts, kind, answer } = self.assemble(now, winner, txop)?;
        if !is_first && now + lasts + sifs + answer > txop.until {
            return None;
        }
        let Winner { node, category } = winner;
        let (times, mode) = (self.times, self.mode);
        let nth = self.stations.iter().position(|station| station.node == node)?;
        let station = &mut self.stations[nth];
        let sent = self.out.add(node, FrameKind::Data, now, lasts);
        let planned = sent + sifs + answer;
        let (loss, queue) = (station.link.data_loss, &mut station.queues[category]);
        if !queue.send(mpdus, loss, &mut self.noise) {
            // The others have a NAV, the access point an EIFS.
            self.free(sent, planned);
            self.hindrance = self.eifs(sent);
            let not_before = sent + times.response_timeout(&mode);
            self.stations[nth].hindrance = Hindrance { busy_until: sent, not_before };
            return Some(Ended { at: sent, is_heard: false });
        }
        // What it hears may be the first or the last that it knows of.
        self.note_asking(sent);
        self.stations[nth].queues[category].hear(sent, mpdus, &mut self.out);
        self.note_asking(sent);
        let at = self.out.add(0, kind, sent + sifs, answer);
        let station = &mut self.stations[nth];
        let is_heard = !station.noise.chance(station.link.ack_loss);
        if is_heard {
            station.queues[category].acknowledge(mpdus == 1);
        }
        self.free(at, at);
        if !is_heard {
            self.stations[nth].hindrance = self.eifs(at);
        }
        Some(Ended { at, is_heard })
    }

    /// Several begin at once: nobody decodes anything.
    pub(super) fn collide(&mut self, now: Instant, winners: &[Winner]) {
        self.freeze(winners);
        let mut colliders = Vec::new();
        for &winner in winners {
            let (lasts, timeout) = if winner.node == 0 && self.down.is_some() {
                self.data_that_collides(now)
            } else if winner.node == 0 {
                self.trigger_that_collides(now)
            } else {
                let limit = self.function_of(winner).parameters.txop_limit;
                let psdu = self.assemble(now, winner, &Txop::of(now, limit));
                let lasts = psdu.expect("it has packets").lasts;
                (lasts, self.times.response_timeout(&self.mode))
            };
            colliders.push((winner, now + lasts, now + lasts + timeout));
        }
        let end = colliders.iter().map(|&(_, sent, _)| sent).max().expect("several");
        let nodes = winners.iter().map(|winner| winner.node).collect();
        self.out.frames.push(OnAir::Collision { nodes, start: now, end });
        self.end_timers(end);
        let eifs = self.eifs(end);
        self.hindrance = eifs;
        self.stations.iter_mut().for_each(|station| station.hindrance = eifs);
        for (winner, _, not_before) in colliders {
            fail(self.function_of(winner));
            let own = Hindrance { busy_until: end, not_before };
            match winner.node {
                0 => self.hindrance = own,
                node => self.station(node).hindrance = own,
            }
        }
        self.resume(end);
    }

    /// The first frame of the access point in a collision, and how long it waits for an answer.
    fn trigger_that_collides(&mut self, now: Instant) -> (Duration, Duration) {
        let txop = self.open_txop(now);
        let asked = self.ask(now, &txop).expect("there is always a Trigger frame");
        let (users, sifs) = (asked.users as u64, self.times.sifs());
        if asked.opens {
            // A CTS begins as any frame in OFDM.
            return (control(28 + 5 * users), self.times.response_timeout(&self.mode));
        }
        self.note_sent(now, &asked);
        let lasts = asked.kind.lasts(users, self.padding_us);
        (lasts, sifs + self.times.slot + RX_START_DELAY)
    }
}
