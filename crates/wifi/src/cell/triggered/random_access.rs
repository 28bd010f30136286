//! RA-RUs: which stations send in them, and what they learn.

use super::Triggers;
use crate::MsduSource;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{OfdmaBackoff, RandomAccess, TriggeredExchange, TriggeredUser, Uplink};
use kernel::{Instant, Seed};

/// What a cell has whose Trigger frames have RA-RUs.
#[derive(Debug)]
pub(super) struct RandomUnits {
    settings: RandomAccess,
    /// By station, from 1.
    stations: Vec<OfdmaBackoff>,
}

impl RandomUnits {
    pub(super) fn of(settings: &Uplink, stations: u32, seed: &Seed) -> Option<Self> {
        let settings = settings.random_access.clone()?;
        let stations = (1..=stations).map(|station| {
            let draws = seed.stream("mac.random_access", station);
            OfdmaBackoff::new(&settings, draws)
        });
        let stations = stations.collect();
        Some(Self { settings, stations })
    }
}

impl Cell {
    /// Whether a station has packets for the access point.
    fn has_packets(&self, station: u32) -> bool {
        self.edcafs_of(station).any(|f| {
            let originator = &self.edcaf(f).originator;
            !originator.is_idle() && originator.to() == Some(ACCESS_POINT)
        })
    }

    /// Stations that a Trigger frame does not ask, and that hear it and have packets, count its
    /// RA-RUs. Each that comes to zero sends in one of them.
    pub(super) fn respond_at_random(
        &mut self,
        triggers: &mut Triggers,
        now: Instant,
        exchange: &mut TriggeredExchange,
        source: &mut dyn MsduSource,
    ) {
        let asked = exchange.users.iter().take_while(|user| !user.is_random).count();
        let units = exchange.users.split_off(asked);
        if units.is_empty() {
            return;
        }
        let Some(mut random) = triggers.random.take() else { return };
        let mut chosen: Vec<Vec<u32>> = vec![Vec::new(); units.len()];
        for station in 1..self.nodes.len() as u32 {
            let is_asked = exchange.users.iter().any(|user| user.station == station);
            if is_asked || !self.has_units(station) || !self.has_packets(station) {
                continue;
            }
            let hears = self.hears_trigger(station, source);
            let own = &mut random.stations[station as usize - 1];
            exchange.contenders.push(own.of(station, hears));
            let sends = if hears { own.on_trigger(units.len() as u32) } else { None };
            if let Some(unit) = sends {
                chosen[unit as usize].push(station);
            }
        }
        for (unit, stations) in units.into_iter().zip(chosen) {
            let first = exchange.users.len();
            for &station in &stations {
                let mut user = TriggeredUser { station, ..unit };
                self.respond(triggers, now, exchange.kind, &mut user, source);
                exchange.users.push(user);
            }
            if stations.is_empty() {
                exchange.users.push(unit);
            }
            let senders = &mut exchange.users[first..];
            if stations.len() > 1 {
                for user in &mut *senders {
                    (user.collides, user.arrives) = (true, false);
                }
            }
            if let Some(groups) = &mut self.groups {
                triggers.triggering.count_unit(ACCESS_POINT, senders, groups.random());
            }
        }
        triggers.random = Some(random);
    }

    /// Stations that have sent in RA-RUs learn whether that was received. What asks for no
    /// acknowledgement, a `QoS` Null, counts as a success.
    pub(super) fn settle_random(&mut self, triggered: &TriggeredExchange) {
        let random = self.triggers.as_deref_mut().and_then(|triggers| triggers.random.as_mut());
        let Some(RandomUnits { settings, stations }) = random else { return };
        let senders = triggered.users.iter().filter(|user| user.is_random);
        for user in senders.filter(|user| user.station != ACCESS_POINT) {
            let is_told = user.is_told();
            stations[user.station as usize - 1].on_sent(settings, is_told || !user.sends());
        }
    }
}
