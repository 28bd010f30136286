//! What stands between the queues of radios and their MACs: functions of stations and access points
//! that send frames of their own before the packets of a queue, or hold these back.
//!
//! Each function is a file: beacons, roaming, power save. They meet only here. For the next frame
//! of an access category they are asked one after the other ([`Stations::next`]), and the first
//! that has an answer decides. They are told of what arrives at a queue, of what a radio receives
//! and what it has sent, and of their timers; they append commands, and see neither a queue nor a
//! medium.

pub mod beacon;
pub mod power_save;
pub mod roaming;
#[cfg(test)]
mod tests;

use crate::mac::MsduOutcome;
use crate::roaming::Client;
use beacon::Beacons;
use kernel::{Bytes, Dbm, Instant, Seed, Ticket};
use power_save::Savers;
use roaming::Clients;
use wire::{Body, DropCause, Management, NodeId, Null, Packet, PowerBits, Rates, TrafficClass};

/// A function, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Beacons of access points.
    Beacon,
    /// Stations that change their access points.
    Roaming,
    /// Stations that save power, and their access points.
    PowerSave,
}

/// What a radio sends next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// This frame of the MAC, to a radio or to all.
    Frame {
        /// The frame, as a packet without IP.
        packet: Packet,
        /// Its receiver; `None` is broadcast.
        to: Option<u32>,
    },
    /// This packet, which had left the queue before ([`Stations::hold`]).
    Buffered {
        /// The packet.
        packet: Packet,
        /// Its receiver; `None` is broadcast.
        to: Option<u32>,
    },
    /// The next packet of its queue: with these bits in its header, and unless it must be held
    /// ([`Stations::hold`]). `None` if no function has anything to do with it.
    Queue(Option<PowerBits>),
    /// Nothing now.
    Nothing,
}

/// What joins the packets that a radio has in service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Join {
    /// Nothing.
    Nothing,
    /// This packet, which had left the queue before.
    Buffered(Packet),
    /// A packet of the queue, with these bits; `None` if no function has anything to do with it.
    Queue(Option<PowerBits>),
}

/// A command of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Call [`Stations::on_timer`] for this function of a radio with this ticket.
    Schedule {
        /// The radio.
        radio: u32,
        /// Whose timer it is.
        function: Function,
        /// When, and with which generation.
        ticket: Ticket,
    },
    /// Ask [`Stations::next`] for what the radio sends, for this access category or for each, if
    /// its MAC is free.
    Serve(u32, Option<TrafficClass>),
    /// The packet is lost, which an access point had for a station.
    Drop {
        /// The access point.
        radio: u32,
        /// The packet.
        packet: Packet,
        /// Why it is lost.
        cause: DropCause,
    },
    /// A radio has received a frame by which another one saves power, or wakes one that does.
    Heard {
        /// The radio.
        by: u32,
        /// The transmitter.
        from: u32,
        /// The frame.
        frame: Management,
    },
    /// The radio receives and sends in this channel from now on; 0 is a channel without a cell.
    Tune {
        /// The radio.
        radio: u32,
        /// The channel.
        channel: u16,
    },
    /// The station accepts frames of another access point alone. What waits in reorder buffers for
    /// earlier frames of the one before is lost.
    Turn {
        /// The station.
        station: u32,
        /// The access point before; it may be the same.
        from: u32,
        /// The access point from now on.
        to: u32,
        /// Why packets are lost.
        cause: DropCause,
    },
    /// The station is associated: all packets for it go to this access point.
    Associated {
        /// The station.
        station: u32,
        /// The access point before; it may be the same.
        from: u32,
        /// The access point from now on.
        to: u32,
        /// Why packets that wait at the one before are lost; `None` if it passes them on.
        lost: Option<DropCause>,
    },
}

/// What is given with each event.
#[derive(Debug)]
pub struct Scope<'a> {
    /// The current time.
    pub now: Instant,
    /// Where the commands are appended, which are to be carried out in their order.
    pub out: &'a mut Vec<Command>,
}

/// What functions know of the radios.
#[derive(Debug)]
pub struct Site {
    /// The node of each radio.
    pub nodes: Vec<NodeId>,
    /// The rates that access points announce.
    pub rates: Rates,
    /// Whether each access category is sent separately.
    pub has_categories: bool,
}

impl Site {
    /// Whether frames of the MAC are sent before the packets of this class.
    fn precedes(&self, class: TrafficClass) -> bool {
        class == Management::CLASS || !self.has_categories
    }

