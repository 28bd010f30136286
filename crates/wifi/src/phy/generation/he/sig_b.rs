//! The length of HE-SIG-B (802.11ax-2021 clause 27.3.11.8).

use super::allocation::RuAllocation;
use super::ru::{Ru, RuSize};
use crate::phy::Width;
use kernel::Duration;

/// Duration of a symbol of HE-SIG-B.
const SYMBOL: Duration = Duration::from_micros(4);
/// Bits of an RU Allocation subfield.
const CODE: u32 = 8;
/// Bits of a user field.
const USER: u32 = 21;
/// CRC and tail at the end of the common field and of each block of users.
const CRC_AND_TAIL: u32 = 4 + 6;
/// Users in a block.
const USERS_OF_BLOCK: u32 = 2;
/// Data bits of a symbol by HE-SIG-B-MCS, 52 data subcarriers (clause 27.3.11.8).
const SYMBOL_BITS: [u32; 6] = [26, 52, 78, 104, 156, 208];

/// Modulation and coding of HE-SIG-B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SigBMode {
    /// HE-SIG-B-MCS, 0 to 5.
    pub mcs: u8,
    /// Dual carrier modulation, which MCS 0, 1, 3 and 4 have: half the bits in a symbol.
    pub dual_carrier: bool,
}

impl SigBMode {
    /// The highest HE-SIG-B-MCS.
    pub const HIGHEST: u8 = 5;

    /// The mode that all of the users can decode who get data in `mcs` or faster.
    pub fn for_slowest(mcs: u8) -> Self {
        Self { mcs: mcs.min(Self::HIGHEST), dual_carrier: false }
    }

    /// Data bits of a symbol, if there is such a mode.
    pub fn symbol_bits(self) -> Option<u32> {
        let bits = *SYMBOL_BITS.get(usize::from(self.mcs))?;
        let has_dual = matches!(self.mcs, 0 | 1 | 3 | 4);
        if self.dual_carrier { has_dual.then_some(bits / 2) } else { Some(bits) }
    }
}

/// HE-SIG-B of a PPDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigB {
    /// Its modulation and coding.
    pub mode: SigBMode,
    /// The codes of the resource units; `None` with compression, for a single resource unit of 160
    /// MHz.
    pub allocation: Option<RuAllocation>,
    /// Its symbols.
    pub symbols: u32,
}

impl SigB {
    /// HE-SIG-B for these resource units with a user each; `None` if there is no such mode.
    pub fn of(width: Width, plan: &[Ru], mode: SigBMode) -> Option<Self> {
        let compressed = plan.iter().any(|ru| ru.size == RuSize::Tones1992);
        let allocation = (!compressed).then(|| RuAllocation::of(width, plan));
        let (common, users) = match &allocation {
            Some(allocation) => (common_bits(width), allocation.user_fields),
            None => (0, [plan.len() as u32, 0]),
        };
        let bits = common + user_bits(users[0].max(users[1]));
        Some(Self { mode, allocation, symbols: bits.div_ceil(mode.symbol_bits()?) })
    }

    /// How long it lasts.
    pub fn lasts(&self) -> Duration {
        SYMBOL * u64::from(self.symbols)
    }
}

/// Bits of the common field in a content channel: a code for each of its 20 MHz, from 80 MHz on a
/// bit for the resource unit in the middle.
fn common_bits(width: Width) -> u32 {
    let codes = (width.mhz() / 40).max(1);
    CODE * codes + u32::from(width >= Width::Mhz80) + CRC_AND_TAIL
}

/// Bits of so many users in blocks of two.
fn user_bits(users: u32) -> u32 {
    USER * users + CRC_AND_TAIL * users.div_ceil(USERS_OF_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use RuSize::{Tones26, Tones52, Tones106, Tones242, Tones484, Tones996, Tones1992};
    use Width::{Mhz20, Mhz40, Mhz80, Mhz160};

    fn symbols(width: Width, size: RuSize, number: usize, mode: SigBMode) -> u32 {
        let plan = Ru::place(width, &vec![size; number]).unwrap();
        SigB::of(width, &plan, mode).unwrap().symbols
    }

    #[test]
    fn symbols_by_users_and_mcs() {
        // At HE-SIG-B-MCS 0, 1, 3 and 5.
        let expected = [
            (Mhz20, Tones242, 1, [2, 1, 1, 1]),
            (Mhz20, Tones106, 2, [3, 2, 1, 1]),
            (Mhz20, Tones52, 4, [5, 3, 2, 1]),
            (Mhz20, Tones26, 9, [10, 5, 3, 2]),
            (Mhz40, Tones484, 1, [2, 1, 1, 1]),
            (Mhz40, Tones242, 2, [2, 1, 1, 1]),
            (Mhz40, Tones52, 8, [5, 3, 2, 1]),
            (Mhz40, Tones26, 18, [10, 5, 3, 2]),
            (Mhz80, Tones996, 1, [3, 2, 1, 1]),
            (Mhz80, Tones484, 2, [3, 2, 1, 1]),
            (Mhz80, Tones242, 4, [4, 2, 1, 1]),
            (Mhz80, Tones52, 16, [10, 5, 3, 2]),
            (Mhz80, Tones26, 37, [21, 11, 6, 3]),
            (Mhz160, Tones1992, 1, [2, 1, 1, 1]),
            (Mhz160, Tones106, 16, [10, 5, 3, 2]),
            (Mhz160, Tones26, 74, [39, 20, 10, 5]),
        ];
        for (width, size, number, by_mcs) in expected {
            let found = [0, 1, 3, 5]
                .map(|mcs| symbols(width, size, number, SigBMode { mcs, dual_carrier: false }));
            assert_eq!(found, by_mcs, "{number} x {size:?} at {width:?}");
        }
    }

    #[test]
    fn dual_carrier_modulation_halves_the_bits_where_it_exists() {
        let bits = |dual_carrier| {
            [0, 1, 2, 3, 4, 5].map(|mcs| SigBMode { mcs, dual_carrier }.symbol_bits())
        };
        assert_eq!(bits(false), [26, 52, 78, 104, 156, 208].map(Some));
        assert_eq!(bits(true), [Some(13), Some(26), None, Some(52), Some(78), None]);
        assert_eq!(SigBMode { mcs: 6, dual_carrier: false }.symbol_bits(), None);
        assert_eq!(symbols(Mhz40, Tones242, 2, SigBMode { mcs: 0, dual_carrier: true }), 4);
        assert_eq!([0, 5, 11].map(|mcs| SigBMode::for_slowest(mcs).mcs), [0, 5, 5]);
    }
}
