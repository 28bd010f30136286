//! The timers of the nodes: a list of those that are set, which are few.

use kernel::{Duration, Instant};

/// When each node acts next, and the earliest of these instants. Few nodes have a timer at a time:
/// most have nothing to send, or doze. The earliest is therefore found among those that are set,
/// and only when it may have changed. A timer that is set again or cancelled leaves nothing behind.
#[derive(Debug)]
pub(super) struct NodeTimers {
    /// Those that are set, in no order, each with its node.
    set: Vec<(Instant, u32)>,
    /// The place of each node's timer among these; [`UNSET`] if it is not.
    places: Vec<u32>,
    /// The earliest of them, or an earlier instant while `is_late`.
    earliest: Instant,
    /// The earliest has been cancelled or moved later.
    is_late: bool,
    /// Nodes of which some doze.
    dozing: Vec<u32>,
    /// Before this instant none of them counts a slot.
    doze_until: Instant,
    /// Nodes of which some doze on, and before when each counts no slot.
    resting: Vec<(Instant, u32)>,
    /// Before this instant none of these counts a slot.
    rest_until: Instant,
    /// How long a node can doze at least: the shortest interframe space before slots are counted.
    space: Duration,
}

/// No place.
const UNSET: u32 = u32::MAX;

impl NodeTimers {
    /// No timer of so many nodes is set. No slot is counted within a space after a frame.
    pub(super) fn new(nodes: usize, space: Duration) -> Self {
        let (set, places) = (Vec::with_capacity(nodes), vec![UNSET; nodes]);
        let (earliest, dozing) = (Instant::NEVER, Vec::new());
        let (doze_until, rest_until, resting) = (Instant::NEVER, Instant::NEVER, Vec::new());
        let is_late = false;
        Self { set, places, earliest, is_late, dozing, doze_until, resting, rest_until, space }
    }

    /// From now on, no node dozes.
    pub(super) fn keep_awake(&mut self) {
        self.space = Duration::ZERO;
    }

    /// Whether nodes may doze.
    #[inline]
    pub(super) fn may_doze(&self) -> bool {
        self.space > Duration::ZERO
    }

    /// A node begins to doze now: its timer is set when it is roused.
    #[inline]
    pub(super) fn doze(&mut self, node: u32, now: Instant) {
        if self.places[node as usize] != UNSET {
            self.set(node, Instant::NEVER);
        }
        self.doze_until = self.doze_until.min(now + self.space);
        self.dozing.push(node);
    }

    /// Whether a timer of the nodes that doze may be the earliest.
    #[inline]
    pub(super) fn must_rouse(&mut self) -> bool {
        let until = self.doze_until.min(self.rest_until);
        until < Instant::NEVER && self.earliest() >= until
    }

    /// Takes the list of nodes of which some doze, and whose timers may be the earliest.
    pub(super) fn take_dozing(&mut self) -> Vec<u32> {
        let earliest = self.earliest();
        if earliest >= self.rest_until {
            self.rest_until = Instant::NEVER;
            let Self { dozing, resting, rest_until, .. } = self;
            resting.retain(|&(until, node)| {
                let rests = until > earliest;
                if rests {
                    *rest_until = until.min(*rest_until);
                } else {
                    dozing.push(node);
                }
                rests
            });
        }
        self.doze_until = Instant::NEVER;
        std::mem::take(&mut self.dozing)
    }

    /// Gives this list back, empty.
    pub(super) fn give_back(&mut self, mut dozing: Vec<u32>) {
        dozing.clear();
        self.dozing = dozing;
    }

    /// A node of the list dozes on: it counts no slot before this instant.
    pub(super) fn rest(&mut self, node: u32, until: Instant) {
        self.resting.push((until, node));
        self.rest_until = self.rest_until.min(until);
    }

    /// The shortest interframe space before slots are counted.
    pub(super) fn space(&self) -> Duration {
        self.space
    }