    /// The class to which packets are confined, if each is sent separately.
    fn only(&self, class: TrafficClass) -> Option<TrafficClass> {
        Some(class).filter(|_| self.has_categories)
    }
}

impl Next {
    /// A frame of a radio to another one.
    fn frame(now: Instant, by: u32, to: u32, frame: Management, site: &Site) -> Self {
        let [from, destination] = [by, to].map(|radio| site.nodes[radio as usize]);
        let (size, body) = (frame.length(site.rates), Body::Management(frame));
        let packet = Packet::new(from, Some(destination), size, now, body);
        let packet = Packet { class: Management::CLASS, ..packet };
        Self::Frame { packet, to: Some(to) }
    }
}

/// What a packet was that a radio has served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// It had left the queue before ([`Stations::hold`]).
    pub was_buffered: bool,
    /// It was a broadcast, and all that received it slept.
    pub is_missed: bool,
}

/// What a station that scans finds around it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Whether it neither sends nor receives.
    pub is_at_rest: bool,
    /// The signals of the access points that it detects in its channel.
    pub heard: Vec<(u32, Dbm)>,
}

/// The functions of all radios.
#[derive(Debug)]
pub struct Stations {
    site: Site,
    /// Without beacons there is no other function.
    beacons: Option<Beacons>,
    roaming: Option<Box<Clients>>,
    power_save: Option<Box<Savers>>,
}

impl Stations {
    /// No functions: all packets pass.
    pub fn none() -> Self {
        let site = Site { nodes: Vec::new(), rates: Rates::Ofdm, has_categories: false };
        Self { site, beacons: None, roaming: None, power_save: None }
    }

    /// These functions.
    pub fn new(
        site: Site,
        beacons: Beacons,
        roaming: Option<Clients>,
        power_save: Option<Savers>,
    ) -> Self {
        let (roaming, power_save) = (roaming.map(Box::new), power_save.map(Box::new));
        Self { site, beacons: Some(beacons), roaming, power_save }
    }

    /// The beacons, if there are any.
    pub fn beacons(&self) -> Option<&Beacons> {
        self.beacons.as_ref()
    }

    /// The stations that roam.
    pub fn roaming(&self) -> Option<&Clients> {
        self.roaming.as_deref()
    }

    /// The stations that save power, or for which packets are buffered while they scan.
    pub fn power_save(&self) -> Option<&Savers> {
        self.power_save.as_deref()
    }

    /// Whether all packets pass: no radio has a function.
    #[inline]
    pub fn pass_all(&self) -> bool {
        self.beacons.is_none()
    }

    /// What a radio sends next of this access category; its MAC is free for it.
    #[inline]
    pub fn next(&mut self, now: Instant, by: u32, class: TrafficClass) -> Next {
        if self.beacons.is_none() { Next::Queue(None) } else { self.ask(now, by, class) }
    }

    fn ask(&mut self, now: Instant, by: u32, class: TrafficClass) -> Next {
        let Self { site, beacons: Some(beacons), roaming, power_save } = self else {
            return Next::Queue(None);
        };
        beacons
            .next(by, class, site)
            .or_else(|| roaming.as_mut()?.next(now, by, class, site))
            .or_else(|| power_save.as_mut()?.next(now, by, class, site))
            .unwrap_or(Next::Queue(None))
    }

    /// What a radio sends next of this access category to a receiver for which it has nothing in
    /// service; `None` is to all.
    #[inline]
    pub fn next_to(&mut self, now: Instant, by: u32, to: Option<u32>, class: TrafficClass) -> Next {
        if self.beacons.is_none() {
            return Next::Queue(None);
        }
        self.ask_for(now, by, to, class)
    }

    fn ask_for(&mut self, now: Instant, by: u32, to: Option<u32>, class: TrafficClass) -> Next {
        let Self { site, beacons: Some(beacons), roaming, power_save } = self else {
            return Next::Queue(None);
        };
        beacons
            .next_to(by, to, class, site)
            .or_else(|| roaming.as_ref()?.join(by, class, site).map(|_| Next::Nothing))
            .or_else(|| power_save.as_mut()?.next_to(now, by, to, class, site))
            .unwrap_or(Next::Queue(None))
    }

    /// Whether a station is awake, as far as its access point, of this radio, knows.
    pub fn is_awake(&self, by: u32, station: u32) -> bool {
        self.power_save.as_ref().is_none_or(|power_save| !power_save.sleeps(by, station))
    }

