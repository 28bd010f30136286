//! Crowds: many nodes that begin to transmit at one instant.
//!
//! Most receivers then detect none of the preambles, and sense enough energy to find the medium
//! busy. Lower and upper bounds of the received powers, which follow from the distances, prove it.
//! Such a receiver is called flooded. The sum of its received powers contains a lower bound of the
//! crowd's power instead of the exact power, and the receiver sets of the crowd's transmissions do
//! not contain the receiver. The exact powers are computed when the bound no longer decides on a
//! reception or on carrier sense.

use super::Space;
use super::power::{FixedPower, Power};
use super::radio::{Losses, Radio, Separation, Site};
use super::reception::{End, ReceivedSignal};
use super::rules::SpaceRules;
use super::signals::Signals;
use crate::phy::Milliwatts;
use crate::phy::propagation::Position;
use kernel::{Db, Dbm, Instant};

/// The minimum number of transmitters in a crowd.
const LEAST: usize = 32;
/// One node in this many is examined to decide whether most nodes are flooded.
const SAMPLE: usize = 61;

/// The crowd on the air, if there is one.
#[derive(Debug)]
pub(super) struct Crowd {
    /// The minimum number of transmitters; `usize::MAX` if all receiver sets fit in memory.
    least: usize,
    begin: Instant,
    /// Its transmissions that are on the air, in the order in which they began.
    members: Vec<Member>,
    /// The nodes that were flooded when the crowd began.
    flooded: Vec<u32>,
    /// The crowd's part in the sum of received powers of each node.
    shares: Vec<Share>,
    /// The nodes that receive the crowd's transmissions individually.
    listeners: Vec<u32>,
    /// The bounds for transmitters of this power.
    bounds: Option<(Dbm, PowerBounds)>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// The identifier of the transmission.
    id: u32,
    from: u32,
    end: Instant,
    channel: u16,
    place: Position,
}

/// The crowd's part in the sum of received powers of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Share {
    /// The transmissions were received individually, as outside a crowd.
    #[default]
    Usual,
    /// A lower bound of the power of all members.
    AtLeast(FixedPower),
    /// The exact power of all members.
    Exact,
}

impl Crowd {
    /// If all receiver sets fit in memory, all powers are known and no crowd is formed; nor is one
    /// formed where nodes may be full duplex (`is_possible`).
    pub(super) fn new(signals: &Signals, rules: &SpaceRules) -> Self {
        let is_possible = rules.mac.config.full_duplex.is_none()
            && !signals.radio.has_delays
            && !signals.radio.varies_power
            && !rules.levels.remembers_frames;
        let least = if signals.fits_all() || !is_possible { usize::MAX } else { LEAST };
        let (members, flooded, listeners, bounds) = Default::default();
        let shares = vec![Share::Usual; if least == usize::MAX { 0 } else { signals.sites.len() }];
        Self { least, begin: Instant::ZERO, members, flooded, shares, listeners, bounds }
    }

    /// Whether transmissions of the crowd are on the air.
    #[inline]
    pub(super) fn is_on_air(&self) -> bool {
        !self.members.is_empty()
    }

    /// Whether so many transmissions that begin together may form a crowd.
    #[inline]
    pub(super) fn may_form(&self, beginning: usize) -> bool {
        beginning >= self.least
    }

    /// Whether the sum of a node contains a lower bound of the crowd's power.
    fn floods(&self, node: u32) -> bool {
        matches!(self.shares[node as usize], Share::AtLeast(_))
    }

    /// Bounds of the powers that a node receives from the members: a lower bound of the sum; an
    /// upper bound, in milliwatts, and a lower bound of the strongest one.
    fn bounds_at(&self, site: &Site, now: Instant) -> (FixedPower, (f64, FixedPower)) {
        let (_, bounds) = self.bounds.as_ref().expect("a crowd has bounds");
        let here = site.trajectory.at(now);
        let (mut least, mut nearest) = (FixedPower::default(), bounds.least.len() - 1);
        for Member { place, .. } in self.members.iter().filter(|m| m.channel == site.channel) {
            let (x, y, z) = (place.x - here.x, place.y - here.y, place.z - here.z);
            let ring = PowerBounds::ring(x * x + y * y + z * z);
            least = least + bounds.least[ring];
            nearest = nearest.min(ring);
        }
        (least, (bounds.most[nearest], bounds.least[nearest]))
    }
}

