//! Access categories and aggregation.

use super::check::Check;
use crate::scenario::document::Document;
use crate::scenario::wlan::{self, Category};
use kernel::Bytes;
use settings::{Said, said};
use wifi::mac::{Aggregation, Categories, IdleAccess};
use wifi::phy::{self, Edca, ModeClass, Standard};

/// The settings of EDCA and aggregation; nothing if all stations contend by DCF.
pub(super) fn qos(
    document: &Document,
    standard: &Standard,
    check: &mut Check,
) -> (Option<Categories>, Option<Aggregation>) {
    let wlan = &document.wlan;
    let on = wlan.qos.unwrap_or(standard.high.is_some());
    if !on {
        refuse_without_qos(document, standard, check);
        if standard.high.is_none() {
            return (None, None);
        }
    }
    if wlan.cw_min.is_some() {
        check.fault("wlan.cw_min", "with EDCA each access category has its own: wlan.edca");
    }
    if wlan.mac.cw_max != wlan::Wlan::default().mac.cw_max {
        check.fault("wlan.cw_max", "with EDCA each access category has its own: wlan.edca");
    }
    if wlan.mac.timing.idle_access == IdleAccess::Ns2 {
        check.fault("wlan.idle_access", "\"ns2\" is for DCF, and these stations contend by EDCA");
    }
    let usual = Categories::of(standard, wlan.edca_defaults);
    // The smallest AIFSN is that of access points (clause 9.4.2.28).
    let least = |path: &str, category: &Category, check: &mut Check| {
        if let Some(aifsn) = category.aifsn {
            check.whole(format!("{path}.aifsn"), aifsn.into(), 2, 15);
        }
    };
    for (path, category) in named("wlan.edca", &wlan.edca) {
        least(&path, category, check);
    }
    let categories = Categories {
        stations: edca("wlan.edca", &wlan.edca, usual.stations, check),
        access_point: edca("ap.edca", &document.ap.edca, usual.access_point, check),
    };
    (Some(categories), aggregation(&wlan.aggregation, standard, check))
}

fn refuse_without_qos(document: &Document, standard: &Standard, check: &mut Check) {
    let name = standard.name();
    if standard.high.is_some() {
        let message = format!("stations of 802.{name} are QoS stations [802.11-2020 4.3.14]");
        check.fault("wlan.qos", message);
        return;
    }
    let remedy = format!("802.{name} has access categories with wlan.qos = true only");
    let unset = wlan::Edca::default();
    for (path, keys) in [("wlan.edca", &document.wlan.edca), ("ap.edca", &document.ap.edca)] {
        if *keys != unset {
            check.fault(path, &remedy);
        }
    }
    if document.wlan.aggregation != wlan::Aggregation::default() {
        check.fault("wlan.aggregation", no_aggregation(standard));
    }
}

fn no_aggregation(standard: &Standard) -> Said {
    let name = standard.name();
    said!("802.{name} has no A-MPDUs", "they require 802.11n or later")
}

/// The categories of a table, lowest priority first, with their paths.
fn named<'a>(path: &str, keys: &'a wlan::Edca) -> [(String, &'a Category); 4] {
    let wlan::Edca { background, best_effort, video, voice } = keys;
    [("background", background), ("best_effort", best_effort), ("video", video), ("voice", voice)]
        .map(|(name, category)| (format!("{path}.{name}"), category))
}

/// The contention parameters of access categories, lowest priority first.
fn edca(path: &str, keys: &wlan::Edca, mut usual: [Edca; 4], check: &mut Check) -> [Edca; 4] {
    for (own, (path, keys)) in usual.iter_mut().zip(named(path, keys)) {
        *own = keys.or(*own);
        let Edca { cw_min, cw_max, .. } = *own;
        if cw_min > cw_max {
            let (key, is, other, bound, given) = match keys.cw_max {
                Some(_) => ("cw_max", cw_max, "below cw_min", cw_min, keys.cw_min),
                None => ("cw_min", cw_min, "above cw_max", cw_max, keys.cw_max),
            };
            let whence = if given.is_some() { "" } else { " (the default)" };
            check.fault(format!("{path}.{key}"), format!("{is} is {other}, {bound}{whence}"));
        }
    }
    usual
}

fn aggregation(
    keys: &wlan::Aggregation,
    standard: &Standard,
    check: &mut Check,
) -> Option<Aggregation> {
    let Some(class) = standard.high else {
        if *keys != wlan::Aggregation::default() {
            check.fault("wlan.aggregation", no_aggregation(standard));
        }
        return None;
    };
    let path = |key: &str| format!("wlan.aggregation.{key}");
    let name = standard.name();
    let named = class.high().map_or(1, |high| u32::from(high.block_ack_window));
    let window = keys.window.unwrap_or(named);
    if !(1..=named).contains(&window) {
        let message = format!(
            "must be from 1 to {named}, which a block ack of 802.{name} can name, is {window} \
             [802.11-2020 9.3.1.8]"
        );
        check.fault(path("window"), message);
    }
    let window = window.clamp(1, named);
    let frames = keys.frames.unwrap_or(window);
    if !(1..=window).contains(&frames) {
        let message = format!(
            "must be from 1 to {window}, which may be outstanding, is {frames} [802.11-2020 \
             10.25.2]"
        );
        check.fault(path("frames"), message);
    }
    let longest = phy::longest_psdu(class);
    let bytes = keys.bytes.unwrap_or(longest);
    let bytes = check.bytes(path("bytes"), bytes.0, 1, longest.0);
    check_amsdu(path("amsdu_bytes"), keys.rules.amsdu, standard, check);
    Some(Aggregation { window: window as u16, frames: frames as u16, bytes, ..keys.rules })
}

/// The maximum size of an A-MSDU; zero disables A-MSDUs.
fn check_amsdu(path: String, Bytes(bytes): Bytes, standard: &Standard, check: &mut Check) {
    // Below the smallest pair of subframes no aggregation is possible.
    const LEAST: u64 = 100;
    // Clause 9.4.2.55.3 for HT; for VHT what an MPDU of 11454 bytes holds (table 9-25).
    let high = standard.high.and_then(ModeClass::high);
    let most = high.map_or(0, |high| high.longest_amsdu.0);
    if bytes != 0 && !(LEAST..=most).contains(&bytes) {
        let name = standard.name();
        let message = format!(
            "must be 0, for none, or from {LEAST} to {most} bytes in 802.{name} \
             [802.11-2020 table 9-25], is {bytes}"
        );
        check.fault(path, message);
    }
}