    /// Sets the timer of a node; [`Instant::NEVER`] cancels it.
    #[inline(never)]
    pub(super) fn set(&mut self, node: u32, at: Instant) {
        let place = self.places[node as usize];
        let Some(timer) = self.set.get_mut(place as usize) else {
            if at < Instant::NEVER {
                self.add(node, at);
            }
            return;
        };
        self.is_late |= timer.0 == self.earliest;
        timer.0 = at;
        if at == Instant::NEVER {
            return self.remove(place as usize);
        }
        self.earliest = self.earliest.min(at);
    }

    /// Sets a timer that is not set. It is apart, because the list might grow for all that the
    /// compiler knows, which needs registers that must be saved.
    #[inline(never)]
    fn add(&mut self, node: u32, at: Instant) {
        self.places[node as usize] = self.set.len() as u32;
        self.set.push((at, node));
        self.earliest = self.earliest.min(at);
    }

    /// Removes the timer at a place. The last one takes its place.
    #[inline]
    fn remove(&mut self, place: usize) {
        let (_, node) = self.set.swap_remove(place);
        if let Some(&(_, moved)) = self.set.get(place) {
            self.places[moved as usize] = place as u32;
        }
        self.places[node as usize] = UNSET;
    }

    /// The earliest instant at which a timer expires; [`Instant::NEVER`] if none is set.
    #[inline]
    pub(super) fn earliest(&mut self) -> Instant {
        if std::mem::take(&mut self.is_late) {
            self.earliest = self.set.iter().fold(Instant::NEVER, |least, &(at, _)| least.min(at));
        }
        self.earliest
    }

    /// Cancels the timers that expire by now, and appends their nodes by number to an empty list.
    pub(super) fn take_due(&mut self, now: Instant, due: &mut Vec<u32>) {
        let mut earliest = Instant::NEVER;
        // From the last one, so that removing one moves none that has not been examined.
        for place in (0..self.set.len()).rev() {
            let (at, node) = self.set[place];
            if at <= now {
                due.push(node);
                self.remove(place);
            } else {
                earliest = earliest.min(at);
            }
        }
        (self.earliest, self.is_late) = (earliest, false);
        due.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nodes_are_roused_before_one_of_them_may_act() {
        let mut timers = NodeTimers::new(3, Duration(50));
        timers.set(0, Instant(59));
        timers.doze(1, Instant(10));
        timers.doze(2, Instant(30));
        assert!(!timers.must_rouse(), "node 0 acts before");
        timers.set(0, Instant(60));
        assert!(timers.must_rouse());
        timers.set(0, Instant::NEVER);
        assert!(timers.must_rouse());
        let dozing = timers.take_dozing();
        assert_eq!(dozing, [1, 2]);
        timers.rest(1, Instant(90));
        timers.give_back(dozing);
        timers.set(0, Instant(80));
        assert!(!timers.must_rouse(), "node 0 acts before");
        timers.doze(2, Instant(35));
        timers.set(0, Instant(85));
        assert!(timers.must_rouse(), "node 2 may act before");
        assert_eq!(timers.take_dozing(), [2]);
        timers.set(0, Instant(90));
        assert!(timers.must_rouse(), "node 1 may act before");
        assert_eq!(timers.take_dozing(), [1]);
        assert!(!timers.must_rouse());
    }

    proptest! {
        #[test]
        fn they_expire_as_if_all_were_examined(
            nodes in 1u32..70,
            steps in prop::collection::vec((0u32..70, prop::option::of(0u64..30)), 0..200),
        ) {
            let mut timers = NodeTimers::new(nodes as usize, Duration::ZERO);
            let mut all = vec![None; nodes as usize];
            for (now, (node, at)) in (0..).map(|step| Instant(step / 8)).zip(steps) {
                let (node, at) = (node % nodes, at.map(|at| now + Duration(at)));
                timers.set(node, at.unwrap_or(Instant::NEVER));
                all[node as usize] = at;
                let earliest = all.iter().copied().flatten().min();
                prop_assert_eq!(timers.earliest(), earliest.unwrap_or(Instant::NEVER));
                let mut due = Vec::new();
                timers.take_due(now, &mut due);
                let is_due = |node: &u32| all[*node as usize].is_some_and(|at| at <= now);
                prop_assert_eq!(&due, &(0..nodes).filter(is_due).collect::<Vec<_>>());
                for node in due {
                    all[node as usize] = None;
                }
            }
        }
    }
}
