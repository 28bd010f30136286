//! Which of the nodes that received a frame to its end decode it.

use super::air::Scratch;
use super::decode::{decode, note_overheard};
use super::frame::{OnAir, Reach, Transmission};
use super::interference::{Bounds, Chunk, Interference};
use super::interferers::SpaceInterferers;
use super::node::Node;
use super::per::{PerCalculator, PpduParts};
use super::power::FixedPower;
use super::reception::Received;
use super::signals::Signals;
use super::{ReceivedFrame, Space};
use crate::Command;
use crate::mac::Bitmap;
use kernel::{Bytes, Instant, Span};
use wire::FrameKind;

/// A transmission that has ended.
struct EndedFrame<'a> {
    /// Its number, or that of its source.
    id: u32,
    transmission: &'a Transmission,
    ppdu: &'a PpduParts,
    /// The NAV that the frame sets ends at this instant if no frame has begun by then.
    nav_reset_at: Option<Instant>,
    /// Its transmitter no longer has it: its receiver does not decode it.
    is_outdated: bool,
    /// All nodes that can decode OFDM know its format.
    all_know: bool,
}

/// What is on the air with the frame.
pub(super) struct Around<'a> {
    pub(super) interference: &'a mut Interference,
    pub(super) signals: &'a Signals,
}

/// What a node loses of a frame that it receives with this power.
#[derive(Default)]
struct Loss {
    node: u32,
    power: f64,
    /// It decodes nothing.
    is_all: bool,
    /// The MPDUs that it does not decode, if the frame is addressed to it.
    mpdus: Bitmap,
    /// How many of them it would have decoded without interferers.
    by_interferers: u32,
}

impl Around<'_> {
    /// The interference at a node, over the time of the frame.
    pub(super) fn at(&mut self, node: u32) -> &[Chunk] {
        self.interference.at(node, self.signals)
    }
}

impl Space {
    /// The parts of a PPDU that ends. Its MPDUs are not known if its transmitter no longer has it.
    #[inline]
    pub(super) fn ppdu(&mut self, id: u32, is_outdated: bool) -> PpduParts {
        let Self { signals, nodes, rules, per_cache, .. } = self;
        let transmission = signals.transmission(id);
        let (timing, error) = (rules.timing(), &*signals.radio.error);
        let frame = &transmission.frame;
        if frame.users.has_units(frame.kind) {
            return PpduParts::of_signal_fields(transmission, timing, error, per_cache);
        }
        let spans = spans(frame, &nodes[frame.from as usize]).filter(|_| !is_outdated);
        PpduParts::new(transmission, spans, timing, error, per_cache)
    }

    /// Nodes have received a frame to its end, whose parts may be known. What is `addressed` to one
    /// user of several has its receiver.
    pub(super) fn receive_frame(
        &mut self,
        now: Instant,
        received: &[(u32, u32, Received)],
        ppdu: &mut Option<PpduParts>,
        addressed: Option<u32>,
        out: &mut Vec<Command>,
    ) {
        let Some(&(_, id, _)) = received.first() else { return };
        let mut transmission = *self.signals.transmission(id);
        if addressed.is_some() {
            transmission.frame.to = addressed;
        }
        let is_outdated = self.waves.is_some() && self.is_outdated(id);
        let ppdu = &*ppdu.get_or_insert_with(|| self.ppdu(id, is_outdated));
        let nav_reset_at = self.nav_reset_at(now, id);
        let (frame, rules) = (&transmission.frame, &self.rules);
        let bursts = self.interferers.as_mut().map(|interferers| {
            let span = Span { start: transmission.start, end: transmission.silent_from() };
            interferers.look_up(span, frame.from, frame.mode.width, &self.signals)
        });
        self.scratch.interference.with(id, &self.signals, bursts.unwrap_or_default());
        let source = self.signals.source(id);
        let mut reach = self.signals.transmission(source).reach;
        let ended_frame = EndedFrame {
            id: source,
            transmission: &transmission,
            ppdu,
            nav_reset_at,
            is_outdated,
            all_know: rules.mac.all_know(frame.mode.class),
        };
        for &(node, _, how) in received {
            let before = out.len();
            self.receive(now, node, &ended_frame, how, &mut reach, out);
            // Only a full-duplex node has transmitted while it received.
            let is_cancelled = self.rules.mac.config.full_duplex.is_some()
                && self.nodes[node as usize]
                    .answer_after(self.receivers[node as usize].sends_until());
            if is_cancelled || out.len() > before {
                self.note_contending(node);
            }
        }
        self.signals.transmission_mut(source).reach = reach;
    }

