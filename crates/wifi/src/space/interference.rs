//! The interference with a frame over time.

use super::power::FixedPower;
use super::signals::{Signals, TransmissionSpan};
use crate::interferer::Arrival;
use kernel::{Duration, Instant};

/// A time of constant interference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chunk {
    pub(super) begin: Instant,
    pub(super) end: Instant,
    /// In milliwatts.
    pub(super) interference: f64,
}

/// Between which limits interference was at all times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// In milliwatts.
    pub(super) least: f64,
    /// In milliwatts.
    pub(super) most: f64,
    /// There were no more times of constant interference.
    pub(super) chunks: usize,
}

impl Bounds {
    /// Of some times of constant interference.
    pub(super) fn of(chunks: &[Chunk]) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for chunk in chunks {
            least = least.min(chunk.interference);
            most = most.max(chunk.interference);
        }
        Self { least, most, chunks: chunks.len() }
    }
}

/// Something that is on the air with a frame begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Instant,
    /// Its place among all that is on the air with the frame.
    index: u32,
    begins: bool,
}

/// Interference with a frame, over its time; kept for its memory.
#[derive(Debug, Default)]
pub(super) struct Interference {
    /// The number of its transmission.
    id: u32,
    begin: Instant,
    end: Instant,
    /// Whether the fields below are those of this frame. Most frames are received or lost whatever
    /// was on the air with them.
    is_known: bool,
    /// What was on the air with the frame.
    others: Vec<TransmissionSpan>,
    /// When the bursts of interferers begin and end that are on the air with the frame, and their
    /// powers at the node that is looked at; without powers they are left out.
    bursts: Vec<(Instant, Instant)>,
    burst_powers: Vec<FixedPower>,
    /// When, after the frame has begun, which of the others begins or ends, bursts after frames; in
    /// this order.
    events: Vec<Event>,
    /// Their powers at the node that is looked at.
    powers: Vec<FixedPower>,
    chunks: Vec<Chunk>,
    /// Whether others may answer the same frame at the same time.
    is_joint: bool,
    /// How much more power the stations have in the resource unit of the frame than they would have
    /// on the whole channel.
    pub(super) concentration: f64,
}

impl Interference {
    /// From now on it is that with a transmission that ends now, beside these bursts.
    pub(super) fn with(&mut self, id: u32, signals: &Signals, bursts: &[Arrival]) {
        let transmission = signals.transmission(id);
        (self.id, self.is_known) = (id, false);
        (self.begin, self.end) = (transmission.start, transmission.end());
        self.bursts.clear();
        self.bursts.extend(bursts.iter().map(|Arrival { burst, .. }| (burst.start, burst.end)));
        self.burst_powers.clear();
    }

    /// Looks up what was on the air with the frame.
    fn look_up(&mut self, signals: &Signals) {
        self.is_known = true;
        self.others.clear();
        self.others.extend(signals.others(self.id));
        self.is_joint = signals.transmission(self.id).frame.is_joint();
        if self.is_joint {
            self.others.retain(|sent| signals.is_in_unit(self.id, sent) != Some(false));
        }
        self.events.clear();
        let spans = self
            .others
            .iter()
            .map(|sent| (sent.begin, sent.end))
            .chain(self.bursts.iter().copied());
        for ((begin, end), index) in spans.zip(0..) {
            let times = [(begin, true), (end, false)].into_iter();
            let times = times.filter(|&(at, _)| self.begin < at && at < self.end);
            self.events.extend(times.map(|(at, begins)| Event { at, index, begins }));
        }
        self.events.sort_unstable();
        self.powers.resize(self.others.len() + self.bursts.len(), FixedPower::default());
    }

    /// The powers of the bursts at the node that is looked at next; none to leave them out.
    pub(super) fn set_bursts(&mut self, powers: &[FixedPower]) {
        self.burst_powers.clear();
        self.burst_powers.extend_from_slice(powers);
    }

    /// The times of constant interference at a node.
    pub(super) fn at(&mut self, node: u32, signals: &Signals) -> &[Chunk] {
        if !self.is_known {
            self.look_up(signals);
        }
        let Self { begin, end, ref others, ref events, ref mut powers, ref mut chunks, .. } = *self;
        let (mut begin, mut sum) = (begin, FixedPower::default());
        let (of_others, of_bursts) = powers.split_at_mut(others.len());
        let (mode, id) = (&signals.transmission(self.id).frame.mode, self.id);
        let concentration = self.is_joint.then_some(self.concentration);
        for (sent, place) in others.iter().zip(of_others) {
            let power = signals.power_within(sent, node, mode);
            let power = match (power, concentration) {
                (Some(power), Some(factor)) if signals.is_in_unit(id, sent) == Some(true) => {
                    FixedPower::of(power.milliwatts * factor)
                }
                _ => power.map_or(FixedPower::default(), |power| power.fixed),
            };
            *place = power;
            sum = sum + if sent.begin <= begin { power } else { FixedPower::default() };
        }
        for (number, ((start, _), place)) in self.bursts.iter().zip(of_bursts).enumerate() {
            *place = self.burst_powers.get(number).copied().unwrap_or_default();
            sum = sum + if *start <= begin { *place } else { FixedPower::default() };
        }
        chunks.clear();
        for &Event { at, index, begins } in events {
            let power = powers[index as usize];
            if power == FixedPower::default() {
                continue;
            }
            if at > begin {
                chunks.push(Chunk { begin, end: at, interference: sum.milliwatts() });
                begin = at;
            }
            sum = if begins { sum + power } else { sum - power };
        }
        chunks.push(Chunk { begin, end, interference: sum.milliwatts() });
        chunks
    }
}

