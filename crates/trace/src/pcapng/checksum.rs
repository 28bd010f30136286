//! Checksums: the CRC-32 of the FCS (802.11-2020 clause 9.2.4.8) and the Internet checksum (RFC
//! 1071). A run of zeros costs both a constant time, however long it is.

/// The polynomial of the FCS, least significant bit first.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// The CRC after one byte.
const BYTE: [u32; 256] = byte_table();
/// What each bit of a CRC becomes after 2^k zero bytes, for each k. The CRC of zeros is linear.
static ZEROS: [[u32; 32]; 17] = zeros_tables();

/// A CRC-32 in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crc(u32);

impl Crc {
    /// Before the first byte.
    pub(super) const START: Self = Self(u32::MAX);

    /// Adds bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 >> 8 ^ BYTE[usize::from(self.0 as u8 ^ byte)];
        }
    }

    /// Adds so many zero bytes, fewer than 2^17.
    pub(super) fn add_zeros(&mut self, count: usize) {
        for (k, table) in ZEROS.iter().enumerate() {
            if count >> k & 1 == 1 {
                self.0 = after(table, self.0);
            }
        }
    }

    /// The four bytes of the FCS.
    pub(super) fn fcs(self) -> [u8; 4] {
        (!self.0).to_le_bytes()
    }
}

/// An Internet checksum in progress. Everything that is added begins at an even offset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum(u32);

impl Sum {
    /// Adds bytes; an odd last byte is padded with a zero.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            self.word(u16::from_be_bytes([pair[0], low]));
        }
    }

    /// Adds a number of 16 bits.
    pub(super) fn word(&mut self, word: u16) {
        self.0 += u32::from(word);
    }

    /// The checksum.
    pub(super) fn value(self) -> u16 {
        let once = (self.0 & 0xffff) + (self.0 >> 16);
        !((once & 0xffff) + (once >> 16)) as u16
    }
}

const fn byte_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

const fn after(table: &[u32; 32], mut crc: u32) -> u32 {
    let mut result = 0;
    while crc != 0 {
        result ^= table[crc.trailing_zeros() as usize];
        crc &= crc - 1;
    }
    result
}

const fn zeros_tables() -> [[u32; 32]; 17] {
    let mut all = [[0; 32]; 17];
    let mut power = 0;
    while power < 17 {
        let mut bit = 0;
        while bit < 32 {
            let crc = 1 << bit;
            all[power][bit] = if power == 0 {
                crc >> 8 ^ BYTE[(crc & 0xff) as usize]
            } else {
                after(&all[power - 1], after(&all[power - 1], crc))
            };
            bit += 1;
        }
        power += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_of_the_digits_is_the_published_check_value() {
        // The check value of CRC-32 (ISO-HDLC) in the catalogue of parametrised CRC algorithms.
        let mut crc = Crc::START;
        crc.add(b"123456789");
        assert_eq!(crc.fcs(), 0xcbf4_3926_u32.to_le_bytes());
    }

    #[test]
    fn a_run_of_zeros_counts_like_its_bytes() {
        for count in [0, 1, 7, 1460, 65_536, 131_071] {
            let (mut short, mut long) = (Crc::START, Crc::START);
            short.add(b"header");
            long.add(b"header");
            short.add_zeros(count);
            long.add(&vec![0; count]);
            assert_eq!(short.fcs(), long.fcs(), "{count} zeros");
        }
    }

    #[test]
    fn the_internet_checksum_is_that_of_rfc_1071() {
        // RFC 1071 section 3: the sum is ddf2.
        let mut sum = Sum::default();
        sum.add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.value(), !0xddf2);
    }
}
