//! Transmitters that leave out what of their channel was busy: what they need, and what they are
//! not supported with.

use super::check::Check;
use super::modes;
use crate::scenario::document::Document;
use settings::Said;
use wifi::MacConfig;
use wifi::mac::BandwidthOperation;
use wifi::phy::Amendment;

const KEY: &str = "wlan.bandwidth_operation";

/// What the PPDUs of transmitters have in common that leave out a part of their channel.
pub(super) fn bandwidth(document: &Document, wlan: &mut MacConfig, check: &mut Check) {
    if !wlan.bandwidth_operation.is_dynamic() || !document.has_cell() || document.standard.is_none()
    {
        return;
    }
    if let Some((what, remedy)) = unsupported(document, wlan) {
        return check.fault(KEY, Said::new(what, remedy));
    }
    let slowest = wlan.timing.standard.tx_vector();
    wlan.common_vector = slowest.map(|slowest| modes::common(&document.wlan, slowest));
}

/// What it is not supported with, and the remedy.
fn unsupported(document: &Document, wlan: &MacConfig) -> Option<(String, &'static str)> {
    let standard = wlan.timing.standard;
    let punctures = wlan.bandwidth_operation == BandwidthOperation::Punctured;
    let are_punctured =
        |numbers: &Option<Vec<u32>>| numbers.as_ref().is_some_and(|it| !it.is_empty());
    let is_static = are_punctured(&document.ap.punctured)
        || document.cells.iter().any(|cell| are_punctured(&cell.punctured));
    let (what, remedy) = match () {
        () if !matches!(standard.amendment, Amendment::Ax | Amendment::Be) => {
            let what = format!(
                "stations that sense each 20 MHz by itself are modelled for 802.11ax and be, not \
                 for 802.{}",
                standard.name()
            );
            return Some((what, "take \"static\", or standard = \"11be\""));
        }
        () if punctures && standard.amendment == Amendment::Ax && wlan.mu.is_none() => (
            "802.11ax punctures only PPDUs to several users (HE MU)",
            "add a table [wlan.mu], or take \"dynamic\" or standard = \"11be\"",
        ),
        () if document.radio.is_none() => (
            "without a radio all nodes are in one channel, of which no part is busy by itself",
            "add a table [radio], or take \"static\"",
        ),
        () if is_static => (
            "not supported together with punctured channels of a network",
            "remove punctured, or take \"static\"",
        ),
        () if wlan.full_duplex.is_some() => {
            ("not supported together with [wlan.full_duplex]", "remove either")
        }
        () => return None,
    };
    Some((what.to_owned(), remedy))
}
