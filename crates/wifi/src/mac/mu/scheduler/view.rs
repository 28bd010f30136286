//! What a scheduler sees.

use crate::phy::Puncturing;
use kernel::{BitRate, Bytes, Duration, Instant};

/// What a scheduler sees before a PPDU. What waits is looked up when it is asked for, so that a
/// scheduler costs only what it looks at.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// When it is asked.
    pub now: Instant,
    /// The channel, without what a PPDU leaves out of it.
    pub channel: Puncturing,
    /// What waits.
    pub queues: &'a dyn Backlogs,
}

/// What waits for each station in an access category.
pub trait Backlogs {
    /// What waits for a station; nothing if it is none.
    fn of(&self, station: u32) -> StationView;

    /// Appends what waits for each station, in the order of their numbers: less work than one by
    /// one.
    fn all(&self, into: &mut Vec<StationView>);
}

/// What waits for a station in an access category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationView {
    /// Bytes of its packets, those in service among them.
    pub bytes: Bytes,
    /// The rate of its PPDUs of a single user.
    pub rate: BitRate,
}

impl View<'_> {
    /// What waits for a station.
    pub fn of(&self, station: u32) -> StationView {
        self.queues.of(station)
    }

    /// How long what waits for a station would take alone on the whole channel, without headers.
    pub fn alone(&self, station: u32) -> Duration {
        self.of(station).alone()
    }
}

impl StationView {
    /// How long it would take alone on the whole channel, without headers.
    pub fn alone(&self) -> Duration {
        let Self { bytes, rate } = *self;
        if rate.0 == 0 { Duration::ZERO } else { rate.time_for(bytes) }
    }
}
