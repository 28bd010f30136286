//! What the air does to signals, and what receivers make of them.

use crate::phy::error::{ErrorModel, ErrorModelSettings};
use crate::phy::propagation::{
    Fading, Path, Propagation, PropagationSettings, Shadowing, Trajectory,
};
use crate::phy::{Milliwatts, Width, linear, noise};
use kernel::{Db, Dbm, Duration, Instant, Seed};
use settings::Settings;
use std::ops::{Add, Sub};

/// Radios, which are all alike, and the air between them.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct RadioSettings {
    /// What signals lose on their way.
    pub propagation: PropagationSettings,
    /// What signals lose from each node to each other in decibels, instead of `propagation` and
    /// positions: a row for each sender, in the order ap, sta0, sta1, …, further access points;
    /// more than 200 is out of hearing.
    #[setting(key = "losses_db", range = 0.0..=1000.0)]
    pub losses: Option<Vec<Vec<Db>>>,
    /// Standard deviation of log-normal shadowing in decibels, drawn once for each pair of nodes;
    /// 0 is none.
    #[setting(key = "shadowing_db", default = 0.0, range = 0.0..=40.0)]
    pub shadowing: Db,
    /// Block fading; default none.
    pub fading: Option<Fading>,
    /// Power with which all nodes send, antenna gains included; by default 40 mW.
    #[setting(key = "tx_power_dbm", default = 16.0206, range = -50.0..=60.0)]
    pub tx_power: Dbm,
    /// The receivers.
    #[setting(flatten)]
    pub receiver: ReceiverSettings,
    /// Which bits are understood.
    pub error_model: ErrorModelSettings,
    /// Whether a station that follows an RTS with its NAV forgets it if no frame comes after it
    /// (802.11-2020 clause 10.3.2.4 permits it).
    #[setting(default = true)]
    pub nav_reset: bool,
}

impl RadioSettings {
    /// What they come to in a run.
    pub fn radio(&self, seed: &Seed) -> Radio {
        let model = || self.propagation.boxed();
        let losses = match (&self.losses, self.shadowing) {
            (Some(rows), _) => Losses::Matrix(rows.clone()),
            (None, Db(0.0)) => Losses::Places(model()),
            (None, deviation) => {
                Losses::Places(Box::new(Shadowing { inner: model(), deviation, seed: *seed }))
            }
        };
        Radio {
            losses,
            fading: self.fading.map(|fading| (fading, *seed)),
            receiver: self.receiver,
            error: self.error_model.boxed(),
        }
    }
}

/// What a receiver understands, and what makes the medium busy to it.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct ReceiverSettings {
    /// What the electronics of a receiver add to thermal noise, as ns-3 assumes it.
    #[setting(key = "noise_figure_db", default = 7.0, range = 0.0..=50.0)]
    pub noise_figure: Db,
    /// Power from which on a preamble makes the medium busy until its frame ends (802.11-2020
    /// clause 17.3.10.6).
    #[setting(key = "detect_dbm", default = -82.0, range = -110.0..=30.0)]
    pub detect: Dbm,
    /// How far a preamble must stand above noise and interference to be found, as in ns-3.
    #[setting(key = "detect_snr_db", default = 4.0, range = -100.0..=60.0)]
    pub detect_snr: Db,
    /// Frames of less power than this are never understood; default no such limit.
    #[setting(key = "sensitivity_dbm", range = -120.0..=30.0)]
    pub sensitivity: Option<Dbm>,
    /// Power from which on signals of any kind, summed up, make the medium busy (802.11-2020
    /// clause 17.3.10.6).
    #[setting(key = "energy_dbm", default = -62.0, range = -110.0..=60.0)]
    pub energy: Dbm,
    /// Lets a receiver turn to a later, stronger frame; default it does not.
    pub capture: Option<Capture>,
    /// Signals further below the noise of 20 MHz than this are left out altogether.
    #[setting(skip, default = Db(10.0))]
    pub floor: Db,
}

impl ReceiverSettings {
    /// Frames of less power are never understood.
    pub fn sensitivity(&self) -> Dbm {
        self.sensitivity.unwrap_or(Dbm(f64::NEG_INFINITY))
    }

    /// The weakest signal that is looked at.
    pub fn weakest(&self) -> Dbm {
        noise(Width::Mhz20, self.noise_figure) - self.floor
    }
}

/// A node's trajectory, channel and power.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Where it is when.
    pub trajectory: Trajectory,
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
    pub(super) fn between(
        &self,
        a: u32,
        b: u32,
        Separation { distance, now }: Separation,
    ) -> (Db, Db) {
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

/// Capture of a receiver by a later frame.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Capture {
    /// How much stronger it must be, in decibels.
    #[setting(key = "margin_db", default = 5.0, range = 0.0..=60.0)]
    pub margin: Db,
    /// How long after the first frame's begin, in microseconds; by default the OFDM preamble.
    #[setting(key = "window_us", default = 16.0, range = 0.0..=1e4)]
    pub window: Duration,
}

