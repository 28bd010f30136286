//! Loss models, and a link that loses packets.

mod lossy;
#[cfg(test)]
mod tests;

pub use lossy::{Fate, LinkStreams, Lossy};

use kernel::{Instant, Rng};
use std::fmt::Debug;
use wire::Packet;

settings::registry! {
    /// The losses of a link. A lost packet occupies the queue and the link like any other.
    pub enum LossSettings: LossModel = Uniform;
    uniform: Uniform(UniformConfig),
    gilbert_elliott: GilbertElliott(GilbertElliottConfig),
    gilbert_elliott_packets: GilbertElliottPackets(GilbertElliottPacketsConfig),
    periodic: Periodic(PeriodicConfig),
    list: List(ListConfig),
    trace: Trace(TraceConfig),
    #[cfg(feature = "toy")]
    toy: Toy(ToyLossConfig),
}

/// The settings of a loss model. Packets are counted from 1.
pub trait LossModel {
    /// The model in its initial state. The channel and the losses of packets have separate random
    /// streams, so that the same channel can be applied to different traffic.
    fn build(&self, channel: Rng, packets: Rng) -> Box<dyn Channel>;

    /// How often the channel changes state per second, whether or not packets are sent.
    fn changes_per_s(&self) -> f64 {
        0.0
    }
}

/// Decides which packets a link loses.
pub trait Channel: Debug + Send {
    /// Whether the packet that reaches the far end now is corrupted. Called once for each packet,
    /// in order.
    fn loses(&mut self, now: Instant, packet: &Packet) -> bool;
}
