//! Punctured channels: 20 MHz subchannels that the PPDUs of a network leave out (802.11be-2024
//! clauses 35.15.2 and 36.3.12.7.2).

use super::{Primary, Width};
use settings::{Said, said};

/// The 20 MHz subchannels that a PPDU leaves out of its channel: a bit each, from the lowest
/// frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Punctured(u16);

impl Punctured {
    /// A PPDU in all of its channel.
    pub const NONE: Self = Self(0);

    /// The subchannels with these bits, as in the Disabled Subchannel Bitmap (clause 9.4.2.321).
    pub const fn of_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The subchannels with these numbers, of which 1 is the lowest.
    ///
    /// # Errors
    ///
    /// A channel of this width has no subchannel of such a number.
    pub fn of_numbers(width: Width, numbers: &[u32]) -> Result<Self, Said> {
        let (mhz, last) = (width.mhz(), subchannels(width));
        numbers.iter().try_fold(Self::NONE, |Self(bits), &number| {
            if (1..=last).contains(&number) {
                return Ok(Self(bits | 1 << (number - 1)));
            }
            Err(said!(
                "{number} is no 20 MHz subchannel of {mhz} MHz",
                "there are 1, the lowest, to {last}"
            ))
        })
    }

    /// The bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether nothing is left out.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The number of subchannels that are left out.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether a subchannel is left out, of which 0 is the lowest.
    pub const fn has(self, nth: u32) -> bool {
        self.0 >> nth & 1 == 1
    }

    /// Punctured Channel Information of U-SIG in an EHT MU PPDU to a single user in a channel of
    /// this width: the values of table 36-30 are in the order of its rows. `None` if the standard
    /// does not have the pattern.
    pub fn code(self, width: Width) -> Option<u8> {
        let patterns = Self::patterns(width);
        if self.is_none() {
            return Some(0);
        }
        let row = patterns.into_iter().position(|pattern| pattern == self)?;
        Some(row as u8 + 1)
    }

    /// The patterns that a PPDU to a single user may have, in the order of table 36-30: at 80 MHz
    /// one subchannel; at 160 MHz one, or one channel of 40 MHz; at 320 MHz a channel of 40 or of
    /// 80 MHz, or the lowest or the highest 80 MHz and a further channel of 40.
    pub fn patterns(width: Width) -> Vec<Self> {
        let parts = |size: u32| {
            let all = (1u32 << size) - 1;
            (0..subchannels(width) / size).map(move |nth| all << (size * nth))
        };
        let bits: Vec<u32> = match width {
            Width::Mhz80 => parts(1).collect(),
            Width::Mhz160 => parts(1).chain(parts(2)).collect(),
            Width::Mhz320 => {
                let (lowest, highest) = (0x000f, 0xf000);
                let beside = |outer: u32| {
                    parts(2).filter(move |more| more & outer == 0).map(move |more| more | outer)
                };
                parts(2).chain(parts(4)).chain(beside(lowest)).chain(beside(highest)).collect()
            }
            Width::Mhz20 | Width::Mhz22 | Width::Mhz40 => Vec::new(),
        };
        bits.into_iter().map(|bits| Self(bits as u16)).collect()
    }
}

/// The number of 20 MHz subchannels of a channel.
pub const fn subchannels(width: Width) -> u32 {
    width.mhz() / 20
}

/// A channel of which a part is left out: of this width, these subchannels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Puncturing {
    /// The width of the channel.
    pub width: Width,
    /// What of it is punctured.
    pub punctured: Punctured,
}

impl From<Width> for Puncturing {
    /// A whole channel.
    fn from(width: Width) -> Self {
        Self { width, punctured: Punctured::NONE }
    }
}

impl Puncturing {
    /// The bandwidth that is left in MHz.
    pub const fn occupied_mhz(self) -> u32 {
        self.width.mhz() - 20 * self.punctured.count()
    }

    /// The sum of a number of subcarriers over the largest resource units that fill what is not
    /// punctured (802.11be-2024 clause 36.3.2.3): those that fit in 80 MHz or less, and pairs of 80
    /// MHz. Each unit has those that `of_unit` tells by its width.
    pub(super) fn tones(self, of_unit: fn(Width) -> u32) -> u32 {
        if self.punctured.is_none() {
            return of_unit(self.width);
        }
        let is_free =
            |first: u32, number: u32| (first..first + number).all(|nth| !self.punctured.has(nth));
        let mut tones = 0;
        let mut blocks = 0;
        for block in (0..subchannels(self.width)).step_by(4) {
            if is_free(block, 4) {
                blocks += 1;
                continue;
            }
            for half in [block, block + 2] {
                tones += match [half, half + 1].map(|nth| !self.punctured.has(nth)) {
                    [true, true] => of_unit(Width::Mhz40),
                    [false, false] => 0,
                    _ => of_unit(Width::Mhz20),
                };
            }
        }
        tones + blocks / 2 * of_unit(Width::Mhz160) + blocks % 2 * of_unit(Width::Mhz80)
    }

