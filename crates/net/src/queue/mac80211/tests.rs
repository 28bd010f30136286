use super::super::tests::{accepts, capable, drain, number, packet, rng};
use super::*;
use kernel::BitRate;
use wire::TrafficClass;

const NOW: Instant = Instant(0);
const MS: u64 = 1_000_000;

fn config() -> Mac80211Config {
    Mac80211Config::default()
}

fn queue(config: Mac80211Config) -> Shared<Mac80211> {
    Mac80211::queue(config, false, &mut rng())
}

fn used(station: u32, us: u64) -> UsedAirtime {
    let used = Duration::from_micros(us);
    UsedAirtime { station: Some(NodeId(station)), received: false, used }
}

fn fill(queue: &mut Shared<Mac80211>, stations: std::ops::Range<u32>, packets: u64) {
    for n in 0..packets {
        stations.clone().for_each(|station| {
            assert!(accepts(queue, NOW, packet(station, n, 1500)));
        });
    }
}

fn station_of(packet: &Packet) -> u32 {
    packet.receiver().unwrap().0
}

/// One turn: the first packet, and as many more as an A-MPDU of so many holds.
fn turn(queue: &mut Shared<Mac80211>, frames: usize) -> Vec<Packet> {
    let first = queue.pop(NOW, &mut Vec::new()).expect("packets wait");
    let to = Destination::Only(first.receiver());
    let wanted = Wanted { class: TrafficClass::BestEffort, to, most: Bytes(u64::MAX) };
    let rest = std::iter::from_fn(|| queue.pop_for(NOW, &wanted, &mut Vec::new()));
    std::iter::once(first).chain(rest.take(frames - 1).collect::<Vec<_>>()).collect()
}

fn deficit(queue: &Shared<Mac80211>, station: u32) -> i64 {
    let number = queue.scheduler.stations.number(Per::station_key(Some(NodeId(station))));
    queue.scheduler.stations[number.unwrap()].deficit / 1000
}

#[test]
fn without_fairness_each_turn_is_an_aggregate_of_the_next_station() {
    let mut queue = queue(Mac80211Config { airtime_fairness: false, ..config() });
    fill(&mut queue, 1..4, 40);
    let turns: Vec<_> = (0..6).map(|_| turn(&mut queue, 4)).collect();
    let stations: Vec<_> = turns.iter().map(|packets| station_of(&packets[0])).collect();
    assert_eq!(stations, [1, 2, 3, 1, 2, 3]);
    assert!(turns.iter().all(|packets| {
        packets.len() == 4 && packets.iter().all(|p| station_of(p) == station_of(&packets[0]))
    }));
}

/// How often a station is passed over after a turn of so many microseconds, and its deficit when it
/// has its next turn.
fn passes(scheduler: AirtimeScheduler, us: u64) -> (usize, i64) {
    let mut queue = queue(Mac80211Config { scheduler, ..config() });
    fill(&mut queue, 1..3, 100);
    assert_eq!(station_of(&turn(&mut queue, 1)[0]), 1);
    queue.on_airtime(&used(1, us));
    // The other station uses exactly its quantum in each of its turns.
    let quantum = scheduler.quantum() as u64 / 1000;
    for passed in 0.. {
        let next = station_of(&turn(&mut queue, 1)[0]);
        if next == 1 {
            return (passed, deficit(&queue, 1));
        }
        let spare = deficit(&queue, 2) as u64;
        queue.on_airtime(&used(2, if passed == 0 { spare + 1 } else { quantum }));
    }
    unreachable!()
}

#[test]
fn a_slow_aggregate_of_ath9k_is_paid_for_by_eleven_turns() {
    // linux-wifi: 3460 us from a deficit of 300 us, then of 1239 us.
    assert_eq!(passes(AirtimeScheduler::Ath9k, 3460).1, 140);
    assert_eq!(passes(AirtimeScheduler::Ath9k, 1239).1, 261);
    assert!((10..=12).contains(&passes(AirtimeScheduler::Ath9k, 3460).0));
}

#[test]
fn a_slow_aggregate_of_mac80211_is_paid_for_by_thirteen_turns() {
    assert_eq!(passes(AirtimeScheduler::Mac80211, 3460).1, 124);
    assert!((12..=14).contains(&passes(AirtimeScheduler::Mac80211, 3460).0));
}

#[test]
fn stations_share_airtime_by_their_weights() {
    for scheduler in [AirtimeScheduler::Mac80211, AirtimeScheduler::Ath9k] {
        let mut queue = queue(Mac80211Config { scheduler, ..config() });
        for (station, weight) in [(1, 256), (2, 512), (3, 256)] {
            queue.on_link(&LinkState { weight, ..LinkState::of(NodeId(station)) });
        }
        let times = [0, 4000, 250, 1000];
        let mut airtime = [0; 4];
        for n in 0..20_000 {
            (1..4).for_each(|station| {
                accepts(&mut queue, NOW, packet(station, n, 100));
            });
            let popped = turn(&mut queue, 1)[0];
            let station = station_of(&popped) as usize;
            queue.release(NOW, &popped, &mut Vec::new());
            airtime[station] += times[station];
            queue.on_airtime(&used(station as u32, times[station]));
        }
        let all: u64 = airtime.iter().sum();
        let share = |station: usize| airtime[station] as f64 / all as f64;
        assert!((share(2) - 0.5).abs() < 0.01, "{airtime:?}");
        assert!((share(1) - 0.25).abs() < 0.01, "{airtime:?}");
    }
}

