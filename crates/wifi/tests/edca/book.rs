//! EDCA from the text of IEEE Std 802.11-2020 clause 10.23.2: each function of each node looks at
//! each slot boundary for itself, and does one of four things there.

use crate::node::{Frame, Node};
use crate::qos::{Account, CLASSES, Workload};
use crate::timing::Times;
use kernel::Instant;

/// A frame on the air.
struct Transmission {
    frame: Frame,
    end: Instant,
    clashes: bool,
}

struct Air<'a> {
    times: &'a Times,
    nodes: Vec<Node<'a>>,
    flying: Vec<Transmission>,
    /// Frames of the collision on the air that have ended before its longest.
    over: Vec<Transmission>,
    account: Account,
}

/// Runs the workload until nothing is left to send.
pub(crate) fn run(workload: &Workload) -> Account {
    let times = Times::of(&workload.config.timing);
    let count = workload.links.len() as u32 + 1;
    let nodes = (0..count).map(|node| Node::new(workload, &times, node)).collect();
    let (flying, over, account) = (Vec::new(), Vec::new(), Account::default());
    let mut air = Air { times: &times, nodes, flying, over, account };
    let mut coming = workload.packets.iter().zip(0..).peekable();
    loop {
        let next_packet = coming.peek().map(|(arrival, _)| arrival.at);
        let next_end = air.flying.iter().map(|flying| flying.end).min();
        let next_act = air.nodes.iter().filter_map(Node::next).min();
        let Some(now) = [next_packet, next_end, next_act].into_iter().flatten().min() else {
            break;
        };
        air.end_frames(now);
        while let Some((arrival, number)) = coming.next_if(|(arrival, _)| arrival.at == now) {
            air.nodes[arrival.node as usize].offer(now, number, arrival);
        }
        air.begin_frames(now);
    }
    for node in &mut air.nodes {
        air.account.delivered.extend(node.delivered.iter().copied());
        air.account.done.push(std::mem::take(&mut node.done));
        air.account.counters.push((node.counters, node.frames));
        air.account.windows.extend(CLASSES.map(|class| node.window(class as usize)));
    }
    air.account.delivered.sort_unstable();
    air.account
}

impl Air<'_> {
    /// All that begin now do so before anybody can sense it.
    fn begin_frames(&mut self, now: Instant) {
        let frames: Vec<Frame> = self.nodes.iter_mut().filter_map(|node| node.act(now)).collect();
        let Some(first) = frames.first() else { return };
        assert!(self.flying.is_empty(), "{now}: a frame begins while another is on the air");
        let (clashes, what) = (frames.len() > 1, (first.kind, first.opener()));
        let senders: Vec<u32> = frames.iter().map(|frame| frame.from).collect();
        for frame in frames {
            let parts = self.times.airtime(&frame.mode, frame.psdu);
            let detected = now + parts.preamble + parts.header;
            let others = self.nodes.iter_mut().filter(|node| !senders.contains(&node.id));
            others.for_each(|node| node.sense_busy(detected));
            let sender = &mut self.nodes[frame.from as usize];
            sender.counters.collisions += u64::from(clashes);
            sender.freeze();
            self.flying.push(Transmission { frame, end: now + parts.total(), clashes });
        }
        let end = self.flying.iter().map(|flying| flying.end).max().unwrap_or(now);
        self.account.air.push((now, end, (!clashes).then_some(what)));
    }

    fn end_frames(&mut self, now: Instant) {
        let (ended, going): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.flying).into_iter().partition(|flying| flying.end == now);
        self.flying = going;
        for transmission in ended {
            self.nodes[transmission.frame.from as usize].sent(now, &transmission.frame);
            if transmission.clashes {
                self.over.push(transmission);
            } else {
                self.receive(now, &transmission.frame);
            }
        }
        if !self.flying.is_empty() {
            return;
        }
        // Nobody could read a frame of a collision; all frames are of one mode, and ask for the
        // same EIFS.
        let collision = std::mem::take(&mut self.over);
        if let Some(first) = collision.first() {
            let eifs = self.times.eifs(&first.frame.mode);
            let sent = |node: &Node| collision.iter().any(|other| other.frame.from == node.id);
            let bystanders = self.nodes.iter_mut().filter(|node| !sent(node));
            bystanders.for_each(|node| node.garbled(now, eifs));
        }
        self.nodes.iter_mut().for_each(|node| node.sense_idle(now));
    }

    fn receive(&mut self, now: Instant, frame: &Frame) {
        for id in (0..self.nodes.len() as u32).filter(|&id| id != frame.from) {
            let node = &mut self.nodes[id as usize];
            if frame.to != id {
                node.overhear(now, frame);
            } else if node.is_spoiled(frame) {
                node.garbled(now, self.times.eifs(&frame.mode));
                self.nodes[frame.opener() as usize].counters.noise_losses += 1;
            } else if let Some((category, packet)) = node.hear(now, frame) {
                self.nodes[frame.from as usize].note_received(category, packet);
            }
        }
    }
}
