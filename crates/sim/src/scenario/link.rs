//! The keys of wired links.

use kernel::{BitRate, Bytes, Duration};
use net::{LinkSettings, LossSettings, QueueSettings};
use settings::{Choice, Settings};

/// A full-duplex link between server and access point.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Wire {
    /// Each direction.
    #[setting(flatten)]
    pub direction: LinkSettings,
    /// Where it loses: in "both" directions, each by itself, or only "down" from the server or "up"
    /// to it.
    pub loss_direction: LossDirection,
}

impl Wire {
    /// From the server to the access point, and back.
    pub(super) fn directions(&self) -> [LinkSettings; 2] {
        let [down, up] = match self.loss_direction {
            LossDirection::Both => [true, true],
            LossDirection::Down => [true, false],
            LossDirection::Up => [false, true],
        };
        [down, up].map(|loses| LinkSettings {
            loss: self.direction.loss.clone().filter(|_| loses),
            ..self.direction.clone()
        })
    }
}

/// The directions of a wire that lose packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Choice)]
pub enum LossDirection {
    /// Both, each by itself.
    #[default]
    Both,
    /// From the server.
    Down,
    /// To the server.
    Up,
}

/// A full-duplex link between two nodes. A host or router exists where a link names it.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Link {
    /// What reports call it; default its two ends, as "r1-r2".
    pub name: String,
    /// One end: "server", "ap", or a name for a host or router, as "r1".
    #[setting(required)]
    pub from: String,
    /// The other end.
    #[setting(required)]
    pub to: String,
    /// The direction from `from` to `to`.
    #[setting(flatten)]
    pub there: LinkSettings,
    /// The direction from `to` to `from`.
    pub reverse: Reverse,
}

impl Link {
    /// From `from` to `to`, and back.
    pub(super) fn directions(&self) -> [LinkSettings; 2] {
        let (there, back) = (&self.there, &self.reverse);
        let back = LinkSettings {
            rate: back.rate.or(there.rate),
            delay: back.delay.unwrap_or(there.delay),
            queue: back.queue.clone().unwrap_or_else(|| there.queue.clone()),
            overhead: back.overhead.unwrap_or(there.overhead),
            loss: back.loss.clone(),
        };
        [there.clone(), back]
    }
}

/// The direction of a link from `to` to `from`, where it differs from the other.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Reverse {
    /// Rate; default as in the other direction.
    #[setting(key = "rate_mbps", range = LinkSettings::RATES_MBPS)]
    pub rate: Option<BitRate>,
    /// Propagation; default as in the other direction.
    #[setting(key = "delay_ms", range = LinkSettings::DELAYS_MS)]
    pub delay: Option<Duration>,
    /// What `to` sends from; default such a queue as in the other direction.
    pub queue: Option<QueueSettings>,
    /// Framing around each IP packet; default as in the other direction.
    #[setting(key = "overhead_bytes", range = LinkSettings::OVERHEADS)]
    pub overhead: Option<Bytes>,
    /// What is lost in this direction; default nothing, whatever the other loses.
    pub loss: Option<LossSettings>,
}
