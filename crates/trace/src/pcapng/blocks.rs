//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian.

use kernel::Instant;
use std::io;

/// `LINKTYPE_IEEE802_11_RADIOTAP`.
pub(crate) const RADIOTAP: u16 = 127;
/// `LINKTYPE_ETHERNET`.
pub(crate) const ETHERNET: u16 = 1;

/// `LINKTYPE_RAW`: IP packets.
pub(crate) const RAW: u16 = 101;

pub(crate) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
pub(crate) const INTERFACE_DESCRIPTION: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
pub(crate) const INTERFACE_STATISTICS: u32 = 5;
pub(crate) const ENHANCED_PACKET: u32 = 6;

const ZEROS: [u8; 4096] = [0; 4096];

/// A packet: its first bytes, zeros, and its last bytes.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// Radiotap header, if any, and all headers.
    pub(crate) head: Vec<u8>,
    /// How many zero bytes follow.
    pub(crate) zeros: usize,
    /// The FCS, or nothing.
    pub(crate) tail: Option<[u8; 4]>,
}

impl Content {
    /// Forgets the packet and keeps the buffer.
    pub(crate) fn clear(&mut self) {
        self.head.clear();
        self.zeros = 0;
        self.tail = None;
    }

    fn len(&self) -> usize {
        self.head.len() + self.zeros + self.tail.map_or(0, |tail| tail.len())
    }
}

/// What an Enhanced Packet Block says about its packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketInfo<'a> {
    /// The interface, by number.
    pub(crate) interface: u32,
    /// The timestamp in nanoseconds.
    pub(crate) at_ns: u64,
    /// `epb_flags`: direction and errors; 0 is left out.
    pub(crate) flags: u32,
    /// A comment; empty is left out.
    pub(crate) comment: &'a str,
}

/// Writes blocks one after the other.
#[derive(Debug)]
pub(crate) struct Blocks<W> {
    out: W,
    snaplen: u32,
    /// Most bytes of a packet that are written; `usize::MAX` is all.
    most: usize,
    block: Vec<u8>,
    /// A comment for the file, and for the first packet from this instant on.
    mark: Option<(Instant, String)>,
}

impl<W: io::Write> Blocks<W> {
    /// Begins a file that keeps at most `snaplen` bytes of each packet; 0 is all. A comment stands
    /// in its section, and at the first packet from an instant on.
    pub(crate) fn new(out: W, snaplen: u32, mark: Option<(Instant, String)>) -> Self {
        let most = if snaplen == 0 { usize::MAX } else { snaplen as usize };
        Self { out, snaplen, most, block: Vec::with_capacity(1024), mark }
    }

    /// Writes the Section Header Block.
    pub(crate) fn section(&mut self, hardware: &str, os: &str, program: &str) -> io::Result<()> {
        let mark = self.mark.take();
        let comment = mark.as_ref().map_or("", |(_, comment)| comment);
        self.section_with(comment, hardware, os, program)?;
        self.mark = mark;
        Ok(())
    }

    /// Writes the Section Header Block with this comment; an empty one is left out.
    pub(crate) fn section_with(
        &mut self,
        comment: &str,
        hardware: &str,
        os: &str,
        program: &str,
    ) -> io::Result<()> {
        self.block.clear();
        self.block.extend(0x1a2b_3c4d_u32.to_le_bytes());
        self.block.extend(1_u16.to_le_bytes());
        self.block.extend(0_u16.to_le_bytes());
        self.block.extend(u64::MAX.to_le_bytes());
        if !comment.is_empty() {
            self.option(1, comment.as_bytes());
        }
        self.option(2, hardware.as_bytes());
        self.option(3, os.as_bytes());
        self.option(4, program.as_bytes());
        self.option(0, &[]);
        self.close(SECTION_HEADER)
    }

