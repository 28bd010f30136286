//! What a link can send in.

use super::Ladder;
use crate::phy::{DOT11B, Mode, Standard, TxVector};
use kernel::BitRate;

/// What one node can send to another in.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkModes {
    /// Timings and modes.
    pub standard: &'static Standard,
    /// The mode in which it begins; none that is chosen later is faster, unless it is set.
    pub mode: Mode,
    /// What others like it are made of, if it has an MCS.
    pub vector: Option<TxVector>,
    /// None without an MCS is slower: the lowest basic rate.
    pub lowest: BitRate,
    /// One of the two nodes is of 802.11b, and understands no OFDM.
    pub non_erp: bool,
    /// Whether signals have a strength.
    pub has_radio: bool,
}

impl LinkModes {
    /// Modes up to that in which it begins, of the same streams.
    pub fn modes(&self) -> Vec<Mode> {
        self.modes_from(self.vector.map_or(1, |vector| vector.streams))
    }

    /// Modes up to that in which it begins, of so many streams and more.
    pub fn modes_from(&self, streams: u8) -> Vec<Mode> {
        let fastest = &self.mode;
        let Some(vector) = self.vector else {
            let knows = |mode: &Mode| !self.non_erp || mode.class.is_dsss();
            let fits =
                |mode: &&Mode| mode.rate >= self.lowest && mode.rate <= fastest.rate && knows(mode);
            return self.standard.modes.iter().filter(fits).copied().collect();
        };
        let mut modes = Vec::new();
        for streams in streams..=vector.streams {
            let mode = |mcs| TxVector { mcs, streams, ..vector }.mode().ok();
            modes.extend((0..=fastest.mcs).filter_map(mode));
        }
        modes
    }

    /// The same in order of their rate.
    pub fn ladder(&self) -> Ladder {
        Ladder::new(self.standard, self.modes())
    }

    /// The mode without MCS of a rate in Mb/s, or what is wrong with that.
    pub fn mode_at(&self, mbps: f64) -> Result<Mode, String> {
        let standard = if self.non_erp { &DOT11B } else { self.standard };
        standard.mode_at(mbps)
    }
}
