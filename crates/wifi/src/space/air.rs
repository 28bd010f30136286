//! Start and end of transmissions.
//!
//! A frame that begins alone takes one step at a receiver that senses nothing. If it ends alone, it
//! takes one more at a receiver that it is not for, unless it must be looked up what was on the air
//! with it.

use super::Space;
use super::frame::{OnAir, Part, Transmission, Users};
use super::interference::Interference;
use super::overheard::Overheard;
use super::per::PerCalculator;
use super::per_cache::FrameFacts;
use super::power::FixedPower;
use super::reception::{Change, End, Received, ReceivedSignal};
use super::settle::sense;
use crate::mac::{Deferral, ElicitedResponse};
use crate::{Command, MsduSource};
use kernel::{Instant, Span};

/// Buffers for the work of one instant, which keep their memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) due: Vec<u32>,
    beginning: Vec<u32>,
    ending: Vec<u32>,
    /// Nodes that must evaluate what has begun or ended, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// Node, transmission and reception of each frame that a node received to its end.
    pub(super) received: Vec<(u32, u32, Received)>,
    /// Nodes that receive a frame without a certain outcome, and its power there.
    pub(super) uncertain: Vec<(u32, f64)>,
    /// Nodes that have received HE TB PPDUs in several resource units, and what these cause there
    /// if none is decoded.
    pub(super) in_units: Vec<(u32, Deferral)>,
    pub(super) interference: Interference,
    /// The powers of bursts at a node.
    pub(super) bursts: Vec<FixedPower>,
}

impl Scratch {
    pub(super) fn new(nodes: usize) -> Self {
        Self { is_touched: vec![false; nodes], ..Self::default() }
    }

    /// The frames that end.
    pub(super) fn ending(&self) -> &[u32] {
        &self.ending
    }

    pub(super) fn touch(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_touched[node as usize], true) {
            self.touched.push(node);
        }
    }

    /// The node at a place among those that are touched. It may be touched again.
    fn begin_settling(&mut self, place: usize) -> u32 {
        let node = self.touched[place];
        self.is_touched[node as usize] = false;
        node
    }
}

impl Space {
    /// Nodes whose timers have expired begin to transmit. All that transmit at this instant do so
    /// before any carrier sense detects it.
    pub(super) fn begin_frames(
        &mut self,
        now: Instant,
        due: &[u32],
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let mut beginning = std::mem::take(&mut self.scratch.beginning);
        self.signals.forget(now);
        for &node in due {
            self.note_contending(node);
            if self.rules.mac.config.full_duplex.is_some() {
                self.prepare_secondary(now, node, source, out);
                self.join(now, node, source, out);
            }
            if self.triggers() {
                self.tell_modes(node);
            }
            let goes_on = self.nodes[node as usize].holds_txop();
            let next = self.nodes[node as usize].begin(now, &self.rules, source, out);
            match next.and_then(|frame| self.filled(now, frame, source)) {
                Some(frame) => {
                    let mut transmission = self.transmission_of(now, frame);
                    let state = &self.nodes[node as usize];
                    transmission.exchanges = state.exchanges;
                    if self.reuse.is_some() {
                        let opens = !goes_on && state.opens(now);
                        transmission.cut = self.power_cut(now, &transmission.frame, opens);
                    }
                    beginning.push(self.signals.enter(transmission));
                }
                None => self.set_timer(node),
            }
        }
        for &id in &beginning {
            let begun = self.signals.transmission(id);
            let (from, end) = (begun.frame.from as usize, begun.end());
            if self.nodes[from].has_joined(now) {
                self.receivers[from].send_beside(now, end);
            } else {
                self.receivers[from].begin_sending(now, end);
            }
        }
        if self.rules.mac.config.full_duplex.is_some() {
            self.count_alone(now, &beginning);
        }
        let is_crowd = self.crowd.may_form(beginning.len())
            && !self.are_joint(&beginning)
            && self.gather(now, &beginning);
        let is_alone = beginning.len() == 1;
        let is_spared = self.spare_bystanders(&beginning);
        for &id in &beginning {
            self.begin_transmission(now, id, is_alone, is_crowd, is_spared, out);
        }
        if self.waves.is_some() {
            self.begin_waves(now, out);
        }
        for place in 0..self.scratch.touched.len() {
            let node = self.scratch.begin_settling(place);
            self.settle_arrivals(now, node, out);
        }
        self.scratch.touched.clear();
        if self.joins_all() {
            self.turn_to_beside(now, &beginning);
            self.find_joinable(now, &beginning);
        }
        beginning.clear();
        self.scratch.beginning = beginning;
    }

