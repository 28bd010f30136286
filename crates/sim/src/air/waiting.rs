//! The queues of radios as a source of frames.

use crate::notice::{Notice, Observer};
use crate::topology::{RadioId, Routes, Topology};
use kernel::{Bytes, IdVec, Instant};
use net::{Destination, Signal, Wanted};
use std::collections::VecDeque;
use wifi::MsduSource;
use wifi::station::{Join, Stations};
use wire::{Packet, PowerBits, TrafficClass};

/// The queues of radios as a frame source: the medium takes further packets from them.
pub(crate) struct Waiting<'a, O> {
    pub(crate) now: Instant,
    pub(crate) topology: &'a Topology,
    pub(crate) routes: &'a Routes,
    pub(crate) queues: &'a mut IdVec<RadioId, Box<dyn net::Queue>>,
    /// Whether each class of traffic is sent separately.
    pub(crate) has_categories: bool,
    pub(crate) stations: &'a mut Stations,
    pub(crate) signals: &'a mut Vec<Signal>,
    pub(crate) taken: &'a mut Taken,
    pub(crate) observers: &'a mut O,
}

/// What follows when the medium has taken packets out of queues, once its event is handled.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Drops and marks of the queues, with the radio of each queue.
    pub(crate) signals: VecDeque<(RadioId, Signal)>,
    /// The radios from whose queues packets were taken.
    pub(crate) radios: Vec<RadioId>,
}

impl<O: Observer> Waiting<'_, O> {
    /// Takes a packet from the queue of a radio into service, with these bits in its header. The
    /// receiver is `to`, or is looked up.
    fn take(
        &mut self,
        by: RadioId,
        to: Option<RadioId>,
        power: PowerBits,
        wanted: &Wanted,
    ) -> Option<(Packet, RadioId)> {
        let packet = self.queues[by].pop_for(self.now, wanted, self.signals);
        let taken = packet.and_then(|mut packet| {
            let to = to.or_else(|| self.receiver(by, &packet))?;
            packet.power = power;
            self.observers.on(self.now, &Notice::Dequeued { by, to: Some(to), packet: &packet });
            Some((packet, to))
        });
        self.taken.signals.extend(self.signals.drain(..).map(|signal| (by, signal)));
        if taken.is_some() && self.taken.radios.last() != Some(&by) {
            self.taken.radios.push(by);
        }
        taken
    }

    /// The receiving radio of a packet that waits at another.
    fn receiver(&self, by: RadioId, packet: &Packet) -> Option<RadioId> {
        self.routes.receiver(self.topology.radio(by).node, packet)
    }
}

impl<O: Observer> MsduSource for Waiting<'_, O> {
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let (by, to) = (RadioId(node), RadioId(to));
        let bits = match self.stations.join(self.now, node, to.0, class, most) {
            Join::Queue(bits) => bits.unwrap_or_default(),
            Join::Nothing => return None,
            Join::Buffered(packet) => {
                let to = Some(to);
                self.observers.on(self.now, &Notice::Dequeued { by, to, packet: &packet });
                return Some(packet);
            }
        };
        let is_shared = self.topology.radio(by).is_shared;
        let only = || Destination::Only(self.topology.radio(to).node);
        let destination = if is_shared { only() } else { Destination::Any };
        let wanted = Wanted { class, to: destination, most };
        self.take(by, Some(to), bits, &wanted).map(|(packet, _)| packet)
    }

    fn next_other(&mut self, node: u32, class: TrafficClass, than: u32) -> Option<(Packet, u32)> {
        let to = Destination::Except(self.topology.radio(RadioId(than)).node);
        let wanted = Wanted { class, to, most: Bytes(u64::MAX) };
        self.take(RadioId(node), None, PowerBits::NONE, &wanted).map(|(packet, to)| (packet, to.0))
    }

    fn waiting(&self, node: u32) -> Option<(u64, Bytes)> {
        let queue = &self.queues[RadioId(node)];
        Some((queue.len() as u64, queue.backlog()))
    }

    fn each(&self, node: u32, class: TrafficClass, visit: &mut dyn FnMut(u32, &Packet)) {
        self.queues[RadioId(node)].each(&mut |packet| {
            if packet.to.is_some()
                && (packet.class == class || !self.has_categories)
                && let Some(to) = self.receiver(RadioId(node), packet)
            {
                visit(to.0, packet);
            }
        });
    }
}
