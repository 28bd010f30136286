//! The common case: nothing is lost, retransmitted or reordered, and an acknowledgement covers the
//! first outstanding segments. The results are those of `Selective::on_ack` and `send_next`,
//! without the instructions for marks, loss detection and reductions.

use super::{Phase, Selective};
use crate::Command;
use crate::delivery::Departure;
use crate::sender::gauges::State;
use crate::sender::tcb::Tcb;
use crate::sender::window::Arrival;
use crate::sent::Sent;
use kernel::Instant;
use wire::Segment;

impl Selective {
    /// Whether an acknowledgement only acknowledges the first outstanding segments, none of which
    /// is marked, and no probe or loss is being examined.
    pub(super) fn is_in_order(&self, tcb: &Tcb, segment: &Segment) -> bool {
        segment.ack > tcb.snd.una
            && segment.sack.is_empty()
            && matches!(self.phase, Phase::Open)
            && self.board.is_plain()
            && self.rack.probe.is_none()
            && tcb.eifel.is_idle()
    }

    /// Processes such an acknowledgement.
    pub(super) fn on_ack_in_order(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) {
        let outstanding = tcb.snd.outstanding();
        let rtt = tcb.take_sample(now, segment, outstanding, out);
        let (echoed, least) = (tcb.sampler.echoed(segment), tcb.rtt.least());
        let (rack, mut newest, mut last) = (&mut self.rack, None, None);
        self.board.acknowledge_plain(segment.ack, |sent: &Sent, record: Option<&Departure>| {
            if let Some(record) = record
                && newest.is_none_or(|newest: Departure| record.at >= newest.at)
            {
                newest = Some(*record);
            }
            last = Some(sent.at);
            rack.on_delivered(now, echoed, least, sent);
        });
        let rtt = tcb.sample_for_control(now, rtt, last);
        let acked = segment.ack - tcb.snd.una;
        tcb.snd.una = segment.ack;
        tcb.set_peer_window(segment.window);
        (self.duplicates, self.limited) = (0, 0);
        self.deadlines.reorder = None;
        let marks = tcb.on_echo(now, segment, acked, outstanding, true);
        tcb.validate(now, acked, State::Open);
        let delivery = if tcb.cwnd.wants_delivery() {
            self.meter.sample(now, acked, newest.as_ref(), least, tcb.snd.mss)
        } else {
            None
        };
        let arrival = Arrival {
            now,
            acked,
            delivered: acked,
            lost: 0,
            in_flight: tcb.snd.outstanding(),
            rtt,
            forward_delay: tcb.sampler.forward_delay(segment),
            delivery,
            due: tcb.pacer.due(),
            may_grow: !tcb.cwnd.is_held_by(marks),
            may_ramp: true,
            state: State::Open,
            marks,
        };
        tcb.cwnd.on_ack(&arrival, &tcb.rtt);
        self.deadlines.restart();
        self.transmit(tcb, now, out);
    }
    /// Sends the new data that the window allows, while no segment is marked.
    pub(super) fn send_in_order(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        window: u64,
        out: &mut Vec<Command>,
    ) {
        while let Some(span) = tcb.snd.cut(tcb.snd.nxt - tcb.snd.una, window)
            && tcb.may_leave_new(now, tcb.snd.nxt - tcb.snd.una, window, out)
        {
            let (end, flight) = (span.end(), tcb.snd.nxt - tcb.snd.una);
            let record = self.record(tcb, now, flight, span.len);
            self.board.push(span.seq, end, now, record);
            tcb.sampler.on_send(now, end);
            (tcb.snd.nxt, tcb.snd.max) = (end, end);
            tcb.put(now, span, true, flight, out);
        }
    }
}
