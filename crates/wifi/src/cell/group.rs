//! An access point that sends to several stations at once.
//!
//! The access point has an originator for each station. That of the receiver whose MSDUs are in
//! service for a PPDU of a single user is the EDCAF's own, as without OFDMA; the others are kept
//! here, and change places with it. An EDCAF is idle only if all of them are: otherwise its own is
//! one that is not.
//!
//! No other node can disturb an exchange, so that all its frames are computed when it begins, as
//! those of other exchanges are. Noise destroys MPDUs, BlockAckReqs and BlockAcks of each user
//! independently; a MU-BAR is received by some users and not by others.

mod assemble;
mod count;
mod ending;
mod watch;

use super::several::{Protected, Several};
use super::{ACCESS_POINT, Cell, FrameOnAir, link_direction};
use crate::MsduSource;
use crate::mac::mu::scheduler::{MuScheduler, StationView};
use crate::mac::mu::{Mu, MuCounters, MuExchange, MuUser, RandomAccessCounters, Shape, Shapes};
use crate::mac::{Edcaf, Exchange, Originator, PeerRate, Rules};
use crate::phy::he::RuSize;
use kernel::{Duration, Instant};
use std::mem::swap;

/// What an access point has that sends to several stations at once.
#[derive(Debug)]
pub(super) struct Groups {
    settings: Mu,
    /// By access category of the access point.
    queues: Vec<Queue>,
    shapes: Shapes<Shape>,
    /// Of the exchange before: its lists are used again.
    spare: Option<MuExchange>,
    order: Vec<u32>,
    views: Vec<StationView>,
    sizes: Vec<RuSize>,
    served: Vec<(u32, u32)>,
    /// Who has answered in the TXOP.
    pub(super) protected: Protected,
    /// The last exchange ended with a PPDU of several users.
    pub(super) ended_in_group: bool,
    counters: MuCounters,
}

/// The MSDUs in service of an access category, and who is served next.
#[derive(Debug)]
struct Queue {
    /// By receiver; the first is that of broadcasts. The place of `present` is a stand-in.
    others: Vec<Originator>,
    /// Whose originator the EDCAF has.
    present: u32,
    scheduler: Box<dyn MuScheduler>,
    /// When each receiver was last served.
    served: Vec<Option<Instant>>,
    /// The last PPDU was a frame to all.
    was_to_all: bool,
}

/// The place of broadcasts among the receivers.
const ALL: u32 = 0;

impl Queue {
    fn new(settings: &Mu, stations: u32) -> Self {
        let others = (0..=stations).map(|_| Originator::new(false)).collect();
        let scheduler = settings.scheduler.get().build(1..=stations);
        Self {
            others,
            present: 0,
            scheduler,
            served: vec![None; stations as usize + 1],
            was_to_all: false,
        }
    }

    /// The EDCAF serves this receiver from now on.
    fn turn_to(&mut self, edcaf: &mut Edcaf, receiver: u32) {
        if receiver != self.present {
            swap(&mut edcaf.originator, &mut self.others[self.present as usize]);
            swap(&mut edcaf.originator, &mut self.others[receiver as usize]);
            self.present = receiver;
        }
    }

    /// The originator of a receiver.
    fn of<'a>(&'a self, edcaf: &'a Edcaf, receiver: u32) -> &'a Originator {
        if receiver == self.present { &edcaf.originator } else { &self.others[receiver as usize] }
    }

    fn of_mut<'a>(&'a mut self, edcaf: &'a mut Edcaf, receiver: u32) -> &'a mut Originator {
        if receiver == self.present {
            &mut edcaf.originator
        } else {
            &mut self.others[receiver as usize]
        }
    }

    /// If the EDCAF's own originator is idle, and another is not, they change places.
    fn bring_forward(&mut self, edcaf: &mut Edcaf) {
        if edcaf.is_idle()
            && let Some(busy) = self.others.iter().position(|other| !other.is_idle())
        {
            self.turn_to(edcaf, busy as u32);
        }
    }

    /// A frame to all is next, if there is one: these go alone, and in turns with the PPDUs to
    /// stations. Returns whether it is.
    fn turn_to_all(
        &mut self,
        edcaf: &mut Edcaf,
        now: Instant,
        rules: &Rules,
        source: &mut dyn MsduSource,
    ) -> bool {
        let (node, class) = (edcaf.node, edcaf.class);
        let own = self.of_mut(edcaf, ALL);
        if own.is_idle()
            && let Some(packet) = source.first(node, class, None)
        {
            own.begin_service(&rules.framing, now, packet, None);
        }
        let is_next = !own.is_idle() && !self.was_to_all;
        if is_next {
            self.turn_to(edcaf, ALL);
        }
        is_next
    }

