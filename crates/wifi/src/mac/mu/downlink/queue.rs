//! The MSDUs in service of an access category, by receiver.
//!
//! The originator of the receiver whose MSDUs are in service for a PPDU of a single user is the
//! EDCAF's own, as without OFDMA; the others are kept here, and change places with it. An EDCAF is
//! idle only if all of them are: otherwise its own is one that is not.

use crate::MsduSource;
use crate::mac::mu::members::ALL;
use crate::mac::{Edcaf, Originator, Rules};
use kernel::{Bytes, Instant};
use std::mem::swap;

/// The MSDUs in service of an access category, and who is served next. Receivers are told by their
/// places.
#[derive(Debug)]
pub(super) struct Queue {
    /// All but that of the receiver `present`.
    others: Vec<Originator>,
    /// Where that of each receiver is among them; the first is that of broadcasts. That of
    /// `present` is none of them.
    slots: Vec<u32>,
    /// The places of those that may have MSDUs in service, a bit each: no other has any.
    begun: Vec<u64>,
    /// Whose originator the EDCAF has.
    present: u32,
    /// The last PPDU was a frame to all.
    pub(super) was_to_all: bool,
}

impl Queue {
    pub(super) fn new(stations: u32) -> Self {
        let others = (0..stations).map(|_| Originator::new(false)).collect();
        Self {
            others,
            // The receiver of the EDCAF's own is the first.
            slots: (0..=stations).map(|place| place.saturating_sub(1)).collect(),
            begun: vec![0; stations as usize / 64 + 1],
            present: ALL,
            was_to_all: false,
        }
    }

    /// The EDCAF serves this receiver from now on.
    pub(super) fn turn_to(&mut self, edcaf: &mut Edcaf, receiver: u32) {
        if receiver != self.present {
            if !edcaf.is_idle() {
                self.begun[self.present as usize / 64] |= 1 << (self.present % 64);
            }
            let slot = self.slots[receiver as usize];
            swap(&mut edcaf.originator, &mut self.others[slot as usize]);
            self.slots[self.present as usize] = slot;
            self.present = receiver;
        }
    }

    /// The originator of a receiver.
    #[inline(always)]
    pub(super) fn of<'a>(&'a self, edcaf: &'a Edcaf, receiver: u32) -> &'a Originator {
        if receiver == self.present {
            &edcaf.originator
        } else {
            &self.others[self.slots[receiver as usize] as usize]
        }
    }

    #[inline(always)]
    pub(super) fn of_mut<'a>(
        &'a mut self,
        edcaf: &'a mut Edcaf,
        receiver: u32,
    ) -> &'a mut Originator {
        if receiver == self.present {
            &mut edcaf.originator
        } else {
            &mut self.others[self.slots[receiver as usize] as usize]
        }
    }

    /// That of a receiver, if it is not idle, or `begin` takes an MSDU into service.
    #[inline(always)]
    pub(super) fn busy<'a>(
        &'a mut self,
        edcaf: &'a mut Edcaf,
        receiver: u32,
        begin: impl FnOnce(&mut Originator) -> bool,
    ) -> Option<&'a mut Originator> {
        let Self { others, slots, begun, present, .. } = self;
        let own = if receiver == *present {
            &mut edcaf.originator
        } else {
            &mut others[slots[receiver as usize] as usize]
        };
        if own.is_idle() {
            if !begin(own) {
                return None;
            }
            begun[receiver as usize / 64] |= 1 << (receiver % 64);
        }
        Some(own)
    }

    /// If the EDCAF's own originator is idle, and another is not, they change places.
    pub(super) fn bring_forward(&mut self, edcaf: &mut Edcaf) {
        debug_assert!(self.others.iter().all(Originator::is_idle) || self.first_busy().is_some());
        if edcaf.is_idle()
            && let Some(busy) = self.first_busy()
        {
            self.turn_to(edcaf, busy);
        }
    }

    /// The first of the others that is not idle.
    fn first_busy(&mut self) -> Option<u32> {
        let Self { others, slots, begun, present, .. } = self;
        for (nth, places) in begun.iter_mut().enumerate() {
            while *places != 0 {
                let place = 64 * nth + places.trailing_zeros() as usize;
                let is_other = place != *present as usize;
                if is_other && !others[slots[place] as usize].is_idle() {
                    return Some(place as u32);
                }
                *places &= *places - 1;
            }
        }
        None
    }

    /// Visits those that may have MSDUs in service, with the bytes of these.
    pub(super) fn each_in_service(&self, edcaf: &Edcaf, mut visit: impl FnMut(u32, Bytes)) {
        visit(self.present, edcaf.originator.bytes());
        for (nth, &places) in self.begun.iter().enumerate() {
            let mut left = places;
            while left != 0 {
                let place = 64 * nth as u32 + left.trailing_zeros();
                left &= left - 1;
                if place != self.present {
                    visit(place, self.others[self.slots[place as usize] as usize].bytes());
                }
            }
        }
    }

    /// A frame to all is next, if there is one: these go alone, and in turns with the PPDUs to
    /// stations. Returns whether it is.
    pub(super) fn turn_to_all(
        &mut self,
        edcaf: &mut Edcaf,
        now: Instant,
        rules: &Rules,
        waits: bool,
        source: &mut dyn MsduSource,
    ) -> bool {
        let (node, class) = (edcaf.node, edcaf.class);
        let own = self.busy(edcaf, ALL, |own| {
            let first = if waits { source.first(node, class, None) } else { None };
            let Some(packet) = &first else { return false };
            own.begin_service(&rules.framing, now, packet, None);
            true
        });
        let is_next = own.is_some() && !self.was_to_all;
        if is_next {
            self.turn_to(edcaf, ALL);
        }
        is_next
    }

    /// All originators but that of the EDCAF, by receiver.
    pub(super) fn others(&self) -> impl Iterator<Item = &Originator> {
        let places = (0..).zip(&self.slots).filter(|&(place, _)| place != self.present);
        places.map(|(_, &slot)| &self.others[slot as usize])
    }
}
