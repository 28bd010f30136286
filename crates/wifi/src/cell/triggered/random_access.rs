//! RA-RUs: which stations send in them.

use super::Triggers;
use crate::MsduSource;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::TriggeredExchange;
use kernel::Instant;

impl Cell {
    /// Whether a station has packets for the access point.
    fn has_packets(&self, station: u32) -> bool {
        self.edcafs_of(station).any(|f| {
            let originator = &self.edcaf(f).originator;
            !originator.is_idle() && originator.to() == Some(ACCESS_POINT)
        })
    }

    /// Stations that a Trigger frame does not ask, and that hear it and have packets, count its
    /// RA-RUs. Each that comes to zero sends in one of them. Of several in one, nothing arrives.
    pub(super) fn respond_at_random(
        &mut self,
        triggers: &mut Triggers,
        now: Instant,
        exchange: &mut TriggeredExchange,
        source: &mut dyn MsduSource,
    ) {
        let asked = exchange.users.iter().take_while(|user| !user.is_random).count();
        if exchange.users.len() == asked {
            return;
        }
        for station in 1..self.nodes.len() as u32 {
            let is_asked = exchange.users[..asked].iter().any(|user| user.station == station);
            if is_asked || !self.has_units(station) || !self.has_packets(station) {
                continue;
            }
            let hears = self.hears_trigger(station, source);
            if let Some(unit) = triggers.triggering.contend(exchange, station, hears) {
                exchange.enter(ACCESS_POINT, unit, station);
            }
        }
        let mut users = std::mem::take(&mut exchange.users);
        let senders = users[asked..].iter_mut().filter(|user| user.station != ACCESS_POINT);
        for user in senders {
            self.respond(triggers, now, exchange.kind, user, source);
        }
        exchange.users = users;
        exchange.note_collisions();
        exchange.users.iter_mut().for_each(|user| user.arrives &= !user.collides);
        if let Some(groups) = &mut self.groups {
            triggers.triggering.count_units(exchange, groups.random());
        }
    }

    /// Stations that have sent in RA-RUs learn whether that was received.
    pub(super) fn settle_random(&mut self, triggered: &TriggeredExchange) {
        if let Some(triggers) = &mut self.triggers {
            triggers.triggering.settle_random(triggered);
        }
    }
}
