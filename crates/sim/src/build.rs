//! From a plan to the machines that run it.

mod air;
mod space;

pub(crate) use air::{mac, medium};
pub(crate) use space::radio_and_sites;

use crate::control::External;
use crate::plan;
use kernel::{Bytes, Seed, Segments};
use net::{AirtimeFairConfig, CoDelConfig, FqCoDelConfig, Limit, PieConfig, RedConfig, SfqConfig};
use tcp::control::{
    Afw, Bbr, Bbr3, Counting, CrossLayer, Cubic, Few, Lt, NewReno, Steerable, Vegas, Westwood,
};

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
        plan::Discipline::Sfq(config) => net::Discipline::Sfq(SfqConfig { limit, ..config }),
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

/// The queues of the cell's nodes, in their order; with access categories each node has one for
/// each.
pub(crate) fn queues(plan: &plan::Plan, seed: &Seed) -> Vec<Box<dyn net::Queue>> {
    let ap = std::iter::once((&plan.ap.queue, plan.ap.ring));
    let bss = plan.space.iter().flat_map(|space| &space.cells[1..]);
    let further = bss.map(|bss| (&bss.queue, bss.ring));
    let stations = plan.stations.iter().map(|station| (&station.queue, station.ring));
    let plans = ap.chain(stations).chain(further);
    let build = |(node, (queue, ring)): (u32, (_, Option<u32>))| -> Box<dyn net::Queue> {
        let below = |above| match ring {
            Some(most) => Box::new(net::Ring::new(above, most)) as Box<dyn net::Queue>,
            None => above,
        };
        if plan.wlan.qos.is_none() {
            return below(discipline(queue).build(seed.stream("queue", node)));
        }
        let stream = |class| seed.stream("queue.class", 4 * node + class);
        let class = |class| below(discipline(queue).build(stream(class)));
        Box::new(net::Classes::new([0, 1, 2, 3].map(class)))
    };
    (0..).zip(plans).map(build).collect()
}

/// What a buffer without a limit holds: more is a mistake of the scenario, and would take memory
/// that grows with simulated time.
const UNLIMITED_PACKETS: u32 = 1_000_000;

/// The directions of all links, two a link. `saturated` tells by which a source leaves that has a
/// packet whenever the last has gone.
pub(crate) fn wires(
    network: &plan::Network,
    saturated: impl Fn(usize) -> bool,
    seed: &Seed,
) -> Vec<net::Lossy> {
    let both = |link| [0, 1].map(|direction| (link, direction));
    network
        .links
        .iter()
        .flat_map(both)
        .enumerate()
        .map(|(number, (link, direction))| wire(link, direction, saturated(number), seed))
        .collect()
}

fn wire(link: &plan::LinkPlan, direction: usize, saturated: bool, seed: &Seed) -> net::Lossy {
    let plan = &link.directions[direction];
    // Links draw by their numbers, so that a wire more or less changes no other link's draws.
    let (queue, channel, loss, index) = match link.number {
        None => ("wire.queue", "wire.channel", "wire.loss", direction),
        Some(number) => ("link.queue", "link.channel", "link.loss", 2 * number + direction),
    };
    let stream = |purpose| seed.stream(purpose, index as u32);
    let queue = discipline(&plan.queue).build(stream(queue));
    let mut wire = net::Link::new(plan.rate, plan.delay, plan.overhead, queue);
    if saturated {
        wire = wire.telling_departures();
    }
    net::Lossy::new(wire, plan.loss.build(stream(channel), stream(loss)))
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
        fec: tcp.fec,
        ecn: match tcp.ecn {
            plan::Ecn::Off => tcp::EcnMode::Off,
            plan::Ecn::Classic => tcp::EcnMode::Classic,
            plan::Ecn::Accurate => tcp::EcnMode::Accurate,
        },
        pacing: tcp.pacing,
        read_rate: tcp.read_rate,
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
        plan::ControlPlan::Bbr3(settings) => Box::new(Bbr3::new(config, *settings)),
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