    /// A frame with what is decided when it begins; `None` if it does not.
    #[allow(clippy::inline_always, reason = "it runs for each frame")]
    #[inline(always)]
    fn filled(&mut self, now: Instant, frame: OnAir, source: &mut dyn MsduSource) -> Option<OnAir> {
        match frame.users {
            Users::Unit(_) if frame.answers_trigger() => self.answer_trigger(now, frame, source),
            Users::Unit(_) => Some(frame).filter(|frame| self.is_still_asked(frame)),
            Users::Together => self.answer_mu_rts(now, frame),
            _ => Some(frame),
        }
    }

    /// A frame that begins, of which nobody has received anything yet.
    #[allow(clippy::inline_always, reason = "it runs for each frame")]
    #[inline(always)]
    fn transmission_of(&mut self, now: Instant, frame: OnAir) -> Transmission {
        let (timing, error) = (self.rules.timing(), &*self.signals.radio.error);
        let (facts, &FrameFacts { mut airtime, deferral, .. }) =
            self.per_cache.facts(&frame, timing, error);
        if frame.users.has_units(frame.kind) {
            airtime = self.airtime_in_units(&frame);
        }
        let mut begun = Transmission::new(frame, now, airtime, deferral);
        begun.facts = facts;
        begun
    }

    /// Begins a transmission, alone, or with others, or as a member of a crowd. Unless signals take
    /// time, it arrives at the nodes in range, bystanders excepted if they are spared.
    fn begin_transmission(
        &mut self,
        now: Instant,
        id: u32,
        is_alone: bool,
        in_crowd: bool,
        is_spared: bool,
        out: &mut Vec<Command>,
    ) {
        let begun = self.signals.transmission(id);
        let (end, silent_from) = (begun.end(), begun.silent_from());
        let OnAir { from, to, answer, ref mode, .. } = begun.frame;
        let width = mode.width;
        out.push(Command::Step(end));
        if self.waves.is_some() {
            self.launch(id, out);
        } else if in_crowd {
            self.begin_in_crowd(id);
        } else {
            let receivers = &self.receivers;
            self.signals.begin(id, |node| receivers[node as usize].is_transmitting_until(end));
            if self.crowd.is_on_air() {
                self.prepare_arrival(now, id);
            }
            if is_spared {
                self.pass_bystanders(id);
            }
        }
        if self.watch.is_some() {
            self.record_begin(now, id);
        }
        if self.airtime.is_some() {
            self.use_airtime(id);
        }
        if let Some(interferers) = &mut self.interferers {
            let detect = self.rules.levels.detect;
            let span = Span { start: now, end: silent_from };
            interferers.on_frame(span, from, width, detect, &self.signals);
            out.extend(interferers.follow_reactions(now, &self.signals.sites).map(Command::Step));
        }
        // Rate control learns the power of a frame that elicits an Ack or a BlockAck.
        if let (Some(to), false) = (to, answer == ElicitedResponse::None)
            && let Some(peer) = self.nodes[from as usize].learns_power_at(to)
        {
            let power = self.signals.mean_of(id, to);
            peer.power = power.map_or(0.0, |power| power.milliwatts);
        }
        if self.waves.is_none() {
            self.arrive(now, id, is_alone);
            if self.reuse.is_some() {
                self.await_color(id, out);
            }
        }
        let frame = &self.signals.transmission(id).frame;
        let lasting = self.lasting(frame, end - now);
        self.nodes[from as usize].send(now, frame, lasting, &self.rules);
        if self.watch.is_some() || !self.nodes[from as usize].only_sends() {
            self.set_timer(from);
        }
    }

