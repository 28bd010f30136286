//! BBR version 3 over a bottleneck: the test cases of draft-ietf-ccwg-bbr, §10, and its fairness.

use crate::dumbbell::{Bottleneck, Dumbbell};
use crate::plain::plain;
use kernel::{BitRate, Bytes, Duration, Segments};
use std::sync::mpsc;
use tcp::control::{Bbr, Bbr3, Bbr3Config, BbrConfig, Cubic, CubicConfig, Event, NewReno, Wants};
use tcp::{Ack, Config, Control, Ecn, Loss};

const MBPS: f64 = 20.0;
const RTT_S: f64 = 0.04;
/// The bandwidth-delay product, in segments with their headers.
const PRODUCT: f64 = MBPS * 1e6 * RTT_S / 8.0 / 1512.0;
/// The share of the rate that data has.
const GOODPUT: f64 = MBPS * 1460.0 / 1512.0;

/// The gauges of a congestion control after an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Shown {
    at_s: f64,
    gain: f64,
    rate_mbps: f64,
    high: f64,
    low: f64,
    window: f64,
    in_flight: f64,
    lost: f64,
}

/// A congestion control that reports its gauges.
#[derive(Debug)]
struct Watched(Bbr3, mpsc::Sender<Shown>);

impl Control for Watched {
    fn window(&self) -> Segments {
        self.0.window()
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(ack);
        let gauge = |wanted| {
            let mut found = f64::NAN;
            self.0.gauges(&mut |name, value| found = if name == wanted { value } else { found });
            found
        };
        let shown = Shown {
            at_s: ack.now.as_secs_f64(),
            gain: gauge("pacing_gain"),
            rate_mbps: gauge("rate_mbps"),
            high: gauge("inflight_high_segments"),
            low: gauge("inflight_low_segments"),
            window: self.0.window().0,
            in_flight: ack.in_flight.0,
            lost: ack.lost.0,
        };
        self.1.send(shown).expect("somebody listens");
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }

    fn on_event(&mut self, event: Event<'_>) {
        self.0.on_event(event);
    }

    fn wants(&self) -> Wants {
        self.0.wants()
    }
}

fn config() -> Config {
    Config { window: Some(Bytes(1 << 28)), timestamps: true, header: Some(Bytes(52)), ..plain() }
}

fn path(products: f64) -> Bottleneck {
    let limit = (products * PRODUCT) as usize;
    let rtt = Duration::from_secs_f64(RTT_S);
    Bottleneck { rate: BitRate::from_mbps(MBPS), rtt, limit, mark: limit }
}

fn bbr3(config: &Config) -> Box<dyn Control> {
    Box::new(Bbr3::new(config, Bbr3Config::default()))
}

/// Flows that all open at the start.
fn run(config: &Config, path: Bottleneck, flows: Vec<Box<dyn Control>>, end_s: f64) -> Dumbbell {
    let flows = flows.into_iter().map(|control| (Duration::ZERO, control)).collect();
    let mut net = Dumbbell::new(config, path, flows, Duration::from_millis(10));
    net.run(Duration::from_secs_f64(end_s));
    net
}

fn watch(path: Bottleneck, end_s: f64) -> (Dumbbell, Vec<Shown>) {
    let (tell, told) = mpsc::channel();
    let config = config();
    let control = Box::new(Watched(Bbr3::new(&config, Bbr3Config::default()), tell));
    let net = run(&config, path, vec![control], end_s);
    (net, told.try_iter().collect())
}

fn mbps(net: &Dumbbell, from_s: f64, to_s: f64) -> Vec<f64> {
    let share = |bytes: &f64| bytes * 8e-6 / (to_s - from_s);
    net.shares(from_s, to_s).iter().map(share).collect()
}

/// The gains in the order of their occurrence, each once.
fn phases(shown: &[Shown]) -> Vec<f64> {
    let mut gains: Vec<f64> = shown.iter().map(|shown| shown.gain).collect();
    gains.dedup();
    gains
}

#[test]
fn startup_ends_on_a_plateau_of_the_rate_and_the_cycle_follows() {
    // §10.1, §10.3, §10.5 and §10.8.
    let (_, shown) = watch(path(10.0), 4.5);
    let phases = phases(&shown);
    // Startup, drain, cruise and refill (the queue is empty), up, down, cruise.
    assert_eq!(phases[..6], [2.77, 0.5, 1.0, 1.25, 0.9, 1.0], "{phases:?}");
    let first = |gain: f64| *shown.iter().find(|shown| shown.gain == gain).unwrap();
    let rate = first(0.5).rate_mbps / GOODPUT;
    assert!((rate - 1.0).abs() < 0.02, "{rate} of the path's rate as startup ends");
    assert!(first(1.0).in_flight <= PRODUCT + 4.0, "drained: {:?}", first(1.0));
    assert!(first(1.25).at_s - first(1.0).at_s <= 3.1, "a probe within 2 to 3 s");
    assert!(shown.iter().all(|shown| shown.high.is_infinite() && shown.low.is_infinite()));
}

