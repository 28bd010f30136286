//! Full duplex: what it needs, and what it is not supported with.

use super::check::{Check, number};
use crate::plan::StationPlan;
use crate::scenario::document::Document;
use kernel::{Bytes, Dbm};
use settings::{Said, said};
use wifi::MacConfig;
use wifi::mac::{Collisions, Delivery, FullDuplex, Protection, RtsCts, SecondaryRateRule};
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
    let collide = wlan.collisions == Collisions::Standard;
    if wlan.full_duplex.is_some() && document.radio.is_none() && !collide {
        let message = said!("\"none\" is not supported together with {TABLE}", "remove one");
        check.fault("wlan.collisions", message);
    }
    let Some(settings) = &mut wlan.full_duplex else { return };
    if !document.has_cell() || document.standard.is_none() {
        return;
    }
    if document.radio.as_ref().is_some_and(|radio| radio.ad_hoc) {
        let message = said!(
            "an ad-hoc network has no access point that could send and receive at once",
            "remove the table, or radio.ad_hoc"
        );
        check.fault(TABLE, message);
    }
    self_interference(document, settings, check);
    let given = match (settings.secondary_rate, settings.secondary_mcs) {
        (Some(_), _) => Some("secondary_rate_mbps sets the rate"),
        (None, Some(_)) => Some("secondary_mcs sets the MCS"),
        (None, None) => None,
    };
    if let Some(given) = given.filter(|_| settings.secondary_rate_rule.is_some()) {
        let message = Said::new(given, "remove one of the two keys");
        check.fault(format!("{TABLE}.secondary_rate_rule"), message);
    } else if document.radio.is_some() && given.is_none() {
        settings.secondary_rate_rule.get_or_insert(SecondaryRateRule::Sinr);
    }
    let settings = *settings;
    if stations.len() == 1 && !settings.bidirectional {
        let message = said!(
            "there is one station",
            "full duplex needs two: one that sends to the access point, and one that receives from \
             it; or wlan.full_duplex.bidirectional"
        );
        check.fault("stations", message);
    }
    if !document.interferers.is_empty() {
        let message = said!("not supported together with [wlan.full_duplex]", "remove one");
        check.fault("interferers", message);
    }
    is_supported(wlan, stations, check);
    if document.radio.is_some() {
        is_supported_in_space(&settings, check);
    }
    secondary_mode(&settings, wlan, stations, check);
    if wlan.rts_threshold >= NEVER && settings.rts_cts == RtsCts::Required {
        let is = number(document.wlan.mac.rts_threshold.0 as f64);
        let message = said!(
            "{is} means that stations send no RTS",
            "the access point joins an exchange only after RTS and CTS: take 0, or \
             wlan.full_duplex.rts_cts = \"optional\""
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
            let message =
                Said::new(format!("802.{} has MCSs", standard.name()), "take secondary_mcs");
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
        let message =
            Said::new(format!("802.{} has rates", standard.name()), "take secondary_rate_mbps");
        return check.fault(path, message);
    }
    let exists =
        |station: &StationPlan| settings.mode(&wlan.timing, &station.down.mode()).is_some();
    if !stations.iter().all(exists) {
        let message = said!(
            "{mcs} is no MCS of the access point's frames to each station, with their streams, \
             width and guard interval",
            "HE-LTF, packet extension and durations must be the usual ones"
        );
        check.fault(path, message);
    }
}

/// What needs a radio, and how much of its own signal a receiver can add up.
fn self_interference(document: &Document, settings: &FullDuplex, check: &mut Check) {
    let Some(radio) = &document.radio else {
        if settings.cancellation.is_some() {
            let message = said!(
                "without a radio no power is computed",
                "add a table [radio], or remove the key"
            );
            check.fault(format!("{TABLE}.cancellation_db"), message);
        }
        if settings.secondary_rate_rule == Some(SecondaryRateRule::Sinr) {
            let message = said!(
                "\"sinr\" needs the powers of a radio",
                "add a table [radio], or take \"link\""
            );
            check.fault(format!("{TABLE}.secondary_rate_rule"), message);
        }
        return;
    };
    let Some(cancellation) = settings.cancellation else { return };
    // Those of access points, and of stations if they are full duplex, too.
    let powers = document.access_points().map(|(_, own)| own.tx_power);
    let stations = document.groups().into_iter().map(|(_, group)| group.tx_power);
    let powers = powers.chain(stations.filter(|_| settings.bidirectional));
    let powers = powers.map(|own| own.unwrap_or(radio.radio.tx_power).0);
    let tx_power = Dbm(powers.fold(f64::NEG_INFINITY, f64::max));
    let key = if tx_power == radio.radio.tx_power { "radio.tx_power_dbm" } else { "tx_power_dbm" };
    let residual = tx_power - cancellation;
    if residual > STRONGEST_RESIDUAL {
        let message = Said::new(
            format!(
                "{} leaves {} dBm of {} dBm",
                number(cancellation.0),
                number(residual.0),
                number(tx_power.0)
            ),
            format!(
                "a receiver bears at most {} dBm of its own signal: take more cancellation, or \
                 less {key}",
                number(STRONGEST_RESIDUAL.0)
            ),
        );
        check.fault(format!("{TABLE}.cancellation_db"), message);
    }
}

/// What full duplex is not supported with.
fn is_supported(wlan: &MacConfig, stations: &[StationPlan], check: &mut Check) {
    let mut refuse = |refused: bool, what: &str, remedy: &str| {
        if refused {
            check.fault(TABLE, said!("full duplex with {what} is not supported", "{remedy}"));
        }
    };
    let each = wlan.aggregation.is_some_and(|limits| limits.delivery == Delivery::Mpdu);
    refuse(each, "delivery of each MPDU", "take wlan.aggregation.delivery = \"ppdu\"");
    let is_mixed = wlan.non_erp.is_some();
    refuse(is_mixed, "stations of 802.11b in a network of 802.11g", "give all one standard");
    let are_earlier = !wlan.earlier.is_empty();
    refuse(are_earlier, "stations of an earlier standard", "give all one standard");
    let is_protected = wlan.timing.protection != Protection::None && !is_mixed;
    refuse(is_protected, "protection", "remove wlan.protection");
    let fixed = RateControlSettings::default();
    let adapts =
        |station: &StationPlan| station.up.control != fixed || station.down.control != fixed;
    refuse(stations.iter().any(adapts), "rate control", "remove rate_control");
}

/// What full duplex is supported with in a cell only.
fn is_supported_in_space(settings: &FullDuplex, check: &mut Check) {
    let mut refuse = |refused: bool, key: &str, what: &str, remedy: &str| {
        if refused {
            let message = said!(
                "{what} is not supported together with [radio]",
                "{remedy}, or remove [radio]"
            );
            check.fault(format!("{TABLE}{key}"), message);
        }
    };
    let joins_all = settings.rts_cts == RtsCts::Optional;
    refuse(joins_all, ".rts_cts", "\"optional\"", "take \"required\"");
    refuse(settings.busy_tone, ".busy_tone", "a busy tone", "remove the key");
}