    /// What joins the packets of this access category that a radio has in service for another, if
    /// it is no larger than `most`.
    #[inline]
    pub fn join(
        &mut self,
        now: Instant,
        by: u32,
        to: u32,
        class: TrafficClass,
        most: Bytes,
    ) -> Join {
        if self.beacons.is_none() {
            return Join::Queue(None);
        }
        self.ask_to_join(now, by, to, class, most)
    }

    fn ask_to_join(
        &mut self,
        now: Instant,
        by: u32,
        to: u32,
        class: TrafficClass,
        most: Bytes,
    ) -> Join {
        let Self { site, beacons: Some(beacons), roaming, power_save } = self else {
            return Join::Queue(None);
        };
        beacons
            .join(by, class, site)
            .or_else(|| roaming.as_ref()?.join(by, class, site))
            .or_else(|| Some(power_save.as_mut()?.join(now, by, to, site.only(class), most)))
            .unwrap_or(Join::Queue(None))
    }

    /// A packet has left the queue of a radio. If it must wait for a station that sleeps, it is
    /// buffered, and this returns what is lost for it.
    pub fn hold(
        &mut self,
        now: Instant,
        by: u32,
        to: Option<u32>,
        packet: Packet,
    ) -> Option<Option<(Packet, DropCause)>> {
        let cause = self.buffer_loss();
        let access_point = self.power_save.as_mut()?.access_point(by)?;
        let access_point = Some(access_point).filter(|it| it.buffers(to))?;
        Some(access_point.hold(now, to, packet).map(|lost| (lost, cause)))
    }

    /// Why an access point loses what it has buffered.
    fn buffer_loss(&self) -> DropCause {
        if self.roaming.is_some() { DropCause::Roaming } else { DropCause::PowerSave }
    }

    /// The run begins.
    pub fn on_start(&mut self, seed: &Seed, scope: &mut Scope<'_>) {
        for (radio, at) in self.beacons.iter().flat_map(|beacons| beacons.first(seed)) {
            scope.out.push(tbtt(radio, at));
        }
        if let Some(power_save) = &mut self.power_save {
            power_save.on_start(scope);
        }
    }

    /// A timer has expired that was scheduled with this generation. `around` is what the station of
    /// the radio finds, if it [asks](Self::surveys) for it.
    pub fn on_timer(
        &mut self,
        radio: u32,
        function: Function,
        generation: u32,
        around: &Surroundings,
        scope: &mut Scope<'_>,
    ) {
        match function {
            Function::Beacon => self.on_tbtt(radio, scope),
            Function::Roaming => {
                if let Some(roaming) = &mut self.roaming {
                    roaming.on_timer(radio, generation, around, scope);
                }
            }
            Function::PowerSave => {
                if let Some(power_save) = &mut self.power_save {
                    power_save.on_timer(radio, generation, scope);
                }
            }
        }
    }

    /// A TBTT of an access point: its beacon is its next frame.
    fn on_tbtt(&mut self, radio: u32, scope: &mut Scope<'_>) {
        let (cause, mut tim) = (self.buffer_loss(), power_save::Tim::default());
        let Some(beacons) = &mut self.beacons else { return };
        if let Some(power_save) = &mut self.power_save {
            let (before, period) = beacons.begun(radio);
            tim = power_save.on_tbtt(radio, before, period, cause, scope);
        }
        if let Some(roaming) = &mut self.roaming {
            roaming.on_tbtt(radio, scope);
        }
        let next = beacons.on_tbtt(scope.now, radio, tim, &self.site);
        scope.out.push(tbtt(radio, next));
        scope.out.push(Command::Serve(radio, Some(Management::CLASS)));
    }

    /// Whether the station of a radio wants to know what is [around](Surroundings) it when its
    /// timer expires.
    pub fn surveys(&self, radio: u32) -> bool {
        self.client(radio).is_some_and(Client::surveys)
    }

    fn client(&self, radio: u32) -> Option<&Client> {
        self.roaming.as_ref()?.get(radio)
    }

    /// Whether the station of a radio wants to know the signals of the beacons that it receives.
    pub fn measures(&self, radio: u32) -> bool {
        self.client(radio).is_some()
    }

    /// The access point of a station now, if it may change it.
    pub fn access_point_of(&self, station: u32) -> Option<u32> {
        self.client(station).map(Client::own)
    }

