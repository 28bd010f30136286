//! Probes read the public state of the world, by path and at equal intervals. Some have a value of
//! each event instead.

use crate::build;
use crate::control::External;
use crate::measure;
use crate::observe::{self, Kind, Observable, Place, Read, Subject, at};
use crate::observers::World;
use crate::plan::Plan;
use crate::scenario::Issue;
use kernel::{Duration, Id, Instant};
use settings::{Said, said};
use std::collections::BTreeMap;
use wire::FlowId;

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
            match named(plan, path, external, Observable::probe, Read::Controller) {
                Ok(found) => resolved.all.extend(found.into_iter().map(Probe::new)),
                Err(message) => issues.push(Issue::new(path, message)),
            }
        }
        if issues.is_empty() { Ok(resolved) } else { Err(issues) }
    }

    /// When the probes are to be read next; `None` without probes.
    pub(crate) fn next_sample(&self) -> Option<Instant> {
        (!self.all.is_empty()).then_some(self.next)
    }

    /// The run begins to keep what events are asked for.
    pub(crate) fn keep(&self, world: &mut World) {
        for probe in &self.all {
            if let Read::Each(each) = probe.read {
                (each.keep)(world, probe.index);
            }
        }
    }

    /// Reads every probe; returns when they are to be read next.
    pub(crate) fn sample(&mut self, world: &World) -> Instant {
        let now = self.next;
        self.next = now + self.interval;
        for probe in &mut self.all {
            let value = match probe.read {
                Read::Gauge(gauge) => gauge(world, probe.index),
                Read::Count(counter) => counter.read(world, probe.index) as f64,
                Read::Rate(bytes) => probe.rate(bytes(world, probe.index), self.interval),
                Read::Controller(name) => control_gauge(world, probe.index, name),
                Read::Each(_) => continue,
            };
            probe.series.push(now, value);
        }
        self.next
    }

    /// The samples of each probe after an instant.
    pub(crate) fn since(
        &self,
        world: &World,
        after: Option<Instant>,
    ) -> impl Iterator<Item = Series> {
        self.all.iter().map(move |probe| {
            let points = probe.points(world);
            let first = points.partition_point(|&(at, _)| after.is_some_and(|after| at <= after));
            Series {
                path: probe.path.clone(),
                time_s: points[first..].iter().map(|(at, _)| at.as_secs_f64()).collect(),
                value: points[first..].iter().map(|&(_, value)| value).collect(),
            }
        })
    }

    /// The samples, by path.
    pub(crate) fn take_series(&mut self, world: &World) -> Vec<Series> {
        let series = |probe: Probe| {
            let points = probe.points(world);
            let time_s = points.iter().map(|(t, _)| t.as_secs_f64()).collect();
            let value = points.iter().map(|&(_, v)| v).collect();
            Series { path: probe.path, time_s, value }
        };
        std::mem::take(&mut self.all).into_iter().map(series).collect()
    }
}

impl Probe {
    fn new(named: Named<Read>) -> Self {
        let Named { path, index, read } = named;
        let series = measure::SampleSeries::new(measure::SampleSeries::MOST);
        Self { path, read, index, last_bytes: 0, series }
    }

    /// Its own samples, or the values of events.
    fn points<'a>(&'a self, world: &'a World) -> &'a [(Instant, f64)] {
        match self.read {
            Read::Each(each) => {
                (each.kept)(world, self.index).map_or(&[], measure::SampleSeries::points)
            }
            _ => self.series.points(),
        }
    }

    fn rate(&mut self, bytes: u64, interval: Duration) -> f64 {
        let grown = bytes - std::mem::replace(&mut self.last_bytes, bytes);
        grown as f64 * 8e-6 / interval.as_secs_f64()
    }
}

pub(crate) fn control_gauge(world: &World, flow: usize, gauge: &str) -> f64 {
    let Some(tcp) = world.flows[FlowId::at(flow)].tcp() else { return f64::NAN };
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
        let control = build::control(tcp, FlowId(flow as u32), external);
        control.gauges(&mut |name, _| names.push(name));
    }
    names
}

/// An observable of one subject, and how it is read.
#[derive(Clone, Debug)]
pub(crate) struct Named<R> {
    pub(crate) path: String,
    /// The index of the flow, node or link direction that is read.
    pub(crate) index: usize,
    pub(crate) read: R,
}

