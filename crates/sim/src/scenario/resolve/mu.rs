//! OFDMA: what it needs, and what it is not supported with.

use super::check::{Check, when};
use crate::plan::{SpacePlan, StationPlan};
use crate::scenario::document::Document;
use kernel::Bytes;
use settings::Said;
use wifi::MacConfig;
use wifi::mac::{Delivery, Mu, RandomAccessTriggers};
use wifi::phy::he::{GroupFault, GroupUser, RuSize};
use wifi::phy::{Band, Mode, ModeClass};

const TABLE: &str = "wlan.mu";
/// The association identifiers that an access point can give (802.11-2020 clause 9.4.1.8).
const MOST_AIDS: usize = 2007;

/// The rules of an access point that sends to several stations at once.
pub(super) fn mu(
    document: &Document,
    wlan: &mut MacConfig,
    stations: &[StationPlan],
    space: Option<&SpacePlan>,
    check: &mut Check,
) {
    if wlan.mu.is_none() || !document.has_cell() || document.standard.is_none() {
        return;
    }
    let is_refused = check.refuse(TABLE, unsupported(document, wlan));
    let Some(settings) = &mut wlan.mu else { return };
    settings.ltf = document.wlan.he_ltf;
    settings.coding = document.wlan.coding;
    settings.timing = document.wlan.ppdu_timing;
    if stations.len() > MOST_AIDS {
        let message = format!(
            "{} are more than the {MOST_AIDS} association identifiers of an access point, by which \
             a PPDU of several users names them [802.11-2020 9.4.1.8]",
            stations.len()
        );
        check.fault("stations", Said::new(message, "take fewer"));
    }
    if settings.edca.is_some() && settings.uplink.is_none() {
        let message = "holds for stations that are triggered, and nobody triggers";
        let remedy = "add [wlan.mu.uplink], or remove the table";
        check.fault(format!("{TABLE}.edca"), Said::new(message, remedy));
    }
    let members: Vec<&StationPlan> = stations.iter().filter(|it| takes_part(it)).collect();
    let first = members.first().map(|station| station.down.mode());
    numbers(settings, first.as_ref(), check);
    random_access(settings, first.as_ref(), check);
    if first.is_none() {
        if !stations.is_empty() && !is_refused {
            let message = "no station has PPDUs of 802.11ax";
            check.fault(TABLE, Said::new(message, "let some be of it, or remove the table"));
        }
        return;
    }
    by_cell(settings, wlan.timing.standard.band, stations, space, check);
    let null = wlan.data_header();
    if let Some(mu) = &wlan.mu {
        answers_fit(mu, wlan.timing.standard.band, null, &members, check);
    }
}

/// The users of a PPDU are of one cell: they have a channel in common, for which there are such
/// PPDUs.
fn by_cell(
    settings: &Mu,
    band: Band,
    stations: &[StationPlan],
    space: Option<&SpacePlan>,
    check: &mut Check,
) {
    for cell in space.map_or(0..1, |space| 0..space.cells.len() as u32) {
        let may_be_of = |n: usize| {
            space.is_none_or(|space| space.stations[n].cell == cell)
                || stations[n].roaming.is_some()
        };
        let of_cell =
            || stations.iter().enumerate().filter(|&(n, it)| takes_part(it) && may_be_of(n));
        let members = || of_cell().map(|(_, station)| station);
        let Some(first) = members().next().map(|station| station.down.mode()) else { continue };
        if !one_channel(members(), &first, check) {
            break;
        }
        exists(settings, band, &first, check);
    }
}

/// What OFDMA is not supported with.
fn unsupported(document: &Document, wlan: &MacConfig) -> [Option<Said>; 6] {
    let standard = wlan.timing.standard;
    let is_named = match standard.high {
        Some(ModeClass::Eht) => "PPDUs of several users are modelled for 802.11ax only, not for",
        _ => "OFDMA is of 802.11ax, and the standard is",
    };
    let frames = wlan.aggregation.map_or(0, |limits| limits.frames);
    let each = wlan.aggregation.is_some_and(|limits| limits.delivery == Delivery::Mpdu);
    let with = |is: bool, what: &str, remedy: &str| {
        when(is, format!("downlink OFDMA with {what} is not supported"), remedy)
    };
    [
        when(
            standard.high != Some(ModeClass::He),
            format!("{is_named} 802.{}", standard.name()),
            "take standard = \"11ax\", or remove the table",
        ),
        with(!document.interferers.is_empty(), "interferers", "remove them, or the table"),
        with(wlan.full_duplex.is_some(), "wlan.full_duplex", "remove either"),
        with(
            standard.high.is_some() && frames <= 1,
            "one frame in a PPDU",
            "the data of each user is an A-MPDU: let wlan.aggregation.frames be 2 or more, and \
             wlan.qos true",
        ),
        with(each, "delivery of each MPDU", "take wlan.aggregation.delivery = \"ppdu\""),
        with(
            wlan.timing.model_header.is_some(),
            "the data frames of analytic models",
            "remove wlan.model_header_us",
        ),
    ]
}

