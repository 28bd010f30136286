//! High efficiency, 802.11ax, for a single user (802.11ax-2021 clause 27).

use super::ofdm::{DOT11A, DOT11G};
use super::vht::{LONGEST_AMSDU, LONGEST_MPDU};
use super::{Generation, High};
use crate::phy::ldpc::Padding;
use crate::phy::tx_vector::{Limits, Parts, fault, training_symbols};
use crate::phy::{
    Amendment, Coding, Guard, HeLtf, Mode, ModeClass, ModeFault, Standard, TxVector, Width,
};
use kernel::{Bytes, Duration};
use wire::Format;

pub(super) const HE: Generation = Generation {
    format: Format::He,
    // Clause 27.4.4.
    longest_psdu: Bytes(6_500_631),
    symbol: SYMBOL,
    high: Some(HIGH),
};

pub(super) const HIGH: High = High {
    mode,
    padding,
    block_ack_window: 256,
    longest_mpdu: LONGEST_MPDU,
    longest_amsdu: LONGEST_AMSDU,
    delimits_single: true,
    counts_streams: false,
    detects_secondary: true,
    has_extension: true,
};

/// 802.11ax: HE at 5 GHz (802.11ax-2021 clause 27.4.4).
pub const DOT11AX: Standard = DOT11A.with(Amendment::Ax, ModeClass::He);
/// 802.11ax at 2.4 GHz.
pub const DOT11AX_2_4: Standard = DOT11G.with(Amendment::Ax, ModeClass::He);
/// 802.11ax at 6 GHz.
pub const DOT11AX_6: Standard = DOT11AX.at_6_ghz();

/// Duration of a symbol without its guard interval.
pub(super) const SYMBOL: Duration = Duration(12_800);

const LIMITS: Limits = Limits {
    name: "HE",
    clause: "802.11ax-2021 27.5",
    streams: 8,
    mcs: 11,
    widths: &[Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160],
    guards: &[Guard::Ns800, Guard::Ns1600, Guard::Ns3200],
};

/// L-SIG, RL-SIG, HE-SIG-A, HE-STF (table 27-12); the HE-LTFs follow.
const SIGNALLING: Duration = Duration::from_micros(4 + 4 + 8 + 4);
/// HE-SIG-A is sent twice in an extended range PPDU (clause 27.3.11.7.4).
const SIG_A: Duration = Duration::from_micros(8);
/// Duration of an HE-LTF of any type in ns-3.
const NS3_LTF: Duration = Duration::from_micros(8);

/// Data subcarriers of a resource unit as wide as the channel (clause 27.3.2).
pub(super) const fn tones(width: Width) -> u32 {
    match width {
        Width::Mhz20 | Width::Mhz22 => 234,
        Width::Mhz40 => 468,
        Width::Mhz80 => 980,
        _ => 1960,
    }
}

/// `N_SD,short` (clause 27.3.12): the data subcarriers that count for a quarter of a symbol.
pub(super) const fn quarter_tones(width: Width) -> u32 {
    match width {
        Width::Mhz20 | Width::Mhz22 => 60,
        Width::Mhz40 => 120,
        Width::Mhz80 => 240,
        _ => 492,
    }
}

/// LDPC fills quarters of the last symbol.
fn padding(mode: &Mode) -> Padding {
    quarters(mode, quarter_tones(mode.width))
}

/// The same with so many data subcarriers in a quarter.
pub(super) fn quarters(mode: &Mode, tones: u32) -> Padding {
    let coded_bits = tones * mode.modulation.bits() * u32::from(mode.streams);
    Padding::Quarter { data_bits: mode.code_rate.data_bits(coded_bits), coded_bits }
}

fn mode(vector: &TxVector) -> Result<Mode, ModeFault> {
    vector.check(&LIMITS)?;
    let ltf = training(vector)?;
    let coding = coding(vector, "802.11ax-2021 27.3.12.5.1")?;
    if vector.extended_range {
        check_extended_range(vector)?;
    }
    let packet_extension = match vector.packet_extension_us {
        _ if vector.is_ns3() => 0,
        us @ (0 | 4 | 8 | 12 | 16) => us,
        us => {
            let message = format!("is 0, 4, 8, 12 or 16, not {us} [802.11ax-2021 27.3.13]");
            return fault("packet_extension_us", message);
        }
    };
    let symbol = SYMBOL + Duration(vector.guard.ns());
    let sig_a = if vector.extended_range { SIG_A } else { Duration::ZERO };
    Ok(vector.build(&Parts {
        tones: tones(vector.width),
        header: SIGNALLING + sig_a + ltf * training_symbols(vector.streams),
        symbol,
        grid: symbol,
        packet_extension: Duration::from_micros(u64::from(packet_extension)),
        coding,
        encoders: 1,
    }))
}

/// Duration of one HE-LTF. Some types do not exist with some guard intervals (clause 27.3.11.10).
fn training(vector: &TxVector) -> Result<Duration, ModeFault> {
    use Guard::{Ns800, Ns1600, Ns3200};
    use HeLtf::{X1, X2, X4};
    let ltf = vector.ltf.unwrap_or(if vector.guard == Ns3200 { X4 } else { X2 });
    let (usual, name) = match ltf {
        X1 => (3200, "1x"),
        X2 => (6400, "2x"),
        X4 => (12_800, "4x"),
    };
    match (ltf, vector.guard) {
        (X1, Ns800) | (X2, Ns800 | Ns1600) | (X4, Ns800 | Ns3200) => {}
        (_, guard) => {
            let message = format!(
                "{name} does not go with a guard interval of {} ns [802.11ax-2021 27.3.11.10]; \
                 there are 1x with 800, 2x with 800 or 1600, 4x with 800 or 3200",
                guard.ns()
            );
            return fault("ltf", message);
        }
    }
    if vector.is_ns3() {
        return Ok(NS3_LTF);
    }
    Ok(Duration(usual + vector.guard.ns()))
}

/// BCC exists for up to 242 tones, 4 streams and MCS 9, LDPC for all modes, as this clause says.
pub(super) fn coding(vector: &TxVector, clause: &str) -> Result<Coding, ModeFault> {
    let has_bcc = vector.width == Width::Mhz20 && vector.streams <= 4 && vector.mcs <= 9;
    match vector.coding {
        Some(Coding::Bcc) if !has_bcc => {
            let rule = "bcc goes up to 20 MHz, 4 streams and MCS 9";
            fault("coding", format!("{rule} [{clause}]; take ldpc"))
        }
        Some(coding) => Ok(coding),
        None if has_bcc => Ok(Coding::Bcc),
        None => Ok(Coding::Ldpc),
    }
}

/// Extended range: one stream, 20 MHz, MCS 0 to 2 (clause 27.3.4).
fn check_extended_range(vector: &TxVector) -> Result<(), ModeFault> {
    let because = "with extended range [802.11ax-2021 27.3.4]";
    if vector.width != Width::Mhz20 {
        return fault("width_mhz", format!("must be 20 {because}, is {}", vector.width.mhz()));
    }
    if vector.streams != 1 {
        return fault("streams", format!("must be 1 {because}, is {}", vector.streams));
    }
    if vector.mcs > 2 {
        return fault("mcs", format!("must be from 0 to 2 {because}, is {}", vector.mcs));
    }
    Ok(())
}
