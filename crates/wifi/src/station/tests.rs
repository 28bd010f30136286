//! What a radio sends before the packets of its queue, and what functions command.

use super::power_save::Member;
use super::*;
use crate::mac;
use crate::power_save::PowerSaveSettings;
use crate::roaming::Roaming;
use kernel::Duration;
use wire::{Datagram, FlowId};

/// Two access points, and a station of the first.
const AP: u32 = 0;
const OTHER: u32 = 1;
const STATION: u32 = 2;

const ANY: Bytes = Bytes(u64::MAX);

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn data(number: u64) -> Packet {
    let body = Body::Datagram(Datagram { flow: FlowId(0), number, len: 72, stream: 0 });
    Packet::new(NodeId(0), Some(NodeId(1)), Bytes(100), Instant::ZERO, body)
}

fn site(has_categories: bool) -> Site {
    let nodes = [0, 0, 1].map(NodeId).to_vec();
    Site { nodes, rates: Rates::Ofdm, has_categories }
}

fn beacons() -> Beacons {
    Beacons::new(mac::Beacons::default(), [AP, OTHER].into_iter())
}

fn member() -> Member {
    let rules = PowerSaveSettings::default().get().rules();
    Member { radio: STATION, access_point: AP, rules, interval: Duration::from_millis(100) }
}

fn only_beacons(has_categories: bool) -> Stations {
    Stations::new(site(has_categories), beacons(), None, None)
}

fn saving() -> Stations {
    Stations::new(site(false), beacons(), None, Savers::new(3, &[member()]))
}

fn roaming() -> Stations {
    let client = Client::new(Roaming::default(), AP, vec![(AP, 1), (OTHER, 6)]);
    let clients = Clients::new(3, [(STATION, client)].into_iter());
    let savers = Savers::of_scanning(3, &[AP, OTHER], &[member()]);
    Stations::new(site(false), beacons(), clients, Some(savers))
}

