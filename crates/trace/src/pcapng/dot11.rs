//! 802.11 MAC headers (802.11-2020 clause 9.3), without the FCS.

use super::FCS;
use super::addresses::{Addresses, BROADCAST, Mac, of_radio};
use crate::{BlockAck, Frame, FrameContent, FrameKind, Mpdu, RadioInfo};
use wire::{
    Body, Management, Packet, PowerBits, StationAck, TrafficClass, Trigger, TriggerKind, UserInfo,
};

/// LLC and SNAP headers of a payload with an Ethertype (IEEE 802, RFC 1042): IPv4 and ARP.
const LLC_IPV4: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00];
const LLC_ARP: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x06];
/// Bits of the second byte of the Frame Control field.
const TO_DS: u8 = 1;
const FROM_DS: u8 = 2;
const RETRY: u8 = 8;
const POWER_MANAGEMENT: u8 = 0x10;
const MORE_DATA: u8 = 0x20;
const PROTECTED: u8 = 0x40;
/// `QoS` Control: the frame elicits no acknowledgement; its body is an A-MSDU.
const NO_ACK: u16 = 1 << 5;
const A_MSDU: u16 = 1 << 7;
/// `QoS` Control: the frame ends the service period.
const EOSP: u16 = 1 << 4;

/// Appends a frame without data.
pub(super) fn control(frame: &Frame, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([frame.kind.facts().control, 0]);
    out.extend(duration_us(frame).to_le_bytes());
    out.extend(receiver_of(frame).map_or(BROADCAST, of_radio));
    if matches!(frame.kind, FrameKind::Cts | FrameKind::CtsToSelf | FrameKind::Ack) {
        return;
    }
    out.extend(of_radio(frame.from));
    match &frame.content {
        FrameContent::BlockAck(content) => block_ack(frame, *content, out),
        FrameContent::MultiSta(acks) => multi_sta(acks, out),
        FrameContent::Trigger(content) => {
            trigger(content, tid(frame.class), out);
            // Padding: a User Info whose AID12 is 4095 (clause 9.3.1.22.1).
            out.resize(out.len().max(start + frame.psdu.0 as usize - FCS), 0xff);
        }
        FrameContent::None | FrameContent::Queue(_) => {}
    }
}

/// The receiver of a frame: of one for several stations that has one only, that station (clauses
/// 9.3.1.8.7 and 9.3.1.22.1).
fn receiver_of(frame: &Frame) -> Option<u32> {
    match &frame.content {
        FrameContent::MultiSta(acks) => match acks[..] {
            [StationAck { aid, .. }] => Some(u32::from(aid)),
            _ => None,
        },
        FrameContent::Trigger(content) => match content.users[..] {
            [UserInfo { aid, .. }] => Some(u32::from(aid)).filter(|&aid| aid > 0),
            _ => None,
        },
        _ => frame.to,
    }
}

/// The fields of a Trigger frame (802.11ax-2021 clause 9.3.1.22).
fn trigger(content: &Trigger, tid: u16, out: &mut Vec<u8>) {
    out.extend(content.common.bits(content.kind).to_le_bytes());
    for user in &content.users {
        out.extend(&user.bits().to_le_bytes()[..5]);
        match content.kind {
            // No limit of TIDs is told (7), and no spacing; access categories as their ACI.
            TriggerKind::Basic => out.push((7 << 2 | aci(tid) << 6) as u8),
            TriggerKind::MuBar => request(user.start, tid, out),
            _ => {}
        }
    }
}

/// The ACI of the access category of a TID (802.11-2020 tables 9-154 and 10-1).
fn aci(tid: u16) -> u16 {
    match tid {
        1 | 2 => 1,
        4 | 5 => 2,
        6 | 7 => 3,
        _ => 0,
    }
}

/// BA Control and a record for each station (802.11ax-2021 clause 9.3.1.8.7).
fn multi_sta(acks: &[StationAck], out: &mut Vec<u8>) {
    /// The type in bits 1 to 4 of BA Control.
    const MULTI_STA: u16 = 11 << 1;
    /// Ack Type in AID TID Info: no bitmap follows.
    const ALL: u16 = 1 << 11;
    out.extend(MULTI_STA.to_le_bytes());
    for StationAck { aid, class, block_ack } in acks {
        let of = aid | tid(*class) << 12 | if block_ack.is_none() { ALL } else { 0 };
        out.extend(of.to_le_bytes());
        if let Some(acked) = block_ack {
            starting_sequence(acked, out);
            bitmap(acked, out);
        }
    }
}

