//! Route Maintenance: links that have failed, Route Errors and salvaging (RFC 4728 sections 3.4 and
//! 8.3).

use super::replies::drop_message;
use super::rules::ERROR_ON_REQUEST;
use super::{Dsr, Due, header, position, reversed};
use crate::route::{Command, Context, RouteDrop, RouteNote};
use kernel::{Duration, Instant};
use wire::{Body, DsrMessage, Message, NodeId, Packet, RouteError, RouteErrors};

/// A Route Error that the next Route Request repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldError {
    error: RouteError,
    received: Instant,
}

impl Dsr {
    /// The MAC has given up a packet to a neighbour, or the packet has waited for it.
    pub(super) fn on_failure(
        &mut self,
        neighbour: NodeId,
        packet: Packet,
        purged: bool,
        context: &mut Context<'_>,
    ) {
        if packet.to.is_none() {
            return drop_message(packet, context);
        }
        if !purged {
            self.told.clear();
            context.out.push(Command::Note(RouteNote::LinkFailure { neighbour }));
            self.remove_link(self.node, neighbour, context);
            self.note_lost_routes(context);
        }
        self.salvage(neighbour, packet, context);
        if !purged {
            context.out.push(Command::Purge(neighbour));
        }
        if !purged || self.rules.errors_of_waiting {
            self.report(neighbour, &packet, context);
        }
    }

    /// Of the commands from `first` on, sends the packets of a link failure only after the delay.
    pub(super) fn postpone(&mut self, first: usize, context: &mut Context<'_>) {
        let delay = self.rules.repair_delay;
        if delay == Duration::ZERO {
            return;
        }
        for command in context.out.split_off(first) {
            match command {
                Command::Send(packet) => self.deadlines.add(context.now + delay, Due::Send(packet)),
                other => context.out.push(other),
            }
        }
    }

    /// Tells the node that has chosen the route of a packet that its link to a neighbour has
    /// failed, once for each failure.
    fn report(&mut self, neighbour: NodeId, packet: &Packet, context: &mut Context<'_>) {
        let Some(path) = packet.source_route else { return };
        let path = context.paths.nodes(path);
        let Some(place) = position(path, self.node).filter(|&place| place > 0) else { return };
        let (to, back) = (path[0], reversed(&path[..=place]));
        if self.told.contains(&to) {
            return;
        }
        self.told.push(to);
        let error =
            RouteError { from: self.node, unreachable: neighbour, to, salvage: packet.salvage };
        let mut errors = RouteErrors::new(error);
        if let Body::Routing(Message::Dsr(DsrMessage::Error(inner))) = packet.body {
            // A Route Error that could not go on travels inside of the new one.
            if inner.as_slice().len() >= RouteErrors::MOST {
                return;
            }
            errors = errors.followed_by(inner.as_slice());
        }
        let report = self.send_back(&back, DsrMessage::Error(errors), context);
        self.send_along(report, context);
    }

    /// Sends a packet on by another route, because the link to this neighbour has failed.
    fn salvage(&mut self, neighbour: NodeId, mut packet: Packet, context: &mut Context<'_>) {
        let path = packet.source_route.map(|path| context.paths.nodes(path));
        let is_own = path.is_some_and(|path| path.first() == Some(&self.node));
        if is_own && packet.salvage == 0 {
            header::set_route(&mut packet, None, 0, context.paths);
            return self.originate(packet, context);
        }
        if packet.salvage >= self.rules.same.salvage {
            return context.out.push(Command::Drop(packet, RouteDrop::SalvageFailed));
        }
        if let Body::Routing(Message::Dsr(message)) = packet.body {
            let node = self.node;
            let is_useless = match message {
                // The route that it tells has the link that has failed.
                DsrMessage::Reply { path } => context
                    .paths
                    .nodes(path)
                    .windows(2)
                    .any(|pair| pair == [node, neighbour] || pair == [neighbour, node]),
                _ => false,
            };
            if is_useless {
                return drop_message(packet, context);
            }
        }
        let to = context.exit(packet.to.expect("a broadcast has no source route"));
        if let Some(path) = self.cache.find(context.now, to, false) {
            let path = context.paths.intern(path);
            let salvage = packet.salvage + 1;
            header::set_route(&mut packet, Some(path), salvage, context.paths);
            self.send_along(packet, context);
        } else if self.rules.salvage_requests {
            self.hold(packet, context);
        } else {
            context.out.push(Command::Drop(packet, RouteDrop::SalvageFailed));
        }
    }

    fn remove_link(&mut self, from: NodeId, to: NodeId, context: &Context<'_>) {
        self.cache.remove(context.now, from, to);
        self.flows.remove(from, to, context.paths);
    }

    /// Route Errors have reached this node, on their way or at their end, or were overheard.
    pub(super) fn on_errors(&mut self, errors: &[RouteError], context: &mut Context<'_>) {
        for error in errors {
            self.remove_link(error.from, error.unreachable, context);
        }
        self.note_lost_routes(context);
    }

    /// A packet with Route Errors is at its end: those inside of the first go on.
    pub(super) fn end_error(&mut self, errors: &RouteErrors, context: &mut Context<'_>) {
        let Some((&error, inner)) = errors.as_slice().split_first() else { return };
        self.held_error = Some(HeldError { error, received: context.now });
        if let Some((&first, others)) = inner.split_first() {
            let message = DsrMessage::Error(RouteErrors::new(first).followed_by(others));
            if first.to != self.node {
                let packet = self.message(Some(first.to), None, message, context);
                self.originate(packet, context);
            }
        }
    }

    /// The Route Error for the next Route Request; it is kept until a request goes to all nodes.
    pub(super) fn error_to_repeat(&mut self, to_all: bool, now: Instant) -> Option<RouteError> {
        let held = self.held_error.filter(|held| now.since(held.received) < ERROR_ON_REQUEST)?;
        if to_all {
            self.held_error = None;
        }
        Some(held.error)
    }
}
