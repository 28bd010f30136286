//! DCF twice: the cell, whose stations share one clock of idle slots, against stations that each
//! count their own slots as the standard's text tells them to.
//!
//! Both get the same packets, the same random streams and the same options. They must put the same
//! frames on the air at the same nanoseconds, deliver the same packets and end with the same
//! counts. That is the evidence that the shared clock is DCF.

#[path = "../common/account.rs"]
mod account;
mod book;
#[path = "../common/simulator.rs"]
mod simulator;
mod station;
#[path = "../common/workload.rs"]
mod workload;

use account::{Aired, compare};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use wifi::Counters;
use wifi::mac::StepKind;
use workload::workloads;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_shared_clock_is_dcf(workload in workloads()) {
        compare(["cell", "book"], &simulator::run(&workload), &book::run(&workload))?;
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
