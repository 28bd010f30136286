//! Cells whose channels overlap but differ.
//!
//! A frame has the spectrum of its transmit mask around its channel. What of its power falls into
//! the primary channel of a node on another channel is energy there, for carrier sense and for the
//! detection of preambles; what falls into the channel of a frame that the node receives is
//! interference with that frame. If the frame is in the node's own channel of the same width, as a
//! frame of 80 MHz is in all four primary channels of its block, the node receives it as one of its
//! own cell.
//!
//! What a frame leaves out of its channel has none of its power, and what a network has punctured
//! is no part of the channels of its nodes: nothing there disturbs them or keeps them from sending.

mod by_subchannel;

use super::Space;
use super::power::Power;
use super::radio::{Radio, Site};
use super::signals::Signals;
use super::subchannels::Spread;
use crate::phy::{
    Band, Channel, Milliwatts, Mode, ModeClass, Primary, Punctured, Puncturing, Width, subchannels,
};
use crate::{Link, MacConfig};
use kernel::{Db, Dbm, Instant};

/// The widths of channels with secondary parts, in the order of the parts.
const WIDE: [Width; 4] = [Width::Mhz40, Width::Mhz80, Width::Mhz160, Width::Mhz320];

/// How much more power makes a secondary channel busy than the primary one: it is wider for 40 and
/// 80 MHz (clause 21.3.18.5.4: -62, -59 and -56 dBm), and by 3 dB again for 160.
const ENERGY: [Db; 4] = [Db(0.0), Db(3.0), Db(6.0), Db(9.0)];

/// How much more power a frame in a secondary channel must have to be detected than one in the
/// primary channel (clause 21.3.18.5.4: -72, -72 and -69 dBm, and -82 dBm there), and 3 dB again
/// for 160 MHz.
const DETECTION: [Db; 4] = [Db(10.0), Db(10.0), Db(13.0), Db(16.0)];

/// How much more power a frame of 20 MHz must have to be detected in a subchannel than in the
/// primary channel, and a wider one in each of its subchannels (802.11ax-2021 clause 27.3.20.6.5:
/// -72 dBm of 20 or 40 MHz, -69 dBm of 80 MHz).
const IN_SUBCHANNEL: [Db; 2] = [Db(10.0), Db(7.0)];

/// What the frames of one channel are in another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Common {
    /// The part of their power that is in the primary channel, and in the channel of the receiver
    /// of each width.
    shares: [f64; 6],
    /// The receiver has a channel of their width there, and so receives them.
    is_one: bool,
    /// The place of what they are in its subchannels.
    spread: u32,
}

/// The channels of a space of which some overlap.
#[derive(Debug)]
pub(super) struct Overlaps {
    /// The numbers of all channels, sorted.
    numbers: Vec<u16>,
    /// By channel of the transmitter, channel of the receiver, and width of the frame, where
    /// nothing is punctured.
    common: Vec<Common>,
    /// The same of what frames leave out or receivers do not use, sorted.
    punctured: Vec<(Spared, Common)>,
    /// The widest frames of each node.
    widest: Vec<Width>,
    /// What the network of each node has punctured, if any has, or if transmitters leave out parts
    /// of their channel.
    networks: Vec<Puncturing>,
    /// What frames are in single subchannels, if any leave out parts of their channel.
    spreads: Vec<Spread>,
    /// The least power of a frame of 20 MHz that is detected in a subchannel, and of a wider one in
    /// each of its subchannels; in milliwatts.
    in_subchannel: [f64; 2],
    /// The least power of a secondary channel, in milliwatts.
    energy: [f64; 4],
    /// The least power of a frame that is detected there, in milliwatts; `None` if only energy is
    /// (clause 19.3.19.5).
    detection: Option<[f64; 4]>,
}

/// A frame and a receiver of which one has punctured channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spared {
    /// The channels of transmitter and receiver.
    channels: [u16; 2],
    /// What the frame occupies.
    sent: Puncturing,
    /// The channel of the receiver.
    own: Puncturing,
}

/// What a transmission is at a node in range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// The power of the whole frame, in milliwatts.
    whole: f64,
    common: Common,
}

