//! Checks power save: what is sent to a station that sleeps, in which order buffered packets leave,
//! and what the TIM of beacons says.

use super::rule::rule;
use crate::notice::{Notice, StationNote};
use crate::plan::Plan;
use crate::topology::{Interface, RadioId, Topology};
use kernel::{IdVec, Instant};
use std::collections::VecDeque;
use std::sync::Arc;
use wifi::power_save::{Fetch, MOST_BUFFERED};
use wire::{Body, DropCause, Management, Null, Packet, PowerBits};

/// The records of a station that saves power.
#[derive(Debug)]
struct Station {
    radio: RadioId,
    access_point: RadioId,
    fetch: Fetch,
    /// Its bit in the TIM.
    bit: u64,
    is_asleep: bool,
    /// The begin of the agreed service period that goes on.
    period: Option<Instant>,
    /// It has requested packets, and a service period or the answer to a PS-Poll is still to come.
    may_receive: bool,
    /// The packets that are buffered for it, oldest first.
    held: VecDeque<Packet>,
}

/// The records of all stations that save power.
#[derive(Debug)]
pub(super) struct PowerSave {
    topology: Arc<Topology>,
    stations: Vec<Station>,
    /// Broadcasts that are buffered, with the radios of their access points and since when.
    group: VecDeque<(RadioId, Instant, Packet)>,
    /// When each access point has passed its last DTIM to its MAC.
    dtims: IdVec<RadioId, Option<Instant>>,
}

