//! Frames begin and end on the air.

use super::{Heard, Space};
use super::frame::{Flight, OnAir, Reach};
use super::function::Function;
use super::judge::Judge;
use super::node::Node;
use super::reception::{Change, Followed};
use crate::mac::{Bitmap, StepKind};
use crate::phy::linear;
use crate::phy::propagation::{Path, Propagation};
use crate::{Command, Supply};
use kernel::{Bytes, Instant};

/// What one instant needs; kept for its memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) due: Vec<u32>,
    beginning: Vec<OnAir>,
    ending: Vec<u32>,
    /// Nodes at which signals have begun or ended, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// Which node was following which transmission to its end.
    followed: Vec<(u32, u32, Followed)>,
}

impl Scratch {
    pub(super) fn new(nodes: usize) -> Self {
        Self { is_touched: vec![false; nodes], ..Self::default() }
    }

    fn touch(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_touched[node as usize], true) {
            self.touched.push(node);
        }
    }
}

impl Space {
    /// Nodes whose time has come begin to send; all that do so now do before anybody senses it.
    pub(super) fn begin_frames(
        &mut self,
        now: Instant,
        due: &[u32],
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) {
        let mut beginning = std::mem::take(&mut self.scratch.beginning);
        for &node in due {
            self.note_contending(node);
            match self.nodes[node as usize].begin(now, &self.rules, supply, out) {
                Some(frame) => beginning.push(frame),
                None => self.set_timer(node),
            }
        }
        for frame in beginning.drain(..) {
            let id = self.take_off(now, frame);
            let flight = &self.flights[id as usize];
            out.push(Command::Step(flight.end()));
            let lasting = flight.airtime.total();
            self.nodes[frame.from as usize].send(now, &frame, lasting, &self.rules);
            self.set_timer(frame.from);
        }
        self.scratch.beginning = beginning;
        self.settle_arrivals(now, out);
    }

    /// A frame leaves its node and begins to arrive at others.
    fn take_off(&mut self, now: Instant, frame: OnAir) -> u32 {
        let airtime = self.rules.timing().airtime(&frame.mode, frame.psdu);
        let flight = Flight { frame, start: now, airtime, reach: Reach::default() };
        let id = if let Some(id) = self.free.pop() {
            self.flights[id as usize] = flight;
            id
        } else {
            self.flights.push(flight);
            self.flights.len() as u32 - 1
        };
        self.flying.push(id);
        for hearer in self.hearing.of(frame.from) {
            let mut power = hearer.power;
            if let Some(fading) = &self.radio.fading {
                let (a, b) = (frame.from, hearer.node);
                let (from, to) = (&self.sites[a as usize], &self.sites[b as usize]);
                let distance = from.position.distance(to.position);
                power /= linear(fading.loss(&Path { distance, ends: (a, b), now }));
            }
            self.nodes[hearer.node as usize].receiver.arrive(now, id, power);
            self.scratch.touch(hearer.node);
        }
        id
    }

    /// Receivers look at what has begun.
    fn settle_arrivals(&mut self, now: Instant, out: &mut Vec<Command>) {
        let mut touched = std::mem::take(&mut self.scratch.touched);
        for node in touched.drain(..) {
            self.scratch.is_touched[node as usize] = false;
            let receiver = &mut self.nodes[node as usize];
            if receiver.receiver.is_sending() {
                continue;
            }
            match receiver.receiver.decide(now, &self.rules.levels) {
                Change::None => {}
                Change::Found(id) => receiver.on_detected(self.flights[id as usize].payload()),
                Change::Lost => {
                    receiver.on_lost(now, &self.rules, out);
                    self.note_contending(node);
                }
            }
            self.settle_carrier(now, node);
        }
        self.scratch.touched = touched;
    }

    /// A node's carrier sense follows its receiver.
    fn settle_carrier(&mut self, now: Instant, node: u32) {
        let rules = &self.rules;
        let state = &mut self.nodes[node as usize];
        if state.receiver.is_busy(&rules.levels) {
            state.freeze(now, rules);
        } else {
            state.sense_idle(now);
        }
        self.set_timer(node);
    }

    /// Frames end on the air.
    pub fn on_step(&mut self, now: Instant, out: &mut Vec<Command>) {
        let mut ending = std::mem::take(&mut self.scratch.ending);
        let flights = &self.flights;
        self.flying.retain(|&id| {
            let over = flights[id as usize].end() <= now;
            if over {
                ending.push(id);
            }
            !over
        });
        for &id in &ending {
            self.land(now, id);
        }
        let mut followed = std::mem::take(&mut self.scratch.followed);
        for (node, id, how) in followed.drain(..) {
            self.receive(now, node, id, &how, out);
            self.note_contending(node);
        }
        self.scratch.followed = followed;
        for id in ending.drain(..) {
            self.count(id);
            let frame = self.flights[id as usize].frame;
            self.free.push(id);
            self.nodes[frame.from as usize].sent(now, &frame, &self.rules, out);
            self.note_contending(frame.from);
            self.scratch.touch(frame.from);
        }
        self.scratch.ending = ending;
        let mut touched = std::mem::take(&mut self.scratch.touched);
        for node in touched.drain(..) {
            self.scratch.is_touched[node as usize] = false;
            self.settle_carrier(now, node);
        }
        self.scratch.touched = touched;
        self.schedule(out);
    }

    /// A frame ceases to arrive.
    fn land(&mut self, now: Instant, id: u32) {
        let from = self.flights[id as usize].frame.from;
        for hearer in self.hearing.of(from) {
            let receiver = &mut self.nodes[hearer.node as usize].receiver;
            if let Some(how) = receiver.depart(now, id) {
                self.scratch.followed.push((hearer.node, id, how));
            }
            self.scratch.touch(hearer.node);
        }
    }

