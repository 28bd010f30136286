//! What an access point has that triggers stations, and the order of its Trigger frames. The medium
//! is beside it: the cell and the space send what it plans.

use super::asking::Asking;
use super::random::RandomStations;
use super::{AfterBsrp, TriggeredExchange, Uplink, UplinkShape};
use crate::mac::mu::members::Members;
use crate::mac::mu::protection::Protected;
use crate::mac::mu::reports::Reports;
use crate::mac::mu::scheduler::MuScheduler;
use crate::mac::mu::shapes::Shapes;
use crate::mac::mu::{Mu, MuEdcaCategory, TriggerCounters};
use crate::mac::{Edcaf, Rules, TriggerKind};
use crate::phy::{AccessCategory, Mode, Width};
use kernel::{Bytes, Duration, Instant, Seed};
use wire::TrafficClass;

/// The stations of an access point that triggers, as their medium knows them.
pub(crate) trait Responders {
    /// The width of HE TB PPDUs: all stations that take part have the same.
    fn width(&self) -> Width;

    /// Whether a station can answer a Trigger frame: it belongs to the access point, and its modes
    /// have resource units.
    fn can_answer(&self, station: u32) -> bool;

    /// The mode in which a station sends to the access point.
    fn mode(&self, station: u32) -> Mode;

    /// Whether a station is awake, as far as the access point knows.
    fn is_awake(&self, station: u32) -> bool;
}

/// An EDCAF of the access point may send now, for so long.
pub(crate) struct Turn<'a> {
    pub(crate) now: Instant,
    /// Its access category.
    pub(crate) category: u32,
    pub(crate) edcaf: &'a Edcaf,
    pub(crate) within: Duration,
    /// It is the first PPDU of an access.
    pub(crate) is_first: bool,
    pub(crate) rules: &'a Rules,
    pub(crate) stations: &'a dyn Responders,
    /// Who needs no MU-RTS.
    pub(crate) protected: &'a Protected,
}

/// The access point's part in uplink OFDMA.
#[derive(Debug)]
pub(crate) struct Triggering {
    pub(super) mu: Mu,
    pub(crate) settings: Uplink,
    pub(super) scheduler: Box<dyn MuScheduler>,
    pub(super) shapes: Shapes<UplinkShape>,
    pub(super) reports: Reports,
    pub(super) access_point: u32,
    pub(super) members: Members,
    /// What stations have that may send in RA-RUs.
    pub(super) random: Option<RandomStations>,
    pub(crate) asking: Asking,
    last: Last,
    /// When each station was last asked for the sizes of its queues.
    pub(super) polled: Vec<Instant>,
    /// By the place of the station.
    counters: Vec<TriggerCounters>,
}

/// What the access point has sent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// Data, or nothing yet.
    Down,
    Trigger(TriggerKind),
}

/// What a Trigger frame asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// What waits at stations whose queues are not empty.
    Queues,
    /// A `QoS` Null, of any station.
    Nulls,
}

impl Triggering {
    /// That of an access point with these stations, in ascending order of their numbers. `None` if
    /// it triggers nobody.
    pub(crate) fn of(
        rules: &Rules,
        access_point: u32,
        stations: Vec<u32>,
        seed: &Seed,
    ) -> Option<Self> {
        rules.framing.aggregation?;
        let mu = rules.config.mu.as_ref()?;
        let settings = mu.uplink.clone()?;
        let number = stations.len() as u32;
        let first = rules.category_of(TrafficClass::BestEffort);
        let members = Members::of(stations);
        Some(Self {
            access_point,
            random: RandomStations::of(&settings, &members, seed),
            mu: mu.clone(),
            scheduler: mu.scheduler.get().build(1..=number),
            shapes: Shapes::default(),
            reports: Reports::new(&settings.reports, number, rules.per_node),
            members,
            asking: Asking::new(first, &settings),
            last: Last::Trigger(TriggerKind::Basic),
            polled: vec![Instant::ZERO; number as usize + 1],
            counters: vec![TriggerCounters::default(); number as usize + 1],
            settings,
        })
    }

    /// The MU EDCA parameters of an access category of the stations, if it has any.
    pub(crate) fn mu_edca(&self, category: u32) -> Option<MuEdcaCategory> {
        self.mu.edca.as_ref()?.of(AccessCategory::ALL[category as usize]).copied()
    }

    /// The shape of a triggered exchange.
    pub(crate) fn shape(&self, triggered: &TriggeredExchange) -> &UplinkShape {
        self.shapes.at(triggered.shape)
    }

    /// The access point has sent data.
    pub(crate) fn note_down(&mut self) {
        self.last = Last::Down;
    }

