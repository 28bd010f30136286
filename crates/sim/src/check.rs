//! A checker that is independent of the code it checks. It observes what is sent, delivered and
//! dropped, and keeps its own records. If a rule is violated, it panics with the name of the rule
//! and the simulated time.
//!
//! It shares no rule with that code. Its times and control rates are a table of its own
//! (`check/timing.rs`). In space it computes powers, interference, carrier sense, NAV and EIFS
//! itself. In both media it checks aggregates, windows, TXOPs and the order of delivery. It is on
//! in tests and with `--check`.

mod bandwidth;
mod beacons;
mod blocks;
mod cell;
mod duplex;
mod earlier;
mod exchanges;
mod forwarding;
mod group;
mod opening;
mod order;
mod overlap;
mod power_save;
mod powers;
mod random_access;
mod reception;
mod roaming;
mod rule;
mod service;
mod space;
mod spatial_reuse;
mod spectrum;
mod timing;
mod triggered;
mod units;

use crate::build;
use crate::measure::Ledger;
use crate::medium::Medium;
use crate::meter::Meter;
use crate::notice::{Notice, Observer, StationNote};
use crate::plan::{FlowPlan, Plan};
use crate::topology::{Interface, Wire, WireId};
use crate::traffic::Traffic;
use beacons::Beacons;
use forwarding::Forwarding;
use kernel::{Bytes, Duration, IdVec, Instant, Seed};
use order::Order;
use power_save::PowerSave;
use roaming::Roaming;
use rule::rule;
use service::Service;
use std::collections::{BTreeMap, BTreeSet};
use wifi::Cell;
use wifi::space::ReceivedFrame;
use wire::{Body, Datagram, Echo, FlowId, Packet, Segment};

/// The checker of the medium.
#[derive(Debug)]
enum MediumChecker {
    Cell(Box<cell::Turns>),
    Space(Box<space::Watch>),
}

/// The records of one flow.
#[derive(Debug, Default, Clone)]
struct FlowRecord {
    sent: u64,
    arrived: u64,
    dropped: u64,
    /// At the end of the run, packets that are neither arrived nor dropped.
    resident: u64,
    /// Of the receiver's current connection: the data ranges that reached its node, sorted and
    /// disjoint.
    runs: Vec<(u64, u64)>,
    /// The units of each block of coded data that reached it, by the block's first byte.
    blocks: BTreeMap<u64, BTreeSet<u8>>,
    connection: u32,
    /// In-order bytes that its receiver has delivered on the current connection.
    delivered: u64,
    /// The numbers of the last datagram or echo request, and of the last echo reply.
    last_datagram: [Option<u64>; 2],
}

/// The records of one link direction.
#[derive(Debug, Default, Clone)]
struct Crossings {
    offered: u64,
    /// Packets delivered at the far end, lost or dropped.
    passed: u64,
    /// At the end of the run, packets that are on the link.
    resident: u64,
}

/// The checker's records of a run.
#[derive(Debug)]
pub(crate) struct Checker {
    now: Instant,
    records: IdVec<FlowId, FlowRecord>,
    /// None in tests of other rules.
    air: Option<MediumChecker>,
    order: Order,
    beacons: Beacons,
    /// If stations save power.
    power_save: Option<Box<PowerSave>>,
    /// If stations roam.
    roaming: Option<Box<Roaming>>,
    wires: IdVec<WireId, Crossings>,
    service: Service,
    /// Where nodes forward.
    forwarding: Option<Box<Forwarding>>,
    /// Where packets of a link overtake others: flow, direction and number of each datagram that
    /// has arrived.
    arrived: Option<BTreeSet<(u32, usize, u64)>>,
}

impl Checker {
    /// The checker of a plan.
    pub(crate) fn new(plan: &Plan, seed: &Seed) -> Self {
        let air = if let Some(space) = &plan.space {
            let mac = build::mac(plan, space);
            let (radio, sites) = build::radio_and_sites(plan, space, seed);
            let access_points = sites.iter().map(|site| site.is_access_point).collect();
            let devices = plan.interferers.iter().map(|plan| plan.config.devices.clone());
            let powers = powers::Powers::new(radio, sites, mac.timing.standard.band)
                .beside(devices.collect())
                .punctured(spectrum::patterns(plan, space), spectrum::sent(plan));
            let powers = powers.full_duplex(mac.full_duplex.as_ref());
            MediumChecker::Space(Box::new(space::Watch::new(space, mac, powers, access_points)))
        } else {
            MediumChecker::Cell(Box::new(cell::Turns::new(
                plan.wlan.clone(),
                plan.topology.radios().len() as u32,
            )))
        };
        let records = Self::with_records(plan.flows.len(), plan.topology.wires().len());
        let (forwarding, power_save) = (Forwarding::new(plan), PowerSave::new(plan).map(Box::new));
        let roaming = Roaming::new(plan).map(Box::new);
        let radios = plan.topology.radios().len();
        let service = Service::new(radios, plan.flows.len(), plan.wlan.beacons.is_some());
        let overtake = |wire: &Wire| {
            let (link, direction) = plan.link(wire.id);
            link.directions[direction].reorder.is_some()
        };
        // Packets of real programs have access categories and streams of their own in one flow.
        let is_real = |flow: &FlowPlan| matches!(flow.settings.traffic, Traffic::Port(_));
        let overtakes =
            plan.topology.wires().iter().any(overtake) || plan.flows.iter().any(is_real);
        let arrived = overtakes.then(BTreeSet::new);
        Self { air: Some(air), service, forwarding, power_save, roaming, arrived, ..records }
    }

