//! The delay of flows by hop, without a record of any packet.
//!
//! The mean time of packets in a place is the time integral of their number there, divided by the
//! number that left it (J. D. C. Little, "A proof for the queuing formula L = λW", 1961).
//!
//! The sums by flow and hop cost 2 to 24 % of the instructions, and `measure.hops` switches them
//! on.

use crate::notice::{Notice, Observer};
use crate::plan::{HopPlan, Plan};
use crate::topology::{Interface, RadioId, WireId};
use kernel::{Bytes, Duration, Id, IdVec, Instant};
use net::LinkSettings;
use wire::{Body, DropCause, Packet};

/// The parts of the mean delay of a hop in seconds; NaN if no packet crossed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) queueing: f64,
    pub(crate) contention: f64,
    pub(crate) transmission: f64,
    pub(crate) retries: f64,
    pub(crate) propagation: f64,
}

impl Parts {
    pub(crate) fn total(self) -> f64 {
        self.queueing + self.contention + self.transmission + self.retries + self.propagation
    }
}

/// The delays of all hops of all flows in the window.
#[derive(Debug)]
pub(crate) struct HopMeter {
    from: Instant,
    window: Duration,
    /// Whether the medium reports an exchange at its end, as in space, or at its beginning.
    at_end: bool,
    /// By flow, the first of its hops; one more for the end.
    first: Vec<u32>,
    /// The hops that begin at each radio.
    leaving: IdVec<RadioId, Vec<u32>>,
    /// The beginning and the duration of the last exchange of each radio.
    exchanges: IdVec<RadioId, (Instant, Duration)>,
    hops: Vec<HopRecord>,
}

#[derive(Debug)]
struct HopRecord {
    plan: HopPlan,
    /// Of a link.
    link: Option<LinkSettings>,
    /// In the queue; at a link until the far end.
    queue: Place,
    /// In service at a radio.
    service: Place,
    /// Time of transmissions that were lost, times packets; for an exchange that is on the air also
    /// that of packets that have not arrived yet.
    retries: i128,
    /// Time of transmissions that arrived, times packets.
    transmission: u128,
    /// Airtime of exchanges.
    airtime: u128,
    crossed: u64,
    lost: u64,
    /// Packets that have arrived since the last exchange was reported, and the sum of the instants.
    arrived: (u64, u128),
}

/// A number of packets, and its integral over the window in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    packets: u32,
    since: Instant,
    integral: u128,
}

impl Place {
    fn enter(&mut self, now: Instant, from: Instant) {
        self.add_time(now, from);
        self.packets += 1;
    }

    fn leave(&mut self, now: Instant, from: Instant) {
        self.add_time(now, from);
        self.packets = self.packets.saturating_sub(1);
    }

    fn add_time(&mut self, now: Instant, from: Instant) {
        let lasted = now.since(self.since.max(from));
        self.integral += u128::from(self.packets) * u128::from(lasted.0);
        self.since = now;
    }
}

impl HopMeter {
    pub(crate) fn new(plan: &Plan) -> Self {
        let hops = &plan.measure.hops;
        let flows = 0..=plan.flows.len() as u32;
        let begins = |flow: u32| hops.partition_point(|hop| hop.flow.0 < flow) as u32;
        let radios = plan.topology.radios().len();
        let mut leaving = IdVec::filled(radios, Vec::new());
        for (hop, index) in hops.iter().zip(0..) {
            if let Interface::Radio(radio) = hop.at {
                leaving[radio].push(index);
            }
        }
        let link = |wire: WireId| {
            let (link, direction) = plan.link(wire);
            link.directions[direction].clone()
        };
        let record = |&plan: &HopPlan| HopRecord {
            plan,
            link: match plan.at {
                Interface::Wire(wire) => Some(link(wire)),
                Interface::Radio(_) => None,
            },
            queue: Place::default(),
            service: Place::default(),
            retries: 0,
            transmission: 0,
            airtime: 0,
            crossed: 0,
            lost: 0,
            arrived: (0, 0),
        };
        Self {
            from: Instant::ZERO + plan.warmup,
            window: plan.duration - plan.warmup,
            at_end: plan.space.is_some(),
            first: flows.map(begins).collect(),
            leaving,
            exchanges: IdVec::filled(radios, (Instant::ZERO, Duration::ZERO)),
            hops: hops.iter().map(record).collect(),
        }
    }

    /// Packets that crossed a hop.
    pub(crate) fn crossed(&self, hop: usize) -> u64 {
        self.hops[hop].crossed
    }

    /// Packets that were lost at a hop.
    pub(crate) fn lost(&self, hop: usize) -> u64 {
        self.hops[hop].lost
    }

    /// The fraction of the window taken by exchanges of a hop.
    pub(crate) fn airtime(&self, hop: usize) -> f64 {
        self.hops[hop].airtime as f64 / self.window.0 as f64
    }

    /// The parts of the mean delay of a hop.
    pub(crate) fn parts(&self, hop: usize) -> Parts {
        let hop = &self.hops[hop];
        let mean = |nanoseconds: f64| match hop.crossed {
            0 => f64::NAN,
            crossed => nanoseconds.max(0.0) * 1e-9 / crossed as f64,
        };
        let (transmission, retries) = (hop.transmission as f64, hop.retries as f64);
        let (queue, service) = (hop.queue.integral as f64, hop.service.integral as f64);
        let propagation =
            hop.link.as_ref().map_or(0.0, |link| link.delay.0 as f64 * hop.crossed as f64);
        let queueing = match hop.link {
            None => queue,
            Some(_) => queue - transmission - propagation,
        };
        Parts {
            queueing: mean(queueing),
            contention: match hop.link {
                None => mean(service - transmission - retries),
                Some(_) => mean(0.0),
            },
            transmission: mean(transmission),
            retries: mean(retries),
            propagation: mean(propagation),
        }
    }

