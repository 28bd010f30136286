//! Names and properties of all nodes, radios, link directions and flows, for the formats.

use crate::plan::{Endpoint, FlowPlan, Plan};
use crate::topology::{Radio, RadioId, Wire};
use crate::traffic;
use ::trace::{FlowInfo, Network, NodeInfo, RadioInfo, RadioRole, Transport, WireInfo};
use kernel::{Bytes, Instant};
use wifi::phy::Band;

/// The network of a run of this plan.
pub(super) fn network(plan: &Plan) -> Network {
    let topology = &plan.topology;
    let nodes = topology.nodes().iter().map(|node| NodeInfo { name: node.name.clone() });
    Network {
        nodes: nodes.collect(),
        radios: topology.radios().iter().zip(0..).map(|(at, n)| radio(plan, at, n)).collect(),
        wires: topology.wires().iter().map(|at| wire(plan, at)).collect(),
        flows: plan.flows.iter().map(|at| flow(plan, at)).collect(),
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
    let band = plan.wlan.timing.standard.band;
    let channel = plan.space.as_ref().map(|space| space.cells[at.cell as usize].channel);
    RadioInfo {
        name: topology.radio_name(id),
        node: at.node,
        role,
        channel_mhz: channel_mhz(band, channel.unwrap_or(1)),
        has_qos: plan.wlan.edca.is_some(),
    }
}

/// Centre frequency of a channel (clauses 17.3.8.4 and 18.4.4.2). Scenarios number their channels
/// from 1 in any band; in 5 GHz the first is channel 36.
fn channel_mhz(band: Band, channel: u16) -> u16 {
    match (band, channel) {
        (Band::Ghz2_4, 14) => 2484,
        (Band::Ghz2_4, 1..=13) => 2407 + 5 * channel,
        (Band::Ghz2_4, _) => 2412,
        (Band::Ghz5, 36..=177) => 5000 + 5 * channel,
        (Band::Ghz5, 1..=8) => 5160 + 20 * channel,
        (Band::Ghz5, _) => 5180,
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
        class: at.settings.class,
        dscp: at.settings.dscp,
    }
}
