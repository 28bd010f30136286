//! The timers of the nodes.

use kernel::{Duration, Instant};

/// When each node acts next, and the earliest of these instants.
///
/// Carrier sense sets the timers of many nodes in each frame, of which few expire. To set a timer
/// therefore only notes that the group of the node is stale; what is earliest is found at the end
/// of an event, without a branch that depends on an instant.
#[derive(Debug)]
pub(super) struct NodeTimers {
    /// The first level has the instants of the nodes ([`Instant::NEVER`] if no timer is set). A
    /// place of each level above has the earliest instant of a group of the level below it, unless
    /// that group is stale. The last level is one group.
    levels: Vec<Level>,
    /// The earliest instant, unless a timer was set since it was found.
    first: Instant,
    is_stale: bool,
    /// Nodes of which some doze.
    dozing: Vec<u32>,
    /// Before this instant none of them transmits.
    doze_until: Instant,
    /// How long a node can doze: the shortest interframe space before slots are counted.
    space: Duration,
}

/// Places in a group.
const GROUP: usize = 8;

#[derive(Debug)]
struct Level {
    groups: Vec<[Instant; GROUP]>,
    /// The groups whose earliest instant may have changed, as bits.
    stale: Vec<u64>,
}

impl Level {
    fn new(groups: usize) -> Self {
        let stale = vec![0; groups.div_ceil(64)];
        Self { groups: vec![[Instant::NEVER; GROUP]; groups], stale }
    }

    #[inline]
    fn set(&mut self, place: usize, at: Instant) {
        let group = place / GROUP;
        self.groups[group][place % GROUP] = at;
        self.stale[group / 64] |= 1 << (group % 64);
    }
}

impl NodeTimers {
    /// No timer of so many nodes is set. No slot is counted within a space after a frame.
    pub(super) fn new(nodes: usize, space: Duration) -> Self {
        let mut groups = nodes.div_ceil(GROUP).max(1);
        let mut levels = vec![Level::new(groups)];
        while groups > 1 {
            groups = groups.div_ceil(GROUP);
            levels.push(Level::new(groups));
        }
        let (first, doze_until) = (Instant::NEVER, Instant::NEVER);
        Self { levels, first, is_stale: false, dozing: Vec::new(), doze_until, space }
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
        self.set(node, None);
        if self.dozing.is_empty() {
            self.doze_until = now + self.space;
        }
        self.dozing.push(node);
    }

    /// Whether a timer of the nodes that doze may be the earliest.
    pub(super) fn must_rouse(&mut self) -> bool {
        !self.dozing.is_empty() && self.earliest().is_none_or(|at| at >= self.doze_until)
    }

    /// The list of nodes of which some doze, empty afterwards.
    pub(super) fn dozing(&mut self) -> &mut Vec<u32> {
        &mut self.dozing
    }

    /// Sets the timer of a node, or cancels it.
    #[inline]
    pub(super) fn set(&mut self, node: u32, at: Option<Instant>) {
        self.levels[0].set(node as usize, at.unwrap_or(Instant::NEVER));
        self.is_stale = true;
    }

    /// The earliest instant at which a timer expires.
    #[inline]
    pub(super) fn earliest(&mut self) -> Option<Instant> {
        if self.is_stale {
            self.refresh();
        }
        Some(self.first).filter(|&at| at < Instant::NEVER)
    }

    fn refresh(&mut self) {
        for level in 1..self.levels.len() {
            let (below, from) = self.levels.split_at_mut(level);
            let (below, above) = (&mut below[level - 1], &mut from[0]);
            for (word, stale) in below.stale.iter_mut().enumerate() {
                while *stale != 0 {
                    let group = 64 * word + stale.trailing_zeros() as usize;
                    *stale &= *stale - 1;
                    above.set(group, least(&below.groups[group]));
                }
            }
        }
        self.is_stale = false;
        self.first = self.levels.last().map_or(Instant::NEVER, |top| least(&top.groups[0]));
    }

    /// Cancels the timers that expire by now, and appends their nodes by number.
    pub(super) fn take_due(&mut self, now: Instant, due: &mut Vec<u32>) {
        let begin = due.len();
        while let Some(at) = self.earliest().filter(|&at| at <= now) {
            let place = |group: usize, level: &Level| {
                let place = level.groups[group].iter().position(|&other| other == at);
                GROUP * group + place.expect("the earliest instant is that of a node")
            };
            let node = self.levels.iter().rev().fold(0, place);
            due.push(node as u32);
            self.set(node as u32, None);
        }
        due[begin..].sort_unstable();
    }
}

/// The earliest instant of a group.
#[inline]
fn least(group: &[Instant; GROUP]) -> Instant {
    Instant(group.iter().fold(u64::MAX, |least, at| least.min(at.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_expire_as_if_all_were_examined(
            nodes in 1u32..700,
            steps in prop::collection::vec((0u32..700, prop::option::of(0u64..30)), 0..200),
        ) {
            let mut timers = NodeTimers::new(nodes as usize, Duration::ZERO);
            let mut all = vec![None; nodes as usize];
            for (now, (node, at)) in (0..).map(|step| Instant(step / 8)).zip(steps) {
                let (node, at) = (node % nodes, at.map(|at| now + kernel::Duration(at)));
                timers.set(node, at);
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
