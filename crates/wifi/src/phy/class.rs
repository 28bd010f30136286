//! The modulation classes: the list, to which `generation.rs` adds what each is.

/// Passes each class, and the generation it belongs to, to a macro.
macro_rules! classes {
    ($macro:ident) => {
        $macro! {
            /// DSSS, 1 and 2 Mb/s (clause 15).
            Dsss => dsss::DSSS,
            /// HR/DSSS, CCK at 5.5 and 11 Mb/s (clause 16).
            HrDsss => dsss::DSSS,
            /// OFDM in 5 GHz, 20 MHz (clause 17).
            Ofdm => ofdm::OFDM,
            /// ERP-OFDM in 2.4 GHz (clause 18).
            ErpOfdm => ofdm::OFDM,
            /// High throughput, 802.11n, in the mixed format (clause 19).
            Ht => ht::HT,
            /// Very high throughput, 802.11ac, for a single user (clause 21).
            Vht => vht::VHT,
            /// High efficiency, 802.11ax, for a single user (802.11ax-2021 clause 27).
            He => he::HE,
            /// Extremely high throughput, 802.11be, for a single user (802.11be-2024 clause 36).
            Eht => eht::EHT,
        }
    };
}
pub(super) use classes;

macro_rules! declared {
    ($($(#[$doc:meta])+ $class:ident => $of:path,)+) => {
        /// The modulation class of a mode (table 10-9).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ModeClass {
            $($(#[$doc])+ $class,)+
        }
    };
}
classes!(declared);

impl ModeClass {
    /// Whether the PPDU has the DSSS preamble in its long or short form.
    pub const fn is_dsss(self) -> bool {
        matches!(self, Self::Dsss | Self::HrDsss)
    }
}
