//! Packets of real programs in a run, and the tape that repeats it.

use kernel::{Instant, Rng, Seed};
use sim::{Emulation, Fate, Plan, Run, Scenario, Simulation};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace::{Tape, TapeWriter};
use wire::{Ecn, FlowId, RealPacket};

/// A cell with a download of its own, beside which a program at `sta0` and one at the server
/// exchange packets. The queue of the access point marks and drops.
const CELL: &str = r#"
standard = "11g"
stations = 2
ap.queue.fq_codel = { limit_packets = 60 }

[wire]
rate_mbps = 100.0
delay_ms = 3.0
loss.uniform.probability = 0.01

[[flows]]
from = "server"
to = "sta1"
traffic.cbr = { rate_mbps = 14.0, payload_bytes = 1200 }

[[flows]]
name = "up"
from = "sta0"
to = "server"
traffic.port = FIRST

[[flows]]
name = "down"
from = "server"
to = "sta0"
traffic.port = SECOND
"#;

const SEED: Seed = Seed { root: 7, replication: 0 };
const UP: FlowId = FlowId(1);
const DOWN: FlowId = FlowId(2);

fn plan(duration_s: f64, ports: [String; 2]) -> Plan {
    let [first, second] = ports;
    let text = CELL.replace("FIRST", &first).replace("SECOND", &second);
    let text = format!("duration_s = {duration_s}\nwarmup_s = 0.0\n{text}");
    Scenario::parse(&text).and_then(|it| it.resolve()).expect("the scenario has no fault")
}

fn of_tape(path: &Path) -> [String; 2] {
    [0, 1].map(|number| format!("{{ file = '{}', interface = {number} }}", path.display()))
}

/// A UDP packet with this much data, ECN-capable, of one of two streams.
fn packet(flow: FlowId, stream: u8, data: u16) -> Vec<u8> {
    let [high, low] = (28 + data).to_be_bytes();
    let ends = if flow == UP { [2, 3] } else { [3, 2] };
    let mut bytes = vec![0x45, 0b10, high, low, 0, 0, 0x40, 0, 64, 17, 0, 0];
    bytes.extend([10, 0, 0, ends[0], 10, 0, 0, ends[1], 1, stream, 0, 9]);
    bytes.extend((8 + data).to_be_bytes());
    bytes.resize(28 + usize::from(data), 0x5a);
    bytes
}

/// What an emulation of a second gives: its tape, what left, and its digest.
struct Live {
    tape: PathBuf,
    sent: BTreeMap<(u32, u64), Instant>,
    arrived: Vec<(u32, u64, Ecn)>,
    dropped: usize,
    digest: u64,
}

const END: Instant = Instant(1_000_000_000);

/// Takes what has left.
fn note(run: &mut Emulation, live: &mut Live) {
    for left in run.left() {
        match left.fate {
            Fate::Arrived(ecn) => live.arrived.push((left.flow.0, left.number, ecn)),
            Fate::Dropped(_) => live.dropped += 1,
        }
        let entered = live.sent.remove(&(left.flow.0, left.number));
        assert!(entered.expect("what leaves has entered, and leaves once") <= left.at);
    }
}

fn emulate(name: &str) -> Live {
    let tape = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.tape.pcapng"));
    let file = std::fs::File::create(&tape).expect("the folder of tests can be written");
    let names = ["sta0 to server", "server to sta0"].map(str::to_owned);
    let mut writer = TapeWriter::new(file, "test", &names).unwrap();
    let plan = plan(60.0, ["{}", "{}"].map(str::to_owned));
    let mut run = Emulation::new(&plan, SEED).expect("the plan has no fault");
    let mut live = Live { tape, sent: BTreeMap::new(), arrived: Vec::new(), dropped: 0, digest: 0 };
    let mut rng: Rng = SEED.stream("a program", 0);
    let (mut now, mut numbers) = (Instant::ZERO, [0; 2]);
    loop {
        now = Instant(now.0 + 1 + u64::from(rng.up_to(500_000)));
        if now >= END {
            break;
        }
        assert!(run.run_until(Instant(now.0 - 1)));
        let up = rng.up_to(3) == 0;
        let flow = if up { UP } else { DOWN };
        let bytes = packet(flow, rng.up_to(1) as u8, rng.up_to(1400) as u16);
        let number = &mut numbers[usize::from(!up)];
        live.sent.insert((flow.0, *number), now);
        *number += 1;
        run.offer(flow, now, RealPacket::read(&bytes, bytes.len()).unwrap());
        writer.packet(flow.0 - 1, now, &bytes, usize::MAX).unwrap();
        note(&mut run, &mut live);
    }
    assert!(run.run_until(END));
    note(&mut run, &mut live);
    writer.end(END).unwrap();
    live.digest = run.digest();
    live
}

fn repeat(live: &Live, check: bool) -> Run {
    let plan = plan(END.as_secs_f64(), of_tape(&live.tape));
    Simulation::new(&plan, SEED, &[], check).expect("the plan has no fault").finish()
}

#[test]
fn a_tape_repeats_an_emulation_to_the_bit() {
    let live = emulate("repeats");
    assert_eq!(repeat(&live, true).digest, live.digest);
    // A packet that enters a nanosecond later is another run.
    let tape = Tape::read(&std::fs::read(&live.tape).unwrap()).unwrap();
    let file = std::fs::File::create(&live.tape).unwrap();
    let names: Vec<String> = tape.flows.iter().map(|flow| flow.name.clone()).collect();
    let mut writer = TapeWriter::new(file, "test", &names).unwrap();
    for (flow, number) in tape.flows.iter().zip(0..) {
        for packet in &*flow.packets {
            writer.packet(number, Instant(packet.at.0 + 1), &packet.bytes, usize::MAX).unwrap();
        }
    }
    assert_ne!(repeat(&live, false).digest, live.digest);
}

#[test]
fn each_packet_arrives_is_dropped_or_is_on_the_way() {
    let live = emulate("conserves");
    let run = repeat(&live, true);
    let value = |path: &str| {
        let (_, value) = run.summary.iter().find(|(it, _)| it == path).expect(path);
        match value {
            sim::Value::Number(value) => *value,
            sim::Value::Count(value) => *value as f64,
            other => panic!("{path}: {other:?}"),
        }
    };
    let entered = [1, 2].map(|flow| value(&format!("flows[{flow}].packets_sent")));
    let told = live.arrived.len() + live.dropped + live.sent.len();
    assert_eq!(entered.iter().sum::<f64>(), told as f64);
    let lost = [1, 2].map(|flow| value(&format!("flows[{flow}].lost")));
    assert!(live.dropped > 20, "{}", live.dropped);
    assert_eq!(lost.iter().sum::<f64>(), live.dropped as f64);
}

#[test]
fn a_queue_marks_real_packets_and_tells_their_streams_apart() {
    let live = emulate("marks");
    let marked = live.arrived.iter().filter(|(flow, _, ecn)| {
        assert!(*ecn == Ecn::Ect0 || *ecn == Ecn::Experienced);
        *flow == DOWN.0 && *ecn == Ecn::Experienced
    });
    assert!(marked.count() > 5, "CoDel marks what has waited");
    // Streams overtake each other in the queue, so that numbers do not arrive in order.
    let down: Vec<u64> =
        live.arrived.iter().filter(|(flow, ..)| *flow == DOWN.0).map(|(_, n, _)| *n).collect();
    assert!(!down.is_sorted());
}
