//! What an access point has that sends to several stations at once: for each access category the
//! MSDUs in service for each station and a scheduler, and what its PPDUs have in common. The
//! medium is beside it: the cell and the space send what it assembles.

#![allow(clippy::inline_always, reason = "what is inlined so runs for each user of a PPDU")]

mod assemble;
mod ending;
mod modes;
mod queue;

pub(crate) use ending::Ending;

use super::members::Members;
use super::protection::Protected;
use super::scheduler::MuScheduler;
use super::{Mu, MuCounters, MuExchange, MuUser, Shape, Shapes, UserCounters};
use crate::mac::{Edcaf, Exchange, Originator, PeerRate, Rules, Settled};
use crate::phy::Width;
use crate::{Command, FrameCounters, MsduSource};
use assemble::Lists;
use kernel::{BitRate, Db, Duration, Instant};
use modes::Modes;
use queue::Queue;

/// The stations of an access point, as its medium knows them.
pub(crate) trait Stations {
    /// The width of PPDUs of several users: all stations that take part have the same.
    fn width(&self) -> Width;

    /// Whether a station takes part in PPDUs of several users: its modes have resource units.
    fn has_units(&self, station: u32) -> bool;

    /// The data rate at which the access point sends to a station.
    fn bit_rate(&self, station: u32) -> BitRate;

    /// The mode in which the access point sends to a station.
    fn rate(&mut self, station: u32) -> &mut PeerRate;

    /// The signal to noise ratio at which a station receives frames in its mode, if it is known.
    fn snr(&self, station: u32) -> Option<Db>;
}

/// With whom and when a PPDU is assembled.
pub(crate) struct Occasion<'a, S> {
    /// When it begins.
    pub(crate) now: Instant,
    /// How long its exchange may last.
    pub(crate) within: Duration,
    /// The rules of medium access.
    pub(crate) rules: &'a Rules,
    /// The stations.
    pub(crate) stations: &'a mut S,
    /// Packets that wait.
    pub(crate) source: &'a mut dyn MsduSource,
    /// What the medium reports.
    pub(crate) out: &'a mut Vec<Command>,
}

/// The access point's part in downlink OFDMA.
#[derive(Debug)]
pub(crate) struct Downlink {
    settings: Mu,
    members: Members,
    /// By access category.
    queues: Vec<Queue>,
    schedulers: Vec<Box<dyn MuScheduler>>,
    shapes: Shapes<Shape>,
    modes: Modes,
    /// Of the exchange before: its lists are used again.
    spare: Option<Box<MuExchange>>,
    lists: Lists,
    served: Vec<(u32, u32)>,
    /// Who has answered in the TXOP.
    pub(crate) protected: Protected,
    /// By place of the station.
    pub(crate) counters: MuCounters,
}

