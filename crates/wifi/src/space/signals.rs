//! Transmissions on the air, and their power at the nodes in range.

use super::frame::Transmission;
use super::motion::Motion;
use super::radio::{Power, Radio, Site};
use super::range::{ReceiverInRange, ReceiverSet, ReceiverSetCache};
use super::slices::Slice;
use crate::phy::Milliwatts;
use kernel::{Db, Instant};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames on the air, propagation, and who hears whom.
#[derive(Debug)]
pub(super) struct Signals {
    pub(super) radio: Radio,
    pub(super) sites: Vec<Site>,
    receiver_sets: ReceiverSetCache,
    /// Of what is on the air no more.
    nobody: Arc<ReceiverSet>,
    /// What arrives of one node at another is always the same.
    is_steady: bool,
    /// Where nodes are that move.
    motion: Option<Motion>,
    /// What remains of the signals of full-duplex nodes at their own receivers, by node; empty if
    /// there are none.
    residuals: Vec<Option<Power>>,
    /// By number; numbers are used again.
    transmissions: Vec<TransmissionRecord>,
    free: Vec<u32>,
    /// Those on the air, in the order in which they began.
    ongoing: Vec<TransmissionSpan>,
    /// Those that have ended while one of these was on the air, in the order in which they ended.
    ended: VecDeque<TransmissionSpan>,
}

#[derive(Debug)]
struct TransmissionRecord {
    transmission: Transmission,
    receiver_set: Arc<ReceiverSet>,
    /// Where that is not always the same: what arrives at those that hear it; none, if they have
    /// gone out of range.
    powers: Vec<Option<Power>>,
}

/// What all ask of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransmissionSpan {
    id: u32,
    pub(super) begin: Instant,
    pub(super) end: Instant,
}

impl Signals {
    pub(super) fn new(radio: Radio, sites: Vec<Site>) -> Self {
        let receiver_sets = ReceiverSetCache::new(&radio, &sites);
        let is_steady = radio.fading.is_none() && !sites.iter().any(|site| site.trajectory.moves());
        let motion = if is_steady { None } else { Motion::new(&radio, &sites) };
        let nobody = Arc::default();
        let (transmissions, free, ongoing, ended) = Default::default();
        Self {
            radio,
            sites,
            receiver_sets,
            nobody,
            is_steady,
            motion,
            residuals: Vec::new(),
            transmissions,
            free,
            ongoing,
            ended,
        }
    }

    /// These nodes are full duplex, with a cancellation of so much.
    pub(super) fn set_full_duplex(&mut self, nodes: &[u32], cancellation: Option<Db>) {
        self.residuals = vec![None; self.sites.len()];
        for &node in nodes {
            let level = cancellation.map(|db| self.sites[node as usize].tx_power - db);
            let power = level.map_or(0.0, |level| Milliwatts::from(level).0);
            self.residuals[node as usize] = Some(Power::from(power));
        }
    }

    /// What remains of the signal of a node at its own receiver; `None` if it is half duplex.
    pub(super) fn residual(&self, node: u32) -> Option<Power> {
        self.residuals.get(node as usize).copied().flatten()
    }

    /// A node as one that hears another in the slice of an instant; none if it does not.
    pub(super) fn receiver(&self, from: u32, to: u32, now: Instant) -> Option<ReceiverInRange> {
        let slice = self.receiver_sets.slice(now);
        ReceiverInRange::find(&self.radio, &self.sites, (from, to), slice)
    }

    /// Whether one node hears another at any moment.
    pub(super) fn hears(&self, from: u32, to: u32) -> bool {
        ReceiverInRange::find(&self.radio, &self.sites, (from, to), Slice::RUN).is_some()
    }

    /// Mean power of a frame that one node begins to send now, at another; none if it does not
    /// hear it.
    pub(super) fn mean_power(&self, from: u32, to: u32, now: Instant) -> Option<Power> {
        self.mean_at(from, &self.receiver(from, to, now)?, now)
    }

    /// The same at one of those that may hear it.
    pub(super) fn mean_at(
        &self,
        from: u32,
        receiver: &ReceiverInRange,
        now: Instant,
    ) -> Option<Power> {
        if receiver.moves {
            self.radio.power(&self.sites, (from, receiver.node), now)
        } else {
            Some(receiver.power)
        }
    }

