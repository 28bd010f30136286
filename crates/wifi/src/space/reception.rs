//! The receiver of one node: arriving signals, the frame that it receives, and carrier sense.
//!
//! A frame begins and ends at all nodes that receive it, and most of them receive another frame
//! already. A receiver keeps the sum of the power of all signals (`FixedPower`, exact in any
//! order), and evaluates a new signal only if that can change its state. For the frame that it
//! receives, it stores the least and the greatest interference. The interference over time
//! (`space/interference.rs`) is computed when the frame ends, and only if these bounds do not
//! determine whether the frame is decoded. A frame too weak to be decoded ends without a record.

mod joint;

pub(super) use joint::JointSignal;

use super::interference::Bounds;
use super::power::{FixedPower, Levels, Power};
use super::radio::DETECTION;
use joint::AllJoint;
use kernel::Instant;

/// A signal at the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivedSignal {
    /// Number of the transmission.
    pub(super) id: u32,
    pub(super) power: Power,
}

/// The reception of a frame.
#[derive(Clone, Copy, Debug)]
struct Reception {
    signal: ReceivedSignal,
    since: Instant,
    /// Before this instant, a later signal may hide the frame or take its place.
    locked_from: Instant,
    /// Least and greatest sum of all signals since then.
    least: FixedPower,
    most: FixedPower,
    /// How often that sum has changed.
    changes: u32,
}

/// A frame that the receiver has received to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Received {
    /// In milliwatts.
    pub(super) power: f64,
    /// Bounds of the interference during the frame.
    pub(super) bounds: Bounds,
}

/// The effect of new signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing.
    None,
    /// The reception of this transmission begins.
    Found(u32),
    /// The reception ends, because interference hides the preamble.
    Lost,
}

/// The effect of a signal's end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// None: carrier sense does not change.
    Unnoticed,
    /// Energy detection may become idle.
    Energy,
    /// A frame was received to its end.
    Received(Received),
    /// An HE TB PPDU has ended with that which was received, in another resource unit.
    Beside(Received),
}

/// The receiver and the physical carrier sense of one node.
#[derive(Debug, Default)]
pub(super) struct PhyReceiver {
    /// The power of all signals together.
    sum: FixedPower,
    /// Of the signals that began last and can be received, the strongest (the first among equals),
    /// and when it began.
    newest: Option<(Instant, ReceivedSignal)>,
    reception: Option<Reception>,
    /// The node transmits and receives nothing.
    sending: bool,
    /// The beginning and the end of the node's present or last transmission.
    sends_since: Instant,
    sends_until: Instant,
    /// What remains of the own signal at the receiver of a full-duplex node; `None` if the node is
    /// half duplex.
    residual: Option<FixedPower>,
    /// The node neither transmits nor receives a frame, and energy detection is busy.
    energy: bool,
    /// HE TB PPDUs, once the first have arrived.
    joint: Option<Box<AllJoint>>,
    /// The node has received a frame, and has neither transmitted nor sensed an idle medium since.
    after_frame: bool,
}

impl PhyReceiver {
    /// The receiver of a full-duplex node.
    pub(super) fn full_duplex(residual: FixedPower) -> Self {
        Self { residual: Some(residual), ..Self::default() }
    }

    /// Whether the node receives no signal that begins now, because it transmits. A full-duplex
    /// node receives a signal that begins together with its own.
    pub(super) fn misses(&self, now: Instant) -> bool {
        self.sending && !(self.residual.is_some() && self.sends_since == now)
    }

    /// Number of the transmission that is being received.
    pub(super) fn received_transmission(&self) -> Option<u32> {
        self.reception.map(|reception| reception.signal.id)
    }

    /// Whether the node has transmitted after this instant.
    pub(super) fn has_sent_since(&self, start: Instant) -> bool {
        self.sends_until > start
    }

    /// Whether a crowd that begins now is certainly sensed as energy, and no preamble of it is
    /// detected. `crowd` is a lower bound of its power, and `most` and `least` bound its strongest
    /// signal.
    pub(super) fn is_flooded(
        &self,
        now: Instant,
        crowd: FixedPower,
        most: f64,
        least: FixedPower,
        levels: &Levels,
    ) -> bool {
        let all = self.sum + crowd;
        let is_free = !self.sending && self.reception.is_none();
        is_free
            && self.newest.is_none_or(|(since, _)| since != now)
            && all >= levels.energy
            && !levels.finds(most, all - least)
    }

    /// A crowd floods the node. Returns whether carrier sense must be evaluated.
    pub(super) fn flood(&mut self, crowd: FixedPower) -> bool {
        self.replace(FixedPower::default(), crowd);
        !self.energy
    }