/// How long a receiver needs to find a preamble; a frame that disturbs it by then hides it
/// (802.11-2020 table 17-21, `aCCATime` below 4 µs).
pub(super) const DETECTION: Duration = Duration::from_micros(4);

/// Propagation and the receivers.
#[derive(Debug)]
pub struct Radio {
    /// Mean losses.
    pub losses: Losses,
    /// Block fading upon them, and the root of its streams.
    pub fading: Option<(Fading, Seed)>,
    /// All receivers.
    pub receiver: ReceiverSettings,
    /// Which bits are understood.
    pub error: Box<dyn ErrorModel>,
}

impl Radio {
    /// Receivers as 802.11-2020 asks for at least, and without fading.
    pub fn new(losses: Losses, error: Box<dyn ErrorModel>) -> Self {
        Self { losses, fading: None, receiver: ReceiverSettings::default(), error }
    }

    /// Whether losses depend on where nodes are.
    pub(super) fn goes_by_place(&self) -> bool {
        matches!(self.losses, Losses::Places(_))
    }

    /// Metres beyond which nobody hears a node that sends with this power.
    pub(super) fn reach(&self, tx_power: Dbm) -> f64 {
        // The hundredth is for rounding, so that no pair is lost for which the loss itself tells.
        let most = tx_power - self.receiver.weakest() + Db(0.01);
        match &self.losses {
            Losses::Places(model) => model.reach(most),
            Losses::Matrix(_) => f64::INFINITY,
        }
    }

    /// Mean power of a frame that a node begins to send now, at another, by their places; none
    /// below the floor.
    pub(super) fn power(&self, sites: &[Site], ends: (u32, u32), now: Instant) -> Option<Power> {
        let (sender, receiver) = (&sites[ends.0 as usize], &sites[ends.1 as usize]);
        let (loss, _) = self.losses.between(ends.0, ends.1, Separation::at(now, sender, receiver));
        let level = sender.tx_power - loss;
        (level >= self.receiver.weakest()).then(|| Power::from(Milliwatts::from(level).0))
    }

    /// What fading leaves of it.
    pub(super) fn fade(
        &self,
        mean: Power,
        sites: &[Site],
        ends: (u32, u32),
        now: Instant,
    ) -> Power {
        let Some((fading, seed)) = &self.fading else { return mean };
        let Separation { distance, now } =
            Separation::at(now, &sites[ends.0 as usize], &sites[ends.1 as usize]);
        Power::from(mean.milliwatts / linear(fading.loss(seed, &Path { distance, ends, now })))
    }
}

/// What arrives of a signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Power {
    pub(super) milliwatts: f64,
    /// The same as interference.
    pub(super) fixed: FixedPower,
}

impl From<f64> for Power {
    fn from(milliwatts: f64) -> Self {
        Self { milliwatts, fixed: FixedPower::of(milliwatts) }
    }
}

/// Power as a whole number, of which sums are exact: signals that have come and gone leave nothing
/// behind, and in which order they did makes no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FixedPower(u64);

impl FixedPower {
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

/// How far apart two nodes are at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separation {
    pub(super) distance: f64,
    pub(super) now: Instant,
}

impl Separation {
    pub(super) fn at(now: Instant, a: &Site, b: &Site) -> Self {
        Self { distance: a.trajectory.at(now).distance(b.trajectory.at(now)), now }
    }
}

/// A receiver's levels as powers, and noise by width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    pub(super) detect: f64,
    detect_ratio: f64,
    pub(super) sensitivity: f64,
    pub(super) energy: FixedPower,
    /// Ratio and window.
    pub(super) capture: Option<(f64, Duration)>,
    /// By width, in the order of [`Width`].
    noise: [f64; 5],
}

impl Levels {
    pub(super) fn of(receiver: &ReceiverSettings) -> Self {
        let power = |level: Dbm| Milliwatts::from(level).0;
        let widths = [Width::Mhz20, Width::Mhz22, Width::Mhz40, Width::Mhz80, Width::Mhz160];
        Self {
            detect: power(receiver.detect),
            detect_ratio: linear(receiver.detect_snr),
            sensitivity: power(receiver.sensitivity()),
            energy: FixedPower::least(power(receiver.energy)),
            capture: receiver.capture.map(|c| (linear(c.margin), c.window)),
            noise: widths.map(|width| power(noise(width, receiver.noise_figure))),
        }
    }

    /// Noise in this width, in milliwatts.
    pub(super) fn noise(&self, width: Width) -> f64 {
        self.noise[width as usize]
    }

    /// Whether a preamble of this power can be found among noise and so much of other signals.
    pub(super) fn finds(&self, power: f64, others: FixedPower) -> bool {
        let disturbance = others.milliwatts() + self.noise(Width::Mhz20);
        power >= self.detect_ratio * disturbance
    }
}
