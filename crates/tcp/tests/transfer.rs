//! Whole connections over an impaired pipe: every byte arrives once and in order, and every
//! connection ends.

use crate::pipe::{Act, FLOW, Path, Pipe};
use crate::plain::plain;
use kernel::{Bytes, Duration, Instant, Segments};
use proptest::prelude::*;
use std::num::NonZeroU8;
use tcp::control::{Counting, NewReno};
use tcp::fec::{Binomial, Fec, Granularity, Normal, Parity};
use tcp::{
    AccurateEcn, Close, Config, DelayedAck, DynamicAck, Ecn, FixedAck, Receiver, Recovery,
    Reduction, Sack, Sender, TimerId,
};
use wire::{Coded, Flags, SackBlock, SackBlocks, Segment, Timestamps};

fn path() -> impl Strategy<Value = Path> {
    let ms = |range: std::ops::Range<u64>| range.prop_map(Duration::from_millis);
    (ms(1..100), 0..2_000_000u64, 0..30_000_000u64, 0.0..0.3f64, 0.0..0.3f64, any::<[bool; 3]>())
        .prop_map(|(delay, spacing, jitter, loss, duplication, on)| Path {
            delay,
            spacing: Duration(spacing),
            jitter: Duration(if on[0] { jitter } else { 0 }),
            loss: if on[1] { loss } else { 0.0 },
            duplication: if on[2] { duplication } else { 0.0 },
            drops: vec![],
        })
}

fn delayed_ack() -> impl Strategy<Value = DelayedAck> {
    let timer = Duration::from_millis(40);
    prop_oneof![
        Just(DelayedAck::None),
        (1..6u32).prop_map(move |segments| DelayedAck::Fixed(FixedAck { segments, timer })),
        Just(DelayedAck::Dynamic(DynamicAck { thresholds: [2, 5, 9], timer })),
    ]
}

fn recovery() -> impl Strategy<Value = Recovery> {
    let reduction = prop_oneof![
        Just(Reduction::AtOnce),
        Just(Reduction::Proportional),
        Just(Reduction::Proportional6937)
    ];
    prop_oneof![
        Just(Recovery::NewReno),
        (any::<[bool; 3]>(), reduction).prop_map(|([rack, f_rto, undo], reduction)| {
            Recovery::Sack(Sack { rack, reduction, f_rto, undo })
        })
    ]
}

fn ecn() -> impl Strategy<Value = Ecn> {
    let accurate =
        any::<[bool; 2]>().prop_map(|[option, wraps]| Ecn::Accurate(AccurateEcn { option, wraps }));
    prop_oneof![Just(Ecn::Off), Just(Ecn::Classic), Just(Ecn::EachMark), accurate]
}

fn fec() -> impl Strategy<Value = Fec> {
    let parity = prop_oneof![
        Just(Parity::None),
        (0.0..3.0f64).prop_map(|margin| Parity::Normal(Normal { margin })),
        (0.1..0.99f64).prop_map(|coverage| Parity::Binomial(Binomial { coverage })),
    ];
    let verify = prop::bool::weighted(0.1);
    (parity, 0.1..1.0f64, 2..20u64, 1..400u64, 1..400u64, any::<bool>(), verify).prop_map(
        |(parity, weight, units, smallest, step, reactive, verify)| {
            let granularity = Granularity { units, smallest, step };
            Fec { parity, weight, granularity, reactive, verify, ..Fec::default() }
        },
    )
}

prop_compose! {
    fn config()(
        mss in 1..1500u64,
        segments in 1..60u64,
        rest in 0..100u64,
        initial_window in 1..11u32,
        delayed_ack in delayed_ack(),
        recovery in recovery(),
        (ecn, fec) in (ecn(), prop_oneof![2 => Just(None), 1 => fec().prop_map(Some)]),
        [timestamps, limited_transmit, restart_after_idle, fin, pad_last, tick, pacing, reads] in
            any::<[bool; 8]>(),
    ) -> Config {
        Config {
            mss: Some(Bytes(mss)),
            window: Some(Bytes(mss * segments + rest)),
            initial_window: Some(Segments(f64::from(initial_window))),
            timestamps,
            recovery,
            ecn,
            fec,
            pacing,
            reads,
            limited_transmit,
            restart_after_idle,
            delayed_ack,
            close: if fin { Close::Fin } else { Close::None },
            pad_last,
            rto_min: Some(Duration::from_millis(200)),
            rtt_tick: Duration::from_millis(if tick { 10 } else { 0 }),
            ..plain()
        }
    }
}

