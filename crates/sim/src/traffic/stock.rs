//! The datagrams that saturated sources keep at their nodes: how many wait, and which source sends
//! the next.

use kernel::IdVec;
use wire::{FlowId, NodeId, Packet};

/// The datagrams of all saturated sources.
#[derive(Debug)]
pub(crate) struct Stock {
    /// How many each source keeps at its node.
    depth: u32,
    /// By flow, if its source is saturated.
    flows: IdVec<FlowId, Option<Waiting>>,
    /// By node, the flows of the sources there.
    sources: IdVec<NodeId, Vec<FlowId>>,
    /// Nodes whose queue has dropped a packet of such a source, so that one may be short of
    /// packets.
    is_short: IdVec<NodeId, bool>,
}

/// The datagrams of a source that wait at its node.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    node: NodeId,
    count: u32,
}

/// What is to be sent in place of a packet that has left a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refill {
    Nothing,
    /// One datagram of this flow.
    One(FlowId),
    /// All that this flow lacks.
    All(FlowId),
}

impl Stock {
    /// No sources at so many nodes. A source keeps as many datagrams as two accesses may send: one
    /// in service, and one that waits behind it.
    pub(crate) fn new(nodes: usize, per_access: u32) -> Self {
        Self {
            depth: 2 * per_access,
            flows: IdVec::new(),
            sources: IdVec::filled(nodes, Vec::new()),
            is_short: IdVec::filled(nodes, false),
        }
    }

    /// Adds the next flow, whose saturated source, if it has one, is at this node.
    pub(crate) fn add(&mut self, flow: FlowId, source: Option<NodeId>) {
        self.flows.push(source.map(|node| Waiting { node, count: 0 }));
        if let Some(node) = source {
            self.sources[node].push(flow);
        }
    }

    /// How many datagrams a source lacks.
    pub(crate) fn lacks(&self, flow: FlowId) -> u32 {
        self.flows[flow].map_or(0, |waiting| self.depth.saturating_sub(waiting.count))
    }

    /// The source of a flow sends a datagram.
    pub(crate) fn on_sent(&mut self, flow: FlowId) {
        if let Some(waiting) = &mut self.flows[flow] {
            waiting.count += 1;
        }
    }

    /// Whether a packet is from a saturated source at this node; if so, it no longer counts as
    /// waiting there.
    fn take(&mut self, node: NodeId, packet: &Packet) -> bool {
        let waiting = packet.flow().and_then(|flow| self.flows[flow].as_mut());
        let Some(waiting) = waiting.filter(|waiting| waiting.node == node) else { return false };
        waiting.count = waiting.count.saturating_sub(1);
        true
    }

    /// The queue of a node has dropped a packet.
    pub(crate) fn on_dropped(&mut self, node: NodeId, packet: &Packet) {
        if !self.sources[node].is_empty() && self.take(node, packet) {
            self.is_short[node] = true;
        }
    }

    /// A packet has left a node: its source sends others. After drops, the sources that are short
    /// take turns. `lives` is whether the source of a flow still sends.
    #[inline]
    pub(crate) fn on_left(
        &mut self,
        node: NodeId,
        packet: &Packet,
        lives: impl Fn(FlowId) -> bool,
    ) -> Refill {
        if self.sources[node].is_empty() {
            return Refill::Nothing;
        }
        let Some(flow) = packet.flow() else { return Refill::Nothing };
        let own = self.take(node, packet);
        if self.is_short[node] {
            return self.next_after(node, flow, lives);
        }
        if own && lives(flow) { Refill::All(flow) } else { Refill::Nothing }
    }

    /// The next source of a node after this flow that is short of datagrams.
    fn next_after(&mut self, node: NodeId, flow: FlowId, lives: impl Fn(FlowId) -> bool) -> Refill {
        let here = &self.sources[node];
        let next = here.partition_point(|&other| other <= flow);
        let is_short = |&&flow: &&FlowId| self.lacks(flow) > 0 && lives(flow);
        if let Some(&flow) = here[next..].iter().chain(&here[..next]).find(is_short) {
            return Refill::One(flow);
        }
        self.is_short[node] = false;
        Refill::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Bytes, Instant};
    use wire::{Body, Datagram};

    const NODE: NodeId = NodeId(1);

    fn packet(flow: u32) -> Packet {
        let body = Body::Datagram(Datagram { flow: FlowId(flow), number: 0, len: 72, stream: 0 });
        Packet::new(NODE, Some(NodeId(0)), Bytes(100), Instant::ZERO, body)
    }

    /// Two sources that keep two datagrams each at a node.
    fn full() -> Stock {
        let mut stock = Stock::new(2, 1);
        for flow in [FlowId(0), FlowId(1)] {
            stock.add(flow, Some(NODE));
            for _ in 0..stock.lacks(flow) {
                stock.on_sent(flow);
            }
        }
        stock
    }

    #[test]
    fn a_source_sends_in_place_of_what_has_left() {
        let mut stock = full();
        assert_eq!(stock.on_left(NODE, &packet(1), |_| true), Refill::All(FlowId(1)));
        assert_eq!((stock.lacks(FlowId(0)), stock.lacks(FlowId(1))), (0, 1));
        assert_eq!(stock.on_left(NODE, &packet(0), |_| false), Refill::Nothing);
        assert_eq!(stock.on_left(NodeId(0), &packet(0), |_| true), Refill::Nothing);
    }

    #[test]
    fn after_drops_the_sources_that_are_short_take_turns() {
        let mut stock = full();
        for flow in [0, 1] {
            stock.on_dropped(NODE, &packet(flow));
        }
        assert_eq!(stock.on_left(NODE, &packet(0), |_| true), Refill::One(FlowId(1)));
        stock.on_sent(FlowId(1));
        assert_eq!(stock.on_left(NODE, &packet(1), |_| true), Refill::One(FlowId(0)));
        stock.on_sent(FlowId(0));
        // Nobody is left that is short, and from now on each sends in place of its own.
        assert_eq!(stock.on_left(NODE, &packet(0), |_| false), Refill::Nothing);
        assert_eq!(stock.on_left(NODE, &packet(0), |_| true), Refill::All(FlowId(0)));
    }
}
