//! The powers of a frame at nodes of which some move, computed from the squares of distances.

use super::radio::{Losses, Power, Radio, Site};
use crate::phy::Milliwatts;
use crate::phy::propagation::{Leg, Position};
use kernel::Instant;

/// Where nodes are, and their transmit powers in milliwatts. A position is looked up in the leg of
/// the trajectory in which the node was last.
#[derive(Debug)]
pub(super) struct Motion {
    legs: Vec<Leg>,
    sent: Vec<f64>,
    /// The weakest signal that the simulator takes into account.
    weakest: f64,
}

impl Motion {
    /// The nodes at the start of the run; `None` if the propagation model has no formula for the
    /// square of the distance.
    pub(super) fn new(radio: &Radio, sites: &[Site]) -> Option<Self> {
        let Losses::Places(model) = &radio.losses else { return None };
        model.factor(1.0)?;
        Some(Self {
            legs: sites.iter().map(|site| site.trajectory.leg(Instant::ZERO)).collect(),
            sent: sites.iter().map(|site| Milliwatts::from(site.tx_power).0).collect(),
            weakest: Milliwatts::from(radio.receiver.weakest()).0,
        })
    }

    /// The position of a node.
    pub(super) fn position(&mut self, node: u32, now: Instant, sites: &[Site]) -> Position {
        let leg = &mut self.legs[node as usize];
        if !leg.during.contains(&now) {
            *leg = sites[node as usize].trajectory.leg(now);
        }
        leg.at(now)
    }

    /// The mean power of a frame between two positions; `None` below the weakest signal.
    pub(super) fn power(
        &self,
        radio: &Radio,
        from: u32,
        (here, there): (Position, Position),
    ) -> Option<Power> {
        let Losses::Places(model) = &radio.losses else { return None };
        let power = self.sent[from as usize] * model.factor(here.square_distance(there))?;
        (power >= self.weakest).then(|| Power::from(power))
    }
}
