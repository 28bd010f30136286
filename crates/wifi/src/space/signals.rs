//! Transmissions on the air, and their power at the nodes in range.

mod means;
mod narrow;

use super::frame::{OnAir, Part, Transmission};
use super::motion::Motion;
use super::overlap::Arrived;
use super::power::Power;
use super::radio::{Radio, Site};
use super::range::{ReceiverInRange, ReceiverSet, ReceiverSetCache};
use super::slices::Slice;
use crate::phy::propagation::delay;
use crate::phy::{Milliwatts, Mode, Width};
use kernel::{Db, Duration, Instant};
use std::borrow::Cow;

/// Frames on the air, propagation, and who hears whom.
#[derive(Debug)]
pub(super) struct Signals {
    pub(super) radio: Radio,
    pub(super) sites: Vec<Site>,
    receiver_sets: ReceiverSetCache,
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
    ended: Vec<TransmissionSpan>,
}

#[derive(Debug)]
struct TransmissionRecord {
    transmission: Transmission,
    /// The number of the set; `None` when nobody asks for it any more.
    receiver_set: Option<u32>,
    /// Where powers are not always the same: those of the set that are in range now, with what
    /// arrives there.
    arrivals: Vec<ReceiverInRange>,
    /// Where powers are always the same: it arrives only at `arrivals`, without bystanders.
    is_narrow: bool,
    /// Where channels overlap: what it is at each of them.
    arrived: Vec<Arrived>,
}

/// What all ask of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransmissionSpan {
    pub(super) id: u32,
    pub(super) begin: Instant,
    pub(super) end: Instant,
}

