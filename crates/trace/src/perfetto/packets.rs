//! The packets of a trace, with their clock.

use super::protobuf::Buffer;
use super::schema::{clock, event, interned, packet, trace};
use kernel::Instant;
use std::io;

/// All packets are of one sequence.
const SEQUENCE: u64 = 1;

/// Writes the packets of a trace one after the other.
///
/// Times are differences to the packet before: the sequence has an incremental clock, which begins
/// at 0 together with the clock of the trace. This makes a packet 2 to 4 bytes shorter.
#[derive(Debug)]
pub(super) struct Packets<W> {
    out: W,
    buffer: Buffer,
    now: Instant,
}

impl<W: io::Write> Packets<W> {
    /// Begins the trace with the packet that defines the clock and the names of annotations, which
    /// have the numbers 1, 2, ….
    pub(super) fn new(out: W, annotations: &[&str]) -> io::Result<Self> {
        let mut packets = Self { out, buffer: Buffer::default(), now: Instant::ZERO };
        packets.write(|p| {
            p.varint(packet::SEQUENCE_FLAGS, packet::INCREMENTAL_STATE_CLEARED);
            p.varint(packet::FIRST_PACKET_ON_SEQUENCE, 1);
            p.message(packet::TRACE_PACKET_DEFAULTS, |d| {
                d.varint(clock::DEFAULT_CLOCK_ID, clock::OF_SEQUENCE);
            });
            p.message(packet::CLOCK_SNAPSHOT, |s| {
                s.message(clock::CLOCKS, |c| {
                    c.varint(clock::CLOCK_ID, clock::BOOTTIME);
                    c.varint(clock::TIMESTAMP, 0);
                });
                s.message(clock::CLOCKS, |c| {
                    c.varint(clock::CLOCK_ID, clock::OF_SEQUENCE);
                    c.varint(clock::TIMESTAMP, 0);
                    c.varint(clock::IS_INCREMENTAL, 1);
                });
            });
            p.message(packet::INTERNED_DATA, |data| {
                for (iid, text) in (1..).zip(annotations) {
                    entry(data, interned::ANNOTATION_NAMES, iid, text);
                }
            });
        })?;
        Ok(packets)
    }

    /// Defines a text that later packets refer to by its number; `list` is the field of
    /// `InternedData`.
    pub(super) fn intern(&mut self, list: u64, iid: u64, text: &str) -> io::Result<()> {
        self.write(|p| {
            p.varint(packet::SEQUENCE_FLAGS, packet::NEEDS_INCREMENTAL_STATE);
            p.message(packet::INTERNED_DATA, |data| entry(data, list, iid, text));
        })
    }

    /// Defines a track.
    pub(super) fn track(&mut self, fill: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.write(|p| p.message(packet::TRACK_DESCRIPTOR, fill))
    }

    /// An event of the type `kind` on a track. The times of events never decrease.
    pub(super) fn event(
        &mut self,
        at: Instant,
        kind: u64,
        track: u64,
        fill: impl FnOnce(&mut Buffer),
    ) -> io::Result<()> {
        let elapsed = at - self.now;
        self.now = at;
        self.write(|p| {
            p.varint(packet::TIMESTAMP, elapsed.0);
            p.varint(packet::SEQUENCE_FLAGS, packet::NEEDS_INCREMENTAL_STATE);
            p.message(packet::TRACK_EVENT, |e| {
                e.varint(event::TYPE, kind);
                e.varint(event::TRACK_UUID, track);
                fill(e);
            });
        })
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write(&mut self, fill: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.message(trace::PACKET, |p| {
            p.varint(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            fill(p);
        });
        self.out.write_all(self.buffer.as_bytes())
    }
}

fn entry(data: &mut Buffer, list: u64, iid: u64, text: &str) {
    data.message(list, |e| {
        e.varint(interned::IID, iid);
        e.string(interned::TEXT, text);
    });
}
