//! What the air does to signals, and what receivers make of them.

use crate::phy::error::ErrorModel;
use crate::phy::propagation::{Course, Fading, Path, Propagation};
use crate::phy::{Milliwatts, Width, linear, noise};
use kernel::{Db, Dbm, Duration, Instant};
use std::ops::{Add, Sub};

/// A node's course, channel and power.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Where it is when.
    pub course: Course,
    /// Its channel; nodes on different channels do not hear each other.
    pub channel: u16,
    /// The power with which it sends, antenna gains included.
    pub tx_power: Dbm,
    /// It contends with the parameters of an access point.
    pub is_access_point: bool,
}

/// Mean losses between nodes.
#[derive(Debug)]
pub enum Losses {
    /// By the distance between them when a frame begins.
    Places(Box<dyn Propagation>),
    /// As listed: row *i*, column *j* is what node *j* loses of what node *i* sends.
    Matrix(Vec<Vec<Db>>),
}

impl Losses {
    /// From one node to another, and back.
    pub(super) fn between(&self, a: u32, b: u32, Way { distance, now }: Way) -> (Db, Db) {
        match self {
            Losses::Places(model) => {
                let loss = model.loss(&Path { distance, ends: (a, b), now });
                (loss, loss)
            }
            Losses::Matrix(rows) => {
                let (a, b) = (a as usize, b as usize);
                (rows[a][b], rows[b][a])
            }
        }
    }
}

/// No loss of its own: what [`Fading`] stands upon where the mean losses are known.
#[derive(Clone, Copy, Debug)]
pub struct MeanKnown;

impl Propagation for MeanKnown {
    fn loss(&self, _path: &Path) -> Db {
        Db(0.0)
    }
}

/// A receiver lets go of a frame for a later one that is stronger by this much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capture {
    /// How much stronger.
    pub margin: Db,
    /// How long after the first one's begin; its preamble, as a rule.
    pub window: Duration,
}

/// How long a receiver needs to find a preamble; a frame that disturbs it by then hides it
/// (802.11-2020 table 17-21, `aCCATime` below 4 µs).
pub(super) const DETECTION: Duration = Duration::from_micros(4);

/// Propagation, noise and the receivers, which are all alike.
#[derive(Debug)]
pub struct Radio {
    /// Mean losses.
    pub losses: Losses,
    /// Block fading upon them.
    pub fading: Option<Fading<MeanKnown>>,
    /// What the electronics of a receiver add to thermal noise.
    pub noise_figure: Db,
    /// A preamble of this power makes the medium busy until its frame ends (clause 17.3.10.6).
    pub detect: Dbm,
    /// And it must stand this much above noise and interference.
    pub detect_snr: Option<Db>,
    /// A frame of less power than this is never understood.
    pub sensitivity: Dbm,
    /// Any signals that sum up to this make the medium busy (clause 17.3.10.6).
    pub energy: Dbm,
    /// Whether, and when, a later frame is received in place of the first.
    pub capture: Option<Capture>,
    /// Which bits are understood.
    pub error: Box<dyn ErrorModel>,
    /// Signals further below the noise of 20 MHz than this are left out altogether.
    pub floor: Db,
}

impl Radio {
    /// Receivers as 802.11-2020 asks for at least: preambles from -82 dBm on, energy from -62 dBm
    /// on (clause 17.3.10.6), no capture; a noise figure of 7 dB, and preambles 4 dB above noise
    /// and interference, are what ns-3 assumes.
    pub fn new(losses: Losses, error: Box<dyn ErrorModel>) -> Self {
        Self {
            losses,
            fading: None,
            noise_figure: Db(7.0),
            detect: Dbm(-82.0),
            detect_snr: Some(Db(4.0)),
            sensitivity: Dbm(f64::NEG_INFINITY),
            energy: Dbm(-62.0),
            capture: None,
            error,
            floor: Db(10.0),
        }
    }

    /// The weakest signal that is looked at.
    pub(super) fn weakest(&self) -> Dbm {
        noise(Width::Mhz20, self.noise_figure) - self.floor
    }

    /// Whether losses depend on where nodes are.
    pub(super) fn goes_by_place(&self) -> bool {
        matches!(self.losses, Losses::Places(_))
    }

