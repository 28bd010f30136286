//! The encoder of the video: frames of the target rate.

use super::keys::Conference;
use kernel::{Duration, Instant, Rng};

/// After a large frame, the part of the next ones that may be saved.
const MOST_SAVED: f64 = 0.5;
/// The least size of a frame in bytes.
const LEAST: f64 = 100.0;
/// A requested key frame follows another no sooner than this.
const KEY_PAUSE: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub(super) struct Encoder {
    interval: Duration,
    spread: f64,
    key_interval: Option<Duration>,
    key_ratio: f64,
    rng: Rng,
    is_key_due: bool,
    last_key: Option<Instant>,
    /// Bytes that earlier frames, and what was sent again, took beyond their share.
    debt: f64,
    next: u32,
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) number: u32,
    pub(super) bytes: u32,
    pub(super) is_key: bool,
}

impl Encoder {
    pub(super) fn new(conference: &Conference, rng: Rng) -> Self {
        Self {
            interval: conference.frame_interval(),
            spread: conference.frame_spread,
            key_interval: conference.key_frame_interval,
            key_ratio: conference.key_frame_ratio,
            rng,
            is_key_due: true,
            last_key: None,
            debt: 0.0,
            next: 0,
        }
    }

    /// The receiver requests a key frame.
    pub(super) fn request_key(&mut self, now: Instant) {
        self.is_key_due |= self.last_key.is_none_or(|last| now.since(last) >= KEY_PAUSE);
    }

    /// Bytes were sent again: the next frames save them, as those after a large frame.
    pub(super) fn owe(&mut self, bytes: u16) {
        self.debt += f64::from(bytes);
    }

    /// The next frame, at this rate in bit/s.
    pub(super) fn frame(&mut self, now: Instant, rate: f64) -> Frame {
        let mean = (rate * self.interval.as_secs_f64() / 8.0).max(LEAST);
        let is_periodic = match (self.key_interval, self.last_key) {
            (Some(interval), Some(last)) => now.since(last) >= interval,
            _ => false,
        };
        let is_key = self.is_key_due || is_periodic;
        let size = if is_key {
            (self.is_key_due, self.last_key) = (false, Some(now));
            self.key_ratio * mean
        } else {
            let spread = self.spread * (2.0 * self.rng.uniform() - 1.0);
            mean * (1.0 + spread) - self.debt.clamp(0.0, MOST_SAVED * mean)
        };
        let size = size.max(LEAST);
        self.debt = (self.debt + size - mean).max(-mean);
        let number = self.next;
        self.next += 1;
        Frame { number, bytes: (size + 0.5) as u32, is_key }
    }
}