impl Overlaps {
    /// The channels of these sites, which exchange frames over these links; `None` if none of them
    /// overlap.
    pub(super) fn of(
        mac: &MacConfig,
        radio: &Radio,
        sites: &[Site],
        links: &[(u32, u32, Link)],
    ) -> Option<Box<Self>> {
        let standard = mac.timing.standard;
        // DSSS is wider than 20 MHz.
        let widest = vec![standard.modes[0].width; sites.len()];
        let (band, receiver) = (standard.band, &radio.receiver);
        // From VHT on, frames are detected in secondary channels, before only energy (clause
        // 19.3.19.5).
        let high = standard.high.and_then(ModeClass::high);
        let detects = high.is_some_and(|high| high.detects_secondary);
        let mut numbers: Vec<u16> = sites.iter().map(|site| site.channel).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() < 2 {
            return None;
        }
        let pairs = numbers.iter().flat_map(|&from| numbers.iter().map(move |&to| (from, to)));
        let common: Vec<Common> = pairs
            .flat_map(|(from, to)| Width::ALL.map(|width| Common::of(band, from, to, width)))
            .collect();
        let power = |level: Dbm| Milliwatts::from(level).0;
        let mut all = Self {
            numbers,
            common,
            punctured: Vec::new(),
            widest,
            networks: Vec::new(),
            spreads: Vec::new(),
            in_subchannel: IN_SUBCHANNEL.map(|more| power(receiver.detect + more)),
            energy: ENERGY.map(|more| power(receiver.energy + more)),
            detection: detects.then(|| DETECTION.map(|more| power(receiver.detect + more))),
        };
        for &(a, b, link) in links {
            all.add_link([a, b], &link);
        }
        all.note_punctured(band, links);
        if mac.bandwidth_operation.is_dynamic() {
            all.note_subchannels(band);
        }
        let overlap =
            |from: &u16| all.numbers.iter().any(|&to| *from != to && all.touch(*from, to));
        all.numbers.iter().any(overlap).then(|| Box::new(all))
    }

    /// Two nodes exchange frames over a link.
    pub(super) fn add_link(&mut self, ends: [u32; 2], link: &Link) {
        for node in ends {
            let known = &mut self.widest[node as usize];
            *known = link.mode.width.max(*known);
        }
    }

    /// Where networks have punctured channels: what the frames of these links, and those in all of
    /// their channels, are at all receivers.
    fn note_punctured(&mut self, band: Band, links: &[(u32, u32, Link)]) {
        let whole = Width::ALL.map(|width| Puncturing { width, punctured: Punctured::NONE });
        let mut sent: Vec<Puncturing> =
            links.iter().map(|(_, _, link)| link.mode.channel()).chain(whole).collect();
        sent.sort_unstable();
        sent.dedup();
        if sent.iter().all(|sent| sent.punctured.is_none()) {
            return;
        }
        let mut networks = vec![Puncturing::default(); self.widest.len()];
        // The widest frames of an access point tell it, to all its stations.
        for &(a, b, link) in links.iter().chain(links) {
            let of = |node: u32| networks[node as usize];
            let known = link.mode.channel().max(of(a)).max(of(b));
            networks[a as usize] = known;
            networks[b as usize] = known;
        }
        let widest = self.widest.iter().copied().max().unwrap_or_default();
        let mut own = networks.clone();
        own.sort_unstable();
        own.dedup();
        self.networks = networks;
        for &from in &self.numbers {
            for &to in &self.numbers {
                for &sent in &sent {
                    let channels = [from, to];
                    let spread = self.spreads.len() as u32;
                    self.spreads.push(Spread::of(band, channels, sent, widest));
                    for &own in &own {
                        let spared = Spared { channels, sent, own };
                        self.punctured.push((spared, Common { spread, ..spared.common(band) }));
                    }
                }
            }
        }
        self.punctured.sort_unstable_by_key(|(spared, _)| *spared);
    }

    /// Whether any frames in one channel arrive in another.
    pub(super) fn touch(&self, from: u16, to: u16) -> bool {
        let widest = self.widest.iter().copied().max().unwrap_or_default();
        let widths = Width::ALL.into_iter().filter(|&width| width <= widest);
        let (Some(from), Some(to)) = (self.place(from), self.place(to)) else { return false };
        widths.into_iter().any(|sent| {
            let Common { shares, .. } = self.between(from, to, sent);
            Width::ALL.iter().any(|&width| width <= widest && shares[width as usize] > 0.0)
        })
    }

    fn place(&self, number: u16) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    fn between(&self, from: usize, to: usize, width: Width) -> Common {
        self.common[(from * self.numbers.len() + to) * Width::ALL.len() + width as usize]
    }

