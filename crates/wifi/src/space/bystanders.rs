//! Nodes that follow the medium without a visit of each frame.
//!
//! Most nodes have nothing to send. Frames for other nodes that begin in a silence, and beside
//! which nothing else begins, change only their carrier sense, and in a way that can be computed
//! later. The medium therefore takes down such frames in a list and visits only the other nodes. A
//! bystander catches up with the list when it wakes: when it takes a packet into service, when a
//! frame for it begins, when it is not certain whether it decodes a frame that was alone on the
//! air, and when another frame begins beside those on the air. What it finds then is what it would
//! have found at each frame, to the bit. It draws nothing meanwhile but what it loses of frames
//! that collided, which is noted when they end.
//!
//! The medium has bystanders where powers do not change and where nothing else is on the air: no
//! interferers, no full duplex, one channel; and while no observer follows all nodes.

mod catch_up;

use super::Space;
use super::per::{Doubt, PerCalculator, PpduParts};
use super::power::{FixedPower, Levels, Power};
use super::rules::SpaceRules;
use super::signals::Signals;
use crate::mac::Deferral;
use catch_up::{CatchUp, Scratch};
use kernel::Instant;
use std::ops::Range;

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
    missed: MissedFrames,
    /// During so many silences no node stands by.
    rest: u32,
    scratch: Scratch,
    /// For each node, what arrives; kept for its memory.
    arriving: Vec<Arriving>,
}

/// Frames that bystanders have not seen.
#[derive(Debug, Default)]
struct MissedFrames {
    /// In the order in which they began.
    frames: Vec<Missed>,
    /// From this one on they are on the air, or began together with one that is.
    begun: usize,
    /// Groups of frames that began together and have ended.
    collisions: Vec<Collision>,
    /// The parts of frames that did not begin alone.
    parts: Vec<Parts>,
    /// What has been drawn at the end of collisions: a bystander, and whether it has lost the frame
    /// that it received.
    drawn: Vec<(u32, bool)>,
}

/// Frames that began together and have ended.
#[derive(Clone, Debug)]
struct Collision {
    /// Their places among all frames.
    frames: Range<usize>,
    /// What has been drawn, by node.
    drawn: Range<usize>,
}

/// The parts of a frame that began together with others.
#[derive(Debug)]
struct Parts {
    ppdu: PpduParts,
    doubt: Doubt,
}

/// What arrives at a node of frames that began together.
#[derive(Clone, Copy, Debug, Default)]
struct Arriving {
    sum: FixedPower,
    /// The strongest that the node can detect, and its place among them.
    strongest: Option<(Power, usize)>,
}

/// A frame that began in a silence, and beside which nothing else began later.
#[derive(Clone, Copy, Debug)]
struct Missed {
    id: u32,
    from: u32,
    start: Instant,
    payload: Instant,
    end: Instant,
    deferral: Deferral,
    /// When the NAV ends that it sets.
    until: Instant,
    nav_reset_at: Option<Instant>,
    /// The end of the last NAV that frames before it set.
    before: Instant,
    fate: Fate,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It has not ended.
    OnAir,
    /// It was alone. A bystander that detected it has decoded it, or certainly has not.
    Alone {
        /// The power from which it is decoded.
        decoded_from: f64,
        /// All other nodes have decoded it.
        reached_all: bool,
    },
    /// Others began with it. The number of its parts.
    Together(u32),
}

impl Arriving {
    /// One more arrives.
    #[inline]
    fn add(&mut self, power: Power, place: usize, levels: &Levels) {
        self.sum = self.sum + power.fixed;
        let is_stronger = |(other, _): (Power, _)| power.milliwatts > other.milliwatts;
        if power.milliwatts >= levels.detect && self.strongest.is_none_or(is_stronger) {
            self.strongest = Some((power, place));
        }
    }

    /// The place of the frame that the node receives, and its power, if it is not certain whether
    /// the node decodes it.
    fn uncertain(
        &self,
        together: &[Missed],
        parts: &[Parts],
        levels: &Levels,
    ) -> Option<(usize, f64)> {
        let (power, own) = self.strongest?;
        let (power, others) = (power.milliwatts, self.sum - power.fixed);
        let is_uncertain = power >= levels.sensitivity
            && together[own].parts(parts)?.doubt.is_at(power, others.milliwatts())
            && levels.finds(power, others);
        is_uncertain.then_some((own, power))
    }
}

