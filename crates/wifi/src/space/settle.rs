//! Carrier sense of nodes changes: what follows for the slots that they count, and their timers.

use super::Space;
use super::node::Node;
use super::records::SpaceWatch;
use super::rules::SpaceRules;
use super::timers::NodeTimers;
use kernel::Instant;

impl Space {
    /// Updates a node's carrier sense from its receiver. `changed`: the frame that it receives
    /// changed.
    #[allow(clippy::inline_always, reason = "it runs for many nodes with each frame")]
    #[inline(always)]
    pub(super) fn settle_carrier(&mut self, now: Instant, node: u32, changed: bool) {
        let Self { receivers, nodes, rules, timers, watch, .. } = self;
        let state = &mut nodes[node as usize];
        let is_busy = receivers[node as usize].sense(&rules.levels);
        if changed || is_busy != state.carrier.is_sensed() {
            sense(now, node, state, is_busy, rules, timers, watch);
        }
    }
}

/// Carrier sense of a node becomes busy or idle, or a frame that the node received has ended.
#[inline]
pub(super) fn sense(
    now: Instant,
    node: u32,
    state: &mut Node,
    is_busy: bool,
    rules: &SpaceRules,
    timers: &mut NodeTimers,
    watch: &mut Option<Box<SpaceWatch>>,
) {
    // A quiet node counts no slots and has no timer.
    match (state.is_quiet(), is_busy) {
        (true, true) => _ = state.carrier.end_idle(),
        (true, false) => state.carrier.begin_idle(now),
        (false, true) if state.end_doze() => {}
        (false, true) => freeze(now, node, state, rules, timers, watch),
        (false, false) => fall_idle(now, node, state, timers, watch),
    }
}

/// Carrier sense becomes busy at a node that counts slots or is in an exchange.
#[inline(never)]
fn freeze(
    now: Instant,
    node: u32,
    state: &mut Node,
    rules: &SpaceRules,
    timers: &mut NodeTimers,
    watch: &mut Option<Box<SpaceWatch>>,
) {
    state.freeze(now, rules);
    set_timer(node, state, timers, watch);
}

/// Carrier sense becomes idle at such a node: mostly it dozes.
#[inline(never)]
fn fall_idle(
    now: Instant,
    node: u32,
    state: &mut Node,
    timers: &mut NodeTimers,
    watch: &mut Option<Box<SpaceWatch>>,
) {
    if timers.may_doze() && watch.is_none() && state.doze(now) {
        timers.doze(node, now);
    } else {
        sense_idle(now, node, state, timers, watch);
    }
}

/// Carrier sense becomes idle at a node that does not doze.
#[inline(never)]
fn sense_idle(
    now: Instant,
    node: u32,
    state: &mut Node,
    timers: &mut NodeTimers,
    watch: &mut Option<Box<SpaceWatch>>,
) {
    state.sense_idle(now);
    set_timer(node, state, timers, watch);
}

/// Sets a node's timer to the instant of its next action.
#[allow(clippy::inline_always, reason = "it runs for many nodes with each frame")]
#[inline(always)]
pub(super) fn set_timer(
    node: u32,
    state: &mut Node,
    timers: &mut NodeTimers,
    watch: &mut Option<Box<SpaceWatch>>,
) {
    if let Some(watch) = watch {
        watch.touch(node);
    }
    timers.set(node, state.deadline());
}
