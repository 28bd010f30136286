//! The number of symbols with LDPC (clause 19.3.11.7.5 and its changes for VHT and HE).

use super::CodeRate;

/// How the payload fills its last symbol before it is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Padding {
    /// No padding: shortened codewords replace the missing bits (HT, clause 19.3.11.7.5).
    Shortened,
    /// Padding to the end of the symbol (VHT, clause 21.3.10.5.4).
    Symbol,
    /// Padding to the end of a quarter of the symbol, which has `data_bits` before and `coded_bits`
    /// after encoding: `N_DBPS,short` and `N_CBPS,short` (HE, clause 27.3.12.5).
    Quarter { data_bits: u32, coded_bits: u32 },
}

/// An LDPC code and its symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ldpc {
    /// Code rate.
    pub(super) rate: CodeRate,
    /// Data bits of a symbol (`N_DBPS`).
    pub(super) data_bits: u32,
    /// Coded bits of a symbol (`N_CBPS`).
    pub(super) coded_bits: u32,
    /// Padding before the encoder.
    pub(super) padding: Padding,
}

impl Ldpc {
    /// The number of symbols of a payload of so many bits, SERVICE included.
    pub(super) fn symbols(&self, bits: u64) -> u64 {
        let symbol = u64::from(self.data_bits);
        let symbols = bits.div_ceil(symbol);
        let room = symbols * u64::from(self.coded_bits);
        match self.padding {
            Padding::Shortened => symbols + u64::from(self.is_strained(bits, room)),
            Padding::Symbol => symbols + u64::from(self.is_strained(symbols * symbol, room)),
            Padding::Quarter { data_bits, coded_bits } => {
                // Equations 27-62 to 27-78: `a_init` quarters of the last symbol are filled.
                let excess = bits - (symbols - 1) * symbol;
                let quarters = excess.div_ceil(u64::from(data_bits)).min(4);
                let (data, coded) = match quarters {
                    4 => (symbols * symbol, room),
                    quarters => (
                        (symbols - 1) * symbol + quarters * u64::from(data_bits),
                        room - u64::from(self.coded_bits) + quarters * u64::from(coded_bits),
                    ),
                };
                symbols + u64::from(quarters == 4 && self.is_strained(data, coded))
            }
        }
    }

    /// Whether too many bits would be punctured, so that more coded bits are sent: step d) of the
    /// clause, in whole numbers.
    pub(super) fn is_strained(&self, bits: u64, room: u64) -> bool {
        let (num, den) = self.rate.parts();
        let (num, den) = (u64::from(num), u64::from(den));
        let (words, length) = self.codewords(bits, room);
        let whole = words * length;
        let shortened = (whole * num / den).saturating_sub(bits);
        let punctured = whole.saturating_sub(room + shortened);
        let parity = whole * (den - num);
        let much = 10 * punctured * den > parity;
        let few_shortened = 10 * shortened * (den - num) < 12 * punctured * num;
        let too_much = 10 * punctured * den > 3 * parity;
        much && few_shortened || too_much
    }

    /// Number of codewords and their length (table 19-16).
    fn codewords(&self, bits: u64, room: u64) -> (u64, u64) {
        let (num, den) = self.rate.parts();
        let (num, den) = (u64::from(num), u64::from(den));
        let spare = |n: u64| room * den >= bits * den + n * (den - num);
        match room {
            0..=648 => (1, if spare(912) { 1296 } else { 648 }),
            649..=1296 => (1, if spare(1464) { 1944 } else { 1296 }),
            1297..=1944 => (1, 1944),
            1945..=2592 => (2, if spare(2916) { 1944 } else { 1296 }),
            _ => ((bits * den).div_ceil(1944 * num), 1944),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ht(rate: CodeRate, data_bits: u32, coded_bits: u32) -> Ldpc {
        Ldpc { rate, data_bits, coded_bits, padding: Padding::Shortened }
    }

    #[test]
    fn worked_by_hand() {
        // 16-QAM 3/4, 39 Mb/s. 100 bytes: 816 bits in 6 symbols, 1248 coded bits, at least 816 and
        // 366, so one codeword of 1944; 642 bits are shortened and 54 punctured. 54 is more than
        // 48.6, but 642 is not less than 1.2·54·3.
        let code = ht(CodeRate::ThreeQuarters, 156, 208);
        assert_eq!(code.codewords(816, 1248), (1, 1944));
        assert_eq!(code.symbols(816), 6);
        // 140 bytes: 1136 bits in 8 symbols, 1664 coded bits; 322 shortened, none punctured.
        assert_eq!(code.codewords(1136, 1664), (1, 1944));
        assert_eq!(code.symbols(1136), 8);
        // 64-QAM 5/6, 65 Mb/s. 160 bytes: 1296 bits in 5 symbols, 1560 coded bits; one codeword of
        // 1944; 324 shortened, 60 punctured: 60 > 32.4 and 324 < 360. A sixth symbol.
        let code = ht(CodeRate::FiveSixths, 260, 312);
        assert_eq!(code.codewords(1296, 1560), (1, 1944));
        assert_eq!(code.symbols(1296), 6);
        // BPSK 1/2, 6.5 Mb/s. 38 bytes: 320 bits in 13 symbols, 676 coded bits; one codeword of
        // 1296; 328 shortened, 292 punctured: more than 194.4. A fourteenth symbol.
        let code = ht(CodeRate::Half, 26, 52);
        assert_eq!(code.codewords(320, 676), (1, 1296));
        assert_eq!(code.symbols(320), 14);
    }

    #[test]
    fn each_padding_has_its_own_number_of_symbols() {
        // The same 1296 bits, padded to the end of the fifth symbol, fill it: 1300 of 1300.
        let vht = Ldpc { padding: Padding::Symbol, ..ht(CodeRate::FiveSixths, 260, 312) };
        assert_eq!(vht.symbols(1296), 6);
        // HE, 20 MHz, MCS 5: 936 bits a symbol, quarters of 240 data bits and 360 coded ones.
        let quarter = Padding::Quarter { data_bits: 240, coded_bits: 360 };
        let he = Ldpc { padding: quarter, ..ht(CodeRate::TwoThirds, 936, 1404) };
        assert_eq!(he.symbols(936 + 400), 2, "a further quarter fits into the last symbol");
        assert_eq!(he.symbols(936 + 800), 3, "a fourth quarter is the last there is");
        assert_eq!(he.symbols(50_000), 54);
    }

    #[test]
    fn long_payloads_never_need_a_further_symbol() {
        for rate in
            [CodeRate::Half, CodeRate::TwoThirds, CodeRate::ThreeQuarters, CodeRate::FiveSixths]
        {
            let (num, den) = rate.parts();
            let code = ht(rate, 52 * num, 52 * den);
            for bytes in 6000..6500 {
                let bits = 16 + 8 * bytes;
                assert_eq!(code.symbols(bits), bits.div_ceil(u64::from(52 * num)));
            }
        }
    }
}
