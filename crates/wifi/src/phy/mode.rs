//! Modes: a modulation class with a rate.

use kernel::BitRate;

/// Which PPDU format a mode belongs to (table 10-9, "modulation classes").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModeClass {
    /// DSSS, 1 and 2 Mb/s (clause 15).
    Dsss,
    /// HR/DSSS, CCK at 5.5 and 11 Mb/s (clause 16).
    HrDsss,
    /// OFDM in 5 GHz, 20 MHz (clause 17).
    Ofdm,
    /// ERP-OFDM in 2.4 GHz (clause 18).
    ErpOfdm,
}

impl ModeClass {
    /// Whether the PPDU has the DSSS preamble in its long or short form.
    pub const fn is_dsss(self) -> bool {
        matches!(self, Self::Dsss | Self::HrDsss)
    }
}

/// A way to send the bits of a PSDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// PPDU format.
    pub class: ModeClass,
    /// Data rate.
    pub rate: BitRate,
    /// Data bits per OFDM symbol (`N_DBPS`, table 17-4); 0 for DSSS.
    pub bits_per_symbol: u32,
}

impl Mode {
    pub(crate) const fn dsss(class: ModeClass, rate_kbps: u64) -> Self {
        Self { class, rate: BitRate(rate_kbps * 1000), bits_per_symbol: 0 }
    }

    /// An OFDM mode of 20 MHz: 250 000 symbols a second.
    pub(crate) const fn ofdm(class: ModeClass, rate_mbps: u64) -> Self {
        Self { class, rate: BitRate(rate_mbps * 1_000_000), bits_per_symbol: rate_mbps as u32 * 4 }
    }
}
