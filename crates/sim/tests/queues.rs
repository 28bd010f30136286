//! Queues and lossy wires by the keys of a scenario, and their effect on the results of a run.

use crate::common::{number, run_with};
use kernel::{BitRate, Bytes, Duration, Instant};
use net::{
    CoDelConfig, ControlLaw, FqCoDelConfig, GilbertElliottConfig, Limit, LinkSettings,
    LossSettings, PieConfig, QueueSettings, QueueUnit, RedConfig, Thresholds, TraceConfig,
    UniformConfig, red_weight,
};
use sim::Scenario;

fn run(text: &str) -> sim::Run {
    run_with(text, 5, &[])
}

/// The link from the server to which a wire with these keys resolves.
fn wire(keys: &str) -> LinkSettings {
    let text = format!(
        "standard = \"11g\"\nstations = 1\n[wire]\n{keys}\n\
         [[flows]]\nfrom = \"server\"\nto = \"sta0\"\n"
    );
    let plan = Scenario::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}")).resolve();
    let mut plan = plan.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let [down, _] = plan.links.remove(0).directions;
    down
}

#[test]
fn defaults_are_those_of_the_rfcs() {
    let (millis, none) = (Duration::from_millis, Limit::NONE);
    let law = ControlLaw {
        target: millis(5),
        interval: millis(100),
        mtu: Bytes(1500),
        ..ControlLaw::default()
    };
    let codel = QueueSettings::Codel(CoDelConfig { law, limit: none });
    assert_eq!(wire("queue = \"codel\"").queue, codel);
    let fq_codel = QueueSettings::FqCodel(FqCoDelConfig {
        law: ControlLaw { ecn: true, ..law },
        quantum: Bytes(1514),
        buckets: None,
        drop_batch: 64,
        limit: Limit::packets(10_240),
    });
    assert_eq!(wire("queue = \"fq_codel\"").queue, fq_codel);
    let pie = QueueSettings::Pie(PieConfig {
        target: millis(15),
        update: millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: millis(150),
        ecn: false,
        mark_limit: 0.1,
        derandomize: false,
        mean_packet: Bytes(1024),
        limit: none,
    });
    assert_eq!(wire("queue = \"pie\"").queue, pie);
}

#[test]
fn red_takes_its_defaults_from_the_wire() {
    let red = |keys: &str| {
        let wire = wire(keys);
        let QueueSettings::Red(red) = wire.queue else { panic!("{wire:?}") };
        let packet_time = wire.output_link().time_for(red.mean_packet);
        (red, red.thresholds(wire.output_link()), red.weight_at(wire.output_link()), packet_time)
    };
    let thresholds = |min, max| Thresholds { unit: QueueUnit::Packets, min, max };
    // 5 ms of 10 Mb/s are 12.5 packets of 500 bytes: half of that is more than 5.
    let usual = red("rate_mbps = 10\ndelay_ms = 50\nqueue = \"red\"");
    let expected = RedConfig {
        min_packets: None,
        max_packets: None,
        min_bytes: None,
        max_bytes: None,
        max_p: 0.1,
        weight: None,
        gentle: true,
        wait: false,
        by_size: false,
        adaptive: false,
        target_delay: Duration::from_millis(5),
        ecn: false,
        mark_limit: None,
        mean_packet: Bytes(500),
        limit: Limit::NONE,
    };
    let weight = red_weight(BitRate::from_mbps(10.0), Duration::from_millis(50), Bytes(500));
    let packet_time = Duration::from_micros(400);
    assert_eq!(usual, (expected, thresholds(6.25, 18.75), weight, packet_time));
    let fast = red("queue = \"red\"");
    assert_eq!(fast, (expected, thresholds(5.0, 15.0), 0.002, Duration::ZERO));
    let (given, levels, weight, packet_time) =
        red("rate_mbps = 10\nqueue.red = { min_packets = 25, max_packets = 90, weight = 0.01, \
         mean_packet_bytes = 1500, mark_limit_p = 0.1, limit_packets = 100 }");
    assert_eq!((levels, weight), (thresholds(25.0, 90.0), 0.01));
    assert_eq!(packet_time, Duration::from_micros(1200));
    assert_eq!((given.mark_limit, given.limit), (Some(0.1), Limit::packets(100)));
    let (_, bytes, ..) = red("queue.red.min_bytes = 20000");
    assert_eq!((bytes.unit, bytes.min, bytes.max), (QueueUnit::Bytes, 20_000.0, 60_000.0));
    let (_, below, ..) = red("queue.red.max_packets = 3");
    assert_eq!(below, thresholds(1.0, 3.0));
}

