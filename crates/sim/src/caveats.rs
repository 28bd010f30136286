//! What the results of a plan are not right about.

use crate::build;
use crate::distance::{self, NEAR_M};
use crate::plan::{Plan, SpacePlan};
use crate::topology::RadioId;
use kernel::Seed;
use wifi::phy::propagation;

/// What a coverage class adds to the time for a signal to a station and back, in nanoseconds.
const CLASS_NS: u64 = 3000;

/// What the results of a plan are not right about, in one sentence each; nothing if it is all
/// modelled.
pub fn caveats(plan: &Plan, seed: &Seed) -> Vec<String> {
    plan.space.iter().filter_map(|space| distance(plan, space, seed)).collect()
}

/// Nodes that exchange frames over a distance for which the slot has no room.
fn distance(plan: &Plan, space: &SpacePlan, seed: &Seed) -> Option<String> {
    let (radio, sites) = build::radio_and_sites(plan, space, seed);
    let farthest = distance::farthest(plan, space, &radio, &sites)?;
    let [a, b] = <[u32; 2]>::from(farthest.ends).map(|it| plan.topology.radio_name(RadioId(it)));
    let delay = propagation::delay(farthest.distance);
    let round_trip = delay + delay;
    let class = round_trip.0.div_ceil(CLASS_NS);
    let timing = &plan.wlan.timing;
    let needs = if radio.has_delays && farthest.is_modelled(plan) {
        // The timeout of a response has room for a slot (clause 10.3.2.9).
        if round_trip <= timing.slot {
            return None;
        }
        format!(", and no response comes in time without wlan.coverage_class = {class}")
    } else {
        let wrong = format!(", which is not modelled: results are right up to {NEAR_M} m");
        if u64::from(timing.coverage_class) >= class {
            wrong
        } else {
            format!(
                "{wrong}, and no response would come in time without wlan.coverage_class = {class}"
            )
        }
    };
    Some(format!(
        "{a} and {b} are up to {:.0} m apart; signals take {:.1} us over this distance{needs}",
        farthest.distance,
        delay.0 as f64 / 1000.0,
    ))
}
