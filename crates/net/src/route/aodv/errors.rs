//! Links that have failed: Route Errors and local repair (RFC 3561 sections 6.10 to 6.12).

use super::rules::{LOCAL_ADD_TTL, Repair};
use super::table::newest;
use super::{Aodv, Discovery};
use crate::route::{Command, Context, RouteDrop, RouteNote};
use std::collections::BTreeSet;
use wire::{AodvErrors, AodvMessage, Body, NodeId, Packet};

/// A destination that cannot be reached any more.
#[derive(Clone, Debug)]
struct Unreachable {
    to: NodeId,
    sequence: u32,
    precursors: BTreeSet<NodeId>,
}

impl Aodv {
    /// The MAC has given up a packet to a neighbour, or the packet has waited for it.
    pub(super) fn on_failure(
        &mut self,
        neighbour: NodeId,
        packet: Packet,
        purged: bool,
        context: &mut Context<'_>,
    ) {
        if !self.rules.same.link_feedback {
            return context.out.push(Command::Drop(packet, RouteDrop::SalvageFailed));
        }
        if purged {
            return self.send_again(packet, context);
        }
        context.out.push(Command::Note(RouteNote::LinkFailure { neighbour }));
        let unreachable = self.invalidate_over(neighbour, context);
        self.send_again(packet, context);
        self.report(unreachable, context);
        context.out.push(Command::Purge(neighbour));
    }

    /// A neighbour is silent.
    pub(super) fn on_silence(&mut self, neighbour: NodeId, context: &mut Context<'_>) {
        context.out.push(Command::Note(RouteNote::LinkFailure { neighbour }));
        let unreachable = self.invalidate_over(neighbour, context);
        self.report(unreachable, context);
        context.out.push(Command::Purge(neighbour));
    }

    /// Marks the routes over a neighbour as invalid.
    fn invalidate_over(
        &mut self,
        neighbour: NodeId,
        context: &mut Context<'_>,
    ) -> Vec<Unreachable> {
        let mut unreachable = Vec::new();
        for to in self.table.over(neighbour, context.now) {
            if let Some((sequence, precursors)) = self.table.invalidate(to, context.now) {
                unreachable.push(Unreachable { to, sequence, precursors });
                self.note_lost_route(to, context);
            }
        }
        unreachable
    }

    /// Decides on a packet whose link has failed.
    fn send_again(&mut self, mut packet: Packet, context: &mut Context<'_>) {
        let Some(to) = packet.to.filter(|_| !matches!(packet.body, Body::Routing(_))) else {
            return context.out.push(Command::Drop(packet, RouteDrop::Message));
        };
        let to = context.exit(to);
        if let Some((next, _)) = self.active(to, context.now) {
            packet.next = next;
            return context.out.push(Command::Send(packet));
        }
        if packet.from == self.node && self.rules.keep_own_packets {
            self.wait(packet, to, context);
        } else if self.is_repairing(to) || self.begin_repair(&packet, to, context) {
            self.hold(packet, to, context);
        } else {
            context.out.push(Command::Drop(packet, RouteDrop::SalvageFailed));
        }
    }

    /// Whether this node repairs the route to a destination.
    pub(super) fn is_repairing(&self, to: NodeId) -> bool {
        self.discoveries.get(&to).is_some_and(|discovery| discovery.is_repair)
    }

    /// Requests another route for a packet of another node, if the rules permit it.
    fn begin_repair(&mut self, packet: &Packet, to: NodeId, context: &mut Context<'_>) -> bool {
        let now = context.now;
        let Some(hops) = self.table.get(to, now).map(|route| route.hops) else { return false };
        let passed = Packet::TTL.saturating_sub(packet.ttl);
        let may_repair = match self.rules.repair {
            None => false,
            Some(_) if packet.from == self.node || self.discoveries.contains_key(&to) => false,
            Some(Repair::Within(most)) => hops <= most,
            Some(Repair::CloserToTheDestination) => passed > hops,
        };
        if may_repair {
            let from = context.exit(packet.from);
            let back = self.active(from, now).map_or(passed, |(_, hops)| hops);
            let ttl = hops.max(back / 2).saturating_add(LOCAL_ADD_TTL);
            let discovery = Discovery::new(ttl.min(self.rules.diameter), true);
            self.discoveries.insert(to, discovery);
            self.ask(to, context);
        }
        may_repair
    }

    /// A repair has found no route.
    pub(super) fn fail_repair(&mut self, to: NodeId, context: &mut Context<'_>) {
        let node = self.node;
        let is_other = |packet: &Packet| packet.from != node;
        self.give_up(to, RouteDrop::SalvageFailed, is_other, context);
        if let Some(route) = self.table.get(to, context.now) {
            let sequence = route.sequence.unwrap_or(0);
            let precursors = route.precursors.clone();
            self.report(vec![Unreachable { to, sequence, precursors }], context);
        }
        self.discover_for_own(to, context);
    }

    /// There is no route for a packet that a neighbour has sent to this node: tells the neighbour.
    pub(super) fn report_missing(&mut self, to: NodeId, from: NodeId, context: &mut Context<'_>) {
        let known = self.table.get(to, context.now);
        let (sequence, mut precursors) = known.map_or((0, BTreeSet::new()), |route| {
            (route.sequence.unwrap_or(0), route.precursors.clone())
        });
        precursors.insert(from);
        self.report(vec![Unreachable { to, sequence, precursors }], context);
    }

    /// A Route Error has arrived from a neighbour.
    pub(super) fn on_error(
        &mut self,
        from: NodeId,
        errors: &[(NodeId, u32)],
        context: &mut Context<'_>,
    ) {
        let now = context.now;
        let mut unreachable = Vec::new();
        for &(to, told) in errors {
            if self.table.next_hop(to, now) != Some(from) {
                continue;
            }
            let Some((_, precursors)) = self.table.invalidate(to, now) else { continue };
            // The number never decreases, whatever the neighbour tells.
            let route = self.table.get(to, now).expect("it is kept for a while");
            route.sequence = route.sequence.map(|known| newest(known, told));
            let sequence = route.sequence.unwrap_or(told);
            unreachable.push(Unreachable { to, sequence, precursors });
            self.note_lost_route(to, context);
        }
        self.report(unreachable, context);
    }

    /// Tells the precursors which destinations cannot be reached any more. A destination whose
    /// route is being repaired is not reported yet.
    fn report(&mut self, unreachable: Vec<Unreachable>, context: &mut Context<'_>) {
        let reported: Vec<Unreachable> = unreachable
            .into_iter()
            .filter(|each| !each.precursors.is_empty() && !self.is_repairing(each.to))
            .collect();
        let precursors: BTreeSet<NodeId> =
            reported.iter().flat_map(|each| each.precursors.iter().copied()).collect();
        let to = match precursors.len() {
            0 => return,
            1 => precursors.first().copied(),
            _ => None,
        };
        for some in reported.chunks(AodvErrors::MOST) {
            if self.errors.take(context.now).is_err() {
                return;
            }
            let pairs: Vec<(NodeId, u32)> =
                some.iter().map(|each| (each.to, each.sequence)).collect();
            let message = AodvMessage::Error(AodvErrors::new(&pairs));
            let packet = self.message(to, message, context);
            match to {
                Some(_) => context.out.push(Command::Send(packet)),
                None => _ = self.broadcast(packet, self.rules.originated_jitter, context),
            }
        }
    }
}
