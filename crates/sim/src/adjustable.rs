//! The settings that may change during a run.
//!
//! A setting that changes during a run is a scenario with another value. An agent's action names
//! keys and values (`simoom.gym`). [`Settings`] resolves the scenario with them, refuses a plan
//! that differs from the first one in anything but what may change, and keeps the plans of
//! combinations that it has met; the world applies the difference between two of them. So there is
//! no second list of ranges, units and rules, and a value that is set before the first event gives
//! the digest of the scenario that has it. A step ends with an event of its own, as probes do, so
//! that stepping changes no result.

use crate::plan::{Plan, TcpPlan};
use crate::scenario::{Issue, Scenario};
use kernel::Bytes;
use settings::said;
use std::collections::BTreeMap;
use std::sync::Arc;
use tcp::control::ControlSettings;
use wifi::MacConfig;
use wifi::mac::Categories;
use wifi::phy::Mode;
use wifi::rate::RateControlSettings;
use wire::FlowId;

/// What may change, for a message.
const WHAT: &str = "contention windows, wlan.rts_threshold_bytes, the rates and MCSs of stations \
                    with a fixed mode in the cell of an access point, and \
                    control.fixed.window_segments";

/// The number of combinations of settings that are kept resolved.
const KEPT: usize = 4096;

/// The values of a plan's settings that may change during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjustable {
    windows: (u32, u32),
    non_erp_window: Option<u32>,
    edca: Option<Categories>,
    rts_threshold: Bytes,
    /// Of each station, to and from its access point.
    modes: Vec<(Mode, Mode)>,
    /// Of each flow whose congestion window is set.
    controls: Vec<Option<ControlSettings>>,
}

impl Adjustable {
    /// Those of a plan.
    pub fn of_plan(plan: &Plan) -> Self {
        let wlan = &plan.wlan;
        Self {
            windows: (wlan.cw_min, wlan.cw_max),
            non_erp_window: wlan.non_erp.as_ref().map(|nodes| nodes.cw_min),
            edca: wlan.edca,
            rts_threshold: wlan.rts_threshold,
            modes: plan.stations.iter().map(|s| (s.up.mode(), s.down.mode())).collect(),
            controls: plan.flows.iter().map(|flow| set_control(flow.tcp.as_ref())).collect(),
        }
    }

    /// The modes of stations that differ from those before: the number of the station, and its
    /// modes to and from its access point.
    pub(crate) fn new_modes(
        &self,
        before: &Self,
    ) -> impl Iterator<Item = (usize, [Option<Mode>; 2])> {
        let differs = |new: Mode, old: Mode| (new != old).then_some(new);
        let both = before.modes.iter().zip(&self.modes).enumerate();
        both.map(move |(station, (old, new))| {
            (station, [differs(new.0, old.0), differs(new.1, old.1)])
        })
    }

    /// The congestion controls that differ from those before, by flow.
    pub(crate) fn new_controls(
        &self,
        before: &Self,
    ) -> impl Iterator<Item = (FlowId, &ControlSettings)> {
        let both = before.controls.iter().zip(&self.controls).zip(0..);
        both.filter_map(|((old, new), flow)| {
            Some((FlowId(flow), new.as_ref().filter(|_| old != new)?))
        })
    }

    /// Those of medium access.
    pub(crate) fn mac(&self) -> ((u32, u32), Option<u32>, Option<&Categories>, Bytes) {
        (self.windows, self.non_erp_window, self.edca.as_ref(), self.rts_threshold)
    }

    /// A configuration of medium access with these.
    pub(crate) fn of(&self, wlan: &MacConfig) -> MacConfig {
        let mut wlan = wlan.clone();
        (wlan.cw_min, wlan.cw_max) = self.windows;
        (wlan.edca, wlan.rts_threshold) = (self.edca, self.rts_threshold);
        if let (Some(nodes), Some(cw_min)) = (&mut wlan.non_erp, self.non_erp_window) {
            nodes.cw_min = cw_min;
        }
        wlan
    }
}

/// The settings of a congestion control whose window is set.
fn set_control(tcp: Option<&TcpPlan>) -> Option<ControlSettings> {
    let control = &tcp?.control;
    control.get().set_window().map(|_| control.clone())
}

