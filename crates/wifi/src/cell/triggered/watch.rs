//! For observers: the frames of a triggered exchange.

use crate::cell::several::outcome;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{TriggeredExchange, TriggeredUser};
use crate::mac::{Exchange, Step};
use crate::watch::{self, Answering, TriggeredRecord};
use kernel::Instant;
use wire::{Frame, FrameContent, FrameKind, FrameLoss, FrameOutcome, StationAck};

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
        let record = self.record_of(triggered);
        let mode = watch::mode(&record.shape.mode, &step.airtime);
        let psdu = record.shape.trigger_bytes(triggered.kind);
        Frame { mode, psdu, content: record.trigger(), ..self.bare(f, step, number) }
    }

    fn record_of<'a>(&'a self, triggered: &'a TriggeredExchange) -> TriggeredRecord<'a> {
        let triggers = self.triggers.as_ref().expect("a triggered exchange has triggers");
        let settings = &triggers.triggering.settings;
        TriggeredRecord { settings, triggered, shape: self.uplink_shape(triggered) }
    }

    /// The HE TB PPDU of a station; `None` if it sends none.
    fn answer_of(
        &self,
        triggered: &TriggeredExchange,
        user: &TriggeredUser,
        number: u64,
    ) -> Option<Frame> {
        let (kind, start, airtime) = (user.kind()?, triggered.answers?, triggered.airtime());
        let triggers = self.triggers.as_ref()?;
        let f = user.edcaf(self.rules.per_node);
        let own = self.edcafs_of(user.station);
        let told = &triggers.told[own.start as usize..own.end as usize];
        let answering = Answering { user, originator: &self.edcaf(f).originator, told };
        let bare = self.bare(f, &Step { kind, start, airtime }, number);
        let mut frame = self.record_of(triggered).answer(bare, &answering);
        frame.to = Some(ACCESS_POINT);
        frame.outcome = if user.collides() {
            FrameOutcome::Lost(FrameLoss::Collision)
        } else {
            outcome(user.arrives())
        };
        Some(frame)
    }

    /// The Multi-STA BlockAck.
    fn multi_sta_ack(&self, triggered: &TriggeredExchange, number: u64) -> Option<Frame> {
        let (step, bytes) = &triggered.ack?;
        let mut frame = self.bare(self.sender, step, number);
        frame.mode = watch::mode(&self.uplink_shape(triggered).ack_mode, &step.airtime);
        frame.psdu = *bytes;
        let acked = triggered.users.iter().filter(|user| user.is_acknowledged());
        let acks = acked.map(|user| self.acknowledges(user)).collect();
        frame.content = FrameContent::MultiSta(acks);
        frame.outcome = outcome(triggered.users.iter().any(TriggeredUser::hears_ack));
        Some(frame)
    }

    /// What the Multi-STA BlockAck says to a station.
    fn acknowledges(&self, user: &TriggeredUser) -> StationAck {
        let f = user.edcaf(self.rules.per_node);
        let start = self.edcaf(f).originator.start();
        let recipient = &self.nodes[ACCESS_POINT as usize].recipients[self.inbox(f, ACCESS_POINT)];
        let acked = recipient.block_ack(start);
        user.acknowledgement(self.class_of(f), start, &acked, self.rules.window())
    }

    /// What data of an EDCAF say of its queue, where an access point triggers.
    pub(in crate::cell) fn queue_report(&self, f: u32) -> FrameContent {
        let triggers = self.triggers.as_ref().filter(|_| self.node_of(f) != ACCESS_POINT);
        let Some(triggers) = triggers else { return FrameContent::None };
        let settings = &triggers.triggering.settings;
        FrameContent::Queue(settings.queue_report(triggers.told[f as usize]))
    }
}
