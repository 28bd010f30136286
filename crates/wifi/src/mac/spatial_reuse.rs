//! Settings of spatial reuse (802.11ax-2021 clause 26.10).

use crate::phy::{Width, decibels};
use kernel::{Db, Dbm};
use settings::{Choice, Settings};

/// Spatial reuse by OBSS PD of 802.11ax and be, among radios (802.11ax-2021 clause 26.10.2.2).
///
/// A node stops to receive an HE or EHT PPDU of another BSS that arrives below a level, as soon as
/// HE-SIG-A or U-SIG has told the BSS color. Its medium is then idle, unless there is energy, and
/// its NAV is not set. It sends with less power, its responses included, until the end of the TXOP
/// that it wins next, or of the PPDU if it has nothing to send by then. Frames at legacy rates, as
/// RTS, CTS, Ack and `BlockAck`, tell no color: nodes receive them as always.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct SpatialReuse {
    /// The OBSS PD level in dBm for PPDUs of 20 MHz, 3 dB more for each doubling of the width.
    /// Required; -82 ignores nothing that is detected.
    #[setting(key = "obss_pd_dbm", required = "as -72", range = LOWEST.0..=-62.0)]
    pub level: Dbm,
    /// Whether a node that has ignored a PPDU sends with less power.
    pub power_limit: PowerLimit,
    /// The transmit power in dBm at which a node may ignore nothing above -82 dBm (`TXPWRref`): 21,
    /// or 25 for access points of more than two spatial streams.
    #[setting(key = "power_reference_dbm", default = 21.0, range = 21.0..=25.0)]
    pub reference: Dbm,
    /// The BSS colors by node; with 0, the color is not known.
    #[setting(skip)]
    pub colors: Vec<u8>,
}

/// The power of a node that has ignored a PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum PowerLimit {
    /// As clause 26.10.2.4 says: as much below the reference as the level is above -82 dBm.
    #[default]
    Standard,
    /// As always.
    None,
}

/// The lowest OBSS PD level, which limits no power.
const LOWEST: Dbm = Dbm(-82.0);

impl SpatialReuse {
    /// The power below which a node ignores a PPDU of this width.
    pub fn level(&self, width: Width) -> Dbm {
        self.level + decibels(f64::from(width.mhz()) / 20.0)
    }

    /// How much less than its transmit power a node sends with that has ignored a PPDU.
    pub fn reduction(&self, tx_power: Dbm) -> Db {
        if self.power_limit == PowerLimit::None || self.level <= LOWEST {
            return Db(0.0);
        }
        let most = self.reference - (self.level - LOWEST);
        Db((tx_power - most).0.max(0.0))
    }

    /// Whether a node knows that a PPDU of another node is of another BSS.
    pub fn are_apart(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|node| self.colors.get(node as usize).copied().unwrap_or(0));
        a != b && a != 0 && b != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(level: f64) -> SpatialReuse {
        let (power_limit, reference) = (PowerLimit::Standard, Dbm(21.0));
        SpatialReuse { level: Dbm(level), power_limit, reference, colors: vec![1, 1, 2, 0] }
    }

    #[test]
    fn the_higher_the_level_the_lower_the_power() {
        // Clause 26.10.2.4: -82 + (21 - power) is the highest level of a power.
        for (level, power, reduction) in
            [(-82.0, 30.0, 0.0), (-77.0, 16.0, 0.0), (-72.0, 16.0, 5.0), (-62.0, 16.0, 15.0)]
        {
            assert_eq!(at(level).reduction(Dbm(power)), Db(reduction), "{level} dBm");
        }
        let free = SpatialReuse { power_limit: PowerLimit::None, ..at(-62.0) };
        assert_eq!(free.reduction(Dbm(30.0)), Db(0.0));
    }

    #[test]
    fn the_level_grows_with_the_width() {
        let level = at(-72.0).level(Width::Mhz80);
        assert!((level.0 - -65.979).abs() < 1e-3, "{level:?}");
    }

    #[test]
    fn only_different_and_known_colors_tell_bss_apart() {
        let apart = |a, b| at(-72.0).are_apart(a, b);
        assert_eq!(
            [apart(0, 1), apart(0, 2), apart(2, 0), apart(0, 3)],
            [false, true, true, false]
        );
    }
}
