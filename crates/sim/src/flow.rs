//! Flows: the two ends of a transport and the traffic source.

mod packets;

use crate::build;
use crate::control::External;
use crate::plan::{self, FlowPlan, Plan};
use crate::traffic::{self, Call, Origin, Replies, Source};
use kernel::{Bytes, Duration, IdVec, Instant, Seed, Timer};
use net::route::RouteNote;
use std::collections::VecDeque;
use std::sync::Arc;
use tcp::control::ControlSettings;
use tcp::{Command, Hint, LimitTimes, Receiver, ReceiverCounters, Sender, SenderCounters, TimerId};
use wire::{FlowId, NodeId, Packet, Segment, TrafficClass};

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Sends the data.
    Sender,
    /// Receives it.
    Receiver,
}

/// A timer of an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TcpTimer {
    pub(crate) flow: FlowId,
    pub(crate) side: Side,
    pub(crate) timer: TimerId,
}

/// The flows of a plan.
pub(crate) fn flows(plan: &Plan, seed: &Seed, external: &Arc<dyn External>) -> IdVec<FlowId, Flow> {
    let nodes = &plan.topology;
    let flow = |(flow, index): (&FlowPlan, u32)| {
        let from = nodes.id(flow.from).expect("broadcast is no source");
        Flow::new(index, flow, from, nodes.id(flow.to), seed, external)
    };
    plan.flows.iter().zip(0..).map(flow).collect()
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
    /// From this time on, nothing new is sent.
    pub(crate) stop: Instant,
    /// The traffic source.
    pub(crate) source: Box<dyn Source>,
    /// The settings of a voice call.
    pub(crate) call: Option<Call>,
    pub(crate) transport: Transport,
}

#[derive(Debug)]
pub(crate) enum Transport {
    Tcp(Box<TcpFlow>),
    Udp(UdpFlow),
}

/// A TCP flow: its current connection, and the counters of earlier ones.
#[derive(Debug)]
pub(crate) struct TcpFlow {
    pub(crate) plan: plan::TcpPlan,
    /// TCP and IP headers of each segment.
    pub(crate) header: Bytes,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// By side and timer.
    pub(crate) timers: [[Timer; TimerId::ALL.len()]; 2],
    /// Counters of the earlier connections.
    pub(crate) past: SenderCounters,
    past_received: ReceiverCounters,
    past_limits: LimitTimes,
    connection: u32,
    external: Arc<dyn External>,
}

/// A UDP flow.
#[derive(Debug)]
pub(crate) struct UdpFlow {
    pub(crate) header: Bytes,
    /// How the destination replies if its datagrams are echo requests.
    pub(crate) echo: Option<Replies>,
    /// The requests to which the destination has not replied yet.
    unanswered: VecDeque<Packet>,
    next_number: u64,
    /// The number of the broadcast that a node has received last. All nodes receive one before the
    /// next is sent.
    last_broadcast: Option<u64>,
}

impl Flow {
    /// Makes a flow between these nodes.
    fn new(
        index: u32,
        plan: &FlowPlan,
        from: NodeId,
        to: Option<NodeId>,
        seed: &Seed,
        external: &Arc<dyn External>,
    ) -> Self {
        let (id, settings) = (FlowId(index), &plan.settings);
        let spread = plan.start_spread.as_secs_f64();
        let offset =
            if spread > 0.0 { seed.stream("traffic.start", index).uniform() * spread } else { 0.0 };
        let start = Instant::ZERO + settings.start + Duration::from_secs_f64(offset);
        let stop = settings.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
        let traffic = settings.traffic.get();
        let transport = match (traffic.transport(), &plan.tcp) {
            (traffic::Transport::Udp(size, _), _) => Transport::Udp(UdpFlow {
                header: size.header,
                echo: traffic.echo(),
                unanswered: VecDeque::new(),
                next_number: 0,
                last_broadcast: None,
            }),
            (traffic::Transport::Tcp, tcp) => {
                let tcp = tcp.as_ref().expect("the plan gives TCP traffic a TCP");
                Transport::Tcp(Box::new(TcpFlow::new(id, tcp, external)))
            }
        };
        let unit = match &transport {
            Transport::Tcp(tcp) if tcp.plan.config.pad_last => tcp.plan.config.mss(),
            _ => Bytes(1),
        };
        let source = traffic.source(&Origin { seed, flow: index, unit });
        let call = traffic.call();
        Self { id, from, to, class: settings.class, start, stop, source, call, transport }
    }

