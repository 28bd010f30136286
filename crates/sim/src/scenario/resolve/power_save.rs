//! What stations that save power need.

use super::check::{Check, beside, when};
use super::mixed;
use crate::plan::{SpacePlan, StationPlan};
use crate::scenario::document::{Document, Station};
use kernel::{Bytes, Duration};
use settings::{Said, said};
use std::collections::BTreeMap;
use wifi::MacConfig;
use wifi::phy::{ModeClass, Standard};
use wifi::power_save::PowerSaveSettings;
use wire::Beacon;

/// The rules of stations that save power.
pub(super) fn power_save(
    document: &Document,
    wlan: &MacConfig,
    stations: &[StationPlan],
    space: Option<&SpacePlan>,
    check: &mut Check,
) {
    if document.standard.is_none() {
        return;
    }
    for (group, station) in document.groups() {
        let path = format!("{group}.power_save");
        let Some(settings) = &station.power_save else { continue };
        if document.routing.is_some() || space.is_some_and(|space| space.ad_hoc) {
            let message =
                Said::remove("an ad-hoc network has no access point that could buffer frames");
            check.fault(path, message);
            continue;
        }
        check.refuse(&path, unsupported(wlan, station, settings));
        if settings.get().rules().fetch.is_triggered() && !asks(wlan) {
            let message = said!(
                "nobody triggers the station: the access point has no [wlan.mu.uplink], or asks \
                 for the medium only with packets, or for no sizes of queues",
                "add wlan.mu.uplink.access_interval_us = 1000, and leave bsrp at true"
            );
            check.fault(format!("{path}.twt.triggered"), message);
        }
    }
    tim_has_room(document, stations, space, check);
}

/// What a station cannot save power with, or without.
fn unsupported(
    wlan: &MacConfig,
    station: &Station,
    settings: &PowerSaveSettings,
) -> [Option<Said>; 4] {
    let standard = mixed::earlier(wlan.timing.standard, station).unwrap_or(wlan.timing.standard);
    [
        beside(wlan.full_duplex.is_some(), "wlan.full_duplex"),
        when(
            wlan.beacons.is_none(),
            "needs beacons, by which an access point announces the frames that it buffers",
            "add wlan.beacons = {}",
        ),
        when(
            matches!(settings, PowerSaveSettings::Twt(_)) && !has_twt(standard),
            format!(
                "target wake times are of 802.11ax and later, and the standard is 802.{}",
                standard.name()
            ),
            "take standard = \"11ax\", or power_save = \"u_apsd\"",
        ),
        when(
            matches!(settings, PowerSaveSettings::UApsd(_)) && wlan.edca.is_none(),
            "\"u_apsd\" needs access categories",
            "add wlan.qos = true, or take \"legacy\"",
        ),
    ]
}

/// Whether the access point asks for the medium, and who has packets, without any of its own.
fn asks(wlan: &MacConfig) -> bool {
    let uplink = wlan.mu.as_ref().and_then(|mu| mu.uplink.as_ref());
    uplink.is_some_and(|uplink| {
        let is_told = uplink.bsrp || uplink.reports.unknown > Bytes::ZERO;
        is_told && uplink.access_interval > Duration::ZERO
    })
}

/// Whether stations of a standard may agree on target wake times.
fn has_twt(standard: &Standard) -> bool {
    standard.high.and_then(ModeClass::high).is_some_and(|high| high.has_wake_times)
}

/// The TIM has a bit for each station of a cell that saves power.
fn tim_has_room(
    document: &Document,
    stations: &[StationPlan],
    space: Option<&SpacePlan>,
    check: &mut Check,
) {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for (number, _) in stations.iter().enumerate().filter(|(_, it)| it.power_save.is_some()) {
        let place = space.and_then(|space| space.stations.get(number));
        *counts.entry(place.map_or(0, |place| place.cell)).or_default() += 1;
    }
    let Some(count) = counts.into_values().find(|&count| count > Beacon::STATIONS) else { return };
    let groups = document.groups();
    let Some((path, _)) = groups.iter().rfind(|(_, group)| group.power_save.is_some()) else {
        return;
    };
    let most = Beacon::STATIONS;
    let message = said!("{count} stations of a cell save power", "at most {most}");
    check.fault(format!("{path}.power_save"), message);
}
