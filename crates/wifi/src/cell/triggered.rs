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
mod random_access;
mod watch;

use super::several::{Ended, Several};
use super::{ACCESS_POINT, Cell, FrameOnAir, link_direction};
use crate::MsduSource;
use crate::mac::mu::{
    MuTimers, Responders, TriggeredExchange, TriggeredUser, Triggering, UplinkShape,
};
use crate::mac::{Edcaf, ExchangeOutcome, Rules};
use crate::phy::{Mode, Width};
use kernel::{Bytes, Duration, Instant, Seed};

/// What an access point has that triggers stations, and what its stations have.
#[derive(Debug)]
pub(super) struct Triggers {
    triggering: Triggering,
    timers: MuTimers,
    /// By EDCAF, what it has told with its last PSDU, if anything.
    told: Vec<Option<Bytes>>,
    /// The last exchange of the TXOP.
    pub(super) ended: Option<Ended>,
    /// The EDCAFs that have sent all that was in service at the last slot of their back-off, and
    /// when.
    left: Vec<u32>,
    left_at: Instant,
}

impl Triggers {
    /// `None` if the access point triggers nobody.
    pub(super) fn of(rules: &Rules, stations: u32, seed: &Seed) -> Option<Box<Self>> {
        let triggering = Triggering::of(rules, ACCESS_POINT, (1..=stations).collect(), seed)?;
        let functions = (stations + 1) * rules.per_node;
        Some(Box::new(Self {
            triggering,
            timers: MuTimers::new(stations + 1, rules.per_node),
            told: vec![None; functions as usize],
            ended: None,
            left: Vec::new(),
            left_at: Instant::ZERO,
        }))
    }
}

/// The stations of the cell.
struct OfCell<'a> {
    cell: &'a Cell,
    /// Knows which stations are awake.
    source: &'a dyn MsduSource,
}

impl Responders for OfCell<'_> {
    fn width(&self) -> Width {
        self.cell.group_width()
    }

    fn can_answer(&self, station: u32) -> bool {
        self.cell.has_units(station)
    }

    fn mode(&self, station: u32) -> Mode {
        self.cell.rates[link_direction(station, ACCESS_POINT)].mode
    }

    fn is_awake(&self, station: u32) -> bool {
        self.source.is_awake(ACCESS_POINT, station)
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
        let originator = &self.edcaf(user.edcaf(self.rules.per_node)).originator;
        (0..user.mpdus()).map(move |i| {
            let (sequence, mpdu) = originator.frame_on_air(usize::from(i));
            let wasted = mpdu.received || user.is_lost(i);
            FrameOnAir { sequence, bytes: mpdu.bytes, wasted, originator, mpdu }
        })
    }

    /// The shape of a triggered exchange.
    pub(super) fn uplink_shape(&self, triggered: &TriggeredExchange) -> &UplinkShape {
        let triggers = self.triggers.as_ref().expect("a triggered exchange has triggers");
        triggers.triggering.shape(triggered)
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
            triggers.triggering.note_down();
        }
    }

    /// The access point has sent a Trigger frame.
    pub(super) fn note_triggered(&mut self, now: Instant, triggered: &TriggeredExchange) {
        if let Some(triggers) = &mut self.triggers {
            triggers.triggering.note_sent(now, triggered);
        }
    }

    /// What waits at an EDCAF beside the PSDU that it has assembled, or at all with a `QoS` Null.
    fn backlog(&self, f: u32, is_null: bool, source: &dyn MsduSource) -> Bytes {
        let edcaf = self.edcaf(f);
        let others = self.edcafs_of(edcaf.node).filter(|&other| other != f);
        let is_alone = others.map(|other| self.edcaf(other)).all(Edcaf::is_idle);
        edcaf.backlog(&self.rules, is_null, is_alone, source)
    }

    /// An EDCAF of a station has assembled a PSDU, which tells the size of its queue.
    pub(super) fn tell_backlog(&mut self, f: u32, source: &dyn MsduSource) {
        let node = self.edcaf(f).node;
        if self.triggers.is_none() || node == ACCESS_POINT || !self.has_units(node) {
            return;
        }
        let queue = self.backlog(f, false, source);
        if let Some(triggers) = &mut self.triggers {
            triggers.told[f as usize] = triggers.triggering.settings.told(queue);
        }
    }

    /// The access point may now receive the data of an exchange, which told the size of a queue.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_backlog_of(&mut self, now: Instant, outcome: ExchangeOutcome) {
        if self.data_pending && outcome != ExchangeOutcome::DataLost {
            self.hear_backlog(now, self.sender);
        }
    }

    /// The access point has received a PSDU of an EDCAF.
    fn hear_backlog(&mut self, now: Instant, f: u32) {
        let Some(triggers) = &mut self.triggers else { return };
        let (node, category) = (self.edcafs[f as usize].node, f % self.rules.per_node);
        if node != ACCESS_POINT {
            triggers.triggering.hear(now, node, category, triggers.told[f as usize]);
        }
    }
}
