//! The words by which records appear in every format.

use crate::{Dropped, Format, FrameKind, Loss, Outcome};
use wire::TrafficClass;

impl FrameKind {
    /// Its name in the standard.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rts => "RTS",
            Self::Cts => "CTS",
            Self::CtsToSelf => "CTS-to-self",
            Self::Data => "Data",
            Self::Ack => "Ack",
            Self::BlockAckRequest => "BlockAckReq",
            Self::BlockAck => "BlockAck",
        }
    }
}

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

impl Loss {
    /// The cause in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collision => "collision",
            Self::Interference => "interference",
            Self::Noise => "noise",
            Self::ReceiverTransmits => "receiver transmits",
            Self::ReceiverBusy => "receiver busy",
            Self::TooWeak => "too weak",
        }
    }
}

impl Outcome {
    /// The outcome in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Lost(loss) => loss.name(),
            Self::NotAddressed => "not addressed",
            Self::Unknown => "unknown",
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
