//! Packets that overtake others behind a link, as over parallel paths.

use kernel::{Duration, Instant, Rng};
use settings::Settings;
use std::collections::VecDeque;
use wire::Packet;

/// Reordering behind a link, by the rule of `netem reorder` in Linux: each packet takes a further
/// delay, except some, which overtake those that wait.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Reorder")]
pub struct ReorderSettings {
    /// The further delay, which a packet that overtakes does not have.
    #[setting(key = "delay_ms", default = 10.0, range = 0.001..=60_000.0)]
    pub delay: Duration,
    /// The probability that a packet overtakes.
    #[setting(default = 0.01, range = 0.0..=1.0)]
    pub probability: f64,
    /// At least so many packets lie between two that overtake, the second one included: 1 is any
    /// packet. With probability 1 each such packet overtakes.
    #[setting(default = 1, range = 1..=1_000_000_000)]
    pub gap: u64,
}

/// Holds packets for the further delay.
#[derive(Debug)]
pub(crate) struct Reorder {
    settings: ReorderSettings,
    rng: Rng,
    /// Packets since the last that overtook.
    since: u64,
    held: VecDeque<(Instant, Packet)>,
    /// When the first of them goes on, as far as that was returned.
    due: Option<Instant>,
}

impl Reorder {
    pub(crate) fn new(settings: ReorderSettings, rng: Rng) -> Self {
        Self { settings, rng, since: 0, held: VecDeque::new(), due: None }
    }

    /// A packet has crossed the link. Returns whether it is held; else it overtakes.
    pub(crate) fn holds(&mut self, now: Instant, packet: &Packet) -> bool {
        let ReorderSettings { delay, probability, gap } = self.settings;
        if self.since + 1 >= gap && self.rng.chance(probability) {
            self.since = 0;
            return false;
        }
        self.since += 1;
        self.held.push_back((now + delay, *packet));
        true
    }

    /// The first held packet, if it goes on now.
    pub(crate) fn first(&self, now: Instant) -> Option<&Packet> {
        self.held.front().filter(|(at, _)| *at <= now).map(|(_, packet)| packet)
    }

    /// Removes the first held packet.
    pub(crate) fn remove_first(&mut self) {
        self.held.pop_front();
    }

    /// Returns when the first held packet goes on, unless that was returned before and the packet
    /// is still the first.
    pub(crate) fn newly_due(&mut self) -> Option<Instant> {
        let first = self.held.front().map(|&(at, _)| at);
        let is_new = first != std::mem::replace(&mut self.due, first);
        first.filter(|_| is_new)
    }

    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.held.iter().for_each(|(_, packet)| visit(packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::{number, packet, rng};

    /// Packets 1 ms apart; returns numbers and times in milliseconds at which they go on.
    fn crossed(settings: ReorderSettings, count: u64) -> Vec<(u64, u64)> {
        let mut reorder = Reorder::new(settings, rng());
        let mut out = Vec::new();
        for n in 0..count + 100 {
            let now = Instant(n * 1_000_000);
            while let Some(packet) = reorder.first(now) {
                out.push((number(packet), n));
                reorder.remove_first();
            }
            if n < count && !reorder.holds(now, &packet(0, n, 1500)) {
                out.push((n, n));
            }
        }
        assert_eq!(reorder.len(), 0);
        out
    }

    const DELAY: Duration = Duration::from_millis(3);

    #[test]
    fn each_fifth_packet_overtakes_those_of_the_last_three_milliseconds() {
        let settings = ReorderSettings { delay: DELAY, probability: 1.0, gap: 5 };
        let expected =
            [(0, 3), (4, 4), (1, 4), (2, 5), (3, 6), (5, 8), (9, 9), (6, 9), (7, 10), (8, 11)];
        let mut found = crossed(settings, 10);
        found.sort_by_key(|&(number, at)| (at, u64::from(number != 4 && number != 9)));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_packet_overtakes_with_the_given_probability() {
        let settings = ReorderSettings { delay: DELAY, probability: 0.1, gap: 1 };
        let early = crossed(settings, 10_000).iter().filter(|&&(n, at)| at == n).count();
        assert!((900..1100).contains(&early), "{early}");
        let never = ReorderSettings { probability: 0.0, ..settings };
        assert!(crossed(never, 100).iter().all(|&(n, at)| at == n + 3));
    }
}
