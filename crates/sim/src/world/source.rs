//! The events and the commands of traffic sources.

use super::World;
use super::event::SourceTimer;
use crate::flow::{Flow, Side, Transport};
use crate::notice::{Notice, Observer};
use crate::traffic::{Command, Event, Refill, Replies};
use kernel::{Bytes, Duration, Instant};
use tcp::Sender;
use wire::{Body, Datagram, Echo, FlowId, Media, NodeId, Packet, RealPacket};

impl<O: Observer> World<O> {
    /// A timer of a source has expired.
    pub(super) fn on_source_timer(&mut self, flow: FlowId, timer: SourceTimer) {
        if timer == SourceTimer::Reply {
            return self.on_reply_due(flow);
        }
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
        self.flows[flow].source.on_event(self.now, event, self.out.source.list());
        let Some(mut turn) = self.out.source.begin(flow, ()) else { return };
        while let Some(((), &mut command)) = self.out.source.next(&mut turn) {
            self.carry_out(flow, command);
        }
    }

    fn carry_out(&mut self, flow: FlowId, command: Command) {
        match command {
            Command::Wake(at) => {
                self.event_queue.at(at, super::Event::Source(flow, SourceTimer::Own));
            }
            Command::Admit(at) => {
                self.event_queue.at(at, super::Event::Source(flow, SourceTimer::Admission));
            }
            Command::Send(payload) => self.send_datagram(flow, payload),
            Command::Pass(packet) => self.pass_real(flow, packet),
            Command::Media { kind, len, unit, number } => {
                self.send_media(Media { flow, number, len: len.into(), unit, kind });
            }
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
            event(&mut tcp.sender, self.now, self.out.tcp.list());
            self.settle_tcp(flow, Side::Sender);
        }
    }

    /// Refills the queue of a node with the datagrams of a saturated source.
    fn top_up(&mut self, flow: FlowId) {
        // The queue may drop a datagram at once. Then the next frame that leaves triggers a refill.
        for _ in 0..self.stock.lacks(flow) {
            self.notify_source(flow, Event::Room);
        }
    }

    /// A packet has left `node`: saturated sources there send others.
    pub(super) fn refill(&mut self, node: NodeId, packet: &Packet) {
        let (now, flows) = (self.now, &self.flows);
        match self.stock.on_left(node, packet, |flow| now < flows[flow].stop) {
            Refill::Nothing => {}
            Refill::One(flow) => self.notify_source(flow, Event::Room),
            Refill::All(flow) => self.top_up(flow),
        }
    }

    fn send_datagram(&mut self, flow: FlowId, payload: Bytes) {
        let Flow { id, from, to, class, ref mut transport, .. } = self.flows[flow];
        let Transport::Udp(udp) = transport else { return };
        let number = udp.next_number;
        udp.next_number += 1;
        self.stock.on_sent(id);
        let len = payload.0 as u32;
        let body = match udp.echo {
            None => Body::Datagram(Datagram { flow: id, number, len, stream: 0 }),
            Some(Replies { protocol, .. }) => {
                let (is_reply, asked) = (false, self.now);
                Body::Echo(Echo { flow: id, number, len, protocol, is_reply, asked })
            }
        };
        let size = payload + udp.header;
        self.send_packet(&mut Packet { class, ..Packet::new(from, to, size, self.now, body) });
    }

    /// Sends a packet of a real program, in the access category of its DSCP.
    #[inline(never)]
    fn pass_real(&mut self, flow: FlowId, real: RealPacket) {
        let Flow { from, to, ref mut transport, .. } = self.flows[flow];
        let Transport::Udp(udp) = transport else { return };
        let number = udp.next_number;
        udp.next_number += 1;
        let RealPacket { len, ecn, class, stream, .. } = real;
        let body = Body::Datagram(Datagram { flow, number, len, stream });
        let packet = Packet::new(from, to, Bytes(len.into()), self.now, body);
        self.send_packet(&mut Packet { ecn, class, ..packet });
    }

    /// Sends a packet of a conference, in its access category in both directions.
    #[inline(never)]
    fn send_media(&mut self, media: Media) {
        let Flow { from, to, class, ref transport, .. } = self.flows[media.flow];
        let (Transport::Udp(udp), Some(to)) = (transport, to) else { return };
        let (from, to) = if media.is_forward() { (from, to) } else { (to, from) };
        let size = Bytes(u64::from(media.len)) + udp.header;
        let body = Body::Media(media);
        self.send_packet(&mut Packet {
            class,
            ..Packet::new(from, Some(to), size, self.now, body)
        });
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
        self.event_queue.at(self.now + after, super::Event::Source(flow, SourceTimer::Reply));
    }

    /// The destination of echo requests replies to the oldest.
    fn on_reply_due(&mut self, flow: FlowId) {
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
