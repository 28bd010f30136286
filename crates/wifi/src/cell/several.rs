//! An exchange of the access point with several stations, in either direction: how it begins, and
//! what follows its first PPDU. `group` and `triggered` have what differs.

mod watch;

pub(super) use watch::outcome;

use super::{ACCESS_POINT, Cell};
use crate::mac::mu::{GroupDeferral, LastAnswer, MuExchange, MuRts, Response, TriggeredExchange};
use crate::mac::{Acknowledgement, Edcaf, Exchange, ExchangeOutcome, Step, Txop};
use crate::{Command, MsduSource};
use kernel::{Bytes, Duration, Instant};

/// An exchange with several stations, on the air or about to begin.
#[derive(Debug)]
pub(super) enum Several {
    /// A PPDU to them.
    Group(Box<MuExchange>),
    /// A Trigger frame, and their PPDUs.
    Triggered(Box<TriggeredExchange>),
}

/// An exchange with several stations that is over, while its TXOP goes on.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) exchange: Exchange,
    several: Several,
    /// The shape of the exchange may be gone when it matters.
    eifs: Option<Eifs>,
}

/// The EIFSs after a Trigger frame, after answers to it, and after a Multi-STA BlockAck.
#[derive(Clone, Copy, Debug)]
struct Eifs {
    trigger: Duration,
    answers: Duration,
    ack: Duration,
}

impl Several {
    /// A party of it, in the order of their resource units.
    fn party(&self, nth: usize) -> Option<Party> {
        match self {
            Self::Group(group) => group.users.get(nth).map(|user| Party {
                station: user.station,
                is_asked: true,
                has_part: user.decodes(group.acknowledgement),
            }),
            Self::Triggered(triggered) => triggered.users.get(nth).map(|user| {
                let is_asked = !user.is_random;
                let has_part = user.response != Response::Nothing;
                Party { station: user.station, is_asked, has_part }
            }),
        }
    }

    fn parties(&self) -> impl Iterator<Item = Party> {
        (0..).map_while(|nth| self.party(nth)).filter(|party| party.station != ACCESS_POINT)
    }

    /// The stations whose NAV its first PPDU does not set. Who has missed the Trigger frame hears
    /// what the others send.
    pub(super) fn stations(&self) -> impl Iterator<Item = u32> {
        let any = match self {
            Self::Group(_) => true,
            Self::Triggered(triggered) => triggered.answers.is_some(),
        };
        let has_part = move |party: &Party| !any || party.has_part;
        self.parties().filter(has_part).map(|party| party.station)
    }

    /// Those that it names.
    fn asked(&self) -> impl Iterator<Item = u32> {
        self.parties().filter(|party| party.is_asked).map(|party| party.station)
    }

    /// The MU-RTS that precedes it.
    pub(super) fn opening(&self) -> Option<&MuRts> {
        match self {
            Self::Group(group) => group.opening.as_ref(),
            Self::Triggered(triggered) => triggered.opening.as_ref(),
        }
    }

    /// Whether it fails if nobody answers.
    fn asks_somebody(&self) -> bool {
        match self {
            Self::Group(_) => true,
            Self::Triggered(triggered) => !triggered.asks_nobody(),
        }
    }

    /// What has become of the last answer for which the access point has waited, if nothing is lost
    /// of a PPDU to several stations.
    fn last_answer(&self) -> LastAnswer {
        match self {
            Self::Triggered(triggered) if triggered.answers.is_none() => LastAnswer::Missing,
            _ => LastAnswer::Heard,
        }
    }
}

/// A station that has a part in an exchange.
struct Party {
    station: u32,
    is_asked: bool,
    /// It has decoded something of a PPDU, or sent something after a Trigger frame.
    has_part: bool,
}

impl Cell {
    /// The exchange with several stations on the air.
    pub(super) fn several(&self) -> Option<&Several> {
        let (f, several) = self.several.as_ref()?;
        let alone = self.exchange.as_ref()?.outcome != ExchangeOutcome::Collision;
        (alone && self.sender == *f).then_some(several)
    }

    /// The next PPDU of an EDCAF, or its part in a collision, if that is for several stations or
    /// triggers them.
    pub(super) fn several_of(&self, f: u32) -> Option<&Several> {
        let (own, several) = self.several.as_ref()?;
        (*own == f).then_some(several)
    }

