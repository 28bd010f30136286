//! The rows of a block in little space, column by column.
//!
//! A column of few values is a table of them, and the place of each row's in it. Of others each
//! value is the difference from that of the row before, or of the one before it, whichever takes
//! less: folded to a number without a sign, as a Rice code (Rice and Plaunt 1971), its upper bits
//! as so many ones and a zero, then its lower bits.

use super::index::damaged;
use std::io;

/// A number with so many ones is written whole after them.
const MOST_ONES: u32 = 20;
/// The most lower bits: with the ones before them a reader holds a code.
const MOST_LOWER: u32 = 32;
/// How a column with a table begins; of others, by the number of lower bits.
const TABLE: u32 = 255;
/// Added to the number of lower bits if values differ from those of the row before the last.
const SECOND: u32 = 64;
/// The most values in a table.
const MOST_VALUES: usize = 64;

/// Appends rows, whose columns have these widths in bytes.
pub(super) fn pack(rows: &[u8], widths: &[usize], out: &mut Vec<u8>) {
    let size = widths.iter().sum();
    let mut bits = Writer { out, held: 0, count: 0 };
    let mut values = Vec::new();
    let mut folded = [Vec::new(), Vec::new()];
    let mut at = 0;
    for &width in widths {
        values.clear();
        values.extend(rows.chunks_exact(size).map(|row| number(&row[at..at + width])));
        at += width;
        let whole = 8 * width as u32;
        for (lag, own) in (1..).zip(&mut folded) {
            let before = std::iter::repeat_n(0, lag).chain(values.iter().copied());
            let differences = values.iter().zip(before);
            own.clear();
            own.extend(differences.map(|(value, before)| fold(value.wrapping_sub(before), width)));
        }
        let [first, second] = [0, 1].map(|n| lower_bits(&folded[n], whole));
        let (cost, lower) = first.min(second);
        let table = Values::of(&values);
        let room = |table: &Values| {
            table.found.len() as u64 * u64::from(whole)
                + values.len() as u64 * u64::from(bits_of(table.found.len()))
        };
        if let Some(table) = table.filter(|table| room(table) < cost) {
            bits.put(u64::from(TABLE), 8);
            bits.put(table.found.len() as u64, 8);
            for &value in &table.found {
                bits.put_long(value, whole);
            }
            let each = bits_of(table.found.len());
            for &value in &values {
                bits.put(table.place(value) as u64, each);
            }
        } else {
            let is_second = second < first;
            bits.put(u64::from(lower + u32::from(is_second) * SECOND), 8);
            for &number in &folded[usize::from(is_second)] {
                bits.put_rice(number, lower, whole);
            }
        }
    }
    bits.end();
}

