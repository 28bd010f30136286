//! A receiver whose application reads slowly: the window closes and opens, and the reader is the
//! bottleneck.

use crate::pipe::{Act, Path, Pipe};
use crate::plain::plain;
use kernel::{BitRate, Bytes, Duration};
use proptest::prelude::*;
use tcp::control::NewReno;
use tcp::{Config, Recovery, Sack};

fn slow(mbps: f64, window: u64) -> Config {
    Config {
        mss: Some(Bytes(1000)),
        window: Some(Bytes(window)),
        read_rate: Some(BitRate::from_mbps(mbps)),
        rto_min: Some(Duration::from_millis(200)),
        ..plain()
    }
}

fn transfer(config: &Config, amount: u64, path: Path, seed: u64) -> Pipe {
    let control = Box::new(NewReno::from(config));
    let mut pipe = Pipe::seeded(config, control, path.clone(), path, seed);
    pipe.act(Duration::ZERO, Act::Open);
    pipe.act(Duration::ZERO, Act::Write(amount));
    pipe.act(Duration::ZERO, Act::Close);
    pipe.run(Duration::from_secs(100_000));
    pipe
}

#[test]
fn the_reader_sets_the_pace() {
    // 500 kB at 1 Mb/s take 4 s, less the 20 kB that fill the window.
    let pipe = transfer(&slow(1.0, 20_000), 500_000, Path::clean(Duration::from_millis(10)), 1);
    let outcome = &pipe.outcome;
    assert_eq!(outcome.delivered, 500_000);
    let took = outcome.acknowledged.unwrap().as_secs_f64();
    assert!((3.8..4.0).contains(&took), "{took} s");
    assert_eq!(pipe.sender.counters().retransmissions, 0);
    assert_eq!(pipe.sender.counters().timeouts, 0, "a closed window is no loss");
}

#[test]
fn a_fast_reader_costs_the_segment_it_reads() {
    // Segments arrive one by one, so that each is read before the next; but the last of a window of
    // twenty is not read yet when it is acknowledged.
    let spacing = Duration::from_micros(10);
    let path = || Path { spacing, ..Path::clean(Duration::from_millis(10)) };
    let fast = transfer(&slow(10_000.0, 20_000), 500_000, path(), 1);
    let free = Config { read_rate: None, ..slow(1.0, 20_000) };
    let free = transfer(&free, 500_000, path(), 1);
    let took = |pipe: &Pipe| pipe.outcome.acknowledged.unwrap().as_secs_f64();
    assert!((1.0..1.15).contains(&(took(&fast) / took(&free))), "{} {}", took(&fast), took(&free));
}

#[test]
fn a_lost_update_is_probed_for() {
    // Every second acknowledgement is lost, window updates among them.
    let config = slow(0.5, 4_000);
    let control = Box::new(NewReno::from(&config));
    let forward = Path::clean(Duration::from_millis(10));
    let back = Path { loss: 0.5, ..forward.clone() };
    let mut pipe = Pipe::seeded(&config, control, forward, back, 3);
    pipe.act(Duration::ZERO, Act::Open);
    pipe.act(Duration::ZERO, Act::Write(100_000));
    pipe.act(Duration::ZERO, Act::Close);
    pipe.run(Duration::from_secs(10_000));
    assert_eq!(pipe.outcome.delivered, 100_000);
    assert!(pipe.sender.counters().probes > 0, "{:?}", pipe.sender.counters());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever is lost, and however slow the reader: all data arrives, and the connection ends.
    #[test]
    fn a_slow_reader_gets_all(
        mbps in 0.05..20.0f64,
        window in 1_000..30_000u64,
        loss in 0.0..0.2f64,
        rack in any::<bool>(),
        sack in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let sack = sack.then_some(Sack { rack, ..Sack::default() });
        let recovery = sack.map_or(Recovery::NewReno, Recovery::Sack);
        let config = Config { recovery, ..slow(mbps, window) };
        let path = Path { loss, ..Path::clean(Duration::from_millis(5)) };
        let pipe = transfer(&config, 60_000, path, seed);
        prop_assert_eq!(pipe.outcome.delivered, 60_000);
        prop_assert!(pipe.outcome.sender_closed.is_some());
    }
}

/// The same with a window that grows, up to 200 kB.
fn autotuned(config: &Config) -> Config {
    Config { window: None, window_max: Some(Bytes(200_000)), ..*config }
}

#[test]
fn a_window_that_grows_closes_for_a_slow_reader_too() {
    let config = autotuned(&slow(1.0, 0));
    let pipe = transfer(&config, 500_000, Path::clean(Duration::from_millis(10)), 1);
    let outcome = &pipe.outcome;
    assert_eq!(outcome.delivered, 500_000);
    // 500 kB at 1 Mb/s take 4 s, less the 65 kB that fill the first window, which does not grow.
    let took = outcome.acknowledged.unwrap().as_secs_f64();
    assert!((3.4..3.6).contains(&took), "{took} s");
    assert_eq!(pipe.sender.counters().timeouts, 0, "a closed window is no loss");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever is lost, and however slow the reader: all data arrives, and the window never
    /// shrinks (RFC 7323 §2.4).
    #[test]
    fn the_right_edge_of_a_window_that_grows_never_moves_back(
        mbps in prop_oneof![Just(None), (0.05..100.0f64).prop_map(Some)],
        loss in 0.0..0.2f64,
        timestamps in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let read_rate = mbps.map(BitRate::from_mbps);
        let config = Config { read_rate, timestamps, ..autotuned(&slow(1.0, 0)) };
        let path = Path { loss, ..Path::clean(Duration::from_millis(5)) };
        let pipe = transfer(&config, 300_000, path, seed);
        prop_assert_eq!(pipe.outcome.delivered, 300_000);
        // RFC 7323 §2.4: a header has whole units of the scale, so that the edge may fall by less
        // than one; the scale of 16 MiB is 9.
        let mut edge = 0;
        for (_, segment) in pipe.outcome.trace.iter().filter(|(_, segment)| !segment.forward) {
            prop_assert!(segment.ack + segment.window + (1 << 9) > edge, "{edge}: {segment:?}");
            edge = edge.max(segment.ack + segment.window);
        }
    }
}
