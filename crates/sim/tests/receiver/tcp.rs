//! Rules of TCP (RFC 9293, 7323, 2018, 3168) for the segments that pass an interface.

use super::{Captured, Rules, u16_be, u32_be};
use std::collections::BTreeMap;

const FIN: u16 = 1;
const SYN: u16 = 2;
const RST: u16 = 4;
const ACK: u16 = 16;

/// The connections that an interface sees, by their addresses and ports in one direction.
#[derive(Default)]
pub(super) struct Connections(BTreeMap<[u8; 12], End>);

/// What one end has told.
#[derive(Clone, Copy, Default)]
struct End {
    /// The initial sequence number, and the options of its SYN.
    syn: Option<Syn>,
    /// One past the highest sequence number that it sent, from its SYN on.
    sent: u32,
    /// One past the highest number of the peer that its windows allow, from the peer's SYN on.
    allows: Option<u32>,
    /// Whether it sends blocks of an erasure code, which parity completes.
    is_coded: bool,
    /// The latest timestamp.
    stamp: Option<u32>,
}

#[derive(Clone, Copy)]
struct Syn {
    number: u32,
    mss: u16,
    shift: u8,
    sack: bool,
    stamps: bool,
    ecn: bool,
}

/// The options of a segment.
#[derive(Default)]
struct Options {
    mss: Option<u16>,
    shift: Option<u8>,
    sack: bool,
    blocks: Vec<(u32, u32)>,
    stamps: Option<(u32, u32)>,
    coded: bool,
}

fn options(mut bytes: &[u8]) -> Options {
    let mut found = Options::default();
    while let Some(&kind) = bytes.first() {
        if kind < 2 {
            bytes = &bytes[1..];
            continue;
        }
        let length = usize::from(bytes[1]);
        let value = &bytes[2..length];
        match kind {
            2 => found.mss = Some(u16_be(value, 0)),
            3 => found.shift = Some(value[0]),
            4 => found.sack = true,
            5 => found.blocks = value.chunks(8).map(|it| (u32_be(it, 0), u32_be(it, 4))).collect(),
            8 => found.stamps = Some((u32_be(value, 0), u32_be(value, 4))),
            253 => found.coded = true,
            _ => {}
        }
        bytes = &bytes[length..];
    }
    found
}

impl Connections {
    /// A packet passes, with its IP header.
    pub(super) fn segment(&mut self, packet: &Captured<'_>, ip: &[u8], rules: &mut Rules<'_>) {
        if ip[9] != 6 {
            return;
        }
        let tcp = &ip[20..usize::from(u16_be(ip, 2))];
        let (mut key, mut back) = ([0; 12], [0; 12]);
        key[..8].copy_from_slice(&ip[12..20]);
        key[8..].copy_from_slice(&tcp[..4]);
        for (place, from) in [(0, 4..8), (4, 0..4), (8, 10..12), (10, 8..10)] {
            back[place..place + from.len()].copy_from_slice(&key[from]);
        }
        let (bits, header) = (u16_be(tcp, 12), 4 * usize::from(tcp[12] >> 4));
        let found = options(&tcp[20..header]);
        let (seq, ack) = (u32_be(tcp, 4), u32_be(tcp, 8));
        let length = tcp.len() - header;
        let peer = self.0.get(&back).copied().unwrap_or_default();
        let own = self.0.entry(key).or_default();
        if bits & RST != 0 {
            return;
        }
        if bits & SYN != 0 {
            own.open(seq, bits, &found, rules);
        }
        let Some(syn) = own.syn else { return };
        let end = seq.wrapping_sub(syn.number)
            + length as u32
            + u32::from(bits & SYN != 0)
            + u32::from(bits & FIN != 0);
        let start = seq.wrapping_sub(syn.number);
        own.sent = own.sent.max(end);
        own.is_coded |= found.coded;
        let Some(other) = peer.syn else { return };
        if length > 0 {
            let room = usize::from(other.mss).saturating_sub(header - 20);
            rules("TCP: data is within the MSS", length <= room, &|| format!("{length} of {room}"));
        }
        if let Some(allows) = peer.allows.filter(|_| length > 0) {
            rules("TCP: data is within the window", start + length as u32 <= allows, &|| {
                format!("{start} + {length} beyond {allows}")
            });
        }
        own.check_stamps(bits, packet.is_own, &found, &peer, rules);
        let ecn = ip[1] & 3;
        let asks = syn.ecn && other.ecn;
        rules("TCP: ECN was agreed", ecn == 0 || asks || bits & SYN != 0, &|| format!("{ecn}"));
        if bits & ACK == 0 {
            return;
        }
        let acked = ack.wrapping_sub(other.number);
        rules("TCP: what is acknowledged was sent", acked <= peer.whole(), &|| {
            format!("{acked} of {}", peer.sent)
        });
        let shift = if bits & SYN == 0 { syn.shift } else { 0 };
        let window = u32::from(u16_be(tcp, 14)) << shift;
        own.allows = own.allows.max(Some(acked.saturating_add(window)));
        let allows = own.allows.unwrap_or(0);
        for (left, right) in found.blocks {
            let (left, right) = (left.wrapping_sub(other.number), right.wrapping_sub(other.number));
            rules("TCP: SACK was agreed", syn.sack && other.sack, &String::new);
            rules(
                "TCP: SACK blocks are of data that was sent, within the window",
                left < right && right <= peer.whole() && right <= allows,
                &|| format!("{left} to {right}: sent {}, window to {allows}", peer.sent),
            );
        }
    }
}

impl End {
    /// How much it may be that it has sent: parity completes blocks that were not sent whole.
    fn whole(&self) -> u32 {
        if self.is_coded { u32::MAX } else { self.sent }
    }

    /// It sends a SYN.
    fn open(&mut self, number: u32, bits: u16, found: &Options, rules: &mut Rules<'_>) {
        let has_both = found.mss.is_some() && found.shift.is_some();
        rules("TCP: a SYN has MSS and scale", has_both, &String::new);
        rules("TCP: the scale is at most 14", found.shift.unwrap_or(0) <= 14, &String::new);
        let syn = Syn {
            number,
            mss: found.mss.unwrap_or(536),
            shift: found.shift.unwrap_or(0),
            sack: found.sack,
            stamps: found.stamps.is_some(),
            // ECE with or without CWR and AE: it agrees to ECN, or asks for it.
            ecn: bits & 0x1c0 != 0,
        };
        if self.syn.is_none_or(|known| known.number != number) {
            *self = Self { syn: Some(syn), ..Self::default() };
        }
    }

    /// The timestamps of a segment.
    fn check_stamps(
        &mut self,
        bits: u16,
        is_own: bool,
        found: &Options,
        peer: &Self,
        rules: &mut Rules<'_>,
    ) {
        let Some((stamp, echo)) = found.stamps else { return };
        let has = |end: &Self| end.syn.is_some_and(|syn| syn.stamps);
        let agreed = bits & SYN != 0 || has(self) && has(peer);
        rules("TCP: timestamps were agreed", agreed, &String::new);
        if is_own {
            let ascends = self.stamp.is_none_or(|last| stamp >= last);
            rules("TCP: timestamps ascend", ascends, &String::new);
        }
        let was_sent = peer.stamp.is_none_or(|last| echo <= last);
        rules("TCP: a timestamp that is echoed was sent", was_sent, &|| {
            format!("{echo} after {:?}", peer.stamp)
        });
        self.stamp = self.stamp.max(Some(stamp));
    }
}
