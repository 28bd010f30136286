//! The radiotap header (radiotap.org): when and how a frame was on the air.

use super::Tsft;
use crate::{Format, Frame};
use wire::{FrameMode, PuncturedChannels, SigB};

const TSFT: u32 = 1;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const SIGNAL: u32 = 1 << 5;
const MCS: u32 = 1 << 19;
const A_MPDU: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
const TIMESTAMP: u32 = 1 << 22;
const HE: u32 = 1 << 23;
const HE_MU: u32 = 1 << 24;
const TLV: u32 = 1 << 28;

/// What the header says of a frame beyond the frame itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    /// What the field TSFT means.
    pub(super) tsft: Tsft,
    /// Centre frequency of the primary channel in MHz.
    pub(super) channel_mhz: u16,
    /// Whether the frame goes to an access point.
    pub(super) uplink: bool,
    /// Whether the FCS is wrong.
    pub(super) bad_fcs: bool,
    /// Whether the MPDU is the last of its A-MPDU.
    pub(super) last: bool,
}

/// Appends the radiotap header of an MPDU to an empty buffer.
pub(super) fn header(frame: &Frame, reception: Reception, out: &mut Vec<u8>) {
    // Version, pad, length, present: filled in at the end.
    out.extend([0; 8]);
    let mut present = TSFT | FLAGS | CHANNEL | TIMESTAMP;
    let tsft = match reception.tsft {
        Tsft::PpduEnd => frame.end,
        Tsft::MpduStart => frame.payload,
    };
    out.extend((tsft.0 / 1000).to_le_bytes());
    let short = matches!(frame.mode.format, Format::Dsss { short_preamble: true });
    // 0x02 short preamble, 0x10 the frame has its FCS, 0x40 the FCS is wrong.
    out.push(0x10 | u8::from(short) << 1 | u8::from(reception.bad_fcs) << 6);
    if matches!(frame.mode.format, Format::Dsss { .. } | Format::Ofdm) {
        present |= RATE;
        out.push((frame.mode.rate.0 / 500_000) as u8);
    }
    align(2, out);
    out.extend(reception.channel_mhz.to_le_bytes());
    let band = if reception.channel_mhz < 3000 { 0x80 } else { 0x100 };
    let modulation = if matches!(frame.mode.format, Format::Dsss { .. }) { 0x20 } else { 0x40 };
    out.extend(u16::to_le_bytes(band | modulation));
    if let Some(signal) = frame.signal_dbm {
        present |= SIGNAL;
        out.push(signal.round().clamp(-128.0, 127.0) as i8 as u8);
    }
    if frame.mode.format == Format::Ht {
        present |= MCS;
        out.extend(mcs(frame));
    }
    if frame.aggregate {
        present |= A_MPDU;
        align(4, out);
        out.extend((frame.number as u32).to_le_bytes());
        // 0x04 the last subframe is known, 0x08 this is the last subframe.
        out.extend((4 | u16::from(reception.last) << 3).to_le_bytes());
        out.extend([0, 0]);
    }
    if frame.mode.format == Format::Vht {
        present |= VHT;
        align(2, out);
        out.extend(vht(frame, reception.uplink));
    }
    timestamp(frame, out);
    if frame.mode.format == Format::He {
        present |= HE;
        align(2, out);
        for word in he(frame, reception.uplink) {
            out.extend(word.to_le_bytes());
        }
    }
    if let Some(sig_b) = &frame.sig_b {
        present |= HE_MU;
        out.extend(he_mu(sig_b, &frame.mode));
    }
    if frame.mode.format == Format::Eht {
        present |= TLV;
        align(4, out);
        for word in eht(frame, reception.uplink) {
            out.extend(word.to_le_bytes());
        }
    }
    let length = out.len() as u16;
    out[2..4].copy_from_slice(&length.to_le_bytes());
    out[4..8].copy_from_slice(&present.to_le_bytes());
}

/// The field timestamp: the end of the PPDU, to the nanosecond.
fn timestamp(frame: &Frame, out: &mut Vec<u8>) {
    align(8, out);
    out.extend(frame.end.0.to_le_bytes());
    // Accuracy 0; unit 2 is nanoseconds, position 2 the end of the PPDU; 64 bits.
    out.extend([0, 0, 2 | 2 << 4, 0]);
}

