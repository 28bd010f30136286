//! The cell and what stands around it: standard, rates, stations, access point, wire.

use super::check::{Check, number};
use super::queues::{Site, loss, queue};
use crate::plan::{ApPlan, Preamble, Slot, Standard, StationPlan, WirePlan, WlanPlan};
use crate::scenario::document::{Document, Station, Stations, Wlan};
use kernel::{BitRate, Bytes};

/// More stations than this are no single cell.
pub(super) const MOST_STATIONS: u64 = 10_000;

/// DSSS and CCK, 802.11-2020 clauses 15 and 16.
const DSSS: [f64; 4] = [1.0, 2.0, 5.5, 11.0];
/// OFDM in 20 MHz, 802.11-2020 clause 17.
const OFDM: [f64; 8] = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];
/// Both, 802.11-2020 clause 18.
const ERP: [f64; 12] = [1.0, 2.0, 5.5, 6.0, 9.0, 11.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];

fn rates(standard: Standard) -> &'static [f64] {
    match standard {
        Standard::B => &DSSS,
        Standard::A => &OFDM,
        Standard::G => &ERP,
    }
}

fn name(standard: Standard) -> &'static str {
    match standard {
        Standard::B => "802.11b",
        Standard::A => "802.11a",
        Standard::G => "802.11g",
    }
}

/// Defaults of `wlan.basic_rates_mbps`; in 802.11a the mandatory rates (clause 17.3.2.2), in g
/// these and all of b (clause 18.2.2).
fn default_basic_rates(standard: Standard) -> &'static [f64] {
    match standard {
        Standard::B => &[1.0, 2.0],
        Standard::A => &[6.0, 12.0, 24.0],
        Standard::G => &[1.0, 2.0, 5.5, 11.0, 6.0, 12.0, 24.0],
    }
}

/// A rate of the standard.
fn rate(path: &str, mbps: f64, standard: Standard, check: &mut Check) -> BitRate {
    let rates = rates(standard);
    if rates.contains(&mbps) {
        return BitRate::from_mbps(mbps);
    }
    let listed = rates.iter().map(|rate| number(*rate)).collect::<Vec<_>>().join(", ");
    let below = rates.iter().rev().find(|rate| **rate < mbps);
    let above = rates.iter().find(|rate| **rate > mbps);
    let in_bits = [1e3, 1e6].into_iter().map(|unit| mbps / unit).find(|rate| rates.contains(rate));
    let nearest = match (in_bits, below, above) {
        (Some(rate), ..) => format!("the unit is Mb/s, so perhaps {}", number(rate)),
        (_, Some(below), Some(above)) => {
            format!("the nearest are {} and {}", number(*below), number(*above))
        }
        (_, Some(only), None) => format!("the highest is {}", number(*only)),
        (_, None, Some(only)) => format!("the lowest is {}", number(*only)),
        (_, None, None) => "none is near".to_owned(),
    };
    let (is, standard) = (number(mbps), name(standard));
    check.fault(path, format!("{is} is not a rate of {standard} ({listed}); {nearest}"));
    BitRate::from_mbps(rates[rates.len() - 1])
}

pub(super) fn wlan(document: &Document, check: &mut Check) -> WlanPlan {
    let wlan = &document.wlan;
    if document.standard.is_none() {
        check.fault("standard", "missing; one of \"11b\", \"11a\", \"11g\"");
    }
    // Without a standard the rules that depend on it are left out: the first fault hides them.
    let standard = document.standard.unwrap_or(Standard::G);
    let (cw_min, cw_max) = contention_windows(wlan, standard, check);
    WlanPlan {
        standard,
        preamble: preamble(wlan, document.standard, check),
        basic_rates: basic_rates(wlan, document.standard, check),
        rts_threshold: Bytes(wlan.rts_threshold_bytes),
        short_retry_limit: retry_limit("short", wlan.short_retry_limit, check),
        long_retry_limit: retry_limit("long", wlan.long_retry_limit, check),
        cw_min,
        cw_max,
        slot: slot(wlan, document.standard, check),
        // 36 bytes are the longest header, with four addresses, QoS and HT control; more leaves
        // room for what other simulators count.
        mac_header: check.bytes("wlan.mac_header_bytes", wlan.mac_header_bytes, 0, 100),
        llc: check.bytes("wlan.llc_bytes", wlan.llc_bytes, 0, 100),
        eifs: wlan.eifs,
        slot_grid: wlan.slot_grid,
        countdown: wlan.countdown,
        backoff_draw: wlan.backoff_draw,
        durations: wlan.durations,
    }
}