impl PowerSave {
    /// The records of a plan in which stations save power.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let topology = &plan.topology;
        let mut members = IdVec::filled(topology.radios().len(), 0);
        let mut stations = Vec::new();
        for (number, station) in plan.stations.iter().enumerate() {
            let Some(settings) = &station.power_save else { continue };
            let radio = topology.station(number);
            let access_point = topology.access_point_of(radio);
            let bit = 1 << members[access_point];
            members[access_point] += 1;
            stations.push(Station {
                radio,
                access_point,
                fetch: settings.get().rules().fetch,
                bit,
                is_asleep: false,
                period: None,
                may_receive: false,
                held: VecDeque::new(),
            });
        }
        let dtims = IdVec::filled(members.len(), None);
        let (topology, group) = (Arc::clone(topology), VecDeque::new());
        (!stations.is_empty()).then_some(Self { topology, stations, group, dtims })
    }

    /// Stations with target wake times sleep between their service periods, and at the begin of one
    /// that they announce.
    fn pass(&mut self, now: Instant) {
        for station in &mut self.stations {
            let Fetch::Scheduled(periods) = station.fetch else { continue };
            let begin = periods.last_begin(now);
            let is_in = begin.is_some_and(|begin| now < begin + periods.duration);
            if !is_in {
                (station.is_asleep, station.may_receive) = (true, false);
            } else if station.period != begin {
                station.is_asleep = periods.announced;
            }
            station.period = begin.filter(|_| is_in);
        }
    }

    fn station(&mut self, radio: RadioId) -> Option<&mut Station> {
        self.stations.iter_mut().find(|station| station.radio == radio)
    }

    fn any_sleeps(&self, access_point: RadioId) -> bool {
        self.stations.iter().any(|it| it.access_point == access_point && it.is_asleep)
    }

    pub(super) fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        self.pass(now);
        match *notice {
            Notice::Station(StationNote::SavesPower { from, frame, .. }) => {
                self.on_frame(from, frame);
            }
            Notice::Received { by, packet, .. } => self.on_received(by, packet),
            Notice::Station(StationNote::Buffered { by, to, packet }) => {
                self.on_buffered(now, by, to, packet);
            }
            Notice::Dequeued { by, to: Some(to), packet } => {
                if let Some(station) = self.station(to).filter(|it| it.access_point == by) {
                    station.on_sent(now, packet);
                    station.may_receive &= !packet.power.has(PowerBits::EOSP);
                }
            }
            Notice::Dequeued { by, to: None, packet } => self.on_group_sent(now, by, packet),
            Notice::Dropped { at: Interface::Radio(by), packet, cause: DropCause::PowerSave } => {
                self.on_dropped(now, by, packet);
            }
            Notice::Station(StationNote::Frame { by, packet }) => self.on_beacon(now, by, packet),
            Notice::ExchangeBegan { cell, .. } => {
                let asked = cell.triggered().map_or(&[][..], |it| &it.users);
                for station in &self.stations {
                    let number = station.radio.0;
                    let is_asked = asked.iter().any(|user| user.station == number);
                    station.on_exchange(now, cell.receiver_of(number).is_some(), is_asked);
                }
            }
            _ => {}
        }
    }

    /// A station has sent a frame without data.
    fn on_frame(&mut self, from: RadioId, frame: Management) {
        let Some(station) = self.station(from) else { return };
        match frame {
            Management::Null(Null { saves_power }) => {
                (station.is_asleep, station.may_receive) = (saves_power, false);
            }
            Management::QosNull(_) if station.period.is_some() => station.is_asleep = false,
            Management::PsPoll(_) | Management::QosNull(_) => station.may_receive = true,
            _ => {}
        }
    }

    /// A station has sent data to its access point, which may relay them to another station.
    fn on_received(&mut self, by: RadioId, packet: &Packet) {
        let from = self.topology.routes().radio(packet.from);
        if let Some(station) = self.station(from).filter(|it| it.access_point == by) {
            let wakes = matches!(station.fetch, Fetch::Wake(_)) || station.period.is_some();
            station.is_asleep &= !wakes;
            station.may_receive |= matches!(station.fetch, Fetch::Trigger(_));
        }
    }

    fn on_buffered(&mut self, now: Instant, by: RadioId, to: Option<RadioId>, packet: &Packet) {
        let Some(to) = to else {
            let sleeps = self.any_sleeps(by);
            let may = sleeps || self.group.iter().any(|(at, _, _)| *at == by);
            rule(now, may, "broadcasts are buffered only if a station sleeps", String::new);
            return self.group.push_back((by, now, *packet));
        };
        let Some(station) = self.station(to) else { return };
        let sleeps = station.is_asleep || station.period == Some(now);
        rule(now, sleeps, "packets are buffered only for stations that sleep", || {
            format!("{packet:?}")
        });
        station.held.push_back(*packet);
        let alike = station.held.iter().filter(|other| other.class == packet.class).count();
        // The oldest one is dropped after this.
        rule(now, alike <= MOST_BUFFERED + 1, "a power-save buffer has its limit", || {
            format!("{alike} packets")
        });
    }

    fn on_group_sent(&mut self, now: Instant, by: RadioId, packet: &Packet) {
        let sleeps = self.any_sleeps(by);
        let packet = &Packet { power: PowerBits::NONE, ..*packet };
        let at = self.group.iter().position(|(_, _, other)| other == packet);
        let since = at.and_then(|at| self.group.remove(at)).map(|(_, since, _)| since);
        let dtim = self.dtims[by];
        let follows = since.is_some_and(|since| dtim.is_some_and(|dtim| since <= dtim));
        rule(now, follows || !sleeps, "broadcasts follow a DTIM while a station sleeps", || {
            format!("buffered {since:?}, DTIM {dtim:?}")
        });
    }

    fn on_dropped(&mut self, now: Instant, by: RadioId, packet: &Packet) {
        let Some(_) = packet.to else {
            return self.group.retain(|(at, _, other)| *at != by || other != packet);
        };
        let to = self.topology.routes().radio(packet.next);
        if let Some(station) = self.station(to) {
            station.leave(now, packet);
        }
    }

    /// A beacon that is sent at its TBTT announces what is buffered now.
    fn on_beacon(&mut self, now: Instant, by: RadioId, packet: &Packet) {
        let Body::Management(Management::Beacon(beacon)) = packet.body else { return };
        if beacon.dtim_count == 0 {
            self.dtims[by] = Some(now);
        }
        if packet.born != now {
            return;
        }
        let waiting = |it: &&Station| it.access_point == by && it.is_asleep && !it.held.is_empty();
        let tim = self.stations.iter().filter(waiting).fold(0, |tim, station| tim | station.bit);
        // The TIM may be from before a service period that begins now.
        let begins = self.stations.iter().filter(|it| it.access_point == by);
        let begins = begins.filter(|it| it.period == Some(now) || it.period_ends(now));
        let open = begins.fold(0, |open, station| open | station.bit);
        rule(
            now,
            tim & !open == beacon.tim & !open,
            "the TIM says for whom packets are buffered",
            || format!("{tim:b}, not {:b}", beacon.tim),
        );
        let has_group = self.group.iter().any(|(at, _, _)| *at == by);
        let is_true = has_group == beacon.has_group;
        rule(now, is_true, "the TIM says whether broadcasts are buffered", String::new);
    }
}

