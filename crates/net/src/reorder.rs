//! Packets that overtake others behind a link, as over parallel paths.

use crate::command::{Command, LinkTimer};
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
}

impl Reorder {
    pub(crate) fn new(settings: ReorderSettings, rng: Rng) -> Self {
        Self { settings, rng, since: 0, held: VecDeque::new() }
    }

    /// Keeps the packets that are delivered by the commands from `before` on, except those that
    /// overtake.
    #[cold]
    pub(crate) fn hold(&mut self, now: Instant, before: usize, out: &mut Vec<Command>) {
        let mut due = None;
        let mut at = before;
        while at < out.len() {
            if let Command::Deliver(packet) = out[at]
                && let Err(first) = self.on_packet(now, packet)
            {
                due = due.or(first);
                out.remove(at);
            } else {
                at += 1;
            }
        }
        out.extend(due.map(|at| Command::Set(LinkTimer::Held, at)));
    }

    /// A packet has crossed the link: returns it if it overtakes, and otherwise when the first of
    /// the held packets goes on, if this is the first.
    pub(crate) fn on_packet(
        &mut self,
        now: Instant,
        packet: Packet,
    ) -> Result<Packet, Option<Instant>> {
        let ReorderSettings { delay, probability, gap } = self.settings;
        if self.since + 1 >= gap && self.rng.chance(probability) {
            self.since = 0;
            return Ok(packet);
        }
        self.since += 1;
        let at = now + delay;
        let is_first = self.held.is_empty();
        self.held.push_back((at, packet));
        Err(is_first.then_some(at))
    }

    /// The first held packet, if it goes on now.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Packet> {
        self.held.pop_front_if(|(at, _)| *at <= now).map(|(_, packet)| packet)
    }

    /// When the first held packet goes on.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.held.front().map(|&(at, _)| at)
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
            while let Some(packet) = reorder.next(now) {
                out.push((number(&packet), n));
            }
            if n < count
                && let Ok(packet) = reorder.on_packet(now, packet(0, n, 1500))
            {
                out.push((number(&packet), n));
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
