//! The IPv4 header (RFC 791 section 3.1): where its fields stand, and the Internet checksum.

/// Bytes of a header without options.
pub const HEADER: usize = 20;
/// Where Type of Service, Total Length, Identification, flags with Fragment Offset, Protocol,
/// Header Checksum, and the two addresses stand.
pub const SERVICES: usize = 1;
/// See `SERVICES`.
pub const LENGTH: usize = 2;
/// See `SERVICES`.
pub const IDENTIFICATION: usize = 4;
/// See `SERVICES`.
pub const FRAGMENT: usize = 6;
/// See `SERVICES`.
pub const PROTOCOL: usize = 9;
/// See `SERVICES`.
pub const CHECKSUM: usize = 10;
/// See `SERVICES`.
pub const SOURCE: usize = 12;
/// See `SERVICES`.
pub const DESTINATION: usize = 16;

/// The 16 bits at a place, in network order.
pub fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Writes 16 bits at a place, in network order.
pub fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// An Internet checksum in progress (RFC 1071). Everything that is added begins at an even offset.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u32);

impl Sum {
    /// Adds bytes; an odd last byte is padded with a zero.
    pub fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            self.word(u16::from_be_bytes([pair[0], low]));
        }
    }

    /// Adds a number of 16 bits.
    pub fn word(&mut self, word: u16) {
        self.0 += u32::from(word);
    }

    /// The checksum.
    pub fn value(self) -> u16 {
        let once = (self.0 & 0xffff) + (self.0 >> 16);
        !((once & 0xffff) + (once >> 16)) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_internet_checksum_is_that_of_rfc_1071() {
        // RFC 1071 section 3: the sum is ddf2.
        let mut sum = Sum::default();
        sum.add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.value(), !0xddf2);
    }

    #[test]
    fn an_odd_byte_is_the_upper_half_of_a_word() {
        let mut sum = Sum::default();
        sum.add(&[0x00, 0x01, 0xf2]);
        assert_eq!(sum.value(), !0xf201);
    }
}
