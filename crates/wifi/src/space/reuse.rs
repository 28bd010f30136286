//! Spatial reuse by OBSS PD (802.11ax-2021 clauses 26.10.2.2 and 26.10.2.3): nodes that stop to
//! receive a PPDU of another BSS, and the power with which they send then.
//!
//! A PPDU that tells its BSS color takes one more step, at the end of the field that tells it. The
//! nodes that receive it decide then. A node that ignores it has no reception any more: its power
//! is interference and energy like any other, and its end sets no NAV and no EIFS. A node is taken
//! to have decoded the color if the preamble has kept the ratio at which it is detected.

use super::Space;
use super::frame::{OnAir, Transmission};
use super::radio::Site;
use crate::Command;
use crate::mac::SpatialReuse;
use crate::phy::{Milliwatts, Width};
use kernel::{Db, Duration, Instant};
use std::collections::VecDeque;
use std::iter;

/// What a node did by spatial reuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReuseCounters {
    /// PPDUs of other BSSs that it ignored.
    pub ignored: u64,
    /// Those of its spatial reuse group.
    pub ignored_in_group: u64,
    /// TXOPs that it won while a PPDU that it ignored was on the air.
    pub reused: u64,
    /// TXOPs in which it sent with less power.
    pub reduced: u64,
}

/// The power of a node that may have ignored PPDUs. It sends with less until the end of the TXOP
/// that it wins next, or of the last PPDU that it ignored if it had nothing to send by then.
#[derive(Debug, Default)]
struct NodeReuse {
    /// How much less than its transmit power it sends with, if it has ignored a PPDU that is not of
    /// its spatial reuse group, or one that is.
    cut: Db,
    cut_in_group: Db,
    /// The place of its group's levels; 0, that of PPDUs of no group, if it is in none.
    group: usize,
    /// How much less it sends with in the TXOP that it won last.
    in_txop: Db,
    /// The same before and in the one that it wins next.
    next: Db,
    /// The end of the last PPDU that it ignored.
    ignores_until: Instant,
    counters: ReuseCounters,
}

/// The state of spatial reuse of all nodes.
#[derive(Debug)]
pub(super) struct Reuse {
    settings: SpatialReuse,
    /// By spatial reuse group, the first for PPDUs that are of none, and width: the powers in
    /// milliwatts below which PPDUs are ignored.
    levels: Vec<[f64; Width::ALL.len()]>,
    nodes: Vec<NodeReuse>,
    /// When the colors of PPDUs on the air are known.
    signalled: VecDeque<(Instant, u32)>,
    /// Buffer: nodes that ignore a PPDU.
    ignoring: Vec<u32>,
}

impl Reuse {
    pub(super) fn new(settings: &SpatialReuse, sites: &[Site]) -> Self {
        let level = |group, width| {
            settings.level(group, width).map_or(0.0, |level| Milliwatts::from(level).0)
        };
        let levels = |group| Width::ALL.map(|width| level(group, width));
        let groups = (0..settings.srg.len()).map(Some);
        Self {
            levels: iter::once(None).chain(groups).map(levels).collect(),
            nodes: (0..)
                .zip(sites)
                .map(|(node, site)| NodeReuse::new(settings, node, site))
                .collect(),
            settings: settings.clone(),
            signalled: VecDeque::new(),
            ignoring: Vec::new(),
        }
    }

    /// A PPDU whose color is known now.
    fn take_signalled(&mut self, now: Instant) -> Option<u32> {
        self.signalled.pop_front_if(|(at, _)| *at <= now).map(|(_, id)| id)
    }
}

impl NodeReuse {
    fn new(settings: &SpatialReuse, node: u32, site: &Site) -> Self {
        let group = settings.group(node);
        Self {
            cut: settings.reduction(None, site.tx_power),
            cut_in_group: settings.reduction(group, site.tx_power),
            group: group.map_or(0, |index| index + 1),
            ..Self::default()
        }
    }

    /// The group of a transmitter, if the node is in it; else 0.
    fn shared_with(&self, group: usize) -> usize {
        if self.group == group { group } else { 0 }
    }

