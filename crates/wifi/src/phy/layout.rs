//! The structure of an OFDM PPDU: the fields before the data, the duration of a symbol, the code,
//! and the extension. One set of numbers describes all OFDM PHYs.

use kernel::Duration;

/// Tail bits of one BCC encoder (clauses 17.3.5.3, 19.3.11.3).
pub(super) const TAIL: u8 = 6;
/// Duration of a legacy OFDM symbol, to which short-guard data is rounded up.
pub(super) const SYMBOL: Duration = Duration::from_micros(4);
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
    pub(super) header_ns: u32,
    pub(super) symbol_ns: u16,
    pub(super) grid_ns: u16,
    pub(super) extension_ns: u16,
    pub(super) code: Code,
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
