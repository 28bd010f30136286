//! Resolves a scenario to a plan: every semantic rule, every default, every pattern.
//!
//! Each rule reports to a [`Check`] and continues with a valid value, so that one pass finds all
//! faults. A [`Plan`] is returned only if there are none.

mod bandwidth;
mod beacons;
mod cell;
mod channels;
mod check;
mod duplex;
mod ends;
mod file;
mod flows;
mod in_flight;
mod interferers;
mod links;
mod mixed;
mod modes;
mod mu;
mod positions;
mod power_save;
mod puncturing;
mod qos;
mod queues;
mod radio;
mod roaming;
mod routing;
mod spatial_reuse;
mod transport;
mod work;

use super::Issue;
use super::document::Document;
use crate::plan::{FlowPlan, HopPlan, LinkPlan, MeasurePlan, Plan, SpacePlan, StationPlan, hops};
use crate::topology::{Members, Topology};
pub(crate) use check::Aim;
use check::Check;
use ends::Places;
use kernel::Duration;
use settings::{Faults, Node, Path, Setting, Settings, Step, Survey, number, said};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Resolves a document that has its shape.
pub(super) fn resolve(written: &Node, document: &Document, aim: Aim) -> Result<Plan, Vec<Issue>> {
    let (root, mut faults) = (Path::default(), Faults::default());
    Document::check(written, settings::Check::new(&root, &mut faults));
    if !faults.0.is_empty() {
        return Err(all_faults(written));
    }
    plan(document, aim).map_err(|issues| in_order(issues, written))
}

/// All faults of what is written: those of shape and range, and those of meaning that are the same
/// whatever stands in place of the faulty values.
pub(super) fn all_faults(written: &Node) -> Vec<Issue> {
    let survey = Survey::of::<Document>(written);
    let mut common: Option<Vec<Issue>> = None;
    for document in survey.variations::<Document>() {
        let found = plan(&document, Aim::Faults).err().unwrap_or_default();
        let found: BTreeMap<_, _> = found.into_iter().map(|it| (essence(&it), it)).collect();
        common = Some(match common {
            None => found.into_values().collect(),
            Some(mut common) => {
                common.retain_mut(|issue| is_common(issue, &found));
                common
            }
        });
        if common.as_ref().is_some_and(Vec::is_empty) {
            break;
        }
    }
    let of_meaning = common.unwrap_or_default().into_iter();
    let of_meaning = of_meaning.filter(|issue| !survey.covers(&issue.path));
    in_order(survey.issues().chain(of_meaning).collect(), written)
}

/// What distinguishes faults: the place and what is wrong there, whatever the remedy.
fn essence(issue: &Issue) -> [String; 2] {
    [issue.path.clone(), issue.said.message.clone()]
}

/// Whether a fault is among these, too. A remedy remains if it is the same.
fn is_common(issue: &mut Issue, found: &BTreeMap<[String; 2], Issue>) -> bool {
    let Some(other) = found.get(&essence(issue)) else { return false };
    if other.said != issue.said {
        issue.said = issue.said.message.clone().into();
    }
    true
}

/// Faults in the order of the text, and of the tables in the reference, each once.
fn in_order(issues: Vec<Issue>, written: &Node) -> Vec<Issue> {
    let place = |issue: &Issue| {
        let Ok(Path(steps)) = Path::parse(&issue.path) else { return (0, 0) };
        let key = |step: &Step| match step {
            Step::Key(name) => Document::keys().iter().position(|key| key == name),
            _ => None,
        };
        let index = |step: &Step| match step {
            Step::Index(index) => Some(*index),
            _ => None,
        };
        let table = steps.first().and_then(key).unwrap_or_default();
        (table, steps.get(1).and_then(index).unwrap_or_default())
    };
    let mut issues: Vec<_> = issues.into_iter().map(|issue| issue.located(written)).collect();
    issues.sort_by_key(|issue| (issue.place.line, issue.place.column, place(issue)));
    let mut told = BTreeSet::new();
    issues.retain(|issue| told.insert(issue.to_string()));
    issues
}

