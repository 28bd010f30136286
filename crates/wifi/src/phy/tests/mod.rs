//! The modes and durations of HT, VHT and HE against tables and formulas written down apart.

mod durations;
mod rates;
mod refusals;

use super::*;

/// A mode of a PHY in 5 GHz.
fn vector(class: ModeClass, mcs: u8, streams: u8, width_mhz: u32, guard_ns: u64) -> TxVector {
    TxVector {
        mcs,
        streams,
        width: Width::of_mhz(width_mhz).unwrap(),
        guard: Guard::of_ns(guard_ns).unwrap(),
        ..TxVector::of(class, Band::Ghz5)
    }
}
