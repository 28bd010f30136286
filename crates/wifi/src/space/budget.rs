//! Link budgets: the mean signal of a link direction, and the frames that it can carry without
//! interference.

use super::Space;
use super::frame::{OnAir, Transmission, Users};
use super::per::{PerCalculator, PpduParts};
use super::power::FixedPower;
use crate::mac::{Deferral, ElicitedResponse};
use crate::phy::{Milliwatts, Mode};
use kernel::{Bytes, Db, Dbm, Duration, Instant, Span};
use wire::FrameKind;

/// One link direction at one instant, without fading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkBudget {
    /// Mean received power.
    pub signal: Dbm,
    /// Signal to noise ratio in the bandwidth of the mode.
    pub snr: Db,
    /// Whether the receiver detects preambles, and so receives frames and defers to them.
    pub detected: bool,
    /// Probability that a frame is decoded.
    pub success: f64,
}

impl Space {
    /// The budget of a link direction for frames of this length in this mode; `None` if no signal
    /// arrives.
    pub fn link_budget(
        &mut self,
        now: Instant,
        from: u32,
        to: u32,
        mode: &Mode,
        psdu: Bytes,
    ) -> Option<LinkBudget> {
        let [own, other] = [to, from].map(|node| self.signals.sites[node as usize].channel);
        let power = self.signals.mean_power(from, to, now).filter(|_| own == other)?.milliwatts;
        let (timing, levels) = (self.rules.timing(), &self.rules.levels);
        let frame = OnAir {
            kind: FrameKind::Data,
            from,
            to: Some(to),
            edcaf: 0,
            mode: *mode,
            psdu,
            reserves: Duration::ZERO,
            answer: ElicitedResponse::None,
            beside: None,
            users: Users::One,
        };
        let airtime = timing.data_airtime(mode, psdu);
        let transmission = Transmission::new(frame, now, airtime, Deferral::Extra(Duration::ZERO));
        let (error, per_cache) = (&*self.signals.radio.error, &mut self.per_cache);
        let whole = None::<std::iter::Empty<_>>;
        let ppdu = PpduParts::new(&transmission, whole, timing, error, per_cache);
        let mut per = PerCalculator { levels, error, ppdu: &ppdu, per_cache };
        let detected = power >= levels.detect && levels.finds(power, FixedPower::default());
        let decoded = per.alone(power, &transmission);
        Some(LinkBudget {
            signal: Milliwatts(power).into(),
            snr: levels.snr(power, mode),
            detected,
            success: if detected { decoded } else { 0.0 },
        })
    }

    /// When two nodes are closest before an instant.
    pub fn closest_at(&self, a: u32, b: u32, until: Instant) -> Instant {
        let [a, b] = [a, b].map(|node| &self.signals.sites[node as usize].trajectory);
        a.approach(b, Span { start: Instant::ZERO, end: until }).1
    }
}
