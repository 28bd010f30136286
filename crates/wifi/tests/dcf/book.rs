//! A workload through stations that each follow the standard's text: the air between them.

use crate::account::{Account, ExchangeSent};
use crate::station::{Frame, Station};
use crate::timing::Times;
use crate::workload::Workload;
use kernel::Instant;
use wifi::mac::{SlotGrid, StepKind};

/// A frame on the air.
struct Transmission {
    frame: Frame,
    end: Instant,
    clashes: bool,
}

struct Air<'a> {
    times: &'a Times,
    stations: Vec<Station<'a>>,
    flying: Vec<Transmission>,
    /// Frames of the collision on the air that have ended before its longest.
    over: Vec<Transmission>,
    account: Account,
}

/// Runs the workload until nothing is left to send.
pub(crate) fn run(workload: &Workload) -> Account {
    let times = Times::of(&workload.config.timing);
    let nodes = workload.links.len() as u32 + 1;
    let stations = (0..nodes).map(|node| Station::new(workload, &times, node)).collect();
    let (flying, over) = (Vec::new(), Vec::new());
    let mut air = Air { times: &times, stations, flying, over, account: Account::default() };
    let mut coming = workload.packets.iter().zip(0..).peekable();
    loop {
        let next_packet = coming.peek().map(|(arrival, _)| arrival.at);
        let next_end = air.flying.iter().map(|t| t.end).min();
        let next_act = air.stations.iter().filter_map(Station::next).min();
        let next = [next_packet, next_end, next_act].into_iter().flatten().min();
        let Some(now) = next else { break };
        air.end_frames(now);
        while let Some((arrival, number)) = coming.next_if(|(arrival, _)| arrival.at == now) {
            let node = arrival.node as usize;
            air.stations[node].offer(now, number, arrival.to, arrival.size);
        }
        air.begin_frames(now);
    }
    for station in &mut air.stations {
        air.account.delivered.extend(station.delivered.iter().copied());
        air.account.done.push(std::mem::take(&mut station.done));
        air.account.counters.push(station.counters);
        air.account.windows.push(station.window());
    }
    air.account.delivered.sort_unstable();
    air.account
}

impl Air<'_> {
    /// All that start now do so before anybody can sense it.
    fn begin_frames(&mut self, now: Instant) {
        let frames: Vec<Frame> =
            self.stations.iter_mut().filter_map(|station| station.act(now)).collect();
        if frames.is_empty() {
            return;
        }
        assert!(self.flying.is_empty(), "{now}: a frame begins while another is on the air");
        let clashes = frames.len() > 1;
        let senders: Vec<u32> = frames.iter().map(|frame| frame.from).collect();
        for frame in frames {
            let parts = self.times.airtime(&frame.mode, frame.psdu);
            let detected = now + parts.preamble + parts.header;
            for station in &mut self.stations {
                if !senders.contains(&station.node) {
                    station.sense_busy(now, detected);
                }
            }
            let sender = &mut self.stations[frame.from as usize];
            sender.counters.collisions += u64::from(clashes);
            sender.begin(now, frame.kind);
            let (start, end) = (now, now + parts.total());
            if !clashes {
                let (node, kind) = (frame.from, frame.kind);
                self.account.air.push(ExchangeSent::Frame { node, kind, start, end });
            }
            self.flying.push(Transmission { frame, end, clashes });
        }
        if clashes {
            let end = self.flying.iter().map(|t| t.end).max().unwrap_or(now);
            self.account.air.push(ExchangeSent::Clash { nodes: senders, start: now, end });
        }
    }

    fn end_frames(&mut self, now: Instant) {
        let (ended, going): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.flying).into_iter().partition(|t| t.end == now);
        self.flying = going;
        for transmission in ended {
            self.stations[transmission.frame.from as usize].sent(now, &transmission.frame);
            if transmission.clashes {
                self.over.push(transmission);
            } else {
                self.receive(now, &transmission.frame);
            }
        }
        let collision = std::mem::take(&mut self.over);
        if !self.flying.is_empty() {
            self.over = collision;
            return;
        }
        if !collision.is_empty() {
            self.end_collision(now, &collision);
        }
        for station in &mut self.stations {
            station.sense_idle(now);
        }
    }

    fn receive(&mut self, now: Instant, frame: &Frame) {
        for node in 0..self.stations.len() as u32 {
            if node == frame.from {
                continue;
            }
            let station = &mut self.stations[node as usize];
            let for_me = frame.to.is_none_or(|to| to == node);
            if for_me && station.spoiled(frame) {
                station.garbled(now, self.times.eifs(&frame.mode));
                let loser = match frame.kind {
                    StepKind::Ack => node,
                    _ => frame.from,
                };
                let counters = &mut self.stations[loser as usize].counters;
                counters.noise_losses += u64::from(frame.to.is_some());
            } else if let Some(packet) = station.hear(now, frame) {
                self.stations[frame.from as usize].note_received(packet);
            }
        }
    }

    /// Nobody could decode a frame; who did not send waits an EIFS, the shortest of those that
    /// the frames ask for.
    fn end_collision(&mut self, now: Instant, collision: &[Transmission]) {
        let times = self.times;
        let eifs = collision.iter().map(|t| times.eifs(&t.frame.mode)).min();
        let eifs = eifs.unwrap_or(times.difs());
        for station in &mut self.stations {
            if !collision.iter().any(|t| t.frame.from == station.node) {
                station.garbled(now, eifs);
            } else if times.slot_grid == SlotGrid::Shared {
                station.give_up_waiting(now, eifs);
            }
        }
    }
}
