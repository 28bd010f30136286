mod ns2;

use super::path_cache::PathCacheConfig;
use super::rules::CacheSettings;
use super::*;
use crate::route::network::{End, Network, number, random_links};
use kernel::{Duration, Rng, Seed};
use wire::RouteError;

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// DSR without jitter and delays of cached replies, so that times are known.
fn exact() -> DsrConfig {
    DsrConfig {
        broadcast_jitter: Duration::ZERO,
        cached_reply_delay: Some(Duration::ZERO),
        ..DsrConfig::default()
    }
}

fn ns2() -> DsrConfig {
    DsrConfig { preset: Preset::Ns2, ..DsrConfig::default() }
}

/// What was sent, as lines: time in ms, node, message, path or list.
fn script(network: &Network) -> Vec<String> {
    let path = |id: PathId| {
        let nodes: Vec<String> =
            network.paths.nodes(id).iter().map(|node| node.0.to_string()).collect();
        nodes.join("-")
    };
    let line = |(at, by, packet): &(Instant, NodeId, Packet)| {
        let what = match packet.body {
            Body::Routing(Message::Dsr(DsrMessage::Request { target, path: of, .. })) => {
                format!("request {} for {} ttl {}", path(of), target.0, packet.ttl)
            }
            Body::Routing(Message::Dsr(DsrMessage::Reply { path: of })) => {
                format!("reply {} to {}", path(of), packet.next.0)
            }
            Body::Routing(Message::Dsr(DsrMessage::Error(errors))) => {
                let links: Vec<String> = errors
                    .as_slice()
                    .iter()
                    .map(|error| format!("{}|{}", error.from.0, error.unreachable.0))
                    .collect();
                format!("error {} to {}", links.join(" "), packet.next.0)
            }
            _ => {
                let route = packet.source_route.map(path).unwrap_or_default();
                format!("data {} over {route}", number(packet).unwrap_or_default())
            }
        };
        format!("{} ms {}: {what}", at.0 / 1_000_000, by.0)
    };
    network.sent.iter().map(line).collect()
}

#[test]
fn a_route_discovery_asks_the_neighbours_and_then_all_nodes() {
    let mut network = Network::new(&exact(), 4, 1).with_links(&[(0, 1), (1, 2), (2, 3)]);
    let packet = network.send_at(ms(0), 0, 3);
    network.run(ms(1000));
    assert_eq!(
        script(&network),
        [
            "0 ms 0: request 0 for 3 ttl 1",
            "30 ms 0: request 0 for 3 ttl 255",
            "31 ms 1: request 0-1 for 3 ttl 254",
            "32 ms 2: request 0-1-2 for 3 ttl 253",
            "33 ms 3: reply 0-1-2-3 to 2",
            "34 ms 2: reply 0-1-2-3 to 1",
            "35 ms 1: reply 0-1-2-3 to 0",
            "36 ms 0: data 0 over 0-1-2-3",
            "37 ms 1: data 0 over 0-1-2-3",
            "38 ms 2: data 0 over 0-1-2-3",
        ]
    );
    assert_eq!(network.end(packet), Some(End::Delivered(NodeId(3), 3)));
}

#[test]
fn requests_that_are_not_answered_are_repeated_after_times_that_double_up_to_10_s() {
    let mut network = Network::new(&exact(), 2, 1);
    network.send_at(ms(0), 0, 1);
    network.send_at(ms(29_000), 0, 1);
    network.run(ms(30_000));
    let times: Vec<u64> = network.sent.iter().map(|(at, ..)| at.0 / 1_000_000).collect();
    assert_eq!(times, [0, 30, 530, 1530, 3530, 7530, 15530, 25530]);
}

#[test]
fn a_packet_waits_30_s_for_a_route() {
    let mut network = Network::new(&exact(), 2, 1);
    let packet = network.send_at(ms(0), 0, 1);
    network.run(ms(29_999));
    assert_eq!(network.end(packet), None);
    network.run(ms(30_000));
    let timeout = End::Dropped(NodeId(0), RouteDrop::SendBufferTimeout);
    assert_eq!(network.end(packet), Some(timeout));
}

