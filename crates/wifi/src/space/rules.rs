//! What all nodes of a space share, and what a node knows of another.

use super::radio::Levels;
use crate::Link;
use crate::mac::{self, PeerRate, Timing};

/// Rules of medium access, and receivers.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) mac: mac::Rules,
    pub(super) levels: Levels,
    pub(super) nav_reset: bool,
}

impl Rules {
    pub(super) fn timing(&self) -> &Timing {
        self.mac.timing()
    }
}

/// A node with which another exchanges frames.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) node: u32,
    pub(super) link: Link,
    /// Of frames to it.
    pub(super) rate: PeerRate,
    /// What it gets of the node's power on average, in milliwatts; if one of the two moves, what
    /// the last frame had.
    pub(super) power: f64,
}

/// What a node knows of another, of which there is a list by number.
pub(super) fn peer_mut(peers: &mut [Peer], node: u32) -> Option<&mut Peer> {
    let at = peers.binary_search_by_key(&node, |peer| peer.node).ok()?;
    Some(&mut peers[at])
}
