//! Where packets come from: files, pauses and datagrams.

use super::World;
use crate::build::ENDLESS;
use crate::flow::{Flow, Side, Source, TcpFlow, Transport, Web};
use crate::plan::DelayEnd;
use kernel::{Bytes, Duration};
use wire::{Body, Datagram, Ecn, NodeId, Packet};

impl World {
    /// A flow starts, its pause is over, or its next datagram is due.
    pub(super) fn on_traffic(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if self.now >= flow.stop {
            self.stop(index);
            return;
        }
        match &mut flow.transport {
            Transport::Udp(udp) => match udp.interval {
                Some(interval) => {
                    self.send_datagram(index);
                    self.agenda.at(self.now + interval, super::Event::Traffic(index));
                }
                None => self.top_up(index),
            },
            Transport::Tcp(tcp) => match &mut tcp.source {
                Source::Bulk { size } => {
                    let size = *size;
                    self.open(index, size);
                }
                Source::Web(web) => {
                    web.rested = true;
                    self.next_file(index);
                }
            },
        }
    }

    /// The stop of a bulk flow has come: what it has not sent yet, it never will.
    fn stop(&mut self, index: u32) {
        let Transport::Tcp(tcp) = &mut self.flows[index as usize].transport else { return };
        if matches!(tcp.source, Source::Bulk { .. }) {
            tcp.sender.on_stop(self.now, &mut self.tcp_out);
            self.settle_tcp(index, Side::Sender);
        }
    }

    /// Opens a connection and writes `size` bytes to it, or without end.
    fn open(&mut self, index: u32, size: Option<Bytes>) {
        let flow = &mut self.flows[index as usize];
        let Transport::Tcp(tcp) = &mut flow.transport else { return };
        let out = &mut self.tcp_out;
        tcp.sender.on_open(self.now, out);
        tcp.sender.on_data(self.now, size.unwrap_or(ENDLESS), out);
        if size.is_some() {
            tcp.sender.on_close(self.now, out);
        }
        self.settle_tcp(index, Side::Sender);
    }

    fn web(&mut self, index: u32) -> Option<&mut Web> {
        match &mut self.flows[index as usize].transport {
            Transport::Tcp(tcp) => match &mut tcp.source {
                Source::Web(web) => Some(web),
                Source::Bulk { .. } => None,
            },
            Transport::Udp(_) => None,
        }
    }

    /// A pause of a web flow, from its own stream.
    pub(super) fn pause_of(&mut self, index: usize) -> Duration {
        self.web(index as u32).map_or(Duration::ZERO, Web::next_pause)
    }

    /// Asks for the next file over a new connection, if the user is ready for it.
    fn next_file(&mut self, index: u32) {
        let now = self.now;
        let Flow { id, stop, transport: Transport::Tcp(tcp), .. } = &mut self.flows[index as usize]
        else {
            return;
        };
        let TcpFlow { source: Source::Web(web), config, .. } = tcp.as_mut() else { return };
        if !web.is_ready() || now >= *stop {
            return;
        }
        let Some(size) = web.next_file() else { return };
        let whole = if config.pad_last {
            Bytes(size.0.div_ceil(config.mss.0) * config.mss.0)
        } else {
            size
        };
        web.asked = now;
        web.missing = whole;
        (web.ended, web.closed, web.rested) = (false, false, false);
        tcp.reconnect(*id);
        self.tell_rate(index);
        if let Some(checker) = &mut self.checker {
            checker.on_connection(index);
        }
        self.open(index, Some(size));
    }

    /// In-order bytes of a file reached the user.
    pub(super) fn on_file_bytes(&mut self, index: u32, bytes: Bytes) {
        let Some(web) = self.web(index) else { return };
        web.missing = Bytes(web.missing.0.saturating_sub(bytes.0));
        if web.missing == Bytes::ZERO && web.delay_end == DelayEnd::Delivered {
            self.end_file(index);
        }
    }

    /// The sender has seen everything acknowledged.
    pub(super) fn on_acknowledged(&mut self, index: u32) {
        if self.web(index).is_some_and(|web| web.delay_end == DelayEnd::Acknowledged) {
            self.end_file(index);
        }
    }

