//! Which packets a link loses, and a link that loses them.

mod gilbert_elliott;
mod lossy;
mod pattern;

pub use gilbert_elliott::{GilbertElliott, GilbertElliottPackets};
pub use lossy::Lossy;
pub use pattern::{List, Periodic, Trace, Uniform};

use kernel::{Duration, Instant, Rng};
use std::fmt::Debug;
use wire::Packet;

/// Decides which packets a link loses.
pub trait LossModel: Debug + Send {
    /// Whether the packet that reaches the far end now is spoilt. Asked once of each packet, in
    /// their order.
    fn loses(&mut self, now: Instant, packet: &Packet) -> bool;
}

/// A loss model as the plan describes it. Packets are counted from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Each packet with the same probability, independently.
    Uniform {
        /// The probability.
        probability: f64,
    },
    /// By a channel that is good or bad for exponential times (Gilbert and Elliott).
    GilbertElliott {
        /// Mean length of a good time; above 0.
        good: Duration,
        /// Mean length of a bad time; above 0.
        bad: Duration,
        /// Probability of a loss in a good time.
        good_loss: f64,
        /// Probability of a loss in a bad time.
        bad_loss: f64,
    },
    /// By a channel that may change its state after each packet.
    GilbertElliottPackets {
        /// Probability that a good channel is bad for the next packet.
        to_bad: f64,
        /// Probability that a bad channel is good for the next packet.
        to_good: f64,
        /// Probability of a loss while it is good.
        good_loss: f64,
        /// Probability of a loss while it is bad.
        bad_loss: f64,
    },
    /// Each n-th packet.
    Periodic {
        /// n, at least 1.
        every: u64,
    },
    /// These packets.
    List {
        /// Their numbers, ascending.
        packets: Vec<u64>,
    },
    /// With a probability that changes at given times.
    Trace {
        /// From when on which probability holds, ascending; before the first it is 0.
        steps: Vec<(Instant, f64)>,
        /// After this the trace begins again; `None` keeps the last probability.
        period: Option<Duration>,
    },
}

impl Loss {
    /// The model at its start. What the channel does is drawn apart from what befalls each packet,
    /// so that the same channel can be offered to different traffic.
    pub fn build(&self, channel: Rng, packets: Rng) -> Box<dyn LossModel> {
        match *self {
            Self::None => Box::new(Uniform::new(0.0, packets)),
            Self::Uniform { probability } => Box::new(Uniform::new(probability, packets)),
            Self::GilbertElliott { good, bad, good_loss, bad_loss } => {
                let losses = [good_loss, bad_loss];
                Box::new(GilbertElliott::new([good, bad], losses, channel, packets))
            }
            Self::GilbertElliottPackets { to_bad, to_good, good_loss, bad_loss } => {
                let losses = [good_loss, bad_loss];
                Box::new(GilbertElliottPackets::new([to_bad, to_good], losses, channel, packets))
            }
            Self::Periodic { every } => Box::new(Periodic::new(every)),
            Self::List { packets: ref numbers } => Box::new(List::new(numbers.clone())),
            Self::Trace { ref steps, period } => {
                Box::new(Trace::new(steps.clone(), period, packets))
            }
        }
    }
}
