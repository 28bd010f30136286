//! Between the network layer and the air: queues that serve, frames that come up, and accounts.

use super::{ACCESS_POINT, Event, World};
use crate::medium::{Bss, Medium};
use crate::meter::DropCause;
use kernel::{Bytes, Instant};
use net::{Airtime, Signal, Wanted};
use wifi::mac::Fate;
use wifi::{Outcome, Supply};
use wire::{NodeId, Packet, TrafficClass};

/// The queues of the cell's nodes, out of which packets join those in service.
struct Waiting<'a> {
    now: Instant,
    bss: &'a Bss,
    queues: &'a mut [Box<dyn net::Queue>],
    signals: &'a mut Vec<Signal>,
    /// What the queues have dropped and marked, and whose they are.
    noted: &'a mut Vec<(NodeId, Signal)>,
    suppliers: &'a mut Vec<NodeId>,
}

impl Supply for Waiting<'_> {
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let station = self.bss.wanted(node, to);
        let wanted = Wanted { class, station, most };
        let packet = self.queues[node as usize].pop_for(self.now, &wanted, self.signals);
        let node = NodeId(node);
        self.noted.extend(self.signals.drain(..).map(|signal| (node, signal)));
        if packet.is_some() && self.suppliers.last() != Some(&node) {
            self.suppliers.push(node);
        }
        packet
    }
}

impl World {
    /// Offers a packet to the queue of a node of the cell.
    pub(super) fn enqueue(&mut self, node: NodeId, packet: Packet) {
        self.queues[node.0 as usize].push(self.now, packet, &mut self.signals);
        self.settle_signals(node);
        if self.cell.is_free_for(node.0, packet.class) {
            self.serve(node, packet.class);
        } else {
            self.note_queue(node);
        }
    }

    /// Lets something happen in the cell that may take packets out of the queues.
    pub(super) fn with_supply(
        &mut self,
        event: impl FnOnce(&mut Medium, &mut dyn Supply, &mut Vec<wifi::Command>),
    ) {
        let mut waiting = Waiting {
            now: self.now,
            bss: &self.bss,
            queues: &mut self.queues,
            signals: &mut self.signals,
            noted: &mut self.supply_signals,
            suppliers: &mut self.suppliers,
        };
        event(&mut self.cell, &mut waiting, &mut self.cell_out);
        while let Some((node, signal)) = self.supply_signals.pop() {
            self.settle_signal(node, signal);
        }
        while let Some(node) = self.suppliers.pop() {
            self.note_queue(node);
        }
        self.settle_cell();
    }

    /// Gives a node that is free for a class its next packet.
    fn serve(&mut self, node: NodeId, class: TrafficClass) {
        let queue = &mut self.queues[node.0 as usize];
        let popped = if self.cell.has_categories() {
            let wanted = Wanted { class, station: None, most: Bytes(u64::MAX) };
            queue.pop_for(self.now, &wanted, &mut self.signals)
        } else {
            queue.pop(self.now, &mut self.signals)
        };
        self.settle_signals(node);
        if let Some(packet) = popped {
            let to = self.bss.hop(node.0, packet.to);
            self.cell.on_packet(self.now, node.0, packet, to, &mut self.cell_out);
            self.note_contention();
            self.settle_cell();
        }
        self.note_queue(node);
    }

    /// Takes account of what a node's queue has dropped and marked.
    fn settle_signals(&mut self, node: NodeId) {
        while let Some(signal) = self.signals.pop() {
            self.settle_signal(node, signal);
        }
    }

    fn settle_signal(&mut self, node: NodeId, signal: Signal) {
        match signal {
            Signal::Drop(packet) => {
                self.drop_packet(Some(node), &packet, DropCause::Queue);
                self.starve(self.bss.joined(node), &packet);
            }
            Signal::Mark(packet) => self.meter.on_mark(Some(node), packet.flow().0),
        }
    }