    /// For this many flows and link directions.
    fn with_records(flows: usize, wires: usize) -> Self {
        Self {
            now: Instant::ZERO,
            records: IdVec::filled(flows, FlowRecord::default()),
            air: None,
            order: Order::default(),
            beacons: Beacons::default(),
            power_save: None,
            roaming: None,
            wires: IdVec::filled(wires, Crossings::default()),
            service: Service::default(),
            forwarding: None,
            arrived: None,
        }
    }

    fn rule(&self, holds: bool, name: &str, detail: impl FnOnce() -> String) {
        rule(self.now, holds, name, detail);
    }

    /// At the end of the run, the meter agrees with these records and with the medium.
    pub(crate) fn check_meter(&self, meter: &Meter, medium: &Medium) {
        self.check_ledger(&meter.ledger, meter.window());
        self.service.check(self.now, meter, medium);
    }

    /// All airtime of the window is attributed.
    fn check_ledger(&self, ledger: &Ledger, window: Duration) {
        self.rule(ledger.contiguous(), "airtime has neither gap nor overlap", String::new);
        let seen = ledger.total();
        self.rule(seen == window, "airtime sums to 100 %", || format!("{seen} of {window}"));
    }

    /// Time never decreases.
    fn on_time(&mut self, before: Instant, now: Instant) {
        self.rule(now >= before, "time is monotone", || format!("{before} then {now}"));
        self.now = now;
    }

    /// A connection begins.
    fn on_connection(&mut self, flow: FlowId) {
        let record = &mut self.records[flow];
        record.connection += 1;
        record.runs.clear();
        record.blocks.clear();
        record.delivered = 0;
    }

    fn on_dropped(&mut self, at: Interface, packet: &Packet) {
        if let Some(record) = self.record(packet) {
            record.dropped += 1;
        }
        self.at_wire(at, |wire| wire.passed += 1);
    }

    fn on_resident(&mut self, at: Option<Interface>, packet: &Packet) {
        if let Some(record) = self.record(packet) {
            record.resident += 1;
        }
        if let Some(at) = at {
            self.at_wire(at, |wire| wire.resident += 1);
        }
    }

    /// The record of a packet's flow; messages of routing protocols have none.
    fn record(&mut self, packet: &Packet) -> Option<&mut FlowRecord> {
        packet.flow().map(|flow| &mut self.records[flow])
    }

    /// Records an event at an interface, if the interface is that of a wire.
    fn at_wire(&mut self, at: Interface, enter: impl FnOnce(&mut Crossings)) {
        if let Interface::Wire(wire) = at {
            enter(&mut self.wires[wire]);
        }
    }

    fn on_arrived(&mut self, packet: &Packet) {
        let Some(record) = self.record(packet) else { return };
        record.arrived += 1;
        match &packet.body {
            Body::Segment(segment) => record.note_data(segment),
            &Body::Datagram(Datagram { flow, number, .. })
            | &Body::Echo(Echo { flow, number, is_reply: false, .. }) => {
                self.on_datagram(flow, number, 0);
            }
            &Body::Echo(Echo { flow, number, .. }) => self.on_datagram(flow, number, 1),
            &Body::Media(media) => {
                self.on_datagram(media.flow, media.number, usize::from(!media.is_forward()));
            }
            Body::Routing(_) | Body::Arp(_) | Body::Management(_) => {}
        }
    }

    /// A datagram arrives at the destination of its flow, or in the reverse direction (1).
    fn on_datagram(&mut self, flow: FlowId, number: u64, direction: usize) {
        let last = self.records[flow].last_datagram[direction].replace(number);
        // Routes that change let datagrams overtake each other, and a copy that a router sends on
        // another route may arrive beside the first.
        if self.forwarding.as_ref().is_some_and(|routes| !routes.is_static()) {
            return;
        }
        if let Some(arrived) = &mut self.arrived {
            let is_first = arrived.insert((flow.0, direction, number));
            self.rule(is_first, "datagrams arrive once", || format!("flow {}: {number}", flow.0));
            return;
        }
        let in_order = last.is_none_or(|last| last < number);
        self.rule(in_order, "datagrams arrive in order and once", || {
            format!("flow {}: {number} after {last:?}", flow.0)
        });
    }

