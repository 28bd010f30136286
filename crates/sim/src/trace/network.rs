//! Names and properties of all nodes, radios, link directions and flows, for the formats.

use crate::plan::{Endpoint, FlowPlan, Plan};
use crate::topology::{Radio, RadioId, Wire};
use crate::traffic;
use ::trace::{FlowInfo, Network, NodeInfo, RadioInfo, RadioRole, Transport, WireInfo};
use kernel::{Bytes, Instant};
use wifi::mac::Cipher;
use wifi::phy::Width;

/// The network of a run of this plan.
pub(super) fn network(plan: &Plan) -> Network {
    let topology = &plan.topology;
    let nodes = topology.nodes().iter().map(|node| NodeInfo { name: node.name.clone() });
    Network {
        nodes: nodes.collect(),
        radios: topology.radios().iter().zip(0..).map(|(at, n)| radio(plan, at, n)).collect(),
        wires: topology.wires().iter().map(|at| wire(plan, at)).collect(),
        flows: plan.flows.iter().map(|at| flow(plan, at)).collect(),
        measured_from: Instant::ZERO + plan.warmup,
        end: Instant::ZERO + plan.duration,
    }
}

fn radio(plan: &Plan, at: &Radio, number: u32) -> RadioInfo {
    let (topology, id) = (&plan.topology, RadioId(number));
    let is_ad_hoc = plan.space.as_ref().is_some_and(|space| space.ad_hoc);
    let role = match () {
        () if topology.is_access_point(id) => RadioRole::AccessPoint,
        () if is_ad_hoc => RadioRole::AdHoc,
        () => RadioRole::Station { access_point: topology.access_point_of(id).0 },
    };
    let channel = plan.primary_of(at.cell).channel(Width::Mhz20);
    RadioInfo {
        name: topology.radio_name(id),
        node: at.node,
        role,
        channel_mhz: channel.map_or(0, |channel| channel.centre_mhz as u16),
        has_qos: plan.wlan.edca.is_some(),
        has_ccmp: plan.wlan.cipher == Cipher::Ccmp,
    }
}

fn wire(plan: &Plan, at: &Wire) -> WireInfo {
    let (link, direction) = plan.link(at.id);
    let rate = link.directions[direction].rate;
    WireInfo { name: link.name.clone(), from: at.from, to: at.to, rate }
}

fn flow(plan: &Plan, at: &FlowPlan) -> FlowInfo {
    let id = |end| plan.topology.id(end);
    let (transport, header) = match (at.settings.traffic.get().transport(), &at.tcp) {
        (traffic::Transport::Udp(size, _), _) => (Transport::Udp, size.header),
        (traffic::Transport::Tcp, tcp) => {
            let header = tcp.as_ref().map_or(Bytes::ZERO, |tcp| tcp.config.header());
            (Transport::Tcp, header)
        }
    };
    FlowInfo {
        name: at.name.clone(),
        from: id(at.from).expect("broadcast is no source"),
        to: if at.to == Endpoint::Broadcast { None } else { id(at.to) },
        transport,
        header,
        mss: at.tcp.as_ref().map_or(0, |tcp| tcp.config.announced_mss()),
        window_shift: at.tcp.as_ref().map_or(0, |tcp| tcp.config.window_shift()),
        class: at.settings.class,
        dscp: at.settings.dscp,
        tape: at.settings.traffic.get().tape(),
    }
}
