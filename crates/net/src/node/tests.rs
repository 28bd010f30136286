//! What a node does with the commands of its router and of its address resolution.

use super::*;
use kernel::{Bytes, Duration, Seed};
use std::sync::{Arc, Mutex};
use wire::{AodvMessage, AodvReply, ArpMessage, ArpOperation, Datagram, FlowId, Message};

pub(super) const ME: NodeId = NodeId(1);
const NEIGHBOUR: NodeId = NodeId(2);

/// Answers each event with the next list of commands, and without one gives packets up.
#[derive(Clone, Debug, Default)]
struct Script(Arc<Mutex<VecDeque<Vec<route::Command>>>>);

impl Script {
    fn act(&self, context: &mut Context<'_>) -> bool {
        let next = self.0.lock().unwrap().pop_front();
        context.out.extend(next.iter().flatten().copied());
        next.is_some()
    }
}

impl Router for Script {
    fn on_packet(&mut self, packet: Packet, context: &mut Context<'_>) {
        if !self.act(context) {
            context.out.push(route::Command::Drop(packet, RouteDrop::NoRoute));
        }
    }

    fn on_received(&mut self, _: NodeId, packet: &Packet, context: &mut Context<'_>) {
        if !self.act(context) {
            context.out.push(route::Command::Drop(*packet, RouteDrop::TimeToLive));
        }
    }

    fn on_overheard(&mut self, _: NodeId, _: &Packet, context: &mut Context<'_>) {
        self.act(context);
    }

    fn on_link_failure(&mut self, _: NodeId, packet: Packet, _: bool, context: &mut Context<'_>) {
        if !self.act(context) {
            context.out.push(route::Command::Drop(packet, RouteDrop::SalvageFailed));
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        self.act(context);
    }

    fn hops(&self, _: NodeId, _: &Paths) -> Option<u8> {
        None
    }

    fn each(&self, _: &mut dyn FnMut(&Packet)) {}
}

/// A node whose router follows a script.
struct Stage {
    node: Node,
    script: Script,
    shared: Shared,
}

impl Stage {
    /// Requests for addresses have no jitter.
    fn new(rules: ArpRules) -> Self {
        let stream = |purpose| Seed { root: 1, replication: 0 }.stream(purpose, 1);
        let script = Script::default();
        let arp = Arp::new(ME, rules, Duration::ZERO, stream("arp"));
        let node = Node::new(Box::new(script.clone()), stream("routing"), arp);
        Self { node, script, shared: Shared::default() }
    }

    /// At the next event, the router gives these commands.
    fn answers(&self, commands: &[route::Command]) {
        self.script.0.lock().unwrap().push_back(commands.to_vec());
    }

