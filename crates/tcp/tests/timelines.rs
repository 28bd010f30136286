//! Timelines of whole connections, over a pipe that loses the segments that the test names.

use crate::pipe::{Act, Path, Pipe, show};
use crate::plain::plain;
use kernel::{Bytes, Duration, Segments};
use tcp::control::NewReno;
use tcp::{Config, DelayedAck, DynamicAck, FixedAck, Recovery};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn config() -> Config {
    Config {
        mss: Some(Bytes(1000)),
        window: Some(Bytes(64_000)),
        initial_window: Some(Segments(2.0)),
        rto_min: Some(MS(200)),
        delayed_ack: DelayedAck::None,
        recovery: Recovery::NewReno,
        ..plain()
    }
}

/// A pipe of 50 ms each way and 1 ms between departures that drops these forward segments.
fn pipe(config: &Config, amount: u64, drops: &[u64]) -> Pipe {
    let forward = Path { spacing: MS(1), drops: drops.to_vec(), ..Path::clean(MS(49)) };
    let control = Box::new(NewReno::from(config));
    let mut pipe = Pipe::new(config, control, forward, Path::clean(MS(50)));
    pipe.act(Duration::ZERO, Act::Open);
    pipe.act(Duration::ZERO, Act::Write(amount));
    pipe.act(Duration::ZERO, Act::Close);
    pipe
}

#[test]
fn a_short_transfer_from_syn_to_fin() {
    let mut pipe = pipe(&config(), 4500, &[]);
    pipe.run(Duration::from_secs(10));
    let forward = [
        "0 S 0:1 0",
        "100 . 1:1001 1",
        "100 . 1001:2001 1",
        "200 . 2001:3001 1",
        "200 . 3001:4001 1",
        "201 F. 4001:4502 1",
        "302 . 4502:4502 2",
    ];
    assert_eq!(show(&pipe.outcome.trace, true), forward);
    let back = [
        "50 S. 0:1 1",
        "150 . 1:1 1001",
        "151 . 1:1 2001",
        "250 . 1:1 3001",
        "251 . 1:1 4001",
        "252 F. 1:2 4502",
    ];
    assert_eq!(show(&pipe.outcome.trace, false), back);
    let at = |time: Option<kernel::Instant>| time.map(|t| t.0 / 1_000_000);
    assert_eq!(at(pipe.outcome.acknowledged), Some(302));
    assert_eq!(at(pipe.outcome.sender_closed), Some(302));
    assert_eq!(at(pipe.outcome.receiver_closed), Some(352));
}

#[test]
fn three_losses_in_one_window_take_one_reduction_and_three_round_trips() {
    // RFC 6582 §1: one hole is repaired per round trip.
    let config = Config { initial_window: Some(Segments(10.0)), ..config() };
    let mut pipe = pipe(&config, 12_000, &[2, 5, 7]);
    pipe.run(Duration::from_secs(10));
    let later = |line: &String| !line.starts_with("0 ") && !line.starts_with("100 ");
    let forward: Vec<_> = show(&pipe.outcome.trace, true).into_iter().filter(later).collect();
    let expected = [
        // The acknowledgement of the first segment opens the window by two.
        "200 . 10001:11001 1",
        "200 F. 11001:12002 1",
        "205 . 1001:2001 1",
        "305 . 4001:5001 1",
        "405 . 6001:7001 1",
        "505 . 12002:12002 2",
    ];
    assert_eq!(forward, expected);
    let counters = pipe.sender.counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
    assert_eq!((counters.retransmissions, pipe.outcome.delivered), (3, 12_000));
}

#[test]
fn a_lost_tail_waits_for_the_timer() {
    let mut pipe = pipe(&config(), 2000, &[2]);
    pipe.run(Duration::from_secs(10));
    // Two samples of 100 ms: RTO = 100 + 4·37.5 = 250, from the last acknowledgement at 200 ms.
    let expected = [
        "0 S 0:1 0",
        "100 . 1:1001 1",
        "100 F. 1001:2002 1",
        "450 F. 1001:2002 1",
        "550 . 2002:2002 2",
    ];
    assert_eq!(show(&pipe.outcome.trace, true), expected);
}

