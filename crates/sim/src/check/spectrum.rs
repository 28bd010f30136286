//! The parts of frames that are in channels that overlap with theirs, computed independently.

use crate::plan::{Plan, SpacePlan};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use wifi::phy::{Band, Mode, Width};

/// The widths of frames and of channels in MHz; 22 are those of DSSS.
const WIDTHS_MHZ: [u32; 6] = [20, 22, 40, 80, 160, 320];

/// What of a channel of so many MHz is punctured: a bit for each 20 MHz from the lowest.
pub(super) type Pattern = (u32, u16);

/// Parts of frames by the channels of transmitter and receiver, what the frame and the receiver
/// leave out, and the width of the receiver's channel.
type Cut = BTreeMap<(u16, u16, Pattern, Pattern, u32), f64>;

/// What a frame occupies.
pub(super) fn pattern(mode: &Mode) -> Pattern {
    (mode.width.mhz(), mode.punctured.bits())
}

/// What the network of each radio has punctured: its widest frames tell it.
pub(super) fn patterns(plan: &Plan, space: &SpacePlan) -> Vec<Pattern> {
    let in_cell = |cell: u32| {
        let members = plan.stations.iter().zip(&space.stations);
        let members = members.filter(move |(_, place)| place.cell == cell);
        members.map(|(station, _)| station.down.mode())
    };
    let pattern = |cell| {
        let widest = in_cell(cell).max_by_key(|mode| (mode.width, mode.punctured));
        widest.map_or((20, 0), |mode| (mode.width.mhz(), mode.punctured.bits()))
    };
    plan.topology.radios().iter().map(|radio| pattern(radio.cell)).collect()
}

/// The patterns of all frames.
pub(super) fn sent(plan: &Plan) -> impl Iterator<Item = Pattern> {
    let modes = plan.stations.iter().flat_map(|station| [station.up.mode(), station.down.mode()]);
    modes.map(|mode| pattern(&mode))
}

/// Whether a frame leaves out of its channel what its network has punctured.
pub(super) fn spares(band: Band, primary: u16, frame: &Mode, own: Pattern) -> bool {
    let sent = pattern(frame);
    let silent = left_out(band, primary, sent);
    let used = left_out(band, primary, (sent.0, u16::MAX)).into_iter();
    let unused = left_out(band, primary, own);
    used.filter(|part| !silent.contains(part)).all(|part| !unused.contains(&part))
}

/// The parts, by the channels of transmitter and receiver, the width of the frame, and that of the
/// receiver's channel; only those that are not zero.
#[derive(Debug)]
pub(super) struct Shares {
    whole: BTreeMap<(u16, u16, u32, u32), f64>,
    /// The same by what the frame and the receiver's network have punctured.
    cut: Cut,
    /// The same by what the frame leaves out and what the received frame does, if each frame may
    /// leave out something else; those that were asked for.
    asked: Option<RefCell<Cut>>,
    band: Band,
    numbers: Vec<u16>,
}

impl Shares {
    /// Between all of these channels.
    pub(super) fn new(band: Band, channels: impl Iterator<Item = u16>) -> Self {
        let mut numbers: Vec<u16> = channels.collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut shares = BTreeMap::new();
        for &from in &numbers {
            for &to in numbers.iter().filter(|&&to| to != from) {
                for frame in WIDTHS_MHZ {
                    for at in WIDTHS_MHZ {
                        let share = share(band, from, frame, to, at);
                        if share > 0.0 {
                            shares.insert((from, to, frame, at), share);
                        }
                    }
                }
            }
        }
        Self { whole: shares, cut: BTreeMap::new(), asked: None, band, numbers }
    }

    /// The same with these patterns of networks and of frames.
    pub(super) fn punctured(mut self, patterns: &[Pattern], sent: BTreeSet<Pattern>) -> Self {
        if patterns.iter().all(|(_, bits)| *bits == 0) {
            return self;
        }
        let patterns: BTreeSet<Pattern> = patterns.iter().copied().collect();
        let mut all = sent;
        all.extend(WIDTHS_MHZ.map(|mhz| (mhz, 0)));
        for &from in &self.numbers {
            for &to in self.numbers.iter().filter(|&&to| to != from) {
                for &sent in &all {
                    for &own in &patterns {
                        for at in WIDTHS_MHZ {
                            let part = part(self.band, [from, to], [sent, own], at);
                            self.cut.insert((from, to, sent, own, at), part);
                        }
                    }
                }
            }
        }
        self
    }