impl Signals {
    pub(super) fn new(radio: Radio, sites: Vec<Site>) -> Self {
        let receiver_sets = ReceiverSetCache::new(&radio, &sites);
        let is_fixed = radio.fading.is_none() && !sites.iter().any(|site| site.trajectory.moves());
        let is_steady =
            is_fixed && radio.overlaps.is_none() && !radio.has_delays && !radio.varies_power;
        let motion = if is_steady { None } else { Motion::new(&radio, &sites) };
        let (transmissions, free, ongoing, ended) = Default::default();
        Self {
            radio,
            sites,
            receiver_sets,
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

    /// From now on a node sends and receives in this channel. Frames that are on the air still
    /// arrive where they arrived before.
    pub(super) fn tune(&mut self, node: u32, channel: u16) {
        let site = &mut self.sites[node as usize];
        if site.channel != channel {
            site.channel = channel;
            self.receiver_sets.forget();
        }
    }

    /// A node as one that hears another in the slice of an instant; none if it does not.
    pub(super) fn receiver(&self, from: u32, to: u32, now: Instant) -> Option<ReceiverInRange> {
        let slice = self.receiver_sets.slice(now);
        ReceiverInRange::find(&self.radio, &self.sites, from, to, slice)
    }

    /// Whether one node hears another at any moment.
    pub(super) fn hears(&self, from: u32, to: u32) -> bool {
        ReceiverInRange::find(&self.radio, &self.sites, from, to, Slice::RUN).is_some()
    }

    /// Whether all receiver sets certainly find room.
    pub(super) fn fits_all(&self) -> bool {
        self.receiver_sets.fits_all()
    }

    /// What arrives of one node at another is always the same.
    pub(super) fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// Takes down a frame that begins now. Returns its number.
    #[inline]
    pub(super) fn enter(&mut self, transmission: Transmission) -> u32 {
        let Some(id) = self.free.pop() else {
            let (receiver_set, arrivals, arrived) = Default::default();
            let record = TransmissionRecord {
                transmission,
                receiver_set,
                arrivals,
                is_narrow: false,
                arrived,
            };
            self.transmissions.push(record);
            return self.transmissions.len() as u32 - 1;
        };
        let record = &mut self.transmissions[id as usize];
        (record.transmission, record.is_narrow) = (transmission, false);
        id
    }

    /// A frame begins. Nodes may be `transmitting` from its begin to its end.
    pub(super) fn begin(&mut self, id: u32, transmitting: impl Fn(u32) -> bool) {
        let (from, now) = self.transmission(id).begin();
        let receiver_set = self.receiver_sets.of(from, now, &self.radio, &self.sites, transmitting);
        self.put(id, receiver_set);
    }

    /// Whether nothing is on the air.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.ongoing.is_empty()
    }

    /// A frame begins that arrives only at these nodes, as far as they hear it.
    pub(super) fn begin_among(&mut self, id: u32, listeners: impl Iterator<Item = u32>) {
        let (from, now) = self.transmission(id).begin();
        let receiver_set = self.receiver_sets.among(from, now, &self.radio, &self.sites, listeners);
        self.put(id, receiver_set);
    }

    /// A frame begins that arrives by waves. They go into an empty list, each with the instant at
    /// which it arrives. Returns when the last of them ends.
    pub(super) fn spread(&mut self, id: u32, waves: &mut Vec<(Instant, u32)>) -> Instant {
        self.transmission_mut(id).part = Part::Source;
        let source = *self.transmission(id);
        let (from, start) = source.begin();
        let receiver_set = self.receiver_sets.of(from, start, &self.radio, &self.sites, |_| false);
        let mut arrivals = std::mem::take(&mut self.transmissions[id as usize].arrivals);
        arrivals.clear();
        self.compute_powers(from, start, source.cut, receiver_set, &mut arrivals);
        let place = |node: u32| self.sites[node as usize].trajectory.at(start);
        let here = place(from);
        let delay = |receiver: &ReceiverInRange| delay(here.distance(place(receiver.node)));
        let mut delayed: Vec<_> = arrivals.iter().map(|it| (delay(it), *it)).collect();
        delayed.sort_unstable_by_key(|(delay, receiver)| (*delay, receiver.node));
        let last = delayed.last().map_or(Duration::ZERO, |(delay, _)| *delay);
        for of_wave in delayed.chunk_by(|(a, _), (b, _)| a == b) {
            let wave = source.wave(id, of_wave[0].0);
            let number = self.enter(wave);
            let set = self.receiver_sets.of(from, start, &self.radio, &self.sites, |_| false);
            let record = &mut self.transmissions[number as usize];
            record.receiver_set = Some(set);
            record.arrivals.clear();
            record.arrivals.extend(of_wave.iter().map(|(_, receiver)| *receiver));
            self.divide(number);
            waves.push((wave.start, number));
        }
        let end = source.end() + last;
        let record = &mut self.transmissions[id as usize];
        (record.receiver_set, record.arrivals) = (Some(receiver_set), arrivals);
        self.divide(id);
        self.ongoing.push(TransmissionSpan { id, begin: start, end });
        end
    }

    /// A wave arrives at its nodes.
    pub(super) fn begin_wave(&mut self, id: u32) {
        let wave = self.transmission(id);
        let (begin, end) = (wave.start, wave.end());
        self.ongoing.push(TransmissionSpan { id, begin, end });
    }

    /// The transmission of which this one is a wave, or itself.
    #[inline]
    pub(super) fn source(&self, id: u32) -> u32 {
        match self.transmission(id).part {
            Part::Wave(source) => source,
            Part::Whole | Part::Source => id,
        }
    }

    fn put(&mut self, id: u32, receiver_set: u32) {
        let record = &mut self.transmissions[id as usize];
        record.receiver_set = Some(receiver_set);
        let (begin, end) = (record.transmission.start, record.transmission.end());
        self.ongoing.push(TransmissionSpan { id, begin, end });
        if !self.is_steady {
            let (from, cut) = (record.transmission.frame.from, record.transmission.cut);
            let mut arrivals = std::mem::take(&mut record.arrivals);
            arrivals.clear();
            self.compute_powers(from, begin, cut, receiver_set, &mut arrivals);
            self.transmissions[id as usize].arrivals = arrivals;
            self.divide(id);
        }
    }

    /// Where channels overlap, leaves of the power of a frame at each node what is in the node's
    /// primary channel.
    fn divide(&mut self, id: u32) {
        let Some(overlaps) = &self.radio.overlaps else { return };
        let TransmissionRecord { transmission, arrivals, arrived, .. } =
            &mut self.transmissions[id as usize];
        let OnAir { from, ref mode, .. } = transmission.frame;
        let own = self.sites[from as usize].channel;
        arrived.clear();
        for ReceiverInRange { node, power, .. } in arrivals {
            let there = self.sites[*node as usize].channel;
            let signal = Arrived::new(power.milliwatts, [own, there], mode, *node, overlaps);
            *power = signal.within(Width::Mhz20);
            arrived.push(signal);
        }
    }

    /// Where channels overlap: what a transmission is at each node in range.
    pub(super) fn arrived_of(&self, id: u32) -> impl Iterator<Item = (u32, Arrived)> {
        let TransmissionRecord { arrivals, arrived, .. } = &self.transmissions[id as usize];
        arrivals.iter().map(|arrival| arrival.node).zip(arrived.iter().copied())
    }

    /// Where channels overlap: the ends of the transmissions on the air, and what they are at a
    /// node.
    pub(super) fn arrived_now(&self, node: u32) -> impl Iterator<Item = (Instant, Arrived)> {
        self.ongoing
            .iter()
            .filter(|sent| self.transmission(sent.id).part != Part::Source)
            .filter_map(move |sent| Some((sent.end, *self.arrived_at(sent.id, node)?)))
    }

    fn arrived_at(&self, id: u32, node: u32) -> Option<&Arrived> {
        let TransmissionRecord { arrivals, arrived, .. } = &self.transmissions[id as usize];
        arrived.get(arrivals.binary_search_by_key(&node, |arrival| arrival.node).ok()?)
    }

    /// Whether a transmission is in the channel in which a node receives frames of its width.
    pub(super) fn is_in_channel(&self, id: u32, node: u32) -> bool {
        let is_one = || self.arrived_at(id, node).is_some_and(Arrived::is_in_channel);
        self.radio.overlaps.is_none() || is_one()
    }

    /// What arrives of a transmission in what frames in this mode occupy of a node's channel.
    pub(super) fn power_within(
        &self,
        sent: &TransmissionSpan,
        node: u32,
        mode: &Mode,
    ) -> Option<Power> {
        let arrived = || self.arrived_at(sent.id, node);
        match self.radio.overlaps.as_ref().and_then(|all| Some((all, arrived()?))) {
            Some((overlaps, signal)) => Some(signal.in_occupied(mode, overlaps)),
            None => self.power_at(sent, node),
        }
    }

    /// Fills an empty list with those nodes of a set at which a frame arrives that a node begins
    /// now, with so much less than its transmit power, and with its power there.
    fn compute_powers(
        &mut self,
        from: u32,
        now: Instant,
        cut: Db,
        receiver_set: u32,
        into: &mut Vec<ReceiverInRange>,
    ) {
        let receivers = self.receiver_sets.get(receiver_set).receivers();
        if let Some(motion) = &mut self.motion {
            motion.powers(from, now, &self.radio, &self.sites, receivers, into);
        } else {
            into.extend(receivers.iter().filter_map(|receiver| {
                let power = self.mean_at(from, receiver, now)?;
                Some(ReceiverInRange { power, ..*receiver })
            }));
        }
        if self.radio.fading.is_some() {
            for ReceiverInRange { node, power, .. } in &mut *into {
                *power = self.radio.fade(*power, &self.sites, from, *node, now);
            }
        }
        if cut > Db(0.0) {
            for ReceiverInRange { power, .. } in into {
                *power = power.less(cut);
            }
        }
    }

    /// Forgets transmissions for which nobody can ask any more: they ended before those began that
    /// are on the air now.
    pub(super) fn forget(&mut self, now: Instant) {
        let oldest = self.ongoing.first().map_or(now, |sent| sent.begin);
        let Self { ended, transmissions, receiver_sets, free, .. } = self;
        let is_over = |sent: &&TransmissionSpan| sent.end <= oldest;
        let over = ended.iter().take_while(is_over).count();
        for sent in &ended[..over] {
            if let Some(number) = transmissions[sent.id as usize].receiver_set.take() {
                receiver_sets.release(number);
            }
            free.push(sent.id);
        }
        if over == ended.len() {
            ended.clear();
        } else {
            ended.drain(..over);
        }
    }

    /// Tells which frames end now.
    pub(super) fn end(&mut self, now: Instant, ending: &mut Vec<u32>) {
        let Self { ongoing, ended, .. } = self;
        ongoing.retain(|&sent| {
            let goes_on = sent.end > now;
            if !goes_on {
                ending.push(sent.id);
                ended.push(sent);
            }
            goes_on
        });
    }

    /// For all nodes at which a transmission arrives: what does of it.
    #[inline]
    pub(super) fn each(&self, id: u32, mut take: impl FnMut(u32, Power)) {
        let record = &self.transmissions[id as usize];
        let goes_by_set = self.is_steady && !record.is_narrow;
        let set = if goes_by_set { self.receiver_set(id).receivers() } else { &record.arrivals };
        // One call, so that the function is compiled into the loop.
        for receiver in set {
            take(receiver.node, receiver.power);
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
        let TransmissionRecord { transmission, arrivals, .. } = &self.transmissions[id as usize];
        let receiver_set = self.receiver_set(id);
        let receiver = if self.is_steady {
            receiver_set.find(node)
        } else {
            let place = arrivals.binary_search_by_key(&node, |arrival| arrival.node);
            place.ok().map(|place| &arrivals[place])
        };
        match receiver {
            Some(receiver) => Some(receiver.power),
            None if transmission.frame.from == node => self.residual(node),
            // Left out, perhaps because a crowd floods it.
            None if self.is_steady && !receiver_set.is_complete() => {
                Some(self.receiver(transmission.frame.from, node, transmission.start)?.power)
            }
            None => None,
        }
    }

    /// Whether since an instant nothing has begun or ended beside a transmission that ends now.
    pub(super) fn is_steady_since(&self, id: u32, since: Instant) -> bool {
        self.ended.iter().all(|sent| sent.id == id || sent.end <= since)
            && self.ongoing.iter().all(|sent| sent.begin <= since)
    }

    /// The transmitter of what arrives the strongest at a node while a transmission is on the air
    /// that has ended, and interferes with it.
    pub(super) fn strongest_other(&self, id: u32, node: u32) -> Option<u32> {
        let sender = self.transmission(id).frame.from;
        let power = |other: &TransmissionSpan| {
            let from = self.transmission(other.id).frame.from;
            let is_other = from != node && from != sender;
            Some((self.power_at(other, node).filter(|_| is_other)?.milliwatts, from))
        };
        let others = self.others(id).filter(|other| self.is_in_unit(id, other) != Some(false));
        let others = others.filter_map(|other| power(&other));
        others.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, from)| from)
    }

