//! The names that columns contain.

use crate::words::class_name;
use crate::{
    DropCause, Format, FrameKind, FrameOutcome, Network, PacketStep, Place, RouteStep, WaitKind,
};
use kernel::IdVec;
use std::collections::BTreeMap;
use wire::{Ecn, Flags, FlowId, NodeId, SackBlocks, TrafficClass, TriggerKind};

const FORMATS: [Format; 6] = [
    Format::Dsss { short_preamble: false },
    Format::Ofdm,
    Format::Ht,
    Format::Vht,
    Format::He,
    Format::Eht,
];
/// What nodes wait for, in the order of [`wait`].
pub const WAIT_NAMES: [&str; 4] = ["backoff", "defer", "NAV", "busy tone"];
const DIRECTIONS: [&str; 2] = ["forward", "reverse"];
const EVENTS: [&str; 2] = ["sent", "received"];
const STEPS: [&str; 11] = [
    "sent", "queued", "marked", "dequeued", "dropped", "crossed", "received", "served", "arrived",
    "resident", "began",
];
const ECNS: [&str; 4] = ["not capable", "ect(0)", "ect(1)", "experienced"];

/// Different names, with codes in the order of their first occurrence.
#[derive(Debug, Default)]
struct Codes {
    names: Vec<String>,
    codes: BTreeMap<String, u32>,
}

impl Codes {
    fn code(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.codes.get(name) {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.codes.insert(name.to_owned(), code);
        code
    }
}

/// The codes of the names of a network. Equal names have equal codes.
#[derive(Debug)]
pub(super) struct Names {
    radios: Vec<u32>,
    nodes: IdVec<NodeId, u32>,
    flows: IdVec<FlowId, u32>,
    /// Those of the places of packets: nodes, radios and link directions.
    at_nodes: IdVec<NodeId, u32>,
    at_radios: Vec<u32>,
    on_wires: Vec<u32>,
    lists: Vec<(&'static str, Vec<String>)>,
}

impl Names {
    pub(super) fn new(network: &Network) -> Self {
        let nodes: Vec<&str> = network.nodes.iter().map(|node| &node.name[..]).collect();
        let radios: Vec<&str> = network.radios.iter().map(|radio| &radio.name[..]).collect();
        let wires: Vec<&str> = network.wires.iter().map(|wire| &wire.name[..]).collect();
        let mut lists = Vec::new();
        let mut list = |kind, all: &[Vec<&str>]| {
            let mut codes = Codes::default();
            let of = |names: &Vec<&str>| names.iter().map(|name| codes.code(name)).collect();
            let all: Vec<Vec<u32>> = all.iter().map(of).collect();
            lists.push((kind, codes.names));
            all
        };
        let flows = network.flows.iter().map(|flow| &flow.name[..]).collect();
        let flows = list("flow", &[flows]).remove(0);
        let [at_nodes, at_radios, on_wires] =
            list("place", &[nodes.clone(), radios.clone(), wires]).try_into().expect("three lists");
        let nodes = list("node", &[nodes]).remove(0);
        let radios = list("radio", &[radios]).remove(0);
        let fixed: [(&str, &[&str]); 12] = [
            ("kind", &FrameKind::ALL.map(FrameKind::name)),
            ("format", &FORMATS.map(Format::name)),
            ("access_category", &TrafficClass::ALL.map(class_name)),
            ("outcome", &FrameOutcome::ALL.map(FrameOutcome::name)),
            ("wait", &WAIT_NAMES),
            ("direction", &DIRECTIONS),
            ("event", &EVENTS),
            ("step", &STEPS),
            ("cause", &DropCause::ALL.map(DropCause::name)),
            ("ecn", &ECNS),
            ("route", &RouteStep::NAMES),
            ("trigger", &TriggerKind::ALL.map(TriggerKind::name)),
        ];
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        lists.extend(fixed.map(|(kind, names)| (kind, owned(names))));
        let (nodes, flows, at_nodes) = (nodes.into(), flows.into(), at_nodes.into());
        Self { radios, nodes, flows, at_nodes, at_radios, on_wires, lists }
    }

