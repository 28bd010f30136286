//! Wired topologies with routers: throughputs, queue lengths, and the paths of packets.

use crate::common::{number, run_with};
use sim::{Run, Value};

fn run(text: &str, probes: &[&str]) -> Run {
    run_with(text, 7, probes)
}

fn find<'a>(run: &'a Run, path: &str) -> Option<&'a Value> {
    run.summary.iter().find(|(name, _)| name == path).map(|(_, value)| value)
}

fn link(from: &str, to: &str, keys: &str) -> String {
    format!("[[links]]\nfrom = '{from}'\nto = '{to}'\n{keys}\n")
}

fn flow(from: &str, to: &str, keys: &str) -> String {
    format!("[[flows]]\nfrom = '{from}'\nto = '{to}'\n{keys}\n")
}

const WIDE: &str = "tcp.window_bytes = 2000000";

#[test]
fn two_flows_of_a_kind_share_a_dumbbell() {
    for control in ["new_reno", "cubic"] {
        let access = |host: &str, router: &str| link(host, router, "rate_mbps = 100\ndelay_ms = 1");
        let begin = "duration_s = 310\nwarmup_s = 10\n";
        let middle = "rate_mbps = 10\ndelay_ms = 18\nqueue.drop_tail.limit_packets = 50";
        let links = [
            access("s0", "r0"),
            access("s1", "r0"),
            link("r0", "r1", middle),
            access("d0", "r1"),
            access("d1", "r1"),
        ];
        let keys = |start_s: f64| format!("control = '{control}'\nstart_s = {start_s}\n{WIDE}");
        let flows = [flow("s0", "d0", &keys(0.0)), flow("s1", "d1", &keys(0.137))];
        let run = run(&format!("{begin}{}{}", links.concat(), flows.concat()), &[]);
        let (jain, used) = (number(&run, "total.jain_index"), number(&run, "links[2].utilisation"));
        println!("{control}: Jain {jain:.4}, utilisation {used:.4}");
        assert!(jain >= 0.99, "{control}: {jain}");
        assert!(used > 0.95, "{control}: {used}");
    }
}

/// RFC 9438 equation 1 between losses, at 50 Mb/s and 50 ms under `CoDel`. The window is compared
/// with the function of the time since its last reduction, with the plateau and K that RFC 9438
/// derives from that reduction.
#[test]
fn cubic_follows_its_function_under_codel() {
    // The stage begins below the plateau: after an overshoot of slow start, the window does not
    // follow equation 1.
    let control = "control.cubic = { fast_convergence = false, friendly = false }\n\
                   tcp.initial_ssthresh_segments = 150";
    let text = format!(
        "duration_s = 120\nmeasure.interval_s = 0.05\n{}{}{}",
        link("s", "r", "rate_mbps = 1000"),
        link("r", "d", "rate_mbps = 50\ndelay_ms = 25\nqueue = 'codel'"),
        flow("s", "d", &format!("{control}\n{WIDE}")),
    );
    let run = run(&text, &["flows[0].control.window_segments", "flows[0].control.w_max_segments"]);
    let (window, plateau) = (&run.series[0].value, &run.series[1].value);
    let falls: Vec<usize> =
        (1..window.len()).filter(|&i| window[i] < 0.8 * window[i - 1]).collect();
    let (mut stages, mut samples, mut worst) = (0, 0, 0.0_f64);
    for pair in falls.windows(2) {
        let (fall, next) = (pair[0], pair[1]);
        let w_max = plateau[next - 1];
        // The stage begins when recovery ends: the last sample at its lowest.
        let low = window[fall..next].iter().copied().fold(f64::INFINITY, f64::min);
        let start = (fall..next).rev().find(|&i| window[i] <= low * 1.0001).expect("one is lowest");
        let k = libm::cbrt((w_max - low) / 0.4);
        stages += 1;
        for (i, &window) in window[start..next].iter().enumerate().skip(2) {
            let wanted = 0.4 * (i as f64 * 0.05 - k).powi(3) + w_max;
            worst = worst.max((window / wanted - 1.0).abs());
            samples += 1;
        }
    }
    println!("{stages} stages, {samples} samples, worst deviation {:.2} %", 100.0 * worst);
    assert!(stages >= 5 && samples > 500, "{stages} stages, {samples} samples");
    assert!(worst < 0.02, "{worst}");
}

