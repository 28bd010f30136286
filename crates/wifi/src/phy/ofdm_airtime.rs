//! Durations of OFDM PPDUs, of all generations: from the layout of their mode.

use super::layout::{Code, Layout};
use super::ldpc::{Ldpc, Padding};
use super::{Airtime, Mode};
use kernel::{Bytes, Duration};

/// Bits of the SERVICE field (clauses 17.3.5.2, 19.3.11.2, 21.3.10.2, 27.3.12.2).
pub(super) const SERVICE: u64 = 16;
/// L-STF and L-LTF, the first fields of every OFDM PPDU (table 17-5).
const TRAINING: Duration = Duration::from_micros(16);

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