#[test]
fn a_full_send_buffer_drops_its_oldest_packet() {
    let mut network = Network::new(&exact(), 2, 1);
    let packets: Vec<u64> = (0..65).map(|i| network.send_at(ms(i), 0, 1)).collect();
    network.run(ms(100));
    let full = End::Dropped(NodeId(0), RouteDrop::SendBufferFull);
    assert_eq!(network.end(packets[0]), Some(full));
    assert_eq!(network.end(packets[1]), None);
}

#[test]
fn after_16_requests_the_packets_that_wait_are_dropped() {
    let config = DsrConfig { send_buffer_timeout: Duration::from_secs(1000), ..exact() };
    let mut network = Network::new(&config, 2, 1);
    let packet = network.send_at(ms(0), 0, 1);
    network.run(ms(200_000));
    assert_eq!(network.end(packet), Some(End::Dropped(NodeId(0), RouteDrop::NoRoute)));
    assert_eq!(network.sent.len(), 17, "one to the neighbours, 16 to all nodes");
}

#[test]
fn a_neighbour_that_knows_a_route_answers_from_its_cache() {
    let config = DsrConfig { promiscuous: false, ..exact() };
    let mut network = Network::new(&config, 4, 1).with_links(&[(0, 1), (1, 2), (2, 3)]);
    network.send_at(ms(0), 1, 3);
    network.run(ms(500));
    network.sent.clear();
    network.send_at(ms(500), 0, 3);
    network.run(ms(503));
    assert_eq!(
        script(&network),
        [
            "500 ms 0: request 0 for 3 ttl 1",
            "501 ms 1: reply 0-1-2-3 to 0",
            "502 ms 0: data 1 over 0-1-2-3",
            "503 ms 1: data 1 over 0-1-2-3",
        ]
    );
}

#[test]
fn no_node_tells_a_route_that_has_a_node_twice() {
    // Node 1 knows 1-0-2. A request from 0 for 2, over 1, would give 0-1-0-2.
    let mut network = Network::new(&exact(), 3, 1).with_links(&[(0, 1), (0, 2)]);
    network.send_at(ms(0), 1, 2);
    network.run(ms(1000));
    network.sent.clear();
    network.link_at(ms(1000), 0, 2, false);
    network.send_at(ms(1001), 0, 2);
    network.run(ms(1040));
    let replies = script(&network).iter().filter(|line| line.contains("reply")).count();
    assert_eq!(replies, 0, "{:#?}", script(&network));
}

#[test]
fn the_target_answers_each_copy_of_a_request() {
    let links = [(0, 1), (0, 2), (1, 3), (2, 3)];
    let replies = |config: &DsrConfig| {
        let mut network = Network::new(config, 4, 1).with_links(&links);
        network.send_at(ms(0), 0, 3);
        network.run(ms(100));
        network.sent.iter().filter(|(_, by, _)| *by == NodeId(3)).count()
    };
    assert_eq!(replies(&exact()), 2);
    assert_eq!(replies(&DsrConfig { reply_to_each_copy: false, ..exact() }), 1);
}

#[test]
fn a_node_salvages_a_packet_and_tells_the_source_of_the_link() {
    let links = [(0, 1), (1, 2), (2, 4), (1, 3), (3, 4)];
    let mut network = Network::new(&exact(), 5, 1).with_links(&links);
    network.send_at(ms(0), 1, 4);
    network.send_at(ms(500), 0, 4);
    network.run(ms(1000));
    let used = network.sent.iter().rev().find(|(_, by, p)| *by == NodeId(1) && number(p).is_some());
    let next = used.expect("node 1 has forwarded").2.next.0;
    network.sent.clear();
    network.link_at(ms(1000), 1, next, false);
    let packet = network.send_at(ms(1001), 0, 4);
    network.run(ms(1100));
    let other = if next == 2 { 3 } else { 2 };
    assert_eq!(
        script(&network),
        [
            format!("1001 ms 0: data 2 over 0-1-{next}-4"),
            format!("1002 ms 1: data 2 over 0-1-{next}-4"),
            format!("1007 ms 1: data 2 over 1-{other}-4"),
            format!("1007 ms 1: error 1|{next} to 0"),
            format!("1008 ms {other}: data 2 over 1-{other}-4"),
        ]
    );
    assert_eq!(network.end(packet), Some(End::Delivered(NodeId(4), 3)));
    let salvaged = network.sent[2].2;
    // Both routes have three links; the salvaged one has the address of its first node.
    assert_eq!((salvaged.salvage, salvaged.size), (1, Bytes(128 + 4 + 4 + 2 * 4)));
}