impl Station {
    /// Whether a service period of its agreement ends now.
    fn period_ends(&self, now: Instant) -> bool {
        let Fetch::Scheduled(periods) = self.fetch else { return false };
        periods.last_begin(now).is_some_and(|begin| begin + periods.duration == now)
    }

    /// An exchange begins in which it sends, or is asked to.
    fn on_exchange(&self, now: Instant, sends: bool, is_asked: bool) {
        let may = !sends || !self.fetch.is_triggered();
        rule(now, may, "a station of a trigger-enabled TWT waits for Trigger frames", || {
            format!("{:?} sends", self.radio)
        });
        let may = !is_asked || !self.is_asleep || self.period_ends(now);
        rule(now, may, "a Trigger frame asks no station that sleeps", || {
            format!("{:?} is asked", self.radio)
        });
    }

    /// Its access point takes a packet for it into service.
    fn on_sent(&mut self, now: Instant, packet: &Packet) {
        let may = !self.is_asleep || self.may_receive || self.period_ends(now);
        rule(now, may, "a station that sleeps gets only what it has requested", || {
            format!("{packet:?}")
        });
        if self.is_asleep && self.fetch == Fetch::PsPoll {
            self.may_receive = false;
        }
        if self.held.iter().any(|other| other.class == packet.class) {
            self.leave(now, &Packet { power: PowerBits::NONE, ..*packet });
        }
    }

