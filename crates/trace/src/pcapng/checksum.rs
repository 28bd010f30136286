//! The CRC-32 of the FCS (802.11-2020 clause 9.2.4.8). A run of zeros costs a constant time,
//! however long it is.

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
}
