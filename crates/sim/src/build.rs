//! From a plan to the machines that run it.

use crate::control::External;
use crate::plan::{self, Plan};
use kernel::{Bytes, Duration, Seed, Segments};
use net::{AirtimeFairConfig, CoDelConfig, FqCoDelConfig, Limit, PieConfig, RedConfig};
use tcp::control::{
    Afw, Bbr, Counting, CrossLayer, Cubic, Few, Lt, NewReno, Steerable, Vegas, Westwood,
};
use wifi::mac::{BackoffDraw, Countdown, Durations, Eifs, FCS, SlotGrid, Timing};
use wifi::phy::{DOT11A, DOT11B, DOT11G, Preamble};

pub(crate) fn cell_config(wlan: &plan::WlanPlan) -> wifi::CellConfig {
    let standard = match wlan.standard {
        plan::Standard::A => &DOT11A,
        plan::Standard::B => &DOT11B,
        plan::Standard::G => &DOT11G,
    };
    let timing = Timing {
        standard,
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
    };
    wifi::CellConfig {
        timing,
        short_retry_limit: u32::from(wlan.short_retry_limit),
        long_retry_limit: u32::from(wlan.long_retry_limit),
        cw_min: wlan.cw_min,
        cw_max: wlan.cw_max,
        countdown: match wlan.countdown {
            plan::Countdown::Standard => Countdown::Standard,
            plan::Countdown::Bianchi => Countdown::Bianchi,
        },
        backoff_draw: match wlan.backoff_draw {
            plan::BackoffDraw::Standard => BackoffDraw::Standard,
            plan::BackoffDraw::Ns2 => BackoffDraw::Ns2,
        },
        rts_threshold: wlan.rts_threshold,
        overhead: wlan.mac_header + FCS + wlan.llc,
    }
}

pub(crate) fn links(plan: &Plan, config: &wifi::CellConfig) -> Vec<wifi::Link> {
    plan.stations
        .iter()
        .map(|station| wifi::Link {
            mode: config.timing.standard.mode(station.rate).expect("the plan's rates exist"),
            data_loss: station.data_loss,
            ack_loss: station.ack_loss,
        })
        .collect()
}

fn discipline(discipline: &plan::Discipline) -> net::Discipline {
    let Limit { packets, bytes } = discipline.limit();
    let packets = packets.or(bytes.is_none().then_some(UNLIMITED_PACKETS));
    let limit = Limit { packets, bytes };
    match *discipline {
        plan::Discipline::DropTail { .. } => net::Discipline::DropTail { limit },
        plan::Discipline::Drr { per, quantum, .. } => net::Discipline::Drr {
            per: match per {
                plan::Per::Flow => net::Per::Flow,
                plan::Per::Station => net::Per::Station,
            },
            quantum,
            limit,
        },
        plan::Discipline::Red(config) => net::Discipline::Red(RedConfig { limit, ..config }),
        plan::Discipline::CoDel(config) => net::Discipline::CoDel(CoDelConfig { limit, ..config }),
        plan::Discipline::FqCoDel(config) => {
            net::Discipline::FqCoDel(FqCoDelConfig { limit, ..config })
        }
        plan::Discipline::Pie(config) => net::Discipline::Pie(PieConfig { limit, ..config }),
        plan::Discipline::AirtimeFair { quantum, count_received, ref station, .. } => {
            net::Discipline::AirtimeFair(AirtimeFairConfig {
                quantum,
                count_received,
                station: Box::new(self::discipline(station)),
                limit,
            })
        }
    }
}

/// The queues of the cell's nodes, in their order.
pub(crate) fn queues<'a>(
    plans: impl Iterator<Item = &'a plan::Discipline>,
    seed: &Seed,
) -> Vec<Box<dyn net::Queue>> {
    let build = |(node, plan)| discipline(plan).build(seed.stream("queue", node));
    (0..).zip(plans).map(build).collect()
}

/// What a buffer without a limit holds: more is a mistake of the scenario, and would take memory
/// that grows with simulated time.
const UNLIMITED_PACKETS: u32 = 1_000_000;

/// The wire's two links, from the server and to it.
pub(crate) fn wire_links(wire: &plan::WirePlan, seed: &Seed) -> [net::Lossy; 2] {
    let without = match wire.loss_direction {
        plan::LossDirection::Both => None,
        plan::LossDirection::Down => Some(1),
        plan::LossDirection::Up => Some(0),
    };
    [0, 1].map(|direction| {
        let queue = discipline(&wire.queue).build(seed.stream("wire.queue", direction));
        let link = net::Link::new(wire.rate, wire.delay, wire.overhead, queue);
        let loss = if without == Some(direction) { &net::Loss::None } else { &wire.loss };
        let channel = seed.stream("wire.channel", direction);
        net::Lossy::new(link, loss.build(channel, seed.stream("wire.loss", direction)))
    })
}

