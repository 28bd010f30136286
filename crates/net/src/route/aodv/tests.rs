use super::*;
use crate::route::network::{End, Network, number, random_links};
use kernel::{Duration, Rng, Seed};

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// AODV without jitter, so that times are known.
fn exact() -> AodvConfig {
    AodvConfig { broadcast_jitter: Duration::ZERO, ..AodvConfig::default() }
}

/// The same without the expanding ring, so that the first request reaches all nodes.
fn wide() -> AodvConfig {
    AodvConfig { ttl_start: Some(35), ..exact() }
}

fn ns2() -> AodvConfig {
    AodvConfig { preset: AodvPreset::Ns2, ..AodvConfig::default() }
}

/// What was sent, as lines: time in ms, node, message.
fn script(network: &Network) -> Vec<String> {
    let line = |(at, by, packet): &(Instant, NodeId, Packet)| {
        let to = packet.receiver().map_or("all".to_owned(), |to| to.0.to_string());
        let what = match packet.body {
            Body::Routing(Message::Aodv(AodvMessage::Request(request))) => {
                let asked = request.destination_sequence;
                let asked = asked.map_or("unknown".to_owned(), |asked| asked.to_string());
                format!(
                    "request {}#{} for {} ({asked}) hops {} ttl {}",
                    request.originator.0,
                    request.originator_sequence,
                    request.destination.0,
                    request.hops,
                    packet.ttl
                )
            }
            Body::Routing(Message::Aodv(AodvMessage::Reply(reply))) => format!(
                "reply {}#{} hops {} to {}",
                reply.destination.0, reply.sequence, reply.hops, to
            ),
            Body::Routing(Message::Aodv(AodvMessage::Error(errors))) => {
                let lost: Vec<String> = errors
                    .as_slice()
                    .iter()
                    .map(|(node, sequence)| format!("{}#{sequence}", node.0))
                    .collect();
                format!("error {} to {to}", lost.join(" "))
            }
            _ => format!("data {} to {to}", number(packet).unwrap_or_default()),
        };
        format!("{} ms {}: {what}", at.0 / 1_000_000, by.0)
    };
    network.sent.iter().map(line).collect()
}

/// What the nodes have sent since the last call that contains a word.
fn lines(network: &mut Network, word: &str) -> Vec<String> {
    let lines = script(network);
    network.sent.clear();
    lines.into_iter().filter(|line| line.contains(word)).collect()
}

const CHAIN: [(u32, u32); 3] = [(0, 1), (1, 2), (2, 3)];

#[test]
fn a_request_sets_up_the_way_back_and_the_reply_the_way_there() {
    let mut network = Network::new(&wide(), 4, 1).with_links(&CHAIN);
    let packet = network.send_at(ms(0), 0, 3);
    network.run(ms(100));
    assert_eq!(
        script(&network),
        [
            "0 ms 0: request 0#1 for 3 (unknown) hops 0 ttl 35",
            "1 ms 1: request 0#1 for 3 (unknown) hops 1 ttl 34",
            "2 ms 2: request 0#1 for 3 (unknown) hops 2 ttl 33",
            "3 ms 3: reply 3#0 hops 0 to 2",
            "4 ms 2: reply 3#0 hops 1 to 1",
            "5 ms 1: reply 3#0 hops 2 to 0",
            "6 ms 0: data 0 to 1",
            "7 ms 1: data 0 to 2",
            "8 ms 2: data 0 to 3",
        ]
    );
    assert_eq!(network.end(packet), Some(End::Delivered(NodeId(3), 3)));
    // Node 3 has a route back, and needs no request.
    network.sent.clear();
    network.send_at(ms(100), 3, 0);
    network.run(ms(200));
    assert_eq!(script(&network)[0], "100 ms 3: data 1 to 2");
}

#[test]
fn the_ring_expands_until_the_destination_is_found() {
    // Rings of 1, 3, 5 and 7 hops, each for 2 * 40 ms * (TTL + 2), then the whole network.
    let chain: Vec<(u32, u32)> = (0..9).map(|n| (n, n + 1)).collect();
    let requests = |to: u32| {
        let mut network = Network::new(&exact(), 10, 1).with_links(&chain);
        network.send_at(ms(0), 0, to);
        network.run(ms(3000));
        let sent = network.sent.iter().filter(|(_, by, p)| *by == NodeId(0) && p.to.is_none());
        sent.map(|(at, _, packet)| (at.0 / 1_000_000, packet.ttl)).collect::<Vec<_>>()
    };
    assert_eq!(requests(1), [(0, 1)]);
    assert_eq!(requests(3), [(0, 1), (240, 3)]);
    assert_eq!(requests(9), [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35)]);
}

