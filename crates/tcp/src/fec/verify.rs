//! A block decoded in earnest: a systematic Reed-Solomon code over the very bytes.
//!
//! The simulator counts units and carries no bytes. Here each byte is made from its sequence
//! number, parity is computed as a sender would, and the units that have arrived, and no others,
//! are given to the decoder.

use reed_solomon_simd::{decode, encode};

use super::MOST_UNITS;

/// Which units of a block have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shards {
    bits: [u64; 4],
}

impl Shards {
    /// Adds a unit; whether it is new.
    pub(crate) fn insert(&mut self, index: u8) -> bool {
        let (word, bit) = (usize::from(index) / 64, 1 << (index % 64));
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        new
    }

    /// Takes a unit out.
    pub(crate) fn remove(&mut self, index: u8) {
        self.bits[usize::from(index) / 64] &= !(1 << (index % 64));
    }

    /// Whether a unit is among them.
    pub(crate) fn has(&self, index: u8) -> bool {
        self.bits[usize::from(index) / 64] & (1 << (index % 64)) != 0
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u32 {
        self.bits.iter().map(|word| word.count_ones()).sum()
    }

    /// How many there are that are not among `others`.
    pub(crate) fn beside(&self, others: &Self) -> u32 {
        self.bits.iter().zip(&others.bits).map(|(a, b)| (a & !b).count_ones()).sum()
    }
}

/// Whether the units that have arrived give a block back, byte by byte: the one of `span` bytes in
/// `data` units that begins at this sequence number.
pub(crate) fn recovers(start: u64, span: u64, data: u8, arrived: &Shards) -> bool {
    let sent = units(start, span, data);
    recovered(&sent, arrived).is_some_and(|got| got == sent)
}

/// The data units of a block, as the application wrote them; the last is filled up.
fn units(start: u64, span: u64, data: u8) -> Vec<Vec<u8>> {
    let size = span.div_ceil(u64::from(data));
    // The code works on words of two bytes.
    let width = size.next_multiple_of(2);
    let byte = |unit: u64, i: u64| {
        let place = unit * size + i;
        if i < size && place < span { byte_at(start + place) } else { 0 }
    };
    (0..u64::from(data)).map(|unit| (0..width).map(|i| byte(unit, i)).collect()).collect()
}

/// The byte at this sequence number: any function that neither repeats nor is linear will do.
fn byte_at(seq: u64) -> u8 {
    let mixed = (seq ^ (seq >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 56) as u8
}

/// What the decoder makes of the units that have arrived, data and parity.
fn recovered(sent: &[Vec<u8>], arrived: &Shards) -> Option<Vec<Vec<u8>>> {
    let (data, most) = (sent.len(), MOST_UNITS as usize);
    let parity = encode(data, most - data, sent).ok()?;
    let here = |&index: &usize| arrived.has(index as u8);
    let originals = (0..data).filter(here).map(|index| (index, &sent[index]));
    let others = (data..most).filter(here).map(|index| (index - data, &parity[index - data]));
    let mut restored = decode(data, most - data, originals, others).ok()?;
    (0..data)
        .map(|index| if here(&index) { Some(sent[index].clone()) } else { restored.remove(&index) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shards(indices: &[u8]) -> Shards {
        let mut shards = Shards::default();
        assert!(indices.iter().all(|&index| shards.insert(index)));
        shards
    }

    #[test]
    fn any_units_do_and_one_less_does_not() {
        assert!(recovers(1, 400, 4, &shards(&[0, 1, 2, 3])));
        assert!(recovers(1, 400, 4, &shards(&[1, 4, 200, 254])));
        assert!(!recovers(1, 400, 4, &shards(&[1, 4, 200])));
        assert!(recovers(77, 1, 1, &shards(&[13])), "one byte, and any copy of it");
        assert!(!recovers(77, 1, 1, &shards(&[])));
    }

    #[test]
    fn a_byte_that_changed_on_its_way_is_noticed() {
        let sent = units(1, 401, 4);
        let got = recovered(&sent, &shards(&[0, 1, 5, 9])).unwrap();
        assert_eq!(got, sent);
        let mut changed = sent.clone();
        changed[1][7] ^= 1;
        assert_ne!(recovered(&changed, &shards(&[0, 1, 5, 9])).unwrap(), sent);
    }

    #[test]
    fn bytes_look_random() {
        let ones: u32 = (1..=8000).map(|seq| byte_at(seq).count_ones()).sum();
        assert!((31_000..33_000).contains(&ones), "{ones} of 64000");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn data_comes_back_from_any_k_units(
            (data, indices) in (1..=100u8).prop_flat_map(|data| {
                let all: Vec<u8> = (0..=254).collect();
                (Just(data), prop::sample::subsequence(all, usize::from(data)))
            }),
            start in 1..1_000_000u64,
            size in 1..200u64,
            short in 0..200u64,
        ) {
            let k = u64::from(data);
            let span = (k * size - short.min(size - 1)).max(1);
            let data = span.div_ceil(span.div_ceil(k)) as u8;
            let indices = &indices[..usize::from(data)];
            prop_assert!(recovers(start, span, data, &shards(indices)));
            prop_assert_eq!(shards(indices).len(), u32::from(data));
        }
    }
}