#[test]
fn bbr_fills_a_long_way_and_leaves_the_queue_short() {
    let text = format!(
        "duration_s = 60\nmeasure.interval_s = 0.01\n{}{}{}",
        link("s", "r", "rate_mbps = 1000"),
        link("r", "d", "rate_mbps = 20\ndelay_ms = 50\nqueue.drop_tail.limit_packets = 660"),
        flow("s", "d", &format!("control = 'bbr'\n{WIDE}")),
    );
    let run = run(&text, &["links[1].queue_packets"]);
    let product = 20e6 * 0.1 / 8.0 / 1500.0;
    let series = &run.series[0];
    let settled = series.time_s.iter().zip(&series.value).filter(|(time_s, _)| **time_s > 6.0);
    let most = settled.map(|(_, &queued)| queued).fold(0.0, f64::max) / product;
    let used = number(&run, "links[1].utilisation");
    println!("BBR: queue at most {most:.3} products, utilisation {used:.4}");
    assert!(most < 1.25, "{most}");
    assert!(used > 0.93, "{used}");
}

/// Datagrams by which hops are counted: the delay that each path of three links adds.
#[test]
fn each_hop_takes_its_time_and_counts_its_packets() {
    let cbr = "traffic.cbr = { rate_mbps = 1, payload_bytes = 972 }";
    let text = format!(
        "duration_s = 10\nwarmup_s = 0\n{}{}{}{}{}",
        link("a", "m", "rate_mbps = 8\ndelay_ms = 1"),
        link("m", "n", "rate_mbps = 4\ndelay_ms = 2"),
        link("n", "z", "rate_mbps = 2\ndelay_ms = 3"),
        link("a", "elsewhere", "rate_mbps = 100"),
        flow("a", "z", cbr),
    );
    let run = run(&text, &[]);
    // The transmission of 1000 bytes takes 1, 2 and 4 ms, and the propagation 6 ms.
    let delay = number(&run, "flows[0].delay_s.mean");
    assert!((delay / 0.013 - 1.0).abs() < 0.005, "{delay}");
    for link in 0..3 {
        assert!(number(&run, &format!("links[{link}].packets")) > 1280.0);
        assert_eq!(number(&run, &format!("links[{link}].reverse.packets")), 0.0);
    }
    assert_eq!(number(&run, "links[3].packets"), 0.0);
    let used = [0, 1, 2].map(|link| number(&run, &format!("links[{link}].utilisation")));
    for (used, rate_mbps) in used.into_iter().zip([8.0, 4.0, 2.0]) {
        assert!((used - 1.0288 / rate_mbps).abs() < 0.002, "{used}");
    }
}

/// Each direction has its own rate, queue and losses.
#[test]
fn the_way_back_may_differ() {
    let text = format!(
        "duration_s = 10\nwarmup_s = 0\n{}{}{}",
        link(
            "a",
            "b",
            "rate_mbps = 8\ndelay_ms = 1\nloss.periodic.every = 10\n\
             reverse = { rate_mbps = 1, delay_ms = 20, queue.drop_tail.limit_packets = 3 }",
        ),
        flow("a", "b", "traffic.cbr = { rate_mbps = 2, payload_bytes = 972 }"),
        flow("b", "a", "traffic.cbr = { rate_mbps = 2, payload_bytes = 972 }"),
    );
    let run = run(&text, &[]);
    let there = number(&run, "flows[0].goodput_mbps");
    assert!((there / 1.8 - 1.0).abs() < 0.01, "{there}");
    assert_eq!(number(&run, "links[0].drops"), 0.0);
    assert_eq!(number(&run, "links[0].reverse.losses"), 0.0);
    let back = number(&run, "flows[1].goodput_mbps");
    assert!((back / 0.972 - 1.0).abs() < 0.01, "{back}");
    // Two wait before the one in transmission, 8 ms each, and then 20 ms.
    let delay = number(&run, "flows[1].delay_s.max");
    assert!(delay > 0.036 && delay < 0.0441, "{delay}");
    assert_eq!(number(&run, "links[0].reverse.queue_packets.max"), 2.0);
    let fates = ["links[0].losses", "links[0].packets"].map(|path| number(&run, path));
    assert!((fates[0] / (fates[0] + fates[1]) - 0.1).abs() < 0.001, "{fates:?}");
}

