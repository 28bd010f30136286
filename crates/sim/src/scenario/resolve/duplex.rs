//! Full duplex: what it needs, and what it is not supported with.

use super::check::{Check, number};
use crate::plan::StationPlan;
use crate::scenario::document::Document;
use kernel::Bytes;
use wifi::MacConfig;
use wifi::mac::{Delivery, FullDuplex, Protection, RtsCts};
use wifi::rate::RateControlSettings;

const TABLE: &str = "wlan.full_duplex";
/// The RTS threshold that means never.
const NEVER: Bytes = Bytes(2347);

/// The rules of a full-duplex access point.
pub(super) fn full_duplex(
    document: &Document,
    wlan: &MacConfig,
    stations: &[StationPlan],
    check: &mut Check,
) {
    if document.wlan.mac.timing.model_header.is_some() && document.radio.is_some() {
        let message = "not supported together with [radio]; remove one";
        check.fault("wlan.model_header_us", message);
    }
    let Some(settings) = &wlan.full_duplex else { return };
    if !document.has_cell() || document.standard.is_none() {
        return;
    }
    if let Some(radio) = &document.radio {
        let message = if radio.ad_hoc {
            "an ad-hoc network has no access point that could send and receive at once; remove the \
             table, or radio.ad_hoc"
        } else {
            "full duplex with [radio] is not supported; remove one"
        };
        return check.fault(TABLE, message);
    }
    if stations.len() == 1 && !settings.bidirectional {
        let message = "there is one station; full duplex needs two: one that sends to the access \
                       point, and one that receives from it; or wlan.full_duplex.bidirectional";
        check.fault("stations", message);
    }
    if !document.interferers.is_empty() {
        let message = "not supported together with [wlan.full_duplex]; remove one";
        check.fault("interferers", message);
    }
    is_supported(wlan, stations, check);
    secondary_mode(settings, wlan, stations, check);
    if wlan.rts_threshold >= NEVER && settings.rts_cts == RtsCts::Required {
        let is = number(document.wlan.mac.rts_threshold.0 as f64);
        let message = format!(
            "{is} means that stations send no RTS; the access point joins an exchange only after \
             RTS and CTS: take 0, or wlan.full_duplex.rts_cts = \"optional\""
        );
        check.fault("wlan.rts_threshold_bytes", message);
    }
}

/// The rate or the MCS of secondary frames is one of the standard.
fn secondary_mode(
    settings: &FullDuplex,
    wlan: &MacConfig,
    stations: &[StationPlan],
    check: &mut Check,
) {
    let standard = wlan.timing.standard;
    if let Some(rate) = settings.secondary_rate {
        let path = format!("{TABLE}.secondary_rate_mbps");
        if standard.high.is_some() {
            let message = format!("802.{} has MCSs; take secondary_mcs", standard.name());
            check.fault(path, message);
        } else if wlan.timing.model_header.is_none()
            && let Err(message) = standard.mode_at(rate.as_mbps())
        {
            check.fault(path, message);
        }
    }
    let Some(mcs) = settings.secondary_mcs else { return };
    let path = format!("{TABLE}.secondary_mcs");
    if standard.high.is_none() {
        let message = format!("802.{} has rates; take secondary_rate_mbps", standard.name());
        return check.fault(path, message);
    }
    let exists =
        |station: &StationPlan| settings.mode(&wlan.timing, &station.down.mode()).is_some();
    if !stations.iter().all(exists) {
        let message = format!(
            "{mcs} is no MCS of the access point's frames to each station, with their streams, \
             width and guard interval; HE-LTF, packet extension and durations must be the usual \
             ones"
        );
        check.fault(path, message);
    }
}

/// What full duplex is not supported with.
fn is_supported(wlan: &MacConfig, stations: &[StationPlan], check: &mut Check) {
    let mut refuse = |refused: bool, what: &str, remedy: &str| {
        if refused {
            check.fault(TABLE, format!("full duplex with {what} is not supported; {remedy}"));
        }
    };
    let each = wlan.aggregation.is_some_and(|limits| limits.delivery == Delivery::Mpdu);
    refuse(each, "delivery of each MPDU", "take wlan.aggregation.delivery = \"ppdu\"");
    let is_mixed = wlan.non_erp.is_some();
    refuse(is_mixed, "stations of 802.11b in a network of 802.11g", "give all one standard");
    let is_protected = wlan.timing.protection != Protection::None && !is_mixed;
    refuse(is_protected, "protection", "remove wlan.protection");
    let fixed = RateControlSettings::default();
    let adapts =
        |station: &StationPlan| station.up.control != fixed || station.down.control != fixed;
    refuse(stations.iter().any(adapts), "rate control", "remove rate_control");
}
