//! Address resolution (RFC 826): a node asks its neighbours for the MAC address of the next hop.

use crate::route::jitter;
use kernel::{Bytes, Duration, Instant, Rng};
use settings::Choice;
use std::collections::BTreeMap;
use wire::{ArpMessage, ArpOperation, Body, NodeId, Packet};

/// How many requests a node sends for an address before it gives up the packet that waits. RFC 826
/// has no number; this is that of ns-2 (`ARP_MAX_REQUEST_COUNT`) and of Linux (`mcast_solicit`).
const REQUESTS: u32 = 3;
/// "The recommended maximum rate is 1 per second per destination" (RFC 1122 section 2.3.2.1).
const REQUEST_PERIOD: Duration = Duration::from_millis(1000);
/// The longest random delay of a request, by default: nodes that ask at one instant would collide
/// each time, and broadcasts are not repeated. RFC 826 has none; this is that of ns-3
/// (`ArpL3Protocol::RequestJitter`).
const JITTER: Duration = Duration::from_millis(10);
/// "The timeout needs to be on the order of a minute" (RFC 1122 section 2.3.2.1).
const LIFETIME: Duration = Duration::from_millis(60_000);

/// How a node learns the MAC address of the next hop of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
#[settings(name = "Arp")]
pub enum ArpRules {
    /// Each node knows the addresses of all others, and sends no messages.
    #[default]
    Off,
    /// RFC 826 and RFC 1122 section 2.3.2: a node without the address broadcasts a request each
    /// second, three times at most, and holds the newest packet for the neighbour meanwhile. Then
    /// the link has failed. An address is valid for 60 s.
    #[setting(name = "rfc826")]
    Rfc826,
    /// ns-2.35: each packet for an unknown address replaces the one that waits and causes a
    /// request. With the fourth the link has failed, for both packets. Nothing happens without
    /// packets. All nodes store the sender of each message that they receive, for ever.
    #[setting(name = "ns2")]
    Ns2,
}

impl ArpRules {
    /// The longest random delay of a request, unless the user gives another.
    pub fn jitter(self) -> Duration {
        if self == Self::Ns2 { Duration::ZERO } else { JITTER }
    }
}

/// A command of a node's address resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ArpCommand {
    /// Queue the packet at the radio: one whose address is known, or a message.
    Send(Packet),
    /// The packet is lost: another for the same neighbour has taken its place.
    Drop(Packet),
    /// No node answers: the link to the next hop of this packet has failed.
    Fail(Packet),
    /// Call [`Arp::on_timer`] at this instant, and no more at the instant that was set before.
    SetTimer(Instant),
}

/// The address resolution of a node.
#[derive(Debug)]
pub struct Arp {
    node: NodeId,
    is_ns2: bool,
    requests: Requests,
    entries: BTreeMap<NodeId, Entry>,
    timer: Option<Instant>,
}

/// How a node sends its requests.
#[derive(Debug)]
struct Requests {
    node: NodeId,
    /// Whether they are repeated without further packets.
    repeats: bool,
    /// Their longest random delay.
    jitter: Duration,
    rng: Rng,
}

/// What a node knows of the address of another.
#[derive(Debug, Default)]
struct Entry {
    /// Until when the address is valid, once it is known.
    valid_until: Option<Instant>,
    /// Requests without an answer.
    requests: u32,
    /// When a request leaves whose jitter has not passed.
    send_at: Option<Instant>,
    /// When the next request is due, or the last has failed.
    deadline: Option<Instant>,
    held: Option<Packet>,
}

impl Arp {
    /// The address resolution of a node that knows no address; `None` if it needs none. Requests
    /// are late by a random time up to `jitter`.
    pub fn new(node: NodeId, rules: ArpRules, jitter: Duration, rng: Rng) -> Option<Self> {
        let is_ns2 = match rules {
            ArpRules::Off => return None,
            ArpRules::Rfc826 => false,
            ArpRules::Ns2 => true,
        };
        let requests = Requests { node, repeats: !is_ns2, jitter, rng };
        Some(Self { node, is_ns2, requests, entries: BTreeMap::new(), timer: None })
    }

    /// Whether the node knows the address of a neighbour: it sends a packet to it at once.
    pub(super) fn knows(&self, neighbour: NodeId, now: Instant) -> bool {
        self.entries.get(&neighbour).is_some_and(|entry| entry.is_known(now))
    }

