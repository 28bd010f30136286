//! MU EDCA among radios: stations that were triggered contend by other parameters, or not at all,
//! until their timers end (802.11ax-2021 clause 26.2.7).

use super::Space;
use super::node::Node;
use crate::Command;
use crate::mac::Rules;
use crate::mac::mu::{MuTimers, TriggerCounters};
use crate::phy::AccessCategory;
use kernel::{Duration, Instant};
use wire::TrafficClass;

/// The shortest interframe space before slots, by the parameters of EDCA or of MU EDCA.
pub(super) fn shortest_space(nodes: &[Node], rules: &Rules) -> Duration {
    let edca = rules.config.mu.as_ref().and_then(|mu| mu.edca.as_ref());
    let of_mu = AccessCategory::ALL.iter().filter_map(|&category| edca?.of(category));
    let spacings = of_mu.map(|own| own.aifsn).filter(|&aifsn| aifsn > 0);
    let timing = &rules.config.timing;
    let of_mu = spacings.map(|aifsn| timing.sifs() + timing.slot * u64::from(aifsn));
    nodes.iter().filter_map(Node::shortest_space).chain(of_mu).min().unwrap_or_default()
}

/// The timers of all nodes; none if nobody triggers them.
pub(super) fn timers(triggering: &[u32], nodes: &[Node], rules: &Rules) -> MuTimers {
    let number = if triggering.is_empty() { 0 } else { nodes.len() };
    MuTimers::new(number as u32, rules.per_node)
}

impl Space {
    /// From the begin of the run on, a station sends in answer to Trigger frames only, as in the
    /// service periods of a trigger-enabled TWT (clause 26.8.2).
    pub fn silence(&mut self, station: u32) {
        for f in self.mute.silence(station) {
            let index = (f % self.rules.mac.per_node) as usize;
            self.nodes[station as usize].suspend(Instant::ZERO, index);
        }
    }

    /// What Trigger frames and MU EDCA have done to a station up to now.
    pub fn trigger_counters(&self, now: Instant, station: u32) -> TriggerCounters {
        let access_points = self.triggering.iter().map(|&own| &self.nodes[own as usize]);
        let own = access_points.filter_map(|node| node.trigger_counters(station));
        let mut counters = own.fold(TriggerCounters::default(), TriggerCounters::plus);
        if let Some(since) = self.mute.waits_since(station) {
            counters.muted += now.since(since);
        }
        counters
    }

    /// An access point has sent a Multi-STA BlockAck: stations that have received the
    /// acknowledgement of triggered data start their timers.
    #[cold]
    #[inline(never)]
    pub(super) fn start_timers(&mut self, now: Instant, id: u32, out: &mut Vec<Command>) {
        let frame = &self.signals.transmission(id).frame;
        let own = self.nodes[frame.from as usize].own_triggers();
        let triggers = own.filter(|_| frame.is_multi_sta());
        let Some(triggers) = triggers else { return };
        let Some(triggered) = &triggers.current else { return };
        let per_node = self.rules.mac.per_node;
        let answered: Vec<u32> = triggered.users.iter().map(|it| it.edcaf(per_node)).collect();
        for (f, own) in self.mute.start(now, triggered, &triggers.triggering, out) {
            let (station, category) = (f / per_node, f % per_node);
            let set = self.rules.mac.mu_parameter_set(category);
            let node = &mut self.nodes[station as usize];
            node.suspend(now, category as usize);
            if own.aifsn > 0 {
                node.resume(now, category as usize, set, own.aifsn, &self.rules);
            }
            self.set_timer(station);
        }
        for f in answered {
            self.note_wait(now, f);
        }
    }

    /// If it is time, timers end: the parameters are again those of EDCA.
    #[cold]
    #[inline(never)]
    pub(super) fn end_timers(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.mute.take_step(now) {
            return;
        }
        for f in self.mute.end(now, out) {
            self.contend_as_before(now, f);
        }
    }

    /// The timers of a station end that leaves its access point.
    pub(super) fn stop_timers(&mut self, now: Instant, station: u32) {
        if !self.triggering.is_empty() {
            for f in self.mute.stop(station) {
                self.contend_as_before(now, f);
            }
        }
    }

    /// The timer of an EDCAF of a station has ended: it contends by the parameters of EDCA.
    fn contend_as_before(&mut self, now: Instant, f: u32) {
        let per_node = self.rules.mac.per_node;
        let (station, category) = (f / per_node, f % per_node);
        let (aifsn, _) = self.rules.mac.parameters(false, category);
        let set = self.rules.mac.parameter_set(station, false, category);
        let node = &mut self.nodes[station as usize];
        node.suspend(now, category as usize);
        node.resume(now, category as usize, set, aifsn, &self.rules);
        self.set_timer(station);
        self.note_wait(now, f);
    }

    /// Whether packets wait at an EDCAF of a station that does not contend may have changed.
    fn note_wait(&mut self, now: Instant, f: u32) {
        let per_node = self.rules.mac.per_node;
        let (station, category) = (f / per_node, f % per_node);
        let node = &self.nodes[station as usize];
        let has_packets = !node.edcaf(category as usize).is_idle();
        let Some(own) = node.triggered_by() else { return };
        let Some(triggers) = self.nodes[own as usize].triggers_mut() else { return };
        let triggering = &mut triggers.triggering;
        let Some(parameters) = triggering.mu_edca(category) else { return };
        let counters = triggering.counters_of_mut(station);
        self.mute.note_wait(now, f, has_packets, &parameters, counters);
    }

    /// A packet has gone into service at a node.
    pub(super) fn note_waiting(&mut self, now: Instant, node: u32, class: TrafficClass) {
        let mac = &self.rules.mac;
        let f = node * mac.per_node + mac.category_of(class);
        if self.mute.until(f).is_some() {
            self.note_wait(now, f);
        }
    }

    /// Packets may have left a node.
    pub(super) fn note_left(&mut self, now: Instant, node: u32) {
        let per_node = self.rules.mac.per_node;
        for category in 0..per_node {
            let f = node * per_node + category;
            if self.mute.waits(f) && self.nodes[node as usize].edcaf(category as usize).is_idle() {
                self.note_wait(now, f);
            }
        }
    }
}
