//! Checks that wide frames begin where their channel is idle, and that transmitters leave out what
//! is not.

use super::{Instant, OngoingFrame, Users, Watch, is_answer, rule};
use crate::check::powers::plain;
use wifi::phy::{Amendment, ModeClass, Width};

/// A power above a threshold by less than this part may be below it for the medium, which adds
/// signals in steps.
const SLACK: f64 = 1.0 + 1e-6;

impl Watch {
    /// A node wins a TXOP that begins with a frame.
    pub(super) fn on_win(&mut self, frame: &OngoingFrame) {
        if !self.mac.bandwidth_operation.is_dynamic() {
            return self.check_secondary(frame);
        }
        let busy = self.powers.secondaries(frame.from, self.now);
        let busy = busy.into_iter().filter(|&centre| self.is_busy(frame.from, centre)).collect();
        self.bandwidth.on_win(frame.from, busy);
    }

    /// Whether 20 MHz around a centre were busy at a node within the last PIFS (802.11ax-2021
    /// clause 27.3.20.6.5): with a frame that is there, or with the energy of all. The centre is
    /// not that of the node's primary channel. Frames that it receives as those of its own network
    /// do not count.
    fn is_busy(&self, node: u32, centre: f64) -> bool {
        let now = self.now;
        let pifs = self.times.aifs(1);
        let others: Vec<(f64, bool, Instant, Instant)> = self
            .bandwidth
            .recent
            .iter()
            .filter(|other| other.from != node && !self.powers.is_tuned_since(node, other.start))
            .filter(|other| self.powers.share(node, other, other.mode.width) != 1.0)
            .map(|other| {
                let (start, end) = self.powers.span(node, other);
                let level = self.powers.in_20(node, other, centre);
                let is_wide = other.mode.width > Width::Mhz22;
                // 10 dB, and 3 dB less in each 20 MHz of a wider frame.
                let more = if is_wide { 7.0 } else { 10.0 };
                let least = self.powers.detect * plain(more);
                let is_there = self.powers.occupied(other).contains(&centre);
                (level, is_there && level > least * SLACK, start, end)
            })
            .filter(|&(level, _, start, end)| level > 0.0 && start < now && end + pifs > now)
            .collect();
        let energy_until = |until: Instant| {
            let there = others.iter().filter(|(_, _, start, end)| *start < until && *end >= until);
            there.map(|(level, ..)| level).sum::<f64>() > self.powers.energy * SLACK
        };
        others.iter().any(|&(_, is_found, _, end)| is_found || energy_until(end))
    }

    /// A transmitter that follows the medium leaves out what was busy before its TXOP, as one of
    /// the patterns of the standard.
    pub(super) fn check_bandwidth(&mut self, frame: &OngoingFrame) {
        if !self.mac.bandwidth_operation.is_dynamic() {
            return;
        }
        let now = self.now;
        let pattern = frame.mode.punctured;
        let occupied = self.powers.occupied(frame);
        let has_primary = self.powers.has_primary(frame.from, now, &occupied);
        // 802.11ax has none in PPDUs to one station.
        let may_have = frame.mode.class != ModeClass::He || frame.users != Users::One;
        let is_pattern = pattern.code(frame.mode.width).is_some();
        let is_known = pattern.is_none() || may_have && is_pattern && has_primary;
        rule(now, is_known, "a punctured frame has a pattern of the standard", || {
            format!("{frame:?}")
        });
        // What stations send in resource units is where their access point asks for it.
        let asks = match frame.users {
            Users::Unit(_) => frame.to,
            _ => Some(frame.from).filter(|_| !is_answer(frame)),
        };
        let in_busy = asks.and_then(|asks| self.bandwidth.was_busy(asks, &occupied));
        rule(now, in_busy.is_none(), "a frame leaves out what was busy before its TXOP", || {
            format!("{in_busy:?} MHz: {frame:?}")
        });
        self.bandwidth.on_begin(now, frame, self.slowest + self.times.aifs(1));
    }

    /// A frame of more than 20 MHz begins only where its secondary channels are idle (clauses
    /// 10.23.2.5 and 11.15.9). Frames that these levels detect are detected in any of them.
    pub(super) fn check_secondary(&self, frame: &OngoingFrame) {
        let OngoingFrame { from, mode, .. } = *frame;
        let least = match self.mac.timing.standard.amendment {
            Amendment::Ac | Amendment::Ax | Amendment::Be => 20.0 * self.powers.detect,
            _ => 4.0 * self.powers.energy,
        };
        // And 3 dB more in a secondary channel of 160 MHz.
        let least = if mode.width == Width::Mhz320 { 2.0 * least } else { least };
        let secondary = |other: &OngoingFrame| {
            let is_own = self.powers.share(from, other, other.mode.width) == 1.0;
            let [all, primary] =
                [mode.width, Width::Mhz20].map(|width| self.powers.within(from, other, width));
            if is_own { 0.0 } else { all - primary }
        };
        let now = self.now;
        let on_air = self.frames.iter().filter(|other| {
            let (start, end) = self.powers.span(from, other);
            start < now && end > now
        });
        let busy = on_air.filter(|other| other.from != from).find(|other| {
            // One that leaves out this primary channel may be in several of the secondary ones.
            let spread = if other.mode.punctured.is_none() { 1.0 } else { 2.0 };
            secondary(other) > spread * least
        });
        let is_idle = mode.width <= Width::Mhz22 || busy.is_none();
        rule(self.now, is_idle, "a wide frame waits for its secondary channels", || {
            format!("{busy:?}: {frame:?}")
        });
    }
}