    /// The node sends a packet to its neighbour [`Packet::next`].
    pub(super) fn on_packet(&mut self, packet: Packet, now: Instant, out: &mut Vec<ArpCommand>) {
        let entry = self.entries.entry(packet.next).or_default();
        if entry.is_known(now) {
            out.push(ArpCommand::Send(packet));
            return;
        }
        if self.is_ns2 && entry.requests == REQUESTS {
            entry.requests = 0;
            out.extend(entry.held.take().map(ArpCommand::Fail));
            out.push(ArpCommand::Fail(packet));
            return;
        }
        out.extend(entry.held.replace(packet).map(ArpCommand::Drop));
        if entry.deadline.is_none() && entry.send_at.is_none() {
            self.requests.ask(entry, packet.next, now, out);
            self.set_timer(out);
        }
    }

    /// The node has received a message.
    pub(super) fn on_message(
        &mut self,
        message: ArpMessage,
        now: Instant,
        out: &mut Vec<ArpCommand>,
    ) {
        let is_target = message.target == self.node;
        if self.is_ns2 || is_target || self.entries.contains_key(&message.sender) {
            let entry = self.entries.entry(message.sender).or_default();
            let lifetime = if self.is_ns2 { Instant::NEVER } else { now + LIFETIME };
            let held = entry.held.take();
            *entry = Entry { valid_until: Some(lifetime), ..Entry::default() };
            out.extend(held.map(ArpCommand::Send));
        }
        if is_target && message.operation == ArpOperation::Request {
            let to = message.sender;
            let reply =
                ArpMessage { operation: ArpOperation::Reply, sender: self.node, target: to };
            out.push(ArpCommand::Send(packet(reply, Some(to), now)));
        }
        self.set_timer(out);
    }

    /// The timer has expired.
    pub(super) fn on_timer(&mut self, now: Instant, out: &mut Vec<ArpCommand>) {
        self.timer = None;
        let requests = &mut self.requests;
        self.entries.retain(|&neighbour, entry| {
            if entry.send_at.is_some_and(|at| at <= now) {
                requests.send(entry, neighbour, now, out);
            }
            if entry.deadline.is_none_or(|deadline| now < deadline) {
                return true;
            }
            if entry.requests < REQUESTS {
                requests.ask(entry, neighbour, now, out);
                return true;
            }
            out.extend(entry.held.take().map(ArpCommand::Fail));
            false
        });
        self.set_timer(out);
    }

    /// Calls `visit` for each packet that waits for an address, for checking.
    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.entries.values().filter_map(|entry| entry.held.as_ref()).for_each(visit);
    }

    /// Sets the timer to the first deadline. A timer without one has no effect when it expires.
    fn set_timer(&mut self, out: &mut Vec<ArpCommand>) {
        let due = |entry: &Entry| entry.send_at.or(entry.deadline);
        let first = self.entries.values().filter_map(due).min();
        if first.is_some() && first != self.timer {
            self.timer = first;
            out.extend(first.map(ArpCommand::SetTimer));
        }
    }
}

impl Entry {
    fn is_known(&self, now: Instant) -> bool {
        self.valid_until.is_some_and(|until| now < until)
    }
}

impl Requests {
    /// Broadcasts a request after its jitter, and waits for the answer.
    fn ask(&mut self, of: &mut Entry, target: NodeId, now: Instant, out: &mut Vec<ArpCommand>) {
        let delay = jitter(self.jitter, &mut self.rng);
        of.requests += 1;
        of.send_at = Some(now + delay);
        of.deadline = self.repeats.then_some(now + delay + REQUEST_PERIOD);
        if delay == Duration::ZERO {
            self.send(of, target, now, out);
        }
    }

    fn send(&self, of: &mut Entry, target: NodeId, now: Instant, out: &mut Vec<ArpCommand>) {
        of.send_at = None;
        out.push(ArpCommand::Send(request(self.node, target, now)));
    }
}

fn request(sender: NodeId, target: NodeId, now: Instant) -> Packet {
    packet(ArpMessage { operation: ArpOperation::Request, sender, target }, None, now)
}

