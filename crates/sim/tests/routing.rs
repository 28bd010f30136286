//! Ad-hoc networks whose nodes forward: chains with static routes, a gateway, and faults.

use kernel::Seed;
use sim::{Run, Scenario, Simulation, Value};

const SEED: Seed = Seed { root: 3, replication: 0 };
/// The seed with which the last defects were found.
const FOUND: Seed = Seed { root: 1, replication: 0 };

/// Runs a scenario with the checker on.
fn run(text: &str) -> Run {
    run_with(text, SEED)
}

fn run_with(text: &str, seed: Seed) -> Run {
    let plan = Scenario::parse(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let plan = plan.resolve().unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    Simulation::new(&plan, seed, &[], true).expect("no probes").finish()
}

fn number(run: &Run, path: &str) -> f64 {
    let found = run.summary.iter().find(|(name, _)| name == path).map(|(_, value)| value);
    match found.unwrap_or_else(|| panic!("no {path}")) {
        Value::Number(number) => *number,
        Value::Count(count) => *count as f64,
        other => panic!("{path}: {other:?}"),
    }
}

fn faults(text: &str) -> Vec<String> {
    let scenario = Scenario::parse(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let faults = scenario.resolve().expect_err("a fault");
    faults.into_iter().map(|fault| fault.to_string()).collect()
}

/// The radio of ns-2, and so many nodes in a row, 200 m apart.
fn chain(nodes: usize) -> String {
    let place = |i: usize| format!("[[stations]]\nposition_m = [{}.0, 0.0]\n", 200 * i);
    let places: String = (0..nodes).map(place).collect();
    format!(
        "standard = '11b'\nduration_s = 12\nwarmup_s = 2\n[wlan]\nrate_mbps = 2.0\n\
         basic_rates_mbps = [1.0]\nrts_threshold_bytes = 0\nmac_header_bytes = 30\n\
         llc_bytes = 0\n[radio]\npreset = 'ns2'\nad_hoc = true\n\
         [routing]\nprotocol = 'static'\n{places}"
    )
}

/// Datagrams at a rate that a chain carries easily.
const DATAGRAMS: &str = "traffic.cbr.rate_mbps = 0.02\ntraffic.cbr.payload_bytes = 200\n";

fn flow(from: &str, to: &str, keys: &str) -> String {
    format!("[[flows]]\nfrom = '{from}'\nto = '{to}'\n{keys}")
}

#[test]
fn a_packet_is_sent_once_on_each_hop() {
    for hops in [1, 2, 5] {
        let run = run(&(chain(hops + 1) + &flow("sta0", &format!("sta{hops}"), DATAGRAMS)));
        assert_eq!(number(&run, "flows[0].hops_mean"), hops as f64);
        let sent = number(&run, "flows[0].packets_sent");
        let forwarded = number(&run, "routing.forwarded");
        // A packet may be on its way when the window opens or the run ends.
        assert!((forwarded - sent * hops as f64).abs() <= hops as f64, "{forwarded} {sent}");
        assert_eq!(number(&run, "flows[0].dropped_fraction"), 0.0);
        assert_eq!(number(&run, "routing.messages"), 0.0);
    }
}

#[test]
fn one_segment_at_a_time_has_the_goodput_of_ns2() {
    // Provenance: ns-2.35, `p2chain.csv`: static routes, a window of one segment of 1024 bytes.
    for (hops, mbps) in [(1, 1.046_41), (2, 0.522_358), (4, 0.259_905), (6, 0.172_978)] {
        let tcp = "traffic = 'bulk'\ntcp.mss_bytes = 1024\ntcp.timestamps = false\n\
                   tcp.delayed_ack = 'none'\ntcp.window_segments = 1\n";
        let run = run(&(chain(hops + 1) + &flow("sta0", &format!("sta{hops}"), tcp)));
        let goodput = number(&run, "total.goodput_mbps");
        assert!((goodput / mbps - 1.0).abs() < 0.03, "{hops} hops: {goodput} of {mbps}");
    }
}

#[test]
fn a_window_that_is_too_large_loses_packets_at_links_that_are_not_broken() {
    let tcp = "traffic = 'bulk'\ntcp.mss_bytes = 1024\ncontrol = 'new_reno'\n\
               tcp.window_segments = 32\n";
    // From the start on: segments on the way when a window opens would count as delivered only.
    let chain = chain(5).replace("warmup_s = 2", "warmup_s = 0");
    let run = run(&(chain + &flow("sta0", "sta4", tcp)));
    let failures = number(&run, "routing.link_failures");
    assert!(failures > 0.0);
    assert_eq!(number(&run, "routing.false_link_failures"), failures);
    assert_eq!(number(&run, "flows[0].retry_drops"), failures);
    assert!(number(&run, "flows[0].undelivered_fraction") > 0.0);
}

#[test]
fn a_link_fails_when_the_neighbour_leaves() {
    let leaves = "[[stations]]\nwaypoints = [{ at_s = 4.0, position_m = [400.0, 0.0] }, \
                  { at_s = 5.0, position_m = [900.0, 0.0] }]\n";
    let run = run(&(chain(2) + leaves + &flow("sta0", "sta2", DATAGRAMS)));
    assert!(number(&run, "routing.link_failures") > 50.0);
    // Between 400 and 450 m, where it is in range of sta1 and the run is in its fourth second.
    assert!(number(&run, "routing.false_link_failures") <= 1.0);
    assert_eq!(number(&run, "flows[0].retry_drops"), number(&run, "routing.link_failures"));
}

#[test]
fn a_gateway_connects_the_network_with_the_server() {
    let gateway = "[wire]\nrate_mbps = 10.0\ndelay_ms = 5.0\n[ap]\nposition_m = [400.0, 0.0]\n";
    let both = flow("server", "sta0", "traffic = 'bulk'\n") + &flow("sta0", "server", DATAGRAMS);
    let text = chain(2).replace("'static'\n", "'static'\ngateway = true\n");
    let run = run(&format!("{text}{gateway}{both}"));
    assert!(number(&run, "flows[0].goodput_mbps") > 0.2);
    assert_eq!(number(&run, "flows[0].hops_mean"), 2.0);
    assert!(number(&run, "flows[1].goodput_mbps") > 0.018);
}

#[test]
fn a_saturated_source_keeps_the_chain_busy() {
    let run = run(&(chain(3) + &flow("sta0", "sta2", "traffic.saturated.payload_bytes = 1000\n")));
    // Without a window the source fills the chain and its neighbour's queue; still packets arrive.
    assert!(number(&run, "total.goodput_mbps") > 0.3);
}

#[test]
fn a_list_replaces_shortest_paths() {
    let listed = "[[routing.protocol.static.routes]]\nat = 'sta0'\nto = 'sta1'\nnext = 'sta2'\n";
    let near = "[[stations]]\nposition_m = [100.0, 50.0]\n";
    let text = chain(2).replace("protocol = 'static'\n", "");
    let run = run(&format!("{text}{near}{listed}{}", flow("sta0", "sta1", DATAGRAMS)));
    assert_eq!(number(&run, "flows[0].hops_mean"), 2.0);
}

#[test]
fn etx_prefers_two_good_links_to_a_bad_one() {
    // Of the frames between sta0 and sta2, 60 % are lost in each direction: 6.25 transmissions.
    // Over sta1 it takes 2.5 on each of two links.
    let text = "standard = '11b'\nduration_s = 12\n[radio]\npreset = 'ns2'\nad_hoc = true\n\
                [routing.protocol.static]\nmetric = 'etx'\n\
                [[stations]]\nposition_m = [0.0, 0.0]\ndata_loss = 0.6\n\
                [[stations]]\nposition_m = [100.0, 0.0]\n\
                [[stations]]\nposition_m = [200.0, 0.0]\ndata_loss = 0.6\n";
    let run = run(&(text.to_owned() + &flow("sta0", "sta2", DATAGRAMS)));
    assert_eq!(number(&run, "flows[0].hops_mean"), 2.0);
}

#[test]
fn queues_of_nodes_that_forward_are_limited() {
    let cbr = "traffic.cbr.rate_mbps = 1.8\ntraffic.cbr.payload_bytes = 1000\n";
    let text = chain(3);
    let max = |text: &str| {
        number(
            &run(&(text.to_owned() + &flow("sta0", "sta2", cbr))),
            "stations[0].queue_packets.max",
        )
    };
    // One more is in service.
    assert_eq!(max(&text), 49.0);
    let larger = text.replace("[0.0, 0.0]\n", "[0.0, 0.0]\nqueue.drop_tail.limit_packets = 70\n");
    assert_eq!(max(&larger), 69.0);
}

#[test]
fn faults_name_the_key_and_a_remedy() {
    let chain = chain(4);
    let listed =
        |at: &str, to: &str, next: &str| format!("{{ at = '{at}', to = '{to}', next = '{next}' }}");
    let routes = |routes: &[String]| {
        let routes = routes.join(", ");
        let text = format!("protocol.static.routes = [{routes}]\n");
        chain.replace("protocol = 'static'\n", &text) + &flow("sta0", "sta3", DATAGRAMS)
    };
    let apart = chain.replace("[600.0, 0.0]", "[700.0, 0.0]");
    let cases = [
        (
            chain.replace("ad_hoc = true", "ad_hoc = false") + &flow("sta0", "sta3", DATAGRAMS),
            "routing: stations of a cell send to their access point",
        ),
        (apart + &flow("sta0", "sta3", DATAGRAMS), "flows[0].to: no path joins sta0 and sta3"),
        (
            chain.clone() + &flow("server", "sta3", DATAGRAMS),
            "flows[0]: with radio.ad_hoc there are stations only",
        ),
        (
            routes(&[listed("sta1", "sta3", "sta0")]),
            "routing.protocol.static.routes[0]: packets for sta3 go in a circle: sta0 -> sta1 -> \
             sta0",
        ),
        (
            routes(&[listed("sta0", "sta*", "sta1"), listed("sta1", "sta3", "sta3")]),
            "routing.protocol.static.routes[1].next: sta3 does not receive the frames of sta1",
        ),
        (
            routes(&[listed("sta0", "sta9", "sta1")]),
            "routing.protocol.static.routes[0].to: there is no sta9",
        ),
        (
            routes(&[listed("sta0", "sta3", "sta1-2")]),
            "routing.protocol.static.routes[0].next: several nodes",
        ),
        (
            routes(&[listed("server", "sta3", "sta1")]),
            "routing.protocol.static.routes[0].at: \"server\" is no node of the ad-hoc network",
        ),
    ];
    for (text, expected) in cases {
        let found = faults(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(expected), "{found:?}");
    }
}

#[test]
fn each_neighbour_is_asked_once_for_its_address() {
    let text = chain(4)
        .replace("warmup_s = 2", "warmup_s = 0")
        .replace("'static'\n", "'static'\narp = 'rfc826'\n");
    let run = run(&(text + &flow("sta0", "sta3", DATAGRAMS) + "start_s = 0.5\n"));
    // The node that is asked learns who has asked.
    for messages in ["routing.arp_requests", "routing.arp_replies"] {
        assert_eq!(number(&run, messages), 3.0);
    }
    assert_eq!(number(&run, "routing.arp_bytes"), 6.0 * 28.0);
    assert_eq!(number(&run, "routing.messages"), 0.0);
    assert_eq!(number(&run, "flows[0].arp_drops"), 0.0);
    assert!(number(&run, "flows[0].goodput_mbps") > 0.019);
}

#[test]
fn packets_for_a_node_that_does_not_answer_replace_each_other() {
    // sta2 is away before the first packet, and routes are those of the start.
    let leaves = "[[stations]]\nwaypoints = [{ at_s = 0.5, position_m = [400.0, 0.0] }, \
                  { at_s = 1.0, position_m = [900.0, 0.0] }]\n";
    let arp = |rules: &str| {
        let rules = format!("'static'\narp = '{rules}'\n");
        let text = chain(2).replace("warmup_s = 2", "warmup_s = 0").replace("'static'\n", &rules);
        run(&(text + leaves + &flow("sta0", "sta2", DATAGRAMS) + "start_s = 2.0\n"))
    };
    let lost = |run: &Run| number(run, "flows[0].arp_drops");
    let standard = arp("rfc826");
    let sent = number(&standard, "flows[0].packets_sent");
    // One packet waits at sta1 at the end, and one may be on its way to sta1.
    assert!(sent > 100.0 && sent - lost(&standard) <= 2.0, "{} of {sent}", lost(&standard));
    // One for sta1, and for sta2 one in each of the ten seconds.
    assert!((11.0..=12.0).contains(&number(&standard, "routing.arp_requests")));
    // Each third request is the last, a second before the link has failed.
    assert_eq!(number(&standard, "routing.link_failures"), 3.0);
    let ns2 = arp("ns2");
    assert!(sent - lost(&ns2) <= 2.0);
    // Of four packets three cause a request; the fourth fails, and with it the third.
    let failures = number(&ns2, "routing.link_failures");
    assert!((failures - sent / 2.0).abs() <= 2.0, "{failures} of {sent}");
    assert!((number(&ns2, "routing.arp_requests") - 0.75 * sent).abs() <= 3.0);
}

/// A radio drops a packet at once that the router of its node sends: the router sends another one
/// and sets its timer anew, while the order to set it for the first one still waits.
#[test]
fn a_timer_that_is_set_last_holds() {
    let salvaging = "standard = '11a'\nduration_s = 3\nwarmup_s = 1\n\
                     wlan.short_retry_limit = 1\nradio.ad_hoc = true\n\
                     routing = { gateway = true, protocol.dsr.salvage_requests = true }\n\
                     stations = { count = 5, placement.chain.spacing_m = 25.0 }\n";
    run_with(&format!("{salvaging}{}", flow("sta0", "ap", "")), FOUND);
    let short = "standard = '11b'\nduration_s = 25\nradio = { ad_hoc = true, fading = {} }\n\
                 routing = { gateway = true, protocol.aodv.node_traversal_time_ms = 0.01 }\n\
                 wire = {}\n[[stations]]\ncount = 4\n\
                 movement.random_waypoint.area_m = [100.0, 46.0]\n\
                 [[stations]]\nmovement.gauss_markov.area_m = [180.0, 74.0]\n";
    let flows = flow("sta*", "server", "tcp.window_bytes = 20000\n")
        + &flow("sta4", "ap", "traffic.saturated = {}\n");
    run_with(&format!("{short}{flows}"), FOUND);
}

/// Equal copies of a packet that nodes salvage wait in one aggregate: nothing tells which of them
/// is given up. A server without a link is at the gateway, whose router drops what finds no route
/// for 30 s.
#[test]
fn salvaged_copies_arrive_once_and_a_server_at_the_gateway_sends_from_it() {
    let network = "standard = '11ac'\nduration_s = 31\nwarmup_s = 1\n\
                   wlan.aggregation.retries = 'counted'\nradio.ad_hoc = true\n\
                   routing = { protocol = 'dsr', gateway = true }\n\
                   [[stations]]\ncount = 6\nmovement.random_walk.area_m = [170.0, 71.0]\n\
                   [[stations]]\ncount = 4\nmovement.random_walk.area_m = [170.0, 180.0]\n";
    let flows = flow("server", "sta8", "") + &flow("sta0", "ap", "");
    run_with(&format!("{network}{flows}"), FOUND);
}
