//! Queues: at which sites they are allowed, and whether they can hold a packet.

use super::check::Check;
use crate::plan::{FlowPlan, Plan, TcpPlan};
use crate::scenario::document::{Document, Stations};
use crate::topology::Interface;
use crate::traffic::Transport;
use kernel::Bytes;
use net::{OutputLink, QueueSettings};
use settings::{Choice, Said};

/// A queue, if it is allowed at this link.
pub(super) fn queue(
    path: &str,
    queue: &QueueSettings,
    output_link: OutputLink,
    check: &mut Check,
) -> QueueSettings {
    if let Some(message) = queue.get().refusal(output_link) {
        check.fault(format!("{path}.{}", queue.name()), message);
    }
    queue.clone()
}

/// A queue that paces flows does so for those of Linux endpoints that begin at its node.
pub(super) fn pace_flows(plan: &mut Plan) {
    let paces = |flow: &FlowPlan| {
        let node = plan.topology.id(flow.from)?;
        let queue = match *plan.topology.node(node).interfaces.first()? {
            Interface::Radio(radio) => plan.queue_of(radio).0,
            Interface::Wire(wire) => {
                let (link, direction) = plan.link(wire);
                &link.directions[direction].queue
            }
        };
        Some(queue.get().traits().paces)
    };
    let paces: Vec<_> = plan.flows.iter().map(paces).collect();
    for (flow, paces) in plan.flows.iter_mut().zip(paces) {
        if let Some(tcp) = flow.tcp.as_mut().filter(|_| paces == Some(true)) {
            tcp.config = tcp.config.paced_by_queue();
        }
    }
}

/// The nodes of an ad-hoc network send to several receivers, for which the queues of Linux's Wi-Fi
/// stack have no state.
pub(super) fn refuse_in_ad_hoc(document: &Document, check: &mut Check) {
    if !document.radio.as_ref().is_some_and(|radio| radio.ad_hoc) {
        return;
    }
    let sites =
        document.groups().into_iter().map(|(path, group)| (path, &group.queue, group.device));
    for (path, queue, device) in sites {
        let given = [
            (matches!(queue, QueueSettings::Mac80211(_)), "queue.mac80211"),
            (device.hardware_aggregates.is_some(), "hardware_aggregates"),
        ];
        for (_, key) in given.into_iter().filter(|&(given, _)| given) {
            let only = "is for cells with an access point, not for an ad-hoc network";
            check.fault(format!("{path}.{key}"), Said::new(only, "remove it"));
        }
    }
}

/// Each buffer must hold at least one packet of any flow, since the flow could otherwise never
/// send.
pub(super) fn queues_hold_a_packet(document: &Document, plan: &Plan, check: &mut Check) {
    let largest = plan.flows.iter().map(packet_size).max().unwrap_or(Bytes::ZERO);
    let mut holds = |path: &str, queue: &QueueSettings| {
        let path = format!("{path}.queue.{}", queue.name());
        let inner = queue.get().traits().inner.map(|(key, inner)| (format!("{path}.{key}"), inner));
        for (path, queue) in [(path, queue.get())].into_iter().chain(inner) {
            if let Some(limit) = queue.limit().bytes.filter(|limit| *limit < largest) {
                check.fault(
                    format!("{path}.limit_bytes"),
                    format!(
                        "{} bytes do not hold one packet of {} bytes, the largest of all flows",
                        limit.0, largest.0
                    ),
                );
            }
        }
    };
    match &document.stations {
        Stations::Count(_) | Stations::Equal(_) => {
            plan.stations.iter().take(1).for_each(|station| holds("stations", &station.queue));
        }
        Stations::Groups(groups) => {
            let mut first = 0;
            for (index, group) in groups.iter().enumerate() {
                if let Some(station) = plan.stations.get(first).filter(|_| group.count > 0) {
                    holds(&format!("stations[{index}]"), &station.queue);
                }
                first = first.saturating_add(group.count as usize);
            }
        }
    }
    holds("ap", &plan.ap.queue);
    for link in &plan.links {
        let [there, back] = &link.directions;
        match link.number {
            None => holds("wire", &there.queue),
            Some(number) => {
                holds(&link.path(0), &there.queue);
                if document.links[number].reverse.queue.is_some() {
                    holds(&link.path(1), &back.queue);
                }
            }
        }
    }
}

fn packet_size(flow: &FlowPlan) -> Bytes {
    match (flow.settings.traffic.get().transport(), &flow.tcp) {
        (Transport::Udp(size, _), _) => size.packet(),
        (_, Some(TcpPlan { config, .. })) => {
            config.mss() + config.header() + config.fec.map_or(Bytes::ZERO, |fec| fec.header)
        }
        (_, None) => Bytes::ZERO,
    }
}
