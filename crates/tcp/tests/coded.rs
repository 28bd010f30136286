//! Coded connections over lossy paths: the purpose of `LT-TCP`.

use crate::pipe;
use crate::pipe::{Act, Path, Pipe};
use crate::plain::plain;
use kernel::{Bytes, Duration, Segments};
use tcp::control::{Lt, LtConfig, NewReno};
use tcp::fec::{Binomial, Fec, Normal, Parity};
use tcp::{Config, Control, Receiver, State};

/// 10 Mb/s and 40 ms each way; a window of three bandwidth-delay products at most.
fn config(fec: Option<Fec>) -> Config {
    Config {
        window: Some(Bytes(330_000)),
        initial_window: Some(Segments(10.0)),
        rto_min: Some(Duration::from_millis(200)),
        fec,
        ..plain()
    }
}

fn path(loss: f64) -> Path {
    let spacing = Duration::from_micros(1200);
    Path { spacing, loss, ..Path::clean(Duration::from_millis(40)) }
}

fn lt(config: &Config) -> Box<dyn Control> {
    Box::new(Lt::new(config, LtConfig::default()))
}

/// The mean over ten connections.
fn mean(run: impl Fn(u64) -> f64) -> f64 {
    (0..10).map(run).sum::<f64>() / 10.0
}

/// A connection with this much data to send, over a path that loses this share of the segments,
/// and of the acknowledgements.
fn seeded(
    config: &Config,
    control: Box<dyn Control>,
    (loss, back): (f64, f64),
    amount: u64,
    seed: u64,
) -> Pipe {
    let back = Path { loss: back, ..Path::clean(Duration::from_millis(40)) };
    let mut pipe = Pipe::seeded(config, control, path(loss), back, seed);
    pipe.act(Duration::ZERO, Act::Open);
    pipe.act(Duration::ZERO, Act::Write(amount));
    pipe.act(Duration::ZERO, Act::Close);
    pipe
}

/// Sends this much data; returns the pipe, and the duration in seconds.
fn send(
    config: &Config,
    control: Box<dyn Control>,
    loss: f64,
    back: f64,
    amount: u64,
) -> (Pipe, f64) {
    let mut pipe = seeded(config, control, (loss, back), amount, 1);
    pipe.run(Duration::from_secs(10_000));
    assert_eq!(pipe.outcome.delivered, amount);
    let end = pipe.outcome.acknowledged.expect("all is acknowledged");
    let seconds = end.as_secs_f64();
    (pipe, seconds)
}

#[test]
fn without_loss_a_code_costs_nothing() {
    let (plain, plain_s) = send(&config(None), lt(&config(None)), 0.0, 0.0, 3_000_000);
    let coded = config(Some(Fec::default()));
    let (pipe, coded_s) = send(&coded, lt(&coded), 0.0, 0.0, 3_000_000);
    let (sender, receiver) = (pipe.sender.counters(), pipe.receiver.counters());
    assert_eq!(sender.bytes, plain.sender.counters().bytes);
    assert_eq!((sender.proactive, sender.reactive, sender.retransmissions), (0, 0, 0));
    assert_eq!((receiver.decoded, receiver.duplicates, sender.timeouts), (0, 0, 0));
    assert!((coded_s / plain_s - 1.0).abs() < 0.02, "{coded_s} s beside {plain_s} s");
}

#[test]
fn goodput_falls_as_what_arrives_and_not_to_nothing() {
    for loss in [0.05, 0.1, 0.2, 0.3, 0.5] {
        let coded = config(Some(Fec { verify: true, ..Fec::default() }));
        let (pipe, _) = send(&coded, lt(&coded), loss, 0.0, 3_000_000);
        // The mean over connections: a timeout, which is rare, more than doubles the time of one.
        let mbps = mean(|seed| {
            let mut pipe = seeded(&coded, lt(&coded), (loss, 0.0), 3_000_000, seed);
            pipe.run(Duration::from_secs(10_000));
            24.0 / pipe.outcome.acknowledged.expect("all is acknowledged").as_secs_f64()
        });
        let seconds = 24.0 / mbps;
        // 1460 of 1460 bytes at 1.2 ms each are 9.73 Mb/s. The margin of parity, the start and the
        // end reduce it.
        let bound = 9.73 * (1.0 - loss);
        assert!(mbps < bound, "{mbps} Mb/s at {loss}");
        assert!(mbps > if loss < 0.4 { 0.6 } else { 0.25 } * bound, "{mbps} Mb/s at {loss}");
        let estimate = pipe.sender.loss_estimate();
        assert!((estimate - loss).abs() < 0.15, "estimated {estimate} at {loss}");
        let received = pipe.receiver.counters();
        assert!(received.decoded > 0 && received.verified == received.decoded);
        // Without a code, the same window, which losses do not reduce either, has a lower
        // throughput.
        let plain = config(None);
        let mut pipe = seeded(&plain, lt(&plain), (loss, 0.0), 3_000_000, 1);
        let got = pipe.run(Duration::from_secs_f64(seconds)).delivered as f64 / 3e6;
        assert!(got < if loss > 0.1 { 0.8 } else { 1.0 }, "{got} of it at {loss}");
    }
}

