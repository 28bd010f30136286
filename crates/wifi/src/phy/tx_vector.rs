//! The TXVECTOR parameters of HT and later, and error messages for modes that do not exist.

use super::layout::{Code, Layout, SIGNAL_EXTENSION, SYMBOL, TAIL};
use super::mode::{MCS, bit_rate};
use super::{Coding, Guard, Mode, ModeClass, Punctured, Puncturing, Width};
use kernel::Duration;
use settings::{Choice, Said, numbered, said};
use std::fmt;

/// Frequency band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Band {
    /// 2.4 GHz: PPDUs of OFDM and later end in a signal extension of 6 µs.
    Ghz2_4,
    /// 5 GHz.
    #[default]
    Ghz5,
    /// 6 GHz.
    Ghz6,
}

numbered! { Band, "number": 2.4 => Self::Ghz2_4, 5.0 => Self::Ghz5, 6.0 => Self::Ghz6 }

impl Band {
    /// The band in GHz.
    pub const fn ghz(self) -> f64 {
        match self {
            Self::Ghz2_4 => 2.4,
            Self::Ghz5 => 5.0,
            Self::Ghz6 => 6.0,
        }
    }
}

/// Length of an HE-LTF or EHT-LTF symbol without its guard interval (clauses 27.3.11.10 and
/// 36.3.12.10, which has no 1x).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum HeLtf {
    /// 3.2 us.
    #[setting(name = "1x")]
    X1,
    /// 6.4 us.
    #[setting(name = "2x")]
    X2,
    /// 12.8 us.
    #[setting(name = "4x")]
    X4,
}

/// The source of the durations of PPDUs with an MCS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum PpduTiming {
    /// The standard.
    #[default]
    Standard,
    /// ns-3: no VHT-SIG-B, short-guard data not rounded up to 4 us, HE-LTFs and EHT-LTFs of 8 us
    /// for all types, EHT-SIG longer from 80 MHz on, no packet extension, BCC tail bits with LDPC
    /// too, and in HE and EHT fractions of a bit in a symbol.
    Ns3,
}

/// Parameters of a PPDU of HT or later, as in the standard's TXVECTOR (clauses 19.2, 21.2, 27.2,
/// 36.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxVector {
    /// HT or later.
    pub class: ModeClass,
    /// Frequency band.
    pub band: Band,
    /// MCS index within a stream: HT MCS 8·(streams - 1) + `mcs`.
    pub mcs: u8,
    /// Spatial streams, without space-time coding.
    pub streams: u8,
    /// Bandwidth.
    pub width: Width,
    /// EHT: what of it is punctured.
    pub punctured: Punctured,
    /// Guard interval of the data.
    pub guard: Guard,
    /// Forward error correction; by default BCC where the mode has it.
    pub coding: Option<Coding>,
    /// Type of HE-LTF or EHT-LTF; by default 2x, and 4x with the long guard interval.
    pub ltf: Option<HeLtf>,
    /// HE: extended range PPDU (HE ER SU), over all 242 tones of 20 MHz.
    pub extended_range: bool,
    /// HE and EHT: the packet extension, in whole µs: 0, 4, 8, 12 or 16; EHT also has 20.
    pub packet_extension_us: u8,
    /// The source of the durations.
    pub timing: PpduTiming,
}

/// Why a mode does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeFault {
    /// The faulty field of [`TxVector`].
    pub parameter: &'static str,
    /// Its value, the rule with its clause, and a remedy.
    pub said: Said,
}

impl fmt::Display for ModeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.parameter, self.said)
    }
}

impl std::error::Error for ModeFault {}

pub(super) fn fault<T>(parameter: &'static str, said: impl Into<Said>) -> Result<T, ModeFault> {
    Err(ModeFault { parameter, said: said.into() })
}