#[test]
fn a_destination_that_does_not_answer_is_asked_three_times_in_the_whole_network() {
    let mut network = Network::new(&wide(), 2, 1);
    let packet = network.send_at(ms(0), 0, 1);
    network.run(ms(30_000));
    // NET_TRAVERSAL_TIME is 2.8 s; the waiting time doubles.
    let times: Vec<u64> = network.sent.iter().map(|(at, ..)| at.0 / 1_000_000).collect();
    assert_eq!(times, [0, 2800, 8400]);
    assert_eq!(network.end(packet), Some(End::Dropped(NodeId(0), RouteDrop::NoRoute)));
}

#[test]
fn a_node_sends_at_most_ten_requests_in_a_second() {
    let mut network = Network::new(&exact(), 30, 1);
    for to in 1..30 {
        network.send_at(ms(0), 0, to);
    }
    network.run(ms(2999));
    let mut in_second = [0; 3];
    for (at, ..) in &network.sent {
        in_second[(at.0 / 1_000_000_000) as usize] += 1;
    }
    assert_eq!(in_second, [10, 10, 10]);
}

#[test]
fn a_neighbour_that_knows_a_route_answers_and_tells_the_destination() {
    let mut network = Network::new(&wide(), 4, 1).with_links(&CHAIN);
    network.send_at(ms(0), 1, 3);
    network.run(ms(500));
    network.sent.clear();
    network.send_at(ms(500), 0, 3);
    network.run(ms(504));
    assert_eq!(
        script(&network),
        [
            "500 ms 0: request 0#1 for 3 (unknown) hops 0 ttl 35",
            "501 ms 1: reply 3#0 hops 2 to 0",
            // The gratuitous reply tells node 3 the way back to node 0.
            "501 ms 1: reply 0#1 hops 1 to 2",
            "502 ms 0: data 1 to 1",
            "503 ms 1: data 1 to 2",
            "503 ms 2: reply 0#1 hops 2 to 3",
            "504 ms 2: data 1 to 3",
        ]
    );
    for config in [
        AodvConfig { destination_only: true, ..wide() },
        AodvConfig { gratuitous_reply: Some(false), ..wide() },
    ] {
        let mut network = Network::new(&config, 4, 1).with_links(&CHAIN);
        network.send_at(ms(0), 1, 3);
        network.send_at(ms(500), 0, 3);
        network.run(ms(600));
        let answered = script(&network).iter().any(|line| line.contains("501 ms 1: reply 3#0"));
        assert_eq!(answered, !config.destination_only);
        assert!(!script(&network).iter().any(|line| line.contains("1: reply 0#1 hops 1 to 2")));
    }
}

#[test]
fn a_link_that_fails_is_reported_to_the_nodes_that_use_it() {
    let config = AodvConfig { local_repair: false, ..wide() };
    let mut network = Network::new(&config, 4, 1).with_links(&CHAIN);
    network.send_at(ms(0), 0, 3);
    network.link_at(ms(50), 2, 3, false);
    let lost = network.send_at(ms(100), 0, 3);
    let next = network.send_at(ms(200), 0, 3);
    network.run(ms(210));
    let errors = lines(&mut network, "error");
    // Node 2 has sent for 5 ms in vain; each node increases the number once.
    assert_eq!(errors, ["107 ms 2: error 3#1 to 1", "108 ms 1: error 3#1 to 0"]);
    let salvage_failed = End::Dropped(NodeId(2), RouteDrop::SalvageFailed);
    assert_eq!(network.end(lost), Some(salvage_failed));
    assert_eq!(network.end(next), None, "it waits for a new route");
    let failures: Vec<_> = network
        .notes
        .iter()
        .filter(|(.., note)| matches!(note, RouteNote::Failure { .. }))
        .collect();
    let destination = NodeId(3);
    assert_eq!(failures, [&(ms(109), NodeId(0), RouteNote::Failure { destination })]);
    // The new request asks for a route that is newer than the one that has failed.
    network.link_at(ms(300), 0, 3, true);
    network.run(ms(9000));
    assert_eq!(network.end(next), Some(End::Delivered(NodeId(3), 1)));
    let replies = lines(&mut network, "reply 3#1 hops 0 to 0");
    assert_eq!(replies.len(), 1, "{replies:?}");
}

#[test]
fn a_node_near_the_destination_repairs_the_route() {
    let links = [(0, 1), (1, 2), (2, 3), (2, 4), (4, 3)];
    let mut network = Network::new(&wide(), 5, 1).with_links(&links);
    network.send_at(ms(0), 0, 3);
    network.link_at(ms(50), 2, 3, false);
    let packet = network.send_at(ms(100), 0, 3);
    let waiting = network.send_at(ms(106), 0, 3);
    network.run(ms(300));
    assert!(lines(&mut network, "error").is_empty());
    assert_eq!(network.end(packet), Some(End::Delivered(NodeId(3), 4)));
    assert_eq!(network.end(waiting), Some(End::Delivered(NodeId(3), 4)));
}

