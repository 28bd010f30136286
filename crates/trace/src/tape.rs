//! The tape of an emulation: each packet that a real program sent, and when it entered the network.
//! It is a capture in pcapng, with an interface for each flow, so that other tools read it too.

use crate::pcapng::blocks::{
    Blocks, Content, ENHANCED_PACKET, INTERFACE_DESCRIPTION, INTERFACE_STATISTICS, PacketInfo, RAW,
    SECTION_HEADER,
};
use kernel::Instant;
use std::io;
use std::sync::Arc;

/// What has entered the network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// What its writer says of the run.
    pub comment: String,
    /// The flows, in the order of their interfaces.
    pub flows: Vec<TapeFlow>,
    /// The end of the emulation, if it reached one.
    pub end: Option<Instant>,
}

/// A flow of a tape.
#[derive(Clone, Debug, PartialEq)]
pub struct TapeFlow {
    /// Its name.
    pub name: String,
    /// Its packets, in the order of time.
    pub packets: Arc<[TapePacket]>,
}

/// A packet of a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapePacket {
    /// When it entered the network.
    pub at: Instant,
    /// Its size.
    pub len: u32,
    /// The IP packet, or its first bytes.
    pub bytes: Box<[u8]>,
}

/// Writes a tape.
#[derive(Debug)]
pub struct TapeWriter<W: io::Write> {
    blocks: Blocks<W>,
    content: Content,
}

impl<W: io::Write> TapeWriter<W> {
    /// Begins a tape of these flows.
    ///
    /// # Errors
    /// Those of the file.
    pub fn new(out: W, comment: &str, flows: &[String]) -> io::Result<Self> {
        let mut blocks = Blocks::new(out, 0, None);
        let program = concat!("Simoom ", env!("CARGO_PKG_VERSION"));
        blocks.section_with(comment, "emulated network", "time of the emulation", program)?;
        for name in flows {
            blocks.interface(RAW, name, "packets that entered the network")?;
        }
        Ok(Self { blocks, content: Content::default() })
    }

    /// Adds a packet of a flow, or `most` bytes of it.
    ///
    /// # Errors
    /// Those of the file.
    pub fn packet(&mut self, flow: u32, at: Instant, bytes: &[u8], most: usize) -> io::Result<()> {
        self.content.clear();
        self.content.head.extend(bytes);
        let info = PacketInfo { interface: flow, at_ns: at.0, flags: 0, comment: "" };
        self.blocks.packet_of(info, &self.content, most)
    }

    /// Writes the end of the emulation.
    ///
    /// # Errors
    /// Those of the file.
    pub fn end(&mut self, at: Instant) -> io::Result<()> {
        self.blocks.statistics(0, at.0)?;
        self.blocks.flush()
    }
}

/// The byte order magic of a section in little-endian order.
const LITTLE_ENDIAN: u32 = 0x1a2b_3c4d;
/// Bytes of a block without its body: type, and its length twice.
const FRAME: usize = 12;
/// Options: the end of the list, a comment, the name of an interface, the end of a measurement.
const NO_OPTION: u16 = 0;
const COMMENT: u16 = 1;
const NAME: u16 = 2;
const END_TIME: u16 = 3;

impl Tape {
    /// Reads a tape. What a run that was killed has not written completely is left out.
    ///
    /// # Errors
    /// Why it is not a tape.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = Reader::default();
        let mut rest = bytes;
        while let Some((kind, body, after)) = block(rest) {
            if rest.len() == bytes.len() && kind != SECTION_HEADER {
                break;
            }
            reader.take(kind, body)?;
            rest = after;
        }
        if rest.len() == bytes.len() {
            return Err(NOT_A_TAPE.to_owned());
        }
        Ok(reader.tape())
    }
}

const NOT_A_TAPE: &str = "is not a tape: `simoom emulate --tape FILE` writes one";

#[derive(Debug, Default)]
struct Reader {
    comment: String,
    flows: Vec<(String, Vec<TapePacket>)>,
    end: Option<Instant>,
}