    /// A Trigger frame begins.
    pub(crate) fn note_sent(&mut self, now: Instant, exchange: &TriggeredExchange) {
        self.last = Last::Trigger(exchange.kind);
        let Self { members, .. } = self;
        let asked = exchange.users.iter().filter(|user| !user.is_random);
        let asked = asked.map(|user| (members.place(Some(user.station)), user.ru.size.tones()));
        let served: Vec<(u32, u32)> = asked.collect();
        for &(place, _) in &served {
            self.counters[place as usize].asked += 1;
            if exchange.kind == TriggerKind::Bsrp {
                self.polled[place as usize] = now;
            }
        }
        if exchange.kind == TriggerKind::Basic {
            self.scheduler.on_sent(exchange.airtime().total(), &served);
        }
    }

    /// The access point has received a PSDU of this category of a station, with which it has told
    /// this of its queue, if anything.
    pub(crate) fn hear(&mut self, now: Instant, station: u32, category: u32, told: Option<Bytes>) {
        let place = self.members.place(Some(station));
        self.reports.hear(now, place, category, told);
    }

    /// A station has begun to belong to the access point, or no longer does: what it has told of
    /// its queues does not hold any more.
    pub(crate) fn forget(&mut self, station: u32) {
        self.reports.forget(self.members.place(Some(station)));
    }

    /// What Trigger frames have done to a station.
    pub(crate) fn counters_of(&self, station: u32) -> &TriggerCounters {
        &self.counters[self.members.place(Some(station)) as usize]
    }

    pub(crate) fn counters_of_mut(&mut self, station: u32) -> &mut TriggerCounters {
        &mut self.counters[self.members.place(Some(station)) as usize]
    }

    /// Whether there is a station that is awake and may have packets.
    pub(crate) fn may_ask_any(&self, now: Instant, stations: &dyn Responders) -> bool {
        let all = self.settings.bsrp || self.settings.random_units(TriggerKind::Basic) > 0;
        self.members.places().any(|place| {
            let station = self.members.at(place);
            let may_have = all || self.waits(now, place);
            may_have && stations.can_answer(station) && stations.is_awake(station)
        })
    }

    /// Whether anything may wait at this station, as far as the access point knows.
    fn waits(&self, now: Instant, place: u32) -> bool {
        self.reports.of(now, place) > Bytes::ZERO
    }

    /// Whether a Basic Trigger frame follows the reports of an exchange in a TXOP without a limit.
    pub(crate) fn may_follow(
        &self,
        now: Instant,
        triggered: &TriggeredExchange,
        edcaf: &Edcaf,
        can_answer: impl Fn(u32) -> bool,
    ) -> bool {
        let is_random = self.settings.random_units(TriggerKind::Basic) > 0;
        let may_wait = |place| can_answer(self.members.at(place)) && self.waits(now, place);
        let waits_any = || self.members.places().any(may_wait);
        let is_unlimited = edcaf.longest() == Duration(u64::MAX);
        triggered.kind == TriggerKind::Bsrp
            && is_unlimited
            && self.settings.after_bsrp == AfterBsrp::Basic
            && (is_random || waits_any())
    }

    /// Which Trigger frame the access point sends, if any: after data, or without data to send, a
    /// BSRP, and then a Basic one. Who answers no BSRP is not asked for data. (The order is that of
    /// ns-3's `RrMultiUserScheduler`.)
    pub(crate) fn assemble(&mut self, turn: &Turn<'_>) -> Option<TriggeredExchange> {
        let has_data = !turn.edcaf.is_idle();
        let must = self.asking.take(turn.category) && !has_data;
        let planned = self.next(turn, has_data, must);
        if planned.is_some() && !has_data {
            self.asking.note(turn.category);
        }
        planned
    }

    /// `must`: it has won the medium to trigger, and has nothing else to send.
    fn next(&mut self, turn: &Turn<'_>, has_data: bool, must: bool) -> Option<TriggeredExchange> {
        use TriggerKind::{Basic, Bsrp};
        if turn.edcaf.originator.management().is_some() {
            return None;
        }
        let (last, asks) = (self.last, self.settings.bsrp);
        let is_anew = turn.is_first || last != Last::Trigger(Bsrp);
        let is_bsrp = asks && (last == Last::Down || is_anew && !has_data);
        let is_basic = last == Last::Down || last == Last::Trigger(Bsrp) || !has_data;
        let found = match () {
            () if is_bsrp => self.trigger(turn, Bsrp, Asked::Nulls),
            () if is_basic => self.trigger(turn, Basic, Asked::Queues),
            () => None,
        };
        if found.is_some() || !must {
            return found;
        }
        // The queues may have become empty since the access point asked for the medium.
        self.trigger(&Turn { within: Duration(u64::MAX), ..*turn }, Basic, Asked::Nulls)
    }
}