#[test]
fn a_repair_that_finds_nothing_is_reported() {
    let mut network = Network::new(&wide(), 4, 1).with_links(&CHAIN);
    network.send_at(ms(0), 0, 3);
    network.link_at(ms(50), 2, 3, false);
    let packet = network.send_at(ms(100), 0, 3);
    network.run(ms(1000));
    // The request of node 2 goes 1 + 2 hops: 2 * 40 ms * (3 + 2) after 107 ms.
    assert_eq!(
        lines(&mut network, "error"),
        ["507 ms 2: error 3#1 to 1", "508 ms 1: error 3#1 to 0"]
    );
    let end = End::Dropped(NodeId(2), RouteDrop::SalvageFailed);
    assert_eq!(network.end(packet), Some(end));
}

#[test]
fn a_route_that_is_not_used_ends_after_its_lifetime() {
    let mut network = Network::new(&wide(), 4, 1).with_links(&CHAIN);
    network.send_at(ms(0), 0, 3);
    network.run(ms(10));
    // MY_ROUTE_TIMEOUT after the reply.
    assert_eq!(network.next_hop(0, 3), Some(NodeId(1)));
    network.run(ms(6002));
    assert_eq!(network.next_hop(0, 3), Some(NodeId(1)));
    network.run(ms(6007));
    assert_eq!(network.next_hop(0, 3), None);
    // A packet at 5 s keeps it for ACTIVE_ROUTE_TIMEOUT.
    let mut network = Network::new(&wide(), 4, 1).with_links(&CHAIN);
    network.send_at(ms(0), 0, 3);
    network.send_at(ms(5000), 0, 3);
    network.run(ms(7999));
    assert_eq!(network.next_hop(0, 3), Some(NodeId(1)));
    network.run(ms(8001));
    assert_eq!(network.next_hop(0, 3), None);
}

#[test]
fn hello_messages_find_a_neighbour_that_has_gone() {
    let config = AodvConfig { hello: true, link_feedback: false, ..wide() };
    let mut network = Network::new(&config, 3, 1).with_links(&[(0, 1), (1, 2)]);
    for at in (0..20_000).step_by(100) {
        network.send_at(ms(at), 0, 2);
    }
    network.link_at(ms(10_000), 0, 1, false);
    network.run(ms(20_000));
    let lost: Vec<u64> = network
        .notes
        .iter()
        .filter(|(_, node, note)| {
            *node == NodeId(0) && *note == RouteNote::LinkFailure { neighbour: NodeId(1) }
        })
        .map(|(at, ..)| at.0 / 1_000_000)
        .collect();
    // Two intervals of 1 s without a message, examined each second.
    assert!(matches!(lost[..], [at] if (11_000..13_100).contains(&at)), "{lost:?}");
    network.check_conservation();
}

/// When a node has sent Route Requests or Hello messages of its own, in ms.
fn originated(network: &Network, by: u32) -> Vec<f64> {
    let is_own = |packet: &Packet| match packet.body {
        Body::Routing(Message::Aodv(AodvMessage::Request(request))) => request.originator.0 == by,
        Body::Routing(Message::Aodv(AodvMessage::Reply(reply))) => reply.is_hello(),
        _ => false,
    };
    let own = network.sent.iter().filter(|(_, node, packet)| node.0 == by && is_own(packet));
    own.map(|(at, ..)| at.0 as f64 / 1e6).collect()
}

#[test]
fn requests_of_one_cause_are_sent_at_different_times() {
    // RFC 5148 section 5.2: messages that an external event triggers have jitter. Nobody answers.
    let requests = |config: &AodvConfig, by| {
        let mut network = Network::new(config, 2, 1);
        network.send_at(ms(0), 0, 9);
        network.send_at(ms(0), 1, 9);
        network.run(ms(10_000));
        originated(&network, by)
    };
    let [a, b] = [0, 1].map(|by| requests(&AodvConfig::default(), by));
    assert!(a.len() > 3 && a.len() == b.len());
    assert!(a[0] < 10.0 && b[0] < 10.0, "10 ms at most: {a:?} {b:?}");
    assert!(a.iter().zip(&b).all(|(a, b)| a != b), "{a:?} {b:?}");
    // Section 6.4 of RFC 3561: the wait for an answer begins with the request.
    assert!(a[1] - a[0] >= 240.0, "RING_TRAVERSAL_TIME: {a:?}");
    for config in [ns2(), AodvConfig { originated_jitter: Some(Duration::ZERO), ..wide() }] {
        let [a, b] = [0, 1].map(|by| requests(&config, by));
        assert_eq!((a[0], a == b), (0.0, true), "{a:?} {b:?}");
    }
}