/// Rejects a channel that no PPDU has punctured so. `whose`: to whom the PPDU is, the table of the
/// patterns, and the widths that have any.
pub(super) fn check_pattern(channel: Puncturing, whose: [&str; 3]) -> Result<(), ModeFault> {
    if channel.punctured.code(channel.width).is_some() {
        return Ok(());
    }
    let ([to, table, widths], mhz) = (whose, channel.width.mhz());
    let there_are = match channel.width {
        Width::Mhz80 => "one of 4 subchannels of 20 MHz can be",
        Width::Mhz160 => "one of 8 subchannels of 20 MHz can be, or one of 4 channels of 40 MHz",
        Width::Mhz320 => {
            "one of 8 channels of 40 MHz can be, or one of 4 of 80 MHz, or the lowest or highest \
             80 MHz and one channel of 40 MHz beside"
        }
        _ => &format!("take width_mhz {widths}"),
    };
    let message = format!("in {mhz} MHz no PPDU to {to} has these subchannels punctured [{table}]");
    fault("punctured", Said::new(message, there_are))
}

impl TxVector {
    /// The channel, and what of it is punctured.
    pub(super) fn channel(&self) -> Puncturing {
        Puncturing { width: self.width, punctured: self.punctured }
    }

    /// The same of another class. Only HE and later have a choice of training fields, and a packet
    /// extension.
    #[must_use]
    pub fn of_class(self, class: ModeClass) -> Self {
        let has_extension = class.high().is_some_and(|high| high.has_extension);
        Self {
            class,
            ltf: self.ltf.filter(|_| has_extension),
            packet_extension_us: if has_extension { self.packet_extension_us } else { 0 },
            ..self
        }
    }

    /// The slowest mode of a PHY: MCS 0, one stream, 20 MHz, a guard interval of 800 ns.
    pub const fn of(class: ModeClass, band: Band) -> Self {
        Self {
            class,
            band,
            mcs: 0,
            streams: 1,
            width: Width::Mhz20,
            punctured: Punctured::NONE,
            guard: Guard::Ns800,
            coding: None,
            ltf: None,
            extended_range: false,
            packet_extension_us: 0,
            timing: PpduTiming::Standard,
        }
    }

    /// The mode, if the standard has it.
    pub fn mode(&self) -> Result<Mode, ModeFault> {
        match self.class.high() {
            Some(high) => (high.mode)(self),
            None => fault("class", format!("{:?} has no MCS", self.class)),
        }
    }

    /// The fastest MCS that the other parameters allow.
    pub fn fastest(&self) -> Result<Mode, ModeFault> {
        let mut best = Self { mcs: 0, ..*self }.mode();
        for mcs in 1..MCS.len() as u8 {
            // The rate grows with the MCS. An MCS that does not exist (VHT MCS 6 or 9) may lie
            // below one that does.
            if let Ok(mode) = (Self { mcs, ..*self }).mode() {
                best = Ok(mode);
            }
        }
        best
    }

    pub(super) fn is_ns3(&self) -> bool {
        self.timing == PpduTiming::Ns3
    }

    /// Checks the limits that all generations with MCS have.
    pub(super) fn check(&self, limits: &Limits) -> Result<(), ModeFault> {
        let Limits { name, clause, streams, mcs, widths, guards } = *limits;
        if !(1..=streams).contains(&self.streams) {
            let given = self.streams;
            let message = format!("must be from 1 to {streams} in {name}, is {given} [{clause}]");
            return fault("streams", message);
        }
        if self.mcs > mcs {
            let given = self.mcs;
            return fault(
                "mcs",
                format!("must be from 0 to {mcs} in {name}, is {given} [{clause}]"),
            );
        }
        if !widths.contains(&self.width) {
            let widths = list(widths.iter().map(|width| width.mhz()));
            let given = self.width.mhz();
            let message = format!("{name} is {widths} MHz wide, not {given} [{clause}]");
            return fault("width_mhz", message);
        }
        if self.band == Band::Ghz2_4 && self.width > Width::Mhz40 {
            let given = self.width.mhz();
            let message =
                format!("no more than 40 MHz fit into the 2.4 GHz band, not {given} [annex E]");
            return fault("width_mhz", message);
        }
        if !guards.contains(&self.guard) {
            let guards = list(guards.iter().map(|guard| guard.ns()));
            let given = self.guard.ns();
            let message = format!("{name} has {guards} ns, not {given} [{clause}]");
            return fault("guard_ns", message);
        }
        Ok(())
    }

