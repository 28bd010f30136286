//! Records of the medium as records of a trace.

use super::packets::Packets;
use ::trace::{BlockAck, Format, Frame, FrameMode, FrameOutcome, Mpdu, Wait};
use kernel::{Duration, Instant};
use wifi::mac::Bitmap;
use wifi::phy::{Coding, Mode, ModeClass};
use wifi::watch::FrameRecord;

/// A frame of a run that lasts until `end`. Its number is not known yet.
pub(super) fn frame(of: &FrameRecord, packets: &Packets, end: Instant) -> Frame {
    let is_open = of.end() > end;
    let mut mpdus: Vec<Mpdu> = Vec::with_capacity(of.mpdus.len());
    for record in &of.mpdus {
        let packet_id = packets.in_frame(&record.packet, &mpdus).unwrap_or(u64::MAX);
        mpdus.push(Mpdu {
            packet_id,
            packet: record.packet,
            sequence: record.sequence,
            retry: record.retry,
            bytes: record.bytes,
            received: record.received && !is_open,
            subframe: record.subframe,
            power: packets.power(&record.packet, of.from),
        });
    }
    let outcome = if is_open { FrameOutcome::Unknown } else { of.outcome };
    let is_lost = matches!(outcome, FrameOutcome::Lost(_));
    Frame {
        number: 0,
        start: of.start,
        payload: of.start + of.airtime.preamble + of.airtime.header,
        end: of.end(),
        from: of.from,
        to: of.to,
        kind: of.kind,
        class: of.class,
        mode: mode(of),
        psdu: of.psdu,
        aggregate: of.aggregate,
        nav: of.reserves,
        exchange: of.exchange,
        outcome,
        lost_to: of.lost_to.filter(|_| is_lost),
        signal_dbm: of.signal.map(|signal| signal.0),
        mpdus,
        block_ack: of.block_ack.as_ref().map(|(start, bitmap)| block_ack(of, *start, bitmap)),
    }
}

/// A wait of a run that lasts until `end`; `None` if it begins later.
pub(super) fn wait(of: &Wait, end: Instant) -> Option<Wait> {
    let end = of.end.min(end);
    (of.start < end).then_some(Wait { end, ..*of })
}

fn mode(of: &FrameRecord) -> FrameMode {
    /// The short DSSS preamble (clause 16.2.2.3).
    const SHORT: Duration = Duration::from_micros(72);
    let Mode { class, rate, mcs, streams, width, guard, coding, .. } = of.mode;
    let format = match class {
        ModeClass::Dsss | ModeClass::HrDsss => {
            Format::Dsss { short_preamble: of.airtime.preamble == SHORT }
        }
        ModeClass::Ofdm | ModeClass::ErpOfdm => Format::Ofdm,
        ModeClass::Ht => Format::Ht,
        ModeClass::Vht => Format::Vht,
        ModeClass::He => Format::He,
    };
    FrameMode {
        format,
        rate,
        mcs: match class {
            ModeClass::Ht => Some(8 * (streams - 1) + mcs),
            ModeClass::Vht | ModeClass::He => Some(mcs),
            _ => None,
        },
        streams,
        width_mhz: width.mhz() as u16,
        guard_ns: if class.is_dsss() { 0 } else { guard.ns() as u16 },
        ldpc: coding == Coding::Ldpc,
    }
}

/// The bitmap of a BlockAck has 64 bits in a frame of 32 bytes, else 256 (clause 9.3.1.8.3).
fn block_ack(of: &FrameRecord, start: u16, bitmap: &Bitmap) -> BlockAck {
    let mut words = [0; 4];
    for bit in (0..Bitmap::LEN).filter(|&bit| bitmap.has(bit)) {
        words[usize::from(bit / 64)] |= 1 << (bit % 64);
    }
    BlockAck { start, bitmap: words, bits: if of.psdu.0 <= 32 { 64 } else { 256 } }
}
