//! Transmissions on the air, and their power at the nodes in range.

use super::frame::Transmission;
use super::hearing::{Audience, Hearer, Hearing};
use super::radio::{Power, Radio, Site};
use kernel::Instant;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames on the air, propagation, and who hears whom.
#[derive(Debug)]
pub(super) struct Signals {
    pub(super) radio: Radio,
    pub(super) sites: Vec<Site>,
    hearing: Hearing,
    /// Of what is on the air no more.
    nobody: Arc<Audience>,
    /// What arrives of one node at another is always the same.
    is_steady: bool,
    /// By number; numbers are used again.
    transmissions: Vec<TransmissionRecord>,
    free: Vec<u32>,
    /// Those on the air, in the order in which they began.
    ongoing: Vec<Sent>,
    /// Those that have ended while one of these was on the air, in the order in which they ended.
    ended: VecDeque<Sent>,
}

#[derive(Debug)]
struct TransmissionRecord {
    transmission: Transmission,
    audience: Arc<Audience>,
    /// Where that is not always the same: what arrives at those that hear it; none, if they have
    /// gone out of hearing.
    powers: Vec<Option<Power>>,
}

/// What all ask of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    id: u32,
    pub(super) begin: Instant,
    pub(super) end: Instant,
}

impl Signals {
    pub(super) fn new(radio: Radio, sites: Vec<Site>) -> Self {
        let hearing = Hearing::new(sites.len());
        let is_steady = radio.fading.is_none() && !sites.iter().any(|site| site.trajectory.moves());
        let nobody = Arc::default();
        let (transmissions, free, ongoing, ended) = Default::default();
        Self { radio, sites, hearing, nobody, is_steady, transmissions, free, ongoing, ended }
    }

    /// A node as one that hears another at any moment; none if it never does.
    pub(super) fn hearer(&self, from: u32, to: u32) -> Option<Hearer> {
        Hearer::find(&self.radio, &self.sites, (from, to))
    }

    /// Mean power of a frame that one node begins to send now, at another; none if it does not
    /// hear it.
    pub(super) fn mean_power(&self, from: u32, to: u32, now: Instant) -> Option<Power> {
        self.mean_at(from, &self.hearer(from, to)?, now)
    }

    /// The same at one of those that may hear it.
    pub(super) fn mean_at(&self, from: u32, hearer: &Hearer, now: Instant) -> Option<Power> {
        if hearer.moves {
            self.radio.power(&self.sites, (from, hearer.node), now)
        } else {
            Some(hearer.power)
        }
    }

    /// Whether all audiences certainly find room.
    pub(super) fn may_keep_all(&self) -> bool {
        self.hearing.may_keep_all()
    }

    /// What arrives of one node at another is always the same.
    pub(super) fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// A frame begins; its number. Nodes may be `transmitting` from its begin to its end.
    pub(super) fn begin(
        &mut self,
        transmission: Transmission,
        transmitting: impl Fn(u32) -> bool,
    ) -> u32 {
        self.forget(transmission.start);
        let audience =
            self.hearing.of(transmission.frame.from, &self.radio, &self.sites, transmitting);
        self.put(transmission, audience)
    }

    /// A frame begins that arrives only at these nodes, as far as they hear it; its number.
    pub(super) fn begin_among(
        &mut self,
        transmission: Transmission,
        listeners: impl Iterator<Item = u32>,
    ) -> u32 {
        self.forget(transmission.start);
        let audience =
            self.hearing.among(transmission.frame.from, &self.radio, &self.sites, listeners);
        self.put(transmission, audience)
    }

    fn put(&mut self, transmission: Transmission, audience: Arc<Audience>) -> u32 {
        let (from, begin, end) = (transmission.frame.from, transmission.start, transmission.end());
        let mut powers = Vec::new();
        if !self.is_steady {
            powers.extend(audience.hearers().iter().map(|hearer| {
                let mean = self.mean_at(from, hearer, begin)?;
                Some(self.radio.fade(mean, &self.sites, (from, hearer.node), begin))
            }));
        }
        let transmission = TransmissionRecord { transmission, audience, powers };
        let id = if let Some(id) = self.free.pop() {
            self.transmissions[id as usize] = transmission;
            id
        } else {
            self.transmissions.push(transmission);
            self.transmissions.len() as u32 - 1
        };
        self.ongoing.push(Sent { id, begin, end });
        id
    }

