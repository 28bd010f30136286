//! The codes that tell stations their resource units: RU Allocation of HE-SIG-B, one for each 20
//! MHz (802.11ax-2021 table 27-26), and RU Allocation of the User Info of a Trigger frame (clause
//! 9.3.1.22).

use super::ru::{Ru, RuSize, first_of};
use crate::phy::Width;

/// The code of 20 MHz without resource units.
const EMPTY: u8 = 113;
/// The code of a part of a 484-tone resource unit whose users are told with another part.
const PART_OF_484: u8 = 114;
/// The same of 996 tones.
const PART_OF_996: u8 = 115;
/// Slots of 26 tones in 20 MHz: two pairs, one in the middle, two pairs.
const PAIRS: [u32; 4] = [0, 2, 5, 7];
const MIDDLE: u32 = 4;

/// A resource unit that a code of HE-SIG-B describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Described {
    /// Its first slot of 26 tones, counted from that of the 20 MHz.
    pub slot: u32,
    /// Its size.
    pub size: RuSize,
    /// Its users, more than one with multi-user MIMO; 0 if the code of another 20 MHz tells them.
    pub users: u32,
}

/// What a code of HE-SIG-B describes, from the lowest frequency; `None` if it is reserved.
///
/// Code 216 and those that follow, which some tools read as 2x996 tones, are reserved here: a
/// single resource unit of 160 MHz is told without codes, by HE-SIG-B compression.
pub fn described(code: u8) -> Option<Vec<Described>> {
    use RuSize::{Tones26, Tones106, Tones242, Tones484, Tones996};
    let code = u32::from(code);
    let mut units = Vec::new();
    let mut add = |slot, size, users| units.push(Described { slot, size, users });
    let more = 1 + code % 8;
    match code {
        0..=15 => {
            pairs(&PAIRS[..2], code >> 2, &mut add);
            add(MIDDLE, Tones26, 1);
            pairs(&PAIRS[2..], code, &mut add);
        }
        16..=23 => {
            pairs(&PAIRS[..2], 3, &mut add);
            add(PAIRS[2], Tones106, more);
        }
        24..=31 => {
            add(PAIRS[0], Tones106, more);
            pairs(&PAIRS[2..], 3, &mut add);
        }
        32..=63 => {
            pairs(&PAIRS[..2], code >> 3, &mut add);
            add(MIDDLE, Tones26, 1);
            add(PAIRS[2], Tones106, more);
        }
        64..=95 => {
            add(PAIRS[0], Tones106, more);
            add(MIDDLE, Tones26, 1);
            pairs(&PAIRS[2..], code >> 3, &mut add);
        }
        96..=111 => {
            add(PAIRS[0], Tones106, 1 + code / 4 % 4);
            add(PAIRS[2], Tones106, 1 + code % 4);
        }
        112 => pairs(&PAIRS, 15, &mut add),
        113 => {}
        114 => add(0, Tones484, 0),
        115 => add(0, Tones996, 0),
        128..=191 => {
            add(PAIRS[0], Tones106, 1 + code / 8 % 8);
            add(MIDDLE, Tones26, 1);
            add(PAIRS[2], Tones106, more);
        }
        192..=199 => add(0, Tones242, more),
        200..=207 => add(0, Tones484, more),
        208..=215 => add(0, Tones996, more),
        _ => return None,
    }
    Some(units)
}

/// Pairs of slots, each joined to 52 tones if its bit is set; the last pair has bit 0.
fn pairs(first: &[u32], joined: u32, add: &mut impl FnMut(u32, RuSize, u32)) {
    for (nth, &slot) in first.iter().enumerate() {
        if joined >> (first.len() - 1 - nth) & 1 == 1 {
            add(slot, RuSize::Tones52, 1);
        } else {
            add(slot, RuSize::Tones26, 1);
            add(slot + 1, RuSize::Tones26, 1);
        }
    }
}

