//! Flows: patterns are expanded to pairs of ends, and each pair to its flows.

use super::check::{Check, number};
use super::ends::{self, Ends, Places};
use super::transport;
use crate::plan::{Endpoint, FlowPlan};
use crate::scenario::document::Document;
use crate::scenario::flow::{Flow, MOST_FLOWS};
use crate::topology::{Interface, Topology};
use crate::traffic::{Traffic, Transport};
use kernel::Duration;
use settings::{Choice, Said, said};
use std::sync::Arc;
use wire::TrafficClass;

/// All flows of a scenario; those of a faulty table are left out.
pub(super) fn flows(
    document: &Document,
    places: Places<'_>,
    duration_s: f64,
    check: &mut Check,
) -> Vec<FlowPlan> {
    if document.flows.is_empty() && check.needs_flows {
        check.fault(
            "flows",
            said!(
                "there are none, so nothing would be sent",
                "add [[flows]] with from = \"server\" and to = \"sta*\""
            ),
        );
    }
    if !document.flows.is_empty() && document.flows.iter().all(|flow| flow.count == 0) {
        let message = "0, and no other flows are switched on, so that nothing would be sent";
        check.fault("flows[0].count", message);
    }
    let mut flows = Vec::new();
    let mut total = 0;
    for (group, flow) in document.flows.iter().enumerate() {
        let path = format!("flows[{group}]");
        let flow = &classified(&path, with_file(&path, flow, check), check);
        let example = example(group, &path, flow, document, duration_s, check);
        let Some((from, to)) = pairs(&path, flow, document, places, check) else { continue };
        let pairs = from.count() * to.count() - from.shared_with(&to);
        let per_pair = flow.count;
        let before = total;
        total += pairs * per_pair;
        if before <= MOST_FLOWS && total > MOST_FLOWS {
            let message = said!(
                "{pairs} pairs of ends with {per_pair} each make {total} flows in all",
                "at most {MOST_FLOWS}"
            );
            check.fault(format!("{path}.count"), message);
        }
        if total <= MOST_FLOWS {
            expand(flow, &example, &from, &to, per_pair, places.topology, &mut flows);
        }
    }
    flows
}

/// A table with the content of the file that it names.
fn with_file(path: &str, flow: &Flow, check: &mut Check) -> Flow {
    let mut flow = flow.clone();
    if !check.opens_files {
        return flow;
    }
    let read = match &mut flow.traffic {
        Traffic::Csv(csv) => {
            let file = csv.file.clone();
            let read = super::file::text(&file);
            read.and_then(|text| csv.read(&text).map_err(|fault| said!("{file}: {fault}")))
        }
        Traffic::Port(port) if !port.file.is_empty() => {
            let file = port.file.clone();
            let read = super::file::tape(&file);
            read.and_then(|bytes| port.read(&bytes).map_err(|fault| said!("{file} {fault}")))
        }
        _ => Ok(()),
    };
    if let Err(message) = read {
        check.fault(format!("{path}.traffic.{}.file", flow.traffic.name()), message);
    }
    flow
}

/// A table with the access category that its DSCP maps to.
fn classified(path: &str, flow: Flow, check: &mut Check) -> Flow {
    let Some(dscp) = flow.dscp else { return flow };
    let class = dscp.class();
    if flow.class != TrafficClass::default() && flow.class != class {
        let (own, follows) = (flow.class.name(), class.name());
        let message = said!(
            "is \"{own}\", but the DSCP maps to \"{follows}\" [RFC 8325 section 4]",
            "give one of the two keys"
        );
        check.fault(format!("{path}.class"), message);
    }
    Flow { class, ..flow }
}

/// A flow of a table, except its name and ends.
fn example(
    group: usize,
    path: &str,
    flow: &Flow,
    document: &Document,
    duration_s: f64,
    check: &mut Check,
) -> FlowPlan {
    transport::datagrams(path, flow, document, check);
    // Keys of TCP have no effect on datagrams, so that `flows[*].tcp.…` can set them for all flows.
    let over_tcp = flow.traffic.get().transport() == Transport::Tcp;
    let tcp = over_tcp.then(|| transport::tcp(path, flow, document, check));
    let start_spread = start_spread(path, flow, duration_s, check);
    FlowPlan {
        name: String::new(),
        group,
        from: Endpoint::Server,
        to: Endpoint::Server,
        settings: Arc::new(flow.clone()),
        start_spread,
        tcp,
    }
}

