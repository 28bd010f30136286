//! For observers: the frames of an exchange with several users.

use crate::cell::several::outcome;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{MuExchange, MuStep, Shape};
use crate::mac::{Bitmap, Exchange, Originator, Step, block_ack};
use crate::watch::{self, GroupRecord};
use kernel::Instant;
use wire::{Frame, FrameContent, FrameKind};

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
        for (nth, user) in group.users.iter().enumerate() {
            let is_received = |index| user.arrives() && !user.is_lost(index);
            let mut frame = self.data_to(self.sender, group, nth, start, number, is_received);
            frame.outcome = outcome(user.arrives());
            frame.nav = self.reserves(exchange, frame.end);
            push(frame);
        }
        let shape = self.shape_of(group);
        for step in group.frames() {
            let frame = self.answer(group, shape, &step, number);
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
        for nth in 0..group.users.len() {
            let mut frame = self.data_to(f, group, nth, start, number, |_| false);
            frame.nav = self.rules.timing().reservation(group.after);
            push(frame);
        }
    }

    pub(in crate::cell) fn shape_of(&self, group: &MuExchange) -> &Shape {
        let groups = self.groups.as_ref().expect("a group has groups");
        groups.downlink.shape(group)
    }

    fn group_record<'a>(
        &'a self,
        f: u32,
        group: &'a MuExchange,
    ) -> GroupRecord<'a, impl Fn(u32) -> &'a Originator> {
        let to = move |station| self.originator_to(f, station);
        GroupRecord { group, shape: self.shape_of(group), to }
    }

    /// The data of one user.
    fn data_to(
        &self,
        f: u32,
        group: &MuExchange,
        nth: usize,
        start: Instant,
        number: u64,
        is_received: impl Fn(u16) -> bool,
    ) -> Frame {
        let step = Step { kind: FrameKind::Data, start, airtime: group.airtime() };
        let bare = Frame { from: ACCESS_POINT, ..self.bare(f, &step, number) };
        self.group_record(f, group).data(bare, nth, is_received)
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
            frame.content = self.group_record(self.sender, group).mu_bar(all);
            return frame;
        };
        let originator = self.originator_to(self.sender, user.station);
        let start = originator.start();
        frame.flow = originator.flow();
        let is_request = step.step.kind == FrameKind::BlockAckRequest;
        let record = self.group_record(self.sender, group);
        frame.mode = record.answer_mode(step.step.kind, &step.step.airtime, nth);
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
}
