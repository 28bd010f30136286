//! Mean powers: what arrives of a node's frames without fading.

use super::{Power, Signals, Transmission};
use crate::space::range::ReceiverInRange;
use kernel::Instant;

impl Signals {
    /// Mean power of a frame that one node begins to send now, at another; none if it does not
    /// hear it.
    pub(in crate::space) fn mean_power(&self, from: u32, to: u32, now: Instant) -> Option<Power> {
        self.mean_at(from, &self.receiver(from, to, now)?, now)
    }

    /// The same at one of those that may hear it.
    pub(in crate::space) fn mean_at(
        &self,
        from: u32,
        receiver: &ReceiverInRange,
        now: Instant,
    ) -> Option<Power> {
        if receiver.moves {
            self.radio.power(&self.sites, from, receiver.node, now)
        } else {
            Some(receiver.power)
        }
    }

    /// The mean power of a transmission that begins, at a node; none if it does not arrive there.
    pub(in crate::space) fn mean_of(&self, id: u32, to: u32) -> Option<Power> {
        let record = &self.transmissions[id as usize];
        let (transmission, receiver_set) = (&record.transmission, self.receiver_set(id));
        if self.radio.fading.is_none() && receiver_set.is_complete() {
            return self.power_of(id, to);
        }
        self.mean_sent(transmission, &self.receiver_of(id, to)?)
    }

    /// The mean power of a transmission that begins or has begun, at one of those that may hear it.
    pub(in crate::space) fn mean_sent(
        &self,
        transmission: &Transmission,
        receiver: &ReceiverInRange,
    ) -> Option<Power> {
        let (from, start) = transmission.begin();
        Some(self.mean_at(from, receiver, start)?.less(transmission.cut))
    }
}