/// How much later than `start_s` a flow may start. It starts and stops within the run.
fn start_spread(path: &str, flow: &Flow, duration_s: f64, check: &mut Check) -> Duration {
    // If the duration is faulty, nothing is outside the run.
    let end = if duration_s.is_nan() { f64::INFINITY } else { duration_s };
    let (end, end_s) = (Duration::from_secs_f64(end), number(duration_s));
    let seconds = |time: Duration| number(time.as_secs_f64());
    let Flow { start, start_spread, stop, .. } = *flow;
    let spread = start_spread.unwrap_or_else(|| {
        let interval = flow.traffic.get().interval().unwrap_or_default();
        let last = stop.unwrap_or(end).min(end);
        interval.min(Duration(last.0.saturating_sub(start.0)))
    });
    let latest = start + spread;
    if start >= end {
        let message = format!("{} is not before the end of the run, {end_s} s", seconds(start));
        check.fault(format!("{path}.start_s"), message);
    } else if latest > end {
        let message = Said::new(
            format!(
                "flows would start up to {} s, after the end of the run, {end_s} s",
                seconds(latest)
            ),
            format!("at most {}", seconds(end - start)),
        );
        check.fault(format!("{path}.start_spread_s"), message);
    }
    let Some(stop) = stop else { return spread };
    let at = format!("{path}.stop_s");
    if stop <= start || start_spread.is_some() && stop <= latest {
        let (stop, latest) = (seconds(stop), seconds(latest));
        check.fault(at, format!("{stop} is not after the latest start, {latest} s"));
    } else if stop > end {
        let message = Said::new(
            format!("{} is after the end of the run, {end_s} s", seconds(stop)),
            "without the key a flow lasts as long as the run",
        );
        check.fault(at, message);
    }
    spread
}

/// The ends of a table, if flows are possible between them.
fn pairs(
    path: &str,
    flow: &Flow,
    document: &Document,
    places: Places<'_>,
    check: &mut Check,
) -> Option<(Ends, Ends)> {
    let (from_path, to_path) = (format!("{path}.from"), format!("{path}.to"));
    // Without stations only their absence is reported, and not each pattern that names them.
    let no_stations = places.has_cell && places.stations == 0;
    // The same holds of nodes whose link has a fault.
    let is_of_link =
        |end: &str| document.links.iter().any(|link| link.from == end || link.to == end);
    let hidden = |end: &str| {
        no_stations && end.starts_with("sta") || !places.has_all_links && is_of_link(end)
    };
    let mut end = |at: &str, pattern: &str| {
        match ends::parse(pattern, places) {
            Ok(ends) => return Some(ends),
            Err(_) if hidden(pattern) => {}
            Err(message) => check.fault(at, message),
        }
        None
    };
    let (from, to) = (end(&from_path, &flow.from), end(&to_path, &flow.to));
    if from == Some(Ends::One(Endpoint::Broadcast)) {
        check.fault(
            from_path,
            said!("\"broadcast\" is where a flow goes to", "nothing comes from it"),
        );
        return None;
    }
    let (from, to) = (from?, to?);
    let fault = impossible(flow, document, &from, &to)
        .or_else(|| impassable(flow, places, &from, &to).filter(|_| places.has_all_links));
    if let Some(message) = fault {
        check.fault(to_path, message);
        return None;
    }
    Some((from, to))
}

/// Why no flow is possible over the links between some of these ends. Stations without wires are
/// alike.
fn impassable(flow: &Flow, places: Places<'_>, from: &Ends, to: &Ends) -> Option<Said> {
    let unlike = |ends: &Ends| -> Vec<Endpoint> {
        let first = ends.first();
        ends.iter().filter(|&end| end == first || places.topology.has_wires(end)).collect()
    };
    let (from, to) = (unlike(from), unlike(to));
    let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| [from, to]));
    let mut pairs = pairs.filter(|[from, to]| from != to);
    pairs.find_map(|ends| super::links::impassable(flow, places, ends))
}

