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
#[path = "../../../sim/src/check/timing.rs"]
mod timing;
#[path = "../common/workload.rs"]
mod workload;

use account::{ExchangeSent, compare};
use kernel::{Bytes, Duration, Instant, Seed};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use timing::Characteristics;
use wifi::mac::{StepKind, Timing};
use wifi::phy::{
    DOT11A, DOT11AC, DOT11AX, DOT11AX_2_4, DOT11B, DOT11G, DOT11N, DOT11N_2_4, Mode, Standard,
};
use wifi::{Counters, Link, MacConfig};
use workload::{Arrival, Workload, workloads};

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

/// A network with another standard than the table's. Its times are those of `alter`.
fn altered(standard: &'static Standard, alter: impl Fn(&mut Standard)) -> Timing {
    let mut other = *standard;
    alter(&mut other);
    Timing::of(Box::leak(Box::new(other)))
}

/// Two stations that have something to send, more than once, and the access point answers.
fn exchange(timing: Timing) -> Workload {
    let link = |mode| Link { mode, data_loss: 0.0, ack_loss: 0.0 };
    let links = vec![link(timing.standard.fastest()); 2];
    let arrival = |n: u64| Arrival {
        at: Instant::ZERO + Duration::from_micros(100 * n),
        node: 1 + n as u32 % 2,
        to: Some(0),
        size: Bytes(1000),
    };
    let packets = (0..20).map(arrival).collect();
    let config = MacConfig { timing, ..MacConfig::default() };
    Workload { config, links, seed: Seed { root: 1, replication: 0 }, packets }
}

#[test]
fn a_wrong_constant_is_found() {
    let agrees = |timing: Timing| {
        let workload = exchange(timing);
        compare(["cell", "book"], &simulator::run(&workload), &book::run(&workload)).is_ok()
    };
    let us = Duration::from_micros;
    for standard in [&DOT11A, &DOT11B, &DOT11G] {
        assert!(agrees(Timing::of(standard)), "{}", standard.name());
        for wrong in [1, 9, 11, 17] {
            let timing = altered(standard, |other| other.sifs = us(wrong));
            assert!(!agrees(timing), "{}: a SIFS of {wrong} us", standard.name());
        }
        for wrong in [8, 10, 19, 21] {
            let timing = altered(standard, |other| other.slot = us(wrong));
            assert!(!agrees(timing), "{}: a slot of {wrong} us", standard.name());
        }
    }
    // Answers at 12 Mb/s instead of 24, as if 24 Mb/s were no rate of OFDM.
    let few: Vec<Mode> =
        DOT11A.modes.iter().filter(|mode| mode.rate.0 < 24_000_000).copied().collect();
    let few = few.leak();
    let mut slow = exchange(altered(&DOT11A, |other| other.modes = few));
    for link in &mut slow.links {
        link.mode = DOT11A.fastest();
    }
    let cell = simulator::run(&slow);
    slow.config.timing = Timing::of(&DOT11A);
    assert!(compare(["cell", "book"], &cell, &book::run(&slow)).is_err(), "a wrong rate of ACKs");
}

#[test]
fn standards_have_the_characteristics_of_the_tables() {
    for standard in
        [&DOT11A, &DOT11B, &DOT11G, &DOT11N, &DOT11N_2_4, &DOT11AC, &DOT11AX, &DOT11AX_2_4]
    {
        let Characteristics { sifs_us, slot_us, cw_min, cw_max, .. } =
            Characteristics::of(standard);
        let us = |duration: Duration| duration.0 / 1000;
        let own = (us(standard.sifs), us(standard.slot), standard.cw_min, standard.cw_max);
        assert_eq!(own, (sifs_us, slot_us, cw_min, cw_max), "{standard:?}");
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
                ExchangeSent::Clash { nodes, .. } => clashes += u32::from(nodes.len() > 2),
                ExchangeSent::Frame { kind, .. } => rts += u32::from(*kind == StepKind::Rts),
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
