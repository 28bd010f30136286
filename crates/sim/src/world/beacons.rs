//! The beacons of access points (802.11-2020 clause 11.1.3.2).

use crate::plan::Plan;
use crate::topology::{ACCESS_POINT, RadioId};
use kernel::{Duration, Instant, Seed};
use wifi::mac;
use wifi::power_save::Tim;
use wire::{Beacon, Body, Management, Packet, TrafficClass};

/// The beacons of all access points.
#[derive(Debug)]
pub(crate) struct Beacons {
    settings: mac::Beacons,
    /// One for each access point.
    schedules: Vec<Schedule>,
}

/// The beacons of an access point.
#[derive(Debug)]
struct Schedule {
    radio: RadioId,
    /// Beacon intervals that have begun.
    begun: u64,
    /// The beacon that waits for medium access.
    due: Option<Packet>,
    sent: u64,
    skipped: u64,
}

impl Beacons {
    /// The beacons of a plan, if there are any, and the first TBTT of each access point: at random
    /// within the first interval, because access points have clocks of their own.
    pub(super) fn new(plan: &Plan, seed: &Seed) -> Option<(Box<Self>, Vec<Instant>)> {
        let settings = plan.wlan.beacons?;
        let schedule =
            |&radio: &RadioId| Schedule { radio, begun: 0, due: None, sent: 0, skipped: 0 };
        let schedules: Vec<_> = plan.topology.access_points().iter().map(schedule).collect();
        let first = |number: usize| {
            let part = seed.stream("mac.beacon", number as u32).uniform();
            Instant::ZERO + Duration((part * settings.between().0 as f64) as u64)
        };
        let first = (0..schedules.len()).map(first).collect();
        Some((Box::new(Self { settings, schedules }), first))
    }

    fn of(&self, radio: RadioId) -> Option<&Schedule> {
        self.schedules.iter().find(|schedule| schedule.radio == radio)
    }

    /// Whether a beacon waits at a radio that it sends before packets of this class. Without access
    /// categories there is one class.
    pub(super) fn is_due(&self, radio: RadioId, class: TrafficClass, has_categories: bool) -> bool {
        (class == Management::CLASS || !has_categories)
            && self.of(radio).is_some_and(|schedule| schedule.due.is_some())
    }

    /// The radio of the access point of this number.
    pub(super) fn radio(&self, access_point: u32) -> RadioId {
        self.schedules[access_point as usize].radio
    }

    /// The beacon intervals of an access point that have begun, and after how many of them a DTIM
    /// comes.
    pub(super) fn begun(&self, access_point: u32) -> (u64, u32) {
        (self.schedules[access_point as usize].begun, self.settings.dtim_period)
    }

    /// A TBTT of the access point of this number. Returns its next TBTT.
    pub(super) fn on_tbtt(&mut self, now: Instant, access_point: u32, tim: Tim) -> Instant {
        let schedule = &mut self.schedules[access_point as usize];
        let beacon = schedule.beacon(now, &self.settings, tim);
        schedule.skipped += u64::from(schedule.due.replace(beacon).is_some());
        now + self.settings.between()
    }

    /// Removes and returns the beacon that a radio sends before packets of this class.
    pub(super) fn take(
        &mut self,
        radio: RadioId,
        class: TrafficClass,
        has_categories: bool,
    ) -> Option<Packet> {
        let is_due = self.is_due(radio, class, has_categories);
        self.of_mut(radio).filter(|_| is_due)?.due.take()
    }

    /// A radio has sent a beacon.
    pub(super) fn on_sent(&mut self, radio: RadioId) {
        if let Some(schedule) = self.of_mut(radio) {
            schedule.sent += 1;
        }
    }

    fn of_mut(&mut self, radio: RadioId) -> Option<&mut Schedule> {
        self.schedules.iter_mut().find(|schedule| schedule.radio == radio)
    }

    /// Beacons that an access point has sent.
    pub(crate) fn sent(&self, radio: RadioId) -> u64 {
        self.of(radio).map_or(0, |schedule| schedule.sent)
    }

    /// Beacons that were still waiting at the next TBTT.
    pub(crate) fn skipped(&self, radio: RadioId) -> u64 {
        self.of(radio).map_or(0, |schedule| schedule.skipped)
    }
}

impl Schedule {
    /// The beacon of a TBTT.
    fn beacon(&mut self, now: Instant, settings: &mac::Beacons, tim: Tim) -> Packet {
        let period = u64::from(settings.dtim_period);
        let count = (period - self.begun % period) % period;
        self.begun += 1;
        let beacon = Beacon {
            interval: settings.interval as u16,
            dtim_count: count as u8,
            dtim_period: settings.dtim_period as u8,
            tim: tim.stations,
            has_group: tim.has_group,
        };
        let body = Body::Management(Management::Beacon(beacon));
        Packet {
            class: Management::CLASS,
            ..Packet::new(ACCESS_POINT, None, settings.size, now, body)
        }
    }
}
