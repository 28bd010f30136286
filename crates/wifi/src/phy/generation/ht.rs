//! High throughput, 802.11n, in the mixed format (clause 19).

use super::ofdm::{DOT11A, DOT11G};
use super::{Generation, High};
use crate::phy::layout::SYMBOL;
use crate::phy::ldpc::Padding;
use crate::phy::mode::MCS;
use crate::phy::tx_vector::{Limits, Parts, short_symbol, training_symbols};
use crate::phy::{Amendment, Coding, Guard, Mode, ModeClass, ModeFault, Standard, TxVector, Width};
use kernel::{Bytes, Duration};
use wire::Format;

pub(super) const HT: Generation = Generation {
    format: Format::Ht,
    // The HT LENGTH field has 16 bits (clause 19.3.9.4.3).
    longest_psdu: Bytes(65_535),
    symbol: Duration(3200),
    high: Some(High {
        mode,
        padding: |_| Padding::Shortened,
        block_ack_window: 64,
        // The length field of a delimiter ends here.
        longest_mpdu: Bytes(4095),
        // Clause 9.4.2.55.3.
        longest_amsdu: Bytes(7935),
        delimits_single: false,
        counts_streams: true,
        detects_secondary: false,
        has_extension: false,
        color_after: None,
        has_wake_times: false,
    }),
};

/// 802.11n: HT at 5 GHz (table 19-25), with the timing and control frames of OFDM.
pub const DOT11N: Standard = DOT11A.with(Amendment::N, ModeClass::Ht);
/// 802.11n at 2.4 GHz, with the timing and control frames of ERP.
pub const DOT11N_2_4: Standard = DOT11G.with(Amendment::N, ModeClass::Ht);

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
        _ => 108,
    }
}

fn mode(vector: &TxVector) -> Result<Mode, ModeFault> {
    vector.check(&LIMITS)?;
    vector.refuse_extension()?;
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