    /// A node has followed a frame to its end: has it understood it?
    fn receive(
        &mut self,
        now: Instant,
        node: u32,
        id: u32,
        how: &Followed,
        out: &mut Vec<Command>,
    ) {
        let flight = self.flights[id as usize];
        let (frame, rules) = (flight.frame, &self.rules);
        let pair = [node as usize, frame.from as usize];
        let [receiver, sender] = self.nodes.get_disjoint_mut(pair).expect("nobody hears itself");
        let (timing, levels, error) = (rules.timing(), &rules.levels, &*self.radio.error);
        let mut judge = Judge { timing, levels, error, flight: &flight, memo: &mut self.memo };
        let for_me = frame.to.is_none_or(|to| to == node);
        let mut lost = Bitmap::default();
        let is_lost = if for_me {
            spoil(&mut judge, receiver, sender, how.power, &mut lost)
        } else {
            let chunks = receiver.receiver.chunks();
            let failure = judge.failure(chunks, how.power, spans(&frame, sender));
            receiver.noise.chance(failure)
        };
        if let Some(heard) = &mut self.heard {
            heard.push(Heard::of(&flight, receiver, how.power, !is_lost));
        }
        let reach = &mut self.flights[id as usize].reach;
        if is_lost {
            // Interference has spoiled what would probably have arrived without it.
            let clash = how.overlapped && judge.is_clear_alone(how.power);
            reach.clashes += u32::from(for_me && clash);
            reach.noise += u32::from(for_me && !clash);
            return receiver.garbled(now, &frame, rules, out);
        }
        if !for_me {
            return receiver.overhear(now, &frame, rules, out);
        }
        reach.understood += 1;
        match frame.kind {
            StepKind::BlockAck => {
                // What it says is what its sender has heard of this node.
                let index = usize::from(frame.function);
                let start = receiver.functions[index].load.start();
                let bitmap = sender.inbox.block_ack((node, frame.function), start);
                return receiver.hear(now, &frame, Some(&bitmap), rules, out);
            }
            StepKind::Data | StepKind::BlockAckRequest => {
                let load = &mut sender.functions[usize::from(frame.function)].load;
                let up = |packet| out.push(Command::Deliver { node, packet });
                if frame.to.is_none() {
                    load.note_received(0);
                    let (_, mpdu) = load.frame_on_air(0);
                    load.packets_of(&mpdu).copied().for_each(up);
                } else {
                    let from = (frame.from, frame.function);
                    let window = rules.mac.framing.aggregation.map(|limits| limits.window);
                    let duplicates = receiver.inbox.take(from, window, load, &lost, up);
                    receiver.counters.duplicates += duplicates;
                }
            }
            StepKind::Rts | StepKind::Cts | StepKind::Ack => {}
        }
        receiver.hear(now, &frame, None, rules, out);
    }

    /// A frame that nobody has understood is a collision or a loss by noise to the node whose
    /// exchange it is.
    fn count(&mut self, id: u32) {
        let Flight { frame, reach, .. } = self.flights[id as usize];
        if reach.understood > 0 {
            return;
        }
        let audible = |power: f64| power >= self.rules.levels.detect;
        let could_follow = match frame.to {
            Some(to) => u32::from(self.hearing.power(frame.from, to).is_some_and(audible)),
            None => self.hearing.of(frame.from).iter().filter(|h| audible(h.power)).count() as u32,
        };
        // Who could have followed it, but did not, was hindered.
        let hindered = could_follow > reach.clashes + reach.noise;
        let owner = match (frame.kind, frame.to) {
            (_, Some(to)) if frame.is_answer() => to,
            _ => frame.from,
        };
        let counters = &mut self.nodes[owner as usize].counters;
        if hindered || reach.clashes > 0 {
            counters.collisions += 1;
        } else {
            counters.noise_losses += u64::from(frame.to.is_some());
        }
    }
}

/// The bytes of the PSDU at which its frames begin and end.
fn spans<'a>(frame: &OnAir, sender: &'a Node) -> impl Iterator<Item = (Bytes, Bytes)> + use<'a> {
    let is_data = matches!(frame.kind, StepKind::Data);
    let function = is_data.then(|| &sender.functions[usize::from(frame.function)]);
    let whole = (!is_data).then_some((Bytes::ZERO, frame.psdu));
    let spans = |function: &'a Function| function.load.spans(&function.psdu);
    function.into_iter().flat_map(spans).chain(whole)
}

/// Draws what noise, interference and the link's own losses take of a frame for this receiver;
/// whether nothing is left.
fn spoil(
    judge: &mut Judge,
    receiver: &mut Node,
    sender: &Node,
    power: f64,
    lost: &mut Bitmap,
) -> bool {
    let frame = judge.flight.frame;
    let fixed = link_loss(receiver, &frame);
    let Node { receiver, noise, .. } = receiver;
    if noise.chance(1.0 - judge.header(receiver.chunks(), power)) {
        return true;
    }
    let mut count = 0;
    for span in spans(&frame, sender) {
        let failure = 1.0 - judge.frame(receiver.chunks(), power, span);
        if noise.chance(fixed + (1.0 - fixed) * failure) {
            lost.set(count);
        }
        count += 1;
    }
    lost.count() == u32::from(count)
}

/// What the link loses of its own, over and above what the radio says.
fn link_loss(receiver: &Node, frame: &OnAir) -> f64 {
    let Some(peer) = receiver.peer(frame.from) else { return 0.0 };
    match frame.kind {
        StepKind::Data => peer.link.data_loss,
        StepKind::Ack | StepKind::BlockAck | StepKind::BlockAckRequest => peer.link.ack_loss,
        StepKind::Rts | StepKind::Cts => 0.0,
    }
}
