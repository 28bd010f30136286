//! Sending of coded data: blocks of units. A block is formed when its first unit may leave.

use super::Coded;
use crate::Command;
use crate::blocks::Turn;
use crate::sender::tcb::Tcb;
use kernel::Instant;
use wire::{Flags, Segment};

impl Coded {
    /// Sends what the windows allow.
    pub(in crate::sender) fn transmit(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        out: &mut Vec<Command>,
    ) {
        tcb.end_idle(now);
        while self.send_unit(tcb, now, out) {}
        let flight = self.blocks.in_flight();
        if tcb.snd.nxt >= tcb.snd.end && flight < tcb.cwnd.bytes() {
            self.meter.on_idle(flight);
        }
        tcb.on_transmitted(flight, out);
        self.set_timer(tcb, now, out);
    }

    /// Sends one unit, if one may leave now.
    fn send_unit(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) -> bool {
        let (pipe, window) = (self.blocks.in_flight(), tcb.cwnd.bytes());
        let parity = self.sizing.settings.reactive;
        let turn = if let Some(turn) = self.blocks.turn(parity) {
            turn
        } else {
            // A block is formed when its first unit may leave, by the window at that time.
            if pipe > 0 && pipe + self.sizing.unit > window || !self.cut_block(tcb) {
                return false;
            }
            self.blocks.turn(parity).expect("a new block has units")
        };
        let fits = pipe == 0 || pipe + u64::from(turn.len) <= window;
        let leaves = fits && tcb.may_leave(now, out);
        if leaves {
            self.put_unit(tcb, now, &turn, out);
        }
        leaves
    }

    /// Forms the next block from the waiting data, within the receive window; returns whether there
    /// is one. From now on its data counts as sent.
    fn cut_block(&mut self, tcb: &mut Tcb) -> bool {
        let Self { blocks, sizing, .. } = self;
        let snd = &mut tcb.snd;
        let waiting = snd.end.saturating_sub(snd.nxt);
        if waiting == 0 {
            let fin = snd.is_fin_next();
            if fin {
                blocks.push(snd.nxt, 1, 1, 1, true);
                snd.nxt += 1;
                snd.max = snd.nxt;
            }
            return fin;
        }
        let outstanding = snd.outstanding();
        let amount = waiting.min(snd.wnd.saturating_sub(outstanding));
        let (data, parity) = sizing.cut_window(tcb.cwnd.bytes());
        let whole = u64::from(data) * sizing.unit;
        // Silly window avoidance (RFC 9293 §3.8.6.2.1), as without a code.
        if amount == 0 || amount < waiting.min(sizing.unit) && outstanding > 0 {
            return false;
        }
        let span = amount.min(whole);
        // The smallest number of units that carries the data; the units are of equal size except
        // for rounding.
        let size = span.div_ceil(span.div_ceil(sizing.unit));
        let units = span.div_ceil(size) as u32;
        let first = if span == whole {
            data + parity
        } else {
            sizing.settings.parity.around(units, sizing.estimate.value)
        };
        blocks.push(snd.nxt, span, units as u8, first, false);
        snd.nxt += span;
        snd.max = snd.nxt;
        true
    }

    /// Sends a unit. Every transmission is new in its number, so that each is sent as ECN-capable.
    pub(super) fn put_unit(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        turn: &Turn,
        out: &mut Vec<Command>,
    ) {
        let len = u64::from(turn.len);
        let flight = self.blocks.in_flight();
        let departure = self.meter.on_send(now, flight, len);
        let coded = self.blocks.send(turn, departure);
        let mut flags = if turn.fin { Flags::ACK.and(Flags::FIN) } else { Flags::ACK };
        if len > 0 {
            let parity = coded.is_parity();
            tcb.counters.segments += 1;
            tcb.counters.bytes += len;
            tcb.counters.retransmissions += u64::from(!parity && !turn.first);
            tcb.counters.proactive += u64::from(parity && turn.first);
            tcb.counters.reactive += u64::from(parity && !turn.first);
            tcb.counters.parity_bytes += if parity { len } else { 0 };
            let marks = tcb.ecn.on_new_data();
            if marks.has(Flags::CWR) {
                self.cwr_unit = Some(coded.unit);
            }
            flags = flags.and(marks);
        }
        tcb.on_departure(now, len, flight, !turn.first);
        let segment = tcb.segment(now, turn.seq, turn.len, flags);
        out.push(Command::Send(Segment { coded: Some(coded), ..segment }));
    }
}
