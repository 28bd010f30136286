//! DCTCP and Prague over a bottleneck that marks above a threshold, with accurate ECN.

use crate::dumbbell::{Bottleneck, Dumbbell};
use crate::plain::plain;
use kernel::{BitRate, Bytes, Duration};
use tcp::control::{Dctcp, DctcpConfig, Prague, PragueConfig};
use tcp::{AccurateEcn, Config, Control, Ecn};

fn config(ecn: Ecn) -> Config {
    let window = Some(Bytes(1 << 28));
    Config { window, timestamps: true, header: Some(Bytes(52)), ecn, ..plain() }
}

const ACCURATE: Ecn = Ecn::Accurate(AccurateEcn { option: true, wraps: true });

/// The mean queue in segments and the utilization from 2 s to 10 s.
fn measure(config: &Config, control: Box<dyn Control>, path: Bottleneck) -> (f64, f64) {
    let flows = vec![(Duration::ZERO, control)];
    let mut net = Dumbbell::new(config, path, flows, Duration::from_micros(970));
    net.run(Duration::from_secs(11));
    assert_eq!(net.drops, 0);
    let late = net.samples.iter().filter(|sample| (2.0..10.0).contains(&sample.at_s));
    let queued: Vec<f64> = late.map(|sample| sample.queued as f64).collect();
    let mean = queued.iter().sum::<f64>() / queued.len() as f64;
    let most = 8.0 * path.rate.as_mbps() * 1e6 / 8.0 * 1460.0 / 1512.0;
    (mean, net.shares(2.0, 10.0)[0] / most)
}

#[test]
fn dctcp_keeps_the_queue_at_the_threshold() {
    let (rate, rtt) = (BitRate::from_mbps(100.0), Duration::from_millis(1));
    let path = Bottleneck { rate, rtt, limit: 1000, mark: 20 };
    for (name, ecn) in [("each_mark", Ecn::EachMark), ("accurate", ACCURATE)] {
        for integers in [false, true] {
            let config = config(ecn);
            let settings = DctcpConfig { integers, ..DctcpConfig::default() };
            let (queue, used) = measure(&config, Box::new(Dctcp::new(&config, settings)), path);
            println!("{name}, integers {integers}: queue {queue:.1}, utilisation {used:.4}");
            assert!((queue - 20.0).abs() <= 2.0, "{name}, integers {integers}: {queue}");
            assert!(used > 0.99, "{name}: {used}");
        }
    }
}

#[test]
fn prague_keeps_the_queue_below_the_threshold() {
    let (rate, rtt) = (BitRate::from_mbps(40.0), Duration::from_millis(10));
    let path = Bottleneck { rate, rtt, limit: 1000, mark: 4 };
    let config = config(ACCURATE);
    let prague = || Box::new(Prague::new(&config, PragueConfig::default()));
    let (queue, used) = measure(&config, prague(), path);
    println!("prague: queue {queue:.2}, utilisation {used:.4}");
    assert!(queue < 5.0 && used > 0.9, "{queue} {used}");
}
