//! Settings of spatial reuse (802.11ax-2021 clause 26.10).

use crate::phy::{Width, decibels};
use kernel::{Db, Dbm};
use settings::{Choice, Faults, Path, Said, Settings, said};

/// Spatial reuse by OBSS PD of 802.11ax and be, among radios (802.11ax-2021 clause 26.10.2.2).
///
/// A node stops to receive an HE or EHT PPDU of another BSS that arrives below a level, as soon as
/// HE-SIG-A or U-SIG has told the BSS color. Its medium is then idle, unless there is energy, and
/// its NAV is not set. It sends with less power, its responses included, until the end of the TXOP
/// that it wins next, or of the PPDU if it has nothing to send by then. Frames at legacy rates, as
/// RTS, CTS, Ack and `BlockAck`, tell no color: nodes receive them as always.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = is_complete)]
pub struct SpatialReuse {
    /// The OBSS PD level in dBm for PPDUs of 20 MHz, 3 dB more for each doubling of the width; -82
    /// ignores nothing that is detected. Required without `srg`; with it, this is the level for
    /// PPDUs that are not of the node's group, and without it none of them is ignored.
    #[setting(key = "obss_pd_dbm", range = LOWEST.0..=-62.0)]
    pub level: Option<Dbm>,
    /// Spatial reuse groups: BSSs that have another level for each other.
    pub srg: Vec<ReuseGroup>,
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

/// BSSs of a spatial reuse group (SRG), as their access points announce it: each of their nodes has
/// this level for PPDUs of the other ones (802.11ax-2021 clauses 26.2.3 and 26.10.2.3).
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = group_is_valid)]
pub struct ReuseGroup {
    /// The BSS colors of the group, two or more. A color is in one group at most.
    #[setting(required = "as [1, 2]", range = 1..=63)]
    pub bss_colors: Vec<u32>,
    /// The OBSS PD level in dBm in the group, as `obss_pd_dbm` of all.
    #[setting(key = "obss_pd_dbm", required = "as -67", range = LOWEST.0..=-62.0)]
    pub level: Dbm,
    /// The level in dBm up to which the power is not limited. An access point announces it as the
    /// SRG OBSS PD Min Offset from -82 dBm.
    #[setting(key = "obss_pd_min_dbm", default = -82.0, range = LOWEST.0..=-62.0)]
    pub lowest: Dbm,
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

fn is_complete(reuse: &SpatialReuse, at: &Path, faults: &mut Faults) {
    if reuse.level.is_none() && reuse.srg.is_empty() {
        faults.fault(at.key("obss_pd_dbm"), said!("missing", "as -72"));
    }
    for (index, group) in reuse.srg.iter().enumerate() {
        let before =
            |color: &&u32| reuse.srg[..index].iter().any(|it| it.bss_colors.contains(color));
        let at = at.key("srg").index(index).key("bss_colors");
        for color in group.bss_colors.iter().filter(before) {
            let message = format!("color {color} is in an earlier group");
            faults.fault(&at, Said::new(message, "each color in one group"));
        }
    }
}

fn group_is_valid(group: &ReuseGroup, at: &Path, faults: &mut Faults) {
    let mut distinct = group.bss_colors.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let colors = at.key("bss_colors");
    if distinct.len() < group.bss_colors.len() {
        faults.fault(&colors, said!("names a color twice", "each color once"));
    }
    if distinct.len() < 2 {
        faults.fault(colors, said!("a group has two BSS colors or more", "as [1, 2]"));
    }
    if group.level < group.lowest {
        let message = format!("is below obss_pd_min_dbm, {}", group.lowest.0);
        faults.fault(
            at.key("obss_pd_dbm"),
            Said::new(message, "take a higher level, or a lower minimum"),
        );
    }
}

impl SpatialReuse {
    /// The group of a node, by its place in the list.
    pub fn group(&self, node: u32) -> Option<usize> {
        let color = u32::from(self.color(node));
        self.srg.iter().position(|group| group.bss_colors.contains(&color))
    }

