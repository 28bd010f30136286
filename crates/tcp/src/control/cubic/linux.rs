//! The growth of CUBIC's window as Linux computes it (`net/ipv4/tcp_cubic.c` of Linux 6.1, read and
//! described anew): in whole segments, by a clock that ticks in jiffies, one minimum round-trip
//! time ahead, and with a Reno-friendly window that grows by 0.53 segments per round trip at any
//! time.

use crate::control::{Ack, Departing};
use kernel::{Duration, Instant};

/// C of the window's function, of which Linux has 410/1024 segments per second cubed.
const C: f64 = 410.0 / 1024.0;
/// The function is evaluated at whole multiples of 2^-10 s.
const STEP_PER_S: f64 = 1024.0;
/// The Reno-friendly window grows by one segment for 15/8 windows of acknowledgements:
/// 8 (1024 + β) / 3 / (1024 - β), as Linux rounds it (`beta_scale`).
const FRIENDLY_EIGHTHS: u64 = 15;
/// A window for which no plateau is known grows by at least 5 % per round trip.
const UNKNOWN_COUNT: u64 = 20;
/// The window grows by at most one segment for two that are acknowledged.
const LEAST_COUNT: u64 = 2;

/// The state of congestion avoidance (`struct bictcp`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    /// Jiffies per second.
    pub(super) hz: u64,
    /// So many acknowledged segments let the window grow by one, and those that count so far.
    count: u64,
    counted: u64,
    last_max: u64,
    /// The window and the time for which the function was last evaluated.
    last: (u64, u64),
    /// When this stage of congestion avoidance began; its plateau, and the time to the plateau.
    began: Option<u64>,
    plateau: u64,
    k: u64,
    /// Segments acknowledged since the Reno-friendly window last grew, and that window.
    acked: u64,
    friendly: u64,
    /// The least round-trip time.
    pub(super) least: Option<Duration>,
    last_sent: Instant,
}

impl Growth {
    pub(super) fn new(hz: u32) -> Self {
        Self { hz: u64::from(hz), ..Self::default() }
    }

    fn jiffies(&self, at: Instant) -> u64 {
        at.0 / (1_000_000_000 / self.hz)
    }

