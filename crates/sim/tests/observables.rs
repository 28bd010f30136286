//! Results and probes come from one catalogue: each reads its own data, and has a description.

use kernel::Seed;
use sim::control::NoExternal;
use sim::{Listed, Plan, Run, Scenario, Simulation, Value, probes};
use std::collections::{BTreeMap, BTreeSet};

const SEED: Seed = Seed { root: 1, replication: 0 };

/// A cell with access categories and losses, a wire with ECN and losses, and flows of all kinds.
/// Nothing happens before the window opens, and probes are last read when the run ends.
const CELL: &str = "
    standard = '11n'
    stations = { count = 4, data_loss = 0.05 }
    duration_s = 4.0
    warmup_s = 0.0
    ap.queue.codel = {}
    wire.rate_mbps = 2.0
    wire.delay_ms = 5.0
    wire.loss.uniform.probability = 0.01
    wire.queue.red = { min_packets = 2, max_packets = 8, weight = 0.1, ecn = true }
    measure.interval_s = 0.01
    [[flows]]
    from = 'server'
    to = 'sta0'
    start_s = 0.1
    tcp.ecn = 'classic'
    [[flows]]
    from = 'sta1'
    to = 'server'
    start_s = 0.1
    tcp.fec = {}
    control = 'lt'
    [[flows]]
    from = 'server'
    to = 'sta2'
    start_s = 0.1
    traffic.web = { size.constant.bytes = 20000, think_s = 0.2 }
    [[flows]]
    from = 'sta3'
    to = 'ap'
    start_s = 0.1
    traffic = 'saturated'
";

fn plan(text: &str) -> Plan {
    Scenario::parse(text).unwrap().resolve().unwrap_or_else(|issues| panic!("{issues:?}"))
}

fn all(plan: &Plan) -> Vec<Listed> {
    probes(plan, &NoExternal)
}

fn run(plan: &Plan) -> Run {
    let paths: Vec<_> = all(plan).into_iter().map(|listed| listed.path).collect();
    Simulation::new(plan, SEED, &paths, true).unwrap().finish()
}

fn series(run: &Run, path: &str) -> Vec<f64> {
    let found = run.series.iter().find(|series| series.path == path);
    found.unwrap_or_else(|| panic!("there is no probe {path}")).value.clone()
}

#[test]
fn a_probe_of_a_count_ends_at_its_result() {
    let run = run(&plan(CELL));
    let results: BTreeMap<_, _> = run.summary.iter().map(|(path, value)| (path, value)).collect();
    let mut compared = BTreeSet::new();
    for series in &run.series {
        if let Some(Value::Count(count)) = results.get(&series.path) {
            assert_eq!(series.value.last(), Some(&(*count as f64)), "{}", series.path);
            assert!(series.value.is_sorted(), "{}", series.path);
            compared.extend((*count > 0).then_some(&*series.path));
        }
    }
    for path in [
        "total.ecn_marks",
        "total.attempts",
        "ap.attempts",
        "ap.collisions",
        "ap.mpdus",
        "stations[3].collisions",
        "flows[0].retransmissions",
        "flows[0].ecn_marks",
        "flows[0].wire_losses",
        "flows[1].fec.proactive_segments",
        "wire.down.ecn_marks",
        "wire.down.losses",
        "wire.down.packets",
    ] {
        assert!(compared.contains(path), "{path} counts nothing here: {compared:?}");
    }
}

#[test]
fn gauges_read_their_own_data() {
    let run = run(&plan(CELL));
    // 802.11-2020 Table 9-155: the initial contention window of best effort with OFDM PHYs is 15
    // slots.
    let slots = series(&run, "stations[3].contention_window");
    assert_eq!(slots.first(), Some(&15.0));
    assert!(
        slots.iter().all(|slots| [15.0, 31.0, 63.0, 127.0, 255.0, 511.0, 1023.0].contains(slots))
    );
    assert!(slots.iter().any(|&slots| slots > 15.0));
    assert!(series(&run, "stations[0].queue_packets").iter().all(|&packets| packets < 200.0));
    let (packets, bytes) =
        (series(&run, "wire.down.queue_packets"), series(&run, "wire.down.queue_bytes"));
    assert!(packets.iter().zip(&bytes).all(|(&packets, &bytes)| (packets > 0.0) == (bytes > 0.0)));
    assert!(bytes.iter().any(|&bytes| bytes >= 1500.0));
    let window = series(&run, "flows[0].control.window_segments");
    assert!(window.iter().all(|&segments| segments >= 1.0) && window[50] < 1000.0);
    assert!(series(&run, "flows[0].srtt_s").last().is_some_and(|&s| s > 0.01 && s < 1.0));
    assert!(series(&run, "flows[0].rto_s").last().is_some_and(|&s| s >= 0.2));
    assert!(series(&run, "stations[0].mcs").iter().all(|&mcs| mcs.fract() == 0.0 && mcs < 8.0));
    let stations = series(&run, "contending.stations");
    assert!(stations.iter().all(|&stations| stations <= 4.0) && stations.contains(&1.0));
}

