//! The ends of TCP connections: their timers, segments and commands, and what they learn of their
//! paths.

use super::{Event, World};
use crate::flow::{Flow, Side, Transport};
use crate::notice::{Notice, Observer};
use crate::traffic;
use kernel::{Bytes, Fired, Instant};
use tcp::{Hint, TimerId};
use wire::{Body, FlowId, NodeId, Packet, Segment};

impl<O: Observer> World<O> {
    pub(super) fn on_tcp_timer(
        &mut self,
        flow: FlowId,
        side: Side,
        timer: TimerId,
        generation: u32,
    ) {
        let Transport::Tcp(tcp) = &mut self.flows[flow].transport else { return };
        match tcp.timer(side, timer).fire(generation) {
            Fired::Stale => {}
            Fired::Later(ticket) => {
                let generation = ticket.generation;
                self.event_queue.at(ticket.at, Event::Tcp { flow, side, timer, generation });
            }
            Fired::Due => {
                let out = self.tcp_out.list();
                match side {
                    Side::Sender => tcp.sender.on_timer(self.now, timer, out),
                    Side::Receiver => tcp.receiver.on_timer(self.now, timer, out),
                }
                let sender = &tcp.sender;
                self.observers.on(self.now, &Notice::Timer { flow, side, timer });
                self.observers.on(self.now, &Notice::Sender { flow, sender });
                self.settle_tcp(flow, side);
            }
        }
    }

    /// A segment reaches the end of its flow.
    pub(super) fn on_segment(&mut self, segment: &Segment) {
        let flow = segment.flow;
        let Transport::Tcp(tcp) = &mut self.flows[flow].transport else { return };
        let side = if segment.forward { Side::Receiver } else { Side::Sender };
        let out = self.tcp_out.list();
        match side {
            Side::Receiver => tcp.receiver.on_segment(self.now, segment, out),
            Side::Sender => tcp.sender.on_segment(self.now, segment, out),
        }
        let sender = &tcp.sender;
        self.observers.on(self.now, &Notice::Sender { flow, sender });
        self.settle_tcp(flow, side);
    }

    /// Executes the commands of a TCP sender or receiver, which are in the outbox.
    pub(super) fn settle_tcp(&mut self, flow: FlowId, side: Side) {
        let Some(mut turn) = self.tcp_out.begin((flow, side), ()) else { return };
        while let Some(((), command)) = self.tcp_out.next(&mut turn) {
            match *command {
                tcp::Command::Send(ref segment) => self.send_segment(flow, side, segment),
                tcp::Command::Set(timer, at) => {
                    let Transport::Tcp(tcp) = &mut self.flows[flow].transport else {
                        continue;
                    };
                    if let Some(ticket) = tcp.timer(side, timer).set(at) {
                        let generation = ticket.generation;
                        let event = Event::Tcp { flow, side, timer, generation };
                        self.event_queue.at(ticket.at, event);
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
            tcp.sender.on_transmitted(self.now, segment, self.tcp_out.list());
            self.settle_tcp(segment.flow, Side::Sender);
        }
    }

    fn send_segment(&mut self, flow: FlowId, side: Side, segment: &Segment) {
        let Flow { from, to, class, ref transport, .. } = self.flows[flow];
        let Transport::Tcp(tcp) = transport else { return };
        let receiver = to.expect("the plan broadcasts no TCP");
        let (from, to) = match side {
            Side::Sender => (from, receiver),
            Side::Receiver => (receiver, from),
        };
        let header = match (&segment.coded, &tcp.plan.config.fec) {
            (Some(_), Some(fec)) => tcp.header + fec.header,
            _ => tcp.header,
        };
        let mut packet = Packet {
            ecn: segment.flags.ecn(),
            class,
            ..Packet::new(
                from,
                Some(to),
                Bytes(u64::from(segment.len)) + header + segment.sack.option_size(),
                self.now,
                Body::Segment(*segment),
            )
        };
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
    pub(super) fn tell_senders(
        &mut self,
        node: NodeId,
        destination: NodeId,
        tell: impl Fn(&mut tcp::Sender, Instant, &mut Vec<tcp::Command>),
    ) {
        for id in self.flows.ids() {
            let (Some(network), flow) = (&self.network, &mut self.flows[id]) else { return };
            let exit = flow.to.map(|to| network.shared.exits[to]);
            if flow.from != node || exit != Some(destination) {
                continue;
            }
            if let Transport::Tcp(tcp) = &mut flow.transport {
                tell(&mut tcp.sender, self.now, self.tcp_out.list());
                self.observers.on(self.now, &Notice::Sender { flow: id, sender: &tcp.sender });
                self.settle_tcp(id, Side::Sender);
            }
        }
    }

    /// Tells each sender the number of hops to its receiver, if a route is known before the run.
    pub(super) fn hint_hops(&mut self) {
        let Some(network) = &self.network else { return };
        for flow in &mut self.flows {
            let hops = flow.to.and_then(|to| network.hops(flow.from, to));
            if let (Some(hops), Transport::Tcp(tcp)) = (hops, &mut flow.transport) {
                tcp.sender.on_hint(self.now, Hint::RouteHops(hops));
            }
        }
    }
}
