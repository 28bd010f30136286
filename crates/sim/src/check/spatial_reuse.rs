//! Checks which PPDUs nodes ignore, and the power with which they send then (802.11ax-2021 clause
//! 26.10.2).

use super::earlier::Known;
use super::powers::{Powers, agree, plain};
use super::rule::rule;
use kernel::{Dbm, Duration, Instant};
use wifi::MacConfig;
use wifi::mac::{PowerLimit, SpatialReuse as Settings};
use wifi::phy::ModeClass;
use wifi::space::{OngoingFrame, Senses};

/// From the begin of a PPDU to the end of HE-SIG-A or U-SIG, which has the BSS color.
const COLOR: Duration = Duration::from_micros(32);
/// Up to when interference hides a preamble, and the reception ends.
const DETECTION: Duration = Duration::from_micros(4);

/// What nodes ignore and receive.
#[derive(Debug)]
pub(super) struct SpatialReuse {
    /// For PPDUs from outside of a node's group, and for those of each group.
    others: Limits,
    groups: Vec<Group>,
    colors: Vec<u8>,
    known: Known,
    /// The frame that each node receives.
    receives: Vec<Option<OngoingFrame>>,
    /// The reduction of power in the TXOP that each node won last, and before and in its next one.
    present: Vec<Reduction>,
    next: Vec<Reduction>,
}

/// A level, and what it costs.
#[derive(Debug)]
struct Limits {
    /// In milliwatts at 20 MHz; zero if there is none.
    level: f64,
    /// In decibels: how much less than its power each node sends with that has ignored a PPDU.
    cuts: Vec<f64>,
}

/// A spatial reuse group.
#[derive(Debug)]
struct Group {
    /// A bit for each color.
    colors: u64,
    limits: Limits,
}

/// A reduction of power. At its end, a node that has had nothing to send since has full power.
#[derive(Debug, Default, Clone, Copy)]
struct Reduction {
    /// The largest since the last TXOP. What it is at least if the node had nothing to send when
    /// the PPDUs before had ended.
    most: f64,
    least: f64,
    end: Instant,
}

impl Reduction {
    /// The node ignores a PPDU up to this end.
    fn ignore(&mut self, now: Instant, end: Instant, cut: f64) {
        let goes_on = now < self.end;
        *self = Self {
            most: self.most.max(cut),
            least: if goes_on { self.least.max(cut) } else { cut },
            end: self.end.max(end),
        };
    }
}

impl Limits {
    /// Those of a level in dBm, of which the power is not limited up to `free`.
    fn new(level: Option<Dbm>, free: f64, reuse: &Settings, powers: &Powers) -> Self {
        let above = level.map_or(0.0, |level| level.0 - free).max(0.0);
        let is_limited = reuse.power_limit == PowerLimit::Standard && above > 0.0;
        let cut = |power: f64| (power - (reuse.reference.0 - above)).max(0.0);
        let cuts = powers.sent().map(|power| if is_limited { cut(power.0) } else { 0.0 });
        let level = level.map_or(0.0, |level| plain(level.0));
        Self { level, cuts: cuts.collect() }
    }
}

impl SpatialReuse {
    /// The rules of a network; none without spatial reuse.
    pub(super) fn new(mac: &MacConfig, powers: &Powers) -> Option<Self> {
        let settings = mac.spatial_reuse.as_ref()?;
        let groups = settings.srg.iter().map(|group| Group {
            colors: group.bss_colors.iter().fold(0, |all, color| all | 1 << color),
            limits: Limits::new(Some(group.level), group.lowest.0, settings, powers),
        });
        let nodes = settings.colors.len();
        Some(Self {
            others: Limits::new(settings.level, -82.0, settings, powers),
            groups: groups.collect(),
            colors: settings.colors.clone(),
            known: Known::of(mac),
            receives: vec![None; nodes],
            present: vec![Reduction::default(); nodes],
            next: vec![Reduction::default(); nodes],
        })
    }

    /// A node wins a TXOP.
    pub(super) fn on_win(&mut self, node: u32) {
        let node = node as usize;
        self.present[node] = std::mem::take(&mut self.next[node]);
    }

