//! The radios of a run: the queues from which they send, the commands of the medium, and the frames
//! that they receive.

#![allow(clippy::inline_always, reason = "what is inlined so runs for each packet")]

mod station;

use super::{Event, World};
use crate::air::{ExchangeUse, Listening, Waiting};
use crate::medium::Medium;
use crate::notice::{Notice, Observer};
use crate::topology::{Interface, RadioId};
use kernel::{EventQueue, Ticket};
use net::{Signal, Wanted};
use wifi::station::Next;
use wifi::{MsduOutcome, MsduSource};
use wire::{Body, DropCause, NodeId, Packet, PowerBits, TrafficClass};

impl<O: Observer> World<O> {
    /// Offers a packet to the queue of a radio.
    #[inline]
    pub(super) fn enqueue(&mut self, by: RadioId, packet: &Packet) {
        let at = Interface::Radio(by);
        self.observers.on(self.now, &Notice::Queued { at, packet });
        self.queues[by].push(self.now, packet, self.out.signal.list());
        self.settle_signals(by);
        self.at_stations(by, |all, scope| all.on_queued(by.0, scope));
        if self.cell.is_free_for(by.0, packet.class) {
            self.serve(by, packet.class);
        } else {
            self.note_queue(by);
        }
    }

    /// Handles an event of the medium that may take packets out of the queues.
    pub(super) fn with_frame_source(
        &mut self,
        event: impl FnOnce(&mut Medium, &mut dyn MsduSource, &mut Vec<wifi::Command>),
    ) {
        self.at_waiting(|medium, waiting, out| event(medium, waiting, out));
        self.settle_medium();
    }

