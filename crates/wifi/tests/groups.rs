//! Properties of PPDUs of several users that hold for every group.

use kernel::{Bytes, Duration};
use proptest::prelude::*;
use wifi::phy::he::{
    GroupFault, GroupFormat, GroupPpdu, GroupUser, GroupVector, NominalPadding, Ru, RuAllocation,
    RuSize, SigBMode, described,
};
use wifi::phy::{Band, Coding, Guard, PpduTiming, Punctured, Width};

const WIDTHS: [Width; 4] = [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160];
const PADDINGS: [NominalPadding; 3] =
    [NominalPadding::Us0, NominalPadding::Us8, NominalPadding::Us16];

fn vectors() -> impl Strategy<Value = GroupVector> {
    let formats = prop_oneof![
        Just(GroupFormat::Tb),
        (0..6_u8).prop_map(|mcs| GroupFormat::Mu(SigBMode { mcs, dual_carrier: false })),
    ];
    let (widths, paddings) = (prop::sample::select(&WIDTHS), prop::sample::select(&PADDINGS));
    let long = any::<bool>();
    (formats, widths, paddings, long).prop_map(|(format, width, padding, long)| GroupVector {
        format,
        band: Band::Ghz5,
        width,
        punctured: Punctured::NONE,
        guard: if long { Guard::Ns3200 } else { Guard::Ns1600 },
        ltf: None,
        padding,
        small_1024_qam: true,
        timing: PpduTiming::Standard,
    })
}

fn users() -> impl Strategy<Value = Vec<GroupUser>> {
    let sizes = prop::sample::select(&RuSize::ALL);
    let codings = prop_oneof![Just(None), Just(Some(Coding::Ldpc))];
    let user = (sizes, 0..12_u8, 1..=4_u8, codings, 1..=2000_u64);
    let user = user.prop_map(|(size, mcs, streams, coding, psdu)| GroupUser {
        size,
        mcs,
        streams,
        coding,
        psdu: Bytes(psdu),
    });
    prop::collection::vec(user, 1..20)
}

/// The first users for whom there is room, and their PPDU, if it is not too long.
fn fitted(vector: &GroupVector, users: &[GroupUser]) -> Option<(Vec<GroupUser>, GroupPpdu)> {
    let mut fit = Vec::new();
    for user in users {
        fit.push(*user);
        let sizes: Vec<RuSize> = fit.iter().map(|user| user.size).collect();
        if Ru::place(vector.width, &sizes).is_err() {
            fit.pop();
        }
    }
    let ppdu = if fit.is_empty() { None } else { Some(vector.ppdu(&fit)) };
    match ppdu? {
        Ok(ppdu) => Some((fit, ppdu)),
        Err(GroupFault::TooLong { .. }) => None,
        Err(fault) => panic!("{fault:?}"),
    }
}

/// Symbols until all bits are out, one after the other; a symbol holds whole bits.
fn count(user: &GroupUser, is_ldpc: bool) -> u64 {
    const BITS: [u64; 12] = [1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10];
    const TWELFTHS: [u64; 12] = [6, 6, 9, 6, 9, 8, 9, 10, 9, 10, 9, 10];
    let mcs = usize::from(user.mcs);
    let tones = u64::from(user.size.data_tones());
    let symbol = tones * BITS[mcs] * u64::from(user.streams) * TWELFTHS[mcs] / 12;
    let bits = 16 + 8 * user.psdu.0 + if is_ldpc { 0 } else { 6 };
    let (mut symbols, mut sent) = (0, 0);
    while sent < bits {
        sent += symbol;
        symbols += 1;
    }
    symbols
}