/// Bounds of the received power, for rings of squared distances.
#[derive(Debug)]
struct PowerBounds {
    least: Vec<FixedPower>,
    /// In milliwatts.
    most: Vec<f64>,
}

impl PowerBounds {
    /// Without its last 48 bits, a number has its exponent and one of 16 parts of an octave.
    const SHIFT: u32 = 48;
    /// The second ring begins at 2⁻⁸ m².
    const FIRST: u64 = (1023 - 8) << 4;
    /// The last ring begins at 2⁴⁰ m².
    const RINGS: usize = 48 * 16 + 2;
    /// An upper bound of the relative rounding error of a power.
    const ROUNDING: f64 = 1e-9;

    /// The bounds for a transmitter of this power; `None` if the received power does not depend on
    /// the distance alone.
    fn new(radio: &Radio, tx_power: Dbm) -> Option<Self> {
        let Losses::Places(model) = &radio.losses else { return None };
        if !model.goes_by_distance() {
            return None;
        }
        let level = |squared: f64| {
            let separation = Separation { distance: libm::sqrt(squared), now: Instant::ZERO };
            tx_power - radio.losses.between(0, 1, separation).0
        };
        let begin = |ring: usize| match ring {
            0 => 0.0,
            _ => f64::from_bits((Self::FIRST + ring as u64 - 1) << Self::SHIFT),
        };
        let least = |ring: usize| {
            let level = level(begin(ring + 1));
            let is_heard = level - Db(Self::ROUNDING) >= radio.receiver.weakest();
            let milliwatts = Milliwatts::from(level).0 * (1.0 - Self::ROUNDING);
            if is_heard { FixedPower::of(milliwatts) } else { FixedPower::default() }
        };
        let most = |ring: usize| Milliwatts::from(level(begin(ring))).0 * (1.0 + Self::ROUNDING);
        let last = Self::RINGS - 1;
        let least = (0..last).map(least).chain([FixedPower::default()]).collect();
        Some(Self { least, most: (0..=last).map(most).collect() })
    }

    /// The ring of a squared distance.
    #[inline]
    fn ring(squared: f64) -> usize {
        let steps = (squared.to_bits() >> Self::SHIFT) + 1;
        steps.saturating_sub(Self::FIRST).min(Self::RINGS as u64 - 1) as usize
    }
}

impl Space {
    /// Frames begin. Forms a crowd of their transmitters if it floods most nodes, and returns
    /// whether it does.
    #[inline(never)]
    pub(super) fn gather(&mut self, now: Instant, beginning: &[u32]) -> bool {
        if !self.may_gather(beginning) {
            return false;
        }
        let Self { signals, receivers, rules, crowd, scratch, .. } = self;
        let sites = &signals.sites;
        crowd.begin = now;
        crowd.members.extend(beginning.iter().map(|&id| {
            let begun = signals.transmission(id);
            let (from, end) = (begun.frame.from, begun.end());
            let site = &sites[from as usize];
            let (channel, place) = (site.channel, site.trajectory.at(now));
            Member { id, from, end, channel, place }
        }));
        let end = crowd.members.iter().map(|member| member.end).max().unwrap_or(now);
        let flooded_with = |crowd: &Crowd, node: usize| {
            let (all, (most, least)) = crowd.bounds_at(&sites[node], now);
            receivers[node].is_flooded(now, all, most, least, &rules.levels).then_some(all)
        };
        let is_transmitting = |node: &usize| receivers[*node].is_transmitting_until(end);
        let mut balance = 0_i32;
        for node in (0..sites.len()).step_by(SAMPLE).filter(|node| !is_transmitting(node)) {
            balance += if flooded_with(crowd, node).is_some() { 1 } else { -1 };
        }
        if balance < 0 {
            crowd.members.clear();
            return false;
        }
        crowd.listeners.clear();
        for node in (0..sites.len()).filter(|node| !is_transmitting(node)) {
            if let Some(least) = flooded_with(crowd, node) {
                crowd.flooded.push(node as u32);
                crowd.shares[node] = Share::AtLeast(least);
            } else {
                crowd.listeners.push(node as u32);
            }
        }
        for &node in &crowd.flooded {
            if let Share::AtLeast(least) = crowd.shares[node as usize]
                && receivers[node as usize].flood(least)
            {
                scratch.touch(node);
            }
        }
        true
    }

