//! High throughput, 802.11n, in the mixed format (clause 19).

use super::layout::SYMBOL;
use super::mode::MCS;
use super::tx_vector::{
    Coding, Limits, ModeFault, Parts, TxVector, short_symbol, training_symbols,
};
use super::{Guard, Mode, Width};
use kernel::Duration;

const LIMITS: Limits = Limits {
    name: "HT",
    clause: "802.11-2020 19.5",
    streams: 4,
    mcs: 7,
    widths: &[Width::Mhz20, Width::Mhz40],
    guards: &[Guard::Ns800, Guard::Ns400],
};

/// Above 300 Mb/s, that is 1200 bits in 4 µs, there is a second BCC encoder (tables 19-27 to
/// 19-41).
const BITS_PER_ENCODER: u32 = 1200;

/// L-SIG, HT-SIG, HT-STF (table 19-7); the HT-LTFs follow.
const SIGNALLING: Duration = Duration::from_micros(4 + 8 + 4);

/// Data subcarriers (table 19-6).
pub(super) const fn tones(width: Width) -> u32 {
    match width {
        Width::Mhz20 | Width::Mhz22 => 52,
        Width::Mhz40 | Width::Mhz80 | Width::Mhz160 => 108,
    }
}

pub(super) fn mode(vector: &TxVector) -> Result<Mode, ModeFault> {
    vector.check(&LIMITS)?;
    vector.refuse_he_parameters()?;
    let tones = tones(vector.width);
    let (modulation, rate) = MCS[usize::from(vector.mcs)];
    let bits = rate.data_bits(tones * modulation.bits() * u32::from(vector.streams));
    let (symbol, grid) = short_symbol(vector);
    Ok(vector.build(&Parts {
        tones,
        header: SIGNALLING + SYMBOL * training_symbols(vector.streams),
        symbol,
        grid,
        packet_extension: Duration::ZERO,
        coding: vector.coding.unwrap_or(Coding::Bcc),
        encoders: bits.div_ceil(BITS_PER_ENCODER) as u8,
    }))
}
