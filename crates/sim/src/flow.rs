//! Flows: the two ends of a transport and the source of what they carry.

use crate::build;
use crate::control::External;
use crate::plan::{self, DelayEnd, FlowPlan, SizePlan, TrafficPlan};
use kernel::{Bytes, Duration, Instant, Rng, Seed, Timer};
use std::sync::Arc;
use tcp::{Receiver, ReceiverCounters, Sender, SenderCounters, TimerId};
use wire::{FlowId, NodeId, TrafficClass};

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Sends the data.
    Sender,
    /// Receives it.
    Receiver,
}

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) id: FlowId,
    pub(crate) from: NodeId,
    /// `None` is broadcast.
    pub(crate) to: Option<NodeId>,
    pub(crate) class: TrafficClass,
    pub(crate) start: Instant,
    /// Nothing new is sent from here on.
    pub(crate) stop: Instant,
    pub(crate) transport: Transport,
}

#[derive(Debug)]
pub(crate) enum Transport {
    Tcp(Box<TcpFlow>),
    Udp(UdpFlow),
}

/// A TCP flow: its present connection and what it is to carry.
#[derive(Debug)]
pub(crate) struct TcpFlow {
    plan: plan::TcpPlan,
    pub(crate) config: tcp::Config,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// By side and timer.
    pub(crate) timers: [[Timer; TIMERS]; 2],
    /// Counters of the connections before the present one.
    pub(crate) past: SenderCounters,
    past_received: ReceiverCounters,
    connection: u32,
    external: Arc<dyn External>,
    pub(crate) source: Source,
}

/// How many kinds of timers an end may have.
pub(crate) const TIMERS: usize = 4;

/// What a TCP flow has to send.
#[derive(Debug)]
pub(crate) enum Source {
    Bulk { size: Option<Bytes> },
    Web(Box<Web>),
}

/// A browsing user: file, pause, file, pause, …
#[derive(Debug)]
pub(crate) struct Web {
    size: SizePlan,
    think: Duration,
    files_left: Option<u64>,
    pub(crate) delay_end: DelayEnd,
    sizes: Rng,
    pauses: Rng,
    /// When the file in transfer was asked for.
    pub(crate) asked: Instant,
    /// Its bytes that the receiver still lacks.
    pub(crate) missing: Bytes,
    /// The transfer's measured end has passed.
    pub(crate) ended: bool,
    /// The connection has closed.
    pub(crate) closed: bool,
    /// The pause is over.
    pub(crate) rested: bool,
}

/// A source of datagrams.
#[derive(Debug)]
pub(crate) struct UdpFlow {
    pub(crate) payload: Bytes,
    pub(crate) header: Bytes,
    /// Time between datagrams; `None` keeps the node's queue from running empty.
    pub(crate) interval: Option<Duration>,
    pub(crate) next_number: u64,
    /// Datagrams of a saturated source that wait at its node.
    pub(crate) waiting: u32,
    /// First number of a broadcast that no node has yet.
    pub(crate) next_broadcast: u64,
}

impl Flow {
    /// Makes a flow between these nodes.
    pub(crate) fn new(
        index: u32,
        plan: &FlowPlan,
        from: NodeId,
        to: Option<NodeId>,
        seed: &Seed,
        external: &Arc<dyn External>,
    ) -> Self {
        let id = FlowId(index);
        let spread = plan.start_spread.as_secs_f64();
        let offset =
            if spread > 0.0 { seed.stream("traffic.start", index).uniform() * spread } else { 0.0 };
        let start = Instant::ZERO + plan.start + Duration::from_secs_f64(offset);
        let stop = plan.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
        let transport = match &plan.tcp {
            Some(tcp) => {
                Transport::Tcp(Box::new(TcpFlow::new(id, tcp, &plan.traffic, seed, external)))
            }
            None => Transport::Udp(UdpFlow::new(&plan.traffic)),
        };
        Self { id, from, to, class: plan.class, start, stop, transport }
    }

    pub(crate) fn tcp(&self) -> Option<&TcpFlow> {
        match &self.transport {
            Transport::Tcp(tcp) => Some(tcp),
            Transport::Udp(_) => None,
        }
    }
}

impl TcpFlow {
    fn new(
        id: FlowId,
        tcp: &plan::TcpPlan,
        traffic: &TrafficPlan,
        seed: &Seed,
        external: &Arc<dyn External>,
    ) -> Self {
        let config = build::tcp_config(tcp);
        let source = match traffic {
            TrafficPlan::Web { size, think, files, delay, .. } => Source::Web(Box::new(Web {
                size: size.clone(),
                think: *think,
                files_left: *files,
                delay_end: *delay,
                sizes: seed.stream("traffic.size", id.0),
                pauses: seed.stream("traffic.think", id.0),
                asked: Instant::ZERO,
                missing: Bytes::ZERO,
                ended: true,
                closed: true,
                rested: false,
            })),
            TrafficPlan::Bulk { size } => Source::Bulk { size: *size },
            TrafficPlan::Cbr { .. } | TrafficPlan::Saturated { .. } => {
                unreachable!("the plan gives datagram traffic no TCP")
            }
        };
        Self {
            sender: Sender::new(id, 0, &config, build::control(tcp, &config, id.0, &**external)),
            receiver: Receiver::new(id, 0, &config),
            plan: tcp.clone(),
            config,
            timers: Default::default(),
            past: SenderCounters::default(),
            past_received: ReceiverCounters::default(),
            connection: 0,
            external: Arc::clone(external),
            source,
        }
    }

