//! Crowds: bounds of the powers of many nodes that begin to transmit at one instant give the same
//! results as the exact powers.

use crate::drive::{Driver, Load, MsduReport};
use crate::network::{link, mac};
use kernel::{BitRate, Bytes, Db, Dbm, Duration, Instant, Seed};
use wifi::Counters;
use wifi::phy::DOT11A;
use wifi::phy::error::Nist;
use wifi::phy::propagation::{LogDistance, Path, Position, Propagation};
use wifi::space::{Capture, Losses, Radio, ReceivedFrame, Site, SpaceConfig};

/// With this many nodes the receiver sets do not fit in memory.
const NODES: u32 = 2000;

/// A model that does not report that its loss depends on the distance alone, so that no crowd is
/// formed.
#[derive(Debug)]
struct Unknown(LogDistance);

impl Propagation for Unknown {
    fn loss(&self, path: &Path) -> Db {
        self.0.loss(path)
    }
}

type Account = (Vec<(Instant, MsduReport)>, Vec<ReceivedFrame>, Vec<Counters>);

/// Most nodes are around the access point. A few are 200 m away, where they sense a crowd but
/// detect no preamble of it. Others are 120 m farther and transmit to those at 200 m with more
/// power, at any time. Frames have two lengths.
fn run(model: Box<dyn Propagation>, capture: Option<Capture>) -> Account {
    let seed = Seed { root: 11, replication: 0 };
    let mut rng = seed.stream("test", 0);
    let site = |node: u32| {
        let (x, power) = match node % 30 {
            _ if node == 0 => (0.0, 16.0),
            7 => (200.0, 16.0),
            22 => (320.0, 40.0),
            _ => (0.0, 16.0),
        };
        let angle = std::f64::consts::TAU * rng.uniform();
        let (x, y) = (x + 2.0 * libm::cos(angle), 2.0 * libm::sin(angle));
        let (trajectory, tx_power) = (Position { x, y, z: 0.0 }.into(), Dbm(power));
        Site { trajectory, channel: 1, tx_power, is_access_point: node == 0 }
    };
    let sites = (0..NODES).map(site).collect();
    let mut radio = Radio::new(Losses::Places(model), Box::new(Nist {}));
    (radio.receiver.capture, radio.receiver.energy) = (capture, Dbm(-95.0));
    let mode = DOT11A.mode(BitRate::from_mbps(6.0)).unwrap();
    let to = |node: u32| if node % 30 == 22 { node - 15 } else { 0 };
    let links = (1..NODES).map(|node| (to(node), node, link(mode))).collect();
    let config = SpaceConfig { mac: mac(&DOT11A), radio, nav_reset: true, sites, links };
    let mut driver = Driver::new(config, &seed);
    driver.space.listen();
    for node in 1..NODES {
        let size = Bytes(if node.is_multiple_of(40) { 300 } else { 60 });
        let late = if node % 30 == 22 { rng.up_to(3000) } else { 0 };
        let at = Instant::ZERO + Duration::from_micros(u64::from(late));
        driver.announce(at, node, Load { number: u64::from(node), to: Some(to(node)), size });
    }
    let mut all = Vec::new();
    let end = Instant::ZERO + Duration::from_millis(6);
    driver.run_until(end, &mut |now, report| all.push((now, report)));
    let heard = driver.space.take_heard();
    (all, heard, (0..NODES).map(|node| *driver.space.counters(node)).collect())
}

#[test]
fn crowds_give_the_results_of_exact_powers() {
    for capture in [None, Some(Capture { margin: Db(5.0), window: Duration::from_micros(16) })] {
        let known = run(Box::new(LogDistance::default()), capture);
        let (reports, heard, counters) = run(Box::new(Unknown(LogDistance::default())), capture);
        let attempts: u64 = counters.iter().map(|counters| counters.attempts).sum();
        assert!(attempts > 1800 && heard.len() > 100, "{attempts} {}", heard.len());
        assert!(known.0 == reports, "deliveries and outcomes");
        assert!(known.1 == heard, "receptions");
        assert!(known.2 == counters, "counters");
    }
}
