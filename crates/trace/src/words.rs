//! The words by which records appear in every format.

use crate::Format;
use wire::TrafficClass;

impl Format {
    /// Its name in the standard.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dsss { .. } => "DSSS",
            Self::Ofdm => "OFDM",
            Self::Ht => "HT",
            Self::Vht => "VHT",
            Self::He => "HE",
        }
    }
}

/// The abbreviation of an access category: `BE`.
pub(crate) fn class_name(class: TrafficClass) -> &'static str {
    match class {
        TrafficClass::Background => "BK",
        TrafficClass::BestEffort => "BE",
        TrafficClass::Video => "VI",
        TrafficClass::Voice => "VO",
    }
}