    /// The power of all signals together.
    pub(super) fn sum(&self) -> FixedPower {
        self.sum
    }

    /// Replaces a part of the sum of received powers.
    pub(super) fn replace(&mut self, before: FixedPower, after: FixedPower) {
        self.sum = self.sum - before + after;
    }

    /// The power of an interferer that carrier sense hears is added or removed.
    pub(super) fn change(&mut self, power: FixedPower, is_added: bool) {
        self.sum = if is_added { self.sum + power } else { self.sum - power };
        if let Some(reception) = &mut self.reception {
            reception.least = reception.least.min(self.sum);
            reception.most = reception.most.max(self.sum);
            reception.changes += 1;
        }
    }

    /// Whether the preamble of a signal that begins may be detected, if the sum is a lower bound of
    /// the interference.
    pub(super) fn might_find(&self, power: Power, levels: &Levels) -> bool {
        power.milliwatts >= levels.detect && levels.finds(power.milliwatts, self.sum)
    }

    /// Whether the medium may be idle after a signal ends, with the sum as lower bound of power.
    pub(super) fn might_fall_idle(&self, power: Power, energy: FixedPower) -> bool {
        self.sum - power.fixed < energy
    }

    /// Whether the energy that the node has sensed has ended.
    pub(super) fn lacks(&self, energy: FixedPower) -> bool {
        self.energy && !self.sending && self.sum < energy
    }

    /// The node begins to send: what it was receiving is lost.
    pub(super) fn begin_sending(&mut self, now: Instant, until: Instant) {
        (self.sending, self.sends_since, self.sends_until) = (true, now, until);
        (self.reception, self.after_frame) = (None, false);
        self.sum = self.sum + self.residual.unwrap_or_default();
    }

    /// Stops to receive a transmission below this power whose preamble has kept the ratio at which
    /// it is detected. Returns whether it does.
    pub(super) fn ignore(&mut self, id: u32, below: f64, levels: &Levels) -> bool {
        let is_known =
            |&mut Reception { signal: ReceivedSignal { id: own, power }, most, .. }: &mut _| {
                let is_weak = power.milliwatts < below;
                own == id && is_weak && levels.finds(power.milliwatts, most - power.fixed)
            };
        self.reception.take_if(is_known).is_some()
    }

    /// A full-duplex node begins to send beside the frame that it receives.
    pub(super) fn send_beside(&mut self, now: Instant, until: Instant) {
        (self.sending, self.sends_since, self.sends_until) = (true, now, until);
        self.change(self.residual.unwrap_or_default(), true);
    }

    /// The power of the frame that the node receives, if it is this transmission, and the greatest
    /// interference up to now, in milliwatts.
    pub(super) fn receives(&self, id: u32) -> Option<(f64, f64)> {
        let reception = self.reception.as_ref().filter(|own| own.signal.id == id)?;
        let Power { milliwatts, fixed } = reception.signal.power;
        Some((milliwatts, (reception.most - fixed).milliwatts()))
    }

    /// The node turns to a signal that begins now, if it detects the preamble. Returns whether it
    /// does.
    pub(super) fn turn_to(
        &mut self,
        now: Instant,
        signal: ReceivedSignal,
        levels: &Levels,
    ) -> bool {
        let is_new = self.received_transmission() != Some(signal.id);
        let turns =
            is_new && signal.power.milliwatts >= levels.detect && self.finds(&signal, levels);
        if turns {
            self.begin_reception(now, signal, levels);
        }
        turns
    }

    /// Whether the node transmits until `end`: a signal that begins now and ends by then has no
    /// effect.
    pub(super) fn is_transmitting_until(&self, end: Instant) -> bool {
        self.sending && self.residual.is_none() && end <= self.sends_until
    }

    /// The end of the node's present or last transmission.
    pub(super) fn sends_until(&self) -> Instant {
        self.sends_until
    }

    pub(super) fn end_sending(&mut self) {
        self.sending = false;
        if let Some(residual) = self.residual {
            self.change(residual, false);
        }
    }

