//! Where the data of a PPDU ends, and what fits into it (clause 27.3.12.5).

/// Data tones of a resource unit, and those of a quarter of a symbol (table 27-28).
const QUARTERS: [(u64, u64); 7] =
    [(24, 6), (48, 12), (102, 24), (234, 60), (468, 120), (980, 240), (1960, 492)];
/// Coded bits of a tone, and the code rate, by MCS (clause 27.5).
const MCS: [(u64, u64, u64); 12] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
];

/// A resource unit of one stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) tones: u64,
    pub(super) mcs: u8,
    /// Its code is LDPC, and not BCC.
    pub(super) ldpc: bool,
}

/// The symbols of a PPDU, and how many quarters of the last its data fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) symbols: u64,
    pub(super) quarters: u64,
}

impl End {
    /// The extra segment of LDPC is a quarter (equations 27-77 and 27-78).
    fn next(self) -> Self {
        match self.quarters {
            4 => Self { symbols: self.symbols + 1, quarters: 1 },
            quarters => Self { quarters: quarters + 1, ..self },
        }
    }

    fn previous(self) -> Self {
        match self.quarters {
            1 => Self { symbols: self.symbols - 1, quarters: 4 },
            quarters => Self { quarters: quarters - 1, ..self },
        }
    }

    /// So much up to here, if a symbol and a quarter have this.
    fn times(self, [symbol, quarter]: [u64; 2]) -> u64 {
        match self.quarters {
            4 => self.symbols * symbol,
            quarters => (self.symbols - 1) * symbol + quarters * quarter,
        }
    }
}

impl Unit {
    /// The resource unit of so many data tones of a station with an MCS. BCC has no MCS of
    /// 1024-QAM, which small resource units need not have either, and at most 242 tones (clauses
    /// 9.4.2.248.3 and 27.3.12.5.1).
    pub(super) fn of(tones: u64, mcs: u8, prefers_ldpc: bool) -> Self {
        let mcs = if tones < 234 { mcs.min(9) } else { mcs };
        Self { tones, mcs, ldpc: prefers_ldpc || mcs > 9 || tones > 234 }
    }

    /// Bits of a symbol and of a quarter, before and after encoding.
    fn bits(self) -> [[u64; 2]; 2] {
        let quarter = QUARTERS.iter().find(|(tones, _)| *tones == self.tones).expect("a size").1;
        let (bits, num, den) = MCS[usize::from(self.mcs)];
        let coded = [self.tones * bits, quarter * bits];
        [coded.map(|coded| coded * num / den), coded]
    }

    /// SERVICE, and the tail of BCC.
    fn around(self) -> u64 {
        if self.ldpc { 16 } else { 16 + 6 }
    }

    /// Where the data of a PSDU ends, without an extra segment.
    fn first_end(self, psdu: u64) -> End {
        let [[symbol, quarter], _] = self.bits();
        let bits = self.around() + 8 * psdu;
        let quarters = match bits % symbol {
            0 => 4,
            rest => rest.div_ceil(quarter).min(4),
        };
        End { symbols: bits.div_ceil(symbol), quarters }
    }

    /// Where the data of equal resource units ends, of which the longest PSDU has so many bytes.
    pub(super) fn end(self, longest: u64) -> End {
        let end = self.first_end(longest);
        if self.lacks_parity(end) { end.next() } else { end }
    }

    /// Whether codewords that fill a PPDU up to here lose so many bits that an extra segment
    /// follows: step d) of clause 19.3.11.7.5.
    fn lacks_parity(self, end: End) -> bool {
        let [data, coded] = self.bits();
        let (payload, available) = (end.times(data), end.times(coded));
        let (_, num, den) = MCS[usize::from(self.mcs)];
        // Table 19-16: a longer codeword if so many bits are left for it, in 1 - R.
        let is_left = |bits: u64| available >= payload + bits * (den - num) / den;
        let (words, length) = match available {
            0..=648 if !is_left(912) => (1, 648),
            0..=1296 if available <= 648 || !is_left(1464) => (1, 1296),
            0..=1944 => (1, 1944),
            1945..=2592 if !is_left(2916) => (2, 1296),
            1945..=2592 => (2, 1944),
            _ => ((payload * den).div_ceil(1944 * num), 1944),
        };
        let (all, parity) = (words * length, words * length * (den - num) / den);
        let shortened = (all - parity).saturating_sub(payload);
        let punctured = all.saturating_sub(available + shortened);
        let many = 10 * punctured > parity && 5 * shortened * (den - num) < 6 * punctured * num;
        self.ldpc && (many || 10 * punctured > 3 * parity)
    }

    /// The bytes of a PSDU and its padding up to there.
    pub(super) fn room(self, end: End) -> u64 {
        let [data, _] = self.bits();
        end.times(data).saturating_sub(self.around()) / 8
    }

    /// The same, if an extra segment is a part of it where the codewords need one.
    pub(super) fn room_with_extra(self, end: End) -> u64 {
        self.room(if self.lacks_parity(end) { end.previous() } else { end })
    }

    /// The last symbol in which PSDUs may end of a PPDU with so many symbols: an access point
    /// leaves one for the extra segment.
    pub(super) fn last(self, symbols: u64) -> Option<End> {
        let symbols = symbols.checked_sub(u64::from(self.ldpc))?;
        (symbols > 0).then_some(End { symbols, quarters: 4 })
    }
}
