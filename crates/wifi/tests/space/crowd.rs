//! Crowds: what is left out where very many nodes begin to send at one instant changes nothing.

use crate::drive::{Driver, Load, News};
use crate::network::{link, mac};
use kernel::{BitRate, Bytes, Db, Dbm, Duration, Instant, Seed};
use wifi::Counters;
use wifi::phy::DOT11A;
use wifi::phy::error::Nist;
use wifi::phy::propagation::{LogDistance, Path, Position, Propagation};
use wifi::space::{Capture, Heard, Losses, Radio, Site, SpaceConfig};

/// So many nodes that there is no room for all that hear each of them.
const NODES: u32 = 1500;

/// A model that does not say that its losses depend on the distance alone: no crowd is recognised.
#[derive(Debug)]
struct Unknown(LogDistance);

impl Propagation for Unknown {
    fn loss(&self, path: &Path) -> Db {
        self.0.loss(path)
    }
}

type Account = (Vec<(Instant, News)>, Vec<Heard>, Vec<Counters>);

/// Most nodes stand about the access point, 100 of them 40 to 100 m away, so that some sense
/// nothing of a single frame there and send at any time. Frames have two lengths.
fn run(model: Box<dyn Propagation>, capture: Option<Capture>) -> Account {
    let seed = Seed { root: 11, replication: 0 };
    let mut rng = seed.stream("test", 0);
    let site = |node: u32| {
        let metres = if node.is_multiple_of(15) { 40.0 + 60.0 * rng.uniform() } else { 8.0 };
        let angle = 6.283 * rng.uniform();
        let (x, y) = (metres * libm::cos(angle), metres * libm::sin(angle));
        let position = if node == 0 { Position::default() } else { Position { x, y, z: 0.0 } };
        let tx_power = Dbm(16.0206);
        Site { trajectory: position.into(), channel: 1, tx_power, is_access_point: node == 0 }
    };
    let sites = (0..NODES).map(site).collect();
    let mut radio = Radio::new(Losses::Places(model), Box::new(Nist {}));
    radio.receiver.capture = capture;
    let mode = DOT11A.mode(BitRate::from_mbps(6.0)).unwrap();
    let links = (1..NODES).map(|node| (0, node, link(mode))).collect();
    let config = SpaceConfig { mac: mac(&DOT11A), radio, nav_reset: true, sites, links };
    let mut driver = Driver::new(config, &seed);
    driver.space.watch();
    for node in 1..NODES {
        let size = Bytes(if node.is_multiple_of(9) { 300 } else { 60 });
        let late = if node.is_multiple_of(15) { rng.up_to(3000) } else { 0 };
        let at = Instant::ZERO + Duration::from_micros(u64::from(late));
        driver.announce(at, node, Load { number: u64::from(node), to: Some(0), size });
    }
    let mut all = Vec::new();
    let end = Instant::ZERO + Duration::from_millis(6);
    driver.run_until(end, &mut |now, news| all.push((now, news)));
    let heard = driver.space.take_heard().collect();
    (all, heard, (0..NODES).map(|node| *driver.space.counters(node)).collect())
}

#[test]
fn crowds_are_heard_as_if_every_power_were_computed() {
    for capture in [None, Some(Capture { margin: Db(5.0), window: Duration::from_micros(16) })] {
        let known = run(Box::new(LogDistance::default()), capture);
        let (news, heard, counters) = run(Box::new(Unknown(LogDistance::default())), capture);
        let attempts: u64 = counters.iter().map(|counters| counters.attempts).sum();
        assert!(attempts > 2000 && heard.len() > 500, "{attempts} {}", heard.len());
        assert!(known.0 == news, "what came up, or left");
        assert!(known.1 == heard, "what nodes heard");
        assert!(known.2 == counters, "what they counted");
    }
}
