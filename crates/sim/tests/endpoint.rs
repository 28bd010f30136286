//! The endpoint of Linux in a network: TCP small queues and generic receive offload.

use crate::common::{number, run};

/// A transfer over 802.11n beside a ping from the station, with these keys of TCP.
fn transfer(from: &str, to: &str, tcp: &str) -> sim::Run {
    run(&format!(
        r#"
        standard = "11n"
        duration_s = 8.0
        warmup_s = 2.0
        wlan.mcs = 7
        wire = {{ rate_mbps = 1000.0, delay_ms = 5.0 }}
        stations = [{{ count = 1, queue.drop_tail.limit_packets = 1000 }}]
        [[flows]]
        from = "{from}"
        to = "{to}"
        control = "cubic"
        {tcp}
        [[flows]]
        from = "sta0"
        to = "server"
        traffic.ping = {{}}
        "#
    ))
}

const LINUX: &str = "tcp.endpoint = \"linux\"";

#[test]
fn a_small_queue_carries_as_much_and_delays_less() {
    let rfc = transfer("sta0", "server", "");
    let linux = transfer("sta0", "server", LINUX);
    let without = transfer("sta0", "server", "tcp.endpoint.linux.small_queues = false");
    let goodput = |run| number(run, "flows[0].goodput_mbps");
    let ping = |run| number(run, "flows[1].rtt_s.p50");
    assert!((goodput(&linux) / goodput(&rfc) - 1.0).abs() < 0.05, "{}", goodput(&linux));
    assert!(ping(&linux) < 0.5 * ping(&rfc), "{} s, {} s", ping(&linux), ping(&rfc));
    assert!(ping(&without) > 0.8 * ping(&rfc), "{} s", ping(&without));
}

/// Acknowledgements for each segment with data.
fn acks_per_segment(run: &sim::Run) -> f64 {
    let segments = number(run, "flows[0].segments_sent");
    (number(run, "flows[0].packets_sent") - segments) / segments
}

#[test]
fn merged_packets_have_few_acknowledgements() {
    let merged = transfer("server", "sta0", LINUX);
    let single = transfer("server", "sta0", "tcp.endpoint.linux.gro = false");
    // A packet is a run of segments of one A-MPDU with the same timestamp. Those of a server leave
    // one by one, by the clock of the acknowledgements.
    assert!(acks_per_segment(&merged) < 0.5, "{}", acks_per_segment(&merged));
    assert!((0.45..0.75).contains(&acks_per_segment(&single)), "{}", acks_per_segment(&single));
    let goodput = |run| number(run, "flows[0].goodput_mbps");
    assert!(goodput(&merged) > 0.9 * goodput(&single));
}

#[test]
fn a_queue_fq_paces_linux_in_bursts() {
    let with = |queue: &str, tcp: &str| {
        run(&format!(
            r#"
            standard = "11n"
            stations = 1
            wire = {{ rate_mbps = 1000.0, delay_ms = 5.0, queue = "{queue}" }}
            wlan.mcs = 7
            warmup_s = 2.0
            duration_s = 8.0
            [[flows]]
            from = "server"
            to = "sta0"
            {tcp}
            "#
        ))
    };
    let paced = |run: &sim::Run| number(run, "flows[0].limited_by.pacing_fraction");
    let bursts = with("fq", "tcp.endpoint.linux.tso_defer = false");
    let single = with("fq", "tcp.endpoint.linux.gso = false");
    let deferring = with("fq", LINUX);
    // Mostly the window limits.
    for paces in [&bursts, &single, &deferring] {
        assert!(paced(paces) > 0.0);
    }
    for other in [with("fq", ""), with("pfifo_fast", "tcp.pacing = false")] {
        assert_eq!(paced(&other), 0.0);
    }
    // The clock of timestamps ticks once a millisecond, so that the receiver merges the segments of
    // a burst, and those that leave one by one within a millisecond.
    for merged in [&bursts, &single, &deferring] {
        let acks = acks_per_segment(merged);
        assert!((0.05..0.25).contains(&acks), "{acks} acknowledgements for each segment");
    }
}

#[test]
fn an_older_kernel_keeps_less_in_its_queue() {
    let ping = |version| {
        let keys = format!("tcp.endpoint.linux.version = \"{version}\"");
        number(&transfer("sta0", "server", &keys), "flows[1].rtt_s.p50")
    };
    // Two bursts at 50 Mb/s are 8 segments in place of 66.
    let [new, old] = ["6.18", "4.9"].map(ping);
    assert!(old < 0.8 * new, "{old} s, {new} s");
}
