//! The queues of radios as a source of frames.

use crate::notice::{Notice, Observer, StationNote};
use crate::topology::{Interface, RadioId, Routes, Topology};
use kernel::{Bytes, IdVec, Instant};
use net::{Destination, Signal, WaitsByDestination, Wanted};
use std::collections::VecDeque;
use wifi::station::{Join, Next, Stations};
use wifi::{MsduSource, Outlook};
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
    /// Packets that were lost for others in buffers of stations that sleep, each with its radio.
    pub(crate) lost: Vec<(RadioId, Packet)>,
}

impl<O: Observer> Waiting<'_, O> {
    /// Takes the next packet from the queue of a radio, or the next of those that are wanted.
    fn pop(&mut self, by: RadioId, wanted: Option<&Wanted>) -> Option<Packet> {
        let packet = match wanted {
            Some(wanted) => self.queues[by].pop_for(self.now, wanted, self.signals),
            None => self.queues[by].pop(self.now, self.signals),
        };
        if !self.signals.is_empty() {
            self.note_signals(by);
        }
        packet
    }

    /// Takes the next of the packets that are wanted into service.
    #[inline]
    fn take(&mut self, by: RadioId, to: Option<RadioId>, wanted: &Wanted) -> Option<Packet> {
        let packet = self.pop(by, Some(wanted));
        if let Some(packet) = &packet {
            self.begin_service(by, to, packet);
        }
        packet
    }

    /// Takes a packet that may join those in service to a radio, with these bits in its header.
    #[inline]
    fn take_joining(
        &mut self,
        by: RadioId,
        to: RadioId,
        class: TrafficClass,
        most: Bytes,
        power: PowerBits,
    ) -> Option<Packet> {
        let is_shared = self.topology.radio(by).is_shared;
        let only = || Destination::Only(Some(self.topology.radio(to).node));
        let destination = if is_shared { only() } else { Destination::Any };
        let wanted = Wanted { class, to: destination, most };
        let mut packet = self.pop(by, Some(&wanted));
        if let Some(packet) = &mut packet {
            packet.power = power;
            self.begin_service(by, Some(to), packet);
        }
        packet
    }

    #[cold]
    fn note_signals(&mut self, by: RadioId) {
        self.taken.signals.extend(self.signals.drain(..).map(|signal| (by, signal)));
    }

    /// A packet that has left the queue of a radio goes into service.
    #[allow(clippy::inline_always, reason = "it runs for each packet")]
    #[inline(always)]
    fn begin_service(&mut self, by: RadioId, to: Option<RadioId>, packet: &Packet) {
        self.observers.on(self.now, &Notice::Dequeued { by, to, packet });
        if self.taken.radios.last() != Some(&by) {
            self.taken.radios.push(by);
        }
    }

    /// Takes a packet into service that need not wait for a station which sleeps, with these bits
    /// in its header. Those that must wait are buffered.
    fn take_awake(
        &mut self,
        by: RadioId,
        power: PowerBits,
        wanted: Option<&Wanted>,
    ) -> Option<(Packet, Option<RadioId>)> {
        while let Some(packet) = self.pop(by, wanted) {
            let to = self.receiver(by, &packet);
            let held = self.stations.hold(self.now, by.0, to.map(|radio| radio.0), packet);
            let Some(lost) = held else {
                let packet = Packet { power, ..packet };
                self.begin_service(by, to, &packet);
                return Some((packet, to));
            };
            let buffered = StationNote::Buffered { by, to, packet: &packet };
            self.observers.on(self.now, &Notice::Station(buffered));
            self.queues[by].release(self.now, &packet, self.signals);
            self.note_signals(by);
            if let Some((packet, cause)) = lost {
                let at = Interface::Radio(by);
                self.observers.on(self.now, &Notice::Dropped { at, packet: &packet, cause });
                self.taken.lost.push((by, packet));
            }
        }
        None
    }

    /// The same for the next packet of the queue, with its receiver.
    pub(crate) fn take_next_awake(
        &mut self,
        by: RadioId,
        class: TrafficClass,
        power: PowerBits,
    ) -> Option<(Packet, Option<RadioId>)> {
        let wanted = self.has_categories.then(|| Wanted::of(class));
        self.take_awake(by, power, wanted.as_ref())
    }

    /// What waits at a radio for each node.
    #[inline]
    fn waits(&self, by: u32, class: TrafficClass) -> WaitsByDestination<'_> {
        let waits = self.queues[RadioId(by)].waits(class);
        waits.expect("access points with OFDMA count what waits")
    }

    /// The receiving radio of a packet that waits at another.
    fn receiver(&self, by: RadioId, packet: &Packet) -> Option<RadioId> {
        self.routes.receiver(self.topology.radio(by).node, packet)
    }
}

impl<O: Observer> MsduSource for Waiting<'_, O> {
    fn first(&mut self, node: u32, class: TrafficClass, to: Option<u32>) -> Option<Packet> {
        let (by, to) = (RadioId(node), to.map(RadioId));
        let only = Destination::Only(to.map(|to| self.topology.radio(to).node));
        let wanted = Wanted { class, to: only, most: Bytes(u64::MAX) };
        match self.stations.next_to(self.now, node, to.map(|to| to.0), class) {
            Next::Queue(None) => self.take(by, to, &wanted),
            Next::Queue(Some(power)) => Some(self.take_awake(by, power, Some(&wanted))?.0),
            Next::Frame { packet, .. } => {
                let frame = StationNote::Frame { by, packet: &packet };
                self.observers.on(self.now, &Notice::Station(frame));
                Some(packet)
            }
            Next::Buffered { packet, .. } => {
                self.observers.on(self.now, &Notice::Dequeued { by, to, packet: &packet });
                Some(packet)
            }
            Next::Nothing => None,
        }
    }

    fn is_awake(&self, node: u32, station: u32) -> bool {
        self.stations.is_awake(node, station)
    }

    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let (by, to) = (RadioId(node), RadioId(to));
        match self.stations.join(self.now, node, to.0, class, most) {
            Join::Queue(bits) => self.take_joining(by, to, class, most, bits.unwrap_or_default()),
            Join::Nothing => None,
            Join::Buffered(packet) => {
                let to = Some(to);
                self.observers.on(self.now, &Notice::Dequeued { by, to, packet: &packet });
                Some(packet)
            }
        }
    }

    fn next_other(&mut self, node: u32, class: TrafficClass, than: u32) -> Option<(Packet, u32)> {
        let to = Destination::Except(self.topology.radio(RadioId(than)).node);
        let wanted = Wanted { class, to, most: Bytes(u64::MAX) };
        let by = RadioId(node);
        let packet = self.pop(by, Some(&wanted))?;
        let to = self.receiver(by, &packet)?;
        self.begin_service(by, Some(to), &packet);
        Some((packet, to.0))
    }

    fn bytes_for(&self, node: u32, class: TrafficClass, to: u32) -> Bytes {
        let receiver = self.topology.radio(RadioId(to)).node;
        self.waits(node, class).to(receiver).bytes
    }

    fn bytes_for_each(
        &self,
        node: u32,
        class: TrafficClass,
        to: &[u32],
        visit: &mut dyn FnMut(Bytes),
    ) {
        let (waits, radios) = (self.waits(node, class), self.topology.radios());
        for &to in to {
            visit(waits.to(radios[RadioId(to)].node).bytes);
        }
    }

    fn outlook(&self, node: u32, class: TrafficClass) -> Outlook {
        if !self.stations.pass_all() {
            return Outlook::default();
        }
        let (least, to_all) = self.queues[RadioId(node)].outlook(class);
        Outlook { least, to_all }
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
