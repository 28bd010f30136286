//! EDCA twice, as DCF is in `tests/dcf`: the cell and the space against nodes that follow the
//! standard's text slot by slot; and saturated cells with aggregation against ns-3.

mod book;
#[path = "../common/network.rs"]
mod network;
mod node;
#[path = "../common/qos.rs"]
mod qos;
mod saturation;
#[path = "../../../sim/src/check/timing.rs"]
mod timing;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use qos::{Workload, compare, workloads};
use wifi::mac::StepKind;

/// Frames one by one: aggregates have tests of their own.
fn one_by_one(mut workload: Workload) -> Workload {
    workload.config.aggregation = None;
    workload
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_shared_clocks_are_edca(workload in workloads()) {
        let workload = one_by_one(workload);
        let by_the_book = book::run(&workload);
        let [cell, space] = [false, true].map(|in_space| {
            let mut account = qos::run(&workload, in_space);
            account.delivered.sort_unstable();
            account
        });
        compare(["cell", "book"], &cell, &by_the_book)?;
        compare(["space", "book"], &space, &by_the_book)?;
    }
}

/// The workloads are worth something: what EDCA has to decide happens in them.
#[test]
fn the_workloads_get_around() {
    let mut runner = TestRunner::deterministic();
    let mut seen = [0u64; 7];
    for _ in 0..300 {
        let workload = workloads().new_tree(&mut runner).expect("a workload").current();
        let workload = one_by_one(workload);
        let account = book::run(&workload);
        let mut last = None;
        for &(start, end, what) in &account.air {
            seen[0] += u64::from(what.is_none());
            let sifs = workload.config.timing.sifs();
            let opens = what.filter(|(kind, _)| matches!(kind, StepKind::Rts | StepKind::Data));
            // Data after data a SIFS apart: a TXOP goes on.
            let goes_on =
                opens.is_some() && last.is_some_and(|(acked, at)| acked && at + sifs == start);
            seen[1] += u64::from(goes_on);
            seen[2] += u64::from(what.is_some_and(|(kind, _)| kind == StepKind::Rts));
            last = Some((what.is_some_and(|(kind, _)| kind == StepKind::Ack), end));
        }
        for (counters, frames) in &account.counters {
            seen[3] += frames.internal_collisions;
            seen[4] += counters.retry_drops;
            seen[5] += counters.noise_losses;
            seen[6] += counters.duplicates;
        }
    }
    assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
}
