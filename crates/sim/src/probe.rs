//! Probes pull: the world's public state, read by path at equal intervals.

use crate::build;
use crate::control::External;
use crate::flow::Transport;
use crate::measure;
use crate::plan::{LinkPlan, Plan};
use crate::scenario::Issue;
use crate::simulation::Series;
use crate::world::World;
use kernel::{Duration, Instant};
use wifi::ACCESS_POINT;
use wire::NodeId;

/// What a probe reads of a flow.
const FLOW: [&str; 10] = [
    "goodput_mbps",
    "delivered_bytes",
    "in_flight_bytes",
    "retransmissions",
    "rto_s",
    "srtt_s",
    "control.window_segments",
    "control.ssthresh_segments",
    "fec.loss_estimate",
    "fec.unit_bytes",
];

/// What a probe reads of a node of the cell.
const NODE: [&str; 5] =
    ["queue_packets", "queue_bytes", "contention_window", "attempts", "collisions"];

/// What a probe reads of a station beside: the modes in use, of its own and of the access point.
const STATION: [&str; 4] = ["mcs", "ap_mcs", "rate_mbps", "ap_rate_mbps"];

/// What a probe reads of a wired link.
const WIRE: [&str; 5] = ["queue_packets", "queue_bytes", "in_flight_packets", "drops", "ecn_marks"];

/// Points kept per probe; beyond, every other one is forgotten.
const CAPACITY: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Flow(usize),
    /// A gauge of the flow's controller.
    Control(usize),
    Node(usize),
    /// The modes of a station's link.
    Modes(u32),
    Wire(usize),
    TotalGoodput,
    ContendingStations,
}

#[derive(Debug)]
struct Probe {
    path: String,
    target: Target,
    gauge: &'static str,
    /// Cumulative bytes at the last sample, for rates.
    last_bytes: u64,
    series: measure::Series,
}

/// All probes of a run.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    all: Vec<Probe>,
    interval: Duration,
    next: Instant,
}

impl Probes {
    /// Resolves paths, wildcards included; each that names nothing is an issue.
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

    /// Reads every probe.
    pub(crate) fn sample(&mut self, world: &World) {
        let now = self.next;
        self.next = now + self.interval;
        for probe in &mut self.all {
            let value = match probe.target {
                Target::Flow(i) if probe.gauge == "goodput_mbps" => {
                    probe.rate(world.meter.flows[i].bytes, self.interval)
                }
                Target::TotalGoodput => {
                    let bytes = world.meter.flows.iter().map(|flow| flow.bytes).sum();
                    probe.rate(bytes, self.interval)
                }
                Target::Flow(i) => flow_gauge(world, i, probe.gauge),
                Target::Control(i) => control_gauge(world, i, probe.gauge),
                Target::Modes(n) => mode_gauge(world, n, probe.gauge),
                Target::Node(n) => node_gauge(world, n, probe.gauge),
                Target::Wire(w) => wire_gauge(world, w, probe.gauge),
                Target::ContendingStations => f64::from(world.cell.contending_stations()),
            };
            probe.series.push(now, value);
        }
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
    fn rate(&mut self, bytes: u64, interval: Duration) -> f64 {
        let grown = bytes - std::mem::replace(&mut self.last_bytes, bytes);
        grown as f64 * 8e-6 / interval.as_secs_f64()
    }
}

fn flow_gauge(world: &World, flow: usize, gauge: &str) -> f64 {
    if gauge == "delivered_bytes" {
        return world.meter.flows[flow].bytes as f64;
    }
    let Transport::Tcp(tcp) = &world.flows[flow].transport else { return f64::NAN };
    let sender = &tcp.sender;
    match gauge {
        "fec.loss_estimate" => sender.loss_estimate(),
        "fec.unit_bytes" => sender.unit_bytes() as f64,
        "in_flight_bytes" => sender.in_flight_bytes() as f64,
        "retransmissions" => tcp.counters().retransmissions as f64,
        "rto_s" => sender.rto().as_secs_f64(),
        "srtt_s" => sender.srtt().map_or(f64::NAN, Duration::as_secs_f64),
        "control.ssthresh_segments" => sender.ssthresh_segments().unwrap_or(f64::INFINITY),
        _ => sender.window_segments(),
    }
}

fn control_gauge(world: &World, flow: usize, gauge: &str) -> f64 {
    let Transport::Tcp(tcp) = &world.flows[flow].transport else { return f64::NAN };
    let mut found = f64::NAN;
    tcp.sender.control().gauges(&mut |name, value| {
        if name == gauge {
            found = value;
        }
    });
    found
}

/// What the controller of a flow shows; nothing where it runs over UDP.
fn control_gauges(plan: &Plan, flow: usize, external: &dyn External) -> Vec<&'static str> {
    let mut names = Vec::new();
    if let Some(tcp) = &plan.flows[flow].tcp {
        let control = build::control(tcp, &build::tcp_config(tcp), flow as u32, external);
        control.gauges(&mut |name, _| names.push(name));
    }
    names
}

