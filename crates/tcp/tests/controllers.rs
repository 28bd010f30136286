//! Congestion controls over a bottleneck: fairness and utilization.

use crate::dumbbell::{Bottleneck, Dumbbell, jain};
use crate::plain::plain;
use kernel::{BitRate, Bytes, Duration};
use tcp::control::{
    Afw, AfwConfig, Bbr, Bbr3, Bbr3Config, BbrConfig, CrossLayer, CrossLayerConfig, Cubic,
    CubicConfig, Few, FewConfig, Lt, LtConfig, NewReno, Vegas, VegasConfig, Westwood,
    WestwoodConfig,
};
use tcp::{Config, Control, Ecn};

type Make = fn(&Config) -> Box<dyn Control>;

fn config() -> Config {
    Config { window: Some(Bytes(1 << 28)), timestamps: true, header: Some(Bytes(52)), ..plain() }
}

/// Two flows with one kind of congestion control share 10 Mb/s at 40 ms with 50 segments of queue
/// over 300 s from `first_s` on; the second opens a little later. Returns Jain's index and the
/// utilization.
fn share(config: &Config, make: Make, first_s: f64) -> (f64, f64) {
    let path = Bottleneck {
        rate: BitRate::from_mbps(10.0),
        rtt: Duration::from_millis(40),
        limit: 50,
        mark: 33,
    };
    let flows = [0.0, 0.137].map(|at_s| (Duration::from_secs_f64(at_s), make(config))).into_iter();
    let mut net = Dumbbell::new(config, path, flows.collect(), Duration::from_millis(500));
    let end_s = first_s + 300.0;
    net.run(Duration::from_secs_f64(end_s + 1.0));
    let shares = net.shares(first_s, end_s);
    let most = 300.0 * 10e6 / 8.0 * 1460.0 / 1512.0;
    (jain(&shares), shares.iter().sum::<f64>() / most)
}

#[test]
fn two_flows_of_a_kind_share_alike() {
    let kinds: [(&str, Make); 9] = [
        ("new_reno", |c| Box::new(NewReno::from(c))),
        ("new_reno, hystart", |c| Box::new(NewReno::from(c).hystart(false))),
        ("cubic", |c| Box::new(Cubic::new(c, CubicConfig::default()))),
        ("westwood", |c| Box::new(Westwood::new(c, WestwoodConfig::default()))),
        ("vegas", |c| Box::new(Vegas::new(c, VegasConfig::default()))),
        ("afw", |c| Box::new(Afw::new(c, AfwConfig::default()))),
        ("cross_layer", |c| {
            let inner = Box::new(Cubic::new(c, CubicConfig::default()));
            Box::new(CrossLayer::new(inner, &CrossLayerConfig::default(), c.mss()))
        }),
        ("bbr", |c| Box::new(Bbr::new(c, BbrConfig::default()))),
        ("bbr3", |c| Box::new(Bbr3::new(c, Bbr3Config::default()))),
    ];
    for (name, make) in kinds {
        let (index, used) = share(&config(), make, 10.0);
        println!("{name}: Jain {index:.4}, utilisation {used:.3}");
        assert!(index >= 0.99, "{name}: Jain {index}");
        assert!(used > 0.95, "{name}: utilisation {used}");
    }
}

/// Without marks, LT-TCP has no sign of congestion.
#[test]
fn two_flows_that_answer_to_marks_share_alike() {
    let config = Config { ecn: Ecn::Classic, ..config() };
    let lt: Make = |c| Box::new(Lt::new(c, LtConfig::default()));
    let abe: Make = |c| Box::new(NewReno::from(c).beta_ecn(0.8));
    for (name, make) in [("lt", lt), ("new_reno, RFC 8511", abe)] {
        let (index, used) = share(&config, make, 10.0);
        println!("{name}: Jain {index:.4}, utilisation {used:.3}");
        assert!(index >= 0.99, "{name}: Jain {index}");
        assert!(used > 0.95, "{name}: utilisation {used}");
    }
}

