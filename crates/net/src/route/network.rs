//! A small network of routers for tests: links that come and go, a radio per node with a queue, and
//! no losses but on links that do not exist.

use super::{Command, Context, Neighbours, Protocol, RouteDrop, RouteNote, Router, Site};
use kernel::{Bytes, Duration, IdVec, Instant, Rng, Seed};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::{Body, Datagram, FlowId, NodeId, Packet, Paths};

/// How long a transmission takes.
const AIRTIME: Duration = Duration::from_millis(1);
/// How long the MAC tries to send over a link that does not exist.
const RETRIES: Duration = Duration::from_millis(5);

/// The nodes and the links between them.
#[derive(Debug)]
pub(crate) struct Network {
    pub now: Instant,
    pub paths: Paths,
    /// By node, the last node of a route to it; empty if each node is in the network.
    pub exits: IdVec<NodeId, NodeId>,
    /// How each packet ended, by its number.
    pub ends: BTreeMap<u64, Vec<End>>,
    /// All transmissions of packets, in the order of time: when, by which node.
    pub sent: Vec<(Instant, NodeId, Packet)>,
    /// All notes, in the order of time: when, of which node.
    pub notes: Vec<(Instant, NodeId, RouteNote)>,
    nodes: IdVec<NodeId, Node>,
    links: BTreeSet<(NodeId, NodeId)>,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    offered: u64,
    is_promiscuous: bool,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At this node, after this many hops.
    Delivered(NodeId, usize),
    /// At this node, for this reason.
    Dropped(NodeId, RouteDrop),
}

#[derive(Debug)]
struct Node {
    router: Box<dyn Router>,
    rng: Rng,
    queue: VecDeque<Packet>,
    is_sending: bool,
    timer: Option<Instant>,
    /// By packet: the nodes that have sent it since its source route was chosen are in `travels`.
    travels: BTreeMap<u64, usize>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Sent { by: NodeId, packet: Packet },
    Failed { by: NodeId, packet: Packet },
    Timer(NodeId),
    Link { between: [NodeId; 2], is_up: bool },
    Offer(Packet),
}

impl Network {
    /// Nodes 0 to `count - 1` without links.
    pub(crate) fn new(protocol: &dyn Protocol, count: u32, seed: u64) -> Self {
        let node = |number| Node {
            router: protocol.build(&Site { node: NodeId(number), links: &Neighbours::new() }),
            rng: Seed { root: seed, replication: 0 }.stream("route", number),
            queue: VecDeque::new(),
            is_sending: false,
            timer: None,
            travels: BTreeMap::new(),
        };
        Self {
            now: Instant::ZERO,
            paths: Paths::default(),
            exits: IdVec::new(),
            ends: BTreeMap::new(),
            sent: Vec::new(),
            notes: Vec::new(),
            nodes: (0..count).map(node).collect(),
            links: BTreeSet::new(),
            events: BTreeMap::new(),
            scheduled: 0,
            offered: 0,
            is_promiscuous: protocol.is_promiscuous(),
        }
    }

    /// The same with links between these nodes, in both directions.
    #[must_use]
    pub(crate) fn with_links(mut self, links: &[(u32, u32)]) -> Self {
        for &(a, b) in links {
            self.set_link(NodeId(a), NodeId(b), true);
        }
        self
    }

    /// A link appears or fails at an instant.
    pub(crate) fn link_at(&mut self, at: Instant, a: u32, b: u32, is_up: bool) {
        self.schedule(at, Event::Link { between: [NodeId(a), NodeId(b)], is_up });
    }

    /// A transport sends a packet at an instant; returns its number.
    pub(crate) fn send_at(&mut self, at: Instant, from: u32, to: u32) -> u64 {
        let number = self.offered;
        self.offered += 1;
        let body = Body::Datagram(Datagram { flow: FlowId(0), number, len: 100, stream: 0 });
        let packet = Packet::new(NodeId(from), Some(NodeId(to)), Bytes(128), at, body);
        self.schedule(at, Event::Offer(packet));
        number
    }