    /// The mean power of a transmission that begins, at a node; none if it does not arrive there.
    pub(super) fn mean_of(&self, id: u32, to: u32) -> Option<Power> {
        let TransmissionRecord { transmission, receiver_set, .. } =
            &self.transmissions[id as usize];
        if self.radio.fading.is_none() && receiver_set.is_complete() {
            return self.power_of(id, to);
        }
        let receiver = self.receiver_of(id, to)?;
        self.mean_at(transmission.frame.from, &receiver, transmission.start)
    }

    /// Whether all receiver sets certainly find room.
    pub(super) fn fits_all(&self) -> bool {
        self.receiver_sets.fits_all()
    }

    /// What arrives of one node at another is always the same.
    pub(super) fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// A frame begins; its number. Nodes may be `transmitting` from its begin to its end.
    pub(super) fn begin(
        &mut self,
        transmission: &Transmission,
        transmitting: impl Fn(u32) -> bool,
    ) -> u32 {
        self.forget(transmission.start);
        let start = (transmission.frame.from, transmission.start);
        let receiver_set = self.receiver_sets.of(start, &self.radio, &self.sites, transmitting);
        self.put(transmission, receiver_set)
    }

    /// A frame begins that arrives only at these nodes, as far as they hear it; its number.
    pub(super) fn begin_among(
        &mut self,
        transmission: &Transmission,
        listeners: impl Iterator<Item = u32>,
    ) -> u32 {
        self.forget(transmission.start);
        let start = (transmission.frame.from, transmission.start);
        let receiver_set = self.receiver_sets.among(start, &self.radio, &self.sites, listeners);
        self.put(transmission, receiver_set)
    }

    fn put(&mut self, transmission: &Transmission, receiver_set: Arc<ReceiverSet>) -> u32 {
        let (from, begin, end) = (transmission.frame.from, transmission.start, transmission.end());
        let id = self.free.pop().unwrap_or_else(|| {
            let (transmission, receiver_set) = (*transmission, Arc::clone(&self.nobody));
            let powers = Vec::new();
            self.transmissions.push(TransmissionRecord { transmission, receiver_set, powers });
            self.transmissions.len() as u32 - 1
        });
        let record = &mut self.transmissions[id as usize];
        record.transmission = *transmission;
        if !self.is_steady {
            let mut powers = std::mem::take(&mut record.powers);
            powers.clear();
            self.compute_powers((from, begin), receiver_set.receivers(), &mut powers);
            self.transmissions[id as usize].powers = powers;
        }
        self.transmissions[id as usize].receiver_set = receiver_set;
        self.ongoing.push(TransmissionSpan { id, begin, end });
        id
    }

    /// Appends the power of a frame that begins at each of these nodes.
    fn compute_powers(
        &mut self,
        (from, now): (u32, Instant),
        receivers: &[ReceiverInRange],
        into: &mut Vec<Option<Power>>,
    ) {
        let begin = into.len();
        if let Some(motion) = &mut self.motion {
            motion.powers((from, now), &self.radio, &self.sites, receivers, into);
        } else {
            into.extend(receivers.iter().map(|receiver| self.mean_at(from, receiver, now)));
        }
        if self.radio.fading.is_none() {
            return;
        }
        for (receiver, power) in receivers.iter().zip(&mut into[begin..]) {
            if let Some(mean) = *power {
                let ends = (from, receiver.node);
                *power = Some(self.radio.fade(mean, &self.sites, ends, now));
            }
        }
    }

    /// Forgets transmissions for which nobody can ask any more: they ended before those began that
    /// are on the air now.
    fn forget(&mut self, now: Instant) {
        let oldest = self.ongoing.first().map_or(now, |sent| sent.begin);
        while let Some(sent) = self.ended.pop_front_if(|sent| sent.end <= oldest) {
            self.transmissions[sent.id as usize].receiver_set = Arc::clone(&self.nobody);
            self.free.push(sent.id);
        }
    }

