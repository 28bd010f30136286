//! Stations that a Trigger frame does not ask, and that may send in its RA-RUs.

use super::{Node, NodeTriggers};
use crate::MsduSource;
use crate::space::frame::OnAir;
use crate::space::rules::place_of;
use kernel::Instant;
use wire::FrameKind;

impl Node {
    /// The Trigger frame of this access point ends: stations that are awake may send in its RA-RUs.
    pub(in crate::space) fn note_awake(&mut self, source: &dyn MsduSource) {
        let own = self.id;
        let Some(triggers) = self.groups.as_mut().and_then(|groups| groups.triggers.as_mut())
        else {
            return;
        };
        if triggers.triggering.settings.random_access.is_some() {
            for (station, peer) in triggers.stations.iter_mut().zip(&self.peers) {
                station.is_awake = source.is_awake(own, peer.node);
            }
        }
    }

    /// What a station sends in an RA-RU of a Trigger frame of this access point, which it hears and
    /// which does not ask it, if it has packets and its counter comes to zero.
    pub(in crate::space) fn answer_at_random(
        &mut self,
        now: Instant,
        frame: &OnAir,
        station: &Self,
    ) -> Option<OnAir> {
        let is_trigger = frame.kind == FrameKind::Trigger && !frame.is_mu_rts();
        if !is_trigger || station.triggered_by() != Some(self.id) {
            return None;
        }
        let (own, id) = (self.id, station.id);
        let place = place_of(&self.peers, id)?;
        let has_units = self.peers[place].rate.mode.has_units();
        let has_packets = station.edcafs().any(|it| !it.is_idle() && it.to() == Some(own));
        let NodeTriggers { triggering, stations, current } = self.triggers_mut()?;
        let may_contend = has_units && has_packets && stations[place].is_awake;
        let triggered = current.as_mut().filter(|_| may_contend)?;
        let unit = triggering.contend(triggered, id, true)?;
        if !station.may_answer(now) {
            triggering.put_off(id);
            return None;
        }
        triggered.enter(own, unit, id);
        self.answer_to_trigger(frame, id)
    }
}