    /// Runs until this instant.
    pub(crate) fn run(&mut self, until: Instant) {
        while let Some(entry) = self.events.first_entry() {
            if entry.key().0 > until {
                break;
            }
            self.now = entry.key().0;
            let event = entry.remove();
            self.on_event(event);
        }
        self.now = until;
    }

    /// The numbers of the packets that routers and queues hold.
    pub(crate) fn held(&self) -> Vec<u64> {
        let mut held = Vec::new();
        for node in &self.nodes {
            node.router.each(&mut |packet| held.extend(number(packet)));
            held.extend(node.queue.iter().filter_map(number));
        }
        held
    }

    /// The next hop of packets from a node to a destination.
    pub(crate) fn next_hop(&self, from: u32, to: u32) -> Option<NodeId> {
        self.nodes[NodeId(from)].router.next_hop(NodeId(to), self.now)
    }

    /// How each packet that was offered ended; a packet that has not ended once is a defect.
    pub(crate) fn check_conservation(&self) {
        let held = self.held();
        for number in 0..self.offered {
            let ends = self.ends.get(&number).map_or(0, Vec::len);
            let here = held.iter().filter(|&&held| held == number).count();
            assert_eq!(ends + here, 1, "packet {number}: {:?}", self.ends.get(&number));
        }
    }

    /// The only end of a packet.
    pub(crate) fn end(&self, number: u64) -> Option<End> {
        self.ends.get(&number).map(|ends| ends[0])
    }

    /// The number of hops of the shortest path.
    pub(crate) fn distance(&self, from: u32, to: u32) -> Option<usize> {
        let mut distances = BTreeMap::from([(NodeId(from), 0)]);
        let mut frontier = VecDeque::from([NodeId(from)]);
        while let Some(node) = frontier.pop_front() {
            let next = distances[&node] + 1;
            for neighbour in self.neighbours(node) {
                if let Entry::Vacant(entry) = distances.entry(neighbour) {
                    entry.insert(next);
                    frontier.push_back(neighbour);
                }
            }
        }
        distances.get(&NodeId(to)).copied()
    }

    fn neighbours(&self, node: NodeId) -> Vec<NodeId> {
        self.links.range((node, NodeId(0))..=(node, NodeId(u32::MAX))).map(|link| link.1).collect()
    }