fn node_gauge(world: &World, node: usize, gauge: &str) -> f64 {
    let queue = &world.queues[node];
    match gauge {
        "queue_packets" => queue.len() as f64,
        "queue_bytes" => queue.backlog().0 as f64,
        "contention_window" => f64::from(world.cell.window(node as u32)),
        "attempts" => world.cell.counters(node as u32).attempts as f64,
        _ => world.cell.counters(node as u32).collisions as f64,
    }
}

fn mode_gauge(world: &World, node: u32, gauge: &str) -> f64 {
    let (from, to) = match gauge.strip_prefix("ap_") {
        Some(_) => (ACCESS_POINT, node),
        None => (node, ACCESS_POINT),
    };
    let Some(mode) = world.mode(NodeId(from), NodeId(to)) else { return f64::NAN };
    if gauge.ends_with("mcs") { f64::from(mode.mcs) } else { mode.rate.as_mbps() }
}

fn wire_gauge(world: &World, wire: usize, gauge: &str) -> f64 {
    let link = world.wires[wire].link();
    match gauge {
        "queue_packets" => link.queue().len() as f64,
        "queue_bytes" => link.queue().backlog().0 as f64,
        "in_flight_packets" => link.in_flight() as f64,
        "drops" => link.counters().dropped as f64,
        _ => link.counters().marked as f64,
    }
}

fn resolve(plan: &Plan, path: &str, external: &dyn External) -> Result<Vec<Probe>, String> {
    let probe = |path: String, target, gauge| Probe {
        path,
        target,
        gauge,
        last_bytes: 0,
        series: measure::Series::new(CAPACITY),
    };
    let one = |target, gauge| Ok(vec![probe(path.to_owned(), target, gauge)]);
    if path == "total.goodput_mbps" {
        return one(Target::TotalGoodput, "goodput_mbps");
    }
    if plan.stations.is_empty() && (path == "contending.stations" || path.starts_with("ap.")) {
        return Err("there is no cell: the scenario has links alone".to_owned());
    }
    if path == "contending.stations" {
        return one(Target::ContendingStations, "stations");
    }
    if let Some(name) = path.strip_prefix("ap.") {
        return one(Target::Node(0), find(&NODE, "ap.", name)?);
    }
    if let Some(found) = link_probes(plan, path, probe)? {
        return Ok(found);
    }
    if let Some((indices, name)) = indexed(path, "flows", plan.flows.len())? {
        let of_control = name.strip_prefix("control.").filter(|_| !FLOW.contains(&name));
        if let Some(gauge) = of_control {
            return control_probes(plan, &indices, gauge, external, probe);
        }
        let gauge = find(&FLOW, "flows[i].", name)?;
        let datagrams = |&i: &usize| plan.flows[i].tcp.is_none();
        let of_tcp = !matches!(gauge, "goodput_mbps" | "delivered_bytes");
        if of_tcp && indices.iter().all(datagrams) {
            return Err(format!("flow {} runs over UDP and has no {gauge}", indices[0]));
        }
        let indices = indices.into_iter().filter(|i| !of_tcp || !datagrams(i));
        let make = |i: usize| probe(format!("flows[{i}].{gauge}"), Target::Flow(i), gauge);
        return Ok(indices.map(make).collect());
    }
    if let Some((indices, name)) = indexed(path, "stations", plan.stations.len())? {
        if name.ends_with("mcs") && !plan.wlan.standard.has_mcs() {
            return Err(format!("802.{} has no MCS", plan.wlan.standard.name()));
        }
        let all = [&NODE[..], &STATION].concat();
        let gauge = find(&all, "stations[i].", name)?;
        let make = |i: usize| {
            let of_link = STATION.contains(&gauge);
            let target = if of_link { Target::Modes(i as u32 + 1) } else { Target::Node(i + 1) };
            probe(format!("stations[{i}].{gauge}"), target, gauge)
        };
        return Ok(indices.into_iter().map(make).collect());
    }
    Err("no probe is called so; probes begin with flows[i], stations[i], links[i], ap, wire.down, \
         wire.up, total.goodput_mbps or contending.stations"
        .to_owned())
}

