//! For observers: the frames of a triggered exchange.

use crate::cell::watch::CellWatch;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{Response, TriggeredExchange, TriggeredUser};
use crate::mac::{Exchange, Step};
use crate::watch::{self, WatchRecord};
use kernel::{Duration, Instant};
use wire::{Frame, FrameKind, FrameLoss, FrameMode, FrameOutcome};

/// The outcome of a frame.
fn outcome(is_received: bool) -> FrameOutcome {
    if is_received { FrameOutcome::Received } else { FrameOutcome::Lost(FrameLoss::Noise) }
}

impl Cell {
    /// A triggered exchange ends: a record for the Trigger frame, one for the HE TB PPDU of each
    /// station, and one for the Multi-STA BlockAck.
    pub(in crate::cell) fn record_triggered(&mut self, exchange: &Exchange) {
        let Some(mut watch) = self.watch.take() else { return };
        let number = watch.begin_exchange();
        if let Some(triggered) = self.triggered() {
            let f = self.sender;
            let timeout = self.edcaf(f).response.timeout;
            let resume = if triggered.answers.is_some() { Duration::ZERO } else { timeout };
            watch.begin_wait(f, exchange.end + resume);
            let nav =
                |end: Instant| self.rules.timing().reservation(exchange.announced().since(end));
            let is_heard = triggered.answers.is_some();
            let mut trigger = self.trigger_frame(f, triggered, number);
            trigger.outcome = outcome(is_heard);
            trigger.nav = nav(trigger.end);
            watch.push(WatchRecord::Frame(trigger));
            for user in &triggered.users {
                if let Some(frame) = self.answer_of(triggered, user, number) {
                    watch.push(WatchRecord::Frame(Frame { nav: nav(frame.end), ..frame }));
                }
            }
            if let Some(ack) = self.multi_sta_ack(triggered, number) {
                watch.push(WatchRecord::Frame(ack));
            }
            self.record_triggered_navs(&mut watch, exchange, triggered);
        }
        self.watch = Some(watch);
    }

    /// The Trigger frame of a collision.
    pub(in crate::cell) fn record_collided_trigger(
        &self,
        watch: &mut CellWatch,
        f: u32,
        start: Instant,
        lost_to: Option<u32>,
        number: u64,
    ) {
        let Some(triggers) = &self.triggers else { return };
        let Some((_, triggered)) = &triggers.exchange else { return };
        let shape = triggers.shapes.at(triggered.shape);
        let airtime = shape.trigger(&self.rules, triggered.kind);
        let mut frame = self.bare(f, &Step { kind: FrameKind::Trigger, start, airtime }, number);
        frame.psdu = shape.trigger_bytes(triggered.kind);
        frame.mode = watch::mode(&shape.mode, &airtime);
        frame.outcome = FrameOutcome::Lost(FrameLoss::Collision);
        frame.lost_to = lost_to;
        let rest = shape.around(&self.rules, triggered.kind) + triggered.announced;
        frame.nav = self.rules.timing().reservation(rest.saturating_sub(airtime.total()));
        watch.push(WatchRecord::Frame(frame));
    }

    fn trigger_frame(&self, f: u32, triggered: &TriggeredExchange, number: u64) -> Frame {
        let step = &triggered.trigger;
        let mut frame = self.bare(f, step, number);
        let triggers = self.triggers.as_ref().expect("a triggered exchange has triggers");
        frame.mode = watch::mode(&triggers.shapes.at(triggered.shape).mode, &step.airtime);
        frame.psdu = triggered.trigger_bytes;
        frame
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
        let mode = watch::mode(&user.mode, &airtime);
        let guard_ns = mode.guard_ns.max(1600);
        let own = FrameMode { rate: user.rate, mcs: Some(user.mcs), guard_ns, ..mode };
        let nth = triggered.users.iter().position(|other| other.station == user.station);
        frame.mode = watch::in_unit(own, user.ru, nth.unwrap_or(0));
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
        let triggers = self.triggers.as_ref()?;
        frame.mode = watch::mode(&triggers.shapes.at(triggered.shape).ack_mode, &step.airtime);
        frame.psdu = *bytes;
        frame.outcome = outcome(triggered.users.iter().any(TriggeredUser::hears_ack));
        Some(frame)
    }

    /// The Trigger frame sets the NAV of the nodes that it does not ask.
    fn record_triggered_navs(
        &self,
        watch: &mut CellWatch,
        exchange: &Exchange,
        triggered: &TriggeredExchange,
    ) {
        let is_party =
            |node| node == ACCESS_POINT || triggered.users.iter().any(|user| user.station == node);
        let until = exchange.reserved_until(self.rules.timing());
        for node in (0..self.nodes.len() as u32).filter(|&node| !is_party(node)) {
            watch.set_nav(node, triggered.trigger.end(), until);
        }
    }
}