/// Reads so many rows, as they were before they were packed.
///
/// # Errors
/// These are not the bytes of so many rows.
pub(super) fn unpack(packed: &[u8], count: usize, widths: &[usize]) -> io::Result<Vec<u8>> {
    let size: usize = widths.iter().sum();
    let mut bits = Reader { rest: packed, held: 0, count: 0 };
    let mut rows = vec![0; count * size];
    let mut at = 0;
    for &width in widths {
        let whole = 8 * width as u32;
        let head = bits.take(8)? as u32;
        let column = at..at + width;
        let own = rows.chunks_exact_mut(size).map(|row| &mut row[column.clone()]);
        at += width;
        if head == TABLE {
            let count = bits.take(8)? as usize;
            let table =
                (0..count).map(|_| bits.take_long(whole)).collect::<io::Result<Vec<_>>>()?;
            let each = bits_of(count);
            for place in own {
                let value = table.get(bits.take(each)? as usize).ok_or_else(damaged)?;
                place.copy_from_slice(&value.to_le_bytes()[..width]);
            }
            continue;
        }
        let (lower, lag) = (head % SECOND, (head / SECOND) as usize);
        if lower > MOST_LOWER || lag > 1 {
            return Err(damaged());
        }
        let mut before = [0u64; 2];
        for place in own {
            let value = before[lag].wrapping_add(unfold(bits.rice(lower, whole)?));
            before = [value, before[0]];
            place.copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }
    if bits.is_at_end() { Ok(rows) } else { Err(damaged()) }
}

fn number(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

/// A difference of numbers of a width, so that small ones of both signs are small.
fn fold(difference: u64, width: usize) -> u64 {
    let above = 64 - 8 * width as u32;
    let signed = ((difference << above) as i64) >> above;
    ((signed << 1) ^ (signed >> 63)) as u64
}

fn unfold(folded: u64) -> u64 {
    (folded >> 1) ^ (folded & 1).wrapping_neg()
}

/// How many bits the place in a table takes.
fn bits_of(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// About how many bits the codes of numbers take, and with how many lower bits that is least.
fn lower_bits(numbers: &[u64], whole: u32) -> (u64, u32) {
    let mut lengths = [0u64; 65];
    for number in numbers {
        lengths[64 - number.leading_zeros() as usize] += 1;
    }
    let code = |length: u32, lower: u32| match length.saturating_sub(lower) {
        0 => 1 + lower,
        // The mean of the numbers of this length.
        above @ 1..=4 => (3 << above) / 4 + 1 + lower,
        _ => MOST_ONES + whole,
    };
    let known: Vec<_> = (0u32..).zip(lengths).filter(|&(_, count)| count > 0).collect();
    let total = |lower: u32| -> u64 {
        known.iter().map(|&(length, count)| count * u64::from(code(length, lower))).sum()
    };
    (0..=MOST_LOWER).map(|lower| (total(lower), lower)).min().expect("there are some")
}

/// The different values of a column, if they are few, with their places by a hash.
struct Values {
    found: Vec<u64>,
    slots: [u8; 256],
}

impl Values {
    fn of(values: &[u64]) -> Option<Self> {
        let mut own = Self { found: Vec::new(), slots: [u8::MAX; 256] };
        for &value in values {
            let slot = own.slot(value);
            if own.slots[slot] == u8::MAX {
                if own.found.len() == MOST_VALUES {
                    return None;
                }
                own.slots[slot] = own.found.len() as u8;
                own.found.push(value);
            }
        }
        Some(own)
    }

    /// The slot of a value: that in which it is, or an empty one.
    fn slot(&self, value: u64) -> usize {
        let mut slot = (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        while self.slots[slot] != u8::MAX && self.found[usize::from(self.slots[slot])] != value {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }

    fn place(&self, value: u64) -> usize {
        usize::from(self.slots[self.slot(value)])
    }
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    held: u64,
    count: u32,
}

impl Writer<'_> {
    /// Writes at most 32 bits, the lowest first.
    fn put(&mut self, value: u64, bits: u32) {
        self.held |= value << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.out.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    fn put_long(&mut self, value: u64, bits: u32) {
        let low = bits.min(32);
        self.put(value & ((1 << low) - 1), low);
        if bits > 32 {
            self.put(value >> 32, bits - 32);
        }
    }

    fn put_rice(&mut self, number: u64, lower: u32, whole: u32) {
        let upper = number >> lower;
        if upper < u64::from(MOST_ONES) {
            self.put((1 << upper) - 1, upper as u32 + 1);
            self.put(number & ((1 << lower) - 1), lower);
        } else {
            self.put((1 << MOST_ONES) - 1, MOST_ONES);
            self.put_long(number, whole);
        }
    }

    fn end(&mut self) {
        if self.count > 0 {
            self.out.push(self.held as u8);
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    held: u64,
    count: u32,
}

impl Reader<'_> {
    /// Holds at least 56 bits, as far as there are any; zeros follow.
    fn fill(&mut self) {
        while self.count <= 56 {
            let Some((&byte, rest)) = self.rest.split_first() else { return };
            self.held |= u64::from(byte) << self.count;
            self.count += 8;
            self.rest = rest;
        }
    }

    /// Reads at most 32 bits.
    fn take(&mut self, bits: u32) -> io::Result<u64> {
        self.fill();
        self.held_bits(bits)
    }

    /// Reads bits that are held.
    fn held_bits(&mut self, bits: u32) -> io::Result<u64> {
        let value = self.held & ((1 << bits) - 1);
        self.count = self.count.checked_sub(bits).ok_or_else(damaged)?;
        self.held >>= bits;
        Ok(value)
    }

    fn take_long(&mut self, bits: u32) -> io::Result<u64> {
        let low = self.take(bits.min(32))?;
        Ok(if bits > 32 { low | self.take(bits - 32)? << 32 } else { low })
    }

    fn rice(&mut self, lower: u32, whole: u32) -> io::Result<u64> {
        self.fill();
        let ones = self.held.trailing_ones();
        if ones >= MOST_ONES {
            self.held_bits(MOST_ONES)?;
            return self.take_long(whole);
        }
        self.held_bits(ones + 1)?;
        Ok(u64::from(ones) << lower | self.held_bits(lower)?)
    }

    /// Whether nothing is left but the end of the last byte.
    fn is_at_end(&self) -> bool {
        self.rest.is_empty() && self.count < 8 && self.held == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(rows: &[u8], widths: &[usize]) -> Vec<u8> {
        let mut out = Vec::new();
        pack(rows, widths, &mut out);
        out
    }

    #[test]
    fn rows_are_as_before_whatever_they_have() {
        let widths = [8, 4, 1, 2, 8];
        let mut rows = Vec::new();
        for n in 0..300u64 {
            let value = [0, 1, u64::MAX, 1 << 63, n * n * 977][(n % 5) as usize];
            rows.extend_from_slice(&value.to_le_bytes());
            rows.extend_from_slice(&[u32::MAX, 3, 7][(n / 50 % 3) as usize].to_le_bytes());
            rows.push((n * 91) as u8);
            rows.extend_from_slice(&(n as u16).wrapping_mul(40_503).to_le_bytes());
            rows.extend_from_slice(&(u64::MAX - 5).to_le_bytes());
        }
        for count in [0, 1, 2, 3, 300] {
            let own = &rows[..count * 23];
            assert_eq!(unpack(&packed(own, &widths), count, &widths).unwrap(), own);
        }
    }

    #[test]
    fn what_hardly_changes_takes_little() {
        let constant: Vec<u8> = (0..1000u32).flat_map(|_| 7u32.to_le_bytes()).collect();
        assert_eq!(packed(&constant, &[4]).len(), 2 + 4);
        // Steps of 5 to 8, folded to 10 to 16: two lower bits, and up to five above.
        let rising: Vec<u8> = (0..1000u32)
            .scan(0, |sum, n| {
                *sum += 5 + n * n % 4;
                Some(*sum)
            })
            .flat_map(u32::to_le_bytes)
            .collect();
        assert!(packed(&rising, &[4]).len() < 1000);
        // A few values at random: two bits for each of four.
        let few: Vec<u8> =
            (0..1000u32).flat_map(|n| (1u32 << (n * 7 % 13 % 4 * 9)).to_le_bytes()).collect();
        assert_eq!(packed(&few, &[4]).len(), 2 + 4 * 4 + 1000 / 4);
    }

    #[test]
    fn what_is_not_the_bytes_of_so_many_rows_is_damaged() {
        let rows: Vec<u8> = (0..100u32).map(|n| (n * n % 31) as u8).collect();
        let good = packed(&rows, &[1]);
        assert!(unpack(&good, 100, &[1]).is_ok());
        for (bytes, count) in [(&good[..], 60), (&good[..], 140), (&good[..20], 100)] {
            assert!(unpack(bytes, count, &[1]).is_err());
        }
        assert!(unpack(&[40, 0], 1, &[1]).is_err(), "too many lower bits");
        assert!(unpack(&[0xff; 20], 1, &[1]).is_err(), "more bytes than rows");
    }
}