/// The codes of a plan in both content channels of HE-SIG-B, and how many users each tells (clause
/// 27.3.11.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuAllocation {
    /// The code of each 20 MHz from the lowest frequency; the second, fourth and so on are in the
    /// second content channel.
    pub codes: Vec<u8>,
    /// The user fields of both content channels, those of resource units without a user among them.
    pub user_fields: [u32; 2],
}

impl RuAllocation {
    /// The codes for these resource units, each with one user. They do not overlap.
    ///
    /// Where no code has just these, one has the fewest further ones, whose user fields say that
    /// nobody is there (STA-ID 2046). A resource unit that reaches over both content channels is
    /// told in the one with fewer users.
    pub fn of(width: Width, plan: &[Ru]) -> Self {
        let segments = width.mhz() / 20;
        let mut codes = vec![EMPTY; segments as usize];
        let mut user_fields = [0, 0];
        let mut segment = 0;
        while segment < segments {
            let here = plan.iter().filter(|ru| ru.slots() >> first_of(segment) & 1 == 1);
            if let Some(Wide { segments, told, rest }) = here.copied().find_map(Wide::of) {
                let channel = usize::from(user_fields[1] < user_fields[0]);
                user_fields[channel] += 1;
                codes[segment as usize..][..segments as usize].fill(rest);
                codes[segment as usize + channel] = told;
                segment += segments;
            } else {
                let (code, users) = narrow(segment, plan);
                codes[segment as usize] = code;
                user_fields[segment as usize % 2] += users;
                segment += 1;
            }
        }
        // The one in the middle of 80 MHz has a bit, and its user in the first content channel for
        // the lower 80 MHz, in the second for the upper.
        for ru in plan.iter().filter(|ru| ru.is_between(width)) {
            user_fields[usize::from(ru.first_slot() >= first_of(4))] += 1;
        }
        Self { codes, user_fields }
    }
}

/// A resource unit wider than 20 MHz: its 20 MHz segments, its code with its user, and the code of
/// all other segments, which tell none.
struct Wide {
    segments: u32,
    told: u8,
    rest: u8,
}

impl Wide {
    fn of(ru: Ru) -> Option<Self> {
        match ru.size {
            RuSize::Tones484 => Some(Self { segments: 2, told: 200, rest: PART_OF_484 }),
            RuSize::Tones996 => Some(Self { segments: 4, told: 208, rest: PART_OF_996 }),
            _ => None,
        }
    }
}

/// The code of a 20 MHz segment with resource units of at most 242 tones, and its users.
fn narrow(segment: u32, plan: &[Ru]) -> (u8, u32) {
    let first = first_of(segment);
    let here = |ru: &Ru| (first..first + 9).contains(&ru.first_slot());
    let needed: Vec<Described> = plan
        .iter()
        .filter(|ru| ru.size <= RuSize::Tones242 && here(ru))
        .map(|ru| Described { slot: ru.first_slot() - first, size: ru.size, users: 1 })
        .collect();
    if needed.is_empty() {
        return (EMPTY, 0);
    }
    let has_all = |units: &Vec<Described>| needed.iter().all(|unit| units.contains(unit));
    let fit = (0..=192).filter_map(|code| Some((code, described(code)?)));
    let users = |units: Vec<Described>| units.iter().map(|unit| unit.users).sum();
    fit.filter(|(_, units)| has_all(units))
        .map(|(code, units)| (code, users(units)))
        .min_by_key(|(_, users)| *users)
        .expect("each plan of 20 MHz has a code that contains it")
}

