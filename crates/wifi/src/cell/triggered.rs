//! An access point that triggers stations.
//!
//! No other node can disturb the exchange, so that all its frames are computed when it begins, as
//! those of other exchanges are: a Trigger frame, which each station hears or not, the HE TB PPDUs,
//! of which noise destroys MPDUs, and the Multi-STA BlockAck, which again each station hears or
//! not. The EDCAFs of the stations neither win nor lose by it: only what they have in service
//! changes.
//!
//! A cell is one BSS whose NAVs are all its own, so that a station that is asked always finds the
//! medium idle (clause 26.5.2.5).

mod access;
mod assemble;
mod ending;
mod mute;
mod plan;
mod random_access;
mod watch;

use super::several::Several;
use super::{ACCESS_POINT, Cell, FrameOnAir};
use crate::mac::mu::scheduler::MuScheduler;
use crate::mac::mu::{
    Mu, Reports, Shapes, TriggerCounters, TriggeredExchange, TriggeredUser, Uplink, UplinkShape,
};
use crate::mac::{Edcaf, Exchange, ExchangeOutcome, Rules, TriggerKind};
use access::Asking;
use kernel::{Duration, Instant, Seed};
use mute::Timers;
use random_access::RandomUnits;
use wire::TrafficClass;

/// What an access point has that triggers stations.
#[derive(Debug)]
pub(super) struct Triggers {
    mu: Mu,
    settings: Uplink,
    scheduler: Box<dyn MuScheduler>,
    shapes: Shapes<UplinkShape>,
    reports: Reports,
    asking: Asking,
    timers: Timers,
    random: Option<RandomUnits>,
    /// By station: those that send in answer to Trigger frames only.
    silent: Vec<bool>,
    last: Last,
    /// By station.
    counters: Vec<TriggerCounters>,
    /// When each station was last asked for the sizes of its queues.
    polled: Vec<Instant>,
}

/// What the access point has sent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// Data, or nothing yet.
    Down,
    Trigger(TriggerKind),
}

impl Triggers {
    /// `None` if the access point triggers nobody.
    pub(super) fn of(rules: &Rules, stations: u32, seed: &Seed) -> Option<Box<Self>> {
        rules.framing.aggregation?;
        let mu = rules.config.mu.as_ref()?;
        let settings = mu.uplink.clone()?;
        let per_node = rules.per_node;
        let reports = Reports::new(&settings.reports, (stations + 1) * per_node, per_node);
        Some(Box::new(Self {
            mu: mu.clone(),
            random: RandomUnits::of(&settings, stations, seed),
            asking: Asking::new(rules.category_of(TrafficClass::BestEffort), &settings),
            settings,
            scheduler: mu.scheduler.get().build(1..=stations),
            shapes: Shapes::default(),
            reports,
            timers: Timers::new((stations + 1) * per_node),
            silent: vec![false; stations as usize + 1],
            polled: vec![Instant::ZERO; stations as usize + 1],
            last: Last::Trigger(TriggerKind::Basic),
            counters: vec![TriggerCounters::default(); stations as usize + 1],
        }))
    }
}

impl Cell {
    /// The exchange on the air that a Trigger frame has begun.
    pub fn triggered(&self) -> Option<&TriggeredExchange> {
        match self.several()? {
            Several::Triggered(triggered) => Some(triggered),
            Several::Group(_) => None,
        }
    }

    /// The MPDUs of a station that answers a Trigger frame.
    pub fn frames_of<'a>(
        &'a self,
        user: &'a TriggeredUser,
    ) -> impl Iterator<Item = FrameOnAir<'a>> {
        let originator = &self.edcaf(self.function_of(user)).originator;
        (0..user.mpdus()).map(move |i| {
            let (sequence, mpdu) = originator.frame_on_air(usize::from(i));
            let wasted = mpdu.received || user.is_lost(i);
            FrameOnAir { sequence, bytes: mpdu.bytes, wasted, originator, mpdu }
        })
    }

    /// The EDCAF of a station that answers.
    fn function_of(&self, user: &TriggeredUser) -> u32 {
        user.station * self.rules.per_node + u32::from(user.category)
    }

    /// The shape of a triggered exchange.
    pub(super) fn uplink_shape(&self, triggered: &TriggeredExchange) -> &UplinkShape {
        let triggers = self.triggers.as_ref().expect("a triggered exchange has triggers");
        triggers.shapes.at(triggered.shape)
    }

    /// How long the Trigger frame of an exchange lasts.
    pub(super) fn trigger_lasts(&self, triggered: &TriggeredExchange) -> Duration {
        self.uplink_shape(triggered).trigger(&self.rules, triggered.kind).total()
    }

    /// The access point has sent data.
    #[cold]
    #[inline(never)]
    pub(super) fn note_down(&mut self) {
        if let Some(triggers) = &mut self.triggers {
            triggers.last = Last::Down;
        }
    }

    /// What waits at an EDCAF beside the PSDU that it has assembled.
    fn backlog(&self, f: u32, source: &dyn crate::MsduSource) -> kernel::Bytes {
        let edcaf = self.edcaf(f);
        // What waits goes into service at once where nothing is.
        if edcaf.is_idle() {
            return kernel::Bytes::ZERO;
        }
        let around = self.rules.framing.overhead + crate::mac::DELIMITER;
        let beside = edcaf.originator.beside();
        let per_node = self.rules.per_node;
        let first = edcaf.node * per_node;
        let others = (first..first + per_node).filter(|&other| other != f);
        // All that waits is of this category if the others have nothing in service.
        let is_alone = others.map(|other| self.edcaf(other)).all(Edcaf::is_idle);
        if let Some((packets, size)) = source.waiting(edcaf.node).filter(|_| is_alone) {
            return beside + size + kernel::Bytes(around.0 * packets);
        }
        let mut bytes = beside;
        source.each(edcaf.node, edcaf.class, &mut |_, packet| bytes += packet.size + around);
        bytes
    }

    /// An EDCAF of a station has assembled a PSDU, which tells the size of its queue.
    pub(super) fn tell_backlog(&mut self, f: u32, source: &dyn crate::MsduSource) {
        let node = self.edcaf(f).node;
        if self.triggers.is_none() || node == ACCESS_POINT || !self.has_units(node) {
            return;
        }
        let queue = self.backlog(f, source);
        if let Some(triggers) = &mut self.triggers {
            triggers.reports.tell(f, triggers.settings.queue_size, queue, false);
        }
    }

    /// The access point may now receive the data of an exchange, which told the size of a queue.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_backlog_of(&mut self, now: Instant, exchange: &Exchange) {
        if self.data_pending && exchange.outcome != ExchangeOutcome::DataLost {
            self.hear_backlog(now, self.sender);
        }
    }

    /// The access point has received a PSDU of an EDCAF.
    fn hear_backlog(&mut self, now: Instant, f: u32) {
        let Some(triggers) = &mut self.triggers else { return };
        if self.edcafs[f as usize].node != ACCESS_POINT {
            triggers.reports.hear(now, f);
        }
    }
}
