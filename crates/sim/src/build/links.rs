//! Links on the air: how one node sends to another.

use crate::plan::{Endpoint, Plan, RatePlan, StationPlan};
use crate::topology::RadioId;
use kernel::{BitRate, Bytes, Instant, Seed};
use wifi::Link;
use wifi::phy::error::ErrorModelSettings;
use wifi::space::{LinkBudget, Space};

/// The size of the frames by which links are judged, in bytes.
pub(crate) const PSDU: Bytes = Bytes(1536);
/// Rate control uses only modes in which at least this fraction of the frames arrives, if there is
/// such a mode.
pub(crate) const ENOUGH: f64 = 0.9;

/// The station of a radio; `None` at an access point.
fn station(plan: &Plan, radio: u32) -> Option<&StationPlan> {
    match plan.topology.node(plan.topology.radio(RadioId(radio)).node).end {
        Endpoint::Station(number) => Some(&plan.stations[number as usize]),
        _ => None,
    }
}

/// The rate control for frames from one node to another: that of the station which sends, or that
/// towards the station.
pub(crate) fn rate_plan(plan: &Plan, from: u32, to: u32) -> &RatePlan {
    match (station(plan, from), station(plan, to)) {
        (Some(sender), _) => &sender.up,
        (None, Some(receiver)) => &receiver.down,
        (None, None) => unreachable!("access points exchange no frames"),
    }
}

/// The budget of a link direction without interference in the fastest mode in which most frames
/// arrive, or else in the slowest; and the rate of that mode.
pub(crate) fn best_budget(
    space: &mut Space,
    now: Instant,
    from: u32,
    to: u32,
    rate_plan: &RatePlan,
) -> (Option<LinkBudget>, BitRate) {
    let mut modes = rate_plan.modes();
    modes.sort_by_key(|mode| std::cmp::Reverse(mode.rate.0));
    let mut best = (None, rate_plan.mode().rate);
    for mode in modes {
        best = (space.link_budget(now, from, to, &mode, PSDU), mode.rate);
        if best.0.is_some_and(|budget| budget.success >= ENOUGH) {
            break;
        }
    }
    best
}

/// The fraction of frames that arrive over a link direction without interference.
pub(crate) fn success(plan: &Plan, space: &mut Space, now: Instant, from: u32, to: u32) -> f64 {
    let (budget, _) = best_budget(space, now, from, to, rate_plan(plan, from, to));
    let loss = station(plan, from).map_or(0.0, |station| station.data_loss);
    budget.map_or(0.0, |budget| budget.success) * (1.0 - loss)
}

/// What a run needs to add links between nodes of an ad-hoc network.
#[derive(Debug)]
pub(crate) struct LateLinks {
    plan: Plan,
    model: ErrorModelSettings,
    seed: Seed,
}

impl LateLinks {
    pub(crate) fn new(plan: &Plan, model: &ErrorModelSettings, seed: &Seed) -> Self {
        Self { plan: plan.clone(), model: model.clone(), seed: *seed }
    }

    /// Adds the link between two nodes, in both directions.
    pub(crate) fn add(&self, space: &mut Space, a: u32, b: u32) {
        let link = |from: u32, to: u32| {
            let rate = rate_plan(&self.plan, from, to);
            let losses = station(&self.plan, from).or(station(&self.plan, to));
            let losses = losses.expect("a link has a station at one end");
            Link { mode: rate.mode(), data_loss: losses.data_loss, ack_loss: losses.ack_loss }
        };
        space.add_link([a, b], [link(a, b), link(b, a)]);
        for (from, to) in [(a, b), (b, a)] {
            let rate = rate_plan(&self.plan, from, to);
            let pair = from * self.plan.topology.radios().len() as u32 + to;
            let rng = self.seed.stream("rate.link", pair);
            if let Some(control) = rate.control.get().build(&rate.link, self.model.get(), rng) {
                space.control_rate(from, to, control);
            }
        }
    }

    /// The fraction of frames that arrive over a link direction now, without interference.
    pub(crate) fn success(&self, space: &mut Space, now: Instant, from: u32, to: u32) -> f64 {
        success(&self.plan, space, now, from, to)
    }
}
