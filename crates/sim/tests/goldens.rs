//! Small tables of results. They change only if results change: then write the tables with
//! `SIMOOM_GOLDENS=write cargo test -p simoom-sim --test all goldens`, and a line marked RESULTS
//! into CHANGELOG.md.

use kernel::Seed;
use sim::{Scenario, Value};
use std::fmt::Write as _;
use std::path::Path;

fn results<const N: usize>(text: &str, paths: [&str; N]) -> [f64; N] {
    let plan = Scenario::parse(text).unwrap().resolve().unwrap();
    let run = sim::run(&plan, Seed { root: 1, replication: 0 });
    paths.map(|path| match run.summary.iter().find(|(p, _)| p == path) {
        Some((_, Value::Number(number))) => *number,
        Some((_, Value::Count(count))) => *count as f64,
        _ => f64::NAN,
    })
}

fn assert_golden(name: &str, table: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens");
    let path = Path::new(folder).join(name).with_extension("txt");
    if std::env::var_os("SIMOOM_GOLDENS").is_some() {
        std::fs::write(&path, table).unwrap();
    }
    assert_eq!(table, std::fs::read_to_string(&path).unwrap(), "{}", path.display());
}

#[test]
fn saturated_uplink() {
    let mut table = String::from("standard  rts   stations  goodput_mbps  collision_probability\n");
    for standard in ["11b", "11a", "11g"] {
        for (rts, threshold) in [("off", 2347), ("on", 0)] {
            for stations in [1, 10, 50] {
                let text = format!(
                    "standard = \"{standard}\"\nstations = {stations}\nduration_s = 6.0\n\
                     warmup_s = 1.0\nwlan.rts_threshold_bytes = {threshold}\n\
                     [[flows]]\nfrom = \"sta*\"\nto = \"ap\"\n\
                     traffic.saturated.payload_bytes = 1472\n"
                );
                let [goodput, collisions] =
                    results(&text, ["total.goodput_mbps", "total.collision_probability"]);
                writeln!(
                    table,
                    "{standard:<9} {rts:<5} {stations:>8}  {goodput:>12.4}  {collisions:>21.4}"
                )
                .unwrap();
            }
        }
    }
    assert_golden("saturated_uplink", &table);
}

#[test]
fn tcp_downloads_and_uploads() {
    let mut table = String::from("standard  stations  direction  goodput_mbps  jain    rtt_ms\n");
    for standard in ["11b", "11g"] {
        for stations in [1, 10, 30] {
            for (direction, from, to) in [("down", "server", "sta*"), ("up", "sta*", "server")] {
                let text = format!(
                    "standard = \"{standard}\"\nstations = {stations}\nduration_s = 12.0\n\
                     warmup_s = 2.0\nwire = {{ rate_mbps = 1000, delay_ms = 2 }}\n\
                     ap.queue.drop_tail.limit_packets = 100\n\
                     [[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\n"
                );
                let paths = ["total.goodput_mbps", "total.jain_index", "flows[0].rtt_s.mean"];
                let [goodput, jain, rtt] = results(&text, paths);
                writeln!(
                    table,
                    "{standard:<9} {stations:>8}  {direction:<9}  {goodput:>12.4}  {jain:.4}  \
                     {:>6.1}",
                    rtt * 1e3
                )
                .unwrap();
            }
        }
    }
    assert_golden("tcp_downloads_and_uploads", &table);
}

#[test]
fn web_sessions() {
    let mut table = String::from("stations  window  sessions  delay_mean_ms  delay_p95_ms\n");
    for stations in [1, 10, 20] {
        for window in [1, 40] {
            let text = format!(
                "standard = \"11b\"\nstations = {stations}\nduration_s = 300.0\n\
                 warmup_s = 10.0\n[[flows]]\nfrom = \"server\"\nto = \"sta*\"\n\
                 traffic.web = {{ size.exponential.mean_bytes = 30000, think_s = 5.0 }}\n\
                 [flows.tcp]\nwindow_segments = {window}\ndelayed_ack = \"none\"\n"
            );
            let [count, mean, p95] = results(
                &text,
                [
                    "total.session_delay_s.count",
                    "total.session_delay_s.mean",
                    "total.session_delay_s.p95",
                ],
            );
            writeln!(
                table,
                "{stations:>8}  {window:>6}  {count:>8}  {:>13.2}  {:>12.2}",
                mean * 1e3,
                p95 * 1e3
            )
            .unwrap();
        }
    }
    assert_golden("web_sessions", &table);
}
