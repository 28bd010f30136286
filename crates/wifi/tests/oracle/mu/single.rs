//! A PPDU to one station, in what is left of a TXOP.

use super::durations::{ACK, BLOCK_ACK, DELIMITER, control};
use super::{Cell, Derived, Ended};
use crate::function::Hindrance;
use kernel::{Bytes, Duration, Instant};
use wire::FrameKind;

impl Cell<'_> {
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
        // A single MPDU has a delimiter, and is answered by an Ack (clause 10.12.8).
        let kind = if count == 1 { FrameKind::Ack } else { FrameKind::BlockAck };
        let psdu = if count == 1 { DELIMITER + station.waiting[0].1 } else { station.psdu(count) };
        let (data, answer) = (lasts(psdu), control(if count == 1 { ACK } else { BLOCK_ACK }));
        if !is_first && now + data + sifs + answer > until {
            return None;
        }
        let node = station.node;
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
        let resumes = match (has_arrived, is_heard) {
            (_, true) => Hindrance { busy_until: at, not_before: at },
            (false, _) => {
                let timeout = self.times.response_timeout(&mode);
                Hindrance { busy_until: at, not_before: at + timeout }
            }
            // An answer that cannot be decoded is followed by an EIFS, of which a DIFS is a part.
            (true, false) => {
                let response = self.times.response_mode(&mode);
                let eifs = self.times.eifs(&response).saturating_sub(self.times.difs());
                Hindrance { busy_until: at + eifs, not_before: at }
            }
        };
        Some(Ended { at, heard: vec![is_heard], is_complete: is_heard, resumes })
    }
}
