//! What is counted of a frame that nobody has decoded.

use super::Space;
use super::frame::{Transmission, Users};
use super::range::ReceiverInRange;
use wire::FrameKind;

impl Space {
    /// Counts a frame that no node has decoded as a collision or as a loss by noise of the node
    /// that began the exchange. A CTS-to-self counts as neither.
    pub(super) fn count(&mut self, id: u32) {
        let signals = &self.signals;
        let transmission = signals.transmission(id);
        let &Transmission { ref frame, mut reach, start, .. } = transmission;
        if frame.answers_mu_rts() {
            if !self.is_first_cts(id) {
                return;
            }
            reach = self.reach_together(id);
        } else if frame.users != Users::One
            && !self.nodes[frame.from as usize].decides(frame, &reach)
        {
            return;
        }
        if reach.decoded > 0 || frame.kind == FrameKind::CtsToSelf {
            return;
        }
        let audible = |receiver: &ReceiverInRange| {
            let power = signals.mean_sent(transmission, receiver);
            power.is_some_and(|power| power.milliwatts >= self.rules.levels.detect)
                && signals.is_in_channel(id, receiver.node)
        };
        let could_receive = match frame.to {
            Some(to) => usize::from(signals.receiver_of(id, to).is_some_and(|to| audible(&to))),
            None if frame.users != Users::One => {
                let users = self.nodes[frame.from as usize].users(frame.kind);
                let found = users.filter_map(|user| signals.receiver_of(id, user));
                found.filter(audible).count()
            }
            None => signals.receivers(id).iter().filter(|receiver| audible(receiver)).count(),
        };
        // A node that could have received the frame and did not was transmitting or receiving
        // another.
        let hindered = could_receive as u32 > reach.interfered + reach.noise + reach.by_interferers;
        let owner = match (frame.kind, frame.to) {
            (_, Some(to)) if frame.is_control_response() => {
                // A full-duplex access point whose RTS met that of a station goes on with the
                // exchange of the station: it sends, and awaits no CTS.
                let may_go_on = frame.kind == FrameKind::Cts && signals.residual(to).is_some();
                if may_go_on && self.receivers[to as usize].has_sent_since(start) {
                    return;
                }
                to
            }
            _ => frame.from,
        };
        // A node that cannot hear the response may have begun its next attempt by now.
        let is_late =
            frame.is_control_response() && self.receivers[owner as usize].has_sent_since(start);
        let owner = &mut self.nodes[owner as usize];
        let is_open = owner.counters.exchanges.is_open();
        if !is_late {
            owner.counters.exchanges.decide();
        }
        // A full-duplex node may lose the frames of several exchanges after one attempt.
        let is_attempt = owner.duplex().is_none_or(|duplex| is_open && !duplex.joins_only());
        let is_answered = frame.to.is_some() || frame.users != Users::One;
        let counters = &mut owner.counters.exchanges;
        if hindered || reach.interfered > 0 {
            counters.collisions += u64::from(is_attempt);
        } else if reach.by_interferers > 0 {
            counters.interference_losses += u64::from(is_answered);
        } else {
            counters.noise_losses += u64::from(is_answered);
        }
    }
}
