//! Where all hear all, the space is the cell under EDCA and with aggregates too.

use crate::qos::{compare, run, workloads};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        max_shrink_iters: 5_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_space_in_which_all_hear_all_is_the_cell_with_edca_and_aggregates(
        workload in workloads(),
    ) {
        let (cell, space) = (run(&workload, false), run(&workload, true));
        compare(["cell", "space"], &cell, &space)?;
    }
}
