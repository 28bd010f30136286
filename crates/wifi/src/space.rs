//! The medium among nodes that hear different things: hidden and exposed nodes, several cells on
//! several channels, ad hoc networks.
//!
//! Every frame is a transmission of its own. It arrives at each node that hears it with a power of
//! its own, where it is followed, disturbed, or no more than energy; each node has its own carrier
//! sense, NAV and EIFS, and counts the idle slots that it finds itself. One transmission costs as
//! much as there are nodes that hear it; an idle slot costs nothing. Where one of two nodes moves,
//! the power is that of the moment at which the frame begins; movement itself is no event.
//!
//! Where all nodes hear all others and no frame is captured, the frames on the air are those of
//! [`Cell`](crate::Cell) to the nanosecond, and so are all draws. Two things differ: a frame that
//! is given up leaves its node when the node gives it up, a timeout after its last frame; and slots
//! never begin for all together ([`SlotGrid::Shared`](crate::mac::SlotGrid) is taken as the
//! standard's).
//!
//! A world uses it like a [`Cell`](crate::Cell): it hands packets to free nodes
//! ([`Space::on_packet`]), and schedules an event for each [`Command::Access`] and each
//! [`Command::Step`], ranked so that of one instant frames end first, then packets come, then
//! back-offs end. `Began` and `Ended` never come: there is no exchange that is the only one on the
//! air. What each node has sent for how long stands in [`Space::airtimes`], and what is on the air
//! in [`Space::on_air`].

mod air;
mod budget;
mod crowd;
mod frame;
mod hearing;
mod inbox;
mod interference;
mod judge;
mod node;
mod radio;
mod reception;
mod rules;
mod sense;
mod signals;
mod watch;

pub use budget::LinkBudget;
pub use radio::{Capture, Losses, Radio, RadioSettings, ReceiverSettings, Site};
pub use watch::{Heard, Senses};

use crate::mac::{self, Backoff, Edcaf, PeerRate, StepKind};
use crate::phy::Mode;
use crate::rate::RateControl;
use crate::{Command, Counters, FrameCounters, Link, MacConfig, Supply};
use crowd::Crowd;
use frame::OnAir;
use judge::Memo;
use kernel::{Bytes, Duration, Fired, Instant, Seed, Timer};
use node::Node;
use radio::Levels;
use reception::Receiver;
use rules::{Peer, Rules};
use sense::{Contender, Slots};
use signals::Signals;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wire::{Packet, TrafficClass};

/// What a space is made of.
#[derive(Debug)]
pub struct SpaceConfig {
    /// Timing, limits and windows, for all nodes.
    pub mac: MacConfig,
    /// Propagation and receivers.
    pub radio: Radio,
    /// A station that follows an RTS with its NAV forgets it if no frame comes after the RTS
    /// (clause 10.3.2.4 permits it).
    pub nav_reset: bool,
    /// The nodes.
    pub sites: Vec<Site>,
    /// Between which nodes packets go, in either direction.
    pub links: Vec<(u32, u32, Link)>,
}

/// How long a node has sent what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtimes {
    /// RTS frames.
    pub rts: Duration,
    /// CTS frames, those to itself among them.
    pub cts: Duration,
    /// Data frames.
    pub data: Duration,
    /// Acknowledgements, block acks among them.
    pub ack: Duration,
    /// Block-ack requests.
    pub request: Duration,
}

impl Airtimes {
    fn add(&mut self, kind: StepKind, lasting: Duration) {
        *match kind {
            StepKind::Rts => &mut self.rts,
            StepKind::Cts | StepKind::CtsToSelf => &mut self.cts,
            StepKind::Data => &mut self.data,
            StepKind::Ack | StepKind::BlockAck => &mut self.ack,
            StepKind::BlockAckRequest => &mut self.request,
        } += lasting;
    }

    /// All together.
    pub fn total(&self) -> Duration {
        self.rts + self.cts + self.data + self.ack + self.request
    }
}

