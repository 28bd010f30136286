//! The medium of one cell in which every node hears every other.
//!
//! Within such a cell an exchange, once one node alone has won the medium, cannot be disturbed by
//! another node: the gaps inside it are a SIFS, and access needs a DIFS. Its frames are therefore
//! laid out when it begins, and the cell asks for two events only: the end of the data frame,
//! where the receiver has it, and the end of the exchange. A collision needs one.
//!
//! In two things the cell is simpler than clause 10.3. A NAV that would outlast the next exchange
//! is forgotten with it; it can do so only where noise takes a frame at a DSSS rate and a short
//! OFDM frame follows, or where stations wait no EIFS. And a frame that is given up leaves its node
//! when its last frame ends, not a timeout later; the node sends nothing earlier for that.

mod ending;

use crate::mac::{
    Backoff, BackoffDraw, Contention, Countdown, Exchange, Fate, Frame, Persistence, Request,
    Station, Step, Timing,
};
use crate::phy::Mode;
use kernel::{Bytes, Duration, Fired, Instant, Rng, Seed, Ticket, Timer};
use wire::Packet;

/// The node number of the access point; station *i* is node *i* + 1.
pub const ACCESS_POINT: u32 = 0;

/// What all nodes of a cell share.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// Interframe spaces, rates and timeouts.
    pub timing: Timing,
    /// Attempts in all of a frame without RTS, and of an RTS (`dot11ShortRetryLimit`).
    pub short_retry_limit: u32,
    /// Attempts in all of a data frame after a CTS (`dot11LongRetryLimit`).
    pub long_retry_limit: u32,
    /// First contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Whether a slot in which another station begins to send counts as counted down.
    pub countdown: Countdown,
    /// What a back-off is drawn from.
    pub backoff_draw: BackoffDraw,
    /// PSDUs longer than this are preceded by RTS and CTS (`dot11RTSThreshold`).
    pub rts_threshold: Bytes,
    /// Bytes that MAC and LLC add to a packet, FCS included.
    pub overhead: Bytes,
}

/// The radio link between a station and the access point.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Mode of data frames, both directions.
    pub mode: Mode,
    /// Probability that noise spoils a data frame, either direction.
    pub data_loss: f64,
    /// Probability that noise spoils an ACK, either direction.
    pub ack_loss: f64,
}

/// How a frame's service ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was acknowledged, or needed no acknowledgement.
    Sent,
    /// A retry limit was reached.
    RetryLimit,
}

/// What the cell asks of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Call [`Cell::on_access`] with this ticket.
    Access(Ticket),
    /// Call [`Cell::on_step`] at this moment.
    Step(Instant),
    /// An exchange or a collision has begun: [`Cell::exchange`] tells its frames.
    Began,
    /// The medium is idle again.
    Ended,
    /// A packet arrived at this node, for the first time.
    Deliver {
        /// Node that has it now.
        node: u32,
        /// The packet.
        packet: Packet,
    },
    /// This node is free to take the next packet.
    Done {
        /// The node.
        node: u32,
        /// The packet whose service ended.
        packet: Packet,
        /// How it ended, as the sender knows it.
        outcome: Outcome,
        /// Whether the receiver has the packet.
        received: bool,
    },
}

/// What a node did, as counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Times it began an exchange.
    pub attempts: u64,
    /// Attempts that met another node's.
    pub collisions: u64,
    /// Attempts that failed by noise.
    pub noise_losses: u64,
    /// Frames whose exchange succeeded.
    pub sent: u64,
    /// Frames given up at a retry limit.
    pub retry_drops: u64,
    /// Frames received again and filtered out.
    pub duplicates: u64,
}

#[derive(Debug)]
struct Node {
    dcf: Station,
    noise: Rng,
    counters: Counters,
    /// Last sequence number accepted per transmitter: from the access point at a station, and
    /// `heard_from[i]` from station *i* at the access point (clause 10.3.2.14).
    heard_from: Vec<Option<u16>>,
}

/// Index of the link between two nodes, one of which is the access point.
fn link_between(a: u32, b: u32) -> usize {
    (a.max(b).max(1) - 1) as usize
}

