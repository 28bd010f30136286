//! Between the network layer and the air: queues that serve, frames that come up, and accounts.

use super::{Event, World};
use crate::medium::{Bss, Medium};
use crate::meter::DropCause;
use kernel::{Bytes, Duration, Instant};
use net::{Airtime, Signal, Wanted};
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
    /// Of the checker, if there is one.
    taken: Option<&'a mut Vec<(u32, u32, Packet)>>,
}

impl Supply for Waiting<'_> {
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let station = self.bss.wanted(node, to);
        let wanted = Wanted { class, station, most };
        let packet = self.queues[node as usize].pop_for(self.now, &wanted, self.signals);
        if let (Some(taken), Some(packet)) = (&mut self.taken, packet) {
            taken.push((node, to, packet));
        }
        let node = NodeId(node);
        self.noted.extend(self.signals.drain(..).map(|signal| (node, signal)));
        if packet.is_some() && self.suppliers.last() != Some(&node) {
            self.suppliers.push(node);
        }
        packet
    }
}

impl World {
    /// The checker wants to know what nodes in space hear.
    pub(super) fn watch_air(&mut self) {
        if let (Some(_), Medium::Space(space)) = (&self.checker, &mut self.cell) {
            space.watch();
        }
    }

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
            taken: self.checker.is_some().then_some(&mut self.taken),
        };
        event(&mut self.cell, &mut waiting, &mut self.cell_out);
        if let Some(checker) = &mut self.checker {
            for (from, to, packet) in self.taken.drain(..) {
                checker.on_taken(from, to, &packet);
            }
            checker.after_air(&mut self.cell);
        }
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
            if let (Some(checker), Some(to)) = (&mut self.checker, to) {
                checker.on_taken(node.0, to, &packet);
            }
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
                wifi::Command::Aired { node, peer, used, arrived } => {
                    self.on_aired(node, peer, used, arrived);
                }
                wifi::Command::Deliver { node, packet } => {
                    self.digest.add(self.now.0 ^ packet.size.0 << 48);
                    if let Some(checker) = &mut self.checker {
                        checker.on_up(node, &packet);
                    }
                    self.route_received(NodeId(node), packet);
                }
                wifi::Command::Mode { node, peer, .. } => {
                    let joined = |node| self.bss.joined(NodeId(node));
                    self.on_mode(joined(node), joined(peer));
                }
                wifi::Command::Done { node, packet, outcome, received } => {
                    if let Some(checker) = &mut self.checker {
                        checker.on_done(node, &packet, outcome, received);
                    }
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
        if let (Some(checker), Medium::Cell(cell)) = (&mut self.checker, &self.cell) {
            checker.on_air(cell);
        }
        self.meter.on_air_began(exchange, &self.cell);
    }

    /// Tells an access point's queue of the airtime that a station's traffic takes. A collision
    /// counts as long as it lasts.
    fn on_aired(&mut self, node: u32, peer: Option<u32>, used: Duration, arrived: bool) {
        let (gate, station, received) = match peer {
            _ if self.bss.is_access_point(node) => (node, peer, false),
            Some(peer) if arrived && self.bss.is_access_point(peer) => (peer, Some(node), true),
            _ => return,
        };
        let station = station.map(NodeId);
        self.queues[gate as usize].on_airtime(&Airtime { station, received, used });
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
