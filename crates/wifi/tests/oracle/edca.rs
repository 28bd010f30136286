//! Random cells under EDCA: packets of four classes, TXOPs, A-MPDUs and block acks.

use crate::record::CLASSES;
use crate::workload::{Arrival, Workload};
use kernel::{Bytes, Duration, Instant, Seed};
use proptest::prelude::*;
use wifi::mac::{Aggregation, BackoffDraw, Countdown, Eifs, MissedBlockAck, RetryRule, SlotGrid};
use wifi::phy::{AccessCategory, DOT11AC, DOT11N, Edition, Guard, Standard, TxVector};
use wifi::{Categories, Link, MacConfig};

pub(crate) fn workloads() -> impl Strategy<Value = Workload> {
    let standard = prop::sample::select(vec![&DOT11N, &DOT11AC]);
    let noise = prop_oneof![Just(0.0), 0.0..0.5];
    let links = (0u8..8, 1usize..6, noise.clone(), noise);
    let packets = (1u32..6).prop_flat_map(|stations| {
        prop::collection::vec(arrival(stations), 1..250).prop_map(in_time)
    });
    (standard, links, configs(), packets, any::<u64>()).prop_map(
        |(standard, (mcs, stations, data_loss, ack_loss), draft, mut packets, root)| {
            let vector = standard.tx_vector().expect("HT and VHT have MCS");
            let mode = TxVector { mcs, guard: Guard::Ns400, ..vector }.mode().expect("a mode");
            let link = Link { mode, data_loss, ack_loss };
            for packet in &mut packets {
                for node in [Some(&mut packet.node), packet.to.as_mut()].into_iter().flatten() {
                    *node = (*node).min(1) * (node.saturating_sub(1) % stations as u32 + 1);
                }
            }
            let config = draft.config(standard);
            // Between two exchanges of a TXOP a cell is busy, where nodes in space sense nothing.
            // Packets that come just then would find the one so and the other otherwise.
            let edca = config.edca.expect("there is EDCA");
            if edca.stations.iter().any(|category| category.txop_limit > Duration::ZERO) {
                // Nor has the oracle a rule for a TXOP whose broadcast has collided.
                for packet in &mut packets {
                    packet.at = Instant(1);
                    packet.to = packet.to.or(Some(1));
                }
            }
            let seed = Seed { root, replication: 0 };
            Workload { config, links: vec![link; stations], seed, packets }
        },
    )
}

#[derive(Clone, Debug)]
struct Draft {
    free: bool,
    edition: Edition,
    quick: bool,
    bursts: bool,
    limits: (u32, u32),
    threshold: u64,
    frames: Option<u16>,
    amsdu: u64,
    retry_rule: RetryRule,
    missed: MissedBlockAck,
    countdown: Countdown,
    backoff_draw: BackoffDraw,
}

impl Draft {
    fn config(&self, standard: &'static Standard) -> MacConfig {
        let mut edca = Categories::of(standard, self.edition);
        if !self.bursts {
            for edca in edca.access_point.iter_mut().chain(&mut edca.stations) {
                edca.txop_limit = Duration::ZERO;
            }
        }
        if self.quick {
            for (edca, category) in edca.access_point.iter_mut().zip(AccessCategory::ALL) {
                *edca = edca.of_access_point(category);
            }
        } else {
            edca.access_point = edca.stations;
        }
        let mut config = MacConfig { edca: Some(edca), ..MacConfig::of(standard) };
        config.timing.eifs = Eifs::Standard;
        config.timing.slot_grid = if self.free { SlotGrid::Free } else { SlotGrid::Standard };
        (config.countdown, config.backoff_draw) = (self.countdown, self.backoff_draw);
        (config.short_retry_limit, config.long_retry_limit) = self.limits;
        config.rts_threshold = Bytes(self.threshold);
        config.aggregation = self.frames.and_then(|frames| {
            let class = standard.high?;
            let limits = Aggregation::of(class)?;
            let (amsdu, retry_rule, missed) = (Bytes(self.amsdu), self.retry_rule, self.missed);
            Some(Aggregation { frames, amsdu, retry_rule, missed, ..limits })
        });
        config
    }
}

fn configs() -> impl Strategy<Value = Draft> {
    let edition = vec![Edition::Ieee2012, Edition::Ieee2016, Edition::Ns3];
    let retry_rule = prop::sample::select(vec![RetryRule::Lifetime, RetryRule::Counted]);
    let missed = prop::sample::select(vec![MissedBlockAck::Request, MissedBlockAck::Retransmit]);
    let frames = prop_oneof![Just(None), (1u16..70).prop_map(Some)];
    let threshold = prop::sample::select(vec![0u64, 1000, 10_000_000]);
    let amsdu = prop::sample::select(vec![0u64, 4000]);
    let countdown = prop::sample::select(vec![Countdown::Standard, Countdown::IdleSlots]);
    let draw = prop::sample::select(vec![BackoffDraw::Standard, BackoffDraw::Ns2]);
    let rules = (prop::sample::select(edition), countdown, draw);
    let limits = (1u32..8, 1u32..5);
    let aggregation = (frames, amsdu, retry_rule, missed);
    (any::<(bool, bool, bool)>(), rules, limits, threshold, aggregation).prop_map(
        |(flags, rules, limits, threshold, (frames, amsdu, retry_rule, missed))| {
            let (free, quick, bursts) = flags;
            let (edition, countdown, backoff_draw) = rules;
            Draft {
                free,
                edition,
                quick,
                bursts,
                limits,
                threshold,
                frames,
                amsdu,
                retry_rule,
                missed,
                countdown,
                backoff_draw,
            }
        },
    )
}

/// Pause before it, from which node, to all instead of one, to which station, class, size.
type Raw = (Duration, u32, bool, u32, usize, u64);

fn arrival(stations: u32) -> impl Strategy<Value = Raw> {
    // No two at an instant at which something else happens: there the two mediums may look in
    // another order.
    let pause = prop_oneof![
        4 => Just(Duration::ZERO),
        4 => (0u64..100_000).prop_map(Duration::from_nanos),
        2 => (0u64..2_000_000).prop_map(Duration::from_nanos),
    ];
    let class = prop_oneof![3 => Just(1usize), 1 => 0usize..4];
    (pause, 0..=stations, prop::bool::weighted(0.2), 1..=stations, class, 20u64..1500)
}

fn in_time(raw: Vec<Raw>) -> Vec<Arrival> {
    let mut at = Instant(1);
    let arrival = |(pause, node, to_all, station, class, size): Raw| {
        at += pause;
        let to = match node {
            0 if to_all => None,
            0 => Some(station),
            _ => Some(0),
        };
        Arrival { at, node, to, class: CLASSES[class], size: Bytes(size) }
    };
    raw.into_iter().map(arrival).collect()
}
