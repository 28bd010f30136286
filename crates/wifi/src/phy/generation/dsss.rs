//! DSSS and HR/DSSS, 802.11b (clauses 15 and 16).

use super::Generation;
use crate::phy::layout::Layout;
use crate::phy::{
    Amendment, Band, CodeRate, Coding, Guard, Mode, ModeClass, Modulation, Punctured, Slot,
    Standard, Width,
};
use kernel::{BitRate, Bytes, Duration};
use wire::Format;

pub(super) const DSSS: Generation = Generation {
    format: Format::Dsss { short_preamble: false },
    // The LENGTH field has 12 bits (clause 16.2.2.5).
    longest_psdu: Bytes(4095),
    symbol: Duration::ZERO,
    high: None,
};

/// The modes, by rate.
pub(super) const MODES: [Mode; 4] = [
    mode(0, ModeClass::Dsss, Modulation::Dsss, 1000),
    mode(1, ModeClass::Dsss, Modulation::Dsss, 2000),
    mode(2, ModeClass::HrDsss, Modulation::Cck, 5500),
    mode(3, ModeClass::HrDsss, Modulation::Cck, 11_000),
];

const fn mode(index: u8, class: ModeClass, modulation: Modulation, rate_kbps: u64) -> Mode {
    Mode {
        class,
        rate: BitRate(rate_kbps * 1000),
        bits_per_symbol: 0,
        punctured: Punctured::NONE,
        coded_bits: 0,
        modulation,
        code_rate: CodeRate::Uncoded,
        mcs: index,
        streams: 1,
        width: Width::Mhz22,
        guard: Guard::Ns800,
        coding: Coding::Bcc,
        layout: Layout::ofdm(Duration::ZERO),
    }
}

/// 802.11b: HR/DSSS at 2.4 GHz (table 16-4).
pub const DOT11B: Standard = Standard {
    amendment: Amendment::B,
    band: Band::Ghz2_4,
    slot: Slot::Long.lasts(),
    sifs: Duration::from_micros(10),
    cw_min: 31,
    cw_max: 1023,
    modes: &MODES,
    high: None,
    mandatory_100kbps: &[10, 20, 55, 110],
    basic_100kbps: &[10, 20],
};
