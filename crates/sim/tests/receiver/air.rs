//! Rules of 802.11 (802.11-2020) for the frames that a monitor receives.

use super::{Captured, Rules, u16_le, u32_le};
use std::collections::{BTreeMap, BTreeSet};

/// Transmitter, receiver and TID; or no TID.
type Stream = ([u8; 6], [u8; 6], u8);

/// What a monitor remembers.
#[derive(Default)]
pub(super) struct Air {
    streams: BTreeMap<Stream, Sent>,
    /// The frame before.
    before: Option<Before>,
    /// The A-MPDU that is not over: its number.
    open: Option<u32>,
}

/// What a transmitter has sent to a receiver.
#[derive(Default)]
struct Sent {
    /// The highest sequence number, which does not wrap.
    highest: Option<u64>,
    /// The packet numbers of CCMP, by sequence number.
    numbers: BTreeMap<u64, u64>,
    /// The latest sequence numbers.
    all: BTreeSet<u64>,
}

impl Sent {
    /// The number of these 12 bits that is nearest to the highest one.
    fn nearest(&self, sequence: u16) -> u64 {
        let highest = self.highest.unwrap_or(4096 + u64::from(sequence));
        highest + (u64::from(sequence) + 4096 - highest % 4096 + 2048) % 4096 - 2048
    }
}

#[derive(Clone, Copy)]
struct Before {
    end_ns: u64,
    duration_us: u64,
    transmitter: Option<[u8; 6]>,
}

/// The part of a radiotap header that is needed: end of the PPDU, flags, and A-MPDU status.
struct Radiotap {
    length: usize,
    end_ns: u64,
    flags: u8,
    ampdu: Option<(u32, u16)>,
}

fn radiotap(bytes: &[u8]) -> Radiotap {
    let length = usize::from(u16_le(bytes, 2));
    let present = u32_le(bytes, 4);
    let (mut at, mut found) = (8, Radiotap { length, end_ns: 0, flags: 0, ampdu: None });
    // Alignment and size of the fields in their order (radiotap.org).
    let fields = [
        (0, 8, 8),
        (1, 1, 1),
        (2, 1, 1),
        (3, 2, 4),
        (5, 1, 1),
        (19, 1, 3),
        (20, 4, 8),
        (21, 2, 12),
        (22, 8, 12),
    ];
    for (bit, align, size) in fields.into_iter().filter(|(bit, ..)| present >> bit & 1 == 1) {
        at = usize::next_multiple_of(at, align);
        match bit {
            1 => found.flags = bytes[at],
            20 => found.ampdu = Some((u32_le(bytes, at), u16_le(bytes, at + 4))),
            22 => found.end_ns = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()),
            _ => {}
        }
        at += size;
    }
    found
}

