//! Tests of CAKE.

use super::super::load::{SERVICE, responsive};
use super::super::tests::{accepts, capable, packet, rng};
use super::*;
use kernel::Id;
use wire::{Flags, FlowId, SackBlocks};

const WIRE: OutputLink = OutputLink::Wire(None, Duration::ZERO);
const NOW: Instant = Instant(0);

fn cake(config: CakeConfig) -> Shared<Cake> {
    Cake::queue(config, WIRE, rng())
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A packet of a flow between two hosts.
fn between(flow: u32, from: u32, to: u32, number: u64) -> Packet {
    Packet { from: NodeId(from), to: Some(NodeId(to)), ..packet(flow, number, 1500) }
}

/// Serves packets that are always waiting, by flow.
fn served(queue: &mut Shared<Cake>, packets: &[fn(u64) -> Packet], turns: u64) -> Vec<u64> {
    let mut counts = vec![0; packets.len()];
    for number in 0..turns {
        for make in packets {
            assert!(accepts(queue, NOW, make(number)));
        }
    }
    for _ in 0..turns {
        let packet = queue.pop(NOW, &mut Vec::new()).unwrap();
        queue.release(NOW, &packet, &mut Vec::new());
        counts[packet.flow().unwrap().index()] += 1;
    }
    counts
}

#[test]
fn hosts_share_equally_and_their_flows_divide_the_share() {
    let flows: [fn(u64) -> Packet; 4] = [
        |n| between(0, 10, 20, n),
        |n| between(1, 10, 20, n),
        |n| between(2, 10, 20, n),
        |n| between(3, 11, 21, n),
    ];
    let limit = Limit::NONE;
    let counts = served(&mut cake(CakeConfig { limit, ..Default::default() }), &flows, 1200);
    let expected = [200, 200, 200, 600];
    assert!(counts.iter().zip(expected).all(|(n, e)| n.abs_diff(e) < 12), "{counts:?}");
    let by_flow = CakeConfig { limit, isolation: Isolation::Flows, ..Default::default() };
    let counts = served(&mut cake(by_flow), &flows, 1200);
    assert!(counts.iter().all(|n| n.abs_diff(300) < 5), "{counts:?}");
    // One server, two clients: the destinations count.
    let one_source: [fn(u64) -> Packet; 3] =
        [|n| between(0, 10, 20, n), |n| between(1, 10, 20, n), |n| between(2, 10, 21, n)];
    let counts = served(&mut cake(CakeConfig { limit, ..Default::default() }), &one_source, 1200);
    assert!(counts.iter().all(|n| n.abs_diff(400) < 12), "all have the busiest host: {counts:?}");
}

fn of_class(class: TrafficClass, flow: u32, number: u64) -> Packet {
    Packet { class, ..packet(flow, number, 1500) }
}

#[test]
fn without_a_shaper_tins_share_by_their_weights() {
    let flows: [fn(u64) -> Packet; 3] = [
        |n| of_class(TrafficClass::BestEffort, 0, n),
        |n| of_class(TrafficClass::Background, 1, n),
        |n| of_class(TrafficClass::Voice, 2, n),
    ];
    let config = CakeConfig { limit: Limit::NONE, ..Default::default() };
    let turns = 21 * 200;
    let counts = served(&mut cake(config), &flows, turns);
    let expected = [16, 1, 4].map(|weight| weight * 200u64);
    assert!(counts.iter().zip(expected).all(|(n, e)| n.abs_diff(e) <= 6), "{counts:?}");
    let one = CakeConfig { tins: Tins::Besteffort, ..config };
    let counts = served(&mut cake(one), &flows, 300);
    assert!(counts.iter().all(|n| n.abs_diff(100) <= 3), "{counts:?}");
}

#[test]
fn with_a_shaper_voice_goes_first_up_to_a_quarter() {
    // 12 Mb/s: a packet of 1500 bytes takes 1 ms.
    let bandwidth = Some(BitRate::from_mbps(12.0));
    let mut queue = cake(CakeConfig { bandwidth, limit: Limit::NONE, ..Default::default() });
    let classes = [TrafficClass::BestEffort, TrafficClass::Background, TrafficClass::Voice];
    for number in 0..2000 {
        for (flow, class) in (0..).zip(classes) {
            assert!(accepts(&mut queue, NOW, of_class(class, flow, number)));
        }
    }
    let mut counts = [0u32; 3];
    for slot in 0..1600 {
        let now = ms(slot);
        let packet = queue.pop(now, &mut Vec::new()).unwrap();
        if slot == 0 {
            assert_eq!(packet.class, TrafficClass::Voice);
        }
        queue.release(now, &packet, &mut Vec::new());
        counts[packet.flow().unwrap().index()] += 1;
    }
    let expected = [1100, 100, 400];
    assert!(counts.iter().zip(expected).all(|(n, e)| n.abs_diff(e) <= 16), "{counts:?}");
}

fn law() -> cobalt::Law {
    cobalt::Law::new(Duration::from_millis(100), Duration::from_millis(1))
}

#[test]
fn the_target_is_a_twentieth_of_the_rtt_or_what_slow_links_need() {
    let of = |mtu_ms| {
        let law = cobalt::Law::new(Duration::from_millis(100), Duration::from_millis(mtu_ms));
        (law.target, law.interval)
    };
    let ms = Duration::from_millis;
    assert_eq!(of(1), (ms(5), ms(100)));
    assert_eq!(of(12), (ms(18), ms(113)));
    assert_eq!(of(120), (ms(180), ms(360)));
}

#[test]
fn cobalt_signals_like_codel_and_forgets_by_and_by() {
    let (law, mut rng, mut cobalt) = (law(), rng(), Cobalt::default());
    let mut decide = |cobalt: &mut Cobalt, at: u64, sojourn: u64, packet: &Packet| {
        cobalt.decide(&law, ms(at), Duration::from_millis(sojourn), packet, &mut rng)
    };
    let mut marks = Vec::new();
    for at in 0..1000 {
        match decide(&mut cobalt, at, 20, &capable(0, 0, 1500)) {
            Verdict::Pass => {}
            verdict => marks.push((at, verdict)),
        }
    }
    // The first signal after an interval, the next after 100/√2, 100/√3, … ms.
    let expected = [100, 171, 229, 279];
    for ((at, verdict), expected) in marks.iter().zip(expected) {
        assert!(at.abs_diff(expected) <= 2 && *verdict == Verdict::Mark, "{marks:?}");
    }
    let before = cobalt.count;
    assert!(before > 10, "{before}");
    assert_eq!(decide(&mut cobalt, 1001, 1, &capable(0, 0, 1500)), Verdict::Pass);
    for at in 1002..1100 {
        decide(&mut cobalt, at, 1, &capable(0, 0, 1500));
    }
    assert!(cobalt.count < before && cobalt.count > 0, "one per slot: {}", cobalt.count);
    for at in 1100..3000 {
        decide(&mut cobalt, at, 1, &capable(0, 0, 1500));
    }
    assert_eq!(cobalt.count, 0);
    // Below four packets no delay is too long.
    assert_eq!(law.target, Duration::from_millis(5));
    let slow = cobalt::Law::new(Duration::from_millis(1), Duration::from_millis(3));
    let mut rng = super::super::tests::rng();
    let mut fresh = Cobalt::default();
    for at in 0..1000 {
        let sojourn = Duration::from_millis(12);
        let verdict = fresh.decide(&slow, ms(at), sojourn, &packet(0, 0, 1500), &mut rng);
        assert_eq!(verdict, Verdict::Pass);
    }
}

#[test]
fn blue_grows_with_overflows_and_shrinks_when_the_flow_is_empty() {
    let (law, mut cobalt) = (law(), Cobalt::default());
    for at in [10, 11, 12, 16] {
        cobalt.on_full(&law, ms(at));
    }
    assert_eq!(cobalt.probability, 2.0 / 256.0, "at most once per target");
    for at in [30, 31, 40] {
        cobalt.on_empty(&law, ms(at));
    }
    assert_eq!(cobalt.probability, 2.0 / 256.0 - 2.0 / 4096.0);
    cobalt.probability = 1.0;
    let verdict = cobalt.decide(&law, ms(41), Duration::ZERO, &capable(0, 0, 1500), &mut rng());
    assert_eq!(verdict, Verdict::Drop, "ECN or not");
}

#[test]
fn without_room_the_fattest_flow_loses_its_first_packet() {
    let mut queue = cake(CakeConfig { limit: Limit::packets(4), ..Default::default() });
    for number in 0..3 {
        assert!(accepts(&mut queue, NOW, packet(0, number, 1500)));
    }
    assert!(accepts(&mut queue, NOW, packet(1, 0, 1500)));
    let mut out = Vec::new();
    queue.push(NOW, &packet(1, 1, 1500), &mut out);
    assert_eq!(out, [Signal::Drop(packet(0, 0, 1500))]);
    assert_eq!(queue.len(), 4);
}

fn ack(number: u64, ack: u64) -> Packet {
    let segment = Segment {
        flow: FlowId(0),
        connection: 0,
        forward: false,
        seq: 0,
        len: 0,
        ack,
        window: 65_535,
        flags: Flags::ACK,
        timestamps: None,
        sack: SackBlocks::NONE,
        coded: None,
    };
    Packet { body: Body::Segment(segment), ..packet(0, number, 40) }
}

#[test]
fn the_ack_filter_keeps_the_newest_two() {
    let push = |filter: bool| {
        let mut queue = cake(CakeConfig { ack_filter: filter, ..Default::default() });
        let mut out = Vec::new();
        for number in 1..=5 {
            queue.push(NOW, &ack(number, number * 1000), &mut out);
        }
        (queue.len(), out)
    };
    let dropped = |number| Signal::Drop(ack(number, number * 1000));
    assert_eq!(push(true), (2, vec![dropped(1), dropped(2), dropped(3)]));
    assert_eq!(push(false), (5, vec![]));
    // Duplicates, and ACKs with an echo of a mark, say something of their own.
    let mut queue = cake(CakeConfig { ack_filter: true, ..Default::default() });
    let mut echo = ack(0, 500);
    let Body::Segment(segment) = &mut echo.body else { panic!("an ACK") };
    segment.flags = Flags::ACK.and(Flags::ECE);
    for packet in [ack(1, 1000), ack(2, 1000), echo, ack(3, 1000)] {
        assert!(accepts(&mut queue, NOW, packet));
    }
    assert_eq!(queue.len(), 4);
}

#[test]
fn responsive_flows_share_equally_at_a_short_delay() {
    let (from, end) = (ms(20_000), ms(120_000));
    for ecn in [false, true] {
        let config = CakeConfig::default();
        let link = OutputLink::Wire(Some(BitRate::from_mbps(12.0)), Duration::ZERO);
        assert_eq!(link.time_for(Bytes(1500)), SERVICE);
        let outcome = responsive(&mut Cake::queue(config, link, rng()), 4, ecn, end);
        let (mean, used) = (outcome.mean_ms(from), outcome.use_of(from, end));
        assert!((2.0..10.0).contains(&mean), "ecn {ecn}: {mean} ms");
        assert!(used > 0.94, "ecn {ecn}: {used}");
        assert_eq!((outcome.marks > 100, outcome.drops > 100), (ecn, !ecn));
        let (least, most) = (outcome.served.iter().min(), outcome.served.iter().max());
        assert!(*most.unwrap() < *least.unwrap() * 21 / 20, "{:?}", outcome.served);
    }
}