    /// Notes a round-trip time (`cubictcp_acked`); returns whether it counts: not in the first
    /// second of a stage.
    pub(super) fn on_rtt(&mut self, ack: &Ack) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        let now = self.jiffies(ack.now);
        if self.began.is_some_and(|began| now < began + self.hz) {
            return false;
        }
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        true
    }

    /// A segment leaves: an idle time before it is no time of growth (`cubictcp_cwnd_event`).
    pub(super) fn on_send(&mut self, departing: &Departing) {
        let last = std::mem::replace(&mut self.last_sent, departing.now);
        if departing.in_flight.0 <= 0.0
            && let Some(began) = self.began
        {
            let now = self.jiffies(departing.now);
            self.began = Some((began + now.saturating_sub(self.jiffies(last))).min(now));
        }
    }

    /// The window after `acked` segments were acknowledged (`bictcp_update`,
    /// `tcp_cong_avoid_ai`).
    pub(super) fn on_ack(&mut self, now: Instant, window: u64, acked: u64, friendly: bool) -> u64 {
        self.update(self.jiffies(now), window, acked, friendly);
        let mut grown = window;
        if self.counted >= self.count {
            self.counted = 0;
            grown += 1;
        }
        self.counted += acked;
        if self.counted >= self.count {
            grown += self.counted / self.count;
            self.counted %= self.count;
        }
        grown
    }

    fn update(&mut self, now: u64, window: u64, acked: u64, friendly: bool) {
        self.acked += acked;
        let (last_window, last) = self.last;
        if last_window == window && now <= last + self.hz / 32 {
            return;
        }
        if self.began.is_none() || now != last {
            self.last = (window, now);
            self.count = self.count_at(now, window, acked);
        }
        if friendly {
            self.befriend(window);
        }
        self.count = self.count.max(LEAST_COUNT);
    }

    /// How many acknowledged segments let the window grow by one, by the cubic function.
    fn count_at(&mut self, now: u64, window: u64, acked: u64) -> u64 {
        let began = *self.began.get_or_insert_with(|| {
            (self.acked, self.friendly) = (acked, window);
            let distance = self.last_max.saturating_sub(window);
            self.plateau = self.last_max.max(window);
            self.k = (libm::cbrt(distance as f64 / C) * STEP_PER_S) as u64;
            now
        });
        let ahead = self.least.unwrap_or_default().as_secs_f64() * self.hz as f64;
        let jiffies = now.saturating_sub(began) + libm::ceil(ahead) as u64;
        let t = (jiffies << 10) / self.hz;
        let offset = t.abs_diff(self.k) as f64 / STEP_PER_S;
        let delta = (C * offset * offset * offset) as u64;
        let target =
            if t < self.k { self.plateau.saturating_sub(delta) } else { self.plateau + delta };
        let count = if target > window { window / (target - window) } else { 100 * window };
        if self.last_max == 0 { count.min(UNKNOWN_COUNT) } else { count }
    }

    fn befriend(&mut self, window: u64) {
        let step = (window * FRIENDLY_EIGHTHS) >> 3;
        while self.acked > step {
            self.acked -= step;
            self.friendly += 1;
        }
        if self.friendly > window {
            self.count = self.count.min(window / (self.friendly - window));
        }
    }

    /// A loss or a mark at this window (`cubictcp_recalc_ssthresh`).
    pub(super) fn on_loss(&mut self, window: u64, beta: u64, converges: bool) {
        (self.began, self.counted) = (None, 0);
        let gives = converges && window < self.last_max;
        self.last_max = if gives { window * (1024 + beta) / 2048 } else { window };
    }

    /// The retransmission timer expired: nothing is known any longer (`cubictcp_state`).
    pub(super) fn reset(&mut self) {
        *self = Self { hz: self.hz, last_sent: self.last_sent, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BETA: u64 = 717;

    use crate::harness::ms;

    /// One window after another is acknowledged, each in a round trip of this many milliseconds,
    /// two segments at a time; returns the window after each.
    fn rounds(growth: &mut Growth, mut window: u64, rtt_ms: u64, count: u64) -> Vec<u64> {
        growth.least = Some(Duration::from_millis(rtt_ms));
        (1..=count)
            .map(|n| {
                for _ in 0..window.div_ceil(2) {
                    window = growth.on_ack(ms(1000 + n * rtt_ms), window, 2, true);
                }
                window
            })
            .collect()
    }

    #[test]
    fn a_small_window_grows_by_half_a_segment_per_round_trip() {
        let mut growth = Growth::new(1000);
        growth.on_loss(10, BETA, true);
        // 0.4 t³ over 0.5 s is nothing: the Reno-friendly window leads, above 10 segments too.
        let windows = rounds(&mut growth, 7, 10, 40);
        let gained = windows[39] - 7;
        assert!((19..=23).contains(&gained), "{windows:?}");
    }

    #[test]
    fn a_large_window_reaches_the_plateau_after_k() {
        let mut growth = Growth::new(1000);
        growth.on_loss(1000, BETA, true);
        // K = ((1000 - 700) / 0.4)^(1/3) = 9.08 s; the function is at 995 2.32 s before, and a
        // round trip ahead.
        let windows = rounds(&mut growth, 700, 100, 120);
        let reached = windows.iter().position(|&window| window >= 995).unwrap();
        assert!((64..=68).contains(&reached), "{reached}: {windows:?}");
        assert!(windows[119] > 1000);
    }

    #[test]
    fn a_window_without_a_plateau_grows_by_five_percent() {
        let windows = rounds(&mut Growth::new(1000), 100, 100, 3);
        assert!(windows[0] == 105 || windows[0] == 106, "{windows:?}");
    }

    #[test]
    fn an_idle_time_is_no_time_of_growth() {
        let mut growth = Growth::new(1000);
        growth.on_loss(100, BETA, true);
        rounds(&mut growth, 70, 100, 1);
        let began = growth.began.unwrap();
        let at = |at, in_flight| Departing {
            now: ms(at),
            size: kernel::Segments(1.0),
            in_flight: kernel::Segments(in_flight),
            resent: false,
        };
        growth.on_send(&at(1100, 3.0));
        growth.on_send(&at(3100, 0.0));
        assert_eq!(growth.began, Some(began + 2000));
    }
}