/// The field MCS of HT: everything is known but nothing of STBC and extension streams is used.
fn mcs(frame: &Frame) -> [u8; 3] {
    let wide = u8::from(frame.mode.width_mhz == 40);
    let short_gi = u8::from(frame.mode.guard_ns == 400);
    [0x7f, wide | short_gi << 2 | u8::from(frame.mode.ldpc) << 4, frame.mode.mcs.unwrap_or(0)]
}

/// The field VHT of a PPDU for a single user: its group is 0 to an access point, else 63.
fn vht(frame: &Frame, uplink: bool) -> [u8; 12] {
    let width = match frame.mode.width_mhz {
        40 => 1,
        80 => 4,
        160 => 11,
        _ => 0,
    };
    let short_gi = u8::from(frame.mode.guard_ns == 400) << 2;
    let rate = frame.mode.mcs.unwrap_or(0) << 4 | frame.mode.streams;
    let group = if uplink { 0 } else { 63 };
    // Known: STBC, guard interval, bandwidth, group.
    [0xc5, 0, short_gi, width, rate, 0, 0, 0, u8::from(frame.mode.ldpc), group, 0, 0]
}

/// The field HE of an HE SU PPDU; of a user of an HE MU PPDU, or of an HE TB PPDU.
fn he(frame: &Frame, uplink: bool) -> [u16; 6] {
    // Known: direction, MCS, DCM, coding, STBC, bandwidth; guard interval.
    let known = [0x10 | 0x20 | 0x40 | 0x80 | 0x200 | 0x4000, 0x02];
    let mcs = u16::from(frame.mode.mcs.unwrap_or(0)) << 8;
    let coding = u16::from(frame.mode.ldpc) << 13;
    let width = match (frame.mode.tones, frame.mode.width_mhz) {
        (Some(26), _) => 4,
        (Some(52), _) => 5,
        (Some(106), _) => 6,
        (Some(242), _) => 7,
        (Some(484), _) => 8,
        (Some(996), _) => 9,
        (Some(_), _) => 10,
        (None, 40) => 1,
        (None, 80) => 2,
        (None, 160) => 3,
        (None, _) => 0,
    };
    // PPDU format: SU, MU or TB.
    let format = match frame.mode.tones {
        None => 0,
        Some(_) if uplink => 3,
        Some(_) => 2,
    };
    let guard = match frame.mode.guard_ns {
        1600 => 1,
        3200 => 2,
        _ => 0,
    };
    let direction = u16::from(uplink) << 7;
    let streams = u16::from(frame.mode.streams);
    let known_unit = known[1] | resource_unit(frame);
    // The STA-ID of the user of an HE MU PPDU: the AID of the station.
    let user = frame.to.filter(|_| frame.sig_b.is_some());
    let station = user.map_or(0, |station| (station as u16) << 4);
    let known = known[0] | if user.is_some() { 0x800 } else { 0 };
    [known | format, known_unit, direction | mcs | coding, station, width | guard << 4, streams]
}

/// The field HE-MU: HE-SIG-B, and the codes of the resource units in its content channels, of which
/// the first has those of the odd 20 MHz.
fn he_mu(sig_b: &SigB, mode: &FrameMode) -> [u8; 12] {
    let width_mhz = mode.width_mhz;
    let (is_wide, has_middle) = (width_mhz > 20, width_mhz >= 80);
    let width = match width_mhz {
        40 => 1,
        80 => 2,
        160 => 3,
        _ => 0_u16,
    };
    let flag = |is_set: bool, bit: u16| if is_set { bit } else { 0 };
    let has_codes = sig_b.codes.is_some();
    // At 80 MHz both content channels say the same of the tones in the middle.
    let middle = [sig_b.middle[0], sig_b.middle[usize::from(width_mhz == 160)]];
    // Known: MCS, dual carrier modulation, codes, compression, symbols.
    let first = u16::from(sig_b.mcs)
        | 0x10
        | flag(sig_b.dual_carrier, 0x20)
        | 0x40
        | flag(has_middle && has_codes, 0x80 | 0x1000)
        | flag(has_codes, 0x100)
        | flag(has_codes && is_wide, 0x200)
        | flag(middle[0], 0x2000)
        | 0x4000
        | 0x8000;
    // Known: bandwidth, and that nothing is punctured, if so; symbols less one. What is punctured
    // has the code of 20 MHz without resource units. Radiotap has two bits for it, and does not say
    // what they mean.
    let second = width
        | 0x04
        | flag(mode.punctured.is_none(), 0x400)
        | flag(!has_codes, 0x08)
        | u16::from(sig_b.symbols.saturating_sub(1).min(15)) << 4
        | flag(middle[1], 0x800);
    let mut field = [0; 12];
    field[..2].copy_from_slice(&first.to_le_bytes());
    field[2..4].copy_from_slice(&second.to_le_bytes());
    let codes = sig_b.codes.unwrap_or_default();
    let segments = usize::from(width_mhz / 20);
    for (nth, code) in codes.into_iter().take(segments).enumerate() {
        field[4 + 4 * (nth % 2) + nth / 2] = code;
    }
    field
}

