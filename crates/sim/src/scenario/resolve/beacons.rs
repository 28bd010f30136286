//! What beacons need.

use super::check::Check;
use crate::scenario::document::Document;
use settings::{Said, said};
use wifi::MacConfig;

const TABLE: &str = "wlan.beacons";

/// The rules of beacons.
pub(super) fn beacons(document: &Document, wlan: &MacConfig, check: &mut Check) {
    let Some(beacons) = wlan.beacons else { return };
    if !document.has_cell() || document.standard.is_none() {
        return;
    }
    let is_ad_hoc = document.radio.as_ref().is_some_and(|radio| radio.ad_hoc);
    if is_ad_hoc || document.routing.is_some() {
        let message = said!(
            "an ad-hoc network has no access point that could send beacons",
            "remove the table"
        );
        check.fault(TABLE, message);
    }
    let Some(rate) = beacons.rate else { return };
    let path = format!("{TABLE}.rate_mbps");
    match wlan.timing.standard.mode_at(rate.as_mbps()) {
        Ok(mode) if !mode.class.is_dsss() && wlan.non_erp.is_some() => {
            let message = Said::new(
                format!(
                    "{} is a rate of OFDM, which stations of 802.11b cannot decode",
                    rate.as_mbps()
                ),
                "take 1, 2, 5.5 or 11",
            );
            check.fault(path, message);
        }
        Ok(_) => {}
        Err(message) => check.fault(path, message),
    }
}
