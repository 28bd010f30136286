//! The beacons of access points (802.11-2020 clause 11.1.3.2).

use super::power_save::Tim;
use super::{Join, Next, Site};
use crate::mac;
use kernel::{Duration, Instant, Seed};
use wire::{Beacon, Body, Management, Packet, TrafficClass};

/// The beacons of all access points.
#[derive(Debug)]
pub struct Beacons {
    settings: mac::Beacons,
    /// One for each access point.
    schedules: Vec<Schedule>,
}

/// The beacons of an access point.
#[derive(Debug)]
struct Schedule {
    radio: u32,
    /// Beacon intervals that have begun.
    begun: u64,
    /// The beacon that waits for medium access.
    due: Option<Packet>,
    sent: u64,
    skipped: u64,
}

impl Beacons {
    /// The beacons of the access points with these radios.
    pub fn new(settings: mac::Beacons, radios: impl Iterator<Item = u32>) -> Self {
        let schedule = |radio| Schedule { radio, begun: 0, due: None, sent: 0, skipped: 0 };
        Self { settings, schedules: radios.map(schedule).collect() }
    }

    /// The first target beacon transmission time (TBTT) of each access point, with its radio: at
    /// random within the first interval, because access points have clocks of their own.
    pub(super) fn first(&self, seed: &Seed) -> impl Iterator<Item = (u32, Instant)> {
        let between = self.settings.between();
        self.schedules.iter().zip(0..).map(move |(schedule, number)| {
            let part = seed.stream("mac.beacon", number).uniform();
            (schedule.radio, Instant::ZERO + Duration((part * between.0 as f64) as u64))
        })
    }

    fn of(&self, radio: u32) -> Option<&Schedule> {
        self.schedules.iter().find(|schedule| schedule.radio == radio)
    }

    fn of_mut(&mut self, radio: u32) -> Option<&mut Schedule> {
        self.schedules.iter_mut().find(|schedule| schedule.radio == radio)
    }

    /// The beacon that a radio sends next, before packets of this class.
    pub(super) fn next(&mut self, by: u32, class: TrafficClass, site: &Site) -> Option<Next> {
        let schedule = self.of_mut(by).filter(|_| site.precedes(class))?;
        schedule.due.take().map(|packet| Next::Frame { packet, to: None })
    }

    /// The beacon, if it is the next frame of a radio to all; nothing goes to a station before it.
    pub(super) fn next_to(
        &mut self,
        by: u32,
        to: Option<u32>,
        class: TrafficClass,
        site: &Site,
    ) -> Option<Next> {
        match to {
            None => self.next(by, class, site),
            Some(_) => self.join(by, class, site).map(|_| Next::Nothing),
        }
    }

    /// Nothing joins the packets in service at a radio if a beacon is its next frame.
    pub(super) fn join(&self, by: u32, class: TrafficClass, site: &Site) -> Option<Join> {
        let schedule = self.of(by).filter(|_| site.precedes(class))?;
        schedule.due.map(|_| Join::Nothing)
    }

    /// How many beacon intervals of an access point have begun, and after how many of them a DTIM
    /// comes.
    pub(super) fn begun(&self, radio: u32) -> (u64, u32) {
        (self.of(radio).map_or(0, |schedule| schedule.begun), self.settings.dtim_period)
    }

    /// A TBTT of an access point, whose beacon says this about what it buffers. Returns its next
    /// TBTT.
    pub(super) fn on_tbtt(&mut self, now: Instant, radio: u32, tim: Tim, site: &Site) -> Instant {
        let settings = self.settings;
        if let Some(schedule) = self.of_mut(radio) {
            let beacon = schedule.beacon(now, &settings, tim, site);
            schedule.skipped += u64::from(schedule.due.replace(beacon).is_some());
        }
        now + settings.between()
    }

    /// A radio has sent a beacon.
    pub(super) fn on_sent(&mut self, radio: u32) {
        if let Some(schedule) = self.of_mut(radio) {
            schedule.sent += 1;
        }
    }

    /// Beacons that an access point has sent.
    pub fn sent(&self, radio: u32) -> u64 {
        self.of(radio).map_or(0, |schedule| schedule.sent)
    }

    /// Beacons that were still waiting at the next TBTT.
    pub fn skipped(&self, radio: u32) -> u64 {
        self.of(radio).map_or(0, |schedule| schedule.skipped)
    }
}

impl Schedule {
    /// The beacon of a TBTT.
    fn beacon(&mut self, now: Instant, settings: &mac::Beacons, tim: Tim, site: &Site) -> Packet {
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
        let from = site.nodes[self.radio as usize];
        Packet { class: Management::CLASS, ..Packet::new(from, None, settings.size, now, body) }
    }
}
