//! From a plan to the machines that run it.

use crate::plan::{self, Plan};
use kernel::{Bytes, Duration, Segments};
use net::Limit;
use wifi::mac::{BackoffDraw, Countdown, Eifs, FCS, SlotGrid, Timing};
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

pub(crate) fn discipline(discipline: &plan::Discipline) -> net::Discipline {
    let limit = |packets: Option<u32>, bytes: Option<Bytes>| Limit {
        packets: packets.or(bytes.is_none().then_some(UNLIMITED_PACKETS)),
        bytes,
    };
    match *discipline {
        plan::Discipline::DropTail { limit_packets, limit_bytes } => {
            net::Discipline::DropTail { limit: limit(limit_packets, limit_bytes) }
        }
        plan::Discipline::Drr { per, quantum, limit_packets, limit_bytes } => {
            net::Discipline::Drr {
                per: match per {
                    plan::Per::Flow => net::Per::Flow,
                    plan::Per::Station => net::Per::Station,
                },
                quantum,
                limit: limit(limit_packets, limit_bytes),
            }
        }
    }
}

/// What a buffer without a limit holds: more is a mistake of the scenario, and would take memory
/// that grows with simulated time.
const UNLIMITED_PACKETS: u32 = 1_000_000;

pub(crate) fn wire_link(wire: &plan::WirePlan) -> net::Link {
    net::Link::new(wire.rate, wire.delay, wire.overhead, discipline(&wire.queue).build())
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
        fin: tcp.close == plan::Close::Fin,
        pad_last: tcp.pad_last_segment,
        ..tcp::Config::default()
    }
}

pub(crate) fn control(tcp: &plan::TcpPlan, config: &tcp::Config) -> Box<dyn tcp::Control> {
    match tcp.control {
        plan::ControlPlan::NewReno => Box::new({
            tcp::control::NewReno::new(config.initial_window, config.initial_ssthresh)
        }),
    }
}

/// Bytes of user data written to a connection without an end: more than any run can send.
pub(crate) const ENDLESS: Bytes = Bytes(1 << 60);