/// Whether two plans differ only in what may change during a run.
fn may_follow(before: &Plan, after: &Plan) -> bool {
    let mut after = after.clone();
    if before.wlan.full_duplex.is_none() {
        let edca = after.wlan.edca;
        after.wlan = Adjustable::of_plan(before).of(&after.wlan);
        let spaced = |edca: Option<Categories>| {
            let all = |edca: Categories| edca.stations.into_iter().chain(edca.access_point);
            edca.map(|edca| all(edca).map(|c| (c.aifsn, c.txop_limit)).collect::<Vec<_>>())
        };
        if spaced(edca) != spaced(before.wlan.edca) {
            return false;
        }
        let to_peers = before.space.as_ref().is_some_and(|space| space.ad_hoc);
        for (own, before) in after.stations.iter_mut().zip(&before.stations) {
            for (own, before) in [(&mut own.up, &before.up), (&mut own.down, &before.down)] {
                let is_fixed = matches!(before.control, RateControlSettings::Fixed(_));
                if is_fixed && !to_peers && before.link.non_erp == own.link.non_erp {
                    own.link = before.link.clone();
                }
            }
        }
    }
    for (own, before) in after.flows.iter_mut().zip(&before.flows) {
        let both = set_control(own.tcp.as_ref()).zip(set_control(before.tcp.as_ref()));
        if let (Some(_), Some(tcp), Some(old)) = (both, &mut own.tcp, &before.tcp) {
            tcp.control.clone_from(&old.control);
            let settings = Arc::make_mut(&mut own.settings);
            settings.control.clone_from(&before.settings.control);
        }
    }
    after == *before
}

/// Keys and their values, written as in TOML.
pub type Keys = Vec<(String, String)>;

/// Settings of a scenario that change during a run, each among some choices. The scenario says
/// what a combination of choices means, and whether it is allowed.
#[derive(Clone, Debug)]
pub struct Settings {
    scenario: Scenario,
    plan: Plan,
    /// The choices of each.
    offered: Vec<Vec<Keys>>,
    resolved: BTreeMap<Vec<u32>, Arc<Adjustable>>,
}

impl Settings {
    /// The settings that may be changed, each with its choices: keys and their values.
    ///
    /// # Errors
    /// The faults of the scenario, or of the first choice that is no allowed value by itself.
    pub fn new(scenario: &Scenario, offered: Vec<Vec<Keys>>) -> Result<Self, Vec<Issue>> {
        let plan = scenario.resolve()?;
        let all = Self { scenario: scenario.clone(), plan, offered, resolved: BTreeMap::default() };
        for choices in &all.offered {
            for keys in choices {
                all.resolve(&[keys])?;
            }
        }
        Ok(all)
    }

    /// The plan of the scenario as it is.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The number of choices of each setting.
    pub fn choices(&self) -> impl Iterator<Item = usize> {
        self.offered.iter().map(Vec::len)
    }

    /// What a combination of choices means: one of each setting.
    ///
    /// # Errors
    /// The faults of the combination.
    ///
    /// # Panics
    /// If there is no such choice.
    pub fn get(&mut self, choices: &[u32]) -> Result<Arc<Adjustable>, Vec<Issue>> {
        if let Some(known) = self.resolved.get(choices) {
            return Ok(Arc::clone(known));
        }
        let of = |(setting, choice): (&Vec<Keys>, &u32)| setting[*choice as usize].clone();
        let keys: Vec<Keys> = self.offered.iter().zip(choices).map(of).collect();
        let all: Vec<&Keys> = keys.iter().collect();
        let resolved = Arc::new(self.resolve(&all)?);
        if self.resolved.len() >= KEPT {
            self.resolved.clear();
        }
        self.resolved.insert(choices.to_vec(), Arc::clone(&resolved));
        Ok(resolved)
    }

    fn resolve(&self, all: &[&Keys]) -> Result<Adjustable, Vec<Issue>> {
        let mut scenario = self.scenario.clone();
        for (path, value) in all.iter().copied().flatten() {
            scenario = scenario.set(path, value)?;
        }
        let plan = scenario.resolve()?;
        if may_follow(&self.plan, &plan) {
            return Ok(Adjustable::of_plan(&plan));
        }
        let paths = all.iter().copied().flatten().map(|(path, _)| path.as_str());
        let path = paths.collect::<Vec<_>>().join(", ");
        Err(vec![Issue::new(path, said!("cannot change during a run", "{WHAT} can"))])
    }
}
