//! Which nodes hear each other in a scenario with a radio, and with which power.

use crate::build;
use crate::medium::Medium;
use crate::plan::Plan;
use crate::topology::RadioId;
use kernel::{Instant, Seed};
use wifi::space::Space;

/// The reception of one node's frames at another, without interference and without fading.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePair {
    /// The transmitter: `ap`, `sta0`, `cells[0]`.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// The received power in dBm; `None` if it is below the noise.
    pub signal_dbm: Option<f64>,
    /// The signal-to-noise ratio, with the noise in the bandwidth of the mode.
    pub snr_db: Option<f64>,
    /// Whether the receiver detects preambles.
    pub detected: bool,
    /// Between nodes that exchange frames: their rate in Mb/s, and the fraction of the frames that
    /// arrives.
    pub link: Option<(f64, f64)>,
}

/// The names of all nodes, and all pairs in which one node hears the other at some time or should
/// hear it; `None` without a radio.
pub fn hearing(plan: &Plan, seed: &Seed, now: Instant) -> Option<(Vec<String>, Vec<NodePair>)> {
    let medium = plan.has_radio().then(|| build::medium(plan, seed));
    let Some(Medium::Space(mut space)) = medium else { return None };
    let nodes = 0..plan.topology.radios().len() as u32;
    let pairs = nodes.clone().flat_map(|from| nodes.clone().map(move |to| (from, to)));
    let heard = pairs.filter_map(|(from, to)| heard(plan, &mut space, now, from, to));
    let heard = heard.collect();
    Some((nodes.map(|radio| name(plan, radio)).collect(), heard))
}

fn heard(plan: &Plan, space: &mut Space, now: Instant, from: u32, to: u32) -> Option<NodePair> {
    let (mode, mut rate_plan) = match space.mode(from, to) {
        Some(mode) => (*mode, Some(build::rate_plan(plan, from, to))),
        None => (plan.stations.first()?.up.mode(), None),
    };
    let mut budget = space.link_budget(now, from, to, &mode, build::PSDU);
    if budget.is_none() && rate_plan.is_none() {
        return None;
    }
    // Nodes that forward send to each neighbour.
    if budget.is_some_and(|budget| budget.detected) && build::may_send(plan, from, to) {
        rate_plan = Some(build::rate_plan(plan, from, to));
    }
    let mut rate = mode.rate;
    if let Some(rate_plan) = rate_plan {
        (budget, rate) = build::best_budget(space, now, from, to, rate_plan);
    }
    Some(NodePair {
        from: name(plan, from),
        to: name(plan, to),
        signal_dbm: budget.map(|budget| budget.signal.0),
        snr_db: budget.map(|budget| budget.snr.0),
        detected: budget.is_some_and(|budget| budget.detected),
        link: rate_plan
            .map(|_| (rate.0 as f64 * 1e-6, budget.map_or(0.0, |budget| budget.success))),
    })
}

fn name(plan: &Plan, radio: u32) -> String {
    plan.topology.radio_name(RadioId(radio))
}