    fn set_link(&mut self, a: NodeId, b: NodeId, is_up: bool) {
        for link in [(a, b), (b, a)] {
            if is_up {
                self.links.insert(link);
            } else {
                self.links.remove(&link);
            }
        }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Link { between: [a, b], is_up } => self.set_link(a, b, is_up),
            Event::Offer(packet) => {
                self.call(packet.from, |router, context| router.on_packet(packet, context));
            }
            Event::Timer(node) => {
                let timer = &mut self.nodes[node].timer;
                if *timer == Some(self.now) {
                    *timer = None;
                    self.call(node, |router, context| router.on_timer(context));
                }
            }
            Event::Failed { by, packet } => {
                self.nodes[by].is_sending = false;
                let next = packet.next;
                self.call(by, |router, context| {
                    router.on_link_failure(next, packet, false, context);
                });
                self.transmit(by);
            }
            Event::Sent { by, packet } => self.on_sent(by, packet),
        }
    }

    fn on_sent(&mut self, by: NodeId, packet: Packet) {
        if packet.to.is_some() && !self.links.contains(&(by, packet.next)) {
            return self.on_event(Event::Failed { by, packet });
        }
        self.nodes[by].is_sending = false;
        for neighbour in self.neighbours(by) {
            if packet.to.is_none() || packet.next == neighbour {
                self.call(neighbour, |router, context| router.on_received(by, &packet, context));
            } else if self.is_promiscuous {
                self.call(neighbour, |router, context| router.on_overheard(by, &packet, context));
            }
        }
        self.transmit(by);
    }

    /// Calls the router of a node and carries out its commands.
    fn call(&mut self, node: NodeId, event: impl FnOnce(&mut dyn Router, &mut Context<'_>)) {
        let Node { router, rng, .. } = &mut self.nodes[node];
        let mut out = Vec::new();
        let (now, paths, exits) = (self.now, &mut self.paths, &self.exits);
        event(&mut **router, &mut Context { now, paths, rng, exits, out: &mut out });
        for command in out {
            self.carry_out(node, command);
        }
        self.transmit(node);
    }

    fn carry_out(&mut self, node: NodeId, command: Command) {
        match command {
            Command::Send(packet) => {
                self.sent.push((self.now, node, packet));
                self.nodes[node].queue.push_back(packet);
            }
            Command::Deliver(packet) => {
                assert_eq!(packet.size, Bytes(128), "the size without routing headers");
                let hops = number(&packet).map_or(0, |number| self.hops(number));
                self.finish(&packet, End::Delivered(node, hops));
            }
            Command::Drop(packet, cause) => self.finish(&packet, End::Dropped(node, cause)),
            Command::Purge(neighbour) => {
                let queue = &mut self.nodes[node].queue;
                let is_for = |packet: &Packet| packet.receiver() == Some(neighbour);
                let (purged, kept): (VecDeque<Packet>, _) =
                    std::mem::take(queue).into_iter().partition(is_for);
                *queue = kept;
                for packet in purged {
                    self.call(node, |router, context| {
                        router.on_link_failure(neighbour, packet, true, context);
                    });
                }
            }
            Command::SetTimer(at) => {
                assert!(at >= self.now, "a timer in the past");
                self.nodes[node].timer = Some(at);
                self.schedule(at, Event::Timer(node));
            }
            Command::CancelTimer => self.nodes[node].timer = None,
            Command::Note(note) => self.notes.push((self.now, node, note)),
        }
    }

    /// The number of transmissions of a packet on links.
    fn hops(&self, number: u64) -> usize {
        self.nodes.iter().filter_map(|node| node.travels.get(&number)).sum()
    }

    fn finish(&mut self, packet: &Packet, end: End) {
        if let Some(number) = number(packet) {
            self.ends.entry(number).or_default().push(end);
        }
    }

    /// Begins the next transmission of a node, if it sends none.
    fn transmit(&mut self, by: NodeId) {
        let node = &mut self.nodes[by];
        if node.is_sending {
            return;
        }
        let Some(packet) = node.queue.pop_front() else { return };
        node.is_sending = true;
        let is_up = packet.to.is_none() || self.links.contains(&(by, packet.next));
        if is_up {
            if let Some(number) = number(&packet) {
                *node.travels.entry(number).or_default() += 1;
            }
            self.schedule(self.now + AIRTIME, Event::Sent { by, packet });
        } else {
            self.schedule(self.now + RETRIES, Event::Failed { by, packet });
        }
    }
}

/// The number of a data packet.
pub(crate) fn number(packet: &Packet) -> Option<u64> {
    match packet.body {
        Body::Datagram(datagram) => Some(datagram.number),
        _ => None,
    }
}

/// Random links between `count` nodes: a node is at a random place of a square, and has links to
/// the nodes that are near.
pub(crate) fn random_links(count: u32, range: f64, rng: &mut Rng) -> Vec<(u32, u32)> {
    let places: Vec<(f64, f64)> = (0..count).map(|_| (rng.uniform(), rng.uniform())).collect();
    let near = |a: (f64, f64), b: (f64, f64)| libm::hypot(a.0 - b.0, a.1 - b.1) < range;
    let mut links = Vec::new();
    for a in 0..count {
        let is_near = |&b: &u32| near(places[a as usize], places[b as usize]);
        links.extend((a + 1..count).filter(is_near).map(|b| (a, b)));
    }
    links
}
