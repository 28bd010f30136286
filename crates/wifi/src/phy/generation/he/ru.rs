//! Resource units of HE (802.11ax-2021 clause 27.3.2): their subcarriers and places in a channel.
//!
//! Places are counted in slots of 26 tones, of which a channel of 20 MHz has nine. The fifth of
//! each is a resource unit by itself when the others are joined in pairs or fours, and so is the
//! slot in the middle of 80 MHz.

use crate::phy::{Puncturing, Width, subchannels};
use settings::numbered;

/// Slots in 20 MHz.
const SLOTS_20: u32 = 9;
/// Slots in 80 MHz: four times nine, and one in the middle.
const SLOTS_80: u32 = 37;
/// The slot in the middle of 80 MHz.
const MIDDLE: u32 = 2 * SLOTS_20;
/// The first slot of each 20 MHz of 80.
const FIRST_OF_20: [u32; 4] = [0, 9, 19, 28];
/// The first slot of each 52-tone resource unit in 20 MHz.
const FIRST_OF_52: [u32; 4] = [0, 2, 5, 7];
/// The first slot of each 106-tone resource unit in 20 MHz.
const FIRST_OF_106: [u32; 2] = [0, 5];
/// The first slot of each 484-tone resource unit in 80 MHz.
const FIRST_OF_484: [u32; 2] = [0, 19];

/// The size of a resource unit, by its tones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuSize {
    /// 26 tones.
    Tones26,
    /// 52 tones.
    Tones52,
    /// 106 tones.
    Tones106,
    /// 242 tones, a channel of 20 MHz.
    Tones242,
    /// 484 tones, a channel of 40 MHz.
    Tones484,
    /// 996 tones, a channel of 80 MHz.
    Tones996,
    /// Two times 996 tones, a channel of 160 MHz.
    Tones1992,
}

numbered! {
    RuSize, "integer":
    26 => Self::Tones26, 52 => Self::Tones52, 106 => Self::Tones106, 242 => Self::Tones242,
    484 => Self::Tones484, 996 => Self::Tones996, 1992 => Self::Tones1992
}

impl RuSize {
    /// All of them, in their order.
    pub const ALL: [Self; 7] = [
        Self::Tones26,
        Self::Tones52,
        Self::Tones106,
        Self::Tones242,
        Self::Tones484,
        Self::Tones996,
        Self::Tones1992,
    ];

    /// The resource unit that fills a channel.
    ///
    /// # Panics
    ///
    /// With 320 MHz, which HE does not have.
    pub const fn of_channel(width: Width) -> Self {
        match width {
            Width::Mhz20 | Width::Mhz22 => Self::Tones242,
            Width::Mhz40 => Self::Tones484,
            Width::Mhz80 => Self::Tones996,
            Width::Mhz160 => Self::Tones1992,
            Width::Mhz320 => panic!("HE has no channels of 320 MHz"),
        }
    }

    /// Its subcarriers, pilots among them.
    pub const fn tones(self) -> u32 {
        match self {
            Self::Tones26 => 26,
            Self::Tones52 => 52,
            Self::Tones106 => 106,
            Self::Tones242 => 242,
            Self::Tones484 => 484,
            Self::Tones996 => 996,
            Self::Tones1992 => 1992,
        }
    }

    /// Its data subcarriers (`N_SD`, clause 27.5).
    pub const fn data_tones(self) -> u32 {
        match self {
            Self::Tones26 => 24,
            Self::Tones52 => 48,
            Self::Tones106 => 102,
            Self::Tones242 => 234,
            Self::Tones484 => 468,
            Self::Tones996 => 980,
            Self::Tones1992 => 1960,
        }
    }

    /// Its pilot subcarriers (`N_SP`).
    pub const fn pilots(self) -> u32 {
        match self {
            Self::Tones26 => 2,
            Self::Tones52 | Self::Tones106 => 4,
            Self::Tones242 => 8,
            Self::Tones484 | Self::Tones996 => 16,
            Self::Tones1992 => 32,
        }
    }

