//! What a node does with a frame that it has decoded.

use super::frame::{OnAir, Users};
use super::inbox::Transmitter;
use super::node::Node;
use super::rules::SpaceRules;
use crate::Command;
use crate::mac::Bitmap;
use kernel::Instant;
use wire::{FrameKind, Packet};

/// A node has decoded a frame that is addressed to it, or MPDUs of it.
pub(super) fn decode(
    now: Instant,
    rules: &SpaceRules,
    frame: &OnAir,
    sender: &mut Node,
    receiver: &mut Node,
    lost: &Bitmap,
    out: &mut Vec<Command>,
) {
    if frame.is_multi_sta() {
        return hear_multi_sta(now, rules, sender, receiver, out);
    }
    // A BlockAck acknowledges the MPDUs that its transmitter received from this node.
    let bitmap = (frame.kind == FrameKind::BlockAck).then(|| {
        let start = receiver.originator_to(frame.edcaf, sender.id).start();
        sender.inbox.block_ack(Transmitter { node: receiver.id, edcaf: frame.edcaf }, start)
    });
    if matches!(frame.kind, FrameKind::Data | FrameKind::BlockAckRequest) {
        take_up(rules, frame, sender, receiver, lost, out);
        if receiver.triggers() && frame.users == Users::One {
            receiver.hear_queue(now, frame, sender.told());
        }
    }
    if frame.users == Users::One {
        return receiver.hear(now, frame, bitmap.as_ref(), rules, out);
    }
    if frame.answers_trigger() {
        return receiver.hear_answer(now, frame, lost, sender.told(), rules, out);
    }
    let answer = sender.answer_of(frame, receiver.id, lost, rules);
    receiver.hear_in_group(now, frame, bitmap.as_ref(), answer, rules, out);
}

/// A station that has answered a Trigger frame decodes the Multi-STA BlockAck.
#[cold]
#[inline(never)]
fn hear_multi_sta(
    now: Instant,
    rules: &SpaceRules,
    access_point: &mut Node,
    station: &mut Node,
    out: &mut Vec<Command>,
) {
    let category = access_point.tell(station.id);
    let acked = category.map(|category| {
        let start = station.edcaf(usize::from(category)).originator.start();
        let from = Transmitter { node: station.id, edcaf: category };
        access_point.inbox.block_ack(from, start)
    });
    station.hear_acknowledgement(now, acked.as_ref(), rules, out);
}

/// A node takes the MPDUs of a frame that are not lost, and delivers what is in order. Few of those
/// that a frame reaches do, so that it is not inlined for all.
#[inline(never)]
fn take_up(
    rules: &SpaceRules,
    frame: &OnAir,
    sender: &mut Node,
    receiver: &mut Node,
    lost: &Bitmap,
    out: &mut Vec<Command>,
) {
    let (node, from) = (receiver.id, frame.from);
    let up = |packet: &Packet| out.push(Command::Deliver { node, from, packet: *packet });
    if frame.to.is_none() {
        let originator = &mut sender.edcaf_mut(usize::from(frame.edcaf)).originator;
        originator.note_received(0);
        let (_, mpdu) = originator.frame_on_air(0);
        originator.packets_of(&mpdu).for_each(up);
    } else {
        let from = Transmitter { node: frame.from, edcaf: frame.edcaf };
        let between = || rules.mac.window_between(node, frame.from);
        let window = rules.mac.framing.aggregation.map(|_| between());
        let is_request = frame.kind == FrameKind::BlockAckRequest;
        let originator = sender.originator_to_mut(frame.edcaf, node);
        let lost = (!is_request).then_some(lost);
        let duplicates = receiver.inbox.take(from, window, originator, lost, up);
        receiver.counters.exchanges.duplicates += duplicates;
    }
}

/// A node has decoded a frame for another node: a station of a network with Trigger frames notes
/// which network has set its NAV, and what the frame carries is reported if it is to be. Returns
/// whether it answers, in an RA-RU of a Trigger frame: if so, the frame does not set its NAV.
#[cold]
#[inline(never)]
pub(super) fn note_overheard(
    now: Instant,
    rules: &SpaceRules,
    frame: &OnAir,
    sender: &mut Node,
    receiver: &mut Node,
    is_reported: bool,
    out: &mut Vec<Command>,
) -> bool {
    if let Some(answer) = sender.answer_at_random(now, frame, receiver) {
        receiver.hear_in_group(now, frame, None, Some(answer), rules, out);
        return true;
    }
    receiver.note_nav(now, frame);
    if !is_reported || frame.kind != FrameKind::Data {
        return false;
    }
    let originator = &sender.edcaf(usize::from(frame.edcaf)).originator;
    for (_, mpdu) in originator.on_air() {
        for packet in originator.packets_of(mpdu) {
            let (node, from) = (receiver.id, frame.from);
            out.push(Command::Overheard { node, from, packet: *packet });
        }
    }
    false
}