/// Appends a `QoS` Null that answers a Trigger frame.
pub(super) fn null(frame: &Frame, addresses: &Addresses, out: &mut Vec<u8>) {
    /// Frame Control: HT Control is present.
    const HTC: u8 = 0x80;
    let report = match &frame.content {
        FrameContent::Queue(report) => Some(*report),
        _ => None,
    };
    let all = report.and_then(|report| report.all);
    out.extend([frame.kind.facts().control, TO_DS | if all.is_some() { HTC } else { 0 }]);
    out.extend(duration_us(frame).to_le_bytes());
    out.extend(frame.to.map_or(BROADCAST, of_radio));
    out.extend(of_radio(frame.from));
    out.extend(addresses.bssid(frame.from, frame.to));
    out.extend([0; 2]);
    out.extend((tid(frame.class) | NO_ACK | queue_size(frame)).to_le_bytes());
    if let Some(information) = all {
        // The HE variant, in which Control ID 3 is a BSR Control (clause 9.2.4.6a).
        out.extend((3 | 3 << 2 | information << 6).to_le_bytes());
    }
}

/// What `QoS` Control tells of the queue from which the frame comes.
fn queue_size(frame: &Frame) -> u16 {
    /// Bits 8 to 15 are Queue Size.
    const TELLS: u16 = 1 << 4;
    match &frame.content {
        FrameContent::Queue(report) => TELLS | u16::from(report.size) << 8,
        _ => 0,
    }
}

/// Appends the MAC header of an MPDU with data, whose CCMP header follows if it is protected.
pub(super) fn data(
    frame: &Frame,
    mpdu: &Mpdu,
    addresses: &Addresses,
    radio: &RadioInfo,
    out: &mut Vec<u8>,
) {
    let has_qos = radio.has_qos;
    let receiver = frame.to.map_or(BROADCAST, of_radio);
    let transmitter = of_radio(frame.from);
    let source = addresses.of_node(Some(mpdu.packet.from));
    let destination = addresses.of_node(mpdu.packet.to);
    let is_uplink = frame.to.is_some_and(|to| addresses.is_access_point(to));
    let is_amsdu = mpdu.subframe.is_some();
    let bssid = addresses.bssid(frame.from, frame.to);
    // Table 9-30: what Address 3 is depends on To DS, From DS and on whether there is an A-MSDU.
    let (system, third): (u8, Mac) = match (is_uplink, addresses.is_access_point(frame.from)) {
        (false, false) => (0, bssid),
        (false, true) => (FROM_DS, if is_amsdu { bssid } else { source }),
        (true, false) => (TO_DS, if is_amsdu { bssid } else { destination }),
        (true, true) => (TO_DS | FROM_DS, if is_amsdu { bssid } else { destination }),
    };
    let retry = if mpdu.retry { RETRY } else { 0 };
    let power = mpdu.power_bits();
    let flags = system | retry | power_flags(power) | if radio.has_ccmp { PROTECTED } else { 0 };
    out.extend([if has_qos { 0x88 } else { 0x08 }, flags]);
    out.extend(duration_us(frame).to_le_bytes());
    out.extend(receiver);
    out.extend(transmitter);
    out.extend(third);
    out.extend((mpdu.sequence << 4).to_le_bytes());
    if system == TO_DS | FROM_DS {
        out.extend(source);
    }
    if has_qos {
        let policy = if frame.to.is_none() { NO_ACK } else { 0 };
        let body = if is_amsdu { A_MSDU } else { 0 };
        let policy = policy | body | end_of_period(power) | queue_size(frame);
        out.extend((tid(frame.class) | policy).to_le_bytes());
    }
}

