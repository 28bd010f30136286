//! The bitmap of a BlockAck frame: which of up to 256 MPDUs were received (clause 9.3.1.8).

use kernel::Bytes;
use wire::BlockAck;

/// Sequence numbers have twelve bits (clause 9.2.4.4.2).
pub(crate) const SEQUENCES: u16 = 1 << 12;

/// The distance of `sequence` from `start`, modulo 4096.
pub(crate) fn distance(start: u16, sequence: u16) -> u16 {
    sequence.wrapping_sub(start) % SEQUENCES
}

/// The sequence number at this distance after `start`.
pub(crate) fn after(start: u16, distance: u16) -> u16 {
    start.wrapping_add(distance) % SEQUENCES
}

/// The bitmap of a BlockAck frame. Bit *i* acknowledges the MPDU with the starting sequence number
/// plus *i*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bitmap([u64; 4]);

impl Bitmap {
    /// The number of bits of a bitmap.
    pub const LEN: u16 = 256;

    /// Whether no bit is set.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// A bitmap whose first `count` bits are set.
    pub(crate) fn ones(count: u16) -> Self {
        if count < 64 {
            return Self([(1 << count) - 1, 0, 0, 0]);
        }
        let word = |i: u16| match count.saturating_sub(64 * i) {
            0 => 0,
            n if n >= 64 => u64::MAX,
            n => (1 << n) - 1,
        };
        Self([word(0), word(1), word(2), word(3)])
    }

    /// Whether a bit is set. Bits beyond the end are not.
    pub fn has(&self, bit: u16) -> bool {
        self.0.get(usize::from(bit / 64)).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// What a BlockAck of this length says that begins at a sequence number: its bitmap has 64 bits
    /// in a frame of 32 bytes, else 256 (clause 9.3.1.8.3).
    pub(crate) fn record(&self, start: u16, psdu: Bytes) -> BlockAck {
        BlockAck { start, bitmap: self.0, bits: if psdu.0 <= 32 { 64 } else { 256 } }
    }

    pub(crate) fn set(&mut self, bit: u16) {
        self.0[usize::from(bit / 64)] |= 1 << (bit % 64);
    }

    /// The number of bits that are set.
    pub fn count(&self) -> u32 {
        if self.is_empty() {
            return 0;
        }
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The number of bits that are set before the first one that is not.
    pub(crate) fn leading_ones(&self) -> u16 {
        let mut count = 0;
        for word in self.0 {
            count += word.trailing_ones() as u16;
            if word != u64::MAX {
                break;
            }
        }
        count
    }

    /// Removes the first `by` bits and shifts the others down.
    pub(crate) fn drop_first(&mut self, by: u16) {
        let (words, bits) = (usize::from(by / 64), by % 64);
        let word = |i: usize| self.0.get(i).copied().unwrap_or(0);
        self.0 = [0, 1, 2, 3].map(|i| {
            let low = word(i + words) >> bits;
            if bits == 0 { low } else { low | word(i + words + 1) << (64 - bits) }
        });
    }

    /// Shifts all bits up by `by` places and sets the first `by` bits. Bits beyond the end are
    /// lost.
    pub(crate) fn put_ones_first(&mut self, by: u16) {
        let (words, bits) = (usize::from(by / 64), by % 64);
        let word = |i: Option<usize>| i.and_then(|i| self.0.get(i)).copied().unwrap_or(0);
        let ones = Self::ones(by);
        self.0 = [0, 1, 2, 3].map(|i: usize| {
            let high = word(i.checked_sub(words)) << bits;
            let below = word(i.checked_sub(words + 1));
            high | if bits == 0 { 0 } else { below >> (64 - bits) } | ones.0[i]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequence_numbers_wrap() {
        assert_eq!(distance(4095, 2), 3);
        assert_eq!(distance(2, 4095), 4093);
        assert_eq!(after(4090, 10), 4);
    }

    fn bools(bitmap: &Bitmap) -> Vec<bool> {
        (0..Bitmap::LEN).map(|bit| bitmap.has(bit)).collect()
    }

    proptest! {
        #[test]
        fn bits_move_together(set in prop::collection::vec(0u16..256, 0..200), by in 0u16..=256) {
            let mut bitmap = Bitmap::default();
            for &bit in &set {
                bitmap.set(bit);
            }
            let before = bools(&bitmap);
            prop_assert_eq!(bitmap.count() as usize, before.iter().filter(|&&set| set).count());
            let run = before.iter().position(|&set| !set).unwrap_or(256);
            prop_assert_eq!(usize::from(bitmap.leading_ones()), run);
            let by_usize = usize::from(by);
            let mut dropped = bitmap;
            dropped.drop_first(by);
            let kept = before[by_usize..].iter().copied();
            let expected: Vec<bool> = kept.chain(std::iter::repeat_n(false, by_usize)).collect();
            prop_assert_eq!(bools(&dropped), expected);
            let mut grown = bitmap;
            grown.put_ones_first(by);
            let ones = std::iter::repeat_n(true, by_usize);
            let expected: Vec<bool> = ones.chain(before).take(256).collect();
            prop_assert_eq!(bools(&grown), expected);
            prop_assert_eq!(bools(&Bitmap::ones(by)), bools(&{
                let mut ones = Bitmap::default();
                ones.put_ones_first(by);
                ones
            }));
        }
    }
}
