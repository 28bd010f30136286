//! What a frame is, what becomes of it, and what a node waits for before it sends one: the words
//! that the media, the checker and the trace share.

use crate::TrafficClass;
use FrameGroup as Group;
use kernel::Instant;

/// What is told of a kind of frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameFacts {
    /// Its name in the standard.
    pub name: &'static str,
    /// The first byte of its Frame Control field: type and subtype (802.11-2020 table 9-1).
    pub control: u8,
    /// What it is for.
    pub group: FrameGroup,
}

kernel::listed! {
    /// What frames are for: the airtime of a node is counted by these.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FrameGroup {
        /// RTS frames.
        Rts,
        /// CTS frames, CTS-to-self included.
        Cts,
        /// Data frames.
        Data,
        /// Acks and BlockAcks.
        Ack,
        /// BlockAckReqs and Trigger frames.
        Request,
        /// Beacons.
        Beacon,
        /// Null frames and PS-Polls.
        PowerSave,
        /// Frames by which stations change their access points.
        Association,
    }
}

kernel::listed! {
    /// The kind of a frame. A kind is declared here and nowhere else.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FrameKind: FrameFacts {
        /// Request to send.
        Rts => { name: "RTS", control: 0xb4, group: Group::Rts },
        /// Clear to send, by the receiver.
        Cts => { name: "CTS", control: 0xc4, group: Group::Cts },
        /// CTS-to-self: its Duration field protects the frames after it (802.11-2020 clause 10.27).
        CtsToSelf => { name: "CTS-to-self", control: 0xc4, group: Group::Cts },
        /// A data frame, or an A-MPDU of data frames.
        Data => { name: "Data", control: 0x08, group: Group::Data },
        /// Acknowledgement, by the receiver.
        Ack => { name: "Ack", control: 0xd4, group: Group::Ack },
        /// BlockAckReq.
        BlockAckRequest => { name: "BlockAckReq", control: 0x84, group: Group::Request },
        /// BlockAck, by the receiver.
        BlockAck => { name: "BlockAck", control: 0x94, group: Group::Ack },
        /// A beacon of an access point.
        Beacon => { name: "Beacon", control: 0x80, group: Group::Beacon },
        /// A data frame without data: its Power Management bit says whether a station saves power.
        Null => { name: "Null", control: 0x48, group: Group::PowerSave },
        /// The same with `QoS` Control: a trigger frame, or the end of a service period.
        QosNull => { name: "QoS Null", control: 0xc8, group: Group::PowerSave },
        /// By which a station that saves power requests a buffered frame.
        PsPoll => { name: "PS-Poll", control: 0xa4, group: Group::PowerSave },
        /// By which a station and an access point authenticate each other.
        Authentication => { name: "Authentication", control: 0xb0, group: Group::Association },
        /// By which a station moves to another access point.
        ReassociationRequest => {
            name: "Reassociation Request", control: 0x20, group: Group::Association,
        },
        /// The answer of that access point.
        ReassociationResponse => {
            name: "Reassociation Response", control: 0x30, group: Group::Association,
        },
        /// Trigger frame: asks several stations for an answer at once.
        Trigger => { name: "Trigger", control: 0x24, group: Group::Request },
    }
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
        matches!(
            self.facts().group,
            FrameGroup::Beacon | FrameGroup::PowerSave | FrameGroup::Association
        )
    }

    /// Whether it is a frame by which a station changes its access point.
    pub const fn associates(self) -> bool {
        matches!(self.facts().group, FrameGroup::Association)
    }
}

/// What is told of a loss of a frame.
#[derive(Clone, Copy, Debug)]
pub struct LossFacts {
    /// The cause in words.
    pub name: &'static str,
    /// The same of a frame that is lost at its receiver.
    pub at_receiver: &'static str,
}

kernel::listed! {
    /// Why a frame was not received by the node to which it is addressed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FrameLoss: LossFacts {
        /// Another node began to transmit in the same slot, in a cell in which every node receives
        /// every other.
        Collision => { name: "collision", at_receiver: "collision" },
        /// Interference: other transmissions overlapped it at its receiver, or bursts of a source
        /// that is not 802.11.
        Interference => { name: "interference", at_receiver: "interference" },
        /// Noise.
        Noise => { name: "noise", at_receiver: "noise" },
        /// Its receiver was transmitting.
        ReceiverTransmits => { name: "receiver transmits", at_receiver: "it transmits" },
        /// Its receiver was receiving another frame.
        ReceiverBusy => { name: "receiver busy", at_receiver: "it receives another frame" },
        /// Its signal was too weak for the receiver to detect.
        TooWeak => { name: "too weak", at_receiver: "the signal is too weak" },
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
    /// All outcomes.
    pub const ALL: [Self; 3 + FrameLoss::ALL.len()] = {
        let mut all = [Self::Unknown; 3 + FrameLoss::ALL.len()];
        all[0] = Self::Received;
        let mut k = 0;
        while k < FrameLoss::ALL.len() {
            all[1 + k] = Self::Lost(FrameLoss::ALL[k]);
            k += 1;
        }
        all[1 + k] = Self::NotAddressed;
        all
    };

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