    /// Tells which frames end now.
    pub(super) fn end(&mut self, now: Instant, ending: &mut Vec<u32>) {
        let Self { ongoing, ended, .. } = self;
        ongoing.retain(|&sent| {
            let goes_on = sent.end > now;
            if !goes_on {
                ending.push(sent.id);
                ended.push_back(sent);
            }
            goes_on
        });
    }

    /// What arrives of a transmission at one of those that hear its sender.
    #[inline]
    fn power(&self, transmission: &TransmissionRecord, place: usize) -> Option<Power> {
        if self.is_steady {
            Some(transmission.receiver_set.receivers()[place].power)
        } else {
            transmission.powers[place]
        }
    }

    /// For all nodes at which a transmission arrives: what does of it.
    #[inline]
    pub(super) fn each(&self, id: u32, mut take: impl FnMut(u32, Power)) {
        let TransmissionRecord { receiver_set, powers, .. } = &self.transmissions[id as usize];
        // One call, so that the function is compiled into the loop.
        for (place, receiver) in receiver_set.receivers().iter().enumerate() {
            let power = if self.is_steady { Some(receiver.power) } else { powers[place] };
            if let Some(power) = power {
                take(receiver.node, power);
            }
        }
    }

    /// What arrives of a transmission at a node, if the node hears it.
    #[inline]
    pub(super) fn power_at(&self, sent: &TransmissionSpan, node: u32) -> Option<Power> {
        self.power_of(sent.id, node)
    }

    /// What arrives of the transmission with this number at a node, if the node hears it.
    #[inline]
    pub(super) fn power_of(&self, id: u32, node: u32) -> Option<Power> {
        let transmission = &self.transmissions[id as usize];
        match transmission.receiver_set.place(node) {
            Some(place) => self.power(transmission, place),
            None if transmission.transmission.frame.from == node => self.residual(node),
            // Left out, perhaps because a crowd floods it.
            None if self.is_steady && !transmission.receiver_set.is_complete() => {
                let Transmission { frame, start, .. } = transmission.transmission;
                Some(self.receiver(frame.from, node, start)?.power)
            }
            None => None,
        }
    }

    /// The transmitter of what arrives the strongest at a node while a transmission is on the air
    /// that has ended.
    pub(super) fn strongest_other(&self, id: u32, node: u32) -> Option<u32> {
        let power = |other: &TransmissionSpan| {
            let from = self.transmission(other.id).frame.from;
            Some((self.power_at(other, node).filter(|_| from != node)?.milliwatts, from))
        };
        let others = self.others(id).filter_map(|other| power(&other));
        others.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, from)| from)
    }

    /// All who may hear a transmission.
    pub(super) fn receivers(&self, id: u32) -> Cow<'_, [ReceiverInRange]> {
        let TransmissionRecord { transmission, receiver_set, .. } =
            &self.transmissions[id as usize];
        if receiver_set.is_complete() {
            receiver_set.receivers().into()
        } else {
            let from = (transmission.frame.from, self.receiver_sets.slice(transmission.start));
            let nodes = 0..self.sites.len() as u32;
            self.receiver_sets.find(from, &self.radio, &self.sites, nodes).collect()
        }
    }

    /// A node as one that may hear a transmission, even if it transmits meanwhile; none if it never
    /// does.
    pub(super) fn receiver_of(&self, id: u32, node: u32) -> Option<ReceiverInRange> {
        let TransmissionRecord { transmission, receiver_set, .. } =
            &self.transmissions[id as usize];
        match receiver_set.find(node) {
            None if !receiver_set.is_complete() => {
                self.receiver(transmission.frame.from, node, transmission.start)
            }
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
    pub(super) fn others(&self, id: u32) -> impl Iterator<Item = TransmissionSpan> {
        let TransmissionRecord { transmission, receiver_set, .. } =
            &self.transmissions[id as usize];
        let (begin, end) = (transmission.start, transmission.end());
        let others = self.ended.iter().chain(&self.ongoing).copied();
        others.filter(move |other| {
            let overlaps = || {
                let TransmissionRecord { transmission, receiver_set: set, .. } =
                    &self.transmissions[other.id as usize];
                // Its transmitter may receive beside its own signal.
                receiver_set.overlaps(set) || self.residual(transmission.frame.from).is_some()
            };
            other.id != id && other.begin < end && other.end > begin && overlaps()
        })
    }
}