    /// Rejects punctured channels in a vector of HE or earlier. HE punctures the channels of PPDUs
    /// of several users only (802.11ax-2021 table 27-1).
    pub(super) fn refuse_punctured(&self) -> Result<(), ModeFault> {
        if self.punctured.is_none() {
            return Ok(());
        }
        let message = match self.class {
            ModeClass::He => said!(
                "802.11ax punctures only PPDUs to several users (HE MU)",
                "remove the key, or take standard = \"11be\""
            ),
            _ => Said::remove("only PPDUs of 802.11be have punctured channels"),
        };
        fault("punctured", message)
    }

    /// Rejects parameters of HE and EHT in a vector of an earlier generation.
    pub(super) fn refuse_extension(&self) -> Result<(), ModeFault> {
        self.refuse_punctured()?;
        let only = said!("is of 802.11ax and be only", "leave it out");
        if self.ltf.is_some() {
            return fault("ltf", format!("the HE-LTF type {only}"));
        }
        if self.extended_range {
            let message = said!("extended range is of 802.11ax only", "leave it out");
            return fault("extended_range", message);
        }
        if self.packet_extension_us != 0 {
            return fault("packet_extension_us", format!("the packet extension {only}"));
        }
        Ok(())
    }

    /// Creates a mode from the parameters that the PHY determines.
    pub(super) fn build(&self, parts: &Parts) -> Mode {
        let (modulation, code_rate) = MCS[usize::from(self.mcs)];
        let coded_bits = parts.tones * modulation.bits() * u32::from(self.streams);
        let signal_extension = match self.band {
            Band::Ghz2_4 => SIGNAL_EXTENSION,
            Band::Ghz5 | Band::Ghz6 => Duration::ZERO,
        };
        Mode {
            class: self.class,
            rate: bit_rate(code_rate, coded_bits, parts.symbol),
            bits_per_symbol: code_rate.data_bits(coded_bits),
            modulation,
            code_rate,
            mcs: self.mcs,
            streams: self.streams,
            width: self.width,
            punctured: self.punctured,
            guard: self.guard,
            coding: parts.coding,
            coded_bits,
            layout: Layout::new(
                parts.header,
                parts.symbol,
                parts.grid,
                parts.packet_extension + signal_extension,
                self.code(parts),
            ),
        }
    }

    fn code(&self, parts: &Parts) -> Code {
        let tail = TAIL * parts.encoders;
        match parts.coding {
            _ if self.is_ns3() => Code::Fractional { tail },
            Coding::Bcc => Code::Bcc { tail },
            Coding::Ldpc => Code::Ldpc,
        }
    }
}

/// The limits of a PHY.
pub(super) struct Limits {
    pub(super) name: &'static str,
    pub(super) clause: &'static str,
    pub(super) streams: u8,
    pub(super) mcs: u8,
    pub(super) widths: &'static [Width],
    pub(super) guards: &'static [Guard],
}

/// The parameters of a mode that its PHY determines.
pub(super) struct Parts {
    /// Data subcarriers (`N_SD`).
    pub(super) tones: u32,
    /// The time between L-LTF and data.
    pub(super) header: Duration,
    /// Duration of a symbol with its guard interval.
    pub(super) symbol: Duration,
    /// The duration of the data is a multiple of this.
    pub(super) grid: Duration,
    /// Packet extension.
    pub(super) packet_extension: Duration,
    /// The code.
    pub(super) coding: Coding,
    /// BCC encoders (`N_ES`).
    pub(super) encoders: u8,
}

/// The number of HT-LTF, VHT-LTF, HE-LTF and EHT-LTF symbols by streams (tables 19-13 and 21-13,
/// clauses 27.3.11.10 and 36.3.12.10), with as many space-time streams as spatial streams.
pub(super) fn training_symbols(streams: u8) -> u64 {
    match streams {
        0..=2 => u64::from(streams),
        3..=4 => 4,
        5..=6 => 6,
        _ => 8,
    }
}

/// The symbol of HT and VHT, and the unit to which the duration of the data is rounded up: 4 µs;
/// ns-3 does not round.
pub(super) fn short_symbol(vector: &TxVector) -> (Duration, Duration) {
    let symbol = Duration(3200 + vector.guard.ns());
    (symbol, if vector.is_ns3() { symbol } else { SYMBOL })
}

fn list(items: impl Iterator<Item = impl fmt::Display>) -> String {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