impl Downlink {
    /// That of an access point with these EDCAFs and these stations, in ascending order of their
    /// numbers. `None` if it sends to one station at a time.
    pub(crate) fn of<'a>(
        rules: &Rules,
        stations: Vec<u32>,
        edcafs: impl Iterator<Item = &'a mut Edcaf>,
    ) -> Option<Self> {
        rules.framing.aggregation?;
        let settings = rules.config.mu.as_ref()?;
        let number = stations.len() as u32;
        let queues = edcafs.map(|edcaf| {
            edcaf.originator = Originator::new(false);
            Queue::new(number)
        });
        let queues: Vec<Queue> = queues.collect();
        let scheduler = |_: &Queue| settings.scheduler.get().build(1..=number);
        Some(Self {
            settings: settings.clone(),
            schedulers: queues.iter().map(scheduler).collect(),
            queues,
            members: Members::of(stations),
            shapes: Shapes::default(),
            modes: Modes::default(),
            spare: None,
            lists: Lists::default(),
            served: Vec::new(),
            protected: Protected::new(settings.protection),
            counters: MuCounters::of(number),
        })
    }

    /// The EDCAF of an access category serves this receiver from now on; `None` is all.
    pub(crate) fn turn_to(&mut self, category: u32, edcaf: &mut Edcaf, receiver: Option<u32>) {
        let place = self.members.place(receiver);
        self.queues[category as usize].turn_to(edcaf, place);
    }

    /// The service of the EDCAF has ended, and perhaps not that of other originators.
    pub(crate) fn bring_forward(&mut self, category: u32, edcaf: &mut Edcaf) {
        self.queues[category as usize].bring_forward(edcaf);
    }

    /// A station has left: what is in service for it is flushed. `is_on_air`: when the exchange in
    /// progress ends.
    pub(crate) fn flush(
        &mut self,
        category: u32,
        edcaf: &mut Edcaf,
        station: u32,
        is_on_air: bool,
        rules: &Rules,
        settled: &mut Vec<Settled>,
    ) {
        if edcaf.to() == Some(station) {
            return edcaf.flush(rules, station, is_on_air, settled);
        }
        let own = self.originator_mut(category, edcaf, station);
        if !own.is_idle() && own.management().is_none() {
            own.flush(&rules.framing, !is_on_air, settled);
        }
    }

    /// The originator of an access category for a station.
    #[inline(always)]
    pub(crate) fn originator<'a>(
        &'a self,
        category: u32,
        edcaf: &'a Edcaf,
        station: u32,
    ) -> &'a Originator {
        self.queues[category as usize].of(edcaf, self.members.place(Some(station)))
    }

    /// That for a user of a PPDU.
    #[inline(always)]
    pub(crate) fn of_user<'a>(
        &'a self,
        category: u32,
        edcaf: &'a Edcaf,
        user: &MuUser,
    ) -> &'a Originator {
        self.queues[category as usize].of(edcaf, user.place)
    }

    /// The same, to change it.
    #[inline(always)]
    pub(crate) fn of_user_mut<'a>(
        &'a mut self,
        category: u32,
        edcaf: &'a mut Edcaf,
        user: &MuUser,
    ) -> &'a mut Originator {
        self.queues[category as usize].of_mut(edcaf, user.place)
    }

    /// That for a station, to change it.
    #[inline(always)]
    pub(crate) fn originator_mut<'a>(
        &'a mut self,
        category: u32,
        edcaf: &'a mut Edcaf,
        station: u32,
    ) -> &'a mut Originator {
        let place = self.members.place(Some(station));
        self.queues[category as usize].of_mut(edcaf, place)
    }

    /// The originators that wait while another is served.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Originator> {
        self.queues.iter().flat_map(Queue::others)
    }

    /// What PPDUs to the users of an exchange have in common.
    pub(crate) fn shape(&self, group: &MuExchange) -> &Shape {
        self.shapes.at(group.shape)
    }

    /// The lists of an exchange that is over are used again.
    pub(crate) fn keep_spare(&mut self, group: Box<MuExchange>) {
        self.spare = Some(group);
    }

    /// A PPDU to these users begins: it counts as one attempt, with data for each, and the
    /// scheduler is told of it, also if it collides. (It has taken its airtime, and the access
    /// point does not know what has become of it. ns-3's scheduler takes credits from those whom it
    /// has chosen, too, whatever follows.)
    pub(crate) fn on_sent(&mut self, group: &MuExchange, frames: &mut FrameCounters) {
        self.count(group, frames);
        let tones = |user: &MuUser| (user.place, user.ru.size.tones());
        self.served.clear();
        self.served.extend(group.users.iter().map(tones));
        self.tell_scheduler(u32::from(group.category), group.airtime().total());
    }

    /// The data of an exchange with one station begin, or with all. The same holds as for
    /// [`Self::on_sent`].
    pub(crate) fn on_sent_alone(&mut self, category: u32, exchange: &Exchange, to: Option<u32>) {
        let Some(data) = exchange.data() else { return };
        self.served.clear();
        self.served.extend(to.map(|to| (self.members.place(Some(to)), 1)));
        self.tell_scheduler(category, data.airtime.total());
    }

    fn tell_scheduler(&mut self, category: u32, lasts: Duration) {
        let category = category as usize;
        self.queues[category].was_to_all = self.served.is_empty();
        self.schedulers[category].on_sent(lasts, &self.served);
    }

    /// What a station has had of PPDUs to several users.
    pub(crate) fn user_counters(&self, station: u32) -> Option<&UserCounters> {
        let place = self.members.place(Some(station)) as usize;
        if place == 0 { None } else { self.counters.users.get(place) }
    }

    fn count(&mut self, group: &MuExchange, frames: &mut FrameCounters) {
        let all = &mut self.counters;
        frames.data_attempts += 1;
        all.ppdus += 1;
        for user in &group.users {
            frames.count_mpdus(user.mpdus(), user.psdu.repeated.into());
            all.data_rates += user.rate.0;
            all.users[user.place as usize].count(user);
        }
    }
}