    /// A transmission begins at the nodes in range, or a wave of it at its nodes. It is alone if no
    /// other one begins at this instant.
    #[allow(clippy::inline_always, reason = "it runs for each frame")]
    #[inline(always)]
    pub(super) fn arrive(&mut self, now: Instant, id: u32, is_alone: bool) {
        let is_one_channel = self.signals.radio.overlaps.is_none();
        if !is_one_channel {
            self.sense_secondaries(id);
        }
        let begun = self.signals.transmission(id);
        let (deferral, detected, end) = (begun.deferral, begun.detected(), begun.end());
        let is_dsss = begun.frame.mode.class.is_dsss();
        if !is_alone && begun.frame.is_joint() {
            return self.arrive_jointly(now, id);
        }
        // A lower bound in the sum of a receiver does not tell that it is clear.
        let is_alone = is_alone && !self.crowd.is_on_air();
        let Self { signals, receivers, nodes, rules, timers, watch, scratch, .. } = self;
        // Values that are the same for all receivers are read before the loop: the compiler does
        // not know that changes of a receiver leave them unchanged.
        let (receivers, nodes) = (receivers.as_mut_slice(), nodes.as_mut_slice());
        let levels = &rules.levels;
        let all_know = is_one_channel && (is_dsss || rules.mac.all_know_ofdm());
        signals.each(id, |node, power| {
            let knows = || is_dsss || rules.mac.knows_ofdm(node);
            let is_decodable = all_know || knows() && signals.is_in_channel(id, node);
            let (receiver, state) = (&mut receivers[node as usize], &mut nodes[node as usize]);
            let may_find = is_alone && is_decodable && power.milliwatts >= levels.alone;
            if may_find && receiver.finds_next(power, levels) && state.detects(now, detected) {
                receiver.receive_next(now, ReceivedSignal { id, power }, levels);
                return sense(now, node, state, true, rules, timers, watch);
            }
            if let Deferral::Nav(eifs) = deferral
                && receiver.notices(now, power.fixed, levels)
            {
                state.carrier.reserve(end + eifs, None);
            }
            if receiver.arrive(now, ReceivedSignal { id, power }, is_decodable, levels) {
                scratch.touch(node);
            }
        });
    }

    /// A receiver evaluates the signals that have begun.
    fn settle_arrivals(&mut self, now: Instant, node: u32, out: &mut Vec<Command>) {
        let change = self.receivers[node as usize].decide(now, &self.rules.levels);
        let state = &mut self.nodes[node as usize];
        let before = out.len();
        match change {
            Change::None => {}
            Change::Found(id) => {
                let detected = self.signals.transmission(id).detected();
                state.on_detected(now, detected, &self.rules, out);
            }
            Change::Lost => state.on_lost(now, &self.rules, out),
        }
        if out.len() > before {
            self.note_contending(node);
        }
        self.settle_carrier(now, node, change != Change::None);
    }

    /// Transmissions end.
    pub fn on_step(&mut self, now: Instant, source: &dyn MsduSource, out: &mut Vec<Command>) {
        if self.interferers.as_ref().is_some_and(|all| all.is_due(now)) {
            self.pass_edges(now, out);
        }
        if self.triggers() {
            self.end_timers(now, out);
        }
        self.signals.end(now, &mut self.scratch.ending);
        if self.triggers() {
            self.note_awake(source);
        }
        if self.crowd.is_on_air() {
            self.end_of_crowd(now);
        }
        let (mut ppdu, number) = (None, self.scratch.ending.len());
        for place in 0..number {
            let id = self.scratch.ending[place];
            if self.crowd.is_on_air() {
                self.prepare_departure(now, id);
            }
            if self.bystanders.miss(id) {
                ppdu = self.end_beside_bystanders(now, id);
            }
            if self.signals.transmission(id).part != Part::Source {
                let is_only = number == 1;
                let overheard = if is_only { self.overheard(now, id, &mut ppdu) } else { None };
                self.end_transmission(now, id, overheard.as_ref());
            }
        }
        let mut received = std::mem::take(&mut self.scratch.received);
        if !self.scratch.in_units.is_empty() {
            self.sort_units(&mut received);
        }
        for of_frame in received.chunk_by(|(_, a, _), (_, b, _)| a == b) {
            if self.signals.transmission(of_frame[0].1).frame.is_by_user() {
                self.receive_by_user(now, of_frame, out);
            } else {
                self.receive_frame(now, of_frame, &mut ppdu, None, out);
                ppdu = None;
            }
        }
        received.clear();
        self.scratch.received = received;
        if !self.scratch.in_units.is_empty() {
            self.end_units(now, out);
        }
        if self.waves.is_some() {
            self.end_sources(now, out);
        }
        for place in 0..number {
            self.finish_transmission(now, self.scratch.ending[place], out);
        }
        self.scratch.ending.clear();
        for place in 0..self.scratch.touched.len() {
            let node = self.scratch.begin_settling(place);
            self.settle_carrier(now, node, true);
        }
        self.scratch.touched.clear();
        if self.reuse.is_some() {
            self.ignore_others(now, out);
        }
        self.stand_by();
        if self.triggers() {
            self.ask(now, false, source, out);
        }
        self.schedule(out);
        if self.watch.is_some() {
            self.record_waits(now);
        }
    }

