//! Voice over Bluetooth with retransmissions: an extended synchronous link (eSCO).

use super::bluetooth::{AfhSettings, Destroyed, Hopping, SLOT, SlotClock};
use super::{Burst, Packets, Source, SourceKind, Surroundings};
use kernel::{Duration, Instant};
use settings::{Faults, Path, Settings, number, said};

/// A voice link of Bluetooth with retransmissions (eSCO with EV3 packets; Bluetooth Core
/// Specification, volume 2, part B, section 8.6.3): two packets in each period, one from each
/// device. In the slots after them, a device repeats a packet that the network has destroyed.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Esco", check = window_fits)]
pub struct EscoSettings {
    /// The slots of a period, `T_eSCO`.
    #[setting(default = 6, range = 4..=254)]
    pub period_slots: u64,
    /// The slots after the first two in which packets are repeated, `W_eSCO`; alternately for the
    /// two devices.
    #[setting(default = 2, range = 0..=252)]
    pub retransmission_slots: u64,
    /// Bytes of voice in a packet.
    #[setting(default = 30, range = 1..=30)]
    pub payload_bytes: u64,
    /// Adaptive frequency hopping; default none.
    pub afh: Option<AfhSettings>,
    /// When a period begins, in microseconds. Default: a random phase.
    #[setting(key = "phase_us", range = 0.0..=1e6)]
    pub phase: Option<Duration>,
}

fn window_fits(esco: &EscoSettings, at: &Path, faults: &mut Faults) {
    let EscoSettings { period_slots, retransmission_slots, .. } = *esco;
    for (slots, key) in
        [(period_slots, "period_slots"), (retransmission_slots, "retransmission_slots")]
    {
        if slots % 2 == 1 {
            faults.fault(at.key(key), said!("{slots} is odd", "devices take turns in pairs"));
        }
    }
    if retransmission_slots + 2 > period_slots {
        let (is, period) = (number(retransmission_slots as f64), period_slots);
        let message = format!("{is} slots and the first two do not fit in a period of {period}");
        faults.fault(at.key("retransmission_slots"), message);
    }
}

impl SourceKind for EscoSettings {
    fn build(&self, surroundings: &Surroundings) -> Box<dyn Source> {
        let clock = SlotClock::new(surroundings, SLOT * self.period_slots, self.phase);
        let mut hopping = Hopping::new(surroundings, self.afh.as_ref());
        hopping.expect(|until| clock.pairs(self.period_slots, until));
        Box::new(Esco {
            period: self.period_slots,
            window: 2 + self.retransmission_slots,
            // Access code and header of 126 bits, payload and its check of 16 bits (section 6.5.3).
            burst: Duration::from_micros(126 + 8 * self.payload_bytes + 16),
            clock,
            hopping,
            destroyed: Destroyed::default(),
            repeated: 0,
        })
    }

    fn is_link(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Esco {
    /// In slots, as the slots of a period in which there may be packets.
    period: u64,
    window: u64,
    burst: Duration,
    clock: SlotClock,
    hopping: Hopping,
    destroyed: Destroyed,
    /// Destroyed transmissions that another one has followed.
    repeated: u64,
}

impl Esco {
    /// Whether a packet is sent in a slot: the first time, or because its last transmission was
    /// destroyed.
    fn is_used(&self, slot: u64) -> bool {
        match slot % self.period {
            0 | 1 => true,
            place if place < self.window => self.destroyed.has(self.clock.start(slot - 2)),
            _ => false,
        }
    }
}

impl Source for Esco {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        let mut slot = self.clock.slot(at);
        slot += u64::from(self.clock.end(slot, self.burst) <= at);
        while !self.is_used(slot) {
            let place = slot % self.period;
            slot += if place < self.window { 1 } else { self.period - place };
        }
        let start = self.clock.start(slot);
        Some(Burst {
            start,
            end: self.clock.end(slot, self.burst),
            device: (slot % 2) as u8,
            spectrum: self.hopping.spectrum(slot, start),
        })
    }

    fn on_destroyed(&mut self, burst: &Burst) {
        let place = self.clock.slot(burst.start) % self.period;
        if self.destroyed.note(burst.start) {
            self.hopping.on_destroyed(burst);
            self.repeated += u64::from(place + 2 < self.window);
        }
    }

    fn packets(&self, now: Instant) -> Option<Packets> {
        let sent = self.clock.pairs(self.period, now);
        Some(Packets { sent, repeated: self.repeated, destroyed: self.destroyed.count })
    }
}
