//! For observers: the frames of an exchange with several users.

use crate::cell::watch::CellWatch;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{MuExchange, MuStep, MuUser, Shape};
use crate::mac::{Bitmap, Exchange, Originator, Step, block_ack};
use crate::watch::{self, WatchRecord};
use kernel::{BitRate, Duration, Instant};
use wire::{Frame, FrameKind, FrameLoss, FrameMode, FrameOutcome};

/// The outcome of a frame.
fn outcome(is_received: bool) -> FrameOutcome {
    if is_received { FrameOutcome::Received } else { FrameOutcome::Lost(FrameLoss::Noise) }
}

impl Cell {
    /// An exchange with several users ends: a record for the data of each, and one for each frame
    /// that follows.
    pub(in crate::cell) fn record_group(&mut self, exchange: &Exchange) {
        let Some(mut watch) = self.watch.take() else { return };
        let number = watch.begin_exchange();
        let timing = self.rules.timing();
        if let Some(group) = self.group() {
            let f = self.sender;
            let timeout = self.edcaf(f).response.timeout;
            let resume = if group.is_complete { Duration::ZERO } else { timeout };
            watch.begin_wait(f, exchange.end + resume);
            for user in &group.users {
                let mut frame =
                    self.data_to(group, user, exchange.start, exchange.announced(), number);
                frame.outcome = outcome(user.arrives());
                let is_received = |index| user.arrives() && !user.is_lost(index);
                self.fill_user(&mut frame, user, is_received);
                watch.push(WatchRecord::Frame(frame));
            }
            let shape = self.shape_of(group);
            for step in &group.steps {
                let frame = self.answer(group, shape, step, number);
                let nav = timing.reservation(exchange.announced().since(frame.end));
                watch.push(WatchRecord::Frame(Frame { nav, ..frame }));
            }
            self.record_group_navs(&mut watch, exchange, group);
        }
        self.watch = Some(watch);
    }

    /// A collision ends in which the access point sent to several stations.
    pub(in crate::cell) fn record_collided_group(
        &self,
        watch: &mut CellWatch,
        f: u32,
        start: Instant,
        lost_to: Option<u32>,
        number: u64,
    ) {
        let Some(groups) = &self.groups else { return };
        let Some((own, group)) = &groups.exchange else { return };
        if *own != f {
            return;
        }
        let announced = start + group.airtime().total() + group.after;
        for user in &group.users {
            let mut frame = self.data_to(group, user, start, announced, number);
            frame.outcome = FrameOutcome::Lost(FrameLoss::Collision);
            frame.lost_to = lost_to;
            self.fill_user(&mut frame, user, |_| false);
            watch.push(WatchRecord::Frame(frame));
        }
    }

    fn shape_of(&self, group: &MuExchange) -> &Shape {
        let groups = self.groups.as_ref().expect("a group has groups");
        groups.shapes.at(group.shape)
    }

    fn fill_user(&self, frame: &mut Frame, user: &MuUser, is_received: impl Fn(u16) -> bool) {
        let originator: &Originator = self.originator_to(self.sender_of_groups(), user.station);
        watch::fill_from(frame, originator, is_received);
        frame.aggregate = true;
    }

    /// The EDCAF whose exchange with several users is on the air.
    fn sender_of_groups(&self) -> u32 {
        let groups = self.groups.as_ref().and_then(|groups| groups.exchange.as_ref());
        groups.map_or(self.sender, |&(f, _)| f)
    }

    /// The data of one user: a record of the PPDU with its resource unit. `announced` is the end of
    /// the exchange.
    fn data_to(
        &self,
        group: &MuExchange,
        user: &MuUser,
        start: Instant,
        announced: Instant,
        number: u64,
    ) -> Frame {
        let (airtime, f) = (group.airtime(), self.sender_of_groups());
        let step = Step { kind: FrameKind::Data, start, airtime };
        let mode = watch::mode(&user.mode, &airtime);
        let own = FrameMode { rate: user.rate, mcs: Some(user.mcs), ..mode };
        let nth = group.users.iter().position(|other| other.station == user.station);
        let nav = announced.since(step.end());
        let frame = self.bare(f, &step, number);
        Frame {
            from: ACCESS_POINT,
            to: Some(user.station),
            mode: watch::in_unit(own, user.ru, nth.unwrap_or(0)),
            psdu: user.on_air,
            nav: self.rules.timing().reservation(nav),
            flow: self.originator_to(f, user.station).flow(),
            ..frame
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
            return frame;
        };
        let originator = self.originator_to(self.sender, user.station);
        let start = originator.start();
        frame.flow = originator.flow();
        let is_request = step.step.kind == FrameKind::BlockAckRequest;
        frame.mode = Self::answer_mode(group, shape, step, nth);
        frame.to = Some(if is_request { user.station } else { ACCESS_POINT });
        if is_request {
            frame.block_ack = Some(Bitmap::default().record(start, psdu));
        } else {
            frame.from = user.station;
            let inbox = self.inbox(self.sender, user.station);
            let recipient = &self.nodes[user.station as usize].recipients[inbox];
            frame.block_ack = Some(recipient.block_ack(start).record(start, psdu));
        }
        frame
    }

    fn answer_mode(group: &MuExchange, shape: &Shape, step: &MuStep, nth: usize) -> FrameMode {
        let (airtime, user) = (&step.step.airtime, &group.users[nth]);
        let by_triggers = group.acknowledgement != crate::mac::Acknowledgement::BarChain;
        let answer = &shape.answers[nth];
        match step.step.kind {
            FrameKind::BlockAck if by_triggers => {
                let rate: BitRate = shape.triggered.layout.rate(nth);
                let mcs = Some(shape.triggered.mcs[nth]);
                let mode = watch::mode(&user.mode, airtime);
                let guard_ns = mode.guard_ns.max(1600);
                let own = FrameMode { rate, mcs, streams: 1, guard_ns, ..mode };
                watch::in_unit(own, user.ru, nth)
            }
            FrameKind::BlockAckRequest => watch::mode(&answer.request_mode, airtime),
            _ => watch::mode(&answer.mode, airtime),
        }
    }

    /// The PPDU sets the NAV of the nodes that are not served.
    fn record_group_navs(&self, watch: &mut CellWatch, exchange: &Exchange, group: &MuExchange) {
        let is_party =
            |node| node == ACCESS_POINT || group.users.iter().any(|user| user.station == node);
        let until = exchange.reserved_until(self.rules.timing());
        let end = exchange.data().map_or(exchange.end, Step::end);
        for node in (0..self.nodes.len() as u32).filter(|&node| !is_party(node)) {
            watch.set_nav(node, end, until);
        }
    }
}
