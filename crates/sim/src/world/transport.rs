//! The ends of TCP connections: their timers, segments and commands, and what they learn of their
//! paths.

use super::{Event, World};
use crate::flow::{Flow, Side, Transport};
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::rate_hints::RateHints;
use crate::topology::RadioId;
use crate::traffic;
use kernel::{Bytes, Fired, Instant};
use tcp::{Hint, TimerId};
use wifi::phy::Mode;
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
                let out = self.out.tcp.list();
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
        let out = self.out.tcp.list();
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
        let Some(mut turn) = self.out.tcp.begin((flow, side), ()) else { return };
        while let Some(((), command)) = self.out.tcp.next(&mut turn) {
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
            tcp.sender.on_transmitted(self.now, segment, self.out.tcp.list());
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
                tell(&mut tcp.sender, self.now, self.out.tcp.list());
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

    /// Determines which flows receive hints about which link directions, and passes each its
    /// initial rate.
    pub(super) fn hint_rates(&mut self, plan: &Plan) {
        self.rate_hints = RateHints::new(plan);
        for flow in self.flows.ids() {
            self.hint_rate(flow);
        }
    }

    /// The mode in which a radio sends to another, if there is a link.
    pub(crate) fn mode(&self, by: RadioId, to: RadioId) -> Option<&Mode> {
        self.cell.mode(by.0, to.0)
    }

    /// Tells the queues of all radios the state of the links between stations and access points.
    pub(super) fn tell_queues(&mut self, stations: usize) {
        for station in 0..stations {
            let radio = self.topology.station(station);
            self.tell_of_link(radio, self.topology.access_point_of(radio));
        }
    }

    fn tell_of_link(&mut self, station: RadioId, access_point: RadioId) {
        self.tell_queue(station, access_point, None);
        self.tell_queue(access_point, station, None);
    }

    /// Tells queues and senders the state of the link between a station and its new access point.
    pub(super) fn tell_of_station(&mut self, station: RadioId, access_point: RadioId) {
        self.tell_of_link(station, access_point);
        self.hint_flows(station, access_point);
        self.hint_flows(access_point, station);
    }

    /// Tells the queue of a radio the state of a link, if it depends on it. `slowest` is the
    /// slowest mode in which the next frame may have to be sent, if not that of the link.
    fn tell_queue(&mut self, by: RadioId, to: RadioId, slowest: Option<&Mode>) {
        let Some(rules) = self.link_rules.as_ref().filter(|rules| rules.applies_to(by)) else {
            return;
        };
        let Some(mode) = self.cell.mode(by.0, to.0) else { return };
        let state = rules.state(self.topology.radio(to).node, mode, slowest.unwrap_or(mode));
        self.queues[by].on_link(&state);
    }

    /// The mode of a link direction changes.
    pub(super) fn on_mode(&mut self, by: RadioId, to: RadioId, mode: &Mode, slowest: &Mode) {
        self.observers.on(self.now, &Notice::Mode { by, to, mode });
        self.tell_queue(by, to, Some(slowest));
        self.hint_flows(by, to);
    }

    /// Passes its lowest rate to each flow that crosses a link direction.
    fn hint_flows(&mut self, by: RadioId, to: RadioId) {
        for i in 0..self.rate_hints.flows((by, to)).len() {
            self.hint_rate(self.rate_hints.flows((by, to))[i]);
        }
    }

    /// Passes the lowest rate among its link directions to a flow's sender.
    pub(super) fn hint_rate(&mut self, flow: FlowId) {
        let directions = self.rate_hints.directions(flow).iter();
        let slowest = directions.filter_map(|&(by, to)| Some(self.mode(by, to)?.rate)).min();
        if let (Some(rate), Transport::Tcp(tcp)) = (slowest, &mut self.flows[flow].transport) {
            tcp.sender.on_hint(self.now, Hint::LinkRate(rate));
            self.observers.on(self.now, &Notice::Sender { flow, sender: &tcp.sender });
        }
    }
}