    /// Replaces both ends by those of a new connection; timers of the old one go stale.
    pub(crate) fn reconnect(&mut self, id: FlowId) {
        self.connection += 1;
        self.past += self.sender.counters();
        self.past_received += self.receiver.counters();
        let control = build::control(&self.plan, &self.config, id.0, &*self.external);
        self.sender = Sender::new(id, self.connection, &self.config, control);
        self.receiver = Receiver::new(id, self.connection, &self.config);
        self.timers.iter_mut().flatten().for_each(Timer::cancel);
    }

    pub(crate) fn timer(&mut self, side: Side, timer: TimerId) -> &mut Timer {
        &mut self.timers[side as usize][timer as usize]
    }

    /// Counters of all connections so far.
    pub(crate) fn counters(&self) -> SenderCounters {
        let mut total = self.past;
        total += self.sender.counters();
        total
    }

    /// The receiver's counters of all connections so far.
    pub(crate) fn received(&self) -> ReceiverCounters {
        let mut total = self.past_received;
        total += self.receiver.counters();
        total
    }
}

impl Web {
    /// The next file's size, or `None` when the user has had enough.
    pub(crate) fn next_file(&mut self) -> Option<Bytes> {
        match &mut self.files_left {
            Some(0) => return None,
            Some(left) => *left -= 1,
            None => {}
        }
        Some(draw_size(&self.size, &mut self.sizes))
    }

    /// The next pause.
    pub(crate) fn next_pause(&mut self) -> Duration {
        Duration::from_secs_f64(self.pauses.exponential(self.think.as_secs_f64()))
    }

    /// Whether the next file may be asked for.
    pub(crate) fn is_ready(&self) -> bool {
        self.ended && self.closed && self.rested
    }
}

/// Sizes are whole bytes, at least one, and no larger than a petabyte: a Pareto variate of shape
/// near 1 has no bound of its own.
fn draw_size(size: &SizePlan, rng: &mut Rng) -> Bytes {
    let drawn = match size {
        SizePlan::Constant(bytes) => return *bytes,
        SizePlan::Exponential { mean } => rng.exponential(mean.0 as f64),
        SizePlan::Pareto { mean, shape } => rng.pareto(*shape, mean.0 as f64),
        SizePlan::Empirical { sizes, cumulative } => {
            let u = rng.uniform();
            let i = cumulative.partition_point(|&c| c <= u).min(sizes.len() - 1);
            return sizes[i];
        }
    };
    Bytes((drawn + 0.5).clamp(1.0, 1e15) as u64)
}

impl UdpFlow {
    fn new(traffic: &TrafficPlan) -> Self {
        let (payload, header, interval) = match *traffic {
            TrafficPlan::Cbr { rate, payload, header } => {
                (payload, header, Some(rate.time_for(payload)))
            }
            TrafficPlan::Saturated { payload, header } => (payload, header, None),
            TrafficPlan::Bulk { .. } | TrafficPlan::Web { .. } => {
                unreachable!("the plan gives TCP traffic a TCP")
            }
        };
        Self { payload, header, interval, next_number: 0, waiting: 0, next_broadcast: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(size: &SizePlan, n: usize) -> Vec<u64> {
        let mut rng = Seed { root: 1, replication: 0 }.stream("traffic.size", 0);
        (0..n).map(|_| draw_size(size, &mut rng).0).collect()
    }

    #[test]
    fn pareto_sizes_have_their_scale_and_median() {
        let size = SizePlan::Pareto { mean: Bytes(30_000), shape: 1.5 };
        let mut drawn = sizes(&size, 40_001);
        drawn.sort_unstable();
        assert_eq!(drawn[0] / 100, 100, "scale = mean/3 = 10 000");
        let median = drawn[20_000] as f64;
        let expected = 10_000.0 * libm::cbrt(2.0).powi(2);
        assert!((median / expected - 1.0).abs() < 0.02, "{median} {expected}");
    }

    #[test]
    fn empirical_sizes_follow_their_weights() {
        let size = SizePlan::Empirical {
            sizes: vec![Bytes(1), Bytes(2), Bytes(3)],
            cumulative: vec![0.5, 0.75, 1.0],
        };
        let drawn = sizes(&size, 40_000);
        let share = |s| drawn.iter().filter(|&&d| d == s).count() as f64 / 40_000.0;
        for (bytes, expected) in [(1, 0.5), (2, 0.25), (3, 0.25)] {
            assert!((share(bytes) - expected).abs() < 0.01);
        }
    }
}