/// Whether a station may be a user of PPDUs of several: its modes have resource units.
fn takes_part(station: &StationPlan) -> bool {
    [&station.up, &station.down].iter().all(|plan| plan.mode().has_units())
}

/// All users of a PPDU have the channel and the guard interval in common. Returns whether they do.
fn one_channel<'a>(
    mut stations: impl Iterator<Item = &'a StationPlan>,
    first: &Mode,
    check: &mut Check,
) -> bool {
    let same = |station: &StationPlan| {
        let mode = station.down.mode();
        (mode.width, mode.guard) == (first.width, first.guard)
    };
    let is_one = stations.all(same);
    if !is_one {
        let message =
            "all users of a PPDU have the width of the channel and the guard interval in common";
        check.fault(TABLE, Said::new(message, "give all stations the same, or remove the table"));
    }
    is_one
}

/// A PPDU to stations of this mode, if there are any, has so many users.
fn numbers(settings: &Mu, mode: Option<&Mode>, check: &mut Check) {
    let of_channel = mode.map(|mode| (mode.width.mhz(), RuSize::Tones26.number_in(mode.width)));
    if let (Some(most), Some((mhz, units))) = (settings.max_users, of_channel)
        && most > units
    {
        let message = format!(
            "{most} are more than the {units} resource units of {mhz} MHz [802.11ax-2021 27.3.2]"
        );
        check.fault(format!("{TABLE}.max_users"), message);
    }
    let most = settings.max_users.into_iter().chain(of_channel.map(|(_, units)| units)).min();
    if let Some(most) = most.filter(|&most| settings.min_users > most) {
        let message = format!("{} are more than a PPDU has, at most {most}", settings.min_users);
        check.fault(format!("{TABLE}.min_users"), Said::new(message, "take fewer"));
    }
}

/// The resource units of a Trigger frame are enough for random access, and there is such a frame.
fn random_access(settings: &Mu, mode: Option<&Mode>, check: &mut Check) {
    let Some(uplink) = &settings.uplink else { return };
    let Some(random) = &uplink.random_access else { return };
    let key = |key: &str| format!("{TABLE}.uplink.random_access.{key}");
    let most = mode.map_or(u32::MAX, |mode| settings.most_users(mode.width));
    if random.units > most {
        let message = format!(
            "{} are more than the {most} resource units of a Trigger frame [802.11ax-2021 27.3.2]",
            random.units
        );
        check.fault(key("units"), Said::new(message, "take fewer"));
    }
    if random.triggers == RandomAccessTriggers::Bsrp && !uplink.bsrp {
        let message = "there are no BSRP Trigger frames to have RA-RUs";
        let remedy = "take \"basic\", or let wlan.mu.uplink.bsrp be true";
        check.fault(key("triggers"), Said::new(message, remedy));
    }
}

/// The shortest answer to a Trigger frame, a `QoS` Null with this header, has room.
fn answers_fit(
    settings: &Mu,
    band: Band,
    header: Bytes,
    stations: &[&StationPlan],
    check: &mut Check,
) {
    let Some(uplink) = &settings.uplink else { return };
    let Some(slowest) = stations.iter().map(|it| it.up.mode()).min_by_key(|mode| mode.rate) else {
        return;
    };
    let random = uplink.random_access.as_ref().map_or(0, |random| random.units);
    let users = settings.max_users.unwrap_or(u32::MAX).min(stations.len() as u32 + random);
    let size = RuSize::widest_for(slowest.width, users).unwrap_or(RuSize::Tones26);
    let needed = settings.shortest_answer(band, &slowest, size, header);
    if needed.is_some_and(|needed| needed > uplink.duration) {
        let (mcs, tones, us) =
            (slowest.mcs, size.tones(), needed.map_or(0.0, |it| it.0 as f64 / 1e3));
        let message = format!(
            "a QoS Null of MCS {mcs} on {tones} tones, the shortest answer to a Trigger frame, \
             lasts {us} us, and answers may last {} us",
            uplink.duration.0 as f64 / 1e3
        );
        check.fault(format!("{TABLE}.uplink.duration_us"), Said::new(message, "take more"));
    }
}

/// HE MU PPDUs have these HE-LTFs, guard intervals and codes.
fn exists(settings: &Mu, band: Band, mode: &Mode, check: &mut Check) {
    let vector = settings.vector(band, mode, 0);
    // MCS 10 and 11 are not for small resource units.
    let (size, mcs) = (RuSize::Tones26, mode.mcs.min(9));
    let (streams, coding) = (mode.streams, settings.coding);
    let user = GroupUser { size, mcs, streams, coding, psdu: Bytes(1) };
    if let Err(GroupFault::Parameter { fault, .. }) = vector.layout(&[user]) {
        let key = match fault.parameter {
            "ltf" => "wlan.he_ltf".to_owned(),
            key => format!("wlan.{key}"),
        };
        let message = format!("{} (in PPDUs of several users, {TABLE})", fault.said.message);
        check.fault(key, Said { message, ..fault.said });
    }
}