    /// The same where each frame may leave out another part of its channel.
    pub(super) fn following(mut self) -> Self {
        self.asked = Some(RefCell::default());
        self
    }

    /// The part of a frame in one channel that is in the 20 MHz around a centre.
    pub(super) fn in_20(&self, from: u16, frame: &Mode, centre_mhz: f64) -> f64 {
        let pattern = pattern(frame);
        let Some(at) = centre(self.band, from, pattern.0) else { return 0.0 };
        let silent = left_out(self.band, from, pattern);
        if silent.contains(&centre_mhz) {
            return 0.0;
        }
        let in_20 = |centre: &f64| integral(pattern.0, centre - at - 10.0, centre - at + 10.0);
        let all = integral(pattern.0, -500.0, 500.0) - silent.iter().map(in_20).sum::<f64>();
        in_20(&centre_mhz) / all
    }

    /// The part of a frame in one channel that is in another one of this width, whose network has
    /// this pattern.
    pub(super) fn of(&self, from: u16, to: u16, frame: &Mode, own: Pattern, at: Width) -> f64 {
        let (mhz, at) = (frame.width.mhz(), at.mhz());
        if from == to {
            return 1.0;
        }
        let sent = pattern(frame);
        if let Some(asked) = self.asked.as_ref().filter(|_| sent.1 != 0 || own.1 != 0) {
            let mut asked = asked.borrow_mut();
            let found = asked.entry((from, to, sent, own, at));
            return *found.or_insert_with(|| part(self.band, [from, to], [sent, own], at));
        }
        let whole = || self.whole.get(&(from, to, mhz, at)).copied().unwrap_or(0.0);
        self.cut.get(&(from, to, sent, own, at)).copied().unwrap_or_else(whole)
    }

    /// Whether any part of any frame in one channel may be in another.
    pub(super) fn touch(&self, from: u16, to: u16) -> bool {
        let any = (from, to, 0, 0)..=(from, to, u32::MAX, u32::MAX);
        from == to || self.whole.range(any).next().is_some()
    }
}

/// The centre in MHz of the channel of a width that has a primary channel (annex E).
fn centre(band: Band, primary: u16, mhz: u32) -> Option<f64> {
    let mhz_of = |number: u16| 5000.0 + 5.0 * f64::from(number);
    let block = |centres: &[u16], reach: u16| {
        let centre = centres.iter().find(|centre| centre.abs_diff(primary) <= reach)?;
        Some(mhz_of(*centre))
    };
    match (band, mhz, primary) {
        (Band::Ghz2_4, 20 | 22, 14) => Some(2484.0),
        (Band::Ghz2_4, 20 | 22, 1..=13) => Some(2407.0 + 5.0 * f64::from(primary)),
        (Band::Ghz2_4, 40, 1..=9) => Some(2417.0 + 5.0 * f64::from(primary)),
        (Band::Ghz2_4, 40, 10..=13) => Some(2397.0 + 5.0 * f64::from(primary)),
        (Band::Ghz5, 20 | 22, 1..) => Some(mhz_of(primary)),
        (Band::Ghz5, 40, _) => {
            block(&[38, 46, 54, 62, 102, 110, 118, 126, 134, 142, 151, 159, 167, 175], 2)
        }
        (Band::Ghz5, 80, _) => block(&[42, 58, 106, 122, 138, 155, 171], 6),
        (Band::Ghz5, 160, _) => block(&[50, 114, 163], 14),
        (Band::Ghz6, ..) => centre_at_6_ghz(primary, mhz),
        _ => None,
    }
}

/// The same at 6 GHz, where channels of each width follow each other from 5945 MHz up to 7125 MHz.
fn centre_at_6_ghz(primary: u16, mhz: u32) -> Option<f64> {
    let (lowest, mhz) = (5945.0, f64::from(mhz));
    let at = 5950.0 + 5.0 * f64::from(primary);
    let centre = lowest + ((at - lowest) / mhz).floor() * mhz + mhz / 2.0;
    (centre + mhz / 2.0 <= 7125.0).then_some(centre)
}

