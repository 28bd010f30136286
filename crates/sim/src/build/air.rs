//! The cell: medium, stations, and what chooses their modes.

use crate::medium::{Bss, Medium};
use crate::plan::{self, AdaptiveRule, ErrorPlan, Plan, RateControlPlan, RatePlan};
use kernel::{Bytes, Duration, Rng, Seed};
use wifi::mac::{
    Aggregation, BackoffDraw, Countdown, Delivery, Durations, Eifs, FCS, MissedBlockAck, NonErp,
    Persist, Protection, QOS_CONTROL, SlotGrid, Timing,
};
use wifi::phy::{Preamble, Standard};
use wifi::rate::{
    Aarf, Arf, Cara, Ideal, Ladder, Minstrel, MinstrelHt, RateControl, Rraa, Schedule,
};
use wifi::{ACCESS_POINT, Cell};

/// The medium of a plan.
pub(crate) fn medium(plan: &Plan, seed: &Seed) -> Medium {
    let Some(space) = &plan.space else { return Medium::Cell(Box::new(cell(plan, seed))) };
    let mut medium = super::space::space(plan, space, mac(plan), seed);
    let bss = Bss::new(plan);
    for (station, i) in plan.stations.iter().zip(0..) {
        let node = i + 1;
        let ways: Vec<_> = if space.ad_hoc {
            let peers = medium.peers(node);
            peers.map(|peer| (node, peer, &station.up, "rate.up")).collect()
        } else {
            let access_point = bss.access_point_of(node);
            let down = (access_point, node, &station.down, "rate.down");
            vec![(node, access_point, &station.up, "rate.up"), down]
        };
        for (from, to, way, purpose) in ways {
            medium.set_mode(from, to, way.mode);
            let rng = || seed.stream(purpose, i);
            if let Some(control) = rate_control(&plan.wlan, way, space.errors, rng) {
                medium.control_rate(from, to, control);
            }
        }
    }
    Medium::Space(Box::new(medium))
}

/// The cell of a plan in which all hear all.
fn cell(plan: &Plan, seed: &Seed) -> Cell {
    let mut cell = Cell::new(mac(plan), links(plan), seed);
    for (station, i) in plan.stations.iter().zip(0..) {
        let node = i + 1;
        let ways = [
            (node, ACCESS_POINT, &station.up, "rate.up"),
            (ACCESS_POINT, node, &station.down, "rate.down"),
        ];
        for (from, to, way, purpose) in ways {
            cell.set_mode(from, to, way.mode);
            let rng = || seed.stream(purpose, i);
            // Where all hear all nothing goes by the signal.
            if let Some(control) = rate_control(&plan.wlan, way, ErrorPlan::Table, rng) {
                cell.control_rate(from, to, control);
            }
        }
    }
    cell
}

/// The loss that rate control by the signal allows, of PSDUs of this size.
const IDEAL_PSDU: Bytes = Bytes(1536);
const IDEAL_LOSS: f64 = 0.1;

/// What chooses the modes of one direction of a link; nothing where there is one only.
fn rate_control(
    wlan: &plan::WlanPlan,
    way: &RatePlan,
    errors: ErrorPlan,
    rng: impl FnOnce() -> Rng,
) -> Option<Box<dyn RateControl>> {
    let (rule, modes) = match &way.control {
        RateControlPlan::Fixed => return None,
        RateControlPlan::Schedule(changes) => {
            return Some(Box::new(Schedule::new(way.mode, changes.clone())));
        }
        RateControlPlan::Adaptive { rule, modes } => (*rule, modes),
    };
    let ladder = Ladder::new(standard(wlan), modes.iter().copied());
    Some(match rule {
        AdaptiveRule::Arf { patience } => Box::new(Arf::with_patience(ladder, patience)),
        AdaptiveRule::Aarf { most_successes } => Box::new(Aarf::with_limit(ladder, most_successes)),
        AdaptiveRule::Simple => Box::new(Arf::simple(ladder)),
        AdaptiveRule::Cara => Box::new(Cara::new(ladder)),
        AdaptiveRule::Rraa => Box::new(Rraa::new(ladder)),
        AdaptiveRule::Minstrel => Box::new(Minstrel::new(ladder, rng())),
        AdaptiveRule::MinstrelHt => Box::new(MinstrelHt::new(&ladder, rng())),
        AdaptiveRule::Ideal => {
            let model = super::space::error_model(errors);
            Box::new(Ideal::new(modes.iter().copied(), &*model, IDEAL_PSDU, IDEAL_LOSS))
        }
    })
}

