//! The EDCA parameters of the four access categories.

use super::Standard;
use kernel::Duration;
use settings::Choice;

/// An access category (clause 10.2.3.2), lowest priority first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessCategory {
    /// `AC_BK`.
    Background,
    /// `AC_BE`.
    BestEffort,
    /// `AC_VI`.
    Video,
    /// `AC_VO`.
    Voice,
}

impl AccessCategory {
    /// All access categories, lowest priority first.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];
}

/// The source of the default EDCA parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
#[settings(name = "EdcaDefaults")]
pub enum Edition {
    /// 802.11-2016 and later: a TXOP limit for every category (table 9-155).
    #[default]
    #[setting(name = "2016")]
    Ieee2016,
    /// 802.11e to 802.11-2012: one frame exchange per TXOP for background and best effort, shorter
    /// limits for video and voice (802.11-2012 table 8-105).
    #[setting(name = "2012")]
    Ieee2012,
    /// ns-3: one frame exchange per TXOP for background and best effort, else as 802.11-2016. The
    /// access point has the parameters of its stations.
    Ns3,
}

/// Contention parameters of an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edca {
    /// Smallest contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Slots of the interframe space: AIFS = SIFS + AIFSN slots (clause 10.23.2.4).
    pub aifsn: u32,
    /// TXOP limit; zero is one frame exchange.
    pub txop_limit: Duration,
}

impl Standard {
    /// Contention parameters of a station's access category (table 9-155).
    pub fn edca(&self, category: AccessCategory, edition: Edition) -> Edca {
        Edca::of(self, category, edition)
    }
}

impl Edca {
    /// The parameters of a station.
    pub(super) fn of(standard: &Standard, category: AccessCategory, edition: Edition) -> Self {
        use AccessCategory::{Background, BestEffort, Video, Voice};
        let Standard { cw_min, cw_max, .. } = *standard;
        let (cw_min, cw_max, aifsn) = match category {
            Background => (cw_min, cw_max, 7),
            BestEffort => (cw_min, cw_max, 3),
            Video => (cw_min.div_ceil(2) - 1, cw_min, 2),
            Voice => ((cw_min + 1) / 4 - 1, cw_min.div_ceil(2) - 1, 2),
        };
        let dsss = standard.modes.iter().all(|mode| mode.class.is_dsss());
        Self { cw_min, cw_max, aifsn, txop_limit: txop_limit(category, edition, dsss) }
    }

    /// The parameters of an access point whose stations use these: a smaller largest window for
    /// best effort, one slot less for video and voice (Wi-Fi Alliance, WMM specification 1.2, table
    /// 14).
    #[must_use]
    pub fn of_access_point(self, category: AccessCategory) -> Self {
        use AccessCategory::{Background, BestEffort, Video, Voice};
        match category {
            Background => self,
            BestEffort => Self { cw_max: ((self.cw_min + 1) * 4 - 1).min(self.cw_max), ..self },
            Video | Voice => Self { aifsn: 1, ..self },
        }
    }
}

/// The TXOP limit in a network with OFDM, or with DSSS and CCK alone.
fn txop_limit(category: AccessCategory, edition: Edition, dsss: bool) -> Duration {
    use AccessCategory::{Background, BestEffort, Video, Voice};
    use Edition::{Ieee2012, Ieee2016, Ns3};
    let (ofdm_us, dsss_us) = match (category, edition) {
        (Background | BestEffort, Ieee2016) => (2528, 3264),
        (Background | BestEffort, Ieee2012 | Ns3) => (0, 0),
        (Video, Ieee2016 | Ns3) => (4096, 6016),
        (Video, Ieee2012) => (3008, 6016),
        (Voice, Ieee2016 | Ns3) => (2080, 3264),
        (Voice, Ieee2012) => (1504, 3264),
    };
    Duration::from_micros(if dsss { dsss_us } else { ofdm_us })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{DOT11AC, DOT11B, DOT11N_2_4};
    use AccessCategory::{Background, BestEffort, Video, Voice};

    fn row(standard: &Standard, category: AccessCategory, edition: Edition) -> [u64; 4] {
        let edca = standard.edca(category, edition);
        let Edca { cw_min, cw_max, aifsn, txop_limit } = edca;
        [cw_min.into(), cw_max.into(), aifsn.into(), txop_limit.0 / 1000]
    }

    #[test]
    fn default_parameters() {
        let expected = [
            (Background, [15, 1023, 7, 2528], [31, 1023, 7, 3264], 0),
            (BestEffort, [15, 1023, 3, 2528], [31, 1023, 3, 3264], 0),
            (Video, [7, 15, 2, 4096], [15, 31, 2, 6016], 3008),
            (Voice, [3, 7, 2, 2080], [7, 15, 2, 3264], 1504),
        ];
        for (category, ofdm, dsss, older_us) in expected {
            assert_eq!(row(&DOT11AC, category, Edition::Ieee2016), ofdm);
            assert_eq!(row(&DOT11N_2_4, category, Edition::Ieee2016), ofdm);
            assert_eq!(row(&DOT11B, category, Edition::Ieee2016), dsss);
            assert_eq!(row(&DOT11AC, category, Edition::Ieee2012)[3], older_us);
        }
        assert_eq!(row(&DOT11AC, BestEffort, Edition::Ns3)[3], 0);
        assert_eq!(row(&DOT11AC, Video, Edition::Ns3)[3], 4096);
    }

    #[test]
    fn an_access_point_has_smaller_parameters() {
        let ap = |category| DOT11AC.edca(category, Edition::default()).of_access_point(category);
        assert_eq!((ap(BestEffort).cw_max, ap(BestEffort).aifsn), (63, 3));
        assert_eq!((ap(Video).aifsn, ap(Voice).aifsn, ap(Background).aifsn), (1, 1, 7));
    }
}