#[test]
fn a_packet_without_another_route_is_dropped_where_the_link_has_failed() {
    let mut network = Network::new(&exact(), 3, 1).with_links(&[(0, 1), (1, 2)]);
    network.send_at(ms(0), 0, 2);
    network.link_at(ms(1000), 1, 2, false);
    let packet = network.send_at(ms(1001), 0, 2);
    network.run(ms(2000));
    let failed = End::Dropped(NodeId(1), RouteDrop::SalvageFailed);
    assert_eq!(network.end(packet), Some(failed));
    let notes: Vec<RouteNote> = network.notes.iter().map(|(.., note)| *note).collect();
    let lost = RouteNote::Failure { destination: NodeId(2) };
    assert!(notes.contains(&lost), "the source knows by the Route Error: {notes:?}");
}

#[test]
fn packets_that_wait_for_a_link_that_has_failed_are_salvaged_too() {
    let mut network = Network::new(&exact(), 3, 1).with_links(&[(0, 1), (1, 2)]);
    network.send_at(ms(0), 0, 2);
    network.run(ms(1000));
    network.link_at(ms(1000), 1, 2, false);
    network.link_at(ms(1000), 0, 2, true);
    let packets: Vec<u64> = (0..5).map(|_| network.send_at(ms(1001), 1, 2)).collect();
    network.run(ms(1100));
    // All five are sent over node 0 after one failure.
    for packet in packets {
        assert_eq!(network.end(packet), Some(End::Delivered(NodeId(2), 2)));
    }
    let failures = network.notes.iter();
    let failures = failures.filter(|(.., note)| matches!(note, RouteNote::LinkFailure { .. }));
    assert_eq!(failures.count(), 1);
}

#[test]
fn each_source_of_packets_that_wait_receives_one_route_error() {
    let errors = |config: &DsrConfig| {
        let links = [(0, 2), (1, 2), (2, 3)];
        let config = DsrConfig { promiscuous: false, ..config.clone() };
        let mut network = Network::new(&config, 4, 1).with_links(&links);
        network.send_at(ms(0), 0, 3);
        network.send_at(ms(0), 1, 3);
        network.run(ms(1000));
        network.sent.clear();
        network.link_at(ms(1000), 2, 3, false);
        for _ in 0..2 {
            network.send_at(ms(1000), 0, 3);
            network.send_at(ms(1000), 1, 3);
        }
        network.run(ms(1010));
        let is_error = |packet: &Packet| {
            matches!(packet.body, Body::Routing(Message::Dsr(DsrMessage::Error(_))))
        };
        network.sent.iter().filter(|(_, by, p)| *by == NodeId(2) && is_error(p)).count()
    };
    assert_eq!(errors(&exact()), 2);
    let ns2 = DsrConfig { broadcast_jitter: Duration::ZERO, ..ns2() };
    assert_eq!(errors(&ns2), 1);
}

#[test]
fn a_node_that_hears_a_packet_early_shortens_the_route() {
    let mut network = Network::new(&exact(), 4, 1).with_links(&[(0, 1), (1, 2), (2, 3)]);
    network.send_at(ms(0), 0, 3);
    network.run(ms(1000));
    network.sent.clear();
    // Node 2 comes into the range of node 0.
    network.link_at(ms(1000), 0, 2, true);
    network.send_at(ms(1001), 0, 3);
    network.send_at(ms(1101), 0, 3);
    network.send_at(ms(1201), 0, 3);
    network.run(ms(1300));
    let sent = script(&network);
    let replies: Vec<&String> = sent.iter().filter(|line| line.contains("reply")).collect();
    assert_eq!(replies, ["1002 ms 2: reply 0-2-3 to 0"], "{sent:#?}");
    assert!(sent.contains(&"1101 ms 0: data 2 over 0-2-3".to_owned()), "{sent:#?}");
}

#[test]
fn a_gratuitous_reply_is_not_repeated_within_a_second() {
    let mut shortened = Shortened::default();
    let mut may =
        |ms_at| shortened.may_reply(NodeId(0), NodeId(1), ms(ms_at), Duration::from_secs(1));
    assert_eq!(
        [may(0), may(999), may(1000), may(1999), may(2000)],
        [true, false, true, false, true]
    );
}