#[test]
fn losses_resolve() {
    assert_eq!(wire("").loss, None);
    let uniform = Some(LossSettings::Uniform(UniformConfig { probability: 0.01 }));
    assert_eq!(wire("loss.uniform.probability = 0.01").loss, uniform);
    let in_time = Some(LossSettings::GilbertElliott(GilbertElliottConfig {
        good: Duration::from_millis(100),
        bad: Duration::from_micros(2500),
        good_loss: 0.0,
        bad_loss: 1.0,
    }));
    let keys = "loss.gilbert_elliott = { good_ms = 100, bad_ms = 2.5 }";
    assert_eq!(wire(keys).loss, in_time);
    let trace = Some(LossSettings::Trace(TraceConfig {
        times: vec![Instant(500_000_000), Instant(2_000_000_000)],
        probabilities: vec![0.5, 0.0],
        period: Some(Duration::from_secs(4)),
    }));
    let keys = "loss.trace = { times_s = [0.5, 2], probabilities = [0.5, 0], period_s = 4 }";
    assert_eq!(wire(keys).loss, trace);
}

/// A download over a wire that is slower than the cell.
fn download(wire: &str, flow: &str) -> String {
    format!(
        "standard = \"11a\"\nstations = 1\nduration_s = 30\nwarmup_s = 5\n\
         [wire]\nrate_mbps = 10\ndelay_ms = 20\n{wire}\n\
         [[flows]]\nfrom = \"server\"\nto = \"sta0\"\n{flow}\n"
    )
}

const WINDOW: &str = "tcp.window_bytes = 1000000";

#[test]
fn active_queues_keep_the_delay_of_a_download_short_and_the_wire_in_use() {
    let delay_ms = |queue: &str, flow: &str| {
        let run = run(&download(&format!("queue.{queue}"), &format!("{WINDOW}\n{flow}")));
        let goodput = number(&run, "flows[0].goodput_mbps");
        assert!(goodput > 7.5, "{queue}: {goodput} Mb/s");
        number(&run, "flows[0].delay_s.mean") * 1e3
    };
    let long = delay_ms("drop_tail.limit_packets = 400", "");
    assert!(long > 200.0, "drop-tail: {long} ms");
    for (queue, longest) in [
        ("codel = {}", 45.0),
        ("fq_codel = {}", 45.0),
        ("pie = {}", 55.0),
        ("dualpi2 = { step_us = 2500 }", 55.0),
        ("cake = {}", 45.0),
        ("cake = { bandwidth_mbps = 9.5 }", 45.0),
        ("red = { adaptive = true }", 55.0),
    ] {
        let short = delay_ms(queue, "");
        assert!((20.0..longest).contains(&short), "{queue}: {short} ms");
    }
}

#[test]
fn with_ecn_a_download_is_marked_and_loses_nothing() {
    let red = "queue.red = { min_packets = 25, max_packets = 90, limit_packets = 200, ecn = true }";
    let flow = format!("{WINDOW}\ntcp.ecn = \"classic\"\ntcp.initial_ssthresh_segments = 30");
    let run = run(&download(red, &flow));
    assert!(number(&run, "flows[0].goodput_mbps") > 8.5);
    assert!(number(&run, "flows[0].ecn_marks") > 10.0);
    assert_eq!(number(&run, "flows[0].ecn_marks"), number(&run, "total.ecn_marks"));
    assert_eq!(number(&run, "total.queue_drops"), 0.0);
    assert_eq!(number(&run, "flows[0].retransmissions"), 0.0);
}

