//! Schedulers of downlink OFDMA: which stations a PPDU serves, and how wide their resource units
//! are.
//!
//! A scheduler holds no packets. Before a PPDU the access point offers a place to the stations in
//! the scheduler's order, and takes those with frames, until it has enough; the scheduler then says
//! how many of them get which resource unit.

mod credits;

use crate::phy::Width;
use crate::phy::he::RuSize;
use kernel::Duration;
use std::fmt::Debug;

settings::registry! {
    /// Scheduler of downlink OFDMA.
    #[settings(name = "MuScheduler")]
    pub enum MuSchedulerSettings: MuSchedulerRule = RoundRobin;
    head_of_line: HeadOfLine(HeadOfLine),
    round_robin: RoundRobin(RoundRobin),
}

/// The settings of a scheduler.
pub trait MuSchedulerRule {
    /// The scheduler of an access category, of stations with these node numbers.
    fn build(&self, stations: std::ops::RangeInclusive<u32>) -> Box<dyn MuScheduler>;
}

/// The scheduler of an access category.
pub trait MuScheduler: Debug + Send {
    /// Appends all stations, in the order in which they are offered a place.
    fn order(&self, into: &mut Vec<u32>);

    /// The size of the resource units where so many stations have frames, and how many of them are
    /// served; `None` without a station.
    fn units(&self, width: Width, stations: u32) -> Option<(RuSize, u32)>;

    /// A PPDU of this duration has begun, to stations with so many tones each.
    fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]);
}
