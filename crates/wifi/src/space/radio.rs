//! Propagation, the properties of receivers, and power.
//!
//! A scenario whose signals exceed what a receiver can add up in fixed point is refused. Scaling
//! the unit to the scenario was given up, because it changes every sum.

use super::overlap::Overlaps;
use super::power::Power;
use crate::phy::error::{ErrorModel, ErrorModelSettings, Threshold};
use crate::phy::propagation::{
    Fading, Path, Propagation, PropagationSettings, Shadowing, Trajectory, TwoRay,
};
use crate::phy::{Milliwatts, Width, decibels, linear, noise};
use kernel::{Db, Dbm, Duration, Instant, Seed};
use settings::{Choice, Faults, Path as Place, Range, Said, Settings, number};

/// Radios, which are all alike, and the propagation between them.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct RadioSettings {
    /// Path loss.
    pub propagation: PropagationSettings,
    /// Losses between all pairs of nodes in decibels, instead of `propagation` and positions: one
    /// row for each transmitter, in the order ap, sta0, sta1, …, further access points. A signal
    /// that loses more than 200 dB does not arrive.
    #[setting(key = "losses_db", range = 0.0..=1000.0)]
    pub losses: Option<Vec<Vec<Db>>>,
    /// Standard deviation of log-normal shadowing in decibels, drawn once for each pair of nodes;
    /// 0 is none.
    #[setting(key = "shadowing_db", default = 0.0, range = 0.0..=40.0)]
    pub shadowing: Db,
    /// Block fading; default none.
    pub fading: Option<Fading>,
    /// Transmit power of all nodes, antenna gains included; by default 40 mW.
    #[setting(key = "tx_power_dbm", default = 16.0206, range = Range::TX_POWER)]
    pub tx_power: Dbm,
    /// The receivers.
    #[setting(flatten)]
    pub receiver: ReceiverSettings,
    /// Which bits a receiver decodes.
    pub error_model: ErrorModelSettings,
    /// Whether a station whose NAV an RTS has set resets it if no frame follows the RTS
    /// (802.11-2020 clause 10.3.2.4 permits it).
    #[setting(default = true)]
    pub nav_reset: bool,
    /// Whether signals take time to arrive, at the speed of light.
    pub propagation_delay: PropagationDelay,
}

/// Whether signals take time to arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum PropagationDelay {
    /// If nodes that exchange frames may be more than 300 m apart: up to there the slot time has
    /// room for it (`aAirPropagationTime`, 802.11-2020 table 9-95).
    #[default]
    Auto,
    /// They do.
    On,
    /// They arrive at once.
    Off,
}

/// The most that all signals at a receiver may add up to. The greatest power in fixed point is
/// 42.1 dBm; the rest is left for interferers.
pub const STRONGEST_SUM: Dbm = Dbm(41.0);

/// How much fading may raise the sum of signals that are on the air together.
const FADING_MARGIN: Db = Db(3.0);

/// How many standard deviations of shadowing a signal may be above its mean: one pair of nodes in
/// 30,000 exceeds them.
const SHADOWING_MARGIN: f64 = 4.0;

/// The mean of 10^(X/10) for normally distributed X with this standard deviation in decibels, over
/// all that is below [`SHADOWING_MARGIN`].
fn mean_gain(deviation: Db) -> f64 {
    let s = deviation.0 * std::f64::consts::LN_10 / 10.0;
    let below = 0.5 * libm::erfc((s - SHADOWING_MARGIN) * std::f64::consts::FRAC_1_SQRT_2);
    libm::exp(s * s / 2.0) * below
}

impl RadioSettings {
    /// The radio of ns-2 (`Phy/WirelessPhy` with `Propagation/TwoRayGround`, `ns-default.tcl`):
    /// frames are received up to 250 m and sensed up to 550 m, weaker signals do not exist, and a
    /// frame is lost unless it is 10 dB stronger than all others together.
    pub fn ns2() -> Self {
        /// `Pt_`, 281.84 mW; `RXThresh_`, 3.652e-10 W; `CSThresh_`, 1.559e-11 W.
        const SENT: Dbm = Dbm(24.5);
        const RECEIVED: Dbm = Dbm(-64.3747);
        const SENSED: Dbm = Dbm(-78.0715);
        let usual = ReceiverSettings::default();
        let receiver = ReceiverSettings {
            detect: SENSED,
            detect_snr: Db(-100.0),
            detect_when_busy: false,
            cts_when_busy: false,
            sensitivity: Some(RECEIVED),
            energy: SENSED,
            floor: noise(Width::Mhz20, usual.noise_figure) - SENSED,
            ..usual
        };
        Self {
            propagation: PropagationSettings::TwoRay(TwoRay::default()),
            tx_power: SENT,
            receiver,
            // `CPThresh_`.
            error_model: ErrorModelSettings::Threshold(Threshold { sinr: Db(10.0) }),
            nav_reset: false,
            ..Self::default()
        }
    }

