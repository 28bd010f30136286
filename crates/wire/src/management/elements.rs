//! What frames of the MAC have in common in a capture.

/// The name of all networks.
const SSID: &[u8] = b"simoom";
/// Bit ESS of the Capability Information field.
const ESS: u16 = 1;
/// Element IDs (802.11-2020 table 9-92).
const ELEMENT_SSID: u8 = 0;
const ELEMENT_RATES: u8 = 1;
/// Supported rates in units of 500 kb/s; bit 7 marks those that are basic by default.
const DSSS: &[u8] = &[0x82, 0x84, 0x0b, 0x16];
const OFDM: &[u8] = &[0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c];

/// The bytes of the element with the SSID, with its header.
pub(super) const SSID_BYTES: u64 = 2 + SSID.len() as u64;

/// The rates that a network announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rates {
    /// Those of DSSS.
    Dsss,
    /// Those of OFDM.
    Ofdm,
}

impl Rates {
    const fn of(self) -> &'static [u8] {
        match self {
            Self::Dsss => DSSS,
            Self::Ofdm => OFDM,
        }
    }

    /// The bytes of the element with the rates, with its header.
    pub(super) const fn bytes(self) -> u64 {
        2 + self.of().len() as u64
    }
}

/// What a capture knows of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Capture {
    /// The rates of the network.
    pub rates: Rates,
    /// The field Timestamp.
    pub timestamp_us: u64,
    /// The radio that receives the frame; of a broadcast, that which sends it.
    pub receiver: u32,
    /// The MAC address of a radio.
    pub address: fn(u32) -> [u8; 6],
}

/// Appends the Capability Information field.
pub(super) fn capabilities(out: &mut Vec<u8>) {
    out.extend(ESS.to_le_bytes());
}

/// Appends the element with the SSID.
pub(super) fn ssid(out: &mut Vec<u8>) {
    element(ELEMENT_SSID, SSID, out);
}

/// Appends the element with the supported rates.
pub(super) fn rates(capture: &Capture, out: &mut Vec<u8>) {
    element(ELEMENT_RATES, capture.rates.of(), out);
}

/// Appends an element.
pub(super) fn element(id: u8, content: &[u8], out: &mut Vec<u8>) {
    out.extend([id, content.len() as u8]);
    out.extend(content);
}
