//! What several nodes answer to one frame at the same time: HE TB PPDUs, and CTSs that answer an
//! MU-RTS.
//!
//! Their preambles are received as one, whose power is that of all together. If signals take time,
//! they arrive one after the other. Those within a guard interval after the first are received as
//! one.

use super::{End, PhyReceiver, Received, ReceivedSignal};
use crate::space::interference::Bounds;
use crate::space::power::Levels;
use kernel::{Duration, Instant};

/// `aPPDUMaxTime`, with an extension.
const LONGEST: Duration = Duration::from_micros(5484 + 6);

/// One of several HE TB PPDUs at a receiver.
#[derive(Clone, Copy, Debug)]
pub(in crate::space) struct JointSignal {
    pub(in crate::space) signal: ReceivedSignal,
    /// The node that they answer.
    pub(in crate::space) answered: u32,
    /// Those that arrive within this time after the first are received as one.
    pub(in crate::space) within: Duration,
}

/// HE TB PPDUs that answer a node at the same time.
#[derive(Clone, Copy, Debug)]
struct Joint {
    /// When the first has arrived.
    since: Instant,
    answered: u32,
    /// How many of them are on the air.
    number: u32,
    /// The number of the first, and the power of all.
    signal: ReceivedSignal,
}

impl Joint {
    /// Whether a signal that begins or has begun at this instant is one of them.
    fn has(&self, began: Instant, &JointSignal { answered, within, .. }: &JointSignal) -> bool {
        let is_in_time = self.since <= began && began.since(self.since) <= within;
        self.answered == answered && is_in_time
    }
}

/// The HE TB PPDUs that a receiver has found.
#[derive(Debug, Default)]
pub(super) struct AllJoint {
    /// Those that may still be on the air, by when they began and the node that they answer.
    last: Vec<Joint>,
    /// Since when those were received whose reception has ended last, and the node that they
    /// answer.
    ended: Option<(Instant, u32)>,
}

impl PhyReceiver {
    /// Whether energy detection senses a signal when the node begins to answer another one, apart
    /// from what a nearer node answers to the same frame: it arrives when carrier sense is over.
    pub(in crate::space) fn has_energy_beside(
        &self,
        now: Instant,
        answered: Option<u32>,
        within: Duration,
        levels: &Levels,
    ) -> bool {
        let mut all = self.joint.iter().flat_map(|all| &all.last);
        let is_own = |it: &&Joint| Some(it.answered) == answered && now.since(it.since) <= within;
        let beside = all.find(is_own).map(|joint| joint.signal.power.fixed);
        self.sum - beside.unwrap_or_default() >= levels.energy
    }

    /// Whether of the answers that are received as one with this one, which began at this instant,
    /// some are still on the air.
    pub(in crate::space) fn has_joint(&self, began: Instant, signal: &JointSignal) -> bool {
        let mut all = self.joint.iter().flat_map(|all| &all.last);
        all.any(|joint| joint.has(began, signal) && joint.number > 0)
    }

    /// One of several HE TB PPDUs begins that answer a node at the same time. Their preambles are
    /// received as one, which gets stronger with each.
    pub(in crate::space) fn arrive_jointly(
        &mut self,
        now: Instant,
        one: JointSignal,
        is_decodable: bool,
        levels: &Levels,
    ) -> bool {
        let JointSignal { signal, answered, .. } = one;
        let last = &mut self.joint.get_or_insert_default().last;
        last.retain(|joint| now.since(joint.since) <= LONGEST);
        let place = last.iter().position(|joint| joint.has(now, &one));
        let others = place.map(|place| last.swap_remove(place));
        let power = others.map_or(signal.power, |joint| joint.signal.power.plus(signal.power));
        let id = others.map_or(signal.id, |joint| joint.signal.id);
        let (since, number) = others.map_or((now, 0), |joint| (joint.since, joint.number));
        let signal = ReceivedSignal { id, power };
        last.push(Joint { since, answered, number: number + 1, signal });
        // As if all of them arrived in place of the earlier ones.
        if let Some(joint) = others {
            self.sum = self.sum - joint.signal.power.fixed;
            self.newest = self.newest.filter(|&(since, newest)| since != now || newest.id != id);
            if let Some(own) = self.reception.as_mut().filter(|own| own.signal.id == id) {
                own.signal.power = power;
            }
        }
        self.arrive(now, signal, is_decodable, levels)
    }

