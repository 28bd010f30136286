//! How a triggered exchange begins, and what stations answer.

use super::plan::Turn;
use super::{Last, Triggers};
use crate::cell::access::draw_lost;
use crate::cell::several::Several;
use crate::cell::{ACCESS_POINT, Cell, link_between};
use crate::mac::mu::{Response, TriggeredExchange, TriggeredUser, shares};
use crate::mac::{DELIMITER, Edcaf, Psdu, PsduLimits, TriggerKind};
use crate::{Command, Mpdus, MsduSource};
use kernel::{Duration, Instant};

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
            triggers.asking.restart(now, out);
        }
        let must = triggers.asking.take(f) && self.edcaf(f).is_idle();
        let planned = self.plan(&mut triggers, &Turn { now, f, within, is_first, must, source });
        let assembled = planned.is_some();
        if assembled && self.edcaf(f).is_idle() {
            triggers.asking.note(f);
        }
        if let Some(triggered) = planned {
            let shape = triggers.shapes.at(triggered.shape);
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
        if exchange.kind == TriggerKind::Bsrp {
            let asked = exchange.users.iter().filter(|user| !user.is_random);
            asked.for_each(|user| triggers.polled[user.station as usize] = now);
        }
        for user in exchange.users.iter_mut().filter(|user| !user.is_random) {
            triggers.counters[user.station as usize].asked += 1;
            if self.hears_trigger(user.station, source) {
                self.respond(&mut triggers, now, exchange.kind, user, source);
            }
        }
        self.respond_at_random(&mut triggers, now, &mut exchange, source);
        let shape = triggers.shapes.at(exchange.shape);
        let start = now + exchange.opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let mut laid = exchange.lay_out(&self.rules, shape, start, ACCESS_POINT);
        if let Some(rts) = &exchange.opening {
            laid.open(rts.steps(now));
        }
        self.draw_acks(&mut exchange);
        triggers.last = Last::Trigger(exchange.kind);
        self.count_triggered(&exchange);
        self.occupy(laid, f, exchange.answers.is_some());
        out.push(Command::Began);
        self.report_triggered(&exchange, laid.end - laid.start, out);
        out.push(Command::Step(exchange.answered().unwrap_or(laid.end)));
        if exchange.kind == TriggerKind::Basic {
            let tones = |user: &TriggeredUser| (user.station, user.ru.size.tones());
            let asked = exchange.users.iter().filter(|user| !user.is_random);
            let served: Vec<(u32, u32)> = asked.map(tones).collect();
            triggers.scheduler.on_sent(exchange.airtime().total(), &served);
        }
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
        let null = self.null(&triggers.settings, kind);
        if user.room >= null {
            (user.response, user.on_air) = (Response::Null, null);
        }
        if kind == TriggerKind::Basic {
            self.fill_answer(now, user, source);
        }
        let (own, is_null) = (self.function_of(user), user.response == Response::Null);
        let told = match user.response {
            Response::Nothing => return,
            Response::Null => self.edcafs_of(user.station),
            _ => own..own + 1,
        };
        for e in told {
            let queue = self.backlog(e, source);
            triggers.reports.tell(e, triggers.settings.queue_size, queue, is_null);
        }
        let noise = &mut self.nodes[ACCESS_POINT as usize].noise;
        user.arrives = if user.response == Response::Data {
            draw_lost(noise, link.data_loss, user.mpdus(), &mut user.lost);
            user.lost.count() < u32::from(user.mpdus())
        } else {
            !noise.chance(link.ack_loss)
        };
    }

    /// The PSDU of a station: of the access category that has won at the access point, or else of
    /// the highest that has packets; none if it has none that fits.
    fn fill_answer(&mut self, now: Instant, user: &mut TriggeredUser, source: &mut dyn MsduSource) {
        let preferred = u32::from(user.category);
        let limits = self.rules.framing.aggregation.expect("triggers come with A-MPDUs");
        let room = PsduLimits { frames: limits.frames, bytes: user.room.min(limits.bytes) };
        let others = (0..self.rules.per_node).rev().filter(|&category| category != preferred);
        for category in std::iter::once(preferred).chain(others) {
            let e = user.station * self.rules.per_node + category;
            let Edcaf { node, class, originator, .. } = &mut self.edcafs[e as usize];
            let has_data = originator.management().is_none() && !originator.is_idle();
            if !has_data || originator.to() != Some(ACCESS_POINT) {
                continue;
            }
            let next = |most| source.next(*node, *class, ACCESS_POINT, most);
            let psdu = Edcaf::assemble_user(originator, now, &self.rules, room, &user.mode, next);
            let request = Some(Psdu::REQUEST)
                .filter(|psdu| originator.owes_request() && DELIMITER + psdu.bytes <= user.room);
            let Some(psdu) = psdu.or(request) else {
                originator.take_back();
                continue;
            };
            user.psdu = psdu;
            user.category = category as u8;
            (user.response, user.on_air) = match psdu.mpdus {
                0 => (Response::Request, DELIMITER + psdu.bytes),
                _ => (Response::Data, psdu.bytes),
            };
            return;
        }
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
            let repeated = self.edcaf(self.function_of(user)).originator.repeated();
            let frames = &mut self.nodes[user.station as usize].counters.frames;
            frames.count_data(user.rate, user.mpdus(), repeated);
        }
    }

    /// Reports the airtime of each station: its share of the exchange is that of its tones, which
    /// stations that collide divide. That of empty resource units is the access point's.
    fn report_triggered(
        &self,
        exchange: &TriggeredExchange,
        used: Duration,
        out: &mut Vec<Command>,
    ) {
        let tones = exchange.units().map(|unit| unit[0].ru.size.tones());
        let of_units = exchange.units().zip(shares(used, tones));
        let of_users =
            of_units.flat_map(|(unit, used)| unit.iter().zip(shares(used, unit.iter().map(|_| 1))));
        let mut empty = Duration::ZERO;
        for (user, used) in of_users {
            if user.response == Response::Nothing {
                empty += used;
                continue;
            }
            let repeated = self.edcaf(self.function_of(user)).originator.repeated();
            let mpdus = Mpdus::of(user.mpdus(), if user.mpdus() > 0 { repeated } else { 0 });
            let (node, peer, arrived) = (user.station, Some(ACCESS_POINT), user.arrives());
            out.push(Command::ExchangeSent { node, peer, used, arrived, mpdus });
        }
        if empty > Duration::ZERO {
            let (node, peer, mpdus) = (ACCESS_POINT, None, Mpdus::default());
            out.push(Command::ExchangeSent { node, peer, used: empty, arrived: false, mpdus });
        }
    }
}
