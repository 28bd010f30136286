//! What the world does for stations that save power: it passes packets, frames and TBTTs to their
//! machines and those of their access points, and carries out their commands.

use super::power_save::PowerSave;
use super::{Event, World};
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::topology::{ACCESS_POINT, Interface, RadioId};
use kernel::Instant;
use wifi::MsduOutcome;
use wifi::power_save::{Command, Request, Station, Tim};
use wire::{Body, DropCause, Management, Packet, PowerBits, TrafficClass};

/// The access categories, highest first.
const CLASSES: [TrafficClass; 4] =
    [TrafficClass::Voice, TrafficClass::Video, TrafficClass::BestEffort, TrafficClass::Background];

impl<O: Observer> World<O> {
    /// Starts the stations that save power.
    pub(super) fn start_power_save(&mut self, plan: &Plan) {
        self.power_save = PowerSave::new(plan);
        for radio in 0..plan.topology.radios().len() as u32 {
            self.at_station(RadioId(radio), Station::on_start);
        }
    }

    /// Passes an event to the station of a radio, if it saves power, and carries out its commands.
    fn at_station(
        &mut self,
        radio: RadioId,
        event: impl FnOnce(&mut Station, Instant, &mut Vec<Command>),
    ) {
        let Some(client) = self.power_save.as_mut().and_then(|all| all.station(radio)) else {
            return;
        };
        let mut commands = Vec::new();
        event(&mut client.machine, self.now, &mut commands);
        for command in commands {
            match command {
                Command::Send(frame) => client.due = Some(frame),
                Command::Set(ticket) => {
                    let generation = ticket.generation;
                    self.event_queue.at(ticket.at, Event::PowerSave { radio, generation });
                }
            }
        }
        self.serve_ready(radio);
    }

    /// The timer of a station that saves power.
    #[cold]
    pub(super) fn on_power_save_timer(&mut self, radio: RadioId, generation: u32) {
        self.at_station(radio, |station, now, out| station.on_timer(now, generation, out));
    }

    /// Lets a radio send what it may send now.
    pub(super) fn serve_ready(&mut self, by: RadioId) {
        for class in CLASSES {
            if self.cell.is_free_for(by.0, class) {
                self.serve(by, class);
            }
        }
    }

    /// A TBTT of an access point, which has had `before` of them before.
    #[cold]
    pub(super) fn sleep_until_tbtt(&mut self, access_point: RadioId, before: u64, period: u32) {
        let now = self.now;
        let Some(power_save) = &mut self.power_save else { return };
        let mut dropped = std::mem::take(&mut power_save.dropped);
        if let Some(machine) = power_save.access_point(access_point) {
            machine.expire(now, &mut dropped);
        }
        for client in power_save.stations.iter_mut().flatten() {
            if client.access_point == access_point {
                client.machine.on_tbtt(now, before, period);
            }
        }
        for packet in dropped.drain(..) {
            self.drop_buffered(access_point, &packet);
        }
        if let Some(power_save) = &mut self.power_save {
            power_save.dropped = dropped;
        }
    }

    /// What the beacon of an access point says about the packets that it buffers.
    pub(super) fn tim(&self, access_point: RadioId) -> Tim {
        let machine = self.power_save.as_ref();
        let machine = machine.and_then(|all| all.access_points[access_point].as_ref());
        machine.map_or_else(Tim::default, |machine| machine.tim())
    }

    fn drop_buffered(&mut self, by: RadioId, packet: &Packet) {
        let cause = if self.roaming.is_some() { DropCause::Roaming } else { DropCause::PowerSave };
        self.drop_packet(Interface::Radio(by), packet, cause);
        self.mark_short(self.topology.radio(by).node, packet);
        self.complete(self.topology.radio(by).node, packet);
    }

    /// A packet was put into the queue of a radio.
    #[cold]
    pub(super) fn wake_to_send(&mut self, by: RadioId) {
        self.at_station(by, Station::on_packet);
    }