/// The part of a frame's power that is in a channel: all if the channel is that of the frame.
fn share(band: Band, from: u16, frame_mhz: u32, to: u16, mhz: u32) -> f64 {
    let Some(sent) = centre(band, from, frame_mhz) else { return 0.0 };
    if centre(band, to, frame_mhz) == Some(sent) {
        return 1.0;
    }
    let Some(received) = centre(band, to, mhz) else { return 0.0 };
    let half = f64::from(mhz) / 2.0;
    let offset = received - sent;
    integral(frame_mhz, offset - half, offset + half) / integral(frame_mhz, -500.0, 500.0)
}

/// The centres in MHz of what a frame occupies.
pub(super) fn occupied(band: Band, primary: u16, frame: &Mode) -> Vec<f64> {
    let (mhz, bits) = pattern(frame);
    left_out(band, primary, (mhz, !bits))
}

/// The centres in MHz of the 20 MHz of the widest channel around a primary one.
pub(super) fn widest(band: Band, primary: u16) -> Vec<f64> {
    let all = |mhz: &u32| left_out(band, primary, (*mhz, u16::MAX));
    [320, 160, 80, 40, 20].iter().map(all).find(|all| !all.is_empty()).unwrap_or_default()
}

/// The centre in MHz of a primary channel.
pub(super) fn primary_mhz(band: Band, primary: u16) -> Option<f64> {
    centre(band, primary, 20)
}

/// The centres in MHz of what is punctured of a channel.
fn left_out(band: Band, primary: u16, (mhz, bits): Pattern) -> Vec<f64> {
    let Some(centre) = centre(band, primary, mhz) else { return Vec::new() };
    let lowest = centre - f64::from(mhz) / 2.0 + 10.0;
    let nth = (0..mhz / 20).filter(|nth| bits & 1 << nth != 0);
    nth.map(|nth| lowest + 20.0 * f64::from(nth)).collect()
}

/// The part of a frame's power that is in a channel, where one of them has a pattern.
fn part(band: Band, [from, to]: [u16; 2], [pattern, own]: [Pattern; 2], mhz: u32) -> f64 {
    let Some(at) = centre(band, from, pattern.0) else { return 0.0 };
    let in_20 = |centre: &f64| integral(pattern.0, centre - at - 10.0, centre - at + 10.0);
    let silent = left_out(band, from, pattern);
    let unused = left_out(band, to, own);
    let misses_primary = centre(band, to, 20).is_some_and(|own| silent.contains(&own));
    if centre(band, to, pattern.0) == Some(at) && !misses_primary {
        return 1.0;
    }
    let all = integral(pattern.0, -500.0, 500.0) - silent.iter().map(in_20).sum::<f64>();
    let heard = left_out(band, to, (mhz, u16::MAX));
    let heard = heard.iter().filter(|part| !silent.contains(part) && !unused.contains(part));
    heard.map(in_20).sum::<f64>() / all
}

/// The offsets in MHz at which the transmit mask of a width bends, and its densities in dBr
/// (clauses 17.3.9.3 and 21.3.17.1; DSSS: 15.4.5.5). It is cut at the last.
fn mask(mhz: u32) -> Vec<(f64, f64)> {
    let wide = |half: f64| {
        vec![(half - 1.0, 0.0), (half + 1.0, -20.0), (2.0 * half, -28.0), (3.0 * half, -40.0)]
    };
    match mhz {
        22 => vec![(11.0, 0.0), (11.0, -30.0), (22.0, -30.0)],
        _ => wide(f64::from(mhz) / 2.0),
    }
}

/// The integral of the density over offsets in MHz, by Simpson's rule between the bends.
fn integral(mhz: u32, from: f64, to: f64) -> f64 {
    const STEPS: u32 = 256;
    let mask = mask(mhz);
    let mut sum = 0.0;
    let (mut low, mut level) = (0.0, 0.0);
    for (high, next) in mask {
        for sign in [1.0, -1.0] {
            let (a, b) = if sign > 0.0 { (low, high) } else { (-high, -low) };
            let (a, b) = (a.max(from), b.min(to));
            if b <= a {
                continue;
            }
            let density = |at: f64| {
                let dbr = level + (next - level) * (at * sign - low) / (high - low);
                libm::pow(10.0, dbr / 10.0)
            };
            let step = (b - a) / f64::from(STEPS);
            let weight = |n: u32| match n {
                0 | STEPS => 1.0,
                n if n % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let points = (0..=STEPS).map(|n| weight(n) * density(a + f64::from(n) * step));
            sum += points.sum::<f64>() * step / 3.0;
        }
        (low, level) = (high, next);
    }
    sum
}