/// Medium access of a plan.
pub(crate) fn mac(plan: &Plan) -> wifi::MacConfig {
    let wlan = &plan.wlan;
    let qos_control = if wlan.qos.is_some() { QOS_CONTROL } else { Bytes::ZERO };
    let timing = Timing {
        standard: standard(wlan),
        preamble: match wlan.preamble {
            plan::Preamble::Long => Preamble::Long,
            plan::Preamble::Short => Preamble::Short,
        },
        basic_rates: wlan.basic_rates.clone(),
        slot: match wlan.slot {
            plan::Slot::Short => Duration::from_micros(9),
            plan::Slot::Long => Duration::from_micros(20),
        },
        eifs: match wlan.eifs {
            plan::Eifs::Standard => Eifs::Standard,
            plan::Eifs::Estimated => Eifs::Estimated,
            plan::Eifs::None => Eifs::None,
        },
        slot_grid: match wlan.slot_grid {
            plan::SlotGrid::Standard => SlotGrid::Standard,
            plan::SlotGrid::Shared => SlotGrid::Shared,
            plan::SlotGrid::Free => SlotGrid::Free,
        },
        durations: match wlan.durations {
            plan::Durations::Standard => Durations::Standard,
            plan::Durations::Ns2 => Durations::Ns2,
        },
        protection: match wlan.protection {
            plan::Protection::None => Protection::None,
            plan::Protection::CtsToSelf => Protection::CtsToSelf,
            plan::Protection::RtsCts => Protection::RtsCts,
        },
    };
    wifi::MacConfig {
        timing,
        short_retry_limit: u32::from(wlan.short_retry_limit),
        long_retry_limit: u32::from(wlan.long_retry_limit),
        cw_min: wlan.cw_min,
        cw_max: wlan.cw_max,
        countdown: match wlan.countdown {
            plan::Countdown::Standard => Countdown::Standard,
            plan::Countdown::IdleSlots => Countdown::IdleSlots,
            plan::Countdown::Bianchi => Countdown::Bianchi,
        },
        backoff_draw: match wlan.backoff_draw {
            plan::BackoffDraw::Standard => BackoffDraw::Standard,
            plan::BackoffDraw::Ns2 => BackoffDraw::Ns2,
        },
        rts_threshold: wlan.rts_threshold,
        overhead: wlan.mac_header + qos_control + FCS + wlan.llc,
        edca: wlan
            .qos
            .as_ref()
            .map(|qos| wifi::Categories { stations: qos.station, access_point: qos.ap }),
        aggregation: wlan.qos.as_ref().and_then(|qos| aggregation(wlan, qos.aggregation.as_ref()?)),
        non_erp: non_erp(plan),
    }
}

/// Stations of 802.11b in a network of 802.11g.
fn non_erp(plan: &Plan) -> Option<NonErp> {
    let stations = (1..).zip(&plan.stations).filter(|(_, station)| station.non_erp);
    let nodes: Vec<u32> = stations.map(|(node, _)| node).collect();
    (!nodes.is_empty()).then_some(NonErp { nodes, cw_min: plan.wlan.cw_min_non_erp })
}

fn aggregation(wlan: &plan::WlanPlan, limits: &plan::AggregationPlan) -> Option<Aggregation> {
    let class = standard(wlan).high?;
    Some(Aggregation {
        window: limits.window,
        frames: limits.frames,
        bytes: limits.bytes,
        duration: limits.duration,
        amsdu: limits.amsdu,
        lifetime: limits.lifetime,
        persist: match limits.retries {
            plan::Retries::Lifetime => Persist::Lifetime,
            plan::Retries::Counted => Persist::Counted,
        },
        missed: match limits.missed_block_ack {
            plan::MissedBlockAck::Bar => MissedBlockAck::Request,
            plan::MissedBlockAck::Retransmit => MissedBlockAck::Retransmit,
        },
        delivery: match limits.delivery {
            plan::Delivery::Ppdu => Delivery::Ppdu,
            plan::Delivery::Mpdu => Delivery::Mpdu,
        },
        ..Aggregation::of(class, wlan.llc)?
    })
}

fn standard(wlan: &plan::WlanPlan) -> &'static Standard {
    Standard::in_band(wlan.standard.name(), wlan.band).expect("the plan's bands exist")
}

fn links(plan: &Plan) -> Vec<wifi::Link> {
    plan.stations
        .iter()
        .map(|station| wifi::Link {
            mode: station.up.mode,
            data_loss: station.data_loss,
            ack_loss: station.ack_loss,
        })
        .collect()
}
