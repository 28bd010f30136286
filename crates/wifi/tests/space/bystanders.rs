//! Bystanders: nodes that follow the medium without a visit of each frame do and count what they
//! would with one.

use crate::drive::{Driver, Load, MsduReport};
use crate::network::{link, mac};
use kernel::{BitRate, Bytes, Dbm, Duration, Instant, Seed};
use wifi::Counters;
use wifi::phy::DOT11A;
use wifi::phy::error::Nist;
use wifi::phy::propagation::{LogDistance, Position};
use wifi::space::{Losses, Radio, Site, SpaceConfig};

const NODES: u32 = 30;

type Account = (Vec<(Instant, MsduReport)>, Vec<Counters>);

/// An access point and stations up to `radius` metres around it send packets of two sizes, of which
/// the longer have an RTS, and some broadcasts. A node that reports what it overhears is visited
/// with each frame.
fn run(root: u64, radius: f64, overhears: bool) -> Account {
    let seed = Seed { root, replication: 0 };
    let mut rng = seed.stream("test", 0);
    let site = |node: u32| {
        let distance = radius * f64::from(node) / f64::from(NODES);
        let angle = std::f64::consts::TAU * rng.uniform();
        let (x, y) = (distance * libm::cos(angle), distance * libm::sin(angle));
        let trajectory = Position { x, y, z: 0.0 }.into();
        Site { trajectory, channel: 1, tx_power: Dbm(16.0), is_access_point: node == 0 }
    };
    let sites = (0..NODES).map(site).collect();
    let radio = Radio::new(Losses::Places(Box::new(LogDistance::default())), Box::new(Nist {}));
    let mode = |node: u32| DOT11A.mode(BitRate::from_mbps([6.0, 24.0, 54.0][node as usize % 3]));
    let links = (1..NODES).map(|node| (0, node, link(mode(node).unwrap()))).collect();
    let mac = wifi::MacConfig { rts_threshold: Bytes(800), ..mac(&DOT11A) };
    let mut driver = Driver::new(SpaceConfig { mac, radio, nav_reset: true, sites, links }, &seed);
    if overhears {
        driver.space.overhear();
    }
    for number in 0..400 {
        let at = Instant::ZERO + Duration::from_micros(u64::from(rng.up_to(300_000)));
        let station = 1 + rng.up_to(NODES - 2);
        let size = Bytes(if number % 3 == 0 { 100 } else { 1000 });
        let (node, to) = match number % 4 {
            0 => (station, Some(0)),
            1 if number % 5 == 0 => (0, None),
            _ => (0, Some(station)),
        };
        driver.announce(at, node, Load { number, to, size });
    }
    let mut all = Vec::new();
    driver.run_until(Instant::ZERO + Duration::from_millis(600), &mut |now, report| {
        if !matches!(report, MsduReport::Overheard { .. }) {
            all.push((now, report));
        }
    });
    (all, (0..NODES).map(|node| *driver.space.counters(node)).collect())
}

#[test]
fn nodes_that_are_not_visited_with_each_frame_do_the_same() {
    for (root, radius) in (1..).zip([5.0, 20.0, 30.0, 40.0, 60.0, 90.0]) {
        let (visited, counted) = run(root, radius, true);
        let collisions: u64 = counted.iter().map(|counters| counters.collisions).sum();
        assert!(visited.len() > 400 && collisions > 0, "{} {collisions}", visited.len());
        let (reports, counters) = run(root, radius, false);
        assert!(reports == visited, "deliveries and outcomes at {radius} m");
        assert!(counters == counted, "counters at {radius} m");
    }
}