    /// Whether nothing is on the air at the node: it does not transmit, and no signal arrives.
    #[expect(clippy::needless_bitwise_bool, reason = "one branch, and not three, is mispredicted")]
    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        (self.sum == FixedPower::default()) & !self.sending & !self.energy
    }

    /// Whether the node senses no signal, so that it receives the only one that begins now, which
    /// is strong enough to be received alone ([`Levels::alone`]), if this is not hidden by others.
    #[expect(clippy::needless_bitwise_bool, reason = "one branch, and not three, is mispredicted")]
    #[inline]
    pub(super) fn finds_next(&self, power: Power, levels: &Levels) -> bool {
        let is_hidden = || {
            self.reception.is_some()
                || self.sum >= levels.energy
                || !levels.finds(power.milliwatts, self.sum)
        };
        (!self.sending & !self.energy) && (self.sum == FixedPower::default() || !is_hidden())
    }

    /// Whether the node transmits, or notices the signals that arrive, also those that have begun
    /// now, beside another of this power. A node that notices none goes on counting slots.
    pub(super) fn notices(&self, now: Instant, beside: FixedPower, levels: &Levels) -> bool {
        // A signal that began earlier may have ended.
        let begins = |(since, ReceivedSignal { power, .. }): (_, ReceivedSignal)| {
            since == now && levels.finds(power.milliwatts, self.sum - power.fixed + beside)
        };
        self.is_busy() || self.sum >= levels.energy || self.newest.is_some_and(begins)
    }

    /// The reception of the only signal that begins now begins ([`Self::finds_next`]).
    #[inline]
    pub(super) fn receive_next(&mut self, now: Instant, signal: ReceivedSignal, levels: &Levels) {
        (self.sum, self.newest) = (self.sum + signal.power.fixed, Some((now, signal)));
        self.begin_reception(now, signal, levels);
    }

    /// Whether the frame that ends was received, and no other signal is left; if the node
    /// `needs_all` of it, none was there. If so, the receiver is clear.
    #[expect(clippy::needless_bitwise_bool, reason = "one branch, and not four, is mispredicted")]
    #[inline]
    pub(super) fn clear_of(&mut self, signal: ReceivedSignal, needs_all: bool) -> bool {
        let ReceivedSignal { id, power } = signal;
        let Some(reception) = &self.reception else { return false };
        let is_last = (reception.signal.id == id)
            & (self.sum == power.fixed)
            & (!needs_all | (reception.changes == 0));
        if is_last {
            (self.sum, self.reception, self.after_frame) = (FixedPower::default(), None, false);
        }
        is_last
    }

    /// Physical carrier sense, as of the last [`Self::sense`]: the node transmits, receives a frame
    /// or detects energy (clause 17.3.10.6).
    pub(super) fn is_busy(&self) -> bool {
        self.sending || self.reception.is_some() || self.energy
    }

    /// Updates energy detection. Returns whether the medium is busy.
    pub(super) fn sense(&mut self, levels: &Levels) -> bool {
        if levels.remembers_frames {
            return self.sense_after_frame(levels);
        }
        self.energy = !self.sending && self.reception.is_none() && self.sum >= levels.energy;
        self.is_busy()
    }

    /// The same, where it depends on what the receiver has received.
    #[cold]
    #[inline(never)]
    fn sense_after_frame(&mut self, levels: &Levels) -> bool {
        let least = levels.least_energy(self.after_frame);
        self.energy = !self.sending && self.reception.is_none() && self.sum >= least;
        self.after_frame &= self.is_busy();
        self.is_busy()
    }

    /// A signal begins. Returns whether it may change the state of the receiver. A signal that is
    /// not `is_decodable`, in a modulation that the node does not support, is only energy.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        now: Instant,
        signal: ReceivedSignal,
        is_decodable: bool,
        levels: &Levels,
    ) -> bool {
        let power = signal.power;
        let others = self.sum;
        self.sum = self.sum + power.fixed;
        if let Some(reception) = &mut self.reception {
            reception.most = reception.most.max(self.sum);
            reception.changes += 1;
            if now >= reception.locked_from {
                return false;
            }
        }
        if self.misses(now) {
            return false;
        }
        let audible = is_decodable && power.milliwatts >= levels.detect;
        if audible {
            let is_best = |(since, other): (_, ReceivedSignal)| {
                since != now || power.milliwatts > other.power.milliwatts
            };
            if self.newest.is_none_or(is_best) {
                self.newest = Some((now, signal));
            }
        }
        self.reception.is_some()
            || audible && levels.finds(power.milliwatts, others)
            || !self.energy && self.sum >= levels.energy
    }

    /// All signals that begin now have arrived: decides which frame is received.
    pub(super) fn decide(&mut self, now: Instant, levels: &Levels) -> Change {
        if self.misses(now) {
            return Change::None;
        }
        let mut change = Change::None;
        if let Some(reception) = &self.reception
            && now.since(reception.since) < DETECTION
            && !self.finds(&reception.signal, levels)
        {
            self.reception = None;
            change = Change::Lost;
        }
        let newest = self.newest.filter(|&(since, _)| since == now);
        let Some((_, best)) = newest else { return change };
        let free = match (&self.reception, levels.capture) {
            (None, _) => true,
            (Some(reception), Some((ratio, window))) => {
                let needed = reception.signal.power.milliwatts * ratio;
                now.since(reception.since) < window && best.power.milliwatts >= needed
            }
            (Some(_), None) => false,
        };
        if free && self.finds(&best, levels) {
            self.begin_reception(now, best, levels);
            change = Change::Found(best.id);
        }
        change
    }

    /// Whether the receiver detects the preamble of a signal among the others.
    fn finds(&self, signal: &ReceivedSignal, levels: &Levels) -> bool {
        levels.finds(signal.power.milliwatts, self.sum - signal.power.fixed)
    }

    /// Begins to receive a signal that begins now.
    #[inline]
    fn begin_reception(&mut self, now: Instant, signal: ReceivedSignal, levels: &Levels) {
        let locked_from = now + levels.locks_after;
        let (least, most) = (self.sum, self.sum);
        self.reception =
            Some(Reception { signal, since: now, locked_from, least, most, changes: 0 });
    }

    /// A signal ends.
    #[inline]
    pub(super) fn depart(&mut self, signal: ReceivedSignal, levels: &Levels) -> End {
        let ReceivedSignal { id, power } = signal;
        self.sum = self.sum - power.fixed;
        match &mut self.reception {
            Some(reception) if reception.signal.id == id => {
                let Reception { least, most, changes, .. } = *reception;
                (self.reception, self.after_frame) = (None, true);
                let others = |all: FixedPower| (all - power.fixed).milliwatts();
                let (least, most) = (others(least), others(most));
                let bounds = Bounds { least, most, chunks: changes as usize + 1 };
                End::Received(Received { power: power.milliwatts, bounds })
            }
            Some(reception) => {
                reception.least = reception.least.min(self.sum);
                reception.changes += 1;
                End::Unnoticed
            }
            None if self.energy
                && !self.sending
                && self.sum < levels.least_energy(self.after_frame) =>
            {
                End::Energy
            }
            None => End::Unnoticed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::radio::ReceiverSettings;
    use super::*;
    use kernel::Db;

    /// The noise in 20 MHz with a figure of 7 dB is -94 dBm. Detection is from -82 dBm on, energy
    /// from -62 dBm on.
    fn levels() -> Levels {
        Levels::of(&ReceiverSettings::default())
    }

    fn dbm(level: f64) -> Power {
        Power::from(crate::phy::linear(Db(level)))
    }

    fn us(n: u64) -> Instant {
        Instant(n * 1000)
    }

    /// A receiver and the signals that arrive.
    #[derive(Default)]
    struct Ear {
        receiver: PhyReceiver,
        signals: Vec<Power>,
    }

    impl Ear {
        /// The next signal begins. Returns its effect; `None` if the receiver does not evaluate it.
        fn begin(&mut self, us_at: u64, level: f64) -> Option<Change> {
            let (now, id, power) = (us(us_at), self.signals.len() as u32, dbm(level));
            self.signals.push(power);
            let looks = self.receiver.arrive(now, ReceivedSignal { id, power }, true, &levels());
            looks.then(|| {
                let change = self.receiver.decide(now, &levels());
                self.receiver.sense(&levels());
                change
            })
        }

        fn end(&mut self, id: u32) -> End {
            let power = self.signals[id as usize];
            let end = self.receiver.depart(ReceivedSignal { id, power }, &levels());
            self.receiver.sense(&levels());
            end
        }
    }

    #[test]
    fn a_preamble_is_detected_by_power_and_ratio() {
        let change = |level: f64, other: Option<f64>| {
            let mut ear = Ear::default();
            if let Some(other) = other {
                // The receiver missed its own preamble.
                ear.receiver.begin_sending(us(0), us(1000));
                ear.begin(0, other);
                ear.receiver.end_sending();
            }
            (ear.begin(50, level), ear.receiver.is_busy())
        };
        assert_eq!(change(-82.0, None), (Some(Change::Found(0)), true));
        assert_eq!(change(-82.1, None), (None, false));
        assert_eq!(change(-80.0, Some(-84.5)), (Some(Change::Found(1)), true));
        assert_eq!(change(-80.0, Some(-83.5)), (None, false));
        let both = change(-64.0, Some(-65.0));
        assert_eq!(both, (Some(Change::None), true), "both together are energy");
    }

    #[test]
    fn interference_can_hide_a_preamble_until_its_detection() {
        let after = |later: u64| {
            let mut ear = Ear::default();
            assert_eq!(ear.begin(0, -70.0), Some(Change::Found(0)));
            ear.begin(later, -70.0)
        };
        assert_eq!(after(3), Some(Change::Lost));
        assert_eq!(after(4), None);
    }

    #[test]
    fn the_strongest_of_several_that_begin_together_is_received() {
        let mut receiver = PhyReceiver::default();
        let looks = [-80.0, -66.0, -66.0, -75.0].map(dbm).into_iter().zip(0..);
        let looks = looks.map(|(power, id)| {
            receiver.arrive(us(9), ReceivedSignal { id, power }, id > 0, &levels())
        });
        assert_eq!(looks.collect::<Vec<_>>(), [false, true, false, false]);
        // A signal of equal power hides it.
        assert_eq!(receiver.decide(us(9), &levels()), Change::None);
        receiver.depart(ReceivedSignal { id: 2, power: dbm(-66.0) }, &levels());
        assert_eq!(receiver.decide(us(9), &levels()), Change::Found(1));
    }

    #[test]
    fn interference_has_bounds() {
        let mut ear = Ear::default();
        ear.begin(0, -60.0);
        for (at, level) in [(100, -80.0), (200, -83.0)] {
            assert_eq!(ear.begin(at, level), None);
        }
        assert_eq!(ear.end(1), End::Unnoticed);
        let End::Received(Received { power, bounds }) = ear.end(0) else {
            panic!("it was received")
        };
        assert_eq!(power, dbm(-60.0).milliwatts);
        let most = (dbm(-80.0).fixed + dbm(-83.0).fixed).milliwatts();
        assert_eq!(bounds, Bounds { least: 0.0, most, chunks: 4 });
        assert!(!ear.receiver.is_busy(), "what is left is too weak");
    }

    /// A full-duplex node of whose own signal so much remains transmits for 100 us.
    fn transmitting(residual: f64) -> Ear {
        let mut receiver = PhyReceiver::full_duplex(dbm(residual).fixed);
        receiver.begin_sending(us(0), us(100));
        Ear { receiver, signals: Vec::new() }
    }

    #[test]
    fn a_full_duplex_node_receives_a_frame_that_begins_with_its_own() {
        assert_eq!(transmitting(-80.0).begin(0, -70.0), Some(Change::Found(0)));
        assert_eq!(transmitting(-80.0).begin(1, -70.0), None);
        assert_ne!(transmitting(-73.0).begin(0, -70.0), Some(Change::Found(0)), "less than 4 dB");
    }

    #[test]
    fn its_own_signal_interferes_until_it_ends() {
        let mut ear = transmitting(-80.0);
        ear.begin(0, -60.0);
        ear.receiver.end_sending();
        let End::Received(Received { bounds, .. }) = ear.end(0) else { panic!("it was received") };
        let most = dbm(-80.0).fixed.milliwatts();
        assert_eq!(bounds, Bounds { least: 0.0, most, chunks: 2 });
        assert!(!ear.receiver.sense(&levels()));
    }

    #[test]
    fn energy_makes_the_medium_busy_until_it_ends() {
        let mut ear = Ear::default();
        ear.receiver.begin_sending(us(0), us(1000));
        ear.begin(0, -63.0);
        ear.begin(0, -64.0);
        ear.begin(0, -70.0);
        ear.receiver.end_sending();
        assert!(ear.receiver.sense(&levels()));
        assert_eq!(ear.end(2), End::Unnoticed);
        assert_eq!(ear.end(1), End::Energy);
        assert!(!ear.receiver.is_busy());
        assert_eq!(ear.end(0), End::Unnoticed);
    }

    #[test]
    fn a_node_that_transmits_until_the_end_of_a_frame_does_not_receive_it() {
        let mut receiver = PhyReceiver::default();
        assert!(!receiver.is_transmitting_until(us(0)));
        receiver.begin_sending(us(250), us(300));
        assert_eq!(
            [299, 300, 301].map(|end| receiver.is_transmitting_until(us(end))),
            [true, true, false]
        );
        receiver.end_sending();
        assert!(!receiver.is_transmitting_until(us(300)));
    }

    #[test]
    fn a_transmitting_node_receives_nothing() {
        let mut ear = Ear::default();
        ear.begin(0, -60.0);
        ear.receiver.begin_sending(us(0), us(1000));
        assert_eq!(ear.begin(10, -50.0), None);
        assert_eq!(ear.end(0), End::Unnoticed);
        ear.receiver.end_sending();
        assert!(ear.receiver.sense(&levels()), "there is energy");
        assert_eq!(ear.end(1), End::Energy, "its preamble was missed");
        assert!(!ear.receiver.is_busy());
    }
}
