//! Access categories and aggregation.

use super::cell::contention_window;
use super::check::{Check, number};
use crate::plan::{AggregationPlan, Edca, QosPlan, Standard};
use crate::scenario::document::Document;
use crate::scenario::wlan::{self, Aggregation, Category, EdcaDefaults};
use kernel::{Bytes, Duration};
use wifi::phy::{self, AccessCategory, Edition, LONGEST_PPDU};

/// What goes beyond DCF; `None` where all contend by it.
pub(super) fn qos(
    document: &Document,
    standard: Standard,
    phy: &phy::Standard,
    check: &mut Check,
) -> Option<QosPlan> {
    let wlan = &document.wlan;
    let on = wlan.qos.unwrap_or(standard.has_mcs());
    if !on {
        refuse_without_qos(document, standard, check);
        return None;
    }
    if wlan.cw_min.is_some() {
        check.fault("wlan.cw_min", "with EDCA each access category has its own: wlan.edca");
    }
    if wlan.cw_max != wlan::Wlan::default().cw_max {
        check.fault("wlan.cw_max", "with EDCA each access category has its own: wlan.edca");
    }
    let (edition, alike) = match wlan.edca_defaults {
        EdcaDefaults::Ieee2016 => (Edition::Ieee2016, false),
        EdcaDefaults::Ieee2012 => (Edition::Ieee2012, false),
        EdcaDefaults::Ns3 => (Edition::Ns3, true),
    };
    let usual = |category| phy.edca(category, edition);
    let of_ap = |category| {
        let own = usual(category);
        if alike { own } else { own.of_access_point(category) }
    };
    Some(QosPlan {
        station: edca("wlan.edca", &wlan.edca, usual, 2, check),
        ap: edca("ap.edca", &document.ap.edca, of_ap, 1, check),
        aggregation: aggregation(&wlan.aggregation, standard, phy, check),
    })
}

fn refuse_without_qos(document: &Document, standard: Standard, check: &mut Check) {
    let name = standard.name();
    if standard.has_mcs() {
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
    if document.wlan.aggregation != Aggregation::default() {
        check.fault("wlan.aggregation", no_aggregation(standard));
    }
}

fn no_aggregation(standard: Standard) -> String {
    let name = standard.name();
    format!("802.{name} sends frame by frame; A-MPDUs are of 802.11n, ac and ax")
}

fn edca(
    path: &str,
    keys: &wlan::Edca,
    usual: impl Fn(AccessCategory) -> Edca,
    least_aifsn: u64,
    check: &mut Check,
) -> [Edca; 4] {
    let of = |category| match category {
        AccessCategory::Background => ("background", &keys.background),
        AccessCategory::BestEffort => ("best_effort", &keys.best_effort),
        AccessCategory::Video => ("video", &keys.video),
        AccessCategory::Voice => ("voice", &keys.voice),
    };
    AccessCategory::ALL.map(|category| {
        let (name, keys) = of(category);
        parameters(&format!("{path}.{name}"), keys, usual(category), least_aifsn, check)
    })
}

fn parameters(
    path: &str,
    keys: &Category,
    usual: Edca,
    least_aifsn: u64,
    check: &mut Check,
) -> Edca {
    let mut window = |key: &str, given: Option<u64>, usual: u32| match given {
        Some(value) => contention_window(&format!("{path}.{key}"), value, check),
        None => usual,
    };
    let cw_min = window("cw_min", keys.cw_min, usual.cw_min);
    let cw_max = window("cw_max", keys.cw_max, usual.cw_max);
    if cw_min > cw_max {
        let (key, is, other, bound, given) = match keys.cw_max {
            Some(_) => ("cw_max", cw_max, "below cw_min", cw_min, keys.cw_min),
            None => ("cw_min", cw_min, "above cw_max", cw_max, keys.cw_max),
        };
        let whence = if given.is_some() { "" } else { " (the default)" };
        check.fault(format!("{path}.{key}"), format!("{is} is {other}, {bound}{whence}"));
    }
    let aifsn = match keys.aifsn {
        Some(aifsn) => check.whole(format!("{path}.aifsn"), aifsn, least_aifsn, 15) as u32,
        None => usual.aifsn,
    };
    let txop_limit = match keys.txop_limit_us {
        Some(us) => txop_limit(format!("{path}.txop_limit_us"), us, check),
        None => usual.txop_limit,
    };
    Edca { cw_min, cw_max: cw_max.max(cw_min), aifsn, txop_limit }
}

/// A TXOP limit, which a parameter record counts in units of 32 us (clause 9.4.2.28).
fn txop_limit(path: String, us: u64, check: &mut Check) -> Duration {
    const UNIT: u64 = 32;
    let us = check.whole(&path, us, 0, UNIT * 65_535);
    if !us.is_multiple_of(UNIT) {
        let below = us / UNIT * UNIT;
        let message = format!(
            "{us} is not a multiple of 32 us [802.11-2020 9.4.2.28]; the nearest are {below} and \
             {}",
            below + UNIT
        );
        check.fault(path, message);
    }
    Duration::from_micros(us)
}

fn aggregation(
    keys: &Aggregation,
    standard: Standard,
    phy: &phy::Standard,
    check: &mut Check,
) -> Option<AggregationPlan> {
    let Some(class) = phy.high else {
        if *keys != Aggregation::default() {
            check.fault("wlan.aggregation", no_aggregation(standard));
        }
        return None;
    };
    let path = |key: &str| format!("wlan.aggregation.{key}");
    let name = standard.name();
    let named = class.block_ack_window().unwrap_or(1);
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
    let longest = phy::longest_psdu(class).0;
    let bytes = check.bytes(path("bytes"), keys.bytes.unwrap_or(longest), 1, longest);
    let most_us = LONGEST_PPDU.as_micros_f64();
    let duration_us = keys.duration_us.unwrap_or(most_us);
    if !(100.0..=most_us).contains(&duration_us) {
        let is = number(duration_us);
        let message = format!("must be from 100 to {} us (aPPDUMaxTime), is {is}", number(most_us));
        check.fault(path("duration_us"), message);
    }
    let amsdu = amsdu(path("amsdu_bytes"), keys.amsdu_bytes, standard, check);
    Some(AggregationPlan {
        window: window as u16,
        frames: frames.clamp(1, window) as u16,
        bytes,
        duration: Duration::from_secs_f64(duration_us.clamp(100.0, most_us) * 1e-6),
        amsdu,
        lifetime: check.millis(path("lifetime_ms"), keys.lifetime_ms, 0.001, 1e6),
        retries: keys.retries,
        missed_block_ack: keys.missed_block_ack,
        delivery: keys.delivery,
    })
}

/// The limit of an A-MSDU; zero is none.
fn amsdu(path: String, bytes: u64, standard: Standard, check: &mut Check) -> Bytes {
    // Below the smallest pair of subframes nothing could be put together.
    const LEAST: u64 = 100;
    // Clause 9.4.2.55.3 for HT; for VHT what an MPDU of 11454 bytes holds (table 9-25).
    let most = if standard == Standard::N { 7935 } else { 11_398 };
    if bytes != 0 && !(LEAST..=most).contains(&bytes) {
        let name = standard.name();
        let message = format!(
            "must be 0, for none, or from {LEAST} to {most} bytes in 802.{name} \
             [802.11-2020 table 9-25], is {bytes}"
        );
        check.fault(path, message);
        return Bytes::ZERO;
    }
    Bytes(bytes)
}
