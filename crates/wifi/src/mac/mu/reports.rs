//! What an access point knows of the queues of its stations: the Queue Size in the `QoS` Control of
//! their frames (802.11ax-2021 clause 9.2.4.5.6).

use kernel::{Bytes, Duration, Instant};
use settings::{Choice, Settings};
use std::ops::Range;

/// What an access point knows of the queues of its stations.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ReportSettings {
    /// Which frames of stations tell the sizes of their queues.
    pub told_in: ToldIn,
    /// How long the access point believes what a station has told, in milliseconds. Default: until
    /// it tells something else. ns-3 has 20 (`BsrLifetime`).
    #[setting(key = "lifetime_ms", range = 0.1..=1e6)]
    pub lifetime: Option<Duration>,
    /// What a Basic Trigger frame asks for of a station whose queue is not known, in bytes, and the
    /// least that one of the stations must have time for. 0: a station whose queue is not known is
    /// not asked. ns-3 has 500 (`UlPsduSize`).
    #[setting(key = "unknown_bytes", default = Bytes(0), range = 0.0..=65_535.0)]
    pub unknown: Bytes,
}

/// Which frames of stations tell the sizes of their queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum ToldIn {
    /// All frames with data, and `QoS` Nulls.
    #[default]
    Data,
    /// Only `QoS` Nulls, which stations send when they are triggered and have no data, or are asked
    /// by a BSRP. In ns-3 it is so unless `SetQueueSize` is set.
    Nulls,
}

/// How `QoS` Control tells the size of a queue, which is rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum QueueSizes {
    /// In units of 16, 256, 2048 or 32768 bytes, the larger the queue.
    #[default]
    He,
    /// In units of 256 bytes, up to 64768, as before 802.11ax. ns-3 does this.
    Legacy,
}

impl QueueSizes {
    /// What is told of a queue; `None` if it is larger than can be told.
    pub(crate) fn told(self, queue: Bytes) -> Option<Bytes> {
        self.scaled(queue).map(|(_, _, rounded)| rounded)
    }

    /// The Queue Size of `QoS` Control for a queue, of which nothing may be told.
    pub(crate) fn field(self, queue: Option<Bytes>) -> u8 {
        /// With either scaling.
        const MORE: u8 = 254;
        const UNKNOWN: u8 = 255;
        let Some(queue) = queue else { return UNKNOWN };
        self.scaled(queue).map_or(MORE, |(scale, units, _)| (scale << 6 | units) as u8)
    }

    /// The scale, the units and the bytes of what is told.
    fn scaled(self, queue: Bytes) -> Option<(u64, u64, Bytes)> {
        /// The least size with each unit, the unit, and the most units.
        const HE: [(u64, u64, u64); 4] =
            [(0, 16, 63), (1024, 256, 63), (17_408, 2048, 63), (148_480, 32_768, 61)];
        const LEGACY: [(u64, u64, u64); 1] = [(0, 256, 253)];
        let scales: &[_] = if self == Self::He { &HE } else { &LEGACY };
        let rounded = scales.iter().zip(0..).map(|(&(least, unit, most), scale)| {
            let units = queue.0.saturating_sub(least).div_ceil(unit);
            (units <= most).then(|| (scale, units, Bytes(least + units * unit)))
        });
        rounded.flatten().next()
    }
}

/// The Control Information of a BSR Control for the queues of all access categories, lowest first
/// (clause 9.2.4.6a.4): one TID of each, sizes rounded up.
pub(crate) fn buffer_status(queues: [Bytes; 4]) -> u32 {
    /// The ACI of each access category (table 10-1).
    const ACI: [u32; 4] = [1, 0, 2, 3];
    const UNITS: [u64; 4] = [16, 256, 2048, 32_768];
    const MOST: u64 = 253;
    let waits = |category: &usize| queues[*category] > Bytes::ZERO;
    let bitmap = (0..4).filter(waits).fold(0, |bits, category| bits | 1 << ACI[category]);
    let highest = (0..4).rev().find(waits);
    let high = highest.map_or(Bytes::ZERO, |category| queues[category]).0;
    let all = queues.iter().fold(0_u64, |all, queue| all.saturating_add(queue.0));
    let scale = UNITS.iter().position(|unit| all.div_ceil(*unit) <= MOST).unwrap_or(3);
    let code = |bytes: u64| bytes.div_ceil(UNITS[scale]).min(MOST + 1) as u32;
    let aci_high = ACI[highest.unwrap_or(1)];
    bitmap | aci_high << 6 | (scale as u32) << 8 | code(high) << 10 | code(all) << 18
}

/// The last reports of the stations of an access point, by their places and access categories.
#[derive(Debug)]
pub(crate) struct Reports {
    settings: ReportSettings,
    categories: u32,
    /// Bytes, and when they were told; `u64::MAX` is more than can be told.
    last: Vec<Option<(Bytes, Instant)>>,
}

impl ReportSettings {
    /// What an EDCAF tells with a PSDU of data or of a `QoS` Null, beside which this waits, if it
    /// tells anything.
    pub(crate) fn told(&self, sizes: QueueSizes, queue: Bytes, is_null: bool) -> Option<Bytes> {
        let tells = is_null || self.told_in == ToldIn::Data;
        tells.then(|| sizes.told(queue).unwrap_or(Bytes(u64::MAX)))
    }
}

impl Reports {
    /// Those of so many stations.
    pub(crate) fn new(settings: &ReportSettings, stations: u32, categories: u32) -> Self {
        let last = vec![None; ((stations + 1) * categories) as usize];
        Self { settings: settings.clone(), categories, last }
    }

