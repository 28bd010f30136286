//! TCP headers (RFC 9293) with options: MSS, window scale and timestamps (RFC 7323), SACK (RFC
//! 2018), accurate ECN (RFC 9768), and an experimental option (RFC 6994) for the erasure code of
//! LT-TCP.

use super::udp::{receiver_port, sender_port};
use crate::FlowInfo;
use kernel::IdVec;
use wire::{AccEcn, Coded, Flags, FlowId, SackBlock, Segment};

/// The longest options (RFC 9293 section 3.1).
const LONGEST_OPTIONS: usize = 40;
const NO_OPERATION: u8 = 1;
/// An option for experiments, told apart by its first two bytes (RFC 6994).
const EXPERIMENT: u8 = 253;
/// The experiment identifiers of a coded segment and of an acknowledgement of coded segments.
const CODED_UNIT: [u8; 2] = *b"LT";
const CODED_SACK: [u8; 2] = *b"LS";

/// PSH, which no flag stands for.
const PUSH: u16 = 0x008;

/// Writes TCP headers.
#[derive(Debug)]
pub(super) struct TcpHeaders {
    flows: IdVec<FlowId, FlowHeaders>,
}

/// What the headers of a flow depend on.
#[derive(Clone, Copy, Debug)]
struct FlowHeaders {
    /// What both ends announce in their SYN.
    mss: u16,
    window_shift: u8,
    /// Whether a coded segment was written. SACK blocks of its acknowledgements then count units of
    /// the code and no bytes.
    is_coded: bool,
}

impl TcpHeaders {
    /// The headers of these flows.
    pub(super) fn new(flows: &[FlowInfo]) -> Self {
        let of = |flow: &FlowInfo| FlowHeaders {
            mss: flow.mss,
            window_shift: flow.window_shift,
            is_coded: false,
        };
        Self { flows: flows.iter().map(of).collect() }
    }

    /// Appends the header of a segment, with a checksum of zero.
    pub(super) fn write(&mut self, segment: &Segment, out: &mut Vec<u8>) {
        let start = out.len();
        let flow = &mut self.flows[segment.flow];
        let (from, to) = ports(segment);
        out.extend(from.to_be_bytes());
        out.extend(to.to_be_bytes());
        let seq = isn(segment, segment.forward).wrapping_add(segment.seq as u32);
        out.extend(seq.to_be_bytes());
        let has_ack = segment.flags.has(Flags::ACK);
        let ack = isn(segment, !segment.forward).wrapping_add(segment.ack as u32);
        out.extend(if has_ack { ack.to_be_bytes() } else { [0; 4] });
        let mut bits = segment.flags.in_header().fold(0, |bits, known| bits | known.bit);
        if segment.len > 0 {
            bits |= PUSH;
        }
        out.extend([0; 2]);
        out.extend(window(segment, flow.window_shift).to_be_bytes());
        out.extend([0; 4]);
        flow.options(segment, start + 20, out);
        let words = ((out.len() - start) / 4) as u16;
        out[start + 12..start + 14].copy_from_slice(&(words << 12 | bits).to_be_bytes());
    }
}

impl FlowHeaders {
    fn options(&mut self, segment: &Segment, start: usize, out: &mut Vec<u8>) {
        if segment.flags.has(Flags::SYN) {
            out.extend([2, 4]);
            out.extend(self.mss.to_be_bytes());
            out.extend([NO_OPERATION, 3, 3, self.window_shift]);
            if segment.sack.are_permitted() {
                out.extend([NO_OPERATION, NO_OPERATION, 4, 2]);
            }
        }
        if let Some(timestamps) = segment.timestamps {
            out.extend([NO_OPERATION, NO_OPERATION, 8, 10]);
            // A clock of 1 kHz (RFC 7323 section 5.4).
            out.extend(((timestamps.value.0 / 1_000_000) as u32).to_be_bytes());
            out.extend(((timestamps.echo.0 / 1_000_000) as u32).to_be_bytes());
        }
        if let Some(unit) = &segment.coded {
            coded_unit(unit, out);
            self.is_coded = true;
        } else if self.is_coded {
            coded_sack(segment, start, out);
        } else {
            sack(segment, start, out);
        }
        if let Some(option) = segment.sack.accurate() {
            accurate(&option, start, out);
        }
    }
}

