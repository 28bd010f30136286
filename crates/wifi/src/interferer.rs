//! Interferers: transmitters near the network that are not 802.11.
//!
//! An interferer is a function of time and of named random streams: it says which of its bursts are
//! on the air at an instant, whatever the network does. The media ask when a frame is on the air,
//! so that the cost follows the frames of the network and not the bursts. Two sources depend on
//! the network: a Bluetooth link that repeats what the network destroys, and a jammer that reacts
//! to frames. The media therefore report each frame when it begins, in the order of time.
//!
//! Hops are draws by number (`kernel::Draws`). A learned AFH map is fixed when a hop after its time
//! is first asked for.

mod bluetooth;
mod interferers;
mod periodic;
mod spectrum;

pub use bluetooth::{AfhSettings, Packets};
pub use interferers::{Arrival, Device, InterfererConfig, InterfererCounters, Interferers};
pub use spectrum::Spectrum;

use kernel::{Instant, Seed};
use std::fmt::Debug;

settings::registry! {
    /// What an interferer sends, and when.
    #[settings(name = "InterferenceSource")]
    pub enum SourceSettings: SourceKind = Sco;
    sco: Sco(ScoSettings),
    esco: Esco(EscoSettings),
    a2dp: A2dp(A2dpSettings),
    advertising: Advertising(AdvertisingSettings),
    duty_cycle: DutyCycle(DutyCycleSettings),
    on_off: OnOff(OnOffSettings),
    microwave: Microwave(MicrowaveSettings),
    jammer: Jammer(JammerSettings),
    reactive: Reactive(ReactiveSettings),
    #[cfg(feature = "toy")]
    toy: Toy(ToySourceConfig),
}

/// What a source is built from, besides its settings.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// The seed of its random streams.
    pub seed: Seed,
    /// The number of the interferer.
    pub index: u32,
    /// The channel of the network.
    pub channel: Spectrum,
}

/// The settings of a source.
pub trait SourceKind: Debug {
    /// The source at the start of a run.
    fn build(&self, surroundings: &Surroundings) -> Box<dyn Source>;

    /// Whether it is a link of two devices that transmit to each other.
    fn is_link(&self) -> bool {
        false
    }

    /// The rule by which it corrupts frames instead of the bursts that overlap them.
    fn whole_slots(&self) -> Option<WholeSlots> {
        None
    }
}

/// A transmission of an interferer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// When it begins.
    pub start: Instant,
    /// When it ends.
    pub end: Instant,
    /// The device that sends it: 0, or 1 for the second device of a link.
    pub device: u8,
    /// What it occupies.
    pub spectrum: Spectrum,
}

/// The transmissions of an interferer. They do not overlap each other.
pub trait Source: Debug + Send {
    /// The earliest burst that ends after an instant. The instants of successive calls may go back
    /// by up to [`HISTORY`].
    fn ending_after(&mut self, at: Instant) -> Option<Burst>;

    /// A frame of the network is on the air from `start` to `end`, and the source hears it.
    /// Successive frames do not begin earlier.
    fn on_frame(&mut self, _start: Instant, _end: Instant) {}

    /// Whether its bursts follow from the frames that it hears.
    fn reacts(&self) -> bool {
        false
    }

    /// A frame of the network destroys a burst at its receiver, perhaps not the first frame that
    /// does. Successive calls may go back in time as those of [`Self::ending_after`].
    fn on_destroyed(&mut self, _burst: &Burst) {}

    /// The packets of a Bluetooth link whose transmission has begun by now.
    fn packets(&self, _now: Instant) -> Option<Packets> {
        None
    }
}

/// How far a medium looks back: no PPDU is longer, and so no two that overlap (4095 bytes at 1 Mb/s
/// last 33 ms).
pub const HISTORY: kernel::Duration = kernel::Duration::from_millis(100);

#[cfg(test)]
mod tests;