    /// A packet leaves the buffer: the oldest of its class.
    fn leave(&mut self, now: Instant, packet: &Packet) {
        let at = self.held.iter().position(|other| other.class == packet.class);
        let left = at.and_then(|at| self.held.remove(at));
        rule(now, left.as_ref() == Some(packet), "buffered packets leave in order", || {
            format!("{packet:?} before {left:?}")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use kernel::Bytes;
    use wire::{Beacon, Datagram, FlowId, NodeId, QosNull};

    const AP: RadioId = RadioId(0);
    const STATION: RadioId = RadioId(1);
    const NOW: Instant = Instant(1_000_000);

    fn packet(number: u64) -> Packet {
        let body = Body::Datagram(Datagram { flow: FlowId(0), number, len: 72, stream: 0 });
        Packet::new(NodeId(0), Some(NodeId(1)), Bytes(100), Instant::ZERO, body)
    }

    /// A station that sleeps and has two packets in the buffer.
    fn scene(power_save: &str) -> PowerSave {
        let text = format!(
            "standard = '11n'\nstations.power_save = '{power_save}'\nwlan.beacons = {{}}\n\
             [[flows]]\nfrom = 'ap'\nto = 'sta0'\n"
        );
        let plan = Scenario::parse(&text).unwrap().resolve().unwrap();
        let mut checker = PowerSave::new(&plan).unwrap();
        let frame = Management::Null(Null { saves_power: true });
        checker.on(NOW, &Notice::Station(StationNote::SavesPower { by: AP, from: STATION, frame }));
        for number in 0..2 {
            let packet = &packet(number);
            checker.on(
                NOW,
                &Notice::Station(StationNote::Buffered { by: AP, to: Some(STATION), packet }),
            );
        }
        checker
    }

    fn send(checker: &mut PowerSave, number: u64) {
        let packet = &packet(number);
        checker.on(NOW, &Notice::Dequeued { by: AP, to: Some(STATION), packet });
    }

    fn request(checker: &mut PowerSave, frame: Management) {
        checker.on(NOW, &Notice::Station(StationNote::SavesPower { by: AP, from: STATION, frame }));
    }

    fn announce(checker: &mut PowerSave, tim: u64, has_group: bool) {
        let beacon = Beacon { interval: 100, dtim_period: 2, dtim_count: 1, tim, has_group };
        let body = Body::Management(Management::Beacon(beacon));
        let packet = &Packet::new(NodeId(0), None, Bytes(250), NOW, body);
        checker.on(NOW, &Notice::Station(StationNote::Frame { by: AP, packet }));
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        let mut checker = scene("u_apsd");
        announce(&mut checker, 1, false);
        request(&mut checker, Management::QosNull(QosNull { ends_period: false }));
        send(&mut checker, 0);
        send(&mut checker, 1);
        announce(&mut checker, 0, false);
    }

    #[test]
    #[should_panic(expected = "gets only what it has requested")]
    fn a_packet_that_was_not_requested_is_found() {
        send(&mut scene("legacy"), 0);
    }

    #[test]
    #[should_panic(expected = "gets only what it has requested")]
    fn a_packet_after_the_end_of_the_service_period_is_found() {
        let mut checker = scene("u_apsd");
        request(&mut checker, Management::QosNull(QosNull { ends_period: false }));
        let packet = &Packet { power: PowerBits::EOSP, ..packet(0) };
        checker.on(NOW, &Notice::Dequeued { by: AP, to: Some(STATION), packet });
        send(&mut checker, 1);
    }

    #[test]
    #[should_panic(expected = "buffered packets leave in order")]
    fn a_packet_that_overtakes_another_is_found() {
        let mut checker = scene("legacy");
        request(&mut checker, Management::Null(Null { saves_power: false }));
        send(&mut checker, 1);
    }

    #[test]
    #[should_panic(expected = "the TIM says for whom packets are buffered")]
    fn a_wrong_tim_is_found() {
        announce(&mut scene("legacy"), 0, false);
    }

    #[test]
    #[should_panic(expected = "the TIM says whether broadcasts are buffered")]
    fn a_wrong_bit_for_broadcasts_is_found() {
        announce(&mut scene("legacy"), 1, true);
    }

    #[test]
    #[should_panic(expected = "broadcasts follow a DTIM")]
    fn a_broadcast_before_the_dtim_is_found() {
        let mut checker = scene("legacy");
        let packet = &Packet { to: None, ..packet(7) };
        checker.on(NOW, &Notice::Station(StationNote::Buffered { by: AP, to: None, packet }));
        checker.on(NOW, &Notice::Dequeued { by: AP, to: None, packet });
    }

    /// A station that answers Trigger frames in its service periods, 10.24 ms of 102.4.
    fn triggered() -> Station {
        let text = "standard = '11ax'\nwlan.beacons = {}\n\
                    wlan.mu.uplink.access_interval_us = 1000.0\n\
                    stations.power_save.twt.triggered = true\n\
                    [[flows]]\nfrom = 'ap'\nto = 'sta0'\n";
        let plan = Scenario::parse(text).unwrap().resolve().unwrap();
        PowerSave::new(&plan).unwrap().stations.remove(0)
    }

    #[test]
    #[should_panic(expected = "waits for Trigger frames")]
    fn a_frame_of_its_own_in_a_trigger_enabled_twt_is_found() {
        triggered().on_exchange(NOW, false, true);
        triggered().on_exchange(NOW, true, false);
    }

    #[test]
    #[should_panic(expected = "asks no station that sleeps")]
    fn a_trigger_frame_for_a_station_that_sleeps_is_found() {
        let station = Station { is_asleep: true, ..triggered() };
        station.on_exchange(NOW, false, false);
        station.on_exchange(NOW, false, true);
    }

    #[test]
    #[should_panic(expected = "buffered only for stations that sleep")]
    fn a_packet_that_need_not_wait_is_found() {
        let mut checker = scene("legacy");
        request(&mut checker, Management::Null(Null { saves_power: false }));
        let packet = &packet(2);
        checker
            .on(NOW, &Notice::Station(StationNote::Buffered { by: AP, to: Some(STATION), packet }));
    }
}