    /// Writes an Interface Description Block with timestamps in nanoseconds.
    pub(crate) fn interface(&mut self, link: u16, name: &str, description: &str) -> io::Result<()> {
        self.block.clear();
        self.block.extend(link.to_le_bytes());
        self.block.extend(0_u16.to_le_bytes());
        self.block.extend(self.snaplen.to_le_bytes());
        self.option(2, name.as_bytes());
        self.option(3, description.as_bytes());
        self.option(9, &[9]);
        self.option(0, &[]);
        self.close(INTERFACE_DESCRIPTION)
    }

    /// Writes a Name Resolution Block with names of IPv4 addresses.
    pub(crate) fn names<'a>(
        &mut self,
        names: impl Iterator<Item = ([u8; 4], &'a str)>,
    ) -> io::Result<()> {
        self.block.clear();
        for (address, name) in names {
            let name = name.as_bytes();
            self.block.extend(1_u16.to_le_bytes());
            self.block.extend((name.len() as u16 + 5).to_le_bytes());
            self.block.extend(address);
            self.block.extend(name);
            self.block.push(0);
            self.align();
        }
        self.block.extend([0; 4]);
        self.close(NAME_RESOLUTION)
    }

    /// Writes an Interface Statistics Block, which says when a capture ended, in nanoseconds.
    pub(crate) fn statistics(&mut self, interface: u32, end_ns: u64) -> io::Result<()> {
        self.block.clear();
        let halves = [(end_ns >> 32) as u32, end_ns as u32].map(u32::to_le_bytes);
        self.block.extend(interface.to_le_bytes());
        self.block.extend(halves.concat());
        self.option(3, &halves.concat());
        self.option(0, &[]);
        self.close(INTERFACE_STATISTICS)
    }

    /// Writes an Enhanced Packet Block.
    pub(crate) fn packet(&mut self, info: PacketInfo<'_>, content: &Content) -> io::Result<()> {
        let most = self.most;
        self.packet_of(info, content, most)
    }

    /// Writes an Enhanced Packet Block with at most this many bytes of the packet.
    pub(crate) fn packet_of(
        &mut self,
        info: PacketInfo<'_>,
        content: &Content,
        most: usize,
    ) -> io::Result<()> {
        let original = content.len();
        let captured = original.min(most);
        self.block.clear();
        if !info.comment.is_empty() {
            self.option(1, info.comment.as_bytes());
        }
        if let Some((_, comment)) = self.mark.take_if(|(from, _)| from.0 <= info.at_ns) {
            self.option(1, comment.as_bytes());
        }
        if info.flags != 0 {
            self.option(2, &info.flags.to_le_bytes());
        }
        if !self.block.is_empty() {
            self.option(0, &[]);
        }
        let padded = captured.next_multiple_of(4);
        let total = (32 + padded + self.block.len()) as u32;
        let mut fixed = [0; 28];
        let words = [
            ENHANCED_PACKET,
            total,
            info.interface,
            (info.at_ns >> 32) as u32,
            info.at_ns as u32,
            captured as u32,
            original as u32,
        ];
        for (place, word) in fixed.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.out.write_all(&fixed)?;
        let head = content.head.len().min(captured);
        self.out.write_all(&content.head[..head])?;
        let zeros = content.zeros.min(captured - head);
        self.zeros(zeros)?;
        let tail = captured - head - zeros;
        self.out.write_all(&content.tail.unwrap_or_default()[..tail])?;
        self.out.write_all(&ZEROS[..padded - captured])?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&total.to_le_bytes())
    }

    /// Flushes the file.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Adds an option to the block; option 0 ends the list.
    fn option(&mut self, code: u16, value: &[u8]) {
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.block.extend(value);
        self.align();
    }

    fn align(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn close(&mut self, kind: u32) -> io::Result<()> {
        let total = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&total)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&total)
    }

    fn zeros(&mut self, mut count: usize) -> io::Result<()> {
        while count > 0 {
            let part = count.min(ZEROS.len());
            self.out.write_all(&ZEROS[..part])?;
            count -= part;
        }
        Ok(())
    }
}
