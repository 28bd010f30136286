//! The receiver of one node: the signals that arrive, the one it follows, and carrier sense.

use super::radio::{DETECTION, Levels};
use kernel::{Duration, Instant};

/// A frame that arrives.
#[derive(Clone, Copy, Debug)]
struct Signal {
    /// Number of the transmission.
    id: u32,
    /// In milliwatts.
    power: f64,
}

/// The signal whose frame is being received.
#[derive(Clone, Copy, Debug)]
struct Lock {
    id: u32,
    power: f64,
    since: Instant,
    /// Since when the interference is what it is.
    cut: Instant,
    interference: f64,
    /// There was interference.
    overlapped: bool,
}

impl Lock {
    /// Interference changes: a chunk is over.
    fn cut(&mut self, now: Instant, chunks: &mut Vec<Chunk>) {
        if now > self.cut {
            let interference = self.interference;
            chunks.push(Chunk { begin: self.cut, end: now, interference });
            self.overlapped |= interference > 0.0;
        }
        self.cut = now;
    }
}

/// A time of constant interference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chunk {
    pub(super) begin: Instant,
    pub(super) end: Instant,
    /// In milliwatts.
    pub(super) interference: f64,
}

/// A frame that has been followed to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Followed {
    /// In milliwatts.
    pub(super) power: f64,
    /// Another signal was there as well.
    pub(super) overlapped: bool,
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

/// Receiver and carrier sense of one node.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// In the order in which they began.
    signals: Vec<Signal>,
    /// The strongest of those that began last and can be followed, of equal ones the first; and
    /// when.
    newest: Option<(Instant, Signal)>,
    lock: Option<Lock>,
    /// Of the frame that is followed, up to `Lock::cut`.
    chunks: Vec<Chunk>,
    /// It sends itself, and hears nothing.
    sending: bool,
}

impl Receiver {
    pub(super) fn is_sending(&self) -> bool {
        self.sending
    }

    /// Number of the transmission that is followed.
    pub(super) fn follows(&self) -> Option<u32> {
        self.lock.map(|lock| lock.id)
    }

    /// The node begins to send: what it was receiving is lost.
    pub(super) fn begin_sending(&mut self) {
        self.sending = true;
        self.lock = None;
    }

    pub(super) fn end_sending(&mut self) {
        self.sending = false;
    }

    /// Physical carrier sense: a frame is being received, or there is energy (clause 17.3.10.6).
    pub(super) fn is_busy(&self, levels: &Levels) -> bool {
        self.sending || self.lock.is_some() || self.sum_without(None) >= levels.energy
    }

    /// The power of all signals but one.
    fn sum_without(&self, id: Option<u32>) -> f64 {
        self.signals.iter().filter(|signal| Some(signal.id) != id).map(|signal| signal.power).sum()
    }

    /// A signal begins. If it is not `legible`, in a modulation that the node knows, it is nothing
    /// but energy.
    pub(super) fn arrive(&mut self, now: Instant, id: u32, power: f64, legible: bool) {
        let signal = Signal { id, power };
        self.signals.push(signal);
        let is_best = |(since, other): (_, Signal)| since != now || power > other.power;
        if legible && self.newest.is_none_or(is_best) {
            self.newest = Some((now, signal));
        }
        if let Some(lock) = &mut self.lock {
            lock.cut(now, &mut self.chunks);
            // As if all were added up in their order.
            lock.interference += power;
        }
    }

    /// All signals that begin now are there: decides which frame is followed.
    pub(super) fn decide(&mut self, now: Instant, levels: &Levels) -> Change {
        if self.sending {
            return Change::None;
        }
        let mut change = Change::None;
        if let Some(lock) = self.lock
            && now.since(lock.since) < DETECTION
            && !levels.finds(lock.power, self.sum_without(Some(lock.id)))
        {
            self.lock = None;
            change = Change::Lost;
        }
        let newest = self.newest.filter(|&(since, _)| since == now);
        let Some((_, best)) = newest.filter(|(_, best)| best.power >= levels.detect) else {
            return change;
        };
        let free = match (self.lock, levels.capture) {
            (None, _) => true,
            (Some(lock), Some((ratio, window))) => {
                now.since(lock.since) < window && best.power >= lock.power * ratio
            }
            (Some(_), None) => false,
        };
        if free && levels.finds(best.power, self.sum_without(Some(best.id))) {
            self.follow(now, best);
            change = Change::Found(best.id);
        }
        change
    }

    /// Follows a signal that begins now.
    fn follow(&mut self, now: Instant, Signal { id, power }: Signal) {
        self.chunks.clear();
        let interference = self.sum_without(Some(id));
        self.lock = Some(Lock { id, power, since: now, cut: now, interference, overlapped: false });
    }

