//! Groups of packets and the variation of their delays (draft-ietf-rmcat-gcc-02 sections 5.1 and
//! 5.2).

use kernel::{Duration, Instant};

/// Packets that leave within this time are a group (`burst_time`).
pub(super) const BURST: Duration = Duration::from_millis(5);
/// A burst on the way is no longer than this, as in the implementation of WebRTC.
const LONGEST_BURST: Duration = Duration::from_millis(100);

/// What two groups say: times from the last packet of one to that of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delta {
    /// Between departures, in ms.
    pub(super) sent_ms: f64,
    /// Between arrivals, in ms.
    pub(super) arrived_ms: f64,
    /// When the later group has arrived.
    pub(super) at: Instant,
}

impl Delta {
    /// The variation d(i) of the delay in ms.
    pub(super) fn variation_ms(self) -> f64 {
        self.arrived_ms - self.sent_ms
    }
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    first_arrived: Instant,
    sent: Instant,
    arrived: Instant,
}

/// Makes groups of packets.
#[derive(Debug, Default)]
pub(super) struct Groups {
    now: Option<Group>,
    before: Option<Group>,
}

impl Groups {
    /// A packet that was sent at this instant has arrived. Returns what the two groups before it
    /// say, if it begins another.
    pub(super) fn on_packet(&mut self, sent: Instant, arrived: Instant) -> Option<Delta> {
        let new = Group { first_sent: sent, first_arrived: arrived, sent, arrived };
        let Some(group) = &mut self.now else {
            self.now = Some(new);
            return None;
        };
        if sent < group.first_sent {
            return None;
        }
        let is_burst = || {
            let by_sender = sent.since(group.sent);
            let by_path = arrived.since(group.arrived);
            by_path < by_sender
                && by_path < BURST
                && arrived.since(group.first_arrived) < LONGEST_BURST
        };
        if sent.since(group.first_sent) <= BURST || is_burst() {
            group.sent = group.sent.max(sent);
            group.arrived = group.arrived.max(arrived);
            return None;
        }
        let complete = self.now.replace(new)?;
        let before = self.before.replace(complete)?;
        Some(Delta {
            sent_ms: complete.sent.since(before.sent).0 as f64 * 1e-6,
            arrived_ms: complete.arrived.since(before.arrived).0 as f64 * 1e-6,
            at: complete.arrived,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn groups_are_bursts_of_five_milliseconds() {
        let mut groups = Groups::default();
        // Sent at 0 and 4, at 20 and 22, and at 40: three groups.
        let packets = [(0, 50), (4, 53), (20, 70), (22, 76), (40, 91)];
        let found: Vec<_> =
            packets.iter().filter_map(|&(s, a)| groups.on_packet(ms(s), ms(a))).collect();
        let [delta] = found[..] else { panic!("{found:?}") };
        assert_eq!(delta.at, ms(76));
        assert!((delta.sent_ms - 18.0).abs() < 1e-9, "from (4, 53) to (22, 76)");
        assert!((delta.variation_ms() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn packets_that_wait_for_each_other_and_leave_together_are_one_group() {
        let mut groups = Groups::default();
        for (sent, arrived) in [(0, 50), (20, 100), (40, 101), (60, 102)] {
            assert_eq!(groups.on_packet(ms(sent), ms(arrived)), None, "{sent}");
        }
        let next = groups.on_packet(ms(120), ms(170)).expect("a group");
        assert!((next.sent_ms - 60.0).abs() < 1e-9 && (next.arrived_ms - 52.0).abs() < 1e-9);
    }
}
