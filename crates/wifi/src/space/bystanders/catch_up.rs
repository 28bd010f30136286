//! What a bystander finds that wakes.

use super::{Fate, Missed, MissedFrames, Parts};
use crate::space::interference::Chunk;
use crate::space::per::PerCalculator;
use crate::space::per_cache::PerCache;
use crate::space::power::{FixedPower, Levels, Power};
use crate::space::reception::{Change, End, PhyReceiver, Received, ReceivedSignal};
use crate::space::sense::Carrier;
use crate::space::signals::Signals;
use kernel::{Instant, Rng};

/// Lists that keep their memory: of one collision at one node.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// What arrives of each of the frames.
    powers: Vec<Option<Power>>,
    chunks: Vec<Chunk>,
}

/// A bystander that catches up.
pub(super) struct CatchUp<'a> {
    pub(super) node: u32,
    pub(super) receiver: &'a mut PhyReceiver,
    pub(super) carrier: &'a mut Carrier,
    pub(super) noise: &'a mut Rng,
    pub(super) signals: &'a Signals,
    pub(super) levels: &'a Levels,
    pub(super) per_cache: &'a mut PerCache,
    pub(super) scratch: &'a mut Scratch,
}

impl CatchUp<'_> {
    /// Carries out what frames that have ended did, from this one on.
    pub(super) fn with_ended(&mut self, missed: &MissedFrames, seen: usize) {
        let MissedFrames { frames, begun, collisions, parts, drawn } = missed;
        let mut at = seen + self.first_that_matters(&frames[seen..*begun]);
        let later = collisions.iter().rev().take_while(|collision| collision.frames.end > at);
        for collision in &collisions[collisions.len() - later.count()..] {
            let together = collision.frames.clone();
            self.with_alone(frames.get(at..together.start).unwrap_or_default());
            at = together.end;
            let drawn = &drawn[collision.drawn.clone()];
            self.with_together(&frames[together], parts, Some(drawn));
        }
        self.with_alone(&frames[at..*begun]);
    }

    /// Of earlier frames than the last one that it has detected, nothing is left but a NAV that
    /// ends after that one.
    fn first_that_matters(&self, missed: &[Missed]) -> usize {
        let mut first = missed.len();
        let mut idle_since = None;
        while first > 0 {
            let frame = &missed[first - 1];
            if idle_since.is_none() && self.alone(frame).is_some() {
                idle_since = Some(frame.end);
            }
            first -= 1;
            if idle_since.is_some_and(|since| frame.before <= since) {
                break;
            }
        }
        first
    }

    /// Whether the node decoded a frame that was alone on the air, if it detected it.
    fn alone(&self, frame: &Missed) -> Option<bool> {
        let Fate::Alone { decoded_from, reached_all } = frame.fate else { return None };
        if reached_all {
            return Some(true);
        }
        let power = self.signals.steady_power(frame.from, self.node)?.milliwatts;
        (power >= self.levels.alone).then_some(power >= decoded_from)
    }

    /// Frames that were alone on the air.
    fn with_alone(&mut self, frames: &[Missed]) {
        for frame in frames {
            let Some(is_decoded) = self.alone(frame) else { continue };
            self.carrier.on_detected(frame.payload);
            self.carrier.end_idle();
            self.end_reception(frame, is_decoded);
            self.carrier.begin_idle(frame.end);
        }
    }

    /// Frames that began together, as far as they have ended. If all have, what bystanders have
    /// lost is certain or `drawn`.
    pub(super) fn with_together(
        &mut self,
        frames: &[Missed],
        parts: &[Parts],
        drawn: Option<&[(u32, bool)]>,
    ) {
        let Some(&Missed { start, .. }) = frames.first() else { return };
        let Self { node, signals, levels, .. } = *self;
        self.scratch.arrive(frames.iter().map(|frame| signals.steady_power(frame.from, node)));
        for (&Missed { id, .. }, power) in frames.iter().zip(&self.scratch.powers) {
            if let &Some(power) = power {
                self.receiver.arrive(start, ReceivedSignal { id, power }, true, levels);
            }
        }
        if let Change::Found(id) = self.receiver.decide(start, levels)
            && let Some(found) = frames.iter().find(|frame| frame.id == id)
        {
            self.carrier.on_detected(found.payload);
        }
        if self.receiver.sense(levels) {
            self.carrier.end_idle();
        }
        let ended = frames.iter().filter(|frame| !matches!(frame.fate, Fate::OnAir));
        let mut last = start;
        while let Some(now) = ended.clone().map(|frame| frame.end).filter(|&end| end > last).min() {
            self.depart(now, frames, parts, drawn);
            if !self.receiver.sense(levels) {
                self.carrier.begin_idle(now);
            }
            last = now;
        }
    }

    /// Those of the frames end that end now.
    fn depart(
        &mut self,
        now: Instant,
        frames: &[Missed],
        parts: &[Parts],
        drawn: Option<&[(u32, bool)]>,
    ) {
        let mut received = None;
        for (place, frame) in frames.iter().enumerate().filter(|(_, frame)| frame.end == now) {
            let Some(power) = self.scratch.powers[place] else { continue };
            let signal = ReceivedSignal { id: frame.id, power };
            if let End::Received(how) = self.receiver.depart(signal, self.levels) {
                received = Some((place, how));
            }
        }
        let Some((own, Received { power, bounds })) = received else { return };
        let Some(Parts { ppdu, .. }) = frames[own].parts(parts) else { return };
        let Self { node, levels, ref mut per_cache, ref mut scratch, ref mut noise, .. } = *self;
        let is_certain = || ppdu.is_certainly_lost(levels, power, &bounds).unwrap_or(true);
        let is_lost = match drawn.map(|all| (all, all.binary_search_by_key(&node, |it| it.0))) {
            Some((all, Ok(place))) => all[place].1,
            Some((_, Err(_))) => is_certain(),
            None => {
                let error = &*self.signals.radio.error;
                let mut per = PerCalculator { levels, error, ppdu, per_cache };
                scratch.draw_loss(frames, own, power, &mut per, noise)
            }
        };
        self.end_reception(&frames[own], !is_lost);
    }

    fn end_reception(&mut self, frame: &Missed, is_decoded: bool) {
        if is_decoded {
            self.carrier.on_decoded();
            self.carrier.reserve(frame.until, frame.nav_reset_at);
        } else {
            self.carrier.on_decoding_error(frame.end, frame.deferral);
        }
    }
}

