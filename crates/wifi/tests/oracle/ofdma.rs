//! A cell with OFDMA against what the standard says of it, and rules that they do not share.

use crate::media::watched_in_cell_until;
use crate::record::OnAir;
use crate::workload::Workload;
use crate::{config, mu, some};
use kernel::Duration;
use proptest::prelude::*;
use wifi::MacConfig;
use wifi::mac::Acknowledgement::{AggregatedMuBar, BarChain, MuBar};
use wifi::mac::{Eifs, Mu, MuEdca, MuEdcaCategory, MuProtection, Uplink};
use wifi::phy::he::NominalPadding::{Us0, Us8, Us16};
use wifi::phy::{Coding, Edca, Width};
use wire::FrameKind;

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_cell_follows_the_rules_of_downlink_ofdma(workload in mu::workloads()) {
        prop_assert_eq!(mu_in_cell(&workload, mu::run(&workload)), Ok(()));
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_cell_follows_the_rules_of_uplink_ofdma(workload in mu::uplink_workloads()) {
        prop_assert_eq!(mu_in_cell(&workload, mu::uplink::run(&workload)), Ok(()));
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_cell_follows_the_rules_of_triggers_beside_edca(workload in mu::mixed_workloads()) {
        prop_assert_eq!(mu_in_cell(&workload, mu::uplink::run(&workload)), Ok(()));
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_cell_follows_the_rules_of_downlink_ofdma_beside_edca(workload in mu::downlink_beside()) {
        prop_assert_eq!(mu_in_cell(&workload, mu::uplink::run_beside(&workload)), Ok(()));
    }
}

/// Each altered rule makes at least so many of the workloads differ, and none if there is none.
/// Returns what follows from the rules as they are.
fn find(
    workloads: &[Workload],
    run: fn(&Workload) -> mu::Derived,
    altered: &[(&str, usize, Alter)],
) -> Vec<mu::Derived> {
    for &(name, least, alter) in altered {
        let found = differences(workloads, run, alter);
        assert!(found >= least && (least > 0 || found == 0), "{name}: {found} of 300");
    }
    workloads.iter().map(run).collect()
}

/// How many frames of these types there are.
fn numbers(derived: &[mu::Derived], kinds: [FrameKind; 4]) -> [usize; 4] {
    let frames = || derived.iter().flat_map(|derived| &derived.frames);
    kinds.map(|kind| frames().filter(|on_air| on_air.kind() == Some(kind)).count())
}

/// The packets that were delivered, and all.
fn carried(derived: &[mu::Derived], workloads: &[Workload]) -> [usize; 2] {
    let delivered = derived.iter().map(|derived| derived.delivered.len()).sum();
    [delivered, workloads.iter().map(|workload| workload.packets.len()).sum()]
}

/// The workloads have what the rules of OFDMA decide: all sequences and numbers of users, MPDUs
/// that are lost, answers that are missing, TXOPs that end. A rule that the oracle does not share
/// with the cell is found.
#[test]
fn an_altered_rule_of_ofdma_is_found() {
    let altered: [(&str, usize, Alter); 10] = [
        ("none", 0, |_, _| {}),
        ("AIFSN", 250, |config, _| {
            let edca = config.edca.as_mut().expect("EDCA");
            edca.access_point.iter_mut().for_each(|own| own.aifsn += 1);
        }),
        ("CW", 150, |config, _| {
            let edca = config.edca.as_mut().expect("EDCA");
            edca.access_point.iter_mut().for_each(|own| own.cw_min = 31);
        }),
        ("MCS", 250, |_, link| link.mode.mcs = if link.mode.mcs == 4 { 5 } else { 4 }),
        ("code", 40, |config, _| {
            let mu = config.mu.as_mut().expect("OFDMA");
            mu.coding = if mu.coding.is_none() { Some(Coding::Ldpc) } else { None };
        }),
        ("width", 250, |_, link| {
            let is_wide = link.mode.width == Width::Mhz80;
            link.mode.width = if is_wide { Width::Mhz160 } else { Width::Mhz80 };
        }),
        ("sequence", 250, |config, _| {
            let mu = config.mu.as_mut().expect("OFDMA");
            mu.acknowledgement = match mu.acknowledgement {
                BarChain => MuBar,
                MuBar => AggregatedMuBar,
                AggregatedMuBar => BarChain,
            };
        }),
        ("protection", 250, |config, _| {
            let mu = config.mu.as_mut().expect("OFDMA");
            mu.protection = match mu.protection {
                MuProtection::None => MuProtection::MuRts,
                MuProtection::MuRts => MuProtection::None,
            };
        }),
        ("TXOP", 100, |config, _| {
            let edca = config.edca.as_mut().expect("EDCA");
            let limits = edca.access_point.iter_mut().map(|own| &mut own.txop_limit);
            limits.for_each(|limit| *limit = *limit / 4 * 3);
        }),
        ("noise", 80, |_, link| link.ack_loss /= 2.0),
    ];
    let workloads = some(mu::workloads(), 300);
    let derived = find(&workloads, mu::run, &altered);
    let kinds = [FrameKind::Data, FrameKind::Trigger, FrameKind::BlockAckRequest, FrameKind::Cts];
    let [data, triggers, requests, cts] = numbers(&derived, kinds);
    let counts = (data, triggers, requests, cts);
    assert!(data > 5000 && triggers > 1000 && requests > 1000 && cts > 1000, "{counts:?}");
    let mut users: Vec<usize> = derived.iter().flat_map(mu::Derived::users).collect();
    users.sort_unstable();
    users.dedup();
    assert_eq!(users, [1, 2, 4, 8, 9, 16, 18, 32, 37, 74]);
}

/// The same of uplink OFDMA.
#[test]
fn an_altered_rule_of_uplink_ofdma_is_found() {
    fn mu(config: &mut MacConfig) -> &mut Mu {
        config.mu.as_mut().expect("OFDMA")
    }
    fn uplink(config: &mut MacConfig) -> &mut Uplink {
        mu(config).uplink.as_mut().expect("triggers")
    }
    let altered: [(&str, usize, Alter); 11] = [
        ("none", 0, |_, _| {}),
        ("AIFSN", 120, |config, _| {
            let edca = config.edca.as_mut().expect("EDCA");
            edca.access_point.iter_mut().for_each(|own| own.aifsn += 1);
        }),
        ("interval", 250, |config, _| {
            uplink(config).access_interval += Duration::from_micros(100);
        }),
        ("duration", 40, |config, _| {
            let longest = &mut uplink(config).duration;
            *longest = *longest / 3 * 2;
        }),
        ("padding", 250, |config, _| {
            let padding = &mut uplink(config).trigger_padding;
            *padding = match *padding {
                Us0 => Us8,
                Us8 => Us16,
                Us16 => Us0,
            };
        }),
        ("MPDUs", 200, |config, _| {
            config.aggregation.as_mut().expect("A-MPDUs").frames += 1;
        }),
        ("protection", 250, |config, _| {
            mu(config).protection = match mu(config).protection {
                MuProtection::None => MuProtection::MuRts,
                MuProtection::MuRts => MuProtection::None,
            };
        }),
        ("TXOP", 80, |config, _| {
            let edca = config.edca.as_mut().expect("EDCA");
            let limits = edca.access_point.iter_mut().map(|own| &mut own.txop_limit);
            limits.for_each(|limit| *limit = *limit / 8 * 7);
        }),
        ("MCS", 250, |_, link| link.mode.mcs = if link.mode.mcs == 4 { 5 } else { 4 }),
        ("code", 30, |config, _| {
            let mu = config.mu.as_mut().expect("OFDMA");
            mu.coding = if mu.coding.is_none() { Some(Coding::Ldpc) } else { None };
        }),
        ("noise", 80, |_, link| link.ack_loss /= 2.0),
    ];
    let workloads = some(mu::uplink_workloads(), 300);
    let derived = find(&workloads, mu::uplink::run, &altered);
    let kinds = [FrameKind::Trigger, FrameKind::QosNull, FrameKind::Data, FrameKind::BlockAck];
    let counts = numbers(&derived, kinds);
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
    let [delivered, packets] = carried(&derived, &workloads);
    assert!(10 * delivered > 9 * packets, "{delivered} of {packets}");
}

/// The same where stations contend, too.
#[test]
fn an_altered_rule_of_triggers_beside_edca_is_found() {
    fn uplink(config: &mut MacConfig) -> &mut Uplink {
        config.mu.as_mut().expect("OFDMA").uplink.as_mut().expect("triggers")
    }
    fn each(config: &mut MacConfig, alter: fn(&mut Edca)) {
        config.edca.as_mut().expect("EDCA").stations.iter_mut().for_each(alter);
    }
    fn mu_edca(config: &mut MacConfig, alter: fn(&mut MuEdcaCategory)) {
        let own = config.mu.as_mut().and_then(|mu| mu.edca.as_mut());
        if let Some(MuEdca { background, best_effort, video, voice }) = own {
            [background, best_effort, video, voice].into_iter().flatten().for_each(alter);
        }
    }
    let altered: [(&str, usize, Alter); 11] = [
        ("none", 0, |_, _| {}),
        ("AIFSN", 270, |config, _| each(config, |own| own.aifsn += 1)),
        ("window", 150, |config, _| each(config, |own| own.cw_min += 1)),
        ("TXOP", 100, |config, _| each(config, |own| own.txop_limit = own.txop_limit / 8)),
        ("interval", 100, |config, _| {
            uplink(config).access_interval += Duration::from_micros(100);
        }),
        ("BSRP", 200, |config, _| uplink(config).bsrp = !uplink(config).bsrp),
        ("timer of MU EDCA", 25, |config, _| mu_edca(config, |own| own.timer *= 2)),
        ("AIFSN of MU EDCA", 70, |config, _| mu_edca(config, |own| own.aifsn = 3)),
        ("window of MU EDCA", 15, |config, _| mu_edca(config, |own| own.cw_min = 1)),
        ("no MU EDCA", 70, |config, _| mu_edca(config, |own| own.timer = 0)),
        ("noise", 80, |_, link| link.ack_loss /= 2.0),
    ];
    let workloads = some(mu::mixed_workloads(), 300);
    let derived = find(&workloads, mu::uplink::run, &altered);
    let kinds = [FrameKind::Trigger, FrameKind::QosNull, FrameKind::Data, FrameKind::Ack];
    let counts = numbers(&derived, kinds);
    let frames = || derived.iter().flat_map(|derived| &derived.frames);
    let collisions = frames().filter(|on_air| on_air.kind().is_none()).count();
    let with_trigger = frames()
        .filter(|on_air| matches!(on_air, OnAir::Collision { nodes, .. } if nodes.contains(&0)));
    let with_trigger = with_trigger.count();
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
    assert!(collisions > 300 && with_trigger > 50, "{collisions}, {with_trigger}");
    let [delivered, packets] = carried(&derived, &workloads);
    assert_eq!(delivered, packets);
}

/// The same of downlink OFDMA where stations contend, too.
#[test]
fn an_altered_rule_of_downlink_ofdma_beside_edca_is_found() {
    fn each(config: &mut MacConfig, alter: fn(&mut Edca)) {
        config.edca.as_mut().expect("EDCA").stations.iter_mut().for_each(alter);
    }
    let altered: [(&str, usize, Alter); 6] = [
        ("none", 0, |_, _| {}),
        ("AIFSN", 250, |config, _| each(config, |own| own.aifsn += 1)),
        ("window", 200, |config, _| each(config, |own| own.cw_min += 1)),
        ("TXOP", 60, |config, _| each(config, |own| own.txop_limit = own.txop_limit / 8)),
        ("EIFS", 200, |config, _| config.timing.eifs = Eifs::Estimated),
        ("noise", 100, |_, link| link.ack_loss /= 2.0),
    ];
    let workloads = some(mu::downlink_beside(), 300);
    let derived = find(&workloads, mu::uplink::run_beside, &altered);
    let kinds = [FrameKind::Data, FrameKind::Trigger, FrameKind::BlockAckRequest, FrameKind::Ack];
    let counts = numbers(&derived, kinds);
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
    let frames = || derived.iter().flat_map(|derived| &derived.frames);
    let collisions = frames().filter(|on_air| on_air.kind().is_none()).count();
    assert!(collisions > 300, "{collisions}");
    let several = derived.iter().flat_map(mu::Derived::users).filter(|&users| users > 1).count();
    assert!(several > 1000, "{several}");
    let [delivered, packets] = carried(&derived, &workloads);
    assert_eq!(delivered, packets);
}

/// A change of what the oracle follows, and of its links.
type Alter = fn(&mut MacConfig, &mut wifi::Link);

/// In how many of the workloads a cell differs from an oracle with altered rules.
fn differences(workloads: &[Workload], run: fn(&Workload) -> mu::Derived, alter: Alter) -> usize {
    let differs = |workload: &&Workload| {
        let mut other = (*workload).clone();
        let mut link = other.links[0];
        alter(&mut other.config, &mut link);
        other.links.fill(link);
        mu_in_cell(workload, run(&other)).is_err()
    };
    workloads.iter().filter(differs).count()
}

/// Compares the frames and the deliveries of a cell with OFDMA with what the standard says.
fn mu_in_cell(workload: &Workload, mut derived: mu::Derived) -> Result<(), String> {
    // The last exchange that matters is over long before that.
    let until = derived.until + Duration::from_millis(50);
    let (record, mut frames, _) = watched_in_cell_until(workload, until);
    frames.extend(record.air.into_iter().filter(|on_air| on_air.kind().is_none()));
    frames.sort_by_key(|on_air| (on_air.start(), on_air.first_node()));
    frames.retain(|on_air| on_air.start() < derived.until);
    derived.frames.sort_by_key(|on_air| (on_air.start(), on_air.first_node()));
    derived.delivered.sort_by_key(|&(at, node, _)| (at, node));
    let delivered: Vec<_> =
        record.delivered.into_iter().filter(|&(at, ..)| at < derived.until).collect();
    let place = frames.iter().zip(&derived.frames).position(|(one, other)| one != other);
    if let Some(nth) = place.or((frames.len() != derived.frames.len()).then_some(0)) {
        let (cell, oracle) = (&frames[nth..], &derived.frames[nth..]);
        let few = |all: &[OnAir]| all[..all.len().min(4)].to_vec();
        return Err(format!("frame {nth}: cell {:?}, oracle {:?}", few(cell), few(oracle)));
    }
    if delivered == derived.delivered { Ok(()) } else { Err("other deliveries".into()) }
}
