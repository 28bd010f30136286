//! The rules that all nodes of a space share, and what a node stores about a peer.

use super::radio::{Levels, Power};
use crate::Link;
use crate::mac::{self, PeerRate, Timing};

/// Rules of medium access, and properties of receivers.
#[derive(Debug)]
pub(super) struct SpaceRules {
    pub(super) mac: mac::Rules,
    pub(super) levels: Levels,
    pub(super) nav_reset: bool,
}

impl SpaceRules {
    pub(super) fn timing(&self) -> &Timing {
        self.mac.timing()
    }
}

/// A node with which another has a link.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) node: u32,
    pub(super) link: Link,
    /// The mode of frames to it.
    pub(super) rate: PeerRate,
    /// The mean power at which it receives the node's frames, in milliwatts; if one of the two
    /// moves, that of the last frame.
    pub(super) power: f64,
}

impl Peer {
    /// A peer over this link, which receives this mean power.
    pub(super) fn new(node: u32, link: Link, power: Option<Power>) -> Self {
        let power = power.map_or(0.0, |power| power.milliwatts);
        Self { node, link, rate: PeerRate::fixed(link.mode), power }
    }
}

/// The entry of a peer in a list that is sorted by number.
pub(super) fn peer_mut(peers: &mut [Peer], node: u32) -> Option<&mut Peer> {
    let at = peers.binary_search_by_key(&node, |peer| peer.node).ok()?;
    Some(&mut peers[at])
}