#[test]
fn a_rate_is_that_since_the_last_sample() {
    let run = run(&plan(CELL));
    let (rates, bytes) =
        (series(&run, "flows[0].goodput_mbps"), series(&run, "flows[0].delivered_bytes"));
    let mut before = 0.0;
    for (rate, bytes) in rates.into_iter().zip(bytes) {
        assert!((rate - (bytes - before) * 8e-6 / 0.01).abs() < 1e-9);
        before = bytes;
    }
}

#[test]
fn a_wires_utilisation_is_that_of_the_window() {
    // The wire is busy only in the first second, which is outside the window.
    let text = "
        standard = '11g'
        stations = 1
        duration_s = 4.0
        warmup_s = 2.0
        wire.rate_mbps = 10.0
        flows = [{ from = 'server', to = 'sta0', stop_s = 1.0, traffic = 'saturated' }]
    ";
    let run = sim::run(&plan(text), SEED);
    let at = |path: &str| run.summary.iter().find(|(known, _)| known == path).unwrap().1.clone();
    assert_eq!(at("wire.down.utilisation"), Value::Number(0.0));
    assert!(matches!(at("wire.down.packets"), Value::Count(packets) if packets > 100));
}

#[test]
fn every_gauge_of_a_controller_is_in_the_catalogue() {
    let schema: serde_json::Value = serde_json::from_str(&sim::scenario::schema()).unwrap();
    let named = |choice: &serde_json::Value| {
        let variants = choice["oneOf"].as_array().cloned().unwrap_or_default();
        let name = |variant: &serde_json::Value| {
            let own = variant["const"].as_str().or(variant["required"][0].as_str());
            own.map(str::to_owned)
        };
        variants.iter().filter_map(name).collect::<Vec<_>>()
    };
    let controllers = schema["$defs"].as_object().unwrap().values().map(named);
    let controllers: Vec<_> = controllers.filter(|names| names.contains(&"bbr3".into())).collect();
    let names = controllers.first().expect("the schema has a choice of controllers");
    assert!(names.len() >= 10, "{names:?}");
    for name in names.iter().filter(|&name| name != "python") {
        let text = format!(
            "
            standard = '11g'\nstations = 1
            flows = [{{ from = 'server', to = 'sta0', control = '{name}' }}]
        "
        );
        for listed in all(&plan(&text)) {
            assert!(!listed.meaning.contains("own controller"), "{name}: {}", listed.path);
        }
    }
}