    /// Mean power of a frame that a node begins to send now, at another, by their places; none
    /// below the floor.
    pub(super) fn power(&self, sites: &[Site], ends: (u32, u32), now: Instant) -> Option<Power> {
        let (sender, receiver) = (&sites[ends.0 as usize], &sites[ends.1 as usize]);
        let (loss, _) = self.losses.between(ends.0, ends.1, Way::at(now, sender, receiver));
        let level = sender.tx_power - loss;
        (level >= self.weakest()).then(|| Power::from(Milliwatts::from(level).0))
    }

    /// What fading leaves of it.
    pub(super) fn fade(
        &self,
        mean: Power,
        sites: &[Site],
        ends: (u32, u32),
        now: Instant,
    ) -> Power {
        let Some(fading) = &self.fading else { return mean };
        let Way { distance, now } = Way::at(now, &sites[ends.0 as usize], &sites[ends.1 as usize]);
        Power::from(mean.milliwatts / linear(fading.loss(&Path { distance, ends, now })))
    }
}

/// What arrives of a signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Power {
    pub(super) milliwatts: f64,
    /// The same as interference.
    pub(super) quanta: Quanta,
}

impl From<f64> for Power {
    fn from(milliwatts: f64) -> Self {
        Self { milliwatts, quanta: Quanta::of(milliwatts) }
    }
}

/// Power as a whole number, of which sums are exact: signals that have come and gone leave nothing
/// behind, and in which order they did makes no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Quanta(u64);

impl Quanta {
    /// In milliwatts: -150 dBm, 56 dB below the noise of a receiver of the kind assumed.
    const ONE: f64 = 1.0 / (1u64 << 50) as f64;
    /// One signal counts as 12 dBm at most, so that a thousand of the strongest have a sum.
    const MOST: u64 = 1 << 54;

    pub(super) fn of(milliwatts: f64) -> Self {
        Self(((milliwatts / Self::ONE + 0.5) as u64).min(Self::MOST))
    }

    /// The least sum that comes up to this.
    fn least(milliwatts: f64) -> Self {
        Self(libm::ceil(milliwatts / Self::ONE) as u64)
    }

    pub(super) fn milliwatts(self) -> f64 {
        self.0 as f64 * Self::ONE
    }
}

impl Add for Quanta {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Quanta {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// How far apart two nodes are at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) distance: f64,
    pub(super) now: Instant,
}

impl Way {
    pub(super) fn at(now: Instant, a: &Site, b: &Site) -> Self {
        Self { distance: a.course.at(now).distance(b.course.at(now)), now }
    }
}

/// A receiver's levels as powers, and noise by width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    pub(super) detect: f64,
    pub(super) detect_ratio: Option<f64>,
    pub(super) sensitivity: f64,
    pub(super) energy: Quanta,
    /// Ratio and window.
    pub(super) capture: Option<(f64, Duration)>,
    /// By width, in the order of [`Width`].
    noise: [f64; 5],
}

impl Levels {
    pub(super) fn of(radio: &Radio) -> Self {
        let power = |level: Dbm| Milliwatts::from(level).0;
        let widths = [Width::Mhz20, Width::Mhz22, Width::Mhz40, Width::Mhz80, Width::Mhz160];
        Self {
            detect: power(radio.detect),
            detect_ratio: radio.detect_snr.map(linear),
            sensitivity: power(radio.sensitivity),
            energy: Quanta::least(power(radio.energy)),
            capture: radio.capture.map(|c| (linear(c.margin), c.window)),
            noise: widths.map(|width| power(noise(width, radio.noise_figure))),
        }
    }

    /// Noise in this width, in milliwatts.
    pub(super) fn noise(&self, width: Width) -> f64 {
        self.noise[width as usize]
    }

    /// Whether a preamble of this power can be found among noise and so much of other signals.
    pub(super) fn finds(&self, power: f64, others: Quanta) -> bool {
        let disturbance = others.milliwatts() + self.noise(Width::Mhz20);
        self.detect_ratio.is_none_or(|ratio| power >= ratio * disturbance)
    }
}