    fn end_file(&mut self, index: u32) {
        let now = self.now;
        let Some(web) = self.web(index) else { return };
        if web.ended {
            return;
        }
        web.ended = true;
        let (asked, pause) = (web.asked, web.next_pause());
        self.meter.on_session(now, index, asked);
        self.agenda.at(now + pause, super::Event::Traffic(index));
    }

    /// The connection of a web flow is closed: a user who waited for that may go on.
    pub(super) fn on_closed(&mut self, index: u32, side: Side) {
        if side == Side::Sender
            && let Some(web) = self.web(index)
        {
            web.closed = true;
            self.next_file(index);
        }
    }

    /// Datagrams that a saturated source keeps at its node: what one access may take along is in
    /// service, and as many wait behind it.
    fn saturated_depth(&self) -> u32 {
        2 * self.cell.packets_per_access()
    }

    /// Keeps a saturated source's datagrams waiting at its node.
    fn top_up(&mut self, index: u32) {
        let Transport::Udp(udp) = &self.flows[index as usize].transport else { return };
        // The queue may drop one at once: then the next frame that leaves makes room for another.
        for _ in udp.waiting..self.saturated_depth() {
            self.send_saturated(index);
        }
    }

    fn send_saturated(&mut self, index: u32) {
        if let Transport::Udp(udp) = &mut self.flows[index as usize].transport {
            udp.waiting += 1;
        }
        self.send_datagram(index);
    }

    /// Whether a packet is of a saturated source at `node`; if so, one less waits there.
    fn take_saturated(&mut self, node: NodeId, packet: &Packet) -> bool {
        let is_here = self.home(packet.from) == node;
        match &mut self.flows[packet.flow().0 as usize].transport {
            Transport::Udp(udp) if udp.interval.is_none() && is_here => {
                udp.waiting = udp.waiting.saturating_sub(1);
                true
            }
            _ => false,
        }
    }

    /// The queue of `node` has dropped a packet.
    pub(super) fn starve(&mut self, node: NodeId, packet: &Packet) {
        if !self.saturated[node.0 as usize].is_empty() && self.take_saturated(node, packet) {
            self.starved[node.0 as usize] = true;
        }
    }

    /// A packet has left `node`: the saturated source that sent it makes another. After drops the
    /// sources that miss datagrams take turns.
    pub(super) fn refill(&mut self, node: NodeId, packet: &Packet) {
        if self.saturated[node.0 as usize].is_empty() {
            return;
        }
        let flow = packet.flow().0;
        let own = self.take_saturated(node, packet);
        if self.starved[node.0 as usize] {
            self.feed_after(node, flow);
        } else if own && self.now < self.flows[flow as usize].stop {
            self.top_up(flow);
        }
    }

    /// The next saturated source of a node after this flow that misses a datagram makes one.
    fn feed_after(&mut self, node: NodeId, flow: u32) {
        let depth = self.saturated_depth();
        let here = &self.saturated[node.0 as usize];
        let next = here.partition_point(|&other| other <= flow);
        let hungry = |&&index: &&u32| {
            let Flow { stop, ref transport, .. } = self.flows[index as usize];
            let misses = matches!(transport, Transport::Udp(udp) if udp.waiting < depth);
            misses && self.now < stop
        };
        match here[next..].iter().chain(&here[..next]).find(hungry) {
            Some(&index) => self.send_saturated(index),
            None => self.starved[node.0 as usize] = false,
        }
    }

    fn send_datagram(&mut self, index: u32) {
        let Flow { id, from, to, class, ref mut transport, .. } = self.flows[index as usize];
        let Transport::Udp(udp) = transport else { return };
        let number = udp.next_number;
        udp.next_number += 1;
        let packet = Packet {
            from,
            to,
            size: udp.payload + udp.header,
            born: self.now,
            ecn: Ecn::NotCapable,
            class,
            body: Body::Datagram(Datagram { flow: id, number, len: udp.payload.0 as u32 }),
        };
        self.inject(packet);
    }
}