    /// What a frame of one channel is at a node in another.
    fn common(&self, from: u16, to: u16, mode: &Mode, node: u32) -> Common {
        let width = mode.width;
        if let Some(&own) = self.networks.get(node as usize) {
            let spared = Spared { channels: [from, to], sent: mode.channel(), own };
            let place = self.punctured.binary_search_by_key(&spared, |(spared, _)| *spared);
            if let Ok(place) = place {
                return self.punctured[place].1;
            }
        }
        match (self.place(from), self.place(to)) {
            (Some(from), Some(to)) => self.between(from, to, width),
            _ if from == to => Common::ALL,
            _ => Common::NOTHING,
        }
    }
}

impl Common {
    const ALL: Self = Self { shares: [1.0; 6], is_one: true, spread: u32::MAX };
    const NOTHING: Self = Self { shares: [0.0; 6], is_one: false, spread: u32::MAX };

    fn of(band: Band, from: u16, to: u16, width: Width) -> Self {
        if from == to {
            return Self::ALL;
        }
        let [from, to] = [from, to].map(|number| Primary { band, number });
        let Some(sent) = from.channel(width) else { return Self::NOTHING };
        if to.channel(width) == Some(sent) {
            return Self::ALL;
        }
        let share = |width| to.channel(width).map_or(0.0, |received| share(sent, received));
        Self { shares: Width::ALL.map(share), ..Self::NOTHING }
    }
}

impl Spared {
    fn common(self, band: Band) -> Common {
        let Self { channels, sent, own } = self;
        let [from, to] = channels.map(|number| Primary { band, number });
        let usual = Common::of(band, from.number, to.number, sent.width);
        // A PPDU without the receiver's primary channel is none of its own.
        let is_there = || sent.place_of(to).is_none_or(|place| !sent.punctured.has(place));
        let Some(channel) = from.channel(sent.width).filter(|_| !(usual.is_one && is_there()))
        else {
            return usual;
        };
        let all = 1.0 - left_out(channel, sent.punctured);
        let share = |width| {
            let Some(received) = to.channel(width) else { return 0.0 };
            let unused = own.within(to, width);
            let used = parts(received).zip(0..).filter(|(_, nth)| !unused.has(*nth));
            let sent_in = |part: &Channel| {
                !parts(channel).zip(0..).any(|(it, nth)| it == *part && sent.punctured.has(nth))
            };
            used.map(|(part, _)| part).filter(sent_in).map(|part| share(channel, part)).sum::<f64>()
                / all
        };
        Common { shares: Width::ALL.map(share), ..Common::NOTHING }
    }
}

/// The channels of 20 MHz in a channel, from the lowest.
pub(super) fn parts(channel: Channel) -> impl Iterator<Item = Channel> {
    let lowest = channel.edges_mhz().0;
    let centre = move |nth| Channel { centre_mhz: lowest + 10 + 20 * nth, width: Width::Mhz20 };
    (0..subchannels(channel.width)).map(centre)
}

/// The part of the power of a frame in all of a channel that is where another leaves out.
pub(super) fn left_out(channel: Channel, punctured: Punctured) -> f64 {
    let is_out = |(_, nth): &(Channel, u32)| punctured.has(*nth);
    parts(channel).zip(0..).filter(is_out).map(|(part, _)| share(channel, part)).sum()
}

/// The transmit mask of frames of a width: offsets from the centre in MHz, and the power density
/// there relative to the centre. OFDM: clauses 17.3.9.3, 19.3.18.1 and 21.3.17.1; DSSS: clause
/// 15.4.5.5. Beyond the last offset, where the mask allows -40 or -50 dBr everywhere, nothing is
/// sent.
fn mask(width: Width) -> Vec<(f64, Db)> {
    let mhz = f64::from(width.mhz());
    if width == Width::Mhz22 {
        return vec![(11.0, Db(0.0)), (11.0, Db(-30.0)), (22.0, Db(-30.0))];
    }
    vec![
        (mhz / 2.0 - 1.0, Db(0.0)),
        (mhz / 2.0 + 1.0, Db(-20.0)),
        (mhz, Db(-28.0)),
        (mhz * 1.5, Db(-40.0)),
    ]
}

/// The power of a frame from its centre up to an offset in MHz, in units of 1 MHz at the centre.
fn power_up_to(mask: &[(f64, Db)], offset: f64) -> f64 {
    let (mut from, mut level, mut sum) = (0.0, 1.0, 0.0);
    for &(to, Db(next)) in mask {
        let next = libm::pow(10.0, next / 10.0);
        let (end, length) = (offset.abs().min(to), to - from);
        if end > from {
            let slope = libm::log(next / level) / length;
            sum += if next == level {
                level * (end - from)
            } else {
                level * (libm::exp(slope * (end - from)) - 1.0) / slope
            };
        }
        (from, level) = (to, next);
    }
    sum.copysign(offset)
}