#[test]
fn the_least_delay_is_measured_with_half_a_product_every_five_seconds_or_more() {
    // §10.10.
    let (_, shown) = watch(path(2.0), 30.0);
    let small = |shown: &&Shown| shown.window < 0.6 * PRODUCT && shown.at_s > 2.0;
    let mut episodes: Vec<f64> = Vec::new();
    let mut last = 0.0;
    for shown in shown.iter().filter(small) {
        if shown.at_s - last > 1.0 {
            episodes.push(shown.at_s);
        }
        last = shown.at_s;
    }
    assert!(episodes.len() >= 4, "{episodes:?}");
    let gaps: Vec<f64> = episodes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Later than that if a lower delay was measured meanwhile.
    assert!(gaps.iter().all(|gap| (5.0..10.0).contains(gap)), "{gaps:?}");
    let least = shown.iter().filter(small).map(|shown| shown.window).fold(f64::MAX, f64::min);
    assert!((0.45..0.55).contains(&(least / PRODUCT)), "{least} of {PRODUCT}");
}

#[test]
fn a_probe_that_loses_ends_and_bounds_what_is_in_flight() {
    // §10.6, §10.21: with a queue of a fifth of the bandwidth-delay product, a probe with gain 1.25
    // causes losses.
    let (net, shown) = watch(path(0.2), 20.0);
    let up = |shown: &Shown| shown.gain == 1.25;
    let ended = shown.windows(2).filter(|pair| up(&pair[0]) && pair[1].gain == 0.9);
    let by_loss: Vec<&[Shown]> = ended.filter(|pair| pair[1].lost > 0.0).collect();
    assert!(!by_loss.is_empty(), "no probe was ended by a loss");
    for pair in by_loss {
        let high = pair[1].high / PRODUCT;
        assert!((0.7..1.4).contains(&high), "bounded at {high} products");
    }
    // §2.8: headroom is left in cruise.
    let settled = shown.iter().filter(|shown| shown.at_s > 2.0 && shown.gain == 1.0);
    let cruising = settled.filter(|shown| shown.high.is_finite());
    assert!(cruising.clone().count() > 100);
    let roomy = cruising.filter(|shown| shown.window <= 0.85 * shown.high + 1e-6).count();
    assert!(roomy > 100, "{roomy}");
    let used = mbps(&net, 5.0, 20.0)[0] / GOODPUT;
    assert!(used > 0.85, "{used} of the path");
}

#[test]
fn it_loses_less_than_version_1_where_the_queue_is_short() {
    let lossy = |control: Box<dyn Control>| {
        let net = run(&config(), path(0.2), vec![control], 20.0);
        let delivered = net.shares(0.01, 19.9)[0] / 1460.0;
        (net.drops as f64 / delivered, mbps(&net, 5.0, 19.9)[0] / GOODPUT)
    };
    let (three, used) = lossy(bbr3(&config()));
    let (one, used_one) = lossy(Box::new(Bbr::new(&config(), BbrConfig::default())));
    println!("v3 loses {three:.4}, uses {used:.3}; v1 loses {one:.4}, uses {used_one:.3}");
    assert!(three < 0.02, "{three}");
    assert!(three < one, "{three} against {one}");
}

#[test]
fn it_shares_with_renos_and_cubics() {
    let renos: Box<dyn Control> = Box::new(NewReno::from(&config()));
    let cubic: Box<dyn Control> = Box::new(Cubic::new(&config(), CubicConfig::default()));
    for (name, other) in [("new_reno", renos), ("cubic", cubic)] {
        let net = run(&config(), path(1.5), vec![bbr3(&config()), other], 120.0);
        let shares = mbps(&net, 20.0, 120.0);
        let part = shares[0] / (shares[0] + shares[1]);
        println!("beside {name} it gets {part:.3}");
        assert!((0.2..0.8).contains(&part), "beside {name} it gets {part}");
        assert!(shares[0] + shares[1] > 0.9 * GOODPUT, "{shares:?}");
    }
}

#[test]
fn a_latecomer_gets_its_part() {
    let config = config();
    let at = |s: u64, control| (Duration::from_secs(s), control);
    let flows = vec![at(0, bbr3(&config)), at(10, bbr3(&config))];
    let mut net = Dumbbell::new(&config, path(2.0), flows, Duration::from_millis(100));
    net.run(Duration::from_secs(91));
    let shares = mbps(&net, 40.0, 90.0);
    let part = shares[1] / (shares[0] + shares[1]);
    assert!((0.4..0.6).contains(&part), "{part}");
}

#[test]
fn marks_hold_the_queue_down() {
    let marked = Bottleneck { mark: (0.25 * PRODUCT) as usize, ..path(4.0) };
    let mean = |config: &Config| {
        let net = run(config, marked, vec![bbr3(config), bbr3(config)], 40.0);
        assert_eq!(net.drops, 0);
        let late: Vec<f64> = net.samples.iter().skip(1000).map(|s| s.queued as f64).collect();
        let used: f64 = mbps(&net, 10.0, 39.9).iter().sum::<f64>() / GOODPUT;
        (late.iter().sum::<f64>() / late.len() as f64 / PRODUCT, used)
    };
    let (without, _) = mean(&config());
    let (with, used) = mean(&Config { ecn: Ecn::EachMark, ..config() });
    println!("{with:.3} products queued with marks, {without:.3} without; {used:.3} used");
    assert!(with < without, "{with} against {without}");
    assert!(used > 0.85, "{used}");
}