/// The plan of a document whose numbers are each in their range. In a run, all flows have paths.
fn plan(document: &Document, aim: Aim) -> Result<Plan, Vec<Issue>> {
    let (mut check, mut related) = (Check::new(aim), Faults::default());
    document.relate(&Path::default(), &mut related);
    related.0.into_iter().for_each(|issue| check.add(issue));
    let duration_s = document.duration_s;
    let warmup_s = warmup(document, duration_s, &mut check);
    let mut wlan = cell::wlan(document, &mut check);
    let mut stations = cell::stations(document, &wlan, duration_s, &mut check);
    wlan.non_erp = mixed::non_erp(document, &wlan, &stations);
    wlan.earlier = mixed::earlier_nodes(&wlan, &stations);
    mixed::refuse_in_ad_hoc(document, &wlan, &mut check);
    let mut ap = cell::ap(document, &stations, &mut check);
    let mut routing = routing::routing(document, &mut check);
    routing::limit_queues(routing.as_ref(), &mut stations, &mut ap.queue);
    duplex::full_duplex(document, &mut wlan, &stations, &mut check);
    bandwidth::bandwidth(document, &mut wlan, &mut check);
    beacons::beacons(document, &wlan, &mut check);
    let space = radio::space(document, &wlan, &ap, &stations, duration_s, &mut check);
    channels::exist(document, &wlan, &stations, space.as_ref(), &mut check);
    power_save::power_save(document, &wlan, &stations, space.as_ref(), &mut check);
    roaming::roaming(document, &wlan, &stations, space.as_ref(), &mut check);
    spatial_reuse::spatial_reuse(document, &wlan, &stations, &mut check);
    mu::mu(document, &mut wlan, &stations, space.as_ref(), &mut check);
    let interferers = interferers::interferers(document, space.as_ref(), duration_s, &mut check);
    let ad_hoc = space.as_ref().is_some_and(|space| space.ad_hoc);
    let cell = links::Cell { stations: &stations, ad_hoc };
    let (hosts, links) = links::links(document, cell, &mut check);
    let topology = topology(&stations, space.as_ref(), hosts, &links);
    let has_cell = document.has_cell();
    let groups = ends::groups(document, &topology, &mut check);
    let places = Places {
        has_cell,
        groups: &groups,
        stations: stations.len(),
        topology: &topology,
        links: &links,
        has_all_links: links.len() == document.links.len() + usize::from(document.wire.is_some()),
    };
    let flows = flows::flows(document, places, duration_s, &mut check);
    routing::list_routes(routing.as_mut(), places, &mut check);
    radio::flows(space.as_ref(), routing.as_ref(), &flows, &mut check);
    let mut measure = measure(document, duration_s, warmup_s, &mut check);
    measure.hops = measured_hops(document, &topology, &flows, &mut check);
    let mut plan = Plan {
        title: document.title.clone(),
        duration: Duration::from_secs_f64(duration_s),
        warmup: Duration::from_secs_f64(warmup_s),
        wlan,
        stations,
        ap,
        space,
        routing,
        interferers,
        topology: Arc::new(topology),
        links,
        flows,
        measure,
    };
    queues::pace_flows(&mut plan);
    queues::refuse_in_ad_hoc(document, &mut check);
    queues::queues_hold_a_packet(document, &plan, &mut check);
    work::is_bounded(&plan, &mut check);
    in_flight::is_bounded(&plan, &mut check);
    if aim != Aim::Show {
        routing::flows_have_paths(&plan, &mut check);
    }
    check.finish(plan)
}

/// The table of all nodes.
fn topology(
    stations: &[StationPlan],
    space: Option<&SpacePlan>,
    hosts: Vec<String>,
    links: &[LinkPlan],
) -> Topology {
    let cell = |number: usize| space.and_then(|space| Some(space.stations.get(number)?.cell));
    let station = |(number, plan): (usize, &StationPlan)| {
        (plan.name.clone(), cell(number).unwrap_or_default())
    };
    Topology::new(&Members {
        stations: stations.iter().enumerate().map(station).collect(),
        further_cells: space.map_or(0, |space| space.cells.len() as u32 - 1),
        ad_hoc: space.is_some_and(|space| space.ad_hoc),
        hosts,
        links: links.iter().map(|link| link.ends).collect(),
    })
}

fn warmup(document: &Document, duration_s: f64, check: &mut Check) -> f64 {
    let Some(warmup_s) = document.warmup_s else { return duration_s / 10.0 };
    if warmup_s >= duration_s {
        let (warmup, duration) = (number(warmup_s), number(duration_s));
        check.fault(
            "warmup_s",
            said!("{warmup} leaves nothing of a run of {duration} s", "it is below duration_s"),
        );
    }
    warmup_s
}

fn measure(document: &Document, duration_s: f64, warmup_s: f64, check: &mut Check) -> MeasurePlan {
    const MOST_SAMPLES: f64 = 1e6;
    let batches = document.measure.batches;
    let batch_s = (duration_s - warmup_s) / batches as f64;
    if warmup_s < duration_s && batch_s < 1e-6 {
        let batch = number(batch_s);
        let message =
            format!("{batches} batches of {batch} s each are shorter than 1 us: take fewer");
        check.fault("measure.batches", message);
    }
    let path = "measure.interval_s";
    let interval_s = match document.measure.interval_s {
        None => duration_s / 1000.0,
        Some(interval_s) => interval_s,
    };
    let samples = duration_s / interval_s;
    if samples > MOST_SAMPLES {
        let (interval, samples) = (number(interval_s), number(samples.round()));
        let least = number(duration_s / MOST_SAMPLES);
        check.fault(
            path,
            said!(
                "{interval} gives {samples} samples a probe, and at most 1000000 are kept",
                "take at least {least}"
            ),
        );
    }
    MeasurePlan {
        batches: batches as u32,
        // In a run of a few microseconds samples are a nanosecond apart, and not zero.
        interval: Duration(Duration::from_secs_f64(interval_s).0.max(1)),
        hops: Vec::new(),
    }
}

/// The hops at which the delay of flows is measured.
fn measured_hops(
    document: &Document,
    topology: &Topology,
    flows: &[FlowPlan],
    check: &mut Check,
) -> Vec<HopPlan> {
    if !document.measure.hops {
        return Vec::new();
    }
    if document.routing.is_some() {
        let message = "true needs routes that do not change, and [routing] changes them";
        check.fault("measure.hops", message);
        return Vec::new();
    }
    hops(topology, flows.iter().map(|flow| ([flow.from, flow.to], flow.tcp.is_some())))
}
