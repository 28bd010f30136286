//! The keys of wired links.

use kernel::{BitRate, Bytes, Duration};
use net::{DriverSettings, LinkSettings, LossSettings, QueueSettings, ReorderSettings};
use settings::{Choice, Settings};

/// A full-duplex link between server and access point.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Wire {
    /// The settings of each direction.
    #[setting(flatten)]
    pub direction: LinkSettings,
    /// The directions that lose packets: "both", with independent losses, or only "down" from the
    /// server or "up" to it.
    pub loss_direction: LossDirection,
}

impl Wire {
    /// The link direction from the server to the access point, and the reverse.
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
    /// Both, with independent losses.
    #[default]
    Both,
    /// From the server.
    Down,
    /// To the server.
    Up,
}

/// A full-duplex link between two nodes. A host or router exists if a link names it.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Link {
    /// The name in reports. Default: the two ends, as "r1-r2".
    pub name: String,
    /// One end: "server", "ap", a station that is a router, as "sta1", or a name for a host or
    /// router, as "r1".
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
    /// The link direction from `from` to `to`, and the reverse.
    pub(super) fn directions(&self) -> [LinkSettings; 2] {
        let (there, back) = (&self.there, &self.reverse);
        let back = LinkSettings {
            rate: back.rate.or(there.rate),
            delay: back.delay.unwrap_or(there.delay),
            queue: back.queue.clone().unwrap_or_else(|| there.queue.clone()),
            driver: back.driver.or(there.driver),
            overhead: back.overhead.unwrap_or(there.overhead),
            loss: back.loss.clone(),
            reorder: back.reorder,
        };
        [there.clone(), back]
    }
}

/// The direction of a link from `to` to `from`, as far as it differs from the other direction.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Reverse {
    /// Rate. Default: as in the other direction.
    #[setting(key = "rate_mbps", range = LinkSettings::RATES_MBPS)]
    pub rate: Option<BitRate>,
    /// Propagation delay. Default: as in the other direction.
    #[setting(key = "delay_ms", range = LinkSettings::DELAYS_MS)]
    pub delay: Option<Duration>,
    /// The queue from which `to` sends. Default: a queue with the settings of the other direction.
    pub queue: Option<QueueSettings>,
    /// The transmit ring below that queue. Default: as in the other direction.
    pub driver: Option<DriverSettings>,
    /// Framing around each IP packet. Default: as in the other direction.
    #[setting(key = "overhead_bytes", range = LinkSettings::OVERHEADS)]
    pub overhead: Option<Bytes>,
    /// The losses in this direction. Default: none, whatever the losses of the other direction.
    pub loss: Option<LossSettings>,
    /// Reordering in this direction. Default: none.
    pub reorder: Option<ReorderSettings>,
}
