//! The network layer of one node of a network whose nodes forward, as one machine: its router, its
//! address resolution, and the packets that wait for a route or an address.
//!
//! The router says where a packet goes next. Its packets to a neighbour pass the address
//! resolution, which may hold them; one that it gives up is a link failure, and the router has the
//! packet again.
//!
//! A node is told of an event, and then asked for its commands one by one ([`Node::next`]). All
//! that the router commands is done in the order in which it commanded it, whatever happens
//! meanwhile: if carrying out a command causes an event of the same node, what the router answers
//! comes behind. The address resolution is asked when a packet's turn comes, and what it commands
//! is done at once.

mod arp;
#[cfg(test)]
mod tests;

pub use arp::{Arp, ArpRules};

use crate::route::{self, Context, RouteDrop, RouteNote, Router};
use arp::ArpCommand;
use kernel::{Fired, IdVec, Instant, Rng, Ticket, Timer};
use std::collections::VecDeque;
use wire::{Body, DropCause, NodeId, Packet, Paths};

/// What the nodes of a network share.
#[derive(Debug, Default)]
pub struct Shared {
    /// The lists of nodes to which packets refer.
    pub paths: Paths,
    /// The node over which packets leave the network for a destination ([`Context::exits`]).
    pub exits: IdVec<NodeId, NodeId>,
}

/// What a node is given with each event.
#[derive(Debug)]
pub struct Scope<'a> {
    /// The current time.
    pub now: Instant,
    /// What the nodes share.
    pub shared: &'a mut Shared,
}

/// A timer of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerId {
    /// That of the router.
    Route,
    /// That of the address resolution.
    Address,
}

/// A command of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Queue the packet at the radio, for the neighbour [`Packet::next`] or for all neighbours.
    /// `is_new` if the node has not said before that it has this packet to send
    /// ([`Command::Hold`]).
    Send {
        /// The packet.
        packet: Packet,
        /// Whether this is the first command with it at this hop.
        is_new: bool,
    },
    /// The node has this packet to send, and keeps it until it knows the address of the next hop.
    Hold(Packet),
    /// The packet has reached this node, the end of its route: hand it to the transport, or send it
    /// on over the wire. It has no routing headers any more.
    Deliver(Packet),
    /// The packet is lost here.
    Drop {
        /// The packet.
        packet: Packet,
        /// Why it is lost.
        cause: DropCause,
        /// When its source may send another, if it is at this node.
        refill: Refill,
    },
    /// Remove all packets that wait at the radio for this neighbour, and give each to
    /// [`Node::on_returned`].
    Purge(NodeId),
    /// Call [`Node::on_timer`] for this timer at the ticket's instant.
    Schedule {
        /// The timer.
        timer: TimerId,
        /// When, and with which generation.
        ticket: Ticket,
    },
    /// Something of interest to the transport or to observers has happened.
    Note(RouteNote),
}

/// When a source that always has a packet to send may send one in place of one that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refill {
    /// At once.
    Now,
    /// When another packet has left: the node would drop the next one as well, and so on.
    Later,
    /// When the service of the lost packet at the radio ends.
    Served,
}

/// On which occasion a router acts, which says what becomes of the packets that it gives up.
#[derive(Clone, Copy, Debug)]
struct Occasion {
    /// Why the router has a packet back that could not be sent.
    lost: Option<DropCause>,
    refill: Refill,
}

impl Occasion {
    /// A transport of the node sends a packet.
    const SENDING: Self = Self { lost: None, refill: Refill::Later };
    /// A packet from elsewhere, one that the radio returns, or the timer.
    const OTHER: Self = Self { lost: None, refill: Refill::Now };

    /// No node answers the requests for an address; `refill` depends on whether the router has sent
    /// the packet just now.
    fn unresolved(refill: Refill) -> Self {
        Self { lost: Some(DropCause::Unresolved), refill }
    }

    /// The cause of the loss of a packet that the router gives up.
    fn cause(self, why: RouteDrop) -> DropCause {
        match why {
            RouteDrop::NoRoute => DropCause::NoRoute,
            RouteDrop::SendBufferFull | RouteDrop::SendBufferTimeout => DropCause::SendBuffer,
            RouteDrop::TimeToLive => DropCause::TimeToLive,
            RouteDrop::SalvageFailed => self.lost.unwrap_or(DropCause::SalvageFailed),
            RouteDrop::Message => self.lost.unwrap_or(DropCause::RoutingMessage),
        }
    }
}

