//! The 20 MHz subchannels of a channel, each by itself: what of a frame is in each, and until when
//! each is busy (802.11ax-2021 clause 27.3.20.6.5).
//!
//! A transmitter that may leave out a part of its channel needs to know which part was busy, and
//! its receiver hears nothing in what the transmitter has left out.

use super::overlap::{left_out, parts, share};
use crate::mac::Won;
use crate::phy::{Band, Channel, Primary, Punctured, Puncturing, Width, subchannels};
use kernel::{Duration, Instant};
use std::iter::successors;

/// The most subchannels of a channel.
const MOST: usize = 16;

/// The widest channel around a primary channel, of at most this width.
fn widest(primary: Primary, at_most: Width) -> Width {
    let mut narrower = successors(Some(at_most), |width| width.narrower());
    narrower.find(|&width| primary.channel(width).is_some()).unwrap_or_default()
}

/// What a frame of one channel is in each subchannel of another.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    /// The other channel, and its widest.
    to: Primary,
    width: Width,
    /// The part of the power in each subchannel of that.
    shares: [f64; MOST],
    /// The subchannels that the frame occupies.
    occupied: Punctured,
    /// The width of the frame.
    sent: Width,
}

impl Spread {
    /// Of a frame that occupies this around its primary channel, at a node with another one.
    pub(super) fn of(band: Band, channels: [u16; 2], sent: Puncturing, at_most: Width) -> Self {
        let [from, to] = channels.map(|number| Primary { band, number });
        let width = widest(to, at_most);
        let (mut shares, mut occupied) = ([0.0; MOST], 0);
        if let (Some(channel), Some(there)) = (from.channel(sent.width), to.channel(width)) {
            let all = 1.0 - left_out(channel, sent.punctured);
            let is_in = |part: &Channel, is_out: bool| {
                let mut own = parts(channel).zip(0..);
                own.any(|(it, nth)| it == *part && sent.punctured.has(nth) == is_out)
            };
            for (place, part) in parts(there).enumerate() {
                if !is_in(&part, true) {
                    shares[place] = share(channel, part) / all;
                    occupied |= u16::from(is_in(&part, false)) << place;
                }
            }
        }
        Self { to, width, shares, occupied: Punctured::of_bits(occupied), sent: sent.width }
    }

    /// The part of the power in a channel of the other node without what of it is left out.
    pub(super) fn within(&self, own: Puncturing) -> f64 {
        let all = (1u32 << subchannels(own.width)) - 1;
        let all = Puncturing { punctured: Punctured::of_bits(all as u16), ..own };
        let [all, unused] = [all, own].map(|it| it.within(self.to, self.width));
        let used = Punctured::of_bits(all.bits() & !unused.bits());
        let shares = self.shares.iter().zip(0..).filter(|(_, nth)| used.has(*nth));
        shares.map(|(share, _)| share).sum()
    }

    /// The part of the power in a subchannel.
    pub(super) fn in_one(&self, nth: u32) -> f64 {
        self.shares[nth as usize]
    }

    /// Whether the frame occupies the subchannel, so that its preamble is there. If so, whether it
    /// is wider.
    pub(super) fn occupies(&self, nth: u32) -> Option<bool> {
        self.occupied.has(nth).then_some(self.sent > Width::Mhz22)
    }
}

/// Until when the subchannels of a node are busy.
#[derive(Debug)]
pub(super) struct Subchannels {
    primary: Primary,
    width: Width,
    at_most: Width,
    busy_until: [Instant; MOST],
}

impl Subchannels {
    /// Those of a node in a space whose widest frames have this width.
    pub(super) fn new(primary: Primary, at_most: Width) -> Self {
        let width = widest(primary, at_most);
        Self { primary, width, at_most, busy_until: [Instant::ZERO; MOST] }
    }

    /// The node has another channel from now on, of which it knows nothing.
    pub(super) fn tune(&mut self, number: u16) {
        if number != self.primary.number {
            *self = Self::new(Primary { number, ..self.primary }, self.at_most);
        }
    }