/// Why no flow is possible between these ends.
fn impossible(flow: &Flow, document: &Document, from: &Ends, to: &Ends) -> Option<Said> {
    let over_tcp = |traffic: &Traffic| traffic.get().transport() == Transport::Tcp;
    let fixed = |ends: &Ends| matches!(ends, Ends::One(Endpoint::Server | Endpoint::AccessPoint));
    let linked = !document.links.is_empty();
    if *to == Ends::One(Endpoint::Broadcast) {
        if over_tcp(&flow.traffic) {
            let takes = |other: &Traffic| {
                let traffic = other.get();
                !over_tcp(other) && traffic.echo().is_none() && traffic.feedback().is_none()
            };
            let others = Traffic::all().into_iter().filter(takes);
            let mut others: Vec<_> =
                others.map(|other| format!("traffic.{}", other.name())).collect();
            let last = others.pop().unwrap_or_default();
            return Some(Said::new(
                "TCP cannot go to \"broadcast\", which acknowledges nothing",
                format!("take {} or {last}", others.join(", ")),
            ));
        }
        if flow.traffic.get().echo().is_some() {
            return Some("no node replies to an echo request to \"broadcast\"".into());
        }
        if flow.traffic.get().feedback().is_some() {
            let message = "a conference adapts to one receiver, and \"broadcast\" reports nothing";
            return Some(Said::new(message, "take traffic.cbr"));
        }
        if matches!(from, Ends::Stations(_)) {
            return Some("only server and ap send to \"broadcast\"".into());
        }
    }
    if from.shared_with(to) == from.count() * to.count() {
        return Some(Said::new(
            format!("from and to are both \"{}\"", flow.to),
            "a flow has two ends",
        ));
    }
    if fixed(from) && fixed(to) && !linked {
        return Some("a flow between server and ap never crosses the cell".into());
    }
    let from_server = *from == Ends::One(Endpoint::Server);
    let infinite = document.wire.as_ref().is_some_and(|wire| wire.direction.rate.is_none());
    if flow.traffic.is_saturated() && from_server && infinite {
        return Some(said!(
            "a saturated source behind an infinitely fast wire would flood the access point in no \
             time",
            "give wire.rate_mbps, or take from = \"ap\""
        ));
    }
    None
}

/// Creates the flows of a table, ordered by `from` and then by `to`.
fn expand(
    flow: &Flow,
    example: &FlowPlan,
    from: &Ends,
    to: &Ends,
    per_pair: u64,
    topology: &Topology,
    flows: &mut Vec<FlowPlan>,
) {
    for source in from.iter() {
        for sink in to.iter().filter(|sink| *sink != source) {
            for copy in 0..per_pair {
                let ends = [source, sink].map(|end| topology.name(end));
                let mut name = label(&flow.name, ends, from.count() > 1, to.count() > 1);
                if per_pair > 1 {
                    name = format!("{name} #{}", copy + 1);
                }
                let mut plan = FlowPlan { name, from: source, to: sink, ..example.clone() };
                if let Some(tcp) = &mut plan.tcp {
                    tcp.config = tcp.config.sent_over(device(topology, source));
                }
                flows.push(plan);
            }
        }
    }
}

/// The device over which a node sends.
fn device(topology: &Topology, source: Endpoint) -> tcp::Device {
    let first = topology.id(source).and_then(|id| topology.node(id).interfaces.first());
    match first {
        None => tcp::Device::None,
        Some(Interface::Radio(_)) => tcp::Device::Radio,
        Some(Interface::Wire(_)) => tcp::Device::Wire,
    }
}

/// The label of a table and what distinguishes its flows; without a label both ends.
fn label(name: &str, [from, to]: [&str; 2], from_varies: bool, to_varies: bool) -> String {
    match (from_varies, to_varies) {
        _ if name.is_empty() => format!("{from}->{to}"),
        (false, false) => name.to_owned(),
        (true, false) => format!("{name} {from}"),
        (false, true) => format!("{name} {to}"),
        (true, true) => format!("{name} {from}->{to}"),
    }
}
