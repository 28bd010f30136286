//! The receiver of one node: what arrives, the frame that it follows, and carrier sense.
//!
//! A node keeps the sum of what arrives, and looks up only at what may make a difference to it. Of
//! what disturbs a frame that it follows it notes the least and the most; how long there was how
//! much is reckoned when the frame is over, and only if these bounds leave a doubt.

use super::interference::Bounds;
use super::radio::{DETECTION, Levels, Power, Quanta};
use kernel::{Duration, Instant};

/// A frame that arrives.
#[derive(Clone, Copy, Debug)]
struct Signal {
    /// Number of the transmission.
    id: u32,
    power: Power,
}

/// The signal whose frame is being received.
#[derive(Clone, Copy, Debug)]
struct Lock {
    signal: Signal,
    since: Instant,
    /// Before this a later frame may hide it, or take its place.
    settled: Instant,
    /// Of all signals together since then.
    least: Quanta,
    most: Quanta,
    /// How often they have changed.
    changes: u32,
}

/// A frame that has been followed to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Followed {
    /// In milliwatts.
    pub(super) power: f64,
    /// Of the interference meanwhile.
    pub(super) bounds: Bounds,
}

/// What new signals have led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing.
    None,
    /// This transmission is followed from now on.
    Found(u32),
    /// The one that was followed has been hidden in its preamble.
    Lost,
}

/// What the end of a signal is to a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// Nothing: the medium is as busy, or as idle, as it was.
    Unnoticed,
    /// There was energy enough to make the medium busy, and there is no longer.
    Energy,
    /// The frame was followed to its end.
    Followed(Followed),
}

/// Receiver and physical carrier sense of one node.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// The power of all signals together.
    sum: Quanta,
    /// The strongest of those that began last and can be followed, of equal ones the first; and
    /// when.
    newest: Option<(Instant, Signal)>,
    lock: Option<Lock>,
    /// It sends itself, and hears nothing.
    sending: bool,
    /// Up to when it sends, or has sent last.
    sends_until: Instant,
    /// It neither sends nor follows a frame, but there is energy.
    energy: bool,
}

impl Receiver {
    /// Number of the transmission that is followed.
    pub(super) fn follows(&self) -> Option<u32> {
        self.lock.map(|lock| lock.signal.id)
    }

    /// Whether a crowd that begins now is certainly energy enough, and none of it is found, if at
    /// least so much arrives of it. The bounds are those of its strongest signal.
    pub(super) fn is_flooded(
        &self,
        now: Instant,
        crowd: Quanta,
        (most, least): (f64, Quanta),
        levels: &Levels,
    ) -> bool {
        let all = self.sum + crowd;
        let is_free = !self.sending && self.lock.is_none();
        is_free
            && self.newest.is_none_or(|(since, _)| since != now)
            && all >= levels.energy
            && !levels.finds(most, all - least)
    }

    /// It is flooded; whether it must sense that.
    pub(super) fn flood(&mut self, crowd: Quanta) -> bool {
        self.replace(Quanta::default(), crowd);
        !self.energy
    }

    /// A part of the sum is another.
    pub(super) fn replace(&mut self, before: Quanta, after: Quanta) {
        self.sum = self.sum - before + after;
    }

    /// Whether a signal that begins may be found if there is no more than the sum.
    pub(super) fn might_find(&self, power: Power, levels: &Levels) -> bool {
        power.milliwatts >= levels.detect && levels.finds(power.milliwatts, self.sum)
    }

    /// Whether energy may not be left when a signal ends if there is no more than the sum.
    pub(super) fn might_fall_idle(&self, power: Power, energy: Quanta) -> bool {
        self.sum - power.quanta < energy
    }

    /// Whether the energy that it has sensed is no longer there.
    pub(super) fn lacks(&self, energy: Quanta) -> bool {
        self.energy && !self.sending && self.sum < energy
    }

    /// The node begins to send: what it was receiving is lost.
    pub(super) fn begin_sending(&mut self, until: Instant) {
        (self.sending, self.sends_until) = (true, until);
        self.lock = None;
    }

    /// Whether it sends all the time up to then: what begins now and is over by then is nothing to
    /// it.
    pub(super) fn is_deaf_until(&self, end: Instant) -> bool {
        self.sending && end <= self.sends_until
    }

