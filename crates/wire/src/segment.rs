//! The TCP segment.

use crate::{AccEcn, Ecn, FlowId};
use kernel::{Bytes, Instant};
use std::num::NonZeroU8;

/// Control bits of a segment, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Opens a connection; takes one sequence number.
    pub const SYN: Self = Self(1);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(2);
    /// Closes the sender's direction; takes one sequence number.
    pub const FIN: Self = Self(4);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(8);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(16);
    /// Reset.
    pub const RST: Self = Self(32);
    /// The packet that carries the segment is ECN-capable. TCP passes this to IP (RFC 3168 §6.1.1);
    /// it is no bit of the TCP header.
    pub const ECT: Self = Self(64);
    /// The packet that carried the segment was marked. IP passes this to TCP; it is no bit of the
    /// TCP header.
    pub const CE: Self = Self(128);
    /// The ECN-capable packet has ECT(1) and not ECT(0) (RFC 8311); set together with `ECT`.
    pub const ECT1: Self = Self(256);
    /// Accurate ECN (RFC 9768): the third bit of the counter ACE, which consists of AE, CWR and
    /// ECE; on a SYN, the request.
    pub const AE: Self = Self(512);
    /// Push (RFC 9293 §3.9.1.2): no more data may follow soon.
    pub const PSH: Self = Self(1024);

    /// Whether all of `other`'s flags are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether one of `other`'s flags is set.
    #[inline]
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The union of both sets.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags of this set that are not in the other.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The ECN field of the packet that carries the segment, as its transport sends it.
    #[inline]
    pub const fn ecn(self) -> Ecn {
        if self.has(Self::ECT.and(Self::ECT1)) {
            Ecn::Ect1
        } else if self.has(Self::ECT) {
            Ecn::Ect0
        } else {
            Ecn::NotCapable
        }
    }

    /// The ECN field of the packet that brought the segment.
    #[inline]
    pub const fn arrived(self) -> Ecn {
        if self.has(Self::CE) { Ecn::Experienced } else { self.ecn() }
    }

    /// The three flags AE, CWR and ECE as a number, AE first: the field ACE of RFC 9768 §3.2.2.
    #[inline]
    pub const fn ace(self) -> u8 {
        (self.has(Self::AE) as u8) << 2
            | (self.has(Self::CWR) as u8) << 1
            | self.has(Self::ECE) as u8
    }

    /// The flags AE, CWR and ECE whose number modulo 8 this is.
    #[inline]
    pub const fn of_ace(number: u64) -> Self {
        let ae = if number & 4 == 0 { 0 } else { Self::AE.0 };
        let cwr = if number & 2 == 0 { 0 } else { Self::CWR.0 };
        let ece = if number & 1 == 0 { 0 } else { Self::ECE.0 };
        Self(ae | cwr | ece)
    }

    /// The flags that are set and that are bits of the TCP header.
    pub fn in_header(self) -> impl Iterator<Item = &'static HeaderFlag> {
        HeaderFlag::ALL.iter().filter(move |known| self.has(known.flag))
    }

    /// The letters of the flags that are set, in the notation of TCP scripts: `S.`
    pub fn letters(self) -> impl Iterator<Item = char> {
        // The dot of ACK is the last.
        let letter = |known: &HeaderFlag| (known.letter != '.').then_some(known.letter);
        self.in_header().filter_map(letter).chain(self.has(Self::ACK).then_some('.'))
    }
}

/// A flag that is a bit of the TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderFlag {
    /// The flag.
    pub flag: Flags,
    /// Its name (RFC 9293 section 3.1, RFC 9768).
    pub name: &'static str,
    /// Its letter in TCP scripts (docs/tcp-script.md).
    pub letter: char,
    /// Its bit in the 16 bits of data offset, reserved bits and flags. AE is the bit that was NS.
    pub bit: u16,
}

