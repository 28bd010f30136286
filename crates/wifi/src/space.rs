//! The medium among nodes at different places: hidden and exposed nodes, several cells on several
//! channels, ad-hoc networks.
//!
//! Each frame is one transmission. It arrives with its own power at each node in range, where the
//! receiver decodes it, loses it to interference, or detects only its energy. Each node has its own
//! carrier sense, NAV and EIFS, and counts its own idle slots. The cost of a transmission is
//! proportional to the number of nodes in range; an idle slot costs nothing. If the transmitter or
//! the receiver moves, the power is that at the start of the frame; movement causes no event.
//!
//! If all nodes receive all others and there is no capture, the frames on the air equal those of
//! [`Cell`](crate::Cell) to the nanosecond, and so do all random draws. There are six
//! differences: a discarded MSDU leaves its node a timeout after its last frame; slots never begin
//! for all stations together ([`SlotGrid::Shared`](crate::mac::SlotGrid) behaves as the standard's
//! grid); a full-duplex node chooses its secondary frame when it sends the CTS or has decoded a MAC
//! header, not when the exchange begins; an access point whose PPDU to several users has collided
//! asks them for BlockAcks nevertheless, while in a cell the exchange ends; a station decides what
//! it answers to a Trigger frame when it does, not when the Trigger frame begins, and what it sends
//! is delivered at the end that its LENGTH announces; and an EDCAF whose MU EDCA timer ends counts
//! from a boundary of the slots of its node, in a cell from one of those of the others.
//!
//! The caller uses it like a [`Cell`](crate::Cell): it passes packets to free nodes
//! ([`Space::on_packet`]), and schedules an event for each [`Command::Access`] and each
//! [`Command::Step`], ranked so that at one instant frames end first, then packets arrive, then
//! back-offs expire. `Began` and `Ended` never occur, because several exchanges may be on the air
//! at once. [`Space::airtimes`] has the airtime of each node, and [`Space::on_air`] the frames on
//! the air.

mod air;
mod airtime;
mod budget;
mod bystanders;
mod count;
mod crowd;
mod decode;
mod duplex;
mod frame;
mod inbox;
mod interference;
mod interferers;
mod join;
mod links;
mod motion;
mod mute;
mod node;
mod ongoing;
mod outcome;
mod overheard;
mod overlap;
mod per;
mod per_cache;
mod power;
mod radio;
mod range;
mod reception;
mod records;
mod reuse;
mod rules;
mod sense;
mod settle;
mod shared;
mod signals;
mod slices;
mod subchannels;
mod timers;
mod tuning;
mod undecoded;
mod units;
mod uplink;
mod watch;
mod waves;

// Functions of the medium that most runs do without are not inlined, so that the code of the others
// fits in the processor's cache.

pub use airtime::{AirUse, FrameUse};
pub use budget::LinkBudget;
pub use frame::Users;
pub use interferers::DESTRUCTIVE;
pub use ongoing::OngoingFrame;
pub use radio::{
    Capture, Losses, PropagationDelay, Radio, RadioSettings, ReceiverSettings, STRONGEST_SUM, Site,
};
pub use reuse::ReuseCounters;
pub use watch::{ReceivedFrame, Senses};

use crate::mac::mu::MuTimers;
use crate::mac::{self, Backoff, BusySlot, Edcaf, Originator};
use crate::phy::Mode;
use crate::{Command, Counters, FrameCounters, Link, MacConfig, MsduSource};
use airtime::UsedAirtime;
use bystanders::Bystanders;
use crowd::Crowd;
use duplex::RequiredSinr;
use interferers::SpaceInterferers;
use kernel::{Duration, Fired, Instant, Seed, Timer};
use node::Node;
use overlap::Overlaps;
use per_cache::PerCache;
use power::Levels;
use reception::PhyReceiver;
use records::SpaceWatch;
use reuse::Reuse;
use rules::{Peer, SpaceRules};
use sense::{EdcafState, Slots};
use signals::Signals;
use timers::NodeTimers;
use waves::Waves;
use wire::{FrameGroup, FrameKind, Packet, TrafficClass};

/// Configuration of a space.
#[derive(Debug)]
pub struct SpaceConfig {
    /// Timing, limits and contention windows of all nodes.
    pub mac: MacConfig,
    /// Propagation and receivers.
    pub radio: Radio,
    /// Whether a node whose NAV an RTS has set resets it if no frame follows the RTS (clause
    /// 10.3.2.4 permits it).
    pub nav_reset: bool,
    /// The nodes.
    pub sites: Vec<Site>,
    /// Pairs of nodes that exchange packets, in both directions.
    pub links: Vec<(u32, u32, Link)>,
}

