//! The bits of one user of a PPDU, and the quarters of symbols that they fill (802.11ax-2021
//! clause 27.3.12.5).

use super::ru::RuSize;
use crate::phy::layout::TAIL;
use crate::phy::ldpc::{Ldpc, Padding};
use crate::phy::mode::{MCS, bit_rate};
use crate::phy::ofdm_airtime::SERVICE;
use crate::phy::{CodeRate, Coding};
use kernel::{BitRate, Bytes, Duration};

/// Quarters of a symbol.
const QUARTERS: u8 = 4;

/// The end of the data: symbols, and quarters of the last one that are filled before FEC padding
/// (`N_SYM` and `a`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataEnd {
    /// Symbols, the last included.
    pub symbols: u64,
    /// Quarters of the last symbol, 1 to 4.
    pub quarters: u8,
}

impl DataEnd {
    /// A quarter later: the extra symbol segment of LDPC.
    #[must_use]
    pub(super) const fn next(self) -> Self {
        match self.quarters {
            QUARTERS.. => Self { symbols: self.symbols + 1, quarters: 1 },
            quarters => Self { quarters: quarters + 1, ..self },
        }
    }

    /// A quarter earlier.
    #[must_use]
    pub(super) const fn previous(self) -> Self {
        match self.quarters {
            ..=1 => Self { symbols: self.symbols.saturating_sub(1), quarters: QUARTERS },
            quarters => Self { quarters: quarters - 1, ..self },
        }
    }
}

/// What a user has in each symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) coding: Coding,
    rate: CodeRate,
    /// Coded bits of a symbol (`N_CBPS`), and of a quarter (`N_CBPS,short`).
    coded: u32,
    quarter_coded: u32,
}

impl Load {
    pub(super) fn new(size: RuSize, mcs: u8, streams: u8, coding: Coding) -> Self {
        let (modulation, rate) = MCS[usize::from(mcs)];
        let per_tone = modulation.bits() * u32::from(streams);
        let (coded, quarter_coded) =
            (size.data_tones() * per_tone, size.quarter_tones() * per_tone);
        Self { coding, rate, coded, quarter_coded }
    }

    /// The data rate with symbols of this duration.
    pub(super) fn bit_rate(&self, symbol: Duration) -> BitRate {
        bit_rate(self.rate, self.coded, symbol)
    }

    /// Bits of a PSDU with SERVICE and tail.
    fn bits(&self, psdu: Bytes) -> u64 {
        SERVICE + psdu.bits() + self.tail()
    }

    /// Whether its code is LDPC.
    pub(super) fn is_ldpc(&self) -> bool {
        self.coding == Coding::Ldpc
    }

    fn tail(&self) -> u64 {
        match self.coding {
            Coding::Bcc => u64::from(TAIL),
            Coding::Ldpc => 0,
        }
    }

    /// `N_DBPS` and `N_DBPS,short`.
    fn data_bits(&self) -> (u64, u64) {
        let bits = |coded| u64::from(self.rate.data_bits(coded));
        (bits(self.coded), bits(self.quarter_coded))
    }

    /// Where the data of a PSDU ends, if no LDPC codeword needs more (clause 27.3.12.5).
    pub(super) fn end(&self, psdu: Bytes) -> DataEnd {
        let (symbol, quarter) = self.data_bits();
        let bits = self.bits(psdu);
        let quarters = match bits % symbol {
            0 => QUARTERS,
            excess => excess.div_ceil(quarter).min(u64::from(QUARTERS)) as u8,
        };
        DataEnd { symbols: bits.div_ceil(symbol), quarters }
    }

    /// The symbols of a PSDU in ns-3: with BCC's tail in any case, a symbol may hold a fraction of
    /// a bit.
    pub(super) fn fractional_symbols(&self, psdu: Bytes) -> u64 {
        let (num, den) = self.rate.parts();
        let bits = SERVICE + psdu.bits() + u64::from(TAIL);
        (bits * u64::from(den)).div_ceil(u64::from(self.coded * num))
    }

