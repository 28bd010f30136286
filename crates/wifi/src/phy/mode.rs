//! Modes: the modulation, coding and PPDU format of a PSDU.

use super::layout::Layout;
use super::{ModeClass, Punctured, Puncturing};
use kernel::{BitRate, Duration};
use settings::{Choice, numbered};

/// Bandwidth of a PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 20 MHz.
    #[default]
    Mhz20,
    /// 22 MHz: DSSS and CCK.
    Mhz22,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz, contiguous or 80+80.
    Mhz160,
    /// 320 MHz, in the 6 GHz band.
    Mhz320,
}

impl Width {
    /// All of them, in their order.
    pub const ALL: [Self; 6] =
        [Self::Mhz20, Self::Mhz22, Self::Mhz40, Self::Mhz80, Self::Mhz160, Self::Mhz320];

    /// The bandwidth in MHz.
    pub const fn mhz(self) -> u32 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz22 => 22,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
            Self::Mhz160 => 160,
            Self::Mhz320 => 320,
        }
    }

    /// The next narrower channel of OFDM.
    pub const fn narrower(self) -> Option<Self> {
        match self {
            Self::Mhz20 | Self::Mhz22 => None,
            Self::Mhz40 => Some(Self::Mhz20),
            Self::Mhz80 => Some(Self::Mhz40),
            Self::Mhz160 => Some(Self::Mhz80),
            Self::Mhz320 => Some(Self::Mhz160),
        }
    }
}

/// The bandwidth that a PPDU occupies: its channel without what is punctured. Whole channels have
/// the numbers of [`Width`]. As a number of parts of 20 MHz it would need a check of bounds for
/// each look at noise, 1.1 % of the instructions of ten cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupied {
    /// 20 MHz.
    Mhz20,
    /// 22 MHz.
    Mhz22,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz.
    Mhz160,
    /// 320 MHz.
    Mhz320,
    /// 80 MHz without 20.
    Mhz60,
    /// 160 MHz without 40.
    Mhz120,
    /// 160 MHz without 20.
    Mhz140,
    /// 320 MHz without 120.
    Mhz200,
    /// 320 MHz without 80.
    Mhz240,
    /// 320 MHz without 40.
    Mhz280,
}

impl Occupied {
    /// All of them, in their order.
    pub const ALL: [Self; 12] = [
        Self::Mhz20,
        Self::Mhz22,
        Self::Mhz40,
        Self::Mhz80,
        Self::Mhz160,
        Self::Mhz320,
        Self::Mhz60,
        Self::Mhz120,
        Self::Mhz140,
        Self::Mhz200,
        Self::Mhz240,
        Self::Mhz280,
    ];

    /// The bandwidth in MHz.
    pub const fn mhz(self) -> u32 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz22 => 22,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
            Self::Mhz160 => 160,
            Self::Mhz320 => 320,
            Self::Mhz60 => 60,
            Self::Mhz120 => 120,
            Self::Mhz140 => 140,
            Self::Mhz200 => 200,
            Self::Mhz240 => 240,
            Self::Mhz280 => 280,
        }
    }
}

impl From<Width> for Occupied {
    fn from(width: Width) -> Self {
        match width {
            Width::Mhz20 => Self::Mhz20,
            Width::Mhz22 => Self::Mhz22,
            Width::Mhz40 => Self::Mhz40,
            Width::Mhz80 => Self::Mhz80,
            Width::Mhz160 => Self::Mhz160,
            Width::Mhz320 => Self::Mhz320,
        }
    }
}

numbered! {
    Width, "integer":
    20 => Self::Mhz20, 40 => Self::Mhz40, 80 => Self::Mhz80, 160 => Self::Mhz160,
    320 => Self::Mhz320
}

/// The data rate of symbols that last so long and have this many coded bits.
pub(super) fn bit_rate(code_rate: CodeRate, coded_bits: u32, symbol: Duration) -> BitRate {
    let (num, den) = code_rate.parts();
    let bit_ns = u64::from(coded_bits * num) * 1_000_000_000;
    let divisor = u64::from(den) * symbol.0;
    BitRate((bit_ns + divisor / 2) / divisor)
}

