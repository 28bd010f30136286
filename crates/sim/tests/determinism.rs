//! Same scenario, seed and version: same results, bit by bit; and each entity has its own random
//! streams.

use kernel::Seed;
use sim::{Plan, Run, Scenario, Simulation};

const CELL: &str = r#"
    standard = "11g"
    stations = 6
    duration_s = 5.0
    warmup_s = 0.5
    ap.queue.drop_tail.limit_packets = 30
    wire = { rate_mbps = 100, delay_ms = 5 }
    [[flows]]
    from = "server"
    to = "sta*"
    [[flows]]
    from = "sta2"
    to = "server"
    traffic.web = { size.pareto = { mean_bytes = 30000, shape = 1.5 }, think_s = 0.1 }
    [[flows]]
    from = "sta3"
    to = "sta4"
    traffic.cbr = { rate_mbps = 0.3, payload_bytes = 160 }
    start_spread_s = 0.02
"#;

fn plan(text: &str) -> Plan {
    Scenario::parse(text).unwrap().resolve().unwrap()
}

fn run(plan: &Plan, root: u64, replication: u32) -> Run {
    sim::run(plan, Seed { root, replication })
}

#[test]
fn the_same_run_twice_is_the_same() {
    let plan = plan(CELL);
    assert_eq!(run(&plan, 7, 0), run(&plan, 7, 0));
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let plan = plan(CELL);
    let alone: Vec<Run> = (0..8).map(|replication| run(&plan, 1, replication)).collect();
    let together: Vec<Run> = std::thread::scope(|scope| {
        let plan = &plan;
        let threads: Vec<_> = (0..8).map(|r| scope.spawn(move || run(plan, 1, r))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
}

#[test]
fn slicing_a_run_does_not_change_it() {
    let plan = plan(CELL);
    let seed = Seed { root: 3, replication: 0 };
    let mut sliced = Simulation::new(&plan, seed, &[], true).unwrap();
    while sliced.advance(17) {}
    assert_eq!(sliced.finish(), sim::run(&plan, seed), "nor does the checker");
}

#[test]
fn probes_do_not_change_a_run() {
    let plan = plan(CELL);
    let seed = Seed { root: 3, replication: 0 };
    let probes = ["flows[*].goodput_mbps".to_owned(), "ap.queue_packets".to_owned()];
    let probed = Simulation::new(&plan, seed, &probes, false).unwrap().finish();
    let bare = sim::run(&plan, seed);
    assert_eq!(probed.digest, bare.digest);
    assert_eq!(probed.series.len(), 8 + 1);
    let goodput = &probed.series[0];
    assert_eq!(goodput.path, "flows[0].goodput_mbps");
    assert!(goodput.value.iter().sum::<f64>() > 0.0);
}

#[test]
fn seeds_and_replications_differ() {
    let plan = plan(CELL);
    let digests = [run(&plan, 1, 0), run(&plan, 1, 1), run(&plan, 2, 0)].map(|run| run.digest);
    assert!(digests[0] != digests[1] && digests[0] != digests[2] && digests[1] != digests[2]);
}

#[test]
fn adding_a_silent_station_changes_nothing() {
    // Its streams are its own: all others draw the same numbers as before.
    let bigger = CELL.replace("stations = 6", "stations = 7").replace("sta*", "sta0-5");
    assert_eq!(run(&plan(&bigger), 1, 0).digest, run(&plan(CELL), 1, 0).digest);
}

#[test]
fn a_window_changes_no_file_size() {
    let text = |window| {
        format!(
            "standard = \"11b\"\nstations = 3\nduration_s = 60.0\nwarmup_s = 0.0\n\
             [[flows]]\nfrom = \"server\"\nto = \"sta*\"\n\
             traffic.web = {{ size.pareto = {{ mean_bytes = 30000, shape = 1.5 }}, think_s = 1.0, \
             files = 10 }}\n[flows.tcp]\nwindow_segments = {window}\n"
        )
    };
    let bytes = |window| {
        let run = run(&plan(&text(window)), 1, 0);
        let goodput = run.summary.iter().find(|(path, _)| path == "total.goodput_mbps").unwrap();
        goodput.1.clone()
    };
    assert_eq!(bytes(2), bytes(20), "all files are through, and they are the same files");
}
