//! The queues of radios as a source of frames.

use super::beacons::Beacons;
use super::power_save::{Join, PowerSave};
use super::roaming::Roaming;
use crate::notice::{Notice, Observer};
use crate::topology::{Hop, RadioId, Routes, Topology};
use kernel::{Bytes, IdVec, Instant};
use net::{Destination, Signal, Wanted};
use std::collections::VecDeque;
use wifi::MsduSource;
use wire::{Packet, PowerBits, TrafficClass};

/// The queues of radios as a frame source: the medium takes further packets from them.
pub(super) struct Waiting<'a, O> {
    pub(super) now: Instant,
    pub(super) topology: &'a Topology,
    pub(super) routes: &'a Routes,
    pub(super) queues: &'a mut IdVec<RadioId, Box<dyn net::Queue>>,
    /// Whether each class of traffic is sent separately.
    pub(super) has_categories: bool,
    pub(super) beacons: Option<&'a Beacons>,
    pub(super) power_save: Option<&'a mut PowerSave>,
    pub(super) roaming: Option<&'a Roaming>,
    pub(super) signals: &'a mut Vec<Signal>,
    /// Drops and marks of the queues, with the radio of each queue.
    pub(super) noted: &'a mut VecDeque<(RadioId, Signal)>,
    pub(super) refilling: &'a mut Vec<RadioId>,
    pub(super) observers: &'a mut O,
}

impl<O: Observer> Waiting<'_, O> {
    /// Takes a packet from the queue of a radio. The receiver is `to`, or is looked up.
    fn take(
        &mut self,
        by: RadioId,
        to: Option<RadioId>,
        wanted: &Wanted,
    ) -> Option<(Packet, RadioId)> {
        let packet = self.queues[by].pop_for(self.now, wanted, self.signals);
        let taken = packet.and_then(|packet| {
            let to = to.or_else(|| receiver(self.routes, self.topology, by, &packet))?;
            self.observers.on(self.now, &Notice::Dequeued { by, to: Some(to), packet: &packet });
            Some((packet, to))
        });
        self.noted.extend(self.signals.drain(..).map(|signal| (by, signal)));
        if taken.is_some() && self.refilling.last() != Some(&by) {
            self.refilling.push(by);
        }
        taken
    }

    /// Takes a packet for this receiver from the queue of a radio.
    #[allow(clippy::inline_always, reason = "it runs for each packet")]
    #[inline(always)]
    fn next_of_queue(
        &mut self,
        by: RadioId,
        to: RadioId,
        class: TrafficClass,
        most: Bytes,
    ) -> Option<Packet> {
        let is_shared = self.topology.radio(by).is_shared;
        let only = || Destination::Only(self.topology.radio(to).node);
        let destination = if is_shared { only() } else { Destination::Any };
        self.take(by, Some(to), &Wanted { class, to: destination, most }).map(|(packet, _)| packet)
    }

    /// The same where stations save power.
    #[cold]
    fn next_in_power_save(
        &mut self,
        by: RadioId,
        to: RadioId,
        class: TrafficClass,
        most: Bytes,
    ) -> Option<Packet> {
        let of_class = Some(class).filter(|_| self.has_categories);
        let power_save = self.power_save.as_deref_mut()?;
        match power_save.join(self.now, by, to, of_class, most) {
            Join::Nothing => None,
            Join::Buffered(packet) => {
                self.observers
                    .on(self.now, &Notice::Dequeued { by, to: Some(to), packet: &packet });
                let bits = PowerBits::NONE;
                self.observers.on(self.now, &Notice::Power { by, packet: &packet, bits });
                Some(packet)
            }
            Join::Queued(bits) => {
                let packet = self.next_of_queue(by, to, class, most)?;
                self.observers.on(self.now, &Notice::Power { by, packet: &packet, bits });
                Some(packet)
            }
        }
    }
}

impl<O: Observer> MsduSource for Waiting<'_, O> {
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let (by, to) = (RadioId(node), RadioId(to));
        if let Some(beacons) = self.beacons {
            // The beacon is the next frame: nothing more joins the packets in service.
            if beacons.is_due(by, class, self.has_categories) {
                return None;
            }
            let held = |all: &Roaming| all.holds_back(by, class, self.has_categories);
            if self.roaming.is_some_and(held) {
                return None;
            }
            if self.power_save.is_some() {
                return self.next_in_power_save(by, to, class, most);
            }
        }
        self.next_of_queue(by, to, class, most)
    }

    fn next_other(&mut self, node: u32, class: TrafficClass, than: u32) -> Option<(Packet, u32)> {
        let to = Destination::Except(self.topology.radio(RadioId(than)).node);
        let wanted = Wanted { class, to, most: Bytes(u64::MAX) };
        self.take(RadioId(node), None, &wanted).map(|(packet, to)| (packet, to.0))
    }

    fn receivers(&self, node: u32, class: TrafficClass, into: &mut Vec<u32>) {
        self.queues[RadioId(node)].each(&mut |packet| {
            if packet.to.is_some() && (packet.class == class || !self.has_categories) {
                let to = receiver(self.routes, self.topology, RadioId(node), packet);
                into.extend(to.map(|radio| radio.0));
            }
        });
    }
}

/// The receiving radio of a packet that waits at another; `None` is broadcast.
#[allow(clippy::inline_always, reason = "out of line it costs 0.5 % of a run")]
#[inline(always)]
pub(super) fn receiver(
    routes: &Routes,
    topology: &Topology,
    by: RadioId,
    packet: &Packet,
) -> Option<RadioId> {
    let node = topology.radio(by).node;
    if packet.to != Some(packet.next) && packet.to.is_some() {
        return Some(routes.radio(packet.next));
    }
    match routes.hop(node, packet.to) {
        Some(Hop::Air { to, .. }) => to,
        other => unreachable!("what waits at a radio leaves over the air: {other:?}"),
    }
}
