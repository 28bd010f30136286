//! The medium of one cell in which every node receives every other.
//!
//! When one node alone has won the contention of such a cell, no other node can disturb its
//! exchange: the gaps within the exchange are a SIFS, and access needs a DIFS or AIFS. The cell
//! therefore computes all frames of an exchange when it begins, and asks for two events only: the
//! end of the data frame or A-MPDU, at which the receiver has it, and the end of the exchange. A
//! collision needs one event.
//!
//! The cell has DCF, EDCA with TXOPs, A-MPDUs, RTS and CTS, protection, stations of earlier
//! standards, noise as losses of links, records for observers, full duplex, and OFDMA in both
//! directions with random access, which no space has yet. What
//! else a scenario without a radio asks for, as interferers, is in a flat
//! [`Space`](crate::space::Space), which does the rest of this to the nanosecond: `cell/timelines`
//! and `tests/oracle` hold one against the other.
//!
//! Under DCF each node has one EDCAF, under EDCA one for each access category. The cell numbers
//! them consecutively: by node, then by category, lowest priority first.
//!
//! The cell is simpler than clauses 10.3 and 10.23 in these points:
//!
//! - A NAV that would last beyond the next exchange ends with that exchange. This matters only
//!   where noise destroys a frame at a DSSS rate and a short OFDM frame follows, or where stations
//!   defer for no EIFS.
//! - A discarded MSDU leaves its node when the last frame of the exchange ends, not a timeout
//!   later. The node transmits no earlier for that.
//! - Under a TXOP limit, each exchange reserves the medium for itself alone.
//! - If a CTS-to-self collides, the data after it is lost as well, even if the other frame ends
//!   before the data begins, as an RTS may.
//!
//! 802.11b nodes detect the energy of an OFDM frame up to the end of its signal extension, as all
//! nodes do, and decode nothing: they defer for no EIFS after it and set no NAV from it.

mod access;
mod duplex;
mod earlier;
mod ending;
mod group;
mod several;
mod triggered;
mod watch;

use crate::mac::{
    Backoff, Bitmap, Cache, Contention, Edcaf, Exchange, ExchangeOutcome, MacConfig, Originator,
    PeerRate, Recipient, Rules, Settled, Txop,
};
use crate::medium::{NodeCounters, UsedBytes};
use crate::phy::Mode;
use crate::rate::RateControl;
use crate::{Command, Counters, FrameCounters, Link};
use duplex::Duplex;
use group::Groups;
use kernel::{Bytes, Instant, Rng, Seed, Timer};
use several::Several;
use triggered::Triggers;
use watch::CellWatch;
use wire::{Management, Packet, TrafficClass};

/// The node number of the access point; station *i* is node *i* + 1.
pub const ACCESS_POINT: u32 = 0;

#[derive(Debug)]
struct CellNode {
    noise: Rng,
    counters: NodeCounters,
    /// EDCAFs that have an MSDU in service.
    contending: u32,
    /// Duplicate detection, one cache for each EDCAF that sends to the node.
    caches: Vec<Cache>,
    /// Reorder buffers, one for each EDCAF that sends to the node, if there are block ack
    /// agreements.
    recipients: Vec<Recipient>,
}

/// Index of the link between two nodes, one of which is the access point.
fn link_between(a: u32, b: u32) -> usize {
    (a.max(b).max(1) - 1) as usize
}

/// Index of a link direction: that to the access point, then that from it.
fn link_direction(from: u32, to: u32) -> usize {
    2 * link_between(from, to) + usize::from(from == ACCESS_POINT)
}

/// The indices of both directions of the link of a station.
fn directions_of(station: u32) -> [usize; 2] {
    let link = station as usize - 1;
    [2 * link, 2 * link + 1]
}

