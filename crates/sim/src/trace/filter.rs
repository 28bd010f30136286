//! Which records a trace has.

use crate::plan::Plan;
use crate::scenario::Issue;
use crate::topology::{Hop, Interface, RadioId};
use ::trace::{
    Frame, Network, NodeInfo, PacketEvent, Place, RouteEvent, SegmentEvent, SegmentRecord, Wait,
};
use kernel::{Duration, IdVec, Instant};
use settings::{nearest, said};
use std::collections::BTreeSet;
use wire::{FlowId, NodeId};

/// Which records a trace has: all by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// The begin of the stretch that is traced, in seconds. What lasts into it belongs to it.
    pub start_s: Option<f64>,
    /// The end of the stretch.
    pub end_s: Option<f64>,
    /// Names of nodes or radios; empty is all. A frame is traced if one of them sends it or is its
    /// receiver, or if it is a broadcast.
    pub nodes: Vec<String>,
    /// Names of flows; empty is all. A frame is traced if its exchange carries packets of one of
    /// them, a wait if it is at a radio on their path.
    pub flows: Vec<String>,
}

/// A filter with numbers instead of names.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) from: Instant,
    pub(super) to: Instant,
    /// By radio, node, link direction and flow; `None` is all.
    nodes: Option<Members>,
    flows: Option<Flows>,
}

#[derive(Debug, Default)]
struct Members {
    radios: Vec<bool>,
    nodes: IdVec<NodeId, bool>,
    wires: Vec<bool>,
}

#[derive(Debug)]
struct Flows {
    flows: IdVec<FlowId, bool>,
    /// The radios on their paths.
    radios: BTreeSet<u32>,
}

impl Filter {
    /// The filter for a plan, or all its faults, with paths as `trace.start_s`.
    pub(super) fn choose(&self, plan: &Plan, network: &Network) -> Result<Chosen, Vec<Issue>> {
        let mut issues = Vec::new();
        let (from, to) = self.stretch(network.end, &mut issues);
        let nodes = self.members(network, &mut issues);
        let flows = self.chosen_flows(plan, network, &mut issues);
        if issues.is_empty() { Ok(Chosen { from, to, nodes, flows }) } else { Err(issues) }
    }

    fn stretch(&self, end: Instant, issues: &mut Vec<Issue>) -> (Instant, Instant) {
        let last = end.as_secs_f64();
        let mut fault = |path: &str, message: String| {
            issues.push(Issue::new(format!("trace.{path}"), message));
        };
        let (from, to) = (self.start_s.unwrap_or(0.0), self.end_s.unwrap_or(last));
        if !(0.0..last).contains(&from) {
            fault("start_s", format!("{from} s is outside of the run, which lasts {last} s"));
        } else if !(to > 0.0 && to <= last) {
            fault("end_s", format!("{to} s is outside of the run, which lasts {last} s"));
        } else if to <= from {
            fault("end_s", format!("{to} s is not after the begin of the stretch, {from} s"));
        } else {
            let at = |s: f64| Instant::ZERO + Duration::from_secs_f64(s);
            // What happens at the end of the run belongs to it.
            let to = if self.end_s.is_none() || to >= last { Instant::NEVER } else { at(to) };
            return (at(from), to);
        }
        (Instant::ZERO, end)
    }

    fn members(&self, network: &Network, issues: &mut Vec<Issue>) -> Option<Members> {
        if self.nodes.is_empty() {
            return None;
        }
        let mut members = Members {
            radios: vec![false; network.radios.len()],
            nodes: IdVec::filled(network.nodes.len(), false),
            wires: vec![false; network.wires.len()],
        };
        for (place, name) in self.nodes.iter().enumerate() {
            let mut is_known = false;
            let is_named = |(_, node): &(NodeId, &NodeInfo)| node.name == *name;
            for (id, _) in network.nodes.entries().filter(is_named) {
                is_known = true;
                members.nodes[id] = true;
                for (radio, own) in network.radios.iter().zip(&mut members.radios) {
                    *own |= radio.node == id;
                }
            }
            for (radio, own) in network.radios.iter().zip(&mut members.radios) {
                if radio.name == *name {
                    (is_known, *own) = (true, true);
                    members.nodes[radio.node] = true;
                }
            }
            if !is_known {
                let radios = network.radios.iter().map(|radio| &radio.name[..]);
                let names = network.nodes.iter().map(|node| &node.name[..]).chain(radios);
                issues.push(unknown(&format!("trace.nodes[{place}]"), "node", name, names));
            }
        }
        for (wire, own) in network.wires.iter().zip(&mut members.wires) {
            *own = members.nodes[wire.from] || members.nodes[wire.to];
        }
        Some(members)
    }

