//! The part of the spectrum that a burst or a frame occupies.

use crate::phy::{Band, Width};

/// A part of the spectrum, in kilohertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spectrum {
    low: u32,
    high: u32,
}

impl Spectrum {
    /// The whole spectrum. A burst there has its power in every channel.
    pub const EVERYWHERE: Self = Self { low: 0, high: u32::MAX };

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

    /// A channel of the network, by its number (clauses 15.4.4.3 and 17.3.8.4.2).
    pub fn of_channel(band: Band, number: u16, width: Width) -> Self {
        let number = u32::from(number);
        let centre_mhz = match (band, number) {
            (Band::Ghz2_4, 14) => 2484,
            (Band::Ghz2_4, _) => 2407 + 5 * number,
            (Band::Ghz5, _) => 5000 + 5 * number,
        };
        Self::narrow(centre_mhz, width.mhz())
    }

    /// Its centre.
    pub(super) fn centre_mhz(self) -> u32 {
        u32::midpoint(self.low, self.high) / 1000
    }

    /// The same channel with frames of another bandwidth.
    #[must_use]
    pub fn with_width(self, width: Width) -> Self {
        let centre = u32::midpoint(self.low, self.high);
        Self { low: centre - width.mhz() * 500, high: centre + width.mhz() * 500 }
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

    fn bluetooth_channels(band: Band, number: u16, width: Width) -> usize {
        let channel = Spectrum::of_channel(band, number, width);
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
        let channel = Spectrum::of_channel(Band::Ghz2_4, 1, Width::Mhz22);
        assert_eq!(Spectrum::around(2450.0, 80.0).share_in(channel), 13.0 / 80.0);
        assert_eq!(Spectrum::around(2412.0, 10.0).share_in(channel), 1.0);
        assert_eq!(Spectrum::around(2450.0, 40.0).share_in(channel), 0.0);
        assert_eq!(Spectrum::EVERYWHERE.share_in(channel), 1.0);
        assert_eq!(channel.with_width(Width::Mhz20), Spectrum::around(2412.0, 20.0));
    }
}
