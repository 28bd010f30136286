//! The links of a run: packets on them, and their commands.

use super::{Event, World};
use crate::notice::{Notice, Observer};
use crate::topology::{Interface, WireId};
use net::{LinkTimer, Signal};
use wire::{DropCause, Packet};

impl<O: Observer> World<O> {
    /// Offers a packet to a link.
    pub(super) fn transmit(&mut self, wire: WireId, packet: &Packet) {
        let at = Interface::Wire(wire);
        self.observers.on(self.now, &Notice::Queued { at, packet });
        self.wires[wire].on_packet(self.now, packet, self.out.wire.list());
        self.settle_wire(wire);
    }

    pub(super) fn on_wire_timer(&mut self, wire: WireId, timer: LinkTimer) {
        self.wires[wire].on_timer(self.now, timer, self.out.wire.list());
        self.settle_wire(wire);
    }

    /// Executes the commands of a link, which are in the outbox.
    fn settle_wire(&mut self, wire: WireId) {
        let at = Interface::Wire(wire);
        let packets = self.wires[wire].link().waiting();
        self.observers.on(self.now, &Notice::Waiting { at, packets });
        let Some(mut turn) = self.out.wire.begin(wire, ()) else { return };
        while let Some(((), command)) = self.out.wire.next(&mut turn) {
            match *command {
                net::Command::Deliver(ref mut packet) => {
                    self.observers.on(self.now, &Notice::Crossed { wire, packet });
                    self.pass_on(self.topology.wire(wire).to, packet);
                }
                net::Command::Signal(Signal::Drop(ref packet)) => {
                    self.lose(at, packet, DropCause::Queue);
                }
                net::Command::Signal(Signal::Mark(ref packet, before)) => {
                    self.observers.on(self.now, &Notice::Marked { at, packet, before });
                }
                net::Command::Lost(ref packet) => {
                    self.drop_packet(at, packet, DropCause::WireLoss);
                }
                net::Command::Began(ref packet) => {
                    self.observers.on(self.now, &Notice::Began { wire, packet });
                }
                net::Command::Departed(ref packet) => {
                    let from = self.topology.wire(wire).from;
                    self.refill(from, packet);
                    self.complete(from, packet);
                }
                net::Command::Set(timer, at) => {
                    self.event_queue.at(at, Event::Wire(wire, timer));
                }
            }
        }
    }
}
