//! The rules that all nodes of a space share, and what a node stores about a peer.

use super::power::{Levels, Power};
use crate::Link;
use crate::mac::{self, ACK, ElicitedResponse, PeerRate, Timing, block_ack};
use crate::phy::{Mode, ModeClass};
use kernel::{BitRate, Duration};
use std::borrow::Cow;

/// Rules of medium access, and properties of receivers.
#[derive(Debug)]
pub(super) struct SpaceRules {
    pub(super) mac: mac::Rules,
    pub(super) levels: Levels,
    pub(super) nav_reset: bool,
    /// Of all modes of DSSS and OFDM.
    responses: Vec<Responses>,
}

impl SpaceRules {
    pub(super) fn new(mac: mac::Rules, levels: Levels, nav_reset: bool) -> Self {
        let timing = mac.timing();
        let modes = timing.standard.modes.iter();
        let responses = modes.map(|mode| Responses::to(timing, mode)).collect();
        Self { mac, levels, nav_reset, responses }
    }

    pub(super) fn timing(&self) -> &Timing {
        self.mac.timing()
    }

    /// How long the response lasts that a frame in this mode elicits.
    pub(super) fn response_airtime(&self, mode: &Mode, answer: ElicitedResponse) -> Duration {
        let bytes = match answer {
            ElicitedResponse::BlockAck => block_ack(self.mac.window()),
            ElicitedResponse::Ack | ElicitedResponse::None => ACK,
        };
        let timing = self.timing();
        timing.airtime(&timing.response_mode(mode), bytes).total()
    }

    /// What responds to frames in this mode.
    #[inline]
    pub(super) fn responses(&self, mode: &Mode) -> Cow<'_, Responses> {
        let is_known = |known: &&Responses| (known.rate, known.class) == (mode.rate, mode.class);
        let known = self.responses.iter().find(is_known).map(Cow::Borrowed);
        known.unwrap_or_else(|| Cow::Owned(Responses::to(self.timing(), mode)))
    }
}

/// What responds to frames in a mode, and what precedes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Responses {
    rate: BitRate,
    class: ModeClass,
    /// The mode of an Ack or CTS in response.
    pub(super) mode: Mode,
    /// The duration of an Ack or CTS in response.
    pub(super) ack: Duration,
    /// How long the transmitter waits for a response.
    pub(super) timeout: Duration,
    /// The mode of an RTS or CTS-to-self before the frame.
    pub(super) rts_mode: Mode,
}

impl Responses {
    fn to(timing: &Timing, mode: &Mode) -> Self {
        let response = timing.response_mode(mode);
        Self {
            rate: mode.rate,
            class: mode.class,
            mode: response,
            ack: timing.airtime(&response, ACK).total(),
            timeout: timing.response_timeout(mode),
            rts_mode: timing.rts_mode(mode),
        }
    }
}

/// A node with which another has a link.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) node: u32,
    pub(super) link: Link,
    /// The node receives nothing that this peer addresses to it.
    pub(super) is_closed: bool,
    /// The mode of frames to it.
    pub(super) rate: PeerRate,
    /// The mean power at which it receives the node's frames, in milliwatts; if rate control
    /// learns it, that of the last frame.
    pub(super) power: f64,
}

impl Peer {
    /// A peer over this link, which receives this mean power.
    pub(super) fn new(node: u32, link: Link, power: Option<Power>) -> Self {
        let power = power.map_or(0.0, |power| power.milliwatts);
        Self { node, link, is_closed: false, rate: PeerRate::fixed(link.mode), power }
    }
}

/// The place of a peer in a list that is sorted by number. The stations of an access point mostly
/// have consecutive numbers.
#[inline]
pub(super) fn place_of(peers: &[Peer], node: u32) -> Option<usize> {
    let guess = node.wrapping_sub(peers.first()?.node) as usize;
    if peers.get(guess).is_some_and(|peer| peer.node == node) {
        return Some(guess);
    }
    peers.binary_search_by_key(&node, |peer| peer.node).ok()
}

/// The entry of a peer in such a list.
#[inline]
pub(super) fn peer_mut(peers: &mut [Peer], node: u32) -> Option<&mut Peer> {
    place_of(peers, node).map(|place| &mut peers[place])
}
