//! The words by which records appear in every format.

use crate::{Frame, FrameContent, FrameKind, Network};
use wire::{TrafficClass, Trigger, UserInfo};

/// The abbreviation of an access category: `BE`.
pub(crate) fn class_name(class: TrafficClass) -> &'static str {
    match class {
        TrafficClass::Background => "BK",
        TrafficClass::BestEffort => "BE",
        TrafficClass::Video => "VI",
        TrafficClass::Voice => "VO",
    }
}

/// What a Trigger frame asks for; `None` of other frames, a MU-BAR in the A-MPDU of a user
/// included.
pub(crate) fn trigger(frame: &Frame) -> Option<&Trigger> {
    match (frame.kind, &frame.content) {
        (FrameKind::Trigger, FrameContent::Trigger(trigger)) => Some(trigger),
        _ => None,
    }
}

/// The stations that a Trigger frame asks, and its RA-RUs, or those that a Multi-STA BlockAck
/// acknowledges: `sta0, sta1, 4 RA-RUs`. Empty of other frames.
pub(crate) fn named(frame: &Frame, network: &Network) -> String {
    let name = |aid: u16| network.radios[usize::from(aid)].name.clone();
    let asked = |user: &UserInfo| match user.aid {
        0 => format!("{} RA-RUs", user.random),
        aid => name(aid),
    };
    let names: Vec<String> = match (&frame.content, trigger(frame)) {
        (_, Some(trigger)) => trigger.users.iter().map(asked).collect(),
        (FrameContent::MultiSta(acks), _) => acks.iter().map(|ack| name(ack.aid)).collect(),
        _ => return String::new(),
    };
    names.join(", ")
}

/// The 20 MHz subchannels of which each has a bit from the lowest frequency, by the numbers that
/// scenarios have: `3 4`.
pub(crate) fn subchannels(bits: u16) -> String {
    let with_bit = (1..=u16::BITS).filter(|number| bits & 1 << (number - 1) != 0);
    with_bit.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}
