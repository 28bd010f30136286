//! Music over Bluetooth: bursts of long packets (A2DP).

use super::bluetooth::{AfhSettings, Destroyed, Hopping, SLOT, SlotClock};
use super::{Burst, Packets, Source, SourceKind, Surroundings};
use kernel::{Duration, Instant};
use settings::{Choice, Settings};

/// Music over Bluetooth (A2DP): a stream of constant rate in five-slot packets, which are sent
/// together once in each period. The second device acknowledges each packet in the slot after it.
/// Nothing is repeated.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "A2dp")]
pub struct A2dpSettings {
    /// Rate of the stream in kb/s: SBC at high quality (A2DP 1.3.2, table 4.7).
    #[setting(default = 328.0, range = 1.0..=1400.0)]
    pub rate_kbps: f64,
    /// Time between two bursts of packets in milliseconds, in whole pairs of slots.
    #[setting(key = "period_ms", default = 20.0, range = 5.0..=1000.0)]
    pub period: Duration,
    /// The packet type.
    pub format: AudioFormat,
    /// Adaptive frequency hopping; default none.
    pub afh: Option<AfhSettings>,
    /// When a period begins, in microseconds. Default: a random phase.
    #[setting(key = "phase_us", range = 0.0..=1e6)]
    pub phase: Option<Duration>,
}

/// The packet type of music.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AudioFormat {
    /// 339 bytes at 1 Mb/s.
    #[setting(name = "DH5")]
    Dh5,
    /// 679 bytes at 2 Mb/s.
    #[default]
    #[setting(name = "2-DH5")]
    TwoDh5,
    /// 1021 bytes at 3 Mb/s.
    #[setting(name = "3-DH5")]
    ThreeDh5,
}

impl AudioFormat {
    /// The most bytes of a packet, and the duration of a packet with so many: access code and
    /// header of 126 us; for 2 and 3 Mb/s a guard time, synchronisation and trailer of 18 us; and 2
    /// bytes of header and 2 of check with the payload (sections 6.5.4 and 6.6).
    const fn size(self) -> u64 {
        match self {
            Self::Dh5 => 339,
            Self::TwoDh5 => 679,
            Self::ThreeDh5 => 1021,
        }
    }

    const fn lasts(self, bytes: u64) -> Duration {
        let bits = 8 * (bytes + 4);
        Duration::from_nanos(match self {
            Self::Dh5 => 1000 * (126 + bits),
            Self::TwoDh5 => 1000 * (126 + 18) + 500 * bits,
            Self::ThreeDh5 => 1000 * (126 + 18) + 1000 * bits / 3,
        })
    }
}

/// Bytes before the media of a period: L2CAP, AVDTP and the header of SBC.
const HEADERS: u64 = 4 + 12 + 1;
/// Access code and header of an acknowledgement without data.
const ACKNOWLEDGEMENT: Duration = Duration::from_micros(126);
/// A packet occupies five slots, its acknowledgement the sixth.
const PITCH: u64 = 6;

impl SourceKind for A2dpSettings {
    fn build(&self, surroundings: &Surroundings) -> Box<dyn Source> {
        let period = (self.period / (SLOT * 2)).max(1) * 2;
        let lasting = (SLOT * period).as_secs_f64();
        let bytes = HEADERS + libm::ceil(self.rate_kbps * 1e3 / 8.0 * lasting) as u64;
        // A rate beyond the capacity of the packet type fills the period.
        let most = (period / PITCH).max(1);
        let packets = bytes.div_ceil(self.format.size()).min(most);
        let last = bytes.saturating_sub((packets - 1) * self.format.size());
        let clock = SlotClock::new(surroundings, SLOT * period, self.phase);
        let mut hopping = Hopping::new(surroundings, self.afh.as_ref());
        hopping.expect(|until| begun_before(clock.begun(until), period, packets));
        Box::new(A2dp {
            period,
            packets,
            whole: self.format.lasts(self.format.size()),
            last: self.format.lasts(last.min(self.format.size())),
            clock,
            hopping,
            destroyed: Destroyed::default(),
        })
    }

    fn is_link(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct A2dp {
    /// In slots.
    period: u64,
    /// Packets in a period.
    packets: u64,
    /// Durations of a whole packet and of the last packet of a period.
    whole: Duration,
    last: Duration,
    clock: SlotClock,
    hopping: Hopping,
    destroyed: Destroyed,
}

impl A2dp {
    /// The burst of the given number, two for each packet, and the slot in which it begins.
    fn burst(&self, number: u64) -> (u64, Duration) {
        let (period, place) = (number / (2 * self.packets), number % (2 * self.packets));
        let slot = period * self.period + place / 2 * PITCH;
        match (place % 2, place / 2 + 1 == self.packets) {
            (1, _) => (slot + PITCH - 1, ACKNOWLEDGEMENT),
            (_, true) => (slot, self.last),
            (_, false) => (slot, self.whole),
        }
    }
}

impl Source for A2dp {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        // The burst that began last may go on.
        let mut number =
            begun_before(self.clock.slot(at) + 1, self.period, self.packets).saturating_sub(1);
        loop {
            let (slot, length) = self.burst(number);
            let (start, end) = (self.clock.start(slot), self.clock.end(slot, length));
            if end > at {
                let spectrum = self.hopping.spectrum(slot, start);
                return Some(Burst { start, end, device: (number % 2) as u8, spectrum });
            }
            number += 1;
        }
    }

    fn on_destroyed(&mut self, burst: &Burst) {
        if self.destroyed.note(burst.start) {
            self.hopping.on_destroyed(burst);
        }
    }

    fn packets(&self, now: Instant) -> Option<Packets> {
        let sent = begun_before(self.clock.begun(now), self.period, self.packets);
        Some(Packets { sent, repeated: 0, destroyed: self.destroyed.count })
    }
}

/// The number of bursts that begin before a slot, of a link that sends so many packets in each
/// period.
fn begun_before(slot: u64, period: u64, packets: u64) -> u64 {
    let (past, place) = (slot / period, slot % period);
    let begun = place.div_ceil(PITCH).min(packets) + (place / PITCH).min(packets);
    past * 2 * packets + begun
}