    /// Whether the bounds hold for these frames: all have the same power, and no other crowd is on
    /// the air.
    fn may_gather(&mut self, beginning: &[u32]) -> bool {
        let Self { signals, crowd, .. } = self;
        if crowd.is_on_air() || !signals.is_steady() {
            return false;
        }
        let power = |id: u32| {
            let from = signals.transmission(id).frame.from;
            signals.sites[from as usize].tx_power
        };
        let tx_power = power(beginning[0]);
        if beginning.iter().any(|&id| power(id) != tx_power) {
            return false;
        }
        if crowd.bounds.as_ref().is_none_or(|(power, _)| *power != tx_power) {
            let bounds = PowerBounds::new(&signals.radio, tx_power);
            crowd.bounds = bounds.map(|bounds| (tx_power, bounds));
        }
        crowd.bounds.is_some()
    }

    /// The frame of a member begins.
    #[inline(never)]
    pub(super) fn begin_in_crowd(&mut self, id: u32) {
        let Self { signals, receivers, crowd, .. } = self;
        let end = signals.transmission(id).end();
        let is_transmitting = |node: u32| receivers[node as usize].is_transmitting_until(end);
        let listeners = crowd.listeners.iter().copied().filter(|&node| !is_transmitting(node));
        signals.begin_among(id, listeners);
    }

    /// Another frame begins. Its transmitter, and the nodes that may detect its preamble, get the
    /// crowd's exact power.
    #[inline(never)]
    pub(super) fn prepare_arrival(&mut self, now: Instant, id: u32) {
        let Self { signals, receivers, rules, crowd, .. } = self;
        let from = signals.transmission(id).frame.from;
        let mut exact = vec![from];
        signals.each(id, |node, power| {
            let receiver = &receivers[node as usize];
            if crowd.floods(node) && receiver.might_find(power, &rules.levels) {
                exact.push(node);
            }
        });
        for node in exact {
            self.compute_crowd(now, node);
        }
    }

    /// Another frame is about to end. The nodes that may then find the medium idle get the crowd's
    /// exact power.
    #[inline(never)]
    pub(super) fn prepare_departure(&mut self, now: Instant, id: u32) {
        let Self { signals, receivers, rules, crowd, .. } = self;
        let mut exact = Vec::new();
        signals.each(id, |node, power| {
            let receiver = &receivers[node as usize];
            if crowd.floods(node) && receiver.might_fall_idle(power, rules.levels.energy) {
                exact.push(node);
            }
        });
        for node in exact {
            self.compute_crowd(now, node);
        }
    }

    /// Replaces the lower bound in the sum of a node by the crowd's exact power.
    fn compute_crowd(&mut self, now: Instant, node: u32) {
        let Self { signals, receivers, rules, crowd, .. } = self;
        let Some(share) = crowd.shares.get_mut(node as usize) else { return };
        let Share::AtLeast(least) = *share else { return };
        *share = Share::Exact;
        let receiver = &mut receivers[node as usize];
        receiver.replace(least, FixedPower::default());
        for member in &crowd.members {
            let Some(power) = member.power_at(signals, node) else { continue };
            if now > crowd.begin {
                receiver.replace(FixedPower::default(), power.fixed);
            } else {
                let class = signals.transmission(member.id).frame.mode.class;
                let signal = ReceivedSignal { id: member.id, power };
                let is_decodable = class.is_dsss() || rules.mac.knows_ofdm(node);
                receiver.arrive(now, signal, is_decodable, &rules.levels);
            }
        }
    }

