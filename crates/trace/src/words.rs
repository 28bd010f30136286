//! The words by which records appear in every format.

use crate::{Dropped, Format};
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

impl Dropped {
    /// The cause in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::RetryLimit => "retry limit",
            Self::Lifetime => "lifetime",
            Self::Broadcast => "broadcast",
            Self::Loss => "loss",
            Self::NoRoute => "no route",
            Self::SendBuffer => "send buffer",
            Self::TimeToLive => "time to live",
            Self::SalvageFailed => "salvage failed",
            Self::RoutingMessage => "routing message",
            Self::Unresolved => "ARP",
            Self::PowerSave => "power-save buffer",
            Self::Roaming => "roaming",
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
