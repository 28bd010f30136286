//! Drop-tail: first in, first out; an arrival that does not fit is dropped.

use super::line::{Line, Policy};
use super::{Discipline, Limit, OutputLink, Queue, Traits};
use kernel::Rng;
use settings::Settings;

/// First in, first out; an arrival that does not fit is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct DropTailConfig {
    /// The limits.
    #[setting(flatten)]
    pub limit: Limit,
}

impl Discipline for DropTailConfig {
    fn build(&self, _: OutputLink, _: Rng) -> Box<dyn Queue> {
        Box::new(Line::new(DropTail, self.limit))
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn traits(&self) -> Traits<'_> {
        Traits { drop_tail: Some(self.limit), ..Traits::default() }
    }
}

/// Packets leave in the order of arrival.
#[derive(Debug)]
pub(super) struct DropTail;

impl Policy for DropTail {}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drain, packet};
    use super::*;
    use kernel::{Bytes, Instant};

    const NOW: Instant = Instant(0);

    fn queue(limit: Limit) -> Line<DropTail> {
        Line::new(DropTail, limit)
    }

    #[test]
    fn the_packet_in_service_holds_its_room_until_released() {
        let mut queue = queue(Limit::packets(2));
        assert!(accepts(&mut queue, NOW, packet(0, 0, 100)));
        assert!(accepts(&mut queue, NOW, packet(0, 1, 100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 2, 100)));
        assert_eq!(queue.pop(NOW, &mut Vec::new()), Some(packet(0, 0, 100)));
        assert_eq!((queue.len(), queue.backlog()), (1, Bytes(100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 3, 100)));
        queue.release(NOW, &packet(0, 0, 100), &mut Vec::new());
        assert!(accepts(&mut queue, NOW, packet(0, 4, 100)));
    }

    #[test]
    fn several_packets_may_be_in_service() {
        let mut queue = queue(Limit::packets(3));
        for number in 0..3 {
            assert!(accepts(&mut queue, NOW, packet(0, number, 100)));
        }
        assert_eq!(drain(&mut queue, NOW), [(0, 0), (0, 1), (0, 2)]);
        assert!(!accepts(&mut queue, NOW, packet(0, 3, 100)));
        queue.release(NOW, &packet(0, 0, 100), &mut Vec::new());
        queue.release(NOW, &packet(0, 1, 100), &mut Vec::new());
        assert!(accepts(&mut queue, NOW, packet(0, 4, 100)));
        assert!(accepts(&mut queue, NOW, packet(0, 5, 100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 6, 100)));
    }

    #[test]
    fn a_limit_in_bytes_is_filled_to_the_last_byte_and_lets_a_smaller_packet_in() {
        let mut queue = queue(Limit { packets: None, bytes: Some(Bytes(1000)) });
        assert!(accepts(&mut queue, NOW, packet(0, 0, 600)));
        assert!(!accepts(&mut queue, NOW, packet(0, 1, 401)));
        assert!(accepts(&mut queue, NOW, packet(0, 2, 400)));
        assert!(!accepts(&mut queue, NOW, packet(0, 3, 1)));
    }

    #[test]
    fn both_limits_hold_together() {
        let limit = Limit { packets: Some(2), bytes: Some(Bytes(1000)) };
        let mut queue = queue(limit);
        assert!(accepts(&mut queue, NOW, packet(0, 0, 100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 1, 950)));
        assert!(accepts(&mut queue, NOW, packet(0, 2, 100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 3, 100)));
    }
}
