//! Packets of a conference: audio, video, and what the receiver tells the sender of them.

use crate::FlowId;

/// What a packet of a conference has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// Audio (RTP, RFC 3550).
    Audio,
    /// A part of a video frame (RTP).
    Video,
    /// A report of the receiver (RTCP, RFC 4585), which goes from the receiver to the sender.
    Feedback,
}

impl MediaKind {
    /// Its name in traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Audio => "audio",
            Self::Video => "video",
            Self::Feedback => "feedback",
        }
    }
}

/// A packet of a conference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Its number in its direction, from 0: audio and video are numbered together, as by the
    /// transport-wide sequence number.
    pub number: u64,
    /// Bytes of data, with the RTP header.
    pub len: u32,
    /// Its number among the audio packets, or that of its video frame.
    pub unit: u32,
    /// What it has.
    pub kind: MediaKind,
}

impl Media {
    /// Whether it goes from the sender of the flow to the receiver.
    pub fn is_forward(&self) -> bool {
        self.kind != MediaKind::Feedback
    }

    /// Bytes of user data: a report has none.
    pub fn payload(&self) -> u32 {
        if self.is_forward() { self.len } else { 0 }
    }
}