impl Missed {
    /// Its parts, if it has ended and did not begin alone.
    fn parts<'a>(&self, all: &'a [Parts]) -> Option<&'a Parts> {
        if let Fate::Together(number) = self.fate { all.get(number as usize) } else { None }
    }
}

impl MissedFrames {
    /// Those on the air, and those that began together with one that is.
    #[inline]
    fn on_air(&self) -> &[Missed] {
        &self.frames[self.begun..]
    }

    /// The only frame on the air ends.
    fn end_alone(&mut self, nav_reset_at: Option<Instant>, fate: Fate) {
        if let Some(frame) = self.frames.last_mut() {
            (frame.nav_reset_at, frame.fate) = (nav_reset_at, fate);
        }
        self.begun = self.frames.len();
    }

    /// One of the frames ends that began together. Returns whether it is the last.
    fn end_together(&mut self, id: u32, nav_reset_at: Option<Instant>, parts: Parts) -> bool {
        let together = &mut self.frames[self.begun..];
        if let Some(frame) = together.iter_mut().find(|frame| frame.id == id) {
            frame.nav_reset_at = nav_reset_at;
            frame.fate = Fate::Together(self.parts.len() as u32);
            self.parts.push(parts);
        }
        !together.iter().any(|frame| matches!(frame.fate, Fate::OnAir))
    }

    fn clear(&mut self) {
        self.frames.clear();
        self.collisions.clear();
        self.drawn.clear();
        self.parts.clear();
        self.begun = 0;
    }
}

