//! Stations that save power, and their access points: their machines, and what each radio sends
//! before the packets of its queue.

use super::{Command, Function, Join, Next, Scope, Served, Site};
use crate::mac::MsduOutcome;
use crate::power_save::{self, AccessPoint, Held, PowerSave, Request, Station};
use kernel::{Bytes, Duration, Instant};
use wire::{DropCause, Management, Packet, PowerBits, TrafficClass};

pub use crate::power_save::Tim;

/// All stations that save power, and their access points.
#[derive(Debug)]
pub struct Savers {
    /// By radio.
    stations: Vec<Option<Box<Saver>>>,
    /// By radio: the access points of such stations.
    access_points: Vec<Option<Box<AccessPoint>>>,
    /// A node has received the broadcast in service.
    is_heard: bool,
    /// What a station commands at one event.
    given: Vec<power_save::Command>,
    /// What is dropped at one event.
    dropped: Vec<Packet>,
}

/// A station that saves power.
#[derive(Debug)]
struct Saver {
    machine: Station,
    access_point: u32,
    /// The frame that it sends before its packets.
    due: Option<Management>,
    /// The frame that is in service, and not a packet.
    in_service: Option<Management>,
}

impl Saver {
    /// Whether no packet may join what is in service.
    fn holds_back(&self) -> bool {
        self.due.is_some() || self.in_service.is_some() || !self.machine.may_send()
    }

    /// What it sends next.
    fn next(&mut self, now: Instant, by: u32, class: TrafficClass, site: &Site) -> Next {
        if site.precedes(class)
            && let Some(frame) = self.due.take()
        {
            self.in_service = Some(frame);
            return Next::frame(now, by, self.access_point, frame, site);
        }
        if self.holds_back() {
            return Next::Nothing;
        }
        Next::Queue(Some(self.machine.power_bits()))
    }
}

/// A station for which an access point may buffer packets.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its radio.
    pub radio: u32,
    /// That of its access point.
    pub access_point: u32,
    /// How it saves power.
    pub rules: PowerSave,
    /// The time between the beacons for which it wakes.
    pub interval: Duration,
}

impl Savers {
    /// Those of so many radios, with AIDs in this order; `None` without such a station.
    pub fn new(radios: usize, members: &[Member]) -> Option<Self> {
        let mut all = Self::empty(radios);
        let mut associated = vec![Vec::new(); radios];
        for &Member { radio, access_point, rules, interval } in members {
            let own = &mut associated[access_point as usize];
            let aid = own.len() as u8 + 1;
            own.push((radio, aid, rules, interval));
            let machine = Station::new(rules, aid);
            let saver = Saver { machine, access_point, due: None, in_service: None };
            all.stations[radio as usize] = Some(Box::new(saver));
        }
        for (access_point, own) in all.access_points.iter_mut().zip(associated) {
            let serves = !own.is_empty();
            *access_point = serves.then(|| Box::new(AccessPoint::new(own.into_iter())));
        }
        (!members.is_empty()).then_some(all)
    }

    /// Of stations that scan other channels, for which all access points buffer packets meanwhile.
    pub fn of_scanning(radios: usize, access_points: &[u32], members: &[Member]) -> Self {
        let mut all = Self::empty(radios);
        let members = members.iter().zip(1..);
        let members = members.map(|(it, aid)| (it.radio, aid, it.rules, it.interval));
        for &radio in access_points {
            let machine = AccessPoint::new(members.clone());
            all.access_points[radio as usize] = Some(Box::new(machine));
        }
        all
    }

