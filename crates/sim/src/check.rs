//! A checker apart from the code it checks: it watches what is sent, delivered and dropped, and
//! keeps accounts of its own. A violated rule panics with the rule's name and the simulated time.

mod blocks;
mod cell;
mod order;
mod powers;
mod reception;
mod space;
mod timing;

use crate::build;
use crate::medium::Medium;
use crate::plan::Plan;
use crate::world::World;
use kernel::{Bytes, Instant, Seed};
use order::Order;
use std::collections::{BTreeMap, BTreeSet};
use wifi::{Cell, Outcome};
use wire::{Body, Packet, Segment};

/// Panics with the rule's name where it does not hold.
fn rule(now: Instant, holds: bool, rule: &str, detail: impl FnOnce() -> String) {
    assert!(holds, "broken rule at {now}: {rule}: {}", detail());
}

/// What watches the medium.
#[derive(Debug)]
enum Air {
    Cell(Box<cell::Turns>),
    Space(Box<space::Watch>),
}

/// Accounts of one flow.
#[derive(Debug, Default, Clone)]
struct Account {
    sent: u64,
    arrived: u64,
    dropped: u64,
    /// The receiver's present connection: data runs that reached its node, sorted and apart.
    runs: Vec<(u64, u64)>,
    /// Which units of blocks of coded data have, by the block's first byte.
    blocks: BTreeMap<u64, BTreeSet<u8>>,
    connection: u32,
    /// In-order bytes its receiver has delivered on the present connection.
    delivered: u64,
    /// Greatest datagram number that arrived.
    last_datagram: Option<u64>,
}

/// Independent accounts of a run.
#[derive(Debug)]
pub(crate) struct Checker {
    now: Instant,
    accounts: Vec<Account>,
    /// None in tests of the other rules.
    air: Option<Air>,
    order: Order,
    /// Packets offered to each direction of each link, and those that it has delivered, lost or
    /// dropped.
    links: Vec<(u64, u64)>,
}

impl Checker {
    /// For a plan in whose medium there are so many nodes.
    pub(crate) fn new(plan: &Plan, nodes: usize, seed: &Seed) -> Self {
        let mac = plan.wlan.clone();
        let air = if let Some(space) = &plan.space {
            let (radio, sites) = build::radio_and_sites(space, seed);
            let access_points = sites.iter().map(|site| site.is_access_point).collect();
            let powers = powers::Powers::new(radio, sites);
            Air::Space(Box::new(space::Watch::new(space, mac, powers, access_points)))
        } else {
            Air::Cell(Box::new(cell::Turns::new(mac, nodes as u32)))
        };
        let accounts = Self::of_accounts(plan.flows.len(), 2 * plan.network.links.len());
        Self { air: Some(air), ..accounts }
    }

    /// For so many flows and directions of links.
    fn of_accounts(flows: usize, links: usize) -> Self {
        Self {
            now: Instant::ZERO,
            accounts: vec![Account::default(); flows],
            air: None,
            order: Order::default(),
            links: vec![(0, 0); links],
        }
    }

    fn rule(&self, holds: bool, name: &str, detail: impl FnOnce() -> String) {
        rule(self.now, holds, name, detail);
    }

    /// Time is monotone.
    pub(crate) fn on_time(&mut self, before: Instant, now: Instant) {
        self.rule(now >= before, "time is monotone", || format!("{before} then {now}"));
        self.now = now;
    }

    /// A connection begins.
    pub(crate) fn on_connection(&mut self, flow: u32) {
        let account = &mut self.accounts[flow as usize];
        account.connection += 1;
        account.runs.clear();
        account.blocks.clear();
        account.delivered = 0;
    }

    pub(crate) fn on_sent(&mut self, packet: &Packet) {
        self.accounts[packet.flow().0 as usize].sent += 1;
    }

    pub(crate) fn on_dropped(&mut self, packet: &Packet) {
        self.accounts[packet.flow().0 as usize].dropped += 1;
    }

    /// A packet goes to this direction of a link.
    pub(crate) fn on_offered(&mut self, direction: usize) {
        self.links[direction].0 += 1;
    }

    /// A packet has left this direction of a link, at its far end or for nowhere.
    pub(crate) fn on_passed(&mut self, direction: usize) {
        self.links[direction].1 += 1;
    }

    pub(crate) fn on_arrived(&mut self, packet: &Packet) {
        let account = &mut self.accounts[packet.flow().0 as usize];
        account.arrived += 1;
        match &packet.body {
            Body::Segment(segment) => account.note_data(segment),
            Body::Datagram(datagram) => {
                let last = account.last_datagram.replace(datagram.number);
                let in_order = last.is_none_or(|last| last < datagram.number);
                self.rule(in_order, "datagrams arrive in order and once", || {
                    format!("flow {}: {} after {last:?}", datagram.flow.0, datagram.number)
                });
            }
        }
    }