proptest! {
    #[test]
    fn the_longest_user_decides(vector in vectors(), users in users()) {
        let Some((users, ppdu)) = fitted(&vector, &users) else { return Ok(()) };
        let symbol = Duration(12_800 + vector.guard.ns());
        let mut longest = 0;
        for (user, part) in users.iter().zip(&ppdu.users) {
            prop_assert_eq!(part.symbols, count(user, part.coding == Coding::Ldpc));
            prop_assert_eq!(part.idle + symbol * part.symbols, ppdu.fields.data);
            longest = longest.max(part.symbols);
        }
        // An extra segment of LDPC may take one more.
        prop_assert!(longest == ppdu.end.symbols || longest + 1 == ppdu.end.symbols);
        let is_ldpc = ppdu.users.iter().any(|part| part.coding == Coding::Ldpc);
        prop_assert!(is_ldpc || longest == ppdu.end.symbols);
    }

    #[test]
    fn the_order_of_users_changes_nothing(vector in vectors(), users in users()) {
        let Some((mut users, ppdu)) = fitted(&vector, &users) else { return Ok(()) };
        users.reverse();
        let turned = vector.ppdu(&users).unwrap();
        prop_assert_eq!(ppdu.fields.data, turned.fields.data);
        prop_assert_eq!(ppdu.fields.ltf, turned.fields.ltf);
        prop_assert_eq!(ppdu.fields.packet_extension, turned.fields.packet_extension);
    }

    /// Padding is what a user could still send: with it, nothing lasts longer, and with a byte more
    /// something does.
    #[test]
    fn padding_may_be_data(
        vector in vectors(),
        users in users(),
        which in any::<prop::sample::Index>(),
    ) {
        let Some((mut users, ppdu)) = fitted(&vector, &users) else { return Ok(()) };
        let bcc = ppdu.users.iter().all(|part| part.coding == Coding::Bcc);
        let which = which.index(users.len());
        users[which].psdu += ppdu.users[which].padding;
        if !bcc {
            return Ok(());
        }
        let full = vector.ppdu(&users).unwrap();
        prop_assert_eq!(full.end, ppdu.end);
        prop_assert_eq!(full.users[which].padding, Bytes(0));
        users[which].psdu += Bytes(1);
        if let Ok(more) = vector.ppdu(&users) {
            prop_assert!(more.end > ppdu.end);
        }
    }

    #[test]
    fn the_announced_end_is_that_of_all_responders(vector in vectors(), users in users()) {
        let Some((users, ppdu)) = fitted(&vector, &users) else { return Ok(()) };
        let late = ppdu.announced - ppdu.fields.total();
        prop_assert!(late < Duration(4000));
        if vector.format == GroupFormat::Tb {
            let streams = users.iter().map(|user| user.streams).max().unwrap();
            let answer = vector.response(ppdu.length, ppdu.pe_disambiguity, streams);
            prop_assert_eq!(answer, Some((ppdu.end.symbols, ppdu.fields.packet_extension)));
        }
    }

    /// The codes describe each resource unit of a plan where it is, and all users.
    #[test]
    fn codes_describe_the_plan(users in users(), width in prop::sample::select(&WIDTHS)) {
        let mut sizes = Vec::new();
        for user in users.iter().filter(|user| user.size != RuSize::Tones1992) {
            sizes.push(user.size);
            if Ru::place(width, &sizes).is_err() {
                sizes.pop();
            }
        }
        let plan = Ru::place(width, &sizes).unwrap();
        let RuAllocation { codes, user_fields } = RuAllocation::of(width, &plan);
        let mut told: Vec<RuSize> = Vec::new();
        let mut fields = [0, 0];
        for (segment, &code) in codes.iter().enumerate() {
            for unit in described(code).unwrap() {
                fields[segment % 2] += unit.users;
                told.extend((unit.users > 0).then_some(unit.size));
            }
        }
        let middle = plan.iter().filter(|ru| ru.is_between(width));
        for ru in middle {
            fields[usize::from(ru.index > 36)] += 1;
            told.push(ru.size);
        }
        prop_assert_eq!(fields, user_fields);
        for size in RuSize::ALL {
            let number = |all: &[RuSize]| all.iter().filter(|each| **each == size).count();
            prop_assert!(number(&told) >= number(&sizes), "{:?}: {:?} in {:?}", size, sizes, told);
        }
    }
}