    /// A node has received a frame to its end. Draws whether it decodes the frame.
    fn receive(
        &mut self,
        now: Instant,
        node: u32,
        ended_frame: &EndedFrame<'_>,
        how: Received,
        reach: &mut Reach,
        out: &mut Vec<Command>,
    ) {
        let EndedFrame { id, transmission, ppdu, nav_reset_at, is_outdated, .. } = *ended_frame;
        let how = self.with_bounds(node, transmission, how);
        let Received { power, bounds } = how;
        let has_sent = self.receivers[node as usize].has_sent_since(transmission.start);
        let misses = has_sent && !self.nodes[node as usize].expects(now, transmission);
        if misses || self.receive_plainly(now, node, ended_frame, how, has_sent, out) {
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
        let mut around = Around { interference, signals: &self.signals };
        let is_known = ended_frame.all_know || rules.mac.knows(node, frame.mode.class);
        let mut loss =
            draw_loss(&mut per, receiver, ended_frame, how, is_disturbed, is_known, &mut around);
        if let Some(all) = self.interferers.as_mut().filter(|_| for_me) {
            let bursts = is_disturbed.then_some(&**bursts);
            disturb(all, bursts, transmission, sender, &mut per, &mut around, &mut loss);
        }
        let decoded = (!loss.is_all).then_some(&loss.mpdus);
        if let Some(airtime) = self.airtime.as_mut().filter(|_| for_me) {
            airtime.note_reception(id, decoded);
        }
        if let Some(watch) = &mut self.watch {
            watch.hear(|| {
                let bursts = self.interferers.as_ref().map_or(&[][..], |all| all.arrivals());
                let chunks = around.at(node);
                ReceivedFrame::of(transmission, node, chunks, power, bursts, decoded.is_some())
            });
            watch.on_reception(now, id, receiver, frame, decoded, nav_reset_at);
        }
        let Some(lost) = decoded else {
            if for_me {
                let clash =
                    bounds.most > 0.0 && collides(&mut per, transmission, &loss, &mut around);
                reach.note_loss(loss.by_interferers > 0, clash);
            }
            if !is_expected_loss(frame, for_me, has_sent) {
                receiver.on_decoding_error(now, transmission.deferral, rules, out);
            }
            return;
        };
        if !for_me {
            let is_reported = self.overhears && !is_outdated;
            if self.follows_others
                && note_overheard(now, rules, frame, sender, receiver, is_reported, out)
            {
                return;
            }
            return receiver.overhear(now, frame, nav_reset_at, rules, out);
        }
        reach.decoded += 1;
        decode(now, rules, frame, sender, receiver, lost, out);
    }

    /// A node has received a frame for another node, of which nothing is recorded or reported. If
    /// the outcome is certain, carries it out and returns true.
    #[inline]
    fn receive_plainly(
        &mut self,
        now: Instant,
        node: u32,
        &EndedFrame { transmission, ppdu, nav_reset_at, all_know, .. }: &EndedFrame<'_>,
        Received { power, bounds }: Received,
        has_sent: bool,
        out: &mut Vec<Command>,
    ) -> bool {
        let (frame, rules) = (&transmission.frame, &self.rules);
        if !self.only_sets_nav(frame) || frame.to.is_none_or(|to| to == node) {
            return false;
        }
        let mut is_lost = ppdu.is_certainly_lost(&rules.levels, power, &bounds);
        if !all_know && !rules.mac.knows(node, frame.mode.class) {
            is_lost = Some(true);
        }
        let Some(is_lost) = is_lost else { return false };
        let receiver = &mut self.nodes[node as usize];
        if !is_lost {
            receiver.overhear(now, frame, nav_reset_at, rules, out);
        } else if !(has_sent && frame.kind == FrameKind::Rts) {
            receiver.on_decoding_error(now, transmission.deferral, rules, out);
        }
        true
    }

    /// Where channels overlap, the bounds of the interference with a frame follow from its channel:
    /// the sum of the receiver has what is in the primary channel. Beside an HE TB PPDU, it has
    /// those in other resource units. A frame that bears what is beside it has none.
    #[inline]
    fn with_bounds(&mut self, node: u32, sent: &Transmission, how: Received) -> Received {
        if sent.bears && self.rules.levels.bears_beside {
            return Received { bounds: Bounds { least: 0.0, most: 0.0, chunks: 1 }, ..how };
        }
        let is_joint = sent.frame.is_joint();
        if self.signals.radio.overlaps.is_none() && !is_joint {
            return how;
        }
        let interference = &mut self.scratch.interference;
        interference.set_bursts(&[]);
        Received { bounds: Bounds::of(interference.at(node, &self.signals)), ..how }
    }

    /// Adds the bursts of interferers to the interference at a node with a frame that began at an
    /// instant. Returns whether any has a power there.
    #[inline(never)]
    fn add_bursts(&mut self, node: u32, began: Instant) -> bool {
        let Some(interferers) = &mut self.interferers else { return false };
        let Scratch { interference, bursts, .. } = &mut self.scratch;
        interferers.powers(node, began, &self.signals, bursts);
        interference.set_bursts(bursts);
        bursts.iter().any(|&power| power > FixedPower::default())
    }
}

/// Whether a node defers for no EIFS after a frame that it has lost. To an access point, the loss
/// of an RTS is a collision with its own RTS; what it loses of several HE TB PPDUs is told when all
/// have ended.
fn is_expected_loss(frame: &OnAir, for_me: bool, has_sent: bool) -> bool {
    for_me && frame.users.is_unit() || has_sent && frame.kind == FrameKind::Rts
}

/// Whether a frame is lost because of others, and not by noise: without interference the receiver
/// would probably have decoded it. Beside another data frame, it would not have with interference.
fn collides(
    per: &mut PerCalculator,
    transmission: &Transmission,
    loss: &Loss,
    around: &mut Around<'_>,
) -> bool {
    if per.alone(loss.power, transmission) <= 0.5 {
        return false;
    }
    let is_beside = transmission.frame.beside.is_some();
    !is_beside || per.failure(around.at(loss.node), loss.power) > 0.5
}

/// The offsets in the PSDU at which its MPDUs begin and end; `None` if it is one MPDU.
fn spans<'a>(
    frame: &OnAir,
    sender: &'a Node,
) -> Option<impl Iterator<Item = (Bytes, Bytes)> + use<'a>> {
    let edcaf = (frame.kind == FrameKind::Data).then(|| sender.edcaf(usize::from(frame.edcaf)));
    let edcaf = edcaf.filter(|edcaf| edcaf.psdu.mpdus > 1)?;
    Some(edcaf.originator.spans(&edcaf.psdu))
}

