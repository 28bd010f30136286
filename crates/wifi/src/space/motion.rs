//! The powers of a frame at nodes of which some move, computed from the squares of distances.

use super::radio::{Losses, Power, Radio, Site};
use super::range::ReceiverInRange;
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
    /// A buffer: squares of distances, then losses over these distances.
    squares: Vec<f64>,
}

impl Motion {
    /// The nodes at the start of the run; `None` if the propagation model has no formula for the
    /// square of the distance.
    pub(super) fn new(radio: &Radio, sites: &[Site]) -> Option<Self> {
        let Losses::Places(model) = &radio.losses else { return None };
        model.factors(&mut []).then(|| Self {
            legs: sites.iter().map(|site| site.trajectory.leg(Instant::ZERO)).collect(),
            sent: sites.iter().map(|site| Milliwatts::from(site.tx_power).0).collect(),
            weakest: Milliwatts::from(radio.receiver.weakest()).0,
            squares: Vec::new(),
        })
    }

    /// The position of a node at an instant that is not before the last one.
    #[inline]
    fn position(&mut self, node: u32, now: Instant, sites: &[Site]) -> Position {
        let leg = &mut self.legs[node as usize];
        if now >= leg.during.end {
            *leg = sites[node as usize].trajectory.leg(now);
        }
        leg.at(now)
    }

    /// Appends the mean power of a frame that begins now at each of these nodes; `None` below the
    /// weakest signal.
    pub(super) fn powers(
        &mut self,
        (from, now): (u32, Instant),
        radio: &Radio,
        sites: &[Site],
        receivers: &[ReceiverInRange],
        into: &mut Vec<Option<Power>>,
    ) {
        let here = self.position(from, now, sites);
        let mut squares = std::mem::take(&mut self.squares);
        squares.clear();
        squares.extend(
            receivers
                .iter()
                .map(|receiver| here.square_distance(self.position(receiver.node, now, sites))),
        );
        if let Losses::Places(model) = &radio.losses {
            model.factors(&mut squares);
        }
        let (sent, weakest) = (self.sent[from as usize], self.weakest);
        into.extend(receivers.iter().zip(&squares).map(|(receiver, factor)| {
            if !receiver.moves {
                return Some(receiver.power);
            }
            let power = sent * factor;
            (power >= weakest).then(|| Power::from(power))
        }));
        self.squares = squares;
    }
}