    fn chosen_flows(
        &self,
        plan: &Plan,
        network: &Network,
        issues: &mut Vec<Issue>,
    ) -> Option<Flows> {
        if self.flows.is_empty() {
            return None;
        }
        let mut chosen =
            Flows { flows: IdVec::filled(network.flows.len(), false), radios: BTreeSet::new() };
        for (place, name) in self.flows.iter().enumerate() {
            let mut is_known = false;
            for (flow, own) in plan.flows.iter().zip(&mut chosen.flows) {
                if flow.name == *name {
                    (is_known, *own) = (true, true);
                    for ends in [(flow.from, flow.to), (flow.to, flow.from)] {
                        let hops = plan.topology.path(ends.0, ends.1).unwrap_or_default();
                        chosen.radios.extend(hops.into_iter().filter_map(radio_of));
                    }
                }
            }
            if !is_known {
                let names = network.flows.iter().map(|flow| &flow.name[..]);
                issues.push(unknown(&format!("trace.flows[{place}]"), "flow", name, names));
            }
        }
        Some(chosen)
    }
}

fn radio_of(hop: Hop) -> Option<u32> {
    match hop.interface() {
        Some(Interface::Radio(RadioId(radio))) => Some(radio),
        _ => None,
    }
}

/// A name that names nothing.
fn unknown<'a>(
    path: &str,
    kind: &str,
    name: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Issue {
    const MOST: usize = 8;
    let near = nearest(name, names.clone()).first().copied();
    let remedy = if let Some(near) = near {
        format!("did you mean \"{near}\"?")
    } else {
        let mut all: Vec<&str> = names.clone().take(MOST).collect();
        all.dedup();
        let more = if names.count() > MOST { ", …" } else { "" };
        format!("there are {}{more}", all.join(", "))
    };
    Issue::new(path, said!("there is no {kind} \"{name}\"", "{remedy}").with_text(near))
}

impl Chosen {
    fn has_interval(&self, start: Instant, end: Instant) -> bool {
        start < self.to && (end > self.from || start >= self.from)
    }

    fn has_instant(&self, at: Instant) -> bool {
        (self.from..self.to).contains(&at)
    }

    /// Whether a frame is traced whose exchange carries packets of this flow.
    pub(super) fn has_frame(&self, frame: &Frame) -> bool {
        let is_near = |nodes: &Members| {
            let has = |radio: u32| nodes.radios[radio as usize];
            has(frame.from) || frame.to.is_none_or(has)
        };
        let carries = |flows: &Flows| {
            let mut all =
                frame.mpdus.iter().filter_map(|mpdu| mpdu.packet.flow()).chain(frame.flow);
            all.any(|flow| flows.flows[flow])
        };
        self.has_interval(frame.start, frame.end)
            && self.nodes.as_ref().is_none_or(is_near)
            && self.flows.as_ref().is_none_or(carries)
    }

    pub(super) fn has_wait(&self, wait: &Wait) -> bool {
        self.has_interval(wait.start, wait.end)
            && self.nodes.as_ref().is_none_or(|nodes| nodes.radios[wait.radio as usize])
            && self.flows.as_ref().is_none_or(|flows| flows.radios.contains(&wait.radio))
    }

    pub(super) fn has_packet(&self, event: &PacketEvent) -> bool {
        let is_here = |nodes: &Members| match event.place {
            Place::Node(node) => nodes.nodes[node],
            Place::Radio(radio) => nodes.radios[radio as usize],
            Place::Wire(wire) => nodes.wires[wire as usize],
        };
        self.has_instant(event.at)
            && self.nodes.as_ref().is_none_or(is_here)
            && event.packet.flow().is_none_or(|flow| self.has_flow(flow))
    }

    pub(super) fn has_segment(&self, event: &SegmentEvent, network: &Network) -> bool {
        let flow = &network.flows[event.segment.flow];
        let is_sender = event.segment.forward == (event.event == SegmentRecord::Sent);
        let node = if is_sender { Some(flow.from) } else { flow.to };
        let is_here = |nodes: &Members| node.is_none_or(|node| nodes.nodes[node]);
        self.has_instant(event.at)
            && self.nodes.as_ref().is_none_or(is_here)
            && self.has_flow(event.segment.flow)
    }

    /// Whether an event of a router is traced: one of a chosen node.
    pub(super) fn has_route(&self, event: &RouteEvent) -> bool {
        let is_here = |nodes: &Members| nodes.nodes[event.node];
        self.has_instant(event.at) && self.nodes.as_ref().is_none_or(is_here)
    }

    fn has_flow(&self, flow: FlowId) -> bool {
        self.flows.as_ref().is_none_or(|flows| flows.flows[flow])
    }
}