    /// The radio of a flat space, whose nodes are all at one place and receive each other. A frame
    /// is lost if another one is on the air with it, except in the exchanges of full-duplex nodes.
    /// Of several that begin together, a node receives one to its end, and defers for an EIFS.
    pub fn flat() -> Self {
        let usual = ReceiverSettings::default();
        let receiver = ReceiverSettings { detect_snr: Db(-100.0), bears_beside: true, ..usual };
        Self {
            receiver,
            error_model: ErrorModelSettings::Threshold(Threshold::default()),
            propagation_delay: PropagationDelay::Off,
            ..Self::default()
        }
    }

    /// The sum of `count` signals of this transmit power over a mean loss, without shadowing.
    pub fn strongest_sum(&self, tx_power: Dbm, loss: Db, count: usize) -> Dbm {
        let fading = self.fading.map_or(Db(0.0), |_| FADING_MARGIN);
        tx_power - loss + fading + decibels(count.max(1) as f64)
    }

    /// The same with shadowing: one of the signals has the least loss that counts, and the others
    /// add up to their mean, which is above the power at the mean loss. `None` without shadowing.
    pub fn strongest_shadowed_sum(&self, tx_power: Dbm, loss: Db, count: usize) -> Option<Dbm> {
        if self.losses.is_some() || self.shadowing == Db(0.0) {
            return None;
        }
        let least = loss - Db(SHADOWING_MARGIN * self.shadowing.0);
        let one = Milliwatts::from(self.strongest_sum(tx_power, least, 1));
        let others = Milliwatts::from(self.strongest_sum(tx_power, loss, count.max(2) - 1));
        Some(Dbm::from(Milliwatts(one.0 + others.0 * mean_gain(self.shadowing))))
    }

    /// The radio of a run with these settings.
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
            overlaps: None,
            has_delays: false,
            varies_power: false,
        }
    }
}

/// Which frames a receiver decodes, and which signals make its carrier sense busy.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(check = keeps_busy)]
pub struct ReceiverSettings {
    /// Noise figure: noise of the receiver above thermal noise, as ns-3 assumes it.
    #[setting(key = "noise_figure_db", default = 7.0, range = 0.0..=50.0)]
    pub noise_figure: Db,
    /// Power above which a preamble makes the medium busy until its frame ends (802.11-2020 clause
    /// 17.3.10.6).
    #[setting(key = "detect_dbm", default = -82.0, range = -110.0..=30.0)]
    pub detect: Dbm,
    /// Least ratio of a preamble to noise and interference at which the receiver detects it, as in
    /// ns-3.
    #[setting(key = "detect_snr_db", default = 4.0, range = -100.0..=60.0)]
    pub detect_snr: Db,
    /// Whether a receiver detects a preamble while other signals make the medium busy, if the ratio
    /// is sufficient. In ns-2 it does not.
    #[setting(default = true)]
    pub detect_when_busy: bool,
    /// Whether a node sends a CTS while its physical carrier sense is busy, as 802.11-2020 clause
    /// 10.3.2.9 says. In ns-2 it does not.
    #[setting(default = true)]
    pub cts_when_busy: bool,
    /// A receiver decodes no frame below this power; default no such limit.
    #[setting(key = "sensitivity_dbm", range = -120.0..=30.0)]
    pub sensitivity: Option<Dbm>,
    /// Power above which the sum of all signals makes the medium busy (802.11-2020 clause
    /// 17.3.10.6).
    #[setting(key = "energy_dbm", default = -62.0, range = -110.0..=60.0)]
    pub energy: Dbm,
    /// The same after the end of a frame that the node received, until less is on the air or the
    /// node transmits; no more than `energy_dbm`, which is the default. ns-3 has the power of
    /// preambles, -82, there.
    #[setting(key = "energy_after_frame_dbm", range = -110.0..=60.0)]
    pub energy_after_frame: Option<Dbm>,
    /// Lets a receiver switch to a later, stronger frame; default it does not.
    pub capture: Option<Capture>,
    /// Whether the two data frames of a full-duplex exchange and the responses to them do not
    /// disturb each other: each node receives the one that is addressed to it.
    #[setting(skip, default = false)]
    pub bears_beside: bool,
    /// The simulator ignores signals further below the noise of 20 MHz than this.
    #[setting(skip, default = Db(10.0))]
    pub floor: Db,
}

/// What keeps a medium busy is no stronger than what makes it busy.
fn keeps_busy(receiver: &ReceiverSettings, at: &Place, faults: &mut Faults) {
    let energy = receiver.energy;
    if let Some(after) = receiver.energy_after_frame.filter(|after| after.0 > energy.0) {
        let message = Said::new(
            format!("{} is above energy_dbm, {}", number(after.0), number(energy.0)),
            "take no more than that, or remove the key",
        );
        faults.fault(at.key("energy_after_frame_dbm"), message);
    }
}

