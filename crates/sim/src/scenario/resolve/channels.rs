//! The channels of cells.

use super::check::Check;
use crate::plan::{SpacePlan, StationPlan};
use crate::scenario::document::Document;
use wifi::MacConfig;
use wifi::phy::Primary;

/// The number of a cell's primary channel; by default the usual one of the band.
pub(super) fn number(given: Option<u64>, wlan: &MacConfig) -> u16 {
    let usual = Primary::usual(wlan.timing.standard.band).number;
    given.map_or(usual, |number| number as u16)
}

/// Each cell has a channel that its band has, also for the widest frames of its stations.
pub(super) fn exist(
    document: &Document,
    wlan: &MacConfig,
    stations: &[StationPlan],
    space: Option<&SpacePlan>,
    check: &mut Check,
) {
    let space = space.filter(|space| !space.is_flat && document.standard.is_some());
    let Some(space) = space else { return };
    let standard = wlan.timing.standard;
    let path = |cell: usize| match cell {
        0 => "ap.channel".to_owned(),
        _ => format!("cells[{}].channel", cell - 1),
    };
    for (cell, bss) in space.cells.iter().enumerate() {
        let primary = Primary { band: standard.band, number: bss.channel };
        if let Err(message) = primary.checked(space.widest(cell, stations)) {
            check.fault(path(cell), message);
        }
    }
}