    /// The node ignores a PPDU, of its group or not. Of all that it has ignored, the one that
    /// permits the least power counts.
    fn ignore(&mut self, until: Instant, in_group: bool) {
        self.counters.ignored += 1;
        self.counters.ignored_in_group += u64::from(in_group);
        self.ignores_until = self.ignores_until.max(until);
        let cut = if in_group { self.cut_in_group } else { self.cut };
        if cut > self.next {
            self.next = cut;
        }
    }

    fn win(&mut self, now: Instant) {
        self.in_txop = std::mem::take(&mut self.next);
        self.counters.reused += u64::from(now < self.ignores_until);
        self.counters.reduced += u64::from(self.in_txop > Db(0.0));
    }

    /// The node has nothing to send.
    fn rest(&mut self, now: Instant) {
        if now >= self.ignores_until {
            self.next = Db(0.0);
        }
    }
}

/// How long after the begin of a PPDU its BSS color is known; `None` if it tells none.
fn color_after(transmission: &Transmission) -> Option<Duration> {
    transmission.frame.mode.class.high()?.color_after
}

impl Space {
    /// What a node did by spatial reuse; `None` without it.
    pub fn reuse_counters(&self, node: u32) -> Option<ReuseCounters> {
        self.reuse.as_ref().map(|reuse| reuse.nodes[node as usize].counters)
    }

    /// How much less than its transmit power a node sends a frame with that begins now: any PPDU,
    /// what it answers to others included (clause 26.10.2.4). `opens`: the frame is the first of an
    /// exchange that no TXOP goes on with.
    #[inline(never)]
    pub(super) fn power_cut(&mut self, now: Instant, frame: &OnAir, opens: bool) -> Db {
        let Some(reuse) = &mut self.reuse else { return Db(0.0) };
        let node = &mut reuse.nodes[frame.from as usize];
        if !(frame.is_control_response() || frame.answers_trigger()) {
            if opens {
                node.win(now);
            }
            return node.in_txop;
        }
        if !self.nodes[frame.from as usize].contends {
            node.rest(now);
        }
        node.next
    }

    /// A node takes a packet into service that had none.
    #[inline(never)]
    pub(super) fn end_rest(&mut self, now: Instant, node: u32) {
        if let Some(reuse) = &mut self.reuse {
            reuse.nodes[node as usize].rest(now);
        }
    }

    /// A PPDU begins, or a wave of it, whose color nodes will know.
    #[inline(never)]
    pub(super) fn await_color(&mut self, id: u32, out: &mut Vec<Command>) {
        let Some(reuse) = &mut self.reuse else { return };
        let transmission = self.signals.transmission(id);
        if let Some(after) = color_after(transmission) {
            let at = transmission.start + after;
            reuse.signalled.push_back((at, id));
            out.push(Command::Step(at));
        }
    }

    /// Nodes ignore PPDUs of other BSSs whose color they know now.
    #[inline(never)]
    pub(super) fn ignore_others(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(mut reuse) = self.reuse.take() else { return };
        while let Some(id) = reuse.take_signalled(now) {
            let Reuse { settings, levels, nodes, ignoring, .. } = &mut *reuse;
            let transmission = self.signals.transmission(id);
            let (OnAir { from, ref mode, .. }, end) = (transmission.frame, transmission.end());
            let (group, width) = (nodes[from as usize].group, mode.width as usize);
            let (receivers, of_all) = (&mut self.receivers, &self.rules.levels);
            self.signals.each(id, |node, _| {
                let level = levels[nodes[node as usize].shared_with(group)][width];
                if self.rules.mac.knows(node, mode.class)
                    && settings.are_apart(from, node)
                    && receivers[node as usize].ignore(id, level, of_all)
                {
                    ignoring.push(node);
                }
            });
            for node in ignoring.drain(..) {
                let state = &mut nodes[node as usize];
                if !self.nodes[node as usize].contends {
                    state.rest(now);
                }
                state.ignore(end, state.shared_with(group) != 0);
                self.nodes[node as usize].on_lost(now, &self.rules, out);
                self.note_contending(node);
                self.settle_carrier(now, node, true);
            }
        }
        self.reuse = Some(reuse);
    }
}
