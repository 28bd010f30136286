//! A cell and what its nodes have to send.

use kernel::{Bytes, Instant, Seed};
use std::fmt;
use wifi::mac::Timing;
use wifi::{Link, MacConfig};
use wire::TrafficClass;

/// A cell and its packets.
#[derive(Clone)]
pub(crate) struct Workload {
    pub(crate) config: MacConfig,
    pub(crate) links: Vec<Link>,
    pub(crate) seed: Seed,
    /// In the order of time.
    pub(crate) packets: Vec<Arrival>,
}

/// A packet comes to a node; its number is its place in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) node: u32,
    /// Node that shall receive it over the air, or all.
    pub(crate) to: Option<u32>,
    pub(crate) class: TrafficClass,
    pub(crate) size: Bytes,
}

impl fmt::Debug for Workload {
    /// A failure is read by people: a line for each packet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MacConfig { timing, rts_threshold, countdown, backoff_draw, .. } = &self.config;
        let MacConfig { short_retry_limit, long_retry_limit, cw_min, cw_max, .. } = self.config;
        let Timing { standard, preamble, slot, eifs, slot_grid, protection, .. } = timing;
        writeln!(f, "{}, {preamble:?} preamble, slot {slot}, {eifs:?} EIFS,", standard.name())?;
        writeln!(f, "{slot_grid:?} grid, {countdown:?} countdown, {backoff_draw:?} draw,")?;
        writeln!(f, "limits {short_retry_limit} and {long_retry_limit}, CW {cw_min} to {cw_max},")?;
        writeln!(f, "RTS above {rts_threshold}, seed {}", self.seed.root)?;
        writeln!(f, "basic rates {:?}", timing.basic_rates)?;
        writeln!(f, "{protection:?} protects from {:?}", self.config.non_erp)?;
        writeln!(f, "{:?}", self.config.edca)?;
        writeln!(f, "{:?}", self.config.aggregation)?;
        writeln!(f, "{:?}", self.config.full_duplex)?;
        writeln!(f, "{:?}", self.config.mu)?;
        for (link, station) in self.links.iter().zip(1..) {
            writeln!(f, "station {station}: {link:?}")?;
        }
        for (Arrival { at, node, to, class, size }, number) in self.packets.iter().zip(0..) {
            writeln!(f, "packet {number}: {at}, {node} -> {to:?}, {class:?}, {size}")?;
        }
        Ok(())
    }
}
