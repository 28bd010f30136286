//! Nodes that may send to any neighbour: links that are added during the run, and frames that a
//! node decodes although they are addressed to another.

use crate::drive::{Driver, Load, MsduReport};
use crate::network::{link, mac};
use kernel::{BitRate, Bytes, Db, Dbm, Instant, Seed};
use wifi::phy::error::Threshold;
use wifi::phy::propagation::Position;
use wifi::phy::{DOT11B, DOT11N};
use wifi::space::{Losses, Radio, Site, SpaceConfig};
use wifi::{MacConfig, mac::Aggregation};

const SEED: Seed = Seed { root: 1, replication: 0 };

/// Nodes 0, 1 and 2, of which all receive each other, and node 3, which receives none.
fn driver(mac: MacConfig) -> Driver {
    let loss = |a: usize, b: usize| Db(if a.max(b) == 3 { 300.0 } else { 50.0 });
    let rows = (0..4).map(|a| (0..4).map(|b| loss(a, b)).collect()).collect();
    let radio = Radio::new(Losses::Matrix(rows), Box::new(Threshold::default()));
    let trajectory = Position::default().into();
    let site = Site { trajectory, channel: 1, tx_power: Dbm(16.0206), is_access_point: false };
    let config = SpaceConfig { mac, radio, nav_reset: true, sites: vec![site; 4], links: vec![] };
    Driver::new(config, &SEED)
}

fn reports(driver: &mut Driver) -> Vec<MsduReport> {
    let mut reports = Vec::new();
    driver.run_until(Instant(1_000_000_000), &mut |_, report| reports.push(report));
    reports
}

#[test]
fn a_node_reports_what_it_decodes_of_others_only_when_asked() {
    let run = |overhears: bool| {
        let mut driver = driver(mac(&DOT11B));
        let mode = link(DOT11B.mode(BitRate::from_mbps(11.0)).unwrap());
        driver.space.add_link([0, 1], [mode; 2]);
        if overhears {
            driver.space.overhear();
        }
        driver.announce(Instant(0), 0, Load { number: 7, to: Some(1), size: Bytes(1000) });
        reports(&mut driver)
    };
    let overheard = MsduReport::Overheard { node: 2, from: 0, number: 7 };
    assert!(run(true).contains(&overheard));
    let others = |report: &&MsduReport| matches!(report, MsduReport::Overheard { .. });
    assert_eq!(run(true).iter().filter(others).count(), 1, "node 3 receives nothing");
    assert_eq!(run(false).iter().filter(others).count(), 0);
}

#[test]
fn each_neighbour_and_broadcast_have_their_own_sequence_numbers() {
    // If the numbers of all receivers were common, those of other receivers would be missing at
    // each of them, and its reorder buffer would wait for them.
    let mac = MacConfig { aggregation: Some(Aggregation::default()), ..mac(&DOT11N) };
    let mut driver = driver(mac);
    driver.space.allow_links();
    let mode = link(DOT11N.fastest());
    driver.space.add_link([1, 0], [mode; 2]);
    driver.space.add_link([1, 2], [mode; 2]);
    let receivers = [Some(0), Some(2), None, Some(0), None, Some(2), Some(0)];
    for (to, number) in receivers.into_iter().zip(0..) {
        driver.announce(Instant(0), 1, Load { number, to, size: Bytes(500) });
    }
    let reports = reports(&mut driver);
    let at = |receiver: u32| -> Vec<u64> {
        let number = |report: &MsduReport| match *report {
            MsduReport::Delivered { node, number, .. } if node == receiver => Some(number),
            _ => None,
        };
        reports.iter().filter_map(number).collect()
    };
    assert_eq!(at(0), [0, 2, 3, 4, 6]);
    assert_eq!(at(2), [1, 2, 4, 5]);
}
