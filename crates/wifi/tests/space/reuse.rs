//! Spatial reuse: nodes that ignore PPDUs of another BSS.

use crate::drive::{Driver, Load};
use crate::network::{link, mac};
use kernel::{Bytes, Db, Dbm, Instant, Seed};
use wifi::MacConfig;
use wifi::mac::{PowerLimit, ReuseGroup, SpatialReuse};
use wifi::phy::error::Threshold;
use wifi::phy::propagation::Position;
use wifi::phy::{DOT11AX, TxVector};
use wifi::space::{Losses, OngoingFrame, Radio, ReuseCounters, Site, SpaceConfig};
use wire::FrameKind;

const SEED: Seed = Seed { root: 1, replication: 0 };
/// Between the transmitters, whose power is 16 dBm: they receive each other at -75 dBm.
const LOSS: Db = Db(91.0);

fn at(level: f64, colors: &[u8]) -> SpatialReuse {
    let (power_limit, reference) = (PowerLimit::Standard, Dbm(21.0));
    let (level, srg, colors) = (Some(Dbm(level)), Vec::new(), colors.to_vec());
    SpatialReuse { level, srg, power_limit, reference, colors }
}

/// The same, and a group of colors with another level.
fn grouped(level: impl Into<Option<Dbm>>, group: [u32; 2], in_group: f64) -> SpatialReuse {
    let (bss_colors, lowest) = (group.to_vec(), Dbm(-82.0));
    let srg = vec![ReuseGroup { bss_colors, level: Dbm(in_group), lowest }];
    SpatialReuse { level: level.into(), srg, ..at(-82.0, &[1, 1, 2, 2]) }
}

/// While the first frame is on the air.
const MEANWHILE: Instant = Instant(36_000);

/// Pairs of nodes, each of which sends to the next one. Of nodes of other pairs only the first ones
/// hear each other, with these losses of pairs 0 and 1, and of pairs 1 and 2.
fn network(reuse: Option<SpatialReuse>, losses: [Db; 2]) -> Driver {
    let loss = |a: usize, b: usize| match (a.min(b), a.max(b)) {
        (0, 1) | (2, 3) | (4, 5) => Db(60.0),
        (0, 2) => losses[0],
        (2, 4) => losses[1],
        _ => Db(300.0),
    };
    let rows = (0..6).map(|a| (0..6).map(|b| loss(a, b)).collect()).collect();
    let radio = Radio::new(Losses::Matrix(rows), Box::new(Threshold::default()));
    let trajectory = Position::default().into();
    let site = Site { trajectory, channel: 36, tx_power: Dbm(16.0), is_access_point: false };
    let vector = TxVector { mcs: 3, ..DOT11AX.tx_vector().unwrap() };
    let mode = link(vector.mode().unwrap());
    let links = vec![(0, 1, mode), (2, 3, mode), (4, 5, mode)];
    let mac = MacConfig { spatial_reuse: reuse, ..mac(&DOT11AX) };
    let config = SpaceConfig { mac, radio, nav_reset: true, sites: vec![site; 6], links };
    Driver::new(config, &SEED)
}

fn announce(driver: &mut Driver, at: Instant, from: u32, number: u64) {
    let load = Load { number, to: Some(from + 1), size: Bytes(1500) };
    driver.announce(at, from, load);
}

/// Node 0 sends a frame to node 1, and later node 2 has two for node 3.
fn driver(reuse: impl Into<Option<SpatialReuse>>, later: Instant) -> Driver {
    let mut driver = network(reuse.into(), [LOSS, Db(300.0)]);
    announce(&mut driver, Instant(0), 0, 1);
    for number in [2, 3] {
        announce(&mut driver, later, 2, number);
    }
    driver
}

/// The data frames of node 0 and of node 2, in the order in which they begin.
fn data(driver: &mut Driver) -> Vec<OngoingFrame> {
    let (mut frames, mut reports) = (Vec::new(), Vec::new());
    while driver.step(&mut reports).is_some() {
        let new = driver.space.on_air().filter(|air| air.kind == FrameKind::Data);
        let new: Vec<_> = new.filter(|air| !frames.contains(air)).collect();
        frames.extend(new);
    }
    frames
}

/// DIFS, up to 15 slots, and the field that tells the color: how long after the begin of a PPDU
/// that it ignores a node begins at the latest.
const SOON: u64 = 32_000 + 34_000 + 15 * 9_000;

