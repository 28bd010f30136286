//! Very high throughput, 802.11ac, for a single user (clause 21).

use super::ofdm::DOT11A;
use super::{Generation, High, ht};
use crate::phy::layout::SYMBOL;
use crate::phy::ldpc::Padding;
use crate::phy::mode::MCS;
use crate::phy::tx_vector::{Limits, Parts, fault, short_symbol, training_symbols};
use crate::phy::{
    Amendment, Band, Coding, Guard, Mode, ModeClass, ModeFault, Standard, TxVector, Width,
};
use kernel::{Bytes, Duration};
use settings::{Said, said};
use wire::Format;

pub(super) const VHT: Generation = Generation {
    format: Format::Vht,
    // Table 21-28.
    longest_psdu: Bytes(1_048_575),
    symbol: Duration(3200),
    high: Some(High {
        mode,
        padding: |_| Padding::Symbol,
        block_ack_window: 64,
        longest_mpdu: LONGEST_MPDU,
        longest_amsdu: LONGEST_AMSDU,
        delimits_single: true,
        counts_streams: false,
        detects_secondary: true,
        has_extension: false,
        color_after: None,
        has_wake_times: false,
    }),
};

/// The longest MPDU from VHT on (table 9-25).
pub(super) const LONGEST_MPDU: Bytes = Bytes(11_454);
/// The longest A-MSDU in such an MPDU.
pub(super) const LONGEST_AMSDU: Bytes = Bytes(11_398);

/// 802.11ac: VHT, at 5 GHz only (table 21-28).
pub const DOT11AC: Standard = DOT11A.with(Amendment::Ac, ModeClass::Vht);

const LIMITS: Limits = Limits {
    name: "VHT",
    clause: "802.11-2020 21.5",
    streams: 8,
    mcs: 9,
    widths: &[Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160],
    guards: &[Guard::Ns800, Guard::Ns400],
};

/// A BCC encoder has at most 540 Mb/s, 2160 bits in 4 µs (tables 21-29 to 21-60).
const BITS_PER_ENCODER: u32 = 2160;

/// L-SIG, VHT-SIG-A, VHT-STF (table 21-5); the VHT-LTFs follow.
const SIGNALLING: Duration = Duration::from_micros(4 + 8 + 4);
/// VHT-SIG-B (table 21-5).
const SIG_B: Duration = Duration::from_micros(4);

/// Data subcarriers (table 21-5).
const fn tones(width: Width) -> u32 {
    match width {
        Width::Mhz80 => 234,
        Width::Mhz160 => 468,
        narrow => ht::tones(narrow),
    }
}

/// BCC encoders (`N_ES`) of an MCS with these streams at this width; `None` if the MCS does not
/// exist.
///
/// The encoders share the coded bits of a symbol evenly, in whole groups of the puncturing pattern:
/// `N_ES` is the smallest number that does so and keeps each encoder below its rate. The tables of
/// clause 21.5 omit an MCS whose symbol holds no whole groups, and four others.
fn encoders(width: Width, streams: u8, mcs: u8) -> Option<u8> {
    let (modulation, rate) = MCS[usize::from(mcs)];
    let coded = tones(width) * modulation.bits() * u32::from(streams);
    let (_, group) = rate.parts();
    let excluded = match (width, mcs) {
        (Width::Mhz20, 9) => !coded.is_multiple_of(group),
        (Width::Mhz80, 6) => streams == 3 || streams == 7,
        (Width::Mhz80, 9) => streams == 6,
        (Width::Mhz160, 9) => streams == 3,
        _ => false,
    };
    if excluded {
        return None;
    }
    let fewest = rate.data_bits(coded).div_ceil(BITS_PER_ENCODER);
    (fewest..=2 * fewest).find(|count| coded.is_multiple_of(count * group)).map(|count| count as u8)
}

fn mode(vector: &TxVector) -> Result<Mode, ModeFault> {
    vector.check(&LIMITS)?;
    vector.refuse_extension()?;
    if vector.band != Band::Ghz5 {
        let message = said!(
            "VHT is of the 5 GHz band [802.11-2020 21.1.1]",
            "802.11n and 802.11ax have modes at 2.4 GHz"
        );
        return fault("band_ghz", message);
    }
    let TxVector { width, streams, mcs, .. } = *vector;
    let Some(encoders) = encoders(width, streams, mcs) else {
        return fault("mcs", missing(width, streams, mcs));
    };
    let (symbol, grid) = short_symbol(vector);
    let sig_b = if vector.is_ns3() { Duration::ZERO } else { SIG_B };
    Ok(vector.build(&Parts {
        tones: tones(width),
        header: SIGNALLING + SYMBOL * training_symbols(streams) + sig_b,
        symbol,
        grid,
        packet_extension: Duration::ZERO,
        coding: vector.coding.unwrap_or(Coding::Bcc),
        encoders,
    }))
}

fn missing(width: Width, streams: u8, mcs: u8) -> Said {
    let has = |mcs: &u8| encoders(width, streams, *mcs).is_some();
    let below = (0..mcs).rev().find(has);
    let above = (mcs + 1..=LIMITS.mcs).find(has);
    let remedy = match (below, above) {
        (Some(below), Some(above)) => format!("take {below} or {above}"),
        (Some(below), None) => format!("the highest is {below}"),
        _ => String::from("take another width"),
    };
    let plural = if streams == 1 { "" } else { "s" };
    Said::new(
        format!(
            "{mcs} does not exist at {} MHz with {streams} stream{plural} [802.11-2020 21.5]",
            width.mhz()
        ),
        remedy,
    )
}
