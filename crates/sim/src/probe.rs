//! Probes read the public state of the world, by path and at equal intervals.

use crate::build;
use crate::control::External;
use crate::measure;
use crate::observe::{self, Observable, Place, Read, Subject, at};
use crate::observers::World;
use crate::plan::Plan;
use crate::scenario::Issue;
use kernel::{Duration, Instant};
use std::collections::BTreeMap;

/// Points kept per probe; beyond this number, every other one is discarded.
const CAPACITY: usize = 1_000_000;

/// A probe's samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The probe's path.
    pub path: String,
    /// When it was read, in seconds of simulated time.
    pub time_s: Vec<f64>,
    /// The value read.
    pub value: Vec<f64>,
}

#[derive(Debug)]
struct Probe {
    path: String,
    read: Read,
    /// The index of the flow, node or link direction that is read.
    index: usize,
    /// The bytes at the last sample, for rates.
    last_bytes: u64,
    series: measure::SampleSeries,
}

/// All probes of a run.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    all: Vec<Probe>,
    interval: Duration,
    next: Instant,
}

impl Probes {
    /// Resolves paths, including wildcards; each path that names nothing is an issue.
    pub(crate) fn new(
        plan: &Plan,
        paths: &[String],
        external: &dyn External,
    ) -> Result<Self, Vec<Issue>> {
        let mut resolved = Self { interval: plan.measure.interval, ..Self::default() };
        resolved.next = Instant::ZERO + resolved.interval;
        let mut issues = Vec::new();
        for path in paths {
            match resolve(plan, path, external) {
                Ok(found) => resolved.all.extend(found),
                Err(message) => issues.push(Issue { path: path.clone(), message }),
            }
        }
        if issues.is_empty() { Ok(resolved) } else { Err(issues) }
    }

    /// When the probes are to be read next; `None` without probes.
    pub(crate) fn next_sample(&self) -> Option<Instant> {
        (!self.all.is_empty()).then_some(self.next)
    }

    /// Reads every probe; returns when they are to be read next.
    pub(crate) fn sample(&mut self, world: &World) -> Instant {
        let now = self.next;
        self.next = now + self.interval;
        for probe in &mut self.all {
            let value = match probe.read {
                Read::Gauge(gauge) => gauge(world, probe.index),
                Read::Count(count) => count(world, probe.index) as f64,
                Read::Rate(bytes) => probe.rate(bytes(world, probe.index), self.interval),
                Read::Controller(name) => control_gauge(world, probe.index, name),
            };
            probe.series.push(now, value);
        }
        self.next
    }

    /// The samples of each probe after an instant.
    pub(crate) fn since(&self, after: Option<Instant>) -> impl Iterator<Item = Series> {
        self.all.iter().map(move |probe| {
            let points = probe.series.points();
            let first = points.partition_point(|&(at, _)| after.is_some_and(|after| at <= after));
            Series {
                path: probe.path.clone(),
                time_s: points[first..].iter().map(|(at, _)| at.as_secs_f64()).collect(),
                value: points[first..].iter().map(|&(_, value)| value).collect(),
            }
        })
    }

    /// The samples, by path.
    pub(crate) fn take_series(&mut self) -> Vec<Series> {
        let series = |probe: Probe| {
            let points = probe.series.points();
            Series {
                path: probe.path,
                time_s: points.iter().map(|(t, _)| t.as_secs_f64()).collect(),
                value: points.iter().map(|&(_, v)| v).collect(),
            }
        };
        std::mem::take(&mut self.all).into_iter().map(series).collect()
    }
}

impl Probe {
    fn new(subject: Subject, name: &str, read: Read) -> Self {
        let path = format!("{}.{name}", subject.path());
        let series = measure::SampleSeries::new(CAPACITY);
        Self { path, read, index: subject.index, last_bytes: 0, series }
    }

    fn rate(&mut self, bytes: u64, interval: Duration) -> f64 {
        let grown = bytes - std::mem::replace(&mut self.last_bytes, bytes);
        grown as f64 * 8e-6 / interval.as_secs_f64()
    }
}

fn control_gauge(world: &World, flow: usize, gauge: &str) -> f64 {
    let Some(tcp) = world.flows[flow].tcp() else { return f64::NAN };
    let mut found = f64::NAN;
    tcp.sender.control().gauges(&mut |name, value| {
        if name == gauge {
            found = value;
        }
    });
    found
}

/// The gauges of a flow's congestion control; none over UDP.
fn control_gauges(plan: &Plan, flow: usize, external: &dyn External) -> Vec<&'static str> {
    let mut names = Vec::new();
    if let Some(tcp) = &plan.flows[flow].tcp {
        let control = build::control(tcp, wire::FlowId(flow as u32), external);
        control.gauges(&mut |name, _| names.push(name));
    }
    names
}

/// The probes that a path names, wildcards included.
fn resolve(plan: &Plan, path: &str, external: &dyn External) -> Result<Vec<Probe>, String> {
    let (place, number, name) = split(path)?;
    let chosen = choose(plan, place, number)?;
    let known = at(place).find(|observable| observable.name == name);
    match known.and_then(|observable| Some((observable, observable.probe()?))) {
        Some((observable, read)) if !matches!(read, Read::Controller(_)) => {
            let has = |subject: &&Subject| observable.is_of(plan, subject.index);
            let probe = |&subject: &Subject| Probe::new(subject, name, read);
            let probes: Vec<_> = chosen.iter().filter(has).map(probe).collect();
            match observable.only.filter(|_| probes.is_empty()) {
                Some(condition) => Err((condition.lacks)(plan, chosen[0].index, name)),
                None => Ok(probes),
            }
        }
        _ => match name.strip_prefix("control.").filter(|_| place == Place::Flow) {
            Some(gauge) => control_probes(plan, &chosen, gauge, external),
            None => Err(unknown(&names(place), place.pattern(), name)),
        },
    }
}

