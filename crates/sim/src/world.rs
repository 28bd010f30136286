//! The world of a run: it owns all state machines and dispatches each `Event` in one `match`.

mod event;
mod node;
mod radio;
mod source;
mod transport;
mod wire;

use crate::adjustable::Adjustable;
use crate::air::{Listening, Taken};
use crate::build::{self, LinkRules};
use crate::control::External;
use crate::flow::{Flow, Side, Transport};
use crate::medium::Medium;
use crate::network::Network;
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::rate_hints::RateHints;
use crate::topology::{Interface, RadioId, Routes, Topology, WireId};
use crate::traffic::{self, Stock};
use ::wire::{Body, FlowId, Packet, RealPacket};
use event::Event;
pub(crate) use event::{Look, Step};
use kernel::{Duration, EventQueue, IdVec, Instant, Outbox, Rounds, Seed};
use net::{Lossy, Signal};
use std::sync::Arc;
use tcp::Hint;
use wifi::MacConfig;
use wifi::station::Stations;

/// The state of a run.
#[derive(Debug)]
pub(crate) struct World<O> {
    pub(crate) now: Instant,
    pub(crate) end: Instant,
    pub(crate) event_queue: EventQueue<Event>,
    pub(crate) cell: Medium,
    pub(crate) topology: Arc<Topology>,
    /// The tables of next hops.
    routes: Routes,
    /// Whether some stations forward packets to wires.
    has_wired_stations: bool,
    /// The nodes that forward for others.
    pub(crate) network: Option<Box<Network>>,
    /// What stands between queues and MACs.
    pub(crate) stations: Stations,
    /// One queue per radio.
    pub(crate) queues: IdVec<RadioId, Box<dyn net::Queue>>,
    /// What the medium has taken out of them during its event.
    taken: Taken,
    /// The link directions.
    pub(crate) wires: IdVec<WireId, Lossy>,
    pub(crate) flows: IdVec<FlowId, Flow>,
    /// The datagrams of saturated sources.
    stock: Stock,
    /// Whether senders learn when their packets have left their nodes.
    has_small_queues: bool,
    /// Which senders receive hints about the rates of which links.
    rate_hints: RateHints,
    /// How queues learn of links, if any depends on them.
    link_rules: Option<Box<LinkRules>>,
    /// The observers.
    pub(crate) observers: O,
    /// What of the medium they are told.
    listening: Listening,
    out: Outboxes,
}

/// Commands that are to be carried out.
#[derive(Debug)]
struct Outboxes {
    medium: Rounds<wifi::Command>,
    tcp: Outbox<(FlowId, Side), tcp::Command>,
    source: Outbox<FlowId, traffic::Command>,
    wire: Outbox<WireId, net::Command>,
    station: Outbox<RadioId, wifi::station::Command>,
    /// Drops and marks of the queues of radios.
    signal: Outbox<RadioId, Signal>,
}