/// Where a resource unit is: its place within 80 MHz, and in which 80 MHz of 160, of which the
/// lower one is the primary.
fn resource_unit(frame: &Frame) -> u16 {
    const OFFSET_KNOWN: u16 = 0x4000;
    const SEGMENT_KNOWN: u16 = 1;
    const SECONDARY: u16 = 0x8000;
    let (Some(tones), Some(index)) = (frame.mode.tones, frame.mode.ru_index) else { return 0 };
    let in_80 = match tones {
        26 => 37,
        52 => 16,
        106 => 8,
        242 => 4,
        484 => 2,
        _ => 1,
    };
    let segment = match (frame.mode.width_mhz, tones) {
        (160, ..=996) => SEGMENT_KNOWN | if index >= in_80 { SECONDARY } else { 0 },
        _ => 0,
    };
    OFFSET_KNOWN | (index % in_80) << 8 | segment
}

/// The TLV fields U-SIG and EHT of an EHT MU PPDU to a single user.
fn eht(frame: &Frame, uplink: bool) -> [u32; 16] {
    const U_SIG: u32 = 33;
    const EHT: u32 = 34;
    let tlv = |kind: u32, words: u32| kind | (4 * words) << 16;
    let width = match frame.mode.width_mhz {
        40 => 1,
        80 => 2,
        160 => 3,
        // A channel of 320-1.
        320 => 4,
        _ => 0,
    };
    let guard = match frame.mode.guard_ns {
        1600 => 1,
        3200 => 2,
        _ => 0,
    };
    // Known: PHY version, which is 0, bandwidth, direction.
    let common = 0x01 | 0x02 | 0x04 | width << 15 | u32::from(uplink) << 18;
    // Of punctured channels: PPDU Type And Compression Mode, EHT SU, and Punctured Channel
    // Information.
    let (pattern, patterned, unit) = match frame.mode.punctured {
        Some(PuncturedChannels { subchannels, information }) => {
            let left_out = subchannels.count_ones();
            let value = 1 << 6 | u32::from(information) << 9;
            (value, 0xc0 | 0x3e00, multiple_unit(frame.mode.width_mhz, left_out))
        }
        None => (0, 0, None),
    };
    // Known: RU/MRU Size.
    let (of_unit, unit) = unit.map_or((0, 0), |unit| (0x40_0000, unit));
    // Known: guard interval; of the user: MCS, coding, streams; it is that of the data.
    let (known, data, user) = (0x04 | of_unit, guard << 7, 0x02 | 0x04 | 0x10 | 0x80);
    let mcs = u32::from(frame.mode.mcs.unwrap_or(0)) << 20;
    let streams = u32::from(frame.mode.streams - 1) << 24;
    let user = user | u32::from(frame.mode.ldpc) << 19 | mcs | streams;
    let [u_sig, of_eht] = [tlv(U_SIG, 3), tlv(EHT, 11)];
    [u_sig, common, pattern, patterned, of_eht, known, data, unit, 0, 0, 0, 0, 0, 0, 0, user]
}

/// RU/MRU Size of the field EHT, by the width of the channel and how many 20 MHz are punctured.
fn multiple_unit(width_mhz: u16, left_out: u32) -> Option<u32> {
    match (width_mhz, left_out) {
        // 484+242, 996+484 and 996+484+242 tones.
        (80, 1) => Some(10),
        (160, 2) => Some(11),
        (160, 1) => Some(12),
        // 2x996+484, 3x996 and 3x996+484.
        (320, 6) => Some(13),
        (320, 4) => Some(14),
        (320, 2) => Some(15),
        _ => None,
    }
}

fn align(to: usize, out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(to), 0);
}
