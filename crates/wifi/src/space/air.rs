//! Frames begin and end on the air.

use super::frame::{Flight, OnAir, Reach};
use super::hearing::Hearer;
use super::interference::{Chunk, Interference};
use super::judge::{Judge, Trial};
use super::node::Node;
use super::reception::{Change, End, Followed};
use super::{Heard, Space};
use crate::mac::{ACK, Bitmap, Edcaf, StepKind};
use crate::{Command, Supply};
use kernel::{Bytes, Duration, Instant};

/// What one instant needs; kept for its memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) due: Vec<u32>,
    beginning: Vec<OnAir>,
    ending: Vec<u32>,
    /// Nodes that look at what has begun or ended, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// Which node was following which transmission to its end.
    followed: Vec<(u32, u32, Followed)>,
    interference: Interference,
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

    pub(super) fn touch(&mut self, node: u32) {
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
        for frame in &beginning {
            let lasting = self.rules.timing().airtime(&frame.mode, frame.psdu).total();
            self.receivers[frame.from as usize].begin_sending(now + lasting);
        }
        let is_crowd = self.gather(now, &beginning);
        for (frame, place) in beginning.drain(..).zip(0..) {
            self.take_off(now, &frame, is_crowd.then_some(place), out);
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

    /// A frame leaves its node, in a crowd or alone, and begins to arrive at others.
    fn take_off(
        &mut self,
        now: Instant,
        frame: &OnAir,
        in_crowd: Option<usize>,
        out: &mut Vec<Command>,
    ) {
        let airtime = self.rules.timing().airtime(&frame.mode, frame.psdu);
        let flight = Flight { frame: *frame, start: now, airtime, reach: Reach::default() };
        out.push(Command::Step(flight.end()));
        let id = if let Some(place) = in_crowd {
            self.begin_in_crowd(place, flight)
        } else {
            let (receivers, end) = (&self.receivers, flight.end());
            let is_deaf = |node: u32| receivers[node as usize].is_deaf_until(end);
            let id = self.signals.begin(flight, is_deaf);
            if self.crowd.is_on_air() {
                self.prepare_arrival(now, id);
            }
            id
        };
        let Self { signals, receivers, rules, scratch, .. } = self;
        let (from, levels) = (frame.from, rules.levels);
        if let Some(to) = frame.to {
            let hearer = signals.hearer_of(id, to);
            let power = hearer.and_then(|hearer| signals.mean_at(from, &hearer, now));
            self.nodes[from as usize].on_power(to, power.map_or(0.0, |power| power.milliwatts));
        }
        // What all share is read once: to the compiler a receiver's change might change it.
        let receivers = receivers.as_mut_slice();
        let all_know = frame.mode.class.is_dsss() || rules.mac.all_know_ofdm();
        signals.each(id, |node, power| {
            let legible = all_know || rules.mac.knows_ofdm(node);
            if receivers[node as usize].arrive(now, (id, power), legible, &levels) {
                scratch.touch(node);
            }
        });
        self.nodes[from as usize].send(now, frame, airtime.total(), &self.rules);
    }

    /// A receiver looks at what has begun.
    fn settle_arrivals(&mut self, now: Instant, node: u32, out: &mut Vec<Command>) {
        let change = self.receivers[node as usize].decide(now, &self.rules.levels);
        let state = &mut self.nodes[node as usize];
        match change {
            Change::None => {}
            Change::Found(id) => {
                let detected = self.signals.flight(id).payload();
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
        let is_busy = self.receivers[node as usize].sense(&rules.levels);
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
        self.signals.end(now, &mut ending);
        if self.crowd.is_on_air() {
            self.end_of_crowd(now);
        }
        for &id in &ending {
            if self.crowd.is_on_air() {
                self.prepare_departure(now, id);
            }
            self.land(id);
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
            let frame = self.signals.flight(id).frame;
            self.receivers[frame.from as usize].end_sending();
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

    /// A frame ceases to arrive.
    fn land(&mut self, id: u32) {
        let Self { signals, receivers, rules, scratch, .. } = self;
        let (receivers, energy) = (receivers.as_mut_slice(), rules.levels.energy);
        signals.each(id, |node, power| {
            match receivers[node as usize].depart((id, power), energy) {
                End::Unnoticed => return,
                End::Energy => {}
                End::Followed(how) => scratch.followed.push((node, id, how)),
            }
            scratch.touch(node);
        });
    }

    /// What a frame that ends now is to those who have followed it.
    fn landing(&mut self, now: Instant, id: u32) -> Landing {
        let flight = *self.signals.flight(id);
        let (frame, rules) = (&flight.frame, &self.rules);
        let (timing, error) = (rules.timing(), &*self.signals.radio.error);
        let spans = spans(frame, &self.nodes[frame.from as usize]);
        let trial = Trial::new(&flight, spans, timing, error, &mut self.memo);
        self.scratch.interference.with(id, &self.signals);
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
        &Followed { power, bounds }: &Followed,
        out: &mut Vec<Command>,
    ) {
        let Landing { id, ref flight, ref trial, extra, unless_followed } = *landing;
        let (frame, rules) = (&flight.frame, &self.rules);
        let pair = [node as usize, frame.from as usize];
        let [receiver, sender] = self.nodes.get_disjoint_mut(pair).expect("nobody hears itself");
        let (levels, error) = (&rules.levels, &*self.signals.radio.error);
        let mut judge = Judge { levels, error, trial, memo: &mut self.memo };
        let for_me = frame.to.is_none_or(|to| to == node);
        let interference = &mut self.scratch.interference;
        let mut lost = Bitmap::default();
        let is_lost = if for_me {
            let chunks = interference.at(node, &self.signals);
            spoil(&mut judge, receiver, frame, (chunks, power), &mut lost)
        } else {
            let failure = judge
                .certain_failure(power, &bounds)
                .unwrap_or_else(|| judge.failure(interference.at(node, &self.signals), power));
            receiver.noise.chance(failure)
        };
        if let Some(heard) = &mut self.heard {
            let chunks = interference.at(node, &self.signals);
            heard.push(Heard::of(flight, node, (chunks, power), !is_lost));
        }
        if is_lost {
            if for_me {
                // Interference has spoiled what would probably have arrived without it.
                let clash = bounds.most > 0.0 && judge.alone(power, flight) > 0.5;
                let reach = &mut self.signals.flight_mut(id).reach;
                reach.clashes += u32::from(clash);
                reach.noise += u32::from(!clash);
            }
            return receiver.garbled(now, extra, rules, out);
        }
        if !for_me {
            return receiver.overhear(now, frame.reserves, unless_followed, rules, out);
        }
        self.signals.flight_mut(id).reach.understood += 1;
        match frame.kind {
            StepKind::BlockAck => {
                // What it says is what its sender has heard of this node.
                let start = receiver.edcaf(usize::from(frame.function)).originator.start();
                let bitmap = sender.inbox.block_ack((node, frame.function), start);
                return receiver.hear(now, frame, Some(&bitmap), rules, out);
            }
            StepKind::Data | StepKind::BlockAckRequest => {
                let edcaf = sender.edcaf_mut(usize::from(frame.function));
                let originator = &mut edcaf.originator;
                let up = |packet| out.push(Command::Deliver { node, packet });
                if frame.to.is_none() {
                    originator.note_received(0);
                    let (_, mpdu) = originator.frame_on_air(0);
                    originator.packets_of(&mpdu).copied().for_each(up);
                } else {
                    let from = (frame.from, frame.function);
                    let window = rules.mac.framing.aggregation.map(|limits| limits.window);
                    let duplicates = receiver.inbox.take(from, window, originator, &lost, up);
                    receiver.tally.counters.duplicates += duplicates;
                }
            }
            StepKind::Rts | StepKind::Cts | StepKind::CtsToSelf | StepKind::Ack => {}
        }
        receiver.hear(now, frame, None, rules, out);
    }

    /// A frame that nobody has understood is a collision or a loss by noise to the node whose
    /// exchange it is; but a CTS that its sender addresses to itself is missed by nobody.
    fn count(&mut self, id: u32) {
        let signals = &self.signals;
        let Flight { frame, reach, start, .. } = *signals.flight(id);
        if reach.understood > 0 || frame.kind == StepKind::CtsToSelf {
            return;
        }
        let audible = |hearer: &Hearer| {
            let power = signals.mean_at(frame.from, hearer, start);
            power.is_some_and(|power| power.milliwatts >= self.rules.levels.detect)
        };
        let could_follow = match frame.to {
            Some(to) => usize::from(signals.hearer_of(id, to).is_some_and(|to| audible(&to))),
            None => signals.hearers(id).iter().filter(|hearer| audible(hearer)).count(),
        };
        // Who could have followed it, but did not, was hindered.
        let hindered = could_follow as u32 > reach.clashes + reach.noise;
        let owner = match (frame.kind, frame.to) {
            (_, Some(to)) if frame.is_answer() => to,
            _ => frame.from,
        };
        let counters = &mut self.nodes[owner as usize].tally.counters;
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
    let edcaf = is_data.then(|| sender.edcaf(usize::from(frame.function)));
    let whole = (!is_data).then_some((Bytes::ZERO, frame.psdu));
    let spans = |edcaf: &'a Edcaf| edcaf.originator.spans(&edcaf.psdu);
    edcaf.into_iter().flat_map(spans).chain(whole)
}

/// Draws what noise, interference and the link's own losses take of a frame for this receiver;
/// whether nothing is left.
fn spoil(
    judge: &mut Judge,
    receiver: &mut Node,
    frame: &OnAir,
    (chunks, power): (&[Chunk], f64),
    lost: &mut Bitmap,
) -> bool {
    let fixed = link_loss(receiver, frame);
    let noise = &mut receiver.noise;
    if noise.chance(1.0 - judge.header(chunks, power)) {
        return true;
    }
    let frames = judge.trial.frames();
    for index in 0..frames {
        let failure = 1.0 - judge.frame(chunks, power, index);
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