/// How much of a span of time falls into a chunk.
pub(super) fn overlap(chunk: &Chunk, begin: Instant, end: Instant) -> Duration {
    chunk.end.min(end).since(chunk.begin.max(begin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::{Deferral, ElicitedResponse};
    use crate::phy::error::Nist;
    use crate::phy::propagation::{Position, Trajectory};
    use crate::phy::{Airtime, DOT11A};
    use crate::space::frame::{OnAir, Transmission, Users};
    use crate::space::{Losses, Radio, Site};
    use kernel::{Bytes, Db, Dbm};
    use wire::FrameKind;

    fn us(n: u64) -> Instant {
        Instant(n * 1000)
    }

    fn transmission(from: u32, begin: u64, end: u64) -> Transmission {
        let frame = OnAir {
            kind: FrameKind::Data,
            from,
            to: None,
            edcaf: 0,
            mode: DOT11A.modes[0],
            psdu: Bytes(100),
            reserves: Duration::ZERO,
            answer: ElicitedResponse::None,
            beside: None,
            users: Users::One,
        };
        let (preamble, header, extension) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        let airtime = Airtime { preamble, header, payload: us(end) - us(begin), extension };
        Transmission::new(frame, us(begin), airtime, Deferral::Extra(Duration::ZERO))
    }

    /// Nodes of which node *i* loses `losses[i]` dB to each other.
    fn signals(losses: &[f64]) -> Signals {
        let rows = losses.iter().map(|&loss| vec![Db(loss); losses.len()]).collect();
        let site = Site {
            trajectory: Trajectory::from(Position::default()),
            channel: 1,
            tx_power: Dbm(20.0),
            is_access_point: false,
        };
        let radio = Radio::new(Losses::Matrix(rows), Box::new(Nist {}));
        Signals::new(radio, vec![site; losses.len()])
    }

    #[test]
    fn chunks_are_times_of_constant_interference() {
        // Node 3 is not heard, node 4 has sent before, and node 5 is there all the time.
        let mut signals = signals(&[80.0, 100.0, 103.0, 200.0, 90.0, 110.0]);
        let transmissions = [(4, 0, 10), (5, 5, 500), (0, 10, 410), (1, 110, 310), (3, 150, 200)];
        let mut ended = Vec::new();
        for (from, begin, end) in transmissions.into_iter().chain([(2, 210, 500)]) {
            signals.end(us(begin), &mut ended);
            signals.forget(us(begin));
            let id = signals.enter(transmission(from, begin, end));
            signals.begin(id, |_| false);
        }
        signals.end(us(410), &mut ended);
        let of_node_0 = |id: &&u32| signals.transmission(**id).frame.from == 0;
        let id = *ended.iter().find(of_node_0).expect("it has ended");
        let mut interference = Interference::default();
        interference.with(id, &signals, &[]);
        let power = |from| signals.mean_power(from, 4, Instant::ZERO).unwrap().fixed;
        let (a, b, c) = (power(1), power(2), power(5));
        let chunk = |begin, end, sum: FixedPower| {
            let (begin, end) = (us(begin), us(end));
            Chunk { begin, end, interference: sum.milliwatts() }
        };
        let expected = [
            chunk(10, 110, c),
            chunk(110, 210, c + a),
            chunk(210, 310, c + a + b),
            chunk(310, 410, c + b),
        ];
        assert_eq!(interference.at(4, &signals), expected);
        // A node does not hear itself.
        assert_eq!(interference.at(1, &signals), [chunk(10, 210, c), chunk(210, 410, c + b)]);
    }

    #[test]
    fn signals_that_end_leave_no_power() {
        let powers = [1e-3, 3e-11, 7.7e-6, 0.123_456];
        let fixed = powers.map(FixedPower::of);
        let sum = fixed.iter().fold(FixedPower::default(), |sum, &power| sum + power);
        assert!((sum.milliwatts() - powers.iter().sum::<f64>()).abs() < 4e-15);
        assert_eq!(
            fixed.into_iter().rev().fold(sum, |sum, power| sum - power),
            FixedPower::default()
        );
        assert_eq!((FixedPower::of(1e300) + FixedPower::of(1e300)).milliwatts(), 16_384.0);
        assert_eq!(FixedPower::of(100.0).milliwatts(), 100.0);
    }
}
