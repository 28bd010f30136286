//! Numbers of packets.

use ::trace::{Mpdu, PacketStep, Place};
use kernel::{Bytes, Instant};
use std::collections::{BTreeMap, VecDeque};
use wire::{Body, Packet};

/// The packets on their way, and their numbers in the trace. The world's packets have no numbers: a
/// packet is known by the fields that do not change on its way. Packets that are equal in all of
/// these are interchangeable; they get their numbers in the order in which they pass each place.
#[derive(Debug, Default)]
pub(super) struct Packets {
    sent: u64,
    known: BTreeMap<Key, Vec<Entry>>,
    /// The latest packets that have left the network, oldest first. Where nodes forward, a copy of
    /// one may still be on its way: its transmitter received no ACK and sent it on another route.
    left: VecDeque<(Key, u64)>,
}

/// How many packets are known after they have left the network.
const REMEMBERED: usize = 1024;

/// Most of the fields that do not change.
type Key = (Instant, u32, bool, u64, u64);

#[derive(Clone, Copy, Debug)]
struct Entry {
    packet: Packet,
    known: Known,
    /// The steps that the packet has taken, as a set of [`step_bit`]s.
    steps: u64,
    /// The number of radios that have it in service.
    in_service: u32,
    /// It has arrived, or was lost.
    is_gone: bool,
    /// And no radio has it in service.
    has_left: bool,
}

/// What the trace knows of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) number: u64,
    /// Whether it repeats data, SYN or FIN that was sent before.
    pub(super) retransmission: bool,
}

impl Packets {
    /// A transport sends a packet.
    pub(super) fn send(&mut self, packet: &Packet, retransmission: bool) -> Known {
        let known = Known { number: self.sent, retransmission };
        self.sent += 1;
        let packet = constant(packet);
        let entry =
            Entry { packet, known, steps: 0, in_service: 0, is_gone: false, has_left: false };
        self.known.entry(key(&packet)).or_default().push(entry);
        known
    }

    /// A packet takes a step; `None` if no transport has sent it.
    pub(super) fn step(
        &mut self,
        packet: &Packet,
        step: PacketStep,
        place: Place,
    ) -> Option<Known> {
        let (key, packet) = (key(packet), constant(packet));
        let entries = self.known.get_mut(&key)?;
        let bit = step_bit(step, place);
        let is_equal = |entry: &Entry| entry.packet == packet;
        let is_here = |entry: &Entry| is_equal(entry) && !entry.has_left;
        let next = entries.iter().position(|entry| is_here(entry) && entry.steps & bit == 0);
        let next = next.or_else(|| entries.iter().position(is_here));
        let at = next.or_else(|| entries.iter().position(is_equal))?;
        let entry = &mut entries[at];
        entry.steps |= bit;
        match step {
            PacketStep::Dequeued => {
                entry.in_service += 1;
                entry.steps &= !step_bit(PacketStep::Served, place);
            }
            PacketStep::Served => {
                entry.in_service = entry.in_service.saturating_sub(1);
                entry.is_gone |= packet.flow().is_none();
            }
            PacketStep::Arrived | PacketStep::Dropped(_) => entry.is_gone = true,
            _ => {}
        }
        let Entry { known, in_service, is_gone, has_left, .. } = *entry;
        if is_gone && in_service == 0 && !has_left {
            entry.has_left = true;
            self.left.push_back((key, known.number));
            self.forget();
        }
        Some(known)
    }

    /// Forgets the packets that have left before the latest ones.
    fn forget(&mut self) {
        while self.left.len() > REMEMBERED {
            let Some((key, number)) = self.left.pop_front() else { return };
            let Some(entries) = self.known.get_mut(&key) else { continue };
            entries.retain(|entry| entry.known.number != number);
            if entries.is_empty() {
                self.known.remove(&key);
            }
        }
    }

    /// The number of a packet of a frame that has these packets before it.
    pub(super) fn in_frame(&self, packet: &Packet, before: &[Mpdu]) -> Option<u64> {
        let entries = self.known.get(&key(packet))?;
        let packet = constant(packet);
        let equal = || entries.iter().filter(|entry| entry.packet == packet);
        let is_new = |entry: &&Entry| {
            entries.len() == 1 || before.iter().all(|mpdu| mpdu.packet_id != entry.known.number)
        };
        let here = equal().filter(|entry| !entry.has_left).find(is_new);
        here.or_else(|| equal().find(is_new)).map(|entry| entry.known.number)
    }
}

