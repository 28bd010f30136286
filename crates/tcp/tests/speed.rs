//! The computing time of a segment and of an acknowledgement. Run with `cargo test --release -p
//! simoom-tcp --test speed -- --ignored --nocapture`.

#![allow(clippy::disallowed_types, reason = "measures real time")]

mod plain;

use kernel::{Bytes, Duration, Instant, Segments};
use plain::plain;
use std::hint::black_box;
use std::time;
use tcp::control::NewReno;
use tcp::{Ack, Command, Config, Control, DelayedAck, FixedAck, Receiver, Recovery, Sack, Sender};
use wire::{Flags, FlowId, SackBlocks, Segment, Timestamps};

const ROUNDS: u64 = 5_000_000;
const STEP: Duration = Duration::from_micros(100);

fn segment(forward: bool, seq: u64, len: u32, ack: u64, flags: Flags) -> Segment {
    Segment {
        flow: FlowId(0),
        connection: 0,
        forward,
        seq,
        len,
        ack,
        window: 1 << 30,
        flags,
        timestamps: None,
        sack: SackBlocks::NONE,
        coded: None,
    }
}

fn stamp(on: bool, value: Instant, echo: Instant) -> Option<Timestamps> {
    on.then_some(Timestamps { value, echo })
}

fn config(recovery: Recovery, timestamps: bool, segments: u32) -> Config {
    let timer = Duration::from_millis(100);
    let delayed_ack = DelayedAck::Fixed(FixedAck { segments, timer });
    let window = Some(Bytes(20 * 1460));
    let initial_window = Some(Segments(20.0));
    Config { window, timestamps, delayed_ack, initial_window, recovery, ..plain() }
}

/// Nanoseconds per acknowledgement, if each covers `covered` segments and releases as many.
fn acks(recovery: Recovery, timestamps: bool, covered: u32) -> f64 {
    let config = config(recovery, timestamps, covered);
    let control = Box::new(NewReno::new(Segments(20.0), Some(Segments(20.0))));
    let mut sender = Sender::new(FlowId(0), 0, &config, control);
    let mut out = Vec::with_capacity(64);
    let mut now = Instant::ZERO;
    sender.on_open(now, &mut out);
    sender.on_data(now, Bytes(u64::MAX), &mut out);
    let mut ack = segment(false, 0, 0, 1, Flags::SYN.and(Flags::ACK));
    ack.sack = SackBlocks::PERMITTED;
    ack.window = config.window().0;
    ack.timestamps = stamp(timestamps, now, now);
    sender.on_segment(now, &ack, &mut out);
    (ack.seq, ack.flags, ack.sack) = (1, Flags::ACK, SackBlocks::NONE);
    let mut sent = 0;
    let start = time::Instant::now();
    for _ in 0..ROUNDS {
        now += STEP;
        ack.ack += 1460 * u64::from(covered);
        ack.timestamps = stamp(timestamps, now, now);
        out.clear();
        sender.on_segment(now, black_box(&ack), &mut out);
        sent += out.iter().filter(|c| matches!(c, Command::Send(_))).count() as u64;
    }
    let each = start.elapsed().as_nanos() as f64 / ROUNDS as f64;
    assert!(sent >= ROUNDS * u64::from(covered), "{sent}");
    each
}

/// Nanoseconds per segment in order, with an acknowledgement for every `d` of them.
fn segments(recovery: Recovery, timestamps: bool, d: u32) -> f64 {
    let mut receiver = Receiver::new(FlowId(0), 0, &config(recovery, timestamps, d));
    let mut out = Vec::with_capacity(64);
    let mut now = Instant::ZERO;
    let mut data = segment(true, 0, 0, 0, Flags::SYN);
    data.sack = SackBlocks::PERMITTED;
    data.timestamps = stamp(timestamps, now, now);
    receiver.on_segment(now, &data, &mut out);
    data = segment(true, 1, 1460, 1, Flags::ACK);
    let mut sent = 0;
    let start = time::Instant::now();
    for _ in 0..ROUNDS {
        now += STEP;
        data.timestamps = stamp(timestamps, now, now);
        out.clear();
        receiver.on_segment(now, black_box(&data), &mut out);
        data.seq += 1460;
        sent += out.iter().filter(|c| matches!(c, Command::Send(_))).count() as u64;
    }
    let each = start.elapsed().as_nanos() as f64 / ROUNDS as f64;
    assert_eq!(sent, ROUNDS / u64::from(d));
    each
}

/// Nanoseconds per acknowledgement of the congestion control alone.
fn control(control: &mut (impl Control + ?Sized)) -> f64 {
    let ack = Ack {
        now: Instant::ZERO,
        acked: Segments(1.0),
        delivered: Segments(1.0),
        lost: Segments(0.0),
        in_flight: Segments(19.0),
        rtt: None,
        srtt: Duration::ZERO,
        rtt_min: Duration::ZERO,
        delivery: None,
        due: Instant::ZERO,
        may_grow: true,
        recovery: false,
        after_timeout: false,
        forward_delay: None,
        ecn_echo: false,
        marked: Segments(0.0),
    };
    let start = time::Instant::now();
    for _ in 0..ROUNDS {
        control.on_ack(black_box(&ack));
        black_box(control.window());
    }
    start.elapsed().as_nanos() as f64 / ROUNDS as f64
}

#[test]
#[ignore = "measures; run it by name, in release"]
fn cost() {
    for (name, recovery) in [
        ("NewReno", Recovery::NewReno),
        ("SACK", Recovery::Sack(Sack { rack: false, ..Sack::default() })),
        ("RACK", Recovery::Sack(Sack::default())),
    ] {
        for (timestamps, n) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
            let ack = acks(recovery, timestamps, n);
            let data = segments(recovery, timestamps, n);
            let each = ack / f64::from(n) + data;
            println!("{name:8} timestamps {timestamps:5}  {n} segments per ACK: ");
            println!("    sender {ack:6.1} ns per ACK, receiver {data:6.1} ns per segment");
            println!("    {each:6.1} ns per delivered segment");
        }
    }
    let mut plain = NewReno::new(Segments(20.0), Some(Segments(20.0)));
    let mut boxed: Box<dyn Control> = black_box(Box::new(plain.clone()));
    let (known, dynamic) = (control(&mut plain), control(&mut *boxed));
    println!("NewReno alone: {known:.1} ns per ACK, {dynamic:.1} ns through Box<dyn Control>");
}
