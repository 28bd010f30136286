//! The queues of radios as a source of frames.

use crate::notice::{Notice, Observer, StationNote};
use crate::topology::{Hop, RadioId, Routes, Topology};
use kernel::{Bytes, IdVec, Instant};
use net::{Destination, Signal, Wanted};
use std::collections::VecDeque;
use wifi::MsduSource;
use wifi::station::{Join, Stations};
use wire::{Packet, PowerBits, TrafficClass};

/// The queues of radios as a frame source: the medium takes further packets from them.
pub(super) struct Waiting<'a, O> {
    pub(super) now: Instant,
    pub(super) topology: &'a Topology,
    pub(super) routes: &'a Routes,
    pub(super) queues: &'a mut IdVec<RadioId, Box<dyn net::Queue>>,
    /// Whether each class of traffic is sent separately.
    pub(super) has_categories: bool,
    pub(super) stations: Option<&'a mut Stations>,
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

    /// The same where functions decide on it.
    #[cold]
    fn next_of_stations(
        &mut self,
        by: RadioId,
        to: RadioId,
        class: TrafficClass,
        most: Bytes,
    ) -> Option<Packet> {
        match self.stations.as_mut()?.join(self.now, by.0, to.0, class, most) {
            Join::Nothing => None,
            Join::Buffered(packet) => {
                self.observers
                    .on(self.now, &Notice::Dequeued { by, to: Some(to), packet: &packet });
                self.note_power(by, &packet, PowerBits::NONE);
                Some(packet)
            }
            Join::Queue(bits) => {
                let packet = self.next_of_queue(by, to, class, most)?;
                if let Some(bits) = bits {
                    self.note_power(by, &packet, bits);
                }
                Some(packet)
            }
        }
    }

    fn note_power(&mut self, by: RadioId, packet: &Packet, bits: PowerBits) {
        let note = StationNote::Power { by, packet, bits };
        self.observers.on(self.now, &Notice::Station(note));
    }
}

impl<O: Observer> MsduSource for Waiting<'_, O> {
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let (by, to) = (RadioId(node), RadioId(to));
        if self.stations.is_some() {
            return self.next_of_stations(by, to, class, most);
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
