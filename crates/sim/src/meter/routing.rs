//! What routing is measured by.

use super::copies::Arrivals;
use crate::measure::DelayStats;
use crate::notice::NodeNote;
use crate::plan::{FlowPlan, Plan};
use kernel::{IdVec, Instant};
use net::route::RouteNote;
use wire::{ArpOperation, Body, FlowId, Packet};

/// The measurements of an ad-hoc network whose nodes forward, and of its flows.
#[derive(Debug)]
pub(crate) struct RoutingMeter {
    /// Routing messages that routers passed to their radios, at each hop.
    pub(crate) messages: u64,
    /// Their bytes.
    pub(crate) message_bytes: u64,
    /// Requests and replies of ARP that nodes passed to their radios.
    pub(crate) arp: [u64; 2],
    /// Packets of flows that routers passed to their radios, at each hop.
    pub(crate) forwarded: u64,
    /// Changes of routes from nodes to destinations.
    pub(crate) changes: u64,
    /// Failures of links to neighbours.
    pub(crate) link_failures: u64,
    /// Those of neighbours in range.
    pub(crate) false_failures: u64,
    /// From the first packet that waits for a route to the route.
    pub(crate) discovery: DelayStats,
    pub(crate) flows: IdVec<FlowId, RoutedFlow>,
    /// The datagrams and echo requests that have arrived.
    datagrams: IdVec<FlowId, Arrivals>,
    /// The echo replies, likewise.
    replies: IdVec<FlowId, Arrivals>,
}

/// The measurements of a flow of such a network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoutedFlow {
    /// Data packets that arrived.
    pub(crate) arrived: u64,
    /// The hops over the air of all of them together.
    pub(crate) hops: u64,
    /// The hops over wires of each.
    wires: u64,
    /// Data packets that the sender handed to the network.
    pub(crate) sent: u64,
    /// Data packets that were lost on the way, wherever and why.
    pub(crate) dropped: u64,
    /// Bytes of data that the sender handed to the network in the window.
    window_bytes: u64,
}

impl RoutedFlow {
    /// The fraction of the bytes sent in the window that were not delivered as new data; at least
    /// 0, although the window may begin between the sending of bytes and their delivery.
    pub(crate) fn undelivered(&self, delivered: u64) -> f64 {
        (1.0 - delivered as f64 / self.window_bytes as f64).clamp(0.0, 1.0)
    }
}

impl RoutingMeter {
    pub(super) fn new(plan: &Plan) -> Self {
        let wires = |flow: &FlowPlan| plan.topology.links_on_path(flow.from, flow.to);
        let flow = |flow| RoutedFlow {
            wires: wires(flow).map_or(0, |wires| wires.len() as u64),
            ..RoutedFlow::default()
        };
        let flows = plan.flows.len();
        Self {
            messages: 0,
            message_bytes: 0,
            arp: [0; 2],
            forwarded: 0,
            changes: 0,
            link_failures: 0,
            false_failures: 0,
            discovery: DelayStats::fine(),
            flows: plan.flows.iter().map(flow).collect(),
            datagrams: IdVec::filled(flows, Arrivals::default()),
            replies: IdVec::filled(flows, Arrivals::default()),
        }
    }

    /// A node has told this; `is_open` in the window.
    pub(super) fn on_note(&mut self, now: Instant, note: NodeNote<'_>, is_open: bool) {
        match note {
            NodeNote::Forwarded(packet) => self.on_forwarded(packet),
            NodeNote::Route { note, in_range } => self.on_route(now, note, in_range, is_open),
            NodeNote::Path { .. } => {}
        }
    }

    /// A node has a packet to send.
    fn on_forwarded(&mut self, packet: &Packet) {
        match packet.body {
            Body::Routing(_) => {
                self.messages += 1;
                self.message_bytes += packet.size.0;
            }
            Body::Arp(message) => {
                let is_reply = message.operation == ArpOperation::Reply;
                self.arp[usize::from(is_reply)] += 1;
            }
            Body::Segment(_) | Body::Datagram(_) | Body::Echo(_) | Body::Media(_) => {
                self.forwarded += 1;
            }
            Body::Management(_) => {}
        }
    }

    /// A note of a router; `is_open` in the window.
    fn on_route(&mut self, now: Instant, note: RouteNote, in_range: bool, is_open: bool) {
        match note {
            RouteNote::Changed { .. } => self.changes += 1,
            RouteNote::Discovered { since, .. } if is_open => self.discovery.record(now - since),
            RouteNote::LinkFailure { .. } => {
                self.link_failures += 1;
                self.false_failures += u64::from(in_range);
            }
            _ => {}
        }
    }

    /// The record of a data packet's flow.
    fn flow_of_data(&mut self, packet: &Packet) -> Option<&mut RoutedFlow> {
        let flow = packet.flow().filter(|_| packet.payload().0 > 0)?;
        Some(&mut self.flows[flow])
    }

    /// A sender hands a packet to the network.
    pub(super) fn on_sent(&mut self, packet: &Packet, is_open: bool) {
        if let Some(flow) = self.flow_of_data(packet) {
            flow.sent += 1;
            flow.window_bytes += if is_open { packet.payload().0 } else { 0 };
        }
    }

    /// A packet has arrived. Returns whether it is new: not the copy of a datagram that arrived
    /// before.
    pub(super) fn on_arrived(&mut self, packet: &Packet) -> bool {
        if let Some(flow) = self.flow_of_data(packet) {
            flow.arrived += 1;
            // Each node that forwards takes one off.
            let hops = u64::from(Packet::TTL.saturating_sub(packet.ttl)) + 1;
            flow.hops += hops.saturating_sub(flow.wires);
        }
        match &packet.body {
            Body::Datagram(datagram) => self.datagrams[datagram.flow].is_first(datagram.number),
            Body::Echo(echo) => {
                let arrivals = if echo.is_reply { &mut self.replies } else { &mut self.datagrams };
                arrivals[echo.flow].is_first(echo.number)
            }
            Body::Media(media) => {
                let back = !media.is_forward();
                let arrivals = if back { &mut self.replies } else { &mut self.datagrams };
                arrivals[media.flow].is_first(media.number)
            }
            _ => true,
        }
    }

    /// A packet is lost.
    pub(super) fn on_dropped(&mut self, packet: &Packet) {
        if let Some(flow) = self.flow_of_data(packet) {
            flow.dropped += 1;
        }
    }
}
