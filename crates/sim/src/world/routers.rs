//! The routers of an ad-hoc network.

use super::outbox::Outbox;
use crate::build::{self, LateLinks};
use crate::medium::Medium;
use crate::plan::Plan;
use kernel::{IdVec, Rng, Seed, Timer};
use net::route::{Command, Router};
use net::{Arp, ArpCommand, ArpRules};
use wire::{NodeId, Packet, Paths};

/// What a router is doing while it drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It has received a packet from a transport of its node.
    Sending,
    /// The MAC has given up the packet.
    RetryLimit,
    /// The MAC has discarded the packet at the end of its lifetime.
    Lifetime,
    /// No node answers the requests for the address of the next hop; `at_once` if the router has
    /// sent the packet just now.
    Unresolved { at_once: bool },
    /// Any other event.
    Other,
}

/// The routers of an ad-hoc network, and what they share.
#[derive(Debug)]
pub(crate) struct AdHoc {
    /// `None` at nodes outside.
    pub(super) members: IdVec<NodeId, Option<Member>>,
    pub(super) paths: Paths,
    /// The node by which packets for each leave the network.
    pub(super) exits: IdVec<NodeId, NodeId>,
    pub(super) links: LateLinks,
    /// Whether nodes learn the MAC addresses of their neighbours by ARP.
    pub(super) resolves: bool,
    pub(super) out: Outbox<NodeId, Command, Cause>,
    pub(super) arp_out: Outbox<NodeId, ArpCommand, Cause>,
}

/// A node of the network.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) router: Box<dyn Router>,
    pub(super) rng: Rng,
    pub(super) timer: Timer,
    pub(super) resolver: Option<Box<Resolver>>,
}

/// The address resolution of a node.
#[derive(Debug)]
pub(super) struct Resolver {
    pub(super) arp: Arp,
    pub(super) timer: Timer,
}

impl AdHoc {
    /// The routers of a plan, if it has any.
    pub(super) fn new(plan: &Plan, medium: &mut Medium, seed: &Seed) -> Option<Box<Self>> {
        let (Some(routing), Medium::Space(space)) = (&plan.routing, medium) else { return None };
        let settings = plan.space.as_ref().expect("an ad-hoc network is in space");
        let member = |(router, node): (Option<Box<dyn Router>>, u32)| {
            let rng = seed.stream("routing", node);
            let asks = seed.stream("arp", node);
            let resolver = Arp::new(NodeId(node), routing.arp, routing.arp_jitter, asks)
                .map(|arp| Box::new(Resolver { arp, timer: Timer::default() }));
            router.map(|router| Member { router, rng, timer: Timer::default(), resolver })
        };
        let routers = build::routers(plan, routing, space);
        Some(Box::new(Self {
            exits: routers.ids().map(|node| plan.topology.outlet_on_air(node)).collect(),
            members: routers.into_iter().zip(0..).map(member).collect(),
            paths: Paths::default(),
            links: LateLinks::new(plan, &settings.radio.error_model, seed),
            resolves: routing.arp != ArpRules::Off,
            out: Outbox::new(0),
            arp_out: Outbox::new(0),
        }))
    }

    /// The number of hops of the route from a node to another that a packet would take now.
    pub(crate) fn hops(&self, from: NodeId, to: NodeId) -> Option<u8> {
        let router = &self.members[from].as_ref()?.router;
        router.hops(self.exits[to], &self.paths)
    }

    /// Calls `visit` for each packet that waits at a node for a route or an address.
    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        for member in self.members.iter().flatten() {
            member.router.each(visit);
            if let Some(resolver) = &member.resolver {
                resolver.arp.each(visit);
            }
        }
    }
}
