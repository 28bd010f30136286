//! What all sources of Bluetooth share: the clock of slots, hopping with and without adaptation,
//! and the packets that the network destroys (Bluetooth Core Specification 5.4, volume 2, part B).

use super::{Burst, HISTORY, Spectrum, Surroundings};
use kernel::{Draws, Duration, Instant};
use settings::{Faults, Path, Settings, said};

/// A slot of the piconet (section 2.2.3 of part B).
pub(super) const SLOT: Duration = Duration::from_micros(625);
/// The channels of BR/EDR, from 2402 MHz on (volume 2, part A, section 2).
const CHANNELS: u32 = 79;
/// The centre of channel 0.
const FIRST_MHZ: u32 = 2402;
/// The fewest channels of an adapted hop sequence, `Nmin` (volume 2, part B, section 2.3.1).
const FEWEST: usize = 20;

/// Adaptive frequency hopping (volume 2, part B, section 2.6.3): from a time on the link uses only
/// the channels of a map.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Afh", check = map_is_valid)]
pub struct AfhSettings {
    /// The channels in use, by number: channel k is at 2402 + k MHz; at least 20. Default: those
    /// outside of the network's channel.
    #[setting(range = 0..=78)]
    pub channels: Option<Vec<u32>>,
    /// The time in seconds that the link needs to classify the channels. Until then it hops over
    /// all 79.
    #[setting(key = "classify_s", default = 4.0, range = 0.0..=1e6)]
    pub classify: Duration,
    /// Whether the link learns its map from its own packets: it leaves the channels on which the
    /// network has destroyed too many of them by then. It keeps at least 20, those with the fewest
    /// errors.
    pub learned: bool,
    /// The fraction of destroyed packets from which on a channel is bad, if the map is learned.
    #[setting(default = 0.2, range = settings::Range::FRACTION)]
    pub bad_fraction: f64,
}

fn map_is_valid(afh: &AfhSettings, at: &Path, faults: &mut Faults) {
    let Some(channels) = &afh.channels else { return };
    if afh.learned {
        faults.fault(
            at.key("learned"),
            said!("the map is learned or given", "remove one of both keys"),
        );
    }
    let mut distinct = channels.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let at = at.key("channels");
    if distinct.len() < FEWEST {
        let (is, few) = (distinct.len(), FEWEST);
        let message = format!("{is} are too few: Bluetooth hops over at least {few} channels");
        faults.fault(at, message);
    } else if distinct.len() < channels.len() {
        faults.fault(at, said!("names a channel twice", "each channel once"));
    }
}

/// The slots of a piconet. Slot 0 begins up to a period before the start of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotClock {
    /// How long before the start of the run slot 0 begins.
    lead: u64,
}

impl SlotClock {
    /// The clock of a source that repeats itself after `period`. It begins at `phase`, by default
    /// at a random phase.
    pub(super) fn new(
        surroundings: &Surroundings,
        period: Duration,
        phase: Option<Duration>,
    ) -> Self {
        let phase = phase.unwrap_or_else(|| random_phase(surroundings, period));
        Self { lead: (period.0 - phase.0 % period.0) % period.0 }
    }

    /// The slot at an instant.
    pub(super) fn slot(self, at: Instant) -> u64 {
        (at.0 + self.lead) / SLOT.0
    }

    /// When a slot begins; the start of the run if it began before.
    pub(super) fn start(self, slot: u64) -> Instant {
        Instant((slot * SLOT.0).saturating_sub(self.lead))
    }

    /// When a burst ends that begins with a slot.
    pub(super) fn end(self, slot: u64, length: Duration) -> Instant {
        Instant((slot * SLOT.0 + length.0).saturating_sub(self.lead))
    }

    /// The slots that have begun before an instant.
    pub(super) fn begun(self, before: Instant) -> u64 {
        (before.0 + self.lead).div_ceil(SLOT.0)
    }

    /// The packets that have begun before an instant, of a link that sends one in each of the first
    /// two slots of a period.
    pub(super) fn pairs(self, period: u64, before: Instant) -> u64 {
        let slots = self.begun(before);
        slots / period * 2 + (slots % period).min(2)
    }
}

/// A phase that is uniform in a period.
pub(super) fn random_phase(surroundings: &Surroundings, period: Duration) -> Duration {
    let draws = surroundings.seed.draws("interferer.phase", surroundings.index);
    Duration((draws.uniform(0) * period.0 as f64) as u64)
}

/// The hop sequence. The channels of slots are independent and uniform; the sequence of the
/// specification visits all channels equally often within a short time.
#[derive(Debug)]
pub(super) struct Hopping {
    draws: Draws,
    /// When the sequence is adapted; never without adaptation.
    adapted_from: Instant,
    /// The channels of the adapted sequence; empty until they are learned.
    map: Vec<u32>,
    /// The errors from which the map is learned, until it is.
    errors: Option<Box<ChannelErrors>>,
}