#[test]
fn by_the_rules_of_ath9k_a_station_that_was_idle_goes_first() {
    let served_after_idle = |scheduler| {
        let mut queue = queue(Mac80211Config { scheduler, ..config() });
        fill(&mut queue, 1..3, 50);
        for _ in 0..7 {
            let station = station_of(&turn(&mut queue, 1)[0]);
            queue.on_airtime(&used(station, 1000));
        }
        accepts(&mut queue, NOW, packet(3, 0, 100));
        station_of(&turn(&mut queue, 1)[0])
    };
    assert_eq!(served_after_idle(AirtimeScheduler::Ath9k), 3);
}

#[test]
fn flows_of_two_stations_never_share_a_queue() {
    let mut queue = queue(Mac80211Config { flows: 1, ..config() });
    fill(&mut queue, 1..3, 3);
    let flows = &queue.scheduler.flows;
    let mut owners = Vec::new();
    flows.each(&mut |packet| owners.push(station_of(packet)));
    assert_eq!(owners, [1, 1, 1, 2, 2, 2], "station 2 waits in its overflow flow");
    assert_eq!(drain(&mut queue, NOW).len(), 6);
}

#[test]
fn the_fattest_flow_by_bytes_makes_room() {
    let mut queue = queue(Mac80211Config { limit: Limit::packets(43), ..config() });
    for n in 0..3 {
        accepts(&mut queue, NOW, packet(1, n, 1500));
    }
    for n in 0..40 {
        accepts(&mut queue, NOW, packet(2, n, 100));
    }
    let mut out = Vec::new();
    queue.push(NOW, &packet(2, 40, 100), &mut out);
    // 4500 bytes against 4100: half of three packets is one, the first.
    assert_eq!(out, [Signal::Drop(packet(1, 0, 1500))]);
}

#[test]
fn a_batch_of_drops_is_half_of_the_fattest_flow_at_most() {
    let dropped = |drop_batch| {
        let mut queue =
            queue(Mac80211Config { limit: Limit::packets(100), drop_batch, ..config() });
        fill(&mut queue, 1..2, 100);
        let mut out = Vec::new();
        queue.push(NOW, &packet(1, 100, 1500), &mut out);
        out.len()
    };
    assert_eq!([dropped(1), dropped(32), dropped(1000)], [1, 32, 50]);
}

#[test]
fn the_memory_limit_counts_as_linux_does() {
    let memory = Bytes(10 * 2304);
    let mut queue = queue(Mac80211Config { memory, drop_batch: 1, ..config() });
    fill(&mut queue, 1..2, 10);
    assert!(accepts(&mut queue, NOW, packet(1, 10, 1500)));
    assert_eq!(queue.len(), 10, "the eleventh drove out the first");
    let mut out = Vec::new();
    assert_eq!(queue.pop(NOW, &mut out).map(|p| number(&p)), Some(1));
}

#[test]
fn codel_may_drop_until_a_flow_is_empty() {
    let mut queue = queue(config());
    for n in 0..30 {
        queue.push(NOW, &packet(1, n, 1500), &mut Vec::new());
    }
    let mut out = Vec::new();
    // A packet every 40 ms: each has waited longer than the target of 20 ms.
    for step in 1..30 {
        queue.pop(Instant(40 * MS * step), &mut out);
    }
    assert!(out.len() > 5, "{out:?}");
    assert!(queue.is_empty(), "a backlog of one packet is not spared");
}

#[test]
fn flows_to_a_slow_station_have_a_longer_target_and_no_ecn() {
    let signals = |expected_mbps, slow_stations| {
        let mut queue = queue(Mac80211Config { slow_stations, ..config() });
        for station in 1..4 {
            let expected = BitRate::from_mbps(if station == 1 { expected_mbps } else { 100.0 });
            queue.on_link(&LinkState { expected, ..LinkState::of(NodeId(station)) });
        }
        let mut out = Vec::new();
        for ms in 0..400 {
            // Each packet waits 30 ms.
            queue.push(Instant(ms * MS), &capable(1, ms, 1500), &mut out);
            if ms >= 30 {
                queue.pop(Instant(ms * MS), &mut out);
            }
        }
        out.len()
    };
    assert!(signals(17.9, false) > 2);
    assert_eq!(signals(17.9, true), 0, "below 6 Mb/s for each of three stations: target 50 ms");
    assert!(signals(18.1, true) > 2);
}

/// The estimate for a mode of HT at 20 MHz with so many bits per symbol.
fn ht(bits: u64, streams: u64, short_guard: bool) -> AirtimeEstimate {
    let long = 4 * (8192 * 1024u64).div_ceil(bits);
    let per_kib = if short_guard { long * 18 / 20 } else { long };
    AirtimeEstimate { per_kib, overhead_us: 36 + 4 * streams, aggregates: true }
}

