//! The transmit ring of a driver below the queue of a wired link, with and without byte queue
//! limits.

use crate::common::{number, run, run_with};
use sim::Run;

/// Downloads that fill the link of their server, 100 Mb/s below `fq_codel`, and a ping beside them.
fn hosts(driver: &str, endpoint: &str) -> String {
    format!(
        r#"
        duration_s = 6.0
        warmup_s = 2.0
        [[links]]
        from = "server"
        to = "client"
        rate_mbps = 100.0
        delay_ms = 5.0
        queue = "fq_codel"
        {driver}
        [[flows]]
        from = "server"
        to = "client"
        count = 4
        {endpoint}
        [[flows]]
        from = "server"
        to = "client"
        traffic.ping = {{}}
    "#
    )
}

fn plain(driver: &str) -> Run {
    run(&hosts(driver, ""))
}

/// The median of the ping in milliseconds beyond the propagation.
fn ping(run: &Run) -> f64 {
    1000.0 * number(run, "flows[4].rtt_s.p50") - 10.0
}

fn goodput(run: &Run) -> f64 {
    number(run, "total.goodput_mbps")
}

#[test]
fn a_fixed_ring_delays_what_fq_codel_would_send_first() {
    let [none, ring] = ["", "driver = { bql = false }"].map(plain);
    // 256 packets of 1500 bytes take 30.7 ms.
    assert!(ping(&none) < 0.3, "{}", ping(&none));
    assert!((27.0..31.0).contains(&ping(&ring)), "{}", ping(&ring));
    let waits = 1000.0 * number(&ring, "links[0].ring.queueing_s");
    assert!((27.0..30.7).contains(&waits), "{waits}");
    let all = 1000.0 * number(&ring, "links[0].queueing_s");
    assert!(all > waits, "{all} includes the ring");
    assert!(!ring.summary.iter().any(|(path, _)| path.contains("limit_bytes")));
    assert!(!none.summary.iter().any(|(path, _)| path.contains("ring")));
}

#[test]
fn byte_limits_keep_the_ring_short_and_the_link_busy() {
    let [none, ring, bql] =
        ["", "driver = { bql = false }", "driver.coalescing_us = 500"].map(plain);
    // Two reports are 500 us apart or a little more, in which four packets leave.
    let mean = number(&bql, "links[0].ring.limit_bytes.mean");
    assert!((6_000.0..20_000.0).contains(&mean), "{mean}");
    assert!(ping(&bql) < 2.0, "{}", ping(&bql));
    assert!(ping(&bql) > ping(&none) + 0.3, "{}", ping(&bql));
    for run in [&ring, &bql] {
        assert!((goodput(run) / goodput(&none) - 1.0).abs() < 0.01, "{}", goodput(run));
    }
}

#[test]
fn the_limit_and_the_ring_are_probes() {
    let text = hosts("driver.coalescing_us = 500", "");
    let paths = ["packets", "bytes", "limit_bytes"].map(|key| format!("links[0].ring.{key}"));
    let run = run_with(&text, 1, &paths.each_ref().map(|path| &path[..]));
    let [packets, bytes, limit] = &run.series[..] else { panic!("three probes") };
    let busy = packets.value.iter().filter(|value| **value > 0.0).count();
    assert!(busy > packets.value.len() / 2, "{busy}");
    for ((packets, bytes), limit) in packets.value.iter().zip(&bytes.value).zip(&limit.value) {
        assert!(*bytes <= 1500.0 * packets);
        assert!(*bytes <= limit + 1500.0, "a packet beyond the limit at most");
    }
}

#[test]
fn the_sender_learns_with_its_driver_that_packets_have_left() {
    // TCP small queues count what is in the ring: 1000 us between reports is 8 packets.
    let endpoint = "tcp.endpoint = \"linux\"";
    let [soon, late] = [
        "driver = { ring_packets = 4096, bql = false }",
        "driver = { ring_packets \
                         = 4096, bql = false, coalescing_us = 50000 }",
    ]
    .map(|driver| run(&hosts(driver, endpoint)));
    // Small queues hold the ring far below its 4096 packets.
    let [soon_s, late_s] = [&soon, &late].map(|run| number(run, "links[0].ring.queueing_s"));
    assert!(soon_s < 0.03, "{soon_s}");
    assert!(goodput(&soon) > 90.0, "{}", goodput(&soon));
    assert!(goodput(&late) < 0.9 * goodput(&soon), "{late_s} {}", goodput(&late));
}

#[test]
fn a_saturated_source_fills_the_link_with_any_ring() {
    for driver in ["", "driver.ring_packets = 1", "driver.bql = true"] {
        let text = hosts(driver, "").replace("traffic.ping = {}", "traffic.saturated = {}");
        let run = run(&text);
        let used = number(&run, "links[0].utilisation");
        assert!(used > 0.99, "{driver}: {used}");
    }
}