#[test]
fn a_wire_loses_packets_by_its_loss_model() {
    let datagrams = "traffic.cbr.rate_mbps = 4";
    let lossy = |loss: &str, direction: &str| {
        let wire = format!("loss.{loss}\nloss_direction = \"{direction}\"");
        run(&download(&wire, datagrams))
    };
    let seen = lossy("uniform.probability = 0.05", "both");
    let (lost, passed) = (number(&seen, "wire.down.losses"), number(&seen, "wire.down.packets"));
    // 15000 datagrams: a standard deviation of 27.
    assert!((lost - 750.0).abs() < 81.0 && (lost + passed - 15_000.0).abs() < 15.0, "{lost}");
    // The window begins after the warm-up, a wire's counters at the start.
    let in_window = number(&seen, "flows[0].wire_losses");
    assert!(in_window < lost && in_window > 0.7 * lost);
    assert_eq!(number(&seen, "total.wire_losses"), in_window);
    assert_eq!(number(&seen, "total.queue_drops"), 0.0);
    let periodic = lossy("periodic.every = 100", "down");
    assert_eq!(number(&periodic, "wire.down.losses"), 149.0, "of 14996 that have arrived");
    let listed = lossy("list.packets = [1, 2, 14000]", "down");
    assert_eq!(number(&listed, "wire.down.losses"), 3.0);
    let other = lossy("uniform.probability = 0.05", "up");
    assert_eq!(number(&other, "wire.down.losses"), 0.0);
    let outage = lossy("trace = { times_s = [10, 11], probabilities = [1, 0] }", "down");
    assert!((number(&outage, "wire.down.losses") - 500.0).abs() <= 1.0);
}

#[test]
fn airtime_fairness_ends_the_anomaly_of_a_slow_station() {
    // Once in a cell, where every node hears every other, and once in space.
    let places = ["", "ap.position_m = [0, 0]\n[radio]\n"];
    for radio in places {
        let place = if radio.is_empty() { "" } else { "position_m = [3, 0]\n" };
        let scenario = |queue: &str| {
            format!(
                "standard = \"11b\"\nduration_s = 20\nap.queue.{queue}\n{radio}\
                 [[stations]]\nrate_mbps = 11\n{place}[[stations]]\nrate_mbps = 1\n{place}\
                 [[flows]]\nfrom = \"ap\"\nto = \"sta*\"\ntraffic = \"saturated\"\n"
            )
        };
        let goodputs = |queue: &str| {
            let run = run(&scenario(queue));
            [0, 1].map(|i| number(&run, &format!("flows[{i}].goodput_mbps")))
        };
        let [fast, slow] = goodputs("drop_tail.limit_packets = 100");
        assert!((fast / slow - 1.0).abs() < 0.1, "in turns: {fast} and {slow} Mb/s");
        let [fast, slow] = goodputs("airtime_fair = {}");
        // Alone they reach 6.2 and 0.88 Mb/s of this payload: the exchange without back-off takes
        // 1.6 and 12.9 ms, and back-off and DIFS take 0.36 ms. With half of the time each reaches
        // half of that.
        let ratio = fast / slow;
        assert!((6.0..9.0).contains(&ratio), "{fast} and {slow} Mb/s");
        assert!(fast > 2.6 && slow > 0.36, "{fast} and {slow} Mb/s");
    }
}

#[test]
fn saturated_sources_go_on_after_drops() {
    for from in ["ap", "server"] {
        for queue in [
            "drop_tail.limit_packets = 2",
            "codel = { target_ms = 0, interval_ms = 1, mtu_bytes = 0 }",
            "red = { min_packets = 1, max_packets = 2, weight = 1 }",
        ] {
            let run = run(&format!(
                "standard = \"11g\"\nstations = 4\nduration_s = 5\nwarmup_s = 0\nap.queue.{queue}\n\
                 [[flows]]\nfrom = \"{from}\"\nto = \"sta*\"\ntraffic = \"saturated\"\n\
                 start_s = 0.1\n"
            ));
            let total = number(&run, "total.goodput_mbps");
            assert!(total > 25.0, "{queue} from {from}: {total} Mb/s");
            assert!(number(&run, "total.queue_drops") > 0.0, "{queue} from {from}");
            for i in 0..4 {
                let share = number(&run, &format!("flows[{i}].goodput_mbps")) / total;
                assert!((share - 0.25).abs() < 0.05, "{queue} from {from}: {share} of {total}");
            }
        }
    }
}

/// Two downloads over 40 Mb/s, of which the first is ECN-capable and waits in the L queue.
fn two_downloads(queue: &str) -> sim::Run {
    let flow = "[[flows]]\nfrom = \"server\"\nto = \"sta0\"\ncontrol = \"cubic\"\n\
                tcp.window_bytes = 1000000\n";
    run(&format!(
        "standard = \"11ac\"\nstations = 1\nduration_s = 20\nwarmup_s = 5\n\
         [wire]\nrate_mbps = 40\ndelay_ms = 10\n{queue}\n\
         {flow}tcp.ecn = \"classic\"\n{flow}"
    ))
}

