//! Known defects of other simulators that no timed script can show. Each test is named after its
//! subject. `docs/tcp-conformance.md` has the whole list.

use crate::controls;
use crate::pipe::{Act, Path, Pipe};
use crate::plain::plain;
use kernel::{Bytes, Duration, Instant, Segments};
use proptest::prelude::*;
use std::sync::mpsc;
use tcp::control::{Bbr, Bbr3, Bbr3Config, BbrConfig, NewReno};
use tcp::{Ack, Close, Command, Config, Control, Loss, Recovery, Reduction, Sack, Sender, State};
use wire::{Flags, FlowId, SackBlock, SackBlocks, Segment};

/// A congestion control with a constant window that reports its calls.
#[derive(Debug)]
struct Told(f64, mpsc::Sender<Ack>);

impl Control for Told {
    fn window(&self) -> Segments {
        Segments(self.0)
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.1.send(*ack).expect("somebody listens");
    }

    fn on_loss(&mut self, _: &Loss) {}
}

fn config() -> Config {
    Config { mss: Some(Bytes(1000)), window: Some(Bytes(40_000)), ..plain() }
}

fn all_reductions() -> [Recovery; 4] {
    let sack = |rack, reduction| Recovery::Sack(Sack { rack, reduction, ..Sack::default() });
    [
        Recovery::NewReno,
        sack(false, Reduction::AtOnce),
        sack(false, Reduction::Proportional),
        sack(true, Reduction::Proportional),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever is lost, reordered or duplicated, the sum of the delivered data that the congestion
    /// control sees is each byte once.
    #[test]
    fn bytes_acknowledged_are_counted_once(
        which in 0..4_usize,
        loss in 0.0..0.15f64,
        jitter_us in 0..20_000u64,
        duplication in 0.0..0.1f64,
        seed in any::<u64>(),
    ) {
        let config = Config { recovery: all_reductions()[which], close: Close::None, ..config() };
        let (tell, told) = mpsc::channel();
        let forward = Path {
            loss,
            duplication,
            jitter: Duration::from_micros(jitter_us),
            ..Path::clean(Duration::from_millis(20))
        };
        let back = Path { loss, ..Path::clean(Duration::from_millis(20)) };
        let control = Box::new(Told(12.0, tell));
        let mut pipe = Pipe::seeded(&config, control, forward, back, seed);
        pipe.act(Duration::ZERO, Act::Open);
        pipe.act(Duration::ZERO, Act::Write(300_000));
        pipe.act(Duration::ZERO, Act::Close);
        pipe.run(Duration::from_secs(10_000));
        let told: Vec<Ack> = told.try_iter().collect();
        let delivered: f64 = told.iter().map(|ack| ack.delivered.0).sum();
        let acked: f64 = told.iter().map(|ack| ack.acked.0).sum();
        if config.sack().is_some() {
            prop_assert!((delivered - 300.0).abs() < 1e-6, "{} delivered", delivered);
            prop_assert!(told.iter().all(|ack| ack.delivered.0 <= 41.0));
        } else {
            prop_assert!(acked <= 300.0 + 1e-6, "{} acknowledged", acked);
        }
        prop_assert_eq!(pipe.outcome.delivered, 300_000);
    }

    /// No connection stalls: while data is outstanding, a segment is sent or arrives within the
    /// maximum timeout, with any congestion control, and all data arrives.
    #[test]
    fn no_stall_is_longer_than_the_greatest_timeout(
        which in 0..controls::all().len(),
        recovery in 0..4_usize,
        loss in 0.0..0.2f64,
        jitter_us in 0..20_000u64,
        seed in any::<u64>(),
    ) {
        let config = Config {
            recovery: all_reductions()[recovery],
            rto_min: Some(Duration::from_millis(200)),
            rto_max: Duration::from_secs(10),
            ..config()
        };
        let lossy = |jitter_us| Path {
            loss,
            jitter: Duration::from_micros(jitter_us),
            spacing: Duration::from_micros(500),
            ..Path::clean(Duration::from_millis(20))
        };
        let control = controls::make(which, &config);
        let mut pipe = Pipe::seeded(&config, control, lossy(jitter_us), lossy(0), seed);
        pipe.act(Duration::ZERO, Act::Open);
        pipe.act(Duration::ZERO, Act::Write(200_000));
        pipe.act(Duration::ZERO, Act::Close);
        // The pipe asserts after each event that windows are at least one segment, and that no
        // timer is set for later than the maximum timeout.
        pipe.run(Duration::from_secs(100_000));
        prop_assert_eq!(pipe.outcome.delivered, 200_000);
        prop_assert!(pipe.outcome.sender_closed.is_some());
        let acknowledged = pipe.outcome.acknowledged.expect("told");
        let times = pipe.outcome.trace.iter().map(|(at, _)| *at).filter(|at| *at <= acknowledged);
        let times: Vec<Instant> = times.collect();
        let longest = times.windows(2).map(|pair| pair[1].since(pair[0])).max();
        // A timeout, and the delay to the other end.
        let bound = config.rto_max + Duration::from_millis(200);
        prop_assert!(longest <= Some(bound), "{:?}", longest);
    }
}

/// A connected sender with `window` segments in flight, its commands, and the next acknowledgement.
fn connected(config: &Config, control: Box<dyn Control>) -> (Sender, Vec<Command>, Segment) {
    let mut sender = Sender::new(FlowId(0), 0, config, control);
    let mut out = Vec::new();
    sender.on_open(Instant::ZERO, &mut out);
    sender.on_data(Instant::ZERO, Bytes(u64::MAX), &mut out);
    let mut ack = Segment {
        flow: FlowId(0),
        connection: 0,
        forward: false,
        seq: 0,
        len: 0,
        ack: 1,
        window: 1 << 40,
        flags: Flags::SYN.and(Flags::ACK),
        timestamps: None,
        sack: SackBlocks::PERMITTED,
        coded: None,
    };
    out.clear();
    sender.on_segment(Instant::ZERO + Duration::from_millis(10), &ack, &mut out);
    (ack.seq, ack.flags, ack.sack) = (1, Flags::ACK, SackBlocks::NONE);
    (sender, out, ack)
}

/// Recovery starts beyond 2^32 bytes, after sequence numbers have advanced by steps of any size.
#[test]
fn recovery_is_entered_after_a_large_sequence_jump() {
    let config = Config { mss: Some(Bytes(60_000)), window: Some(Bytes(1 << 40)), ..config() };
    let control = Box::new(NewReno::new(Segments(1000.0), Some(Segments(1000.0))));
    let (mut sender, mut out, mut ack) = connected(&config, control);
    let mut now = Instant::ZERO + Duration::from_millis(10);
    // Each acknowledgement covers a whole window of 60 MB.
    while ack.ack < (1 << 34) {
        now += Duration::from_millis(10);
        ack.ack += sender.outstanding_bytes();
        out.clear();
        sender.on_segment(now, &ack, &mut out);
    }
    let first = ack.ack;
    assert_eq!(sender.state(), State::Open);
    for n in 1..=3 {
        now += Duration::from_millis(1);
        ack.sack = SackBlocks::NONE;
        ack.sack.push(SackBlock { start: first + 60_000, end: first + 60_000 * (n + 1) });
        out.clear();
        sender.on_segment(now, &ack, &mut out);
    }
    assert_eq!(sender.state(), State::Recovery);
    let resent = |c: &Command| matches!(c, Command::Send(s) if s.seq == first && s.len == 60_000);
    assert!(out.iter().any(resent), "{out:?}");
}

/// A window beyond 2^32 bytes is reduced in proportion; the product does not wrap.
#[test]
fn a_reduction_of_large_windows_does_not_wrap() {
    let config = Config { mss: Some(Bytes(60_000)), window: Some(Bytes(1 << 40)), ..config() };
    let control = Box::new(NewReno::new(Segments(100_000.0), Some(Segments(100_000.0))));
    let (mut sender, mut out, mut ack) = connected(&config, control);
    let mut now = Instant::ZERO + Duration::from_millis(10);
    assert_eq!(sender.outstanding_bytes(), 6_000_000_000);
    let mut sent = 0;
    for n in 1..100_000_u64 {
        now += Duration::from_micros(1);
        ack.sack = SackBlocks::NONE;
        ack.sack.push(SackBlock { start: 60_001, end: 60_001 + 60_000 * n });
        out.clear();
        sender.on_segment(now, &ack, &mut out);
        sent += out.iter().filter(|c| matches!(c, Command::Send(_))).count();
    }
    assert_eq!(sender.ssthresh_segments(), Some(50_000.0));
    let in_flight = sender.in_flight_bytes() / 60_000;
    assert!((49_990..=50_010).contains(&in_flight), "{in_flight} in flight");
    assert!((49_990..=50_010).contains(&sent), "{sent} sent: every second");
}

/// Round-trip times of minutes cause no overflow in `HyStart++`.
#[test]
fn hystart_bears_long_round_trips() {
    let mut control = NewReno::from(&config()).hystart(false);
    for round in 1..50_u64 {
        let rtt = Duration::from_secs(1_000_000 * round);
        for n in 0..10 {
            let now = Instant::ZERO + rtt * round;
            control.on_ack(&Ack {
                now,
                acked: Segments(1.0),
                delivered: Segments(1.0),
                lost: Segments(0.0),
                in_flight: Segments(f64::from(9 - n)),
                rtt: Some(rtt),
                srtt: rtt,
                rtt_min: rtt,
                delivery: None,
                due: Instant::ZERO,
                may_grow: true,
                recovery: false,
                after_timeout: false,
                forward_delay: None,
                ecn_echo: false,
                marked: Segments(0.0),
            });
        }
    }
    let mut threshold = 0.0;
    control.gauges(&mut |name, value| {
        if name == "ssthresh_segments" {
            threshold = value;
        }
    });
    assert!(threshold.is_finite(), "the delay rose: slow start has ended");
}

/// BBR takes a longer round trip as the minimum once the shorter one is ten seconds old, and not
/// before.
#[test]
fn bbr_measures_the_least_round_trip_anew() {
    let kinds: [Box<dyn Control>; 2] = [
        Box::new(Bbr::new(&config(), BbrConfig::default())),
        Box::new(Bbr3::new(&config(), Bbr3Config::default())),
    ];
    for mut control in kinds {
        let mut seen = Vec::new();
        for step in 0..250_u64 {
            let rtt = Duration::from_millis(if step == 0 { 50 } else { 80 });
            control.on_ack(&Ack {
                now: Instant::ZERO + Duration::from_millis(100 * step),
                acked: Segments(1.0),
                delivered: Segments(1.0),
                lost: Segments(0.0),
                in_flight: Segments(1.0),
                rtt: Some(rtt),
                srtt: rtt,
                rtt_min: Duration::from_millis(50),
                delivery: None,
                due: Instant::ZERO,
                may_grow: false,
                recovery: false,
                after_timeout: false,
                forward_delay: None,
                ecn_echo: false,
                marked: Segments(0.0),
            });
            control.gauges(&mut |name, value| {
                if name == "rtt_min_s" {
                    seen.push(value);
                }
            });
        }
        assert!(seen[..100].iter().all(|rtt| *rtt == 0.05), "forgotten too early");
        assert!(seen[110..].iter().all(|rtt| *rtt == 0.08), "{:?}", &seen[95..115]);
    }
}
