//! The powers of a frame at nodes of which some move, computed from the squares of distances.

use super::power::Power;
use super::radio::{Losses, Radio, Site};
use super::range::ReceiverInRange;
use crate::phy::Milliwatts;
use crate::phy::propagation::Leg;
use kernel::Instant;

/// Where nodes are, and their transmit powers in milliwatts. A position is looked up in the leg of
/// the trajectory in which the node was last.
#[derive(Debug)]
pub(super) struct Motion {
    legs: Vec<Leg>,
    sent: Vec<f64>,
    /// The weakest signal that the simulator takes into account.
    weakest: f64,
    /// All nodes are always at the same height, so that only the ground distance counts.
    is_flat: bool,
    /// A buffer: squares of distances, then losses over these distances.
    squares: Vec<f64>,
}

impl Motion {
    /// The nodes at the start of the run; `None` if the propagation model has no formula for the
    /// square of the distance.
    pub(super) fn new(radio: &Radio, sites: &[Site]) -> Option<Self> {
        let Losses::Places(model) = &radio.losses else { return None };
        let height = sites.first().map(|site| site.trajectory.at(Instant::ZERO).z);
        model.factors(&mut []).then(|| Self {
            is_flat: sites.iter().all(|site| height.is_some_and(|z| site.trajectory.stays_at(z))),
            legs: sites.iter().map(|site| site.trajectory.leg(Instant::ZERO)).collect(),
            sent: sites.iter().map(|site| Milliwatts::from(site.tx_power).0).collect(),
            weakest: Milliwatts::from(radio.receiver.weakest()).0,
            squares: Vec::new(),
        })
    }

    /// Fills an empty list with those of these nodes at which a frame that begins now arrives, and
    /// with its mean power there.
    pub(super) fn powers(
        &mut self,
        from: u32,
        now: Instant,
        radio: &Radio,
        sites: &[Site],
        receivers: &[ReceiverInRange],
        into: &mut Vec<ReceiverInRange>,
    ) {
        let Self { legs, squares, .. } = self;
        // No frame begins before the last one.
        let mut position = |node: u32| {
            let leg = &mut legs[node as usize];
            if now >= leg.during.end {
                *leg = sites[node as usize].trajectory.leg(now);
            }
            leg.at(now)
        };
        let here = position(from);
        squares.clear();
        if self.is_flat {
            let square = |r: &ReceiverInRange| here.square_ground_distance(position(r.node));
            squares.extend(receivers.iter().map(square));
        } else {
            let square = |r: &ReceiverInRange| here.square_distance(position(r.node));
            squares.extend(receivers.iter().map(square));
        }
        if let Losses::Places(model) = &radio.losses {
            model.factors(squares);
        }
        let (sent, weakest) = (self.sent[from as usize], self.weakest);
        // Nearly all are in range now, so that each is written down, and the next one over it if it
        // is not.
        into.extend_from_slice(receivers);
        let mut kept = 0;
        for (receiver, factor) in receivers.iter().zip(&*squares) {
            let power = if receiver.moves { Power::from(sent * factor) } else { receiver.power };
            into[kept] = ReceiverInRange { power, ..*receiver };
            kept += usize::from(!receiver.moves || power.milliwatts >= weakest);
        }
        into.truncate(kept);
    }
}
