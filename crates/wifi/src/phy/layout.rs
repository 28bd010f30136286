//! The structure of an OFDM PPDU: the fields before the data, the duration of a symbol, the number
//! of symbols of a PSDU, and the extension. One set of numbers describes all OFDM PHYs.

use super::ldpc::{Ldpc, Padding};
use super::{Airtime, Mode};
use kernel::{Bytes, Duration};

/// Bits of the SERVICE field (clauses 17.3.5.2, 19.3.11.2, 21.3.10.2, 27.3.12.2).
const SERVICE: u64 = 16;
/// Tail bits of one BCC encoder (clauses 17.3.5.3, 19.3.11.3).
pub(super) const TAIL: u8 = 6;
/// Duration of a legacy OFDM symbol, to which short-guard data is rounded up.
pub(super) const SYMBOL: Duration = Duration::from_micros(4);
/// L-STF and L-LTF, the first fields of every OFDM PPDU (table 17-5).
const TRAINING: Duration = Duration::from_micros(16);
/// L-SIG (table 17-5).
const SIGNAL: Duration = Duration::from_micros(4);
/// `aSignalExtension` in 2.4 GHz (clauses 18.3.2.4, 19.4.4, 27.4.4).
pub(super) const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

/// Forward error correction, as far as it changes the number of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// Binary convolutional code, with the total number of tail bits.
    Bcc { tail: u8 },
    /// Binary convolutional code, whose symbols may hold a fraction of a bit.
    Fractional { tail: u8 },
    /// Low-density parity check: no tail, in some cases one symbol more.
    Ldpc,
}

/// The durations of a mode's PPDU, in nanoseconds and in small integers, because each frame has a
/// copy of its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    header_ns: u32,
    symbol_ns: u16,
    grid_ns: u16,
    extension_ns: u16,
    code: Code,
}

impl Layout {
    /// `header` is the time between L-LTF and data. The data, in symbols of `symbol`, lasts a
    /// multiple of `grid`, and `extension` follows it.
    pub(super) const fn new(
        header: Duration,
        symbol: Duration,
        grid: Duration,
        extension: Duration,
        code: Code,
    ) -> Self {
        Self {
            header_ns: header.0 as u32,
            symbol_ns: symbol.0 as u16,
            grid_ns: grid.0 as u16,
            extension_ns: extension.0 as u16,
            code,
        }
    }

    /// The layout of clause 17, with this extension.
    pub(super) const fn ofdm(extension: Duration) -> Self {
        Self::new(SIGNAL, SYMBOL, SYMBOL, extension, Code::Bcc { tail: TAIL })
    }
}

/// The methods for all modes except those of DSSS.
impl Mode {
    /// Symbols of the data of a PSDU: ceil((16 + 8·PSDU + tail) / `N_DBPS`) with BCC.
    fn symbols(&self, psdu: Bytes) -> u64 {
        let payload = SERVICE + psdu.bits();
        match self.layout.code {
            Code::Bcc { tail } => {
                (payload + u64::from(tail)).div_ceil(u64::from(self.bits_per_symbol))
            }
            Code::Fractional { tail } => {
                let (num, den) = self.code_rate.parts();
                ((payload + u64::from(tail)) * u64::from(den))
                    .div_ceil(u64::from(self.coded_bits * num))
            }
            Code::Ldpc => self.ldpc().symbols(payload),
        }
    }

    fn ldpc(&self) -> Ldpc {
        let padding = self.class.high().map_or(Padding::Shortened, |high| (high.padding)(self));
        let Self { code_rate: rate, bits_per_symbol: data_bits, coded_bits, .. } = *self;
        Ldpc { rate, data_bits, coded_bits, padding }
    }

    /// The duration of a PPDU with this PSDU.
    pub(super) fn ofdm_airtime(&self, psdu: Bytes) -> Airtime {
        let Layout { header_ns, symbol_ns, grid_ns, extension_ns, .. } = self.layout;
        let mut data_ns = u64::from(symbol_ns) * self.symbols(psdu);
        if grid_ns != symbol_ns {
            data_ns = data_ns.next_multiple_of(grid_ns.into());
        }
        Airtime {
            preamble: TRAINING,
            header: Duration(header_ns.into()),
            payload: Duration(data_ns),
            extension: Duration(extension_ns.into()),
        }
    }

    /// The greatest number of PSDU bits in a PPDU that lasts no longer than `within`, if LDPC needs
    /// no extra symbol.
    pub(super) fn ofdm_bits_within(&self, within: Duration) -> u64 {
        let Layout { header_ns, symbol_ns, grid_ns, extension_ns, code } = self.layout;
        let fixed = TRAINING + Duration(u64::from(header_ns) + u64::from(extension_ns));
        let data_ns = within.saturating_sub(fixed).0;
        let symbols = (data_ns - data_ns % u64::from(grid_ns)) / u64::from(symbol_ns);
        let whole = symbols * u64::from(self.bits_per_symbol);
        let (room, tail) = match code {
            Code::Bcc { tail } => (whole, tail),
            Code::Fractional { tail } => {
                let (num, den) = self.code_rate.parts();
                (symbols * u64::from(self.coded_bits * num) / u64::from(den), tail)
            }
            Code::Ldpc => (whole, 0),
        };
        room.saturating_sub(SERVICE + u64::from(tail))
    }
}