    /// How long it lasts.
    pub(super) fn several_lasts(&self, f: u32) -> Option<Duration> {
        let several = self.several_of(f)?;
        if let Some(rts) = several.opening() {
            return Some(rts.request.total());
        }
        Some(match several {
            Several::Group(group) => group.airtime().total(),
            Several::Triggered(triggered) => self.trigger_lasts(triggered),
        })
    }

    /// How long the access point waits for the last response to it that is missing.
    pub(super) fn timeout_of(&self, f: u32, several: &Several) -> Duration {
        let of_legacy = self.edcaf(f).response.timeout;
        match several {
            Several::Group(group) if group.acknowledgement == Acknowledgement::BarChain => {
                of_legacy
            }
            Several::Group(group) => self.shape_of(group).triggered.timeout,
            Several::Triggered(triggered) => self.uplink_shape(triggered).timeout,
        }
    }

    /// The same of the first frame of an EDCAF that collides.
    pub(super) fn exposed_timeout(&self, f: u32) -> Duration {
        match self.several_of(f).filter(|several| several.opening().is_none()) {
            Some(several) => self.timeout_of(f, several),
            None => self.edcaf(f).exposed_response(self.rules.timing()).timeout,
        }
    }

    /// An EDCAF that has won the medium alone begins an exchange with several stations. Returns
    /// whether there is one.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_several(
        &mut self,
        now: Instant,
        f: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        match self.several.take_if(|(own, _)| *own == f) {
            Some((_, Several::Group(group))) => self.begin_group(now, f, group, out),
            Some((_, Several::Triggered(triggered))) => {
                self.begin_triggered(now, f, triggered, source, out);
            }
            None => return false,
        }
        true
    }

    /// The holder of a TXOP begins such an exchange, if it is its turn and ends within the TXOP.
    #[cold]
    #[inline(never)]
    pub(super) fn continue_several(
        &mut self,
        now: Instant,
        txop: &Txop,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let (f, within) = (txop.holder, txop.left(now));
        let triggers = self.assemble_triggered(now, f, within, false, source, out);
        let may_send = !txop.is_for_answers() && !self.edcaf(f).is_idle();
        if !(triggers || may_send && self.assemble_group(now, f, within, source, out)) {
            return false;
        }
        self.txop = Some(txop.resumed()).filter(|_| !txop.is_for_answers());
        self.begin_several(now, f, source, out)
    }

    /// An exchange of an EDCAF occupies the medium.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    pub(super) fn occupy(&mut self, exchange: Exchange, f: u32, data_pending: bool) -> &Exchange {
        self.sender = f;
        self.data_pending = data_pending;
        self.handed = (0, Bytes::ZERO);
        self.exchange.insert(exchange)
    }

    /// The data of several stations end, or the exchange.
    #[cold]
    #[inline(never)]
    pub(super) fn on_several_step(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(exchange) = self.exchange else { return };
        if self.data_pending {
            self.data_pending = false;
            if let Some((f, several)) = self.several.take() {
                match &several {
                    Several::Group(group) => self.receive_group(f, group, out),
                    Several::Triggered(triggered) => self.receive_triggered(now, triggered, out),
                }
                self.several = Some((f, several));
            }
            if exchange.end > now {
                return out.push(Command::Step(exchange.end));
            }
        }
        self.end_several(now, &exchange, out);
    }

    /// The exchange is over.
    fn end_several(&mut self, now: Instant, exchange: &Exchange, out: &mut Vec<Command>) {
        if self.watch.is_some() {
            self.record_several(exchange);
        }
        self.exchange = None;
        let Some((f, several)) = self.several.take() else { return };
        let is_answered = exchange.outcome == ExchangeOutcome::Success;
        self.note_end(&several);
        let goes_on = match &several {
            Several::Group(group) => group.is_complete && self.may_go_on(exchange.end, out),
            Several::Triggered(triggered) => {
                self.start_timers(now, triggered, out);
                is_answered
                    && (self.may_go_on(exchange.end, out) || self.may_ask(now, f, triggered, out))
            }
        };
        if goes_on {
            if let Some(groups) = &mut self.groups {
                match &several {
                    Several::Group(group) => groups.downlink.protected.add(group.protects()),
                    Several::Triggered(own) => groups.downlink.protected.add(own.protects()),
                }
            }
            out.push(Command::Ended);
            self.note_deferral(exchange, &several);
            self.settle_several(now, f, &several, is_answered, out);
            return self.keep(exchange, several);
        }
        self.txop = None;
        let timeout = self.timeout_of(f, &several);
        let deferral = self.deferral(exchange, &several);
        let timing = &self.rules.config.timing;
        let reserved = exchange.reserved_until(timing);
        let own = deferral.as_ref().map_or(reserved, |all| all.reserved.max(reserved));
        let reserved_until = own.max(self.nav_before(None));
        let difs = timing.difs();
        self.contention.begin_idle(reserved_until + difs, reserved_until);
        self.resume_earlier_after_group(f, exchange.end);
        out.push(Command::Ended);
        if !is_answered && several.asks_somebody() {
            self.nodes[ACCESS_POINT as usize].counters.exchanges.noise_losses += 1;
        }
        self.settle_several(now, f, &several, is_answered, out);
        match &deferral {
            Some(deferral) => self.resume_users(exchange.end, reserved_until, deferral),
            None => self.resume_parties(exchange, &several, self.eifs_of(&several)),
        }
        let last = deferral.map_or(several.last_answer(), |deferral| deferral.last);
        match last {
            LastAnswer::Heard => {
                self.resume_without_nav(exchange.end, reserved_until, ACCESS_POINT);
            }
            LastAnswer::Lost(extra) => {
                self.resume(ACCESS_POINT, (exchange.end + extra + difs).into());
            }
            LastAnswer::Missing => {
                let resume = self.resume_after_timeout(exchange.end, exchange.end, timeout);
                self.resume(ACCESS_POINT, resume);
            }
        }
        self.resume_before(own, reserved_until);
        self.keep(exchange, several);
        self.schedule_access(out);
    }

    /// Another exchange of the TXOP follows, and does not end the NAVs that this has set.
    fn note_deferral(&mut self, exchange: &Exchange, several: &Several) {
        let Some(deferral) = self.deferral(exchange, several) else { return };
        if let Some(groups) = &mut self.groups {
            groups.before = Some(match groups.before.take() {
                Some(before) => before.and(deferral),
                None => deferral,
            });
        }
    }

    /// Who defers after a PPDU to several stations of which something was lost.
    fn deferral(&self, exchange: &Exchange, several: &Several) -> Option<GroupDeferral> {
        let Several::Group(group) = several else { return None };
        let sent = exchange.data().map_or(exchange.end, Step::end);
        group.deferral(self.rules.timing(), self.shape_of(group), sent)
    }

    /// The users of a PPDU count slots again, each after its own NAV or EIFS.
    pub(super) fn resume_users(
        &mut self,
        end: Instant,
        reserved_until: Instant,
        deferral: &GroupDeferral,
    ) {
        let difs = self.rules.timing().difs();
        for user in &deferral.users {
            let nav = self.nav_before(Some(user.station));
            let until = user.until().max(end).max(nav);
            if until != reserved_until {
                self.count_separately(user.station, until + difs);
            }
        }
    }

    /// When the stations of an exchange that is over count slots again, if not with all others.
    fn resume_parties(&mut self, exchange: &Exchange, several: &Several, eifs: Option<Eifs>) {
        // Whose slots have begun keeps them: those who wait longer come first.
        if let (Several::Triggered(triggered), Some(eifs)) = (several, eifs) {
            self.resume_in_vain(exchange.end, triggered, eifs);
        }
        let reserved_until = exchange.reserved_until(self.rules.timing());
        for station in several.stations() {
            self.resume_without_nav(exchange.end, reserved_until, station);
        }
    }

    /// The same at the end of a TXOP of which this was the last exchange.
    pub(super) fn resume_after(&mut self, last: &Ended) {
        self.resume_parties(&last.exchange, &last.several, last.eifs);
    }

    /// The EIFSs after the frames of an exchange, if a Trigger frame has begun it.
    fn eifs_of(&self, several: &Several) -> Option<Eifs> {
        let Several::Triggered(triggered) = several else { return None };
        let shape = self.uplink_shape(triggered);
        let eifs = |mode| self.rules.timing().eifs(mode);
        let [trigger, answers, ack] = [&shape.mode, &shape.slowest, &shape.ack_mode].map(eifs);
        Some(Eifs { trigger, answers, ack })
    }

    /// Stations wait in vain for a Multi-STA BlockAck. Others could not decode it, or a Trigger
    /// frame that nobody answers: they defer for an EIFS (clause 10.3.2.3.7), and so does the
    /// access point if it has decoded no answer. Who has missed a Trigger frame that others answer
    /// hears what they send.
    fn resume_in_vain(&mut self, end: Instant, triggered: &TriggeredExchange, eifs: Eifs) {
        let Eifs { trigger, answers, ack } = eifs;
        for user in &triggered.users {
            if triggered.answers.is_none() && !user.is_random {
                self.count_separately(user.station, end + trigger);
            } else if user.sends() && triggered.ack.is_none() {
                let timeout = self.rules.timing().response_timeout(&user.mode);
                self.resume(user.station, self.resume_after_timeout(end, end, timeout));
            } else if user.sends() && !user.hears_ack() {
                self.count_separately(user.station, end + ack);
            }
        }
        if triggered.answers.is_some() && !triggered.is_answered() {
            self.resume(ACCESS_POINT, (end + answers).into());
        }
    }

    /// The attempt ends: each station and the access point know what has arrived.
    fn settle_several(
        &mut self,
        now: Instant,
        f: u32,
        several: &Several,
        is_answered: bool,
        out: &mut Vec<Command>,
    ) {
        match several {
            Several::Group(group) => self.settle_group(now, f, group, is_answered, out),
            Several::Triggered(triggered) => self.settle_triggered(now, f, triggered, out),
        }
    }

    /// The lists of an exchange that is over are used again. Where a TXOP ends without another
    /// exchange, it matters who had a part in a triggered one.
    fn keep(&mut self, exchange: &Exchange, several: Several) {
        match several {
            Several::Group(group) => {
                if let Some(groups) = &mut self.groups {
                    groups.downlink.keep_spare(group);
                }
            }
            Several::Triggered(_) if self.txop.is_some() => {
                let eifs = self.eifs_of(&several);
                if let Some(triggers) = &mut self.triggers {
                    triggers.ended = Some(Ended { exchange: *exchange, several, eifs });
                }
            }
            Several::Triggered(_) => {}
        }
    }

    /// The last exchange of the TXOP, if it was triggered.
    pub(super) fn take_ended(&mut self) -> Option<Ended> {
        self.triggers.as_mut()?.ended.take()
    }

    /// The PPDU to several stations, or the Trigger frame, has collided: nobody answers.
    #[cold]
    #[inline(never)]
    pub(super) fn miss_several(&mut self, now: Instant, f: u32, out: &mut Vec<Command>) {
        match self.several.take() {
            Some((_, Several::Group(mut group))) => {
                for user in &mut group.users {
                    user.is_answered = false;
                    user.is_sent = group.opening.is_none();
                }
                self.settle_group(now, f, &group, false, out);
                if let Some(groups) = &mut self.groups {
                    groups.downlink.keep_spare(group);
                }
            }
            _ => self.settle_access_point(f, false),
        }
    }

    /// Counts an attempt that collides, if it is with several stations. The access point does not
    /// know of the collision: what it sends next is as after any other frame.
    pub(super) fn count_collided_several(&mut self, now: Instant, f: u32) -> bool {
        let Some((_, several)) = self.several.take_if(|(own, _)| *own == f) else {
            if f < self.rules.per_node && self.groups.is_some() {
                self.note_collided_single(now, f);
            }
            return false;
        };
        match &several {
            Several::Group(group) if group.opening.is_none() => {
                self.count_group(group);
                self.note_down();
            }
            Several::Triggered(triggered) if triggered.opening.is_none() => {
                Edcaf::count_group(&mut self.nodes[ACCESS_POINT as usize].counters);
                self.note_triggered(now, triggered);
            }
            _ => Edcaf::count_group(&mut self.nodes[ACCESS_POINT as usize].counters),
        }
        self.several = Some((f, several));
        true
    }
}
