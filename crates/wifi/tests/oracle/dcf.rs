//! Random cells under DCF: its options, RTS, broadcasts, and stations of 802.11b among those of
//! 802.11g.

use crate::workload::{Arrival, Workload};
use kernel::{BitRate, Bytes, Duration, Instant, Seed};
use proptest::prelude::*;
use wifi::mac::{BackoffDraw, Countdown, Durations, Eifs, NonErp, Protection, SlotGrid, Timing};
use wifi::phy::{DOT11A, DOT11B, DOT11G, Mode, Preamble, Standard};
use wifi::{Link, MacConfig};
use wire::TrafficClass;

/// Cells of 802.11g in which some stations are of 802.11b, whatever protects the others.
///
/// Frames of which one receiver notices the DSSS and another the OFDM do not meet: after a
/// collision they would ask for an EIFS each. Nor is a frame so short that it is over before the
/// data after a CTS to its own sender that it has met: the CTS goes at 11 Mb/s, and no RTS meets
/// it.
pub(crate) fn mixed_workloads() -> impl Strategy<Value = Workload> {
    let protection =
        prop::sample::select(vec![Protection::None, Protection::CtsToSelf, Protection::RtsCts]);
    (protection, any::<(bool, bool, bool, u8)>(), 2u32..=8).prop_flat_map(
        |(protection, (short_preamble, eifs, noise, basic), stations)| {
            let timing = Timing {
                preamble: if short_preamble { Preamble::Short } else { Preamble::Long },
                basic_rates: basic_rates(&DOT11B, u16::from(basic & 0b0111 | 0b1000)),
                slot: DOT11B.slot,
                eifs: match protection {
                    Protection::RtsCts if eifs => Eifs::Standard,
                    _ => Eifs::None,
                },
                protection,
                ..Timing::of(&DOT11G)
            };
            let link = (any::<bool>(), any::<prop::sample::Index>(), loss(noise), loss(noise));
            let no_eifs = timing.eifs == Eifs::None;
            let link = link.prop_map(move |(of_b, pick, data_loss, ack_loss)| {
                let modes = if of_b { DOT11B.modes } else { DOT11G.modes };
                let mode = *pick.get(modes);
                // See `may_meet_in_noise`; after an EIFS what is protected is long enough.
                let clear = no_eifs && mode.class.is_dsss();
                let [data_loss, ack_loss] =
                    [data_loss, ack_loss].map(|loss| if clear { 0.0 } else { loss });
                (of_b, Link { mode, data_loss, ack_loss })
            });
            let links = prop::collection::vec(link, stations as usize);
            let packets = prop::collection::vec(arrival(stations), 1..120).prop_map(in_time);
            let seed = any::<u64>().prop_map(|root| Seed { root, replication: 0 });
            (configs(timing, false), links, seed, packets).prop_map(
                move |(config, links, seed, mut packets)| {
                    let of_b = (1..).zip(&links).filter(|(_, (of_b, _))| *of_b);
                    let nodes: Vec<u32> = of_b.map(|(node, _)| node).collect();
                    let non_erp = Some(NonErp { nodes, cw_min: config.cw_max });
                    let links: Vec<Link> = links.iter().map(|&(_, link)| link).collect();
                    // A broadcast in OFDM is understood by none of 802.11b.
                    if !links.iter().any(|link| link.mode.class.is_dsss()) {
                        for packet in &mut packets {
                            packet.to = packet.to.or(Some(1));
                        }
                    }
                    let no_rts = protection == Protection::CtsToSelf && config.rts_threshold.0 > 0;
                    let rts_threshold = if no_rts { Bytes(3000) } else { config.rts_threshold };
                    let config = MacConfig { non_erp, rts_threshold, ..config };
                    Workload { config, links, seed, packets }
                },
            )
        },
    )
}

pub(crate) fn workloads() -> impl Strategy<Value = Workload> {
    (timings(), any::<prop::sample::Index>(), any::<bool>(), 1u32..=8).prop_flat_map(
        |(timing, pick, noise, stations)| {
            let noise = noise && timing.eifs != Eifs::None;
            let first = *pick.get(timing.standard.modes);
            let modes = timing.standard.modes.iter().copied();
            let modes = modes.filter(|mode| !noise || may_meet_in_noise(&first, mode));
            let link = (prop::sample::select(modes.collect::<Vec<_>>()), loss(noise), loss(noise))
                .prop_map(|(mode, data_loss, ack_loss)| Link { mode, data_loss, ack_loss });
            let links = prop::collection::vec(link, stations as usize);
            let packets = prop::collection::vec(arrival(stations), 1..120).prop_map(in_time);
            let seed = any::<u64>().prop_map(|root| Seed { root, replication: 0 });
            // Bianchi's chain takes its steps with all stations together.
            let exact = timing.durations == Durations::Standard;
            let together = timing.slot_grid.is_shared() && exact && !noise;
            (configs(timing, together), links, seed, packets).prop_map(
                |(config, links, seed, packets)| Workload { config, links, seed, packets },
            )
        },
    )
}