/// The airtime of a node by what its frames are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtimes([Duration; FrameGroup::ALL.len()]);

impl Airtimes {
    fn add(&mut self, kind: FrameKind, lasting: Duration) {
        self.0[kind.facts().group as usize] += lasting;
    }

    fn remove(&mut self, kind: FrameKind, ahead: Duration) {
        let airtime = &mut self.0[kind.facts().group as usize];
        *airtime = airtime.saturating_sub(ahead);
    }

    /// That of these frames.
    pub fn of(&self, group: FrameGroup) -> Duration {
        self.0[group as usize]
    }

    /// The sum.
    pub fn total(&self) -> Duration {
        self.0.iter().copied().sum()
    }
}

/// All nodes and the medium between them.
#[derive(Debug)]
pub struct Space {
    rules: SpaceRules,
    signals: Signals,
    nodes: Vec<Node>,
    /// The receivers of the nodes, in a separate array because each frame visits many of them.
    receivers: Vec<PhyReceiver>,
    timers: NodeTimers,
    /// The timer of the earliest of these.
    wake: Timer,
    /// What secondary frames need by the rule "sinr".
    required: RequiredSinr,
    crowd: Crowd,
    bystanders: Bystanders,
    scratch: air::Scratch,
    /// What is on its way, if signals take time to arrive.
    waves: Option<Box<Waves>>,
    per_cache: PerCache,
    /// The records for observers, if there are any.
    watch: Option<Box<SpaceWatch>>,
    /// The number of access points and of other nodes with a packet in service.
    contending: (u32, u32),
    interferers: Option<Box<SpaceInterferers>>,
    /// The frames that use the airtime of a flat space, if an observer wants them.
    airtime: Option<Box<UsedAirtime>>,
    /// Spatial reuse, if nodes do it.
    reuse: Option<Box<Reuse>>,
    /// The access points that trigger stations.
    triggering: Vec<u32>,
    /// The MU EDCA timers of stations, if any may be triggered.
    mute: MuTimers,
    /// Whether nodes report the packets in frames that are addressed to others.
    overhears: bool,
    /// Whether nodes do that, or stations answer Trigger frames: what is addressed to others then
    /// does more at a node than to set its NAV.
    follows_others: bool,
}

impl Space {
    /// Creates an idle space.
    pub fn new(config: SpaceConfig, seed: &Seed) -> Self {
        let purpose = config.mac.backoff_stream();
        Self::with_backoffs(config, seed, |edcaf| Backoff::Random(seed.stream(purpose, edcaf)))
    }

    pub(crate) fn with_backoffs(
        config: SpaceConfig,
        seed: &Seed,
        backoff: impl Fn(u32) -> Backoff,
    ) -> Self {
        let SpaceConfig { mac, mut radio, nav_reset, sites, links } = config;
        radio.varies_power = mac.spatial_reuse.is_some();
        let reuse = mac.spatial_reuse.as_ref().map(|it| Box::new(Reuse::new(it, &sites)));
        radio.overlaps = Overlaps::of(&mac, &radio, &sites, &links);
        let modes: Vec<Mode> = links.iter().map(|(_, _, link)| link.mode).collect();
        let mac = mac::Rules::new(mac, modes.iter().copied());
        let rules = SpaceRules::new(mac, Levels::of(&radio.receiver), nav_reset);
        let signals = Signals::new(radio, sites);
        let node = |(n, mut peers): (u32, Vec<Peer>)| {
            peers.sort_by_key(|peer| peer.node);
            let is_access_point = signals.sites[n as usize].is_access_point;
            // Under block ack agreements, each receiver has its own sequence numbers, and so have
            // the broadcasts of an access point.
            let apart =
                rules.mac.framing.aggregation.is_some() && (is_access_point || peers.len() > 1);
            let contenders = (0..rules.mac.per_node).map(|category| {
                let (index, mac) = (n * rules.mac.per_node + category, &rules.mac);
                let (spacing, _) = mac.parameters(is_access_point, category);
                let draws = backoff(index);
                let edcaf = Edcaf::new(mac, n, is_access_point, category, apart, draws);
                let slots = Slots::new(rules.timing(), spacing, mac.busy_slot());
                EdcafState { edcaf, slots }
            });
            Node::new(n, contenders.collect(), seed.stream("radio.noise", n), peers)
        };
        let nodes: Vec<Node> = (0..).zip(peers(&signals, &links)).map(node).collect();
        let shortest_space = mute::shortest_space(&nodes, &rules.mac);
        let mut space = Self {
            required: RequiredSinr::default(),
            crowd: Crowd::new(&signals, &rules),
            bystanders: Bystanders::new(nodes.len(), bystanders::are_possible(&signals, &rules)),
            waves: signals.radio.has_delays.then(Box::default),
            scratch: air::Scratch::new(nodes.len()),
            per_cache: PerCache::new(),
            receivers: nodes.iter().map(|_| PhyReceiver::default()).collect(),
            rules,
            signals,
            timers: NodeTimers::new(nodes.len(), shortest_space),
            follows_others: false,
            nodes,
            wake: Timer::default(),
            watch: None,
            contending: (0, 0),
            interferers: None,
            airtime: None,
            reuse,
            overhears: false,
            mute: MuTimers::new(0, 0),
            triggering: Vec::new(),
        };
        space.watch_subchannels();
        space.form_groups(seed);
        if let Some(settings) = space.rules.mac.config.full_duplex {
            space.become_full_duplex(settings, &modes, seed);
        }
        space
    }

