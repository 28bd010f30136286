//! A PPDU to one station, in what is left of a TXOP.

use super::durations::{ACK, BLOCK_ACK, DELIMITER, control};
use super::others::Others;
use super::{Cell, Derived, Ended, extra};
use crate::function::Hindrance;
use kernel::{Bytes, Duration, Instant};
use wire::FrameKind;

impl Cell<'_> {
    /// How many MPDUs a PPDU to a station alone has, and how long it lasts.
    pub(super) fn alone(&self, now: Instant, to: usize, until: Instant) -> (usize, Duration) {
        let (sifs, mode) = (self.times.sifs(), self.mode);
        let lasts = |psdu: u64| self.times.airtime(&mode, Bytes(psdu)).total();
        let answer = sifs + control(BLOCK_ACK);
        let within = until.since(now).saturating_sub(answer).min(Duration::from_micros(5484));
        let station = &self.stations[to];
        let mut count = 1;
        while count < self.frames.min(station.waiting.len())
            && lasts(station.psdu(count + 1)) <= within
        {
            count += 1;
        }
        let psdu = if count == 1 { DELIMITER + station.waiting[0].1 } else { station.psdu(count) };
        (count, lasts(psdu))
    }

    /// One exchange with a station alone; `None` if it would not end within the TXOP, which does
    /// not matter for the first of an access.
    pub(super) fn send_to_one(
        &mut self,
        now: Instant,
        to: usize,
        until: Instant,
        is_first: bool,
        out: &mut Derived,
    ) -> Option<Ended> {
        let (sifs, mode) = (self.times.sifs(), self.mode);
        let (count, data) = self.alone(now, to, until);
        // A single MPDU has a delimiter, and is answered by an Ack (clause 10.12.8).
        let kind = if count == 1 { FrameKind::Ack } else { FrameKind::BlockAck };
        let answer = control(if count == 1 { ACK } else { BLOCK_ACK });
        if !is_first && now + data + sifs + answer > until {
            return None;
        }
        let node = self.stations[to].node;
        let sent = out.add(0, FrameKind::Data, now, data);
        let station = &mut self.stations[to];
        let has_arrived = station.receive(count, sent, out) > 0;
        let (mut at, mut is_heard) = (sent, false);
        if has_arrived {
            at = out.add(node, kind, sent + sifs, answer);
            is_heard = !self.noise.chance(station.link.ack_loss);
        }
        if is_heard {
            let has = station.has.clone();
            // An Ack acknowledges the data before it, a BlockAck whatever has arrived.
            let acked = |nth: usize, packet: u64| has.contains(&packet) && (count > 1 || nth == 0);
            let mut nth = 0..;
            station.waiting.retain(|&(packet, _)| !acked(nth.next().unwrap_or(0), packet));
        }
        self.note_airtime(data, &[node]);
        // The others have a NAV, also where no answer comes.
        let answered = sent + sifs + answer;
        let mut others = Others::of([(node, true)].into_iter(), answered);
        let mut resumes = Hindrance { busy_until: at, not_before: at };
        if !has_arrived {
            others.fail(node, sent);
            resumes.not_before = at + self.times.response_timeout(&mode);
        } else if !is_heard {
            resumes.busy_until = at + extra(self.times, &mode);
        }
        Some(Ended { at, heard: vec![is_heard], is_complete: is_heard, resumes, others })
    }
}
