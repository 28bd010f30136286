//! Flow state (RFC 4728 section 3.5): once the nodes of a route know a flow, its packets do not
//! carry the route.
//!
//! The simulation keeps the route with the packet, without its bytes. Nodes therefore never forget
//! a flow, and there are no errors of unknown flows.

use kernel::{Duration, Instant};
use std::collections::BTreeMap;
use wire::{NodeId, PathId, Paths};

/// How many packets of a new flow carry the route, as in ns-2.
const FIRST: u8 = 3;
/// How long after a packet that has carried the route the next one does, as in ns-2.
const REPEAT: Duration = Duration::from_secs(5);
/// How long a flow lives after its last packet, as in ns-2.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The flows of a node, by route.
#[derive(Debug, Default)]
pub(super) struct Flows(BTreeMap<PathId, Flow>);

#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Packets that have carried the route, up to `FIRST`.
    carried: u8,
    carried_at: Instant,
    used_at: Instant,
}

impl Flows {
    /// A packet takes this route; returns the route as the packet carries it or not.
    pub(super) fn take(&mut self, now: Instant, path: PathId) -> PathId {
        let new = Flow { carried: 0, carried_at: now, used_at: now };
        let flow = self.0.entry(path).or_insert(new);
        if now.since(flow.used_at) > TIMEOUT {
            *flow = new;
        }
        flow.used_at = now;
        if flow.carried >= FIRST && now.since(flow.carried_at) < REPEAT {
            return path.implied();
        }
        (flow.carried, flow.carried_at) = (FIRST.min(flow.carried + 1), now);
        path
    }

    /// A link has failed: flows over it begin anew.
    pub(super) fn remove(&mut self, from: NodeId, to: NodeId, paths: &Paths) {
        self.0.retain(|&path, _| !paths.nodes(path).windows(2).any(|pair| pair == [from, to]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_three_packets_and_one_in_5_s_carry_the_route() {
        let mut paths = Paths::default();
        let path = paths.intern(&[NodeId(0), NodeId(1)]);
        let mut flows = Flows::default();
        let mut carried = |s: u64| {
            let at = Instant::ZERO + Duration::from_secs(s);
            !flows.take(at, path).is_implied()
        };
        let times = [0, 1, 1, 2, 5, 6, 7, 67, 128, 129, 130, 131];
        let expected = [true, true, true, false, false, true, false, true, true, true, true, false];
        assert_eq!(times.map(&mut carried), expected);
        flows.remove(NodeId(0), NodeId(1), &paths);
        assert!(!flows.take(Instant::ZERO + Duration::from_secs(131), path).is_implied());
    }
}
