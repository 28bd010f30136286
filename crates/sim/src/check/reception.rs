//! Checks what one node receives and senses: signal, interference and carrier sense, computed
//! independently.

use super::exchanges::Exchanges;
use super::powers::{Powers, STEP, agree, agree_in_sum};
use super::rule::rule;
use super::timing::Times;
use kernel::{Duration, Instant};
use wifi::interferer::Burst;
use wifi::space::{OngoingFrame, ReceivedFrame, Users};
use wire::FrameKind;

/// The carrier sense state of a node, and its frame exchanges.
#[derive(Debug, Clone)]
pub(super) struct ReceiverState {
    /// Since when the node senses the medium as idle.
    idle_since: Option<Instant>,
    /// EIFS less DIFS after a frame that the node could not decode; otherwise zero.
    pub(super) extra: Duration,
    nav: Instant,
    /// When the NAV ends that an RTS has set, if no frame has followed the RTS.
    followed_by: Option<Instant>,
    /// The end of the last frame that it received.
    pub(super) heard_until: Instant,
    /// The end of the last HE TB PPDU that it decoded.
    pub(super) decoded_unit_at: Instant,
    /// It has received a frame, and has neither sent nor sensed an idle medium since.
    pub(super) after_frame: bool,
    pub(super) exchanges: Exchanges,
}

impl Default for ReceiverState {
    fn default() -> Self {
        Self {
            idle_since: Some(Instant::ZERO),
            extra: Duration::ZERO,
            nav: Instant::ZERO,
            followed_by: None,
            heard_until: Instant::ZERO,
            decoded_unit_at: Instant::ZERO,
            after_frame: false,
            exchanges: Exchanges::default(),
        }
    }
}

impl ReceiverState {
    /// A frame ends of which the node has decoded nothing that is for it. If it has decoded
    /// HE-SIG-A, the TXOP field sets its NAV (802.11ax-2021 clause 26.2.4), else it defers for an
    /// EIFS.
    pub(super) fn on_undecoded(
        &mut self,
        now: Instant,
        heard: &ReceivedFrame,
        frame: &OngoingFrame,
        times: &Times,
    ) {
        let has_signal = frame.users == Users::Several && frame.kind == FrameKind::Data;
        let is_known = !heard.hears_signal || has_signal;
        rule(now, is_known, "HE-SIG-A sets the NAV of a user", || format!("{heard:?}"));
        let eifs = times.eifs(&frame.mode);
        self.extra = Duration::ZERO;
        if times.eifs_is_nav() {
            self.reserve(now + eifs, None);
        }
        if heard.hears_signal {
            self.reserve(now + frame.reserves, None);
        } else if !times.eifs_is_nav() {
            self.extra = eifs.saturating_sub(times.difs());
        }
    }

    /// When interframe spaces begin, if the medium is idle.
    pub(super) fn free_at(&self) -> Option<Instant> {
        let nav = self.followed_by.map_or(self.nav, |at| at.min(self.nav));
        Some((self.idle_since? + self.extra).max(nav))
    }

    /// A frame for other nodes sets the NAV.
    pub(super) fn reserve(&mut self, until: Instant, followed_by: Option<Instant>) {
        if until > self.nav {
            self.nav = until;
            self.followed_by = followed_by;
        }
    }

    /// The node synchronizes to a frame, whose detection is at `detected`.
    pub(super) fn on_detected(&mut self, detected: Instant) {
        if let Some(at) = self.followed_by.take().filter(|&at| detected > at) {
            self.nav = self.nav.min(at);
        }
    }

    /// The node senses the medium as busy or idle.
    pub(super) fn sense(&mut self, now: Instant, busy: bool) {
        match (busy, self.idle_since) {
            (true, Some(_)) => {
                self.idle_since = None;
                self.extra = Duration::ZERO;
            }
            (false, None) => self.idle_since = Some(now),
            _ => {}
        }
    }
}

/// Whether other nodes may answer the same frame beside this one, which is an HE TB PPDU or one of
/// the CTSs that answer an MU-RTS.
pub(super) fn is_joint(frame: &OngoingFrame) -> bool {
    frame.users.is_unit() || frame.users == Users::Together
}

/// Whether two frames answer the same one, and arrive together at a node: within their guard
/// interval.
fn are_joint(powers: &Powers, node: u32, one: &OngoingFrame, other: &OngoingFrame) -> bool {
    let begins = [one, other].map(|frame| powers.span(node, frame).0);
    let apart = begins[0].max(begins[1]).since(begins[0].min(begins[1]));
    let both = is_joint(one) && is_joint(other) && one.from != other.from && one.to == other.to;
    both && apart <= powers.joint_within(one)
}

