//! The part of the spectrum that a burst or a frame occupies.

use crate::phy::{Primary, Width};

/// A part of the spectrum, in kilohertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spectrum {
    low: u32,
    high: u32,
}

impl Spectrum {
    /// The whole spectrum. A burst there has its power in every channel.
    pub const EVERYWHERE: Self = Self { low: 0, high: u32::MAX };

    /// No part of it.
    const NOWHERE: Self = Self { low: 0, high: 0 };

    /// The widest burst that is inside a channel or outside of it, by its centre.
    const NARROW: u32 = 2000;

    /// A band around a centre.
    pub fn around(centre_mhz: f64, width_mhz: f64) -> Self {
        let khz = |mhz: f64| (mhz * 1e3 + 0.5) as u32;
        Self { low: khz(centre_mhz - width_mhz / 2.0), high: khz(centre_mhz + width_mhz / 2.0) }
    }

    /// A radio-frequency channel of a system with a raster of 1 MHz.
    pub(super) const fn narrow(centre_mhz: u32, width_mhz: u32) -> Self {
        let (centre, half) = (centre_mhz * 1000, width_mhz * 500);
        Self { low: centre - half, high: centre + half }
    }

    /// What frames of one width occupy in a primary channel; nothing if there is no such channel.
    pub fn of(primary: Primary, width: Width) -> Self {
        let channel = primary.channel(width);
        channel.map_or(Self::NOWHERE, |channel| Self::narrow(channel.centre_mhz, width.mhz()))
    }

    /// Its centre.
    pub(super) fn centre_mhz(self) -> u32 {
        u32::midpoint(self.low, self.high) / 1000
    }

    /// The fraction of the power of a burst in this band that arrives in a channel. A narrow burst
    /// is inside the channel if its centre is: 22 of 79 in the channel of 802.11b, 20 in that of
    /// OFDM.
    pub fn share_in(self, channel: Self) -> f64 {
        if self == Self::EVERYWHERE {
            return 1.0;
        }
        let width = self.high - self.low;
        if width <= Self::NARROW {
            let centre = u32::midpoint(self.low, self.high);
            return f64::from(u8::from(channel.low < centre && centre <= channel.high));
        }
        let common = self.high.min(channel.high).saturating_sub(self.low.max(channel.low));
        f64::from(common) / f64::from(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Band;

    fn channel(band: Band, number: u16, width: Width) -> Spectrum {
        Spectrum::of(Primary { band, number }, width)
    }

    fn bluetooth_channels(band: Band, number: u16, width: Width) -> usize {
        let channel = channel(band, number, width);
        (0..79).filter(|k| Spectrum::narrow(2402 + k, 1).share_in(channel) == 1.0).count()
    }

    #[test]
    fn a_channel_covers_22_or_20_of_the_79_channels_of_bluetooth() {
        for number in [1, 6, 11] {
            assert_eq!(bluetooth_channels(Band::Ghz2_4, number, Width::Mhz22), 22, "{number}");
            assert_eq!(bluetooth_channels(Band::Ghz2_4, number, Width::Mhz20), 20, "{number}");
        }
        assert_eq!(bluetooth_channels(Band::Ghz2_4, 6, Width::Mhz40), 40);
        assert_eq!(bluetooth_channels(Band::Ghz5, 36, Width::Mhz20), 0);
    }

    #[test]
    fn a_wide_burst_has_a_part_of_its_power_in_a_channel() {
        // 2401 to 2423 MHz.
        let channel = channel(Band::Ghz2_4, 1, Width::Mhz22);
        assert_eq!(Spectrum::around(2450.0, 80.0).share_in(channel), 13.0 / 80.0);
        assert_eq!(Spectrum::around(2412.0, 10.0).share_in(channel), 1.0);
        assert_eq!(Spectrum::around(2450.0, 40.0).share_in(channel), 0.0);
        assert_eq!(Spectrum::EVERYWHERE.share_in(channel), 1.0);
    }

    #[test]
    fn frames_of_each_width_are_where_their_channel_is() {
        let in_block = |width| channel(Band::Ghz5, 44, width);
        assert_eq!(in_block(Width::Mhz20), Spectrum::around(5220.0, 20.0));
        assert_eq!(in_block(Width::Mhz40), Spectrum::around(5230.0, 40.0));
        assert_eq!(in_block(Width::Mhz80), Spectrum::around(5210.0, 80.0));
        assert_eq!(channel(Band::Ghz2_4, 6, Width::Mhz40), Spectrum::around(2447.0, 40.0));
        let without = channel(Band::Ghz5, 0, Width::Mhz20);
        assert_eq!(Spectrum::around(2450.0, 80.0).share_in(without), 0.0);
        assert_eq!(Spectrum::EVERYWHERE.share_in(without), 1.0);
    }
}
