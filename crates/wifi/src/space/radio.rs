//! What the air does to signals, and what receivers make of them.

use crate::phy::error::ErrorModel;
use crate::phy::propagation::{Course, Fading, Path, Propagation};
use crate::phy::{Milliwatts, Width, noise};
use kernel::{Db, Dbm, Duration, Instant};
use std::ops::Range;

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

    fn goes_by_place(&self) -> bool {
        matches!(self.losses, Losses::Places(_))
    }

    /// Mean power of a frame that a node begins to send now, at one that hears it, in milliwatts;
    /// none below the floor.
    pub(super) fn power(
        &self,
        sites: &[Site],
        from: u32,
        hearer: &Hearer,
        now: Instant,
    ) -> Option<f64> {
        if !hearer.moves {
            return Some(hearer.power);
        }
        let (sender, receiver) = (&sites[from as usize], &sites[hearer.node as usize]);
        let (loss, _) = losses(&self.losses, from, hearer.node, Way::at(now, sender, receiver));
        let level = sender.tx_power - loss;
        (level >= self.weakest()).then(|| Milliwatts::from(level).0)
    }
}

/// How far apart two nodes are at a moment.
#[derive(Clone, Copy, Debug)]
struct Way {
    distance: f64,
    now: Instant,
}

impl Way {
    fn at(now: Instant, a: &Site, b: &Site) -> Self {
        Self { distance: a.course.at(now).distance(b.course.at(now)), now }
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

    /// Whether a preamble of this power can be found among noise and so much of other signals.
    pub(super) fn finds(&self, power: f64, others: f64) -> bool {
        self.detect_ratio.is_none_or(|ratio| power >= ratio * (others + self.noise(Width::Mhz20)))
    }
}

/// A node that hears another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hearer {
    pub(super) node: u32,
    /// One of the two moves: what arrives is another power with each frame.
    moves: bool,
    /// Mean power that arrives, in milliwatts; where one moves, the most that ever does.
    power: f64,
}

/// Who hears whom at any moment, as one list cut into pieces, so that a transmission costs as much
/// as there are nodes that hear it. Nodes that move change powers and not the list, so that a frame
/// ends at those at which it began.
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
                let moves = radio.goes_by_place() && (a.course.moves() || b.course.moves());
                let way = if moves {
                    Way { distance: a.course.closest(&b.course), now: Instant::ZERO }
                } else {
                    Way::at(Instant::ZERO, a, b)
                };
                let (up, down) = losses(&radio.losses, low, high, way);
                for (from, to, level) in
                    [(low, high, a.tx_power - up), (high, low, b.tx_power - down)]
                {
                    if level >= weakest {
                        let power = Milliwatts::from(level).0;
                        lists[from as usize].push(Hearer { node: to, moves, power });
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

    /// The places in the list of those that hear this one.
    pub(super) fn places(&self, node: u32) -> Range<usize> {
        let node = node as usize;
        self.begins[node] as usize..self.begins[node + 1] as usize
    }

    /// Who stands there.
    pub(super) fn at(&self, place: usize) -> &Hearer {
        &self.hearers[place]
    }

    /// Nodes that hear this one, by number.
    pub(super) fn of(&self, node: u32) -> &[Hearer] {
        &self.hearers[self.places(node)]
    }

    /// A node as one that hears another; none if it never does.
    pub(super) fn find(&self, from: u32, to: u32) -> Option<&Hearer> {
        let list = self.of(from);
        list.binary_search_by_key(&to, |hearer| hearer.node).ok().map(|i| &list[i])
    }

    /// Pairs kept.
    pub(super) fn len(&self) -> usize {
        self.hearers.len()
    }
}

/// From one node to another, and back.
fn losses(losses: &Losses, a: u32, b: u32, Way { distance, now }: Way) -> (Db, Db) {
    match losses {
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
