//! The links of a run: packets on them, and their commands.

use super::{Event, World};
use crate::notice::{Notice, Observer};
use crate::topology::{Interface, WireId};
use kernel::EventQueue;
use net::{Fate, LinkTimer, Signal};
use wire::{DropCause, Packet};

impl<O: Observer> World<O> {
    /// Offers a packet to a link.
    pub(super) fn transmit(&mut self, wire: WireId, packet: &Packet) {
        let at = Interface::Wire(wire);
        self.observers.on(self.now, &Notice::Queued { at, packet });
        self.note_begun(wire);
        self.wires[wire].on_packet(self.now, packet, self.out.wire.list());
        if self.wires[wire].link().is_watched() {
            self.note_begun(wire);
        }
        self.settle_wire(wire);
    }

    pub(super) fn on_wire_timer(&mut self, wire: WireId, timer: LinkTimer) {
        self.note_begun(wire);
        let is_report = timer == LinkTimer::Ready && self.wires[wire].link().knows_ahead();
        self.reports += u64::from(is_report);
        while let Some((packet, fate)) = self.wires[wire].first_crossed(self.now, timer) {
            let mut packet = *packet;
            self.wires[wire].remove_crossed(timer);
            match fate {
                Fate::Delivered => {
                    self.observers.on(self.now, &Notice::Crossed { wire, packet: &packet });
                    self.pass_on(self.topology.wire(wire).to, &mut packet);
                }
                Fate::Lost => {
                    self.drop_packet(Interface::Wire(wire), &packet, DropCause::WireLoss);
                }
                Fate::Held => {}
            }
        }
        self.wires[wire].on_timer(self.now, timer, self.out.wire.list());
        self.settle_wire(wire);
    }

    /// Reports the packets whose transmission has begun since the last call, where that is no
    /// event.
    #[inline]
    fn note_begun(&mut self, wire: WireId) {
        let (direction, at) = (&mut self.wires[wire], Interface::Wire(wire));
        let is_watched = direction.link().is_watched();
        while let Some((begin, packet, packets)) = direction.next_begun(self.now) {
            self.observers.on(begin, &Notice::Waiting { at, packets });
            if is_watched {
                self.observers.on(begin, &Notice::Began { wire, packet });
            }
        }
    }

    /// Reports what has begun on any link, before the state of the world is read.
    pub(crate) fn catch_up(&mut self) {
        self.wires.ids().for_each(|wire| self.note_begun(wire));
    }

    /// Executes the commands of a link, which are in the outbox.
    fn settle_wire(&mut self, wire: WireId) {
        let at = Interface::Wire(wire);
        let packets = self.wires[wire].link().waiting();
        self.observers.on(self.now, &Notice::Waiting { at, packets });
        let Self { out, event_queue, .. } = self;
        if out.wire.settles(wire, |command| schedule(event_queue, wire, command)) {
            return;
        }
        let Some(mut turn) = self.out.wire.begin(wire, ()) else { return };
        while let Some(((), command)) = self.out.wire.next(&mut turn) {
            match *command {
                net::Command::Signal(Signal::Drop(ref packet)) => {
                    self.lose(at, packet, DropCause::Queue);
                }
                net::Command::Signal(Signal::Mark(ref packet, before)) => {
                    self.observers.on(self.now, &Notice::Marked { at, packet, before });
                }
                net::Command::Began(ref packet) => {
                    self.observers.on(self.now, &Notice::Began { wire, packet });
                }
                net::Command::Departed(ref packet) => {
                    let from = self.topology.wire(wire).from;
                    self.refill(from, packet);
                    self.complete(from, packet);
                }
                net::Command::Set(..) => _ = schedule(&mut self.event_queue, wire, command),
            }
        }
    }
}

/// Carries out a command of a link if it only sets a timer.
#[inline]
fn schedule(event_queue: &mut EventQueue<Event>, wire: WireId, command: &net::Command) -> bool {
    let net::Command::Set(timer, at) = *command else { return false };
    event_queue.at(at, Event::Wire(wire, timer));
    true
}