fn retry_limit(which: &str, limit: u64, check: &mut Check) -> u8 {
    let path = format!("wlan.{which}_retry_limit");
    if limit == 0 {
        check.fault(path, "0 would never send; it counts all attempts, so 1 is the least");
        return 1;
    }
    check.whole(path, limit, 1, 255) as u8
}

fn preamble(wlan: &Wlan, standard: Option<Standard>, check: &mut Check) -> Preamble {
    if let (Some(_), Some(Standard::A)) = (wlan.preamble, standard) {
        let message = "802.11a has one OFDM preamble only; remove the key";
        check.fault("wlan.preamble", message);
    }
    wlan.preamble.unwrap_or(Preamble::Long)
}

fn slot(wlan: &Wlan, standard: Option<Standard>, check: &mut Check) -> Slot {
    match (standard, wlan.slot) {
        (Some(Standard::B), Some(Slot::Short)) => {
            check.fault("wlan.slot", "802.11b has the long slot (20 us) only; remove the key");
        }
        (Some(Standard::A), Some(Slot::Long)) => {
            check.fault("wlan.slot", "802.11a has the short slot (9 us) only; remove the key");
        }
        _ => {}
    }
    let usual = if standard == Some(Standard::B) { Slot::Long } else { Slot::Short };
    wlan.slot.unwrap_or(usual)
}

fn basic_rates(wlan: &Wlan, standard: Option<Standard>, check: &mut Check) -> Vec<BitRate> {
    let path = "wlan.basic_rates_mbps";
    let Some(standard) = standard else { return vec![BitRate(0)] };
    let mut rates: Vec<BitRate> = match &wlan.basic_rates_mbps {
        None => default_basic_rates(standard).iter().map(|r| BitRate::from_mbps(*r)).collect(),
        Some(written) => written
            .iter()
            .enumerate()
            .map(|(index, mbps)| rate(&format!("{path}[{index}]"), *mbps, standard, check))
            .collect(),
    };
    if rates.is_empty() {
        check.fault(path, "an empty list; control frames need at least one rate, as [1.0, 2.0]");
        rates.push(BitRate(0));
    }
    rates.sort_unstable();
    rates.dedup();
    rates
}

fn contention_windows(wlan: &Wlan, standard: Standard, check: &mut Check) -> (u32, u32) {
    let usual = if standard == Standard::B { 31 } else { 15 };
    let low = contention_window("wlan.cw_min", wlan.cw_min.unwrap_or(usual), check);
    let high = contention_window("wlan.cw_max", wlan.cw_max, check);
    if low > high {
        let whence = if wlan.cw_min.is_some() { "" } else { " (the default)" };
        check.fault("wlan.cw_max", format!("{high} is below cw_min, {low}{whence}"));
    }
    (low, high)
}

fn contention_window(path: &str, value: u64, check: &mut Check) -> u32 {
    const LARGEST: u64 = (1 << 15) - 1;
    if (1..=LARGEST).contains(&value) && (value + 1).is_power_of_two() {
        return value as u32;
    }
    let above = value.clamp(1, LARGEST).next_power_of_two();
    let below = above / 2;
    let nearest = match value {
        0 => "the least is 1".to_owned(),
        _ if value > LARGEST => format!("the most is {LARGEST}"),
        _ if value.is_power_of_two() => format!("the nearest is {}", value.max(2) - 1),
        _ => format!("the nearest are {} and {}", below - 1, above - 1),
    };
    check.fault(path, format!("{value} is not of the form 2^k - 1; {nearest}"));
    15
}

