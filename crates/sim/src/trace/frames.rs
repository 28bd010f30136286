//! Records of the medium as records of a trace.

use super::packets::Packets;
use ::trace::{Frame, FrameOutcome, Wait};
use kernel::Instant;

/// A frame of a run that lasts until `end`, with the numbers of its packets. Its own number is not
/// known yet.
pub(super) fn frame(of: &Frame, packets: &Packets, end: Instant) -> Frame {
    let mut frame = of.clone();
    for place in 0..frame.mpdus.len() {
        let (before, rest) = frame.mpdus.split_at_mut(place);
        let mpdu = &mut rest[0];
        mpdu.packet_id = packets.in_frame(&mpdu.packet, before).unwrap_or(u64::MAX);
        mpdu.received &= of.end <= end;
    }
    if of.end > end {
        frame.outcome = FrameOutcome::Unknown;
    }
    if !matches!(frame.outcome, FrameOutcome::Lost(_)) {
        frame.lost_to = None;
    }
    frame
}

/// A wait of a run that lasts until `end`; `None` if it begins later.
pub(super) fn wait(of: &Wait, end: Instant) -> Option<Wait> {
    let end = of.end.min(end);
    (of.start < end).then_some(Wait { end, ..*of })
}
