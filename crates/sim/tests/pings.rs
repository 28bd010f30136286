//! Pings: their round-trip times, their losses, and what a capture shows of them.

use crate::common::{number, run, run_with};
use crate::program::{CHECKS, fields, is_installed};
use kernel::Seed;
use sim::trace::{Filter, network};
use sim::{Scenario, Simulation};
use std::fs::File;
use std::path::Path;
use trace::pcapng::{Pcapng, PcapngOptions, files};

/// A ping over a wire of 1 Mb/s and 10 ms each way, without a cell: 84 bytes take 0.672 ms.
const WIRED: &str = r#"
    duration_s = 10.0
    warmup_s = 1.0
    [[links]]
    from = "near"
    to = "far"
    rate_mbps = 1.0
    delay_ms = 10.0
    queue.drop_tail.limit_packets = 50
    [[flows]]
    from = "near"
    to = "far"
    traffic.ping = { timeout_ms = 500.0 }
    start_spread_s = 0.0
"#;

#[test]
fn the_round_trip_is_twice_the_delay_and_the_time_on_the_link() {
    let run = run_with(WIRED, 1, &["flows[0].ping.rtt_s", "flows[0].ping.reply_rtt_s"]);
    let exact = 2.0 * (0.01 + 84.0 * 8e-6);
    for part in ["mean", "max"] {
        let found = number(&run, &format!("flows[0].rtt_s.{part}"));
        assert!((found - exact).abs() < 1e-9, "{part}: {found}");
    }
    let p99 = number(&run, "flows[0].rtt_s.p99");
    assert!((p99 / exact - 1.0).abs() < 1e-3, "{p99}");
    // Requests at 1.0, 1.2, ... 9.4 s have 500 ms; all from 1 to 10 s have replies.
    assert_eq!(number(&run, "flows[0].ping.requests"), 43.0);
    assert_eq!(number(&run, "flows[0].rtt_s.count"), 45.0);
    assert_eq!(number(&run, "flows[0].ping.lost"), 0.0);
    let [series, replies] = &run.series[..] else { panic!("two probes") };
    assert!(series.value.iter().skip(2).all(|rtt| (rtt - exact).abs() < 1e-9));
    // Each reply has a value of its own, at its own time: those of requests at 0, 0.2, ... 9.8 s.
    assert_eq!(replies.value.len(), 50);
    for ((at, rtt), n) in replies.time_s.iter().zip(&replies.value).zip(0..) {
        assert!((rtt - exact).abs() < 1e-9, "{rtt}");
        assert!((at - 0.2 * f64::from(n) - exact).abs() < 1e-9, "{at}");
    }
}

#[test]
fn the_other_end_may_take_a_time_to_reply() {
    let answers = |ms: &str| {
        let late = format!("{{ interval_ms = 5.0, reply_after_ms = {ms}, timeout_ms");
        run(&WIRED.replace("{ timeout_ms", &late))
    };
    let exact = 2.0 * (0.01 + 84.0 * 8e-6);
    let late = answers("12.5");
    assert!((number(&late, "flows[0].rtt_s.mean") - exact - 0.0125).abs() < 1e-9);
    assert_eq!(number(&late, "flows[0].ping.lost"), 0.0);
    let at_once = answers("0.0");
    let count = |run| number(run, "flows[0].ping.requests");
    assert_eq!(count(&at_once), count(&late), "requests do not wait for replies");
}

#[test]
fn a_reply_after_the_timeout_is_a_loss_and_has_a_round_trip_time() {
    let run = run(&WIRED.replace("500.0", "20.0"));
    assert_eq!(number(&run, "flows[0].ping.lost"), number(&run, "flows[0].ping.requests"));
    assert!(number(&run, "flows[0].rtt_s.count") >= 45.0);
}

#[test]
fn requests_that_a_link_loses_are_lost() {
    let every = "delay_ms = 10.0\nloss.uniform.probability = 0.25";
    let often = "{ interval_ms = 1.0, timeout_ms";
    let text = WIRED.replace("delay_ms = 10.0", every).replace("{ timeout_ms", often);
    let run = run(&text);
    let lost = number(&run, "flows[0].ping.lost") / number(&run, "flows[0].ping.requests");
    assert!((lost - 0.25).abs() < 0.02, "{lost}");
}