    /// A signal ends; tells of it if it was followed, with its chunks in [`Self::chunks`]. An error
    /// if it did not arrive here.
    pub(super) fn depart(&mut self, now: Instant, id: u32) -> Result<Option<Followed>, ()> {
        let at = self.signals.iter().position(|signal| signal.id == id).ok_or(())?;
        self.signals.remove(at);
        let Some(lock) = &mut self.lock else { return Ok(None) };
        lock.cut(now, &mut self.chunks);
        if lock.id == id {
            let Lock { power, overlapped, .. } = *lock;
            self.lock = None;
            return Ok(Some(Followed { power, overlapped }));
        }
        let id = lock.id;
        let others = self.signals.iter().filter(|signal| signal.id != id);
        lock.interference = others.map(|signal| signal.power).sum();
        Ok(None)
    }

    /// Times of constant interference during the frame that was followed last.
    pub(super) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }
}

/// How much of a span of time falls into a chunk.
pub(super) fn overlap(chunk: &Chunk, begin: Instant, end: Instant) -> Duration {
    chunk.end.min(end).since(chunk.begin.max(begin))
}

#[cfg(test)]
mod tests {
    use super::super::radio::{Losses, Radio};
    use super::*;
    use crate::phy::error::Nist;
    use kernel::Db;

    /// Noise of 20 MHz with a figure of 7 dB is -94 dBm; detection from -82 dBm, energy from
    /// -62 dBm.
    fn levels() -> Levels {
        Levels::of(&Radio::new(Losses::Matrix(Vec::new()), Box::new(Nist)))
    }

    fn dbm(level: f64) -> f64 {
        crate::phy::linear(Db(level))
    }

    fn us(n: u64) -> Instant {
        Instant(n * 1000)
    }

    #[test]
    fn a_preamble_is_found_by_power_and_ratio() {
        let change = |level: f64, other: Option<f64>| {
            let mut receiver = Receiver::default();
            if let Some(other) = other {
                receiver.arrive(us(0), 0, dbm(other), true);
            }
            receiver.arrive(us(50), 1, dbm(level), true);
            let change = receiver.decide(us(50), &levels());
            (change, receiver.is_busy(&levels()))
        };
        assert_eq!(change(-82.0, None), (Change::Found(1), true));
        assert_eq!(change(-82.1, None), (Change::None, false));
        assert_eq!(change(-80.0, Some(-84.5)), (Change::Found(1), true));
        assert_eq!(change(-80.0, Some(-83.5)), (Change::None, false));
        assert_eq!(change(-64.0, Some(-65.0)), (Change::None, true), "both together are energy");
    }

    #[test]
    fn a_preamble_can_be_hidden_until_it_is_found() {
        let after = |later: u64| {
            let mut receiver = Receiver::default();
            receiver.arrive(us(0), 0, dbm(-70.0), true);
            assert_eq!(receiver.decide(us(0), &levels()), Change::Found(0));
            receiver.arrive(us(later), 1, dbm(-70.0), true);
            receiver.decide(us(later), &levels())
        };
        assert_eq!(after(3), Change::Lost);
        assert_eq!(after(4), Change::None);
    }

    #[test]
    fn chunks_are_times_of_constant_interference() {
        let mut receiver = Receiver::default();
        receiver.arrive(us(0), 0, dbm(-60.0), true);
        receiver.decide(us(0), &levels());
        for (at, id, level) in [(100, 1, -80.0), (200, 2, -83.0)] {
            receiver.arrive(us(at), id, dbm(level), true);
            assert_eq!(receiver.decide(us(at), &levels()), Change::None);
        }
        assert_eq!(receiver.depart(us(300), 1), Ok(None));
        let followed = receiver.depart(us(400), 0).unwrap().expect("it was followed");
        assert!(followed.overlapped && followed.power == dbm(-60.0));
        let chunk =
            |begin, end, interference| Chunk { begin: us(begin), end: us(end), interference };
        let (a, b) = (dbm(-80.0), dbm(-83.0));
        let expected =
            [chunk(0, 100, 0.0), chunk(100, 200, a), chunk(200, 300, a + b), chunk(300, 400, b)];
        assert_eq!(receiver.chunks(), expected);
        assert!(!receiver.is_busy(&levels()), "what is left is too weak");
    }

    #[test]
    fn who_sends_receives_nothing() {
        let mut receiver = Receiver::default();
        receiver.arrive(us(0), 0, dbm(-60.0), true);
        receiver.decide(us(0), &levels());
        receiver.begin_sending();
        receiver.arrive(us(10), 1, dbm(-50.0), true);
        assert_eq!(receiver.decide(us(10), &levels()), Change::None);
        assert_eq!(receiver.depart(us(50), 0), Ok(None));
        receiver.end_sending();
        assert!(receiver.is_busy(&levels()), "there is energy");
        assert_eq!(receiver.depart(us(60), 1), Ok(None), "its preamble was missed");
        assert!(!receiver.is_busy(&levels()));
    }
}