    /// The access point has received a PSDU of this category of a station, with which it has told
    /// this, if anything.
    pub(crate) fn hear(&mut self, now: Instant, place: u32, category: u32, told: Option<Bytes>) {
        if let Some(told) = told {
            self.last[(place * self.categories + category) as usize] = Some((told, now));
        }
    }

    /// What a station has told does not hold any more.
    pub(crate) fn forget(&mut self, place: u32) {
        let own = self.places_of(place);
        self.last[own].fill(None);
    }

    /// Its reports, by access category.
    fn places_of(&self, place: u32) -> Range<usize> {
        let first = (place * self.categories) as usize;
        first..first + self.categories as usize
    }

    /// The most that waits in one access category of a station, as far as it is known.
    pub(crate) fn of(&self, now: Instant, place: u32) -> Bytes {
        let own = &self.last[self.places_of(place)];
        let known = own.iter().flatten().filter(|&&(_, since)| self.is_believed(now, since));
        known.map(|&(bytes, _)| bytes).max().unwrap_or(self.settings.unknown)
    }

    fn is_believed(&self, now: Instant, since: Instant) -> bool {
        self.settings.lifetime.is_none_or(|lifetime| now <= since + lifetime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_units() {
        let he = |bytes| QueueSizes::He.told(Bytes(bytes)).map(|told| told.0);
        assert_eq!([0, 1, 16, 1008].map(he), [0, 16, 16, 1008].map(Some));
        assert_eq!([1009, 1025, 17_152].map(he), [1024, 1280, 17_152].map(Some));
        assert_eq!([17_153, 17_409, 146_432].map(he), [17_408, 19_456, 146_432].map(Some));
        assert_eq!([146_433, 2_147_328, 2_147_329].map(he), [Some(148_480), Some(2_147_328), None]);
        let legacy = |bytes| QueueSizes::Legacy.told(Bytes(bytes)).map(|told| told.0);
        assert_eq!(
            [0, 1, 257, 64_768, 64_769].map(legacy),
            [Some(0), Some(256), Some(512), Some(64_768), None]
        );
    }

    /// Two bits of scale and six of units; of 256 bytes before 802.11ax.
    #[test]
    fn sizes_have_codes() {
        let he = |bytes| QueueSizes::He.field(Some(Bytes(bytes)));
        assert_eq!([0, 1, 1008, 1009, 1280, 17_153].map(he), [0, 1, 63, 0x40, 0x41, 0x80]);
        assert_eq!([148_480, 148_481, u64::MAX].map(he), [0xc0, 0xc1, 254]);
        let legacy = |bytes| QueueSizes::Legacy.field(Some(Bytes(bytes)));
        assert_eq!([0, 256, 257, 64_768, 64_769].map(legacy), [0, 1, 2, 253, 254]);
        assert_eq!(QueueSizes::He.field(None), 255);
    }

    #[test]
    fn a_buffer_status_has_the_smallest_scale() {
        let report = |queues: [u64; 4]| buffer_status(queues.map(Bytes));
        let fields = |bits: u32| {
            [bits & 15, bits >> 6 & 3, bits >> 8 & 3, bits >> 10 & 255, bits >> 18 & 255]
        };
        assert_eq!(fields(report([0; 4])), [0, 0, 0, 0, 0]);
        // 4048 bytes are 253 units of 16.
        assert_eq!(fields(report([0, 4048, 0, 0])), [1, 0, 0, 253, 253]);
        assert_eq!(fields(report([100, 0, 3949, 0])), [0b0110, 2, 1, 16, 16]);
        assert_eq!(fields(report([0, 0, 0, u64::MAX])), [0b1000, 3, 3, 254, 254]);
    }

    fn settings(told_in: ToldIn, lifetime: Option<Duration>, unknown: Bytes) -> ReportSettings {
        ReportSettings { told_in, lifetime, unknown }
    }

    #[test]
    fn a_report_counts_when_it_is_heard() {
        let settings = settings(ToldIn::Data, None, Bytes::ZERO);
        let (mut reports, now) = (Reports::new(&settings, 2, 4), Instant::ZERO);
        assert_eq!(reports.of(now, 1), Bytes::ZERO);
        reports.hear(now, 1, 1, settings.told(QueueSizes::He, Bytes(100), false));
        assert_eq!([0, 1, 2].map(|place| reports.of(now, place).0), [0, 112, 0]);
        reports.hear(now, 1, 1, settings.told(QueueSizes::He, Bytes(1 << 30), false));
        assert_eq!(reports.of(now, 1), Bytes(u64::MAX));
    }

    #[test]
    fn a_report_is_believed_for_some_time_and_then_the_queue_is_unknown() {
        let lifetime = Some(Duration::from_millis(20));
        let settings = settings(ToldIn::Nulls, lifetime, Bytes(500));
        let mut reports = Reports::new(&settings, 2, 4);
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        assert_eq!([1, 2].map(|place| reports.of(at(0), place)), [Bytes(500); 2]);
        reports.hear(at(1), 1, 0, settings.told(QueueSizes::He, Bytes(1000), false));
        assert_eq!(reports.of(at(1), 1), Bytes(500), "data tells nothing");
        reports.hear(at(2), 1, 0, settings.told(QueueSizes::He, Bytes::ZERO, true));
        assert_eq!([2, 22, 23].map(|ms| reports.of(at(ms), 1).0), [0, 0, 500]);
    }
}
