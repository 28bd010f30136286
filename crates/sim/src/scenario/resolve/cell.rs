//! The cell: standard, rates, stations, access point.

use super::check::Check;
use super::mixed;
use super::modes::Modes;
use super::qos;
use super::queues::queue;
use crate::plan::{ApPlan, RatePlan, StationPlan, access_point};
use crate::scenario::document::{Ap, Document, Station, Stations};
use crate::scenario::limits::MOST_STATIONS;
use crate::scenario::wlan::Wlan;
use kernel::{BitRate, Bytes};
use net::OutputLink;
use settings::{Choice, Said, said};
use wifi::MacConfig;
use wifi::mac::Timing;
use wifi::phy::{Amendment, DOT11G, Mode, Preamble, Slot, Standard};
use wifi::rate::{LinkModes, RateControlSettings};

/// The standard in the band of the cell; the default band if none is given.
fn standard(wlan: &Wlan, amendment: Amendment, check: &mut Check) -> &'static Standard {
    let usual = Standard::of(amendment);
    let Some(band) = wlan.band else { return usual };
    Standard::in_band(amendment, band).unwrap_or_else(|message| {
        check.fault("wlan.band_ghz", message);
        usual
    })
}

/// 2347 means that RTS is never used, even if an A-MPDU may be longer.
fn rts_threshold(wlan: &Wlan, standard: &Standard) -> Bytes {
    match wlan.mac.rts_threshold {
        Bytes(2347) if standard.high.is_some() => Bytes(u64::MAX),
        bytes => bytes,
    }
}

pub(super) fn wlan(document: &Document, check: &mut Check) -> MacConfig {
    let wlan = &document.wlan;
    if !document.has_cell() {
        no_cell(document, check);
    } else if document.standard.is_none() {
        let names: Vec<_> = Amendment::NAMES.iter().map(|name| format!("\"{name}\"")).collect();
        check.fault("standard", Said::new("missing", format!("one of {}", names.join(", "))));
    }
    // Without a standard, the rules that depend on it are skipped.
    let given = document.standard;
    let standard = standard(wlan, given.unwrap_or(Amendment::G), check);
    let cw_min = first_window(wlan, standard, check);
    let mixed = mixed::has_non_erp(document);
    let timing = Timing {
        standard,
        preamble: preamble(wlan, given, check),
        basic_rates: basic_rates(wlan, given.map(|_| standard), mixed, check),
        protection: mixed::protection(document, mixed, check),
        slot: slot(wlan, given, mixed, check).lasts() + wlan.mac.timing.air_propagation(),
        rts: rts(wlan, given.map(|_| standard), check),
        ..wlan.mac.timing.clone()
    };
    let (edca, aggregation) = qos::qos(document, standard, check);
    let rts_threshold = rts_threshold(wlan, standard);
    MacConfig { timing, rts_threshold, cw_min, edca, aggregation, ..wlan.mac.clone() }
}

/// Without a cell, no key of a cell is allowed.
fn no_cell(document: &Document, check: &mut Check) {
    let mut unused = |given: bool, key: &str| {
        if given {
            let message = said!(
                "there is no cell without `standard` and `stations`",
                "remove the key, or give both"
            );
            check.fault(key, message);
        }
    };
    unused(document.wlan != Wlan::default(), "wlan");
    unused(document.ap != Ap::default(), "ap");
}

fn preamble(wlan: &Wlan, standard: Option<Amendment>, check: &mut Check) -> Preamble {
    if wlan.preamble.is_some()
        && let Some(standard) = standard
        && !matches!(standard, Amendment::B | Amendment::G)
    {
        let message = Said::remove(format!("802.{} has no DSSS preamble", standard.name()));
        check.fault("wlan.preamble", message);
    }
    wlan.preamble.unwrap_or(Preamble::Long)
}