#[test]
fn a_dual_queue_keeps_both_classes_apart_and_reports_them() {
    let run = two_downloads("queue.dualpi2 = { low_latency = \"any_ect\" }");
    let of = |name: &str| number(&run, &format!("wire.down.{name}"));
    let sent = number(&run, "flows[0].segments_sent") + number(&run, "flows[1].segments_sent");
    let passed = of("l_queue.packets") + of("c_queue.packets") + of("c_queue.drops");
    // At both ends of the window some packets wait.
    assert!((passed - sent).abs() < 200.0 && sent > 20_000.0, "{passed} of {sent}");
    assert!(of("l_queue.ecn_marks") > 0.0);
    assert_eq!((of("c_queue.ecn_marks"), of("l_queue.drops")), (0.0, 0.0));
    assert_eq!(of("ecn_marks_ect0"), of("l_queue.ecn_marks"));
    assert_eq!(of("ecn_marks_ect1"), 0.0);
    // CUBIC in L halves at each round trip with a mark: the step holds L below 1 ms.
    assert!(of("l_queue.queueing_s") < 1.5e-3, "{}", of("l_queue.queueing_s"));
    assert!(of("c_queue.queueing_s") > 0.0);
    let none = two_downloads("");
    assert!(
        none.summary.iter().all(|(path, _)| !path.contains(".l_queue") && !path.contains("ect1"))
    );
}

#[test]
fn a_threshold_marks_what_waits_longer() {
    let marks = |queue: &str| {
        let run = two_downloads(&format!("queue.fq_codel = {{ {queue} }}"));
        (number(&run, "flows[0].ecn_marks"), number(&run, "wire.down.queueing_s"))
    };
    let (few, long) = marks("");
    let (many, short) = marks("ce_threshold_us = 1000");
    assert!(many > 1.5 * few && short < long, "{few} and {many} marks, {long} and {short} s");
    assert_eq!(marks("ce_threshold_us = 1000, ce_threshold_for = \"ect1\"").0, few);
}

#[test]
fn queues_refuse_what_no_link_can_do() {
    let issue = |wire: &str, ap: &str| {
        let text = format!(
            "standard = \"11g\"\nstations = 1\n[ap]\n{ap}\n[wire]\n{wire}\n\
             [[flows]]\nfrom = \"server\"\nto = \"sta0\"\n"
        );
        match Scenario::parse(&text) {
            Ok(scenario) => scenario.resolve().unwrap_err().remove(0).to_string(),
            Err(issues) => issues[0].to_string(),
        }
    };
    let short = issue("rate_mbps = 10\nqueue = \"dualpi2\"", "");
    assert!(short.contains("wire.queue.dualpi2") && short.contains("1200 us"), "{short}");
    assert!(short.contains("step_min_packets = 1"), "{short}");
    let coupling = issue("queue.dualpi2.coupling = 0", "");
    assert!(coupling.contains("coupling") && coupling.contains("RFC 9332"), "{coupling}");
    let air = issue("", "queue.cake.bandwidth_mbps = 10");
    assert!(air.contains("ap.queue.cake") && air.contains("wire"), "{air}");
}

/// Datagrams that a wire delays overtake each other there, and each arrives once.
#[test]
fn the_checker_lets_datagrams_overtake_on_a_wire() {
    let done = run("standard = '11g'\nduration_s = 1\nstations = 1\n\
         wire.reorder = { probability = 0.5 }\n[[flows]]\nfrom = 'sta0'\nto = 'server'\n\
         traffic.cbr = { rate_mbps = 5, payload_bytes = 500 }\n");
    assert!(number(&done, "flows[0].goodput_mbps") > 4.0);
}

/// A broadcast that a wire delays arrives after those that overtake it, and counts like them.
#[test]
fn broadcasts_overtake_on_a_wire() {
    let arrived = |wire: &str| {
        let done = run(&format!(
            "standard = '11g'\nduration_s = 1\nwarmup_s = 0\nstations = 1\n{wire}\n[[flows]]\n\
             from = 'server'\nto = 'broadcast'\n\
             traffic.cbr = {{ rate_mbps = 0.1, payload_bytes = 500 }}\n"
        ));
        number(&done, "flows[0].goodput_mbps")
    };
    let [soon, late] = [0, 100].map(|delay| arrived(&format!("wire.delay_ms = {delay}")));
    assert!(late > 0.08, "{late}");
    // Every second packet is 100 ms late, which more than two packets take.
    let overtaken = arrived("wire.reorder = { delay_ms = 100, gap = 2, probability = 1 }");
    assert!((late..=soon).contains(&overtaken), "{overtaken}");
}