/// A frame on the air, for those who look on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airing {
    /// Who sends it.
    pub from: u32,
    /// Whom it is for; `None` for all. A CTS may be for its sender.
    pub to: Option<u32>,
    /// Which frame.
    pub kind: StepKind,
    /// The EDCAF whose exchange it belongs to, at the one of the two that has opened it.
    pub function: u8,
    /// How it is sent.
    pub mode: Mode,
    /// Bytes of its PSDU.
    pub psdu: Bytes,
    /// When its PPDU began.
    pub start: Instant,
    /// When it ends.
    pub end: Instant,
    /// Its Duration field: how long after its end the medium is reserved.
    pub reserves: Duration,
}

/// All nodes and the medium between them.
#[derive(Debug)]
pub struct Space {
    rules: Rules,
    signals: Signals,
    nodes: Vec<Node>,
    /// Of the nodes, apart, for each frame asks all that hear it.
    receivers: Vec<Receiver>,
    /// Timers of nodes: when, which node, its timer's generation.
    agenda: BinaryHeap<Reverse<(Instant, u32, u32)>>,
    /// Of the earliest of them.
    wake: Timer,
    crowd: Crowd,
    scratch: air::Scratch,
    memo: Memo,
    /// What nodes have made of frames, where somebody looks on.
    heard: Option<Vec<Heard>>,
    /// Access points and other nodes with a frame in service.
    contending: (u32, u32),
}

impl Space {
    /// An idle space.
    pub fn new(config: SpaceConfig, seed: &Seed) -> Self {
        let SpaceConfig { mac, radio, nav_reset, sites, links } = config;
        let rules = Rules {
            mac: mac::Rules::new(mac, links.iter().map(|(_, _, link)| link.mode)),
            levels: Levels::of(&radio.receiver),
            nav_reset,
        };
        let signals = Signals::new(radio, sites);
        let mut peers: Vec<Vec<Peer>> = signals.sites.iter().map(|_| Vec::new()).collect();
        for &(a, b, link) in &links {
            for (from, to) in [(a, b), (b, a)] {
                let power = signals.mean_power(from, to, Instant::ZERO);
                let power = power.map_or(0.0, |power| power.milliwatts);
                let peer = Peer { node: to, link, rate: PeerRate::fixed(link.mode), power };
                peers[from as usize].push(peer);
            }
        }
        let node = |(n, mut peers): (u32, Vec<Peer>)| {
            peers.sort_by_key(|peer| peer.node);
            // Agreements number the frames of each receiver by themselves.
            let apart = rules.mac.framing.aggregation.is_some() && peers.len() > 1;
            let is_access_point = signals.sites[n as usize].is_access_point;
            let contenders = (0..rules.mac.per_node).map(|category| {
                let index = n * rules.mac.per_node + category;
                let backoff =
                    Backoff::Random(seed.stream(rules.mac.config.backoff_stream(), index));
                let (spacing, _) = rules.mac.parameters(is_access_point, category);
                let node = (n, is_access_point);
                Contender {
                    edcaf: Edcaf::new(&rules.mac, node, category, apart, backoff),
                    slots: Slots::new(rules.timing(), spacing, rules.mac.busy_slot()),
                }
            });
            Node::new(n, contenders.collect(), seed.stream("radio.noise", n), peers)
        };
        let nodes: Vec<Node> = (0..).zip(peers).map(node).collect();
        Self {
            crowd: Crowd::new(&signals),
            scratch: air::Scratch::new(nodes.len()),
            memo: Memo::new(),
            receivers: nodes.iter().map(|_| Receiver::default()).collect(),
            rules,
            signals,
            nodes,
            agenda: BinaryHeap::new(),
            wake: Timer::default(),
            heard: None,
            contending: (0, 0),
        }
    }

    /// From now on a node sends to another in this mode.
    pub fn set_mode(&mut self, from: u32, to: u32, mode: Mode) {
        if let Some(peer) = self.peer_mut(from, to) {
            peer.rate.mode = mode;
        }
    }