    /// Asks the queues behind the functions of radios for packets.
    #[inline]
    pub(super) fn at_waiting<T>(
        &mut self,
        event: impl FnOnce(&mut Medium, &mut Waiting<'_, O>, &mut Vec<wifi::Command>) -> T,
    ) -> T {
        let mut waiting = Waiting {
            now: self.now,
            topology: &self.topology,
            routes: &self.routes,
            queues: &mut self.queues,
            has_categories: self.cell.has_categories(),
            stations: &mut self.stations,
            signals: self.out.signal.list(),
            taken: &mut self.taken,
            observers: &mut self.observers,
        };
        event(&mut self.cell, &mut waiting, self.out.medium.list())
    }

    /// The medium has handled an event.
    #[inline]
    fn settle_medium(&mut self) {
        self.listening.report(&mut self.cell, self.now, &mut self.observers);
        Listening::report_use(&mut self.cell, self.now, &mut self.observers);
        self.settle_taken();
        self.settle_cell();
    }

    /// Does what follows from packets that have been taken out of queues.
    #[allow(clippy::inline_always, reason = "out of line it costs 0.5 % of a run")]
    #[inline(always)]
    pub(super) fn settle_taken(&mut self) {
        while let Some((by, signal)) = self.taken.signals.pop_front() {
            self.settle_signal(by, &signal);
        }
        while let Some((by, packet)) = self.taken.lost.pop() {
            self.note_lost(self.topology.radio(by).node, &packet);
        }
        while let Some(by) = self.taken.radios.pop() {
            self.note_queue(by);
        }
    }

    /// Passes the next packet to a radio that can accept one of this class.
    pub(super) fn serve(&mut self, by: RadioId, class: TrafficClass) {
        match self.stations.next(self.now, by.0, class) {
            Next::Queue(None) => {
                if let Some(packet) = &self.pop(by, class) {
                    let to = self.routes.receiver(self.topology.radio(by).node, packet);
                    self.begin_service(by, to, packet);
                }
            }
            next => self.serve_next(by, class, next),
        }
        // Also of what does not leave: a packet may have come.
        self.note_queue(by);
    }

    /// A packet leaves the queue of a radio, or a buffer behind it, for the medium.
    #[inline(always)]
    pub(super) fn begin_service(&mut self, by: RadioId, to: Option<RadioId>, packet: &Packet) {
        self.observers.on(self.now, &Notice::Dequeued { by, to, packet });
        self.offer(by, packet, to.map(|radio| radio.0));
    }

    /// Passes a packet to the medium.
    #[inline(always)]
    pub(super) fn offer(&mut self, by: RadioId, packet: &Packet, to: Option<u32>) {
        self.cell.on_packet(self.now, by.0, packet, to, self.out.medium.list());
        self.note_contention();
        self.settle_cell();
    }

    /// Lets a radio send a packet of this class, if it can.
    pub(super) fn serve_if_free(&mut self, by: RadioId, class: TrafficClass) {
        if self.cell.is_free_for(by.0, class) {
            self.serve(by, class);
        }
    }

    /// Takes the next packet from the queue of a radio.
    #[inline(always)]
    pub(super) fn pop(&mut self, by: RadioId, class: TrafficClass) -> Option<Packet> {
        let queue = &mut self.queues[by];
        let popped = if self.cell.has_categories() {
            queue.pop_for(self.now, &Wanted::of(class), self.out.signal.list())
        } else {
            queue.pop(self.now, self.out.signal.list())
        };
        self.settle_signals(by);
        popped
    }

    /// A packet that was popped from the queue of a radio has left it.
    pub(super) fn release(&mut self, by: RadioId, packet: &Packet) {
        self.queues[by].release(self.now, packet, self.out.signal.list());
        self.settle_signals(by);
    }

    /// Removes and returns the packets that wait at a radio for a node.
    pub(super) fn withdraw(&mut self, by: RadioId, to: NodeId) -> Vec<Packet> {
        let mut waiting = Vec::new();
        let queue = &mut self.queues[by];
        queue.withdraw(self.now, to, &mut waiting, self.out.signal.list());
        self.settle_signals(by);
        self.note_queue(by);
        waiting
    }

    /// Handles the drops and marks of a radio's queue, which are in the outbox.
    #[inline]
    pub(super) fn settle_signals(&mut self, by: RadioId) {
        let Some(mut turn) = self.out.signal.begin(by, ()) else { return };
        while let Some(((), signal)) = self.out.signal.next(&mut turn) {
            self.settle_signal(by, signal);
        }
    }

    fn settle_signal(&mut self, by: RadioId, signal: &Signal) {
        match *signal {
            Signal::Drop(ref packet) => self.lose(Interface::Radio(by), packet, DropCause::Queue),
            Signal::Mark(ref packet, before) => {
                let at = Interface::Radio(by);
                self.observers.on(self.now, &Notice::Marked { at, packet, before });
            }
        }
    }

    /// Packets that wait in the queue of a radio, or in a buffer behind it.
    #[inline(always)]
    pub(crate) fn backlog(&self, by: RadioId) -> usize {
        self.queues[by].len() + self.stations.buffered(by.0)
    }

    #[inline(always)]
    pub(super) fn note_queue(&mut self, by: RadioId) {
        let packets = self.backlog(by);
        let waiting = Notice::Waiting { at: Interface::Radio(by), packets };
        self.observers.on(self.now, &waiting);
    }

    pub(super) fn note_contention(&mut self) {
        self.observers.on(self.now, &Notice::Contention { medium: &self.cell });
    }

    /// Executes the commands of the medium in their order.
    pub(super) fn settle_cell(&mut self) {
        let Self { out, event_queue, .. } = self;
        if !out.medium.begin(wifi::Command::is_event, |it| _ = schedule(event_queue, it)) {
            return;
        }
        let mut round = self.out.medium.next(None);
        while let Some(mut commands) = round {
            for command in &mut commands {
                self.follow_medium(command);
            }
            round = self.out.medium.next(Some(commands));
        }
    }

    /// Carries out a command of the medium.
    #[inline(always)]
    fn follow_medium(&mut self, command: &mut wifi::Command) {
        match *command {
            wifi::Command::Access(_) | wifi::Command::Step(_) => {
                schedule(&mut self.event_queue, command);
            }
            wifi::Command::Began => {
                let Medium::Cell(cell) = &self.cell else { return };
                let Some(exchange) = cell.exchange() else { return };
                self.observers.on(self.now, &Notice::ExchangeBegan { exchange, cell });
            }
            wifi::Command::Ended => self.observers.on(self.now, &Notice::ExchangeEnded),
            wifi::Command::ExchangeSent { node, peer, used, arrived, mpdus } => {
                let (by, with) = (RadioId(node), peer.map(RadioId));
                self.observers
                    .on(self.now, &Notice::AirtimeUsed { by, with, used, arrived, mpdus });
                if self.hints.share_airtime {
                    let used = ExchangeUse { by, with, used, arrived };
                    used.report(&self.topology, &mut self.queues);
                }
            }
            wifi::Command::Deliver { .. }
            | wifi::Command::Overheard { .. }
            | wifi::Command::Mode { .. }
            | wifi::Command::Done { .. } => self.follow_large(command),
        }
    }

    /// Carries out a command of the medium about a packet or a mode. It is not inlined, so that the
    /// other commands need no room on the stack for packets.
    #[inline(never)]
    fn follow_large(&mut self, command: &mut wifi::Command) {
        match *command {
            wifi::Command::Deliver { node, from, ref mut packet } => {
                self.on_received(RadioId(node), RadioId(from), packet);
            }
            wifi::Command::Overheard { node, from, ref packet } => {
                let [node, from] =
                    [node, from].map(|radio| self.topology.radio(RadioId(radio)).node);
                self.at_node(node, |it, scope| it.on_overheard(from, packet, scope));
            }
            wifi::Command::Mode { node, peer, ref mode, ref slowest } => {
                self.on_mode(RadioId(node), RadioId(peer), mode, slowest);
            }
            wifi::Command::Done { node, ref packet, outcome, received } => {
                self.on_served(RadioId(node), packet, outcome, received);
            }
            wifi::Command::Access(_)
            | wifi::Command::Step(_)
            | wifi::Command::Began
            | wifi::Command::Ended
            | wifi::Command::ExchangeSent { .. } => {}
        }
    }

    /// The MAC delivers a packet: its node is the destination, or forwards it.
    fn on_received(&mut self, by: RadioId, from: RadioId, packet: &mut Packet) {
        if let Body::Management(frame) = packet.body {
            return self.on_frame(by, from, frame);
        }
        if !self.stations.hears(self.now, by.0, packet) {
            return;
        }
        self.observers.on(self.now, &Notice::Received { by, from, packet });
        self.at_stations(by, |all, scope| all.on_packet(by.0, from.0, packet, scope));
        packet.power = PowerBits::NONE;
        if self.network.is_some() {
            let [node, from] = [by, from].map(|radio| self.topology.radio(radio).node);
            return self.at_node(node, |it, scope| it.on_received(from, packet, scope));
        }
        match packet.to {
            None => self.arrive_broadcast(packet),
            Some(_) => self.pass_on(self.topology.radio(by).node, packet),
        }
    }

    /// A radio has sent or discarded a packet, and takes the next one.
    fn on_served(&mut self, by: RadioId, packet: &Packet, outcome: MsduOutcome, received: bool) {
        if let Body::Management(frame) = packet.body {
            return self.on_frame_served(by, packet, frame, outcome);
        }
        self.observers.on(self.now, &Notice::Served { by, packet, outcome, received });
        let served = self.leave_stations(by, packet, outcome);
        if served.is_missed && received {
            self.drop_packet(Interface::Radio(by), packet, DropCause::Broadcast);
        }
        if !served.was_buffered {
            self.release(by, packet);
        }
        if self.network.is_some() && outcome != MsduOutcome::Sent && packet.to.is_some() {
            self.fail_link(by, packet, outcome, received);
        } else if !received {
            // A packet that was discarded only because its ACKs were lost has arrived.
            let to = packet.to.map(|_| self.routes.radio(packet.next).0);
            let cause = self.stations.cause(by.0, to, outcome);
            self.drop_packet(Interface::Radio(by), packet, cause);
        }
        let node = self.topology.radio(by).node;
        self.refill(node, packet);
        self.complete(node, packet);
        self.serve_if_free(by, packet.class);
        if self.cell.is_free_for(by.0, packet.class) {
            // Else the next packet was noted.
            self.note_contention();
        }
    }

    /// The MAC has discarded a packet to a neighbour, which has it nevertheless if only its
    /// acknowledgements were lost. The node has the packet again.
    fn fail_link(&mut self, by: RadioId, packet: &Packet, outcome: MsduOutcome, received: bool) {
        if received {
            self.observers.on(self.now, &Notice::Copied { packet });
        }
        let node = self.topology.radio(by).node;
        self.at_node(node, |it, scope| it.on_failure(*packet, outcome.cause(), scope));
    }
}

/// Carries out a command of the medium if it schedules an event, as most of them do.
#[inline]
fn schedule(event_queue: &mut EventQueue<Event>, command: &wifi::Command) -> bool {
    match *command {
        wifi::Command::Access(Ticket { at, generation }) => {
            event_queue.at(at, Event::Access { generation });
        }
        wifi::Command::Step(at) => event_queue.at(at, Event::AirStep),
        _ => return false,
    }
    true
}
