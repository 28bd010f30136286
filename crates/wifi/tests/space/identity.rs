//! Where all hear all, the space is the cell.

use crate::account::{Account, ExchangeSent};
use crate::drive::{Driver, Event, Load, News};
use crate::network::all_hear_all;
use crate::workload::{Workload, mixed_workloads, workloads};
use crate::{account, simulator};
use kernel::Instant;
use proptest::prelude::*;
use wifi::mac::{Countdown, Eifs, SlotGrid, StepKind};
use wifi::space::{OngoingFrame, SpaceConfig};

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
    let (mut news, mut clashed) = (Vec::new(), Vec::new());
    while let Some((now, event)) = driver.step(&mut news) {
        if matches!(event, Event::Access(_)) {
            note_began(&mut account.air, &mut clashed, now, driver.space.on_air());
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

/// Notes what began now: one frame, or several that clash. The data after a CTS to its own sender,
/// one of those that have `clashed`, belongs to the same clash.
fn note_began(
    air: &mut Vec<ExchangeSent>,
    clashed: &mut Vec<u32>,
    now: Instant,
    on_air: impl Iterator<Item = OngoingFrame>,
) {
    let mut frames: Vec<OngoingFrame> = on_air.filter(|airing| airing.start == now).collect();
    frames.sort_by_key(|airing| airing.from);
    let Some(longest) = frames.iter().map(|airing| airing.end).max() else { return };
    let goes_on =
        |airing: &OngoingFrame| airing.kind == StepKind::Data && clashed.contains(&airing.from);
    if frames.iter().all(goes_on) {
        let Some(ExchangeSent::Clash { end, .. }) = air.last_mut() else {
            panic!("{now}: no clash")
        };
        *end = longest.max(*end);
        clashed.retain(|node| frames.iter().all(|airing| airing.from != *node));
        return;
    }
    assert!(clashed.is_empty(), "{now}: data is missing after a CTS");
    if let [OngoingFrame { from: node, kind, start, end, .. }] = frames[..] {
        return air.push(ExchangeSent::Frame { node, kind, start, end });
    }
    let to_self = frames.iter().filter(|airing| airing.kind == StepKind::CtsToSelf);
    clashed.extend(to_self.map(|airing| airing.from));
    let nodes = frames.iter().map(|airing| airing.from).collect();
    air.push(ExchangeSent::Clash { nodes, start: now, end: longest });
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
    let (mut cell, space) = (simulator::run(workload), run(workload));
    // The cell lays out an exchange when it begins; the account is in the order of time.
    cell.air.sort_by_key(|aired| match aired {
        ExchangeSent::Frame { start, .. } | ExchangeSent::Clash { start, .. } => *start,
    });
    account::compare(["cell", "space"], &cell, &space)
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

    #[test]
    fn so_it_is_where_some_know_no_ofdm(workload in mixed_workloads()) {
        compare(&workload)?;
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
            let ExchangeSent::Frame { kind, .. } = aired else { continue };
            let all = [StepKind::Rts, StepKind::Cts, StepKind::Data, StepKind::Ack];
            kinds[all.iter().position(|&other| other == kind).expect("a kind of DCF")] += 1;
        }
    }
    assert!(kinds.iter().all(|&count| count > 100), "{kinds:?}");
}
