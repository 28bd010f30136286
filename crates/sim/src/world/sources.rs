//! The events and the commands of traffic sources.

use super::World;
use crate::flow::{Flow, Side, Transport, UdpFlow};
use crate::notice::{Notice, Observer};
use crate::traffic::{Command, Event, Replies};
use kernel::{Bytes, Duration, Instant};
use tcp::Sender;
use wire::{Body, Datagram, Echo, FlowId, NodeId, Packet};

impl<O: Observer> World<O> {
    /// The timer of a source expired.
    pub(super) fn on_traffic(&mut self, flow: FlowId) {
        let has_stopped = self.now >= self.flows[flow].stop;
        self.notify_source(flow, if has_stopped { Event::Stop } else { Event::Timer });
    }

    /// One end of a flow's connection is closed.
    pub(super) fn on_closed(&mut self, flow: FlowId, side: Side) {
        self.observers.on(self.now, &Notice::Closed { flow, side });
        if side == Side::Sender && self.now < self.flows[flow].stop {
            self.notify_source(flow, Event::Closed);
        }
    }

    /// Passes an event to a source, and executes its commands.
    pub(super) fn notify_source(&mut self, flow: FlowId, event: Event) {
        self.flows[flow].source.on_event(self.now, event, self.source_out.list());
        let Some(mut turn) = self.source_out.begin(flow, ()) else { return };
        while let Some(((), &mut command)) = self.source_out.next(&mut turn) {
            self.carry_out(flow, command);
        }
    }

    fn carry_out(&mut self, flow: FlowId, command: Command) {
        match command {
            Command::Wake(at) => self.event_queue.at(at, super::Event::Traffic(flow)),
            Command::Send(payload) => self.send_datagram(flow, payload),
            Command::Fill => self.top_up(flow),
            Command::Session(asked) => {
                self.observers.on(self.now, &Notice::Fetched { flow, asked });
            }
            Command::Renew => self.renew(flow),
            Command::Open => self.request_of_sender(flow, Sender::on_open),
            Command::Write(bytes) => {
                self.request_of_sender(flow, |sender, now, out| sender.on_data(now, bytes, out));
            }
            Command::Close => self.request_of_sender(flow, Sender::on_close),
            Command::Abandon => self.request_of_sender(flow, Sender::on_stop),
        }
    }

    /// Replaces a flow's connection by a new one.
    fn renew(&mut self, flow: FlowId) {
        let Transport::Tcp(tcp) = &mut self.flows[flow].transport else { return };
        tcp.reconnect(self.now, flow);
        self.hint_rate(flow);
        self.observers.on(self.now, &Notice::Renewed { flow });
    }

    /// Passes a request of its source to the sender of a flow.
    fn request_of_sender(
        &mut self,
        flow: FlowId,
        event: impl FnOnce(&mut Sender, Instant, &mut Vec<tcp::Command>),
    ) {
        if let Transport::Tcp(tcp) = &mut self.flows[flow].transport {
            event(&mut tcp.sender, self.now, self.tcp_out.list());
            self.settle_tcp(flow, Side::Sender);
        }
    }

    /// The number of datagrams that a saturated source keeps at its node: as many as one access may
    /// send are in service, and as many wait behind them.
    fn saturated_depth(&self) -> u32 {
        2 * self.cell.packets_per_access()
    }

    /// Refills the queue of a node with the datagrams of a saturated source.
    fn top_up(&mut self, flow: FlowId) {
        let waiting = self.waiting(flow).unwrap_or(u32::MAX);
        // The queue may drop a datagram at once. Then the next frame that leaves triggers a refill.
        for _ in waiting..self.saturated_depth() {
            self.notify_source(flow, Event::Room);
        }
    }

    /// For a saturated source, the datagrams that wait at its node.
    fn waiting(&self, flow: FlowId) -> Option<u32> {
        match self.flows[flow].transport {
            Transport::Udp(UdpFlow { waiting, .. }) => waiting,
            Transport::Tcp(_) => None,
        }
    }