impl Scratch {
    /// What arrives at a node of frames that began together.
    pub(super) fn arrive(&mut self, powers: impl Iterator<Item = Option<Power>>) {
        self.powers.clear();
        self.powers.extend(powers);
    }

    /// Draws whether a node loses the one of these frames that it has received.
    pub(super) fn draw_loss(
        &mut self,
        frames: &[Missed],
        own: usize,
        power: f64,
        per: &mut PerCalculator<'_>,
        noise: &mut Rng,
    ) -> bool {
        self.disturb(frames, own);
        noise.chance(per.failure(&self.chunks, power))
    }

    /// Finds the times of constant interference with one of frames that began together.
    fn disturb(&mut self, frames: &[Missed], own: usize) {
        let Self { powers, chunks } = self;
        let Missed { start, end, .. } = frames[own];
        let arrives = |(place, frame): (usize, _)| {
            let power = powers[place].filter(|power| power.fixed > FixedPower::default())?;
            (place != own).then_some((frame, power.fixed))
        };
        let others = frames.iter().enumerate().filter_map(arrives);
        chunks.clear();
        let mut begin = start;
        while begin < end {
            let there = others.clone().filter(|(other, _): &(&Missed, _)| other.end > begin);
            let until = there.clone().map(|(other, _)| other.end).fold(end, Instant::min);
            let interference = there.fold(FixedPower::default(), |sum, (_, power)| sum + power);
            chunks.push(Chunk { begin, end: until, interference: interference.milliwatts() });
            begin = until;
        }
    }
}