impl<R> Named<R> {
    fn new(subject: Subject, name: &str, read: R) -> Self {
        Self { path: format!("{}.{name}", subject.path()), index: subject.index, read }
    }
}

/// What a path names, wildcards included, as far as `read` reads it. `gauge` reads a gauge of a
/// congestion control.
pub(crate) fn named<R: Copy>(
    plan: &Plan,
    path: &str,
    external: &dyn External,
    read: fn(&Observable) -> Option<R>,
    gauge: fn(&'static str) -> R,
) -> Result<Vec<Named<R>>, Said> {
    let (place, number, name) = split(path, read)?;
    let chosen = choose(plan, place, number)?;
    let known = of_all(place, read).find(|(observable, _)| observable.name == name);
    if let Some((observable, read)) = known {
        let has = |subject: &&Subject| observable.is_of(plan, subject.index);
        let named = |&subject: &Subject| Named::new(subject, name, read);
        let all: Vec<_> = chosen.iter().filter(has).map(named).collect();
        return match observable.only.filter(|_| all.is_empty()) {
            Some(condition) => Err((condition.lacks)(plan, chosen[0].index, name).into()),
            None => Ok(all),
        };
    }
    match name.strip_prefix("control.").filter(|_| place == Place::Flow) {
        Some(own) => of_controls(plan, &chosen, own, external, gauge),
        None => Err(unknown(&names(place, read), place.pattern(), name)),
    }
}

/// The place of a path, the number in its brackets, and the rest of the path.
fn split<R>(path: &str, read: fn(&Observable) -> Option<R>) -> Result<(Place, &str, &str), Said> {
    let places = Place::ALL.into_iter().filter(|&place| !names(place, read).is_empty());
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
        return Err(said!("expected {list}.name"));
    }
    let (last, others) = patterns.split_last().expect("there are places");
    Err(Said::new("no such probe", format!("probes begin with {} or {last}", others.join(", "))))
}

/// What can be read at a place, without the gauges of individual congestion controls.
fn of_all<R>(
    place: Place,
    read: fn(&Observable) -> Option<R>,
) -> impl Iterator<Item = (&'static Observable, R)> {
    at(place)
        .filter(|observable| !matches!(observable.kind, Kind::Controller(_)))
        .filter_map(move |observable| Some((observable, read(observable)?)))
}

/// Its names.
fn names<R>(place: Place, read: fn(&Observable) -> Option<R>) -> Vec<&'static str> {
    of_all(place, read).map(|(observable, _)| observable.name).collect()
}

/// The subjects at a place, all of them or the one with this number; at least one.
fn choose(plan: &Plan, place: Place, number: &str) -> Result<Vec<Subject>, Said> {
    let mut there = observe::subjects(plan);
    there.retain(|subject| subject.place == place);
    if there.is_empty() {
        return Err(place.absent().into());
    }
    if number == "*" || !place.is_list() {
        return Ok(there);
    }
    let chosen = number.parse().ok().and_then(|number: usize| there.get(number).copied());
    chosen.map(|subject| vec![subject]).ok_or_else(|| {
        let (list, last) = (place.list(), there.len() - 1);
        format!("there are {} {list}: {list}[0] to {list}[{last}]", there.len()).into()
    })
}

/// A congestion control's gauge, of the flows whose congestion control has it.
fn of_controls<R>(
    plan: &Plan,
    flows: &[Subject],
    gauge: &str,
    external: &dyn External,
    read: fn(&'static str) -> R,
) -> Result<Vec<Named<R>>, Said> {
    let mut all = vec!["window_segments"];
    let mut found = Vec::new();
    for &flow in flows {
        for name in control_gauges(plan, flow.index, external) {
            if name == gauge {
                found.push(Named::new(flow, &format!("control.{name}"), read(name)));
            }
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    if all.contains(&gauge) {
        let flow = flows[0].index;
        return Err(said!("flow {flow} runs over UDP and has no control.{gauge}"));
    }
    Err(unknown(&all, "flows[i].control", gauge))
}

fn unknown(names: &[&str], place: &str, name: &str) -> Said {
    let nearest = names
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    let hint = nearest.map(|n| format!("did you mean {place}.{n}? ")).unwrap_or_default();
    Said::new("no such probe", format!("{hint}there are {}", names.join(", ")))
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
                meaning: observable.meaning(),
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
