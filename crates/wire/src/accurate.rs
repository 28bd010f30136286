//! The option of accurate ECN.

/// The `AccECN` option (RFC 9768 §3.2.3): counters of received bytes, of which up to three are
/// present, each modulo 2^24.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcn {
    /// Whether the counter of ECT(1) is the first field and that of ECT(0) the last (kind 174,
    /// order 1); otherwise the other way round (kind 172, order 0). CE is in the middle.
    pub ect1_first: bool,
    /// The fields in their order; those from `count` on are zero.
    pub fields: [u32; 3],
    /// How many fields are present, from 0 to 3.
    pub count: u8,
}

/// The counters have 24 bits.
const FIELD: u64 = (1 << 24) - 1;

impl AccEcn {
    /// An option with the first `count` fields of the counters of payload bytes with ECT(0), CE and
    /// ECT(1).
    #[inline]
    pub fn new(ect1_first: bool, count: u8, [e0b, ceb, e1b]: [u64; 3]) -> Self {
        let ordered = if ect1_first { [e1b, ceb, e0b] } else { [e0b, ceb, e1b] };
        let field = |place: u8| {
            if place < count { (ordered[usize::from(place)] & FIELD) as u32 } else { 0 }
        };
        Self { ect1_first, fields: [field(0), field(1), field(2)], count: count.min(3) }
    }

    /// The counter of payload bytes with CE, of which `before` was known (appendix A.1).
    #[inline]
    pub fn marked_after(&self, before: u64) -> u64 {
        if self.count < 2 { before } else { advance(before, self.fields[1]) }
    }

    /// The option's kind.
    pub const fn kind(&self) -> u8 {
        if self.ect1_first { 174 } else { 172 }
    }

    /// The option's length in bytes: kind, length, and three bytes a field.
    #[inline]
    pub const fn len(&self) -> u8 {
        2 + 3 * self.count
    }

    /// Whether it has no field.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The fields of ECT(0), CE and ECT(1), as far as they are present.
    pub fn counters(&self) -> [Option<u32>; 3] {
        let field = |place: u8| (place < self.count).then(|| self.fields[usize::from(place)]);
        let (first, middle, last) = (field(0), field(1), field(2));
        if self.ect1_first { [last, middle, first] } else { [first, middle, last] }
    }

    /// The option in two words: it shares the place of the fourth SACK block, for which a header
    /// with this option has no room.
    #[inline]
    pub(crate) const fn pack(self) -> (u64, u64) {
        let [first, middle, last] = self.fields;
        let start = first as u64 | (middle as u64) << 32;
        let end = last as u64 | (self.count as u64) << 32 | (self.ect1_first as u64) << 40;
        (start, end)
    }

    /// See [`AccEcn::pack`].
    #[inline]
    pub(crate) const fn unpack(start: u64, end: u64) -> Self {
        Self {
            ect1_first: (end >> 40) & 1 == 1,
            fields: [start as u32, (start >> 32) as u32, end as u32],
            count: (end >> 32) as u8,
        }
    }
}

/// A counter that a field of 24 bits updates: RFC 9768 appendix A.1.
#[inline]
fn advance(counter: u64, field: u32) -> u64 {
    counter + ((u64::from(field) + FIELD + 1 - (counter & FIELD)) & FIELD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_have_ce_in_the_middle() {
        let first = AccEcn::new(true, 2, [1, 4380, 2921]);
        assert_eq!((first.kind(), first.len()), (174, 8));
        assert_eq!(first.counters(), [None, Some(4380), Some(2921)]);
        let zero = AccEcn::new(false, 1, [1461, 0, 1]);
        assert_eq!((zero.kind(), zero.len()), (172, 5));
        assert_eq!(zero.counters(), [Some(1461), None, None]);
        for option in [first, zero, AccEcn::new(false, 3, [1 << 24, 5, (1 << 24) - 1])] {
            let (start, end) = option.pack();
            assert_eq!(AccEcn::unpack(start, end), option);
        }
    }

    #[test]
    fn a_counter_of_24_bits_wraps() {
        // RFC 9768 appendix A.1.
        assert_eq!(advance(33_554_433, 1461), 33_554_433 + 1460);
        assert_eq!(advance((1 << 24) - 1, 0), 1 << 24);
        assert_eq!(advance(7, 7), 7);
    }
}
