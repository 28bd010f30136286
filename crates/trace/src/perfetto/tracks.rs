//! The tracks: a group for each node, link and flow, and in it a lane for each kind of event.

use super::packets::Packets;
use super::schema::track;
use crate::{Network, words};
use kernel::{IdVec, Instant, Span};
use std::collections::BTreeMap;
use std::io;
use wire::{FlowId, NodeId, TrafficClass};

/// What a group of lanes stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Nodes,
    Links,
    Flows,
    Node(u32),
    Radio(u32),
    Wire(u32),
    Flow(u32),
}

impl Group {
    fn name(self, network: &Network) -> &str {
        match self {
            Self::Nodes => "nodes",
            Self::Links => "links",
            Self::Flows => "flows",
            Self::Node(node) => &network.nodes[NodeId(node)].name,
            Self::Radio(radio) => &network.radios[radio as usize].name,
            Self::Wire(wire) => &network.wires[wire as usize].name,
            Self::Flow(flow) => &network.flows[FlowId(flow)].name,
        }
    }

    /// The group that contains it, and its place there.
    fn parent(self, network: &Network) -> Option<(Self, u32)> {
        match self {
            Self::Nodes | Self::Links | Self::Flows => None,
            Self::Node(node) => Some((Self::Nodes, node)),
            Self::Radio(radio) => Some((
                Self::Node(network.radios[radio as usize].node.0),
                u32::from(u8::MAX) + radio,
            )),
            Self::Wire(wire) => Some((Self::Links, wire)),
            Self::Flow(flow) => Some((Self::Flows, flow)),
        }
    }
}

/// A lane of a group; lanes are shown in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// RTS, CTS and CTS-to-self.
    Protection,
    /// Data frames.
    Data,
    /// Ack, BlockAckReq and BlockAck.
    Acknowledgement,
    /// Back-off of an access category, and the times for which it defers.
    Backoff(TrafficClass),
    /// The NAV.
    Nav,
    /// Packets that are lost.
    Drops,
    /// What happens to routes and links.
    Routes,
    /// Packets in a queue.
    Queue,
    /// The congestion window.
    Window,
    /// The slow start threshold.
    Threshold,
    /// Bytes in flight.
    InFlight,
    /// Samples of the RTT.
    Rtt,
    /// Retransmitted segments.
    Retransmissions,
    /// The hops of the route.
    Hops,
}

impl Lane {
    fn name(self, has_qos: bool) -> String {
        match self {
            Self::Protection => "RTS/CTS".into(),
            Self::Data => "data".into(),
            Self::Acknowledgement => "ACK".into(),
            Self::Backoff(class) if has_qos => format!("back-off {}", words::class_name(class)),
            Self::Backoff(_) => "back-off".into(),
            Self::Nav => "NAV".into(),
            Self::Drops => "drops".into(),
            Self::Routes => "routes".into(),
            Self::Queue => "queue (packets)".into(),
            Self::Window => "cwnd".into(),
            Self::Threshold => "ssthresh".into(),
            Self::InFlight => "in flight".into(),
            Self::Rtt => "RTT".into(),
            Self::Retransmissions => "retransmissions".into(),
            Self::Hops => "route (hops)".into(),
        }
    }

    fn rank(self) -> u64 {
        match self {
            Self::Protection => 0,
            Self::Data => 1,
            Self::Acknowledgement => 2,
            Self::Backoff(class) => 3 + class as u64,
            Self::Nav => 7,
            Self::Drops => 8,
            Self::Routes => 9,
            Self::Queue => 10,
            Self::Window => 11,
            Self::Threshold => 12,
            Self::InFlight => 13,
            Self::Rtt => 14,
            Self::Retransmissions => 15,
            Self::Hops => 16,
        }
    }

    /// The unit of a counter; `None` for a lane of slices or instants.
    fn unit(self) -> Option<u64> {
        match self {
            Self::Queue | Self::Hops => Some(track::UNIT_COUNT),
            Self::Window | Self::Threshold | Self::InFlight => Some(track::UNIT_SIZE_BYTES),
            Self::Rtt => Some(track::UNIT_TIME_NS),
            _ => None,
        }
    }
}