    /// From now on rate control says in which mode a node sends to another.
    pub fn control_rate(&mut self, from: u32, to: u32, control: Box<dyn RateControl>) {
        if let Some(peer) = self.peer_mut(from, to) {
            peer.rate.control = Some(control);
        }
    }

    /// The mode in which a node sends to another, if there is a link.
    pub fn mode(&self, from: u32, to: u32) -> Option<&Mode> {
        self.nodes[from as usize].peer(to).map(|peer| &peer.rate.mode)
    }

    /// Nodes with which a node has links.
    pub fn peers(&self, node: u32) -> impl Iterator<Item = u32> {
        self.nodes[node as usize].peers.iter().map(|peer| peer.node)
    }

    fn peer_mut(&mut self, from: u32, to: u32) -> Option<&mut Peer> {
        rules::peer_mut(&mut self.nodes[from as usize].peers, to)
    }

    /// Whether a node would take a packet of this class into service.
    pub fn is_free_for(&self, node: u32, class: TrafficClass) -> bool {
        self.edcaf_for(node, class).is_idle()
    }

    /// Whether this node has no frame in service.
    pub fn is_free(&self, node: u32) -> bool {
        self.nodes[node as usize].is_idle()
    }

    /// Nodes with a frame in service, access points not counted.
    pub fn contending_stations(&self) -> u32 {
        self.contending.1
    }

    /// Whether any node has a frame in service.
    pub fn is_contended(&self) -> bool {
        self.contending != (0, 0)
    }

    /// Packets that an access of a node may take along at most: more than that waiting, and
    /// nothing changes.
    pub fn packets_per_access(&self) -> u32 {
        self.rules.mac.packets_per_access()
    }

    /// Whether each class of traffic has an EDCAF of its own, and packets of one class do not
    /// wait for those of another.
    pub fn has_categories(&self) -> bool {
        self.rules.mac.per_node > 1
    }

    /// What frames a node sent so far.
    pub fn frame_counters(&self, node: u32) -> &FrameCounters {
        &self.nodes[node as usize].tally.frames
    }

    /// What a node did so far. A collision is an attempt that interference, or a receiver that was
    /// busy itself, has spoiled; an attempt that got no CTS for the receiver's NAV is neither that
    /// nor lost by noise.
    pub fn counters(&self, node: u32) -> &Counters {
        &self.nodes[node as usize].tally.counters
    }

    /// A node's contention window; under EDCA that of best effort.
    pub fn window(&self, node: u32) -> u32 {
        self.window_for(node, TrafficClass::BestEffort)
    }

    /// The contention window for packets of a class.
    pub fn window_for(&self, node: u32, class: TrafficClass) -> u32 {
        self.edcaf_for(node, class).window()
    }

    /// The EDCAF by which a node sends packets of this class.
    fn edcaf_for(&self, node: u32, class: TrafficClass) -> &Edcaf {
        self.nodes[node as usize].edcaf(self.rules.mac.category_of(class) as usize)
    }

    /// How long a node has sent what; a frame counts when it begins.
    pub fn airtimes(&self, node: u32) -> &Airtimes {
        &self.nodes[node as usize].airtimes
    }

    /// Frames on the air, in the order in which they began.
    pub fn on_air(&self) -> impl Iterator<Item = Airing> {
        self.signals.flying().map(|flight| {
            let OnAir { from, to, kind, function, mode, psdu, reserves, .. } = flight.frame;
            let (start, end) = (flight.start, flight.end());
            Airing { from, to, kind, function, mode, psdu, start, end, reserves }
        })
    }

    /// Packets in service that their receivers do not have yet, or cannot hand up yet.
    pub fn packets_in_service(&self) -> impl Iterator<Item = &Packet> {
        let edcafs = self.nodes.iter().flat_map(Node::edcafs);
        let sending = edcafs.flat_map(|edcaf| edcaf.originator.unreceived());
        sending.chain(self.nodes.iter().flat_map(|node| node.inbox.held()))
    }

    /// Whether one node's signals ever arrive at another.
    pub fn hears(&self, from: u32, to: u32) -> bool {
        self.signals.hearer(from, to).is_some()
    }

