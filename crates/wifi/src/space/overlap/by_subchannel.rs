//! Overlapping channels where each transmitter may leave out another part of its own: what frames
//! are in single subchannels of 20 MHz, and which of those are busy.

use super::{Arrived, Common, Overlaps, Spared, energy_until};
use crate::phy::{Band, Mode, Primary, Punctured, Puncturing, Width};
use crate::space::Space;
use crate::space::power::Power;
use crate::space::signals::Signals;
use crate::space::subchannels::{Spread, Subchannels};
use kernel::Instant;

impl Overlaps {
    /// Where transmitters leave out parts of their channel: what their frames are at all receivers,
    /// with whatever the standard may leave out.
    #[cold]
    pub(super) fn note_subchannels(&mut self, band: Band) {
        let widest = self.widest.iter().copied().max().unwrap_or_default();
        self.networks = vec![Puncturing::default(); self.widest.len()];
        let with = |width, punctured| Puncturing { width, punctured };
        let widths = || Width::ALL.into_iter().filter(|&width| width <= widest);
        let mut sent: Vec<Puncturing> = widths()
            .flat_map(|width| Punctured::patterns(width).into_iter().map(move |it| with(width, it)))
            .collect();
        sent.extend(widths().map(|width| with(width, Punctured::NONE)));
        let own = Puncturing::default();
        self.punctured.clear();
        for &from in &self.numbers {
            for &to in &self.numbers {
                for &sent in &sent {
                    let channels = [from, to];
                    let spared = Spared { channels, sent, own };
                    let spread = self.spreads.len() as u32;
                    let common = Common { spread, ..spared.common(band) };
                    self.punctured.push((spared, common));
                    self.spreads.push(Spread::of(band, channels, sent, widest));
                }
            }
        }
        self.punctured.sort_unstable_by_key(|(spared, _)| *spared);
    }

    /// Until when a frame that begins at a node, or all frames together, make its subchannels busy
    /// (802.11ax-2021 clause 27.3.20.6.5). What a transmit mask lets out of a channel is energy,
    /// and no preamble.
    #[cold]
    #[inline(never)]
    pub(super) fn sense_subchannels(
        &self,
        own: &mut Subchannels,
        node: u32,
        end: Instant,
        begun: Arrived,
        signals: &Signals,
    ) {
        let power = |arrived: &Arrived, nth: u32| {
            let spread = self.spreads.get(arrived.common.spread as usize);
            spread.map_or(0.0, |spread| arrived.whole * spread.in_one(nth))
        };
        let Some(spread) = self.spreads.get(begun.common.spread as usize) else { return };
        for nth in own.numbers() {
            let level = power(&begun, nth);
            if level == 0.0 {
                continue;
            }
            let least = spread.occupies(nth).map(|wide| self.in_subchannel[usize::from(wide)]);
            if least.is_some_and(|least| level >= least) {
                own.note(nth, end);
                continue;
            }
            own.note(nth, energy_until(node, self.energy[0], signals, |other| power(other, nth)));
        }
    }
}

impl Arrived {
    /// The power in what a frame occupies of the receiver's channel of its width.
    pub(in crate::space) fn in_occupied(&self, mode: &Mode, overlaps: &Overlaps) -> Power {
        match overlaps.spreads.get(self.common.spread as usize) {
            Some(spread) if !mode.punctured.is_none() && !self.common.is_one => {
                Power::from(self.whole * spread.within(mode.channel()))
            }
            _ => self.within(mode.width),
        }
    }
}

impl Space {
    /// Nodes that may leave out parts of their channel sense each of its subchannels.
    pub(in crate::space) fn watch_subchannels(&mut self) {
        let Some(overlaps) = &self.signals.radio.overlaps else { return };
        if !self.rules.mac.config.bandwidth_operation.is_dynamic() {
            return;
        }
        let widest = overlaps.widest.iter().copied().max().unwrap_or_default();
        let band = self.rules.timing().standard.band;
        for (node, site) in self.nodes.iter_mut().zip(&self.signals.sites) {
            let primary = Primary { band, number: site.channel };
            node.subchannels = Some(Box::new(Subchannels::new(primary, widest)));
        }
    }
}