/// The links of `[[links]]`, without that of `[wire]`.
fn listed(plan: &Plan) -> &[LinkPlan] {
    match &plan.network.links[..] {
        [first, links @ ..] if first.number.is_none() => links,
        links => links,
    }
}

/// Probes of links, that of `[wire]` or listed ones; `None` if the path is of something else.
fn link_probes(
    plan: &Plan,
    path: &str,
    probe: impl Fn(String, Target, &'static str) -> Probe,
) -> Result<Option<Vec<Probe>>, String> {
    for (w, prefix) in ["wire.down.", "wire.up."].into_iter().enumerate() {
        if let Some(name) = path.strip_prefix(prefix) {
            if plan.network.links.first().is_none_or(|link| link.number.is_some()) {
                return Err("there is no wire: the server sits at the access point".to_owned());
            }
            let gauge = find(&WIRE, prefix, name)?;
            return Ok(Some(vec![probe(path.to_owned(), Target::Wire(w), gauge)]));
        }
    }
    let listed = listed(plan).len();
    let Some((indices, name)) = indexed(path, "links", listed)? else { return Ok(None) };
    let (way, direction, name) = match name.strip_prefix("reverse.") {
        Some(name) => ("reverse.", 1, name),
        None => ("", 0, name),
    };
    let gauge = find(&WIRE, &format!("links[i].{way}"), name)?;
    let first = plan.network.links.len() - listed;
    let make = |i: usize| {
        let target = Target::Wire(2 * (first + i) + direction);
        probe(format!("links[{i}].{way}{gauge}"), target, gauge)
    };
    Ok(Some(indices.into_iter().map(make).collect()))
}

/// Probes of a controller's gauge, at those flows whose controllers have it.
fn control_probes(
    plan: &Plan,
    indices: &[usize],
    gauge: &str,
    external: &dyn External,
    probe: impl Fn(String, Target, &'static str) -> Probe,
) -> Result<Vec<Probe>, String> {
    let mut all = vec!["window_segments"];
    let mut probes = Vec::new();
    for &i in indices {
        for name in control_gauges(plan, i, external) {
            if name == gauge {
                probes.push(probe(format!("flows[{i}].control.{name}"), Target::Control(i), name));
            }
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    if probes.is_empty() {
        find(&all, "flows[i].control.", gauge)?;
        return Err(format!("flow {} runs over UDP and has no control.{gauge}", indices[0]));
    }
    Ok(probes)
}

fn find(names: &[&'static str], prefix: &str, name: &str) -> Result<&'static str, String> {
    names.iter().find(|&&known| known == name).copied().ok_or_else(|| {
        let nearest = names
            .iter()
            .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
        let hint = nearest.map(|n| format!("did you mean {prefix}{n}? ")).unwrap_or_default();
        format!("no such probe; {hint}there are {}", names.join(", "))
    })
}

/// Splits `list[3].name` or `list[*].name`; `None` if the path does not begin with `list[`.
fn indexed<'a>(
    path: &'a str,
    list: &str,
    length: usize,
) -> Result<Option<(Vec<usize>, &'a str)>, String> {
    let Some(rest) = path.strip_prefix(list).and_then(|rest| rest.strip_prefix('[')) else {
        return Ok(None);
    };
    let Some((index, name)) = rest.split_once("].") else {
        return Err(format!("expected {list}[i].name"));
    };
    if index == "*" {
        return Ok(Some(((0..length).collect(), name)));
    }
    match index.parse::<usize>() {
        _ if length == 0 => Err(format!("there are no {list}")),
        Ok(i) if i < length => Ok(Some((vec![i], name))),
        _ => Err(format!("there are {length} {list}: {list}[0] to {list}[{}]", length - 1)),
    }
}