    fn empty(radios: usize) -> Self {
        Self {
            stations: (0..radios).map(|_| None).collect(),
            access_points: (0..radios).map(|_| None).collect(),
            is_heard: false,
            given: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// The access point of this radio, if it buffers packets.
    pub(super) fn access_point(&mut self, radio: u32) -> Option<&mut AccessPoint> {
        self.access_points[radio as usize].as_deref_mut()
    }

    /// The station of this radio, if it saves power.
    fn station(&mut self, radio: u32) -> Option<&mut Saver> {
        self.stations[radio as usize].as_deref_mut()
    }

    /// What a radio sends next, if it saves power or serves stations that do.
    pub(super) fn next(
        &mut self,
        now: Instant,
        by: u32,
        class: TrafficClass,
        site: &Site,
    ) -> Option<Next> {
        if let Some(station) = self.station(by) {
            return Some(station.next(now, by, class, site));
        }
        let request = self.access_point(by)?.next(now, site.only(class));
        Some(Self::answer(request, now, by, site))
    }

    /// What an access point that serves such stations sends next to one, or to all.
    pub(super) fn next_to(
        &mut self,
        now: Instant,
        by: u32,
        to: Option<u32>,
        class: TrafficClass,
        site: &Site,
    ) -> Option<Next> {
        let request = self.access_point(by)?.next_to(now, to, site.only(class));
        Some(Self::answer(request, now, by, site))
    }

    fn answer(request: Option<Request>, now: Instant, by: u32, site: &Site) -> Next {
        match request {
            Some(Request::Empty(to, frame)) => Next::frame(now, by, to, frame, site),
            Some(Request::Packet(to, packet)) => Next::Buffered { packet, to },
            None => Next::Queue(Some(PowerBits::NONE)),
        }
    }

    /// Whether a station sleeps, as far as the access point of this radio knows.
    pub(super) fn sleeps(&self, by: u32, station: u32) -> bool {
        let access_point = self.access_points[by as usize].as_deref();
        access_point.is_some_and(|access_point| access_point.sleeps(station))
    }

    /// What joins the packets that a radio has in service for another.
    pub(super) fn join(
        &mut self,
        now: Instant,
        by: u32,
        to: u32,
        class: Option<TrafficClass>,
        most: Bytes,
    ) -> Join {
        if let Some(station) = self.station(by) {
            let bits = Some(station.machine.power_bits());
            return if station.holds_back() { Join::Nothing } else { Join::Queue(bits) };
        }
        match self.access_point(by) {
            Some(access_point) if access_point.precedes(to) => {
                let packet = access_point.next_for(now, to, class, most);
                packet.map_or(Join::Nothing, Join::Buffered)
            }
            _ => Join::Queue(Some(PowerBits::NONE)),
        }
    }

    /// Packets that the access point of this radio buffers.
    pub(super) fn buffered(&self, radio: u32) -> usize {
        self.access_points[radio as usize].as_ref().map_or(0, |access_point| access_point.len())
    }

    /// All packets that are buffered, with the radios of their access points.
    pub(super) fn each(&self) -> impl Iterator<Item = (u32, &Packet)> {
        let all = self.access_points.iter().zip(0..);
        let all = all.filter_map(|(it, radio)| Some((it.as_ref()?, radio)));
        all.flat_map(|(access_point, radio)| access_point.each().map(move |it| (radio, it)))
    }

    /// The machine of the station at a radio.
    pub fn machine(&self, radio: u32) -> Option<&Station> {
        self.stations[radio as usize].as_ref().map(|station| &station.machine)
    }

    /// What has been buffered for the station at a radio.
    pub fn held(&self, radio: u32) -> Held {
        let access_point = self.stations[radio as usize].as_ref().map(|it| it.access_point);
        let access_point = access_point.and_then(|it| self.access_points[it as usize].as_ref());
        access_point.map_or_else(Held::default, |it| it.held(radio))
    }

    /// Broadcasts that the access point of this radio has buffered.
    pub fn group_held(&self, radio: u32) -> u64 {
        self.access_points[radio as usize].as_ref().map_or(0, |it| it.group_held())
    }

    /// Passes an event to the station of a radio, if it saves power.
    fn at(
        &mut self,
        radio: u32,
        scope: &mut Scope<'_>,
        event: impl FnOnce(&mut Station, Instant, &mut Vec<power_save::Command>),
    ) {
        let Some(station) = self.stations[radio as usize].as_deref_mut() else { return };
        event(&mut station.machine, scope.now, &mut self.given);
        let access_point = station.access_point;
        for command in self.given.drain(..) {
            match command {
                power_save::Command::Period(begins) => {
                    let machine = self.access_points[access_point as usize].as_deref_mut();
                    if let Some(machine) = machine {
                        machine.on_period(radio, begins);
                    }
                    scope.out.push(Command::Serve(access_point, None));
                }
                power_save::Command::Send(frame) => station.due = Some(frame),
                power_save::Command::Set(ticket) => {
                    let function = Function::PowerSave;
                    scope.out.push(Command::Schedule { radio, function, ticket });
                }
            }
        }
        scope.out.push(Command::Serve(radio, None));
    }

    /// The run begins.
    pub(super) fn on_start(&mut self, scope: &mut Scope<'_>) {
        for radio in 0..self.stations.len() as u32 {
            self.at(radio, scope, Station::on_start);
        }
    }

    /// The timer of a station has expired.
    pub(super) fn on_timer(&mut self, radio: u32, generation: u32, scope: &mut Scope<'_>) {
        self.at(radio, scope, |station, now, out| station.on_timer(now, generation, out));
    }

    /// A TBTT of an access point, which has had `before` of them before. Returns what its beacon
    /// says about the packets that it buffers. Those that are too old are lost for this cause.
    pub(super) fn on_tbtt(
        &mut self,
        radio: u32,
        before: u64,
        period: u32,
        cause: DropCause,
        scope: &mut Scope<'_>,
    ) -> Tim {
        let mut tim = Tim::default();
        if let Some(machine) = self.access_points[radio as usize].as_deref_mut() {
            machine.expire(scope.now, &mut self.dropped);
            tim = machine.tim();
        }
        for station in self.stations.iter_mut().flatten() {
            if station.access_point == radio {
                station.machine.on_tbtt(scope.now, before, period);
            }
        }
        let drop = |packet| Command::Drop { radio, packet, cause };
        scope.out.extend(self.dropped.drain(..).map(drop));
        tim
    }

    /// A packet was put into the queue of a radio.
    pub(super) fn on_queued(&mut self, by: u32, scope: &mut Scope<'_>) {
        self.at(by, scope, Station::on_packet);
    }

    /// A radio has received a frame of the MAC.
    pub(super) fn on_frame(
        &mut self,
        by: u32,
        from: u32,
        frame: Management,
        scope: &mut Scope<'_>,
    ) {
        if frame.kind().associates() {
            return;
        }
        if let Management::Beacon(beacon) = frame {
            if self.station(by).is_some_and(|station| station.access_point == from) {
                self.at(by, scope, |it, now, out| it.on_beacon(now, &beacon, out));
            }
            return;
        }
        scope.out.push(Command::Heard { by, from, frame });
        if let Some(access_point) = self.access_point(by) {
            access_point.on_frame(from, frame);
            return scope.out.push(Command::Serve(by, None));
        }
        let bits = frame.power_bits();
        self.at(by, scope, |station, now, out| station.on_frame(now, bits, out));
    }

    /// Whether the station of a radio is awake to receive a broadcast.
    pub(super) fn hears(&mut self, now: Instant, by: u32) -> bool {
        let is_awake = self.machine(by).is_none_or(|machine| machine.is_awake(now));
        self.is_heard |= is_awake;
        is_awake
    }

    /// A radio has received a packet.
    pub(super) fn on_packet(&mut self, by: u32, from: u32, packet: &Packet, scope: &mut Scope<'_>) {
        if let Some(access_point) = self.access_point(by) {
            access_point.on_data(from);
            return scope.out.push(Command::Serve(by, None));
        }
        let bits = packet.power;
        let Some(station) = self.station(by).filter(|it| it.access_point == from) else { return };
        if packet.to.is_none() {
            return station.machine.on_group(scope.now, bits);
        }
        self.at(by, scope, |station, now, out| station.on_frame(now, bits, out));
    }

    /// The service of a packet to this radio, or of a broadcast, has ended.
    pub(super) fn on_packet_served(
        &mut self,
        by: u32,
        to: Option<u32>,
        packet: &Packet,
        outcome: MsduOutcome,
        sends: bool,
        scope: &mut Scope<'_>,
    ) -> Served {
        let is_missed = packet.to.is_none() && !std::mem::take(&mut self.is_heard);
        let was_buffered = self.access_point(by).is_some_and(|it| it.on_served(to, packet));
        self.on_sent(by, None, outcome, sends, scope);
        Served { was_buffered, is_missed }
    }

    /// The service of a frame of the MAC, which was due at `born`, has ended.
    pub(super) fn on_frame_served(
        &mut self,
        by: u32,
        frame: Management,
        born: Instant,
        outcome: MsduOutcome,
        sends: bool,
        scope: &mut Scope<'_>,
    ) {
        if let Management::Beacon(beacon) = frame {
            if let Some(machine) = self.access_point(by).filter(|_| beacon.dtim_count == 0) {
                machine.on_dtim(born);
            }
        } else {
            self.on_sent(by, Some(frame), outcome, sends, scope);
        }
        scope.out.push(Command::Serve(by, None));
    }

    /// The service of a packet of a station, or of a frame without one, has ended.
    fn on_sent(
        &mut self,
        by: u32,
        frame: Option<Management>,
        outcome: MsduOutcome,
        sends: bool,
        scope: &mut Scope<'_>,
    ) {
        let Some(station) = self.station(by) else { return };
        if frame.is_some() {
            station.in_service = None;
        }
        let (sends, is_acknowledged) =
            (sends || station.due.is_some(), outcome == MsduOutcome::Sent);
        self.at(by, scope, |station, now, out| {
            station.on_sent(now, frame, is_acknowledged, sends, out);
        });
    }
}
