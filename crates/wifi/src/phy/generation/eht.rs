//! Extremely high throughput, 802.11be, for a single user: an EHT MU PPDU to one station
//! (802.11be-2024 clause 36), also with punctured channels, whose data are in a multiple resource
//! unit; without multiple links.

use super::ofdm::{DOT11A, DOT11G};
use super::{Generation, High, he};
use crate::phy::ldpc::Padding;
use crate::phy::tx_vector::{Limits, Parts, check_pattern, fault, training_symbols};
use crate::phy::{
    Amendment, Band, Guard, HeLtf, Mode, ModeClass, ModeFault, Standard, TxVector, Width,
};
use kernel::{Bytes, Duration};
use settings::{Choice, Said, said};
use wire::Format;

pub(super) const EHT: Generation = Generation {
    format: Format::Eht,
    // Clause 36.4.4.
    longest_psdu: Bytes(15_523_200),
    symbol: he::SYMBOL,
    // Also HE's window: those of 512 and 1024 MPDUs must be agreed on, and are not modelled.
    high: Some(High { mode, padding, ..he::HIGH }),
};

/// 802.11be: EHT at 5 GHz (802.11be-2024 clause 36.4.4).
pub const DOT11BE: Standard = DOT11A.with(Amendment::Be, ModeClass::Eht);
/// 802.11be at 2.4 GHz.
pub const DOT11BE_2_4: Standard = DOT11G.with(Amendment::Be, ModeClass::Eht);
/// 802.11be at 6 GHz, with channels of 320 MHz.
pub const DOT11BE_6: Standard = DOT11BE.at_6_ghz();

const LIMITS: Limits = Limits {
    name: "EHT",
    clause: "802.11be-2024 36.5",
    streams: 8,
    mcs: 13,
    widths: &[Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160, Width::Mhz320],
    guards: &[Guard::Ns800, Guard::Ns1600, Guard::Ns3200],
};

/// L-SIG, RL-SIG, U-SIG, EHT-STF (table 36-18); EHT-SIG and the EHT-LTFs come in between and after.
const SIGNALLING: Duration = Duration::from_micros(4 + 4 + 8 + 4);
/// A symbol of EHT-SIG.
const SIG_SYMBOL: Duration = Duration::from_micros(4);
/// Bits of EHT-SIG to a single user, at any bandwidth: 20 in common, 22 for the user, 4 of the CRC,
/// 6 of the tail (clause 36.3.12.8).
const SIG_BITS: u64 = 20 + 22 + 4 + 6;
/// Bits in a symbol of EHT-SIG with its MCS 0.
const SIG_BITS_PER_SYMBOL: u64 = 26;
/// Duration of an EHT-LTF of any type in ns-3.
const NS3_LTF: Duration = Duration::from_micros(8);

/// Data subcarriers of a resource unit as wide as the channel (clause 36.3.2).
fn tones(width: Width) -> u32 {
    match width {
        Width::Mhz320 => 2 * he::tones(Width::Mhz160),
        narrow => he::tones(narrow),
    }
}

/// The data subcarriers that count for a quarter of its symbol (table 36-46).
fn quarter_tones(width: Width) -> u32 {
    match width {
        Width::Mhz320 => 2 * he::quarter_tones(Width::Mhz160),
        narrow => he::quarter_tones(narrow),
    }
}

/// LDPC fills quarters of the last symbol (clause 36.3.13.3).
fn padding(mode: &Mode) -> Padding {
    he::quarters(mode, mode.channel().tones(quarter_tones))
}

fn mode(vector: &TxVector) -> Result<Mode, ModeFault> {
    vector.check(&LIMITS)?;
    let whose = ["one station", "802.11be-2024 table 36-30", "80, 160 or 320"];
    check_pattern(vector.channel(), whose)?;
    if vector.width == Width::Mhz320 && vector.band != Band::Ghz6 {
        let message =
            said!("channels of 320 MHz are in the 6 GHz band only [annex E]", "take band 6");
        return fault("width_mhz", message);
    }
    if vector.extended_range {
        let message = said!("extended range is of 802.11ax only", "leave it out");
        return fault("extended_range", message);
    }
    let packet_extension = match vector.packet_extension_us {
        _ if vector.is_ns3() => 0,
        us @ (0 | 4 | 8 | 12 | 16 | 20) => us,
        us => {
            let message = format!("is 0, 4, 8, 12, 16 or 20, not {us} [802.11be-2024 36.3.14]");
            return fault("packet_extension_us", message);
        }
    };
    let symbol = he::SYMBOL + Duration(vector.guard.ns());
    let training = training(vector)? * training_symbols(vector.streams);
    Ok(vector.build(&Parts {
        tones: vector.channel().tones(tones),
        header: SIGNALLING + SIG_SYMBOL * sig_symbols(vector) + training,
        symbol,
        grid: symbol,
        packet_extension: Duration::from_micros(u64::from(packet_extension)),
        coding: he::coding(vector, "802.11be-2024 36.3.13.3.1")?,
        encoders: 1,
    }))
}

/// Symbols of EHT-SIG. ns-3 takes the length of an HE-SIG-B, which grows with the bandwidth.
fn sig_symbols(vector: &TxVector) -> u64 {
    match vector.width {
        Width::Mhz80 | Width::Mhz160 if vector.is_ns3() => 3,
        Width::Mhz320 if vector.is_ns3() => 5,
        _ => SIG_BITS.div_ceil(SIG_BITS_PER_SYMBOL),
    }
}

/// Duration of one EHT-LTF. Some types do not exist with some guard intervals (clause 36.3.12.10).
fn training(vector: &TxVector) -> Result<Duration, ModeFault> {
    use Guard::{Ns800, Ns1600, Ns3200};
    use HeLtf::{X2, X4};
    let ltf = vector.ltf.unwrap_or(if vector.guard == Ns3200 { X4 } else { X2 });
    let usual = match (ltf, vector.guard) {
        (X2, Ns800 | Ns1600) => 6400,
        (X4, Ns800 | Ns3200) => 12_800,
        (_, guard) => {
            let name = ltf.name();
            let message = Said::new(
                format!(
                    "{name} does not go with a guard interval of {} ns [802.11be-2024 36.3.12.10]",
                    guard.ns()
                ),
                "there are 2x with 800 or 1600, 4x with 800 or 3200",
            );
            return fault("ltf", message);
        }
    };
    if vector.is_ns3() {
        return Ok(NS3_LTF);
    }
    Ok(Duration(usual + vector.guard.ns()))
}