/// All nodes of a cell and the medium between them.
#[derive(Debug)]
pub struct Cell {
    rules: Rules,
    links: Vec<Link>,
    /// By link direction.
    rates: Vec<PeerRate>,
    nodes: Vec<CellNode>,
    edcafs: Vec<Edcaf>,
    contention: Contention,
    access: Timer,
    exchange: Option<Exchange>,
    /// The EDCAF whose exchange is on the air.
    sender: u32,
    /// The MPDUs of its PSDU that noise destroys, if there are several.
    lost: Bitmap,
    /// The data frame of the exchange on the air has not ended.
    data_pending: bool,
    /// If the recipient delivers each MPDU separately: the number of MPDUs of the PSDU on the air
    /// that have ended, and their bytes.
    handed: (u16, Bytes),
    txop: Option<Txop>,
    /// EDCAFs that collide, and when the first frame of each ends.
    colliders: Vec<(u32, Instant)>,
    /// 802.11b nodes that wait for a response, and when their timeout expires. An OFDM frame does
    /// not end this wait, because they cannot decode it.
    non_erp_timeouts: Vec<(u32, Instant)>,
    /// Nodes that could not decode the broadcast on the air.
    missed: Vec<u32>,
    winners: Vec<u32>,
    deferring: Vec<u32>,
    /// How often one of several winners was chosen, where none collide.
    chosen: u32,
    settled: Vec<Settled>,
    contending_stations: u32,
    /// The records of frames and waits, if there is an observer.
    watch: Option<Box<CellWatch>>,
    /// The state of a full-duplex access point.
    duplex: Option<Box<Duplex>>,
    /// The state of an access point that sends to several stations at once.
    groups: Option<Box<Groups>>,
    /// The state of an access point that triggers stations.
    triggers: Option<Box<Triggers>>,
    /// An exchange with several stations, on the air or about to begin, and its EDCAF.
    several: Option<(u32, Several)>,
}

impl Cell {
    /// Creates an idle cell of one access point and one station for each link.
    pub fn new(config: MacConfig, links: Vec<Link>, seed: &Seed) -> Self {
        let purpose = config.backoff_stream();
        let backoffs = |edcaf| Backoff::Random(seed.stream(purpose, edcaf));
        Self::with_backoffs(config, links, seed, backoffs)
    }

    fn with_backoffs(
        config: MacConfig,
        links: Vec<Link>,
        seed: &Seed,
        backoff: impl Fn(u32) -> Backoff,
    ) -> Self {
        let rules = Rules::new(config, links.iter().map(|link| link.mode));
        let (aggregation, per_node) = (rules.framing.aggregation, rules.per_node);
        let count = links.len() as u32 + 1;
        let node = |n: u32| {
            let heard = if n == ACCESS_POINT { count * per_node } else { per_node } as usize;
            let from =
                |f: usize| if n == ACCESS_POINT { f as u32 / per_node } else { ACCESS_POINT };
            let recipient = |f| Recipient::new(rules.window_between(n, from(f)));
            let recipients =
                aggregation.map_or(Vec::new(), |_| (0..heard).map(recipient).collect());
            CellNode {
                noise: seed.stream("radio.noise", n),
                counters: NodeCounters::default(),
                contending: 0,
                caches: vec![Cache::default(); heard],
                recipients,
            }
        };
        let mut spacings = Vec::with_capacity((count * per_node) as usize);
        let edcafs = (0..count * per_node).map(|f| {
            let (node, category) = (f / per_node, f % per_node);
            let is_access_point = node == ACCESS_POINT;
            spacings.push(rules.parameters(is_access_point, category).0);
            let apart = is_access_point && aggregation.is_some();
            Edcaf::new(&rules, node, is_access_point, category, apart, backoff(f))
        });
        let mut edcafs: Vec<Edcaf> = edcafs.collect();
        let groups = Groups::of(&rules, links.len() as u32, &mut edcafs);
        let contention = Contention::new(&spacings, rules.timing(), rules.busy_slot());
        let modes = links.iter().flat_map(|link| [link.mode; 2]);
        let duplex = Duplex::of(&rules, &links, seed);
        Self {
            triggers: Triggers::of(&rules, links.len() as u32, seed),
            rates: modes.map(PeerRate::fixed).collect(),
            nodes: (0..count).map(node).collect(),
            contention,
            edcafs,
            rules,
            links,
            access: Timer::default(),
            exchange: None,
            sender: 0,
            lost: Bitmap::default(),
            data_pending: false,
            handed: (0, Bytes::ZERO),
            txop: None,
            colliders: Vec::with_capacity(8),
            non_erp_timeouts: Vec::new(),
            missed: Vec::new(),
            winners: Vec::with_capacity(8),
            deferring: Vec::with_capacity(8),
            chosen: 0,
            settled: Vec::with_capacity(8),
            contending_stations: 0,
            watch: None,
            duplex,
            groups,
            several: None,
        }
    }

    /// From now on, the contention windows and the RTS threshold are those of this configuration. A
    /// back-off that was drawn before is not drawn again.
    pub fn adopt(&mut self, config: &MacConfig) {
        Edcaf::adopt_all(self.edcafs.iter_mut(), &mut self.rules, config);
    }

    /// Sets the mode in which a node sends to another, one of which is the access point.
    pub fn set_mode(&mut self, from: u32, to: u32, mode: Mode) {
        self.rates[link_direction(from, to)].turn_to(mode);
    }