/// All nodes of a cell and the medium between them.
#[derive(Debug)]
pub struct Cell {
    config: CellConfig,
    persistence: Persistence,
    links: Vec<Link>,
    broadcast_mode: Mode,
    nodes: Vec<Node>,
    contention: Contention,
    access: Timer,
    exchange: Option<Exchange>,
    /// The data frame of the exchange on the air has not ended yet.
    data_pending: bool,
    /// Nodes that send at once, and when their own first frame ends.
    colliders: Vec<(u32, Instant)>,
    /// Nodes that could not decode the broadcast on the air.
    missed: Vec<u32>,
    winners: Vec<u32>,
    beaten: Vec<u32>,
    contending_stations: u32,
}

impl Cell {
    /// An idle cell of one access point and a station per link.
    pub fn new(config: CellConfig, links: Vec<Link>, seed: &Seed) -> Self {
        let backoffs = |node| Backoff::Random(seed.stream("mac.backoff", node));
        Self::with_backoffs(config, links, seed, backoffs)
    }

    fn with_backoffs(
        config: CellConfig,
        links: Vec<Link>,
        seed: &Seed,
        backoff: impl Fn(u32) -> Backoff,
    ) -> Self {
        let persistence = Persistence {
            short_limit: config.short_retry_limit,
            long_limit: config.long_retry_limit,
            cw_min: config.cw_min,
            cw_max: config.cw_max,
            draw: config.backoff_draw,
        };
        let count = links.len() as u32 + 1;
        let node = |n| Node {
            dcf: Station::new(&persistence, backoff(n)),
            noise: seed.stream("radio.noise", n),
            counters: Counters::default(),
            heard_from: vec![None; if n == ACCESS_POINT { count as usize } else { 1 }],
        };
        let nodes = (0..count).map(node).collect();
        let timing = &config.timing;
        let counts_busy = config.countdown == Countdown::Bianchi;
        let contention = Contention::new(count as usize, timing.slot, timing.difs(), counts_busy);
        // Of the family that all links have in common.
        let modes = || links.iter().map(|link| link.mode);
        let common = modes().find(|mode| mode.class.is_dsss()).or_else(|| modes().next());
        let common = common.unwrap_or(timing.standard.fastest());
        let broadcast_mode = timing.standard.broadcast_mode(&common, &timing.basic_rates);
        Self {
            persistence,
            broadcast_mode,
            links,
            nodes,
            contention,
            access: Timer::default(),
            exchange: None,
            data_pending: false,
            colliders: Vec::with_capacity(8),
            missed: Vec::new(),
            winners: Vec::with_capacity(8),
            beaten: Vec::with_capacity(8),
            contending_stations: 0,
            config,
        }
    }

    /// Whether this node has no frame in service.
    pub fn is_free(&self, node: u32) -> bool {
        self.nodes[node as usize].dcf.frame.is_none()
    }

    /// What a node did so far.
    pub fn counters(&self, node: u32) -> &Counters {
        &self.nodes[node as usize].counters
    }

    /// A node's contention window.
    pub fn window(&self, node: u32) -> u32 {
        self.nodes[node as usize].dcf.window()
    }

    /// Stations with a frame in service, the access point not counted.
    pub fn contending_stations(&self) -> u32 {
        self.contending_stations
    }

    /// Whether any node, the access point included, has a frame in service.
    pub fn is_contended(&self) -> bool {
        self.contending_stations > 0 || !self.is_free(ACCESS_POINT)
    }

    /// Packets in service that their receivers do not have yet.
    pub fn packets_in_service(&self) -> impl Iterator<Item = &Packet> {
        let frames = self.nodes.iter().filter_map(|node| node.dcf.frame.as_ref());
        frames.filter(|frame| !frame.received).map(|frame| &frame.packet)
    }

    /// The exchange on the air.
    pub fn exchange(&self) -> Option<&Exchange> {
        self.exchange.as_ref()
    }

    /// The packet whose exchange is on the air; none in a collision.
    pub fn packet_on_air(&self) -> Option<&Packet> {
        let exchange = self.exchange.as_ref().filter(|x| x.fate != Fate::Collision)?;
        self.nodes[exchange.sender as usize].dcf.frame.as_ref().map(|frame| &frame.packet)
    }