/// The commands at an event.
fn at(
    all: &mut Stations,
    ms: u64,
    event: impl FnOnce(&mut Stations, &mut Scope<'_>),
) -> Vec<Command> {
    let mut out = Vec::new();
    event(all, &mut Scope { now: at_ms(ms), out: &mut out });
    out
}

fn beacon_is_due(all: &mut Stations, ms: u64) -> Vec<Command> {
    let around = Surroundings::default();
    at(all, ms, |all, scope| all.on_timer(AP, Function::Beacon, 0, &around, scope))
}

/// The frame of the MAC that a radio sends next.
fn frame(next: Next) -> Option<Management> {
    match next {
        Next::Frame { packet: Packet { body: Body::Management(frame), .. }, .. } => Some(frame),
        _ => None,
    }
}

fn sleeps(saves_power: bool) -> Management {
    Management::Null(Null { saves_power })
}

#[test]
fn a_beacon_goes_before_packets_and_nothing_joins_what_is_in_service_before_it() {
    let mut all = only_beacons(false);
    let class = TrafficClass::BestEffort;
    assert_eq!(all.next(at_ms(0), AP, class), Next::Queue(None));
    assert_eq!(all.join(at_ms(0), AP, STATION, class, ANY), Join::Queue(None));
    let commands = beacon_is_due(&mut all, 50);
    let next = at_ms(50) + Duration::from_micros(100 * 1024);
    assert_eq!(commands, [tbtt(AP, next), Command::Serve(AP, Some(Management::CLASS))]);
    assert_eq!(all.join(at_ms(50), AP, STATION, class, ANY), Join::Nothing);
    assert_eq!(all.join(at_ms(50), OTHER, STATION, class, ANY), Join::Queue(None));
    let beacon = frame(all.next(at_ms(50), AP, class));
    assert!(matches!(beacon, Some(Management::Beacon(_))), "{beacon:?}");
    assert_eq!(all.next(at_ms(50), AP, class), Next::Queue(None), "there is one");
}

#[test]
fn with_access_categories_a_beacon_is_sent_as_voice_alone() {
    let mut all = only_beacons(true);
    beacon_is_due(&mut all, 50);
    let video = TrafficClass::Video;
    assert_eq!(all.next(at_ms(50), AP, video), Next::Queue(None));
    assert_eq!(all.join(at_ms(50), AP, STATION, video, ANY), Join::Queue(None));
    assert!(frame(all.next(at_ms(50), AP, TrafficClass::Voice)).is_some());
}

/// The beacons that the access point has sent, and those that it has skipped.
fn counts(all: &Stations) -> (u64, u64) {
    all.beacons().map_or((0, 0), |beacons| (beacons.sent(AP), beacons.skipped(AP)))
}

#[test]
fn a_beacon_that_still_waits_at_the_next_tbtt_is_skipped() {
    let mut all = only_beacons(false);
    beacon_is_due(&mut all, 50);
    beacon_is_due(&mut all, 153);
    assert_eq!(counts(&all), (0, 1));
    let Some(beacon) = frame(all.next(at_ms(153), AP, TrafficClass::Voice)) else { panic!() };
    let sent = MsduOutcome::Sent;
    at(&mut all, 154, |all, scope| {
        all.on_frame_served(AP, beacon, at_ms(153), sent, false, scope);
    });
    assert_eq!(counts(&all), (1, 1));
}

#[test]
fn the_first_tbtts_are_at_random_within_the_interval() {
    let seed = Seed { root: 1, replication: 0 };
    let commands = at(&mut only_beacons(false), 0, |all, scope| all.on_start(&seed, scope));
    let mut instants = Vec::new();
    for command in &commands {
        let Command::Schedule { function: Function::Beacon, ticket, .. } = command else {
            panic!("{command:?}");
        };
        assert!(ticket.at < Instant::ZERO + Duration::from_micros(100 * 1024));
        instants.push(ticket.at);
    }
    assert_eq!(instants.len(), 2);
    assert_ne!(instants[0], instants[1], "access points have clocks of their own");
}

#[test]
fn packets_for_a_station_that_sleeps_are_held_and_come_before_the_queue_when_it_wakes() {
    let mut all = saving();
    let (class, to) = (TrafficClass::BestEffort, Some(STATION));
    assert_eq!(all.hold(at_ms(0), AP, to, data(1)), None);
    let hears = |all: &mut Stations, ms, frame| {
        at(all, ms, |all, scope| all.on_frame(AP, STATION, frame, None, scope))
    };
    let heard = Command::Heard { by: AP, from: STATION, frame: sleeps(true) };
    assert_eq!(hears(&mut all, 1, sleeps(true)), [heard, Command::Serve(AP, None)]);
    assert_eq!(all.hold(at_ms(2), AP, to, data(2)), Some(None));
    assert_eq!(all.buffered(AP), 1);
    assert_eq!(all.next(at_ms(3), AP, class), Next::Queue(Some(PowerBits::NONE)));
    assert_eq!(all.join(at_ms(3), AP, STATION, class, ANY), Join::Nothing);
    hears(&mut all, 4, sleeps(false));
    let packet = Packet { power: PowerBits::BUFFERED, ..data(2) };
    let expected = Next::Buffered { packet, to };
    assert_eq!(all.next(at_ms(4), AP, class), expected);
    let sent = MsduOutcome::Sent;
    let mut served = Served::default();
    at(&mut all, 5, |all, scope| {
        served = all.on_packet_served(AP, to, &packet, sent, false, scope);
    });
    assert!(served.was_buffered);
}

#[test]
fn the_beacon_goes_before_what_is_buffered_and_tells_of_it() {
    let mut all = saving();
    at(&mut all, 0, |all, scope| all.on_frame(AP, STATION, sleeps(true), None, scope));
    all.hold(at_ms(1), AP, Some(STATION), data(1));
    beacon_is_due(&mut all, 50);
    at(&mut all, 50, |all, scope| all.on_frame(AP, STATION, sleeps(false), None, scope));
    let class = TrafficClass::BestEffort;
    let Some(Management::Beacon(beacon)) = frame(all.next(at_ms(50), AP, class)) else { panic!() };
    assert_eq!(beacon.tim, 1, "the station with AID 1");
    assert!(matches!(all.next(at_ms(50), AP, class), Next::Buffered { .. }));
}

#[test]
fn what_waits_too_long_is_lost_for_the_cause_of_its_function() {
    let lost = |mut all: Stations| {
        at(&mut all, 0, |all, scope| all.on_frame(AP, STATION, sleeps(true), None, scope));
        all.hold(at_ms(0), AP, Some(STATION), data(1));
        beacon_is_due(&mut all, 60_000)[0]
    };
    let drop = |cause| Command::Drop { radio: AP, packet: data(1), cause };
    assert_eq!(lost(saving()), drop(DropCause::PowerSave));
    assert_eq!(lost(roaming()), drop(DropCause::Roaming));
}

#[test]
fn a_station_that_scans_sends_its_announcement_and_then_nothing() {
    let mut all = roaming();
    let class = TrafficClass::BestEffort;
    let weak = Some(Dbm(-90.0));
    let beacon = Management::Beacon(wire::Beacon {
        interval: 100,
        dtim_count: 0,
        dtim_period: 1,
        tim: 0,
        has_group: false,
    });
    assert!(all.measures(STATION) && !all.measures(AP));
    let commands = at(&mut all, 10, |all, scope| all.on_frame(STATION, AP, beacon, weak, scope));
    assert_eq!(commands, [Command::Serve(STATION, None)]);
    assert_eq!(frame(all.next(at_ms(10), STATION, class)), Some(sleeps(true)));
    assert_eq!(all.next(at_ms(10), STATION, class), Next::Nothing);
    assert_eq!(all.join(at_ms(10), STATION, AP, class, ANY), Join::Nothing);
    // What its access point cannot deliver meanwhile is lost because it is away.
    let cause = |outcome| all.cause(AP, Some(STATION), outcome);
    assert_eq!(cause(MsduOutcome::RetryLimit), DropCause::Roaming);
    assert_eq!(cause(MsduOutcome::Flushed), DropCause::Roaming);
    assert_eq!(all.cause(STATION, Some(AP), MsduOutcome::RetryLimit), DropCause::RetryLimit);
    assert_eq!(all.cause(AP, None, MsduOutcome::Sent), DropCause::Broadcast);
}

#[test]
fn an_access_point_answers_before_its_packets() {
    let mut all = roaming();
    let asked = Management::Authentication(wire::Authentication { transaction: 1 });
    let commands = at(&mut all, 0, |all, scope| all.on_frame(OTHER, STATION, asked, None, scope));
    assert_eq!(commands, [Command::Serve(OTHER, None)]);
    let answer = Management::Authentication(wire::Authentication { transaction: 2 });
    assert_eq!(frame(all.next(at_ms(0), OTHER, TrafficClass::BestEffort)), Some(answer));
    assert_eq!(all.join(at_ms(0), OTHER, STATION, TrafficClass::Voice, ANY), Join::Nothing);
}

#[test]
fn what_was_buffered_for_a_station_is_given_back_when_it_has_moved() {
    let mut all = roaming();
    at(&mut all, 0, |all, scope| all.on_frame(AP, STATION, sleeps(true), None, scope));
    all.hold(at_ms(1), AP, Some(STATION), data(1));
    assert_eq!(all.on_associated(at_ms(2), STATION, AP, OTHER), [data(1)]);
    assert_eq!(all.buffered(AP), 0);
    // A station that comes back to its access point gets it there.
    at(&mut all, 3, |all, scope| all.on_frame(AP, STATION, sleeps(true), None, scope));
    all.hold(at_ms(4), AP, Some(STATION), data(2));
    assert_eq!(all.on_associated(at_ms(5), STATION, AP, AP), []);
    let next = all.next(at_ms(5), AP, TrafficClass::BestEffort);
    assert!(matches!(next, Next::Buffered { to: Some(STATION), .. }), "{next:?}");
}
