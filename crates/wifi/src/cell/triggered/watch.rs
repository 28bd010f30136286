//! For observers: the frames of a triggered exchange.

use crate::cell::several::outcome;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{Response, TriggeredExchange, TriggeredUser, buffer_status};
use crate::mac::{BLOCK_ACK_REQUEST, Bitmap, Exchange, Step};
use crate::watch;
use kernel::{Bytes, Instant};
use wire::{
    BlockAck, Frame, FrameContent, FrameKind, FrameLoss, FrameOutcome, QueueReport, StationAck,
    Trigger, TriggerKind, UserInfo,
};

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
        let layout = &shape.layout;
        let info = |unit: &[TriggeredUser]| {
            let user = &unit[0];
            let aid = if user.is_random { 0 } else { user.station };
            layout.user_info(user.unit, aid, user.mcs, user.mode.streams)
        };
        let mut users: Vec<UserInfo> = triggered.units().map(info).collect();
        // One User Info is for all RA-RUs.
        let random = users.iter().filter(|user| user.aid == 0).count();
        users.truncate(users.len() + 1 - random.max(1));
        users.iter_mut().filter(|user| user.aid == 0).for_each(|user| user.random = random as u8);
        let (kind, common) = (triggered.kind, layout.common_info(triggered.end));
        let content = FrameContent::Trigger(Box::new(Trigger { kind, common, users }));
        Frame { mode, psdu, content, ..self.bare(f, step, number) }
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
        let mode = watch::in_response(&user.mode, &airtime, user.rate, user.mcs);
        frame.mode = watch::in_unit(mode, user.ru, user.unit);
        frame.to = Some(ACCESS_POINT);
        frame.psdu = user.on_air;
        frame.padding = Bytes(user.room.0.saturating_sub(user.on_air.0));
        frame.flow = originator.flow();
        frame.outcome = if user.collides() {
            FrameOutcome::Lost(FrameLoss::Collision)
        } else {
            outcome(user.arrives())
        };
        match user.response {
            Response::Nothing => return None,
            Response::Data => {
                frame.content = self.queue_report(f);
                watch::fill_from(&mut frame, originator, |index| !user.is_lost(index));
            }
            Response::Request => {
                let asked = Bitmap::default().record(originator.start(), BLOCK_ACK_REQUEST);
                frame.content = FrameContent::BlockAck(asked);
            }
            Response::Null => frame.content = self.report_of_all(triggered.kind, f),
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
        let acked = triggered.users.iter().filter(|user| user.is_acknowledged());
        let acks = acked.map(|user| self.acknowledges(user)).collect();
        frame.content = FrameContent::MultiSta(acks);
        frame.outcome = outcome(triggered.users.iter().any(TriggeredUser::hears_ack));
        Some(frame)
    }

    /// What the Multi-STA BlockAck says to a station.
    fn acknowledges(&self, user: &TriggeredUser) -> StationAck {
        let f = self.function_of(user);
        let bits = user.bits(self.rules.window());
        let start = self.edcaf(f).originator.start();
        let recipient = &self.nodes[ACCESS_POINT as usize].recipients[self.inbox(f, ACCESS_POINT)];
        let acked = recipient.block_ack(start).record(start, BLOCK_ACK_REQUEST);
        let block_ack = (bits > 0).then_some(BlockAck { bits, ..acked });
        StationAck { aid: user.station as u16, class: self.class_of(f), block_ack }
    }

    /// What data of an EDCAF say of its queue, where an access point triggers.
    pub(in crate::cell) fn queue_report(&self, f: u32) -> FrameContent {
        let triggers = self.triggers.as_ref().filter(|_| self.node_of(f) != ACCESS_POINT);
        let Some(triggers) = triggers else { return FrameContent::None };
        let size = triggers.settings.queue_size.field(triggers.reports.told(f));
        FrameContent::Queue(QueueReport { size, all: None })
    }

    /// What a `QoS` Null says that answers a Trigger frame of this type.
    fn report_of_all(&self, kind: TriggerKind, f: u32) -> FrameContent {
        let FrameContent::Queue(one) = self.queue_report(f) else { return FrameContent::None };
        let Some(triggers) = self.triggers.as_ref() else { return FrameContent::None };
        let first = self.edcafs_of(self.node_of(f)).start;
        let told = |category| triggers.reports.told(first + category).unwrap_or_default();
        let has_all = triggers.settings.reports_all(kind);
        let all = has_all.then(|| buffer_status([told(0), told(1), told(2), told(3)]));
        FrameContent::Queue(QueueReport { all, ..one })
    }
}
