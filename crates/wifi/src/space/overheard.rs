//! Frames that are not for the nodes that receive them: mostly these only set their NAVs. A node is
//! done with such a frame when it ends, unless what was on the air with it must be looked up.

use super::Space;
use super::frame::{OnAir, Users};
use super::node::Node;
use super::per::{PerCalculator, PpduParts};
use super::power::FixedPower;
use super::reception::Received;
use super::signals::Signals;
use crate::mac::Deferral;
use kernel::{Instant, Rng};
use std::cell::OnceCell;
use wire::FrameKind;

/// What the only frame that ends now does to nodes that it is not for: it sets the NAV of those
/// that decode it.
pub(super) struct Overheard<'a> {
    pub(super) ppdu: &'a PpduParts,
    id: u32,
    /// Whether nothing else has begun or ended since its PHY header, once that was asked for.
    is_steady: OnceCell<bool>,
    /// The power from which nodes certainly decode it if it was alone on the air.
    pub(super) from: f64,
    /// When the NAV ends, and when if no frame has begun by then.
    until: Instant,
    nav_reset_at: Option<Instant>,
    deferral: Deferral,
}

impl Overheard<'_> {
    /// A node has decoded the frame.
    #[inline]
    pub(super) fn set_nav(&self, node: &mut Node) {
        node.carrier.on_decoded();
        node.carrier.reserve(self.until, self.nav_reset_at);
    }

    /// A node has received the frame to its end. Draws whether it decodes the frame, and carries
    /// that out, unless it must be looked up what was on the air with it. Returns whether it does.
    /// `beside`: what is still on the air at the node.
    #[inline]
    pub(super) fn end_at(
        &self,
        now: Instant,
        node: &mut Node,
        how: Received,
        beside: FixedPower,
        signals: &Signals,
        per: &mut PerCalculator<'_>,
    ) -> bool {
        match self.draw_loss(now, how, beside, signals, &mut node.noise, per) {
            Some(true) => node.carrier.on_decoding_error(now, self.deferral),
            Some(false) => self.set_nav(node),
            None => return false,
        }
        true
    }

    /// Draws whether a node loses the frame, which has just ended; `None` if it must be looked up
    /// what was on the air with it.
    #[inline]
    fn draw_loss(
        &self,
        now: Instant,
        Received { power, bounds }: Received,
        beside: FixedPower,
        signals: &Signals,
        noise: &mut Rng,
        per: &mut PerCalculator<'_>,
    ) -> Option<bool> {
        let certain = self.ppdu.is_certainly_lost(per.levels, power, &bounds);
        let since_header = || signals.is_steady_since(self.id, self.ppdu.payload());
        let is_steady = || {
            bounds.chunks == 1
                || self.ppdu.has_header(per.levels, power, &bounds)
                    && *self.is_steady.get_or_init(since_header)
        };
        if certain.is_some() || !is_steady() {
            return certain;
        }
        Some(per.draw_loss_beside(beside.milliwatts(), now, power, noise))
    }
}

impl Space {
    /// When the NAV ends that a frame sets which ends now, if no frame has begun by then.
    #[inline]
    pub(super) fn nav_reset_at(&mut self, now: Instant, id: u32) -> Option<Instant> {
        if self.rules.nav_reset { self.nav_reset_after(now, id) } else { None }
    }

    #[inline(never)]
    fn nav_reset_after(&mut self, now: Instant, id: u32) -> Option<Instant> {
        let Self { signals, nodes, rules, per_cache, .. } = self;
        let transmission = signals.transmission(id);
        let frame = &transmission.frame;
        match frame.kind {
            FrameKind::Rts => {
                let (timing, error) = (rules.timing(), &*signals.radio.error);
                Some(now + per_cache.facts_of(transmission, timing, error).nav_reset)
            }
            _ if frame.is_mu_rts() => {
                nodes[frame.from as usize].nav_reset(rules).map(|after| now + after)
            }
            _ => None,
        }
    }

    /// Whether a frame that a node decodes and that is not for it sets its NAV, and nothing else
    /// comes of it.
    #[inline]
    pub(super) fn only_sets_nav(&self, frame: &OnAir) -> bool {
        let is_noted = self.follows_others && (!self.overhears || frame.kind == FrameKind::Data);
        self.watch.is_none() && self.interferers.is_none() && !is_noted
    }

    /// What the only frame that ends now does to nodes that it is not for; `None` if it may do more
    /// than to set their NAVs. The parts of the frame may be known.
    #[inline]
    pub(super) fn overheard<'a>(
        &mut self,
        now: Instant,
        id: u32,
        ppdu: &'a mut Option<PpduParts>,
    ) -> Option<Overheard<'a>> {
        let frame = &self.signals.transmission(id).frame;
        let (to, reserves) = (frame.to, frame.reserves);
        let deferral = self.signals.transmission(id).deferral;
        let is_plain = self.only_sets_nav(frame)
            && self.rules.mac.all_know(frame.mode.class)
            && self.rules.mac.config.full_duplex.is_none()
            && self.signals.radio.overlaps.is_none()
            && self.waves.is_none()
            && !self.crowd.is_on_air()
            && frame.users == Users::One;
        if !is_plain || to.is_none() {
            return None;
        }
        let nav_reset_at = self.nav_reset_at(now, id);
        let ppdu = &*ppdu.get_or_insert_with(|| self.ppdu(id, false));
        let from = ppdu.decoded_alone_from(&self.rules.levels);
        let is_steady = OnceCell::new();
        Some(Overheard { ppdu, id, is_steady, from, until: now + reserves, nav_reset_at, deferral })
    }
}