/// The bits of the packets of each MPDU that a node sends.
fn bits_of_packets<'a>(sender: &'a Node, frame: &OnAir) -> impl Iterator<Item = u64> + use<'a> {
    let originator = &sender.edcaf(usize::from(frame.edcaf)).originator;
    let bits = |mpdu| originator.packets_of(mpdu).map(|packet| packet.size.bits()).sum();
    originator.on_air().map(move |(_, mpdu)| bits(mpdu))
}

/// The probability that a node to which a frame is not addressed decodes nothing of it.
fn failure(
    per: &mut PerCalculator,
    Received { power, bounds }: Received,
    is_disturbed: bool,
    around: &mut Around<'_>,
    node: u32,
) -> f64 {
    let certain = per.ppdu.is_certainly_lost(per.levels, power, &bounds);
    match certain.filter(|_| !is_disturbed) {
        Some(is_lost) => f64::from(u8::from(is_lost)),
        None => per.failure(around.at(node), power),
    }
}

/// Draws what a node loses of a frame, apart from the whole slots of interferers.
#[allow(clippy::inline_always, reason = "it runs for each reception")]
#[inline(always)]
fn draw_loss(
    per: &mut PerCalculator,
    receiver: &mut Node,
    &EndedFrame { transmission: Transmission { frame, .. }, is_outdated, .. }: &EndedFrame<'_>,
    how: Received,
    is_disturbed: bool,
    is_known: bool,
    around: &mut Around<'_>,
) -> Loss {
    let mut loss = Loss { node: receiver.id, power: how.power, ..Loss::default() };
    loss.is_all = if frame.to.is_none_or(|to| to == receiver.id) {
        is_outdated || spoil(per, receiver, frame, how, is_disturbed, around, &mut loss.mpdus)
    } else {
        let failure = failure(per, how, is_disturbed, around, receiver.id);
        receiver.noise.chance(if is_known { failure } else { 1.0 })
    };
    loss
}

