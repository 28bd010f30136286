//! What ns-2 does differently.

use super::super::discovery::until_next_look;
use super::*;

#[test]
fn each_repetition_asks_the_neighbours_again_after_2_8_and_10_s() {
    let check = Some(Duration::ZERO);
    let config = DsrConfig { send_buffer_check: check, broadcast_jitter: Duration::ZERO, ..ns2() };
    let mut network = Network::new(&config, 2, 1);
    network.send_at(ms(0), 0, 1);
    network.run(ms(29_000));
    let sent = network.sent.iter().map(|(at, _, packet)| (at.0 / 1_000_000, packet.ttl));
    let expected = [
        (0, 1),
        (30, 255),
        (2000, 1),
        (2030, 255),
        (10_000, 1),
        (10_030, 255),
        (20_000, 1),
        (20_030, 255),
    ];
    assert_eq!(sent.collect::<Vec<_>>(), expected);
}

#[test]
fn packets_of_others_wait_for_a_route_and_are_dropped_one_by_one() {
    let check = Some(Duration::ZERO);
    let config = DsrConfig { send_buffer_check: check, broadcast_jitter: Duration::ZERO, ..ns2() };
    let mut network = Network::new(&config, 3, 1).with_links(&[(0, 1), (1, 2)]);
    network.send_at(ms(0), 0, 2);
    network.run(ms(1000));
    network.link_at(ms(1000), 1, 2, false);
    let packets: Vec<u64> = (0..4).map(|_| network.send_at(ms(1001), 0, 2)).collect();
    network.link_at(ms(14_000), 1, 2, true);
    network.send_at(ms(14_001), 1, 2);
    network.run(ms(25_000));
    // Node 1 asks its neighbours at once; it would ask again 2 s, and 8 s, later.
    let ends: Vec<_> = packets.iter().map(|&packet| network.end(packet)).collect();
    let dropped = Some(End::Dropped(NodeId(1), RouteDrop::NoRoute));
    let delivered = Some(End::Delivered(NodeId(2), 2));
    assert_eq!(ends, [dropped, dropped, delivered, delivered]);
}

/// The instants at which a node sent data to a destination.
fn departures(network: &Network, by: u32, to: u32) -> Vec<Instant> {
    let is_data =
        |packet: &Packet| packet.to == Some(NodeId(to)) && !matches!(packet.body, Body::Routing(_));
    let sent = network.sent.iter().filter(|(_, node, packet)| node.0 == by && is_data(packet));
    sent.map(|(at, ..)| *at).collect()
}

#[test]
fn a_reply_sends_the_packets_that_wait_30_ms_apart() {
    let mut network = Network::new(&ns2(), 2, 1);
    for _ in 0..3 {
        network.send_at(ms(0), 0, 1);
    }
    network.link_at(ms(1), 0, 1, true);
    network.run(ms(1000));
    let at = departures(&network, 0, 1);
    let gap = Duration::from_millis(30);
    assert_eq!(at, [at[0], at[0] + gap, at[0] + gap + gap]);
}

#[test]
fn a_look_at_the_send_buffer_sends_all_packets_with_a_route_at_once() {
    // Node 0 asks in vain, and then hears node 1 pass a packet to node 3.
    let mut network = Network::new(&ns2(), 4, 1).with_links(&[(1, 2), (1, 3)]);
    for _ in 0..3 {
        network.send_at(ms(0), 0, 3);
    }
    network.link_at(ms(200), 0, 1, true);
    network.send_at(ms(201), 2, 3);
    network.run(ms(1000));
    let (heard, at) = (departures(&network, 1, 3)[0], departures(&network, 0, 3));
    assert_eq!(at, [at[0]; 3]);
    assert!((heard..=heard + Duration::from_millis(61)).contains(&at[0]), "{heard:?} {at:?}");
}

#[test]
fn the_first_look_comes_after_the_rest_of_a_gap() {
    let mut rng = Seed { root: 1, replication: 0 }.stream("test", 0);
    let period = Duration::from_millis(30);
    let waits: Vec<f64> =
        (0..100_000).map(|_| until_next_look(period, &mut rng).as_secs_f64() / 0.03).collect();
    // Half of the mean square of a gap over its mean: (7/3) / 2 / (3/2) periods.
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((mean - 7.0 / 9.0).abs() < 0.01, "{mean}");
    assert!(waits.iter().all(|wait| (0.0..=2.0).contains(wait)));
    let below = waits.iter().filter(|&&wait| wait < 1.0).count();
    assert!((0.66..0.675).contains(&(below as f64 / 1e5)), "{below}");
}

#[test]
fn a_route_error_leaves_25_us_after_the_failure() {
    let error_at = |config: &DsrConfig| {
        let mut network = Network::new(config, 3, 1).with_links(&[(0, 1), (1, 2)]);
        network.send_at(ms(0), 0, 2);
        network.run(ms(1000));
        network.link_at(ms(1000), 1, 2, false);
        network.send_at(ms(1001), 0, 2);
        network.run(ms(2000));
        let is_error = |packet: &Packet| {
            matches!(packet.body, Body::Routing(Message::Dsr(DsrMessage::Error(_))))
        };
        network.sent.iter().find(|(.., packet)| is_error(packet)).expect("an error").0
    };
    let at_once = DsrConfig { repair_delay: Some(Duration::ZERO), ..ns2() };
    assert_eq!(error_at(&ns2()), error_at(&at_once) + Duration::from_micros(25));
}

#[test]
fn a_request_grows_by_the_whole_header_at_each_node() {
    let sizes = |config: &DsrConfig| {
        let mut network = Network::new(config, 4, 1).with_links(&[(0, 1), (1, 2), (2, 3)]);
        network.send_at(ms(0), 0, 3);
        network.run(ms(1000));
        let requests = network.sent.iter().filter(|(.., packet)| packet.to.is_none());
        requests.map(|(.., packet)| packet.size.0).collect::<Vec<_>>()
    };
    // To the neighbours, to all, and twice forwarded: an IP header, 12 bytes, 4 for each node.
    assert_eq!(sizes(&DsrConfig { growing_requests: Some(false), ..ns2() }), [32, 32, 36, 40]);
    assert_eq!(sizes(&ns2()), [32, 32, 32 + 16, 32 + 16 + 20]);
}
