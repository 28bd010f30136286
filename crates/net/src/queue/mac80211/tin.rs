//! `FQ-CoDel` over hashed flows: a table of flows that all stations share, and the lists of one
//! station (fq.h, `fq_impl.h`).

use super::super::codel::Control;
use super::super::fifo::Fifo;
use super::super::sub_queues::SubQueues;
use super::super::{ControlLaw, Destination, Signal};
use kernel::{Bytes, Instant};
use std::collections::VecDeque;
use wire::Packet;

#[derive(Debug, Default)]
struct Flow {
    fifo: Fifo,
    control: Control,
    /// What the flow may send before its turn ends, in bytes; below 0 after a larger packet.
    credits: i64,
    /// The station to which the flow belongs from its first packet until it leaves the lists.
    owner: Option<usize>,
}

/// The flows of all stations.
#[derive(Debug)]
pub(super) struct Flows {
    quantum: i64,
    all: SubQueues<Flow>,
    memory: u64,
}

/// The memory of a packet as Linux counts it (`truesize`): the buffer, a power of two with the
/// shared part and the headroom in it, and the structure before it.
fn memory_of(packet: &Packet) -> u64 {
    256 + (packet.size.0 + 430).next_power_of_two()
}

/// The key of the flow that a station has for those whose place belongs to another station.
const OVERFLOW: u64 = 1 << 40;

impl Flows {
    pub(super) fn new(quantum: Bytes) -> Self {
        Self { quantum: (quantum.0 as i64).max(1), all: SubQueues::new(), memory: 0 }
    }

    /// The memory of all waiting packets.
    pub(super) fn memory(&self) -> Bytes {
        Bytes(self.memory)
    }

    /// The flow at this place if it is free or the station's own, else the station's overflow flow.
    /// What is in the overflow flow stays there until that is empty, so that no packet passes
    /// another of its flow; in Linux it may.
    fn classify(&mut self, place: u64, station: usize, overflowed: &mut Vec<u64>) -> usize {
        let number = self.all.number_or(place, Flow::default);
        let is_free = self.all[number].owner.is_none_or(|owner| owner == station);
        if is_free && overflowed.is_empty() {
            return number;
        }
        let overflow = self.all.number_or(OVERFLOW + station as u64, Flow::default);
        if self.all[overflow].fifo.is_empty() {
            overflowed.clear();
        }
        if is_free && !overflowed.contains(&place) {
            return number;
        }
        if !overflowed.contains(&place) {
            overflowed.push(place);
        }
        overflow
    }

    /// Drops from the head of the flow with the most bytes: half of its packets, but at least one
    /// and at most a batch. Of flows with equally many bytes, the first with the most packets
    /// drops. Returns its station and the number of packets.
    pub(super) fn drop_from_fattest(
        &mut self,
        batch: u32,
        out: &mut Vec<Signal>,
    ) -> Option<(usize, usize)> {
        let occupancy = |flow: &Flow| (flow.fifo.backlog(), flow.fifo.len());
        let fattest = self.all.iter_mut().reduce(|fattest, flow| {
            if occupancy(flow) > occupancy(fattest) { flow } else { fattest }
        })?;
        let count = (fattest.fifo.len() / 2).clamp(1, batch.max(1) as usize);
        let mut dropped = 0;
        while dropped < count
            && let Some(packet) = fattest.fifo.pop()
        {
            self.memory -= memory_of(&packet);
            out.push(Signal::Drop(packet));
            dropped += 1;
        }
        fattest.owner.map(|owner| (owner, dropped))
    }

    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.all.iter().for_each(|flow| flow.fifo.each(visit));
    }
}

/// The queue of a station: its lists of flows.
#[derive(Debug, Default)]
pub(super) struct Tin {
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    /// The places whose packets are in its overflow flow.
    overflowed: Vec<u64>,
}

impl Tin {
    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// So many packets of this station were dropped.
    pub(super) fn forget(&mut self, packets: usize) {
        self.packets -= packets;
    }

    pub(super) fn push(
        &mut self,
        flows: &mut Flows,
        place: u64,
        station: usize,
        now: Instant,
        packet: &Packet,
    ) {
        let number = flows.classify(place, station, &mut self.overflowed);
        flows.memory += memory_of(packet);
        self.packets += 1;
        let (flow, quantum) = (&mut flows.all[number], flows.quantum);
        flow.fifo.push(now, packet);
        if flow.owner.is_none() {
            flow.owner = Some(station);
            flow.credits = quantum;
            self.new.push_back(number);
        }
    }

    /// The next packet by deficit round robin with priority for new flows, if it is not larger than
    /// `most`. `CoDel` may drop packets before it.
    pub(super) fn pop(
        &mut self,
        flows: &mut Flows,
        law: &ControlLaw,
        most: Bytes,
        now: Instant,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let number = *if is_new { &self.new } else { &self.old }.front()?;
            let (flow, quantum) = (&mut flows.all[number], flows.quantum);
            if flow.credits <= 0 {
                flow.credits += quantum;
                self.move_to_old(is_new);
                continue;
            }
            if flow.fifo.first().is_some_and(|packet| packet.size > most) {
                return None;
            }
            let before = (flow.fifo.len(), out.len());
            let packet = flow.control.pop(law, now, &mut flow.fifo, Destination::Any, out);
            self.packets -= before.0 - flow.fifo.len();
            for signal in &out[before.1..] {
                if let Signal::Drop(packet) = signal {
                    flows.memory -= memory_of(packet);
                }
            }
            if let Some(packet) = packet {
                flow.credits -= packet.size.0 as i64;
                flows.memory -= memory_of(&packet);
                return Some(packet);
            }
            if is_new && !self.old.is_empty() {
                self.move_to_old(true);
            } else {
                if is_new { &mut self.new } else { &mut self.old }.pop_front();
                flow.owner = None;
            }
        }
    }

    /// Moves the first flow of its list to the end of the old ones.
    fn move_to_old(&mut self, is_new: bool) {
        if let Some(number) = if is_new { &mut self.new } else { &mut self.old }.pop_front() {
            self.old.push_back(number);
        }
    }
}