impl Air {
    /// A frame passes; its IP packets are added. Returns its transmitter, if it has data.
    pub(super) fn frame<'a>(
        &mut self,
        packet: &Captured<'a>,
        rules: &mut Rules<'_>,
        ips: &mut Vec<&'a [u8]>,
    ) -> [u8; 6] {
        let radio = radiotap(packet.bytes);
        let frame = &packet.bytes[radio.length..];
        let (body, fcs) = frame.split_at(frame.len() - 4);
        rules("802.11: FCS", fcs == fcs_of(body), &String::new);
        rules("802.11: the PPDU ends after its begin", radio.end_ns > packet.at_ns, &String::new);
        let kind = body[0] >> 2 & 3;
        let subtype = body[0] >> 4;
        let address = |at: usize| -> [u8; 6] { body[at..at + 6].try_into().unwrap() };
        self.aggregate(&radio, rules);
        let is_poll = kind == 1 && subtype == 10;
        if !is_poll {
            self.duration(packet, &radio, u64::from(u16_le(body, 2)), address(4), rules);
        }
        if kind == 1 {
            if subtype == 9 {
                self.block_ack(body, (address(4), address(10)), rules);
            }
            return [0; 6];
        }
        let (to_ds, from_ds) = (body[1] & 1 != 0, body[1] & 2 != 0);
        let mut header = if to_ds && from_ds { 30 } else { 24 };
        let has_qos = kind == 2 && subtype & 8 != 0;
        let qos = if has_qos { u16_le(body, header) } else { 0 };
        header += if has_qos { 2 } else { 0 };
        let tid = if has_qos { (qos & 15) as u8 } else { 16 + kind };
        let stream = (address(10), address(4), tid);
        let is_null = kind == 2 && subtype & 4 != 0;
        if is_null {
            return [0; 6];
        }
        let numbered = self.sequence(stream, (u16_le(body, 22) >> 4, body[1] & 8 != 0), rules);
        if kind != 2 {
            return [0; 6];
        }
        if body[1] & 0x40 != 0 {
            let pn: [u8; 8] = body[header..header + 8].try_into().unwrap();
            header += 8;
            self.packet_number(stream, numbered, pn, rules);
        }
        let payload = &packet.bytes[radio.length + header..packet.bytes.len() - 4];
        if qos & 0x80 == 0 {
            ips.extend(ip(payload));
            return address(10);
        }
        let mut rest = payload;
        while rest.len() > 14 && rest[..12] != [0; 12] {
            let length = usize::from(rest[12]) << 8 | usize::from(rest[13]);
            rules("802.11: A-MSDU subframes are whole", 14 + length <= rest.len(), &|| {
                format!("{length} in {}", rest.len())
            });
            ips.extend(ip(&rest[14..]));
            rest = &rest[(14 + length).next_multiple_of(4).min(rest.len())..];
        }
        address(10)
    }

    /// Clause 9.2.5: a CTS, an Ack or a `BlockAck` reserves the medium no longer than the frame
    /// that it answers.
    fn duration(
        &mut self,
        packet: &Captured<'_>,
        radio: &Radiotap,
        duration_us: u64,
        receiver: [u8; 6],
        rules: &mut Rules<'_>,
    ) {
        let body = &packet.bytes[radio.length..];
        let is_answer = matches!(body[0], 0xc4 | 0xd4 | 0x94);
        if let Some(before) = self.before.filter(|before| before.transmitter == Some(receiver)) {
            // SIFS.
            let follows = matches!(packet.at_ns.saturating_sub(before.end_ns), 10_000 | 16_000);
            if is_answer && follows {
                let ends = before.end_ns + 1000 * before.duration_us;
                let own = radio.end_ns + 1000 * duration_us;
                let within = own <= ends.max(radio.end_ns) + 2_000;
                rules("802.11: an answer reserves no more than was asked for", within, &|| {
                    format!("to {own} ns, not {ends}")
                });
            }
        }
        let transmitter = body.get(10..16).filter(|_| !matches!(body[0], 0xc4 | 0xd4));
        let transmitter = transmitter.map(|it| it.try_into().unwrap());
        self.before = Some(Before { end_ns: radio.end_ns, duration_us, transmitter });
    }

    /// The MPDUs of an A-MPDU follow each other, and the last one says so.
    fn aggregate(&mut self, radio: &Radiotap, rules: &mut Rules<'_>) {
        let number = radio.ampdu.map(|(number, _)| number);
        let goes_on = self.open.is_none() || self.open == number;
        rules("802.11: an A-MPDU ends with its last MPDU", goes_on, &|| {
            format!("{number:?} after {:?}", self.open)
        });
        self.open = radio.ampdu.and_then(|(number, flags)| (flags & 8 == 0).then_some(number));
    }

    /// Clause 10.3.2.14: a new MPDU has the next number, a retransmission an old one. Returns the
    /// number, which does not wrap.
    fn sequence(
        &mut self,
        stream: Stream,
        (sequence, is_retry): (u16, bool),
        rules: &mut Rules<'_>,
    ) -> u64 {
        let sent = self.streams.entry(stream).or_default();
        let number = sent.nearest(sequence);
        if is_retry {
            rules(
                "802.11: a retransmission has the number of its MPDU",
                sent.all.contains(&number),
                &|| format!("{number} after {:?}", sent.highest),
            );
        } else {
            rules(
                "802.11: a new MPDU has a new sequence number",
                sent.highest.is_none_or(|highest| number > highest),
                &|| format!("{number} after {:?}", sent.highest),
            );
        }
        sent.highest = sent.highest.max(Some(number));
        sent.all.insert(number);
        sent.all.retain(|known| known + 2048 > number);
        number
    }

    /// Clause 12.5.3.4.4: packet numbers ascend with the sequence numbers of a TID.
    fn packet_number(&mut self, stream: Stream, number: u64, pn: [u8; 8], rules: &mut Rules<'_>) {
        rules("CCMP: Ext IV", pn[3] == 0x20 && pn[2] == 0, &String::new);
        let pn = u64::from_le_bytes([pn[0], pn[1], pn[4], pn[5], pn[6], pn[7], 0, 0]);
        let numbers = &mut self.streams.entry(stream).or_default().numbers;
        let known = numbers.get(&number).is_none_or(|known| *known == pn);
        rules("CCMP: a retransmission repeats its packet number", known, &String::new);
        let below = numbers.range(..number).next_back().is_none_or(|(_, below)| *below < pn);
        let above = numbers.range(number + 1..).next().is_none_or(|(_, above)| *above > pn);
        rules("CCMP: packet numbers ascend", below && above, &String::new);
        numbers.insert(number, pn);
    }

    /// Clause 9.3.1.8: a BlockAck acknowledges what was sent to its transmitter.
    fn block_ack(
        &mut self,
        body: &[u8],
        (receiver, transmitter): ([u8; 6], [u8; 6]),
        rules: &mut Rules<'_>,
    ) {
        const MULTI_STA: u16 = 11;
        if u16_le(body, 16) >> 1 & 15 == MULTI_STA {
            return self.multi_sta(&body[18..], transmitter, rules);
        }
        let tid = (u16_le(body, 16) >> 12) as u8;
        self.acknowledged(&body[18..], (receiver, transmitter, tid), rules);
    }

    /// Clause 9.3.1.8.7: for each station its AID, which is the number of its radio, and a bitmap
    /// unless bit 11 is set.
    fn multi_sta(&self, mut rest: &[u8], transmitter: [u8; 6], rules: &mut Rules<'_>) {
        while let [low, high, after @ ..] = rest {
            let of = u16::from_le_bytes([*low, *high]);
            let [aid_high, aid_low] = (of & 0x7ff).to_be_bytes();
            let has_bitmap = of >> 11 & 1 == 0;
            let long = has_bitmap && after[0] & 4 != 0;
            let length = if has_bitmap { if long { 34 } else { 10 } } else { 0 };
            rules(
                "802.11: records of a Multi-STA BlockAck are whole",
                length <= after.len(),
                &|| format!("{of:x}: {} bytes", after.len()),
            );
            let stream = ([2, 0, 0, 0, aid_high, aid_low], transmitter, (of >> 12) as u8);
            if has_bitmap {
                self.acknowledged(&after[..length], stream, rules);
            }
            rest = &after[length..];
        }
    }

    /// A starting sequence control and a bitmap acknowledge MPDUs of a stream.
    fn acknowledged(&self, body: &[u8], stream: ([u8; 6], [u8; 6], u8), rules: &mut Rules<'_>) {
        let start = u16_le(body, 0) >> 4;
        let Some(sent) = self.streams.get(&stream) else { return };
        let bits = (0..(body.len() - 2) * 8).filter(|bit| body[2 + bit / 8] >> (bit % 8) & 1 == 1);
        for bit in bits {
            let number = sent.nearest((start + bit as u16) % 4096);
            rules(
                "802.11: what a BlockAck acknowledges was sent",
                sent.all.contains(&number),
                &|| format!("{number}"),
            );
        }
    }
}

/// The IP packet in a frame body with an LLC header.
fn ip(body: &[u8]) -> Option<&[u8]> {
    (body.len() > 28 && body[..8] == [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]).then(|| &body[8..])
}

fn fcs_of(bytes: &[u8]) -> [u8; 4] {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut n = 0;
        while n < 256 {
            let (mut crc, mut bit) = (n as u32, 0);
            while bit < 8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
                bit += 1;
            }
            table[n] = crc;
            n += 1;
        }
        table
    };
    let crc =
        bytes.iter().fold(u32::MAX, |crc, byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)]);
    (!crc).to_le_bytes()
}
