//! Voice over Bluetooth: a synchronous connection-oriented link (SCO).

use super::bluetooth::{AfhSettings, Destroyed, Hopping, SLOT, SlotClock};
use super::{Burst, Packets, Source, SourceKind, Surroundings};
use kernel::{Duration, Instant};
use settings::{Choice, Settings};

/// A voice link of Bluetooth (SCO; Bluetooth Core Specification, volume 2, part B, section 4.2):
/// two packets of 366 us in consecutive slots of 625 us, one from each device, in each period.
/// Nothing is repeated.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Sco")]
pub struct ScoSettings {
    /// The packet type.
    pub format: VoiceFormat,
    /// Adaptive frequency hopping; default none.
    pub afh: Option<AfhSettings>,
    /// When a period begins, in microseconds. Default: a random phase.
    #[setting(key = "phase_us", range = 0.0..=1e6)]
    pub phase: Option<Duration>,
    /// Which frames the link corrupts, where there are no radios.
    pub rule: CorruptionRule,
    /// Probability that a slot corrupts a frame by the rule "slots". Default: 22/79 for 802.11b, or
    /// 20/79 for OFDM, times the fraction of slots that the link uses.
    #[setting(range = settings::Range::FRACTION)]
    pub slot_probability: Option<f64>,
}

/// The packet type of a voice link, and so the fraction of slots that it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum VoiceFormat {
    /// 10 bytes in a packet: all slots.
    #[default]
    #[setting(name = "HV1")]
    Hv1,
    /// 20 bytes: two of four slots.
    #[setting(name = "HV2")]
    Hv2,
    /// 30 bytes: two of six slots.
    #[setting(name = "HV3")]
    Hv3,
}

impl VoiceFormat {
    /// The slots of a period, `T_SCO` (section 8.6.2).
    const fn period(self) -> u64 {
        match self {
            Self::Hv1 => 2,
            Self::Hv2 => 4,
            Self::Hv3 => 6,
        }
    }
}

/// Which frames a voice link corrupts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum CorruptionRule {
    /// Each frame that a burst in its channel overlaps.
    #[default]
    Bursts,
    /// Data frames, by the whole slots that their bits last: N = floor(bits / rate / 625 us), drawn
    /// for each attempt; no other frame (Subramanian, Ramakrishnan, Kalyanaraman, Ji).
    Slots,
}

/// A rule that corrupts data frames by the whole slots that they last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WholeSlots {
    /// The fraction of slots in use.
    pub utilisation: f64,
    /// Probability that a slot corrupts a frame, if it was set.
    pub slot_probability: Option<f64>,
}

impl WholeSlots {
    /// The probability that a frame is corrupted whose bits last for `length`, in a channel of
    /// `width_mhz`.
    pub fn corruption(&self, length: Duration, width_mhz: u32) -> f64 {
        let slot = f64::from(width_mhz) / 79.0 * self.utilisation;
        let slots = length / SLOT;
        let slot = self.slot_probability.unwrap_or(slot);
        1.0 - libm::pow(1.0 - slot, slots as f64)
    }
}

/// An HV packet: 72 bits of access code, 54 of header and 240 of payload at 1 Mb/s (section 6).
const BURST: Duration = Duration::from_micros(366);

impl SourceKind for ScoSettings {
    fn build(&self, surroundings: &Surroundings) -> Box<dyn Source> {
        let period = self.format.period();
        let clock = SlotClock::new(surroundings, SLOT * period, self.phase);
        let mut hopping = Hopping::new(surroundings, self.afh.as_ref());
        hopping.expect(|until| clock.pairs(period, until));
        Box::new(Sco { period, clock, hopping, destroyed: Destroyed::default() })
    }

    fn is_link(&self) -> bool {
        true
    }

    fn whole_slots(&self) -> Option<WholeSlots> {
        let utilisation = 2.0 / self.format.period() as f64;
        let slot_probability = self.slot_probability;
        (self.rule == CorruptionRule::Slots).then_some(WholeSlots { utilisation, slot_probability })
    }
}

#[derive(Debug)]
struct Sco {
    /// In slots.
    period: u64,
    clock: SlotClock,
    hopping: Hopping,
    destroyed: Destroyed,
}

impl Source for Sco {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        let mut slot = self.clock.slot(at);
        slot += u64::from(self.clock.end(slot, BURST) <= at);
        let place = slot % self.period;
        slot += if place < 2 { 0 } else { self.period - place };
        let start = self.clock.start(slot);
        Some(Burst {
            start,
            end: self.clock.end(slot, BURST),
            device: (slot % 2) as u8,
            spectrum: self.hopping.spectrum(slot, start),
        })
    }

    fn on_destroyed(&mut self, burst: &Burst) {
        if self.destroyed.note(burst.start) {
            self.hopping.on_destroyed(burst);
        }
    }

    fn packets(&self, now: Instant) -> Option<Packets> {
        let sent = self.clock.pairs(self.period, now);
        Some(Packets { sent, repeated: 0, destroyed: self.destroyed.count })
    }
}
