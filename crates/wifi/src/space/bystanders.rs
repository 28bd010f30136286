//! Nodes that follow the medium without a visit of each frame.
//!
//! Most nodes have nothing to send. A frame that is alone on the air, for another node, changes
//! only their carrier sense, and in a way that can be computed later. The medium therefore takes
//! down such frames in a list and visits only the other nodes. A bystander catches up with the list
//! when it wakes: when it takes a packet into service, when a frame is addressed to it, when it is
//! not certain whether it decodes a frame, and when another frame begins beside one. What it finds
//! then is what it would have found at each frame, to the bit, and it draws nothing meanwhile.
//!
//! The medium has bystanders where powers do not change and where nothing else is on the air: no
//! interferers, no full duplex, one channel; and while no observer follows all nodes.

use super::Space;
use super::per::PpduParts;
use super::reception::ReceivedSignal;
use super::rules::SpaceRules;
use super::sense::Carrier;
use super::signals::Signals;
use crate::mac::Deferral;
use kernel::Instant;
use wire::FrameKind;

/// After how many further silences nodes may stand by again, if they were too few.
const REST: u32 = 64;

/// How many frames are kept for nodes that catch up.
const FRAMES: usize = 1 << 12;

/// Which nodes are bystanders, and the frames that they have not seen.
#[derive(Debug)]
pub(super) struct Bystanders {
    is_possible: bool,
    /// For each node that is a bystander, the number of frames that it has seen.
    seen: Vec<Option<u32>>,
    /// The other nodes, in order.
    present: Vec<u32>,
    /// Frames that were alone on the air, in order.
    frames: Vec<FrameAlone>,
    /// The frame on the air that is not for bystanders.
    current: Option<u32>,
    /// During so many silences no node stands by.
    rest: u32,
}

/// A frame that has ended and was alone on the air. A bystander that detected it has decoded it,
/// or certainly has not.
#[derive(Clone, Copy, Debug)]
struct FrameAlone {
    from: u32,
    payload: Instant,
    end: Instant,
    /// The power from which it is decoded.
    decoded_from: f64,
    /// All other nodes have decoded it.
    reached_all: bool,
    deferral: Deferral,
    /// When the NAV ends that it sets.
    until: Instant,
    nav_reset_at: Option<Instant>,
    /// The end of the last NAV that frames before it set.
    before: Instant,
}

impl Bystanders {
    /// All nodes of a medium are present.
    pub(super) fn new(nodes: usize, is_possible: bool) -> Self {
        let nodes = if is_possible { nodes } else { 0 };
        Self {
            is_possible,
            seen: vec![None; nodes],
            present: (0..nodes as u32).collect(),
            frames: Vec::new(),
            current: None,
            rest: 0,
        }
    }

    /// Whether nodes may stand by in this silence.
    #[inline]
    fn may_begin(&mut self) -> bool {
        let rested = self.rest == 0;
        self.rest -= u32::from(!rested);
        self.is_possible && rested
    }

    /// Whether there are any.
    #[inline]
    pub(super) fn are_any(&self) -> bool {
        self.present.len() < self.seen.len()
    }

    /// Whether this is the frame on the air that is not for bystanders.
    #[inline]
    pub(super) fn miss(&self, id: u32) -> bool {
        self.current == Some(id)
    }

    /// Carries out what a node has missed.
    fn catch_up(&self, node: u32, seen: u32, carrier: &mut Carrier, signals: &Signals, alone: f64) {
        let missed = &self.frames[seen as usize..];
        let power = |frame: &FrameAlone| {
            if frame.reached_all {
                return Some(f64::INFINITY);
            }
            let power = signals.steady_power(frame.from, node)?.milliwatts;
            (power >= alone).then_some(power)
        };
        // Of earlier frames than the last one that it has detected, nothing is left but a NAV that
        // ends after that one.
        let mut first = missed.len();
        let mut idle_since = None;
        while first > 0 {
            let frame = &missed[first - 1];
            if idle_since.is_none() && power(frame).is_some() {
                idle_since = Some(frame.end);
            }
            first -= 1;
            if idle_since.is_some_and(|since| frame.before <= since) {
                break;
            }
        }
        for frame in &missed[first..] {
            let Some(power) = power(frame) else { continue };
            carrier.on_detected(frame.payload);
            carrier.end_idle();
            if power >= frame.decoded_from {
                carrier.on_decoded();
                carrier.reserve(frame.until, frame.nav_reset_at);
            } else {
                carrier.on_decoding_error(frame.end, frame.deferral);
            }
            carrier.begin_idle(frame.end);
        }
    }
}

/// Whether nodes of such a medium may be bystanders. A signal too weak to be received when it is
/// alone must not be sensed as energy.
pub(super) fn are_possible(signals: &Signals, rules: &SpaceRules) -> bool {
    signals.is_steady()
        && signals.fits_all()
        && rules.mac.config.full_duplex.is_none()
        && rules.levels.never_senses_alone()
        && !rules.levels.remembers_frames
}

impl Space {
    /// A node is visited from now on.
    #[inline]
    pub(super) fn wake(&mut self, node: u32) {
        if let Some(Some(seen)) = self.bystanders.seen.get(node as usize).copied() {
            self.wake_up(node, seen);
            if let Some(id) = self.bystanders.current {
                self.signals.include(id, node);
            }
            let place = self.bystanders.present.partition_point(|&other| other < node);
            self.bystanders.present.insert(place, node);
        }
    }