    /// What of it is in a channel of another width with the same primary channel.
    pub fn within(self, primary: Primary, width: Width) -> Punctured {
        if self.punctured.is_none() {
            return Punctured::NONE;
        }
        let lowest = |width| primary.channel(width).map(|channel| channel.edges_mhz().0);
        let (Some(whole), Some(part)) = (lowest(self.width), lowest(width)) else {
            return Punctured::NONE;
        };
        let bits = u32::from(self.punctured.0);
        let moved = if part >= whole {
            bits >> ((part - whole) / 20)
        } else {
            bits << ((whole - part) / 20)
        };
        Punctured((moved & ((1 << subchannels(width)) - 1)) as u16)
    }

    /// Which of the subchannels is the primary channel, from 0.
    pub fn place_of(self, primary: Primary) -> Option<u32> {
        let [channel, own] = [primary.channel(self.width)?, primary.channel(Width::Mhz20)?];
        Some((own.edges_mhz().0 - channel.edges_mhz().0) / 20)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Band;
    use super::*;
    use Width::{Mhz20, Mhz22, Mhz40, Mhz80, Mhz160, Mhz320};

    /// The patterns as table 36-30 draws them: x is punctured, each sign 20 MHz, or 40 at 320 MHz.
    const DRAWN: [(Width, &str); 3] = [
        (Mhz80, "x111 1x11 11x1 111x"),
        (
            Mhz160,
            "x1111111 1x111111 11x11111 111x1111 1111x111 11111x11 111111x1 1111111x \
             xx111111 11xx1111 1111xx11 111111xx",
        ),
        (
            Mhz320,
            "x1111111 1x111111 11x11111 111x1111 1111x111 11111x11 111111x1 1111111x \
             xx111111 11xx1111 1111xx11 111111xx \
             xxx11111 xx1x1111 xx11x111 xx111x11 xx1111x1 xx11111x \
             x11111xx 1x1111xx 11x111xx 111x11xx 1111x1xx 11111xxx",
        ),
    ];

    fn drawn(width: Width, text: &str) -> Punctured {
        let each = if width == Mhz320 { 2 } else { 1 };
        let signs = text.chars().flat_map(|sign| std::iter::repeat_n(sign, each));
        let bits = signs.zip(0..).filter(|(sign, _)| *sign == 'x').map(|(_, nth)| 1 << nth);
        Punctured::of_bits(bits.sum())
    }

    #[test]
    fn patterns_are_those_of_the_table_and_no_others() {
        for (width, text) in DRAWN {
            let table: Vec<Punctured> =
                text.split_whitespace().map(|row| drawn(width, row)).collect();
            for bits in 1..1u32 << subchannels(width) {
                let pattern = Punctured::of_bits(bits as u16);
                let row = table.iter().position(|row| *row == pattern);
                let code = row.map(|row| row as u8 + 1);
                assert_eq!(pattern.code(width), code, "{bits:b} of {width:?}");
            }
        }
        for width in [Mhz20, Mhz22, Mhz40] {
            assert!((1..=3).all(|bits| Punctured::of_bits(bits).code(width).is_none()));
        }
        assert!(Width::ALL.iter().all(|&width| Punctured::NONE.code(width) == Some(0)));
    }

    #[test]
    fn numbers_count_from_the_lowest() {
        let of = |width, numbers: &[u32]| Punctured::of_numbers(width, numbers).ok();
        assert_eq!(of(Mhz80, &[1, 4]), Some(Punctured(0b1001)));
        assert_eq!(of(Mhz80, &[5]), None);
        assert_eq!(of(Mhz80, &[0]), None);
        assert_eq!(of(Mhz320, &[16]), Some(Punctured(0x8000)));
    }

    #[test]
    fn narrower_channels_have_a_part_of_it() {
        let all = Puncturing { width: Mhz160, punctured: Punctured::of_bits(0b0010_0100) };
        let at = |number, width| {
            let primary = Primary { band: Band::Ghz5, number };
            all.within(primary, width).bits()
        };
        assert_eq!([at(36, Mhz160), at(52, Mhz160)], [0b0010_0100; 2]);
        assert_eq!([at(36, Mhz80), at(52, Mhz80)], [0b0100, 0b0010]);
        assert_eq!([at(36, Mhz40), at(44, Mhz40), at(52, Mhz40), at(60, Mhz40)], [0, 1, 2, 0]);
        assert_eq!([at(44, Mhz20), at(48, Mhz20), at(56, Mhz20)], [1, 0, 1]);
        let narrow = Puncturing { width: Mhz80, punctured: Punctured::of_bits(1) };
        let primary = Primary { band: Band::Ghz5, number: 60 };
        assert_eq!(narrow.within(primary, Mhz160).bits(), 1 << 4);
        assert_eq!(narrow.place_of(primary), Some(2));
    }
}