/// Whether frames in both modes may be in a cell whose frames get lost.
///
/// When noise takes a data frame, its sender may begin anew while the NAV of the others still
/// stands for the ACK that did not come. Within a family of modes no frame is short enough to end
/// before that NAV, so that nobody has to remember it. An OFDM frame after one at 1 Mb/s may be,
/// and so may that of a receiver that waits no EIFS. The cell leaves these out.
fn may_meet_in_noise(a: &Mode, b: &Mode) -> bool {
    a.class.is_dsss() == b.class.is_dsss()
}

fn loss(noise: bool) -> BoxedStrategy<f64> {
    if noise { prop_oneof![Just(0.0), 0.0..0.6].boxed() } else { Just(0.0).boxed() }
}

fn timings() -> impl Strategy<Value = Timing> {
    let standard = prop::sample::select(vec![&DOT11A, &DOT11B, &DOT11G]);
    let eifs = prop::sample::select(vec![Eifs::Standard, Eifs::Estimated, Eifs::None]);
    let grid = vec![SlotGrid::Standard, SlotGrid::Shared, SlotGrid::Difs, SlotGrid::Free];
    let exact = prop::bool::weighted(0.8);
    (standard, any::<(bool, bool, u16)>(), eifs, prop::sample::select(grid), exact).prop_map(
        |(standard, (short_preamble, long_slot, basic), eifs, slot_grid, exact)| Timing {
            preamble: if short_preamble { Preamble::Short } else { Preamble::Long },
            // In ns-2 control frames last whole microseconds, or each Duration field of an exchange
            // would be wrong by another fraction.
            basic_rates: basic_rates(standard, if exact { basic } else { basic & 0b11 | 1 }),
            slot: if long_slot && standard == &DOT11G { DOT11B.slot } else { standard.slot },
            eifs,
            slot_grid,
            durations: if exact { Durations::Standard } else { Durations::Ns2 },
            ..Timing::of(standard)
        },
    )
}

/// The rates of the bits that are set, or the usual set.
fn basic_rates(standard: &'static Standard, bits: u16) -> Vec<BitRate> {
    let chosen = |i: usize| bits >> i & 1 == 1;
    let rates = standard.modes.iter().map(|mode| mode.rate).enumerate();
    let some: Vec<BitRate> = rates.filter(|&(i, _)| chosen(i)).map(|(_, rate)| rate).collect();
    if some.is_empty() { standard.default_basic_rates().collect() } else { some }
}

fn configs(timing: Timing, chain: bool) -> impl Strategy<Value = MacConfig> {
    let countdown = if chain { Countdown::Bianchi } else { Countdown::Standard };
    let countdown =
        prop::sample::select(vec![Countdown::Standard, Countdown::IdleSlots, countdown]);
    let draw = prop::sample::select(vec![BackoffDraw::Standard, BackoffDraw::Ns2]);
    let limits = (1u32..8, 1u32..5);
    let windows = (prop::sample::select(vec![1u32, 3, 7, 15, 31]), 0u32..4);
    let threshold = prop::sample::select(vec![0u64, 400, 3000]);
    (countdown, draw, limits, windows, threshold).prop_map(
        move |(countdown, backoff_draw, limits, (cw_min, doublings), threshold)| MacConfig {
            timing: timing.clone(),
            short_retry_limit: limits.0,
            long_retry_limit: limits.1,
            cw_min,
            cw_max: ((cw_min + 1) << doublings) - 1,
            countdown,
            backoff_draw,
            rts_threshold: Bytes(threshold),
            ..MacConfig::default()
        },
    )
}

/// Pause before it, from which node, to all instead of one, to which station, size.
type Draft = (Duration, u32, bool, u32, u64);

fn arrival(stations: u32) -> impl Strategy<Value = Draft> {
    // Whole microseconds let packets come at the very instants at which slots end.
    let pause = prop_oneof![
        2 => Just(Duration::ZERO),
        4 => (0u64..100).prop_map(Duration::from_micros),
        3 => (0u64..2000).prop_map(Duration::from_micros),
        1 => (0u64..3_000_000).prop_map(Duration::from_nanos),
    ];
    (pause, 0..=stations, prop::bool::weighted(0.2), 1..=stations, 20u64..1500)
}

fn in_time(drafts: Vec<Draft>) -> Vec<Arrival> {
    let mut at = Instant::ZERO;
    let arrival = |(pause, node, to_all, station, size): Draft| {
        at += pause;
        let to = match node {
            0 if to_all => None,
            0 => Some(station),
            _ => Some(0),
        };
        Arrival { at, node, to, class: TrafficClass::default(), size: Bytes(size) }
    };
    drafts.into_iter().map(arrival).collect()
}