impl Bystanders {
    /// All nodes of a medium are present.
    pub(super) fn new(nodes: usize, is_possible: bool) -> Self {
        let nodes = if is_possible { nodes } else { 0 };
        Self {
            is_possible,
            seen: vec![None; nodes],
            present: (0..nodes as u32).collect(),
            missed: MissedFrames::default(),
            rest: 0,
            scratch: Scratch::default(),
            arriving: Vec::new(),
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

    /// Whether this is a frame on the air that is not for bystanders.
    #[inline]
    pub(super) fn miss(&self, id: u32) -> bool {
        self.missed.on_air().iter().any(|frame| frame.id == id)
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
            for frame in self.bystanders.missed.on_air() {
                self.signals.include(frame.id, node);
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
        let Bystanders { seen, present, missed, .. } = &mut self.bystanders;
        present.clear();
        present.extend(0..seen.len() as u32);
        for frame in missed.on_air() {
            self.signals.widen(frame.id);
        }
        missed.clear();
    }

    /// A node catches up with the frames, also with those on the air.
    fn wake_up(&mut self, node: u32, seen: u32) {
        let Self { bystanders, nodes, receivers, signals, rules, per_cache, .. } = self;
        let Bystanders { seen: all_seen, missed, scratch, .. } = bystanders;
        all_seen[node as usize] = None;
        let state = &mut nodes[node as usize];
        let mut catch_up = CatchUp {
            node,
            receiver: &mut receivers[node as usize],
            carrier: &mut state.carrier,
            noise: &mut state.noise,
            signals,
            levels: &rules.levels,
            per_cache,
            scratch,
        };
        catch_up.with_ended(missed, seen as usize);
        catch_up.with_together(missed.on_air(), &missed.parts, None);
    }

    /// Frames are about to begin, and those on the air go on. Returns whether bystanders need not
    /// be told; if not, there are none from now on.
    #[inline]
    pub(super) fn spare_bystanders(&mut self, beginning: &[u32]) -> bool {
        if !self.bystanders.are_any() || beginning.is_empty() {
            return false;
        }
        let is_spared = self.signals.is_silent()
            && (beginning.len() == 1 || !self.are_joint(beginning))
            && beginning.iter().all(|&id| self.is_for_one(id));
        if !is_spared {
            self.wake_all();
            return false;
        }
        for &id in beginning {
            if let Some(to) = self.signals.transmission(id).frame.to {
                self.wake(to);
            }
        }
        true
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
        let Bystanders { present, missed: MissedFrames { frames, .. }, .. } = &mut self.bystanders;
        self.signals.narrow(id, present);
        let begun = self.signals.transmission(id);
        let last = frames.last();
        frames.push(Missed {
            id,
            from: begun.frame.from,
            start: begun.start,
            payload: begun.payload(),
            end: begun.end(),
            deferral: begun.deferral,
            until: begun.end() + begun.frame.reserves,
            nav_reset_at: None,
            before: last.map_or(Instant::ZERO, |last| last.before.max(last.until)),
            fate: Fate::OnAir,
        });
    }

    /// A frame on the air ends that is not for bystanders. If it was alone, those wake whose
    /// reception is not certain. Returns its parts, unless others began with it.
    pub(super) fn end_beside_bystanders(&mut self, now: Instant, id: u32) -> Option<PpduParts> {
        let ppdu = self.ppdu(id, false);
        let nav_reset_at = self.nav_reset_at(now, id);
        let together = self.bystanders.missed.on_air();
        if together.len() > 1 {
            let first = together.iter().map(|frame| frame.end).min().unwrap_or(now);
            let error = &*self.signals.radio.error;
            let (number, levels) = (together.len(), &self.rules.levels);
            let doubt = ppdu.doubt(first, number, levels, &mut self.per_cache, error);
            let parts = Parts { ppdu, doubt };
            if self.bystanders.missed.end_together(id, nav_reset_at, parts) {
                self.end_collision();
            }
            return None;
        }
        let levels = &self.rules.levels;
        let decoded_from = ppdu.decoded_alone_from(levels);
        let mut uncertain = std::mem::take(&mut self.scratch.uncertain);
        let from = levels.alone;
        self.signals.receivers_within(id, from, decoded_from, &mut uncertain);
        uncertain.retain(|&(_, power)| !ppdu.is_lost_alone(levels, power));
        for (node, _) in uncertain.drain(..) {
            self.wake(node);
        }
        self.scratch.uncertain = uncertain;
        let reached_all = self.signals.is_heard_by_all(id, from.max(decoded_from));
        self.bystanders.missed.end_alone(nav_reset_at, Fate::Alone { decoded_from, reached_all });
        Some(ppdu)
    }

    /// All frames have ended that began together. Draws what bystanders have received of them where
    /// that is not certain.
    fn end_collision(&mut self) {
        let Self { bystanders, signals, rules, nodes, per_cache, .. } = self;
        let Bystanders { missed, seen, scratch, arriving, .. } = bystanders;
        let MissedFrames { frames, begun, collisions, parts, drawn } = missed;
        let (together, levels) = (&frames[*begun..], &rules.levels);
        arriving.clear();
        arriving.resize(seen.len(), Arriving::default());
        for (place, frame) in together.iter().enumerate() {
            for receiver in signals.in_range(frame.id) {
                arriving[receiver.node as usize].add(receiver.power, place, levels);
            }
        }
        let first = drawn.len();
        for (node, arriving) in (0..).zip(&*arriving) {
            let uncertain = arriving.uncertain(together, parts, levels);
            if let Some((own, power)) = uncertain
                && let Some(Parts { ppdu, .. }) = together[own].parts(parts)
                && seen[node as usize].is_some()
            {
                let powers = together.iter().map(|frame| signals.steady_power(frame.from, node));
                scratch.arrive(powers);
                let error = &*signals.radio.error;
                let mut per = PerCalculator { levels, error, ppdu, per_cache };
                let noise = &mut nodes[node as usize].noise;
                drawn.push((node, scratch.draw_loss(together, own, power, &mut per, noise)));
            }
        }
        let (frames, drawn) = (*begun..frames.len(), first..drawn.len());
        *begun = frames.end;
        collisions.push(Collision { frames, drawn });
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
        if self.bystanders.missed.frames.len() >= FRAMES {
            self.wake_all();
        }
        let Self { bystanders, nodes, receivers, .. } = self;
        let Bystanders { seen, present, missed, rest, .. } = bystanders;
        let frames = missed.frames.len() as u32;
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