    /// Ends the transmissions of members that end now.
    #[inline(never)]
    pub(super) fn end_of_crowd(&mut self, now: Instant) {
        let leaving: Vec<Member> = self.crowd.members.extract_if(.., |m| m.end <= now).collect();
        if leaving.is_empty() {
            return;
        }
        let energy = self.rules.levels.energy;
        let flooded = std::mem::take(&mut self.crowd.flooded);
        for &node in &flooded {
            let Self { signals, receivers, crowd, scratch, rules, .. } = &mut *self;
            let receiver = &mut receivers[node as usize];
            match crowd.shares[node as usize] {
                Share::Usual => {}
                Share::AtLeast(least) => {
                    let rest = crowd.bounds_at(&signals.sites[node as usize], now).0;
                    receiver.replace(least, rest);
                    crowd.shares[node as usize] = Share::AtLeast(rest);
                    if receiver.lacks(energy) {
                        self.compute_crowd(now, node);
                        if self.receivers[node as usize].lacks(energy) {
                            self.scratch.touch(node);
                        }
                    }
                }
                Share::Exact => {
                    for member in &leaving {
                        let power = member.power_at(signals, node);
                        let signal = power.map(|power| ReceivedSignal { id: member.id, power });
                        let end = signal.map(|signal| receiver.depart(signal, &rules.levels));
                        if end == Some(End::Energy) {
                            scratch.touch(node);
                        }
                    }
                }
            }
            if !self.crowd.is_on_air() {
                self.crowd.shares[node as usize] = Share::Usual;
            }
        }
        if self.crowd.is_on_air() {
            self.crowd.flooded = flooded;
        }
    }
}

impl Member {
    /// The received power at a node; `None` if it is below what a receiver takes into account.
    fn power_at(&self, signals: &Signals, node: u32) -> Option<Power> {
        Some(signals.receiver(self.from, node, Instant::ZERO)?.power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::error::Nist;
    use crate::phy::propagation::{Friis, LogDistance, Propagation, Shadowing, TwoRay};
    use kernel::Seed;

    fn radio(model: impl Propagation + 'static) -> Radio {
        Radio::new(Losses::Places(Box::new(model)), Box::new(Nist {}))
    }

    #[test]
    fn powers_are_within_their_bounds() {
        let near = LogDistance { reference_m: 0.01, ..LogDistance::default() };
        let radios = [
            radio(LogDistance::default()),
            radio(near),
            radio(TwoRay {}),
            radio(Friis { frequency_mhz: 5150.0 }),
        ];
        let tx_power = Dbm(16.0206);
        let mut rng = Seed { root: 2, replication: 0 }.stream("test", 0);
        for radio in radios {
            let bounds = PowerBounds::new(&radio, tx_power).expect("it goes by distance");
            let mut close = 0;
            for _ in 0..20_000 {
                let distance = libm::pow(10.0, -3.0 + 10.0 * rng.uniform());
                let separation = Separation { distance, now: Instant::ZERO };
                let level = tx_power - radio.losses.between(0, 1, separation).0;
                let power = Power::from(Milliwatts::from(level).0);
                let is_heard = level >= radio.receiver.weakest();
                let fixed = if is_heard { power.fixed } else { FixedPower::default() };
                let ring = PowerBounds::ring(distance * distance);
                let (least, most) = (bounds.least[ring], bounds.most[ring]);
                assert!(least <= fixed, "{distance} m: {radio:?}");
                assert!(power.milliwatts <= most, "{distance} m: {radio:?}");
                close += u32::from(is_heard && most < 1.2 * least.milliwatts());
            }
            assert!(close > 2000, "{close} of 20,000: {radio:?}");
        }
    }

    #[test]
    fn without_a_loss_by_distance_alone_there_are_no_bounds() {
        let (inner, seed) = (LogDistance::default(), Seed { root: 2, replication: 0 });
        let shadowed = radio(Shadowing { inner, deviation: Db(3.0), seed });
        assert!(PowerBounds::new(&shadowed, Dbm(16.0)).is_none());
        let listed = Radio::new(Losses::Matrix(vec![vec![Db(50.0); 2]; 2]), Box::new(Nist {}));
        assert!(PowerBounds::new(&listed, Dbm(16.0)).is_none());
    }
}
