//! How a triggered exchange begins, and what stations answer.

use super::{OfCell, Triggers};
use crate::cell::access::draw_lost;
use crate::cell::several::Several;
use crate::cell::{ACCESS_POINT, Cell, link_between};
use crate::mac::mu::{Response, TriggeredExchange, TriggeredUser, Turn};
use crate::mac::{Edcaf, TriggerKind};
use crate::{Command, MsduSource};
use kernel::{Bytes, Duration, Instant};

impl Cell {
    /// An EDCAF wins the medium: it sends a Trigger frame next, if it is its turn. The exchange
    /// lasts no longer than `within`.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn assemble_triggered(
        &mut self,
        now: Instant,
        f: u32,
        within: Duration,
        is_first: bool,
        source: &dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        if f >= self.rules.per_node {
            return false;
        }
        let Some(mut triggers) = self.triggers.take() else { return false };
        if is_first {
            triggers.triggering.asking.restart(now, out);
        }
        let groups = self.groups.as_ref().expect("uplink OFDMA comes with downlink OFDMA");
        let planned = triggers.triggering.assemble(&Turn {
            now,
            category: f,
            edcaf: self.edcaf(f),
            within,
            is_first,
            rules: &self.rules,
            stations: &OfCell { cell: self, source },
            protected: &groups.downlink.protected,
        });
        let assembled = planned.is_some();
        if let Some(triggered) = planned {
            let shape = triggers.triggering.shape(&triggered);
            let (mode, bytes) = match triggered.opening {
                Some(rts) => (rts.mode, rts.bytes),
                None => (shape.mode, shape.trigger_bytes(triggered.kind)),
            };
            self.edcafs[f as usize].prepare_trigger(&self.rules, mode, bytes);
            self.several = Some((f, Several::Triggered(Box::new(triggered))));
        }
        self.triggers = Some(triggers);
        assembled
    }

    /// An EDCAF has won the medium alone and sends a Trigger frame.
    pub(in crate::cell) fn begin_triggered(
        &mut self,
        now: Instant,
        f: u32,
        mut exchange: Box<TriggeredExchange>,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let Some(mut triggers) = self.triggers.take() else { return };
        triggers.triggering.note_sent(now, &exchange);
        for user in exchange.users.iter_mut().filter(|user| !user.is_random) {
            if self.hears_trigger(user.station, source) {
                self.respond(&mut triggers, now, exchange.kind, user, source);
            }
        }
        self.respond_at_random(&mut triggers, now, &mut exchange, source);
        let shape = triggers.triggering.shape(&exchange);
        let start = now + exchange.opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let mut laid = exchange.lay_out(&self.rules, shape, start, ACCESS_POINT);
        if let Some(rts) = &exchange.opening {
            laid.open(rts.steps(now));
        }
        self.draw_acks(&mut exchange);
        self.count_triggered(&exchange);
        self.occupy(laid, f, exchange.answers.is_some());
        out.push(Command::Began);
        exchange.report(ACCESS_POINT, laid.end - laid.start, out);
        out.push(Command::Step(exchange.answered().unwrap_or(laid.end)));
        self.several = Some((f, Several::Triggered(exchange)));
        self.triggers = Some(triggers);
    }

    /// Whether a station is awake, and noise spares a Trigger frame there.
    pub(super) fn hears_trigger(&mut self, station: u32, source: &dyn MsduSource) -> bool {
        let link = &self.links[link_between(ACCESS_POINT, station)];
        let is_lost = self.nodes[station as usize].noise.chance(link.ack_loss);
        !is_lost && source.is_awake(ACCESS_POINT, station)
    }

    /// What a station answers that has heard the Trigger frame, and what of it arrives.
    pub(super) fn respond(
        &mut self,
        triggers: &mut Triggers,
        now: Instant,
        kind: TriggerKind,
        user: &mut TriggeredUser,
        source: &mut dyn MsduSource,
    ) {
        let link = self.links[link_between(ACCESS_POINT, user.station)];
        let settings = &triggers.triggering.settings;
        user.answer_null(settings.null(&self.rules));
        let mut categories = user.categories(self.rules.per_node);
        if kind == TriggerKind::Basic {
            categories.any(|category| {
                let e = user.station * self.rules.per_node + category;
                let edcaf = &mut self.edcafs[e as usize];
                user.answer(now, category, edcaf, ACCESS_POINT, &self.rules, source)
            });
        }
        match user.response {
            Response::Nothing => return,
            Response::Null => {
                let own = self.edcafs_of(user.station);
                let mut queues = [Bytes::ZERO; 4];
                for (queue, e) in queues.iter_mut().zip(own.clone()) {
                    *queue = self.backlog(e, true, source);
                }
                let told = &mut triggers.told[own.start as usize..own.end as usize];
                settings.tell_in_null(user, &queues, told);
            }
            Response::Request | Response::Data => {
                let own = user.edcaf(self.rules.per_node);
                triggers.told[own as usize] = settings.told(self.backlog(own, false, source));
            }
        }
        let noise = &mut self.nodes[ACCESS_POINT as usize].noise;
        user.arrives = if user.response == Response::Data {
            draw_lost(noise, link.data_loss, user.mpdus(), &mut user.lost);
            user.lost.count() < u32::from(user.mpdus())
        } else {
            !noise.chance(link.ack_loss)
        };
    }

    /// Draws who hears the Multi-STA BlockAck.
    fn draw_acks(&mut self, exchange: &mut TriggeredExchange) {
        for user in exchange.users.iter_mut().filter(|user| exchange.ack.is_some() && user.sends())
        {
            let link = &self.links[link_between(ACCESS_POINT, user.station)];
            let noise = &mut self.nodes[user.station as usize].noise;
            user.hears_ack = !noise.chance(link.ack_loss);
        }
    }

    /// Counts the attempt of the access point, and the data of the stations.
    fn count_triggered(&mut self, exchange: &TriggeredExchange) {
        Edcaf::count_group(&mut self.nodes[ACCESS_POINT as usize].counters);
        for user in exchange.users.iter().filter(|user| user.mpdus() > 0) {
            let frames = &mut self.nodes[user.station as usize].counters.frames;
            frames.count_data(user.rate, user.mpdus(), user.repeated);
        }
    }
}
