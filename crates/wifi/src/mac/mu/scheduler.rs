//! Schedulers of downlink OFDMA: which stations a PPDU serves, and how wide their resource units
//! are.
//!
//! A scheduler holds no packets: it sees what waits, and changes nothing. Before a PPDU the access
//! point offers a place to the stations in the scheduler's order, and takes those with frames,
//! until it has enough; the scheduler then gives the first of them resource units.

mod credits;
mod view;

pub use view::{Backlogs, StationView, View};

use crate::phy::he::RuSize;
use kernel::Duration;
use std::fmt::Debug;

settings::registry! {
    /// Scheduler of downlink OFDMA.
    #[settings(name = "MuScheduler")]
    pub enum MuSchedulerSettings: MuSchedulerRule = RoundRobin;
    backlog: Backlog(Backlog),
    head_of_line: HeadOfLine(HeadOfLine),
    round_robin: RoundRobin(RoundRobin),
    shortest_first: ShortestFirst(ShortestFirst),
}

/// The settings of a scheduler.
pub trait MuSchedulerRule {
    /// The scheduler of an access category, of stations with these node numbers.
    fn build(&self, stations: std::ops::RangeInclusive<u32>) -> Box<dyn MuScheduler>;
}

/// The scheduler of an access category.
pub trait MuScheduler: Debug + Send {
    /// Appends all stations, in the order in which they are offered a place.
    fn order(&mut self, view: &View<'_>, into: &mut Vec<u32>);

    /// Appends the sizes of the resource units of the first of these stations, which have frames.
    /// With fewer than a PPDU may have, the first station is served alone.
    fn units(&self, view: &View<'_>, found: &[u32], into: &mut Vec<RuSize>);

    /// A PPDU of this duration has begun, to stations with so many tones each.
    fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]);
}

/// Appends equal resource units of which none is empty.
fn none_empty(view: &View<'_>, found: &[u32], into: &mut Vec<RuSize>) {
    RuSize::none_empty(view.channel, found.len() as u32, into);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Puncturing;
    use kernel::{BitRate, Bytes, Instant};

    /// Stations 1 to n, each with so many bytes.
    pub(super) fn waiting(bytes: &[u64]) -> Vec<StationView> {
        let one = |&bytes: &u64| {
            let rate = BitRate::from_mbps(86.0);
            StationView { bytes: Bytes(bytes), rate }
        };
        std::iter::once(&0).chain(bytes).map(one).collect()
    }

    /// By station.
    impl Backlogs for Vec<StationView> {
        fn of(&self, station: u32) -> StationView {
            self.get(station as usize).copied().unwrap_or_default()
        }

        fn all(&self, into: &mut Vec<StationView>) {
            into.extend(self.iter().skip(1));
        }
    }

    pub(super) fn view(channel: impl Into<Puncturing>, queues: &Vec<StationView>) -> View<'_> {
        View { now: Instant(1_000_000_000), channel: channel.into(), queues }
    }

    /// The resource units of the first n stations, of which nothing is known.
    pub(super) fn units(
        scheduler: &dyn MuScheduler,
        width: impl Into<Puncturing>,
        n: u32,
    ) -> Vec<u32> {
        let mut sizes = Vec::new();
        let found: Vec<u32> = (1..=n).collect();
        scheduler.units(&view(width, &Vec::new()), &found, &mut sizes);
        sizes.into_iter().map(RuSize::tones).collect()
    }
}
