//! The world of a run: it owns all state machines and dispatches each `Event` in one `match`.

mod adopt;
mod air;
mod event;
mod network;
mod node;
mod outbox;
mod rate_hints;
mod rates;
mod sources;
mod station;
mod transport;
mod waiting;
mod wires;

use crate::build::{self, LinkRules};
use crate::control::External;
use crate::flow::{Flow, Side, Transport, UdpFlow};
use crate::medium::Medium;
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::topology::{Interface, RadioId, Routes, Topology, WireId};
use crate::traffic;
use event::Event;
pub(crate) use event::{Look, Step};
use kernel::{EventQueue, IdVec, Instant, Seed};
use net::{Lossy, Signal};
use network::Network;
use outbox::Outbox;
use rate_hints::RateHints;
use std::collections::VecDeque;
use std::sync::Arc;
use wifi::station::Stations;
use wire::{Body, FlowId, NodeId, Packet};

/// The state of a run.
#[derive(Debug)]
pub(crate) struct World<O> {
    pub(crate) now: Instant,
    pub(crate) end: Instant,
    event_queue: EventQueue<Event>,
    pub(crate) cell: Medium,
    pub(crate) topology: Arc<Topology>,
    /// The tables of next hops.
    routes: Routes,
    /// Whether some stations forward packets to wires.
    has_wired_stations: bool,
    /// The nodes that forward for others.
    pub(crate) network: Option<Box<Network>>,
    /// What stands between queues and MACs, if anything does.
    pub(crate) stations: Option<Box<Stations>>,
    /// One queue per radio.
    pub(crate) queues: IdVec<RadioId, Box<dyn net::Queue>>,
    /// The link directions.
    pub(crate) wires: IdVec<WireId, Lossy>,
    pub(crate) flows: IdVec<FlowId, Flow>,
    /// The flows of the saturated sources at each node.
    saturated: IdVec<NodeId, Vec<FlowId>>,
    /// Nodes whose queue has dropped a packet of a saturated source, so that a source may be short
    /// of packets.
    is_short: IdVec<NodeId, bool>,
    /// Whether senders learn when their packets have left their nodes.
    has_small_queues: bool,
    /// Which senders receive hints about the rates of which links.
    rate_hints: RateHints,
    /// How queues learn of links, if any depends on them.
    link_rules: Option<Box<LinkRules>>,
    /// The observers.
    pub(crate) observers: O,
    pub(crate) events: u64,
    cell_out: Vec<wifi::Command>,
    /// An empty buffer, which takes turns with `cell_out`.
    cell_done: Vec<wifi::Command>,
    cell_settling: bool,
    /// Whether the frames and the waits of the medium are reported to observers.
    is_watched: bool,
    /// Whether the events of the medium are, which only the checker needs.
    is_checked: bool,
    tcp_out: Outbox<(FlowId, Side), tcp::Command>,
    source_out: Outbox<FlowId, traffic::Command>,
    wire_out: Outbox<WireId, net::Command>,
    station_out: Outbox<RadioId, wifi::station::Command>,
    /// Drops and marks of the queues of radios.
    signals: Outbox<RadioId, Signal>,
    /// Signals of queues whose packets were taken into service during an event of the medium.
    refill_signals: VecDeque<(RadioId, Signal)>,
    refilling: Vec<RadioId>,
}