#[test]
fn lost_acknowledgements_cost_little() {
    let coded = config(Some(Fec::default()));
    let (_, clean) = send(&coded, lt(&coded), 0.2, 0.0, 3_000_000);
    let (_, lossy) = send(&coded, lt(&coded), 0.2, 0.3, 3_000_000);
    assert!(lossy < 1.6 * clean, "{lossy} s beside {clean} s");
}

#[test]
fn parity_in_advance_saves_round_trips_and_costs_bytes() {
    let with = |parity| config(Some(Fec { parity, ..Fec::default() }));
    let run = |parity| {
        let config = with(parity);
        // 36 MB, so that chance does not decide.
        let (pipe, _) = send(&config, lt(&config), 0.1, 0.0, 36_000_000);
        pipe.sender.counters()
    };
    let none = run(Parity::None);
    let expected = run(Parity::Normal(Normal { margin: 0.0 }));
    let margin = run(Parity::Normal(Normal { margin: 1.0 }));
    let covered = run(Parity::Binomial(Binomial { coverage: 0.99 }));
    assert_eq!(none.proactive, 0);
    assert!(none.reactive > expected.reactive, "{} {}", none.reactive, expected.reactive);
    assert!(expected.reactive > margin.reactive, "{} {}", expected.reactive, margin.reactive);
    assert!(margin.proactive > expected.proactive);
    assert!(covered.proactive > margin.proactive);
    assert!(covered.parity_bytes > margin.parity_bytes);
}

#[test]
fn without_parity_for_holes_the_missing_data_is_sent_again() {
    let coded = config(Some(Fec { parity: Parity::None, reactive: false, ..Fec::default() }));
    let (pipe, _) = send(&coded, lt(&coded), 0.1, 0.0, 1_000_000);
    let counters = pipe.sender.counters();
    assert_eq!((counters.proactive, counters.reactive, counters.parity_bytes), (0, 0, 0));
    assert!(counters.retransmissions > 50, "{}", counters.retransmissions);
    assert_eq!(pipe.receiver.counters().decoded, 0);
}

#[test]
fn whether_a_loss_is_congestion_is_for_the_controller_to_say() {
    let coded = config(Some(Fec::default()));
    let run = |control| {
        let (pipe, seconds) = send(&coded, control, 0.05, 0.0, 3_000_000);
        (pipe.sender.window_segments(), seconds)
    };
    let (wide, fast) = run(lt(&coded));
    let (narrow, slow) = run(Box::new(NewReno::from(&coded)));
    assert!(wide > 3.0 * narrow, "{wide} and {narrow} segments");
    assert!(slow > 2.0 * fast, "{slow} s and {fast} s");
}

#[test]
fn a_silent_path_ends_in_timeouts_and_then_all_is_as_before() {
    let coded = config(Some(Fec::default()));
    // From the 100th on, 130 segments in a row, and all segments that would repair them.
    let forward = Path { drops: (100..230).collect(), ..path(0.0) };
    let back = Path::clean(Duration::from_millis(40));
    let mut pipe = Pipe::new(&coded, lt(&coded), forward, back);
    pipe.act(Duration::ZERO, Act::Open);
    pipe.act(Duration::ZERO, Act::Write(2_000_000));
    pipe.act(Duration::ZERO, Act::Close);
    pipe.run(Duration::from_secs(1000));
    assert_eq!(pipe.outcome.delivered, 2_000_000);
    assert!(pipe.sender.counters().timeouts > 0);
    assert_eq!(pipe.sender.state(), State::Open);
    assert_eq!(pipe.receiver.waiting_bytes(), 0);
}

#[test]
fn the_receiver_ignores_what_is_no_unit() {
    use kernel::Instant;
    use std::num::NonZeroU8;
    use wire::{Coded, Flags, SackBlocks, Segment};
    let coded = config(Some(Fec { verify: true, ..Fec::default() }));
    let mut receiver = Receiver::new(pipe::FLOW, 3, &coded);
    let mut out = Vec::new();
    let syn = Segment {
        flow: pipe::FLOW,
        connection: 3,
        forward: true,
        seq: 0,
        len: 0,
        ack: 0,
        window: 0,
        flags: Flags::SYN,
        timestamps: None,
        sack: SackBlocks::NONE,
        coded: None,
    };
    receiver.on_segment(Instant::ZERO, &syn, &mut out);
    let data = NonZeroU8::new(5).expect("5");
    for (unit, (span, index, seq)) in
        [(0, 7, 1), (4, 0, 1), (500, 255, 1), (500, 2, 100), (400_000, 6, 1)]
            .into_iter()
            .enumerate()
    {
        let coded = Some(Coded { unit: unit as u64, span, data, index });
        let flags = Flags::ACK;
        let segment = Segment { seq, len: 100, ack: 1, flags, coded, ..syn };
        receiver.on_segment(Instant::ZERO, &segment, &mut out);
    }
    assert_eq!(receiver.counters().duplicates, 5);
    assert_eq!((receiver.delivered_bytes(), receiver.waiting_bytes()), (0, 0));
}