    /// Sets the rate control that chooses the mode in which a node sends to another.
    pub fn control_rate(&mut self, from: u32, to: u32, control: Box<dyn RateControl>) {
        self.rates[link_direction(from, to)].control = Some(control);
    }

    /// The mode in which a node sends to another.
    pub fn mode(&self, from: u32, to: u32) -> &Mode {
        &self.rates[link_direction(from, to)].mode
    }

    fn node_of(&self, f: u32) -> u32 {
        self.edcaf(f).node
    }

    /// The EDCAF with which a node sends packets of this class.
    fn edcaf_for(&self, node: u32, class: TrafficClass) -> u32 {
        node * self.rules.per_node + self.rules.category_of(class)
    }

    fn edcafs_of(&self, node: u32) -> std::ops::Range<u32> {
        node * self.rules.per_node..(node + 1) * self.rules.per_node
    }

    fn edcaf(&self, f: u32) -> &Edcaf {
        &self.edcafs[f as usize]
    }

    /// The mode in which a node sends to another; `None` for a broadcast.
    fn rate(rates: &mut [PeerRate], from: u32, to: Option<u32>) -> Option<&mut PeerRate> {
        to.map(|to| &mut rates[link_direction(from, to)])
    }

    /// Whether a node can take a packet of this class into service.
    pub fn is_free_for(&self, node: u32, class: TrafficClass) -> bool {
        self.edcaf(self.edcaf_for(node, class)).is_idle()
    }

    /// Whether a node has no packet in service.
    pub fn is_free(&self, node: u32) -> bool {
        self.nodes[node as usize].contending == 0
    }

    /// Whether each class of traffic has its own EDCAF, so that packets of one class do not wait
    /// for those of another.
    pub fn has_categories(&self) -> bool {
        self.rules.per_node > 1
    }

    /// The most packets in one PSDU: further packets in a queue do not change it.
    pub fn packets_per_access(&self) -> u32 {
        self.rules.packets_per_access()
    }

    /// Counters of the exchanges of a node.
    pub fn counters(&self, node: u32) -> &Counters {
        &self.nodes[node as usize].counters.exchanges
    }

    /// Counters of the frames of a node.
    pub fn frame_counters(&self, node: u32) -> &FrameCounters {
        &self.nodes[node as usize].counters.frames
    }

    /// The contention window of a node; under EDCA that of best effort.
    pub fn window(&self, node: u32) -> u32 {
        self.window_for(node, TrafficClass::BestEffort)
    }

    /// The contention window of a node for packets of a class.
    pub fn window_for(&self, node: u32, class: TrafficClass) -> u32 {
        self.edcaf(self.edcaf_for(node, class)).window()
    }

    /// Stations with a packet in service, without the access point.
    pub fn contending_stations(&self) -> u32 {
        self.contending_stations
    }

    /// Whether any node has a packet in service, the access point included.
    pub fn is_contended(&self) -> bool {
        self.contending_stations > 0 || !self.is_free(ACCESS_POINT)
    }

    /// Packets whose service has not ended, each with its node.
    pub fn serving(&self) -> impl Iterator<Item = (u32, &Packet)> {
        let serving = (0..self.nodes.len() as u32).flat_map(move |node| {
            let edcafs = self.edcafs_of(node).map(|f| self.edcaf(f));
            edcafs.flat_map(move |edcaf| edcaf.originator.serving().map(move |(p, _)| (node, p)))
        });
        let waiting = self.waiting_originators().flat_map(Originator::serving);
        serving.chain(waiting.map(|(packet, _)| (ACCESS_POINT, packet)))
    }

    /// Packets in service that their receivers do not have, and packets in reorder buffers.
    pub fn packets_in_service(&self) -> impl Iterator<Item = &Packet> {
        let sending = self.edcafs.iter().flat_map(|edcaf| edcaf.originator.unreceived());
        let held = self.nodes.iter().flat_map(|node| &node.recipients);
        let waiting = self.waiting_originators().flat_map(Originator::unreceived);
        sending.chain(waiting).chain(held.flat_map(Recipient::held))
    }

    /// The exchange on the air.
    pub fn exchange(&self) -> Option<&Exchange> {
        self.exchange.as_ref()
    }

    /// The receiver of a node that transmits in the exchange or collision on the air; `None` if the
    /// node does not transmit or the frame is a broadcast.
    pub fn receiver_of(&self, node: u32) -> Option<u32> {
        let alone = self.exchange.as_ref()?.outcome != ExchangeOutcome::Collision;
        let colliders: &[(u32, Instant)] = if alone { &[] } else { &self.colliders };
        let sender = alone.then_some(self.sender);
        let mut sending = sender.into_iter().chain(colliders.iter().map(|&(f, _)| f));
        let own = sending.find(|&f| self.node_of(f) == node)?;
        self.edcaf(own).to()
    }