    /// Their numbers, from 0.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..subchannels(self.width)
    }

    /// A subchannel is busy until then.
    pub(super) fn note(&mut self, nth: u32, until: Instant) {
        let known = &mut self.busy_until[nth as usize];
        *known = until.max(*known);
    }

    /// What the node wins with a TXOP; `None` if it wins all of its channel.
    pub(super) fn won(&self, now: Instant, pifs: Duration) -> Option<Won> {
        let busy = self.numbers().filter(|&nth| now < self.busy_until[nth as usize] + pifs);
        let punctured = Punctured::of_bits(busy.map(|nth| 1 << nth).sum());
        Won::of(self.primary, Puncturing { width: self.width, punctured })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(channels: [u16; 2], width: Width, punctured: u16) -> Spread {
        let sent = Puncturing { width, punctured: Punctured::of_bits(punctured) };
        Spread::of(Band::Ghz5, channels, sent, Width::Mhz80)
    }

    /// 20 MHz in channel 44, and a channel of 80 MHz around 36: the third of its subchannels.
    #[test]
    fn a_frame_is_in_its_subchannel_and_its_mask_in_those_beside() {
        let frame = spread([44, 36], Width::Mhz20, 0);
        assert_eq!([0, 1, 2, 3].map(|nth| frame.occupies(nth)), [None, None, Some(false), None]);
        let decibels = [1, 3].map(|nth| 10.0 * libm::log10(frame.in_one(nth)));
        assert!(decibels.iter().all(|level| (-24.0..-23.0).contains(level)), "{decibels:?}");
        assert_eq!(frame.in_one(0), 0.0);
        let within = |punctured| {
            let punctured = Punctured::of_bits(punctured);
            frame.within(Puncturing { width: Width::Mhz80, punctured })
        };
        assert!((within(0) - 1.0).abs() < 1e-9);
        assert!((within(0b0100) - 2.0 * frame.in_one(1)).abs() < 1e-9, "the mask remains");
        assert!((within(0b1000) + frame.in_one(3) - 1.0).abs() < 1e-9);
        // Channel 52 has what the mask of channel 48 lets out, and is not in 80 MHz around 36.
        let sent = Puncturing { width: Width::Mhz20, punctured: Punctured::NONE };
        let last = Spread::of(Band::Ghz5, [48, 36], sent, Width::Mhz160);
        let own = Puncturing { width: Width::Mhz80, punctured: Punctured::of_bits(0b1000) };
        assert!(last.in_one(4) > 0.0 && last.within(own) == last.in_one(2));
    }

    /// 80 MHz without the third 20, at a node in that one and at one beside.
    #[test]
    fn a_punctured_frame_is_in_three_quarters_of_its_channel() {
        let frame = spread([36, 44], Width::Mhz80, 0b0100);
        let wide = Some(true);
        assert_eq!([0, 1, 2, 3].map(|nth| frame.occupies(nth)), [wide, wide, None, wide]);
        let shares = [0, 1, 2, 3].map(|nth| frame.in_one(nth));
        assert_eq!(shares[2], 0.0);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 0.02, "{shares:?}");
        assert!((shares[1] - 1.0 / 3.0).abs() < 0.01, "{shares:?}");
    }

    #[test]
    fn a_subchannel_is_busy_until_a_pifs_after_a_frame() {
        let us = |n: u64| Instant(n * 1000);
        let pifs = Duration::from_micros(25);
        let primary = Primary { band: Band::Ghz5, number: 36 };
        let mut own = Subchannels::new(primary, Width::Mhz160);
        own.note(3, us(100));
        own.note(3, us(50));
        assert_eq!([124, 125].map(|at| own.won(us(at), pifs).is_some()), [true, false]);
        own.note(0, us(500));
        assert!(own.won(us(400), pifs).is_none(), "it is the primary channel");
        own.note(1, us(500));
        own.tune(36);
        assert!(own.won(us(400), pifs).is_some());
        own.tune(40);
        assert!(own.won(us(400), pifs).is_none(), "it knows nothing of the new channel");
    }

    #[test]
    fn where_there_is_no_wide_channel_the_widest_counts() {
        let at = |number| Primary { band: Band::Ghz5, number };
        assert_eq!(widest(at(36), Width::Mhz160), Width::Mhz160);
        assert_eq!(widest(at(132), Width::Mhz160), Width::Mhz80);
        assert_eq!(Subchannels::new(at(132), Width::Mhz160).numbers().count(), 4);
    }
}