/// Draws which MPDUs this receiver loses by noise, interference and the losses of the link. Returns
/// whether it loses all. What was on the air with the frame is looked up only if it matters.
fn spoil(
    per: &mut PerCalculator,
    receiver: &mut Node,
    frame: &OnAir,
    Received { power, bounds }: Received,
    is_disturbed: bool,
    around: &mut Around<'_>,
    lost: &mut Bitmap,
) -> bool {
    let fixed = link_loss(receiver, frame);
    let is_certain = !is_disturbed && per.is_certain(power, &bounds);
    debug_assert!(
        !is_certain || per.levels.bears_beside || per.decodes_all(around.at(receiver.id), power)
    );
    let chunks = match is_certain {
        true => None,
        false if power < per.levels.sensitivity => Some(&[][..]),
        false => Some(around.at(receiver.id)),
    };
    let noise = &mut receiver.noise;
    if noise.chance(chunks.map_or(0.0, |chunks| 1.0 - per.header(chunks, power))) {
        return true;
    }
    let mut all_lost = true;
    for index in 0..per.ppdu.frames() {
        let failure = chunks.map_or(0.0, |chunks| 1.0 - per.frame(chunks, power, index));
        if noise.chance(fixed + (1.0 - fixed) * failure) {
            lost.set(index as u16);
        } else {
            all_lost = false;
        }
    }
    all_lost
}

/// Finds what a node that a frame is addressed to loses because of interferers: to bursts with
/// these powers, which are part of the interference, and by their whole slots.
#[inline(never)]
fn disturb(
    interferers: &mut SpaceInterferers,
    bursts: Option<&[FixedPower]>,
    transmission: &Transmission,
    sender: &Node,
    per: &mut PerCalculator,
    around: &mut Around<'_>,
    loss: &mut Loss,
) {
    let frame = &transmission.frame;
    let is_data = frame.kind == FrameKind::Data;
    if let Some(bursts) = bursts {
        around.interference.set_bursts(&[]);
        let chunks = around.at(loss.node);
        loss.by_interferers = lost_to_bursts(per, chunks, loss.power, loss.is_all, &loss.mpdus);
        around.interference.set_bursts(bursts);
        interferers.note_losses(bursts, loss.by_interferers, is_data);
    }
    if is_data && !loss.is_all {
        let bits = bits_of_packets(sender, frame);
        let by_slots = interferers.corrupt(transmission.start, &frame.mode, bits, &mut loss.mpdus);
        loss.by_interferers += by_slots;
        loss.is_all = by_slots > 0 && loss.mpdus.count() as usize >= per.ppdu.frames();
    }
}

/// The number of lost MPDUs that the receiver would probably have decoded with this interference,
/// which is that without bursts.
#[inline(never)]
fn lost_to_bursts(
    per: &mut PerCalculator,
    chunks: &[Chunk],
    power: f64,
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
    let peer = || receiver.peer(frame.from);
    let link = || peer().map(|peer| &peer.link);
    match frame.kind {
        FrameKind::BlockAckRequest if !receiver.accepts_from(frame.from) => 1.0,
        FrameKind::Trigger if frame.is_mu_rts() => 0.0,
        FrameKind::Ack | FrameKind::BlockAck | FrameKind::BlockAckRequest | FrameKind::Trigger => {
            link().map_or(0.0, |link| link.ack_loss)
        }
        FrameKind::Rts | FrameKind::Cts | FrameKind::CtsToSelf => 0.0,
        _ => match peer() {
            Some(peer) if peer.is_closed && frame.to.is_some() => 1.0,
            Some(peer) => peer.link.data_loss,
            None => 0.0,
        },
    }
}
