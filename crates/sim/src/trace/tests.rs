//! Traces of small scenarios, line by line.

use super::Filter;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use ::trace::{Frame, FrameOutcome, Record, Sink, Wait, WaitKind};
use kernel::{Instant, Seed};
use std::io;
use std::sync::{Arc, Mutex};

type Write = fn(&Record<'_>) -> Option<String>;

/// A sink of lines.
struct Lines {
    write: Write,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Sink for Lines {
    fn on(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.lines.lock().unwrap().extend((self.write)(record));
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.lines.lock().unwrap().push("end".to_owned());
        Ok(())
    }
}

/// The lines of a run of a scenario.
fn lines(scenario: &str, write: Write) -> Vec<String> {
    let plan = Scenario::parse(scenario).expect("a scenario").resolve().expect("a plan");
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Lines { write, lines: Arc::clone(&lines) };
    let mut run = Simulation::new(&plan, Seed { root: 1, replication: 0 }, &[], true).unwrap();
    run.trace(&Filter::default(), vec![Box::new(sink)]).expect("a filter without faults");
    run.finish();
    std::mem::take(&mut *lines.lock().unwrap())
}

fn us(at: Instant) -> String {
    (at.0 as f64 / 1000.0).to_string()
}

/// `400-586 1>0 Data 1064 B, NAV 44, exchange 0: Received`
fn frame_line(record: &Record<'_>) -> Option<String> {
    let Record::Frame(frame) = record else { return None };
    let Frame { kind, psdu, exchange, outcome, .. } = frame;
    let to = frame.to.map_or("*".to_owned(), |to| to.to_string());
    let nav = frame.nav.0 as f64 / 1000.0;
    let outcome = match (outcome, frame.lost_to) {
        (FrameOutcome::Lost(loss), Some(by)) => format!("{loss:?} with {by}"),
        (FrameOutcome::Lost(loss), None) => format!("{loss:?}"),
        (other, _) => format!("{other:?}"),
    };
    let (start, end, from) = (us(frame.start), us(frame.end), frame.from);
    Some(format!(
        "{start}-{end} {from}>{to} {kind:?} {} B, NAV {nav}, exchange {exchange}: {outcome}",
        psdu.0
    ))
}

/// `0-400 1 BestEffort Defer`
fn wait_line(record: &Record<'_>) -> Option<String> {
    let Record::Wait(Wait { start, end, radio, class, kind }) = record else { return None };
    let kind = match kind {
        WaitKind::Backoff { before, after } => format!("Backoff {before} to {after}"),
        other => format!("{other:?}"),
    };
    Some(format!("{}-{} {radio} {class:?} {kind}", us(*start), us(*end)))
}

const BEGIN: &str = "standard = '11g'\nduration_s = 0.02\nwarmup_s = 0\nstations = 2\n";

/// 36 bytes of headers and 1028 of packet at 54 Mb/s last 186 µs, an Ack 34 µs.
#[test]
fn an_exchange_alone() {
    let flow = "[[flows]]\nfrom = 'sta0'\nto = 'ap'\n\
                traffic.cbr = { rate_mbps = 1.6, payload_bytes = 1000 }\nstart_spread_s = 0\n";
    let scenario = format!("{BEGIN}{flow}");
    let frames = [
        "28-214 1>0 Data 1064 B, NAV 44, exchange 0: Received",
        "224-258 0>1 Ack 14 B, NAV 0, exchange 0: Received",
        "5000-5186 1>0 Data 1064 B, NAV 44, exchange 1: Received",
    ];
    assert_eq!(lines(&scenario, frame_line)[..3], frames);
    // The back-off after the frame begins a DIFS after the Ack, at 258 + 28 µs.
    let waits = [
        "0-28 1 BestEffort Defer",
        "214-258 2 BestEffort Nav",
        "286-376 1 BestEffort Backoff 10 to 0",
        "5186-5230 2 BestEffort Nav",
    ];
    assert_eq!(lines(&scenario, wait_line)[..4], waits);
}

/// Both transmit a DIFS after the begin. Their timeout ends 39 µs after the collision, at 253 µs,
/// and the next slot boundary after SIFS and slots of 9 µs is at 260 µs.
#[test]
fn a_collision_and_what_follows() {
    let flow = "[[flows]]\nfrom = 'sta*'\nto = 'ap'\n\
                traffic.saturated = { payload_bytes = 1000 }\n";
    let scenario = format!("{BEGIN}{flow}");
    let frames = [
        "28-214 1>0 Data 1064 B, NAV 44, exchange 0: Collision with 2",
        "28-214 2>0 Data 1064 B, NAV 44, exchange 1: Collision with 1",
        "440-626 1>0 Data 1064 B, NAV 44, exchange 2: Received",
        "636-670 0>1 Ack 14 B, NAV 0, exchange 2: Received",
        "716-902 2>0 Data 1064 B, NAV 44, exchange 3: Received",
    ];
    assert_eq!(lines(&scenario, frame_line)[..5], frames);
    let waits = [
        "0-28 1 BestEffort Defer",
        "0-28 2 BestEffort Defer",
        "253-260 1 BestEffort Defer",
        "253-260 2 BestEffort Defer",
        "260-440 1 BestEffort Backoff 20 to 0",
        "260-440 2 BestEffort Backoff 22 to 2",
        "440-698 2 BestEffort Defer",
        "626-670 2 BestEffort Nav",
        "670-698 1 BestEffort Defer",
        "698-716 1 BestEffort Backoff 8 to 6",
        "698-716 2 BestEffort Backoff 2 to 0",
    ];
    assert_eq!(lines(&scenario, wait_line)[..11], waits);
}

/// A frame of 966 µs: a hidden station begins within it. The access point follows the first frame
/// that it detects; of two that begin together it receives neither.
#[test]
fn hidden_nodes_interfere() {
    let hidden = include_str!("../../../../scenarios/hidden_nodes.toml");
    let hidden = hidden.replace("duration_s = 20.0", "duration_s = 0.05");
    let hidden = hidden.replace("warmup_s = 2.0", "warmup_s = 0");
    let frames = [
        "50-1016 1>0 Data 1064 B, NAV 258, exchange 0: Interference with 2",
        "50-1016 2>0 Data 1064 B, NAV 258, exchange 1: Interference with 1",
        "2046-3012 1>0 Data 1064 B, NAV 258, exchange 2: Interference with 2",
        "2146-3112 2>0 Data 1064 B, NAV 258, exchange 3: ReceiverBusy with 1",
    ];
    assert_eq!(lines(&hidden, frame_line)[..4], frames);
    // 1016 + 10 + 20 + 192 µs of timeout, and the next slot boundary.
    let waits = [
        "0-50 1 BestEffort Defer",
        "0-50 2 BestEffort Defer",
        "1238-1246 1 BestEffort Defer",
        "1238-1246 2 BestEffort Defer",
        "1246-2046 1 BestEffort Backoff 40 to 0",
        "1246-2146 2 BestEffort Backoff 45 to 0",
    ];
    assert_eq!(lines(&hidden, wait_line)[..6], waits);
}

/// The run ends within the last A-MPDU. A BlockAck of 32 bytes reserves 16 + 32 µs.
#[test]
fn aggregates_and_the_end_of_the_run() {
    let scenario = "standard = '11n'\nduration_s = 0.01\nwarmup_s = 0\n\
                    stations = { count = 1, data_loss = 0.3 }\n[[flows]]\nfrom = 'sta0'\n\
                    to = 'ap'\ntraffic.saturated = { payload_bytes = 1000 }\n";
    let frames = [
        "43-2455 1>0 Data 19294 B, NAV 48, exchange 0: Received",
        "2471-2503 0>1 BlockAck 32 B, NAV 0, exchange 0: Received",
    ];
    let lines = lines(scenario, frame_line);
    assert_eq!(lines[..2], frames);
    let last = "7786-10198 1>0 Data 19294 B, NAV 48, exchange 3: Unknown";
    assert_eq!(lines[lines.len() - 2..], [last, "end"]);
}

/// Without a chance against voice, background defers from the begin to the end.
#[test]
fn each_access_category_waits_for_itself() {
    let scenario = "standard = '11a'\nduration_s = 0.01\nwarmup_s = 0\nstations = 1\n\
                    wlan.qos = true\n\
                    [[flows]]\nfrom = 'sta0'\nto = 'ap'\nclass = 'voice'\n\
                    traffic.saturated = { payload_bytes = 100 }\n\
                    [[flows]]\nfrom = 'sta0'\nto = 'ap'\nclass = 'background'\n\
                    traffic.saturated = { payload_bytes = 1000 }\n";
    let waits = [
        "0-34 1 Voice Defer",
        "0-10000 1 Background Defer",
        "2070-2104 1 Voice Defer",
        "2104-2131 1 Voice Backoff 3 to 0",
    ];
    assert_eq!(lines(scenario, wait_line)[..4], waits);
}
