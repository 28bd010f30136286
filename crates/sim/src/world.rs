//! The world of a run: it owns all state machines and dispatches each `Event` in one `match`.

mod event;
mod node;
mod radio;
mod source;
mod transport;
mod wire;

use crate::adjustable::Adjustable;
use crate::air::{Listening, Taken};
use crate::build;
use crate::control::External;
use crate::flow::{self, Flow, Transport};
use crate::hints::{Hints, Told};
use crate::look::{Look, Step};
use crate::medium::Medium;
use crate::network::Network;
use crate::notice::{Notice, Observer};
use crate::outboxes::Outboxes;
use crate::plan::Plan;
use crate::residents::Holders;
use crate::topology::{RadioId, Routes, Topology, WireId};
use crate::traffic::{self, Stock};
use ::wire::FlowId;
use event::Event;
use kernel::{Duration, EventQueue, IdVec, Instant, Seed};
use net::Lossy;
use std::sync::Arc;
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
    /// Events that only report something to observers.
    reports: u64,
    pub(crate) flows: IdVec<FlowId, Flow>,
    /// The datagrams of saturated sources.
    stock: Stock,
    /// Whether senders learn when their packets have left their nodes.
    has_small_queues: bool,
    /// What senders and queues are told of links.
    hints: Hints,
    /// The observers.
    pub(crate) observers: O,
    /// What of the medium they are told.
    listening: Listening,
    out: Outboxes,
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
        let end = Instant::ZERO + plan.duration;
        let mut cell = build::medium(plan, seed);
        let mut world = Self {
            now: Instant::ZERO,
            end,
            event_queue: EventQueue::new(),
            network: Network::new(plan, &mut cell, seed),
            stock: build::stock(plan, cell.packets_per_access()),
            cell,
            stations: Stations::none(),
            queues: build::queues(plan, seed),
            taken: Taken::default(),
            wires: build::wires(plan, seed),
            reports: 0,
            routes: topology.routes().clone(),
            topology: Arc::clone(topology),
            has_small_queues: build::has_small_queues(plan),
            hints: Hints::new(plan),
            observers,
            listening: Listening::default(),
            flows: flow::flows(plan, seed, external),
            out: Outboxes::new(),
        };
        let (hints, mut told) = world.hints();
        hints.begin(plan.stations.len(), &mut told);
        world.schedule_start();
        world.stations = build::stations(plan, &mut world.cell, seed);
        world.at_stations(RadioId(0), |all, scope| all.on_start(seed, scope));
        world
    }

    fn schedule_start(&mut self) {
        for id in self.flows.ids() {
            let Flow { start, stop, .. } = self.flows[id];
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

    /// Handles the next event.
    pub(crate) fn step(&mut self) -> Step {
        let Some((now, event)) = self.event_queue.next() else { return Step::End };
        self.observers.on(now, &Notice::Time { before: self.now });
        self.now = now;
        match event {
            Event::AirStep => {
                self.with_frame_source(|cell, source, out| cell.on_step(now, source, out));
            }
            Event::Access { generation } => {
                self.with_frame_source(|cell, source, out| {
                    cell.on_access(now, generation, source, out);
                });
            }
            Event::Wire(wire, timer) => self.on_wire_timer(wire, timer),
            Event::Tcp(timer, generation) => self.on_tcp_timer(timer, generation),
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
        for (station, [up, down]) in new.new_modes(old) {
            let station = self.topology.station(station);
            let access_point = self.access_point_of(station);
            for (from, to, mode) in [(station, access_point, up), (access_point, station, down)] {
                if let Some(mode) = mode {
                    self.cell.set_mode(from.0, to.0, mode);
                    self.on_mode(from, to, &mode, &mode);
                }
            }
        }
        for (flow, control) in new.new_controls(old) {
            if let Transport::Tcp(tcp) = &mut self.flows[flow].transport {
                tcp.adopt(self.now, control);
            }
        }
    }

    /// What senders and queues are told of links, and the parts of the world that it concerns.
    fn hints(&mut self) -> (&mut Hints, Told<'_, O>) {
        let told = Told {
            now: self.now,
            medium: &self.cell,
            topology: &self.topology,
            network: self.network.as_deref(),
            flows: &mut self.flows,
            queues: &mut self.queues,
            observers: &mut self.observers,
        };
        (&mut self.hints, told)
    }

    /// How many events have happened, without those that only report something.
    pub(crate) fn events(&self) -> u64 {
        self.event_queue.taken() - self.reports
    }

    /// The run ends.
    pub(crate) fn close(&mut self) {
        self.now = self.end;
        self.catch_up();
        let (now, observers) = (self.end, &mut self.observers);
        self.listening.close(&mut self.cell, now, observers);
        let holders = Holders {
            queues: &self.queues,
            medium: &self.cell,
            network: self.network.as_deref(),
            stations: &self.stations,
            wires: &self.wires,
        };
        holders.each(&mut |notice| observers.on(now, notice));
        observers.on(now, &Notice::End);
    }
}

#[cfg(test)]
mod tests;
