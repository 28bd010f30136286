//! Frames that arrive at some nodes only, because the others follow them without a visit
//! (`space/bystanders.rs`), and at whom a frame arrives with which power.

use super::{Power, ReceiverInRange, Signals};
use kernel::Instant;

impl Signals {
    /// A frame that has begun, where powers are always the same, arrives only at those of these
    /// nodes that hear it.
    pub(in crate::space) fn narrow(&mut self, id: u32, nodes: &[u32]) {
        let Self { receiver_sets, transmissions, .. } = self;
        let record = &mut transmissions[id as usize];
        let set = receiver_sets.get(record.receiver_set.expect("it has begun"));
        record.is_narrow = true;
        record.arrivals.clear();
        record.arrivals.extend(nodes.iter().filter_map(|&node| set.find(node)));
    }

    /// The same frame arrives at one more node, if that hears it.
    pub(in crate::space) fn include(&mut self, id: u32, node: u32) {
        let Some(&receiver) = self.receiver_set(id).find(node) else { return };
        let arrivals = &mut self.transmissions[id as usize].arrivals;
        let place = arrivals.partition_point(|other| other.node < node);
        arrivals.insert(place, receiver);
    }

    /// The same frame arrives at all nodes that hear it.
    pub(in crate::space) fn widen(&mut self, id: u32) {
        self.transmissions[id as usize].is_narrow = false;
    }

    /// Where powers are always the same: all that hear a frame, bystanders included.
    pub(in crate::space) fn in_range(&self, id: u32) -> &[ReceiverInRange] {
        self.receiver_set(id).receivers()
    }

    /// Nodes at which a frame arrives with a power from the first value to below the second are
    /// appended, with the power.
    pub(in crate::space) fn receivers_within(
        &self,
        id: u32,
        from: f64,
        below: f64,
        into: &mut Vec<(u32, f64)>,
    ) {
        into.extend(self.receiver_set(id).within(from, below));
    }

    /// Whether all other nodes receive a frame with at least this power, in milliwatts.
    pub(in crate::space) fn is_heard_by_all(&self, id: u32, power: f64) -> bool {
        self.receiver_set(id).is_heard_by(self.sites.len() - 1, power)
    }

    /// What arrives of one node at another, where that is always the same.
    #[inline]
    pub(in crate::space) fn steady_power(&self, from: u32, to: u32) -> Option<Power> {
        let receiver = match self.receiver_sets.kept(from) {
            Some(set) => set.find(to).copied(),
            None => self.receiver(from, to, Instant::ZERO),
        };
        receiver.map(|receiver| receiver.power)
    }
}