/// RU Allocation in the User Info of a Trigger frame, B0 the lowest bit: whether it is in the
/// secondary 80 MHz, here the upper, and the resource unit within 80 MHz.
pub fn user_info_code(ru: Ru) -> u8 {
    use RuSize::{Tones26, Tones52, Tones106, Tones242, Tones484, Tones996, Tones1992};
    let (base, in_80) = match ru.size {
        Tones26 => (0, 37),
        Tones52 => (37, 16),
        Tones106 => (53, 8),
        Tones242 => (61, 4),
        Tones484 => (65, 2),
        Tones996 => (67, 1),
        // An MU-RTS sets B0 for 160 MHz, other Trigger frames do not.
        Tones1992 => (68, 1),
    };
    let (upper, index) = (ru.index / in_80, ru.index % in_80);
    ((base + index) << 1 | upper) as u8
}

/// UL BW of a Trigger frame.
pub fn bandwidth_code(width: Width) -> u8 {
    (width.mhz() / 20).ilog2() as u8
}

/// RU Allocation in the User Info of an MU-RTS: the channel over which the CTS goes.
pub fn width_code(width: Width) -> u8 {
    let upper = u8::from(width == Width::Mhz160);
    user_info_code(Ru { size: RuSize::of_channel(width), index: 0 }) | upper
}

#[cfg(test)]
mod tests {
    use super::*;
    use RuSize::{Tones26, Tones52, Tones106, Tones242, Tones484, Tones996, Tones1992};

    fn tones(code: u8) -> Vec<u32> {
        described(code).unwrap().iter().map(|unit| unit.size.tones()).collect()
    }

    #[test]
    fn an_mu_rts_names_the_channel() {
        use Width::{Mhz20, Mhz40, Mhz80, Mhz160};
        let widths = [Mhz20, Mhz40, Mhz80, Mhz160];
        // 61, 65, 67 and 68 in B7 to B1; B0 says that the CTS has 160 MHz.
        assert_eq!(widths.map(width_code), [61 << 1, 65 << 1, 67 << 1, 68 << 1 | 1]);
        assert_eq!(widths.map(bandwidth_code), [0, 1, 2, 3]);
    }

    #[test]
    fn codes_describe_what_the_table_says() {
        let expected: [(u8, &[u32], u32); 27] = [
            (0, &[26, 26, 26, 26, 26, 26, 26, 26, 26], 9),
            (1, &[26, 26, 26, 26, 26, 26, 26, 52], 8),
            (2, &[26, 26, 26, 26, 26, 52, 26, 26], 8),
            (4, &[26, 26, 52, 26, 26, 26, 26, 26], 8),
            (8, &[52, 26, 26, 26, 26, 26, 26, 26], 8),
            (10, &[52, 26, 26, 26, 52, 26, 26], 7),
            (15, &[52, 52, 26, 52, 52], 5),
            (16, &[52, 52, 106], 3),
            (23, &[52, 52, 106], 10),
            (24, &[106, 52, 52], 3),
            (31, &[106, 52, 52], 10),
            (32, &[26, 26, 26, 26, 26, 106], 6),
            (41, &[26, 26, 52, 26, 106], 6),
            (50, &[52, 26, 26, 26, 106], 7),
            (63, &[52, 52, 26, 106], 11),
            (64, &[106, 26, 26, 26, 26, 26], 6),
            (72, &[106, 26, 26, 26, 52], 5),
            (80, &[106, 26, 52, 26, 26], 5),
            (88, &[106, 26, 52, 52], 4),
            (96, &[106, 106], 2),
            (107, &[106, 106], 7),
            (112, &[52, 52, 52, 52], 4),
            (113, &[], 0),
            (138, &[106, 26, 106], 6),
            (192, &[242], 1),
            (207, &[484], 8),
            (208, &[996], 1),
        ];
        for (code, sizes, users) in expected {
            assert_eq!(tones(code), sizes, "{code}");
            let told: u32 = described(code).unwrap().iter().map(|unit| unit.users).sum();
            assert_eq!(told, users, "{code}");
        }
        for code in (116..128).chain(216..=255) {
            assert_eq!(described(code), None, "{code}");
        }
        assert_eq!(described(PART_OF_484).unwrap()[0].users, 0);
        assert_eq!(described(PART_OF_996).unwrap()[0].users, 0);
    }

