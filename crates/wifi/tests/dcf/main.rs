//! DCF twice: the cell, whose stations share one clock of idle slots, against stations that each
//! count their own slots as the standard's text tells them to.
//!
//! Both get the same packets, the same random streams and the same options. They must put the same
//! frames on the air at the same nanoseconds, deliver the same packets and end with the same
//! counts. That is the evidence that the shared clock is DCF.

mod book;
mod simulator;
mod station;
mod workload;

use kernel::Instant;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use wifi::mac::StepKind;
use wifi::{Counters, Outcome};
use workload::{Workload, workloads};

/// What went over the air and what came of it.
#[derive(Debug, Default, PartialEq)]
struct Account {
    air: Vec<Aired>,
    /// When which node got which packet.
    delivered: Vec<(Instant, u32, u64)>,
    /// Per node, how the service of which packet ended, and whether its receiver has it.
    done: Vec<Vec<(u64, Outcome, bool)>>,
    counters: Vec<Counters>,
    windows: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Aired {
    /// A frame that nobody disturbed.
    Frame { node: u32, kind: StepKind, start: Instant, end: Instant },
    /// Frames that began at the same instant; `end` is the longest one's.
    Clash { nodes: Vec<u32>, start: Instant, end: Instant },
}

fn compare(workload: &Workload) -> Result<(), TestCaseError> {
    let (ours, by_the_book) = (simulator::run(workload), book::run(workload));
    // The first difference on the air says most.
    let pairs = ours.air.iter().zip(&by_the_book.air);
    if let Some(differs) = pairs.clone().position(|(a, b)| a != b) {
        let story: String = ours.air[differs.saturating_sub(6)..differs].iter().map(line).collect();
        let (ours, by_the_book) = (line(&ours.air[differs]), line(&by_the_book.air[differs]));
        return Err(TestCaseError::fail(format!("{story}cell: {ours}book: {by_the_book}")));
    }
    prop_assert_eq!(ours, by_the_book);
    Ok(())
}

fn line(aired: &Aired) -> String {
    format!("{aired:?}\n")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_shared_clock_is_dcf(workload in workloads()) {
        compare(&workload)?;
    }
}

/// The workloads are worth something: what DCF has to decide happens in them.
#[test]
fn the_workloads_get_around() {
    let mut runner = TestRunner::deterministic();
    let mut total = Counters::default();
    let (mut clashes, mut rts, mut broadcasts) = (0, 0, 0);
    for _ in 0..300 {
        let workload = workloads().new_tree(&mut runner).expect("a workload").current();
        let account = book::run(&workload);
        for aired in &account.air {
            match aired {
                Aired::Clash { nodes, .. } => clashes += u32::from(nodes.len() > 2),
                Aired::Frame { kind, .. } => rts += u32::from(*kind == StepKind::Rts),
            }
        }
        broadcasts += workload.packets.iter().filter(|packet| packet.to.is_none()).count();
        for counters in account.counters {
            total.collisions += counters.collisions;
            total.noise_losses += counters.noise_losses;
            total.retry_drops += counters.retry_drops;
            total.duplicates += counters.duplicates;
        }
    }
    let Counters { collisions, noise_losses, retry_drops, duplicates, .. } = total;
    let seen = [collisions, noise_losses, retry_drops, duplicates];
    assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
    assert!(clashes > 300 && rts > 300 && broadcasts > 300, "{clashes} {rts} {broadcasts}");
}
