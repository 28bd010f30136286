//! The ends of TCP connections: their timers, segments and commands, and what they learn of their
//! paths.

use super::{Event, World};
use crate::flow::{Side, TcpTimer, Transport};
use crate::notice::{Notice, Observer};
use crate::rate_hints::LinkDirection;
use crate::topology::RadioId;
use crate::traffic;
use kernel::{Bytes, Fired, Ticket};
use net::route::RouteNote;
use wifi::phy::Mode;
use wire::{Body, FlowId, NodeId, Packet, Segment};

impl<O: Observer> World<O> {
    pub(super) fn on_tcp_timer(&mut self, expired: TcpTimer, generation: u32) {
        let TcpTimer { flow, side, timer } = expired;
        let Transport::Tcp(tcp) = &mut self.flows[flow].transport else { return };
        match tcp.timer(side, timer).fire(generation) {
            Fired::Stale => {}
            Fired::Later(ticket) => self.schedule_tcp(expired, ticket),
            Fired::Due => {
                tcp.on_timer(self.now, expired, self.out.tcp.list());
                let sender = &tcp.sender;
                self.observers.on(self.now, &Notice::Timer { flow, side, timer });
                self.observers.on(self.now, &Notice::Sender { flow, sender });
                self.settle_tcp(flow, side);
            }
        }
    }

    #[inline]
    fn schedule_tcp(&mut self, timer: TcpTimer, ticket: Ticket) {
        self.event_queue.at(ticket.at, Event::Tcp(timer, ticket.generation));
    }

    /// A segment reaches the end of its flow.
    pub(super) fn on_segment(&mut self, segment: &Segment) {
        let flow = segment.flow;
        let Transport::Tcp(tcp) = &mut self.flows[flow].transport else { return };
        let side = tcp.on_segment(self.now, segment, self.out.tcp.list());
        let sender = &tcp.sender;
        self.observers.on(self.now, &Notice::Sender { flow, sender });
        self.settle_tcp(flow, side);
    }

    /// Executes the commands of a TCP sender or receiver, which are in the outbox.
    pub(super) fn settle_tcp(&mut self, flow: FlowId, side: Side) {
        let Some(mut turn) = self.out.tcp.begin((flow, side), ()) else { return };
        while let Some(((), command)) = self.out.tcp.next(&mut turn) {
            match *command {
                tcp::Command::Send(ref segment) => self.send_segment(flow, side, segment),
                tcp::Command::Set(timer, at) => {
                    if let Transport::Tcp(tcp) = &mut self.flows[flow].transport
                        && let Some(ticket) = tcp.timer(side, timer).set(at)
                    {
                        self.schedule_tcp(TcpTimer { flow, side, timer }, ticket);
                    }
                }
                tcp::Command::Cancel(timer) => {
                    if let Transport::Tcp(tcp) = &mut self.flows[flow].transport {
                        tcp.timer(side, timer).cancel();
                    }
                }
                tcp::Command::Rtt(sample) => {
                    self.observers.on(self.now, &Notice::Rtt { flow, sample });
                }
                tcp::Command::Deliver(bytes) => self.on_bytes(flow, bytes),
                tcp::Command::Acknowledged => {
                    self.observers.on(self.now, &Notice::Acknowledged { flow });
                    self.notify_source(flow, traffic::Event::Acknowledged);
                }
                tcp::Command::Closed => self.on_closed(flow, side),
                tcp::Command::Connected => {}
            }
        }
    }

    /// A packet has left `node`, or a queue there has dropped it. If it is the node of its sender,
    /// that learns of it.
    pub(super) fn complete(&mut self, node: NodeId, packet: &Packet) {
        if !self.has_small_queues || packet.from != node {
            return;
        }
        let Body::Segment(segment) = &packet.body else { return };
        let Transport::Tcp(tcp) = &mut self.flows[segment.flow].transport else {
            return;
        };
        if segment.forward {
            tcp.sender.on_transmitted(self.now, segment, self.out.tcp.list());
            self.settle_tcp(segment.flow, Side::Sender);
        }
    }

    fn send_segment(&mut self, flow: FlowId, side: Side, segment: &Segment) {
        let flow = &self.flows[flow];
        let Transport::Tcp(tcp) = &flow.transport else { return };
        let mut packet = flow.segment(tcp, side, segment, self.now);
        let sender = Some(&tcp.sender);
        self.observers.on(self.now, &Notice::Sent { packet: &packet, sender });
        self.route(packet.from, &mut packet);
    }

    /// The receiver's application received in-order bytes.
    fn on_bytes(&mut self, flow: FlowId, bytes: Bytes) {
        self.observers.on(self.now, &Notice::Delivered { flow, bytes });
        self.notify_source(flow, traffic::Event::Delivered(bytes));
    }

    /// Passes a note of a node's router to the senders of this node whose packets take the route to
    /// this destination.
    pub(super) fn tell_senders(&mut self, node: NodeId, destination: NodeId, note: &RouteNote) {
        for id in self.flows.ids() {
            let (Some(network), flow) = (&self.network, &mut self.flows[id]) else { return };
            let exit = flow.to.map(|to| network.shared.exits[to]);
            if flow.from != node || exit != Some(destination) {
                continue;
            }
            if let Transport::Tcp(tcp) = &mut flow.transport {
                tcp.on_route(self.now, note, self.out.tcp.list());
                self.observers.on(self.now, &Notice::Sender { flow: id, sender: &tcp.sender });
                self.settle_tcp(id, Side::Sender);
            }
        }
    }

    /// The mode of a link direction changes.
    pub(super) fn on_mode(&mut self, by: RadioId, to: RadioId, mode: &Mode, slowest: &Mode) {
        let (hints, mut told) = self.hints();
        hints.on_mode(LinkDirection { by, to }, mode, slowest, &mut told);
    }
}
