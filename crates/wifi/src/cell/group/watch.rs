//! For observers: the frames of an exchange with several users.

use crate::cell::several::outcome;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{MuExchange, MuStep, MuUser, Shape, Triggered};
use crate::mac::{Acknowledgement, Bitmap, Exchange, Step, block_ack};
use crate::watch;
use kernel::{Bytes, Instant};
use std::ops::Range;
use wire::{Frame, FrameContent, FrameKind, FrameMode, Trigger, TriggerKind, UserInfo};

impl Cell {
    /// A record for the data of each user, and one for each frame that follows.
    pub(in crate::cell) fn record_group(
        &self,
        exchange: &Exchange,
        group: &MuExchange,
        number: u64,
        push: &mut impl FnMut(Frame),
    ) {
        let start = exchange.data().map_or(exchange.start, |data| data.start);
        for user in &group.users {
            let mut frame = self.data_to(self.sender, group, user, start, number);
            frame.outcome = outcome(user.arrives());
            frame.nav = self.reserves(exchange, frame.end);
            let is_received = |index| user.arrives() && !user.is_lost(index);
            self.fill_user(&mut frame, self.sender, user, is_received);
            push(frame);
        }
        let shape = self.shape_of(group);
        for step in &group.steps {
            let frame = self.answer(group, shape, step, number);
            push(Frame { nav: self.reserves(exchange, frame.end), ..frame });
        }
    }

    /// The data of a PPDU to several users that has collided.
    pub(in crate::cell) fn record_collided_group(
        &self,
        group: &MuExchange,
        f: u32,
        start: Instant,
        number: u64,
        push: &mut impl FnMut(Frame),
    ) {
        for user in &group.users {
            let mut frame = self.data_to(f, group, user, start, number);
            frame.nav = self.rules.timing().reservation(group.after);
            self.fill_user(&mut frame, f, user, |_| false);
            push(frame);
        }
    }

    fn shape_of(&self, group: &MuExchange) -> &Shape {
        let groups = self.groups.as_ref().expect("a group has groups");
        groups.downlink.shape(group)
    }

    fn fill_user(
        &self,
        frame: &mut Frame,
        f: u32,
        user: &MuUser,
        is_received: impl Fn(u16) -> bool,
    ) {
        watch::fill_from(frame, self.originator_to(f, user.station), is_received);
        frame.aggregate = true;
    }

    /// The data of one user: a record of the PPDU with its resource unit.
    fn data_to(
        &self,
        f: u32,
        group: &MuExchange,
        user: &MuUser,
        start: Instant,
        number: u64,
    ) -> Frame {
        let airtime = group.airtime();
        let step = Step { kind: FrameKind::Data, start, airtime };
        let mode = watch::mode(&user.mode, &airtime);
        let own = FrameMode { rate: user.rate, mcs: Some(user.mcs), ..mode };
        let nth = group.users.iter().position(|other| other.station == user.station).unwrap_or(0);
        let is_asked = group.acknowledgement == Acknowledgement::AggregatedMuBar;
        let asked = is_asked.then(|| self.mu_bar(f, group, nth..nth + 1));
        Frame {
            from: ACCESS_POINT,
            to: Some(user.station),
            mode: watch::in_unit(own, user.ru, nth),
            psdu: user.on_air,
            padding: Bytes(user.room.0.saturating_sub(user.on_air.0)),
            content: asked.unwrap_or_default(),
            sig_b: self.shape_of(group).data.sig_b(),
            flow: self.originator_to(f, user.station).flow(),
            ..self.bare(f, &step, number)
        }
    }

    /// A frame that follows the data.
    fn answer(&self, group: &MuExchange, shape: &Shape, step: &MuStep, number: u64) -> Frame {
        let own = step.user.map(|user| (user, &group.users[user]));
        let psdu = MuExchange::bytes(shape, step.step.kind, block_ack(self.rules.window()));
        let mut frame = self.bare(self.sender, &step.step, number);
        frame.psdu = psdu;
        frame.outcome = outcome(step.is_received);
        let Some((nth, user)) = own else {
            frame.mode = watch::mode(&shape.triggered.mode, &step.step.airtime);
            frame.to = None;
            let all = 0..group.users.len();
            frame.content = self.mu_bar(self.sender, group, all);
            return frame;
        };
        let originator = self.originator_to(self.sender, user.station);
        let start = originator.start();
        frame.flow = originator.flow();
        let is_request = step.step.kind == FrameKind::BlockAckRequest;
        frame.mode = Self::answer_mode(group, shape, step, nth);
        frame.to = Some(if is_request { user.station } else { ACCESS_POINT });
        if is_request {
            frame.content = FrameContent::BlockAck(Bitmap::default().record(start, psdu));
        } else {
            frame.from = user.station;
            let inbox = self.inbox(self.sender, user.station);
            let recipient = &self.nodes[user.station as usize].recipients[inbox];
            let acked = recipient.block_ack(start).record(start, psdu);
            frame.content = FrameContent::BlockAck(acked);
        }
        frame
    }

    /// The MU-BAR for these users.
    fn mu_bar(&self, f: u32, group: &MuExchange, users: Range<usize>) -> FrameContent {
        let Triggered { layout, mcs, end, .. } = &self.shape_of(group).triggered;
        let user = |nth: usize| {
            let station = group.users[nth].station;
            let start = self.originator_to(f, station).start();
            UserInfo { start, ..layout.user_info(nth, station, mcs[nth], 1) }
        };
        let (kind, common) = (TriggerKind::MuBar, layout.common_info(*end));
        let users = users.map(user).collect();
        FrameContent::Trigger(Box::new(Trigger { kind, common, users }))
    }

    fn answer_mode(group: &MuExchange, shape: &Shape, step: &MuStep, nth: usize) -> FrameMode {
        let (airtime, user) = (&step.step.airtime, &group.users[nth]);
        let by_triggers = group.acknowledgement != Acknowledgement::BarChain;
        let answer = &shape.answers[nth];
        match step.step.kind {
            FrameKind::BlockAck if by_triggers => {
                let (rate, mcs) = (shape.triggered.layout.rate(nth), shape.triggered.mcs[nth]);
                let own = watch::in_response(&user.mode, airtime, rate, mcs);
                watch::in_unit(FrameMode { streams: 1, ..own }, user.ru, nth)
            }
            FrameKind::BlockAckRequest => watch::mode(&answer.request_mode, airtime),
            _ => watch::mode(&answer.mode, airtime),
        }
    }
}