/// A node that forwards.
#[derive(Debug)]
pub struct Node {
    router: Box<dyn Router>,
    rng: Rng,
    timer: Timer,
    resolver: Option<Box<Resolver>>,
    /// What the router has commanded since there was nothing left to do.
    commanded: Vec<route::Command>,
    /// The occasion of each of these commands.
    occasions: Vec<Occasion>,
    /// So many of them are done.
    done: usize,
    /// What is to be done before that.
    ready: VecDeque<Command>,
    /// Its commands are being carried out.
    is_served: bool,
}

/// The address resolution of a node.
#[derive(Debug)]
struct Resolver {
    arp: Arp,
    timer: Timer,
    /// What it commands at one event.
    given: Vec<ArpCommand>,
}

impl Node {
    /// A node before its first packet: its router, the random stream of the router, and its address
    /// resolution, if it does not know the addresses of all others.
    pub fn new(router: Box<dyn Router>, rng: Rng, arp: Option<Arp>) -> Self {
        let resolver = |arp| Box::new(Resolver { arp, timer: Timer::default(), given: Vec::new() });
        Self {
            router,
            rng,
            timer: Timer::default(),
            resolver: arp.map(resolver),
            commanded: Vec::new(),
            occasions: Vec::new(),
            done: 0,
            ready: VecDeque::new(),
            is_served: false,
        }
    }

    /// After an event: whether the caller is to carry out the commands of this node until there are
    /// no more. It is not if there are none, or if it is doing so already.
    pub fn begins(&mut self) -> bool {
        let has_commands = !self.commanded.is_empty() || !self.ready.is_empty();
        has_commands && !std::mem::replace(&mut self.is_served, true)
    }

    /// The next command.
    pub fn next(&mut self, scope: &mut Scope<'_>) -> Option<Command> {
        loop {
            if let Some(command) = self.ready.pop_front() {
                return Some(command);
            }
            let Some(command) = self.commanded.get(self.done) else {
                self.commanded.clear();
                self.occasions.clear();
                (self.done, self.is_served) = (0, false);
                return None;
            };
            self.done += 1;
            match *command {
                route::Command::Send(ref packet) if self.can_send(packet, scope.now) => {
                    return Some(Command::Send { packet: *packet, is_new: true });
                }
                route::Command::Send(packet) => self.hold(packet, scope),
                route::Command::Deliver(packet) => return Some(Command::Deliver(packet)),
                route::Command::Drop(packet, why) => {
                    let occasion = self.occasions[self.done - 1];
                    let (cause, refill) = (occasion.cause(why), occasion.refill);
                    return Some(Command::Drop { packet, cause, refill });
                }
                route::Command::Purge(neighbour) => return Some(Command::Purge(neighbour)),
                route::Command::SetTimer(at) => {
                    self.ready.extend(set(&mut self.timer, TimerId::Route, at));
                }
                route::Command::CancelTimer => self.timer.cancel(),
                route::Command::Note(note) => return Some(Command::Note(note)),
            }
        }
    }

    /// A transport of this node sends a packet, or a packet from outside enters the network here.
    pub fn on_packet(&mut self, packet: Packet, scope: &mut Scope<'_>) {
        self.ask(Occasion::SENDING, scope, |router, context| router.on_packet(packet, context));
    }

    /// The radio has received an intact packet from a neighbour, addressed to this node or
    /// broadcast.
    pub fn on_received(&mut self, from: NodeId, packet: &Packet, scope: &mut Scope<'_>) {
        if let Body::Arp(message) = packet.body {
            let occasion = Occasion::unresolved(Refill::Now);
            self.resolve(occasion, scope, |arp, now, out| arp.on_message(message, now, out));
        } else {
            self.ask(Occasion::OTHER, scope, |router, context| {
                router.on_received(from, packet, context);
            });
        }
    }

    /// The radio has received an intact packet that a neighbour has sent to another
    /// ([`Packet::next`]). Only called if the protocol is promiscuous.
    pub fn on_overheard(&mut self, from: NodeId, packet: &Packet, scope: &mut Scope<'_>) {
        if !matches!(packet.body, Body::Arp(_)) {
            self.ask(Occasion::OTHER, scope, |router, context| {
                router.on_overheard(from, packet, context);
            });
        }
    }

    /// The MAC has given up a packet to the neighbour [`Packet::next`], for this cause.
    pub fn on_failure(&mut self, packet: Packet, cause: DropCause, scope: &mut Scope<'_>) {
        let occasion = Occasion { lost: Some(cause), refill: Refill::Served };
        self.take_back(packet, false, occasion, scope);
    }

    /// The radio returns a packet after [`Command::Purge`].
    pub fn on_returned(&mut self, packet: Packet, scope: &mut Scope<'_>) {
        self.take_back(packet, true, Occasion::OTHER, scope);
    }