    /// A transmission is over, and it is known who has decoded it.
    #[inline]
    fn finish_transmission(&mut self, now: Instant, id: u32, out: &mut Vec<Command>) {
        let Transmission { ref frame, part, .. } = *self.signals.transmission(id);
        let (from, is_last) = (frame.from, frame.ends_exchange());
        if matches!(part, Part::Wave(_)) {
            return;
        }
        if self.watch.is_some() {
            self.record_end(id);
        }
        if self.airtime.is_some() {
            self.free_airtime(id);
        }
        self.count(id);
        if part == Part::Whole {
            self.receivers[from as usize].end_sending();
        }
        if part == Part::Whole || is_last {
            self.note_sent(now, id, out);
            self.scratch.touch(from);
        }
    }

    /// The transmitter of a frame goes on with its exchange.
    pub(super) fn note_sent(&mut self, now: Instant, id: u32, out: &mut Vec<Command>) {
        if self.triggers() {
            self.start_timers(now, id, out);
        }
        let frame = &self.signals.transmission(id).frame;
        let from = frame.from;
        self.nodes[from as usize].sent(now, frame, &self.rules, out);
        self.note_contending(from);
    }

    /// A transmission ends at the nodes in range. A node at which it was too weak to be decoded,
    /// whatever the interference, has received nothing. One that only overhears it is done with it.
    #[inline(never)]
    fn end_transmission(&mut self, now: Instant, id: u32, overheard: Option<&Overheard<'_>>) {
        if self.signals.transmission(id).frame.is_joint() {
            return self.end_in_units(id);
        }
        let weak_below = self.weak_below();
        let clear_below = if self.crowd.is_on_air() { 0.0 } else { weak_below };
        let Self { signals, receivers, rules, scratch, nodes, timers, watch, per_cache, .. } = self;
        let &Transmission { frame: OnAir { to, .. }, deferral, .. } = signals.transmission(id);
        let (receivers, nodes) = (receivers.as_mut_slice(), nodes.as_mut_slice());
        let (levels, error) = (&rules.levels, &*signals.radio.error);
        let decoded_from = overheard.map_or(f64::INFINITY, |it| it.from);
        let mut lost = 0;
        signals.each(id, |node, power| {
            let (receiver, state) = (&mut receivers[node as usize], &mut nodes[node as usize]);
            let signal = ReceivedSignal { id, power };
            let is_weak = power.milliwatts < clear_below;
            let is_overheard = power.milliwatts >= decoded_from && to != Some(node);
            if (is_weak || is_overheard)
                && !state.awaits()
                && receiver.clear_of(signal, is_overheard)
            {
                if is_weak {
                    lost += u32::from(to.is_none_or(|to| to == node));
                    state.carrier.on_decoding_error(now, deferral);
                } else if let Some(overheard) = overheard {
                    overheard.set_nav(state);
                }
                return sense(now, node, state, false, rules, timers, watch);
            }
            match receiver.depart(signal, levels) {
                End::Unnoticed | End::Beside(_) => return,
                End::Energy => {}
                End::Received(how) if how.power < weak_below && !state.awaits() => {
                    lost += u32::from(to.is_none_or(|to| to == node));
                    state.carrier.on_decoding_error(now, deferral);
                }
                End::Received(how) => {
                    let overheard = overheard.filter(|_| to != Some(node) && !state.awaits());
                    let is_done = overheard.is_some_and(|it| {
                        let mut per = PerCalculator { levels, error, ppdu: it.ppdu, per_cache };
                        it.end_at(now, state, how, receiver.sum(), signals, &mut per)
                    });
                    if !is_done {
                        scratch.received.push((node, id, how));
                        return scratch.touch(node);
                    }
                }
            }
            if overheard.is_some() {
                // No other frame ends now.
                let is_busy = receiver.sense(levels);
                return sense(now, node, state, is_busy, rules, timers, watch);
            }
            scratch.touch(node);
        });
        if lost > 0 {
            let source = self.signals.source(id);
            self.signals.transmission_mut(source).reach.noise += lost;
        }
    }

    /// The power in milliwatts below which nodes only have to defer after a frame.
    fn weak_below(&self) -> f64 {
        let needs_all = self.watch.is_some()
            || self.interferers.is_some()
            || self.rules.mac.config.full_duplex.is_some();
        if needs_all { 0.0 } else { self.rules.levels.sensitivity }
    }
}
