//! Flows: patterns expanded to pairs, each pair to its flows.

use super::check::{Check, number};
use super::ends::{self, Ends, Places};
use super::transport;
use crate::plan::{Endpoint, FlowPlan, Network, TcpPlan, TrafficClass, TrafficPlan};
use crate::scenario::document::Document;
use crate::scenario::flow::{Class, Flow, Traffic};
use kernel::Duration;

/// More flows than this are refused: two for each of the most stations. A flow's statistics take
/// some 20 kB, so that these take half a gigabyte.
const MOST_FLOWS: u64 = 20_000;

/// All flows of a scenario; those of a faulty table are left out.
pub(super) fn flows(
    document: &Document,
    stations: usize,
    network: &Network,
    duration_s: f64,
    check: &mut Check,
) -> Vec<FlowPlan> {
    let places = Places { stations: document.has_cell().then_some(stations), network };
    if document.flows.is_empty() {
        check.fault(
            "flows",
            "there are none, so nothing would be sent; add [[flows]] with from = \"server\" and \
             to = \"sta*\"",
        );
    }
    let mut flows = Vec::new();
    let mut total = 0;
    for (group, flow) in document.flows.iter().enumerate() {
        let path = format!("flows[{group}]");
        let example = example(group, &path, flow, document, duration_s, check);
        let Some((from, to)) = pairs(&path, flow, document, places, check) else { continue };
        let pairs = from.count() * to.count() - from.shared_with(&to);
        let per_pair = check.whole(format!("{path}.count"), flow.count, 1, MOST_FLOWS);
        let before = total;
        total += pairs * per_pair;
        if before <= MOST_FLOWS && total > MOST_FLOWS {
            let message = format!(
                "{pairs} pairs of ends with {per_pair} each make {total} flows in all; at most \
                 {MOST_FLOWS}"
            );
            check.fault(format!("{path}.count"), message);
        }
        if total <= MOST_FLOWS {
            expand(flow, &example, (&from, &to), (per_pair, network), &mut flows);
        }
    }
    flows
}

/// A flow of a table with all but its name and ends.
fn example(
    group: usize,
    path: &str,
    flow: &Flow,
    document: &Document,
    duration_s: f64,
    check: &mut Check,
) -> FlowPlan {
    let traffic = transport::traffic(path, flow, document, check);
    // Keys of TCP are not looked at for datagrams, so that `flows[*].tcp.…` can set them for all.
    let tcp: Option<TcpPlan> = match traffic {
        TrafficPlan::Bulk { .. } | TrafficPlan::Web { .. } => {
            Some(transport::tcp(path, flow, document, check))
        }
        TrafficPlan::Cbr { .. } | TrafficPlan::Saturated { .. } => None,
    };
    let (start, start_spread, stop) = times(path, flow, duration_s, check);
    FlowPlan {
        name: String::new(),
        group,
        from: Endpoint::Server,
        to: Endpoint::Server,
        start,
        start_spread,
        stop,
        class: match flow.class {
            Class::Background => TrafficClass::Background,
            Class::BestEffort => TrafficClass::BestEffort,
            Class::Video => TrafficClass::Video,
            Class::Voice => TrafficClass::Voice,
        },
        traffic,
        tcp,
    }
}

fn times(
    path: &str,
    flow: &Flow,
    duration_s: f64,
    check: &mut Check,
) -> (Duration, Duration, Option<Duration>) {
    let most = super::LONGEST_S;
    let start = check.seconds(format!("{path}.start_s"), flow.start_s, 0.0, most);
    let spread_path = format!("{path}.start_spread_s");
    let spread = check.seconds(&spread_path, flow.start_spread_s, 0.0, most);
    let end = number(duration_s);
    if start >= duration_s {
        let message = format!("{} is not before the end of the run, {end} s", number(start));
        check.fault(format!("{path}.start_s"), message);
    } else if start + spread > duration_s {
        let latest = number(start + spread);
        let message = format!(
            "flows would start up to {latest} s, after the end of the run, {end} s; at most {}",
            number(duration_s - start)
        );
        check.fault(spread_path, message);
    }
    let stop = flow.stop_s.map(|stop| {
        let path = format!("{path}.stop_s");
        let stop = check.seconds(&path, stop, 0.0, most);
        let latest = start + spread;
        if stop <= latest {
            let (stop, latest) = (number(stop), number(latest));
            check.fault(path, format!("{stop} is not after the latest start, {latest} s"));
        } else if stop > duration_s {
            let stop = number(stop);
            let message = format!(
                "{stop} is after the end of the run, {end} s; without the key a flow lasts as long \
                 as the run"
            );
            check.fault(path, message);
        }
        Duration::from_secs_f64(stop)
    });
    (Duration::from_secs_f64(start), Duration::from_secs_f64(spread), stop)
}