    /// Whether a node can take a packet of this class into service.
    pub fn is_free_for(&self, node: u32, class: TrafficClass) -> bool {
        self.edcaf_for(node, class).is_idle()
    }

    /// Whether a node has no packet in service.
    pub fn is_free(&self, node: u32) -> bool {
        self.nodes[node as usize].is_idle()
    }

    /// Nodes with a packet in service, without access points.
    pub fn contending_stations(&self) -> u32 {
        self.contending.1
    }

    /// Whether any node has a packet in service.
    pub fn is_contended(&self) -> bool {
        self.contending != (0, 0)
    }

    /// The most packets in one PSDU: further packets in a queue do not change it.
    pub fn packets_per_access(&self) -> u32 {
        self.rules.mac.packets_per_access()
    }

    /// Whether each class of traffic has its own EDCAF, so that packets of one class do not wait
    /// for those of another.
    pub fn has_categories(&self) -> bool {
        self.rules.mac.per_node > 1
    }

    /// Counters of the frames of a node.
    pub fn frame_counters(&self, node: u32) -> &FrameCounters {
        &self.nodes[node as usize].counters.frames
    }

    /// Counters of the exchanges of a node. A collision is an attempt that failed because of
    /// interference, or because its receiver was transmitting or receiving. An attempt that
    /// received no CTS because of the receiver's NAV counts neither as a collision nor as a loss by
    /// noise.
    pub fn counters(&self, node: u32) -> &Counters {
        &self.nodes[node as usize].counters.exchanges
    }

    /// The contention window of a node; under EDCA that of best effort.
    pub fn window(&self, node: u32) -> u32 {
        self.window_for(node, TrafficClass::BestEffort)
    }

    /// The contention window of a node for packets of a class.
    pub fn window_for(&self, node: u32, class: TrafficClass) -> u32 {
        self.edcaf_for(node, class).window()
    }

    /// The EDCAF with which a node sends packets of this class.
    fn edcaf_for(&self, node: u32, class: TrafficClass) -> &Edcaf {
        self.nodes[node as usize].edcaf(self.rules.mac.category_of(class) as usize)
    }

    /// The airtime of a node by type of frame, up to now.
    pub fn airtimes(&self, node: u32, now: Instant) -> Airtimes {
        let mut airtimes = self.nodes[node as usize].airtimes;
        let mut own = self.signals.ongoing().filter(|it| it.frame.from == node && it.end() > now);
        if let Some(ongoing) = own.next() {
            let kind = self.nodes[node as usize].kind_of(&ongoing.frame);
            airtimes.remove(kind, ongoing.end().since(now));
        }
        airtimes
    }

    /// Packets whose service has not ended, each with its node.
    pub fn serving(&self) -> impl Iterator<Item = (u32, &Packet)> {
        (0..).zip(&self.nodes).flat_map(|(number, node)| {
            let own = node.edcafs().map(|edcaf| &edcaf.originator);
            let packets = own.chain(node.waiting_originators()).flat_map(Originator::serving);
            packets.map(move |(packet, _)| (number, packet))
        })
    }

    /// Packets in service that their receivers do not have, and packets in reorder buffers.
    pub fn packets_in_service(&self) -> impl Iterator<Item = &Packet> {
        let edcafs = self.nodes.iter().flat_map(Node::edcafs).map(|edcaf| &edcaf.originator);
        let waiting = self.nodes.iter().flat_map(Node::waiting_originators);
        let sending = edcafs.chain(waiting).flat_map(Originator::unreceived);
        sending.chain(self.nodes.iter().flat_map(|node| node.inbox.held()))
    }

    /// Whether signals of one node ever arrive at another.
    pub fn hears(&self, from: u32, to: u32) -> bool {
        self.signals.hears(from, to)
    }

