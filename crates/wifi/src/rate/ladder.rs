//! Modes in order of their rate.

use crate::phy::{Mode, Preamble, Standard, airtime};
use kernel::{Bytes, Duration};

/// Bytes of the frame whose exchange time compares modes, as in Linux.
const REFERENCE: Bytes = Bytes(1200);
/// Bytes of an Ack (clause 9.3.1.3).
const ACK: Bytes = Bytes(14);

/// A mode and its exchange time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rung {
    /// The mode.
    pub mode: Mode,
    /// Duration of an exchange of 1200 bytes, contention included.
    pub time: Duration,
}

/// Modes in order of their rate, and the current one.
#[derive(Clone, Debug)]
pub struct Ladder {
    rungs: Vec<Rung>,
    at: usize,
}

impl Ladder {
    /// Modes of a standard, at least one; the current one is the slowest.
    pub fn new(standard: &Standard, modes: impl IntoIterator<Item = Mode>) -> Self {
        let rung = |mode| Rung { mode, time: exchange_time(standard, &mode, REFERENCE) };
        let mut rungs: Vec<Rung> = modes.into_iter().map(rung).collect();
        assert!(!rungs.is_empty(), "a link has a mode");
        rungs.sort_by_key(|rung| rung.mode.rate);
        Self { rungs, at: 0 }
    }

    /// All modes, slowest first.
    pub fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    /// The index of the current mode.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The current mode.
    pub fn mode(&self) -> Mode {
        self.rungs[self.at].mode
    }

    /// The index of a mode.
    pub fn find(&self, mode: &Mode) -> Option<usize> {
        self.rungs.iter().position(|rung| rung.mode == *mode)
    }

    /// Makes the mode with this index the current one.
    pub fn go_to(&mut self, at: usize) {
        self.at = at.min(self.rungs.len() - 1);
    }

    /// Changes to the next faster mode. Returns false if there is none.
    pub fn up(&mut self) -> bool {
        let moved = self.at + 1 < self.rungs.len();
        self.at += usize::from(moved);
        moved
    }

    /// Changes to the next slower mode. Returns false if there is none.
    pub fn down(&mut self) -> bool {
        let moved = self.at > 0;
        self.at -= usize::from(moved);
        moved
    }
}

/// Duration of one frame and its Ack, with DIFS and the mean first back-off.
pub fn exchange_time(standard: &Standard, mode: &Mode, psdu: Bytes) -> Duration {
    let basic: Vec<_> = standard.default_basic_rates().collect();
    let ack = standard.response_mode(mode, &basic);
    let frame = |mode, psdu| airtime(mode, Preamble::Long, psdu).total();
    let backoff = standard.slot * u64::from(standard.cw_min) / 2;
    let difs = standard.sifs + standard.slot * 2;
    difs + backoff + frame(mode, psdu) + standard.sifs + frame(&ack, ACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::DOT11A;

    #[test]
    fn a_ladder_has_ends() {
        let mut ladder = Ladder::new(&DOT11A, DOT11A.modes[..3].iter().rev().copied());
        assert_eq!(ladder.mode(), DOT11A.modes[0]);
        assert!(!ladder.down());
        assert!(ladder.up() && ladder.up() && !ladder.up());
        assert_eq!(ladder.at(), 2);
        assert_eq!(ladder.find(&DOT11A.modes[1]), Some(1));
        assert_eq!(ladder.find(&DOT11A.modes[7]), None);
    }

    #[test]
    fn an_exchange_takes_all_its_parts() {
        // 9622 bits in 401 symbols of 24.
        let time = exchange_time(&DOT11A, &DOT11A.modes[0], REFERENCE);
        assert_eq!(time, Duration(34_000 + 67_500 + 20_000 + 4000 * 401 + 16_000 + 44_000));
    }
}