    pub(crate) fn tcp(&self) -> Option<&TcpFlow> {
        match &self.transport {
            Transport::Tcp(tcp) => Some(tcp),
            Transport::Udp(_) => None,
        }
    }
}

impl TcpFlow {
    fn new(id: FlowId, tcp: &plan::TcpPlan, external: &Arc<dyn External>) -> Self {
        let config = tcp.config;
        Self {
            sender: Sender::new(id, 0, &config, build::control(tcp, id, &**external)),
            receiver: Receiver::new(id, 0, &config),
            header: config.header(),
            plan: tcp.clone(),
            timers: Default::default(),
            past: SenderCounters::default(),
            past_received: ReceiverCounters::default(),
            past_limits: LimitTimes::default(),
            connection: 0,
            external: Arc::clone(external),
        }
    }

    /// Replaces both ends by those of a new connection. Timers of the old connection become stale.
    pub(crate) fn reconnect(&mut self, now: Instant, id: FlowId) {
        self.connection += 1;
        self.past += self.sender.counters();
        self.past_received += self.receiver.counters();
        self.past_limits += self.sender.limit_times(now);
        let control = build::control(&self.plan, id, &*self.external);
        self.sender = Sender::new(id, self.connection, &self.plan.config, control);
        self.receiver = Receiver::new(id, self.connection, &self.plan.config);
        self.timers.iter_mut().flatten().for_each(Timer::cancel);
    }

    /// A timer of an end has expired.
    #[inline]
    pub(crate) fn on_timer(
        &mut self,
        now: Instant,
        TcpTimer { side, timer, .. }: TcpTimer,
        out: &mut Vec<Command>,
    ) {
        match side {
            Side::Sender => self.sender.on_timer(now, timer, out),
            Side::Receiver => self.receiver.on_timer(now, timer, out),
        }
    }

    /// A segment reaches an end, which is returned.
    #[inline]
    pub(crate) fn on_segment(
        &mut self,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) -> Side {
        if segment.forward {
            self.receiver.on_segment(now, segment, out);
            Side::Receiver
        } else {
            self.sender.on_segment(now, segment, out);
            Side::Sender
        }
    }

    /// From now on the congestion control has these settings.
    pub(crate) fn adopt(&mut self, now: Instant, control: &ControlSettings) {
        self.plan.control.clone_from(control);
        if let Some(window) = control.get().set_window() {
            self.sender.on_hint(now, Hint::Window(window));
        }
    }

    /// Passes a command of the traffic source to the sender.
    pub(crate) fn on_source(
        &mut self,
        now: Instant,
        command: &traffic::Command,
        out: &mut Vec<Command>,
    ) {
        match *command {
            traffic::Command::Open => self.sender.on_open(now, out),
            traffic::Command::Write(bytes) => self.sender.on_data(now, bytes, out),
            traffic::Command::Close => self.sender.on_close(now, out),
            traffic::Command::Abandon => self.sender.on_stop(now, out),
            _ => {}
        }
    }

    /// Passes a note on the route of its packets to the sender.
    pub(crate) fn on_route(&mut self, now: Instant, note: &RouteNote, out: &mut Vec<Command>) {
        match *note {
            RouteNote::Changed { hops: Some(hops), .. } => {
                self.sender.on_hint(now, Hint::RouteHops(hops));
            }
            RouteNote::Failure { .. } => self.sender.on_route(now, false, out),
            RouteNote::Restored { .. } => self.sender.on_route(now, true, out),
            _ => {}
        }
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

    /// How long each reason limited the senders of all connections so far.
    pub(crate) fn limit_times(&self, now: Instant) -> LimitTimes {
        let mut total = self.past_limits;
        total += self.sender.limit_times(now);
        total
    }

    /// The receiver's counters of all connections so far.
    pub(crate) fn received(&self) -> ReceiverCounters {
        let mut total = self.past_received;
        total += self.receiver.counters();
        total
    }
}
