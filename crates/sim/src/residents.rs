//! The packets that are still in the network when a run ends.

use crate::medium::Medium;
use crate::network::Network;
use crate::notice::Notice;
use crate::topology::{Interface, RadioId, WireId};
use kernel::IdVec;
use net::Lossy;
use wifi::station::Stations;
use wire::{Body, Packet};

/// What holds packets.
pub(crate) struct Holders<'a> {
    pub(crate) queues: &'a IdVec<RadioId, Box<dyn net::Queue>>,
    pub(crate) medium: &'a Medium,
    pub(crate) network: Option<&'a Network>,
    pub(crate) stations: &'a Stations,
    pub(crate) wires: &'a IdVec<WireId, Lossy>,
}

impl Holders<'_> {
    /// Tells of each packet where it is, and of those in service also who sends them.
    pub(crate) fn each(&self, tell: &mut dyn FnMut(&Notice<'_>)) {
        for (radio, queue) in self.queues.entries() {
            let at = Some(Interface::Radio(radio));
            queue.each(&mut |packet| tell(&Notice::Resident { at, packet }));
        }
        self.medium.each_in_service(&mut |packet| tell(&Notice::Resident { at: None, packet }));
        self.medium.each_serving(&mut |node, packet: &Packet| {
            if !matches!(packet.body, Body::Management(_)) {
                tell(&Notice::Serving { by: RadioId(node), packet });
            }
        });
        if let Some(network) = self.network {
            network.each(&mut |packet| tell(&Notice::Resident { at: None, packet }));
        }
        for (radio, packet) in self.stations.each() {
            tell(&Notice::Resident { at: Some(Interface::Radio(RadioId(radio))), packet });
        }
        for (wire, direction) in self.wires.entries() {
            let at = Some(Interface::Wire(wire));
            direction.each(&mut |packet| tell(&Notice::Resident { at, packet }));
        }
    }
}