    /// A timer has expired, for which this generation was scheduled.
    pub fn on_timer(&mut self, timer: TimerId, generation: u32, scope: &mut Scope<'_>) {
        match self.timer(timer).map_or(Fired::Stale, |timer| timer.fire(generation)) {
            Fired::Stale => {}
            Fired::Later(ticket) => self.ready.push_back(Command::Schedule { timer, ticket }),
            Fired::Due => match timer {
                TimerId::Route => {
                    self.ask(Occasion::OTHER, scope, |router, context| router.on_timer(context));
                }
                TimerId::Address => {
                    self.resolve(Occasion::unresolved(Refill::Now), scope, Arp::on_timer);
                }
            },
        }
    }

    /// The number of hops of the route to a destination that a packet would take now.
    pub fn hops(&self, destination: NodeId, shared: &Shared) -> Option<u8> {
        self.router.hops(shared.exits[destination], &shared.paths)
    }

    /// Calls `visit` for each packet that waits here for a route or an address.
    pub fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.router.each(visit);
        if let Some(resolver) = &self.resolver {
            resolver.arp.each(visit);
        }
    }

    fn timer(&mut self, timer: TimerId) -> Option<&mut Timer> {
        match timer {
            TimerId::Route => Some(&mut self.timer),
            TimerId::Address => self.resolver.as_mut().map(|resolver| &mut resolver.timer),
        }
    }

    /// The router has a packet back that the radio has not sent. Nobody repeats a message of ARP.
    fn take_back(
        &mut self,
        packet: Packet,
        purged: bool,
        occasion: Occasion,
        scope: &mut Scope<'_>,
    ) {
        if let Body::Arp(_) = packet.body {
            let cause = occasion.cause(RouteDrop::SalvageFailed);
            self.ready.push_back(Command::Drop { packet, cause, refill: occasion.refill });
            return;
        }
        self.ask(occasion, scope, |router, context| {
            router.on_link_failure(packet.next, packet, purged, context);
        });
    }

    /// Passes an event to the router.
    fn ask(
        &mut self,
        occasion: Occasion,
        scope: &mut Scope<'_>,
        event: impl FnOnce(&mut dyn Router, &mut Context<'_>),
    ) {
        let Shared { paths, exits } = &mut *scope.shared;
        let (now, rng, out) = (scope.now, &mut self.rng, &mut self.commanded);
        event(&mut *self.router, &mut Context { now, paths, rng, exits, out });
        self.occasions.resize(self.commanded.len(), occasion);
    }

    /// Whether the address of the next hop of a packet is known.
    fn can_send(&self, packet: &Packet, now: Instant) -> bool {
        let resolver = self.resolver.as_ref().filter(|_| packet.to.is_some());
        resolver.is_none_or(|resolver| resolver.arp.knows(packet.next, now))
    }

    /// Keeps a packet of the router until the address of its next hop is known.
    fn hold(&mut self, packet: Packet, scope: &mut Scope<'_>) {
        self.ready.push_back(Command::Hold(packet));
        let occasion = Occasion::unresolved(Refill::Later);
        self.resolve(occasion, scope, |arp, now, out| arp.on_packet(packet, now, out));
    }

    /// Passes an event to the address resolution, and does what it commands.
    fn resolve(
        &mut self,
        occasion: Occasion,
        scope: &mut Scope<'_>,
        event: impl FnOnce(&mut Arp, Instant, &mut Vec<ArpCommand>),
    ) {
        let Some(mut resolver) = self.resolver.take() else { return };
        event(&mut resolver.arp, scope.now, &mut resolver.given);
        for command in resolver.given.drain(..) {
            match command {
                ArpCommand::Send(packet) => {
                    // A packet of the router has been held.
                    let is_new = matches!(packet.body, Body::Arp(_));
                    self.ready.push_back(Command::Send { packet, is_new });
                }
                ArpCommand::Drop(packet) => {
                    let (cause, refill) = (DropCause::Unresolved, Refill::Later);
                    self.ready.push_back(Command::Drop { packet, cause, refill });
                }
                ArpCommand::Fail(packet) => self.ask(occasion, scope, |router, context| {
                    router.on_link_failure(packet.next, packet, false, context);
                }),
                ArpCommand::SetTimer(at) => {
                    self.ready.extend(set(&mut resolver.timer, TimerId::Address, at));
                }
            }
        }
        self.resolver = Some(resolver);
    }
}

fn set(timer: &mut Timer, id: TimerId, at: Instant) -> Option<Command> {
    timer.set(at).map(|ticket| Command::Schedule { timer: id, ticket })
}