    pub(super) fn end_sending(&mut self) {
        self.sending = false;
    }

    /// Physical carrier sense, as of the last [`Self::sense`]: a frame is being received, or there
    /// is energy (clause 17.3.10.6).
    pub(super) fn is_busy(&self) -> bool {
        self.sending || self.lock.is_some() || self.energy
    }

    /// Senses the medium; whether it is busy.
    pub(super) fn sense(&mut self, levels: &Levels) -> bool {
        self.energy = !self.sending && self.lock.is_none() && self.sum >= levels.energy;
        self.is_busy()
    }

    /// A signal begins; whether that may make a difference now. If it is not `legible`, in a
    /// modulation that the node knows, it is nothing but energy.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        now: Instant,
        (id, power): (u32, Power),
        legible: bool,
        levels: &Levels,
    ) -> bool {
        let others = self.sum;
        self.sum = self.sum + power.quanta;
        if let Some(lock) = &mut self.lock {
            lock.most = lock.most.max(self.sum);
            lock.changes += 1;
            if now >= lock.settled {
                return false;
            }
        }
        if self.sending {
            return false;
        }
        let audible = legible && power.milliwatts >= levels.detect;
        if audible {
            let is_best = |(since, other): (_, Signal)| {
                since != now || power.milliwatts > other.power.milliwatts
            };
            if self.newest.is_none_or(is_best) {
                self.newest = Some((now, Signal { id, power }));
            }
        }
        self.lock.is_some()
            || audible && levels.finds(power.milliwatts, others)
            || !self.energy && self.sum >= levels.energy
    }

    /// All signals that begin now are there: decides which frame is followed.
    pub(super) fn decide(&mut self, now: Instant, levels: &Levels) -> Change {
        if self.sending {
            return Change::None;
        }
        let mut change = Change::None;
        if let Some(lock) = &self.lock
            && now.since(lock.since) < DETECTION
            && !self.finds(&lock.signal, levels)
        {
            self.lock = None;
            change = Change::Lost;
        }
        let newest = self.newest.filter(|&(since, _)| since == now);
        let Some((_, best)) = newest else { return change };
        let free = match (&self.lock, levels.capture) {
            (None, _) => true,
            (Some(lock), Some((ratio, window))) => {
                let needed = lock.signal.power.milliwatts * ratio;
                now.since(lock.since) < window && best.power.milliwatts >= needed
            }
            (Some(_), None) => false,
        };
        if free && self.finds(&best, levels) {
            self.follow(now, best, levels);
            change = Change::Found(best.id);
        }
        change
    }

    /// Whether the preamble of a signal can be found among the others.
    fn finds(&self, signal: &Signal, levels: &Levels) -> bool {
        levels.finds(signal.power.milliwatts, self.sum - signal.power.quanta)
    }

    /// Follows a signal that begins now.
    fn follow(&mut self, now: Instant, signal: Signal, levels: &Levels) {
        let window = levels.capture.map_or(Duration::ZERO, |(_, window)| window);
        let settled = now + window.max(DETECTION);
        let (least, most) = (self.sum, self.sum);
        self.lock = Some(Lock { signal, since: now, settled, least, most, changes: 0 });
    }

    /// A signal ends.
    #[inline]
    pub(super) fn depart(&mut self, (id, power): (u32, Power), energy: Quanta) -> End {
        self.sum = self.sum - power.quanta;
        match &mut self.lock {
            Some(lock) if lock.signal.id == id => {
                let Lock { least, most, changes, .. } = *lock;
                self.lock = None;
                let others = |all: Quanta| (all - power.quanta).milliwatts();
                let (least, most) = (others(least), others(most));
                let bounds = Bounds { least, most, chunks: changes as usize + 1 };
                End::Followed(Followed { power: power.milliwatts, bounds })
            }
            Some(lock) => {
                lock.least = lock.least.min(self.sum);
                lock.changes += 1;
                End::Unnoticed
            }
            None if self.energy && !self.sending && self.sum < energy => End::Energy,
            None => End::Unnoticed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::radio::ReceiverSettings;
    use super::*;
    use kernel::Db;

    /// Noise of 20 MHz with a figure of 7 dB is -94 dBm; detection from -82 dBm, energy from
    /// -62 dBm.
    fn levels() -> Levels {
        Levels::of(&ReceiverSettings::default())
    }

    fn dbm(level: f64) -> Power {
        Power::from(crate::phy::linear(Db(level)))
    }

    fn us(n: u64) -> Instant {
        Instant(n * 1000)
    }

    /// A receiver, and what arrives at it.
    #[derive(Default)]
    struct Ear {
        receiver: Receiver,
        signals: Vec<Power>,
    }

    impl Ear {
        /// The next signal begins; what it leads to, none if it is not looked at.
        fn begin(&mut self, us_at: u64, level: f64) -> Option<Change> {
            let (now, id, power) = (us(us_at), self.signals.len() as u32, dbm(level));
            self.signals.push(power);
            let looks = self.receiver.arrive(now, (id, power), true, &levels());
            looks.then(|| {
                let change = self.receiver.decide(now, &levels());
                self.receiver.sense(&levels());
                change
            })
        }

        fn end(&mut self, id: u32) -> End {
            let power = self.signals[id as usize];
            let end = self.receiver.depart((id, power), levels().energy);
            self.receiver.sense(&levels());
            end
        }
    }

    #[test]
    fn a_preamble_is_found_by_power_and_ratio() {
        let change = |level: f64, other: Option<f64>| {
            let mut ear = Ear::default();
            if let Some(other) = other {
                // Its own preamble was missed.
                ear.receiver.begin_sending(us(1000));
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
    fn a_preamble_can_be_hidden_until_it_is_found() {
        let after = |later: u64| {
            let mut ear = Ear::default();
            assert_eq!(ear.begin(0, -70.0), Some(Change::Found(0)));
            ear.begin(later, -70.0)
        };
        assert_eq!(after(3), Some(Change::Lost));
        assert_eq!(after(4), None);
    }

    #[test]
    fn the_strongest_of_several_that_begin_together_is_followed() {
        let mut receiver = Receiver::default();
        let looks = [-80.0, -66.0, -66.0, -75.0].map(dbm).into_iter().zip(0..);
        let looks = looks.map(|(power, id)| receiver.arrive(us(9), (id, power), id > 0, &levels()));
        assert_eq!(looks.collect::<Vec<_>>(), [false, true, false, false]);
        // One as strong as another hides it.
        assert_eq!(receiver.decide(us(9), &levels()), Change::None);
        receiver.depart((2, dbm(-66.0)), levels().energy);
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
        let End::Followed(Followed { power, bounds }) = ear.end(0) else {
            panic!("it was followed")
        };
        assert_eq!(power, dbm(-60.0).milliwatts);
        let most = (dbm(-80.0).quanta + dbm(-83.0).quanta).milliwatts();
        assert_eq!(bounds, Bounds { least: 0.0, most, chunks: 4 });
        assert!(!ear.receiver.is_busy(), "what is left is too weak");
    }

    #[test]
    fn energy_makes_the_medium_busy_until_it_is_less() {
        let mut ear = Ear::default();
        ear.receiver.begin_sending(us(1000));
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
    fn who_sends_to_the_end_of_a_frame_is_deaf_to_it() {
        let mut receiver = Receiver::default();
        assert!(!receiver.is_deaf_until(us(0)));
        receiver.begin_sending(us(300));
        assert_eq!([299, 300, 301].map(|end| receiver.is_deaf_until(us(end))), [true, true, false]);
        receiver.end_sending();
        assert!(!receiver.is_deaf_until(us(300)));
    }

    #[test]
    fn who_sends_receives_nothing() {
        let mut ear = Ear::default();
        ear.begin(0, -60.0);
        ear.receiver.begin_sending(us(1000));
        assert_eq!(ear.begin(10, -50.0), None);
        assert_eq!(ear.end(0), End::Unnoticed);
        ear.receiver.end_sending();
        assert!(ear.receiver.sense(&levels()), "there is energy");
        assert_eq!(ear.end(1), End::Energy, "its preamble was missed");
        assert!(!ear.receiver.is_busy());
    }
}