    /// One of these ends, which began at this instant. One preamble was received for all; its power
    /// is that of all together.
    pub(in crate::space) fn depart_jointly(
        &mut self,
        began: Instant,
        one: JointSignal,
        levels: &Levels,
    ) -> End {
        let JointSignal { signal, answered, .. } = one;
        let all_joint = self.joint.as_deref_mut();
        let ended = all_joint.as_ref().and_then(|all| all.ended);
        let joint = all_joint.and_then(|all| all.last.iter_mut().find(|it| it.has(began, &one)));
        let Some(joint) = joint else {
            return self.depart(signal, levels);
        };
        joint.number -= 1;
        let Joint { since, signal: all, .. } = *joint;
        let is_beside = ended == Some((since, answered));
        let is_first = self.reception.is_some_and(|own| own.signal.id == all.id);
        if !is_first && !is_beside {
            return self.depart(signal, levels);
        }
        self.sum = self.sum - signal.power.fixed;
        let bounds = Bounds { least: 0.0, most: 0.0, chunks: 1 };
        let received = Received { power: all.power.milliwatts, bounds };
        if is_first {
            (self.reception, self.after_frame) = (None, true);
            self.joint.get_or_insert_default().ended = Some((since, answered));
            End::Received(received)
        } else {
            End::Beside(received)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::*;
    use crate::phy::linear;
    use crate::space::power::Power;
    use crate::space::radio::ReceiverSettings;
    use kernel::Db;

    fn levels() -> Levels {
        Levels::of(&ReceiverSettings::default())
    }

    /// An answer to node 0 at -70 dBm.
    fn answer(id: u32) -> JointSignal {
        let power = Power::from(linear(Db(-70.0)));
        let signal = ReceivedSignal { id, power };
        JointSignal { signal, answered: 0, within: Duration(1600) }
    }

    /// A receiver at which two equal answers begin, the second so many nanoseconds later, and the
    /// effect of each.
    fn two(later: u64) -> (PhyReceiver, [Change; 2]) {
        let (mut receiver, levels) = (PhyReceiver::default(), levels());
        let effects = [(1, 0), (2, later)].map(|(id, at)| {
            receiver.arrive_jointly(Instant(at), answer(id), true, &levels);
            receiver.decide(Instant(at), &levels)
        });
        (receiver, effects)
    }

    #[test]
    fn answers_within_the_guard_interval_are_received_as_one() {
        let (mut receiver, effects) = two(1600);
        assert_eq!(effects, [Change::Found(1), Change::None]);
        let twice = 2.0 * linear(Db(-70.0));
        for (id, began, is_last) in [(1, 0, false), (2, 1600, true)] {
            let end = receiver.depart_jointly(Instant(began), answer(id), &levels());
            let (End::Received(how) | End::Beside(how)) = end else { panic!("{end:?}") };
            assert!((how.power / twice - 1.0).abs() < 1e-9, "{how:?}");
            assert_eq!(receiver.has_joint(Instant(began), &answer(id)), !is_last);
        }
        assert!(receiver.is_clear());
    }

    #[test]
    fn a_later_answer_hides_the_preamble_of_the_first() {
        let (mut receiver, effects) = two(1601);
        assert_eq!(effects, [Change::Found(1), Change::Lost]);
        for (id, began) in [(1, 0), (2, 1601)] {
            let end = receiver.depart_jointly(Instant(began), answer(id), &levels());
            assert!(matches!(end, End::Energy | End::Unnoticed), "{end:?}");
        }
    }

    #[test]
    fn carrier_sense_before_an_answer_leaves_out_those_to_the_same_frame() {
        let (mut receiver, levels) = (PhyReceiver::default(), levels());
        let loud = |id| {
            let power = Power::from(linear(Db(-50.0)));
            JointSignal { signal: ReceivedSignal { id, power }, ..answer(id) }
        };
        receiver.arrive_jointly(Instant(0), loud(1), true, &levels);
        let busy = |answered, at| {
            receiver.has_energy_beside(Instant(at), Some(answered), Duration(1600), &levels)
        };
        assert!(!busy(0, 1000), "it answers the same frame");
        assert!(busy(7, 1000), "it answers another one");
        assert!(busy(0, 1601), "it began long ago");
    }
}
