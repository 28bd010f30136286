//! High efficiency, 802.11ax (802.11ax-2021 clause 27): the PHY of a single user here, and in the
//! files beside resource units and the PPDUs of several users.

mod allocation;
mod group;
mod l_sig;
mod layout;
mod load;
mod ru;
mod sig_b;

pub use allocation::{
    Described, RuAllocation, bandwidth_code, described, user_info_code, width_code,
};
pub use group::{
    GroupFault, GroupFields, GroupFormat, GroupPpdu, GroupUser, GroupVector, NominalPadding,
    UserPart,
};
pub use l_sig::HeFormat;
pub use layout::GroupLayout;
pub use load::DataEnd;
pub use ru::{Room, Ru, RuSize};
pub use sig_b::{SigB, SigBMode};

use super::ofdm::{DOT11A, DOT11G};
use super::vht::{LONGEST_AMSDU, LONGEST_MPDU};
use super::{Generation, High};
use crate::phy::ldpc::Padding;
use crate::phy::mode::bit_rate;
use crate::phy::tx_vector::{Limits, Parts, fault, training_symbols};
use crate::phy::{
    Amendment, Coding, Guard, HeLtf, Mode, ModeClass, ModeFault, Punctured, Puncturing, Standard,
    TxVector, Width,
};
use kernel::{Bytes, Duration};
use settings::{Choice, Said, said};
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
    color_after: Some(COLOR_AFTER),
    has_wake_times: true,
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
/// HE-SIG-A, which is sent twice in an extended range PPDU (clause 27.3.11.7.4).
const SIG_A: Duration = Duration::from_micros(8);
/// L-STF, L-LTF, L-SIG, RL-SIG and HE-SIG-A, or U-SIG in EHT, which tells the BSS color.
const COLOR_AFTER: Duration = Duration::from_micros(8 + 8 + 4 + 4 + 8);
/// Duration of an HE-LTF of any type in ns-3.
const NS3_LTF: Duration = Duration::from_micros(8);

/// HE-LTF types that go with guard intervals in a format.
type LtfPairs = &'static [(HeLtf, Guard)];

/// Those of HE SU and HE ER SU PPDUs (table 27-32).
const OF_SU: LtfPairs = &[
    (HeLtf::X1, Guard::Ns800),
    (HeLtf::X2, Guard::Ns800),
    (HeLtf::X2, Guard::Ns1600),
    (HeLtf::X4, Guard::Ns800),
    (HeLtf::X4, Guard::Ns3200),
];

impl Mode {
    /// That of a user of PPDUs to several, of 802.11ax, in what is not punctured of its channel: by
    /// resource units, whose subcarriers it counts all.
    #[must_use]
    pub(crate) fn without(self, punctured: Punctured) -> Self {
        let tones_left = Puncturing { punctured, ..self.channel() }.tones(tones);
        let coded_bits = tones_left * self.modulation.bits() * u32::from(self.streams);
        let symbol = Duration(self.layout.symbol_ns.into());
        Self {
            punctured,
            rate: bit_rate(self.code_rate, coded_bits, symbol),
            bits_per_symbol: self.code_rate.data_bits(coded_bits),
            coded_bits,
            ..self
        }
    }
}

/// Data subcarriers of a resource unit as wide as the channel.
pub(super) const fn tones(width: Width) -> u32 {
    RuSize::of_channel(width).data_tones()
}

/// The data subcarriers that count for a quarter of its symbol.
pub(super) const fn quarter_tones(width: Width) -> u32 {
    RuSize::of_channel(width).quarter_tones()
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
    vector.refuse_punctured()?;
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

/// Duration of one HE-LTF.
fn training(vector: &TxVector) -> Result<Duration, ModeFault> {
    ltf_symbol(vector.ltf, vector.guard, OF_SU, "HE SU PPDUs", vector.is_ns3())
}

/// Duration of one HE-LTF in a format, which has some types with some guard intervals (clause
/// 27.3.11.10).
fn ltf_symbol(
    asked: Option<HeLtf>,
    guard: Guard,
    pairs: LtfPairs,
    format: &str,
    ns3: bool,
) -> Result<Duration, ModeFault> {
    let usual = if guard == Guard::Ns3200 { HeLtf::X4 } else { HeLtf::X2 };
    let ltf = asked.unwrap_or(usual);
    if !pairs.contains(&(ltf, guard)) {
        let parameter = if asked.is_some() { "ltf" } else { "guard_ns" };
        let there_are: Vec<String> = pairs
            .iter()
            .map(|(ltf, guard)| format!("{} with {}", ltf.name(), guard.ns()))
            .collect();
        let message = Said::new(
            format!(
                "{} does not go with a guard interval of {} ns [802.11ax-2021 27.3.11.10]",
                ltf.name(),
                guard.ns()
            ),
            format!("{format} have {}", there_are.join(", ")),
        );
        return fault(parameter, message);
    }
    let symbol = match ltf {
        HeLtf::X1 => 3200,
        HeLtf::X2 => 6400,
        HeLtf::X4 => 12_800,
    };
    Ok(if ns3 { NS3_LTF } else { Duration(symbol + guard.ns()) })
}

/// BCC exists for up to 20 MHz, 4 streams and MCS 9, LDPC for all modes, as this clause says.
pub(super) fn coding(vector: &TxVector, clause: &str) -> Result<Coding, ModeFault> {
    let narrow = vector.width == Width::Mhz20;
    choose_coding(vector.coding, narrow, vector.mcs, vector.streams)
        .ok_or("bcc goes up to 20 MHz, 4 streams and MCS 9")
        .or_else(|rule| fault("coding", said!("{rule} [{clause}]", "take ldpc")))
}

/// The same in a resource unit.
fn pick_coding(
    asked: Option<Coding>,
    size: RuSize,
    mcs: u8,
    streams: u8,
) -> Result<Coding, ModeFault> {
    choose_coding(asked, size <= RuSize::Tones242, mcs, streams)
        .ok_or("bcc goes up to 242 tones, 4 streams and MCS 9 [802.11ax-2021 27.3.12.5.1]")
        .or_else(|rule| fault("coding", Said::new(rule, "take ldpc")))
}

/// The code; `None` if it is one that the mode lacks.
fn choose_coding(asked: Option<Coding>, narrow: bool, mcs: u8, streams: u8) -> Option<Coding> {
    let has_bcc = narrow && streams <= 4 && mcs <= 9;
    match asked {
        Some(Coding::Bcc) => has_bcc.then_some(Coding::Bcc),
        None if has_bcc => Some(Coding::Bcc),
        Some(Coding::Ldpc) | None => Some(Coding::Ldpc),
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
