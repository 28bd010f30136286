//! Beacons (802.11-2020 clauses 9.3.3.2 and 9.4.2).

use super::elements::{self, SSID_BYTES};
use super::{Capture, HEADER, MacFrame, Rates};
use crate::FrameKind;
use std::fmt::Write;

const ELEMENT_TIM: u8 = 5;

/// A beacon of an access point: what changes from beacon to beacon, or differs between networks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beacon {
    /// The time between two TBTTs in time units of 1024 us (clause 9.4.1.3).
    pub interval: u16,
    /// After how many further beacons the next DTIM comes; 0: this one is a DTIM (clause 9.4.2.5).
    pub dtim_count: u8,
    /// How many beacon intervals lie between two DTIMs.
    pub dtim_period: u8,
    /// The stations for which the access point buffers frames: bit n stands for the AID n + 1.
    pub tim: u64,
    /// Whether the access point buffers group addressed frames, which follow the DTIM.
    pub has_group: bool,
}

impl Beacon {
    /// How many stations a TIM has room for.
    pub const STATIONS: u32 = 64;

    /// Whether the access point buffers frames for the station with this AID.
    pub const fn announces(&self, aid: u8) -> bool {
        self.tim >> (aid - 1) & 1 == 1
    }

    /// The TIM (clause 9.4.2.5): of the bitmap, whose bit 0 stands for no station, the bytes from
    /// an even one to the last that is not zero.
    fn tim(&self, out: &mut Vec<u8>) {
        let bitmap = (u128::from(self.tim) << 1).to_le_bytes();
        let is_set = |byte: &u8| *byte != 0;
        let first = bitmap.iter().position(is_set).unwrap_or(0) & !1;
        let last = bitmap.iter().rposition(is_set).unwrap_or(0);
        let control = first as u8 | u8::from(self.has_group);
        let mut content = vec![self.dtim_count, self.dtim_period, control];
        content.extend(&bitmap[first..=last]);
        elements::element(ELEMENT_TIM, &content, out);
    }
}

impl MacFrame for Beacon {
    const KIND: FrameKind = FrameKind::Beacon;

    /// The shortest beacon, whose TIM names no station. Others are as long as a scenario says.
    fn length(&self, rates: Rates) -> u64 {
        HEADER + 8 + 2 + 2 + SSID_BYTES + rates.bytes() + 6
    }

    fn tell(&self, text: &mut String) {
        if self.dtim_count == 0 {
            text.push_str("DTIM");
        } else {
            let _ = write!(text, "TIM, DTIM in {}", self.dtim_count);
        }
        for aid in (1..=Self::STATIONS as u8).filter(|&aid| self.announces(aid)) {
            let _ = write!(text, ", frames for AID {aid}");
        }
        if self.has_group {
            text.push_str(", group frames");
        }
    }

    fn fields(&self, capture: &Capture, out: &mut Vec<u8>) {
        out.extend(capture.timestamp_us.to_le_bytes());
        out.extend(self.interval.to_le_bytes());
        elements::capabilities(out);
        elements::ssid(out);
        elements::rates(capture, out);
        self.tim(out);
    }
}