/// The source and destination ports of a segment.
fn ports(segment: &Segment) -> (u16, u16) {
    let sender = sender_port(segment.connection);
    let receiver = receiver_port(segment.flow);
    if segment.forward { (sender, receiver) } else { (receiver, sender) }
}

/// The initial sequence number of a direction of a connection.
fn isn(segment: &Segment, forward: bool) -> u32 {
    let FlowId(flow) = segment.flow;
    let one = flow.wrapping_mul(0x9e37_79b9) ^ segment.connection.wrapping_mul(0x85eb_ca6b);
    let other = if forward { 0x1656_67b1 } else { 0xc2b2_ae35 };
    (one ^ other).wrapping_mul(0x27d4_eb2f)
}

/// The window field: not scaled in a SYN (RFC 7323 section 2.2). TCP announces only windows that
/// the field can hold.
fn window(segment: &Segment, shift: u8) -> u16 {
    let shift = if segment.flags.has(Flags::SYN) { 0 } else { shift };
    (segment.window >> shift).min(0xffff) as u16
}

/// How many blocks of eight bytes fit behind `fixed` bytes of an option and the options before it.
fn room(start: usize, fixed: usize, out: &[u8]) -> usize {
    (LONGEST_OPTIONS - (out.len() - start)).saturating_sub(fixed) / 8
}

fn sack(segment: &Segment, start: usize, out: &mut Vec<u8>) {
    let blocks = segment.sack.as_slice();
    let fixed = segment.sack.accurate().map_or(4, |option| 2 + usize::from(option.len()));
    let blocks = &blocks[..blocks.len().min(room(start, fixed, out))];
    if blocks.is_empty() {
        return;
    }
    if segment.sack.accurate().is_none() {
        out.extend([NO_OPERATION; 2]);
    }
    out.extend([5, 2 + 8 * blocks.len() as u8]);
    let isn = isn(segment, !segment.forward);
    for SackBlock { start, end } in blocks {
        out.extend(isn.wrapping_add(*start as u32).to_be_bytes());
        out.extend(isn.wrapping_add(*end as u32).to_be_bytes());
    }
}

/// The option of accurate ECN, and padding.
fn accurate(option: &AccEcn, start: usize, out: &mut Vec<u8>) {
    let blocks = out.len() - start;
    if blocks + usize::from(option.len()) > LONGEST_OPTIONS {
        return;
    }
    out.extend([option.kind(), option.len()]);
    for field in &option.fields[..usize::from(option.count)] {
        out.extend(&field.to_be_bytes()[1..]);
    }
    while !(out.len() - start).is_multiple_of(4) {
        out.push(NO_OPERATION);
    }
}

/// Which units were received: pairs of first unit and one past the last.
fn coded_sack(segment: &Segment, start: usize, out: &mut Vec<u8>) {
    let blocks = segment.sack.as_slice();
    let blocks = &blocks[..blocks.len().min(room(start, 4, out))];
    if blocks.is_empty() {
        return;
    }
    out.extend([EXPERIMENT, 4 + 8 * blocks.len() as u8]);
    out.extend(CODED_SACK);
    for SackBlock { start, end } in blocks {
        out.extend((*start as u32).to_be_bytes());
        out.extend((*end as u32).to_be_bytes());
    }
}

/// Twelve bytes, as many as a coded header counts: the number of the unit and the span of its block
/// in 24 bits each, the number of data units, and the index of the unit.
fn coded_unit(unit: &Coded, out: &mut Vec<u8>) {
    out.extend([EXPERIMENT, 12]);
    out.extend(CODED_UNIT);
    out.extend(&(unit.unit as u32).to_be_bytes()[1..]);
    out.extend(&unit.span.to_be_bytes()[1..]);
    out.extend([unit.data.get(), unit.index]);
}