    /// A PPDU to these stations begins, to each with so many tones; to all if there are none.
    fn note_sent(&mut self, now: Instant, lasts: Duration, served: &[(u32, u32)]) {
        self.was_to_all = served.is_empty();
        for &(station, _) in served {
            self.served[station as usize] = Some(now);
        }
        self.scheduler.on_sent(lasts, served);
    }

    /// All originators but that of the EDCAF.
    fn others(&self) -> impl Iterator<Item = &Originator> {
        self.others.iter()
    }
}

impl Groups {
    /// `None` if the access point sends to one station at a time.
    pub(super) fn of(rules: &Rules, stations: u32, edcafs: &mut [Edcaf]) -> Option<Box<Self>> {
        rules.framing.aggregation?;
        let settings = rules.config.mu.as_ref()?;
        let own = edcafs.iter_mut().filter(|edcaf| edcaf.node == ACCESS_POINT);
        let queues = own.map(|edcaf| {
            edcaf.originator = Originator::new(false);
            Queue::new(settings, stations)
        });
        Some(Box::new(Self {
            settings: settings.clone(),
            queues: queues.collect(),
            shapes: Shapes::default(),
            spare: None,
            order: Vec::new(),
            views: Vec::new(),
            sizes: Vec::new(),
            served: Vec::new(),
            protected: Protected::new(settings.protection),
            ended_in_group: false,
            counters: MuCounters::of(stations),
        }))
    }

    /// The lists of an exchange that is over are used again.
    pub(super) fn keep_spare(&mut self, group: MuExchange) {
        self.spare = Some(group);
    }

    /// Counters of RA-RUs.
    pub(super) fn random(&mut self) -> &mut RandomAccessCounters {
        &mut self.counters.random
    }

    /// A PPDU to these users has begun.
    fn note_sent(&mut self, now: Instant, f: u32, group: &MuExchange) {
        self.served.clear();
        let tones = |user: &MuUser| (user.station, user.ru.size.tones());
        self.served.extend(group.users.iter().map(tones));
        self.queues[f as usize].note_sent(now, group.airtime().total(), &self.served);
    }
}

impl Cell {
    /// The exchange with several users on the air, or their part in a collision.
    pub fn group(&self) -> Option<&MuExchange> {
        match self.several()? {
            Several::Group(group) => Some(group),
            Several::Triggered(_) => None,
        }
    }

    /// The MPDUs of a user of the exchange on the air.
    pub fn frames_to<'a>(&'a self, user: &'a MuUser) -> impl Iterator<Item = FrameOnAir<'a>> {
        let originator = self.originator_to(self.sender, user.station);
        (0..user.mpdus()).map(move |i| {
            let (sequence, mpdu) = originator.frame_on_air(usize::from(i));
            let wasted = mpdu.received || user.is_lost(i);
            FrameOnAir { sequence, bytes: mpdu.bytes, wasted, originator, mpdu }
        })
    }

    /// The originator of an EDCAF of the access point for a receiver.
    fn originator_to(&self, f: u32, receiver: u32) -> &Originator {
        let edcaf = self.edcaf(f);
        match &self.groups {
            Some(groups) => groups.queues[f as usize].of(edcaf, receiver),
            None => &edcaf.originator,
        }
    }

    /// The originators that wait while another is served, each with its node.
    pub(super) fn waiting_originators(&self) -> impl Iterator<Item = &Originator> {
        self.groups.iter().flat_map(|groups| groups.queues.iter().flat_map(Queue::others))
    }

    /// An EDCAF of the access point that is idle takes a packet for this receiver into service.
    #[cold]
    #[inline(never)]
    pub(super) fn turn_to(&mut self, f: u32, receiver: Option<u32>) {
        let Some(groups) = &mut self.groups else { return };
        if let Some(queue) = groups.queues.get_mut(f as usize) {
            queue.turn_to(&mut self.edcafs[f as usize], receiver.unwrap_or(ALL));
        }
    }

    /// The service of an EDCAF has ended, and perhaps not that of others.
    #[cold]
    #[inline(never)]
    pub(super) fn bring_forward(&mut self, f: u32) {
        let Some(groups) = &mut self.groups else { return };
        if let Some(queue) = groups.queues.get_mut(f as usize) {
            queue.bring_forward(&mut self.edcafs[f as usize]);
        }
    }

    /// The access point sends to one station alone.
    #[cold]
    #[inline(never)]
    pub(super) fn note_single(&mut self, f: u32, exchange: &Exchange) {
        let to = self.edcaf(f).to().map(|to| (to, 1));
        let Some(groups) = &mut self.groups else { return };
        groups.ended_in_group = false;
        if let Some(queue) = groups.queues.get_mut(f as usize) {
            let lasts = exchange.data().map_or(Duration::ZERO, |data| data.airtime.total());
            queue.note_sent(exchange.start, lasts, to.as_slice());
            self.note_down();
        }
    }

    fn rate_to(rates: &mut [PeerRate], station: u32) -> &mut PeerRate {
        &mut rates[link_direction(ACCESS_POINT, station)]
    }
}
