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
    /// Before this instant none of them transmits.
    doze_until: Instant,
    /// How long a node can doze: the shortest interframe space before slots are counted.
    space: Duration,
}

/// No place.
const UNSET: u32 = u32::MAX;

impl NodeTimers {
    /// No timer of so many nodes is set. No slot is counted within a space after a frame.
    pub(super) fn new(nodes: usize, space: Duration) -> Self {
        let (set, places) = (Vec::with_capacity(nodes), vec![UNSET; nodes]);
        let (earliest, dozing) = (Instant::NEVER, Vec::new());
        let doze_until = Instant::NEVER;
        Self { set, places, earliest, is_late: false, dozing, doze_until, space }
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
        if self.dozing.is_empty() {
            self.doze_until = now + self.space;
        }
        self.dozing.push(node);
    }

    /// Whether a timer of the nodes that doze may be the earliest.
    #[inline]
    pub(super) fn must_rouse(&mut self) -> bool {
        !self.dozing.is_empty() && self.earliest() >= self.doze_until
    }

    /// The list of nodes of which some doze.
    pub(super) fn dozing(&mut self) -> &mut Vec<u32> {
        &mut self.dozing
    }

    /// Sets the timer of a node; [`Instant::NEVER`] cancels it.
    #[inline(never)]
    pub(super) fn set(&mut self, node: u32, at: Instant) {
        let place = self.places[node as usize];
        if let Some(timer) = self.set.get_mut(place as usize) {
            self.is_late |= timer.0 == self.earliest;
            timer.0 = at;
            if at == Instant::NEVER {
                return self.remove(place as usize);
            }
        } else if at < Instant::NEVER {
            self.places[node as usize] = self.set.len() as u32;
            self.set.push((at, node));
        }
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
        // From the last one, so that removing one moves none that has not been examined.
        for place in (0..self.set.len()).rev() {
            let (at, node) = self.set[place];
            if at <= now {
                due.push(node);
                self.remove(place);
            }
        }
        self.is_late |= !due.is_empty();
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
        assert_eq!(std::mem::take(timers.dozing()), [1, 2]);
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
