//! What a scheduler sees.

use crate::phy::Width;
use kernel::{BitRate, Bytes, Duration, Instant};

/// What a scheduler sees before a PPDU.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// When it is asked.
    pub now: Instant,
    /// The channel.
    pub width: Width,
    /// By node number; none if the scheduler does not look.
    pub stations: &'a [StationView],
}

/// What waits for a station in an access category.
#[derive(Clone, Copy, Debug, Default)]
pub struct StationView {
    /// Bytes of its packets, those in service among them.
    pub bytes: Bytes,
    /// The rate of its PPDUs of a single user.
    pub rate: BitRate,
    /// When it was last served.
    pub served: Option<Instant>,
}

impl View<'_> {
    /// A station of which nothing is known has nothing.
    pub fn of(&self, station: u32) -> StationView {
        self.stations.get(station as usize).copied().unwrap_or_default()
    }

    /// How long what waits for a station would take alone on the whole channel, without headers.
    pub fn alone(&self, station: u32) -> Duration {
        let StationView { bytes, rate, .. } = self.of(station);
        if rate.0 == 0 { Duration::ZERO } else { rate.time_for(bytes) }
    }
}