/// The packet with equal values in the fields that change on its way.
fn constant(packet: &Packet) -> Packet {
    let Packet { from, to, born, class, body, .. } = *packet;
    Packet { class, ..Packet::new(from, to, Bytes::ZERO, born, body) }
}

fn key(packet: &Packet) -> Key {
    match &packet.body {
        Body::Segment(of) => (packet.born, of.flow.0, of.forward, of.seq, of.ack),
        Body::Datagram(of) => (packet.born, of.flow.0, true, of.number, 0),
        Body::Echo(of) => (packet.born, of.flow.0, !of.is_reply, of.number, 0),
        Body::Media(of) => (packet.born, of.flow.0, of.is_forward(), of.number, 0),
        Body::Routing(_) => (packet.born, u32::MAX, true, u64::from(packet.from.0), 0),
        Body::Arp(of) => (packet.born, u32::MAX, false, of.sender.0.into(), of.target.0.into()),
        Body::Management(_) => (packet.born, u32::MAX, true, u64::from(packet.from.0), 1),
    }
}

/// A bit for a step at a place. Different steps have different bits, and so have most places.
fn step_bit(step: PacketStep, place: Place) -> u64 {
    let step = match step {
        PacketStep::Sent => 0,
        PacketStep::Queued { .. } => 1,
        PacketStep::Marked => 2,
        // One is at radios and the other at wires, whose places differ.
        PacketStep::Dequeued | PacketStep::Began => 3,
        PacketStep::Dropped(_) => 4,
        PacketStep::Crossed => 5,
        PacketStep::Received => 6,
        PacketStep::Served => 7,
        PacketStep::Arrived => 8,
        PacketStep::Resident => 9,
    };
    let place = match place {
        Place::Node(node) => node.0,
        Place::Radio(radio) => 2 * radio,
        Place::Wire(wire) => 2 * wire + 1,
    };
    1 << (6 * step + place % 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Bytes;
    use wire::{Datagram, Ecn, FlowId, NodeId};

    const AIR: Place = Place::Radio(0);

    fn packet(number: u64) -> Packet {
        Packet {
            ecn: Ecn::Ect0,
            ..Packet::new(
                NodeId(0),
                Some(NodeId(1)),
                Bytes(100),
                Instant(5),
                Body::Datagram(Datagram { flow: FlowId(0), number, len: 72, stream: 0 }),
            )
        }
    }

    fn number(packets: &mut Packets, packet: &Packet, step: PacketStep) -> Option<u64> {
        packets.step(packet, step, AIR).map(|known| known.number)
    }

    #[test]
    fn a_packet_that_queues_mark_keeps_its_number() {
        let mut packets = Packets::default();
        packets.send(&packet(0), false);
        packets.send(&packet(1), false);
        let marked = Packet { ecn: Ecn::Experienced, ..packet(1) };
        assert_eq!(number(&mut packets, &marked, PacketStep::Crossed), Some(1));
    }

    #[test]
    fn equal_packets_have_their_numbers_in_the_order_of_each_step() {
        let mut packets = Packets::default();
        packets.send(&packet(0), false);
        packets.send(&packet(0), false);
        let mut next = |step| number(&mut packets, &packet(0), step);
        let queued = PacketStep::Queued { waiting: 0 };
        let steps = [queued, PacketStep::Dequeued, queued, PacketStep::Dequeued];
        assert_eq!(steps.map(&mut next), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!([PacketStep::Arrived; 2].map(&mut next), [Some(0), Some(1)]);
        assert_eq!([PacketStep::Served; 2].map(&mut next), [Some(0), Some(1)]);
    }

    #[test]
    fn the_latest_packets_are_known_and_no_others() {
        let mut packets = Packets::default();
        let count = 3 * REMEMBERED as u64;
        for i in 0..count {
            packets.send(&packet(i), false);
            number(&mut packets, &packet(i), PacketStep::Dequeued);
            number(&mut packets, &packet(i), PacketStep::Arrived);
            number(&mut packets, &packet(i), PacketStep::Served);
            assert_eq!(packets.in_frame(&packet(i), &[]), Some(i));
        }
        assert_eq!(packets.in_frame(&packet(0), &[]), None);
        assert!(packets.known.len() <= REMEMBERED, "the map does not grow");
        // A radio still repeats it.
        packets.send(&packet(count), false);
        number(&mut packets, &packet(count), PacketStep::Dequeued);
        number(&mut packets, &packet(count), PacketStep::Arrived);
        assert_eq!(packets.left.back().map(|&(_, number)| number), Some(count - 1));
    }
}