/// The part of the power of a frame that is in a channel.
pub(super) fn share(sent: Channel, received: Channel) -> f64 {
    let mask = mask(sent.width);
    let (low, high) = received.edges_mhz();
    let offset = |mhz: u32| f64::from(mhz) - f64::from(sent.centre_mhz);
    let all = power_up_to(&mask, f64::INFINITY);
    (power_up_to(&mask, offset(high)) - power_up_to(&mask, offset(low))) / (2.0 * all)
}

impl Arrived {
    /// A frame of this power, from one channel at a node in another.
    pub(super) fn new(
        whole: f64,
        channels: [u16; 2],
        mode: &Mode,
        node: u32,
        overlaps: &Overlaps,
    ) -> Self {
        let [from, to] = channels;
        Self { whole, common: overlaps.common(from, to, mode, node) }
    }

    /// Whether the node receives frames of its width there.
    pub(super) fn is_in_channel(&self) -> bool {
        self.common.is_one
    }

    /// The power in the receiver's channel of a width.
    pub(super) fn within(&self, width: Width) -> Power {
        Power::from(self.whole * self.common.shares[width as usize])
    }

    /// The power in a secondary channel, in milliwatts.
    fn secondary(&self, part: usize) -> f64 {
        let inner = if part == 0 { Width::Mhz20 } else { WIDE[part - 1] };
        let [outer, inner] = [WIDE[part], inner].map(|width| self.common.shares[width as usize]);
        self.whole * (outer - inner).max(0.0)
    }
}

impl Overlaps {
    /// Until when a frame that begins at a node, or all frames together, make a secondary channel
    /// busy in which the node sends; [`Instant::ZERO`] if they do not.
    fn busy_until(&self, node: u32, end: Instant, begun: Arrived, signals: &Signals) -> Instant {
        let mut until = Instant::ZERO;
        let widest = self.widest[node as usize];
        for (part, _) in WIDE.iter().enumerate().take_while(|&(_, &width)| width <= widest) {
            if self.detection.is_some_and(|least| begun.secondary(part) >= least[part]) {
                return end;
            }
            if begun.secondary(part) == 0.0 {
                continue;
            }
            let busy =
                energy_until(node, self.energy[part], signals, |other| other.secondary(part));
            until = until.max(busy);
        }
        until
    }
}

/// Until when the frames on the air that a node does not receive in its channel have at least this
/// power together, each with a part of its own; [`Instant::ZERO`] if they do not.
fn energy_until(
    node: u32,
    least: f64,
    signals: &Signals,
    power: impl Fn(&Arrived) -> f64,
) -> Instant {
    let on_air = || signals.arrived_now(node).filter(|(_, other)| !other.is_in_channel());
    let from = |end: Instant| -> f64 {
        on_air().filter(|&(other, _)| other >= end).map(|(_, other)| power(&other)).sum()
    };
    let busy = on_air().map(|(end, _)| end).filter(|&end| from(end) >= least);
    busy.max().unwrap_or(Instant::ZERO)
}