impl<O: Observer> World<O> {
    /// The world at the start of a run.
    pub(crate) fn new(
        plan: &Plan,
        seed: &Seed,
        external: &Arc<dyn External>,
        observers: O,
    ) -> Self {
        let topology = &plan.topology;
        let nodes = topology.nodes().len();
        let flows: IdVec<FlowId, Flow> = plan
            .flows
            .iter()
            .zip(0..)
            .map(|(flow, i)| {
                let from = topology.id(flow.from).expect("broadcast is no source");
                Flow::new(i, flow, from, topology.id(flow.to), seed, external)
            })
            .collect();
        let end = Instant::ZERO + plan.duration;
        let mut cell = build::medium(plan, seed);
        let mut world = Self {
            now: Instant::ZERO,
            end,
            event_queue: EventQueue::new(),
            network: Network::new(plan, &mut cell, seed),
            cell,
            stations: None,
            queues: build::queues(plan, seed),
            wires: build::wires(plan, seed),
            routes: topology.routes().clone(),
            has_wired_stations: topology.has_wired_stations(),
            topology: Arc::clone(topology),
            saturated: IdVec::filled(nodes, Vec::new()),
            is_short: IdVec::filled(nodes, false),
            has_small_queues: plan
                .flows
                .iter()
                .any(|flow| flow.tcp.as_ref().is_some_and(build::has_small_queue)),
            rate_hints: RateHints::default(),
            link_rules: LinkRules::of(plan).map(Box::new),
            observers,
            events: 0,
            flows,
            cell_out: Vec::with_capacity(64),
            cell_done: Vec::with_capacity(64),
            cell_settling: false,
            is_watched: false,
            is_checked: false,
            tcp_out: Outbox::new(64),
            source_out: Outbox::new(8),
            wire_out: Outbox::new(8),
            station_out: Outbox::new(0),
            signals: Outbox::new(8),
            refill_signals: VecDeque::new(),
            refilling: Vec::new(),
        };
        world.hint_rates(plan);
        world.tell_queues(plan.stations.len());
        world.hint_hops();
        world.schedule_start();
        world.stations = build::stations(plan, &mut world.cell, seed);
        world.at_stations(RadioId(0), |all, scope| all.on_start(seed, scope));
        world
    }

    fn schedule_start(&mut self) {
        for id in self.flows.ids() {
            let Flow { from, start, stop, ref transport, .. } = self.flows[id];
            if let Transport::Udp(UdpFlow { waiting: Some(_), .. }) = transport {
                let outlet = self.topology.outlet(from);
                self.saturated[outlet].push(id);
            }
            let stop = Some(stop).filter(|&stop| stop < self.end);
            self.notify_source(id, traffic::Event::Begin { start, stop });
        }
        self.event_queue.at(self.end, Event::End);
    }

    /// Stops at this instant, after all other events of the instant, so that the caller can read
    /// the state.
    pub(crate) fn look_at(&mut self, at: Instant, look: Look) {
        self.event_queue.at(at, Event::Look(look));
    }

    /// Handles the next event.
    pub(crate) fn step(&mut self) -> Step {
        let Some((now, event)) = self.event_queue.next() else { return Step::End };
        self.observers.on(now, &Notice::Time { before: self.now });
        self.now = now;
        self.events += 1;
        match event {
            Event::AirStep => self.on_air_step(),
            Event::Access { generation } => {
                self.with_frame_source(|cell, source, out| {
                    cell.on_access(now, generation, source, out);
                });
            }
            Event::Wire(wire, timer) => self.on_wire_timer(wire, timer),
            Event::Tcp { flow, side, timer, generation } => {
                self.on_tcp_timer(flow, side, timer, generation);
            }
            Event::Node { node, timer, generation } => self.on_node_timer(node, timer, generation),
            Event::Radio { radio, function, generation } => {
                self.on_radio_timer(radio, function, generation);
            }
            Event::Traffic(flow) => self.on_traffic(flow),
            Event::Reply(flow) => self.on_reply_due(flow),
            Event::Look(look) => return Step::Look(look),
            Event::End => return Step::End,
        }
        Step::Event
    }

    /// The run ends.
    pub(crate) fn close(&mut self) {
        self.now = self.end;
        self.close_watch();
        let (now, observers) = (self.end, &mut self.observers);
        for (queue, radio) in self.queues.iter().zip(0..) {
            let at = Some(Interface::Radio(RadioId(radio)));
            queue.each(&mut |packet| observers.on(now, &Notice::Resident { at, packet }));
        }
        let mut in_service =
            |packet: &Packet| observers.on(now, &Notice::Resident { at: None, packet });
        self.cell.each_in_service(&mut in_service);
        self.cell.each_serving(&mut |node, packet| {
            let by = RadioId(node);
            if !matches!(packet.body, Body::Management(_)) {
                observers.on(now, &Notice::Serving { by, packet });
            }
        });
        if let Some(network) = &self.network {
            network.each(&mut |packet| observers.on(now, &Notice::Resident { at: None, packet }));
        }
        for (radio, packet) in self.stations.iter().flat_map(|all| all.each()) {
            let at = Some(Interface::Radio(RadioId(radio)));
            observers.on(now, &Notice::Resident { at, packet });
        }
        for (wire, direction) in self.wires.iter().zip(0..) {
            let at = Some(Interface::Wire(WireId(direction)));
            wire.each(&mut |packet| observers.on(now, &Notice::Resident { at, packet }));
        }
        observers.on(now, &Notice::End);
    }
}

#[cfg(test)]
mod tests;
