//! Checks the beacons of access points: their times and the countdown to a DTIM.

use super::rule::rule;
use crate::topology::RadioId;
use kernel::{Duration, Instant};
use std::collections::BTreeMap;
use wire::{Body, Management, Packet};

/// A time unit in nanoseconds (802.11-2020 clause 3.1).
const TIME_UNIT_NS: u64 = 1_024_000;

/// The first beacon of each access point, when it was due, and the latest one.
#[derive(Debug, Default)]
pub(super) struct Beacons(BTreeMap<u32, (Packet, Packet)>);

impl Beacons {
    /// An access point takes a beacon into service.
    pub(super) fn on_beacon(&mut self, now: Instant, by: RadioId, packet: &Packet) {
        let Some(beacon) = beacon_of(packet) else { return };
        let between = Duration(u64::from(beacon.interval) * TIME_UNIT_NS);
        let late = now.since(packet.born);
        rule(now, late < between, "a beacon is sent in its interval", || format!("{late} late"));
        let counts = beacon.dtim_count < beacon.dtim_period;
        rule(now, counts, "a DTIM comes in each period", || format!("{beacon:?}"));
        let (first, latest) = *self.0.entry(by.0).or_insert((*packet, *packet));
        if latest == *packet {
            return;
        }
        let later = latest.born < packet.born;
        rule(now, later, "beacons follow each other", || format!("{latest:?}, {packet:?}"));
        let since = packet.born.since(first.born);
        rule(now, since.0.is_multiple_of(between.0), "TBTTs are an interval apart", || {
            format!("{since} after the first")
        });
        let before = beacon_of(&first).map_or(0, |first| first.dtim_count);
        let period = u64::from(beacon.dtim_period);
        let counted = (u64::from(beacon.dtim_count) + since.0 / between.0) % period;
        rule(now, counted == u64::from(before), "each beacon counts down to the DTIM", || {
            format!("{before} at first, {} after {since}", beacon.dtim_count)
        });
        self.0.insert(by.0, (first, *packet));
    }
}

fn beacon_of(packet: &Packet) -> Option<wire::Beacon> {
    let Body::Management(Management::Beacon(beacon)) = packet.body else { return None };
    Some(beacon)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Bytes;
    use wire::{Beacon, NodeId};

    /// Beacons with these TBTTs in time units and DTIM counts.
    fn show(beacons: &[(u64, u8)]) {
        let mut checker = Beacons::default();
        for &(at, dtim_count) in beacons {
            let born = Instant(at * TIME_UNIT_NS);
            let beacon = Beacon { interval: 100, dtim_count, dtim_period: 3, ..Beacon::default() };
            let body = Body::Management(Management::Beacon(beacon));
            let packet = Packet::new(NodeId(0), None, Bytes(250), born, body);
            checker.on_beacon(born, RadioId(0), &packet);
        }
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        show(&[(7, 0), (107, 2), (207, 1), (307, 0), (507, 1), (607, 0)]);
    }

    #[test]
    #[should_panic(expected = "TBTTs are an interval apart")]
    fn a_beacon_at_another_time_is_found() {
        show(&[(7, 0), (108, 2)]);
    }

    #[test]
    #[should_panic(expected = "each beacon counts down to the DTIM")]
    fn a_wrong_count_is_found() {
        show(&[(7, 0), (107, 1)]);
    }

    #[test]
    #[should_panic(expected = "beacons follow each other")]
    fn an_old_beacon_is_found() {
        show(&[(7, 0), (107, 2), (7, 0)]);
    }
}