impl Outboxes {
    fn new() -> Self {
        Self {
            medium: Rounds::new(64),
            tcp: Outbox::new(64),
            source: Outbox::new(8),
            wire: Outbox::new(8),
            station: Outbox::new(0),
            signal: Outbox::new(8),
        }
    }
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
        let stock = Stock::new(topology.nodes().len(), cell.packets_per_access());
        let mut world = Self {
            now: Instant::ZERO,
            end,
            event_queue: EventQueue::new(),
            network: Network::new(plan, &mut cell, seed),
            cell,
            stations: Stations::none(),
            queues: build::queues(plan, seed),
            taken: Taken::default(),
            wires: build::wires(plan, seed),
            routes: topology.routes().clone(),
            has_wired_stations: topology.has_wired_stations(),
            topology: Arc::clone(topology),
            stock,
            has_small_queues: plan
                .flows
                .iter()
                .any(|flow| flow.tcp.as_ref().is_some_and(build::has_small_queue)),
            rate_hints: RateHints::default(),
            link_rules: LinkRules::of(plan).map(Box::new),
            observers,
            listening: Listening::default(),
            flows,
            out: Outboxes::new(),
        };
        world.hint_rates(plan);
        world.tell_queues(plan.stations.len());
        world.hint_hops();
        world.schedule_start(plan);
        world.stations = build::stations(plan, &mut world.cell, seed);
        world.at_stations(RadioId(0), |all, scope| all.on_start(seed, scope));
        world
    }

    fn schedule_start(&mut self, plan: &Plan) {
        for (id, flow) in self.flows.ids().zip(&plan.flows) {
            let Flow { from, start, stop, .. } = self.flows[id];
            let is_saturated = flow.settings.traffic.is_saturated();
            self.stock.add(id, is_saturated.then(|| self.topology.outlet(from)));
            let stop = Some(stop).filter(|&stop| stop < self.end);
            self.notify_source(id, traffic::Event::Begin { start, stop });
        }
        self.event_queue.at(self.end, Event::End);
    }

    /// From now on, what the medium does and receptions in space are reported to observers.
    pub(crate) fn listen(&mut self) {
        self.listening.listen(&mut self.cell);
    }

    /// From now on, the frames and the waits of the medium are reported to observers.
    pub(crate) fn watch(&mut self) {
        self.listening.watch(&mut self.cell);
        self.wires.iter_mut().for_each(Lossy::watch);
    }

    /// Waits that have lasted for this long are reported up to now.
    pub(crate) fn cut_waits(&mut self, longest: Duration) {
        self.listening.cut_waits(&mut self.cell, self.now, longest, &mut self.observers);
    }

    /// Stops at this instant, after all other events of the instant, so that the caller can read
    /// the state.
    pub(crate) fn look_at(&mut self, at: Instant, look: Look) {
        self.event_queue.at(at, Event::Look(look));
    }

    /// A real program sends a packet of a flow, which enters at this instant.
    pub(crate) fn admit(&mut self, flow: FlowId, at: Instant, packet: RealPacket) {
        self.notify_source(flow, traffic::Event::Offered { at, packet });
    }

    /// Handles the next event.
    pub(crate) fn step(&mut self) -> Step {
        let Some((now, event)) = self.event_queue.next() else { return Step::End };
        self.observers.on(now, &Notice::Time { before: self.now });
        self.now = now;
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
            Event::Source(flow, timer) => self.on_source_timer(flow, timer),
            Event::Look(look) => return Step::Look(look),
            Event::End => return Step::End,
        }
        Step::Event
    }

    /// From now on, the settings that may change have these values.
    pub(crate) fn adopt(&mut self, wlan: &MacConfig, old: &Adjustable, new: &Adjustable) {
        if new.mac() != old.mac() {
            self.cell.adopt(&new.of(wlan));
        }
        for (station, (old, new)) in old.modes.iter().zip(&new.modes).enumerate() {
            let station = self.topology.station(station);
            let ap = self.access_point_of(station);
            let directions = [(station, ap, old.0, new.0), (ap, station, old.1, new.1)];
            for (from, to, _, mode) in directions.into_iter().filter(|(_, _, old, new)| old != new)
            {
                self.set_mode(from, to, mode);
            }
        }
        let controls = old.controls.iter().zip(&new.controls);
        for (flow, (old, new)) in self.flows.iter_mut().zip(controls) {
            let Transport::Tcp(tcp) = &mut flow.transport else { continue };
            let Some(control) = new.as_ref().filter(|_| old != new) else { continue };
            tcp.plan.control.clone_from(control);
            if let Some(window) = control.get().set_window() {
                tcp.sender.on_hint(self.now, Hint::Window(window));
            }
        }
    }

    fn set_mode(&mut self, from: RadioId, to: RadioId, mode: wifi::phy::Mode) {
        self.cell.set_mode(from.0, to.0, mode);
        self.on_mode(from, to, &mode, &mode);
    }

    /// The run ends.
    pub(crate) fn close(&mut self) {
        self.now = self.end;
        let (now, observers) = (self.end, &mut self.observers);
        self.listening.close(&mut self.cell, now, observers);
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
        for (radio, packet) in self.stations.each() {
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
