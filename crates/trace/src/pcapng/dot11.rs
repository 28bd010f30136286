//! 802.11 MAC headers (802.11-2020 clause 9.3), without the FCS.

use super::addresses::{Addresses, BROADCAST, Mac, of_radio};
use crate::{BlockAck, Frame, FrameKind, Mpdu, RadioInfo};
use wire::{Body, Management, Packet, PowerBits, TrafficClass};

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
    let receiver = frame.to.map_or(BROADCAST, of_radio);
    let transmitter = of_radio(frame.from);
    out.extend([frame.kind.facts().control, 0]);
    out.extend(duration_us(frame).to_le_bytes());
    out.extend(receiver);
    if matches!(frame.kind, FrameKind::Cts | FrameKind::CtsToSelf | FrameKind::Ack) {
        return;
    }
    out.extend(transmitter);
    if matches!(frame.kind, FrameKind::BlockAckRequest | FrameKind::BlockAck) {
        block_ack(frame, out);
    }
    if frame.kind == FrameKind::Trigger {
        trigger(frame, out);
    }
}

/// Appends a MU-BAR (802.11ax-2021 clause 9.3.1.22), of which records have the type only: padding
/// stands for its users.
fn trigger(frame: &Frame, out: &mut Vec<u8>) {
    const HEADER: usize = 16;
    const COMMON_INFO: [u8; 8] = [2, 0, 0, 0, 0, 0, 0, 0];
    const FCS: usize = 4;
    out.extend(COMMON_INFO);
    let rest = (frame.psdu.0 as usize).saturating_sub(HEADER + COMMON_INFO.len() + FCS);
    out.extend(std::iter::repeat_n(0xff, rest));
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
        out.extend((tid(frame.class) | policy | body | end_of_period(power)).to_le_bytes());
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
fn block_ack(frame: &Frame, out: &mut Vec<u8>) {
    let content = frame.block_ack.unwrap_or(BlockAck { start: 0, bitmap: [0; 4], bits: 64 });
    // Type 2 in bits 1 to 4 is compressed.
    out.extend((2 << 1 | tid(frame.class) << 12).to_le_bytes());
    let is_answer = frame.kind == FrameKind::BlockAck;
    // Table 9-30a: the fragment number of a BlockAck is 4 where its bitmap has 256 bits.
    let fragment = if is_answer && content.bits > 64 { 4 } else { 0 };
    out.extend((content.start << 4 | fragment).to_le_bytes());
    if is_answer {
        let words = usize::from(content.bits.div_ceil(64)).clamp(1, 4);
        let words = if words == 1 { 1 } else { 4 };
        for word in &content.bitmap[..words] {
            out.extend(word.to_le_bytes());
        }
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