    /// Forgets transmissions for which nobody can ask any more: they ended before those began that
    /// are on the air now.
    fn forget(&mut self, now: Instant) {
        let oldest = self.ongoing.first().map_or(now, |sent| sent.begin);
        while let Some(sent) = self.ended.pop_front_if(|sent| sent.end <= oldest) {
            self.transmissions[sent.id as usize].audience = Arc::clone(&self.nobody);
            self.free.push(sent.id);
        }
    }

    /// Tells which frames end now.
    pub(super) fn end(&mut self, now: Instant, ending: &mut Vec<u32>) {
        for sent in self.ongoing.extract_if(.., |sent| sent.end <= now) {
            ending.push(sent.id);
            self.ended.push_back(sent);
        }
    }

    /// What arrives of a transmission at one of those that hear its sender.
    #[inline]
    fn power(&self, transmission: &TransmissionRecord, place: usize) -> Option<Power> {
        if self.is_steady {
            Some(transmission.audience.hearers()[place].power)
        } else {
            transmission.powers[place]
        }
    }

    /// For all nodes at which a transmission arrives: what does of it.
    #[inline]
    pub(super) fn each(&self, id: u32, mut take: impl FnMut(u32, Power)) {
        let TransmissionRecord { audience, powers, .. } = &self.transmissions[id as usize];
        if self.is_steady {
            audience.hearers().iter().for_each(|hearer| take(hearer.node, hearer.power));
            return;
        }
        for (hearer, power) in audience.hearers().iter().zip(powers) {
            if let Some(power) = *power {
                take(hearer.node, power);
            }
        }
    }

    /// What arrives of a transmission at a node, if the node hears it.
    #[inline]
    pub(super) fn power_at(&self, sent: &Sent, node: u32) -> Option<Power> {
        let transmission = &self.transmissions[sent.id as usize];
        match transmission.audience.place(node) {
            Some(place) => self.power(transmission, place),
            // Left out, perhaps because a crowd floods it.
            None if self.is_steady && !transmission.audience.is_whole() => {
                Some(self.hearer(transmission.transmission.frame.from, node)?.power)
            }
            None => None,
        }
    }

    /// All who may hear a transmission.
    pub(super) fn hearers(&self, id: u32) -> Cow<'_, [Hearer]> {
        let TransmissionRecord { transmission, audience, .. } = &self.transmissions[id as usize];
        if audience.is_whole() {
            audience.hearers().into()
        } else {
            let from = transmission.frame.from;
            let nodes = 0..self.sites.len() as u32;
            self.hearing.find(from, &self.radio, &self.sites, nodes).collect()
        }
    }

    /// A node as one that may hear a transmission, even if it transmits meanwhile; none if it never
    /// does.
    pub(super) fn hearer_of(&self, id: u32, node: u32) -> Option<Hearer> {
        let TransmissionRecord { transmission, audience, .. } = &self.transmissions[id as usize];
        match audience.find(node) {
            None if !audience.is_whole() => self.hearer(transmission.frame.from, node),
            found => found.copied(),
        }
    }

    pub(super) fn transmission(&self, id: u32) -> &Transmission {
        &self.transmissions[id as usize].transmission
    }

    pub(super) fn transmission_mut(&mut self, id: u32) -> &mut Transmission {
        &mut self.transmissions[id as usize].transmission
    }

    /// Frames on the air, in the order in which they began.
    pub(super) fn ongoing(&self) -> impl Iterator<Item = &Transmission> {
        self.ongoing.iter().map(|sent| self.transmission(sent.id))
    }

    /// What has been on the air with a transmission that has ended, and arrives at some who hear
    /// it.
    pub(super) fn others(&self, id: u32) -> impl Iterator<Item = Sent> {
        let TransmissionRecord { transmission, audience, .. } = &self.transmissions[id as usize];
        let (begin, end) = (transmission.start, transmission.end());
        let others = self.ended.iter().chain(&self.ongoing).copied();
        others.filter(move |other| {
            let meets = || audience.meets(&self.transmissions[other.id as usize].audience);
            other.id != id && other.begin < end && other.end > begin && meets()
        })
    }
}