#[test]
fn a_wildcard_names_those_that_have_the_probe_and_nothing_is_a_fault() {
    let plan = plan(CELL);
    let listed = all(&plan);
    let count = |path: &str| listed.iter().find(|each| each.path == path).map(|each| each.series);
    assert_eq!(count("flows[*].goodput_mbps"), Some(4));
    assert_eq!(count("flows[*].rto_s"), Some(3));
    assert_eq!(count("flows[*].fec.decoded_blocks"), Some(1));
    assert_eq!(count("flows[*].control.loss_estimate"), Some(1));
    assert_eq!(count("cells[*].attempts"), None);
    let issues = |path: &str| {
        let issues = Simulation::new(&plan, SEED, &[path.to_owned()], false).err().unwrap();
        issues.into_iter().map(|issue| issue.said.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(issues("flows[3].rto_s"), ["flow 3 runs over UDP and has no rto_s"]);
    assert_eq!(issues("flows[9].rto_s"), ["there are 4 flows: flows[0] to flows[3]"]);
    assert_eq!(issues("links[*].drops"), ["there are no links"]);
    assert_eq!(issues("flows[0]"), ["expected flows[i].name"]);
    assert!(
        issues("total.goodput")[0].starts_with("no such probe; did you mean total.goodput_mbps?")
    );
    assert!(issues("ap.queue_drop")[0].starts_with("no such probe; did you mean ap.queue_drops?"));
    assert_eq!(
        issues("nonsense"),
        ["no such probe; probes begin with total, contending, full_duplex, \
          full_duplex.rates[i], flows[i], ap, stations[i], cells[i], interferers[i], routing, \
          wire.down, wire.up, links[i] or links[i].reverse"]
    );
}

const LIMITS: [&str; 8] = [
    "receive_window",
    "application",
    "congestion_window",
    "recovery",
    "pacing",
    "nagle",
    "stand_by",
    "small_queue",
];

/// The fractions of the time in which each reason limited a flow.
fn limits(run: &Run, flow: usize) -> [f64; 8] {
    LIMITS.map(|limit| {
        let path = format!("flows[{flow}].limited_by.{limit}_fraction");
        match run.summary.iter().find(|(found, _)| *found == path) {
            Some((_, Value::Number(fraction))) => *fraction,
            other => panic!("{path}: {other:?}"),
        }
    })
}

#[test]
fn what_limits_a_flow_adds_up_to_one() {
    let run = run(&plan(CELL));
    for flow in 0..2 {
        let limits = limits(&run, flow);
        assert!((limits.iter().sum::<f64>() - 1.0).abs() < 1e-9, "flow {flow}: {limits:?}");
    }
    let of = |flow: &str| {
        let rows = run.summary.iter().filter(|(path, _)| path.starts_with(flow));
        rows.map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("flows[2].limited_by"), [const { Value::None }; 8], "no SYN passes the queue");
    assert_eq!(of("flows[3].limited_by"), [], "UDP");
}

/// A download over a path of 20 ms, whose queue has room for 50 packets.
fn download(rate_mbps: u32, more: &str) -> Run {
    let text = format!(
        "duration_s = 10\nwarmup_s = 2\n[[links]]\nfrom = 'a'\nto = 'b'\nrate_mbps = {rate_mbps}\n\
         delay_ms = 10\nqueue.drop_tail.limit_packets = 50\n\
         [[flows]]\nfrom = 'a'\nto = 'b'\n{more}"
    );
    Simulation::new(&plan(&text), SEED, &[], false).unwrap().finish()
}

#[test]
fn each_reason_is_found_where_it_limits() {
    let cases = [
        // 65535 bytes per 20 ms are 26 Mb/s.
        ("receive_window", download(100, "tcp.window_bytes = 65535\n")),
        ("receive_window", download(10, "tcp.window_max_bytes = 20000\n")),
        ("receive_window", download(10, "tcp.read_rate_mbps = 1.0\n")),
        ("application", download(10, "traffic.writes.rate_mbps = 0.1\n")),
        ("congestion_window", download(10, "")),
        ("recovery", away("'ignore'")),
        ("pacing", download(10, "control = 'bbr'\n")),
        ("nagle", small_writes("nagle")),
        ("nagle", small_writes("minshall")),
        ("stand_by", away("'stand_by'")),
        ("small_queue", small_queue()),
    ];
    for (limit, run) in &cases {
        let limits = limits(run, 0);
        let place = LIMITS.iter().position(|name| name == limit).unwrap();
        let largest = limits.iter().copied().fold(0.0, f64::max);
        assert!(limits[place] > 0.4 && limits[place] == largest, "{limit}: {limits:?}");
    }
    // Without the wait for acknowledgements, the same writer lacks data.
    assert_eq!(limits(&small_writes("off"), 0)[5], 0.0);
    assert_eq!(limits(&away("'ignore'"), 0)[6], 0.0);
}

/// Small writes, of which all but the first wait for a delayed acknowledgement.
fn small_writes(nagle: &str) -> Run {
    download(
        100,
        &format!(
            "traffic.writes = {{ rate_mbps = 0.04, write_bytes = 100 }}\n\
             tcp.nagle = '{nagle}'\n\
             tcp.delayed_ack.fixed = {{ segments = 2, timer_ms = 400.0 }}\n"
        ),
    )
}

/// Two nodes that are out of range for most of the time.
fn away(route_failure: &str) -> Run {
    let text = format!(
        "standard = '11b'\nduration_s = 20\nwarmup_s = 4\n\
         radio = {{ preset = 'ns2', ad_hoc = true }}\nrouting.protocol = 'aodv'\n\
         [[stations]]\nposition_m = [0, 0]\n\
         [[stations]]\nwaypoints = [{{ at_s = 0.0, position_m = [100, 0] }}, \
         {{ at_s = 5.0, position_m = [100, 0] }}, {{ at_s = 6.0, position_m = [900, 0] }}]\n\
         [[flows]]\nfrom = 'sta0'\nto = 'sta1'\ntcp.route_failure = {route_failure}\n"
    );
    Simulation::new(&plan(&text), SEED, &[], false).unwrap().finish()
}

/// A sender of Linux whose node takes 8000 bytes of it.
fn small_queue() -> Run {
    let text = "standard = '11n'\nstations = 1\nwlan.mcs = 7\nduration_s = 6\nwarmup_s = 2\n\
                [[flows]]\nfrom = 'sta0'\nto = 'ap'\n\
                tcp.endpoint.linux.limit_output_bytes = 8000\n";
    Simulation::new(&plan(text), SEED, &[], false).unwrap().finish()
}

#[test]
fn a_window_that_grows_does_not_limit_a_fast_path() {
    // The bandwidth-delay product is 2.5 MB.
    let run = download(1000, "control = 'bbr'\n");
    let goodput = run.summary.iter().find(|(path, _)| path == "flows[0].goodput_mbps");
    let Some((_, Value::Number(goodput))) = goodput else { panic!("{goodput:?}") };
    assert!(*goodput > 850.0, "{goodput} Mb/s; 65535 bytes allow 26");
    assert!(limits(&run, 0)[0] < 0.02, "{:?}", limits(&run, 0));
}