    /// A node takes a packet into service, for whose class it must be free. `to` is the receiver
    /// over the air, to which there must be a link, or `None` for a broadcast.
    pub fn on_packet(
        &mut self,
        now: Instant,
        node: u32,
        packet: &Packet,
        to: Option<u32>,
        out: &mut Vec<Command>,
    ) {
        if self.interferers.is_some() {
            self.hear_interferers(now, out);
        }
        self.wake(node);
        if self.reuse.is_some() && !self.nodes[node as usize].contends {
            self.end_rest(now, node);
        }
        self.nodes[node as usize].begin_service(now, packet, to, &self.rules);
        if self.triggers() {
            self.hear_of_packet(now, node, to, out);
            self.note_waiting(now, node, packet.class);
        }
        self.note_contending(node);
        self.set_timer(node);
        self.schedule(out);
        if self.watch.is_some() {
            self.record_waits(now);
        }
    }

    /// The earliest timer of a node expires: a back-off ends, a response is due, or a response is
    /// missing.
    pub fn on_access(
        &mut self,
        now: Instant,
        generation: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        match self.wake.fire(generation) {
            Fired::Stale => {}
            Fired::Later(ticket) => out.push(Command::Access(ticket)),
            Fired::Due => self.act(now, source, out),
        }
    }

    /// The nodes act whose timers expire now.
    fn act(&mut self, now: Instant, source: &mut dyn MsduSource, out: &mut Vec<Command>) {
        let mut due = std::mem::take(&mut self.scratch.due);
        self.timers.take_due(now, &mut due);
        let before = out.len();
        for &node in &due {
            self.nodes[node as usize].expire(now, &self.rules, out);
        }
        if out.len() > before {
            // Nodes whose service has ended take the next packet into service before any node
            // transmits.
            for &node in &due {
                self.note_contending(node);
                self.timers.set(node, now);
                if self.triggers() {
                    self.note_left(now, node);
                }
            }
        } else {
            self.begin_frames(now, &due, source, out);
        }
        due.clear();
        self.scratch.due = due;
        if self.triggers() {
            self.ask(now, false, source, out);
        }
        self.schedule(out);
        if self.watch.is_some() {
            self.record_waits(now);
        }
    }

    fn note_contending(&mut self, node: u32) {
        let state = &mut self.nodes[node as usize];
        if state.is_quiet() {
            return;
        }
        let contends = state.wants_medium();
        if std::mem::replace(&mut state.contends, contends) != contends {
            let (access_points, stations) = &mut self.contending;
            let is_access_point = self.signals.sites[node as usize].is_access_point;
            let count = if is_access_point { access_points } else { stations };
            *count = if contends { *count + 1 } else { *count - 1 };
        }
    }

    /// Sets a node's timer to the instant of its next action.
    #[inline(never)]
    fn set_timer(&mut self, node: u32) {
        let Self { nodes, timers, watch, .. } = self;
        settle::set_timer(node, &mut nodes[node as usize], timers, watch);
    }

    /// Nodes that doze begin to count slots, unless a timer expires before the first of them: the
    /// next frame then may come before. In Bianchi's chain such a frame is a step in any case.
    fn rouse(&mut self) {
        let may_doze_on = self.rules.mac.busy_slot() != BusySlot::Step;
        let Self { nodes, timers, .. } = self;
        let (space, dozing) = (timers.space(), timers.take_dozing());
        for &node in &dozing {
            let state = &mut nodes[node as usize];
            let Some(first) = state.dozes_until(space) else { continue };
            if may_doze_on && first > timers.earliest() {
                timers.rest(node, first);
            } else {
                timers.set(node, state.rouse());
            }
        }
        timers.give_back(dozing);
    }

    /// Requests a call at the earliest timer of a node.
    fn schedule(&mut self, out: &mut Vec<Command>) {
        if self.timers.must_rouse() {
            self.rouse();
        }
        let mut at = self.timers.earliest();
        if let Some(wave) = self.waves.as_ref().and_then(|waves| waves.next()) {
            at = at.min(wave);
        }
        if at == Instant::NEVER {
            self.wake.cancel();
        } else if self.wake.deadline() != Some(at)
            && let Some(ticket) = self.wake.set(at)
        {
            out.push(Command::Access(ticket));
        }
    }
}

/// The peers of each node, over these links.
fn peers(signals: &Signals, links: &[(u32, u32, Link)]) -> Vec<Vec<Peer>> {
    let mut peers: Vec<Vec<Peer>> = signals.sites.iter().map(|_| Vec::new()).collect();
    for &(a, b, link) in links {
        for (from, to) in [(a, b), (b, a)] {
            let power = signals.mean_power(from, to, Instant::ZERO);
            peers[from as usize].push(Peer::new(to, link, power));
        }
    }
    peers
}