impl Reader {
    fn take(&mut self, kind: u32, body: &[u8]) -> Result<(), String> {
        let fault = || NOT_A_TAPE.to_owned();
        match kind {
            SECTION_HEADER => {
                if u32_at(body, 0) != Some(LITTLE_ENDIAN) || !self.flows.is_empty() {
                    return Err(fault());
                }
                self.comment = text(body.get(16..).and_then(|it| option(it, COMMENT)));
            }
            INTERFACE_DESCRIPTION => {
                if u32_at(body, 0).map(|word| word as u16) != Some(RAW) {
                    return Err(fault());
                }
                let name = text(body.get(8..).and_then(|it| option(it, NAME)));
                self.flows.push((name, Vec::new()));
            }
            INTERFACE_STATISTICS => {
                let end = body.get(12..).and_then(|it| option(it, END_TIME));
                self.end = end.and_then(|it| instant(it, 0));
            }
            ENHANCED_PACKET => {
                let (flow, at) = u32_at(body, 0).zip(instant(body, 4)).ok_or_else(fault)?;
                let (kept, len) = u32_at(body, 12).zip(u32_at(body, 16)).ok_or_else(fault)?;
                let bytes = body.get(20..20 + kept as usize).ok_or_else(fault)?;
                let (_, packets) = self.flows.get_mut(flow as usize).ok_or_else(fault)?;
                if packets.last().is_some_and(|last| last.at > at) {
                    return Err("is not a tape: its packets are not in the order of time".into());
                }
                packets.push(TapePacket { at, len, bytes: bytes.into() });
            }
            _ => {}
        }
        Ok(())
    }

    fn tape(self) -> Tape {
        let flow = |(name, packets): (String, Vec<_>)| TapeFlow { name, packets: packets.into() };
        let flows = self.flows.into_iter().map(flow).collect();
        Tape { comment: self.comment, flows, end: self.end }
    }
}

/// The first block that is complete: its type, its body, and what follows it.
fn block(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (kind, len) = (u32_at(bytes, 0)?, u32_at(bytes, 4)? as usize);
    if len < FRAME || len > bytes.len() {
        return None;
    }
    Some((kind, &bytes[8..len - 4], &bytes[len..]))
}

/// The value of the first option with this code.
fn option(mut list: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let word = u32_at(list, 0)?;
        let (code, len) = (word as u16, (word >> 16) as usize);
        if code == NO_OPTION {
            return None;
        }
        if code == wanted {
            return list.get(4..4 + len);
        }
        list = list.get(4 + len.next_multiple_of(4)..)?;
    }
}

fn text(value: Option<&[u8]>) -> String {
    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// A timestamp: its high and its low half.
fn instant(bytes: &[u8], at: usize) -> Option<Instant> {
    let (high, low) = u32_at(bytes, at).zip(u32_at(bytes, at + 4))?;
    Some(Instant(u64::from(high) << 32 | u64::from(low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut out = Vec::new();
        let flows = ["a to b".to_owned(), "b to a".to_owned()];
        let mut tape = TapeWriter::new(&mut out, "the café", &flows).unwrap();
        tape.packet(0, Instant(5), &[1, 2, 3], usize::MAX).unwrap();
        tape.packet(1, Instant(1 << 33), &[4, 5], 1).unwrap();
        tape.packet(0, Instant(1 << 34), &[], 64).unwrap();
        tape.end(Instant(1 << 35)).unwrap();
        out
    }

    fn packet(at: u64, len: u32, bytes: &[u8]) -> TapePacket {
        TapePacket { at: Instant(at), len, bytes: bytes.into() }
    }

    #[test]
    fn what_is_written_is_read() {
        let tape = Tape::read(&written()).expect("the tape has no fault");
        assert_eq!((tape.comment.as_str(), tape.end), ("the café", Some(Instant(1 << 35))));
        assert_eq!(tape.flows[0].name, "a to b");
        assert_eq!(*tape.flows[0].packets, [packet(5, 3, &[1, 2, 3]), packet(1 << 34, 0, &[])]);
        assert_eq!(*tape.flows[1].packets, [packet(1 << 33, 2, &[4])]);
    }

    #[test]
    fn a_tape_that_ends_within_a_block_has_the_blocks_before() {
        let bytes = written();
        let whole = Tape::read(&bytes).expect("the tape has no fault");
        let cut = Tape::read(&bytes[..bytes.len() - 1]).expect("the rest has no fault");
        assert_eq!(cut, Tape { end: None, ..whole });
    }

    #[test]
    fn another_file_is_refused() {
        for bytes in [&b""[..], b"time_s,size_bytes\n", &[0; 64], &written()[4..]] {
            assert_eq!(Tape::read(bytes), Err(NOT_A_TAPE.to_owned()));
        }
        let mut capture = written();
        let section = u32_at(&capture, 4).expect("the section has a length") as usize;
        capture[section + 8] = 1;
        assert_eq!(Tape::read(&capture), Err(NOT_A_TAPE.to_owned()), "an Ethernet capture");
    }

    #[test]
    fn no_byte_that_changes_makes_the_reader_fail_otherwise() {
        let bytes = written();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 0xff;
            // Whether it is still a tape or not, the reader returns.
            let _ = Tape::read(&changed);
        }
    }
}