impl HeaderFlag {
    /// All flags of the header.
    pub const ALL: [Self; 7] = [
        Self { flag: Flags::SYN, name: "SYN", letter: 'S', bit: 0x002 },
        Self { flag: Flags::FIN, name: "FIN", letter: 'F', bit: 0x001 },
        Self { flag: Flags::RST, name: "RST", letter: 'R', bit: 0x004 },
        Self { flag: Flags::ACK, name: "ACK", letter: '.', bit: 0x010 },
        Self { flag: Flags::ECE, name: "ECE", letter: 'E', bit: 0x040 },
        Self { flag: Flags::CWR, name: "CWR", letter: 'W', bit: 0x080 },
        Self { flag: Flags::AE, name: "AE", letter: 'A', bit: 0x100 },
    ];
}

/// A range of received bytes above the cumulative acknowledgement (RFC 2018), or a duplicate (RFC
/// 2883).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// Up to four SACK blocks (three with timestamps); or, on a SYN, the SACK-permitted option. With
/// them comes the option of accurate ECN, which shares their room in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; 4],
    count: u8,
    permitted: bool,
    /// Whether the fourth block is not a block but the option of accurate ECN.
    accurate: bool,
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self = Self {
        blocks: [SackBlock { start: 0, end: 0 }; 4],
        count: 0,
        permitted: false,
        accurate: false,
    };
    /// The SACK-permitted option of a SYN (RFC 2018 §2).
    pub const PERMITTED: Self = Self { permitted: true, ..Self::NONE };

    /// Whether a SYN has the SACK-permitted option.
    pub const fn are_permitted(&self) -> bool {
        self.permitted
    }

    /// Adds the option of accurate ECN, which leaves room for so many blocks; later ones are
    /// omitted.
    #[inline]
    pub fn add_accurate(&mut self, option: AccEcn, room: usize) {
        self.count = self.count.min(room as u8).min(3);
        let (start, end) = option.pack();
        (self.blocks[3], self.accurate) = (SackBlock { start, end }, true);
    }

    /// The option of accurate ECN.
    #[inline]
    pub fn accurate(&self) -> Option<AccEcn> {
        self.accurate.then(|| AccEcn::unpack(self.blocks[3].start, self.blocks[3].end))
    }

    /// Adds a block; a fifth block is omitted, because the option is full, and so is a fourth
    /// beside the option of accurate ECN.
    pub fn push(&mut self, block: SackBlock) {
        if self.accurate && self.count == 3 {
            return;
        }
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = block;
            self.count += 1;
        }
    }

    /// The blocks, most recent first.
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }

    /// The blocks without the first `skip`, in the order of their sequence numbers.
    #[must_use]
    pub fn ascending(&self, skip: usize) -> Self {
        let mut ascending = Self::NONE;
        self.as_slice().iter().skip(skip).for_each(|block| ascending.push(*block));
        ascending.blocks[..usize::from(ascending.count)].sort_unstable_by_key(|block| block.start);
        ascending
    }

    /// The length of the options in a header: kind and length, eight bytes per block (RFC 2018 §3),
    /// the option of accurate ECN, and padding to a multiple of four.
    pub const fn option_size(&self) -> Bytes {
        let blocks = if self.count == 0 { 0 } else { 4 + 8 * self.count as u64 };
        if !self.accurate {
            return Bytes(blocks);
        }
        // The padding of the blocks is used: they need two bytes and eight for each.
        let fields = 2 + 3 * (self.blocks[3].end >> 32 & 3);
        Bytes((blocks.saturating_sub(2) + fields).next_multiple_of(4))
    }

    /// Whether there are no blocks.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The timestamps option (RFC 7323). The simulator's clock has nanoseconds and never wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// When this segment was sent.
    pub value: Instant,
    /// The timestamp of the peer that is echoed.
    pub echo: Instant,
}

/// The erasure code fields of a segment. A block of `span` bytes is divided into `data` units of
/// the same size, the last of which may be shorter. Any `data` units of a block, data or parity,
/// suffice to decode the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// Number of the transmission, from 0. Selective acknowledgements report these numbers.
    pub unit: u64,
    /// Bytes of data in the block.
    pub span: u32,
    /// Data units of the block.
    pub data: NonZeroU8,
    /// The index of the unit in the block: parity from `data` on.
    pub index: u8,
}

impl Coded {
    /// The size of the block's units.
    pub fn unit_size(&self) -> u64 {
        u64::from(self.span).div_ceil(u64::from(self.data.get()))
    }