/// When the connection was over, with these segments of either direction lost.
fn closed_ms(forward: &[u64], back: &[u64]) -> [u64; 2] {
    let there = Path { drops: forward.to_vec(), ..Path::clean(MS(50)) };
    let here = Path { drops: back.to_vec(), ..Path::clean(MS(50)) };
    let config = config();
    let mut pipe = Pipe::new(&config, Box::new(NewReno::from(&config)), there, here);
    pipe.act(Duration::ZERO, Act::Open);
    pipe.act(Duration::ZERO, Act::Write(1000));
    pipe.act(Duration::ZERO, Act::Close);
    pipe.run(Duration::from_secs(100));
    assert_eq!(pipe.outcome.delivered, 1000);
    let ms = |time: Option<kernel::Instant>| time.unwrap().0 / 1_000_000;
    [ms(pipe.outcome.sender_closed), ms(pipe.outcome.receiver_closed)]
}

#[test]
fn whatever_is_lost_of_opening_and_closing_is_made_good() {
    assert_eq!(closed_ms(&[], &[]), [200, 250]);
    // The SYN, and its retransmission: 1 s, then 2 s more.
    assert_eq!(closed_ms(&[0], &[]), [1200, 1250]);
    assert_eq!(closed_ms(&[0, 1], &[]), [3200, 3250]);
    // The SYN-ACK: the sender retransmits its SYN after 1 s, and the receiver answers again.
    assert_eq!(closed_ms(&[], &[0]), [1200, 1250]);
    // Data with the FIN: RTO 300 ms after the handshake's sample.
    assert_eq!(closed_ms(&[1], &[]), [500, 550]);
    // The receiver's FIN: its own timer runs 300 ms from 150 ms, the sender's 300 ms from 100 ms.
    assert_eq!(closed_ms(&[], &[1]), [500, 550]);
    // The last acknowledgement: the receiver retransmits its FIN at 450 ms.
    assert_eq!(closed_ms(&[2], &[]), [200, 550]);
}

#[test]
fn a_window_limited_flow_sends_a_window_per_round_trip() {
    let config = Config { window: Some(Bytes(20_000)), ..config() };
    let timer = MS(130);
    for delayed_ack in [
        DelayedAck::None,
        DelayedAck::Fixed(FixedAck { segments: 2, timer }),
        DelayedAck::Dynamic(DynamicAck { thresholds: [2, 5, 9], timer }),
    ] {
        let config = Config { delayed_ack, ..config };
        let control = Box::new(NewReno::from(&config));
        let mut pipe = Pipe::new(&config, control, Path::clean(MS(50)), Path::clean(MS(50)));
        pipe.act(Duration::ZERO, Act::Open);
        pipe.act(Duration::ZERO, Act::Write(u64::MAX));
        pipe.run(Duration::from_secs(20));
        let from_10s = pipe
            .outcome
            .trace
            .iter()
            .filter(|(at, s)| s.forward && (10_000_000_000..20_000_000_000).contains(&at.0));
        let segments = from_10s.count();
        assert_eq!(segments, 20 * 100, "{delayed_ack:?}");
        assert_eq!(pipe.sender.counters().retransmissions, 0);
        assert_eq!(pipe.sender.counters().timeouts, 0);
    }
}

#[test]
fn a_regular_loss_gives_the_square_root_law() {
    // One loss per n segments: the window oscillates between W/2 and W with 3/8 W² = n (Mathis et
    // al., "The macroscopic behavior of the TCP congestion avoidance algorithm", 1997).
    let period = 384.0;
    let config = Config { window: Some(Bytes(1_000_000)), timestamps: true, ..config() };
    let drops: Vec<u64> = (1..400).map(|k| 384 * k).collect();
    let path = Path { drops, ..Path::clean(MS(50)) };
    let control = Box::new(NewReno::from(&config));
    let mut pipe = Pipe::new(&config, control, path, Path::clean(MS(50)));
    pipe.act(Duration::ZERO, Act::Open);
    pipe.act(Duration::ZERO, Act::Write(u64::MAX));
    let seconds = 400;
    pipe.run(Duration::from_secs(seconds));
    let rate = pipe.outcome.delivered as f64 / 1000.0 / seconds as f64;
    // Each period lasts W/2 round trips of 100 ms; recovery adds one.
    let window = (8.0 * period / 3.0_f64).sqrt();
    let expected = period / ((window / 2.0 + 1.0) * 0.1);
    assert!((rate / expected - 1.0).abs() < 0.05, "{rate} segments/s, expected {expected}");
    assert_eq!(pipe.sender.counters().timeouts, 0);
}