    pub(super) fn all(self) -> Vec<(&'static str, Vec<String>)> {
        self.lists
    }

    pub(super) fn radio(&self, radio: u32) -> u32 {
        self.radios[radio as usize]
    }

    pub(super) fn node(&self, node: NodeId) -> u32 {
        self.nodes[node]
    }

    pub(super) fn flow(&self, flow: FlowId) -> u32 {
        self.flows[flow]
    }

    pub(super) fn place(&self, place: Place) -> u32 {
        match place {
            Place::Node(node) => self.at_nodes[node],
            Place::Radio(radio) => self.at_radios[radio as usize],
            Place::Wire(wire) => self.on_wires[wire as usize],
        }
    }
}

/// The place of a value in the list of its column.
fn code<T: PartialEq>(all: &[T], value: &T) -> u32 {
    all.iter().position(|other| other == value).map_or(u32::MAX, |place| place as u32)
}

pub(crate) fn kind(kind: FrameKind) -> u32 {
    kind.order() as u32
}

pub(super) fn format(format: Format) -> u32 {
    code(&FORMATS.map(Format::name), &format.name())
}

pub(crate) fn outcome(outcome: FrameOutcome) -> u32 {
    code(&FrameOutcome::ALL, &outcome)
}

/// Whether a code stands for a loss.
pub(crate) fn is_lost(outcome: u32) -> bool {
    matches!(FrameOutcome::ALL.get(outcome as usize), Some(FrameOutcome::Lost(_)))
}

/// The code of a step, and how many packets waited.
pub(crate) fn step(step: PacketStep) -> (u32, Option<u32>) {
    match step {
        PacketStep::Sent => (0, None),
        PacketStep::Queued { waiting } => (1, Some(waiting)),
        PacketStep::Marked => (2, None),
        PacketStep::Dequeued => (3, None),
        PacketStep::Dropped(_) => (4, None),
        PacketStep::Crossed => (5, None),
        PacketStep::Received => (6, None),
        PacketStep::Served => (7, None),
        PacketStep::Arrived => (8, None),
        PacketStep::Resident => (9, None),
        PacketStep::Began => (10, None),
    }
}

/// The code of what a node waits for, and the slots that remain before and after a back-off.
pub(crate) fn wait(kind: WaitKind) -> (u32, Option<(u32, u32)>) {
    match kind {
        WaitKind::Backoff { before, after } => (0, Some((before, after))),
        WaitKind::Defer => (1, None),
        WaitKind::Nav => (2, None),
        WaitKind::BusyTone => (3, None),
    }
}

pub(crate) fn drop_cause(step: PacketStep) -> Option<u32> {
    let PacketStep::Dropped(cause) = step else { return None };
    Some(cause.order() as u32)
}

pub(super) fn ecn(ecn: Ecn) -> u32 {
    match ecn {
        Ecn::NotCapable => 0,
        Ecn::Ect0 => 1,
        Ecn::Ect1 => 2,
        Ecn::Experienced => 3,
    }
}

/// The flags of the TCP header: `SYN|ACK`.
pub(super) fn flags(flags: Flags) -> String {
    flags.in_header().map(|known| known.name).collect::<Vec<_>>().join("|")
}

/// The option of accurate ECN in its order: `e1b=2921 ceb=4380`.
pub(super) fn accurate(blocks: &SackBlocks) -> String {
    let Some(option) = blocks.accurate() else { return String::new() };
    let names = if option.ect1_first { ["e1b", "ceb", "e0b"] } else { ["e0b", "ceb", "e1b"] };
    let fields = names.iter().zip(option.fields).take(usize::from(option.count));
    fields.map(|(name, field)| std::format!("{name}={field}")).collect::<Vec<_>>().join(" ")
}

/// SACK blocks: `1000-2448 4000-5448`.
pub(super) fn sack(blocks: &SackBlocks) -> String {
    let block = |block: &wire::SackBlock| std::format!("{}-{}", block.start, block.end);
    blocks.as_slice().iter().map(block).collect::<Vec<_>>().join(" ")
}
