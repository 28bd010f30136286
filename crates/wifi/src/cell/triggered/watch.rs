//! For observers: the frames of a triggered exchange.

use crate::cell::several::outcome;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{Response, TriggeredExchange, TriggeredUser};
use crate::mac::{Exchange, Step};
use crate::watch;
use kernel::Instant;
use wire::{Frame, FrameKind};

impl Cell {
    /// A record for the Trigger frame, one for the HE TB PPDU of each station, and one for the
    /// Multi-STA BlockAck.
    pub(in crate::cell) fn record_triggered(
        &self,
        exchange: &Exchange,
        triggered: &TriggeredExchange,
        number: u64,
        push: &mut impl FnMut(Frame),
    ) {
        let mut trigger = self.trigger_frame(self.sender, triggered, &triggered.trigger, number);
        trigger.outcome = outcome(triggered.answers.is_some());
        let answers = triggered.users.iter().map(|user| self.answer_of(triggered, user, number));
        for frame in std::iter::once(trigger).chain(answers.flatten()) {
            push(Frame { nav: self.reserves(exchange, frame.end), ..frame });
        }
        self.multi_sta_ack(triggered, number).into_iter().for_each(push);
    }

    /// The Trigger frame of a collision.
    pub(in crate::cell) fn collided_trigger(
        &self,
        triggered: &TriggeredExchange,
        f: u32,
        start: Instant,
        number: u64,
    ) -> Frame {
        let shape = self.uplink_shape(triggered);
        let airtime = shape.trigger(&self.rules, triggered.kind);
        let step = Step { kind: FrameKind::Trigger, start, airtime };
        let rest = shape.around(&self.rules, triggered.kind) + triggered.announced;
        let nav = self.rules.timing().reservation(rest.saturating_sub(airtime.total()));
        Frame { nav, ..self.trigger_frame(f, triggered, &step, number) }
    }

    fn trigger_frame(
        &self,
        f: u32,
        triggered: &TriggeredExchange,
        step: &Step,
        number: u64,
    ) -> Frame {
        let shape = self.uplink_shape(triggered);
        let mode = watch::mode(&shape.mode, &step.airtime);
        let psdu = shape.trigger_bytes(triggered.kind);
        Frame { mode, psdu, ..self.bare(f, step, number) }
    }

    /// The HE TB PPDU of a station; `None` if it sends none.
    fn answer_of(
        &self,
        triggered: &TriggeredExchange,
        user: &TriggeredUser,
        number: u64,
    ) -> Option<Frame> {
        let kind = match user.response {
            Response::Nothing => return None,
            Response::Null => FrameKind::QosNull,
            Response::Request => FrameKind::BlockAckRequest,
            Response::Data => FrameKind::Data,
        };
        let (start, airtime) = (triggered.answers?, triggered.airtime());
        let f = self.function_of(user);
        let originator = &self.edcaf(f).originator;
        let mut frame = self.bare(f, &Step { kind, start, airtime }, number);
        let nth = triggered.users.iter().position(|other| other.station == user.station);
        let mode = watch::in_response(&user.mode, &airtime, user.rate, user.mcs);
        frame.mode = watch::in_unit(mode, user.ru, nth.unwrap_or(0));
        frame.to = Some(ACCESS_POINT);
        frame.psdu = user.on_air;
        frame.flow = originator.flow();
        frame.outcome = outcome(user.arrives());
        match user.response {
            Response::Data => {
                watch::fill_from(&mut frame, originator, |index| !user.is_lost(index));
            }
            Response::Request => {
                let start = originator.start();
                let asked = crate::mac::Bitmap::default();
                frame.block_ack = Some(asked.record(start, crate::mac::BLOCK_ACK_REQUEST));
            }
            _ => {}
        }
        frame.aggregate = true;
        Some(frame)
    }

    /// The Multi-STA BlockAck.
    fn multi_sta_ack(&self, triggered: &TriggeredExchange, number: u64) -> Option<Frame> {
        let (step, bytes) = &triggered.ack?;
        let mut frame = self.bare(self.sender, step, number);
        frame.mode = watch::mode(&self.uplink_shape(triggered).ack_mode, &step.airtime);
        frame.psdu = *bytes;
        frame.outcome = outcome(triggered.users.iter().any(TriggeredUser::hears_ack));
        Some(frame)
    }
}
