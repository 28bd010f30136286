//! Trigger frames, whom they ask, and the answers.

use super::station::Answer;
use super::units::{Kind, NULL, last, multi_sta};
use super::{Cell, Txop, Winner};
use crate::function::{Function, Hindrance};
use crate::mu::durations::{
    CTS, RX_START_DELAY, announced, control, mu_rts_lasts, triggered_lasts as lasts,
};
use crate::mu::fill::{End, Unit};
use crate::mu::{BEST_EFFORT, units_of};
use kernel::{Duration, Instant};
use std::cmp::Reverse;
use wifi::mac::MuProtection;
use wire::FrameKind;

/// A Trigger frame to the first so many stations.
pub(super) struct Asked {
    pub(super) kind: Kind,
    pub(super) users: usize,
    /// The bytes of each answer.
    pub(super) room: u64,
    pub(super) end: End,
    /// An MU-RTS precedes it.
    pub(super) opens: bool,
}

/// How an exchange has ended.
struct Ended {
    at: Instant,
    is_answered: bool,
}

impl Cell<'_> {
    /// The access point has won the medium: a BSRP precedes each Basic Trigger frame, a SIFS
    /// before, if it polls.
    pub(super) fn trigger_in_txop(&mut self, now: Instant) {
        self.freeze(&[Winner { node: 0, category: BEST_EFFORT }]);
        let mut txop = self.open_txop(now);
        let limit = self.function.parameters.txop_limit;
        let (mut start, mut end) = (now, now);
        let mut next = self.ask(now, &txop);
        while let Some(asked) = next {
            let ended = self.trigger(start, &asked, &mut txop);
            (end, start) = (ended.at, ended.at + self.times.sifs());
            let Function { window, parameters, .. } = &mut self.function;
            if !ended.is_answered {
                *window = (2 * *window + 1).min(parameters.cw_max);
                break;
            }
            self.function.reset_window();
            let has_polled = asked.kind == Kind::Bsrp;
            // Without a limit a TXOP has one exchange, of which the reports are a part.
            let goes_on = if limit == Duration::ZERO { has_polled } else { start < txop.until };
            if !goes_on {
                break;
            }
            next = self.ask_next(start, &txop, self.polls && !has_polled);
        }
        self.function.back_off();
        self.resume(end);
    }

    pub(super) fn open_txop(&mut self, now: Instant) -> Txop {
        self.function.queue.clear();
        self.due = now + self.interval;
        Txop::of(now, self.function.parameters.txop_limit)
    }

    /// The first Trigger frame of a TXOP. If the queues have become empty since it asked for the
    /// medium, and it does not poll, it asks all stations in vain.
    pub(super) fn ask(&mut self, now: Instant, txop: &Txop) -> Option<Asked> {
        let always = Txop::of(now, Duration::ZERO);
        let found = self.ask_next(now, txop, self.polls);
        found.or_else(|| self.plan(now, &always, Kind::Basic, true))
    }

    fn ask_next(&mut self, now: Instant, txop: &Txop, polls: bool) -> Option<Asked> {
        let kind = if polls { Kind::Bsrp } else { Kind::Basic };
        self.plan(now, txop, kind, polls)
    }

    /// Whom a Trigger frame asks, and for how long; those come first in the list of stations.
    /// `all`: whoever it is, for `QoS` Nulls.
    fn plan(&mut self, now: Instant, txop: &Txop, kind: Kind, all: bool) -> Option<Asked> {
        self.stations.sort_by_key(|station| (Reverse(station.credits), station.place));
        self.stations.iter_mut().zip(0..).for_each(|(station, place)| station.place = place);
        let own = self.stations.iter().filter(|station| all || self.supposes(station) > 0);
        let mut found: Vec<_> = own.map(|station| (station.node, station.polled)).collect();
        if all {
            // In turn.
            found.sort_by_key(|&(_, polled)| polled);
        }
        let mut sizes = units_of(self.channels).iter();
        let &(users, tones) = sizes.find(|(number, _)| *number <= found.len() as u64)?;
        let asked: Vec<u32> = found[..users as usize].iter().map(|&(node, _)| node).collect();
        self.stations.sort_by_key(|station| {
            asked.iter().position(|&node| node == station.node).unwrap_or(usize::MAX)
        });
        let opens = kind == Kind::Basic
            && self.protection == MuProtection::MuRts
            && asked.iter().any(|node| !txop.protected.contains(node));
        let rts = if opens { mu_rts_lasts(self.times, users) } else { Duration::ZERO };
        let around = rts + self.around(kind, users);
        let longest = txop.until.since(now).saturating_sub(around).min(self.longest);
        let unit = Unit::of(tones, self.mode.mcs, self.prefers_ldpc);
        let last = last(unit, longest)?;
        let needs = self.stations[..users as usize].iter();
        let needs = needs.map(|own| if all { NULL } else { self.supposes(own).max(NULL) });
        let end = unit.end(needs.max()?.min(unit.room(last))).min(last);
        let room = unit.room_with_extra(end);
        (room >= NULL).then_some(Asked { kind, users: users as usize, room, end, opens })
    }

    /// All besides an MU-RTS and the HE TB PPDUs, if each station gets a bitmap.
    fn around(&self, kind: Kind, users: u64) -> Duration {
        let sifs = self.times.sifs();
        let trigger = kind.lasts(users, self.padding_us) + sifs;
        match kind {
            Kind::Basic => trigger + sifs + multi_sta((0..users).map(|_| 2)),
            Kind::Bsrp => trigger,
        }
    }

    /// A Trigger frame begins. Those whom a Basic one asks lose what all get.
    pub(super) fn note_sent(&mut self, now: Instant, asked: &Asked) {
        let (lasts, all) = (lasts(asked.end).0 as i64, self.stations.len() as i64);
        for (nth, station) in self.stations.iter_mut().enumerate() {
            let is_asked = nth < asked.users;
            if asked.kind == Kind::Basic {
                station.credits += lasts / all;
                station.credits -= i64::from(is_asked) * (lasts / asked.users as i64);
            } else if is_asked {
                station.polled = now;
            }
        }
    }

    /// A Trigger frame, the answers, and a Multi-STA BlockAck after data.
    fn trigger(&mut self, now: Instant, asked: &Asked, txop: &mut Txop) -> Ended {
        let (users, sifs) = (asked.users as u64, self.times.sifs());
        let mut start = now;
        if asked.opens {
            let rts = self.out.add(0, FrameKind::Trigger, now, control(28 + 5 * users));
            for station in &self.stations[..asked.users] {
                start = self.out.add(station.node, FrameKind::Cts, rts + sifs, CTS) + sifs;
            }
        }
        let padded = asked.kind.lasts(users, self.padding_us);
        let sent = self.out.add(0, FrameKind::Trigger, start, padded);
        let planned = start + self.around(asked.kind, users) + announced(asked.end);
        let mut answers = Vec::new();
        for station in &mut self.stations[..asked.users] {
            let hears = !station.noise.chance(station.link.ack_loss);
            let answer = || station.answer(asked, BEST_EFFORT, self.frames, &mut self.noise);
            answers.push(hears.then(answer));
        }
        let begin = sent + sifs;
        let (mut over, mut at) = (begin, sent);
        for (station, answer) in self.stations.iter().zip(&answers) {
            let Some(answer) = answer else { continue };
            let kind = if answer.mpdus > 0 { FrameKind::Data } else { FrameKind::QosNull };
            over = self.out.add(station.node, kind, begin, lasts(asked.end));
            at = begin + announced(asked.end);
        }
        self.hear(over, &answers);
        let told = answers.iter().flatten().filter(|answer| answer.arrives && answer.mpdus > 0);
        let told: Vec<usize> = told.map(|answer| answer.mpdus).collect();
        if !told.is_empty() {
            at = self.out.add(0, FrameKind::BlockAck, at + sifs, multi_sta(told.into_iter()));
        }
        self.free(at, planned);
        self.acknowledge(at, &answers);
        let is_answered = answers.iter().flatten().any(|answer| answer.arrives);
        for (station, answer) in self.stations.iter().zip(&answers) {
            if asked.opens || answer.is_some_and(|answer| answer.arrives) {
                txop.protected.insert(station.node);
            }
        }
        self.note_sent(now, asked);
        if answers.iter().all(Option::is_none) {
            let not_before = at + sifs + self.times.slot + RX_START_DELAY;
            self.hindrance = Hindrance { busy_until: at, not_before };
        } else if !is_answered {
            self.hindrance = self.eifs(at);
        }
        Ended { at, is_answered }
    }

    /// The access point receives what noise does not destroy.
    fn hear(&mut self, over: Instant, answers: &[Option<Answer>]) {
        for (station, answer) in self.stations.iter_mut().zip(answers) {
            if let Some(answer) = answer.filter(|answer| answer.arrives) {
                station.is_heard(over, answer, &mut self.out);
            }
        }
    }

    /// Who hears the Multi-STA BlockAck knows what has arrived, and by MU EDCA contends otherwise
    /// from then on. Who was asked and has answered has no NAV; who has missed the Trigger frame
    /// has that of the others' answers, or defers for an EIFS if there are none.
    fn acknowledge(&mut self, at: Instant, answers: &[Option<Answer>]) {
        let any = answers.iter().flatten().any(|answer| answer.arrives && answer.mpdus > 0);
        let is_silent = answers.iter().all(Option::is_none);
        let (eifs, timeout) = (self.eifs(at), self.times.response_timeout(&self.mode));
        for (station, answer) in self.stations.iter_mut().zip(answers) {
            let Some(answer) = answer else {
                if is_silent {
                    station.hindrance = eifs;
                }
                continue;
            };
            station.hindrance = Hindrance { busy_until: at, not_before: at };
            if answer.mpdus == 0 {
                continue;
            }
            if !any {
                station.hindrance.not_before = at + timeout;
            } else if station.noise.chance(station.link.ack_loss) {
                station.hindrance = eifs;
            } else if answer.arrives {
                let queue = &mut station.queues[answer.category];
                queue.acknowledge(answer.mpdus == 1);
                queue.start_timer(at);
            }
        }
    }
}