impl Hopping {
    pub(super) fn new(surroundings: &Surroundings, afh: Option<&AfhSettings>) -> Self {
        let is_outside = |&k: &u32| hop(k).share_in(surroundings.channel) == 0.0;
        let outside = || (0..CHANNELS).filter(is_outside).collect();
        let learns = |afh: &&AfhSettings| afh.learned;
        let given = |afh: &AfhSettings| afh.channels.clone().unwrap_or_else(outside);
        Self {
            draws: surroundings.seed.draws("interferer.hop", surroundings.index),
            adapted_from: afh.map_or(Instant::NEVER, |afh| Instant::ZERO + afh.classify),
            map: afh.filter(|afh| !afh.learned).map(given).unwrap_or_default(),
            errors: afh.filter(learns).map(|afh| Box::new(ChannelErrors::new(afh.bad_fraction))),
        }
    }

    /// A link that learns its map sends so many packets until then, as `sent` says.
    pub(super) fn expect(&mut self, sent: impl FnOnce(Instant) -> u64) {
        if let Some(errors) = &mut self.errors {
            errors.packets = sent(self.adapted_from);
        }
    }

    /// A packet is destroyed.
    pub(super) fn on_destroyed(&mut self, burst: &Burst) {
        if let Some(errors) = &mut self.errors {
            errors.counts[(burst.spectrum.centre_mhz() - FIRST_MHZ) as usize] += 1;
        }
    }

    /// The channel of a packet that begins in a slot at this instant. In an adapted piconet the
    /// second device responds on the channel of the first (section 2.6.3).
    pub(super) fn spectrum(&mut self, slot: u64, start: Instant) -> Spectrum {
        if start < self.adapted_from {
            return hop(self.draws.up_to(slot, CHANNELS - 1));
        }
        if let Some(errors) = self.errors.take() {
            self.map = errors.map();
        }
        let place = self.draws.up_to(slot & !1, self.map.len() as u32 - 1);
        hop(self.map[place as usize])
    }
}

/// The destroyed packets of a link by channel.
#[derive(Debug)]
struct ChannelErrors {
    bad_fraction: f64,
    /// The packets that the link sends in all channels until it learns the map.
    packets: u64,
    counts: [u32; CHANNELS as usize],
}

impl ChannelErrors {
    fn new(bad_fraction: f64) -> Self {
        Self { bad_fraction, packets: 0, counts: [0; CHANNELS as usize] }
    }

    /// The channels that are not bad, at least [`FEWEST`].
    fn map(&self) -> Vec<u32> {
        let count = |k: u32| self.counts[k as usize];
        // The hops are uniform: each channel has the same share of the packets.
        let most = self.bad_fraction * self.packets as f64 / f64::from(CHANNELS);
        let mut channels: Vec<u32> = (0..CHANNELS).collect();
        let good = channels.iter().filter(|&&k| count(k) == 0 || f64::from(count(k)) < most);
        let kept = good.count().max(FEWEST);
        channels.sort_by_key(|&k| (count(k), k));
        channels.truncate(kept);
        channels
    }
}

/// A channel of BR/EDR.
fn hop(channel: u32) -> Spectrum {
    Spectrum::narrow(FIRST_MHZ + channel, 1)
}

/// The packets of a Bluetooth link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// Packets, each counted once.
    pub sent: u64,
    /// Repetitions of packets.
    pub repeated: u64,
    /// Transmissions that the network destroyed.
    pub destroyed: u64,
}

impl Packets {
    /// All transmissions.
    pub fn transmissions(&self) -> u64 {
        self.sent + self.repeated
    }

    /// Packets whose last transmission was destroyed.
    pub fn lost(&self) -> u64 {
        self.destroyed - self.repeated
    }
}

/// The bursts that the network has destroyed.
#[derive(Debug, Default)]
pub(super) struct Destroyed {
    /// Starts of the latest ones, ascending.
    latest: Vec<Instant>,
    pub(super) count: u64,
}

impl Destroyed {
    /// A burst that began at `start` is destroyed. Returns whether it was not before.
    pub(super) fn note(&mut self, start: Instant) -> bool {
        let Err(place) = self.latest.binary_search(&start) else { return false };
        self.latest.insert(place, start);
        self.count += 1;
        if self.latest.len() >= 512 {
            let last = self.latest[self.latest.len() - 1];
            self.latest.retain(|&start| start + HISTORY * 2 > last);
        }
        true
    }

    /// Whether the burst that began at `start` is destroyed.
    pub(super) fn has(&self, start: Instant) -> bool {
        self.latest.binary_search(&start).is_ok()
    }
}
