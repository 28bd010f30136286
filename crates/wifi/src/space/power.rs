//! Powers at a receiver, and the levels with which it compares them.

use super::radio::{DETECTION, ReceiverSettings};
use crate::phy::{Milliwatts, Mode, Occupied, Width, decibels, linear, noise};
use kernel::{Db, Dbm, Duration};
use std::ops::{Add, Sub};

/// The power of a signal at a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Power {
    pub(super) milliwatts: f64,
    /// The same in fixed point, for sums of interference.
    pub(super) fixed: FixedPower,
}

impl From<f64> for Power {
    fn from(milliwatts: f64) -> Self {
        Self { milliwatts, fixed: FixedPower::of(milliwatts) }
    }
}

impl Power {
    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        let milliwatts = self.milliwatts + other.milliwatts;
        Self { milliwatts, fixed: self.fixed + other.fixed }
    }

    /// The same with less transmit power.
    pub(super) fn less(self, cut: Db) -> Self {
        if cut > Db(0.0) { Self::from(self.milliwatts / linear(cut)) } else { self }
    }
}

/// Power in fixed point. Sums are exact: a signal that has ended leaves no rounding error, and the
/// order of signals has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FixedPower(u64);

impl FixedPower {
    /// The unit in milliwatts: -150 dBm, 56 dB below the noise of a receiver with the default
    /// settings.
    const ONE: f64 = 1.0 / (1u64 << 50) as f64;
    /// One signal counts as at most 39 dBm, half of the greatest sum, which only fading, or
    /// shadowing beyond its margin, can exceed where the sum is below [`STRONGEST_SUM`].
    pub(super) fn of(milliwatts: f64) -> Self {
        // The greatest `i64` is half of the greatest sum.
        Self(((milliwatts / Self::ONE + 0.5) as i64).max(0) as u64)
    }

    /// The least value that is not below this power.
    fn least(milliwatts: f64) -> Self {
        Self(libm::ceil(milliwatts / Self::ONE) as u64)
    }

    pub(super) fn milliwatts(self) -> f64 {
        self.0 as f64 * Self::ONE
    }
}

impl Add for FixedPower {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for FixedPower {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// The levels of a receiver as powers, and its noise by bandwidth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    pub(super) detect: f64,
    detect_ratio: f64,
    detect_when_busy: bool,
    pub(super) cts_when_busy: bool,
    pub(super) bears_beside: bool,
    pub(super) sensitivity: f64,
    pub(super) energy: FixedPower,
    /// After the end of a frame that the receiver received.
    energy_after: FixedPower,
    /// These two differ.
    pub(super) remembers_frames: bool,
    /// The power from which a receiver detects the preamble of the only signal.
    pub(super) alone: f64,
    /// Ratio and window.
    pub(super) capture: Option<(f64, Duration)>,
    /// No signal that begins so long after a frame takes its place.
    pub(super) locks_after: Duration,
    /// By bandwidth, in the order of [`Occupied`].
    noise: [f64; 12],
}

impl Levels {
    pub(super) fn of(receiver: &ReceiverSettings) -> Self {
        let power = |level: Dbm| Milliwatts::from(level).0;
        let after_frame = receiver.energy_after_frame.unwrap_or(receiver.energy);
        let levels = Self {
            alone: f64::INFINITY,
            detect: power(receiver.detect),
            detect_ratio: linear(receiver.detect_snr),
            detect_when_busy: receiver.detect_when_busy,
            cts_when_busy: receiver.cts_when_busy,
            bears_beside: receiver.bears_beside,
            sensitivity: power(receiver.sensitivity()),
            energy: FixedPower::least(power(receiver.energy)),
            energy_after: FixedPower::least(power(after_frame)),
            remembers_frames: after_frame != receiver.energy,
            capture: receiver.capture.map(|c| (linear(c.margin), c.window)),
            locks_after: receiver.capture.map_or(DETECTION, |it| it.window.max(DETECTION)),
            noise: Occupied::ALL.map(|within| power(noise(within, receiver.noise_figure))),
        };
        let is_possible = levels.detect_when_busy || levels.energy > FixedPower::default();
        let found_from = levels.detect_ratio * levels.noise(Width::Mhz20);
        let alone = if is_possible { levels.detect.max(found_from) } else { f64::INFINITY };
        Self { alone, ..levels }
    }

    /// The signal to noise ratio of a frame in this mode that arrives with so many milliwatts.
    pub(super) fn snr(&self, power: f64, mode: &Mode) -> Db {
        decibels(power / self.noise(mode.occupied()))
    }

    /// Noise in this bandwidth, in milliwatts.
    #[inline]
    pub(super) fn noise(&self, within: impl Into<Occupied>) -> f64 {
        self.noise[within.into() as usize]
    }

    /// The least power that energy detection senses, after a frame or in other cases.
    #[inline]
    pub(super) fn least_energy(&self, after_frame: bool) -> FixedPower {
        if after_frame { self.energy_after } else { self.energy }
    }

    /// Whether no signal is sensed as energy that is too weak to be received alone.
    pub(super) fn never_senses_alone(&self) -> bool {
        self.alone.is_finite() && FixedPower::of(self.alone) < self.energy
    }

    /// Whether a receiver detects a preamble of this power among noise and other signals.
    pub(super) fn finds(&self, power: f64, others: FixedPower) -> bool {
        let disturbance = others.milliwatts() + self.noise(Width::Mhz20);
        power >= self.detect_ratio * disturbance && (self.detect_when_busy || others < self.energy)
    }
}