    /// The commands of the node at an event.
    fn at(&mut self, ms: u64, event: impl FnOnce(&mut Node, &mut Scope<'_>)) -> Vec<Command> {
        let mut scope = Scope { now: at_ms(ms), shared: &mut self.shared };
        event(&mut self.node, &mut scope);
        let begins = self.node.begins();
        let commands: Vec<_> = std::iter::from_fn(|| self.node.next(&mut scope)).collect();
        assert!(begins || commands.is_empty());
        commands
    }

    /// Those at which its router sends a packet to the neighbour.
    fn sends(&mut self, ms: u64, number: u64) -> Vec<Command> {
        self.answers(&[route::Command::Send(data(number))]);
        self.at(ms, |node, scope| node.on_packet(data(number), scope))
    }
}

pub(super) fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

pub(super) fn data(number: u64) -> Packet {
    let body = Body::Datagram(Datagram { flow: FlowId(0), number, len: 72, stream: 0 });
    let far = Packet::new(ME, Some(NodeId(9)), Bytes(100), Instant::ZERO, body);
    Packet { next: NEIGHBOUR, ..far }
}

fn broadcast(number: u64) -> Packet {
    Packet { to: None, ..data(number) }
}

fn arp(operation: ArpOperation, sender: NodeId, target: NodeId, ms: u64) -> Packet {
    let message = ArpMessage { operation, sender, target };
    let to = (operation == ArpOperation::Reply).then_some(target);
    arp::packet(message, to, at_ms(ms))
}

fn request(ms: u64) -> Command {
    Command::Send { packet: arp(ArpOperation::Request, ME, NEIGHBOUR, ms), is_new: true }
}

fn lost(packet: Packet, cause: DropCause, refill: Refill) -> Command {
    Command::Drop { packet, cause, refill }
}

/// The events that a node asks for, with their generations.
fn scheduled(commands: &[Command]) -> Vec<(TimerId, Instant, u32)> {
    let schedule = |command: &Command| match *command {
        Command::Schedule { timer, ticket } => Some((timer, ticket.at, ticket.generation)),
        _ => None,
    };
    commands.iter().filter_map(schedule).collect()
}

#[test]
fn what_a_router_commands_keeps_its_order() {
    let mut stage = Stage::new(ArpRules::Off);
    let note = RouteNote::LinkFailure { neighbour: NEIGHBOUR };
    stage.answers(&[
        route::Command::Note(note),
        route::Command::Send(broadcast(1)),
        route::Command::Purge(NEIGHBOUR),
        route::Command::Send(data(2)),
        route::Command::Deliver(data(3)),
    ]);
    let commands = stage.at(0, |node, scope| node.on_received(NEIGHBOUR, &data(0), scope));
    let expected = [
        Command::Note(note),
        Command::Send { packet: broadcast(1), is_new: true },
        Command::Purge(NEIGHBOUR),
        Command::Send { packet: data(2), is_new: true },
        Command::Deliver(data(3)),
    ];
    assert_eq!(commands, expected);
}

#[test]
fn a_packet_is_held_until_the_address_of_its_next_hop_is_known() {
    let mut stage = Stage::new(ArpRules::Rfc826);
    let commands = stage.sends(0, 1);
    assert_eq!(commands[..2], [Command::Hold(data(1)), request(0)]);
    assert_eq!(scheduled(&commands), [(TimerId::Address, at_ms(1000), 1)]);
    let mut waiting = Vec::new();
    stage.node.each(&mut |packet| waiting.push(*packet));
    assert_eq!(waiting, [data(1)]);
    let reply = arp(ArpOperation::Reply, NEIGHBOUR, ME, 5);
    let commands = stage.at(5, |node, scope| node.on_received(NEIGHBOUR, &reply, scope));
    assert_eq!(commands, [Command::Send { packet: data(1), is_new: false }]);
    assert_eq!(stage.sends(6, 2), [Command::Send { packet: data(2), is_new: true }]);
    stage.answers(&[route::Command::Send(broadcast(3))]);
    let commands = stage.at(7, |node, scope| node.on_packet(broadcast(3), scope));
    assert_eq!(commands, [Command::Send { packet: broadcast(3), is_new: true }]);
}

/// A message of a router is counted at each [`Command::Hold`], and at each [`Command::Send`] that
/// is new.
#[test]
fn a_message_of_the_router_is_told_once() {
    let mut stage = Stage::new(ArpRules::Rfc826);
    let (destination, originator) = (NEIGHBOUR, ME);
    let lifetime = Duration::from_millis(3000);
    let reply = AodvReply { destination, sequence: 1, originator, hops: 1, lifetime };
    let body = Body::Routing(Message::Aodv(AodvMessage::Reply(reply)));
    let packet = Packet { body, ..data(0) };
    stage.answers(&[route::Command::Send(packet)]);
    let commands = stage.at(0, |node, scope| node.on_received(NEIGHBOUR, &data(0), scope));
    assert_eq!(commands[..2], [Command::Hold(packet), request(0)]);
    let answer = arp(ArpOperation::Reply, NEIGHBOUR, ME, 5);
    let commands = stage.at(5, |node, scope| node.on_received(NEIGHBOUR, &answer, scope));
    assert_eq!(commands, [Command::Send { packet, is_new: false }]);
    stage.answers(&[route::Command::Send(packet)]);
    let commands = stage.at(6, |node, scope| node.on_received(NEIGHBOUR, &data(0), scope));
    assert_eq!(commands, [Command::Send { packet, is_new: true }]);
}

#[test]
fn the_cause_of_a_loss_is_why_the_router_has_the_packet() {
    use DropCause::{Lifetime, NoRoute, RetryLimit, SalvageFailed, TimeToLive};
    let mut stage = Stage::new(ArpRules::Off);
    let it = data(1);
    // The router would drop the next packet of the source as well.
    let commands = stage.at(0, |node, scope| node.on_packet(it, scope));
    assert_eq!(commands, [lost(it, NoRoute, Refill::Later)]);
    let commands = stage.at(0, |node, scope| node.on_received(NEIGHBOUR, &it, scope));
    assert_eq!(commands, [lost(it, TimeToLive, Refill::Now)]);
    for cause in [RetryLimit, Lifetime] {
        let commands = stage.at(0, |node, scope| node.on_failure(it, cause, scope));
        assert_eq!(commands, [lost(it, cause, Refill::Served)]);
    }
    let commands = stage.at(0, |node, scope| node.on_returned(it, scope));
    assert_eq!(commands, [lost(it, SalvageFailed, Refill::Now)]);
    // A router that has no route, and says so, is the cause itself.
    stage.answers(&[route::Command::Drop(it, RouteDrop::NoRoute)]);
    let commands = stage.at(0, |node, scope| node.on_failure(it, RetryLimit, scope));
    assert_eq!(commands, [lost(it, NoRoute, Refill::Served)]);
}

#[test]
fn a_packet_whose_address_nobody_tells_goes_back_to_the_router() {
    let mut stage = Stage::new(ArpRules::Rfc826);
    let mut next = scheduled(&stage.sends(0, 1))[0];
    let mut commands = Vec::new();
    for second in 1..=3 {
        assert_eq!((next.0, next.1), (TimerId::Address, at_ms(1000 * second)));
        let expires = |node: &mut Node, scope: &mut Scope<'_>| {
            node.on_timer(TimerId::Address, next.2, scope);
        };
        commands = stage.at(1000 * second, expires);
        next = scheduled(&commands).first().copied().unwrap_or(next);
    }
    assert_eq!(commands, [lost(data(1), DropCause::Unresolved, Refill::Now)]);
}

#[test]
fn the_answer_to_a_failure_comes_behind_what_the_router_commanded_before() {
    let mut stage = Stage::new(ArpRules::Ns2);
    for number in 0..3 {
        stage.sends(0, number);
    }
    // The fourth packet for an unknown address fails at once, with the one that waits.
    let note = RouteNote::Failure { destination: NEIGHBOUR };
    stage.answers(&[route::Command::Send(data(3)), route::Command::Note(note)]);
    let commands = stage.at(1, |node, scope| node.on_packet(data(3), scope));
    let unresolved = |number| lost(data(number), DropCause::Unresolved, Refill::Later);
    let expected = [Command::Hold(data(3)), Command::Note(note), unresolved(2), unresolved(3)];
    assert_eq!(commands, expected);
}

#[test]
fn an_event_while_commands_are_carried_out_changes_no_order() {
    let mut stage = Stage::new(ArpRules::Rfc826);
    let mut scope = Scope { now: at_ms(0), shared: &mut stage.shared };
    let (node, answers) = (&mut stage.node, stage.script.clone());
    let give = |commands: &[route::Command]| answers.0.lock().unwrap().push_back(commands.to_vec());
    give(&[route::Command::Deliver(data(0)), route::Command::Send(data(1))]);
    node.on_received(NEIGHBOUR, &data(0), &mut scope);
    assert!(node.begins());
    assert_eq!(node.next(&mut scope), Some(Command::Deliver(data(0))));
    // The transport answers at once.
    give(&[route::Command::Send(data(2)), route::Command::Send(broadcast(3))]);
    node.on_packet(data(2), &mut scope);
    assert!(!node.begins());
    let rest: Vec<_> = std::iter::from_fn(|| node.next(&mut scope)).collect();
    assert_eq!(rest[..2], [Command::Hold(data(1)), request(0)]);
    let replaced = lost(data(1), DropCause::Unresolved, Refill::Later);
    let last = Command::Send { packet: broadcast(3), is_new: true };
    assert_eq!(rest[3..], [Command::Hold(data(2)), replaced, last]);
    assert!(!node.begins(), "there are no commands");
    give(&[route::Command::Deliver(data(4))]);
    node.on_received(NEIGHBOUR, &data(4), &mut scope);
    assert!(node.begins());
}

#[test]
fn a_packet_whose_place_another_takes_is_lost() {
    let mut stage = Stage::new(ArpRules::Rfc826);
    stage.sends(0, 1);
    let replaced = lost(data(1), DropCause::Unresolved, Refill::Later);
    assert_eq!(stage.sends(1, 2), [Command::Hold(data(2)), replaced]);
}

#[test]
fn each_timer_has_its_own_generations() {
    let mut stage = Stage::new(ArpRules::Rfc826);
    let set = |ms| route::Command::SetTimer(at_ms(ms));
    stage.answers(&[set(10), set(20), route::Command::Send(data(1))]);
    let commands = stage.at(0, |node, scope| node.on_packet(data(1), scope));
    let both = [(TimerId::Route, at_ms(10), 1), (TimerId::Address, at_ms(1000), 1)];
    assert_eq!(scheduled(&commands), both, "to move a deadline later costs nothing");
    let expires = |node: &mut Node, scope: &mut Scope<'_>, generation| {
        node.on_timer(TimerId::Route, generation, scope);
    };
    let commands = stage.at(10, |node, scope| expires(node, scope, 1));
    assert_eq!(scheduled(&commands), [(TimerId::Route, at_ms(20), 2)]);
    let stale = stage.at(20, |node, scope| expires(node, scope, 1));
    assert_eq!(stale, []);
    stage.answers(&[route::Command::Deliver(data(1)), set(30)]);
    let commands = stage.at(20, |node, scope| expires(node, scope, 2));
    assert_eq!(commands[0], Command::Deliver(data(1)));
    stage.answers(&[route::Command::CancelTimer]);
    stage.at(25, |node, scope| node.on_packet(data(2), scope));
    assert_eq!(stage.at(30, |node, scope| expires(node, scope, 3)), []);
}

#[test]
fn the_router_sees_no_message_of_address_resolution() {
    let mut stage = Stage::new(ArpRules::Rfc826);
    stage.answers(&[route::Command::Deliver(data(7))]);
    let asked = arp(ArpOperation::Request, NEIGHBOUR, ME, 0);
    let answer = Command::Send { packet: arp(ArpOperation::Reply, ME, NEIGHBOUR, 0), is_new: true };
    let commands = stage.at(0, |node, scope| node.on_received(NEIGHBOUR, &asked, scope));
    assert_eq!(commands, [answer]);
    assert_eq!(stage.at(0, |node, scope| node.on_overheard(NEIGHBOUR, &asked, scope)), []);
    let reply = arp(ArpOperation::Reply, ME, NEIGHBOUR, 0);
    for cause in [DropCause::RetryLimit, DropCause::Lifetime] {
        let commands = stage.at(0, |node, scope| node.on_failure(reply, cause, scope));
        assert_eq!(commands, [lost(reply, cause, Refill::Served)]);
    }
    let commands = stage.at(0, |node, scope| node.on_overheard(NEIGHBOUR, &data(0), scope));
    assert_eq!(commands, [Command::Deliver(data(7))], "the script was not asked before");
}