pub(super) fn packet(message: ArpMessage, to: Option<NodeId>, now: Instant) -> Packet {
    Packet::new(message.sender, to, Bytes(ArpMessage::SIZE), now, Body::Arp(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::tests::{ME, at_ms, data};
    use kernel::Seed;

    fn message(operation: ArpOperation, sender: u32, target: u32) -> ArpMessage {
        ArpMessage { operation, sender: NodeId(sender), target: NodeId(target) }
    }

    fn sent(of: ArpMessage, ms: u64) -> ArpCommand {
        let to = (of.operation == ArpOperation::Reply).then_some(of.target);
        ArpCommand::Send(packet(of, to, at_ms(ms)))
    }

    /// Address resolution with the commands of its last event.
    struct Node(Arp, Vec<ArpCommand>);

    impl Node {
        fn new(rules: ArpRules) -> Self {
            Self::with_jitter(rules, Duration::ZERO, 0)
        }

        fn with_jitter(rules: ArpRules, jitter: Duration, number: u32) -> Self {
            let rng = Seed { root: 1, replication: 0 }.stream("arp", number);
            Self(Arp::new(ME, rules, jitter, rng).unwrap(), Vec::new())
        }

        fn packet(&mut self, number: u64, ms: u64) -> &[ArpCommand] {
            self.1.clear();
            self.0.on_packet(data(number), at_ms(ms), &mut self.1);
            &self.1
        }

        fn message(&mut self, message: ArpMessage, ms: u64) -> &[ArpCommand] {
            self.1.clear();
            self.0.on_message(message, at_ms(ms), &mut self.1);
            &self.1
        }

        fn timer(&mut self, ms: u64) -> &[ArpCommand] {
            self.1.clear();
            self.0.on_timer(at_ms(ms), &mut self.1);
            &self.1
        }

        fn holds(&self) -> usize {
            let mut count = 0;
            self.0.each(&mut |_| count += 1);
            count
        }
    }

    const ASK: fn() -> ArpMessage = || message(ArpOperation::Request, 1, 2);
    const ANSWER: fn() -> ArpMessage = || message(ArpOperation::Reply, 2, 1);

    #[test]
    fn the_newest_packet_waits_for_the_answer() {
        let mut node = Node::new(ArpRules::Rfc826);
        assert_eq!(node.packet(0, 0), [sent(ASK(), 0), ArpCommand::SetTimer(at_ms(1000))]);
        // RFC 1122 section 2.3.2.2: at least the latest packet is saved.
        assert_eq!(node.packet(1, 10), [ArpCommand::Drop(data(0))]);
        assert_eq!(node.holds(), 1);
        assert_eq!(node.message(ANSWER(), 20), [ArpCommand::Send(data(1))]);
        assert_eq!(node.packet(2, 30), [ArpCommand::Send(data(2))]);
        assert_eq!(node.timer(1000), [], "what is answered is not asked again");
    }

    /// The instants at which a node sends the requests for one packet.
    fn asked(rules: ArpRules, number: u32) -> Vec<Instant> {
        let mut node = Node::with_jitter(rules, rules.jitter(), number);
        let (mut sent, mut now) = (Vec::new(), at_ms(0));
        node.packet(0, 0);
        loop {
            let is_request = |command: &ArpCommand| matches!(command, ArpCommand::Send(_));
            sent.extend(node.1.iter().any(is_request).then_some(now));
            let next = node.1.iter().find_map(|command| match command {
                ArpCommand::SetTimer(at) => Some(*at),
                _ => None,
            });
            let Some(next) = next else { return sent };
            now = next;
            node.1.clear();
            node.0.on_timer(now, &mut node.1);
        }
    }

    #[test]
    fn nodes_that_ask_at_one_instant_send_at_different_times() {
        let nodes: Vec<_> = (0..50).map(|number| asked(ArpRules::Rfc826, number)).collect();
        for sent in &nodes {
            assert_eq!(sent.len(), 3);
            assert!(sent[0] <= at_ms(10), "ns-3's RequestJitter: {sent:?}");
            for pair in sent.windows(2) {
                // RFC 1122 section 2.3.2.1: one in a second at most.
                let gap = pair[1].since(pair[0]);
                assert!((1000..=1010).contains(&(gap.0 / 1_000_000)), "{sent:?}");
            }
        }
        for (node, other) in nodes.iter().zip(&nodes[1..]) {
            assert!(node.iter().zip(other).all(|(a, b)| a != b), "no request is in step");
        }
        assert_eq!(asked(ArpRules::Ns2, 0), [at_ms(0)]);
    }

    #[test]
    fn a_request_is_not_sent_if_the_answer_comes_before_it() {
        let mut node = Node::with_jitter(ArpRules::Rfc826, JITTER, 0);
        let asks = node.packet(0, 0).to_vec();
        let [ArpCommand::SetTimer(at)] = asks[..] else { panic!("{asks:?}") };
        assert!(at_ms(0) < at && at < at_ms(10));
        assert_eq!(node.packet(1, 0), [ArpCommand::Drop(data(0))]);
        assert_eq!(
            node.message(message(ArpOperation::Request, 2, 7), 0),
            [ArpCommand::Send(data(1))]
        );
        node.1.clear();
        node.0.on_timer(at, &mut node.1);
        assert_eq!(node.1, []);
    }

    #[test]
    fn after_three_requests_the_link_has_failed() {
        let mut node = Node::new(ArpRules::Rfc826);
        node.packet(0, 0);
        for second in 1..3 {
            let next = ArpCommand::SetTimer(at_ms(1000 * (second + 1)));
            assert_eq!(node.timer(1000 * second), [sent(ASK(), 1000 * second), next]);
        }
        assert_eq!(node.timer(3000), [ArpCommand::Fail(data(0))]);
        assert_eq!(node.holds(), 0);
        let again = [sent(ASK(), 3100), ArpCommand::SetTimer(at_ms(4100))];
        assert_eq!(node.packet(1, 3100), again);
    }

    #[test]
    fn an_address_is_valid_for_a_minute() {
        let mut node = Node::new(ArpRules::Rfc826);
        node.packet(0, 0);
        node.message(ANSWER(), 5);
        assert_eq!(node.packet(1, 60_004), [ArpCommand::Send(data(1))]);
        let again = [sent(ASK(), 60_005), ArpCommand::SetTimer(at_ms(61_005))];
        assert_eq!(node.packet(2, 60_005), again);
    }

    #[test]
    fn the_target_of_a_request_answers_and_knows_the_sender() {
        let mut node = Node::new(ArpRules::Rfc826);
        let reply = message(ArpOperation::Reply, 1, 2);
        let asked = message(ArpOperation::Request, 2, 1);
        assert_eq!(node.message(asked, 0), [sent(reply, 0)]);
        assert_eq!(node.packet(0, 1), [ArpCommand::Send(data(0))]);
    }

    #[test]
    fn requests_for_others_renew_only_what_a_node_knows() {
        let overheard = message(ArpOperation::Request, 2, 7);
        let mut node = Node::new(ArpRules::Rfc826);
        assert_eq!(node.message(overheard, 0), []);
        assert_eq!(node.packet(0, 1).len(), 2, "it asks");
        // RFC 826 updates an entry that exists, and the packet need not wait any longer.
        assert_eq!(node.message(overheard, 2), [ArpCommand::Send(data(0))]);
        // ns-2 has stored the sender from the first.
        let mut node = Node::new(ArpRules::Ns2);
        assert_eq!(node.message(overheard, 0), []);
        assert_eq!(node.packet(0, 1), [ArpCommand::Send(data(0))]);
        assert_eq!(node.packet(1, 100_000_000), [ArpCommand::Send(data(1))]);
    }

    #[test]
    fn in_ns2_each_packet_asks_and_the_fourth_fails_with_the_one_that_waits() {
        let mut node = Node::new(ArpRules::Ns2);
        assert_eq!(node.packet(0, 0), [sent(ASK(), 0)]);
        assert_eq!(node.packet(1, 1), [ArpCommand::Drop(data(0)), sent(ASK(), 1)]);
        assert_eq!(node.packet(2, 2), [ArpCommand::Drop(data(1)), sent(ASK(), 2)]);
        assert_eq!(node.packet(3, 3), [ArpCommand::Fail(data(2)), ArpCommand::Fail(data(3))]);
        assert_eq!(node.holds(), 0);
        assert_eq!(node.packet(4, 4), [sent(ASK(), 4)]);
    }
}
