//! What senders are told of the rates of radio links.

use super::{ACCESS_POINT, World};
use crate::flow::Transport;
use crate::plan::{LinkRate, Plan};
use tcp::Hint;
use wifi::phy::Mode;
use wire::NodeId;

/// A direction of a radio link: who sends to whom.
type Way = (NodeId, NodeId);

/// Which flows are told of which ways.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Ways by flow, in the order in which data crosses them.
    ways: Vec<[Option<Way>; 2]>,
    /// Flows by the station of a way, either direction.
    flows: Vec<Vec<u32>>,
}

impl World {
    /// Finds out which ways concern which flows, and tells each the rate it begins with.
    pub(super) fn tell_rates(&mut self, plan: &Plan) {
        self.told.flows = vec![Vec::new(); plan.stations.len()];
        for index in 0..self.flows.len() {
            let ways = self.ways_of(plan, index);
            for (from, to) in ways.into_iter().flatten() {
                let station = from.max(to).0 as usize - 1;
                self.told.flows[station].push(index as u32);
            }
            self.told.ways.push(ways);
            self.tell_rate(index as u32);
        }
    }

    fn ways_of(&self, plan: &Plan, index: usize) -> [Option<Way>; 2] {
        let flow = &self.flows[index];
        let (Some(tcp), Some(to)) = (&plan.flows[index].tcp, flow.to) else { return [None; 2] };
        let (from, to) = (self.home(flow.from), self.home(to));
        let is_station = |node: &NodeId| (1..=plan.stations.len() as u32).contains(&node.0);
        let up = Some((from, ACCESS_POINT)).filter(|(from, _)| is_station(from));
        let down = Some((ACCESS_POINT, to)).filter(|(_, to)| is_station(to));
        let own = |way: &Way| way.0 == from;
        match tcp.link_rate {
            LinkRate::Own => [up, down.filter(own)],
            LinkRate::Path => [up, down],
        }
    }

    /// The mode of a way; an access point stands for that of the station.
    pub(crate) fn mode(&self, from: NodeId, to: NodeId) -> Option<&Mode> {
        let (from, to) = (self.bss.gate(from, Some(to)).0, self.bss.gate(to, Some(from)).0);
        self.cell.mode(from, to)
    }

    /// A node sends to another in another mode than before.
    pub(super) fn on_mode(&mut self, from: NodeId, to: NodeId) {
        let station = from.max(to).0 as usize - 1;
        for i in 0..self.told.flows[station].len() {
            let flow = self.told.flows[station][i];
            if self.told.ways[flow as usize].contains(&Some((from, to))) {
                self.tell_rate(flow);
            }
        }
    }

    /// Tells a flow's sender the rate of the slowest way that concerns it.
    pub(super) fn tell_rate(&mut self, flow: u32) {
        let ways = self.told.ways[flow as usize].iter().flatten();
        let slowest = ways.filter_map(|&(from, to)| Some(self.mode(from, to)?.rate)).min();
        if let (Some(rate), Transport::Tcp(tcp)) =
            (slowest, &mut self.flows[flow as usize].transport)
        {
            tcp.sender.on_hint(self.now, Hint::LinkRate(rate));
        }
    }
}
