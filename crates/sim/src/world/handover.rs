//! What the world does for stations that roam: it passes beacons, frames and TBTTs to their
//! machines, and carries out their commands.

use super::power_save::PowerSave;
use super::roaming::Roaming;
use super::{Event, World};
use crate::build::LateLinks;
use crate::medium::Medium;
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::topology::{ACCESS_POINT, Interface, RadioId};
use kernel::{Dbm, Instant, Seed};
use wifi::MsduOutcome;
use wifi::roaming::{Client, Command};
use wire::{
    Authentication, DropCause, Management, Null, Packet, Rates, ReassociationResponse, TrafficClass,
};

impl<O: Observer> World<O> {
    /// Prepares stations that roam: links to all access points, of which only that to their own is
    /// open.
    pub(super) fn start_roaming(&mut self, plan: &Plan, seed: &Seed) {
        let (Some(roaming), Some(settings)) = (Roaming::new(plan), &plan.space) else { return };
        let Medium::Space(space) = &mut self.cell else { return };
        let links = LateLinks::new(plan, &settings.radio.error_model, seed);
        space.allow_links();
        for station in roaming.radios() {
            let own = self.topology.access_point_of(station);
            for &other in self.topology.access_points().iter().filter(|&&it| it != own) {
                links.add(space, station.0, other.0);
                space.open_link([station.0, other.0], false);
            }
        }
        self.power_save = Some(Box::new(PowerSave::of_roaming(plan)));
        self.roaming = Some(roaming);
    }

    /// The access point of a station now.
    pub(crate) fn access_point_of(&self, station: RadioId) -> RadioId {
        let client = self.roaming.as_ref().and_then(|all| all.client(station));
        let now = client.map(|client| RadioId(client.own()));
        now.unwrap_or_else(|| self.topology.access_point_of(station))
    }

    /// Passes an event to the station of a radio, if it roams, and carries out its commands.
    fn at_client(
        &mut self,
        station: RadioId,
        event: impl FnOnce(&mut Client, Instant, &mut Vec<Command>),
    ) {
        let now = self.now;
        let Some(client) = self.roaming.as_mut().and_then(|all| all.client_mut(station)) else {
            return;
        };
        let before = RadioId(client.own());
        event(client, now, self.client_out.list());
        if let Some(mut turn) = self.client_out.begin(station, before) {
            while let Some((before, &mut command)) = self.client_out.next(&mut turn) {
                self.follow_client(station, before, command);
            }
        }
        self.serve_ready(station);
    }

    fn follow_client(&mut self, station: RadioId, before: RadioId, command: Command) {
        match command {
            Command::Set(ticket) => {
                let generation = ticket.generation;
                self.event_queue.at(ticket.at, Event::Roaming { radio: station, generation });
            }
            Command::Tune(channel) => {
                if let Medium::Space(space) = &mut self.cell {
                    space.tune(station.0, channel);
                }
                self.observers.on(self.now, &Notice::Tuned { radio: station, channel });
            }
            Command::Turn { from, to } => self.turn(station, RadioId(from), RadioId(to)),
            Command::Send(to, frame) => {
                if let Some(roaming) = &mut self.roaming {
                    roaming.push(station, RadioId(to), frame);
                }
            }
            Command::Associated(to) => self.on_associated(station, before, RadioId(to)),
        }
    }

    /// A station accepts frames from another access point than before. What waits for earlier
    /// frames in the reorder buffers of both is lost.
    fn turn(&mut self, station: RadioId, from: RadioId, to: RadioId) {
        self.observers.on(self.now, &Notice::Left { station, towards: to });
        let Medium::Space(space) = &mut self.cell else { return };
        let mut lost = Vec::new();
        if from != to {
            space.open_link([station.0, from.0], false);
            space.discard_held([station.0, from.0], &mut lost);
        }
        space.open_link([station.0, to.0], true);
        for packet in lost {
            self.drop_packet(Interface::Radio(from), &packet, DropCause::Roaming);
        }
    }

    /// A station is associated with an access point: all packets for it go there.
    fn on_associated(&mut self, station: RadioId, from: RadioId, to: RadioId) {
        self.observers.on(self.now, &Notice::Associated { station, with: to });
        let now = self.now;
        let machine = self.power_save.as_mut().and_then(|all| all.access_point(from));
        if from == to {
            // What is buffered goes before what came later.
            if let Some(machine) = machine {
                machine.on_frame(station.0, Management::Null(Null { saves_power: false }));
            }
            return self.serve_ready(to);
        }
        let buffered = machine.map(|machine| machine.forget(now, station.0)).unwrap_or_default();
        let node = self.topology.radio(station).node;
        self.routes.move_station(node, station, to, ACCESS_POINT);
        self.rate_hints.move_station(station, from, to);
        self.tell_of_station(station, to);
        let queued = self.withdraw(from, node);
        let forward = self.roaming.as_ref().and_then(|all| all.client(station));
        let forward = forward.is_some_and(|client| client.rules().forward);
        for packet in buffered.into_iter().chain(queued) {
            self.observers.on(now, &Notice::Withdrawn { by: from, packet: &packet });
            if forward {
                self.enqueue(to, &packet);
            } else {
                self.drop_packet(Interface::Radio(from), &packet, DropCause::Roaming);
                let node = self.topology.radio(from).node;
                self.mark_short(node, &packet);
                self.complete(node, &packet);
            }
        }
        if let Medium::Space(space) = &mut self.cell {
            space.flush(from.0, station.0, &mut self.cell_out);
        }
        self.note_queue(from);
        self.settle_cell();
    }

