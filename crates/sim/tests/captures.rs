//! Captures of the scenarios in `scenarios/`, as `tshark` (package `tshark` of Debian and Ubuntu)
//! dissects them.

#[path = "../../trace/tests/pcapng/program.rs"]
mod program;

use kernel::Seed;
use program::{CHECKS, ERROR, fields, is_installed, tshark};
use sim::trace::{Filter, network};
use sim::{Scenario, Simulation, Value};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use trace::pcapng::{Pcapng, PcapngOptions};

/// What tshark calls 802.11ax, for which version 4.0 computes no durations.
const HE: &str = "11";

/// The capture of a run of a scenario file, and the results of the run.
fn captured(test: &str, file: &Path, duration_s: &str) -> (PathBuf, Vec<(String, Value)>) {
    let text = std::fs::read_to_string(file).unwrap();
    let set = |scenario: Scenario, key, value| scenario.set(key, value).unwrap();
    let scenario = set(Scenario::parse(&text).unwrap(), "warmup_s", "0");
    let scenario = set(scenario, "duration_s", duration_s);
    // The run may end before all flows would have begun.
    let plan = scenario.resolve().unwrap_or_else(|_| {
        let at_once = set(scenario.clone(), "flows[*].start_spread_s", "0");
        set(at_once, "flows[*].start_s", "0").resolve().unwrap()
    });
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(file.with_extension("pcapng").file_name().unwrap());
    let out = BufWriter::new(File::create(&path).unwrap());
    let sink = Pcapng::new(network(&plan), out, PcapngOptions::default()).unwrap();
    let mut run = Simulation::new(&plan, Seed { root: 1, replication: 0 }, &[], false).unwrap();
    let failure = run.trace(&Filter::default(), vec![Box::new(sink)]).unwrap();
    while run.advance(1 << 20) {}
    let summary = run.finish().summary;
    assert!(failure.take().is_none());
    (path, summary)
}

/// A count among the results.
fn count(summary: &[(String, Value)], path: &str) -> u64 {
    match summary.iter().find(|(name, _)| name == path) {
        Some((_, Value::Count(count))) => *count,
        other => panic!("{path}: {other:?}"),
    }
}

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

#[test]
fn tshark_dissects_the_capture_of_every_scenario_without_a_fault() {
    if !is_installed("tshark_dissects_the_capture_of_every_scenario_without_a_fault") {
        return;
    }
    let wanted = [
        "_ws.malformed",
        "_ws.expert.severity",
        "wlan.fcs.status",
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
        "wlan_radio.phy",
        "wlan_radio.start_tsf",
        "wlan_radio.end_tsf",
        "radiotap.timestamp.ts",
    ];
    for file in scenarios() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        // All flows begin in 1.1 s, except the upload of the café and, because its first SYN is
        // lost, LT-TCP. The saturated cells of 802.11ac and ax send much in little time.
        let duration_s = match &name[..] {
            "cafe" => "2.1",
            "downloads_11ax" | "office_11ac" => "0.1",
            "lt_tcp" => "8",
            _ => "1.1",
        };
        let (capture, _) = captured("every_scenario", &file, duration_s);
        let packets = fields(&capture, &CHECKS, &wanted);
        assert!(packets.len() > 100, "{name}: {} packets", packets.len());
        for (packet, number) in packets.iter().zip(1..) {
            let [malformed, severity, checksums @ .., phy, start, end, exact] = &packet[..] else {
                panic!("{name}: {packet:?}");
            };
            let worst = severity.split(',').filter_map(|it| it.parse::<u32>().ok()).max();
            let is_sound = malformed.is_empty()
                && worst.is_none_or(|severity| severity < ERROR)
                && checksums
                    .iter()
                    .flat_map(|it| it.split(','))
                    .all(|it| it.is_empty() || it == "1");
            assert!(is_sound, "{name}, packet {number}: {packet:?}");
            if !phy.is_empty() && phy != HE {
                let exact: u64 = exact.parse().unwrap();
                assert_eq!(*end, (exact / 1000).to_string(), "{name}, packet {number}");
                assert!(!start.is_empty(), "{name}, packet {number}");
            }
        }
    }
}

#[test]
fn the_frames_and_retransmissions_that_tshark_counts_are_those_of_the_results() {
    if !is_installed("the_frames_and_retransmissions_that_tshark_counts_are_those_of_the_results") {
        return;
    }
    let file = scenarios().into_iter().find(|file| file.ends_with("cafe.toml")).unwrap();
    let (capture, summary) = captured("counts", &file, "3.0");
    let frames = fields(&capture, &CHECKS, &["wlan.fc.type_subtype", "wlan.fc.retry"]);
    let data = frames.iter().filter(|it| it[0] == "0x0020").count() as u64;
    assert_eq!(data, count(&summary, "total.attempts"), "data frames");
    let stations = (0..12).map(|n| count(&summary, &format!("stations[{n}].sent")));
    let sent = count(&summary, "ap.sent") + stations.sum::<u64>();
    let acks = frames.iter().filter(|it| it[0] == "0x001d").count() as u64;
    assert!(acks <= sent && sent <= acks + 1, "the Ack of the last frame is beyond the run");

    let link = capture.with_file_name("link.pcapng");
    let filter = "frame.interface_name == \"wire\"";
    tshark(&capture, &["-Y", filter, "-w", link.to_str().unwrap()]);
    // Wireshark says "out of order" of a retransmission that comes within the first RTT after new
    // data.
    let wanted = ["tcp.analysis.retransmission", "tcp.analysis.out_of_order"];
    let found =
        fields(&link, &CHECKS, &wanted).iter().filter(|it| it.iter().any(|it| it == "1")).count();
    let flows = summary.iter().filter(|(path, _)| path.ends_with("].retransmissions"));
    let counted: u64 = flows.map(|(path, _)| count(&summary, path)).sum();
    assert!(counted > 0);
    assert_eq!(found as u64, counted, "retransmissions");
}
