//! What arrives where: powers that the checker works out for itself.

use kernel::{Db, Dbm, Instant, Seed};
use wifi::phy::propagation::{Fading, Path};
use wifi::phy::{Width, noise};
use wifi::space::{Losses, OngoingFrame, Radio, Site};

/// Two reckonings of one power agree if they differ by less than this part of it.
const PRECISION: f64 = 1e-9;

/// In milliwatts: the medium keeps sums of signals in steps of -150 dBm, and each signal may be
/// half of one off. What is less than half of one is nothing to it.
pub(super) const STEP: f64 = 1e-15;

/// Powers between all nodes, and the levels of their receivers, in milliwatts.
#[derive(Debug)]
pub(super) struct Powers {
    losses: Losses,
    sites: Vec<Site>,
    /// The least level that arrives.
    floor: Dbm,
    /// Between nodes that stand still, by sender and receiver; none of those that never sent.
    known: Vec<Vec<Option<f64>>>,
    fading: Option<(Fading, Seed)>,
    pub(super) noise: f64,
    pub(super) energy: f64,
    pub(super) detect: f64,
    pub(super) detect_ratio: f64,
    pub(super) sensitivity: f64,
}

/// Ten to the power of a tenth.
fn plain(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

impl Powers {
    pub(super) fn new(radio: Radio, sites: Vec<Site>) -> Self {
        let receiver = radio.receiver;
        let noise = noise(Width::Mhz20, receiver.noise_figure);
        Self {
            known: vec![Vec::new(); sites.len()],
            losses: radio.losses,
            sites,
            floor: noise - receiver.floor,
            fading: radio.fading,
            noise: plain(noise.0),
            energy: plain(receiver.energy.0),
            detect: plain(receiver.detect.0),
            detect_ratio: plain(receiver.detect_snr.0),
            sensitivity: plain(receiver.sensitivity().0),
        }
    }

    /// A node sends: works out what of it arrives where as long as nobody moves.
    pub(super) fn on_begin(&mut self, from: u32) {
        if self.known[from as usize].is_empty() {
            let still =
                |to: u32| ![from, to].iter().any(|&n| self.sites[n as usize].trajectory.moves());
            let known = |to| still(to).then(|| self.mean(from, to, Instant::ZERO));
            self.known[from as usize] = (0..self.sites.len() as u32).map(known).collect();
        }
    }

    /// What arrives on average of a frame that begins now.
    fn mean(&self, from: u32, to: u32, now: Instant) -> f64 {
        if let Some(&Some(known)) = self.known[from as usize].get(to as usize) {
            return known;
        }
        let [a, b] = [from, to].map(|node| &self.sites[node as usize]);
        if from == to || a.channel != b.channel {
            return 0.0;
        }
        let loss = match &self.losses {
            Losses::Matrix(rows) => rows[from as usize][to as usize],
            Losses::Places(model) => {
                let distance = a.trajectory.at(now).distance(b.trajectory.at(now));
                model.loss(&Path { distance, ends: (from, to), now })
            }
        };
        let level = a.tx_power - loss;
        if level >= self.floor { plain(level.0) } else { 0.0 }
    }

    /// What of a frame arrives at a node.
    pub(super) fn at(&self, node: u32, frame: &OngoingFrame) -> f64 {
        let mean = self.mean(frame.from, node, frame.start);
        match &self.fading {
            Some((fading, seed)) if mean > 0.0 => {
                let (distance, ends) = (0.0, (frame.from, node));
                let Db(loss) = fading.loss(seed, &Path { distance, ends, now: frame.start });
                mean * plain(-loss)
            }
            _ => mean,
        }
    }

    /// What of these frames arrives together.
    pub(super) fn sum<'a>(&self, node: u32, frames: impl Iterator<Item = &'a OngoingFrame>) -> f64 {
        frames.filter(|frame| frame.from != node).map(|frame| self.at(node, frame)).sum()
    }
}

/// Whether two reckonings of a power agree.
pub(super) fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= PRECISION * a.abs().max(b.abs())
}

/// Whether two reckonings agree that depend on the sum of so many signals.
pub(super) fn agree_in_sum(a: f64, b: f64, signals: usize) -> bool {
    agree(a, b) || (a - b).abs() <= STEP * signals as f64
}