    /// The data subcarriers that count for a quarter of a symbol (`N_SD,short`, clause 27.3.12.5).
    pub const fn quarter_tones(self) -> u32 {
        match self {
            Self::Tones26 => 6,
            Self::Tones52 => 12,
            Self::Tones106 => 24,
            Self::Tones242 => 60,
            Self::Tones484 => 120,
            Self::Tones996 => 240,
            Self::Tones1992 => 492,
        }
    }

    /// How many of this size a channel has (clause 27.3.2.2) in what is not punctured of it.
    #[inline]
    pub fn number_in(self, channel: impl Into<Puncturing>) -> u32 {
        let channel = channel.into();
        if channel.punctured.is_none() {
            self.number_in_all(channel.width)
        } else {
            self.number_in_part(channel)
        }
    }

    #[cold]
    fn number_in_part(self, channel: Puncturing) -> u32 {
        let punctured = punctured_slots(channel);
        let all = (0..self.number_in_all(channel.width)).map(|index| Ru { size: self, index });
        all.filter(|ru| ru.slots() & punctured == 0).count() as u32
    }

    fn number_in_all(self, width: Width) -> u32 {
        let segments = subchannels(width);
        match self {
            Self::Tones26 => slots_in(width),
            Self::Tones52 => 4 * segments,
            Self::Tones106 => 2 * segments,
            Self::Tones242 => segments,
            Self::Tones484 => segments / 2,
            Self::Tones996 => segments / 4,
            Self::Tones1992 => segments / 8,
        }
    }

    /// The slots of 26 tones that it takes, free ones among them.
    const fn slots(self) -> u32 {
        match self {
            Self::Tones26 => 1,
            Self::Tones52 => 2,
            Self::Tones106 => 4,
            Self::Tones242 => SLOTS_20,
            Self::Tones484 => 2 * SLOTS_20,
            Self::Tones996 => SLOTS_80,
            Self::Tones1992 => 2 * SLOTS_80,
        }
    }

    /// The slots of 52 tones that it takes.
    const fn pairs(self) -> u32 {
        match self {
            Self::Tones26 => 0,
            Self::Tones52 => 1,
            Self::Tones106 => 2,
            Self::Tones242 => 4,
            Self::Tones484 => 8,
            Self::Tones996 => 16,
            Self::Tones1992 => 32,
        }
    }

    /// The 26-tone resource units that remain beside as many of this size as a channel has.
    pub fn left_over_in(self, width: Width) -> u32 {
        slots_in(width) - self.number_in(width) * self.slots()
    }

    /// The tones of the largest resource units that fill what is not punctured of a channel.
    pub fn tones_in(channel: Puncturing) -> u32 {
        channel.tones(|width| Self::of_channel(width).tones())
    }

    /// Appends the sizes of the largest number of resource units into which a channel is divided
    /// that so many stations leave none of empty: what a scheduler that gives all the same serves
    /// at once. None without a station.
    #[inline]
    pub fn none_empty(channel: Puncturing, stations: u32, into: &mut Vec<Self>) {
        if !channel.punctured.is_none() {
            return Self::none_empty_in_part(channel, stations, into);
        }
        // The wider they are the fewer a channel has, and none of those that are too wide.
        let numbers = Self::ALL.into_iter().map(|size| (size, size.number_in_all(channel.width)));
        let mut fit = numbers.filter(|&(_, number)| number <= stations);
        if let Some((size, number)) = fit.next() {
            into.extend((0..number).map(|_| size));
        }
    }

    #[cold]
    fn none_empty_in_part(channel: Puncturing, stations: u32, into: &mut Vec<Self>) {
        let mut divisions = Self::ALL.into_iter().map(|size| size.division(channel));
        let fit =
            divisions.find(|all| all.iter().map(|(_, number)| number).sum::<u32>() <= stations);
        for (size, number) in fit.into_iter().flatten() {
            into.extend((0..number).map(|_| size));
        }
    }