#[test]
fn a_node_begins_beside_a_ppdu_of_another_bss_below_the_level() {
    let begins_beside = |reuse: Option<SpatialReuse>| {
        let mut driver = driver(reuse, MEANWHILE);
        let frames = data(&mut driver);
        let [first, second] = [&frames[0], &frames[1]];
        assert_eq!([first.from, second.from], [0, 2]);
        let is_beside = second.start < first.end;
        let after = (second.start - first.start).0;
        assert!(!is_beside || (32_000 + 34_000..=SOON).contains(&after), "{after} ns");
        assert!(!is_beside || (after - 66_000).is_multiple_of(9_000), "whole slots: {after} ns");
        (is_beside, driver.space.reuse_counters(2).unwrap_or_default().ignored)
    };
    let colors = [1, 1, 2, 2];
    assert_eq!(begins_beside(None), (false, 0));
    assert_eq!(begins_beside(Some(at(-74.9, &colors))), (true, 1));
    assert_eq!(begins_beside(Some(at(-75.0, &colors))), (false, 0), "it must be weaker");
    assert_eq!(begins_beside(Some(at(-72.0, &[1, 1, 1, 1]))), (false, 0), "the same color");
    assert_eq!(begins_beside(Some(at(-72.0, &[0, 0, 2, 2]))), (false, 0), "an unknown color");
}

#[test]
fn it_sends_with_less_power_until_the_end_of_its_txop() {
    let mut driver = driver(at(-72.0, &[1, 1, 2, 2]), MEANWHILE);
    let frames = data(&mut driver);
    let cuts: Vec<_> = frames.iter().map(|frame| (frame.from, frame.cut)).collect();
    // At most 21 - (-72 + 82) = 11 dBm.
    assert_eq!(cuts[..3], [(0, Db(0.0)), (2, Db(5.0)), (2, Db(0.0))]);
    let expected = ReuseCounters { ignored: 1, ignored_in_group: 0, reused: 1, reduced: 1 };
    assert_eq!(driver.space.reuse_counters(2), Some(expected));
}

#[test]
fn a_group_has_a_level_and_a_power_of_its_own() {
    // The PPDU arrives at -75 dBm. At most 21 - (-67 + 82) = 6 dBm, and 21 - (-72 + 82) = 11 dBm.
    let cuts = |reuse: SpatialReuse| {
        let mut driver = driver(reuse, MEANWHILE);
        let frames = data(&mut driver);
        let cuts: Vec<_> = frames.iter().map(|frame| frame.cut.0).collect();
        let counters = driver.space.reuse_counters(2).unwrap();
        let is_beside = frames[1].start < frames[0].end;
        (is_beside, cuts[1], counters.ignored, counters.ignored_in_group)
    };
    assert_eq!(cuts(grouped(None, [1, 2], -67.0)), (true, 10.0, 1, 1));
    assert_eq!(cuts(grouped(Dbm(-72.0), [2, 1], -67.0)), (true, 10.0, 1, 1));
    assert_eq!(cuts(grouped(Dbm(-72.0), [1, 2], -76.0)), (false, 0.0, 0, 0), "its level is lower");
    assert_eq!(cuts(grouped(Dbm(-72.0), [2, 3], -67.0)), (true, 5.0, 1, 0), "of no group");
    assert_eq!(cuts(grouped(None, [2, 3], -67.0)), (false, 0.0, 0, 0), "nothing else");
}

#[test]
fn without_anything_to_send_full_power_returns_with_the_end_of_the_ppdu() {
    let mut driver = driver(at(-72.0, &[1, 1, 2, 2]), Instant(5_000_000));
    let frames = data(&mut driver);
    let cuts: Vec<_> = frames.iter().filter(|air| air.from == 2).map(|air| air.cut).collect();
    assert_eq!(cuts, [Db(0.0); 2]);
    assert_eq!(driver.space.reuse_counters(2).map(|counters| counters.ignored), Some(1));
}

#[test]
fn of_two_ppdus_the_one_that_permits_less_power_counts() {
    // Node 0 arrives at -75 dBm: 21 - (-62 + 82) = 1 dBm. Then node 4 of the group at -64 dBm:
    // 21 - (-62 + 72) = 11 dBm.
    let cuts = |colors: [u8; 6]| {
        let group = ReuseGroup { bss_colors: vec![2, 3], level: Dbm(-62.0), lowest: Dbm(-72.0) };
        let reuse = SpatialReuse { srg: vec![group], ..at(-62.0, &colors) };
        let mut driver = network(Some(reuse), [LOSS, Db(80.0)]);
        announce(&mut driver, Instant(0), 0, 1);
        announce(&mut driver, MEANWHILE, 2, 2);
        announce(&mut driver, Instant(80_000), 4, 3);
        let frames = data(&mut driver);
        assert_eq!([0, 1, 2].map(|at: usize| frames[at].from), [0, 4, 2]);
        assert!(frames[2].start < frames[0].end, "beside both");
        let counters = driver.space.reuse_counters(2).unwrap();
        assert_eq!([counters.ignored, counters.reduced], [2, 1]);
        frames[2].cut
    };
    assert_eq!(cuts([1, 1, 2, 2, 3, 3]), Db(15.0), "the one outside of the group");
    assert_eq!(cuts([3, 3, 2, 2, 3, 3]), Db(5.0), "both in the group");
    assert_eq!(cuts([3, 3, 2, 2, 1, 1]), Db(15.0), "the last one");
}
