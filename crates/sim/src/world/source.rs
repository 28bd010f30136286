//! The events and the commands of traffic sources.

use super::World;
use crate::flow::{Side, Transport};
use crate::notice::{Notice, Observer};
use crate::traffic::{Command, Event, Refill, SourceTimer};
use kernel::Duration;
use wire::{FlowId, Media, NodeId, Packet};

impl<O: Observer> World<O> {
    /// A timer of a source has expired.
    pub(super) fn on_source_timer(&mut self, flow: FlowId, timer: SourceTimer) {
        if timer == SourceTimer::Reply {
            return self.reply(flow);
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
    pub(crate) fn notify_source(&mut self, flow: FlowId, event: Event) {
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
            Command::Send(payload) => {
                self.stock.on_sent(flow);
                let packet = self.flows[flow].datagram(payload, self.now);
                self.send_packet(packet);
            }
            Command::Pass(real) => {
                let packet = self.flows[flow].real(real, self.now);
                self.send_packet(packet);
            }
            Command::Media { kind, len, unit, number } => {
                let media = Media { flow, number, len: len.into(), unit, kind };
                self.send_packet(self.flows[flow].media(media, self.now));
            }
            Command::Fill => self.top_up(flow),
            Command::Session(asked) => {
                self.observers.on(self.now, &Notice::Fetched { flow, asked });
            }
            Command::Renew => self.renew(flow),
            Command::Open | Command::Write(_) | Command::Close | Command::Abandon => {
                if let Transport::Tcp(tcp) = &mut self.flows[flow].transport {
                    tcp.on_source(self.now, &command, self.out.tcp.list());
                    self.settle_tcp(flow, Side::Sender);
                }
            }
        }
    }

    /// Replaces a flow's connection by a new one.
    fn renew(&mut self, flow: FlowId) {
        let Transport::Tcp(tcp) = &mut self.flows[flow].transport else { return };
        tcp.reconnect(self.now, flow);
        let (hints, mut told) = self.hints();
        hints.hint_rate(flow, &mut told);
        self.observers.on(self.now, &Notice::Renewed { flow });
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

    /// An echo request has reached its destination, which replies to it after a time.
    pub(super) fn on_request(&mut self, flow: FlowId, packet: &Packet) {
        let Transport::Udp(udp) = &mut self.flows[flow].transport else { return };
        match udp.on_request(packet) {
            Some(Duration::ZERO) => self.reply(flow),
            Some(after) => {
                let timer = super::Event::Source(flow, SourceTimer::Reply);
                self.event_queue.at(self.now + after, timer);
            }
            None => {}
        }
    }

    /// The destination of echo requests replies to the oldest.
    fn reply(&mut self, flow: FlowId) {
        if let Transport::Udp(udp) = &mut self.flows[flow].transport {
            let reply = udp.reply(self.now);
            self.send_packet(reply);
        }
    }

    #[inline]
    fn send_packet(&mut self, packet: Option<Packet>) {
        let Some(mut packet) = packet else { return };
        self.observers.on(self.now, &Notice::Sent { packet: &packet, sender: None });
        self.route(packet.from, &mut packet);
    }
}
