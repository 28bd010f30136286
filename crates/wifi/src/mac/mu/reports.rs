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

/// A BSR Control for the queues of all access categories, lowest first (clause 9.2.4.6a.4): which
/// are not empty, the size of that of the highest of these, and of all together, rounded up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferStatus {
    waits: [bool; 4],
    /// The highest category that waits.
    highest: Option<usize>,
    scale: usize,
    high: u64,
    all: u64,
}

impl BufferStatus {
    const UNITS: [u64; 4] = [16, 256, 2048, 32_768];
    /// The most units; one more is more than that.
    const MOST: u64 = 253;

    pub(crate) fn of(queues: [Bytes; 4]) -> Self {
        let waits = queues.map(|queue| queue > Bytes::ZERO);
        let highest = waits.iter().rposition(|&waits| waits);
        let high = highest.map_or(Bytes::ZERO, |category| queues[category]).0;
        let all = queues.iter().fold(0_u64, |all, queue| all.saturating_add(queue.0));
        let fits = |unit: &u64| all.div_ceil(*unit) <= Self::MOST;
        let scale = Self::UNITS.iter().position(fits).unwrap_or(3);
        let [high, all] =
            [high, all].map(|size| size.div_ceil(Self::UNITS[scale]).min(Self::MOST + 1));
        Self { waits, highest, scale, high, all }
    }

    /// The Control Information, with one TID of each category.
    pub(crate) fn bits(&self) -> u32 {
        /// The ACI of each access category (table 10-1).
        const ACI: [u32; 4] = [1, 0, 2, 3];
        let waits = ACI.iter().zip(self.waits).filter(|&(_, waits)| waits);
        let bitmap = waits.fold(0, |bits, (aci, _)| bits | 1 << aci);
        let high = ACI[self.highest.unwrap_or(1)];
        bitmap
            | high << 6
            | (self.scale as u32) << 8
            | (self.high as u32) << 10
            | (self.all as u32) << 18
    }

    /// What it tells of each queue, where `QoS` Control tells this of one of them. The sizes of
    /// others than the highest are known together only: each may have all that is left.
    pub(crate) fn told(&self, own: usize, size: Option<Bytes>) -> [Bytes; 4] {
        let unit = Self::UNITS[self.scale];
        let bytes = |units| if units > Self::MOST { u64::MAX } else { units * unit };
        let (high, all) = (bytes(self.high), bytes(self.all));
        let mut left = all;
        if all < u64::MAX {
            let of_own = if Some(own) == self.highest { 0 } else { size.map_or(0, |it| it.0) };
            left = all.saturating_sub(high).saturating_sub(of_own).max(unit);
        }
        [0, 1, 2, 3].map(|category| match () {
            () if category == own => size.unwrap_or(Bytes(u64::MAX)),
            () if !self.waits[category] => Bytes::ZERO,
            () if Some(category) == self.highest => Bytes(high),
            () => Bytes(left),
        })
    }
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
        let report = |queues: [u64; 4]| BufferStatus::of(queues.map(Bytes)).bits();
        let fields = |bits: u32| {
            [bits & 15, bits >> 6 & 3, bits >> 8 & 3, bits >> 10 & 255, bits >> 18 & 255]
        };
        assert_eq!(fields(report([0; 4])), [0, 0, 0, 0, 0]);
        // 4048 bytes are 253 units of 16.
        assert_eq!(fields(report([0, 4048, 0, 0])), [1, 0, 0, 253, 253]);
        assert_eq!(fields(report([100, 0, 3949, 0])), [0b0110, 2, 1, 16, 16]);
        assert_eq!(fields(report([0, 0, 0, u64::MAX])), [0b1000, 3, 3, 254, 254]);
    }

    /// The Null of a category has the size of its queue; others are told by the BSR Control.
    #[test]
    fn a_buffer_status_tells_the_highest_queue_and_all_together() {
        let told = |queues: [u64; 4], own: usize| {
            let size = QueueSizes::He.told(Bytes(queues[own]));
            BufferStatus::of(queues.map(Bytes)).told(own, size).map(|told| told.0)
        };
        assert_eq!(told([0; 4], 1), [0; 4]);
        assert_eq!(told([0, 1500, 0, 0], 1), [0, 1536, 0, 0]);
        // 1500 bytes are 94 units of 16, and 100 are 7.
        assert_eq!(told([0, 1500, 0, 0], 3), [0, 1504, 0, 0]);
        assert_eq!(told([0, 1500, 100, 0], 0), [0, 1600 - 112, 112, 0]);
        assert_eq!(told([0, 1500, 100, 0], 1)[1..], [1536, 112, 0]);
        // Of background and best effort, the sum: 2800 bytes are 175 units.
        assert_eq!(told([1000, 1500, 0, 300], 2), [2800 - 304, 2800 - 304, 0, 304]);
        assert_eq!(told([0, 1, 0, u64::MAX], 2), [0, u64::MAX, 0, u64::MAX]);
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