    /// A node takes a packet into service that is free for its class; `to` is the node that shall
    /// receive it over the air, to which there is a link, or `None` for all that hear it.
    pub fn on_packet(
        &mut self,
        now: Instant,
        node: u32,
        packet: Packet,
        to: Option<u32>,
        out: &mut Vec<Command>,
    ) {
        self.nodes[node as usize].load(now, packet, to, &self.rules);
        self.note_contending(node);
        self.set_timer(node);
        self.schedule(out);
    }

    /// The time of a node has come: a back-off ends, an answer is due, or one has not come.
    pub fn on_access(
        &mut self,
        now: Instant,
        generation: u32,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) {
        match self.wake.fire(generation) {
            Fired::Stale => return,
            Fired::Later(ticket) => return out.push(Command::Access(ticket)),
            Fired::Due => {}
        }
        let mut due = std::mem::take(&mut self.scratch.due);
        self.take_due(now, &mut due);
        let before = out.len();
        for &node in &due {
            self.nodes[node as usize].expire(now, &self.rules, out);
        }
        if out.len() > before {
            // Nodes whose service has ended take the next packet before anybody begins.
            for &node in &due {
                self.note_contending(node);
                self.set_timer_at(node, now);
            }
        } else {
            self.begin_frames(now, &due, supply, out);
        }
        due.clear();
        self.scratch.due = due;
        self.schedule(out);
    }

    /// Nodes whose timers are due, by number.
    fn take_due(&mut self, now: Instant, due: &mut Vec<u32>) {
        while let Some(&Reverse((at, node, generation))) = self.agenda.peek() {
            if at > now {
                break;
            }
            self.agenda.pop();
            match self.nodes[node as usize].timer.fire(generation) {
                Fired::Stale => {}
                Fired::Later(ticket) => {
                    self.agenda.push(Reverse((ticket.at, node, ticket.generation)));
                }
                Fired::Due => due.push(node),
            }
        }
        due.sort_unstable();
    }

    fn note_contending(&mut self, node: u32) {
        let state = &mut self.nodes[node as usize];
        if state.is_quiet() {
            return;
        }
        let contends = !state.is_idle();
        if std::mem::replace(&mut state.contends, contends) != contends {
            let (access_points, stations) = &mut self.contending;
            let is_access_point = self.signals.sites[node as usize].is_access_point;
            let count = if is_access_point { access_points } else { stations };
            *count = if contends { *count + 1 } else { *count - 1 };
        }
    }

    /// Sets a node's timer to what it does next.
    fn set_timer(&mut self, node: u32) {
        let state = &mut self.nodes[node as usize];
        state.note_quiet();
        match state.deadline() {
            Some(at) => self.set_timer_at(node, at),
            None => state.timer.cancel(),
        }
    }

    fn set_timer_at(&mut self, node: u32, at: Instant) {
        let timer = &mut self.nodes[node as usize].timer;
        if timer.deadline() != Some(at)
            && let Some(ticket) = timer.set(at)
        {
            self.agenda.push(Reverse((ticket.at, node, ticket.generation)));
        }
    }

    /// Asks to be called when the first node's time comes.
    fn schedule(&mut self, out: &mut Vec<Command>) {
        // What nodes have forgotten or put off meanwhile is no reason to be called.
        while let Some(&Reverse((at, node, generation))) = self.agenda.peek() {
            let timer = &mut self.nodes[node as usize].timer;
            if timer.deadline() == Some(at) {
                break;
            }
            self.agenda.pop();
            if let Fired::Later(ticket) = timer.fire(generation) {
                self.agenda.push(Reverse((ticket.at, node, ticket.generation)));
            }
        }
        match self.agenda.peek() {
            Some(&Reverse((at, _, _))) if self.wake.deadline() == Some(at) => {}
            Some(&Reverse((at, _, _))) => {
                out.extend(self.wake.set(at).map(Command::Access));
            }
            None => self.wake.cancel(),
        }
    }
}