impl Space {
    /// A frame begins: nodes on other channels sense it in their secondary channels (clause
    /// 21.3.18.5.4).
    #[inline(never)]
    pub(super) fn sense_secondaries(&mut self, id: u32) {
        let Self { signals, nodes, .. } = self;
        let Some(overlaps) = &signals.radio.overlaps else { return };
        let end = signals.transmission(id).end();
        for (node, arrived) in signals.arrived_of(id) {
            if arrived.is_in_channel() {
                continue;
            }
            if let Some(own) = &mut nodes[node as usize].subchannels {
                overlaps.sense_subchannels(own, node, end, arrived, signals);
            } else {
                let until = overlaps.busy_until(node, end, arrived, signals);
                let noted = &mut nodes[node as usize].secondary_busy_until;
                *noted = until.max(*noted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decibels(part: f64) -> f64 {
        10.0 * libm::log10(part)
    }

    fn part(band: Band, from: u16, width: Width, to: (u16, Width)) -> f64 {
        let of = |number, width| Primary { band, number }.channel(width).unwrap();
        share(of(from, width), of(to.0, to.1))
    }

    /// The mask of clause 17.3.9.3, integrated in steps of 10 kHz.
    #[test]
    fn the_share_of_an_adjacent_channel_is_that_of_the_mask() {
        let density = |mhz: f64| -> f64 {
            let between = |(a, x), (b, y)| -> f64 { a + (b - a) * (mhz - x) / (y - x) };
            let dbr = match mhz {
                ..9.0 => 0.0,
                ..11.0 => between((0.0, 9.0), (-20.0, 11.0)),
                ..20.0 => between((-20.0, 11.0), (-28.0, 20.0)),
                ..30.0 => between((-28.0, 20.0), (-40.0, 30.0)),
                _ => return 0.0,
            };
            libm::pow(10.0, dbr / 10.0)
        };
        let sum = |from: f64, to: f64| -> f64 {
            let steps = ((to - from) * 100.0).round() as u32;
            (0..steps).map(|n| density((from + (f64::from(n) + 0.5) / 100.0).abs()) / 100.0).sum()
        };
        let (low, wide) = (Band::Ghz2_4, Width::Mhz20);
        for (to, offset) in [(1, 0.0), (2, 5.0), (3, 10.0), (5, 20.0), (6, 25.0), (8, 35.0)] {
            let expected = sum(offset - 10.0, offset + 10.0) / sum(-30.0, 30.0);
            let found = part(low, 1, wide, (to, wide));
            assert!((found / expected - 1.0).abs() < 1e-4, "{to}: {found} {expected}");
        }
        // Adjacent channels at 5 GHz are 20 MHz apart; the second next is out of the mask.
        let next = decibels(part(Band::Ghz5, 36, wide, (40, wide)));
        assert!((-24.0..-23.0).contains(&next), "{next}");
        assert_eq!(part(Band::Ghz5, 36, wide, (44, wide)), 0.0);
    }

    /// 802.11b: -30 dBr from 11 to 22 MHz (clause 15.4.5.5).
    #[test]
    fn channels_1_and_6_of_802_11b_share_a_thousandth() {
        let dsss = Width::Mhz22;
        let found = decibels(part(Band::Ghz2_4, 1, dsss, (6, dsss)));
        assert!((-35.0..-34.0).contains(&found), "{found}");
        assert_eq!(part(Band::Ghz2_4, 1, dsss, (11, dsss)), 0.0);
    }

    #[test]
    fn a_frame_in_the_own_channel_of_its_width_is_received_whole() {
        let one = |from, to, width| Common::of(Band::Ghz5, from, to, width).is_one;
        for to in [36, 40, 44, 48] {
            assert!(one(36, to, Width::Mhz80), "{to}");
        }
        assert!(!one(36, 52, Width::Mhz80) && one(36, 52, Width::Mhz160));
        assert!(one(36, 40, Width::Mhz40) && !one(36, 44, Width::Mhz40));
        assert!(!one(36, 40, Width::Mhz20));
        let ack = Common::of(Band::Ghz5, 36, 44, Width::Mhz20);
        let [primary, _, of_40, of_80, ..] = ack.shares;
        assert_eq!(primary, 0.0);
        assert!(of_40 < 0.01 && of_80 > 0.99, "{of_40} {of_80}");
    }

    /// A PPDU of 80 MHz without its third 20 MHz, which are channel 44, and the channels beside it.
    #[test]
    fn what_is_punctured_has_no_power_and_is_not_heard() {
        let plain = |width| Puncturing { width, punctured: Punctured::NONE };
        let third = Puncturing { width: Width::Mhz80, punctured: Punctured::of_bits(0b0100) };
        let of = |channels, sent, own| Spared { channels, sent, own }.common(Band::Ghz5);
        let in_20 = |to| of([36, to], third, plain(Width::Mhz20)).shares[Width::Mhz20 as usize];
        assert_eq!(in_20(44), 0.0);
        // A node there knows it as a frame of its own channel.
        assert_eq!([40, 48].map(in_20), [1.0; 2]);
        // Outside of the 80 MHz is what the mask lets out, of three quarters of the width.
        let [whole, cut] = [plain(Width::Mhz80), third]
            .map(|sent| of([36, 52], sent, third).shares[Width::Mhz20 as usize]);
        assert!((cut / whole - 4.0 / 3.0).abs() < 0.01, "{whole} {cut}");
        let heard = of([44, 36], plain(Width::Mhz20), third);
        let whole = of([44, 36], plain(Width::Mhz20), plain(Width::Mhz80));
        let [heard, whole] = [heard, whole].map(|common| common.shares[Width::Mhz80 as usize]);
        // Only what the mask lets into 40 and 48.
        assert!(whole > 0.99 && heard < 0.01 && heard > 0.0, "{whole} {heard}");
        assert!(of([36, 40], third, third).is_one && !of([36, 44], third, third).is_one);
    }
}
