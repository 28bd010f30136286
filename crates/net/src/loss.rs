//! Which packets a link loses, and a link that loses them.

mod lossy;
#[cfg(test)]
mod tests;

pub use lossy::{LinkStreams, Lossy};

use kernel::{Instant, Rng};
use std::fmt::Debug;
use wire::Packet;

settings::registry! {
    /// What a wire loses. A lost packet has used its place in the queue and its time on the wire.
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
    /// The model at its start. What the channel does is drawn apart from what befalls each packet,
    /// so that the same channel can be offered to different traffic.
    fn build(&self, channel: Rng, packets: Rng) -> Box<dyn Channel>;

    /// How often the channel changes a second, whether or not anything is sent.
    fn changes_per_s(&self) -> f64 {
        0.0
    }
}

/// Decides which packets a link loses.
pub trait Channel: Debug + Send {
    /// Whether the packet that reaches the far end now is spoilt. Asked once of each packet, in
    /// their order.
    fn loses(&mut self, now: Instant, packet: &Packet) -> bool;
}