    /// The timer of a station that roams.
    #[cold]
    pub(super) fn on_roaming_timer(&mut self, station: RadioId, generation: u32) {
        let Some(client) = self.roaming.as_ref().and_then(|all| all.client(station)) else {
            return;
        };
        let Medium::Space(space) = &self.cell else { return };
        let is_at_rest = space.is_at_rest(station.0, self.now);
        let heard = if client.surveys() { self.survey(station) } else { Vec::new() };
        self.at_client(station, |client, now, out| {
            client.on_timer(now, generation, is_at_rest, &heard, out);
        });
    }

    /// The signals of the access points that a station detects in its channel.
    fn survey(&self, station: RadioId) -> Vec<(u32, Dbm)> {
        let Medium::Space(space) = &self.cell else { return Vec::new() };
        let signal = |access_point: &RadioId| {
            Some((access_point.0, space.signal(access_point.0, station.0, self.now)?))
        };
        self.topology.access_points().iter().filter_map(signal).collect()
    }

    /// A TBTT of an access point.
    #[cold]
    pub(super) fn tell_clients_of_tbtt(&mut self, access_point: RadioId) {
        let radios = self.roaming.iter().flat_map(|all| all.radios()).collect::<Vec<_>>();
        for radio in radios {
            self.at_client(radio, |client, now, out| client.on_tbtt(now, access_point.0, out));
        }
    }

    /// A radio has received a frame of the MAC without a packet.
    #[cold]
    pub(super) fn on_association(&mut self, by: RadioId, from: RadioId, frame: Management) {
        let answer = match frame {
            Management::Beacon(_) => {
                let Medium::Space(space) = &self.cell else { return };
                let Some(signal) = space.signal(from.0, by.0, self.now) else { return };
                return self.at_client(by, |it, now, out| it.on_beacon(now, from.0, signal, out));
            }
            Management::Authentication(Authentication { transaction: 1 }) => {
                Management::Authentication(Authentication { transaction: 2 })
            }
            Management::ReassociationRequest(_) => {
                Management::ReassociationResponse(ReassociationResponse)
            }
            Management::Authentication(_)
            | Management::ReassociationResponse(ReassociationResponse) => {
                return self.at_client(by, |it, now, out| it.on_frame(now, from.0, frame, out));
            }
            _ => return,
        };
        if let Some(roaming) = &mut self.roaming {
            roaming.push(by, from, answer);
        }
        self.serve_ready(by);
    }

    /// The service of a frame of the MAC has ended.
    #[cold]
    pub(super) fn on_association_served(
        &mut self,
        by: RadioId,
        frame: Management,
        outcome: MsduOutcome,
    ) {
        if matches!(frame, Management::Beacon(_)) {
            return;
        }
        let Some(roaming) = &mut self.roaming else { return };
        roaming.on_served(by);
        let arrived = outcome == MsduOutcome::Sent;
        self.at_client(by, |client, now, out| client.on_sent(now, frame, arrived, out));
        self.serve_ready(by);
    }

    /// If a radio has a frame to send before its packets, or must send none: passes that frame to
    /// the medium. Returns false for all other radios.
    #[cold]
    pub(super) fn serve_roaming(&mut self, by: RadioId, class: TrafficClass) -> bool {
        let has_categories = self.cell.has_categories();
        let Some(roaming) = &mut self.roaming else { return false };
        if let Some((to, frame)) = roaming.take(by, class, has_categories) {
            self.send_frame(by, to, frame);
            return true;
        }
        roaming.is_silent(by)
    }

    /// The rates that access points announce.
    pub(super) fn announced_rates(&self) -> Rates {
        match &self.cell {
            Medium::Space(space) if space.management_mode().class.is_dsss() => Rates::Dsss,
            _ => Rates::Ofdm,
        }
    }

    /// The cause for which the MAC of a radio has discarded a packet, if its station is away.
    pub(super) fn is_missed(&self, by: RadioId, packet: &Packet) -> bool {
        let Some(roaming) = &self.roaming else { return false };
        packet.to.is_some() && roaming.misses(by, self.routes.radio(packet.next))
    }
}
