//! Stations of 802.11b in a network of 802.11g, and the protection of OFDM frames.

use super::check::Check;
use crate::plan::StationPlan;
use crate::scenario::document::{Document, Station, Stations};
use kernel::BitRate;
use settings::{Said, said};
use wifi::MacConfig;
use wifi::mac::{NonErp, Protection};
use wifi::phy::{Amendment, DOT11B, Slot};

/// Whether a group is of 802.11b in a network of 802.11g.
pub(super) fn is_non_erp(standard: Amendment, group: &Station) -> bool {
    standard == Amendment::G && group.standard == Some(Amendment::B)
}

/// Whether there are such stations.
pub(super) fn has_non_erp(document: &Document) -> bool {
    let groups = match &document.stations {
        Stations::Count(_) => return false,
        Stations::Equal(group) => std::slice::from_ref(&**group),
        Stations::Groups(groups) => groups,
    };
    let Some(standard) = document.standard else { return false };
    groups.iter().any(|group| group.count > 0 && is_non_erp(standard, group))
}

/// These stations, for medium access.
pub(super) fn non_erp(
    document: &Document,
    wlan: &MacConfig,
    stations: &[StationPlan],
) -> Option<NonErp> {
    let of_b = (1..).zip(stations).filter(|(_, station)| station.up.link.non_erp);
    let nodes: Vec<u32> = of_b.map(|(node, _)| node).collect();
    let cw_min = document.wlan.cw_min.map_or(DOT11B.cw_min.min(wlan.cw_max), |_| wlan.cw_min);
    (!nodes.is_empty()).then_some(NonErp { nodes, cw_min })
}

/// A group has the standard of the cell, or 802.11b in a cell of 802.11g.
pub(super) fn standard_of(path: &str, group: &Station, all: Option<Amendment>, check: &mut Check) {
    let (Some(own), Some(all)) = (group.standard, all) else { return };
    if own == all || is_non_erp(all, group) {
        return;
    }
    let (own, all) = (own.name(), all.name());
    let message = format!(
        "stations of 802.{own} in a network of 802.{all} are not modelled, those of 802.11b in one \
         of 802.11g are"
    );
    check.fault(format!("{path}.standard"), message);
}

/// The protection of OFDM frames; the default is CTS-to-self if any station is of 802.11b (clause
/// 10.27).
pub(super) fn protection(document: &Document, mixed: bool, check: &mut Check) -> Protection {
    let wlan = &document.wlan;
    if let (Some(_), Some(standard)) = (wlan.protection, document.standard)
        && standard != Amendment::G
    {
        let message = Said::new(
            "is of 802.11g, whose OFDM stations of 802.11b do not understand",
            format!("802.{} has none here, remove the key", standard.name()),
        );
        check.fault("wlan.protection", message);
        return Protection::None;
    }
    if mixed && wlan.qos == Some(true) {
        let message = said!(
            "stations of 802.11b contend by DCF here",
            "remove the key, or make all stations 802.11g"
        );
        check.fault("wlan.qos", message);
    }
    let usual = if mixed { Protection::CtsToSelf } else { Protection::None };
    wlan.protection.unwrap_or(usual)
}

/// The slot is long if any station supports only the long slot (clause 9.4.1.4).
pub(super) fn slot(given: Option<Slot>, check: &mut Check) -> Slot {
    if given == Some(Slot::Short) {
        let message = Said::remove(
            "stations of 802.11b have the long slot (20 us) only, and all in a network have the \
             same",
        );
        check.fault("wlan.slot", message);
    }
    Slot::Long
}

/// All stations of a network must support its basic rates (clause 11.1.4.6).
pub(super) fn basic_rates(written: &[f64], check: &mut Check) {
    let is_other = |(_, mbps): &(usize, &f64)| DOT11B.mode_at(**mbps).is_err();
    for (index, mbps) in written.iter().enumerate().filter(is_other) {
        let path = format!("wlan.basic_rates_mbps[{index}]");
        let mbps = super::check::number(*mbps);
        let message = format!(
            "every station must have the basic rates, and those of 802.11b have 1, 2, 5.5 and 11, \
             not {mbps}"
        );
        check.fault(path, message);
    }
}

/// Usual basic rates of access points in mixed networks.
pub(super) fn default_basic_rates() -> Vec<BitRate> {
    DOT11B.modes.iter().map(|mode| mode.rate).collect()
}