    /// Whether another transmission answers the same frame at the same time, and if so, whether it
    /// is an HE TB PPDU in the same resource unit. Otherwise the two do not interfere.
    pub(super) fn is_in_unit(&self, id: u32, other: &TransmissionSpan) -> Option<bool> {
        let own = self.transmission(id);
        let is_source = own.part == Part::Source;
        let other = self.transmission(if is_source { self.source(other.id) } else { other.id });
        let in_one = own.frame.users == other.frame.users && own.frame.users.is_unit();
        own.is_joint_with(other).then_some(in_one)
    }

    /// All who may hear a transmission.
    pub(super) fn receivers(&self, id: u32) -> Cow<'_, [ReceiverInRange]> {
        let record = &self.transmissions[id as usize];
        let (transmission, receiver_set) = (&record.transmission, self.receiver_set(id));
        if receiver_set.is_complete() {
            receiver_set.receivers().into()
        } else {
            let slice = self.receiver_sets.slice(transmission.start);
            let (from, nodes) = (transmission.frame.from, 0..self.sites.len() as u32);
            self.receiver_sets.find(from, slice, &self.radio, &self.sites, nodes).collect()
        }
    }

    /// A node as one that may hear a transmission, even if it transmits meanwhile; none if it never
    /// does.
    pub(super) fn receiver_of(&self, id: u32, node: u32) -> Option<ReceiverInRange> {
        let record = &self.transmissions[id as usize];
        let (transmission, receiver_set) = (&record.transmission, self.receiver_set(id));
        match receiver_set.find(node) {
            None if !receiver_set.is_complete() => {
                self.receiver(transmission.frame.from, node, transmission.start)
            }
            found => found.copied(),
        }
    }

    fn receiver_set(&self, id: u32) -> &ReceiverSet {
        self.receiver_sets.get(self.set_of(id))
    }

    /// The number of the receiver set of a transmission.
    fn set_of(&self, id: u32) -> u32 {
        let number = self.transmissions[id as usize].receiver_set;
        number.expect("it overlaps with what is on the air")
    }

    pub(super) fn transmission(&self, id: u32) -> &Transmission {
        &self.transmissions[id as usize].transmission
    }

    pub(super) fn transmission_mut(&mut self, id: u32) -> &mut Transmission {
        &mut self.transmissions[id as usize].transmission
    }

    /// Frames on the air, in the order in which they began.
    pub(super) fn ongoing(&self) -> impl Iterator<Item = &Transmission> {
        let sent = self.ongoing.iter().map(|sent| self.transmission(sent.id));
        sent.filter(|transmission| !matches!(transmission.part, Part::Wave(_)))
    }

    /// What has been on the air with a transmission that has ended, and arrives at some who hear
    /// it.
    pub(super) fn others(&self, id: u32) -> impl Iterator<Item = TransmissionSpan> {
        let record = &self.transmissions[id as usize];
        let (transmission, receiver_set) = (&record.transmission, self.set_of(id));
        let (begin, end) = (transmission.start, transmission.end());
        let others = self.ended.iter().chain(&self.ongoing).copied();
        others.filter(move |other| {
            let overlaps = || {
                let record = &self.transmissions[other.id as usize];
                // Its transmitter may receive beside its own signal.
                self.receiver_sets.overlap(receiver_set, self.set_of(other.id))
                    || self.residual(record.transmission.frame.from).is_some()
            };
            let arrives = || self.transmission(other.id).part != Part::Source;
            other.id != id && other.begin < end && other.end > begin && arrives() && overlaps()
        })
    }
}