/// The ends of a table, if flows are possible between them.
fn pairs(
    path: &str,
    flow: &Flow,
    document: &Document,
    places: Places,
    check: &mut Check,
) -> Option<(Ends, Ends)> {
    let (from_path, to_path) = (format!("{path}.from"), format!("{path}.to"));
    // Without stations the fault is theirs: a pattern of them then names nothing to speak of.
    let hidden = |end: &str| places.stations == Some(0) && end.starts_with("sta");
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
        check.fault(from_path, "\"broadcast\" is where a flow goes to; nothing comes from it");
        return None;
    }
    let (from, to) = (from?, to?);
    let fault = impossible(flow, document, &from, &to)
        .or_else(|| super::links::impassable(flow, places.network, [&from, &to].map(Ends::first)));
    if let Some(message) = fault {
        check.fault(to_path, message);
        return None;
    }
    Some((from, to))
}

/// Why there can be no flow between these ends.
fn impossible(flow: &Flow, document: &Document, from: &Ends, to: &Ends) -> Option<String> {
    let over_tcp = matches!(flow.traffic, Traffic::Bulk(_) | Traffic::Web(_));
    let fixed = |ends: &Ends| matches!(ends, Ends::One(Endpoint::Server | Endpoint::AccessPoint));
    let linked = !document.links.is_empty();
    if *to == Ends::One(Endpoint::Broadcast) {
        if over_tcp {
            return Some(
                "TCP cannot go to \"broadcast\", which acknowledges nothing; take traffic.cbr or \
                 traffic.saturated"
                    .to_owned(),
            );
        }
        if matches!(from, Ends::Stations(_)) {
            return Some("only server and ap send to \"broadcast\"".to_owned());
        }
    }
    if from.shared_with(to) == from.count() * to.count() {
        return Some(format!("from and to are both \"{}\"; a flow has two ends", flow.to));
    }
    if fixed(from) && fixed(to) && !linked {
        return Some("a flow between server and ap never crosses the cell".to_owned());
    }
    let from_server = *from == Ends::One(Endpoint::Server);
    let infinite = document.wire.as_ref().is_some_and(|wire| wire.rate_mbps.is_none());
    if matches!(flow.traffic, Traffic::Saturated(_)) && from_server && infinite {
        return Some(
            "a saturated source behind an infinitely fast wire would flood the access point in no \
             time; give wire.rate_mbps, or take from = \"ap\""
                .to_owned(),
        );
    }
    None
}

/// Makes the flows of a table, `from` by `from` and `to` by `to`.
fn expand(
    flow: &Flow,
    example: &FlowPlan,
    (from, to): (&Ends, &Ends),
    (per_pair, network): (u64, &Network),
    flows: &mut Vec<FlowPlan>,
) {
    for source in from.iter() {
        for sink in to.iter().filter(|sink| *sink != source) {
            for copy in 0..per_pair {
                let pair = (from.count() > 1, to.count() > 1);
                let mut name = label(&flow.name, [source, sink].map(|end| network.name(end)), pair);
                if per_pair > 1 {
                    name = format!("{name} #{}", copy + 1);
                }
                flows.push(FlowPlan { name, from: source, to: sink, ..example.clone() });
            }
        }
    }
}

/// The label of a table and what tells its flows apart; without a label both ends.
fn label(name: &str, [from, to]: [String; 2], varying: (bool, bool)) -> String {
    match varying {
        _ if name.is_empty() => format!("{from}->{to}"),
        (false, false) => name.to_owned(),
        (true, false) => format!("{name} {from}"),
        (false, true) => format!("{name} {to}"),
        (true, true) => format!("{name} {from}->{to}"),
    }
}
