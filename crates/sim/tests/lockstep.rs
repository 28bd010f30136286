//! What begins at one instant does not collide for ever: periodic sources have random phases, and
//! broadcasts that nodes originate have jitter.

use crate::common::{number, run, run_with};

/// Three nodes in a row with the radio of ns-2. The outer ones are hidden from each other, and each
/// sends to the other over the middle.
fn chain(routing: &str, traffic: &str) -> String {
    format!(
        "standard = '11b'\nduration_s = 20\nwarmup_s = 0\n\
         radio = {{ preset = 'ns2', ad_hoc = true }}\n\
         [stations]\ncount = 3\nplacement.chain.spacing_m = 200\n[routing]\n{routing}\n\
         [[flows]]\nfrom = 'sta0'\nto = 'sta2'\n{traffic}\n\
         [[flows]]\nfrom = 'sta2'\nto = 'sta0'\n{traffic}\n"
    )
}

const ROUTINGS: [&str; 4] = [
    "protocol = 'aodv'",
    "protocol.aodv.hello = true",
    "protocol = 'dsr'",
    "protocol = 'static'\narp = 'rfc826'",
];
const DATAGRAMS: &str = "traffic.cbr = { rate_mbps = 0.02, payload_bytes = 512 }";

/// The fraction of the datagrams of a flow that arrive; one may be on its way at the end.
fn delivered(run: &sim::Run, flow: usize) -> f64 {
    let sent = number(run, &format!("flows[{flow}].packets_sent"));
    let bytes = number(run, &format!("flows[{flow}].goodput_mbps")) * 20e6 / 8.0;
    bytes / 512.0 / (sent - 1.0)
}

#[test]
fn flows_that_begin_together_find_their_routes() {
    // Also in step. RFC 5148 section 5.2: a message that an event triggers has jitter, because the
    // event may trigger it at several nodes; ns-3's ARP has 0 to 10 ms.
    for routing in ROUTINGS {
        for start in ["", "\nstart_spread_s = 0"] {
            for seed in 1..=3 {
                let run = run_with(&chain(routing, &format!("{DATAGRAMS}{start}")), seed, &[]);
                for flow in 0..2 {
                    let part = delivered(&run, flow);
                    assert!(part > 0.95, "{routing} {start} {seed} {flow}: {part}");
                }
            }
        }
    }
}

#[test]
fn connections_that_begin_together_find_their_routes() {
    for routing in ROUTINGS {
        let run = run(&chain(routing, "traffic = 'bulk'\ntcp.window_segments = 2"));
        for flow in 0..2 {
            let goodput = number(&run, &format!("flows[{flow}].goodput_mbps"));
            assert!(goodput > 0.1, "{routing}: {goodput}");
        }
    }
}

#[test]
fn in_ns2_what_begins_together_collides_for_ever() {
    for routing in [
        "protocol.aodv.preset = 'ns2'",
        "protocol.aodv.originated_jitter_ms = 0",
        "protocol = 'static'\narp = 'ns2'",
        "protocol = 'static'\narp = 'rfc826'\narp_jitter_ms = 0",
    ] {
        let in_step = format!("{DATAGRAMS}\nstart_spread_s = 0");
        let run = run(&chain(routing, &in_step));
        assert_eq!(delivered(&run, 0), 0.0, "{routing}");
    }
}

/// A cell whose access point broadcasts, and whose station sends as often.
fn broadcasts(start: &str) -> String {
    format!(
        "standard = '11g'\nduration_s = 10\nwarmup_s = 0\n[radio]\n\
         [[stations]]\nposition_m = [5, 0]\n\
         [[flows]]\nfrom = 'ap'\nto = 'broadcast'\ntraffic.cbr = {{ rate_mbps = 0.1 }}\n{start}\n\
         [[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic.cbr = {{ rate_mbps = 0.1 }}\n{start}\n"
    )
}