    /// A packet was put into the queue of a radio.
    #[inline]
    pub fn on_queued(&mut self, by: u32, scope: &mut Scope<'_>) {
        if let Some(power_save) = &mut self.power_save {
            power_save.on_queued(by, scope);
        }
    }

    /// A radio has received a frame of the MAC, a beacon with this signal.
    pub fn on_frame(
        &mut self,
        by: u32,
        from: u32,
        frame: Management,
        signal: Option<Dbm>,
        scope: &mut Scope<'_>,
    ) {
        if let Some(roaming) = &mut self.roaming {
            roaming.on_frame(by, from, frame, signal, scope);
        }
        if let Some(power_save) = &mut self.power_save {
            power_save.on_frame(by, from, frame, scope);
        }
    }

    /// Whether a radio receives a packet: a station that sleeps receives no broadcast.
    #[inline]
    pub fn hears(&mut self, now: Instant, by: u32, packet: &Packet) -> bool {
        let power_save = self.power_save.as_mut().filter(|_| packet.to.is_none());
        power_save.is_none_or(|power_save| power_save.hears(now, by))
    }

    /// A radio has received a packet.
    #[inline]
    pub fn on_packet(&mut self, by: u32, from: u32, packet: &Packet, scope: &mut Scope<'_>) {
        if let Some(power_save) = &mut self.power_save {
            power_save.on_packet(by, from, packet, scope);
        }
    }

    /// The service of a packet to this radio, or of a broadcast, has ended. `sends` is whether the
    /// radio has more to send.
    #[inline]
    pub fn on_packet_served(
        &mut self,
        by: u32,
        to: Option<u32>,
        packet: &Packet,
        outcome: MsduOutcome,
        sends: bool,
        scope: &mut Scope<'_>,
    ) -> Served {
        let power_save = self.power_save.as_mut();
        power_save.map_or_else(Served::default, |power_save| {
            power_save.on_packet_served(by, to, packet, outcome, sends, scope)
        })
    }

    /// The service of a frame of the MAC, which was due at `born`, has ended. `sends` is whether
    /// the radio has more to send.
    pub fn on_frame_served(
        &mut self,
        by: u32,
        frame: Management,
        born: Instant,
        outcome: MsduOutcome,
        sends: bool,
        scope: &mut Scope<'_>,
    ) {
        let is_beacon = matches!(frame, Management::Beacon(_));
        if let Some(beacons) = self.beacons.as_mut().filter(|_| is_beacon) {
            beacons.on_sent(by);
        }
        if let Some(power_save) = &mut self.power_save {
            power_save.on_frame_served(by, frame, born, outcome, sends, scope);
        }
        if let Some(roaming) = self.roaming.as_mut().filter(|_| !is_beacon) {
            roaming.on_frame_served(by, frame, outcome, scope);
        }
    }

    /// A station is associated with an access point, after another one or the same
    /// ([`Command::Associated`]). Returns what that before has buffered for it, if it has changed.
    pub fn on_associated(&mut self, now: Instant, station: u32, from: u32, to: u32) -> Vec<Packet> {
        let machine = self.power_save.as_mut().and_then(|all| all.access_point(from));
        let Some(machine) = machine else { return Vec::new() };
        if from != to {
            return machine.forget(now, station);
        }
        // What is buffered goes before what came later.
        machine.on_frame(station, Management::Null(Null { saves_power: false }));
        Vec::new()
    }

    /// Why the MAC of a radio has lost a packet to another one, or to all, with this outcome.
    pub fn cause(&self, by: u32, to: Option<u32>, outcome: MsduOutcome) -> DropCause {
        let roaming = self.roaming.as_ref().zip(to);
        let is_away = roaming.is_some_and(|(roaming, to)| roaming.misses(by, to));
        match outcome {
            MsduOutcome::RetryLimit | MsduOutcome::Lifetime if is_away => DropCause::Roaming,
            _ => outcome.cause(),
        }
    }

    /// Packets that the access point of this radio buffers.
    #[inline]
    pub fn buffered(&self, radio: u32) -> usize {
        self.power_save.as_ref().map_or(0, |power_save| power_save.buffered(radio))
    }

    /// All packets that are buffered, with the radios of their access points.
    pub fn each(&self) -> impl Iterator<Item = (u32, &Packet)> {
        self.power_save.iter().flat_map(|power_save| power_save.each())
    }
}

fn tbtt(radio: u32, at: Instant) -> Command {
    let ticket = Ticket { at, generation: 0 };
    Command::Schedule { radio, function: Function::Beacon, ticket }
}
