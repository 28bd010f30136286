//! The modes and durations of HT and later generations against independent tables and formulas.

mod durations;
mod eht;
mod groups;
mod rates;
mod refusals;

use super::*;

const WIDTHS: [Width; 4] = [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160];
const GUARDS: [Guard; 4] = [Guard::Ns400, Guard::Ns800, Guard::Ns1600, Guard::Ns3200];

/// A mode of a PHY in 5 GHz.
fn vector(class: ModeClass, mcs: u8, streams: u8, width_mhz: u32, guard_ns: u64) -> TxVector {
    TxVector {
        mcs,
        streams,
        width: WIDTHS.into_iter().find(|width| width.mhz() == width_mhz).unwrap(),
        guard: GUARDS.into_iter().find(|guard| guard.ns() == guard_ns).unwrap(),
        ..TxVector::of(class, Band::Ghz5)
    }
}