#[test]
fn a_reply_from_the_cache_is_not_sent_once_the_initiator_uses_a_route_that_is_no_longer() {
    let delay = Some(Duration::from_millis(10));
    let config = DsrConfig { cached_reply_delay: delay, ..exact() };
    // Nodes 1 and 2 know node 3 before they are in the range of node 0. They wait for 10 to 20 ms.
    let mut network = Network::new(&config, 4, 1).with_links(&[(1, 3), (2, 3)]);
    network.send_at(ms(0), 1, 3);
    network.send_at(ms(0), 2, 3);
    network.run(ms(999));
    network.link_at(ms(999), 0, 1, true);
    network.link_at(ms(999), 0, 2, true);
    network.sent.clear();
    network.send_at(ms(1000), 0, 3);
    network.run(ms(1100));
    let replies = script(&network).iter().filter(|line| line.contains("reply")).count();
    assert_eq!(replies, 1, "{:#?}", script(&network));
}

#[test]
fn the_next_request_repeats_a_route_error() {
    let mut network = Network::new(&exact(), 3, 1).with_links(&[(0, 1), (1, 2)]);
    network.send_at(ms(0), 0, 2);
    network.link_at(ms(1000), 1, 2, false);
    network.send_at(ms(1001), 0, 2);
    network.send_at(ms(1100), 0, 2);
    network.run(ms(1200));
    let errors: Vec<Option<RouteError>> = network
        .sent
        .iter()
        .filter_map(|(at, _, packet)| match packet.body {
            Body::Routing(Message::Dsr(DsrMessage::Request { error, .. })) if *at > ms(1000) => {
                Some(error)
            }
            _ => None,
        })
        .collect();
    let link = errors[0].map(|error| (error.from, error.unreachable));
    assert_eq!(link, Some((NodeId(1), NodeId(2))));
}

#[test]
fn a_route_error_that_cannot_go_on_is_nested() {
    // 0-1-2-3: the link 2-3 fails, and when node 1 forwards the Route Error so does 0-1.
    let mut network = Network::new(&exact(), 4, 1).with_links(&[(0, 1), (1, 2), (2, 3)]);
    network.send_at(ms(0), 0, 3);
    network.run(ms(1000));
    network.sent.clear();
    network.link_at(ms(1000), 2, 3, false);
    network.send_at(ms(1001), 0, 3);
    network.link_at(ms(1003), 0, 1, false);
    network.run(ms(1200));
    let sent = script(&network);
    assert!(sent.contains(&"1008 ms 2: error 2|3 to 1".to_owned()), "{sent:#?}");
    assert!(sent.contains(&"1014 ms 1: error 1|0 2|3 to 2".to_owned()), "{sent:#?}");
}

#[test]
fn sizes_are_those_of_the_dsr_options_header() {
    let mut network = Network::new(&exact(), 4, 1).with_links(&[(0, 1), (1, 2), (2, 3)]);
    network.send_at(ms(0), 0, 3);
    network.run(ms(1000));
    let sizes: Vec<u64> = network.sent.iter().map(|(.., packet)| packet.size.0).collect();
    // IP 20, fixed 4, Route Request 8 and 4 for each address.
    assert_eq!(sizes[..4], [32, 32, 36, 40]);
    // IP 20, fixed 4, Source Route 4 + 2·4, Route Reply 3 + 3·4 and one byte of padding.
    assert_eq!(sizes[4..7], [52, 52, 52]);
    // The datagram, fixed 4, Source Route 4 + 2·4.
    assert_eq!(sizes[7..], [144, 144, 144]);
}

#[test]
fn a_packet_for_a_node_outside_is_routed_to_the_gateway() {
    let mut network = Network::new(&exact(), 3, 1).with_links(&[(0, 1), (1, 2)]);
    network.exits = [0, 1, 2, 2].map(NodeId).into();
    let packet = network.send_at(ms(0), 0, 3);
    network.run(ms(100));
    assert_eq!(network.end(packet), Some(End::Delivered(NodeId(2), 2)));
    let sent = network.sent.iter().rev().find(|(.., packet)| number(packet).is_some());
    // The address of the gateway is in the source route: the destination of the packet is another.
    assert_eq!(sent.expect("it was sent").2.size, Bytes(128 + 4 + 4 + 2 * 4));
}

