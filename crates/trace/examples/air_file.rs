//! Writes an `.air` file of so many frames, for measurements: `air_file OUT FRAMES`.
//!
//! Ten stations send data to an access point, which acknowledges it; one frame in twenty collides.

use kernel::{BitRate, Bytes, Duration, Instant};
use std::fs::File;
use std::io::BufWriter;
use trace::{
    Air, AirOptions, Format, Frame, FrameKind, FrameLoss, FrameMode, FrameOutcome, Network,
    NodeInfo, RadioInfo, RadioRole, Record, Sink,
};
use wire::{NodeId, TrafficClass};

const RADIOS: u32 = 11;
/// The options of the server allow less; this file is larger than what a run needs.
const LIMIT_MIB: u32 = 100_000;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, count] = &arguments[..] else { panic!("air_file OUT FRAMES") };
    let count: u64 = count.parse().expect("a number of frames");
    let gap = 40_000;
    let end = Instant(count / 2 * (1_400_000 + 2 * gap));
    let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let options = AirOptions { limit_mib: LIMIT_MIB };
    let mut air = Air::new(&network(end), out, options)?;
    let mut at = 0;
    for number in 0..count {
        let station = 1 + (number / 2 * 7 % u64::from(RADIOS - 1)) as u32;
        let is_data = number.is_multiple_of(2);
        let lasting = if is_data { 1_100_000 } else { 300_000 };
        let is_lost = is_data && (number / 2).is_multiple_of(20);
        let path = if is_data { (station, 0) } else { (0, station) };
        air.on(&Record::Frame(&frame(number, at, lasting, path, is_lost)))?;
        at += lasting + gap;
    }
    air.finish()
}

fn network(end: Instant) -> Network {
    let name = |n: u32| if n == 0 { "ap".to_owned() } else { format!("sta{}", n - 1) };
    let role = |n| match n {
        0 => RadioRole::AccessPoint,
        _ => RadioRole::Station { access_point: 0 },
    };
    let radio = |n| RadioInfo {
        name: name(n),
        node: NodeId(n),
        role: role(n),
        channel_mhz: 2412,
        has_qos: false,
    };
    Network {
        nodes: (0..RADIOS).map(|n| NodeInfo { name: name(n) }).collect(),
        radios: (0..RADIOS).map(radio).collect(),
        end,
        ..Network::default()
    }
}

fn frame(number: u64, at: u64, lasting: u64, (from, to): (u32, u32), is_lost: bool) -> Frame {
    let lost = FrameOutcome::Lost(FrameLoss::Collision);
    Frame {
        number,
        start: Instant(at),
        payload: Instant(at + 192_000),
        end: Instant(at + lasting),
        from,
        to: Some(to),
        kind: if to == 0 { FrameKind::Data } else { FrameKind::Ack },
        class: TrafficClass::BestEffort,
        mode: FrameMode {
            format: Format::Dsss { short_preamble: false },
            rate: BitRate::from_mbps(11.0),
            mcs: None,
            streams: 1,
            width_mhz: 22,
            guard_ns: 0,
            ldpc: false,
        },
        psdu: Bytes(1536),
        aggregate: false,
        nav: Duration::ZERO,
        exchange: number / 2,
        outcome: if is_lost { lost } else { FrameOutcome::Received },
        lost_to: None,
        signal_dbm: None,
        mpdus: Vec::new(),
        block_ack: None,
    }
}
