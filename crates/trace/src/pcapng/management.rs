//! Frames of the MAC that carry no packet; `wire::Management` has what differs between them.

use super::FCS;
use super::addresses::{Addresses, of_radio};
use super::dot11;
use crate::{Format, Frame, Mpdu};
use kernel::Bytes;
use wire::{Capture, Management, Rates};

/// The ID of a vendor-specific element (802.11-2020 table 9-92).
const ELEMENT_VENDOR: u8 = 221;
/// The longest element, and the shortest vendor-specific one, with their two bytes of header.
const LONGEST: usize = 257;
const SHORTEST_VENDOR: usize = 5;

/// Appends a frame without its FCS.
pub(super) fn write(
    frame: &Frame,
    mpdu: &Mpdu,
    of: Management,
    addresses: &Addresses,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    dot11::of_mac(frame, mpdu, of, addresses, out);
    let is_dsss = matches!(frame.mode.format, Format::Dsss { .. });
    let capture = Capture {
        rates: if is_dsss { Rates::Dsss } else { Rates::Ofdm },
        timestamp_us: timestamp_us(frame),
        receiver: frame.to.unwrap_or(frame.from),
        address: of_radio,
    };
    of.fields(&capture, out);
    fill(start + (mpdu.bytes.0 as usize).saturating_sub(FCS), out);
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

/// Appends vendor-specific elements of zeros up to this length.
fn fill(until: usize, out: &mut Vec<u8>) {
    while let Some(left) = until.checked_sub(out.len()).filter(|&left| left >= SHORTEST_VENDOR) {
        let mut length = left.min(LONGEST);
        if (1..SHORTEST_VENDOR).contains(&(left - length)) {
            length -= SHORTEST_VENDOR;
        }
        out.extend([ELEMENT_VENDOR, (length - 2) as u8]);
        out.extend(&[0; LONGEST][..length - 2]);
    }
}
