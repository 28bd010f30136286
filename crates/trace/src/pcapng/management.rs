//! Frames of the MAC that carry no packet: beacons (802.11-2020 clauses 9.3.3.2 and 9.4.2), those
//! by which stations save power, and those by which they change their access points.

use super::FCS;
use super::addresses::{Addresses, BROADCAST, of_radio};
use super::dot11;
use crate::{Format, Frame, Mpdu};
use kernel::Bytes;
use wire::{Beacon, Management};

/// The name of all networks.
const SSID: &[u8] = b"simoom";
/// The highest AID (clause 9.4.1.8).
const HIGHEST_AID: u32 = 2007;
/// Bit ESS of the Capability Information field.
const ESS: u16 = 1;
/// Element IDs (table 9-92).
const ELEMENT_SSID: u8 = 0;
const ELEMENT_RATES: u8 = 1;
const ELEMENT_TIM: u8 = 5;
const ELEMENT_VENDOR: u8 = 221;
/// The longest element, and the shortest vendor-specific one, with their two bytes of header.
const LONGEST: usize = 257;
const SHORTEST_VENDOR: usize = 5;
/// Supported rates in units of 500 kb/s; bit 7 marks those that are basic by default.
const DSSS_RATES: [u8; 4] = [0x82, 0x84, 0x0b, 0x16];
const OFDM_RATES: [u8; 8] = [0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c];

/// Appends a frame without its FCS.
pub(super) fn write(
    frame: &Frame,
    mpdu: &Mpdu,
    of: Management,
    addresses: &Addresses,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    match of {
        Management::Beacon(of) => {
            beacon(frame, mpdu, of, out);
            fill(start + (mpdu.bytes.0 as usize).saturating_sub(FCS), out);
        }
        Management::Null { .. } | Management::QosNull { .. } => {
            dot11::null(frame, mpdu, addresses, out);
        }
        Management::PsPoll(aid) => dot11::poll(frame, mpdu, aid, out),
        Management::Authentication(_)
        | Management::ReassociationRequest { .. }
        | Management::ReassociationResponse => association(frame, mpdu, of, addresses, out),
    }
}

fn beacon(frame: &Frame, mpdu: &Mpdu, of: Beacon, out: &mut Vec<u8>) {
    out.extend([0x80, 0, 0, 0]);
    out.extend(BROADCAST);
    // The address of the access point is the BSSID.
    out.extend(of_radio(frame.from));
    out.extend(of_radio(frame.from));
    out.extend((mpdu.sequence << 4).to_le_bytes());
    out.extend(timestamp_us(frame).to_le_bytes());
    out.extend(of.interval.to_le_bytes());
    out.extend(ESS.to_le_bytes());
    element(ELEMENT_SSID, SSID, out);
    rates(frame, out);
    tim(of, out);
}

/// The Timestamp field: when the data symbol with its first bit, which follows the MAC header, is
/// transmitted (clause 11.1.3.1).
fn timestamp_us(frame: &Frame) -> u64 {
    const HEADER: Bytes = Bytes(24);
    /// The field SERVICE and a symbol of OFDM (clause 17.3.2).
    const SERVICE: Bytes = Bytes(2);
    const SYMBOL: u64 = 4_000;
    let rate = frame.mode.rate;
    let before = match frame.mode.format {
        Format::Dsss { .. } => rate.time_for(HEADER).0,
        _ => rate.time_for(SERVICE + HEADER).0 / SYMBOL * SYMBOL,
    };
    (frame.payload.0 + before) / 1000
}

fn rates(frame: &Frame, out: &mut Vec<u8>) {
    match frame.mode.format {
        Format::Dsss { .. } => element(ELEMENT_RATES, &DSSS_RATES, out),
        _ => element(ELEMENT_RATES, &OFDM_RATES, out),
    }
}

/// A frame between a station and its next access point (clauses 9.3.3.7, 9.3.3.8 and 9.3.3.11).
fn association(
    frame: &Frame,
    mpdu: &Mpdu,
    of: Management,
    addresses: &Addresses,
    out: &mut Vec<u8>,
) {
    let receiver = frame.to.unwrap_or(frame.from);
    let access_point = if addresses.is_access_point(frame.from) { frame.from } else { receiver };
    let kind = match of {
        Management::Authentication(_) => 0xb0,
        Management::ReassociationRequest { .. } => 0x20,
        _ => 0x30,
    };
    out.extend([kind, if mpdu.retry { dot11::RETRY } else { 0 }]);
    out.extend(dot11::duration_us(frame).to_le_bytes());
    out.extend(of_radio(receiver));
    out.extend(of_radio(frame.from));
    out.extend(of_radio(access_point));
    out.extend((mpdu.sequence << 4).to_le_bytes());
    match of {
        // Open System, the transaction, and the status "successful".
        Management::Authentication(transaction) => out.extend([0, 0, transaction, 0, 0, 0]),
        Management::ReassociationRequest { current } => {
            out.extend(ESS.to_le_bytes());
            out.extend(1_u16.to_le_bytes());
            out.extend(of_radio(current));
            element(ELEMENT_SSID, SSID, out);
            rates(frame, out);
        }
        _ => {
            out.extend(ESS.to_le_bytes());
            out.extend(0_u16.to_le_bytes());
            // AIDs have the numbers of radios, and the two highest bits set (clause 9.4.1.8).
            out.extend((0xc000 | receiver.min(HIGHEST_AID) as u16).to_le_bytes());
            rates(frame, out);
        }
    }
}

/// The TIM (clause 9.4.2.5): of the bitmap, whose bit 0 stands for no station, the bytes from an
/// even one to the last that is not zero.
fn tim(of: Beacon, out: &mut Vec<u8>) {
    let bitmap = (u128::from(of.tim) << 1).to_le_bytes();
    let is_set = |byte: &u8| *byte != 0;
    let first = bitmap.iter().position(is_set).unwrap_or(0) & !1;
    let last = bitmap.iter().rposition(is_set).unwrap_or(0);
    let control = first as u8 | u8::from(of.has_group);
    let mut content = vec![of.dtim_count, of.dtim_period, control];
    content.extend(&bitmap[first..=last]);
    element(ELEMENT_TIM, &content, out);
}

fn element(id: u8, content: &[u8], out: &mut Vec<u8>) {
    out.extend([id, content.len() as u8]);
    out.extend(content);
}

/// Appends vendor-specific elements of zeros up to this length.
fn fill(until: usize, out: &mut Vec<u8>) {
    while let Some(left) = until.checked_sub(out.len()).filter(|&left| left >= SHORTEST_VENDOR) {
        let mut length = left.min(LONGEST);
        if (1..SHORTEST_VENDOR).contains(&(left - length)) {
            length -= SHORTEST_VENDOR;
        }
        element(ELEMENT_VENDOR, &[0; LONGEST][..length - 2], out);
    }
}
