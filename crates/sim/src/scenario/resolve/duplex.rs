//! Full duplex: what it needs, and what it is not supported with.

use super::check::{Check, number};
use crate::plan::StationPlan;
use crate::scenario::document::Document;
use kernel::{Bytes, Dbm};
use wifi::MacConfig;
use wifi::mac::{FullDuplex, Protection, SecondaryRateRule};
use wifi::rate::RateControlSettings;

const TABLE: &str = "wlan.full_duplex";
/// The RTS threshold that means never.
const NEVER: Bytes = Bytes(2347);

/// The most of its own signal that may remain at a receiver.
const STRONGEST_RESIDUAL: Dbm = Dbm(35.0);

/// The rules of a full-duplex access point, and the default of its secondary rates.
pub(super) fn full_duplex(
    document: &Document,
    wlan: &mut MacConfig,
    stations: &[StationPlan],
    check: &mut Check,
) {
    if document.wlan.mac.timing.model_header.is_some() && document.radio.is_some() {
        let message = "not supported together with [radio]; remove one";
        check.fault("wlan.model_header_us", message);
    }
    let Some(settings) = &mut wlan.full_duplex else { return };
    if !document.has_cell() || document.standard.is_none() {
        return;
    }
    if document.radio.as_ref().is_some_and(|radio| radio.ad_hoc) {
        let message = "an ad-hoc network has no access point that could send and receive at once; \
                       remove the table, or radio.ad_hoc";
        return check.fault(TABLE, message);
    }
    self_interference(document, settings, check);
    if settings.secondary_rate.is_some() && settings.secondary_rate_rule.is_some() {
        let message = "secondary_rate_mbps sets the rate; remove one of the two keys";
        check.fault(format!("{TABLE}.secondary_rate_rule"), message);
    } else if document.radio.is_some() && settings.secondary_rate.is_none() {
        settings.secondary_rate_rule.get_or_insert(SecondaryRateRule::Sinr);
    }
    let settings = *settings;
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
    if let (Some(rate), None) = (settings.secondary_rate, wlan.timing.model_header)
        && let Err(message) = wlan.timing.standard.mode_at(rate.as_mbps())
    {
        check.fault(format!("{TABLE}.secondary_rate_mbps"), message);
    }
    if wlan.rts_threshold >= NEVER {
        let is = number(document.wlan.mac.rts_threshold.0 as f64);
        let message = format!(
            "{is} means that stations send no RTS; the access point joins an exchange only after \
             RTS and CTS: take 0"
        );
        check.fault("wlan.rts_threshold_bytes", message);
    }
}

/// What needs a radio, and how much of its own signal a receiver can add up.
fn self_interference(document: &Document, settings: &FullDuplex, check: &mut Check) {
    let Some(radio) = &document.radio else {
        if settings.cancellation.is_some() {
            let message = "without a radio no power is computed; add a table [radio], or remove \
                           the key";
            check.fault(format!("{TABLE}.cancellation_db"), message);
        }
        if settings.secondary_rate_rule == Some(SecondaryRateRule::Sinr) {
            let message = "\"sinr\" needs the powers of a radio; add a table [radio], or take \
                           \"link\"";
            check.fault(format!("{TABLE}.secondary_rate_rule"), message);
        }
        return;
    };
    let Some(cancellation) = settings.cancellation else { return };
    let residual = radio.radio.tx_power - cancellation;
    if residual > STRONGEST_RESIDUAL {
        let message = format!(
            "{} leaves {} dBm of {} dBm; a receiver bears at most {} dBm of its own signal: take \
             more cancellation, or less radio.tx_power_dbm",
            number(cancellation.0),
            number(residual.0),
            number(radio.radio.tx_power.0),
            number(STRONGEST_RESIDUAL.0),
        );
        check.fault(format!("{TABLE}.cancellation_db"), message);
    }
}

/// What full duplex is not supported with.
fn is_supported(wlan: &MacConfig, stations: &[StationPlan], check: &mut Check) {
    let mut refuse = |refused: bool, what: &str, remedy: &str| {
        if refused {
            check.fault(TABLE, format!("full duplex with {what} is not supported; {remedy}"));
        }
    };
    let standard = wlan.timing.standard;
    let has_mcs = standard.high.is_some();
    let rates = "take standard \"11a\", \"11b\" or \"11g\"";
    refuse(has_mcs, "standards that have MCSs", rates);
    let has_categories = wlan.edca.is_some() && !has_mcs;
    refuse(has_categories, "access categories", "remove wlan.qos");
    let is_mixed = wlan.non_erp.is_some();
    refuse(is_mixed, "stations of 802.11b in a network of 802.11g", "give all one standard");
    let is_protected = wlan.timing.protection != Protection::None && !is_mixed;
    refuse(is_protected, "protection", "remove wlan.protection");
    let fixed = RateControlSettings::default();
    let adapts =
        |station: &StationPlan| station.up.control != fixed || station.down.control != fixed;
    refuse(stations.iter().any(adapts), "rate control", "remove rate_control");
}
