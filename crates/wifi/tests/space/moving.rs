//! Nodes that move.

use crate::drive::{Driver, Load, MsduReport};
use crate::network::{link, mac};
use kernel::{BitRate, Bytes, Dbm, Duration, Instant, Seed};
use wifi::phy::error::Nist;
use wifi::phy::propagation::{LogDistance, Path, Position, Propagation, Trajectory};
use wifi::phy::{DOT11A, Milliwatts};
use wifi::space::{Losses, Radio, Site, SpaceConfig};

const SEED: Seed = Seed { root: 5, replication: 0 };
const TX_POWER: Dbm = Dbm(16.0206);

fn s(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn place(x: f64, y: f64) -> Position {
    Position { x, y, z: 1.5 }
}

/// Of these trajectories each but the first has a link to the first.
fn driver(trajectories: &[Trajectory], mbps: f64) -> Driver {
    let radio = Radio::new(Losses::Places(Box::new(LogDistance::default())), Box::new(Nist {}));
    let mode = link(DOT11A.mode(BitRate::from_mbps(mbps)).unwrap());
    let links = (1..trajectories.len() as u32).map(|node| (0, node, mode)).collect();
    let site = |trajectory: &Trajectory| Site {
        trajectory: trajectory.clone(),
        channel: 1,
        tx_power: TX_POWER,
        is_access_point: false,
    };
    let sites = trajectories.iter().map(site).collect();
    let config = SpaceConfig { mac: mac(&DOT11A), radio, nav_reset: true, sites, links };
    Driver::new(config, &SEED)
}

#[test]
fn a_frame_arrives_with_the_power_of_the_moment_at_which_it_begins() {
    let goes = Trajectory::through(vec![(s(1.0), place(2.0, 0.0)), (s(5.0), place(2.0, 48.0))]);
    let mut driver = driver(&[place(0.0, 0.0).into(), goes.clone()], 6.0);
    driver.space.listen();
    for number in 0..12 {
        let load = Load { number, to: Some(0), size: Bytes(1500) };
        driver.announce(s(0.5 * number as f64), 1, load);
    }
    driver.run_until(s(10.0), &mut |_, _| ());
    let mut seen = 0;
    for heard in driver.space.take_heard() {
        let distance = goes.at(heard.start).distance(place(0.0, 0.0));
        let path = Path { distance, ends: (0, 1), now: heard.start };
        let Milliwatts(expected) = (TX_POWER - LogDistance::default().loss(&path)).into();
        assert_eq!(heard.power, expected, "from {} at {:?}", heard.from, heard.start);
        seen += u32::from(heard.from == 1);
    }
    assert_eq!(seen, 12);
}

#[test]
fn who_walks_out_loses_the_link_and_has_it_again_at_home() {
    // At 24 Mb/s the link ends some 45 m from the other; the signal is left out from 280 m on.
    let away = Trajectory::through(vec![
        (s(1.0), place(5.0, 0.0)),
        (s(2.0), place(400.0, 0.0)),
        (s(3.0), place(400.0, 0.0)),
        (s(4.0), place(5.0, 0.0)),
    ]);
    let home = place(0.0, 0.0);
    let mut driver = driver(&[home.into(), away], 24.0);
    assert_eq!(driver.hearing_pairs(), 2);
    driver.saturate(1, 0, Bytes(1500), &mut Vec::new());
    let mut delivered = [0; 5];
    driver.run_until(s(5.0), &mut |now, report| {
        if let MsduReport::Delivered { .. } = report {
            delivered[(now.0 / 1_000_000_000) as usize] += 1;
        }
    });
    // Some 1460 frames a second.
    let [before, leaving, out, coming, after] = delivered;
    assert!(before > 1400 && after > 1400, "{delivered:?}");
    assert!(leaving < 400 && out == 0 && coming < 400, "{delivered:?}");
}

#[test]
fn a_hidden_node_that_comes_near_is_heard() {
    // A preamble is found up to 51 m away. The second sender comes round to the side of the first.
    let (first, second) = (place(-30.0, 0.0), place(30.0, 0.0));
    let comes = Trajectory::through(vec![(s(2.0), second), (s(3.0), place(-20.0, 15.0))]);
    let mut driver = driver(&[place(0.0, 0.0).into(), first.into(), comes], 6.0);
    for node in [1, 2] {
        driver.saturate(node, 0, Bytes(1500), &mut Vec::new());
    }
    let mut taken = Vec::new();
    for end in [2.0, 3.0, 5.0] {
        driver.run_until(s(end), &mut |_, _| ());
        let sum = |of: fn(&wifi::Counters) -> u64| -> u64 {
            [1, 2].into_iter().map(|node| of(driver.space.counters(node))).sum()
        };
        taken.push((sum(|c| c.collisions) as f64, sum(|c| c.attempts) as f64));
    }
    let hidden = taken[0].0 / taken[0].1;
    let heard = (taken[2].0 - taken[1].0) / (taken[2].1 - taken[1].1);
    assert!(hidden > 0.3, "{hidden} of all attempts collide that do not hear each other");
    assert!((0.05..0.2).contains(&heard), "{heard} of those that do");
}
