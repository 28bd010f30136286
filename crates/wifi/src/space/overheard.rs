//! Frames that nodes decode and that are not for them: mostly these only set their NAVs, and if a
//! frame was alone on the air, nothing has to be computed for each of the nodes.

use super::Space;
use super::frame::{OnAir, Users};
use super::per::PpduParts;
use kernel::Instant;
use wire::FrameKind;

/// What a frame does that is alone on the air to a node that decodes it and that it is not for: it
/// sets the node's NAV.
#[derive(Clone, Copy)]
pub(super) struct Overheard {
    /// The power from which nodes certainly decode it.
    pub(super) from: f64,
    /// When the NAV ends, and when if no frame has begun by then.
    pub(super) until: Instant,
    pub(super) nav_reset_at: Option<Instant>,
}

impl Default for Overheard {
    /// Nobody only overhears it.
    fn default() -> Self {
        Self { from: f64::INFINITY, until: Instant::ZERO, nav_reset_at: None }
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

    /// How nodes receive a frame that it is not for, if it ends and was alone on the air; `None` if
    /// this is looked up for each of them. The parts of the frame may be known.
    #[inline]
    pub(super) fn overheard(
        &mut self,
        now: Instant,
        id: u32,
        ppdu: &mut Option<PpduParts>,
    ) -> Option<Overheard> {
        let frame = &self.signals.transmission(id).frame;
        let (to, reserves) = (frame.to, frame.reserves);
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
        Some(Overheard { from, until: now + reserves, nav_reset_at })
    }
}