fn transfer(
    config: &Config,
    paths: (Path, Path),
    writes: &[(u64, u64)],
    seed: u64,
) -> Result<(), TestCaseError> {
    let counting =
        if seed.is_multiple_of(2) { Counting::Acks } else { Counting::Bytes { limit: 2 } };
    let control = Box::new(NewReno::from(config).counting(counting));
    let mut pipe = Pipe::seeded(config, control, paths.0, paths.1, seed);
    pipe.act(Duration::ZERO, Act::Open);
    let mut at = Duration::ZERO;
    let mut written = 0;
    for &(amount, gap_ms) in writes {
        at += Duration::from_millis(gap_ms);
        pipe.act(at, Act::Write(amount));
        let mss = config.mss().0;
        written += if config.pad_last { amount.next_multiple_of(mss) } else { amount };
    }
    pipe.act(at, Act::Close);
    // If half of all segments are lost, timeouts stay long: each segment takes its time.
    pipe.run(Duration::from_secs(100_000 + 100 * written.div_ceil(config.mss().0)));
    let outcome = &pipe.outcome;
    prop_assert_eq!(outcome.delivered, written);
    prop_assert!(outcome.connected.is_some() && outcome.acknowledged.is_some());
    prop_assert!(outcome.sender_closed.is_some());
    prop_assert_eq!(outcome.receiver_closed.is_some(), config.close == Close::Fin);
    prop_assert_eq!(pipe.sender.in_flight_bytes(), 0);
    // Each expiry retransmits a segment or sends one acknowledgement: timers cause no burst.
    prop_assert!(outcome.timer_events <= outcome.trace.len() as u64);
    let counters = pipe.sender.counters();
    // Without a scoreboard, a retransmission may also carry new data.
    prop_assert!(counters.segments >= written.div_ceil(config.mss().0));
    prop_assert!(counters.retransmissions < counters.segments || written == 0);
    prop_assert!(counters.bytes >= written);
    prop_assert!(counters.duplicate_acks <= counters.acks_received);
    let (received, verify) = (pipe.receiver.counters(), config.fec.is_some_and(|fec| fec.verify));
    prop_assert_eq!(received.verified, if verify { received.decoded } else { 0 });
    prop_assert!(received.recovered >= received.decoded);
    prop_assert!(counters.parity_bytes <= counters.bytes);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_connection_completes(
        config in config(),
        paths in (path(), path()),
        writes in prop::collection::vec((0..30_000u64, 0..3_000u64), 0..4),
        seed in any::<u64>(),
    ) {
        transfer(&config, paths, &writes, seed)?;
    }
}

/// Any segment, near the connection's sequence numbers or far from them.
fn noise() -> impl Strategy<Value = Segment> {
    let number = || prop_oneof![0..5_000u64, any::<u64>(), Just(u64::MAX)];
    let stamp = prop::option::of((any::<u64>(), any::<u64>()));
    let blocks = prop::collection::vec((number(), number()), 0..5);
    let fields = (number(), number(), prop_oneof![0..3_000u32, any::<u32>()], number());
    let unit = (number(), prop_oneof![0..3_000u32, any::<u32>()], 1..=u8::MAX, any::<u8>());
    let coded = prop::option::of(unit.prop_map(|(unit, span, data, index)| {
        let data = NonZeroU8::new(data).expect("at least 1");
        Coded { unit, span, data, index }
    }));
    (fields, any::<u16>(), any::<bool>(), stamp, blocks, coded).prop_map(
        |((seq, ack, len, window), flags, forward, stamp, blocks, coded)| Segment {
            flow: FLOW,
            connection: 3,
            forward,
            seq,
            len,
            ack,
            window,
            flags: Flags(flags),
            timestamps: stamp
                .map(|(value, echo)| Timestamps { value: Instant(value), echo: Instant(echo) }),
            sack: blocks.into_iter().fold(SackBlocks::NONE, |mut all, (start, end)| {
                all.push(SackBlock { start, end });
                all
            }),
            coded,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn noise_harms_no_machine(
        config in config(),
        huge in any::<bool>(),
        events in prop::collection::vec((noise(), 0..9u8, 0..50_000_000u64), 1..100),
    ) {
        let window = if huge { Some(Bytes(u64::MAX)) } else { config.window };
        let config = Config { window, ..config };
        let mut sender = Sender::new(FLOW, 3, &config, Box::new(NewReno::from(&config)));
        let mut receiver = Receiver::new(FLOW, 3, &config);
        let mut now = Instant::ZERO;
        let mut out = Vec::new();
        sender.on_open(now, &mut out);
        sender.on_data(now, Bytes(3_000), &mut out);
        for (segment, what, later) in events {
            now += Duration(later);
            match what {
                0 => sender.on_timer(now, TimerId::Retransmit, &mut out),
                1 => receiver.on_timer(now, TimerId::Retransmit, &mut out),
                2 => sender.on_timer(now, TimerId::Pacing, &mut out),
                3 => receiver.on_read(now, Bytes(u64::from(segment.len)), &mut out),
                4 if segment.len == 1 => sender.on_stop(now, &mut out),
                _ => {
                    sender.on_segment(now, &segment, &mut out);
                    receiver.on_segment(now, &segment, &mut out);
                }
            }
            // A segment has at least one byte, and none is sent without a request.
            prop_assert!(out.len() <= 8_000);
            out.clear();
            prop_assert!(sender.window_segments() >= 1.0);
            prop_assert!(sender.in_flight_bytes() <= 3_001);
            prop_assert!(sender.rto() <= config.rto_max);
        }
    }
}