#[test]
fn without_anything_cached_the_shortest_route_is_found() {
    let mut rng = Seed { root: 7, replication: 0 }.stream("test", 0);
    let mut found = 0;
    for seed in 0..500 {
        let links = random_links(20, 0.3, &mut rng);
        let mut network = Network::new(&exact(), 20, seed).with_links(&links);
        let packet = network.send_at(ms(0), 0, 1);
        network.run(ms(1000));
        let shortest = network.distance(0, 1);
        found += u32::from(shortest.is_some());
        let end = network.end(packet);
        assert_eq!(end, shortest.map(|hops| End::Delivered(NodeId(1), hops)), "seed {seed}");
    }
    assert!(found > 250, "most pairs are connected: {found}");
}

/// Random packets in a random network whose links come and go.
fn random_network(config: &DsrConfig, seed: u64, rng: &mut Rng) -> Network {
    let count = 5 + rng.up_to(7);
    let links = random_links(count, 0.5, rng);
    let mut network = Network::new(config, count, seed).with_links(&links);
    for _ in 0..12 {
        let (from, to) = (rng.up_to(count - 1), rng.up_to(count - 1));
        network.send_at(ms(u64::from(rng.up_to(3000))), from, to);
    }
    for _ in 0..12 {
        let (a, b) = (rng.up_to(count - 1), rng.up_to(count - 1));
        let is_up = rng.chance(0.4);
        if let Some(&(a, b)) = links.get(rng.up_to(99) as usize).filter(|_| !is_up) {
            network.link_at(ms(u64::from(rng.up_to(3000))), a, b, false);
        } else if a != b {
            network.link_at(ms(u64::from(rng.up_to(3000))), a, b, is_up);
        }
    }
    network
}

/// No source route has a node twice, and no packet is at a node twice on one source route.
fn check_loops(network: &Network) {
    let mut at: BTreeMap<(u64, PathId, u8), Vec<NodeId>> = BTreeMap::new();
    for (time, by, packet) in &network.sent {
        let Some(path) = packet.source_route else { continue };
        let nodes = network.paths.nodes(path);
        assert!((1..nodes.len()).all(|i| !nodes[..i].contains(&nodes[i])), "{nodes:?}");
        let Some(number) = number(packet) else { continue };
        let before = at.entry((number, path, packet.salvage)).or_default();
        // A source may send its own packet again over the same route, if the link is there again.
        let again = before.contains(by) && *by != packet.from;
        assert!(!again, "packet {number} at {by:?} again at {time} over {nodes:?}");
        if *by == packet.from {
            before.clear();
        }
        before.push(*by);
    }
}

#[test]
fn in_10_000_random_networks_no_packet_loops_and_each_ends_once() {
    let mut rng = Seed { root: 3, replication: 0 }.stream("test", 0);
    let (mut delivered, mut offered) = (0, 0);
    for seed in 0..10_000 {
        let config = if seed % 2 == 0 { DsrConfig::default() } else { ns2() };
        let mut network = random_network(&config, seed, &mut rng);
        network.run(ms(40_000));
        network.check_conservation();
        assert!(network.held().is_empty(), "seed {seed}: {:?}", network.held());
        check_loops(&network);
        offered += 12;
        delivered +=
            network.ends.values().filter(|ends| matches!(ends[0], End::Delivered(..))).count();
    }
    assert!(delivered * 10 > offered * 7, "{delivered} of {offered} were delivered");
}

#[test]
fn a_packet_may_displace_the_route_of_another_that_is_sent_with_it() {
    let mut rng = Seed { root: 4, replication: 0 }.stream("test", 0);
    let few = PathCacheConfig { primary_paths: 1, secondary_paths: 8 };
    let config = DsrConfig { cache: Some(CacheSettings::Path(few)), ..ns2() };
    for seed in 0..1000 {
        let mut network = random_network(&config, seed, &mut rng);
        for to in 1..5 {
            network.send_at(ms(0), 0, to);
        }
        network.run(ms(40_000));
        network.check_conservation();
    }
}