/// Guard interval between OFDM symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// 400 ns, the short interval of HT and VHT.
    Ns400,
    /// 800 ns, the interval of OFDM and the short one of HE.
    #[default]
    Ns800,
    /// 1600 ns.
    Ns1600,
    /// 3200 ns.
    Ns3200,
}

impl Guard {
    /// The interval in nanoseconds.
    pub const fn ns(self) -> u64 {
        match self {
            Self::Ns400 => 400,
            Self::Ns800 => 800,
            Self::Ns1600 => 1600,
            Self::Ns3200 => 3200,
        }
    }

    /// That of HE TB PPDUs beside data with this one: they have none below 1600 ns (table 27-31).
    #[must_use]
    pub fn of_trigger_based(self) -> Self {
        if self == Self::Ns3200 { Self::Ns3200 } else { Self::Ns1600 }
    }
}

numbered! {
    Guard, "integer":
    400 => Self::Ns400, 800 => Self::Ns800, 1600 => Self::Ns1600, 3200 => Self::Ns3200
}

/// Modulation of the carrier, or of each subcarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// Differential BPSK or QPSK, spread by the Barker sequence.
    Dsss,
    /// Complementary code keying.
    Cck,
    /// BPSK.
    Bpsk,
    /// QPSK.
    Qpsk,
    /// 16-QAM.
    Qam16,
    /// 64-QAM.
    Qam64,
    /// 256-QAM.
    Qam256,
    /// 1024-QAM.
    Qam1024,
    /// 4096-QAM.
    Qam4096,
}

impl Modulation {
    /// Coded bits on a subcarrier (`N_BPSCS`); 0 without subcarriers.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Dsss | Self::Cck => 0,
            Self::Bpsk => 1,
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
            Self::Qam1024 => 10,
            Self::Qam4096 => 12,
        }
    }
}

/// Rate of the forward error correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeRate {
    /// 1/2.
    Half,
    /// 2/3.
    TwoThirds,
    /// 3/4.
    ThreeQuarters,
    /// 5/6.
    FiveSixths,
    /// 1: uncoded.
    Uncoded,
}

impl CodeRate {
    /// The code rate as a fraction: data bits and coded bits.
    pub const fn parts(self) -> (u32, u32) {
        match self {
            Self::Half => (1, 2),
            Self::TwoThirds => (2, 3),
            Self::ThreeQuarters => (3, 4),
            Self::FiveSixths => (5, 6),
            Self::Uncoded => (1, 1),
        }
    }

    /// The whole number of data bits in so many coded bits.
    pub(super) const fn data_bits(self, coded: u32) -> u32 {
        let (num, den) = self.parts();
        coded * num / den
    }
}

/// Forward error correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Coding {
    /// Binary convolutional code.
    Bcc,
    /// Low-density parity check.
    Ldpc,
}

/// Modulation and code rate by MCS index. Within a stream, HT has MCS 0 to 7, VHT 0 to 9, HE 0 to
/// 11, EHT 0 to 13 (clauses 19.5, 21.5, 27.5, 36.5).
pub(super) const MCS: [(Modulation, CodeRate); 14] = [
    (Modulation::Bpsk, CodeRate::Half),
    (Modulation::Qpsk, CodeRate::Half),
    (Modulation::Qpsk, CodeRate::ThreeQuarters),
    (Modulation::Qam16, CodeRate::Half),
    (Modulation::Qam16, CodeRate::ThreeQuarters),
    (Modulation::Qam64, CodeRate::TwoThirds),
    (Modulation::Qam64, CodeRate::ThreeQuarters),
    (Modulation::Qam64, CodeRate::FiveSixths),
    (Modulation::Qam256, CodeRate::ThreeQuarters),
    (Modulation::Qam256, CodeRate::FiveSixths),
    (Modulation::Qam1024, CodeRate::ThreeQuarters),
    (Modulation::Qam1024, CodeRate::FiveSixths),
    (Modulation::Qam4096, CodeRate::ThreeQuarters),
    (Modulation::Qam4096, CodeRate::FiveSixths),
];

