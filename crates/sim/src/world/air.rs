//! Between the network layer and the air: queues that serve, frames that come up, and accounts.

use super::{ACCESS_POINT, Event, World};
use crate::meter::DropCause;
use net::{Airtime, Signal};
use wifi::Outcome;
use wifi::mac::Fate;
use wire::{NodeId, Packet};

impl World {
    /// Offers a packet to the queue of a node of the cell.
    pub(super) fn enqueue(&mut self, node: NodeId, packet: Packet) {
        self.queues[node.0 as usize].push(self.now, packet, &mut self.signals);
        self.settle_signals(node);
        if self.cell.is_free(node.0) {
            self.serve(node);
        } else {
            self.note_queue(node);
        }
    }

    /// Gives a free node its next packet.
    fn serve(&mut self, node: NodeId) {
        let popped = self.queues[node.0 as usize].pop(self.now, &mut self.signals);
        self.settle_signals(node);
        if let Some(packet) = popped {
            let to = match node {
                ACCESS_POINT => packet.to.map(|to| to.0),
                _ => Some(ACCESS_POINT.0),
            };
            if node == ACCESS_POINT {
                self.ap_serves = packet.to;
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
            match signal {
                Signal::Drop(packet) => {
                    self.drop_packet(Some(node), &packet, DropCause::Queue);
                    self.starve(node, &packet);
                }
                Signal::Mark(packet) => self.meter.on_mark(Some(node), packet.flow().0),
            }
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
        self.meter.on_air_began(exchange, self.cell.packet_on_air());
        self.note_airtime();
    }

    /// Tells the access point's queue of the airtime that a station's traffic takes. A collision
    /// counts as long as it lasts.
    fn note_airtime(&mut self) {
        let Some(exchange) = self.cell.exchange() else { return };
        let collisions = self.cell.counters(ACCESS_POINT.0).collisions;
        let collided = std::mem::replace(&mut self.ap_collisions, collisions) != collisions;
        let by_access_point = exchange.sender == ACCESS_POINT.0;
        let (station, received) = match exchange.fate {
            Fate::Collision if collided => (self.ap_serves, false),
            Fate::Collision => return,
            _ if by_access_point => (self.ap_serves, false),
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
        self.queues[node.0 as usize].release(self.now, packet);
        // A frame given up after its ACKs were lost has arrived all the same.
        if !received {
            let cause = match outcome {
                Outcome::RetryLimit => DropCause::RetryLimit,
                Outcome::Sent => DropCause::Broadcast,
            };
            self.drop_packet(Some(node), packet, cause);
        }
        self.note_contention();
        self.refill(node, packet);
        if self.cell.is_free(node.0) {
            self.serve(node);
        }
    }
}