    /// The hop of a packet that leaves by an interface or arrives at a radio.
    fn hop(&mut self, packet: &Packet, is_it: impl Fn(&HopPlan) -> bool) -> Option<&mut HopRecord> {
        let is_data = match packet.body {
            Body::Segment(segment) if segment.forward && segment.len == 0 => return None,
            Body::Segment(segment) => segment.forward,
            Body::Datagram(_) => true,
            Body::Echo(echo) => !echo.is_reply,
            Body::Media(media) => media.is_forward(),
            Body::Routing(_) | Body::Arp(_) | Body::Management(_) => return None,
        };
        let flow = packet.flow()?.index();
        let own = self.first[flow] as usize..self.first[flow + 1] as usize;
        let mut own = self.hops[own].iter_mut();
        own.find(|hop| hop.plan.is_data == is_data && is_it(&hop.plan))
    }

    fn on_dropped(&mut self, now: Instant, at: Interface, packet: &Packet, cause: DropCause) {
        let from = self.from;
        let Some(hop) = self.hop(packet, |hop| hop.at == at) else { return };
        match cause {
            DropCause::Queue | DropCause::WireLoss | DropCause::PowerSave => {
                hop.queue.leave(now, from);
            }
            DropCause::RetryLimit | DropCause::Lifetime => hop.service.leave(now, from),
            _ => return,
        }
        hop.lost += u64::from(now >= from);
    }

    fn on_dequeued(&mut self, now: Instant, by: RadioId, packet: &Packet) {
        let from = self.from;
        if let Some(hop) = self.hop(packet, |hop| hop.at == Interface::Radio(by)) {
            hop.queue.leave(now, from);
            hop.service.enter(now, from);
        }
    }

    /// A packet arrives over a link.
    fn on_crossed(&mut self, now: Instant, wire: WireId, packet: &Packet) {
        let from = self.from;
        let Some(hop) = self.hop(packet, |hop| hop.at == Interface::Wire(wire)) else { return };
        hop.queue.leave(now, from);
        if now >= from {
            let link = hop.link.as_ref().expect("a hop over a wire has its link");
            let time = |bytes: Bytes| link.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
            hop.transmission += u128::from(time(packet.size + link.overhead).0);
            hop.crossed += 1;
        }
    }

    /// A packet arrives over the air, for the first time.
    fn on_received(&mut self, now: Instant, by: RadioId, packet: &Packet) {
        let (from, at_end) = (self.from, self.at_end);
        let Some(hop) = self.hop(packet, |hop| hop.receiver == Some(by)) else { return };
        hop.service.leave(now, from);
        if now < from {
            return;
        }
        hop.crossed += 1;
        if at_end {
            hop.arrived.0 += 1;
            hop.arrived.1 += u128::from(now.0);
            return;
        }
        let Interface::Radio(sender) = hop.plan.at else { return };
        // What the exchange has put to the retries of this packet was the transmission.
        let (start, used) = self.exchanges[sender];
        let Some(hop) = self.hop(packet, |hop| hop.receiver == Some(by)) else { return };
        hop.retries -= i128::from(used.0);
        hop.transmission += u128::from(now.since(start).0);
    }

    /// A radio exchanges frames: in a cell from now on, in space until now.
    fn on_exchange(&mut self, now: Instant, by: RadioId, with: Option<RadioId>, used: Duration) {
        self.exchanges[by] = (now, used);
        if now < self.from {
            return;
        }
        let leaving = &self.leaving[by];
        let carried = |hop: &HopRecord| u64::from(hop.service.packets) + hop.arrived.0;
        let to_it = leaving.iter().filter(|&&hop| self.hops[hop as usize].plan.receiver == with);
        let all: u64 = to_it.map(|&hop| carried(&self.hops[hop as usize])).sum();
        for &hop in leaving {
            let hop = &mut self.hops[hop as usize];
            let own = carried(hop);
            if hop.plan.receiver != with || own == 0 {
                continue;
            }
            hop.airtime += u128::from(used.0) * u128::from(own) / u128::from(all);
            hop.retries += i128::from(used.0) * i128::from(hop.service.packets);
            let (arrived, instants) = std::mem::take(&mut hop.arrived);
            let start = u128::from(now.0.saturating_sub(used.0));
            hop.transmission += instants.saturating_sub(u128::from(arrived) * start);
        }
    }

    fn close(&mut self, now: Instant) {
        for hop in &mut self.hops {
            hop.queue.add_time(now, self.from);
            hop.service.add_time(now, self.from);
        }
    }
}

impl Observer for HopMeter {
    fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        match *notice {
            Notice::Queued { at, packet } => {
                let from = self.from;
                if let Some(hop) = self.hop(packet, |hop| hop.at == at) {
                    hop.queue.enter(now, from);
                }
            }
            Notice::Dequeued { by, packet, .. } => self.on_dequeued(now, by, packet),
            Notice::Dropped { at, packet, cause } => self.on_dropped(now, at, packet, cause),
            Notice::Crossed { wire, packet } => self.on_crossed(now, wire, packet),
            Notice::Received { by, packet, .. } => self.on_received(now, by, packet),
            Notice::AirtimeUsed { by, with, used, .. } => self.on_exchange(now, by, with, used),
            Notice::End => self.close(now),
            _ => {}
        }
    }
}