#[test]
fn airtime_is_estimated_as_the_kernel_does() {
    let of = |estimate: AirtimeEstimate| estimate.airtime_us(Bytes(1500), TrafficClass::BestEffort);
    assert_eq!([of(ht(26, 1, false)), of(ht(26, 1, true))], [1928, 1736]);
    assert_eq!([of(ht(260, 1, false)), of(ht(260, 1, true))], [192, 172]);
    assert_eq!(of(ht(520, 2, true)), 84);
    // VHT at 80 MHz, MCS 9, two streams.
    assert_eq!(of(ht(3120, 2, true)), 12);
    let he80 = (8192 * 1024u64).div_ceil(2 * 980 * 10 * 5 / 6) * 16 * 17 / 20;
    let he80 = AirtimeEstimate { per_kib: he80, overhead_us: 44, aggregates: true };
    assert_eq!(he80.airtime_us(Bytes(1500), TrafficClass::BestEffort), 8);
    let voice = ht(260, 1, true).airtime_us(Bytes(1500), TrafficClass::Voice);
    assert_eq!(voice, 208, "no A-MPDU shares its preamble");
}

fn with_aql(aql: Aql, airtime: AirtimeEstimate) -> Shared<Mac80211> {
    let mut queue = queue(Mac80211Config { aql: Some(aql), ..config() });
    for station in 1..4 {
        queue.on_link(&LinkState { airtime, ..LinkState::of(NodeId(station)) });
    }
    queue
}

#[test]
fn the_device_gets_as_many_frames_as_the_limits_admit() {
    let admitted = |airtime, total| {
        let total = Duration::from_micros(total);
        let mut queue = with_aql(Aql { total, ..Aql::default() }, airtime);
        fill(&mut queue, 1..2, 1500);
        drain(&mut queue, NOW).len()
    };
    let (fast, slow, wide) = (ht(260, 1, true), ht(26, 1, false), ht(3120, 2, true));
    assert_eq!([admitted(fast, 1), admitted(fast, 24_000)], [30, 70]);
    assert_eq!([admitted(slow, 1), admitted(slow, 24_000)], [3, 7]);
    assert_eq!([admitted(wide, 1), admitted(wide, 24_000)], [417, 1000]);
}

#[test]
fn what_the_device_has_sent_makes_room_for_more() {
    let mut queue = with_aql(Aql::default(), ht(260, 1, true));
    fill(&mut queue, 1..2, 100);
    let held: Vec<_> = std::iter::from_fn(|| queue.pop(NOW, &mut Vec::new())).collect();
    assert_eq!((held.len(), queue.len()), (70, 30));
    queue.release(NOW, &held[0], &mut Vec::new());
    // 69 are pending: 11,868 us are below the limit of 12 ms.
    assert_eq!(drain(&mut queue, NOW).len(), 1);
    assert_eq!(queue.scheduler.pending, 70 * 172);
}

#[test]
fn the_category_has_a_limit_that_grows_with_the_stations() {
    let held = |per_category, stations: u32| {
        let mut queue = with_aql(Aql { per_category, ..Aql::default() }, ht(26, 1, false));
        fill(&mut queue, 1..1 + stations, 40);
        drain(&mut queue, NOW).len()
    };
    // 1928 us a packet: 17,000 us for three stations, 12,000 for one.
    assert_eq!([held(true, 3), held(true, 1)], [9, 7]);
    assert!(held(false, 3) > 12);
}

#[test]
fn each_turn_in_vain_moves_the_stations_on() {
    let next_after = |vain: usize| {
        let mut queue = with_aql(Aql::default(), ht(26, 1, false));
        fill(&mut queue, 1..4, 40);
        let held: Vec<_> = std::iter::from_fn(|| queue.pop(NOW, &mut Vec::new())).collect();
        let mut order: Vec<_> = queue.scheduler.old.iter().copied().collect();
        for _ in 0..vain {
            assert_eq!(queue.pop(NOW, &mut Vec::new()), None);
        }
        order.rotate_left(vain % 3);
        for packet in &held {
            queue.release(NOW, packet, &mut Vec::new());
        }
        (queue.scheduler.old.iter().copied().collect::<Vec<_>>(), order)
    };
    for vain in 0..7 {
        let (found, expected) = next_after(vain);
        assert_eq!(found, expected, "after {vain}");
    }
}

#[test]
fn a_station_that_is_new_to_the_lists_is_not_blocked_by_the_others() {
    let mut queue = with_aql(Aql::default(), ht(26, 1, false));
    fill(&mut queue, 1..3, 40);
    while queue.pop(NOW, &mut Vec::new()).is_some() {}
    assert_eq!(queue.pop(NOW, &mut Vec::new()), None);
    accepts(&mut queue, NOW, packet(3, 0, 1500));
    assert_eq!(queue.pop(NOW, &mut Vec::new()).map(|packet| station_of(&packet)), Some(3));
}
