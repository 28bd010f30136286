//! The MSDUs in service of an access category, by receiver.
//!
//! The originator of the receiver whose MSDUs are in service for a PPDU of a single user is the
//! EDCAF's own, as without OFDMA; the others are kept here, and change places with it. An EDCAF is
//! idle only if all of them are: otherwise its own is one that is not.

use crate::MsduSource;
use crate::mac::mu::Mu;
use crate::mac::mu::members::ALL;
use crate::mac::mu::scheduler::MuScheduler;
use crate::mac::{Edcaf, Originator, Rules};
use kernel::{Duration, Instant};
use std::mem::swap;

/// The MSDUs in service of an access category, and who is served next. Receivers are told by their
/// places.
#[derive(Debug)]
pub(super) struct Queue {
    /// By receiver; the first is that of broadcasts. The place of `present` is a stand-in.
    others: Vec<Originator>,
    /// Whose originator the EDCAF has.
    present: u32,
    pub(super) scheduler: Box<dyn MuScheduler>,
    /// When each receiver was last served.
    pub(super) served: Vec<Option<Instant>>,
    /// The last PPDU was a frame to all.
    was_to_all: bool,
}

impl Queue {
    pub(super) fn new(settings: &Mu, stations: u32) -> Self {
        let others = (0..=stations).map(|_| Originator::new(false)).collect();
        let scheduler = settings.scheduler.get().build(1..=stations);
        Self {
            others,
            present: ALL,
            scheduler,
            served: vec![None; stations as usize + 1],
            was_to_all: false,
        }
    }

    /// The EDCAF serves this receiver from now on.
    pub(super) fn turn_to(&mut self, edcaf: &mut Edcaf, receiver: u32) {
        if receiver != self.present {
            swap(&mut edcaf.originator, &mut self.others[self.present as usize]);
            swap(&mut edcaf.originator, &mut self.others[receiver as usize]);
            self.present = receiver;
        }
    }

    /// The originator of a receiver.
    pub(super) fn of<'a>(&'a self, edcaf: &'a Edcaf, receiver: u32) -> &'a Originator {
        if receiver == self.present { &edcaf.originator } else { &self.others[receiver as usize] }
    }

    pub(super) fn of_mut<'a>(
        &'a mut self,
        edcaf: &'a mut Edcaf,
        receiver: u32,
    ) -> &'a mut Originator {
        if receiver == self.present {
            &mut edcaf.originator
        } else {
            &mut self.others[receiver as usize]
        }
    }

    /// If the EDCAF's own originator is idle, and another is not, they change places.
    pub(super) fn bring_forward(&mut self, edcaf: &mut Edcaf) {
        if edcaf.is_idle()
            && let Some(busy) = self.others.iter().position(|other| !other.is_idle())
        {
            self.turn_to(edcaf, busy as u32);
        }
    }

    /// A frame to all is next, if there is one: these go alone, and in turns with the PPDUs to
    /// stations. Returns whether it is.
    pub(super) fn turn_to_all(
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
    pub(super) fn note_sent(&mut self, now: Instant, lasts: Duration, served: &[(u32, u32)]) {
        self.was_to_all = served.is_empty();
        for &(place, _) in served {
            self.served[place as usize] = Some(now);
        }
        self.scheduler.on_sent(lasts, served);
    }

    /// All originators but that of the EDCAF.
    pub(super) fn others(&self) -> impl Iterator<Item = &Originator> {
        self.others.iter()
    }
}