    /// The power below which a node ignores a PPDU of this width of its group, or one that is not;
    /// `None` if it ignores none.
    pub fn level(&self, group: Option<usize>, width: Width) -> Option<Dbm> {
        let level = group.map_or(self.level, |index| Some(self.srg[index].level))?;
        Some(level + decibels(f64::from(width.mhz()) / 20.0))
    }

    /// How much less than its transmit power a node sends with that has ignored a PPDU of its
    /// group, or one that is not.
    pub fn reduction(&self, group: Option<usize>, tx_power: Dbm) -> Db {
        let group = group.map(|index| &self.srg[index]);
        let level = group.map_or(self.level.unwrap_or(LOWEST), |group| group.level);
        let lowest = group.map_or(LOWEST, |group| group.lowest);
        if self.power_limit == PowerLimit::None || level <= lowest {
            return Db(0.0);
        }
        let most = self.reference - (level - lowest);
        Db((tx_power - most).0.max(0.0))
    }

    /// Whether a node knows that a PPDU of another node is of another BSS.
    pub fn are_apart(&self, a: u32, b: u32) -> bool {
        let [a, b] = [self.color(a), self.color(b)];
        a != b && a != 0 && b != 0
    }

    fn color(&self, node: u32) -> u8 {
        self.colors.get(node as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(level: f64) -> SpatialReuse {
        let (power_limit, reference) = (PowerLimit::Standard, Dbm(21.0));
        let colors = vec![1, 1, 2, 0];
        SpatialReuse { level: Some(Dbm(level)), srg: vec![], power_limit, reference, colors }
    }

    /// A group of all nodes but the last.
    fn group(level: f64, lowest: f64) -> ReuseGroup {
        ReuseGroup { bss_colors: vec![2, 1], level: Dbm(level), lowest: Dbm(lowest) }
    }

    #[test]
    fn the_higher_the_level_the_lower_the_power() {
        // Clause 26.10.2.4: -82 + (21 - power) is the highest level of a power.
        for (level, power, reduction) in
            [(-82.0, 30.0, 0.0), (-77.0, 16.0, 0.0), (-72.0, 16.0, 5.0), (-62.0, 16.0, 15.0)]
        {
            assert_eq!(at(level).reduction(None, Dbm(power)), Db(reduction), "{level} dBm");
        }
        let free = SpatialReuse { power_limit: PowerLimit::None, ..at(-62.0) };
        assert_eq!(free.reduction(None, Dbm(30.0)), Db(0.0));
    }

    #[test]
    fn a_group_limits_the_power_by_its_own_level_and_minimum() {
        // 21 - (-67 + 82) = 6 dBm, 21 - (-67 + 77) = 11 dBm, and no limit at the minimum.
        for (lowest, reduction) in [(-82.0, 10.0), (-77.0, 5.0), (-67.0, 0.0)] {
            let srg = vec![group(-67.0, lowest)];
            let reuse = SpatialReuse { srg, ..at(-72.0) };
            assert_eq!(reuse.reduction(Some(0), Dbm(16.0)), Db(reduction), "{lowest} dBm");
            assert_eq!(reuse.reduction(None, Dbm(16.0)), Db(5.0), "outside of the group");
        }
    }

    #[test]
    fn a_color_tells_the_group_and_the_group_the_level() {
        let others = ReuseGroup { bss_colors: vec![3, 4], ..group(-62.0, -82.0) };
        let srg = vec![others, group(-67.0, -82.0)];
        let reuse = SpatialReuse { level: None, srg, ..at(-72.0) };
        assert_eq!([0, 2, 3].map(|node| reuse.group(node)), [Some(1), Some(1), None]);
        let levels = [None, Some(0), Some(1)].map(|group| reuse.level(group, Width::Mhz20));
        assert_eq!(levels, [None, Some(Dbm(-62.0)), Some(Dbm(-67.0))]);
    }

    #[test]
    fn the_level_grows_with_the_width() {
        let level = at(-72.0).level(None, Width::Mhz80).unwrap();
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