/// A hundredth of a segment per round trip: the difference of two flows is halved with each loss,
/// and losses are minutes apart.
#[test]
fn few_shares_alike_once_it_has_had_its_losses() {
    let few: Make = |c| Box::new(Few::new(c, FewConfig::default()));
    let (early, _) = share(&config(), few, 10.0);
    let (late, used) = share(&config(), few, 3000.0);
    println!("few: Jain {early:.4} at first, {late:.4} later, utilisation {used:.3}");
    assert!(late >= 0.99 && late > early, "{early} to {late}");
    assert!(used > 0.95, "{used}");
}

/// One flow over 50 Mb/s at 50 ms: between reductions, the window is the cubic function of the time
/// since the last one.
#[test]
fn cubic_follows_its_function_between_losses() {
    let path = Bottleneck {
        rate: BitRate::from_mbps(50.0),
        rtt: Duration::from_millis(50),
        limit: 200,
        mark: 200,
    };
    let config = config();
    // Fast convergence would put the plateau below the window of the loss.
    let settings = CubicConfig { friendly: false, fast_convergence: false, ..Default::default() };
    let control = Box::new(Cubic::new(&config, settings));
    let flows = vec![(Duration::ZERO, control as Box<dyn Control>)];
    let mut net = Dumbbell::new(&config, path, flows, Duration::from_millis(50));
    net.run(Duration::from_secs(120));
    let mut stages = 0;
    let mut worst = 0.0_f64;
    let losses: Vec<usize> = (1..net.samples.len())
        .filter(|&i| net.samples[i].fast_retransmits > net.samples[i - 1].fast_retransmits)
        .collect();
    for pair in losses.windows(2).skip(1) {
        // Recovery takes some round trips; the loss at the end is detected after one.
        let w_max = net.samples[pair[0] - 1].windows[0];
        let (first, last) = (pair[0] + 10, pair[1] - 2);
        let low = net.samples[pair[0] + 2].windows[0];
        let k = libm::cbrt((w_max - low) / 0.4);
        // The stage began when the window first rose above its minimum.
        let Some(start) =
            (pair[0]..last).find(|&i| net.samples[i].windows[0] > low * 1.0001).map(|i| i - 1)
        else {
            continue;
        };
        stages += 1;
        for sample in &net.samples[first..last] {
            let t = sample.at_s - net.samples[start].at_s;
            let wanted = 0.4 * (t - k).powi(3) + w_max;
            worst = worst.max((sample.windows[0] / wanted - 1.0).abs());
        }
    }
    println!("{stages} stages, worst deviation {:.2} %", 100.0 * worst);
    assert!(stages >= 3, "{stages} stages");
    assert!(worst < 0.02, "{worst}");
}

/// BBR fills 20 Mb/s at 100 ms and keeps less than 1.25 bandwidth-delay products in the queue,
/// which could hold four.
#[test]
fn bbr_keeps_the_queue_below_a_product_and_a_quarter() {
    let kinds: [(&str, Make); 2] = [
        ("bbr", |c| Box::new(Bbr::new(c, BbrConfig::default()))),
        ("bbr3", |c| Box::new(Bbr3::new(c, Bbr3Config::default()))),
    ];
    for (name, make) in kinds {
        let path = Bottleneck {
            rate: BitRate::from_mbps(20.0),
            rtt: Duration::from_millis(100),
            limit: 660,
            mark: 660,
        };
        let config = config();
        let flows = vec![(Duration::ZERO, make(&config))];
        let mut net = Dumbbell::new(&config, path, flows, Duration::from_millis(10));
        net.run(Duration::from_secs(60));
        let product = 20e6 * 0.1 / 8.0 / 1512.0;
        let settled = || net.samples.iter().filter(|sample| sample.at_s > 5.0);
        let most = settled().map(|sample| sample.queued).max().unwrap() as f64 / product;
        let mean = settled().map(|sample| sample.queued as f64).sum::<f64>()
            / settled().count() as f64
            / product;
        let used = net.shares(5.0, 60.0)[0] * 8.0 / 55.0 / (20e6 * 1460.0 / 1512.0);
        println!("{name}: queue {most:.2} at most, mean {mean:.3} products; {used:.3} used");
        assert!(most < 1.25 && mean < 0.25, "{name}: {most} {mean}");
        assert!(used > 0.93, "{name}: {used}");
    }
}