#[test]
fn a_saturated_source_fills_its_link_and_shares_it_by_turns() {
    let text = |queue: &str| {
        format!(
            "duration_s = 10\n{}{}{}",
            link("a", "b", &format!("rate_mbps = 10\ndelay_ms = 30\n{queue}")),
            flow("a", "b", "traffic = 'saturated'"),
            flow("a", "b", "traffic = 'saturated'"),
        )
    };
    for queue in ["", "queue.drop_tail.limit_packets = 1", "queue.drr.limit_packets = 2"] {
        let run = run(&text(queue), &[]);
        let used = number(&run, "links[0].utilisation");
        assert!(used > 0.9999, "{queue}: {used}");
        let jain = number(&run, "total.jain_index");
        assert!(jain > 0.999, "{queue}: {jain}");
    }
    let run = run(
        "standard = '11g'\nstations = 1\nduration_s = 5\nwire = { rate_mbps = 5, delay_ms = 2 }\n\
         [[flows]]\nfrom = 'server'\nto = 'sta0'\ntraffic = 'saturated'\n",
        &[],
    );
    let goodput = number(&run, "total.goodput_mbps");
    assert!((goodput / (5.0 * 1472.0 / 1500.0) - 1.0).abs() < 0.005, "behind [wire]: {goodput}");
}

/// Hosts, a server behind two links, and stations, all in one scenario.
#[test]
fn wire_and_air_are_one_network() {
    let cbr = "traffic.cbr.rate_mbps = 0.5";
    let text = format!(
        "standard = '11a'\nstations = 2\nduration_s = 10\nwarmup_s = 1\n{}{}{}{}{}{}{}{}",
        link("server", "r", "rate_mbps = 100\ndelay_ms = 1"),
        link("r", "ap", "rate_mbps = 100\ndelay_ms = 1"),
        link("r", "printer", "rate_mbps = 10"),
        flow("server", "sta*", cbr),
        flow("sta0", "printer", cbr),
        flow("printer", "server", cbr),
        flow("sta1", "sta0", cbr),
        flow("ap", "printer", "traffic.bulk = { size_bytes = 100000 }"),
    );
    let run = run(&text, &["links[1].reverse.in_flight_packets", "ap.queue_packets"]);
    for flow in 0..5 {
        let goodput = number(&run, &format!("flows[{flow}].goodput_mbps"));
        assert!((goodput / 0.5 - 1.0).abs() < 0.02, "flow {flow}: {goodput}");
    }
    assert_eq!(find(&run, "links[1].name"), Some(&Value::Text("r-ap".to_owned())));
    assert!(number(&run, "airtime.payload_fraction") > 0.0);
}

/// Without a cell no key of a cell is allowed.
#[test]
fn links_alone_have_no_airtime() {
    let text = format!(
        "duration_s = 1\n{}{}",
        link("a", "b", "rate_mbps = 1\ndelay_ms = 1"),
        flow("a", "b", "")
    );
    let plain = run(&text, &[]);
    for (path, _) in &plain.summary {
        let of_a_cell = ["airtime", "contending", "ap.", "stations"];
        assert!(!of_a_cell.iter().any(|prefix| path.starts_with(prefix)), "{path}");
        assert!(!path.contains("attempts") && !path.contains("retry"), "{path}");
    }
    let other = run(&text.replace("delay_ms = 1", "delay_ms = 2"), &[]);
    assert_ne!(plain.digest, other.digest, "the digest sees what links deliver");
    assert_eq!(plain, run(&text, &[]));
}

/// The short form and the long one are the same link.
#[test]
fn the_wire_is_a_link_between_server_and_access_point() {
    let keys = "rate_mbps = 20\ndelay_ms = 10\nqueue.drop_tail.limit_packets = 20";
    let head = "standard = '11g'\nstations = 3\nduration_s = 5\n";
    let flows = flow("server", "sta*", "") + &flow("sta0", "server", "");
    let short = run(&format!("{head}[wire]\n{keys}\n{flows}"), &[]);
    let long = run(&format!("{head}{}{flows}", link("server", "ap", keys)), &[]);
    for flow in 0..4 {
        let path = format!("flows[{flow}].goodput_mbps");
        assert_eq!(number(&short, &path), number(&long, &path));
    }
    assert_eq!(short.events, long.events);
}

/// Each link draws its own losses: a further link changes nothing elsewhere.
#[test]
fn a_link_more_changes_no_draws() {
    let lossy = "rate_mbps = 10\ndelay_ms = 5\nloss.uniform.probability = 0.02";
    let plain = format!("duration_s = 5\n{}{}", link("a", "b", lossy), flow("a", "b", ""));
    let more = format!("{plain}{}", link("c", "d", lossy));
    let goodput = |text: &str| number(&run(text, &[]), "flows[0].goodput_mbps");
    assert_eq!(goodput(&plain), goodput(&more));
}