    /// A receiver delivered in-order bytes: they must have arrived, all of them, once.
    pub(crate) fn on_bytes(&mut self, flow: u32, bytes: Bytes) {
        let account = &mut self.accounts[flow as usize];
        account.delivered += bytes.0;
        // Data begins behind the SYN, at sequence number 1.
        let in_order = match account.runs.first() {
            Some(&(1, end)) => end - 1,
            _ => 0,
        };
        let delivered = account.delivered;
        self.rule(delivered <= in_order, "every byte is delivered once and in order", || {
            format!("flow {flow}: delivered {delivered} of {in_order} in order")
        });
    }

    /// Windows never fall below one segment.
    pub(crate) fn on_window(&mut self, flow: u32, sender: &tcp::Sender) {
        let window = sender.window_segments();
        self.rule(window >= 1.0, "windows are at least one segment", || {
            format!("flow {flow}: {window}")
        });
    }

    /// An exchange begins in a cell.
    pub(crate) fn on_air(&mut self, cell: &Cell) {
        if let Some(Air::Cell(turns)) = &mut self.air {
            turns.on_began(cell);
        }
    }

    /// Something has happened in the medium.
    pub(crate) fn after_air(&mut self, medium: &mut Medium) {
        if let (Some(Air::Space(watch)), Medium::Space(space)) = (&mut self.air, medium) {
            watch.after(self.now, space);
        }
    }

    /// A node takes a packet into service for another.
    pub(crate) fn on_taken(&mut self, from: u32, to: u32, packet: &Packet) {
        self.order.on_taken(from, to, packet);
    }

    /// A frame's packet comes up at a node.
    pub(crate) fn on_up(&mut self, node: u32, packet: &Packet) {
        self.order.on_up(self.now, node, packet);
    }

    /// The service of a packet has ended.
    pub(crate) fn on_done(&mut self, node: u32, packet: &Packet, outcome: Outcome, received: bool) {
        self.order.on_done(self.now, node, packet, outcome, received);
    }

    /// At the end, every packet is accounted for, and so is every nanosecond of airtime.
    pub(crate) fn close(&self, world: &World) {
        let mut resident = vec![0u64; self.accounts.len()];
        world.each_resident(&mut |packet| resident[packet.flow().0 as usize] += 1);
        for (flow, (account, resident)) in self.accounts.iter().zip(resident).enumerate() {
            let Account { sent, arrived, dropped, .. } = *account;
            let settled = sent == arrived + dropped + resident;
            self.rule(settled, "sent = arrived + dropped + queued + in the air", || {
                format!("flow {flow}: {sent} = {arrived} + {dropped} + {resident}")
            });
        }
        for (direction, (&(offered, passed), wire)) in
            self.links.iter().zip(&world.wires).enumerate()
        {
            let mut resident = 0;
            wire.link().each(&mut |_| resident += 1);
            let settled = offered == passed + resident;
            self.rule(settled, "offered to a link = delivered + lost + dropped + there", || {
                format!("direction {direction}: {offered} = {passed} + {resident}")
            });
        }
        let ledger = &world.meter.ledger;
        self.rule(ledger.contiguous(), "airtime has neither gap nor overlap", String::new);
        let (seen, window) = (ledger.total(), world.meter.window());
        self.rule(seen == window, "airtime sums to 100 %", || format!("{seen} of {window}"));
    }
}

impl Account {
    /// Adds a segment's data to what reached the receiver, by an interval union of its own.
    fn note_data(&mut self, segment: &Segment) {
        if !segment.forward || segment.len == 0 || segment.connection != self.connection {
            return;
        }
        let (mut start, mut end) = (segment.seq.max(1), segment.seq + u64::from(segment.len));
        if segment.flags.has(wire::Flags::SYN) {
            end += 1;
        }
        if let Some(coded) = &segment.coded {
            // Any units of a block give it back, if they are as many as it has of data.
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
    use wire::{Flags, FlowId, SackBlocks};

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
        let mut account = Account::default();
        for (seq, len) in [(1, 10), (21, 10), (41, 5), (11, 10), (25, 20)] {
            account.note_data(&segment(seq, len));
        }
        assert_eq!(account.runs, [(1, 46)]);
    }

    #[test]
    fn a_block_is_there_when_enough_of_its_units_are() {
        let data = std::num::NonZeroU8::new(3).unwrap();
        let unit = |seq, len, index| {
            let coded = wire::Coded { unit: 0, span: 25, data, index };
            Segment { coded: Some(coded), ..segment(seq, len) }
        };
        let mut account = Account::default();
        account.note_data(&unit(19, 7, 2));
        account.note_data(&unit(1, 9, 3));
        account.note_data(&unit(1, 9, 3));
        assert_eq!(account.runs, [(19, 26)], "parity alone is no data");
        account.note_data(&unit(1, 9, 7));
        assert_eq!(account.runs, [(1, 26)]);
    }

    #[test]
    #[should_panic(expected = "every byte is delivered once and in order")]
    fn delivering_what_did_not_arrive_is_found() {
        let mut checker = Checker::of_accounts(1, 0);
        checker.accounts[0].note_data(&segment(1, 10));
        checker.on_bytes(0, Bytes(10));
        checker.on_bytes(0, Bytes(1));
    }

    #[test]
    #[should_panic(expected = "time is monotone")]
    fn time_running_backwards_is_found() {
        Checker::of_accounts(1, 0).on_time(Instant(2), Instant(1));
    }
}
