//! What a frame is, what becomes of it, and what a node waits for before it sends one: the words
//! that the media, the checker and the trace share.

use crate::TrafficClass;
use kernel::Instant;

/// The type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send, by the receiver.
    Cts,
    /// CTS-to-self: its Duration field protects the frames after it (802.11-2020 clause 10.27).
    CtsToSelf,
    /// A data frame, or an A-MPDU of data frames.
    Data,
    /// Acknowledgement, by the receiver.
    Ack,
    /// BlockAckReq.
    BlockAckRequest,
    /// BlockAck, by the receiver.
    BlockAck,
    /// A beacon of an access point.
    Beacon,
    /// A data frame without data: its Power Management bit says whether a station saves power.
    Null,
    /// The same with `QoS` Control: a trigger frame, or the end of a service period.
    QosNull,
    /// By which a station that saves power requests a buffered frame.
    PsPoll,
    /// By which a station and an access point authenticate each other.
    Authentication,
    /// By which a station moves to another access point.
    ReassociationRequest,
    /// The answer of that access point.
    ReassociationResponse,
}

impl FrameKind {
    /// Whether it has MPDUs of its own: it carries packets, or is a frame by which nodes announce
    /// themselves or save power.
    pub const fn has_mpdus(self) -> bool {
        matches!(self, Self::Data) || self.is_of_mac()
    }

    /// Whether it is a frame that a node sends for itself, without a packet, and not as a part of
    /// another exchange.
    pub const fn is_of_mac(self) -> bool {
        matches!(self, Self::Beacon) || self.saves_power() || self.associates()
    }

    /// Whether it is a frame that serves power saving alone.
    pub const fn saves_power(self) -> bool {
        matches!(self, Self::Null | Self::QosNull | Self::PsPoll)
    }

    /// Whether it is a frame by which a station changes its access point.
    pub const fn associates(self) -> bool {
        matches!(
            self,
            Self::Authentication | Self::ReassociationRequest | Self::ReassociationResponse
        )
    }

    /// Its name in the standard.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rts => "RTS",
            Self::Cts => "CTS",
            Self::CtsToSelf => "CTS-to-self",
            Self::Data => "Data",
            Self::Ack => "Ack",
            Self::BlockAckRequest => "BlockAckReq",
            Self::BlockAck => "BlockAck",
            Self::Beacon => "Beacon",
            Self::Null => "Null",
            Self::QosNull => "QoS Null",
            Self::PsPoll => "PS-Poll",
            Self::Authentication => "Authentication",
            Self::ReassociationRequest => "Reassociation Request",
            Self::ReassociationResponse => "Reassociation Response",
        }
    }
}

/// Why a frame was not received by the node to which it is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameLoss {
    /// Another node began to transmit in the same slot, in a cell in which every node receives
    /// every other.
    Collision,
    /// Interference: other transmissions overlapped it at its receiver, or bursts of a source that
    /// is not 802.11.
    Interference,
    /// Noise.
    Noise,
    /// Its receiver was transmitting.
    ReceiverTransmits,
    /// Its receiver was receiving another frame.
    ReceiverBusy,
    /// Its signal was too weak for the receiver to detect.
    TooWeak,
}

impl FrameLoss {
    /// The cause in words.
    pub const fn name(self) -> &'static str {
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

/// The outcome of a frame at the node to which it is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameOutcome {
    /// It was received; of an A-MPDU, at least one MPDU. A broadcast: by at least one node.
    Received,
    /// It was not received.
    Lost(FrameLoss),
    /// It is addressed to no other node: a CTS-to-self.
    NotAddressed,
    /// The run ended first.
    Unknown,
}

impl FrameOutcome {
    /// The outcome in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Lost(loss) => loss.name(),
            Self::NotAddressed => "not addressed",
            Self::Unknown => "unknown",
        }
    }
}

/// What an EDCAF or a node waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// Its back-off counts down: an idle slot after the other. Under EDCA a slot counts too in
    /// which another node begins to transmit (802.11-2020 clause 10.23.2.4), even if that is the
    /// first slot and no interval passes: `before` may then be less than `after` of the interval
    /// before.
    Backoff {
        /// Slots that remain at the start.
        before: u32,
        /// Slots that remain at the end; 0 when it transmits.
        after: u32,
    },
    /// It has a frame to send, and the medium is busy, or idle for less than its interframe space.
    Defer,
    /// The node's NAV is set: another exchange reserves the medium.
    Nav,
    /// The end of the longer of two data frames of a full-duplex exchange. The node, whose own
    /// frame has ended, sends a busy tone.
    BusyTone,
}

/// An interval in which an EDCAF of a radio waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When it begins.
    pub start: Instant,
    /// When it ends.
    pub end: Instant,
    /// The radio.
    pub radio: u32,
    /// Its access category; best effort for a NAV, which all EDCAFs of a radio share.
    pub class: TrafficClass,
    /// What it waits for.
    pub kind: WaitKind,
}
