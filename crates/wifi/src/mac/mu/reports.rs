//! What an access point knows of the queues of its stations: the Queue Size in the `QoS` Control of
//! their frames (802.11ax-2021 clause 9.2.4.5.6).

use kernel::Bytes;
use settings::Choice;

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

    /// The Queue Size of `QoS` Control for a queue.
    pub(crate) fn field(self, queue: Bytes) -> u8 {
        /// With either scaling.
        const MORE: u8 = 254;
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

/// The last reports of the stations, by station and access category.
#[derive(Debug)]
pub(crate) struct Reports {
    categories: u32,
    /// Bytes; `u64::MAX` is more than can be told.
    last: Vec<Bytes>,
    /// What an EDCAF tells with the PSDU that it has assembled.
    told: Vec<Bytes>,
}

impl Reports {
    pub(crate) fn new(functions: u32, categories: u32) -> Self {
        let none = vec![Bytes::ZERO; functions as usize];
        Self { categories, last: none.clone(), told: none }
    }

    /// An EDCAF has assembled a PSDU, beside which this waits.
    pub(crate) fn tell(&mut self, function: u32, sizes: QueueSizes, queue: Bytes) {
        self.told[function as usize] = sizes.told(queue).unwrap_or(Bytes(u64::MAX));
    }

    /// What an EDCAF has told with its last PSDU.
    pub(crate) fn told(&self, function: u32) -> Bytes {
        self.told[function as usize]
    }

    /// The access point has received the PSDU.
    pub(crate) fn hear(&mut self, function: u32) {
        self.last[function as usize] = self.told[function as usize];
    }

    /// The most that waits in one access category of a station.
    pub(crate) fn of(&self, station: u32) -> Bytes {
        let first = (station * self.categories) as usize;
        let own = &self.last[first..first + self.categories as usize];
        own.iter().copied().max().unwrap_or(Bytes::ZERO)
    }

    /// Whether anything waits anywhere.
    pub(crate) fn any(&self) -> bool {
        self.last.iter().any(|&bytes| bytes > Bytes::ZERO)
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
        let he = |bytes| QueueSizes::He.field(Bytes(bytes));
        assert_eq!([0, 1, 1008, 1009, 1280, 17_153].map(he), [0, 1, 63, 0x40, 0x41, 0x80]);
        assert_eq!([148_480, 148_481, u64::MAX].map(he), [0xc0, 0xc1, 254]);
        let legacy = |bytes| QueueSizes::Legacy.field(Bytes(bytes));
        assert_eq!([0, 256, 257, 64_768, 64_769].map(legacy), [0, 1, 2, 253, 254]);
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

    #[test]
    fn a_report_counts_when_it_is_heard() {
        let mut reports = Reports::new(12, 4);
        reports.tell(5, QueueSizes::He, Bytes(100));
        assert!(!reports.any());
        reports.hear(5);
        assert_eq!([reports.of(0), reports.of(1), reports.of(2)].map(|it| it.0), [0, 112, 0]);
        reports.tell(5, QueueSizes::He, Bytes(1 << 30));
        assert_eq!(reports.of(1), Bytes(112));
        reports.hear(5);
        assert_eq!(reports.of(1), Bytes(u64::MAX));
    }
}
