//! A reader of pcapng, radiotap, 802.11, IPv4 and TCP that shares nothing with the writer.

/// A capture.
pub(crate) struct Capture {
    /// Link type and name of each interface.
    pub(crate) interfaces: Vec<(u16, String)>,
    pub(crate) packets: Vec<Captured>,
    /// The comment of the section.
    pub(crate) comment: String,
}

/// A packet of a capture.
pub(crate) struct Captured {
    pub(crate) interface: u32,
    pub(crate) at_ns: u64,
    pub(crate) bytes: Vec<u8>,
    /// Its length before it was cut off.
    pub(crate) original: usize,
    pub(crate) comment: String,
}

impl Captured {
    /// The radiotap header.
    pub(crate) fn radiotap(&self) -> &[u8] {
        &self.bytes[..usize::from(u16_at(&self.bytes, 2))]
    }

    /// The 802.11 frame without its FCS.
    pub(crate) fn frame(&self) -> &[u8] {
        &self.bytes[self.radiotap().len()..self.bytes.len() - 4]
    }

    /// The length of the 802.11 frame with its FCS.
    pub(crate) fn frame_len(&self) -> usize {
        self.original - self.radiotap().len()
    }

    /// Whether the FCS is right.
    pub(crate) fn fcs_is_right(&self) -> bool {
        let mut crc = u32::MAX;
        for byte in self.frame() {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            }
        }
        u32_at(&self.bytes, self.bytes.len() - 4) == !crc
    }

    /// The IP packet in an 802.11 frame, without what follows it.
    pub(crate) fn ip(&self) -> &[u8] {
        let llc = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        let frame = self.frame();
        let start = 8 + frame.windows(8).position(|window| window == llc).unwrap();
        let length = usize::from(u16::from_be_bytes([frame[start + 2], frame[start + 3]]));
        &frame[start..start + length]
    }

    /// The TCP or UDP header and payload.
    pub(crate) fn transport(&self) -> &[u8] {
        &self.ip()[20..]
    }

    /// Whether the checksums of the IP header and of the transport are right.
    pub(crate) fn checksums_are_right(&self) -> bool {
        let (ip, transport) = (self.ip(), self.transport());
        let mut pseudo = Vec::new();
        // ICMP has no pseudo header (RFC 792).
        if ip[9] != 1 {
            pseudo.extend(&ip[12..20]);
            pseudo.extend([0, ip[9]]);
            pseudo.extend((transport.len() as u16).to_be_bytes());
        }
        pseudo.extend(transport);
        sum(&ip[..20]) == 0xffff && sum(&pseudo) == 0xffff
    }
}

/// Reads a capture, and checks the structure of its blocks.
pub(crate) fn read(file: &[u8]) -> Capture {
    let mut capture =
        Capture { interfaces: Vec::new(), packets: Vec::new(), comment: String::new() };
    let mut at = 0;
    while at < file.len() {
        let (kind, total) = (u32_at(file, at), u32_at(file, at + 4) as usize);
        assert_eq!(total % 4, 0, "a block is a multiple of four bytes");
        assert_eq!(u32_at(file, at + total - 4) as usize, total, "both lengths of a block agree");
        let body = &file[at + 8..at + total - 4];
        match kind {
            0x0a0d_0d0a => {
                assert!(at == 0 && u32_at(body, 0) == 0x1a2b_3c4d);
                capture.comment = String::from_utf8(option(&options(&body[16..]), 1)).unwrap();
            }
            1 => {
                let options = options(&body[8..]);
                assert_eq!(option(&options, 9), [9], "nanoseconds");
                let name = String::from_utf8(option(&options, 2)).unwrap();
                capture.interfaces.push((u16_at(body, 0), name));
            }
            4 => {}
            6 => capture.packets.push(packet(body)),
            _ => panic!("block type {kind}"),
        }
        at += total;
    }
    capture
}

fn packet(body: &[u8]) -> Captured {
    let word = |index: usize| u32_at(body, 4 * index);
    let captured = word(3) as usize;
    let options = options(&body[20 + captured.next_multiple_of(4)..]);
    Captured {
        interface: word(0),
        at_ns: u64::from(word(1)) << 32 | u64::from(word(2)),
        bytes: body[20..20 + captured].to_vec(),
        original: word(4) as usize,
        comment: String::from_utf8(option(&options, 1)).unwrap(),
    }
}

fn options(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut options = Vec::new();
    while !bytes.is_empty() {
        let (code, length) = (u16_at(bytes, 0), usize::from(u16_at(bytes, 2)));
        options.push((code, bytes[4..4 + length].to_vec()));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
        assert_eq!(code == 0, bytes.is_empty(), "option 0 ends the list");
    }
    options
}

fn option(options: &[(u16, Vec<u8>)], code: u16) -> Vec<u8> {
    options.iter().find(|it| it.0 == code).map_or(Vec::new(), |it| it.1.clone())
}

fn sum(bytes: &[u8]) -> u32 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    let mut sum: u32 = bytes.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}