    fn note_queue(&mut self, node: NodeId) {
        let waiting = self.queues[node.0 as usize].len();
        self.meter.on_queue(self.now, node, waiting);
    }

    fn note_contention(&mut self) {
        self.meter.on_contention(self.now, &self.cell);
    }

    /// Carries out what the cell asks for, in the order in which it asked.
    pub(super) fn settle_cell(&mut self) {
        if self.cell_settling {
            return;
        }
        self.cell_settling = true;
        let mut i = 0;
        while let Some(&command) = self.cell_out.get(i) {
            i += 1;
            match command {
                wifi::Command::Access(ticket) => {
                    let generation = ticket.generation;
                    self.agenda.at(ticket.at, Event::Access { generation });
                }
                wifi::Command::Step(at) => self.agenda.at(at, Event::AirStep),
                wifi::Command::Began => self.on_air_began(),
                wifi::Command::Ended => self.meter.on_air_ended(),
                wifi::Command::Deliver { node, packet } => {
                    self.digest.add(self.now.0 ^ packet.size.0 << 48);
                    self.route_received(NodeId(node), packet);
                }
                wifi::Command::Mode { node, peer, .. } => {
                    let joined = |node| self.bss.joined(NodeId(node));
                    self.on_mode(joined(node), joined(peer));
                }
                wifi::Command::Done { node, packet, outcome, received } => {
                    self.on_done(NodeId(node), &packet, outcome, received);
                }
            }
        }
        self.cell_out.clear();
        self.cell_settling = false;
    }

    fn on_air_began(&mut self) {
        let Some(exchange) = self.cell.exchange() else { return };
        self.digest.add(exchange.start.0 ^ u64::from(exchange.sender) << 56);
        if let Some(checker) = &mut self.checker {
            checker.on_air(exchange);
        }
        self.meter.on_air_began(exchange, &self.cell);
        self.note_airtime();
    }

    /// Tells the access point's queue of the airtime that a station's traffic takes. A collision
    /// counts as long as it lasts.
    fn note_airtime(&mut self) {
        let Some(exchange) = self.cell.exchange() else { return };
        let collisions = self.cell.counters(ACCESS_POINT.0).collisions;
        let collided = std::mem::replace(&mut self.ap_collisions, collisions) != collisions;
        let by_access_point = exchange.sender == ACCESS_POINT.0;
        let served = self.cell.receiver_of(ACCESS_POINT.0).map(NodeId);
        let (station, received) = match exchange.fate {
            Fate::Collision if collided => (served, false),
            Fate::Collision => return,
            _ if by_access_point => (served, false),
            Fate::DataLost => return,
            Fate::Success | Fate::AckLost => (Some(NodeId(exchange.sender)), true),
        };
        let used = exchange.end - exchange.start;
        self.queues[ACCESS_POINT.0 as usize].on_airtime(&Airtime { station, received, used });
    }

    /// A frame's packet came up at a node: it is the destination, or forwards.
    fn route_received(&mut self, node: NodeId, packet: Packet) {
        match packet.to {
            None => self.arrive_broadcast(&packet),
            Some(_) => self.route(node, packet),
        }
    }

    /// A node's frame was sent or given up: it takes the next.
    fn on_done(&mut self, node: NodeId, packet: &Packet, outcome: Outcome, received: bool) {
        self.queues[node.0 as usize].release(self.now, packet, &mut self.signals);
        self.settle_signals(node);
        // A frame given up after its ACKs were lost has arrived all the same.
        if !received {
            let cause = match outcome {
                Outcome::RetryLimit => DropCause::RetryLimit,
                Outcome::Lifetime => DropCause::Lifetime,
                Outcome::Sent => DropCause::Broadcast,
            };
            self.drop_packet(Some(node), packet, cause);
        }
        self.note_contention();
        self.refill(self.bss.joined(node), packet);
        if self.cell.is_free_for(node.0, packet.class) {
            self.serve(node, packet.class);
        }
    }
}
