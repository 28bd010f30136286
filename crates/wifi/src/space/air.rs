//! Start and end of transmissions.

use super::decode::{decode, report_overheard};
use super::frame::{OnAir, Reach, Transmission};
use super::interference::{Chunk, Interference};
use super::node::{Node, NodeDuplex};
use super::per::{PerCalculator, PpduParts};
use super::radio::FixedPower;
use super::range::ReceiverInRange;
use super::reception::{Change, End, Received};
use super::{ReceivedFrame, Space};
use crate::mac::{ACK, Bitmap, Edcaf};
use crate::{Command, MsduSource};
use kernel::{Bytes, Duration, Instant};
use wire::FrameKind;

/// Buffers for the work of one instant, which keep their memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) due: Vec<u32>,
    beginning: Vec<OnAir>,
    ending: Vec<u32>,
    /// Nodes that must evaluate what has begun or ended, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// Node, transmission and reception of each frame that a node received to its end.
    received: Vec<(u32, u32, Received)>,
    interference: Interference,
    /// The powers of bursts at a node.
    bursts: Vec<FixedPower>,
}

/// A transmission that has ended.
struct EndedFrame {
    id: u32,
    transmission: Transmission,
    ppdu: PpduParts,
    /// The difference of EIFS and DIFS after this frame.
    extra: Duration,
    /// The NAV that the frame sets ends at this instant if no frame has begun by then.
    nav_reset_at: Option<Instant>,
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
        for &node in due {
            self.note_contending(node);
            self.prepare_secondary(now, node, source, out);
            match self.nodes[node as usize].begin(now, &self.rules, source, out) {
                Some(frame) => beginning.push(frame),
                None => self.set_timer(node),
            }
        }
        for frame in &beginning {
            let lasting = self.rules.timing().airtime(&frame.mode, frame.psdu).total();
            self.receivers[frame.from as usize].begin_sending(now, now + lasting);
        }
        if self.rules.mac.config.full_duplex.is_some() {
            self.count_alone(now, &beginning);
        }
        let is_crowd = self.gather(now, &beginning);
        for (frame, place) in beginning.drain(..).zip(0..) {
            self.begin_transmission(now, &frame, is_crowd.then_some(place), out);
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

    /// Begins a transmission, alone or as the member of a crowd at a place. It arrives at the nodes
    /// in range.
    fn begin_transmission(
        &mut self,
        now: Instant,
        frame: &OnAir,
        in_crowd: Option<usize>,
        out: &mut Vec<Command>,
    ) {
        let airtime = self.rules.timing().airtime(&frame.mode, frame.psdu);
        let transmission =
            Transmission { frame: *frame, start: now, airtime, reach: Reach::default() };
        out.push(Command::Step(transmission.end()));
        let id = if let Some(place) = in_crowd {
            self.begin_in_crowd(place, transmission)
        } else {
            let (receivers, end) = (&self.receivers, transmission.end());
            let is_transmitting = |node: u32| receivers[node as usize].is_transmitting_until(end);
            let id = self.signals.begin(transmission, is_transmitting);
            if self.crowd.is_on_air() {
                self.prepare_arrival(now, id);
            }
            id
        };
        if self.watch.is_some() {
            self.record_begin(now, id);
        }
        if let Some(interferers) = &mut self.interferers {
            let (span, width) = ((now, transmission.end()), frame.mode.width);
            let detect = self.rules.levels.detect;
            interferers.on_frame(span, frame.from, width, detect, &self.signals);
        }
        let Self { signals, receivers, rules, scratch, .. } = self;
        let (from, levels) = (frame.from, rules.levels);
        if let Some(to) = frame.to {
            let power = signals.mean_of(id, to);
            self.nodes[from as usize].on_power(to, power.map_or(0.0, |power| power.milliwatts));
        }
        // Values that are the same for all receivers are read before the loop: the compiler does
        // not know that changes of a receiver leave them unchanged.
        let receivers = receivers.as_mut_slice();
        let all_know = frame.mode.class.is_dsss() || rules.mac.all_know_ofdm();
        signals.each(id, |node, power| {
            let is_decodable = all_know || rules.mac.knows_ofdm(node);
            if receivers[node as usize].arrive(now, (id, power), is_decodable, &levels) {
                scratch.touch(node);
            }
        });
        self.nodes[from as usize].send(now, frame, airtime.total(), &self.rules);
    }

    /// A receiver evaluates the signals that have begun.
    fn settle_arrivals(&mut self, now: Instant, node: u32, out: &mut Vec<Command>) {
        let change = self.receivers[node as usize].decide(now, &self.rules.levels);
        let state = &mut self.nodes[node as usize];
        match change {
            Change::None => {}
            Change::Found(id) => {
                let detected = self.signals.transmission(id).payload();
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

    /// Updates a node's carrier sense from its receiver. `changed`: the frame that it receives
    /// changed.
    pub(super) fn settle_carrier(&mut self, now: Instant, node: u32, changed: bool) {
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

    /// Transmissions end.
    pub fn on_step(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.interferers.as_ref().is_some_and(|all| all.is_due(now)) {
            self.pass_edges(now, out);
        }
        let mut ending = std::mem::take(&mut self.scratch.ending);
        self.signals.end(now, &mut ending);
        if self.crowd.is_on_air() {
            self.end_of_crowd(now);
        }
        for &id in &ending {
            if self.crowd.is_on_air() {
                self.prepare_departure(now, id);
            }
            self.end_transmission(id);
        }
        let mut received = std::mem::take(&mut self.scratch.received);
        let mut ended_frame: Option<EndedFrame> = None;
        for (node, id, how) in received.drain(..) {
            let ended_frame = match &mut ended_frame {
                Some(ended_frame) if ended_frame.id == id => ended_frame,
                other => other.insert(self.ended_frame(now, id)),
            };
            self.receive(now, node, ended_frame, &how, out);
            let sends_until = self.receivers[node as usize].sends_until();
            self.nodes[node as usize].answer_after(sends_until);
            self.note_contending(node);
        }
        self.scratch.received = received;
        for id in ending.drain(..) {
            if self.watch.is_some() {
                self.record_end(id);
            }
            self.count(id);
            let frame = self.signals.transmission(id).frame;
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
        if self.watch.is_some() {
            self.record_waits(now);
        }
    }

    /// A transmission ends at the nodes in range.
    fn end_transmission(&mut self, id: u32) {
        let Self { signals, receivers, rules, scratch, .. } = self;
        let (receivers, energy) = (receivers.as_mut_slice(), rules.levels.energy);
        signals.each(id, |node, power| {
            match receivers[node as usize].depart((id, power), energy) {
                End::Unnoticed => return,
                End::Energy => {}
                End::Received(how) => scratch.received.push((node, id, how)),
            }
            scratch.touch(node);
        });
    }

    /// What the receptions of a frame that ends now have in common.
    fn ended_frame(&mut self, now: Instant, id: u32) -> EndedFrame {
        let transmission = *self.signals.transmission(id);
        let (frame, rules) = (&transmission.frame, &self.rules);
        let (timing, error) = (rules.timing(), &*self.signals.radio.error);
        let spans = spans(frame, &self.nodes[frame.from as usize]);
        let ppdu = PpduParts::new(&transmission, spans, timing, error, &mut self.per_cache);
        let bursts = self.interferers.as_mut().map(|interferers| {
            let span = (transmission.start, transmission.end());
            interferers.look_up(span, frame.from, frame.mode.width, &self.signals)
        });
        self.scratch.interference.with(id, &self.signals, bursts.unwrap_or_default());
        let extra = timing.eifs(&frame.mode).saturating_sub(timing.difs());
        let nav_reset_at = (rules.nav_reset && frame.kind == FrameKind::Rts).then(|| {
            let cts = timing.response_mode(&frame.mode);
            let delay = timing.standard.rx_start_delay(&cts, timing.preamble);
            let lasting = timing.airtime(&cts, ACK).total();
            now + timing.sifs() * 2 + lasting + delay + timing.slot * 2
        });
        EndedFrame { id, transmission, ppdu, extra, nav_reset_at }
    }

    /// A node has received a frame to its end. Draws whether it decodes the frame.
    fn receive(
        &mut self,
        now: Instant,
        node: u32,
        ended_frame: &EndedFrame,
        &Received { power, bounds }: &Received,
        out: &mut Vec<Command>,
    ) {
        let EndedFrame { id, ref transmission, ref ppdu, extra, nav_reset_at } = *ended_frame;
        let has_sent = self.receivers[node as usize].has_sent_since(transmission.start);
        if has_sent && !self.nodes[node as usize].expects(now, transmission) {
            return;
        }
        let is_disturbed = self.interferers.is_some() && self.add_bursts(node, transmission.start);
        let (frame, rules) = (&transmission.frame, &self.rules);
        let pair = [node as usize, frame.from as usize];
        let [receiver, sender] =
            self.nodes.get_disjoint_mut(pair).expect("a node does not receive its own frames");
        let (levels, error) = (&rules.levels, &*self.signals.radio.error);
        let mut per = PerCalculator { levels, error, ppdu, per_cache: &mut self.per_cache };
        let for_me = frame.to.is_none_or(|to| to == node);
        let Scratch { interference, bursts, .. } = &mut self.scratch;
        let mut lost = Bitmap::default();
        let is_lost = if for_me {
            let chunks = interference.at(node, &self.signals);
            spoil(&mut per, receiver, frame, (chunks, power), &mut lost)
        } else {
            let certain = per.certain_failure(power, &bounds).filter(|_| !is_disturbed);
            let failure =
                certain.unwrap_or_else(|| per.failure(interference.at(node, &self.signals), power));
            receiver.noise.chance(failure)
        };
        if let Some(watch) = &mut self.watch {
            let heard = || {
                let chunks = interference.at(node, &self.signals);
                let bursts = self.interferers.as_ref().map_or(&[][..], |all| all.arrivals());
                ReceivedFrame::of(transmission, node, (chunks, power), bursts, !is_lost)
            };
            let outcome = ((!is_lost).then_some(&lost), nav_reset_at);
            watch.on_reception(now, id, (receiver, frame), outcome, heard);
        }
        let mut spared = 0;
        if let Some(interferers) = self.interferers.as_mut().filter(|_| for_me && is_disturbed) {
            interference.set_bursts(&[]);
            let chunks = interference.at(node, &self.signals);
            spared = lost_to_bursts(&mut per, (chunks, power), is_lost, &lost);
            interferers.note_losses(bursts, spared, frame.kind == FrameKind::Data);
        }
        if is_lost {
            if for_me {
                let is_interfered = bounds.most > 0.0;
                let chunks = interference.at(node, &self.signals);
                let clash = is_interfered && collides(&mut per, transmission, (chunks, power));
                self.signals.transmission_mut(id).reach.note_loss(spared > 0, clash);
            }
            // To an access point, the loss of an RTS is a collision with its own RTS.
            if !(has_sent && frame.kind == FrameKind::Rts) {
                receiver.on_decoding_error(now, extra, rules, out);
            }
            return;
        }
        if !for_me {
            if self.overhears && frame.kind == FrameKind::Data {
                report_overheard(frame, sender, node, out);
            }
            return receiver.overhear(now, frame.reserves, nav_reset_at, rules, out);
        }
        self.signals.transmission_mut(id).reach.decoded += 1;
        decode(now, rules, frame, (sender, receiver), &lost, out);
    }

    /// Adds the bursts of interferers to the interference at a node with a frame that began at an
    /// instant. Returns whether any has a power there.
    fn add_bursts(&mut self, node: u32, began: Instant) -> bool {
        let Some(interferers) = &mut self.interferers else { return false };
        let Scratch { interference, bursts, .. } = &mut self.scratch;
        interferers.powers(node, began, &self.signals, bursts);
        interference.set_bursts(bursts);
        bursts.iter().any(|&power| power > FixedPower::default())
    }

    /// Counts a frame that no node has decoded as a collision or as a loss by noise of the node
    /// that began the exchange. A CTS-to-self counts as neither.
    fn count(&mut self, id: u32) {
        let signals = &self.signals;
        let Transmission { frame, reach, start, .. } = *signals.transmission(id);
        if reach.decoded > 0 || frame.kind == FrameKind::CtsToSelf {
            return;
        }
        let audible = |receiver: &ReceiverInRange| {
            let power = signals.mean_at(frame.from, receiver, start);
            power.is_some_and(|power| power.milliwatts >= self.rules.levels.detect)
        };
        let could_receive = match frame.to {
            Some(to) => usize::from(signals.receiver_of(id, to).is_some_and(|to| audible(&to))),
            None => signals.receivers(id).iter().filter(|receiver| audible(receiver)).count(),
        };
        // A node that could have received the frame and did not was transmitting or receiving
        // another.
        let hindered = could_receive as u32 > reach.interfered + reach.noise + reach.by_interferers;
        let owner = match (frame.kind, frame.to) {
            (_, Some(to)) if frame.is_control_response() => {
                // A full-duplex access point whose RTS met that of a station goes on with the
                // exchange of the station: it sends, and awaits no CTS.
                let may_go_on = frame.kind == FrameKind::Cts && signals.residual(to).is_some();
                if may_go_on && self.receivers[to as usize].has_sent_since(start) {
                    return;
                }
                to
            }
            _ => frame.from,
        };
        let owner = &mut self.nodes[owner as usize];
        owner.counters.exchanges.decide();
        let is_attempt = !owner.duplex().is_some_and(NodeDuplex::joins_only);
        let counters = &mut owner.counters.exchanges;
        if hindered || reach.interfered > 0 {
            counters.collisions += u64::from(is_attempt);
        } else if reach.by_interferers > 0 {
            counters.interference_losses += u64::from(frame.to.is_some());
        } else {
            counters.noise_losses += u64::from(frame.to.is_some());
        }
    }
}

/// Whether a frame is lost because of others, and not by noise: without interference the receiver
/// would probably have decoded it. Beside another data frame, it would not have with interference.
fn collides(
    per: &mut PerCalculator,
    transmission: &Transmission,
    (chunks, power): (&[Chunk], f64),
) -> bool {
    let is_beside = transmission.frame.beside.is_some();
    per.alone(power, transmission) > 0.5 && (!is_beside || per.failure(chunks, power) > 0.5)
}

/// The offsets in the PSDU at which its MPDUs begin and end.
fn spans<'a>(frame: &OnAir, sender: &'a Node) -> impl Iterator<Item = (Bytes, Bytes)> + use<'a> {
    let is_data = matches!(frame.kind, FrameKind::Data);
    let edcaf = is_data.then(|| sender.edcaf(usize::from(frame.edcaf)));
    let whole = (!is_data).then_some((Bytes::ZERO, frame.psdu));
    let spans = |edcaf: &'a Edcaf| edcaf.originator.spans(&edcaf.psdu);
    edcaf.into_iter().flat_map(spans).chain(whole)
}

/// Draws which MPDUs this receiver loses by noise, interference and the losses of the link. Returns
/// whether it loses all.
fn spoil(
    per: &mut PerCalculator,
    receiver: &mut Node,
    frame: &OnAir,
    (chunks, power): (&[Chunk], f64),
    lost: &mut Bitmap,
) -> bool {
    let fixed = link_loss(receiver, frame);
    let noise = &mut receiver.noise;
    if noise.chance(1.0 - per.header(chunks, power)) {
        return true;
    }
    let frames = per.ppdu.frames();
    for index in 0..frames {
        let failure = 1.0 - per.frame(chunks, power, index);
        if noise.chance(fixed + (1.0 - fixed) * failure) {
            lost.set(index as u16);
        }
    }
    lost.count() == frames as u32
}

/// The number of lost MPDUs that the receiver would probably have decoded with this interference,
/// which is that without bursts.
fn lost_to_bursts(
    per: &mut PerCalculator,
    (chunks, power): (&[Chunk], f64),
    is_lost: bool,
    lost: &Bitmap,
) -> u32 {
    let mut frames = Vec::new();
    frames.extend((0..per.ppdu.frames()).filter(|&index| is_lost || lost.has(index as u16)));
    if frames.is_empty() || per.header(chunks, power) <= 0.5 {
        return 0;
    }
    frames.retain(|&index| per.frame(chunks, power, index) > 0.5);
    frames.len() as u32
}

/// The loss probability of the link, in addition to the errors of the radio.
fn link_loss(receiver: &Node, frame: &OnAir) -> f64 {
    let Some(peer) = receiver.peer(frame.from) else { return 0.0 };
    match frame.kind {
        FrameKind::Data => peer.link.data_loss,
        FrameKind::Ack | FrameKind::BlockAck | FrameKind::BlockAckRequest => peer.link.ack_loss,
        FrameKind::Rts | FrameKind::Cts | FrameKind::CtsToSelf => 0.0,
    }
}