/// The place of a path, the number in its brackets, and the rest of the path.
fn split(path: &str) -> Result<(Place, &str, &str), String> {
    let places = Place::ALL.into_iter().filter(|&place| !names(place).is_empty());
    let mut found = places.clone().filter_map(|place| {
        let (number, name) = place.split(path)?;
        Some((place, number, name))
    });
    // `links[0].reverse.drops` also begins like `links[0].`, which comes first.
    if let Some(found) = found.next_back() {
        return Ok(found);
    }
    let patterns: Vec<_> = places.map(Place::pattern).collect();
    let list = path.split_once('[').map(|(list, _)| format!("{list}[i]"));
    if let Some(list) = list.filter(|list| patterns.contains(&list.as_str())) {
        return Err(format!("expected {list}.name"));
    }
    let (last, others) = patterns.split_last().expect("there are places");
    Err(format!("no such probe; probes begin with {} or {last}", others.join(", ")))
}

/// The names of probes at a place, without those of individual congestion controls.
fn names(place: Place) -> Vec<&'static str> {
    let of_all = |observable: &&Observable| {
        observable.probe().is_some_and(|read| !matches!(read, Read::Controller(_)))
    };
    at(place).filter(of_all).map(|observable| observable.name).collect()
}

/// The subjects at a place, all of them or the one with this number; at least one.
fn choose(plan: &Plan, place: Place, number: &str) -> Result<Vec<Subject>, String> {
    let mut there = observe::subjects(plan);
    there.retain(|subject| subject.place == place);
    if there.is_empty() {
        return Err(place.absent());
    }
    if number == "*" || !place.is_list() {
        return Ok(there);
    }
    let chosen = number.parse().ok().and_then(|number: usize| there.get(number).copied());
    chosen.map(|subject| vec![subject]).ok_or_else(|| {
        let (list, last) = (place.list(), there.len() - 1);
        format!("there are {} {list}: {list}[0] to {list}[{last}]", there.len())
    })
}

/// Probes of a congestion control's gauge, for the flows whose congestion control has it.
fn control_probes(
    plan: &Plan,
    flows: &[Subject],
    gauge: &str,
    external: &dyn External,
) -> Result<Vec<Probe>, String> {
    let mut all = vec!["window_segments"];
    let mut probes = Vec::new();
    for &flow in flows {
        for name in control_gauges(plan, flow.index, external) {
            if name == gauge {
                let read = Read::Controller(name);
                probes.push(Probe::new(flow, &format!("control.{name}"), read));
            }
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    if !probes.is_empty() {
        return Ok(probes);
    }
    if all.contains(&gauge) {
        let flow = flows[0].index;
        return Err(format!("flow {flow} runs over UDP and has no control.{gauge}"));
    }
    Err(unknown(&all, "flows[i].control", gauge))
}

fn unknown(names: &[&str], place: &str, name: &str) -> String {
    let nearest = names
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    let hint = nearest.map(|n| format!("did you mean {place}.{n}? ")).unwrap_or_default();
    format!("no such probe; {hint}there are {}", names.join(", "))
}

/// Probes of a scenario that have the same name.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Their path, with a wildcard for the number.
    pub path: String,
    /// The unit; "1" for none.
    pub unit: String,
    /// Their description, in a sentence.
    pub meaning: String,
    /// Their number.
    pub series: usize,
}

/// All probes that a scenario has.
pub fn probes(plan: &Plan, external: &dyn External) -> Vec<Listed> {
    let subjects = observe::subjects(plan);
    let shown: Vec<_> = (0..plan.flows.len()).map(|i| control_gauges(plan, i, external)).collect();
    let mut all = Vec::new();
    for place in Place::ALL {
        let there: Vec<_> = subjects.iter().filter(|subject| subject.place == place).collect();
        for observable in at(place) {
            let series = match observable.probe() {
                Some(Read::Controller(name)) => shown.iter().filter(|g| g.contains(&name)).count(),
                Some(_) => there.iter().filter(|s| observable.is_of(plan, s.index)).count(),
                None => 0,
            };
            all.push(Listed {
                path: format!("{}.{}", place.pattern().replace("[i]", "[*]"), observable.name),
                unit: observable.unit.to_owned(),
                meaning: observable.says.trim().to_owned(),
                series,
            });
        }
        if place == Place::Flow {
            all.extend(own_gauges(&shown));
        }
    }
    all.retain(|listed| listed.series > 0);
    all
}

/// Gauges that are not in the catalogue: those of user-defined congestion controls.
fn own_gauges(shown: &[Vec<&'static str>]) -> Vec<Listed> {
    let mut own: BTreeMap<String, usize> = BTreeMap::new();
    for name in shown.iter().flatten() {
        *own.entry(format!("control.{name}")).or_default() += 1;
    }
    own.retain(|name, _| at(Place::Flow).all(|observable| observable.name != *name));
    let listed = |(name, series): (String, usize)| Listed {
        unit: match settings::Unit::of(&name).symbol().trim() {
            "" => "1".to_owned(),
            unit => unit.to_owned(),
        },
        path: format!("flows[*].{name}"),
        meaning: "A gauge of the flow's own controller.".to_owned(),
        series,
    };
    own.into_iter().map(listed).collect()
}