fn slot(wlan: &Wlan, standard: Option<Amendment>, mixed: bool, check: &mut Check) -> Slot {
    if mixed {
        return mixed::slot(wlan.slot, check);
    }
    match (standard, wlan.slot) {
        (Some(Amendment::B), Some(Slot::Short)) => {
            check.fault("wlan.slot", Said::remove("802.11b has the long slot (20 us) only"));
        }
        (Some(standard), Some(Slot::Long)) if !matches!(standard, Amendment::B | Amendment::G) => {
            let name = standard.name();
            let message = Said::remove(format!("802.{name} has the short slot (9 us) only"));
            check.fault("wlan.slot", message);
        }
        _ => {}
    }
    let usual = if standard == Some(Amendment::B) { Slot::Long } else { Slot::Short };
    wlan.slot.unwrap_or(usual)
}

fn basic_rates(
    wlan: &Wlan,
    standard: Option<&Standard>,
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
        None => standard.default_basic_rates().collect(),
        Some(written) => {
            let rate = |(index, mbps): (usize, &f64)| match standard.mode_at(*mbps) {
                Ok(mode) => mode.rate,
                Err(message) => {
                    check.fault(format!("{path}[{index}]"), message);
                    standard.modes[0].rate
                }
            };
            written.iter().enumerate().map(rate).collect()
        }
    };
    if rates.is_empty() {
        check.fault(
            path,
            said!("an empty list", "control frames need at least one rate, as [1.0, 2.0]"),
        );
        rates.push(BitRate(0));
    }
    rates.sort_unstable();
    rates.dedup();
    rates
}

/// The mode of RTS frames, if it is given.
fn rts(wlan: &Wlan, standard: Option<&Standard>, check: &mut Check) -> Option<Mode> {
    match standard?.mode_at(wlan.rts_rate_mbps?) {
        Ok(mode) => Some(mode),
        Err(message) => {
            check.fault("wlan.rts_rate_mbps", message);
            None
        }
    }
}

/// The initial contention window of DCF.
fn first_window(wlan: &Wlan, standard: &Standard, check: &mut Check) -> u32 {
    let (low, high) = (wlan.cw_min.unwrap_or(standard.cw_min), wlan.mac.cw_max);
    if low > high {
        let whence = if wlan.cw_min.is_some() { "" } else { " (the default)" };
        check.fault("wlan.cw_max", format!("{high} is below cw_min, {low}{whence}"));
    }
    low
}

pub(super) fn stations(
    document: &Document,
    wlan: &MacConfig,
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
        check.fault(
            "stations",
            said!("there are none", "a cell needs at least one, as stations = 10"),
        );
    }
    if total > MOST_STATIONS {
        check.fault("stations", said!("{total} are too many", "at most {MOST_STATIONS}"));
    }
    let mut modes = document.standard.map(|_| Modes::new(document, wlan, duration_s, check));
    let mut stations = Vec::new();
    for (path, group) in groups {
        if document.standard.is_some() {
            mixed::standard_of(&path, group, wlan.timing.standard, check);
        }
        let example = station(&path, group, modes.as_mut(), check);
        // If there are too many stations, only as many as allowed are kept, so that patterns can
        // still be checked.
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
    let (up, down) = modes.map_or_else(|| (any(), any()), |modes| modes.links(path, group, check));
    let output_link = OutputLink::Station(up.mode().rate);
    StationPlan {
        name: String::new(),
        group: group.name.clone(),
        up,
        down,
        queue: queue(&format!("{path}.queue"), &group.queue, output_link, check),
        device: group.device,
        airtime_weight: group.airtime_weight,
        power_save: group.power_save.clone(),
        roaming: group.roaming,
        data_loss: group.data_loss,
        ack_loss: group.ack_loss,
    }
}

/// Without a standard, only its own fault is reported and no fault of modes.
fn any() -> RatePlan {
    let link = LinkModes {
        standard: &DOT11G,
        mode: DOT11G.fastest(),
        vector: None,
        lowest: BitRate(0),
        non_erp: false,
        has_radio: false,
    };
    RatePlan { link, control: RateControlSettings::default() }
}

pub(super) fn ap(document: &Document, stations: &[StationPlan], check: &mut Check) -> ApPlan {
    ApPlan {
        queue: queue("ap.queue", &document.ap.queue, access_point(stations), check),
        device: document.ap.device,
    }
}
