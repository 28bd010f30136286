//! Who takes part in a run: the names and properties to which the numbers in records refer.

use crate::TapePacket;
use kernel::{BitRate, Bytes, IdVec, Instant};
use std::sync::Arc;
use wire::{Dscp, FlowId, NodeId, TrafficClass};

/// All nodes, radios, link directions and flows of a run, by number.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The nodes.
    pub nodes: IdVec<NodeId, NodeInfo>,
    /// By number of the radio. The access points are one node with a radio for each cell.
    pub radios: Vec<RadioInfo>,
    /// By number of the link direction: 2n and 2n + 1 are the directions of link n.
    pub wires: Vec<WireInfo>,
    /// The flows.
    pub flows: IdVec<FlowId, FlowInfo>,
    /// When the warm-up ends: what is before is traced and not measured.
    pub measured_from: Instant,
    /// When the run ends.
    pub end: Instant,
}

/// A node.
#[derive(Clone, Debug)]
pub struct NodeInfo {
    /// `ap`, `sta0`, `server`, or its name in the scenario.
    pub name: String,
}

/// The role of a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RadioRole {
    /// The access point of its cell.
    AccessPoint,
    /// A station of this access point, by number of the radio.
    Station {
        /// The radio of the access point.
        access_point: u32,
    },
    /// A station without an access point (independent BSS).
    AdHoc,
}

/// A radio.
#[derive(Clone, Debug)]
pub struct RadioInfo {
    /// Its name: that of its node; `ap`, `ap1`, … where the access point has several radios.
    pub name: String,
    /// Its node.
    pub node: NodeId,
    /// Its role.
    pub role: RadioRole,
    /// Centre frequency of its primary 20 MHz channel in MHz: 2,412 (channel 1) or 5,180 (channel
    /// 36) where the scenario names no channel.
    pub channel_mhz: u16,
    /// Whether the cell has EDCA, so that its data frames have a `QoS` Control field.
    pub has_qos: bool,
    /// Whether its data frames are protected by CCMP.
    pub has_ccmp: bool,
}

/// A direction of a link.
#[derive(Clone, Debug)]
pub struct WireInfo {
    /// Name of the link: `server-ap`.
    pub name: String,
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// Its rate; `None` is unlimited.
    pub rate: Option<BitRate>,
}

/// The transport of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowInfo {
    /// Its name in results: `download0`.
    pub name: String,
    /// The node of its data sender.
    pub from: NodeId,
    /// The node of its receiver; `None` is broadcast.
    pub to: Option<NodeId>,
    /// Its transport.
    pub transport: Transport,
    /// Size of the IP and transport headers that the simulation counts, without SACK blocks.
    pub header: Bytes,
    /// The MSS that the SYNs of both ends announce; 0 without TCP.
    pub mss: u16,
    /// The scale of the window field that they announce.
    pub window_shift: u8,
    /// Its access category.
    pub class: TrafficClass,
    /// Its differentiated services code point, if it has its own.
    pub dscp: Option<Dscp>,
    /// The packets of a real program, by number, if it has those of a tape.
    pub tape: Option<Arc<[TapePacket]>>,
}