/// Appends the MAC header of a frame of the MAC that carries no packet: that of a management frame
/// (clause 9.3.3.1), of a data frame without data (clause 9.3.2.1), or of a PS-Poll (clause
/// 9.3.1.5), by the type in its Frame Control field.
pub(super) fn of_mac(
    frame: &Frame,
    mpdu: &Mpdu,
    of: Management,
    addresses: &Addresses,
    out: &mut Vec<u8>,
) {
    const CONTROL: u8 = 1;
    const DATA: u8 = 2;
    const QOS: u8 = 0x80;
    let control = frame.kind.facts().control;
    let kind = control >> 2 & 3;
    let power = mpdu.power_bits();
    let retry = if mpdu.retry { RETRY } else { 0 };
    let system = match kind {
        DATA if addresses.is_access_point(frame.from) => FROM_DS,
        DATA => TO_DS,
        _ => 0,
    };
    out.extend([control, system | retry | power_flags(power)]);
    out.extend(of.id().unwrap_or_else(|| duration_us(frame)).to_le_bytes());
    out.extend(frame.to.map_or(BROADCAST, of_radio));
    out.extend(of_radio(frame.from));
    if kind == CONTROL {
        return;
    }
    // Of a data frame too: the destination, or the source, is the access point.
    out.extend(addresses.bssid(frame.from, frame.to));
    out.extend((mpdu.sequence << 4).to_le_bytes());
    if kind == DATA && control & QOS != 0 {
        out.extend((tid(frame.class) | end_of_period(power)).to_le_bytes());
    }
}

fn power_flags(bits: PowerBits) -> u8 {
    let saves = if bits.has(PowerBits::POWER_MANAGEMENT) { POWER_MANAGEMENT } else { 0 };
    saves | if bits.has(PowerBits::MORE_DATA) { MORE_DATA } else { 0 }
}

fn end_of_period(bits: PowerBits) -> u16 {
    if bits.has(PowerBits::EOSP) { EOSP } else { 0 }
}

/// Appends the header of an A-MSDU subframe (clause 9.3.2.2.2), whose length follows in two bytes.
pub(super) fn subframe(packet: &Packet, addresses: &Addresses, out: &mut Vec<u8>) {
    out.extend(addresses.of_node(packet.to));
    out.extend(addresses.of_node(Some(packet.from)));
}

/// The LLC and SNAP headers of a packet.
pub(super) fn llc(packet: &Packet) -> [u8; 8] {
    if matches!(packet.body, Body::Arp(_)) { LLC_ARP } else { LLC_IPV4 }
}

/// The Duration field, rounded up to a microsecond (clause 9.2.5.1).
fn duration_us(frame: &Frame) -> u16 {
    frame.nav.0.div_ceil(1000).min(0x7fff) as u16
}

/// The control and information fields of a compressed BlockAckReq or BlockAck (clauses 9.3.1.7 and
/// 9.3.1.8).
fn block_ack(frame: &Frame, content: BlockAck, out: &mut Vec<u8>) {
    if frame.kind == FrameKind::BlockAckRequest {
        return request(content.start, tid(frame.class), out);
    }
    out.extend(compressed(tid(frame.class)));
    starting_sequence(&content, out);
    bitmap(&content, out);
}

/// BAR Control and BAR Information.
fn request(start: u16, tid: u16, out: &mut Vec<u8>) {
    out.extend(compressed(tid));
    out.extend((start << 4).to_le_bytes());
}

/// BAR Control, or BA Control: type 2 in bits 1 to 4 is compressed.
fn compressed(tid: u16) -> [u8; 2] {
    (2 << 1 | tid << 12).to_le_bytes()
}

/// The starting sequence number of a bitmap. Table 9-30a: the fragment number is 4 where the bitmap
/// has 256 bits.
fn starting_sequence(content: &BlockAck, out: &mut Vec<u8>) {
    let fragment = if content.bits > 64 { 4 } else { 0 };
    out.extend((content.start << 4 | fragment).to_le_bytes());
}

fn bitmap(content: &BlockAck, out: &mut Vec<u8>) {
    let words = if content.bits > 64 { 4 } else { 1 };
    for word in &content.bitmap[..words] {
        out.extend(word.to_le_bytes());
    }
}

/// The TID of an access category: of its two user priorities the usual one (table 10-1).
pub(super) fn tid(class: TrafficClass) -> u16 {
    match class {
        TrafficClass::Background => 1,
        TrafficClass::BestEffort => 0,
        TrafficClass::Video => 5,
        TrafficClass::Voice => 6,
    }
}
