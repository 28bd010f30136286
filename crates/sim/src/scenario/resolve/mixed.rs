//! Stations of an earlier standard than that of their network: of 802.11b in a network of 802.11g,
//! with the protection of OFDM frames, and of 802.11n to ax in a later one.

use super::check::Check;
use crate::plan::StationPlan;
use crate::scenario::document::{Document, Station, Stations};
use kernel::BitRate;
use settings::{Said, said};
use wifi::MacConfig;
use wifi::mac::{Earlier, NonErp, Protection};
use wifi::phy::{Amendment, DOT11B, Slot, Standard};

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

/// The standard of a group of 802.11n or later in a network of a later one: in its band.
pub(super) fn earlier(all: &Standard, group: &Station) -> Option<&'static Standard> {
    let own = Standard::in_band(group.standard?, all.band).ok()?;
    (own.high.is_some() && own.high < all.high).then_some(own)
}

/// The stations of such groups, for medium access.
pub(super) fn earlier_nodes(wlan: &MacConfig, stations: &[StationPlan]) -> Vec<Earlier> {
    let earlier = |(node, station): (u32, &StationPlan)| {
        let latest = station.up.link.standard.high?;
        (Some(latest) < wlan.timing.standard.high).then_some(Earlier { node, latest })
    };
    (1..).zip(stations).filter_map(earlier).collect()
}

/// A group has the standard of the cell, 802.11b in a cell of 802.11g, or 802.11n or later in one
/// of a later standard.
pub(super) fn standard_of(path: &str, group: &Station, all: &Standard, check: &mut Check) {
    let Some(own) = group.standard else { return };
    if own == all.amendment || is_non_erp(all.amendment, group) || earlier(all, group).is_some() {
        return;
    }
    let path = format!("{path}.standard");
    if Standard::of(own).high.is_some()
        && let Err(message) = Standard::in_band(own, all.band)
    {
        return check.fault(path, message);
    }
    let (own, all) = (own.name(), all.name());
    let message = Said::new(
        format!("stations of 802.{own} in a network of 802.{all} are not modelled"),
        "those of 802.11b in one of 802.11g are, and those of 802.11n and later in a later one",
    );
    check.fault(path, message);
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

/// In an ad-hoc network a node sends to all others in one mode, which these could not decode.
pub(super) fn refuse_in_ad_hoc(document: &Document, wlan: &MacConfig, check: &mut Check) {
    let ad_hoc = document.radio.as_ref().is_some_and(|radio| radio.ad_hoc);
    if ad_hoc && !wlan.earlier.is_empty() {
        let message = "stations of an earlier standard in an ad-hoc network are not supported";
        check.fault("radio.ad_hoc", Said::new(message, "give all one standard"));
    }
}
