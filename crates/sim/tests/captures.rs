//! Captures of the scenarios in `scenarios/`, as `tshark` (package `tshark` of Debian and Ubuntu)
//! dissects them.

use crate::program::{CHECKS, ERROR, fields, is_installed, tshark};
use crate::random;
use crate::receiver;
use crate::receiver::Findings;
use kernel::Seed;
use sim::trace::{Filter, network};
use sim::{Plan, Scenario, Simulation, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use trace::pcapng::{Pcapng, PcapngOptions, files};

/// What tshark calls 802.11ax, for which version 4.0 computes no durations.
const HE: &str = "11";

/// The capture of a run of a scenario file, and the results of the run.
fn captured(test: &str, file: &Path, duration_s: &str) -> (PathBuf, Vec<(String, Value)>) {
    let text = std::fs::read_to_string(file).unwrap();
    let plan = shortened(Scenario::parse(&text).unwrap(), duration_s);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(file.with_extension("pcapng").file_name().unwrap());
    let out = BufWriter::new(File::create(&path).unwrap());
    let options = PcapngOptions { merged: true, ..PcapngOptions::default() };
    let sink = Pcapng::new(network(&plan), vec![out], options).unwrap();
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
#[ignore = "thorough: takes a minute"]
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
        "wlan_radio.data_rate",
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
        // Version 4.0 knows no rates of 802.11be.
        let is_known = !std::fs::read_to_string(&file).unwrap().contains("\"11be\"");
        let (capture, _) = captured("every_scenario", &file, duration_s);
        let packets = fields(&capture, &CHECKS, &wanted);
        assert!(packets.len() > 100, "{name}: {} packets", packets.len());
        for (packet, number) in packets.iter().zip(1..) {
            let [malformed, severity, checksums @ .., phy, rate, start, end, exact] = &packet[..]
            else {
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
            if !phy.is_empty() && phy != HE && (is_known || !rate.is_empty()) {
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
    let filter = "frame.interface_name == \"ap.wire\"";
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

/// What the receivers of all packets of a run could find.
fn received(plan: &Plan, seed: Seed) -> Findings {
    let findings = Arc::new(Mutex::new(Findings::default()));
    let options = PcapngOptions::default();
    let network = network(plan);
    let names = files(&network, options);
    let radios = names.len() - network.wires.len();
    let owners = network.wires.iter().map(|wire| 0x0a00_0001 + wire.from.0);
    let owners = std::iter::repeat_n(None, radios).chain(owners.map(Some));
    let outs = names.iter().zip(owners);
    let outs = outs.map(|(name, owner)| receiver::File::new(name, owner, &findings)).collect();
    let sink = Pcapng::new(network, outs, options).unwrap();
    let mut run = Simulation::new(plan, seed, &[], true).unwrap();
    let failure = run.trace(&Filter::default(), vec![Box::new(sink)]).unwrap();
    while run.advance(1 << 20) {}
    assert!(failure.take().is_none());
    drop(run);
    let mut findings = std::mem::take(&mut *findings.lock().unwrap());
    findings.check_hops();
    findings
}

/// Adds up what was checked, and keeps what is wrong.
#[derive(Default)]
struct Total {
    checked: BTreeMap<&'static str, u64>,
    faults: Vec<String>,
}

impl Total {
    fn add(&mut self, findings: Findings, what: &str) {
        for (rule, times) in findings.checked {
            *self.checked.entry(rule).or_default() += times;
        }
        if !findings.faults.is_empty() {
            self.faults.push(format!("{what}\n{}", findings.faults.join("\n")));
        }
    }

    /// Each rule was applied at least so often, and holds.
    fn decide(self, least: u64) {
        let Self { checked, faults } = self;
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(checked.len() > 20, "{checked:?}");
        assert!(checked.values().all(|&times| times >= least), "{checked:?}");
    }
}

/// This scenario for a short time from its begin. The run may end before all flows would have
/// begun.
fn shortened(scenario: Scenario, duration_s: &str) -> Plan {
    let set = |scenario: Scenario, key, value| scenario.set(key, value).unwrap();
    let scenario = set(set(scenario, "warmup_s", "0"), "duration_s", duration_s);
    scenario.resolve().unwrap_or_else(|_| {
        let at_once = set(scenario.clone(), "flows[*].start_spread_s", "0");
        set(at_once, "flows[*].start_s", "0").resolve().unwrap()
    })
}

#[test]
fn receivers_find_no_fault_in_the_captures_of_every_scenario() {
    let mut total = Total::default();
    for file in scenarios() {
        let text = std::fs::read_to_string(&file).unwrap();
        let plan = shortened(Scenario::parse(&text).unwrap(), "0.4");
        let mut findings = received(&plan, Seed { root: 1, replication: 0 });
        if text.contains("full_duplex") {
            // The standard has no answers to two frames at once.
            findings.faults.retain(|fault| !fault.contains("an answer reserves no more"));
        }
        total.add(findings, &file.display().to_string());
    }
    total.decide(10);
}

#[test]
fn receivers_find_no_fault_in_the_captures_of_random_scenarios() {
    receivers_find_no_fault(50, 250);
}

#[test]
#[ignore = "thorough: takes minutes"]
fn receivers_find_no_fault_in_the_captures_of_two_hundred_random_scenarios() {
    receivers_find_no_fault(200, 1000);
}

fn receivers_find_no_fault(count: u32, least: u64) {
    let mut total = Total::default();
    let plain = random::scenarios(35, 1100, 1.0).into_iter().filter(|it| it.class == "plain");
    let sound = plain.filter_map(|it| Some((it.text, it.sound?)));
    for (number, (text, mut scenario)) in (0..count).zip(sound) {
        let seed = Seed { root: 35, replication: number };
        // Windows of all sizes, that close, and first flights beyond them; where there is a flow of
        // TCP, and a cell.
        let of = |values: &[&'static str]| values[number as usize / 4 % values.len()];
        let window = of(&["65535", "65536", "100001", "20000000", "1073741824"]);
        let more = [
            (4, "flows[0].tcp.window_bytes", window),
            (8, "flows[*].tcp.initial_window_segments", "200"),
            (16, "flows[*].tcp.read_rate_mbps", of(&["0.3", "3", "30"])),
            (32, "wlan.cipher", "ccmp"),
        ];
        for (_, key, value) in more.into_iter().filter(|(bit, ..)| number & bit != 0) {
            let changed = scenario.set(key, value);
            scenario = changed.ok().filter(|it| it.resolve().is_ok()).unwrap_or(scenario);
        }
        let plan = shortened(scenario, "1");
        total.add(received(&plan, seed), &format!("scenario {number}\n{text}"));
    }
    total.decide(least);
}

#[test]
fn each_router_takes_one_off_the_time_to_live() {
    let link = |from, to| format!("[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate_mbps = 10\n");
    let links = [("server", "r1"), ("r1", "r2"), ("r2", "h")].map(|(from, to)| link(from, to));
    let flow = "[[flows]]\nfrom = \"server\"\nto = \"h\"\ntraffic.bulk.size_bytes = 3000\n";
    let text = format!("duration_s = 0.3\nwarmup_s = 0\n{}{flow}", links.concat());
    let plan = Scenario::parse(&text).unwrap().resolve().unwrap();
    let findings = received(&plan, Seed { root: 1, replication: 0 });
    assert!(findings.faults.is_empty(), "{:?}", findings.faults);
    let (_, syn) = findings.hops.first_key_value().unwrap();
    // Each link is captured at both of its ends.
    assert_eq!(syn.iter().map(|&(_, ttl)| ttl).collect::<Vec<_>>(), [64, 64, 63, 63, 62, 62]);
}

#[test]
fn a_ring_of_route_requests_has_its_time_to_live() {
    let text = "standard = \"11b\"\nduration_s = 3\nwarmup_s = 0\n[radio]\npreset = \"ns2\"\n\
                ad_hoc = true\n[stations]\ncount = 4\nplacement.chain.spacing_m = 200\n\
                [routing]\nprotocol = \"aodv\"\n[[flows]]\nfrom = \"sta0\"\nto = \"sta3\"\n\
                traffic.cbr = { rate_mbps = 0.02, payload_bytes = 512 }\n";
    let plan = Scenario::parse(text).unwrap().resolve().unwrap();
    let findings = received(&plan, Seed { root: 1, replication: 0 });
    assert!(findings.faults.is_empty(), "{:?}", findings.faults);
    let mut requests: Vec<(u64, u8)> = findings
        .hops
        .into_iter()
        // To all nodes, port 654.
        .filter(|((_, to, ..), _)| *to == u32::MAX)
        .flat_map(|(_, seen)| seen)
        .collect();
    requests.sort_unstable();
    let ttls: Vec<u8> = requests.iter().map(|&(_, ttl)| ttl).collect();
    assert_eq!(ttls[..3], [1, 3, 2], "RFC 3561 section 6.4: TTL_START 1, TTL_INCREMENT 2");
}
