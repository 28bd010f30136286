//! The cell: standard, rates, stations, access point.

use super::check::{Check, number};
use super::mixed;
use super::modes::Modes;
use super::qos;
use super::queues::{Site, queue};
use crate::plan::{
    ApPlan, Band, Preamble, RateControlPlan, RatePlan, Slot, Standard, StationPlan, WlanPlan,
};
use crate::scenario::document::{Ap, Document, Station, Stations};
use crate::scenario::wlan::Wlan;
use kernel::{BitRate, Bytes};
use wifi::phy;

/// More stations than this are no single cell.
pub(super) const MOST_STATIONS: u64 = 10_000;

/// DSSS and CCK, 802.11-2020 clauses 15 and 16.
pub(super) const DSSS: [f64; 4] = [1.0, 2.0, 5.5, 11.0];
/// OFDM in 20 MHz, 802.11-2020 clause 17.
const OFDM: [f64; 8] = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];
/// Both, 802.11-2020 clause 18.
const ERP: [f64; 12] = [1.0, 2.0, 5.5, 6.0, 9.0, 11.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];

/// Rates without MCS: of data frames up to 802.11g, of control frames later.
fn rates(standard: Standard, band: Band) -> &'static [f64] {
    match (standard, band) {
        (Standard::B, _) => &DSSS,
        (Standard::G, _) | (Standard::N | Standard::Ax, Band::Ghz2_4) => &ERP,
        (Standard::A | Standard::Ac | Standard::N | Standard::Ax, _) => &OFDM,
    }
}

/// Defaults of `wlan.basic_rates_mbps`: the mandatory rates of OFDM (clause 17.3.2.2), in 802.11g
/// these and all of b (clause 18.2.2); where there is an MCS, no 802.11b station is expected.
fn default_basic_rates(standard: Standard) -> &'static [f64] {
    match standard {
        Standard::B => &[1.0, 2.0],
        Standard::G => &[1.0, 2.0, 5.5, 11.0, 6.0, 12.0, 24.0],
        Standard::A | Standard::N | Standard::Ac | Standard::Ax => &[6.0, 12.0, 24.0],
    }
}

/// The standard's timings and modes in a band that it is used in.
pub(super) fn phy(standard: Standard, band: Band) -> &'static phy::Standard {
    phy::Standard::in_band(standard.name(), band).expect("the band is one of the standard's")
}