    /// If a radio saves power, or serves stations that do: passes what it may send next to the
    /// medium. Returns false for all other radios.
    #[cold]
    pub(super) fn serve_power_save(&mut self, by: RadioId, class: TrafficClass) -> bool {
        let has_categories = self.cell.has_categories();
        let Some(power_save) = &mut self.power_save else { return false };
        if let Some(client) = power_save.station(by) {
            if client.due.is_some() && (class == Management::CLASS || !has_categories) {
                client.in_service = client.due.take();
                let (frame, to) = (client.in_service, client.access_point);
                if let Some(frame) = frame {
                    self.send_frame(by, to, frame);
                }
            } else if !client.holds_back() {
                let bits = client.machine.power_bits();
                self.serve_queue(by, class, bits);
            }
            return true;
        }
        let Some(access_point) = power_save.access_point(by) else { return false };
        match access_point.next(self.now, Some(class).filter(|_| has_categories)) {
            Some(Request::Empty(to, frame)) => self.send_frame(by, RadioId(to), frame),
            Some(Request::Packet(to, packet, bits)) => {
                self.begin_service(by, to.map(RadioId), packet, bits);
            }
            None => self.serve_queue(by, class, PowerBits::NONE),
        }
        self.note_queue(by);
        true
    }

    /// Passes the next packet of the queue to the medium, and buffers those for stations that
    /// sleep.
    fn serve_queue(&mut self, by: RadioId, class: TrafficClass, bits: PowerBits) {
        while let Some((packet, to)) = self.pop(by, class) {
            let machine = self.power_save.as_mut().and_then(|all| all.access_point(by));
            let radio = to.map(|radio| radio.0);
            let Some(machine) = machine.filter(|machine| machine.buffers(radio)) else {
                self.begin_service(by, to, packet, bits);
                break;
            };
            let dropped = machine.hold(self.now, radio, packet);
            self.observers.on(self.now, &Notice::Buffered { by, to, packet: &packet });
            self.release(by, &packet);
            if let Some(dropped) = dropped {
                self.drop_buffered(by, &dropped);
            }
        }
        self.note_queue(by);
    }

    /// Passes a packet to the medium.
    fn begin_service(&mut self, by: RadioId, to: Option<RadioId>, packet: Packet, bits: PowerBits) {
        self.observers.on(self.now, &Notice::Dequeued { by, to, packet: &packet });
        self.observers.on(self.now, &Notice::Power { by, packet: &packet, bits });
        if let Some(power_save) = self.power_save.as_mut().filter(|_| bits != PowerBits::NONE) {
            power_save.headers.push((packet, bits));
        }
        self.cell.on_packet(self.now, by.0, packet, to.map(|to| to.0), &mut self.cell_out);
        self.note_contention();
        self.settle_cell();
    }

    /// Passes a frame without data to the medium.
    pub(super) fn send_frame(&mut self, by: RadioId, to: RadioId, frame: Management) {
        let size = frame.length(self.announced_rates());
        let [from, destination] = [by, to].map(|radio| self.topology.radio(radio).node);
        let body = Body::Management(frame);
        let packet = Packet::new(from, Some(destination), size, self.now, body);
        let packet = Packet { class: Management::CLASS, ..packet };
        self.cell.on_packet(self.now, by.0, packet, Some(to.0), &mut self.cell_out);
        self.note_contention();
        self.settle_cell();
    }

