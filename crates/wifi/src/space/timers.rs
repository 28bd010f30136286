//! The timers of the nodes: one tree, in which a change leaves nothing behind.

use kernel::{Duration, Instant};

/// When each node acts next, and the earliest of these instants. A timer that is set again or
/// cancelled leaves nothing behind, and mostly changes only a few places near its node.
#[derive(Debug)]
pub(super) struct NodeTimers {
    /// A binary tree: place 1 is its root, the places below *i* are 2·*i* and 2·*i* + 1, and the
    /// last half of the places are the nodes. A place has the earliest instant below it;
    /// [`Instant::NEVER`] if no timer there is set.
    earliest: Vec<Instant>,
    /// Nodes of which some doze.
    dozing: Vec<u32>,
    /// Before this instant none of them transmits.
    doze_until: Instant,
    /// How long a node can doze: the shortest interframe space before slots are counted.
    space: Duration,
}

impl NodeTimers {
    /// No timer of so many nodes is set. No slot is counted within a space after a frame.
    pub(super) fn new(nodes: usize, space: Duration) -> Self {
        let earliest = vec![Instant::NEVER; 2 * nodes.next_power_of_two()];
        Self { earliest, dozing: Vec::new(), doze_until: Instant::NEVER, space }
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
        self.set(node, Instant::NEVER);
        if self.dozing.is_empty() {
            self.doze_until = now + self.space;
        }
        self.dozing.push(node);
    }

    /// Whether a timer of the nodes that doze may be the earliest.
    #[inline]
    pub(super) fn must_rouse(&self) -> bool {
        !self.dozing.is_empty() && self.earliest[1] >= self.doze_until
    }

    /// The list of nodes of which some doze.
    pub(super) fn dozing(&mut self) -> &mut Vec<u32> {
        &mut self.dozing
    }

    /// Sets the timer of a node; [`Instant::NEVER`] cancels it.
    #[inline]
    pub(super) fn set(&mut self, node: u32, at: Instant) {
        self.change(self.earliest.len() / 2 + node as usize, at);
    }

    fn change(&mut self, mut place: usize, mut at: Instant) {
        while self.earliest[place] != at {
            self.earliest[place] = at;
            if place == 1 {
                return;
            }
            at = at.min(self.earliest[place ^ 1]);
            place /= 2;
        }
    }

    /// The earliest instant at which a timer expires.
    pub(super) fn earliest(&self) -> Option<Instant> {
        Some(self.earliest[1]).filter(|&at| at < Instant::NEVER)
    }

    /// Cancels the timers that expire by now, and appends their nodes by number.
    pub(super) fn take_due(&mut self, now: Instant, due: &mut Vec<u32>) {
        let nodes = self.earliest.len() / 2;
        while self.earliest[1] <= now {
            let mut place = 1;
            while place < nodes {
                place *= 2;
                place += usize::from(self.earliest[place] > now);
            }
            due.push((place - nodes) as u32);
            self.change(place, Instant::NEVER);
        }
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
                prop_assert_eq!(timers.earliest(), all.iter().copied().flatten().min());
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