#[test]
fn a_broadcast_beside_a_source_of_the_same_rate_arrives() {
    for seed in 1..=5 {
        let run = run_with(&broadcasts(""), seed, &[]);
        assert_eq!(number(&run, "flows[0].broadcast_losses"), 0.0, "{seed}");
    }
    let in_step = run(&broadcasts("start_spread_s = 0"));
    assert_eq!(number(&in_step, "flows[0].broadcast_losses"), 125.0);
}

/// Ten stations in a cell, each with traffic to the access point.
fn ten(traffic: &str) -> String {
    format!(
        "standard = '11g'\nduration_s = 10\nwarmup_s = 1\nstations = 10\n\
         [[flows]]\nfrom = 'sta*'\nto = 'ap'\n{traffic}\n"
    )
}

#[test]
fn no_periodic_source_is_in_step_with_others() {
    // IEEE 802.11-2020 clause 10.3.4.3: who finds the medium idle sends at once.
    for traffic in [
        "cbr = { rate_mbps = 0.08 }",
        "call = {}",
        "game = {}",
        "ping = {}",
        "writes = { rate_mbps = 0.08, write_bytes = 1000 }",
        "on_off = { rate_mbps = 0.1, on_s = 0.1, off_s = 0.1, periods = 'constant' }",
    ] {
        let keys = format!("traffic.{traffic}");
        let collisions = |text: &str| number(&run(&ten(text)), "total.collision_probability");
        let (now, in_step) =
            (collisions(&keys), collisions(&format!("{keys}\nstart_spread_s = 0")));
        assert!(now < 0.06 && now < 0.5 * in_step, "{traffic}: {now}, in step {in_step}");
    }
}

#[test]
fn stations_that_a_beacon_wakes_together_draw_a_back_off() {
    // freifunk-gluon/gluon pull request 2028: all stations in power save contend for their PS-Polls
    // behind one beacon. The medium was busy with it, so that each draws from 16 slots.
    let run = run("standard = '11g'\nduration_s = 10\nwarmup_s = 1\nwlan.beacons = {}\n\
                   [stations]\ncount = 10\npower_save = 'legacy'\n\
                   [[flows]]\nfrom = 'server'\nto = 'sta*'\ntraffic.cbr = { rate_mbps = 0.02 }\n");
    let collisions = number(&run, "total.collision_probability");
    assert!((0.1..0.45).contains(&collisions), "{collisions}");
    for station in 0..10 {
        assert!(number(&run, &format!("flows[{station}].goodput_mbps")) > 0.019);
    }
}

#[test]
fn a_periodic_flow_starts_within_its_first_interval() {
    let start = |keys: &str| {
        let text = ten(&format!("{keys}\ntcp = {{}}"));
        let plan = sim::Scenario::parse(&text).unwrap().resolve().unwrap();
        plan.flows[0].start_spread.as_secs_f64()
    };
    assert_eq!(start("traffic.call = {}"), 0.02);
    assert_eq!(start("traffic.ping = {}\nstart_s = 9.9"), 0.1, "up to the end of the run");
    assert_eq!(start("traffic.ping = {}\nstart_s = 3\nstop_s = 3.05"), 0.05, "and of the flow");
    assert_eq!(start("traffic.call = {}\nstart_spread_s = 0"), 0.0);
    assert_eq!(start("traffic.call = {}\nstart_spread_s = 1"), 1.0);
    // What waits for replies is not in step for ever, but its bursts of load would be.
    assert_eq!(start("traffic.video.segment_s = 2"), 2.0);
    assert_eq!(start("traffic.requests = { think_s = 3, pauses = 'constant' }"), 3.0);
    assert_eq!(start("traffic.requests = { think_s = 3 }"), 0.0, "its pauses are random");
    assert_eq!(start("traffic.web = { think_s = 3, pauses = 'constant' }"), 3.0);
    assert_eq!(start("traffic = 'bulk'"), 0.0);
    assert_eq!(start("traffic = 'saturated'"), 0.0);
}