    /// A free node takes a packet into service; `to` is the node that shall receive it over the
    /// air, or `None` for all.
    pub fn on_packet(
        &mut self,
        now: Instant,
        node: u32,
        packet: Packet,
        to: Option<u32>,
        out: &mut Vec<Command>,
    ) {
        let mode = match to {
            Some(to) => self.links[link_between(node, to)].mode,
            None => self.broadcast_mode,
        };
        let psdu = packet.size + self.config.overhead;
        let with_rts = to.is_some() && psdu > self.config.rts_threshold;
        let station = &mut self.nodes[node as usize].dcf;
        station.load(packet, to, mode, psdu, with_rts);
        self.contending_stations += u32::from(node != ACCESS_POINT);
        if self.contention.wait(now, node) {
            let slots = station.draw(&self.persistence);
            self.contention.back_off(node, slots);
        }
        self.schedule_access(out);
    }

    fn back_off(&mut self, node: u32) {
        let slots = self.nodes[node as usize].dcf.draw(&self.persistence);
        self.contention.back_off(node, slots);
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

    /// The earliest back-off ends.
    pub fn on_access(&mut self, now: Instant, generation: u32, out: &mut Vec<Command>) {
        match self.access.fire(generation) {
            Fired::Stale => return,
            Fired::Later(ticket) => return out.push(Command::Access(ticket)),
            Fired::Due => {}
        }
        self.winners.clear();
        self.beaten.clear();
        self.contention.begin_busy(now, &mut self.winners, &mut self.beaten);
        for i in 0..self.beaten.len() {
            self.back_off(self.beaten[i]);
        }
        debug_assert!(!self.winners.is_empty(), "an access event without a station to send");
        for &winner in &self.winners {
            let node = &mut self.nodes[winner as usize];
            node.counters.attempts += 1;
        }
        if let [winner] = self.winners[..] {
            self.begin_exchange(now, winner, out);
        } else {
            self.begin_collision(now, out);
        }
    }

    fn request(&self, sender: u32) -> Request {
        let frame = self.frame(sender);
        Request {
            sender,
            mode: frame.mode,
            psdu: frame.psdu,
            with_rts: frame.with_rts,
            broadcast: frame.to.is_none(),
            repeated: frame.received,
        }
    }

    fn frame(&self, node: u32) -> &Frame {
        self.nodes[node as usize].dcf.frame.as_ref().expect("a node that sends has a frame")
    }

    fn begin_exchange(&mut self, now: Instant, sender: u32, out: &mut Vec<Command>) {
        let request = self.request(sender);
        let receiver = self.frame(sender).to;
        let fate = match receiver {
            None => Fate::Success,
            Some(receiver) => {
                let link = self.links[link_between(sender, receiver)];
                // Each end draws the losses of what it receives.
                if self.nodes[receiver as usize].noise.chance(link.data_loss) {
                    Fate::DataLost
                } else if self.nodes[sender as usize].noise.chance(link.ack_loss) {
                    Fate::AckLost
                } else {
                    Fate::Success
                }
            }
        };
        let exchange = Exchange::of(&self.config.timing, &request, now, fate);
        let data_end = exchange.data().map_or(exchange.end, Step::end);
        self.exchange = Some(exchange);
        self.data_pending = true;
        out.push(Command::Began);
        out.push(Command::Step(data_end));
    }

    fn begin_collision(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.colliders.clear();
        let mut longest = Duration::ZERO;
        for &winner in &self.winners {
            let (_, airtime) = Exchange::first_frame(&self.config.timing, &self.request(winner));
            longest = longest.max(airtime.total());
            self.colliders.push((winner, now + airtime.total()));
            self.nodes[winner as usize].counters.collisions += 1;
        }
        let exchange = Exchange::collision(now, longest, self.winners[0]);
        self.exchange = Some(exchange);
        self.data_pending = false;
        out.push(Command::Began);
        out.push(Command::Step(exchange.end));
    }
}

#[cfg(test)]
mod timelines;
