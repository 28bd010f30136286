//! The routing table of a node, and the rules of sequence numbers (RFC 3561 sections 6.1 and 6.2).

use kernel::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};
use wire::NodeId;

/// The routes of a node, by destination.
///
/// A route whose lifetime has ended is treated as one whose link has failed: its sequence number
/// increases (section 6.1, "a lost or expired link"), so that the node accepts no route that leads
/// back over itself.
#[derive(Debug)]
pub(super) struct Table {
    routes: BTreeMap<NodeId, Route>,
    delete_period: Duration,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// The last known sequence number of the destination; `None` if none is known.
    pub(super) sequence: Option<u32>,
    /// Whether packets may use it.
    pub(super) is_valid: bool,
    pub(super) hops: u8,
    pub(super) next: NodeId,
    /// The neighbours that use this node as the next hop on the route.
    pub(super) precursors: BTreeSet<NodeId>,
    /// When a valid route becomes invalid, and an invalid one is deleted.
    pub(super) expires: Instant,
}

/// What a message tells of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct News {
    /// The destination's sequence number; `None` if the message does not tell it.
    pub(super) sequence: Option<u32>,
    pub(super) hops: u8,
    /// The neighbour that has sent the message.
    pub(super) next: NodeId,
    /// Until when the route is valid at least.
    pub(super) expires: Instant,
}

impl Table {
    pub(super) fn new(delete_period: Duration) -> Self {
        Self { routes: BTreeMap::new(), delete_period }
    }

    /// The route to a destination, valid or not.
    pub(super) fn get(&mut self, to: NodeId, now: Instant) -> Option<&mut Route> {
        let route = self.routes.get_mut(&to)?;
        if route.is_valid && route.expires <= now {
            let expired = route.expires;
            route.invalidate(expired + self.delete_period);
        }
        if !route.is_valid && route.expires <= now {
            self.routes.remove(&to);
            return None;
        }
        self.routes.get_mut(&to)
    }

    /// Takes over what a message tells of a route, if it is newer than what the node knows, or as
    /// new and better. Returns whether it has.
    pub(super) fn update(&mut self, to: NodeId, news: News, now: Instant) -> bool {
        let precursors = match self.get(to, now) {
            None => BTreeSet::new(),
            Some(route) => {
                if !route.accepts(&news) {
                    return false;
                }
                std::mem::take(&mut route.precursors)
            }
        };
        let known = self.get(to, now).map(|route| (route.sequence, route.expires, route.is_valid));
        let (known, before) = match known {
            Some((sequence, expires, is_valid)) => (sequence, is_valid.then_some(expires)),
            None => (None, None),
        };
        let route = Route {
            sequence: news.sequence.or(known),
            is_valid: true,
            hops: news.hops,
            next: news.next,
            precursors,
            expires: before.map_or(news.expires, |before| before.max(news.expires)),
        };
        self.routes.insert(to, route);
        true
    }

    /// A valid route is valid at least until this time.
    pub(super) fn extend(&mut self, to: NodeId, until: Instant, now: Instant) {
        if let Some(route) = self.get(to, now).filter(|route| route.is_valid) {
            route.expires = route.expires.max(until);
        }
    }

    /// Marks a valid route as invalid, with a higher sequence number. Returns the number, or 0 if
    /// none is known, and the precursors; `None` if there is no valid route.
    pub(super) fn invalidate(
        &mut self,
        to: NodeId,
        now: Instant,
    ) -> Option<(u32, BTreeSet<NodeId>)> {
        let delete_at = now + self.delete_period;
        let route = self.get(to, now).filter(|route| route.is_valid)?;
        route.invalidate(delete_at);
        Some((route.sequence.unwrap_or(0), route.precursors.clone()))
    }

    /// The destinations of the valid routes over a neighbour.
    pub(super) fn over(&mut self, neighbour: NodeId, now: Instant) -> Vec<NodeId> {
        let all: Vec<NodeId> = self.routes.keys().copied().collect();
        let is_over = |to: &NodeId| {
            self.get(*to, now).is_some_and(|route| route.is_valid && route.next == neighbour)
        };
        all.into_iter().filter(is_over).collect()
    }

    /// Whether any route is valid.
    pub(super) fn has_active(&self, now: Instant) -> bool {
        self.routes.values().any(|route| route.is_valid && route.expires > now)
    }

    /// The next hop of a valid route.
    pub(super) fn next_hop(&self, to: NodeId, now: Instant) -> Option<NodeId> {
        let route = self.routes.get(&to)?;
        (route.is_valid && route.expires > now).then_some(route.next)
    }
}

impl Route {
    /// Whether what a message tells is newer than this route, or as new and better (section 6.2).
    fn accepts(&self, news: &News) -> bool {
        match (self.sequence, news.sequence) {
            (None, _) => true,
            (Some(known), Some(told)) if known == told => !self.is_valid || news.hops < self.hops,
            (Some(known), Some(told)) => is_newer(told, known),
            // The sender of a message is a neighbour, whatever its sequence number.
            (Some(_), None) => news.hops == 1,
        }
    }

