//! What the air does to signals, and what receivers make of them.

use crate::phy::error::ErrorModel;
use crate::phy::propagation::{Fading, Path, Position, Propagation};
use crate::phy::{Milliwatts, Width, noise};
use kernel::{Db, Dbm, Duration};

/// A node's place, channel and power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// Where it stands.
    pub position: Position,
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
    /// By their positions.
    Places(Box<dyn Propagation>),
    /// As listed: row *i*, column *j* is what node *j* loses of what node *i* sends.
    Matrix(Vec<Vec<Db>>),
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
    fn weakest(&self) -> Dbm {
        noise(Width::Mhz20, self.noise_figure) - self.floor
    }
}

/// A receiver's levels as powers, and noise by width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    pub(super) detect: f64,
    pub(super) detect_ratio: Option<f64>,
    pub(super) sensitivity: f64,
    pub(super) energy: f64,
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
            detect_ratio: radio.detect_snr.map(crate::phy::linear),
            sensitivity: power(radio.sensitivity),
            energy: power(radio.energy),
            capture: radio.capture.map(|c| (crate::phy::linear(c.margin), c.window)),
            noise: widths.map(|width| power(noise(width, radio.noise_figure))),
        }
    }

    /// Noise in this width, in milliwatts.
    pub(super) fn noise(&self, width: Width) -> f64 {
        self.noise[width as usize]
    }
}

/// A node that hears another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hearer {
    pub(super) node: u32,
    /// Mean power that arrives, in milliwatts.
    pub(super) power: f64,
}

/// Who hears whom, as one list cut into pieces, so that a transmission costs as much as there are
/// nodes that hear it.
#[derive(Debug)]
pub(super) struct Hearing {
    /// Where each node's piece begins; and the end of the last.
    begins: Vec<u32>,
    hearers: Vec<Hearer>,
}

impl Hearing {
    pub(super) fn new(sites: &[Site], radio: &Radio) -> Self {
        let count = sites.len() as u32;
        let weakest = radio.weakest();
        let mut lists: Vec<Vec<Hearer>> = vec![Vec::new(); sites.len()];
        for high in 1..count {
            for low in 0..high {
                let (a, b) = (&sites[low as usize], &sites[high as usize]);
                if a.channel != b.channel {
                    continue;
                }
                let (up, down) = losses(&radio.losses, sites, low, high);
                for (from, to, level) in
                    [(low, high, a.tx_power - up), (high, low, b.tx_power - down)]
                {
                    if level >= weakest {
                        let power = Milliwatts::from(level).0;
                        lists[from as usize].push(Hearer { node: to, power });
                    }
                }
            }
        }
        let mut begins = Vec::with_capacity(sites.len() + 1);
        let mut hearers = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        for list in &mut lists {
            list.sort_unstable_by_key(|hearer| hearer.node);
            begins.push(hearers.len() as u32);
            hearers.append(list);
        }
        begins.push(hearers.len() as u32);
        Self { begins, hearers }
    }

    /// Nodes that hear this one, by number.
    pub(super) fn of(&self, node: u32) -> &[Hearer] {
        let node = node as usize;
        &self.hearers[self.begins[node] as usize..self.begins[node + 1] as usize]
    }

    /// Mean power from one node at another, in milliwatts; none below the floor.
    pub(super) fn power(&self, from: u32, to: u32) -> Option<f64> {
        let list = self.of(from);
        list.binary_search_by_key(&to, |hearer| hearer.node).ok().map(|i| list[i].power)
    }

    /// Pairs kept.
    pub(super) fn len(&self) -> usize {
        self.hearers.len()
    }
}

/// From `low` to `high`, and back.
fn losses(losses: &Losses, sites: &[Site], low: u32, high: u32) -> (Db, Db) {
    match losses {
        Losses::Places(model) => {
            let (a, b) = (sites[low as usize].position, sites[high as usize].position);
            let now = kernel::Instant::ZERO;
            let path = Path { distance: a.distance(b), ends: (low, high), now };
            let loss = model.loss(&path);
            (loss, loss)
        }
        Losses::Matrix(rows) => {
            let (low, high) = (low as usize, high as usize);
            (rows[low][high], rows[high][low])
        }
    }
}
