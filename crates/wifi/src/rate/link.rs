//! The modes of a link direction.

use super::Ladder;
use crate::phy::{DOT11B, Mode, Standard, TxVector};
use kernel::BitRate;
use settings::Said;

/// The modes in which one node can send to another.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkModes {
    /// The standard, with its timing and modes.
    pub standard: &'static Standard,
    /// The initial mode. Rate control chooses no faster one, except by a schedule.
    pub mode: Mode,
    /// The parameters of modes with an MCS, if the initial mode has one.
    pub vector: Option<TxVector>,
    /// The lowest basic rate: rate control chooses no slower mode without an MCS.
    pub lowest: BitRate,
    /// Whether one of the two nodes is an 802.11b node, which cannot decode OFDM.
    pub non_erp: bool,
    /// Whether the medium models received power.
    pub has_radio: bool,
}

impl LinkModes {
    /// Modes up to the initial one, with the same number of streams.
    pub fn modes(&self) -> Vec<Mode> {
        self.modes_from(self.vector.map_or(1, |vector| vector.streams))
    }

    /// Modes up to the initial one, with so many streams or more.
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

    /// The same modes in order of their rate.
    pub fn ladder(&self) -> Ladder {
        Ladder::new(self.standard, self.modes())
    }

    /// The mode without MCS of a rate in Mb/s, or an error message.
    pub fn mode_at(&self, mbps: f64) -> Result<Mode, Said> {
        let standard = if self.non_erp { &DOT11B } else { self.standard };
        standard.mode_at(mbps)
    }
}
