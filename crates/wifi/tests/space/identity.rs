//! Where all hear all, the space is the cell.

use crate::drive::{Driver, Event, Load, News};
use crate::workload::{Workload, workloads};
use crate::{Account, Aired, simulator};
use kernel::{Db, Dbm, Instant};
use proptest::prelude::*;
use wifi::mac::{Countdown, Eifs, SlotGrid, StepKind};
use wifi::phy::error::Threshold;
use wifi::phy::propagation::Position;
use wifi::space::{Airing, Losses, Radio, Site, SpaceConfig};

/// Every node 50 dB from every other: what overlaps is lost, what does not is understood.
pub(crate) fn all_hear_all(nodes: usize) -> (Radio, Vec<Site>) {
    let losses = Losses::Matrix(vec![vec![Db(50.0); nodes]; nodes]);
    let mut radio = Radio::new(losses, Box::new(Threshold::NS2));
    radio.detect_snr = None;
    let (position, tx_power) = (Position::default(), Dbm(16.0));
    let site = |n| Site { position, channel: 1, tx_power, is_access_point: n == 0 };
    (radio, (0..nodes).map(site).collect())
}

fn run(workload: &Workload) -> Account {
    let nodes = workload.links.len() + 1;
    let (radio, sites) = all_hear_all(nodes);
    let links = (1..).zip(&workload.links).map(|(station, link)| (0, station, *link)).collect();
    let config = SpaceConfig { mac: workload.config.clone(), radio, nav_reset: true, sites, links };
    let mut driver = Driver::new(config, &workload.seed);
    for (number, arrival) in (0..).zip(&workload.packets) {
        let load = Load { number, to: arrival.to, size: arrival.size };
        driver.announce(arrival.at, arrival.node, load);
    }
    let mut account = Account { done: vec![Vec::new(); nodes], ..Account::default() };
    let mut news = Vec::new();
    while let Some((now, event)) = driver.step(&mut news) {
        if matches!(event, Event::Access(_)) {
            account.air.extend(began(now, driver.space.on_air()));
        }
        for item in news.drain(..) {
            match item {
                News::Delivered { node, number, .. } => {
                    account.delivered.push((now, node, number));
                }
                News::Done { node, number, outcome, received } => {
                    account.done[node as usize].push((number, outcome, received));
                }
            }
        }
    }
    let all = 0..nodes as u32;
    account.counters = all.clone().map(|node| *driver.space.counters(node)).collect();
    account.windows = all.map(|node| driver.space.window(node)).collect();
    account
}

/// What began now: one frame, or several that clash.
fn began(now: Instant, on_air: impl Iterator<Item = Airing>) -> Option<Aired> {
    let mut frames: Vec<Airing> = on_air.filter(|airing| airing.start == now).collect();
    frames.sort_by_key(|airing| airing.from);
    match frames[..] {
        [] => None,
        [Airing { from: node, kind, start, end, .. }] => {
            Some(Aired::Frame { node, kind, start, end })
        }
        _ => {
            let nodes = frames.iter().map(|airing| airing.from).collect();
            let end = frames.iter().map(|airing| airing.end).max()?;
            Some(Aired::Clash { nodes, start: now, end })
        }
    }
}

/// Takes out what only a cell does: slots that begin for all together, and an EIFS that is the
/// shortest of several frames that a receiver can tell apart only in a cell.
fn possible_in_space(mut workload: Workload) -> Workload {
    let timing = &mut workload.config.timing;
    if timing.slot_grid == SlotGrid::Shared {
        timing.slot_grid = SlotGrid::Standard;
        workload.config.countdown = Countdown::Standard;
    }
    if timing.eifs != Eifs::None {
        let mode = workload.links[0].mode;
        workload.links.iter_mut().for_each(|link| link.mode = mode);
    }
    if timing.eifs == Eifs::Estimated {
        for packet in workload.packets.iter_mut().filter(|packet| packet.node == 0) {
            packet.to = packet.to.or(Some(1));
        }
    }
    workload
}

fn compare(workload: &Workload) -> Result<(), TestCaseError> {
    let (cell, space) = (simulator::run(workload), run(workload));
    let mut cell_air: Vec<_> = cell.air.iter().collect();
    // The cell lays out an exchange when it begins; the account is in the order of time.
    cell_air.sort_by_key(|aired| match aired {
        Aired::Frame { start, .. } | Aired::Clash { start, .. } => *start,
    });
    let pairs = cell_air.iter().zip(&space.air);
    if let Some(differs) = pairs.clone().position(|(a, b)| **a != *b) {
        let story: String =
            space.air[differs.saturating_sub(6)..differs].iter().map(line).collect();
        let (cell, space) = (line(cell_air[differs]), line(&space.air[differs]));
        return Err(TestCaseError::fail(format!("{story}cell:  {cell}space: {space}")));
    }
    prop_assert_eq!(cell, space);
    Ok(())
}

fn line(aired: &Aired) -> String {
    format!("{aired:?}\n")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_space_in_which_all_hear_all_is_the_cell(workload in workloads()) {
        compare(&possible_in_space(workload))?;
    }
}

#[test]
fn answers_are_frames_of_their_own() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut kinds = [0u32; 4];
    for _ in 0..50 {
        let workload = workloads().new_tree(&mut runner).expect("a workload").current();
        for aired in run(&possible_in_space(workload)).air {
            let Aired::Frame { kind, .. } = aired else { continue };
            let all = [StepKind::Rts, StepKind::Cts, StepKind::Data, StepKind::Ack];
            kinds[all.iter().position(|&other| other == kind).expect("a kind of DCF")] += 1;
        }
    }
    assert!(kinds.iter().all(|&count| count > 100), "{kinds:?}");
}