    /// All nodes are visited from now on.
    #[inline(never)]
    pub(super) fn wake_all(&mut self) {
        for node in 0..self.bystanders.seen.len() {
            if let Some(seen) = self.bystanders.seen[node] {
                self.wake_up(node as u32, seen);
            }
        }
        let Bystanders { seen, present, frames, current, .. } = &mut self.bystanders;
        present.clear();
        present.extend(0..seen.len() as u32);
        frames.clear();
        if let Some(id) = current.take() {
            self.signals.widen(id);
        }
    }

    /// A node catches up with the frames, and with the one on the air.
    fn wake_up(&mut self, node: u32, seen: u32) {
        let Self { bystanders, nodes, receivers, signals, rules, .. } = self;
        let (receiver, carrier) =
            (&mut receivers[node as usize], &mut nodes[node as usize].carrier);
        let levels = &rules.levels;
        bystanders.catch_up(node, seen, carrier, signals, levels.alone);
        bystanders.seen[node as usize] = None;
        let Some(id) = bystanders.current else { return };
        let Some(power) = signals.power_of(id, node) else { return };
        let (begun, signal) = (signals.transmission(id), ReceivedSignal { id, power });
        if power.milliwatts >= levels.alone {
            receiver.receive_alone(begun.start, signal, levels);
            carrier.on_detected(begun.payload());
            carrier.end_idle();
        } else {
            receiver.arrive(begun.start, signal, true, levels);
        }
    }

    /// Frames are about to begin, and those on the air go on. Returns whether bystanders need not
    /// be told; if not, there are none from now on.
    #[inline]
    pub(super) fn spare_bystanders(&mut self, beginning: &[u32]) -> bool {
        if !self.bystanders.are_any() || beginning.is_empty() {
            return false;
        }
        let is_spared = match *beginning {
            [id] => self.signals.is_silent() && self.is_for_one(id),
            _ => false,
        };
        if !is_spared {
            self.wake_all();
        }
        is_spared
    }

    /// Whether a frame only keeps those off the medium that it is not addressed to.
    fn is_for_one(&self, id: u32) -> bool {
        let begun = self.signals.transmission(id);
        let (class, mac) = (begun.frame.mode.class, &self.rules.mac);
        let is_decodable = (class.is_dsss() || mac.all_know_ofdm()) && mac.all_know(class);
        let is_for_one = begun.frame.to.is_some() && matches!(begun.deferral, Deferral::Extra(_));
        self.may_stand_by() && is_decodable && is_for_one
    }

    /// Whether nobody follows all nodes.
    fn may_stand_by(&self) -> bool {
        self.watch.is_none() && self.interferers.is_none() && !self.follows_others
    }

    /// A frame begins at all but the bystanders.
    pub(super) fn pass_bystanders(&mut self, id: u32) {
        self.signals.narrow(id, &self.bystanders.present);
        self.bystanders.current = Some(id);
    }

    /// The frame on the air ends. Bystanders wake that it is addressed to, or whose reception is
    /// not certain. Returns the parts of the PPDU.
    pub(super) fn end_beside_bystanders(&mut self, now: Instant, id: u32) -> PpduParts {
        let transmission = *self.signals.transmission(id);
        let frame = &transmission.frame;
        if let Some(to) = frame.to {
            self.wake(to);
        }
        let ppdu = self.ppdu(&transmission, false);
        let levels = self.rules.levels;
        let decoded_from = ppdu.decoded_alone_from(&levels);
        let mut uncertain = std::mem::take(&mut self.scratch.uncertain);
        let from = levels.alone;
        self.signals.receivers_within(id, from, decoded_from, &mut uncertain);
        for (node, power) in uncertain.drain(..) {
            if !ppdu.is_lost_alone(&levels, power) {
                self.wake(node);
            }
        }
        self.scratch.uncertain = uncertain;
        let reached_all = self.signals.is_heard_by_all(id, from.max(decoded_from));
        let is_reset = self.rules.nav_reset && frame.kind == FrameKind::Rts;
        let nav_reset_at = is_reset.then(|| {
            let (timing, error) = (self.rules.timing(), &*self.signals.radio.error);
            now + self.per_cache.facts_of(&transmission, timing, error).nav_reset
        });
        let Bystanders { frames, current, .. } = &mut self.bystanders;
        *current = None;
        let last = frames.last();
        frames.push(FrameAlone {
            from: frame.from,
            payload: transmission.payload(),
            end: now,
            decoded_from,
            reached_all,
            deferral: transmission.deferral,
            until: now + frame.reserves,
            nav_reset_at,
            before: last.map_or(Instant::ZERO, |last| last.before.max(last.until)),
        });
        ppdu
    }

    /// The medium is silent: nodes with nothing to send need not be visited any more.
    #[inline]
    pub(super) fn stand_by(&mut self) {
        if self.signals.is_silent() && self.bystanders.may_begin() && self.may_stand_by() {
            self.find_bystanders();
        }
    }

    #[inline(never)]
    fn find_bystanders(&mut self) {
        if self.bystanders.frames.len() >= FRAMES {
            self.wake_all();
        }
        let Self { bystanders, nodes, receivers, .. } = self;
        let Bystanders { seen, present, frames, rest, .. } = bystanders;
        let frames = frames.len() as u32;
        let stands_by = |&node: &u32| {
            let state = &nodes[node as usize];
            state.is_quiet()
                && state.carrier.is_plainly_idle()
                && receivers[node as usize].is_clear()
        };
        // Fewer bystanders cost more than they save.
        let most = seen.len() / 2;
        let stay = || present.iter().filter(|node| !stands_by(node)).count();
        if present.len() > most && stay() > most {
            *rest = REST;
            return;
        }
        present.retain(|node| {
            let stands_by = stands_by(node);
            if stands_by {
                seen[*node as usize] = Some(frames);
            }
            !stands_by
        });
    }
}