pub(super) fn stations(
    document: &Document,
    wlan: &WlanPlan,
    check: &mut Check,
) -> Vec<StationPlan> {
    let plain;
    let groups: Vec<(String, &Station)> = match &document.stations {
        Stations::Count(count) => {
            plain = Station { count: *count, ..Station::default() };
            vec![("stations".to_owned(), &plain)]
        }
        Stations::Equal(station) => vec![("stations".to_owned(), station)],
        Stations::Groups(groups) => {
            let path = |index| format!("stations[{index}]");
            groups.iter().enumerate().map(|(index, group)| (path(index), group)).collect()
        }
    };
    let total = groups.iter().fold(0u64, |sum, (_, group)| sum.saturating_add(group.count));
    if total == 0 {
        check.fault("stations", "there are none; a cell needs at least one, as stations = 10");
    }
    if total > MOST_STATIONS {
        check.fault("stations", format!("{total} are too many; at most {MOST_STATIONS}"));
    }
    let general = document.standard.map(|standard| match document.wlan.rate_mbps {
        Some(mbps) => rate("wlan.rate_mbps", mbps, standard, check),
        None => rates(standard).last().map_or(BitRate(0), |mbps| BitRate::from_mbps(*mbps)),
    });
    let mut stations = Vec::new();
    for (path, group) in groups {
        let example = station(&path, group, document.standard, general, wlan, check);
        // Of too many only those that a plan could have, so that patterns can still be checked.
        let room = MOST_STATIONS.saturating_sub(stations.len() as u64);
        for _ in 0..group.count.min(room) {
            let name = format!("sta{}", stations.len());
            stations.push(StationPlan { name, ..example.clone() });
        }
    }
    stations
}

fn station(
    path: &str,
    group: &Station,
    standard: Option<Standard>,
    general: Option<BitRate>,
    wlan: &WlanPlan,
    check: &mut Check,
) -> StationPlan {
    let rate_path = format!("{path}.rate_mbps");
    let rate = match (group.rate_mbps, standard) {
        (Some(mbps), Some(standard)) => rate(&rate_path, mbps, standard, check),
        _ => general.unwrap_or_default(),
    };
    if standard.is_some() && wlan.basic_rates[0] > rate {
        let rate_path =
            if group.rate_mbps.is_some() { rate_path } else { "wlan.rate_mbps".to_owned() };
        let (is, lowest) = (number(rate.as_mbps()), number(wlan.basic_rates[0].as_mbps()));
        check.fault(
            rate_path,
            format!(
                "{is} is below every basic rate, so no ACK could answer it; the lowest of \
                 wlan.basic_rates_mbps is {lowest}"
            ),
        );
    }
    StationPlan {
        name: String::new(),
        rate,
        queue: queue(&format!("{path}.queue"), &group.queue, Site::Station(rate), check),
        data_loss: check.probability(format!("{path}.data_loss"), group.data_loss),
        ack_loss: check.probability(format!("{path}.ack_loss"), group.ack_loss),
    }
}

pub(super) fn ap(document: &Document, stations: &[StationPlan], check: &mut Check) -> ApPlan {
    let fastest = stations.iter().map(|station| station.rate).max().unwrap_or_default();
    ApPlan { queue: queue("ap.queue", &document.ap.queue, Site::AccessPoint(fastest), check) }
}

pub(super) fn wire(document: &Document, check: &mut Check) -> Option<WirePlan> {
    let wire = document.wire.as_ref()?;
    let rate = wire
        .rate_mbps
        .map(|mbps| BitRate::from_mbps(check.real("wire.rate_mbps", mbps, 0.001, 1e6)));
    let delay = check.millis("wire.delay_ms", wire.delay_ms, 0.0, 60_000.0);
    Some(WirePlan {
        rate,
        delay,
        queue: queue("wire.queue", &wire.queue, Site::Wire(rate, delay), check),
        overhead: check.bytes("wire.overhead_bytes", wire.overhead_bytes, 0, 1000),
        loss: loss("wire.loss", wire.loss.as_ref(), check),
        loss_direction: wire.loss_direction,
    })
}
