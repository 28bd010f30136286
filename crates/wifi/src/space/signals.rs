//! What is on the air, and what arrives of it where.

use super::frame::Flight;
use super::hearing::{Hearer, Hearing};
use super::radio::{Power, Radio, Site};
use kernel::Instant;
use std::collections::VecDeque;

/// Frames on the air, propagation, and who hears whom.
#[derive(Debug)]
pub(super) struct Signals {
    pub(super) radio: Radio,
    pub(super) sites: Vec<Site>,
    pub(super) hearing: Hearing,
    /// What arrives of one node at another is always the same.
    is_steady: bool,
    /// By number; numbers are used again.
    transmissions: Vec<Transmission>,
    free: Vec<u32>,
    /// Those on the air, in the order in which they began.
    flying: Vec<Sent>,
    /// Those that have ended while one of these was on the air, in the order in which they ended.
    ended: VecDeque<Sent>,
}

#[derive(Debug)]
struct Transmission {
    flight: Flight,
    /// Where that is not always the same: what arrives at those that hear it; none, if they have
    /// gone out of hearing.
    powers: Vec<Option<Power>>,
    /// Which were on the air with it, and arrive at some who hear it.
    others: Vec<Sent>,
}

/// What all ask of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    id: u32,
    pub(super) from: u32,
    pub(super) begin: Instant,
    pub(super) end: Instant,
}

impl Signals {
    pub(super) fn new(radio: Radio, sites: Vec<Site>) -> Self {
        let hearing = Hearing::new(&sites, &radio);
        let is_steady = radio.fading.is_none() && !sites.iter().any(|site| site.course.moves());
        let (transmissions, free, flying, ended) = Default::default();
        Self { radio, sites, hearing, is_steady, transmissions, free, flying, ended }
    }

    /// Mean power of a frame that one node begins to send now, at another; none if it does not
    /// hear it.
    pub(super) fn mean_power(&self, from: u32, to: u32, now: Instant) -> Option<Power> {
        self.mean_at(from, self.hearing.find(from, to)?, now)
    }

    /// The same at one of those that may hear it.
    pub(super) fn mean_at(&self, from: u32, hearer: &Hearer, now: Instant) -> Option<Power> {
        if hearer.moves {
            self.radio.power(&self.sites, (from, hearer.node), now)
        } else {
            Some(hearer.power)
        }
    }

    /// A frame begins; its number.
    pub(super) fn begin(&mut self, flight: Flight) -> u32 {
        let (from, begin, end) = (flight.frame.from, flight.start, flight.end());
        let id = self.number(flight);
        let sent = Sent { id, from, begin, end };
        let Self { hearing, transmissions, .. } = self;
        for other in self.flying.iter().filter(|other| hearing.meet(from, other.from)) {
            transmissions[other.id as usize].others.push(sent);
            transmissions[id as usize].others.push(*other);
        }
        if !self.is_steady {
            let mut powers = std::mem::take(&mut self.transmissions[id as usize].powers);
            powers.extend(self.hearing.of(from).iter().map(|hearer| {
                let mean = self.mean_at(from, hearer, begin)?;
                Some(self.radio.fade(mean, &self.sites, (from, hearer.node), begin))
            }));
            self.transmissions[id as usize].powers = powers;
        }
        self.flying.push(sent);
        id
    }

    /// A number for a transmission that begins. Those that have ended keep theirs as long as they
    /// may be asked for.
    fn number(&mut self, flight: Flight) -> u32 {
        let oldest = self.flying.first().map_or(flight.start, |sent| sent.begin);
        while let Some(sent) = self.ended.pop_front_if(|sent| sent.end <= oldest) {
            self.free.push(sent.id);
        }
        if let Some(id) = self.free.pop() {
            let transmission = &mut self.transmissions[id as usize];
            transmission.flight = flight;
            transmission.powers.clear();
            transmission.others.clear();
            return id;
        }
        let (powers, others) = (Vec::new(), Vec::new());
        self.transmissions.push(Transmission { flight, powers, others });
        self.transmissions.len() as u32 - 1
    }

    /// Tells which frames end now.
    pub(super) fn end(&mut self, now: Instant, ending: &mut Vec<u32>) {
        for sent in self.flying.extract_if(.., |sent| sent.end <= now) {
            ending.push(sent.id);
            self.ended.push_back(sent);
        }
    }

    /// What arrives of a transmission at one of those that hear its sender.
    #[inline]
    fn power(&self, id: u32, hearer: &Hearer, place: usize) -> Option<Power> {
        if self.is_steady {
            Some(hearer.power)
        } else {
            self.transmissions[id as usize].powers[place]
        }
    }

    /// For all nodes at which a transmission arrives: what does of it.
    #[inline]
    pub(super) fn each(&self, id: u32, mut take: impl FnMut(u32, Power)) {
        for (place, hearer) in self.hearing.of(self.flight(id).frame.from).iter().enumerate() {
            if let Some(power) = self.power(id, hearer, place) {
                take(hearer.node, power);
            }
        }
    }

    /// What arrives of a transmission at a node, if the node hears it.
    #[inline]
    pub(super) fn power_at(&self, sent: &Sent, node: u32) -> Option<Power> {
        let place = self.hearing.place(sent.from, node)?;
        self.power(sent.id, &self.hearing.of(sent.from)[place], place)
    }

    pub(super) fn flight(&self, id: u32) -> &Flight {
        &self.transmissions[id as usize].flight
    }

    pub(super) fn flight_mut(&mut self, id: u32) -> &mut Flight {
        &mut self.transmissions[id as usize].flight
    }

    /// Frames on the air, in the order in which they began.
    pub(super) fn flying(&self) -> impl Iterator<Item = &Flight> {
        self.flying.iter().map(|sent| self.flight(sent.id))
    }

    /// What has been on the air with a transmission, and arrives at some who hear it.
    pub(super) fn others(&self, id: u32) -> &[Sent] {
        &self.transmissions[id as usize].others
    }
}