/// Whether they are also in no common resource unit, and so do not interfere.
fn are_apart(powers: &Powers, node: u32, one: &OngoingFrame, other: &OngoingFrame) -> bool {
    let is_common = one.users == other.users && one.users.is_unit();
    !is_common && are_joint(powers, node, one, other)
}

/// A preamble is detected only if its `power` reaches the sensitivity and its SINR suffices.
pub(super) fn check_detection(
    now: Instant,
    powers: &Powers,
    node: u32,
    frame: &OngoingFrame,
    power: f64,
    sum: f64,
    signals: usize,
) {
    let is_own = powers.share(node, frame, frame.mode.width) == 1.0;
    rule(now, is_own, "a received frame is in the channel of its width", || {
        format!("node {node}: {frame:?}")
    });
    let rest = (sum - power).max(0.0) + powers.noise;
    let is_strong = power >= powers.detect || agree(power, powers.detect);
    let ratio = powers.detect_ratio;
    let stands_out = power >= ratio * rest || agree_in_sum(power / ratio, rest, signals);
    let others = sum - power;
    let is_alone = others < powers.energy || agree_in_sum(others, powers.energy, signals);
    let found = is_strong && stands_out && (powers.detect_when_busy || is_alone);
    rule(now, found, "a received frame can be detected", || {
        format!("node {node}: {power:e} mW beside {rest:e} mW of {frame:?}")
    });
}

/// Compares the interference that a node has reported for a frame with the frames on the air. It
/// arrives with this power, and in a resource unit with so much more than on the whole channel.
pub(super) fn check(
    now: Instant,
    powers: &Powers,
    frames: &[OngoingFrame],
    frame: &OngoingFrame,
    power: f64,
    concentration: f64,
    heard: &ReceivedFrame,
) {
    let node = heard.node;
    let span = |frame: &OngoingFrame| powers.span(node, frame);
    let (first, last) = span(frame);
    let during = |other: &&OngoingFrame| span(other).0 < last && span(other).1 > first;
    rule(now, agree(power, heard.power), "the received power follows from propagation", || {
        format!("{power:e} mW of {heard:?}")
    });
    let enough = power >= powers.sensitivity || agree(power, powers.sensitivity);
    rule(now, enough || !heard.understood, "a decoded frame reaches the sensitivity", || {
        format!("{heard:?}")
    });
    let others: Vec<&OngoingFrame> = frames
        .iter()
        .filter(during)
        .filter(|other| other.from != frame.from && !are_apart(powers, node, frame, other))
        .collect();
    let bursts: Vec<(Burst, f64)> = heard
        .bursts
        .iter()
        .map(|arrival| (arrival.burst, powers.of_burst(node, arrival, first)))
        .filter(|&(_, power)| power > 0.0)
        .collect();
    let within = |other: &OngoingFrame| {
        let is_joint = are_joint(powers, node, frame, other);
        powers.in_occupied(node, other, &frame.mode) * if is_joint { concentration } else { 1.0 }
    };
    let mut at = first;
    for &(begin, end, interference) in &heard.interference {
        rule(
            now,
            begin == at && end > begin,
            "interference is reported for the whole frame",
            || format!("{begin} to {end} follows {at}: {heard:?}"),
        );
        at = end;
        // No other frame may begin or end in between.
        let inside = |at: Instant| begin < at && at < end;
        let steady = |other: &&&OngoingFrame| !(inside(span(other).0) || inside(span(other).1));
        let rough = others.iter().find(|other| !steady(other) && within(other) > STEP / 2.0);
        rule(now, rough.is_none(), "interference is cut where it changes", || {
            format!("{rough:?} within {begin} to {end} of {heard:?}")
        });
        let uneven = bursts.iter().find(|(burst, _)| inside(burst.start) || inside(burst.end));
        rule(now, uneven.is_none(), "interference is cut where a burst begins or ends", || {
            format!("{uneven:?} within {begin} to {end} of {heard:?}")
        });
        let on_air = bursts.iter().filter(|(burst, _)| burst.start <= begin && burst.end >= end);
        let there = others.iter().filter(|other| span(other).0 <= begin && span(other).1 >= end);
        let signals = there.clone().count() + on_air.clone().count();
        let frames: f64 = there.map(|other| within(other)).sum();
        let sum = frames + on_air.map(|(_, power)| power).sum::<f64>();
        let right = interference >= 0.0 && agree_in_sum(sum, interference, signals);
        rule(now, right, "interference is the sum of all others", || {
            format!("{sum:e} mW from {begin} to {end} of {heard:?}")
        });
    }
    rule(now, at == last, "interference is reported for the whole frame", || format!("{heard:?}"));
}