    /// Into how many resource units of which sizes a punctured channel is divided if none is larger
    /// than this one: equal ones, and in what is then left those of 20 MHz and more.
    fn division(self, channel: Puncturing) -> [(Self, u32); 4] {
        let mut pairs = Self::Tones52.number_in_part(channel);
        let mut fit = |size: Self| {
            let room = pairs.checked_div(size.pairs()).unwrap_or(u32::MAX);
            let number = size.number_in_part(channel).min(room);
            pairs -= number * size.pairs();
            (size, number)
        };
        let own = fit(self);
        let smaller = [Self::Tones996, Self::Tones484, Self::Tones242];
        let [a, b, c] = smaller.map(|size| if size < self { fit(size) } else { (size, 0) });
        [own, a, b, c]
    }

    /// The widest of which a channel has one for each of so many stations.
    pub fn widest_for(channel: impl Into<Puncturing>, stations: u32) -> Option<Self> {
        let channel = channel.into();
        Self::ALL.into_iter().rev().find(|size| size.number_in(channel) >= stations.max(1))
    }
}

/// A resource unit in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ru {
    /// Its size.
    pub size: RuSize,
    /// Its place among those of its size, from the lowest frequency, from 0.
    pub index: u32,
}

impl Ru {
    /// Its first slot of 26 tones in the channel.
    pub(super) const fn first_slot(self) -> u32 {
        let index = self.index;
        match self.size {
            RuSize::Tones26 => index,
            RuSize::Tones52 => first_of(index / 4) + FIRST_OF_52[index as usize % 4],
            RuSize::Tones106 => first_of(index / 2) + FIRST_OF_106[index as usize % 2],
            RuSize::Tones242 => first_of(index),
            RuSize::Tones484 => SLOTS_80 * (index / 2) + FIRST_OF_484[index as usize % 2],
            RuSize::Tones996 | RuSize::Tones1992 => SLOTS_80 * index,
        }
    }

    /// The slots of 26 tones that it takes, a bit each.
    pub(super) const fn slots(self) -> u128 {
        ((1 << self.size.slots()) - 1) << self.first_slot()
    }

    /// Whether two of them have a tone in common.
    pub const fn overlaps(self, other: Self) -> bool {
        self.slots() & other.slots() != 0
    }

    /// Whether it is the one in the middle of 80 MHz.
    pub fn is_between(self, width: Width) -> bool {
        width >= Width::Mhz80 && self.size == RuSize::Tones26 && self.index % SLOTS_80 == MIDDLE
    }

    /// Places resource units of these sizes in what is not punctured of a channel so that none
    /// overlap, the largest first and each as low as possible.
    ///
    /// # Errors
    ///
    /// The place in the list of one for which there is no room.
    pub fn place(channel: impl Into<Puncturing>, sizes: &[RuSize]) -> Result<Vec<Self>, usize> {
        let channel = channel.into();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&nth| std::cmp::Reverse(sizes[nth]));
        let mut placed = vec![Self { size: RuSize::Tones26, index: 0 }; sizes.len()];
        let mut taken = punctured_slots(channel);
        for nth in order {
            let size = sizes[nth];
            let all = (0..size.number_in_all(channel.width)).map(|index| Self { size, index });
            let free = all.into_iter().find(|ru| ru.slots() & taken == 0).ok_or(nth)?;
            taken |= free.slots();
            placed[nth] = free;
        }
        Ok(placed)
    }
}

/// The room of a channel for resource units of which only the sizes are known: whether
/// [`Ru::place`] places them. Two of a size are one of the next, but for the 26 tones between, so
/// that none takes the place of a larger one: it is enough to count. With the patterns of punctured
/// channels that a PPDU to a single user may have (`Punctured::patterns`) it is, too: the parts
/// that remain differ in size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Free slots of 26 tones.
    slots: u32,
    /// Those of 52 tones, which the 26 tones between are no part of.
    pairs: u32,
}

