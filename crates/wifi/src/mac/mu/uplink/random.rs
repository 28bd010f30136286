//! Stations that a Trigger frame does not ask: which of them send in its RA-RUs, and what they
//! learn.

use super::triggering::Triggering;
use super::{TriggeredExchange, TriggeredUser, Uplink};
use crate::mac::mu::members::Members;
use crate::mac::mu::{OfdmaBackoff, RandomAccess, RandomAccessCounters};
use kernel::Seed;

/// The random access of all stations of an access point.
#[derive(Debug)]
pub(super) struct RandomStations {
    settings: RandomAccess,
    /// By the place of a station, from 1.
    backoffs: Vec<OfdmaBackoff>,
}

impl RandomStations {
    /// `None` if Trigger frames have no RA-RUs.
    pub(super) fn of(settings: &Uplink, members: &Members, seed: &Seed) -> Option<Self> {
        let settings = settings.random_access.clone()?;
        let backoffs = members.places().map(|place| {
            let draws = seed.stream("mac.random_access", members.at(place));
            OfdmaBackoff::new(&settings, draws)
        });
        let backoffs = backoffs.collect();
        Some(Self { settings, backoffs })
    }
}

impl Triggering {
    /// The random access of a station.
    fn backoff_mut(&mut self, station: u32) -> Option<(&RandomAccess, &mut OfdmaBackoff)> {
        let place = self.members.place(Some(station)) as usize;
        let random = self.random.as_mut()?;
        Some((&random.settings, &mut random.backoffs[place - 1]))
    }

    /// A station has packets, is not asked by a Trigger frame, and perhaps `hears` it: it then
    /// counts its RA-RUs, if there are any. Returns which of them it chooses, if it comes to zero.
    pub(crate) fn contend(
        &mut self,
        triggered: &mut TriggeredExchange,
        station: u32,
        hears: bool,
    ) -> Option<u32> {
        let units = triggered.units().filter(|unit| unit[0].is_random).count() as u32;
        let (_, own) = self.backoff_mut(station).filter(|_| units > 0)?;
        triggered.contenders.push(own.of(station, hears));
        if hears { own.on_trigger(units) } else { None }
    }

    /// A station has chosen an RA-RU, and the medium is busy when it is to send there: it draws a
    /// counter from the same window.
    pub(crate) fn put_off(&mut self, station: u32) {
        if let Some((_, own)) = self.backoff_mut(station) {
            own.put_off();
        }
    }

    /// A station has begun to belong to this access point, after another, perhaps: it has a counter
    /// and a window as at first (clause 26.5.4.2).
    pub(crate) fn begin_random(&mut self, station: u32, before: Option<&mut Self>) {
        let Some((settings, own)) = self.backoff_mut(station) else { return };
        // It goes on with its own random numbers.
        if let Some((_, other)) = before.and_then(|before| before.backoff_mut(station)) {
            std::mem::swap(own, other);
        }
        own.on_sent(settings, true);
    }

    /// Stations that have sent in RA-RUs learn whether that was received. What asks for no
    /// acknowledgement, a `QoS` Null, counts as a success.
    pub(crate) fn settle_random(&mut self, triggered: &TriggeredExchange) {
        let senders = triggered.users.iter().filter(|user| user.is_random);
        for user in senders.filter(|user| user.kind().is_some()) {
            if let Some((settings, own)) = self.backoff_mut(user.station) {
                own.on_sent(settings, user.is_told() || !user.sends());
            }
        }
    }

    /// Counts the RA-RUs of a Trigger frame.
    pub(crate) fn count_units(
        &mut self,
        triggered: &TriggeredExchange,
        all: &mut RandomAccessCounters,
    ) {
        for unit in triggered.units().filter(|unit| unit[0].is_random) {
            let senders = unit.iter().filter(|user| user.kind().is_some());
            all.offered += 1;
            all.used += u64::from(senders.clone().next().is_some());
            all.collided += u64::from(senders.clone().count() > 1);
            all.received += u64::from(unit.iter().any(TriggeredUser::arrives));
            for user in senders {
                let own = self.counters_of_mut(user.station);
                own.attempts += 1;
                own.successes += u64::from(user.arrives());
            }
        }
    }
}

impl TriggeredExchange {
    /// A station has chosen an RA-RU, the `nth` of them: it is a user, after those that have chosen
    /// the same.
    pub(crate) fn enter(&mut self, access_point: u32, nth: u32, station: u32) {
        let asked = self.users.iter().filter(|user| !user.is_random).count();
        let unit = self.users[asked].unit + nth as usize;
        let first = self.users.partition_point(|user| user.unit < unit);
        if self.users[first].station == access_point {
            return self.users[first].station = station;
        }
        let last = self.users.partition_point(|user| user.unit <= unit);
        self.users.insert(last, TriggeredUser { station, ..self.users[first] });
    }

    /// Several send in one resource unit where they do.
    pub(crate) fn note_collisions(&mut self) {
        for unit in self.users.chunk_by_mut(|one, other| one.unit == other.unit) {
            let senders = unit.iter().filter(|user| user.kind().is_some()).count();
            for user in unit {
                user.collides = senders > 1 && user.kind().is_some();
            }
        }
    }
}