#[test]
fn a_ping_waits_in_the_queue_before_the_bottleneck() {
    let flows = "[[flows]]\nfrom = \"near\"\nto = \"far\"\n";
    let alone = number(&run(WIRED), "flows[0].rtt_s.p50");
    let beside = number(&run(&format!("{WIRED}{flows}")), "flows[0].rtt_s.p50");
    assert!(beside > 2.0 * alone, "{beside} s beside a bulk transfer, {alone} s alone");
}

#[test]
fn nothing_replies_to_a_broadcast() {
    let text = r#"
        standard = "11g"
        stations = 1
        duration_s = 2.0
        warmup_s = 0.5
        [[flows]]
        from = "ap"
        to = "broadcast"
        traffic.ping = {}
    "#;
    let issues = Scenario::parse(text).unwrap().resolve().unwrap_err();
    assert_eq!(issues.len(), 1);
    assert_eq!(issues[0].path, "flows[0].to");
    assert_eq!(issues[0].said.message, "no node replies to an echo request to \"broadcast\"");
}

#[test]
fn tshark_finds_a_reply_to_each_request() {
    if !is_installed("tshark_finds_a_reply_to_each_request") {
        return;
    }
    let second = "[[flows]]\nfrom = \"near\"\nto = \"far\"\ntraffic.ping.protocol = \"udp\"\n";
    let text = format!("{WIRED}{second}").replace("warmup_s = 1.0", "warmup_s = 0.0");
    let plan = Scenario::parse(&text).unwrap().resolve().unwrap();
    let options = PcapngOptions::default();
    let names = files(&network(&plan), options);
    let path = |name| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pings{name}.pcapng"));
    let outs = names.iter().map(|name| File::create(path(name)).unwrap()).collect();
    let sink = Pcapng::new(network(&plan), outs, options).unwrap();
    let seed = Seed { root: 1, replication: 0 };
    let mut run = Simulation::new(&plan, seed, &[], true).unwrap();
    let failure = run.trace(&Filter::default(), vec![Box::new(sink)]).unwrap();
    while run.advance(1 << 20) {}
    assert!(failure.take().is_none());
    let wanted = ["icmp.type", "icmp.resp_to", "icmp.checksum.status", "udp.port", "echo.request"];
    let near = names.iter().find(|name| name.starts_with(".near")).unwrap();
    let found = fields(&path(near), &CHECKS, &wanted);
    let is = |kind: &'static str| found.iter().filter(move |it| it[0] == kind);
    assert_eq!((is("8").count(), is("0").count()), (50, 50), "requests and replies");
    assert!(is("0").all(|it| !it[1].is_empty() && it[2] == "1"), "each has its request");
    let udp: Vec<_> = found.iter().filter(|it| it[0].is_empty()).collect();
    assert_eq!(udp.iter().filter(|it| it[4] == "1").count(), 50, "{udp:?}");
    assert_eq!(udp.len(), 100);
}

#[test]
fn replies_that_come_in_bunches_are_all_kept() {
    // An upload fills the wire towards the other end, and requests wait behind it.
    let upload = r#"
    [[flows]]
    from = "near"
    to = "far"
    "#;
    let text =
        format!("{}\n{upload}", WIRED.replace("{ timeout_ms", "{ interval_ms = 5, timeout_ms"));
    let run = run_with(&text, 1, &["flows[0].ping.reply_rtt_s"]);
    let [replies] = &run.series[..] else { panic!("one probe") };
    let measured: Vec<f64> = replies
        .time_s
        .iter()
        .zip(&replies.value)
        .filter(|(at, rtt)| *at - *rtt >= 1.0 - 1e-9)
        .map(|(_, rtt)| *rtt)
        .collect();
    assert_eq!(measured.len() as f64, number(&run, "flows[0].rtt_s.count"));
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    assert!((mean / number(&run, "flows[0].rtt_s.mean") - 1.0).abs() < 1e-9, "{mean}");
}