impl Room {
    /// That of a channel without any.
    pub fn of(channel: impl Into<Puncturing>) -> Self {
        let channel = channel.into();
        let [slots, pairs] = [RuSize::Tones26, RuSize::Tones52].map(|size| size.number_in(channel));
        Self { slots, pairs }
    }

    /// Takes the room of one of this size, if there is any. Returns whether there is.
    pub const fn take(&mut self, size: RuSize) -> bool {
        let (slots, pairs) = (size.slots(), size.pairs());
        let has_room = slots <= self.slots && pairs <= self.pairs;
        if has_room {
            (self.slots, self.pairs) = (self.slots - slots, self.pairs - pairs);
        }
        has_room
    }

    /// Gives the room of one of this size back.
    pub const fn put_back(&mut self, size: RuSize) {
        (self.slots, self.pairs) = (self.slots + size.slots(), self.pairs + size.pairs());
    }
}

/// The slots of 26 tones in a channel.
fn slots_in(width: Width) -> u32 {
    let segments = width.mhz() / 20;
    if segments < 4 { SLOTS_20 * segments } else { SLOTS_80 * (segments / 4) }
}

/// The slots of 26 tones in what is punctured of a channel, a bit each. The one in the middle of 80
/// MHz is in both 20 MHz beside it.
fn punctured_slots(channel: Puncturing) -> u128 {
    let segments = (0..subchannels(Width::Mhz160)).filter(|&nth| channel.punctured.has(nth));
    segments.fold(0, |all, nth| {
        let own = ((1 << SLOTS_20) - 1) << first_of(nth);
        let middle =
            if matches!(nth % 4, 1 | 2) { 1 << (SLOTS_80 * (nth / 4) + MIDDLE) } else { 0 };
        all | own | middle
    })
}

