//! Links between nodes: to whom a node sends, and in which mode.

use super::Space;
use super::node::Node;
use super::rules::{self, Peer};
use crate::Link;
use crate::mac::{Edcaf, MacConfig, Originator};
use crate::phy::Mode;
use crate::rate::RateControl;
use kernel::Instant;

impl Space {
    /// Prepares the nodes for links that are added later: each node may send to any other.
    pub fn allow_links(&mut self) {
        let apart = self.rules.mac.framing.aggregation.is_some();
        for edcaf in self.nodes.iter_mut().flat_map(Node::edcafs_mut) {
            edcaf.originator = Originator::new(apart);
        }
    }

    /// Adds a link between two nodes, in both directions, unless there is one. With aggregation,
    /// [`Self::allow_links`] must be called before the first packet.
    pub fn add_link(&mut self, ends: [u32; 2], links: [Link; 2]) {
        let [a, b] = ends;
        if let Some(overlaps) = &mut self.signals.radio.overlaps {
            for link in &links {
                overlaps.add_link(ends, link);
            }
        }
        for ((from, to), link) in [(a, b), (b, a)].into_iter().zip(links) {
            let power = self.signals.mean_power(from, to, Instant::ZERO);
            let peer = Peer::new(to, link, power);
            let peers = &mut self.nodes[from as usize].peers;
            if let Err(place) = peers.binary_search_by_key(&to, |peer| peer.node) {
                peers.insert(place, peer);
            }
        }
    }

    /// From now on, all nodes report the packets in data frames that they decode and that are
    /// addressed to other nodes.
    pub fn overhear(&mut self) {
        (self.overhears, self.follows_others) = (true, true);
    }

    /// From now on, the contention windows and the RTS threshold are those of this configuration. A
    /// back-off that was drawn before is not drawn again.
    pub fn adopt(&mut self, config: &MacConfig) {
        let edcafs = self.nodes.iter_mut().flat_map(Node::edcafs_mut);
        Edcaf::adopt_all(edcafs, &mut self.rules.mac, config);
    }

    /// Sets the mode in which a node sends to another.
    pub fn set_mode(&mut self, from: u32, to: u32, mode: Mode) {
        self.expect_mode(mode);
        if let Some(peer) = self.peer_mut(from, to) {
            peer.rate.turn_to(mode);
        }
    }

    /// Sets the rate control that chooses the mode in which a node sends to another.
    pub fn control_rate(&mut self, from: u32, to: u32, control: Box<dyn RateControl>) {
        if let Some(peer) = self.peer_mut(from, to) {
            peer.rate.control = Some(control);
        }
    }

    /// The losses of data and of responses of a link.
    #[cfg(test)]
    pub(crate) fn losses(&self, [a, b]: [u32; 2]) -> (f64, f64) {
        let Link { data_loss, ack_loss, .. } = self.nodes[a as usize].peer(b).expect("a link").link;
        (data_loss, ack_loss)
    }

    /// Sets the losses of a link, in both directions.
    #[cfg(test)]
    pub(crate) fn set_losses(&mut self, ends: [u32; 2], data_loss: f64, ack_loss: f64) {
        let [a, b] = ends;
        for (from, to) in [(a, b), (b, a)] {
            let peer = self.peer_mut(from, to).expect("a link");
            peer.link = Link { data_loss, ack_loss, ..peer.link };
        }
    }

    /// The mode in which a node sends to another, if there is a link.
    pub fn mode(&self, from: u32, to: u32) -> Option<&Mode> {
        self.nodes[from as usize].peer(to).map(|peer| &peer.rate.mode)
    }

    /// The nodes to which a node has links.
    pub fn peers(&self, node: u32) -> impl Iterator<Item = u32> {
        self.nodes[node as usize].peers.iter().map(|peer| peer.node)
    }

    fn peer_mut(&mut self, from: u32, to: u32) -> Option<&mut Peer> {
        rules::peer_mut(&mut self.nodes[from as usize].peers, to)
    }
}