    /// The index of the access category whose exchange is on the air, 0 under DCF; `None` in a
    /// collision.
    pub fn category_on_air(&self) -> Option<u8> {
        let alone = self.exchange.as_ref()?.outcome != ExchangeOutcome::Collision;
        alone.then_some((self.sender % self.rules.per_node) as u8)
    }

    /// The MPDUs of the exchange on the air; none in a collision and for a BlockAckReq.
    #[inline]
    pub fn frames_on_air(&self) -> impl Iterator<Item = FrameOnAir<'_>> {
        let mpdus = self.exchange.as_ref().map_or(0, |exchange| exchange.mpdus);
        let originator = &self.edcaf(self.sender).originator;
        (0..mpdus).map(move |i| {
            let (sequence, mpdu) = originator.frame_on_air(usize::from(i));
            let wasted = mpdu.received || self.is_lost(i);
            FrameOnAir { sequence, bytes: mpdu.bytes, wasted, originator, mpdu }
        })
    }

    /// The frame of the MAC itself on the air, if no packet is.
    pub fn management_on_air(&self) -> Option<Management> {
        self.edcaf(self.sender).originator.management()
    }

    /// Whether noise destroys an MPDU of the exchange on the air.
    fn is_lost(&self, index: u16) -> bool {
        self.exchange.is_some_and(|exchange| match exchange.outcome {
            ExchangeOutcome::DataLost => true,
            _ => exchange.mpdus > 1 && self.lost.has(index),
        })
    }

    /// A node takes a packet into service, for whose class it must be free. `to` is the receiver
    /// over the air, or `None` for a broadcast.
    pub fn on_packet(
        &mut self,
        now: Instant,
        node: u32,
        packet: &Packet,
        to: Option<u32>,
        out: &mut Vec<Command>,
    ) {
        let f = self.edcaf_for(node, packet.class);
        if self.watch.is_some() {
            self.record_arrival(now, f);
        }
        if self.groups.is_some() {
            self.turn_to(f, to);
        }
        self.edcafs[f as usize].begin_service(now, packet, to, &self.rules);
        let contending = &mut self.nodes[node as usize].contending;
        *contending += 1;
        self.contending_stations += u32::from(*contending == 1 && node != ACCESS_POINT);
        // The holder of a TXOP transmits a SIFS after its last exchange.
        if self.goes_on(f) || self.groups.is_some() && self.has_asked(now, f, out) {
            return self.contention.wait_for_draw(f);
        }
        let follows = self.groups.is_some() && self.follows(now, f);
        if !follows && self.contention.wait(now, f) {
            self.back_off(f);
        }
        self.schedule_access(out);
    }

    fn back_off(&mut self, f: u32) {
        let slots = self.edcafs[f as usize].back_off(&self.rules);
        self.contention.back_off(f, slots);
    }

    /// Whether an EDCAF transmits a SIFS after its last exchange.
    fn goes_on(&self, f: u32) -> bool {
        self.txop.is_some_and(|txop| txop.goes_on(f))
    }

    fn schedule_access(&mut self, out: &mut Vec<Command>) {
        match self.contention.next_access() {
            Some(at) if self.access.deadline() == Some(at) => {}
            Some(at) => {
                if let Some(ticket) = self.access.set(at) {
                    out.push(Command::Access(ticket));
                }
            }
            None => self.access.cancel(),
        }
    }
}

/// An MPDU of the exchange on the air.
#[derive(Debug)]
pub struct FrameOnAir<'a> {
    /// Its sequence number.
    pub sequence: u16,
    /// Bytes with header and FCS, without delimiter and padding.
    pub bytes: Bytes,
    /// Its receiver has it already, or noise destroys it.
    pub wasted: bool,
    originator: &'a Originator,
    mpdu: crate::mac::Mpdu,
}

impl FrameOnAir<'_> {
    /// Its packets: several in an A-MSDU.
    #[inline]
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.originator.packets_of(&self.mpdu)
    }
}

impl UsedBytes {
    /// The bytes of these MPDUs.
    #[inline]
    pub fn of<'a>(frames: impl Iterator<Item = FrameOnAir<'a>>) -> Self {
        let mut used = Self::default();
        for frame in frames {
            if frame.wasted {
                used.wasted += frame.bytes;
            } else {
                frame.packets().for_each(|packet| used.add(packet));
            }
        }
        used
    }
}

#[cfg(test)]
mod timelines;
