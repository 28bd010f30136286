//! The functions between the queues of radios and their MACs: what radios send next, and what the
//! world does at their commands.

use super::super::{Event, World};
use crate::notice::{Notice, Observer, StationNote};
use crate::topology::{ACCESS_POINT, Interface, RadioId};
use wifi::MsduOutcome;
use wifi::station::{Command, Function, Next, Scope, Served, Stations};
use wire::{DropCause, Management, Packet, TrafficClass};

impl<O: Observer> World<O> {
    /// Passes an event of a radio to the functions, and carries out their commands.
    #[inline]
    pub(in super::super) fn at_stations(
        &mut self,
        radio: RadioId,
        event: impl FnOnce(&mut Stations, &mut Scope<'_>),
    ) {
        let scope = &mut Scope { now: self.now, out: self.out.station.list() };
        event(&mut self.stations, scope);
        if !scope.out.is_empty() {
            self.settle_stations(radio);
        }
    }

    #[cold]
    fn settle_stations(&mut self, radio: RadioId) {
        let Some(mut turn) = self.out.station.begin(radio, ()) else { return };
        while let Some(((), &mut command)) = self.out.station.next(&mut turn) {
            self.follow_station(command);
        }
    }

    fn note_station(&mut self, note: StationNote<'_>) {
        self.observers.on(self.now, &Notice::Station(note));
    }

    /// Carries out a command of a function.
    fn follow_station(&mut self, command: Command) {
        match command {
            Command::Schedule { radio, function, ticket } => {
                let (radio, generation) = (RadioId(radio), ticket.generation);
                self.event_queue.at(ticket.at, Event::Radio { radio, function, generation });
            }
            Command::Serve(radio, None) => self.serve_ready(RadioId(radio)),
            Command::Serve(radio, Some(class)) => self.serve_if_free(RadioId(radio), class),
            Command::Drop { radio, ref packet, cause } => {
                self.lose(Interface::Radio(RadioId(radio)), packet, cause);
            }
            Command::Heard { by, from, frame } => {
                let [by, from] = [by, from].map(RadioId);
                self.note_station(StationNote::SavesPower { by, from, frame });
            }
            Command::Tune { radio, channel } => {
                self.cell.tune(radio, channel);
                self.note_station(StationNote::Tuned { radio: RadioId(radio), channel });
            }
            Command::Turn { station, from, to, cause } => self.turn(station, from, to, cause),
            Command::Associated { station, from, to, lost } => {
                let [station, from, to] = [station, from, to].map(RadioId);
                self.associate(station, from, to, lost);
            }
        }
    }

    /// A timer of a function of a radio.
    #[cold]
    pub(in super::super) fn on_radio_timer(
        &mut self,
        radio: RadioId,
        function: Function,
        generation: u32,
    ) {
        let surveys = self.stations.surveys(radio.0);
        let access_points = if surveys { self.topology.access_points() } else { &[] };
        let around = self.cell.surroundings(radio.0, access_points, self.now);
        self.at_stations(radio, |all, scope| {
            all.on_timer(radio.0, function, generation, &around, scope);
        });
    }

    /// Lets a radio send what it may send now.
    fn serve_ready(&mut self, by: RadioId) {
        for class in TrafficClass::ALL.into_iter().rev() {
            self.serve_if_free(by, class);
        }
        if self.cell.triggers() {
            let now = self.now;
            self.with_frame_source(|medium, source, out| medium.revise_asking(now, source, out));
        }
    }

    /// Passes to the medium what the functions say that a radio sends next of this class.
    #[cold]
    pub(super) fn serve_next(&mut self, by: RadioId, class: TrafficClass, next: Next) {
        match next {
            Next::Frame { packet, to } => {
                self.note_station(StationNote::Frame { by, packet: &packet });
                self.offer(by, &packet, to);
            }
            Next::Buffered { packet, to } => self.begin_service(by, to.map(RadioId), &packet),
            Next::Queue(bits) => {
                let power = bits.unwrap_or_default();
                let taken = self.at_waiting(|_, from, _| from.take_next_awake(by, class, power));
                self.settle_taken();
                if let Some((packet, to)) = taken {
                    self.offer(by, &packet, to.map(|radio| radio.0));
                }
            }
            Next::Nothing => {}
        }
    }

    /// A radio has received a frame of the MAC without a packet.
    #[cold]
    pub(super) fn on_frame(&mut self, by: RadioId, from: RadioId, frame: Management) {
        let measures = self.stations.measures(by.0);
        let signal = measures.then(|| self.cell.signal(from.0, by.0, self.now)).flatten();
        self.at_stations(by, |all, scope| all.on_frame(by.0, from.0, frame, signal, scope));
    }

    /// Whether a radio has more to send than what it has served just now.
    fn sends(&self, by: RadioId) -> bool {
        !self.queues[by].is_empty() || !self.cell.is_free(by.0)
    }

    /// A radio has sent a frame of the MAC, and takes the next packet.
    #[cold]
    pub(super) fn on_frame_served(
        &mut self,
        by: RadioId,
        packet: &Packet,
        frame: Management,
        outcome: MsduOutcome,
    ) {
        self.note_contention();
        let (born, sends) = (packet.born, self.sends(by));
        self.at_stations(by, |all, scope| {
            all.on_frame_served(by.0, frame, born, outcome, sends, scope);
        });
        self.serve_if_free(by, packet.class);
    }

    /// The service of a packet at a radio has ended. Returns what the packet was.
    #[inline]
    pub(super) fn leave_stations(
        &mut self,
        by: RadioId,
        packet: &Packet,
        outcome: MsduOutcome,
    ) -> Served {
        let (mut served, sends) = (Served::default(), self.sends(by));
        let to = packet.to.map(|_| self.routes.radio(packet.next).0);
        self.at_stations(by, |all, scope| {
            served = all.on_packet_served(by.0, to, packet, outcome, sends, scope);
        });
        served
    }

    /// A station accepts frames from another access point than before. What waits for earlier
    /// frames in the reorder buffers of both is lost.
    fn turn(&mut self, station: u32, from: u32, to: u32, cause: DropCause) {
        let towards = RadioId(to);
        self.note_station(StationNote::Left { station: RadioId(station), towards });
        for packet in self.cell.turn(self.now, station, from, to) {
            self.drop_packet(Interface::Radio(RadioId(from)), &packet, cause);
        }
    }

    /// A station is associated with an access point: all packets for it go there. Those that wait
    /// at the one before are lost for this cause, or are passed on.
    fn associate(&mut self, station: RadioId, from: RadioId, to: RadioId, lost: Option<DropCause>) {
        self.note_station(StationNote::Associated { station, with: to });
        self.cell.associate(station.0, from.0, to.0);
        let buffered = self.stations.on_associated(self.now, station.0, from.0, to.0);
        if from == to {
            return self.serve_ready(to);
        }
        let node = self.topology.radio(station).node;
        self.routes.move_station(node, station, to, ACCESS_POINT);
        let (hints, mut told) = self.hints();
        hints.on_moved(station, from, to, &mut told);
        let queued = self.withdraw(from, node);
        for packet in buffered.into_iter().chain(queued) {
            self.observers.on(self.now, &Notice::Withdrawn { by: from, packet: &packet });
            match lost {
                None => self.enqueue(to, &packet),
                Some(cause) => self.lose(Interface::Radio(from), &packet, cause),
            }
        }
        self.cell.flush(from.0, station.0, self.out.medium.list());
        self.note_queue(from);
        self.settle_cell();
    }

    /// The access point of a station now.
    pub(crate) fn access_point_of(&self, station: RadioId) -> RadioId {
        let now = self.stations.access_point_of(station.0);
        now.map_or_else(|| self.topology.access_point_of(station), RadioId)
    }
}
