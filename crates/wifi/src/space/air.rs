//! Frames begin and end on the air.

use super::frame::{Flight, OnAir, Reach};
use super::function::Function;
use super::judge::{Judge, Trial};
use super::node::Node;
use super::radio::Hearer;
use super::reception::{Change, Followed};
use super::{Heard, Space};
use crate::mac::{ACK, Bitmap, StepKind};
use crate::phy::linear;
use crate::phy::propagation::{Path, Propagation};
use crate::{Command, Supply};
use kernel::{Bytes, Duration, Instant};

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

/// A frame that has arrived.
struct Landing {
    id: u32,
    flight: Flight,
    trial: Trial,
    /// What an EIFS after it is longer than a DIFS.
    extra: Duration,
    /// The NAV that it sets ends here already if no frame has begun by then.
    unless_followed: Option<Instant>,
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
        let alone = beginning.len() == 1;
        for frame in beginning.drain(..) {
            self.take_off(now, &frame, alone, out);
            self.set_timer(frame.from);
        }
        self.scratch.beginning = beginning;
        let mut touched = std::mem::take(&mut self.scratch.touched);
        for node in touched.drain(..) {
            self.scratch.is_touched[node as usize] = false;
            self.settle_arrivals(now, node, out);
        }
        self.scratch.touched = touched;
    }

    /// A frame leaves its node and begins to arrive at others. If it is the only one that does now,
    /// they look at it at once.
    fn take_off(&mut self, now: Instant, frame: &OnAir, alone: bool, out: &mut Vec<Command>) {
        let airtime = self.rules.timing().airtime(&frame.mode, frame.psdu);
        let flight = Flight { frame: *frame, start: now, airtime, reach: Reach::default() };
        let id = if let Some(id) = self.free.pop() {
            self.flights[id as usize] = flight;
            id
        } else {
            self.flights.push(flight);
            self.flights.len() as u32 - 1
        };
        self.flying.push(id);
        out.push(Command::Step(flight.end()));
        for place in self.hearing.places(frame.from) {
            let hearer = *self.hearing.at(place);
            let mean = self.radio.power(&self.sites, frame.from, &hearer, now);
            if frame.to == Some(hearer.node) {
                self.nodes[frame.from as usize].on_power(hearer.node, mean.unwrap_or(0.0));
            }
            // It has gone out of hearing.
            let Some(mut power) = mean else { continue };
            if let Some(fading) = &self.radio.fading {
                let (a, b) = (frame.from, hearer.node);
                let place = |node: u32| self.sites[node as usize].course.at(now);
                let distance = place(a).distance(place(b));
                power /= linear(fading.loss(&Path { distance, ends: (a, b), now }));
            }
            let legible = frame.mode.class.is_dsss() || self.rules.mac.knows_ofdm(hearer.node);
            self.nodes[hearer.node as usize].receiver.arrive(now, id, power, legible);
            if alone {
                self.settle_arrivals(now, hearer.node, out);
            } else {
                self.scratch.touch(hearer.node);
            }
        }
        self.nodes[frame.from as usize].send(now, frame, airtime.total(), &self.rules);
    }

    /// A receiver looks at what has begun.
    fn settle_arrivals(&mut self, now: Instant, node: u32, out: &mut Vec<Command>) {
        let state = &mut self.nodes[node as usize];
        if state.receiver.is_sending() {
            return;
        }
        let change = state.receiver.decide(now, &self.rules.levels);
        match change {
            Change::None => {}
            Change::Found(id) => {
                let detected = self.flights[id as usize].payload();
                state.on_detected(now, detected, &self.rules, out);
                self.note_contending(node);
            }
            Change::Lost => {
                state.on_lost(now, &self.rules, out);
                self.note_contending(node);
            }
        }
        self.settle_carrier(now, node, change != Change::None);
    }

    /// A node's carrier sense follows its receiver, of which something else may have `changed`.
    fn settle_carrier(&mut self, now: Instant, node: u32, changed: bool) {
        let rules = &self.rules;
        let state = &mut self.nodes[node as usize];
        let is_busy = state.receiver.is_busy(&rules.levels);
        if !changed && is_busy == state.carrier.is_sensed() {
            return;
        }
        if is_busy {
            state.freeze(now, rules);
        } else {
            state.sense_idle(now);
        }
        if !state.is_quiet() {
            self.set_timer(node);
        }
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
        let alone = ending.len() == 1;
        for &id in &ending {
            self.land(now, id, alone, out);
        }
        let mut followed = std::mem::take(&mut self.scratch.followed);
        let mut landing: Option<Landing> = None;
        for (node, id, how) in followed.drain(..) {
            let landing = match &mut landing {
                Some(landing) if landing.id == id => landing,
                other => other.insert(self.landing(now, id)),
            };
            self.receive(now, node, landing, &how, out);
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
            self.settle_carrier(now, node, true);
        }
        self.scratch.touched = touched;
        self.schedule(out);
    }

    /// A frame ceases to arrive. If it is the only one that does now, those who have followed it
    /// look at it at once.
    fn land(&mut self, now: Instant, id: u32, alone: bool, out: &mut Vec<Command>) {
        let mut landing = None;
        for place in self.hearing.places(self.flights[id as usize].frame.from) {
            let node = self.hearing.at(place).node;
            let Ok(how) = self.nodes[node as usize].receiver.depart(now, id) else { continue };
            if !alone {
                self.scratch.followed.extend(how.map(|how| (node, id, how)));
                self.scratch.touch(node);
                continue;
            }
            if let Some(how) = &how {
                let landing = landing.get_or_insert_with(|| self.landing(now, id));
                self.receive(now, node, landing, how, out);
                self.note_contending(node);
            }
            self.settle_carrier(now, node, how.is_some());
        }
    }

    /// What a frame that ends now is to those who have followed it.
    fn landing(&mut self, now: Instant, id: u32) -> Landing {
        let flight = self.flights[id as usize];
        let (frame, rules) = (&flight.frame, &self.rules);
        let (timing, error) = (rules.timing(), &*self.radio.error);
        let spans = spans(frame, &self.nodes[frame.from as usize]);
        let trial = Trial::new(&flight, spans, timing, error, &mut self.memo);
        let extra = timing.eifs(&frame.mode).saturating_sub(timing.difs());
        let unless_followed = (rules.nav_reset && frame.kind == StepKind::Rts).then(|| {
            let cts = timing.response_mode(&frame.mode);
            let delay = timing.standard.rx_start_delay(&cts, timing.preamble);
            let lasting = timing.airtime(&cts, ACK).total();
            now + timing.sifs() * 2 + lasting + delay + timing.slot * 2
        });
        Landing { id, flight, trial, extra, unless_followed }
    }

    /// A node has followed a frame to its end: has it understood it?
    fn receive(
        &mut self,
        now: Instant,
        node: u32,
        landing: &Landing,
        how: &Followed,
        out: &mut Vec<Command>,
    ) {
        let Landing { id, ref flight, ref trial, extra, unless_followed } = *landing;
        let (frame, rules) = (&flight.frame, &self.rules);
        let pair = [node as usize, frame.from as usize];
        let [receiver, sender] = self.nodes.get_disjoint_mut(pair).expect("nobody hears itself");
        let (levels, error) = (&rules.levels, &*self.radio.error);
        let mut judge = Judge { levels, error, trial, memo: &mut self.memo };
        let for_me = frame.to.is_none_or(|to| to == node);
        let mut lost = Bitmap::default();
        let is_lost = if for_me {
            spoil(&mut judge, receiver, frame, how.power, &mut lost)
        } else {
            let chunks = receiver.receiver.chunks();
            let failure = judge.failure(chunks, how.power);
            receiver.noise.chance(failure)
        };
        if let Some(heard) = &mut self.heard {
            heard.push(Heard::of(flight, receiver, how.power, !is_lost));
        }
        let reach = &mut self.flights[id as usize].reach;
        if is_lost {
            // Interference has spoiled what would probably have arrived without it.
            if for_me {
                let clash = how.overlapped && judge.alone(how.power, flight) > 0.5;
                reach.clashes += u32::from(clash);
                reach.noise += u32::from(!clash);
            }
            return receiver.garbled(now, extra, rules, out);
        }
        if !for_me {
            return receiver.overhear(now, frame.reserves, unless_followed, rules, out);
        }
        reach.understood += 1;
        match frame.kind {
            StepKind::BlockAck => {
                // What it says is what its sender has heard of this node.
                let index = usize::from(frame.function);
                let start = receiver.functions[index].load.start();
                let bitmap = sender.inbox.block_ack((node, frame.function), start);
                return receiver.hear(now, frame, Some(&bitmap), rules, out);
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
            StepKind::Rts | StepKind::Cts | StepKind::CtsToSelf | StepKind::Ack => {}
        }
        receiver.hear(now, frame, None, rules, out);
    }

    /// A frame that nobody has understood is a collision or a loss by noise to the node whose
    /// exchange it is; but a CTS that its sender addresses to itself is missed by nobody.
    fn count(&mut self, id: u32) {
        let Flight { frame, reach, start, .. } = self.flights[id as usize];
        if reach.understood > 0 || frame.kind == StepKind::CtsToSelf {
            return;
        }
        let audible = |hearer: &&Hearer| {
            let power = self.radio.power(&self.sites, frame.from, hearer, start);
            power.is_some_and(|power| power >= self.rules.levels.detect)
        };
        let could_follow = match frame.to {
            Some(to) => self.hearing.find(frame.from, to).into_iter().filter(audible).count(),
            None => self.hearing.of(frame.from).iter().filter(audible).count(),
        };
        // Who could have followed it, but did not, was hindered.
        let hindered = could_follow as u32 > reach.clashes + reach.noise;
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
    frame: &OnAir,
    power: f64,
    lost: &mut Bitmap,
) -> bool {
    let fixed = link_loss(receiver, frame);
    let Node { receiver, noise, .. } = receiver;
    if noise.chance(1.0 - judge.header(receiver.chunks(), power)) {
        return true;
    }
    let frames = judge.trial.frames();
    for index in 0..frames {
        let failure = 1.0 - judge.frame(receiver.chunks(), power, index);
        if noise.chance(fixed + (1.0 - fixed) * failure) {
            lost.set(index as u16);
        }
    }
    lost.count() == frames as u32
}

/// What the link loses of its own, over and above what the radio says.
fn link_loss(receiver: &Node, frame: &OnAir) -> f64 {
    let Some(peer) = receiver.peer(frame.from) else { return 0.0 };
    match frame.kind {
        StepKind::Data => peer.link.data_loss,
        StepKind::Ack | StepKind::BlockAck | StepKind::BlockAckRequest => peer.link.ack_loss,
        StepKind::Rts | StepKind::Cts | StepKind::CtsToSelf => 0.0,
    }
}
