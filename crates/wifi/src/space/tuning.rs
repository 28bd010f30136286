//! Nodes that change their channel, and the access points from which they accept frames.

use super::Space;
use super::node::Node;
use super::rules::peer_mut;
use crate::Command;
use crate::phy::{Milliwatts, Mode};
use kernel::{Dbm, Instant};
use wire::Packet;

impl Space {
    /// Whether a node may change its channel now: it has nothing in service, and neither sends nor
    /// is about to answer a frame.
    pub fn is_at_rest(&self, node: u32, now: Instant) -> bool {
        let sends = self.receivers[node as usize].is_transmitting_until(now);
        !sends && self.nodes[node as usize].is_at_rest()
    }

    /// From now on a node sends and receives in this channel. The node must be at rest. Frames that
    /// are on the air still arrive where they arrived before.
    pub fn tune(&mut self, node: u32, channel: u16) {
        self.wake_all();
        self.signals.tune(node, channel);
        if let Some(subchannels) = &mut self.nodes[node as usize].subchannels {
            subchannels.tune(channel);
        }
    }

    /// The mode of beacons and of the frames by which stations change their access points.
    pub fn management_mode(&self) -> &Mode {
        &self.rules.mac.beacon_mode
    }

    /// Whether two nodes with a link receive what the other one addresses to them; they do unless
    /// this was called. Frames that they do not receive are lost, and not acknowledged.
    pub fn open_link(&mut self, ends: [u32; 2], is_open: bool) {
        let [a, b] = ends;
        for (at, from) in [(a, b), (b, a)] {
            if let Some(peer) = peer_mut(&mut self.nodes[at as usize].peers, from) {
                peer.is_closed = !is_open;
            }
        }
    }

    /// A station accepts frames from another access point than before, or from the same, and is
    /// associated with none. Returns what waits for earlier frames in the reorder buffers of the
    /// station and of the access point before.
    pub fn turn(&mut self, now: Instant, station: u32, from: u32, to: u32) -> Vec<Packet> {
        let mut lost = Vec::new();
        if from != to {
            self.open_link([station, from], false);
            self.discard_held([station, from], &mut lost);
        }
        self.open_link([station, to], true);
        self.stop_timers(now, station);
        self.nodes[station as usize].belong_to(None);
        lost
    }

    /// A station is associated with an access point, after another one or the same. Those that
    /// trigger stations know it.
    pub fn associate(&mut self, station: u32, from: u32, to: u32) {
        self.nodes[station as usize].belong_to(Some(to));
        for (node, is_member) in [(from, false), (to, true)] {
            self.nodes[node as usize].change_member(station, is_member);
        }
        if from == to {
            let own = self.nodes[to as usize].triggers_mut();
            return own.into_iter().for_each(|own| own.triggering.begin_random(station, None));
        }
        let pair = self.nodes.get_disjoint_mut([from, to].map(|node| node as usize));
        let [before, own] = pair.expect("access points are nodes").map(Node::triggers_mut);
        if let Some(own) = own {
            own.triggering.begin_random(station, before.map(|before| &mut before.triggering));
        }
    }

    /// Removes the packets that wait in the reorder buffers of two nodes for earlier ones of the
    /// other node, and appends them to a list.
    fn discard_held(&mut self, ends: [u32; 2], into: &mut Vec<Packet>) {
        let [a, b] = ends;
        for (at, from) in [(a, b), (b, a)] {
            self.nodes[at as usize].inbox.discard_held(from, into);
        }
    }

    /// A node sends nothing more to another one, which has left. Its packets in service are
    /// flushed, when an exchange in progress ends or at once.
    pub fn flush(&mut self, from: u32, to: u32, out: &mut Vec<Command>) {
        self.wake(from);
        self.nodes[from as usize].flush(to, &self.rules, out);
        self.note_contending(from);
        self.set_timer(from);
        self.schedule(out);
    }

    /// The mean power of a frame at a node if another one began to send it now; `None` if the node
    /// would not detect it.
    pub fn signal(&self, from: u32, to: u32, now: Instant) -> Option<Dbm> {
        let [own, other] = [to, from].map(|node| self.signals.sites[node as usize].channel);
        let power = self.signals.mean_power(from, to, now).filter(|_| own == other)?.milliwatts;
        (power >= self.rules.levels.detect).then(|| Milliwatts(power).into())
    }
}