    #[test]
    fn what_a_code_describes_is_apart() {
        for code in 0..192 {
            let Some(units) = described(code) else { continue };
            let mut free = 0;
            for unit in units.iter().filter(|unit| unit.size < Tones242) {
                assert!(unit.slot >= free, "{code}");
                let slots = match unit.size {
                    Tones26 => 1,
                    Tones52 => 2,
                    _ => 4,
                };
                free = unit.slot + slots;
                assert!(free <= 9, "{code}");
            }
        }
    }

    /// The codes and the user fields of resource units that are placed as [`Ru::place`] does.
    fn of(width: Width, sizes: &[RuSize]) -> (Vec<u8>, [u32; 2]) {
        let plan = Ru::place(width, sizes).unwrap();
        let RuAllocation { codes, user_fields } = RuAllocation::of(width, &plan);
        (codes, user_fields)
    }

    /// A channel, resource units, their codes, the user fields in both content channels.
    type Plan = (Width, &'static [RuSize], &'static [u8], [u32; 2]);

    #[test]
    fn plans_have_codes() {
        use Width::{Mhz20, Mhz40, Mhz80, Mhz160};
        let expected: [Plan; 15] = [
            (Mhz20, &[Tones26; 9], &[0], [9, 0]),
            (Mhz20, &[Tones52; 4], &[112], [4, 0]),
            (Mhz20, &[Tones106; 2], &[96], [2, 0]),
            (Mhz20, &[Tones242], &[192], [1, 0]),
            // Nobody is in the third resource unit, nor in the second and the third.
            (Mhz20, &[Tones52; 2], &[16], [3, 0]),
            (Mhz20, &[Tones52], &[16], [3, 0]),
            (Mhz20, &[Tones26], &[40], [5, 0]),
            (Mhz20, &[Tones106, Tones26], &[128], [3, 0]),
            (Mhz20, &[Tones106, Tones52], &[24], [3, 0]),
            (Mhz40, &[Tones242; 2], &[192, 192], [1, 1]),
            (Mhz40, &[Tones26; 18], &[0, 0], [9, 9]),
            (Mhz80, &[Tones26; 37], &[0, 0, 0, 0], [19, 18]),
            (Mhz80, &[Tones484, Tones484], &[200, 114, 114, 200], [1, 1]),
            (Mhz80, &[Tones484, Tones242], &[200, 114, 192, 113], [2, 0]),
            (Mhz80, &[Tones996], &[208, 115, 115, 115], [1, 0]),
        ];
        for (width, sizes, codes, users) in expected {
            assert_eq!(of(width, sizes), (codes.to_vec(), users), "{sizes:?} at {width:?}");
        }
        let (codes, users) = of(Mhz160, &[Tones26; 74]);
        assert_eq!((codes, users), (vec![0; 8], [37, 37]));
        let (codes, users) = of(Mhz160, &[Tones996, Tones996]);
        assert_eq!(codes, [208, 115, 115, 115, 115, 208, 115, 115]);
        assert_eq!(users, [1, 1]);
    }

    #[test]
    fn trigger_frames_count_within_80_mhz() {
        let expected = [
            (Tones26, 0, 0, 0),
            (Tones26, 36, 36, 0),
            (Tones26, 37, 0, 1),
            (Tones52, 15, 52, 0),
            (Tones106, 0, 53, 0),
            (Tones106, 9, 54, 1),
            (Tones242, 3, 64, 0),
            (Tones484, 1, 66, 0),
            (Tones484, 2, 65, 1),
            (Tones996, 1, 67, 1),
            (Tones1992, 0, 68, 0),
        ];
        for (size, index, code, upper) in expected {
            let found = user_info_code(Ru { size, index });
            assert_eq!((found >> 1, found & 1), (code, upper), "{size:?} {index}");
        }
    }
}