/// The first slot of a 20 MHz segment.
pub(super) const fn first_of(segment: u32) -> u32 {
    SLOTS_80 * (segment / 4) + FIRST_OF_20[segment as usize % 4]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Punctured;
    use RuSize::{Tones26, Tones52, Tones106, Tones242, Tones484, Tones996, Tones1992};
    use proptest::prelude::*;

    const WIDTHS: [Width; 4] = [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160];

    #[test]
    fn tones_and_numbers_are_those_of_the_tables() {
        // Tones, N_SD, N_SP, N_SD,short; RUs and 26-tone RUs left over at 20, 40, 80, 160 MHz.
        let expected = [
            (Tones26, [26, 24, 2, 6], [9, 18, 37, 74], [0, 0, 0, 0]),
            (Tones52, [52, 48, 4, 12], [4, 8, 16, 32], [1, 2, 5, 10]),
            (Tones106, [106, 102, 4, 24], [2, 4, 8, 16], [1, 2, 5, 10]),
            (Tones242, [242, 234, 8, 60], [1, 2, 4, 8], [0, 0, 1, 2]),
            (Tones484, [484, 468, 16, 120], [0, 1, 2, 4], [9, 0, 1, 2]),
            (Tones996, [996, 980, 16, 240], [0, 0, 1, 2], [9, 18, 0, 0]),
            (Tones1992, [1992, 1960, 32, 492], [0, 0, 0, 1], [9, 18, 37, 0]),
        ];
        for (size, [tones, data, pilots, quarter], numbers, left) in expected {
            let found = [size.tones(), size.data_tones(), size.pilots(), size.quarter_tones()];
            assert_eq!(found, [tones, data, pilots, quarter], "{size:?}");
            assert_eq!(WIDTHS.map(|width| size.number_in(width)), numbers, "{size:?}");
            assert_eq!(WIDTHS.map(|width| size.left_over_in(width)), left, "{size:?}");
        }
    }

    #[test]
    fn equal_units_serve_as_many_stations_as_leave_none_empty() {
        let steps = |width: Width| -> Vec<usize> {
            let mut all: Vec<usize> = (1..=80).map(|n| none_empty(width.into(), n).len()).collect();
            all.dedup();
            all
        };
        assert_eq!(steps(Width::Mhz20), [1, 2, 4, 9]);
        assert_eq!(steps(Width::Mhz40), [1, 2, 4, 8, 18]);
        assert_eq!(steps(Width::Mhz80), [1, 2, 4, 8, 16, 37]);
        assert_eq!(steps(Width::Mhz160), [1, 2, 4, 8, 16, 32, 74]);
        assert_eq!(none_empty(Width::Mhz20.into(), 8), [Tones52; 4]);
        assert_eq!(none_empty(Width::Mhz80.into(), 0), []);
    }

    #[test]
    fn the_widest_unit_for_each_of_the_stations() {
        let of = |width| [1, 2, 3, 4, 5, 9, 10, 38, 75].map(|n| RuSize::widest_for(width, n));
        let [two, four, nine] = [Tones106, Tones52, Tones26].map(Some);
        let none = None;
        assert_eq!(
            of(Width::Mhz20),
            [Some(Tones242), two, four, four, nine, nine, none, none, none]
        );
        let of_160 = of(Width::Mhz160);
        assert_eq!(of_160[..3], [Some(Tones1992), Some(Tones996), Some(Tones484)]);
        assert_eq!(of_160[7..], [Some(Tones26), None]);
    }

    #[test]
    fn all_units_of_a_size_are_apart_and_in_the_channel() {
        for width in WIDTHS {
            let whole = (1_u128 << slots_in(width)) - 1;
            for size in RuSize::ALL {
                let sizes = vec![size; size.number_in(width) as usize];
                let taken = Ru::place(width, &sizes).unwrap().iter().fold(0, |taken, ru| {
                    assert_eq!(taken & ru.slots(), 0, "{ru:?}");
                    taken | ru.slots()
                });
                assert_eq!(taken & !whole, 0, "{size:?} at {width:?}");
                let left = size.left_over_in(width);
                assert_eq!((whole & !taken).count_ones(), left, "{size:?} at {width:?}");
                let more = vec![size; sizes.len() + 1];
                assert_eq!(Ru::place(width, &more), Err(sizes.len()));
            }
        }
    }

    #[test]
    fn units_are_placed_whatever_their_order() {
        // 802.11ax-2021 table 27-26, value 10: 52, 26, 26, 26, 52, 26, 26.
        let sizes = [Tones26, Tones52, Tones26, Tones26, Tones52, Tones26, Tones26];
        let placed = Ru::place(Width::Mhz20, &sizes).unwrap();
        for (nth, ru) in placed.iter().enumerate() {
            assert_eq!(ru.size, sizes[nth]);
            assert!(placed[..nth].iter().all(|other| !ru.overlaps(*other)));
        }
        assert_eq!(Ru::place(Width::Mhz20, &[Tones106, Tones242]), Err(0));
        // 106, the 26 in the middle of 20 MHz, and 106.
        let full = Ru::place(Width::Mhz20, &[Tones106, Tones26, Tones106]).unwrap();
        assert_eq!(full.iter().map(|ru| ru.first_slot()).collect::<Vec<_>>(), [0, 4, 5]);
    }

    fn none_empty(channel: Puncturing, stations: u32) -> Vec<RuSize> {
        let mut sizes = Vec::new();
        RuSize::none_empty(channel, stations, &mut sizes);
        sizes
    }

    /// All channels, whole and without what a PPDU may leave out.
    fn channels() -> impl Iterator<Item = Puncturing> {
        WIDTHS.into_iter().flat_map(|width| {
            let patterns = Punctured::patterns(width).into_iter();
            let whole = std::iter::once(Punctured::NONE);
            whole.chain(patterns).map(move |punctured| Puncturing { width, punctured })
        })
    }

    /// 80 MHz without one of its subchannels, from the lowest, and 160 MHz without the second
    /// channel of 40.
    #[test]
    fn punctured_channels_have_the_units_beside() {
        let without = |width, bits| Puncturing { width, punctured: Punctured::of_bits(bits) };
        let of = |channel| RuSize::ALL.map(|size| size.number_in(channel));
        let [inner, outer] = [[27, 12, 6, 3, 1, 0, 0], [28, 12, 6, 3, 1, 0, 0]];
        let of_80 = [1, 2, 4, 8].map(|bits| of(without(Width::Mhz80, bits)));
        assert_eq!(of_80, [outer, inner, inner, outer]);
        assert_eq!(of(without(Width::Mhz160, 0b1100)), [55, 24, 12, 6, 3, 1, 0]);
        // None overlaps what is punctured: the third 20 MHz has slots 19 to 27.
        let third = without(Width::Mhz80, 0b100);
        let placed = Ru::place(third, &[Tones242, Tones484, Tones52]);
        assert_eq!(placed, Err(2));
        let placed = Ru::place(third, &[Tones242, Tones484]).unwrap();
        assert_eq!(placed.iter().map(|ru| ru.index).collect::<Vec<_>>(), [3, 0]);
    }

    #[test]
    fn divisions_of_punctured_channels_leave_nothing_of_20_mhz() {
        let sizes = |bits: u16, width, stations| -> Vec<u32> {
            let channel = Puncturing { width, punctured: Punctured::of_bits(bits) };
            none_empty(channel, stations).into_iter().map(RuSize::tones).collect()
        };
        let of_80 = |stations| sizes(0b0010, Width::Mhz80, stations);
        assert_eq!([1, 2, 3, 5].map(of_80), [vec![], vec![484, 242], vec![242; 3], vec![242; 3],]);
        assert_eq!([6, 12, 27].map(|n| of_80(n).len()), [6, 12, 27]);
        let of_160 = |stations| sizes(0b1000_0000, Width::Mhz160, stations);
        assert_eq!(of_160(3), [996, 484, 242]);
        assert_eq!(of_160(4), [484, 484, 484, 242]);
        assert_eq!(of_160(7), [242; 7]);
        for channel in channels() {
            for stations in 1..80 {
                let sizes = none_empty(channel, stations);
                assert!(sizes.len() as u32 <= stations && sizes.is_sorted_by(|a, b| a >= b));
                let mut room = Room::of(channel);
                assert!(sizes.iter().all(|&size| room.take(size)));
                assert!(sizes.is_empty() || !room.take(Tones242), "{channel:?} {stations}");
                assert!(Ru::place(channel, &sizes).is_ok());
            }
        }
    }

    proptest! {
        #[test]
        fn those_that_fit_are_placed(
            sizes in prop::collection::vec(prop::sample::select(&RuSize::ALL[..]), 0..40),
        ) {
            for width in channels() {
                let (mut room, empty) = (Room::of(width), Room::of(width));
                let fits = sizes.iter().all(|&size| room.take(size));
                prop_assert_eq!(fits, Ru::place(width, &sizes).is_ok());
                if fits {
                    for &size in &sizes {
                        room.put_back(size);
                    }
                    prop_assert_eq!(room, empty);
                }
            }
        }
    }

    #[test]
    fn one_unit_is_in_the_middle_of_80_mhz() {
        let middle = |width| -> Vec<u32> {
            let all = (0..slots_in(width)).map(|index| Ru { size: Tones26, index });
            all.filter(|ru| ru.is_between(width)).map(|ru| ru.index).collect()
        };
        assert_eq!(WIDTHS.map(middle), [vec![], vec![], vec![18], vec![18, 55]]);
    }
}