    /// A receiver delivered in-order bytes: all of them must have arrived, and each is delivered
    /// once.
    fn on_bytes(&mut self, flow: FlowId, bytes: Bytes) {
        let record = &mut self.records[flow];
        record.delivered += bytes.0;
        // Data begins behind the SYN, at sequence number 1.
        let in_order = match record.runs.first() {
            Some(&(1, end)) => end - 1,
            _ => 0,
        };
        let delivered = record.delivered;
        self.rule(delivered <= in_order, "every byte is delivered once and in order", || {
            format!("flow {}: delivered {delivered} of {in_order} in order", flow.0)
        });
    }

    /// Congestion windows are never below one segment.
    fn on_window(&self, flow: FlowId, sender: &tcp::Sender) {
        let window = sender.window_segments();
        self.rule(window >= 1.0, "windows are at least one segment", || {
            format!("flow {}: {window}", flow.0)
        });
    }

    /// An exchange begins in a cell.
    fn on_exchange(&mut self, cell: &Cell) {
        if let Some(MediumChecker::Cell(turns)) = &mut self.air {
            turns.on_began(cell);
        }
    }

    /// The medium has changed.
    fn on_air(&mut self, medium: &Medium, heard: &[ReceivedFrame]) {
        if let (Some(MediumChecker::Space(watch)), Medium::Space(space)) = (&mut self.air, medium) {
            watch.after(self.now, space, heard);
        }
    }

    /// A radio may have another channel, or another access point.
    fn on_roaming(&mut self, note: &StationNote<'_>) {
        if let Some(MediumChecker::Space(watch)) = &mut self.air {
            watch.on_roaming(self.now, note);
        }
    }

    /// Records what happens to the packets of nodes that forward.
    fn note_forwarding(&mut self, now: Instant, notice: &Notice<'_>) {
        let Some(forwarding) = &mut self.forwarding else { return };
        match *notice {
            Notice::Sent { packet, .. } => forwarding.on_sent(packet),
            Notice::Received { by, packet, .. } => forwarding.on_received(now, by, packet),
            Notice::Node { node, note } => forwarding.on_note(now, node, note),
            Notice::Served { by, packet, outcome, received } => {
                forwarding.on_served(now, by, packet, outcome, received);
            }
            Notice::Queued { at, packet } => forwarding.on_queued(now, at, packet),
            Notice::Crossed { wire, packet } => forwarding.on_crossed(wire, packet),
            Notice::Dropped { at, packet, .. } => forwarding.on_dropped(now, at, packet),
            Notice::Arrived { packet } => forwarding.on_arrived(now, packet),
            _ => {}
        }
    }

    /// At the end, the number of packets sent equals the sum of those arrived, dropped and
    /// resident.
    fn close(&self) {
        for (flow, record) in self.records.iter().enumerate() {
            let FlowRecord { sent, arrived, dropped, resident, .. } = *record;
            let settled = sent == arrived + dropped + resident;
            self.rule(settled, "sent = arrived + dropped + queued + in the air", || {
                format!("flow {flow}: {sent} = {arrived} + {dropped} + {resident}")
            });
        }
        for (direction, wire) in self.wires.iter().enumerate() {
            let Crossings { offered, passed, resident } = *wire;
            let settled = offered == passed + resident;
            self.rule(settled, "offered to a link = delivered + lost + dropped + there", || {
                format!("direction {direction}: {offered} = {passed} + {resident}")
            });
        }
    }
}