    /// A frame begins, as a response or in a TXOP of its transmitter.
    pub(super) fn on_begin(&self, frame: &OngoingFrame, is_response: bool) {
        let all = if is_response { &self.next } else { &self.present };
        let Reduction { most, least, end } = all[frame.from as usize];
        let is = |decibels: f64| (frame.cut.0 - decibels).abs() < 1e-9;
        // Between both, it depends on when the node last had nothing to send.
        let rested = frame.cut.0 < most && (is(least) || least < frame.cut.0);
        let is_right = is(most)
            || is(0.0) && end <= frame.start
            || rested && self.all().any(|limits| is(limits.cuts[frame.from as usize]));
        rule(frame.start, is_right, "who has ignored a PPDU sends with less power", || {
            format!("by {least} to {most} dB up to {end} at least: {frame:?}")
        });
    }

    /// The frame that a node receives.
    pub(super) fn received_by(&self, node: u32) -> Option<OngoingFrame> {
        self.receives[node as usize]
    }

    /// A node has this carrier sense beside these frames, of which some have ended. The preamble of
    /// what it has received has this power.
    pub(super) fn sense(
        &mut self,
        now: Instant,
        node: u32,
        senses: Senses,
        powers: &Powers,
        frames: &[OngoingFrame],
        power: f64,
    ) {
        let span = |frame: &OngoingFrame| powers.span(node, frame);
        let after = |at: Instant| {
            let is_there = move |frame: &&OngoingFrame| span(frame).0 <= now && span(frame).1 > at;
            frames.iter().filter(is_there)
        };
        let flying = after(now);
        let before = self.receives[node as usize].take();
        let followed = senses.follows.and_then(|(from, start)| {
            let mut flying = flying.clone();
            flying.find(|frame| (frame.from, span(frame).0) == (from, start)).copied()
        });
        self.receives[node as usize] = followed;
        let Some(frame) = before.filter(|frame| span(frame).1 > now) else { return };
        let (since, sends) = (span(&frame).0, flying.clone().any(|own| own.from == node));
        let goes_on = followed == Some(frame);
        if now.since(since) == COLOR && goes_on {
            let is_certain = self.is_below(node, &frame, power * (1.0 + 1e-9))
                && stands_out(powers, node, power, after(since));
            rule(now, !is_certain, "a PPDU of another BSS below the level is ignored", || {
                format!("node {node}: {frame:?}")
            });
        }
        if goes_on || sends || now.since(since) < DETECTION + powers.joint_within(&frame) {
            return;
        }
        let may_ignore =
            now.since(since) == COLOR && self.is_below(node, &frame, power * (1.0 - 1e-9));
        let is_captured = followed.is_some();
        rule(now, may_ignore || is_captured, "only a PPDU of another BSS is ignored", || {
            format!("node {node}: {frame:?}")
        });
        if may_ignore {
            let cut = self.limits(node, frame.from).cuts[node as usize];
            self.next[node as usize].ignore(now, span(&frame).1, cut);
        }
    }

    /// The limits of a node for PPDUs of another: those of the group of both, if there is one.
    fn limits(&self, node: u32, other: u32) -> &Limits {
        let both = [node, other].map(|node| 1_u64 << self.colors[node as usize]);
        let group = self.groups.iter().find(|group| both.iter().all(|bit| group.colors & bit != 0));
        group.map_or(&self.others, |group| &group.limits)
    }

    fn all(&self) -> impl Iterator<Item = &Limits> {
        self.groups.iter().map(|group| &group.limits).chain([&self.others])
    }

    /// Whether a PPDU tells that it is of another BSS, and its power is below the level.
    fn is_below(&self, node: u32, frame: &OngoingFrame, power: f64) -> bool {
        let [own, other] = [node, frame.from].map(|node| self.colors[node as usize]);
        let tells = matches!(frame.mode.class, ModeClass::He | ModeClass::Eht);
        let width = f64::from(frame.mode.width.mhz()) / 20.0;
        let level = self.limits(node, frame.from).level * width;
        let tells = tells && self.known.knows(node, frame.mode.class);
        tells && own != other && own * other != 0 && power < level
    }
}

/// Whether a preamble of this power stands out even of all that has been on the air with it.
fn stands_out<'a>(
    powers: &Powers,
    node: u32,
    power: f64,
    flying: impl Iterator<Item = &'a OngoingFrame>,
) -> bool {
    let sum = powers.sum(node, flying);
    let rest = powers.detect_ratio * ((sum - power).max(0.0) + powers.noise);
    power > rest && !agree(power, rest)
}