    /// Whether a packet is from a saturated source at `node`; if so, it no longer counts as waiting
    /// there.
    fn take_saturated(&mut self, node: NodeId, packet: &Packet) -> bool {
        let is_here = self.topology.outlet(packet.from) == node;
        let Some(flow) = packet.flow() else { return false };
        match &mut self.flows[flow].transport {
            Transport::Udp(UdpFlow { waiting: Some(waiting), .. }) if is_here => {
                *waiting = waiting.saturating_sub(1);
                true
            }
            _ => false,
        }
    }

    /// The queue of `node` has dropped a packet: if its source is saturated, it is short of
    /// packets.
    pub(super) fn mark_short(&mut self, node: NodeId, packet: &Packet) {
        if !self.saturated[node].is_empty() && self.take_saturated(node, packet) {
            self.is_short[node] = true;
        }
    }

    /// A packet has left `node`: the saturated source that sent it sends another. After drops, the
    /// sources that are short take turns.
    pub(super) fn refill(&mut self, node: NodeId, packet: &Packet) {
        if self.saturated[node].is_empty() {
            return;
        }
        let Some(flow) = packet.flow() else { return };
        let own = self.take_saturated(node, packet);
        if self.is_short[node] {
            self.refill_next(node, flow);
        } else if own && self.now < self.flows[flow].stop {
            self.top_up(flow);
        }
    }

    /// The next saturated source of a node after this flow that is short of datagrams sends one.
    fn refill_next(&mut self, node: NodeId, flow: FlowId) {
        let depth = self.saturated_depth();
        let here = &self.saturated[node];
        let next = here.partition_point(|&other| other <= flow);
        let lacks = |&&flow: &&FlowId| {
            let misses = self.waiting(flow).is_some_and(|waiting| waiting < depth);
            misses && self.now < self.flows[flow].stop
        };
        match here[next..].iter().chain(&here[..next]).find(lacks) {
            Some(&flow) => self.notify_source(flow, Event::Room),
            None => self.is_short[node] = false,
        }
    }

    fn send_datagram(&mut self, flow: FlowId, payload: Bytes) {
        let Flow { id, from, to, class, ref mut transport, .. } = self.flows[flow];
        let Transport::Udp(udp) = transport else { return };
        let number = udp.next_number;
        udp.next_number += 1;
        udp.waiting = udp.waiting.map(|waiting| waiting + 1);
        let len = payload.0 as u32;
        let body = match udp.echo {
            None => Body::Datagram(Datagram { flow: id, number, len }),
            Some(Replies { protocol, .. }) => {
                let (is_reply, asked) = (false, self.now);
                Body::Echo(Echo { flow: id, number, len, protocol, is_reply, asked })
            }
        };
        let size = payload + udp.header;
        self.send_packet(&mut Packet { class, ..Packet::new(from, to, size, self.now, body) });
    }

    /// An echo request has reached its destination, which replies to it after a time.
    pub(super) fn on_request(&mut self, packet: &Packet, request: Echo) {
        let flow = request.flow;
        let Transport::Udp(udp) = &mut self.flows[flow].transport else { return };
        let Some(Replies { after, .. }) = udp.echo else { return };
        if after == Duration::ZERO {
            return self.reply(packet, request);
        }
        udp.unanswered.push_back(*packet);
        self.event_queue.at(self.now + after, super::Event::Reply(flow));
    }

    /// The destination of echo requests replies to the oldest.
    pub(super) fn on_reply_due(&mut self, flow: FlowId) {
        let Transport::Udp(udp) = &mut self.flows[flow].transport else { return };
        let Some(packet) = udp.unanswered.pop_front() else { return };
        if let Body::Echo(request) = packet.body {
            self.reply(&packet, request);
        }
    }

    /// Replies to an echo request, in its access category (RFC 1122 section 3.2.2.6).
    fn reply(&mut self, packet: &Packet, request: Echo) {
        let node = packet.to.expect("the plan broadcasts no echo requests");
        let body = Body::Echo(request.reply());
        let reply = Packet::new(node, Some(packet.from), packet.size, self.now, body);
        self.send_packet(&mut Packet { class: packet.class, ..reply });
    }

    fn send_packet(&mut self, packet: &mut Packet) {
        self.observers.on(self.now, &Notice::Sent { packet, sender: None });
        self.route(packet.from, packet);
    }
}