    /// A radio has received a frame of the MAC without a packet.
    #[cold]
    pub(super) fn on_management(&mut self, by: RadioId, from: RadioId, frame: Management) {
        if self.roaming.is_some() {
            self.on_association(by, from, frame);
        }
        let Some(power_save) = &mut self.power_save else { return };
        if frame.kind().associates() {
            return;
        }
        if let Management::Beacon(beacon) = frame {
            if power_save.station(by).is_some_and(|client| client.access_point == from) {
                self.at_station(by, |it, now, out| it.on_beacon(now, &beacon, out));
            }
            return;
        }
        self.observers.on(self.now, &Notice::SavesPower { by, from, frame });
        if let Some(access_point) = power_save.access_point(by) {
            access_point.on_frame(from.0, frame);
            return self.serve_ready(by);
        }
        let bits = frame.power_bits();
        self.at_station(by, |station, now, out| station.on_frame(now, bits, out));
    }

    /// Whether a radio receives a packet: a station that sleeps receives no broadcast.
    #[cold]
    pub(super) fn hears(&mut self, by: RadioId, packet: &Packet) -> bool {
        let Some(power_save) = self.power_save.as_mut().filter(|_| packet.to.is_none()) else {
            return true;
        };
        let is_awake = power_save.machine(by).is_none_or(|machine| machine.is_awake(self.now));
        power_save.is_heard |= is_awake;
        is_awake
    }

    /// A radio has received a packet.
    #[cold]
    pub(super) fn note_power_save(&mut self, by: RadioId, from: RadioId, packet: &Packet) {
        let Some(power_save) = &mut self.power_save else { return };
        if let Some(access_point) = power_save.access_point(by) {
            access_point.on_data(from.0);
            return self.serve_ready(by);
        }
        let bits = power_save.header(packet);
        let Some(client) = power_save.station(by).filter(|it| it.access_point == from) else {
            return;
        };
        if packet.to.is_none() {
            return client.machine.on_group(self.now, bits);
        }
        self.at_station(by, |station, now, out| station.on_frame(now, bits, out));
    }

    /// The service of a packet at a radio has ended. Returns whether it was buffered, so that it
    /// left the queue before.
    #[cold]
    pub(super) fn leave_power_save(
        &mut self,
        by: RadioId,
        packet: &Packet,
        outcome: MsduOutcome,
        received: bool,
    ) -> bool {
        let to = packet.to.map(|_| self.routes.radio(packet.next).0);
        let Some(power_save) = &mut self.power_save else { return false };
        power_save.headers.retain(|(other, _)| other != packet);
        let is_missed = packet.to.is_none() && !std::mem::take(&mut power_save.is_heard);
        let was_buffered = power_save.access_point(by).is_some_and(|it| it.on_served(to, packet));
        if is_missed && received {
            self.drop_packet(Interface::Radio(by), packet, DropCause::Broadcast);
        }
        self.on_sent_by_station(by, None, outcome);
        was_buffered
    }

    /// The service of a packet of a station, or of a frame without one, has ended.
    fn on_sent_by_station(&mut self, by: RadioId, frame: Option<Management>, outcome: MsduOutcome) {
        let (is_empty, is_free) = (self.queues[by].is_empty(), self.cell.is_free(by.0));
        let Some(client) = self.power_save.as_mut().and_then(|all| all.station(by)) else { return };
        if frame.is_some() {
            client.in_service = None;
        }
        let sends = !is_empty || !is_free || client.due.is_some();
        let is_acknowledged = outcome == MsduOutcome::Sent;
        self.at_station(by, |station, now, out| {
            station.on_sent(now, frame, is_acknowledged, sends, out);
        });
    }

    /// The service of a frame of the MAC, which was due at `born`, has ended.
    #[cold]
    pub(super) fn on_frame_served(
        &mut self,
        by: RadioId,
        frame: Management,
        born: Instant,
        outcome: MsduOutcome,
    ) {
        if let Management::Beacon(beacon) = frame {
            let machine = self.power_save.as_mut().and_then(|all| all.access_point(by));
            if let Some(machine) = machine.filter(|_| beacon.dtim_count == 0) {
                machine.on_dtim(born);
            }
        } else if self.topology.radio(by).node != ACCESS_POINT {
            self.on_sent_by_station(by, Some(frame), outcome);
        }
        self.serve_ready(by);
    }
}