/// How the bits of a PSDU are sent.
///
/// The modes of DSSS, CCK and OFDM are in the tables of a [`Standard`](super::Standard).
/// [`TxVector::mode`](super::TxVector::mode) creates those of HT, VHT and HE and rejects modes that
/// do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// PPDU format.
    pub class: ModeClass,
    /// Data rate as printed in the standard's tables: if a symbol of HE holds a fraction of a bit,
    /// the fraction counts.
    pub rate: BitRate,
    /// Whole data bits per OFDM symbol (`N_DBPS`, table 17-4); 0 for DSSS.
    pub bits_per_symbol: u32,
    /// Modulation of the data.
    pub modulation: Modulation,
    /// Forward error correction of the data.
    pub code_rate: CodeRate,
    /// MCS index within a stream. Without MCS, the index among the rates of the class.
    pub mcs: u8,
    /// Spatial streams.
    pub streams: u8,
    /// Bandwidth.
    pub width: Width,
    /// What of it is punctured.
    pub punctured: Punctured,
    /// Guard interval of the data.
    pub guard: Guard,
    /// The code; BCC before HT.
    pub coding: Coding,
    /// Coded bits per OFDM symbol (`N_CBPS`).
    pub(super) coded_bits: u32,
    /// Structure of its PPDU. DSSS has two forms of its own instead.
    pub(super) layout: Layout,
}

impl Mode {
    /// This mode at a rate that no standard has, for the data frames of analytic models.
    #[must_use]
    pub const fn at_rate(self, rate: BitRate) -> Self {
        Self { rate, ..self }
    }

    /// Its channel, and what of that is punctured.
    pub fn channel(&self) -> Puncturing {
        Puncturing { width: self.width, punctured: self.punctured }
    }

    /// The bandwidth that it occupies.
    #[inline]
    pub fn occupied(&self) -> Occupied {
        if self.punctured.is_none() { self.width.into() } else { self.occupied_in_part() }
    }

    #[cold]
    fn occupied_in_part(&self) -> Occupied {
        match self.channel().occupied_mhz() {
            60 => Occupied::Mhz60,
            120 => Occupied::Mhz120,
            140 => Occupied::Mhz140,
            200 => Occupied::Mhz200,
            240 => Occupied::Mhz240,
            280 => Occupied::Mhz280,
            _ => unreachable!("modes have the patterns of the standard"),
        }
    }

    /// This mode with the modulation and code rate of another MCS: errors follow from these, in
    /// whichever resource unit its symbols are.
    pub(crate) fn with_mcs(self, mcs: u8) -> Self {
        let (modulation, code_rate) = MCS[usize::from(mcs)];
        Self { modulation, code_rate, mcs, ..self }
    }

    /// Whether its PPDUs may be parts of those of several users: it is HE, of which these are
    /// modelled.
    pub fn has_units(&self) -> bool {
        self.class == ModeClass::He
    }

    /// The non-HT reference rate (table 10-10): the rate of the OFDM mode with the same modulation
    /// and code rate, or the next lower one; for a DSSS or OFDM mode its own rate. A control
    /// response has no higher rate.
    pub fn reference_rate(&self) -> BitRate {
        use CodeRate::{Half, TwoThirds};
        use Modulation::{Bpsk, Qam16, Qam64, Qpsk};
        if !self.class.is_high() {
            return self.rate;
        }
        let mbps = match (self.modulation, self.code_rate) {
            (Bpsk, Half) => 6,
            (Bpsk, _) => 9,
            (Qpsk, Half) => 12,
            (Qpsk, _) => 18,
            (Qam16, Half) => 24,
            (Qam16, _) => 36,
            (Qam64, Half | TwoThirds) => 48,
            _ => 54,
        };
        BitRate(mbps * 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_small_enough_to_copy() {
        assert!(size_of::<Mode>() <= 40, "{} bytes", size_of::<Mode>());
    }
}