    /// Whether LDPC needs an extra symbol segment if the data ends here.
    pub(super) fn is_strained(&self, end: DataEnd) -> bool {
        if self.coding != Coding::Ldpc {
            return false;
        }
        let (symbol, quarter) = self.data_bits();
        let bits = until(end, symbol, quarter);
        let room = until(end, self.coded.into(), self.quarter_coded.into());
        let ldpc = Ldpc {
            rate: self.rate,
            data_bits: symbol as u32,
            coded_bits: self.coded,
            padding: Padding::Symbol,
        };
        ldpc.is_strained(bits, room)
    }

    /// Whole bytes of the PSDU and its padding if the data ends here.
    pub(super) fn room(&self, end: DataEnd) -> Bytes {
        let (symbol, quarter) = self.data_bits();
        Bytes(until(end, symbol, quarter).saturating_sub(SERVICE + self.tail()) / 8)
    }

    /// The same in ns-3.
    pub(super) fn fractional_room(&self, symbols: u64) -> Bytes {
        let (num, den) = self.rate.parts();
        let bits = symbols * u64::from(self.coded * num) / u64::from(den);
        Bytes(bits.saturating_sub(SERVICE + u64::from(TAIL)) / 8)
    }
}

/// Bits up to an end, of which a symbol and a quarter have so many. A whole symbol may have more
/// than four quarters.
fn until(end: DataEnd, symbol: u64, quarter: u64) -> u64 {
    match end.quarters {
        QUARTERS.. => end.symbols * symbol,
        quarters => (end.symbols - 1) * symbol + u64::from(quarters) * quarter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RuSize::{Tones26, Tones52, Tones106, Tones242, Tones484, Tones996, Tones1992};

    /// Mb/s in tenths, of one stream with a guard interval of 800 ns, by MCS: clause 27.5.
    const TENTHS: [(RuSize, [u64; 12]); 7] = [
        (Tones26, [9, 18, 26, 35, 53, 71, 79, 88, 106, 118, 132, 147]),
        (Tones52, [18, 35, 53, 71, 106, 141, 159, 176, 212, 235, 265, 294]),
        (Tones106, [38, 75, 113, 150, 225, 300, 338, 375, 450, 500, 563, 625]),
        (Tones242, [86, 172, 258, 344, 516, 688, 774, 860, 1032, 1147, 1290, 1434]),
        (Tones484, [172, 344, 516, 688, 1032, 1376, 1549, 1721, 2065, 2294, 2581, 2868]),
        (Tones996, [360, 721, 1081, 1441, 2162, 2882, 3243, 3603, 4324, 4804, 5404, 6005]),
        (Tones1992, [721, 1441, 2162, 2882, 4324, 5765, 6485, 7206, 8647, 9608, 10_809, 12_010]),
    ];

    #[test]
    fn rates_are_those_of_the_tables() {
        for (size, tenths) in TENTHS {
            for (mcs, expected) in (0..).zip(tenths) {
                let load = Load::new(size, mcs, 1, Coding::Ldpc);
                let rate = load.bit_rate(Duration(13_600)).0;
                assert_eq!((rate + 50_000) / 100_000, expected, "{size:?} MCS {mcs}");
                // 1.6 µs: 13.6/14.4 of it; 3.2 µs: 0.85.
                let with = |symbol| load.bit_rate(Duration(symbol)).0;
                assert!(with(14_400).abs_diff(rate * 17 / 18) <= 1);
                assert!(with(16_000).abs_diff(rate * 17 / 20) <= 1);
                let two = Load::new(size, mcs, 2, Coding::Ldpc).bit_rate(Duration(13_600)).0;
                assert!(two.abs_diff(2 * rate) <= 1);
            }
        }
    }

    /// Tables of the standard give HE's rates of full channels; those of `TxVector` are the same.
    #[test]
    fn rates_of_full_channels_are_those_of_single_users() {
        use crate::phy::{Band, ModeClass, Preamble, TxVector, Width};
        for width in [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160] {
            for (mcs, streams) in (0..12).flat_map(|mcs| [1, 3, 8].map(|streams| (mcs, streams))) {
                let su =
                    TxVector { mcs, streams, width, ..TxVector::of(ModeClass::He, Band::Ghz5) };
                let su = su.mode().unwrap();
                let load = Load::new(RuSize::of_channel(width), mcs, streams, su.coding);
                assert_eq!(load.bit_rate(Duration(13_600)), su.rate);
                for psdu in [14, 100, 1540, 3839, 20_000] {
                    let end = load.end(Bytes(psdu));
                    let end = if load.is_strained(end) { end.next() } else { end };
                    let payload = crate::phy::airtime(&su, Preamble::Long, Bytes(psdu)).payload;
                    assert_eq!(Duration(13_600) * end.symbols, payload, "{su:?} {psdu}");
                }
            }
        }
    }

    #[test]
    fn where_the_data_ends() {
        // One stream, MCS 7, BCC: symbols and quarters of 100, 1540, 3000, 6000 and 12000 bytes.
        let expected = [
            (Tones242, 100, 1, 3),
            (Tones242, 1540, 11, 3),
            (Tones242, 3000, 21, 3),
            (Tones242, 6000, 42, 1),
            (Tones242, 12_000, 83, 1),
            (Tones106, 100, 2, 3),
            (Tones106, 1540, 25, 1),
            (Tones106, 3000, 48, 1),
            (Tones52, 100, 4, 2),
            (Tones52, 1540, 52, 2),
            (Tones52, 3000, 101, 1),
            (Tones26, 100, 7, 4),
            (Tones26, 1540, 103, 4),
            (Tones26, 3000, 201, 1),
        ];
        for (size, psdu, symbols, quarters) in expected {
            let load = Load::new(size, 7, 1, Coding::Bcc);
            let end = load.end(Bytes(psdu));
            assert_eq!(end, DataEnd { symbols, quarters }, "{size:?} {psdu}");
            // One byte more than the room up to there needs more.
            let room = load.room(end);
            assert!(room >= Bytes(psdu) && load.end(room) == end);
            assert!(load.end(room + Bytes(1)) > end);
        }
        // 234 data bits fill a symbol of MCS 1 and 242 tones: no excess, all quarters.
        let load = Load::new(Tones242, 1, 1, Coding::Bcc);
        assert_eq!(load.end(Bytes(26)), DataEnd { symbols: 1, quarters: 4 });
    }

    #[test]
    fn room_of_the_longest_trigger_based_ppdu() {
        // 377 symbols of 14.4 µs after 48 µs: PSDUs at MCS 0, 1 and 2.
        let end = DataEnd { symbols: 377, quarters: 4 };
        let room = |size| [0, 1, 2].map(|mcs| Load::new(size, mcs, 1, Coding::Bcc).room(end).0);
        assert_eq!(room(Tones26), [562, 1128, 1693]);
        assert_eq!(room(Tones52), [1128, 2259, 3390]);
        assert_eq!(room(Tones106), [2400, 4804, 7207]);
    }

    #[test]
    fn an_extra_segment_is_a_quarter() {
        let end = |symbols, quarters| DataEnd { symbols, quarters };
        assert_eq!(end(5, 3).next(), end(5, 4));
        assert_eq!(end(5, 4).next(), end(6, 1));
        // 242 tones, MCS 5: two symbols strain the codewords, as in `ldpc.rs`, and 54 do not.
        let load = Load::new(Tones242, 5, 1, Coding::Ldpc);
        assert!(!load.is_strained(end(54, 4)));
        assert!(load.is_strained(end(2, 4)));
        assert!(!Load { coding: Coding::Bcc, ..load }.is_strained(end(2, 4)));
    }
}