/// The rate of a standard in a band, or what is wrong with it.
pub(super) fn rate(mbps: f64, standard: Standard, band: Band) -> Result<BitRate, String> {
    let rates = rates(standard, band);
    if rates.contains(&mbps) {
        return Ok(BitRate::from_mbps(mbps));
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
    let (is, name) = (number(mbps), standard.name());
    let of = if standard.has_mcs() { "control frames in 802." } else { "802." };
    Err(format!("{is} is not a rate of {of}{name} ({listed}); {nearest}"))
}

/// The band of the cell; where it is not given, the usual one.
fn band(wlan: &Wlan, standard: Standard, check: &mut Check) -> Band {
    let usual = phy::Standard::named(standard.name()).map_or(Band::Ghz5, |phy| phy.band);
    let given = match wlan.band_ghz {
        None => return usual,
        Some(2.4) => Band::Ghz2_4,
        Some(5.0) => Band::Ghz5,
        Some(ghz) => {
            check.fault("wlan.band_ghz", format!("is 2.4 or 5, not {}", number(ghz)));
            return usual;
        }
    };
    if phy::Standard::in_band(standard.name(), given).is_none() {
        let (name, other) = (standard.name(), if given == Band::Ghz5 { "2.4" } else { "5" });
        check.fault("wlan.band_ghz", format!("802.{name} is at {other} GHz only; remove the key"));
        return usual;
    }
    given
}

/// 2347 is never, as it says, where an A-MPDU may be longer too.
fn rts_threshold(wlan: &Wlan, standard: Standard) -> Bytes {
    match wlan.rts_threshold_bytes {
        2347 if standard.has_mcs() => Bytes(u64::MAX),
        bytes => Bytes(bytes),
    }
}

pub(super) fn wlan(document: &Document, check: &mut Check) -> WlanPlan {
    let wlan = &document.wlan;
    if !document.has_cell() {
        no_cell(document, check);
    } else if document.standard.is_none() {
        let names: Vec<_> = Standard::ALL.iter().map(|s| format!("\"{}\"", s.name())).collect();
        check.fault("standard", format!("missing; one of {}", names.join(", ")));
    }
    // Without a standard the rules that depend on it are left out: the first fault hides them.
    let standard = document.standard.unwrap_or(Standard::G);
    let band = band(wlan, standard, check);
    let (cw_min, cw_max) = contention_windows(wlan, standard, check);
    let mixed = mixed::has_non_erp(document);
    WlanPlan {
        standard,
        band,
        preamble: preamble(wlan, document.standard, check),
        basic_rates: basic_rates(wlan, document.standard, band, mixed, check),
        rts_threshold: rts_threshold(wlan, standard),
        short_retry_limit: retry_limit("short", wlan.short_retry_limit, check),
        long_retry_limit: retry_limit("long", wlan.long_retry_limit, check),
        cw_min,
        cw_max,
        cw_min_non_erp: wlan.cw_min.map_or(phy::DOT11B.cw_min.min(cw_max), |_| cw_min),
        protection: mixed::protection(document, mixed, check),
        slot: slot(wlan, document.standard, mixed, check),
        // 36 bytes are the longest header, with four addresses, QoS and HT control; more leaves
        // room for what other simulators count.
        mac_header: check.bytes("wlan.mac_header_bytes", wlan.mac_header_bytes, 0, 100),
        llc: check.bytes("wlan.llc_bytes", wlan.llc_bytes, 0, 100),
        eifs: wlan.eifs,
        slot_grid: wlan.slot_grid,
        countdown: wlan.countdown,
        backoff_draw: wlan.backoff_draw,
        durations: wlan.durations,
        qos: qos::qos(document, standard, phy(standard, band), check),
    }
}

/// Without a cell nothing is said of one.
fn no_cell(document: &Document, check: &mut Check) {
    let mut unused = |given: bool, key: &str| {
        if given {
            let message = "there is no cell without `standard` and `stations`; remove the key, or \
                           give both";
            check.fault(key, message);
        }
    };
    unused(document.wlan != Wlan::default(), "wlan");
    unused(document.ap != Ap::default(), "ap");
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
    if wlan.preamble.is_some()
        && let Some(standard) = standard
        && !matches!(standard, Standard::B | Standard::G)
    {
        let message = format!("802.{} has no DSSS preamble; remove the key", standard.name());
        check.fault("wlan.preamble", message);
    }
    wlan.preamble.unwrap_or(Preamble::Long)
}

fn slot(wlan: &Wlan, standard: Option<Standard>, mixed: bool, check: &mut Check) -> Slot {
    if mixed {
        return mixed::slot(wlan.slot, check);
    }
    match (standard, wlan.slot) {
        (Some(Standard::B), Some(Slot::Short)) => {
            check.fault("wlan.slot", "802.11b has the long slot (20 us) only; remove the key");
        }
        (Some(standard), Some(Slot::Long)) if !matches!(standard, Standard::B | Standard::G) => {
            let name = standard.name();
            let message = format!("802.{name} has the short slot (9 us) only; remove the key");
            check.fault("wlan.slot", message);
        }
        _ => {}
    }
    let usual = if standard == Some(Standard::B) { Slot::Long } else { Slot::Short };
    wlan.slot.unwrap_or(usual)
}

fn basic_rates(
    wlan: &Wlan,
    standard: Option<Standard>,
    band: Band,
    mixed: bool,
    check: &mut Check,
) -> Vec<BitRate> {
    let path = "wlan.basic_rates_mbps";
    if mixed && let Some(written) = &wlan.basic_rates_mbps {
        mixed::basic_rates(written, check);
    }
    let Some(standard) = standard else { return vec![BitRate(0)] };
    let mut rates: Vec<BitRate> = match &wlan.basic_rates_mbps {
        None if mixed => mixed::default_basic_rates(),
        None => default_basic_rates(standard).iter().map(|r| BitRate::from_mbps(*r)).collect(),
        Some(written) => written
            .iter()
            .enumerate()
            .map(|(index, mbps)| {
                rate(*mbps, standard, band).unwrap_or_else(|message| {
                    check.fault(format!("{path}[{index}]"), message);
                    BitRate::from_mbps(default_basic_rates(standard)[0])
                })
            })
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

pub(super) fn contention_window(path: &str, value: u64, check: &mut Check) -> u32 {
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
    duration_s: f64,
    check: &mut Check,
) -> Vec<StationPlan> {
    let plain;
    let groups: Vec<(String, &Station)> = match &document.stations {
        Stations::Count(count) => {
            plain = Station { count: *count, ..Station::default() };
            vec![("stations".to_owned(), &plain)]
        }
        Stations::Equal(station) => vec![("stations".to_owned(), &**station)],
        Stations::Groups(groups) => {
            let path = |index| format!("stations[{index}]");
            groups.iter().enumerate().map(|(index, group)| (path(index), group)).collect()
        }
    };
    let total = groups.iter().fold(0u64, |sum, (_, group)| sum.saturating_add(group.count));
    if total == 0 && document.has_cell() {
        check.fault("stations", "there are none; a cell needs at least one, as stations = 10");
    }
    if total > MOST_STATIONS {
        check.fault("stations", format!("{total} are too many; at most {MOST_STATIONS}"));
    }
    let mut modes = document.standard.map(|_| Modes::new(document, wlan, duration_s, check));
    let mut stations = Vec::new();
    for (path, group) in groups {
        mixed::standard_of(&path, group, document.standard, check);
        let example = station(&path, group, modes.as_mut(), check);
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
    modes: Option<&mut Modes<'_>>,
    check: &mut Check,
) -> StationPlan {
    // Without a standard its fault is all that is told of modes.
    let any = || RatePlan { mode: phy::DOT11G.fastest(), control: RateControlPlan::Fixed };
    let non_erp = modes.as_ref().is_some_and(|modes| mixed::is_non_erp(modes.standard, group));
    let (up, down) = modes.map_or_else(|| (any(), any()), |modes| modes.links(path, group, check));
    let site = Site::Station(up.mode.rate);
    StationPlan {
        name: String::new(),
        non_erp,
        up,
        down,
        queue: queue(&format!("{path}.queue"), &group.queue, site, check),
        ring: ring(path, group.ring_packets, check),
        data_loss: check.probability(format!("{path}.data_loss"), group.data_loss),
        ack_loss: check.probability(format!("{path}.ack_loss"), group.ack_loss),
    }
}

pub(super) fn ap(document: &Document, stations: &[StationPlan], check: &mut Check) -> ApPlan {
    let fastest = stations.iter().map(|station| station.down.mode.rate).max().unwrap_or_default();
    ApPlan {
        queue: queue("ap.queue", &document.ap.queue, Site::AccessPoint(fastest), check),
        ring: ring("ap", document.ap.ring_packets, check),
    }
}

/// Frames that a device holds below its queue.
pub(super) fn ring(path: &str, written: Option<u64>, check: &mut Check) -> Option<u32> {
    let packets = |count| check.whole(format!("{path}.ring_packets"), count, 1, 100_000) as u32;
    written.map(packets)
}
