//! Transmitters that leave out what of their channel was busy: what they need, and what they are
//! not supported with.

use super::check::{Check, when};
use super::{modes, puncturing};
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
    if check.refuse(KEY, unsupported(document, wlan)) {
        return;
    }
    let slowest = wlan.timing.standard.tx_vector();
    wlan.common_vector = slowest.map(|slowest| modes::common(&document.wlan, slowest));
}

/// What it is not supported with.
fn unsupported(document: &Document, wlan: &MacConfig) -> [Option<Said>; 5] {
    let standard = wlan.timing.standard;
    let punctures = wlan.bandwidth_operation == BandwidthOperation::Punctured;
    [
        when(
            !matches!(standard.amendment, Amendment::Ax | Amendment::Be),
            format!(
                "stations that sense each 20 MHz by itself are modelled for 802.11ax and be, not \
                 for 802.{}",
                standard.name()
            ),
            "take \"static\", or standard = \"11be\"",
        ),
        when(
            punctures && standard.amendment == Amendment::Ax && wlan.mu.is_none(),
            "802.11ax punctures only PPDUs to several users (HE MU)",
            "add a table [wlan.mu], or take \"dynamic\" or standard = \"11be\"",
        ),
        when(
            document.radio.is_none(),
            "without a radio all nodes are in one channel, of which no part is busy by itself",
            "add a table [radio], or take \"static\"",
        ),
        when(
            puncturing::is_given(document),
            "not supported together with punctured channels of a network",
            "remove punctured, or take \"static\"",
        ),
        when(
            wlan.full_duplex.is_some(),
            "not supported together with [wlan.full_duplex]",
            "remove either",
        ),
    ]
}