/// The tracks that exist. Each is defined when its first event is written.
#[derive(Debug)]
pub(super) struct Tracks {
    /// By node: whether its lanes are divided by radio.
    is_divided: Vec<bool>,
    groups: BTreeMap<Group, u64>,
    lanes: BTreeMap<(Group, Lane), Vec<Track>>,
    count: u64,
}

/// A track of a lane.
#[derive(Debug)]
struct Track {
    uuid: u64,
    /// When its last slice ends.
    free_at: Instant,
}

impl Tracks {
    pub(super) fn new(network: &Network) -> Self {
        let mut radios = IdVec::filled(network.nodes.len(), 0);
        for radio in &network.radios {
            radios[radio.node] += 1;
        }
        let is_divided = radios.iter().map(|&count| count > 1).collect();
        Self { is_divided, groups: BTreeMap::new(), lanes: BTreeMap::new(), count: 0 }
    }

    /// The group of a radio: its node, unless the node has several.
    pub(super) fn of_radio(&self, network: &Network, radio: u32) -> Group {
        let node = network.radios[radio as usize].node.0;
        if self.is_divided[node as usize] { Group::Radio(radio) } else { Group::Node(node) }
    }

    /// A track of the lane for a slice. Slices on one track would nest if they overlapped: a slice
    /// that overlaps another of its lane goes to a further track of the same name, which Perfetto
    /// shows as one lane of several rows.
    pub(super) fn for_slice<W: io::Write>(
        &mut self,
        group: Group,
        lane: Lane,
        span: Span,
        network: &Network,
        packets: &mut Packets<W>,
    ) -> io::Result<u64> {
        let tracks = self.lanes.entry((group, lane)).or_default();
        if let Some(track) = tracks.iter_mut().find(|track| track.free_at <= span.start) {
            track.free_at = span.end;
            return Ok(track.uuid);
        }
        let uuid = self.define(group, lane, network, packets)?;
        let tracks = self.lanes.get_mut(&(group, lane)).expect("it was entered above");
        tracks.push(Track { uuid, free_at: span.end });
        Ok(uuid)
    }

    /// The track of the lane for instants and for values of a counter.
    pub(super) fn of<W: io::Write>(
        &mut self,
        group: Group,
        lane: Lane,
        network: &Network,
        packets: &mut Packets<W>,
    ) -> io::Result<u64> {
        let always = Span { start: Instant::ZERO, end: Instant::ZERO };
        self.for_slice(group, lane, always, network, packets)
    }

    fn define<W: io::Write>(
        &mut self,
        group: Group,
        lane: Lane,
        network: &Network,
        packets: &mut Packets<W>,
    ) -> io::Result<u64> {
        let parent = self.group(group, network, packets)?;
        let has_qos = match group {
            Group::Node(node) => network.radios.iter().any(|r| r.node.0 == node && r.has_qos),
            Group::Radio(radio) => network.radios[radio as usize].has_qos,
            _ => false,
        };
        let uuid = self.next();
        packets.track(|d| {
            d.varint(track::UUID, uuid);
            d.varint(track::PARENT_UUID, parent);
            d.string(track::NAME, &lane.name(has_qos));
            d.varint(track::SIBLING_ORDER_RANK, lane.rank());
            if let Some(unit) = lane.unit() {
                d.message(track::COUNTER, |counter| counter.varint(track::UNIT, unit));
            }
        })?;
        Ok(uuid)
    }

    fn group<W: io::Write>(
        &mut self,
        group: Group,
        network: &Network,
        packets: &mut Packets<W>,
    ) -> io::Result<u64> {
        if let Some(&uuid) = self.groups.get(&group) {
            return Ok(uuid);
        }
        let parent = match group.parent(network) {
            Some((parent, rank)) => Some((self.group(parent, network, packets)?, rank)),
            None => None,
        };
        let uuid = self.next();
        self.groups.insert(group, uuid);
        packets.track(|d| {
            d.varint(track::UUID, uuid);
            d.string(track::NAME, group.name(network));
            d.varint(track::CHILD_ORDERING, track::EXPLICIT);
            if let Some((parent, rank)) = parent {
                d.varint(track::PARENT_UUID, parent);
                d.varint(track::SIBLING_ORDER_RANK, u64::from(rank));
            }
        })?;
        Ok(uuid)
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
}