    fn invalidate(&mut self, delete_at: Instant) {
        self.is_valid = false;
        self.sequence = self.sequence.map(|sequence| sequence.wrapping_add(1));
        self.expires = delete_at;
    }
}

/// Whether a sequence number is greater than another. Numbers are on a circle: their difference
/// counts as a signed number of 32 bits (section 6.1).
pub(super) fn is_newer(sequence: u32, than: u32) -> bool {
    (sequence.wrapping_sub(than) as i32) > 0
}

/// The newer of two sequence numbers.
pub(super) fn newest(a: u32, b: u32) -> u32 {
    if is_newer(b, a) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DELETE: Duration = Duration::from_secs(15);

    fn s(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn news(sequence: Option<u32>, hops: u8, next: u32) -> News {
        News { sequence, hops, next: NodeId(next), expires: s(10) }
    }

    const TO: NodeId = NodeId(9);

    proptest! {
        #[test]
        fn of_two_numbers_one_is_newer(a in any::<u32>(), b in any::<u32>()) {
            // The opposite number of the circle is greater than neither.
            let opposite = a.wrapping_sub(b) == 1 << 31;
            prop_assert_eq!(is_newer(a, b) != is_newer(b, a), a != b && !opposite);
            prop_assert!(!is_newer(a, a));
            prop_assert!(opposite || newest(a, b) == newest(b, a));
        }

        #[test]
        fn a_number_is_newer_than_those_half_a_circle_before(
            a in any::<u32>(),
            by in 1..1u32 << 31,
        ) {
            prop_assert!(is_newer(a.wrapping_add(by), a));
            prop_assert!(!is_newer(a, a.wrapping_add(by)));
        }

        /// Whatever messages say: the pair of sequence number and hops of a valid route only
        /// improves, and an invalid route keeps its number.
        #[test]
        fn routes_only_get_newer_or_shorter(
            messages in prop::collection::vec((0u32..6, 1u8..6, 0u32..4, any::<bool>()), 1..60),
            first in any::<u32>(),
        ) {
            let mut table = Table::new(DELETE);
            let mut last: Option<(u32, u8, bool)> = None;
            for (number, (sequence, hops, next, fails)) in messages.into_iter().enumerate() {
                let now = Instant(number as u64);
                if fails {
                    table.invalidate(TO, now);
                } else {
                    let told = news(Some(first.wrapping_add(sequence)), hops, next);
                    table.update(TO, told, now);
                }
                let Some(route) = table.get(TO, now) else { continue };
                let known = route.sequence.expect("all messages tell it");
                if let Some((before, hops_before, was_valid)) = last {
                    prop_assert!(!is_newer(before, known), "the number decreased");
                    if before == known && was_valid {
                        prop_assert!(route.is_valid && route.hops <= hops_before);
                    }
                }
                last = Some((known, route.hops, route.is_valid));
            }
        }
    }

    #[test]
    fn a_route_is_replaced_by_newer_and_by_shorter_ones() {
        let mut table = Table::new(DELETE);
        assert!(table.update(TO, news(Some(5), 3, 1), s(0)));
        assert!(!table.update(TO, news(Some(5), 3, 2), s(0)), "as long");
        assert!(!table.update(TO, news(Some(4), 1, 2), s(0)), "older");
        assert!(table.update(TO, news(Some(5), 2, 2), s(0)), "shorter");
        assert!(table.update(TO, news(Some(6), 7, 3), s(0)), "newer");
        let route = table.get(TO, s(0)).unwrap();
        assert_eq!((route.sequence, route.hops, route.next), (Some(6), 7, NodeId(3)));
    }

    #[test]
    fn a_route_that_expires_has_a_higher_number_and_is_deleted_later() {
        let mut table = Table::new(DELETE);
        table.update(TO, news(Some(5), 3, 1), s(0));
        assert_eq!(table.next_hop(TO, s(9)), Some(NodeId(1)));
        assert_eq!(table.next_hop(TO, s(10)), None);
        let route = table.get(TO, s(10)).unwrap();
        assert_eq!((route.is_valid, route.sequence), (false, Some(6)));
        // The number of the route that has expired is not accepted again.
        assert!(!table.update(TO, news(Some(5), 1, 1), s(11)));
        assert!(table.get(TO, s(24)).is_some());
        assert!(table.get(TO, s(25)).is_none());
    }

    #[test]
    fn a_neighbour_that_sends_is_one_hop_away() {
        let mut table = Table::new(DELETE);
        table.update(TO, news(Some(5), 3, 1), s(0));
        assert!(table.update(TO, news(None, 1, TO.0), s(0)));
        let route = table.get(TO, s(0)).unwrap();
        assert_eq!((route.sequence, route.hops, route.next), (Some(5), 1, TO));
    }

    #[test]
    fn a_longer_lifetime_is_kept() {
        let mut table = Table::new(DELETE);
        table.update(TO, news(Some(5), 3, 1), s(0));
        table.update(TO, News { expires: s(2), ..news(Some(6), 2, 1) }, s(0));
        assert_eq!(table.get(TO, s(0)).unwrap().expires, s(10));
        table.extend(TO, s(40), s(1));
        assert_eq!(table.get(TO, s(1)).unwrap().expires, s(40));
    }
}