impl ReceiverSettings {
    /// The power below which a receiver decodes no frame.
    pub fn sensitivity(&self) -> Dbm {
        self.sensitivity.unwrap_or(Dbm(f64::NEG_INFINITY))
    }

    /// The weakest signal that the simulator takes into account.
    pub fn weakest(&self) -> Dbm {
        noise(Width::Mhz20, self.noise_figure) - self.floor
    }
}

/// A node's trajectory, channel and transmit power.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Its positions over time.
    pub trajectory: Trajectory,
    /// The number of its primary channel. Signals in channels that do not overlap do not arrive.
    pub channel: u16,
    /// Transmit power, antenna gains included.
    pub tx_power: Dbm,
    /// Whether the node contends with the parameters of an access point.
    pub is_access_point: bool,
}

/// Mean losses between nodes.
#[derive(Debug)]
pub enum Losses {
    /// By the distance at the start of a frame.
    Places(Box<dyn Propagation>),
    /// As a matrix: row *i*, column *j* is the loss from node *i* to node *j*.
    Matrix(Vec<Vec<Db>>),
}

impl Losses {
    /// The losses from one node to another, and back.
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

/// Capture of the receiver by a later frame.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Capture {
    /// How much stronger the later frame must be, in decibels.
    #[setting(key = "margin_db", default = 5.0, range = 0.0..=60.0)]
    pub margin: Db,
    /// Latest start of the later frame after the start of the first, in microseconds; by default
    /// the duration of the OFDM preamble.
    #[setting(key = "window_us", default = 16.0, range = 0.0..=1e4)]
    pub window: Duration,
}

/// How long a receiver needs to detect a preamble. Interference within this time prevents the
/// detection (802.11-2020 table 17-21, `aCCATime` below 4 µs).
pub(super) const DETECTION: Duration = Duration::from_micros(4);

/// Propagation and the receivers.
#[derive(Debug)]
pub struct Radio {
    /// Mean losses.
    pub losses: Losses,
    /// Block fading in addition, and the seed of its streams.
    pub fading: Option<(Fading, Seed)>,
    /// The properties of all receivers.
    pub receiver: ReceiverSettings,
    /// The error model.
    pub error: Box<dyn ErrorModel>,
    /// Channels that overlap but differ, if there are any.
    pub(super) overlaps: Option<Box<Overlaps>>,
    /// Whether signals take time over distances.
    pub has_delays: bool,
    /// Whether nodes send some frames with less power.
    pub(super) varies_power: bool,
}

impl Radio {
    /// Receivers with the minimum requirements of 802.11-2020, and no fading.
    pub fn new(losses: Losses, error: Box<dyn ErrorModel>) -> Self {
        let receiver = ReceiverSettings::default();
        Self {
            losses,
            fading: None,
            receiver,
            error,
            overlaps: None,
            has_delays: false,
            varies_power: false,
        }
    }

    /// Whether frames in one channel arrive in another.
    pub(super) fn reaches(&self, from: u16, to: u16) -> bool {
        from == to || self.overlaps.as_ref().is_some_and(|overlaps| overlaps.touch(from, to))
    }

    /// Whether losses depend on the positions of nodes.
    pub(super) fn goes_by_place(&self) -> bool {
        matches!(self.losses, Losses::Places(_))
    }

    /// The distance in metres beyond which no signal of this transmit power arrives.
    pub(super) fn reach(&self, tx_power: Dbm) -> f64 {
        // The hundredth of a decibel allows for rounding, so that this limit excludes no pair whose
        // loss is small enough.
        let most = tx_power - self.receiver.weakest() + Db(0.01);
        match &self.losses {
            Losses::Places(model) => model.reach(most),
            Losses::Matrix(_) => f64::INFINITY,
        }
    }

    /// Mean power at a receiver of a frame that begins now, from the positions of the nodes; `None`
    /// below the weakest signal.
    pub(super) fn power(&self, sites: &[Site], from: u32, to: u32, now: Instant) -> Option<Power> {
        let (sender, receiver) = (&sites[from as usize], &sites[to as usize]);
        let (loss, _) = self.losses.between(from, to, Separation::at(now, sender, receiver));
        let level = sender.tx_power - loss;
        (level >= self.receiver.weakest()).then(|| Power::from(Milliwatts::from(level).0))
    }

    /// The power after fading.
    pub(super) fn fade(
        &self,
        mean: Power,
        sites: &[Site],
        from: u32,
        to: u32,
        now: Instant,
    ) -> Power {
        let Some((fading, seed)) = &self.fading else { return mean };
        let Separation { distance, now } =
            Separation::at(now, &sites[from as usize], &sites[to as usize]);
        let ends = (from, to);
        Power::from(mean.milliwatts / linear(fading.loss(seed, &Path { distance, ends, now })))
    }
}

/// The distance of two nodes at an instant.
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