impl Observer for Checker {
    #[allow(clippy::inline_always, reason = "an unread notice is never constructed")]
    #[inline(always)]
    fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        if self.forwarding.is_some() {
            self.note_forwarding(now, notice);
        }
        if let Some(power_save) = &mut self.power_save {
            power_save.on(now, notice);
        }
        if let Some(roaming) = &mut self.roaming {
            roaming.on(now, notice);
        }
        match *notice {
            Notice::Time { before } => self.on_time(before, now),
            Notice::Sent { packet, .. } | Notice::Copied { packet } => {
                if let Some(record) = self.record(packet) {
                    record.sent += 1;
                }
            }
            Notice::Queued { at, .. } => self.at_wire(at, |wire| wire.offered += 1),
            Notice::Dequeued { by, to, packet } => {
                self.service.on_taken(by, packet);
                if let Some(to) = to {
                    self.order.on_taken(by.0, to.0, packet);
                }
            }
            Notice::Serving { by, packet } => self.service.on_serving(by, packet),
            Notice::Dropped { at, packet, .. } => self.on_dropped(at, packet),
            Notice::Crossed { wire, .. } => {
                self.at_wire(Interface::Wire(wire), |wire| wire.passed += 1);
            }
            Notice::Received { by, from, packet } => {
                self.order.on_up(now, from.0, by.0, packet);
            }
            Notice::Served { by, packet, outcome, received } => {
                self.order.on_done(now, by.0, packet, outcome, received);
                self.service.on_served(by, packet, outcome);
            }
            Notice::Arrived { packet } => self.on_arrived(packet),
            Notice::Resident { at, packet } => self.on_resident(at, packet),
            Notice::Station(StationNote::Frame { by, packet }) => {
                self.beacons.on_beacon(now, by, packet);
            }
            Notice::Station(note) => self.on_roaming(&note),
            Notice::ExchangeBegan { cell, .. } => self.on_exchange(cell),
            Notice::Air { medium, heard } => self.on_air(medium, heard),
            Notice::Renewed { flow } => self.on_connection(flow),
            Notice::Sender { flow, sender } => self.on_window(flow, sender),
            Notice::Delivered { flow, bytes } => self.on_bytes(flow, bytes),
            Notice::End => self.close(),
            _ => {}
        }
    }
}

impl FlowRecord {
    /// Adds a segment's data to what reached the receiver, with an interval union that is
    /// independent of the receiver's.
    fn note_data(&mut self, segment: &Segment) {
        if !segment.forward || segment.len == 0 || segment.connection != self.connection {
            return;
        }
        let (mut start, mut end) = (segment.seq.max(1), segment.seq + u64::from(segment.len));
        if segment.flags.has(wire::Flags::SYN) {
            end += 1;
        }
        if let Some(coded) = &segment.coded {
            // A block can be decoded if at least as many of its units arrived as it has data units.
            let data = coded.data.get();
            let size = u64::from(coded.span).div_ceil(u64::from(data));
            let parity = coded.index >= data;
            let first = if parity { segment.seq } else { start - u64::from(coded.index) * size };
            let units = self.blocks.entry(first).or_default();
            units.insert(coded.index);
            if units.len() >= usize::from(data) {
                (start, end) = (first, first + u64::from(coded.span));
                self.blocks.remove(&first);
            } else if parity {
                return;
            }
        }
        self.runs.retain(|&(s, e)| {
            let apart = e < start || s > end;
            if !apart {
                start = start.min(s);
                end = end.max(e);
            }
            apart
        });
        let at = self.runs.partition_point(|&(s, _)| s < start);
        self.runs.insert(at, (start, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Flags, SackBlocks};

    fn segment(seq: u64, len: u32) -> Segment {
        Segment {
            flow: FlowId(0),
            connection: 0,
            forward: true,
            seq,
            len,
            ack: 0,
            window: 0,
            flags: Flags::ACK,
            timestamps: None,
            sack: SackBlocks::NONE,
            coded: None,
        }
    }

    #[test]
    fn runs_merge() {
        let mut record = FlowRecord::default();
        for (seq, len) in [(1, 10), (21, 10), (41, 5), (11, 10), (25, 20)] {
            record.note_data(&segment(seq, len));
        }
        assert_eq!(record.runs, [(1, 46)]);
    }

    #[test]
    fn a_block_is_there_when_enough_of_its_units_are() {
        let data = std::num::NonZeroU8::new(3).unwrap();
        let unit = |seq, len, index| {
            let coded = wire::Coded { unit: 0, span: 25, data, index };
            Segment { coded: Some(coded), ..segment(seq, len) }
        };
        let mut record = FlowRecord::default();
        record.note_data(&unit(19, 7, 2));
        record.note_data(&unit(1, 9, 3));
        record.note_data(&unit(1, 9, 3));
        assert_eq!(record.runs, [(19, 26)], "parity alone is no data");
        record.note_data(&unit(1, 9, 7));
        assert_eq!(record.runs, [(1, 26)]);
    }

    #[test]
    #[should_panic(expected = "every byte is delivered once and in order")]
    fn delivering_what_did_not_arrive_is_found() {
        let mut checker = Checker::with_records(1, 0);
        checker.records[FlowId(0)].note_data(&segment(1, 10));
        checker.on_bytes(FlowId(0), Bytes(10));
        checker.on_bytes(FlowId(0), Bytes(1));
    }

    #[test]
    #[should_panic(expected = "time is monotone")]
    fn time_running_backwards_is_found() {
        Checker::with_records(1, 0).on_time(Instant(2), Instant(1));
    }
}