    /// Whether the unit is parity.
    pub fn is_parity(&self) -> bool {
        self.index >= self.data.get()
    }

    /// The first sequence number of the block, if a segment at `seq` carries this unit; parity has
    /// the first sequence number of its block. `None` if there is no such block.
    pub fn block_start(&self, seq: u64) -> Option<u64> {
        if self.is_parity() {
            return Some(seq);
        }
        seq.checked_sub(u64::from(self.index) * self.unit_size())
    }
}

/// A TCP segment. Sequence numbers count bytes from 0 (the SYN) and never wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Which of the flow's successive connections it belongs to.
    pub connection: u32,
    /// Whether it goes from the flow's data sender to its receiver.
    pub forward: bool,
    /// First sequence number.
    pub seq: u64,
    /// Bytes of data.
    pub len: u32,
    /// Next sequence number expected from the peer; valid with [`Flags::ACK`].
    pub ack: u64,
    /// Advertised window in bytes, already scaled (RFC 7323).
    pub window: u64,
    /// Control bits.
    pub flags: Flags,
    /// Timestamps option, if negotiated.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks; on a SYN, whether they are permitted.
    pub sack: SackBlocks,
    /// The unit of an erasure code, if data is coded.
    pub coded: Option<Coded>,
}

impl Segment {
    /// The sequence numbers that it occupies: data, and one each for SYN and FIN.
    pub fn seq_len(&self) -> u64 {
        u64::from(self.len)
            + u64::from(self.flags.has(Flags::SYN))
            + u64::from(self.flags.has(Flags::FIN))
    }

    /// One past its last sequence number.
    pub fn seq_end(&self) -> u64 {
        self.seq + self.seq_len()
    }

    /// Bytes of data it carries.
    pub fn payload(&self) -> Bytes {
        Bytes(u64::from(self.len))
    }

    /// Whether it is a pure acknowledgement, which itself need not be acknowledged.
    pub fn is_pure_ack(&self) -> bool {
        self.flags.has(Flags::ACK) && self.seq_len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_flags_end_with_the_dot_of_ack() {
        let flags = Flags::ACK.and(Flags::SYN).and(Flags::CWR).and(Flags::ECE).and(Flags::ECT);
        assert_eq!(flags.letters().collect::<String>(), "SEW.");
        let names: Vec<_> = flags.in_header().map(|known| known.name).collect();
        assert_eq!(names, ["SYN", "ACK", "ECE", "CWR"]);
    }

    #[test]
    fn syn_and_fin_take_a_sequence_number_each() {
        let mut segment = Segment {
            flow: FlowId(0),
            connection: 0,
            forward: true,
            seq: 0,
            len: 0,
            ack: 0,
            window: 0,
            flags: Flags::SYN,
            timestamps: None,
            sack: SackBlocks::NONE,
            coded: None,
        };
        assert_eq!(segment.seq_end(), 1);
        segment = Segment { seq: 1, len: 100, flags: Flags::FIN.and(Flags::ACK), ..segment };
        assert_eq!(segment.seq_end(), 102);
        assert!(!segment.is_pure_ack());
        segment = Segment { len: 0, flags: Flags::ACK, ..segment };
        assert!(segment.is_pure_ack());
    }

    #[test]
    fn a_block_begins_where_its_units_say() {
        let data = NonZeroU8::new(3).unwrap();
        let unit = |index| Coded { unit: 0, span: 250, data, index };
        assert_eq!(unit(0).unit_size(), 84, "84, 84 and 82");
        assert_eq!(unit(2).block_start(1168), Some(1000));
        assert!(unit(3).is_parity() && !unit(2).is_parity());
        assert_eq!(unit(3).block_start(1000), Some(1000));
        assert_eq!(unit(2).block_start(100), None);
        // Packets are copied in every queue: options that few flows need must take little memory.
        assert!(size_of::<Option<Coded>>() <= 16);
    }

    #[test]
    fn a_fifth_sack_block_is_left_out() {
        let mut blocks = SackBlocks::NONE;
        for start in 0..5 {
            blocks.push(SackBlock { start, end: start + 1 });
        }
        assert_eq!(blocks.as_slice().len(), 4);
        assert_eq!(blocks.as_slice()[3].start, 3);
    }
}
