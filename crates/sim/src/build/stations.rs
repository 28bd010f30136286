//! Builds the functions between the queues of radios and their MACs.

use super::links::LateLinks;
use crate::medium::Medium;
use crate::plan::{Plan, SpacePlan};
use crate::topology::RadioId;
use kernel::{Duration, Seed};
use wifi::power_save::{Fetch, PowerSaveSettings};
use wifi::roaming::Client;
use wifi::station::beacon::Beacons;
use wifi::station::power_save::{Member, Savers};
use wifi::station::roaming::Clients;
use wifi::station::{Site, Stations};
use wire::Rates;

/// The functions of a plan: none without beacons, which all others need. Stations that roam have
/// links to all access points, of which only that to their own is open.
pub(crate) fn stations(plan: &Plan, medium: &mut Medium, seed: &Seed) -> Stations {
    let Some(settings) = plan.wlan.beacons else { return Stations::none() };
    let topology = &plan.topology;
    let radios = topology.radios();
    let rates = match medium {
        Medium::Space(space) if space.management_mode().class.is_dsss() => Rates::Dsss,
        _ => Rates::Ofdm,
    };
    let site = Site {
        nodes: radios.iter().map(|radio| radio.node).collect(),
        rates,
        has_categories: medium.has_categories(),
    };
    let access_points: Vec<u32> = topology.access_points().iter().map(|radio| radio.0).collect();
    let roaming = plan.space.as_ref().and_then(|space| clients(plan, space));
    let savers = if roaming.is_some() {
        link_all(plan, medium, seed);
        Some(Savers::of_scanning(radios.len(), &access_points, &scanning(plan)))
    } else {
        Savers::new(radios.len(), &saving(plan, settings.between(), settings.dtim_period))
    };
    let beacons = Beacons::new(settings, access_points.into_iter());
    Stations::new(site, beacons, roaming, savers)
}

/// The numbers of the stations that roam.
fn roaming(plan: &Plan) -> impl Iterator<Item = usize> {
    (0..plan.stations.len()).filter(|&number| plan.stations[number].roaming.is_some())
}

/// The stations that roam, each with all access points and their channels.
fn clients(plan: &Plan, space: &SpacePlan) -> Option<Clients> {
    let topology = &plan.topology;
    let channel = |cell: &RadioId| space.cells[topology.radio(*cell).cell as usize].channel;
    let access_points = topology.access_points().iter();
    let access_points: Vec<(u32, u16)> =
        access_points.map(|radio| (radio.0, channel(radio))).collect();
    let client = |number: usize| {
        let radio = topology.station(number);
        let own = topology.access_point_of(radio).0;
        let rules = plan.stations[number].roaming?;
        Some((radio.0, Client::new(rules, own, access_points.clone())))
    };
    Clients::new(topology.radios().len(), roaming(plan).filter_map(client))
}

/// Adds the links of stations that roam to access points that are not theirs, which are closed.
fn link_all(plan: &Plan, medium: &mut Medium, seed: &Seed) {
    let (Medium::Space(space), Some(settings)) = (medium, &plan.space) else { return };
    let links = LateLinks::new(plan, &settings.radio.error_model, seed);
    space.allow_links();
    for number in roaming(plan) {
        let station = plan.topology.station(number);
        let own = plan.topology.access_point_of(station);
        for &other in plan.topology.access_points().iter().filter(|&&it| it != own) {
            links.add(space, station.0, other.0);
            space.open_link([station.0, other.0], false);
        }
    }
    space.form_groups(seed);
}

/// The stations for which access points buffer packets while they scan other channels.
fn scanning(plan: &Plan) -> Vec<Member> {
    let interval = plan.wlan.beacons.map_or(Duration::ZERO, |beacons| beacons.between());
    let member = |number| {
        let radio = plan.topology.station(number);
        let access_point = plan.topology.access_point_of(radio).0;
        let rules = PowerSaveSettings::default().get().rules();
        Member { radio: radio.0, access_point, rules, interval }
    };
    roaming(plan).map(member).collect()
}

/// The stations that save power. Between two beacons of their access points is this time, and each
/// `dtim_period`-th is a DTIM.
fn saving(plan: &Plan, between: Duration, dtim_period: u32) -> Vec<Member> {
    let member = |number: usize| {
        let rules = plan.stations[number].power_save.as_ref()?.get().rules();
        let radio = plan.topology.station(number);
        let access_point = plan.topology.access_point_of(radio).0;
        let beacons = rules.listening.listen_interval.unwrap_or(dtim_period);
        let interval = match rules.fetch {
            Fetch::Scheduled(periods) => periods.interval,
            _ => between * u64::from(beacons),
        };
        Some(Member { radio: radio.0, access_point, rules, interval })
    };
    (0..plan.stations.len()).filter_map(member).collect()
}