#[test]
fn hello_messages_come_early_and_never_late() {
    // RFC 5148 sections 5.1 and 5.4: the interval is shorter by the jitter, half of it at most.
    for (jitter_ms, least) in [(10, 990.0), (2000, 500.0)] {
        let originated_jitter = Some(Duration::from_millis(jitter_ms));
        let config = AodvConfig { hello: true, originated_jitter, ..wide() };
        let mut network = Network::new(&config, 2, 1).with_links(&[(0, 1)]);
        for at in (0..20_000).step_by(100) {
            network.send_at(ms(at), 0, 1);
        }
        network.run(ms(20_000));
        let sent = originated(&network, 1);
        let gaps: Vec<f64> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() > 15, "{sent:?}");
        assert!(gaps.iter().all(|gap| (least..=1000.0).contains(gap)), "{gaps:?}");
        assert!(gaps.iter().any(|gap| *gap != gaps[0]), "{gaps:?}");
        let fails = |note: &RouteNote| matches!(note, RouteNote::LinkFailure { .. });
        assert!(!network.notes.iter().any(|(.., note)| fails(note)));
    }
}

/// Follows the next hops to each destination from each node.
fn check_no_loop(network: &Network, count: u32, what: &str) {
    for to in 0..count {
        for from in (0..count).filter(|from| *from != to) {
            let mut at = NodeId(from);
            for _ in 0..=count {
                match network.next_hop(at.0, to) {
                    Some(next) if at != NodeId(to) => at = next,
                    _ => break,
                }
            }
            let is_loop = at != NodeId(to) && network.next_hop(at.0, to).is_some();
            assert!(!is_loop, "{what}: a loop on the way from {from} to {to} at {:?}", network.now);
        }
    }
}

/// A random network whose links fail and appear, with packets between random nodes.
fn random_network(config: &AodvConfig, seed: u64) -> (Network, u32) {
    let mut rng: Rng = Seed { root: seed, replication: 0 }.stream("test", 0);
    let count = 4 + rng.up_to(8);
    let links = random_links(count, 0.45, &mut rng);
    let mut network = Network::new(config, count, seed).with_links(&links);
    let time = |rng: &mut Rng| ms(u64::from(rng.up_to(2500)));
    for _ in 0..12 {
        let from = rng.up_to(count - 1);
        let to = (from + 1 + rng.up_to(count - 2)) % count;
        let first = time(&mut rng);
        for number in 0..5 {
            network.send_at(first + Duration::from_millis(60 * number), from, to);
        }
    }
    for _ in 0..12 {
        if let Some(&(a, b)) = links.get(rng.up_to(links.len().max(1) as u32 - 1) as usize) {
            network.link_at(time(&mut rng), a, b, rng.chance(0.3));
        }
    }
    (network, count)
}

#[test]
fn ten_thousand_random_networks_have_no_loop() {
    // Short lifetimes, so that routes expire and are deleted while others use them.
    let lively = AodvConfig {
        active_route_timeout: Some(Duration::from_millis(150)),
        my_route_timeout: Some(Duration::from_millis(300)),
        ..AodvConfig::default()
    };
    let configs = [AodvConfig::default(), lively, ns2()];
    for seed in 0..10_000 {
        let config = &configs[(seed % 3) as usize];
        let (mut network, count) = random_network(config, seed);
        for step in 1..=12 {
            network.run(ms(250 * step));
            check_no_loop(&network, count, &format!("network {seed}"));
        }
        network.run(ms(60_000));
        network.check_conservation();
        let is_looped =
            |ends: &Vec<End>| matches!(ends[..], [End::Dropped(_, RouteDrop::TimeToLive)]);
        assert!(!network.ends.values().any(is_looped), "network {seed}: a packet in a loop");
    }
}

#[test]
fn without_failures_routes_are_shortest_and_all_packets_arrive() {
    for seed in 0..300 {
        let mut rng: Rng = Seed { root: seed, replication: 0 }.stream("test", 0);
        let links = random_links(10, 0.5, &mut rng);
        let mut network = Network::new(&wide(), 10, seed).with_links(&links);
        let packet = network.send_at(ms(0), 0, 9);
        network.run(ms(20_000));
        let expected = match network.distance(0, 9) {
            Some(hops) => End::Delivered(NodeId(9), hops),
            None => End::Dropped(NodeId(0), RouteDrop::NoRoute),
        };
        assert_eq!(network.end(packet), Some(expected), "network {seed}");
    }
}
