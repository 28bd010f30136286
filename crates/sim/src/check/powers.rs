//! What arrives where: powers that the checker works out for itself.

use kernel::{Db, Instant};
use wifi::phy::propagation::{Fading, Path, Propagation};
use wifi::phy::{Width, noise};
use wifi::space::{Airing, Losses, MeanKnown, Radio, Site};

/// Two reckonings of one power agree if they differ by less than this part of it.
pub(super) const PRECISION: f64 = 1e-9;

/// Powers between all nodes, and the levels of their receivers, in milliwatts.
#[derive(Debug)]
pub(super) struct Powers {
    /// By sender and receiver; 0 where nothing arrives.
    mean: Vec<Vec<f64>>,
    fading: Option<Fading<MeanKnown>>,
    pub(super) noise: f64,
    pub(super) energy: f64,
    pub(super) detect: f64,
    pub(super) detect_ratio: Option<f64>,
    pub(super) sensitivity: f64,
}

/// Ten to the power of a tenth.
fn plain(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

impl Powers {
    pub(super) fn new(radio: Radio, sites: &[Site]) -> Self {
        let floor = noise(Width::Mhz20, radio.noise_figure) - radio.floor;
        let power = |from: usize, to: usize| {
            let (a, b) = (&sites[from], &sites[to]);
            if from == to || a.channel != b.channel {
                return 0.0;
            }
            let loss = match &radio.losses {
                Losses::Matrix(rows) => rows[from][to],
                Losses::Places(model) => {
                    let distance = a.position.distance(b.position);
                    let ends = (from as u32, to as u32);
                    model.loss(&Path { distance, ends, now: Instant::ZERO })
                }
            };
            let level = a.tx_power - loss;
            if level >= floor { plain(level.0) } else { 0.0 }
        };
        let nodes = 0..sites.len();
        Self {
            mean: nodes.clone().map(|a| nodes.clone().map(|b| power(a, b)).collect()).collect(),
            fading: radio.fading,
            noise: plain(noise(Width::Mhz20, radio.noise_figure).0),
            energy: plain(radio.energy.0),
            detect: plain(radio.detect.0),
            detect_ratio: radio.detect_snr.map(|Db(ratio)| plain(ratio)),
            sensitivity: plain(radio.sensitivity.0),
        }
    }

    /// What of a frame arrives at a node.
    pub(super) fn at(&self, node: u32, frame: &Airing) -> f64 {
        let mean = self.mean[frame.from as usize][node as usize];
        match &self.fading {
            Some(fading) if mean > 0.0 => {
                let (distance, ends) = (0.0, (frame.from, node));
                let Db(loss) = fading.loss(&Path { distance, ends, now: frame.start });
                mean * plain(-loss)
            }
            _ => mean,
        }
    }

    /// What of these frames arrives together.
    pub(super) fn sum<'a>(&self, node: u32, frames: impl Iterator<Item = &'a Airing>) -> f64 {
        frames.filter(|frame| frame.from != node).map(|frame| self.at(node, frame)).sum()
    }
}

/// Whether two reckonings of a power agree, where there is so much of other power as well.
pub(super) fn agree(a: f64, b: f64, beside: f64) -> bool {
    (a - b).abs() <= PRECISION * (a.abs().max(b.abs()) + beside)
}