pub(crate) fn tcp_config(tcp: &plan::TcpPlan) -> tcp::Config {
    tcp::Config {
        mss: tcp.mss,
        window: tcp.window,
        initial_window: Segments(f64::from(tcp.initial_window)),
        initial_ssthresh: tcp.initial_ssthresh.map(|s| Segments(f64::from(s))),
        timestamps: tcp.timestamps,
        header: tcp.header,
        rto_initial: tcp.rto_initial,
        rto_min: tcp.rto_min,
        rto_max: tcp.rto_max,
        rto_rule: match tcp.rto_rule {
            plan::RtoRule::Rfc6298 => tcp::RtoRule::Rfc6298,
            plan::RtoRule::Linux => tcp::RtoRule::Linux,
        },
        recovery: recovery(tcp.recovery),
        ecn: match tcp.ecn {
            plan::Ecn::Off => tcp::EcnMode::Off,
            plan::Ecn::Classic => tcp::EcnMode::Classic,
            plan::Ecn::Accurate => tcp::EcnMode::Accurate,
        },
        pacing: tcp.pacing,
        limited_transmit: tcp.limited_transmit,
        restart_after_idle: tcp.restart_after_idle,
        delayed_ack: match tcp.delayed_ack {
            plan::DelayedAck::None => tcp::DelayedAck::None,
            plan::DelayedAck::Fixed { segments, timer } => {
                tcp::DelayedAck::Fixed { segments, timer }
            }
            plan::DelayedAck::Dynamic { thresholds, timer } => {
                tcp::DelayedAck::Dynamic { thresholds, timer }
            }
        },
        ack_heartbeat: tcp.ack_heartbeat,
        fin: tcp.close == plan::Close::Fin,
        pad_last: tcp.pad_last_segment,
        ..tcp::Config::default()
    }
}

fn recovery(recovery: plan::Recovery) -> tcp::Recovery {
    match recovery {
        plan::Recovery::NewReno => tcp::Recovery::NewReno,
        plan::Recovery::Sack { rack, reduction, f_rto, undo } => {
            let reduction = match reduction {
                plan::Reduction::AtOnce => tcp::Reduction::AtOnce,
                plan::Reduction::Proportional => tcp::Reduction::Proportional,
                plan::Reduction::Proportional6937 => tcp::Reduction::Proportional6937,
            };
            tcp::Recovery::Sack(tcp::Sack { rack, reduction, f_rto, undo })
        }
    }
}

pub(crate) fn control(
    tcp: &plan::TcpPlan,
    config: &tcp::Config,
    flow: u32,
    external: &dyn External,
) -> Box<dyn tcp::Control> {
    match &tcp.control {
        plan::ControlPlan::Python { path } => external.control(path, flow, config),
        plan::ControlPlan::Steerable(steered) => steerable(steered, tcp, config),
        plan::ControlPlan::Lt(settings) => Box::new(Lt::new(config, *settings)),
        plan::ControlPlan::Bbr(settings) => Box::new(Bbr::new(config, *settings)),
        plan::ControlPlan::CrossLayer { inner, throughputs, average } => {
            let inner = steerable(inner, tcp, config);
            Box::new(CrossLayer::new(inner, throughputs.clone(), *average, config.mss))
        }
    }
}

fn steerable(
    steered: &plan::Steered,
    tcp: &plan::TcpPlan,
    config: &tcp::Config,
) -> Box<dyn Steerable> {
    let counting = if tcp.byte_counting { Counting::Bytes { limit: 2 } } else { Counting::Acks };
    match *steered {
        plan::Steered::NewReno { hystart, beta_ecn } => {
            let control = NewReno::from(config).counting(counting).beta_ecn(beta_ecn);
            Box::new(if hystart { control.hystart() } else { control })
        }
        plan::Steered::Cubic(settings) => Box::new(Cubic::new(config, settings)),
        plan::Steered::Westwood { memory } => Box::new(Westwood::new(config, memory)),
        plan::Steered::Vegas(settings) => Box::new(Vegas::new(config, settings)),
        plan::Steered::Few { alpha } => Box::new(Few::new(config, alpha, counting)),
        plan::Steered::Afw(settings) => Box::new(Afw::new(config, settings, counting)),
    }
}

/// Bytes of user data written to a connection without an end: more than any run can send.
pub(crate) const ENDLESS: Bytes = Bytes(1 << 60);
