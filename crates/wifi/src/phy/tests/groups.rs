//! PPDUs of several users against the formulas of the standard worked out beforehand, and against
//! known values of ns-3. Each table fails when one of its numbers is changed.

use super::he::{
    DataEnd, GroupFault, GroupFormat, GroupPpdu, GroupUser, GroupVector, HeFormat, NominalPadding,
    RuSize, SigBMode,
};
use super::*;
use kernel::{Bytes, Duration};

/// An HE MU PPDU at 20 MHz with a guard interval of 800 ns, HE-SIG-B at its highest MCS.
const MU: GroupVector = GroupVector {
    format: GroupFormat::Mu(SigBMode { mcs: 5, dual_carrier: false }),
    band: Band::Ghz5,
    width: Width::Mhz20,
    punctured: Punctured::NONE,
    guard: Guard::Ns800,
    ltf: None,
    padding: NominalPadding::Us0,
    small_1024_qam: false,
    timing: PpduTiming::Standard,
};
/// An HE TB PPDU at 20 MHz with 1600 ns.
const TB: GroupVector = GroupVector { format: GroupFormat::Tb, guard: Guard::Ns1600, ..MU };

/// A user with one stream and MCS 7.
fn user(size: RuSize, psdu: u64) -> GroupUser {
    GroupUser { size, mcs: 7, streams: 1, coding: None, psdu: Bytes(psdu) }
}

fn ppdu(vector: &GroupVector, users: &[GroupUser]) -> GroupPpdu {
    vector.ppdu(users).unwrap_or_else(|fault| panic!("{fault:?}"))
}

fn equal(vector: &GroupVector, number: usize, user: GroupUser) -> GroupPpdu {
    ppdu(vector, &vec![user; number])
}

fn fault(vector: &GroupVector, users: &[GroupUser]) -> (Option<usize>, &'static str, String) {
    let refused = vector.ppdu(users).expect_err("refused");
    let GroupFault::Parameter { user, fault } = refused else { panic!("{refused:?}") };
    (user, fault.parameter, fault.said.to_string())
}

fn ns(duration: Duration) -> u64 {
    duration.0
}

/// Tones, PSDU of each user, then symbols, quarters, TXTIME, TXTIME in ns-3 in ns, and the packet
/// extension in µs with a nominal padding of 16. As many users as 20 MHz has resource units.
type Row = [u64; 7];

const VECTORS: [Row; 9] = [
    [106, 100, 2, 3, 74_400, 75_200, 12],
    [106, 1540, 25, 1, 387_200, 388_000, 4],
    [106, 3000, 48, 1, 700_000, 700_800, 4],
    [52, 100, 4, 2, 101_600, 102_400, 8],
    [52, 1540, 52, 2, 754_400, 755_200, 8],
    [52, 3000, 101, 1, 1_420_800, 1_421_600, 4],
    [26, 100, 7, 4, 146_400, 147_200, 16],
    [26, 1540, 103, 4, 1_452_000, 1_452_800, 16],
    [26, 3000, 201, 1, 2_784_800, 2_785_600, 4],
];

fn computed(tones: u64, psdu: u64) -> Row {
    let size = RuSize::ALL.into_iter().find(|size| u64::from(size.tones()) == tones).unwrap();
    let number = size.number_in(Width::Mhz20) as usize;
    let of = |vector| equal(&vector, number, user(size, psdu));
    let standard = of(MU);
    let padded = of(GroupVector { padding: NominalPadding::Us16, ..MU });
    let ns3 = of(GroupVector { timing: PpduTiming::Ns3, padding: NominalPadding::Us16, ..MU });
    let extension = padded.fields.packet_extension;
    assert_eq!(padded.fields.total(), standard.fields.total() + extension);
    [
        tones,
        psdu,
        standard.end.symbols,
        standard.end.quarters.into(),
        ns(standard.fields.total()),
        ns(ns3.fields.total()),
        ns(extension) / 1000,
    ]
}

/// Table 27-54: 32 µs of HE TB PPDUs, and 4 µs more of HE MU PPDUs for each symbol of HE-SIG-B.
#[test]
fn reception_is_known_after_the_signal_fields() {
    let delay = |vector: GroupVector| {
        let users = [user(RuSize::Tones106, 100); 2];
        ns(vector.layout(&users).unwrap().rx_start_delay())
    };
    assert_eq!((delay(TB), delay(MU)), (32_000, 36_000));
    let in_ns3 = GroupVector { timing: PpduTiming::Ns3, ..TB };
    assert_eq!(delay(in_ns3), 48_000, "the preamble with HE-STF and an HE-LTF of 8 µs");
}

#[test]
fn groups_of_equal_users() {
    for row in VECTORS {
        assert_eq!(computed(row[0], row[1]), row);
    }
}

#[test]
fn a_trigger_based_ppdu_ends_at_the_announced_time() {
    // 3000 bytes in 52 tones: 101 symbols of 14.4 µs after 48 µs.
    let found = equal(&TB, 4, user(RuSize::Tones52, 3000));
    assert_eq!((found.end.symbols, ns(found.fields.total())), (101, 1_502_400));
    assert_eq!((found.length, ns(found.announced)), (1108, 1_504_000));
    assert_eq!(TB.response(found.length, found.pe_disambiguity, 1), Some((101, Duration::ZERO)));
    let ns3 = GroupVector { timing: PpduTiming::Ns3, ..TB };
    let found = equal(&ns3, 4, user(RuSize::Tones52, 3000));
    assert_eq!((ns(found.fields.total()), found.length), (1_502_400, 1108));
    assert_eq!(found.announced, found.fields.total());
}

/// ns-3's own unit test of durations: HE MU with two users of 242 tones in 40 MHz, and the symbols
/// of its HE-SIG-B.
#[test]
fn known_values_of_ns3() {
    let vector = GroupVector {
        format: GroupFormat::Mu(SigBMode::for_slowest(0)),
        width: Width::Mhz40,
        timing: PpduTiming::Ns3,
        ..MU
    };
    let slow = GroupUser { mcs: 0, ..user(RuSize::Tones242, 1536) };
    let found = equal(&vector, 2, slow);
    assert_eq!(ns(found.fields.total()), 1_493_600);
    assert_eq!(found.sig_b.unwrap().symbols, 2);
}

/// The same test of single users at MCS 11.
#[test]
fn known_values_of_ns3_with_one_user() {
    for (width, ns) in [(20, 139_200), (40, 98_400), (80, 71_200), (160, 57_600)] {
        let ns3 = TxVector { timing: PpduTiming::Ns3, ..vector(ModeClass::He, 11, 1, width, 800) };
        let total = airtime(&ns3.mode().unwrap(), Preamble::Long, Bytes(1536)).total();
        assert_eq!(total, Duration(ns), "{width} MHz");
    }
}

/// The PPDUs of one user over 20 MHz, with the quarters of the last symbol from a group of one.
#[test]
fn single_users() {
    // PSDU, symbols, quarters, TXTIME and TXTIME in ns-3 in ns, packet extension at 16 µs.
    let expected = [
        (100, 1, 3, 56_800, 57_600, 12),
        (1540, 11, 3, 192_800, 193_600, 12),
        (3000, 21, 3, 328_800, 329_600, 12),
        (6000, 42, 1, 614_400, 615_200, 4),
        (12_000, 83, 1, 1_172_000, 1_172_800, 4),
    ];
    for (psdu, symbols, quarters, standard, ns3, extension) in expected {
        let su = vector(ModeClass::He, 7, 1, 20, 800);
        let total = |vector: TxVector| {
            ns(airtime(&vector.mode().unwrap(), Preamble::Long, Bytes(psdu)).total())
        };
        assert_eq!(total(su), standard, "{psdu}");
        assert_eq!(total(TxVector { timing: PpduTiming::Ns3, ..su }), ns3, "{psdu}");
        let padded = GroupVector { padding: NominalPadding::Us16, ..MU };
        let alone = equal(&padded, 1, user(RuSize::Tones242, psdu));
        assert_eq!(alone.end, DataEnd { symbols, quarters }, "{psdu}");
        assert_eq!(ns(alone.fields.packet_extension), extension * 1000, "{psdu}");
    }
}

#[test]
fn preambles() {
    let tb4 = GroupVector { guard: Guard::Ns3200, ..TB };
    let slow_sig_b = GroupVector { format: GroupFormat::Mu(SigBMode::for_slowest(0)), ..MU };
    let mu4 = GroupVector { ltf: Some(HeLtf::X4), ..MU };
    let mu16 = GroupVector { guard: Guard::Ns1600, ..MU };
    let mu32 = GroupVector { guard: Guard::Ns3200, ..MU };
    let ns3 = GroupVector { timing: PpduTiming::Ns3, ..mu32 };
    // Vector, streams of the second user, time before the data in ns.
    let expected = [
        (MU, 1, 47_200),
        (slow_sig_b, 1, 55_200),
        (mu16, 1, 48_000),
        (mu4, 1, 53_600),
        (mu32, 1, 56_000),
        (ns3, 1, 48_000),
        (TB, 1, 48_000),
        (tb4, 1, 56_000),
        // The HE-LTFs of the user with the most streams: 2, 4, 4, 6, 6, 8, 8.
        (TB, 2, 56_000),
        (TB, 3, 72_000),
        (TB, 4, 72_000),
        (TB, 5, 88_000),
        (TB, 6, 88_000),
        (TB, 7, 104_000),
        (MU, 8, 97_600),
        (ns3, 8, 104_000),
    ];
    for (vector, streams, preamble) in expected {
        let users =
            [user(RuSize::Tones106, 100), GroupUser { streams, ..user(RuSize::Tones106, 100) }];
        let fields = ppdu(&vector, &users).fields;
        assert_eq!(ns(fields.preamble()), preamble, "{vector:?}, {streams} streams");
    }
}

#[test]
fn the_longest_user_decides_and_the_others_pad() {
    let users = [user(RuSize::Tones106, 1540), user(RuSize::Tones52, 100)];
    let found = ppdu(&MU, &users);
    assert_eq!(found.end, DataEnd { symbols: 25, quarters: 1 });
    assert_eq!(ns(found.fields.total()), 387_200);
    let [long, short] = [found.users[0], found.users[1]];
    // 24 symbols of 510 bits, a quarter of 120: 12 360 bits, of which 22 and 12 320 are used.
    assert_eq!((long.symbols, ns(long.idle), long.padding.0), (25, 0, 2));
    // 24 symbols of 240 bits, a quarter of 60: 5820 bits, 724 bytes, of which 100 are used.
    assert_eq!((short.symbols, ns(short.idle), short.padding.0), (4, 21 * 13_600, 624));
    assert_eq!(long.rate.0, 37_500_000);
    // The quarter decides between users with equal symbols: 2 and 3 of them.
    let [two, three] = [user(RuSize::Tones52, 100), user(RuSize::Tones52, 105)];
    assert_eq!(equal(&MU, 4, two).end, DataEnd { symbols: 4, quarters: 2 });
    let found = ppdu(&MU, &[two, three]);
    assert_eq!(found.end, DataEnd { symbols: 4, quarters: 3 });
}

#[test]
fn an_extra_segment_of_one_user_is_one_of_all() {
    let ldpc = |size, psdu| GroupUser { coding: Some(Coding::Ldpc), mcs: 5, ..user(size, psdu) };
    // 242 tones, MCS 5, 1736 bits: two symbols that strain the codewords, so a quarter of a third.
    let strained = ldpc(RuSize::Tones242, 215);
    let wide = GroupVector { width: Width::Mhz40, padding: NominalPadding::Us16, ..MU };
    let found = ppdu(&wide, &[strained, user(RuSize::Tones242, 50)]);
    assert_eq!(found.end, DataEnd { symbols: 3, quarters: 1 });
    assert_eq!(ns(found.fields.packet_extension), 4000);
    let bcc = GroupUser { coding: Some(Coding::Bcc), ..strained };
    let found = ppdu(&wide, &[bcc, user(RuSize::Tones242, 50)]);
    assert_eq!(found.end, DataEnd { symbols: 2, quarters: 4 });
    assert_eq!(ns(found.fields.packet_extension), 16_000);
}

/// 36 and 32 symbols, GI of 1.6 and 3.2 µs, in bands with and without signal extension: what the
/// access point plans is what a responder computes from UL Length.
#[test]
fn responders_find_the_plan_in_ul_length() {
    let mut with_disambiguity = 0;
    for band in [Band::Ghz2_4, Band::Ghz5] {
        for (guard, streams) in [(Guard::Ns1600, 1), (Guard::Ns1600, 3), (Guard::Ns3200, 2)] {
            for padding in [NominalPadding::Us0, NominalPadding::Us8, NominalPadding::Us16] {
                for psdu in (20..2000).step_by(7) {
                    let vector = GroupVector { band, guard, padding, ..TB };
                    let user = GroupUser { streams, ..user(RuSize::Tones106, psdu) };
                    let plan = equal(&vector, 2, user);
                    let answer = vector.response(plan.length, plan.pe_disambiguity, streams);
                    let fields = plan.fields;
                    assert_eq!(answer, Some((plan.end.symbols, fields.packet_extension)));
                    let late = ns(plan.announced) - ns(fields.total());
                    assert!(late < 4000);
                    with_disambiguity += u32::from(plan.pe_disambiguity);
                }
            }
        }
    }
    assert!(with_disambiguity > 100, "{with_disambiguity} cases");
    assert_eq!(TB.response(10, false, 1), None, "the preamble lasts longer");
}

#[test]
fn signal_extension_is_behind_the_packet_extension() {
    let vector = GroupVector { band: Band::Ghz2_4, padding: NominalPadding::Us16, ..MU };
    let found = equal(&vector, 2, user(RuSize::Tones106, 100));
    assert_eq!(ns(found.fields.total()), 74_400 + 12_000 + 6000);
    let without =
        equal(&GroupVector { band: Band::Ghz5, ..vector }, 2, user(RuSize::Tones106, 100));
    assert_eq!(found.length, without.length);
    assert_eq!(found.length, HeFormat::Mu.length(Duration(86_400), Band::Ghz5));
}

#[test]
fn packet_extensions_by_quarters_and_nominal_padding() {
    let expected = [[0, 0, 4], [0, 0, 8], [0, 4, 12], [0, 8, 16]];
    for (quarters, row) in (1..).zip(expected) {
        let all = [NominalPadding::Us0, NominalPadding::Us8, NominalPadding::Us16];
        let found = all.map(|padding| ns(padding.extension(quarters)) / 1000);
        assert_eq!(found, row, "{quarters} quarters");
    }
}

/// How long a PPDU would last that is too long, whose data is the longest, and its room.
fn too_long(vector: &GroupVector, users: &[GroupUser]) -> (u64, usize, Option<u64>) {
    let refused = vector.ppdu(users).expect_err("refused");
    let GroupFault::TooLong { lasts, user, room } = refused else { panic!("{refused:?}") };
    (ns(lasts), user, room.map(|room| room.0))
}

#[test]
fn no_ppdu_is_longer_than_5484_us() {
    let mut users = vec![user(RuSize::Tones52, 3000); 4];
    for vector in [MU, TB, GroupVector { timing: PpduTiming::Ns3, ..MU }] {
        users[2].psdu = Bytes(50_000);
        let (lasts, longest, room) = too_long(&vector, &users);
        assert!(lasts > 20_000_000);
        assert_eq!(longest, 2);
        users[2].psdu = Bytes(room.unwrap());
        assert!(vector.ppdu(&users).is_ok());
        users[2].psdu += Bytes(1);
        assert_eq!(too_long(&vector, &users).2, room);
    }
    // 26 tones at MCS 0: 377 symbols of 12 bits.
    let slow = |psdu| GroupUser { mcs: 0, ..user(RuSize::Tones26, psdu) };
    assert_eq!(too_long(&TB, &[slow(563)]), (48_000 + 378 * 14_400, 0, Some(562)));
    assert!(TB.ppdu(&[slow(562)]).is_ok());
    // Two users in one mode that are too long, and two in several.
    assert_eq!(too_long(&TB, &[slow(600), slow(700)]).1, 1);
    assert_eq!(too_long(&TB, &[slow(600), slow(700)]).2, Some(562));
    assert_eq!(too_long(&TB, &[user(RuSize::Tones52, 20_000), slow(2000)]).2, None);
}

/// 80 MHz without the second subchannel: 242 tones in the first, 484 in the other two. Of HE-SIG-B
/// the first content channel tells the first user, the second the other; the subchannel without
/// preamble has the code of one without resource units.
#[test]
fn punctured_ppdus_have_resource_units_beside() {
    let punctured = Punctured::of_numbers(Width::Mhz80, &[2]).unwrap();
    let vector = GroupVector { width: Width::Mhz80, punctured, ..MU };
    let users = [user(RuSize::Tones484, 3000), user(RuSize::Tones242, 1500)];
    let found = ppdu(&vector, &users);
    let places = found.users.iter().map(|user| (user.ru.size.tones(), user.ru.index));
    assert_eq!(places.collect::<Vec<_>>(), [(484, 1), (242, 0)]);
    let allocation = found.sig_b.unwrap().allocation.unwrap();
    assert_eq!(allocation.codes, [192, 113, 114, 200]);
    assert_eq!(allocation.user_fields, [1, 1]);
    // Nothing else changes.
    let whole = ppdu(&GroupVector { punctured: Punctured::NONE, ..vector }, &users);
    assert_eq!(found.fields, whole.fields);
    for (size, words) in [
        (RuSize::Tones996, "996 tones are wider than what is not punctured of 80 MHz"),
        (RuSize::Tones484, "in 80 MHz, which has 1 of that size"),
    ] {
        let (place, parameter, message) = fault(&vector, &[user(size, 100); 2]);
        assert_eq!((place.is_some(), parameter), (true, "ru"));
        assert!(message.contains(words), "{message}");
    }
    for (width, numbers) in [(Width::Mhz40, &[2][..]), (Width::Mhz80, &[3, 4])] {
        let punctured = Punctured::of_numbers(width, numbers).unwrap();
        let (place, parameter, message) =
            fault(&GroupVector { width, punctured, ..MU }, &[user(RuSize::Tones26, 100); 2]);
        assert_eq!((place, parameter), (None, "punctured"));
        assert!(message.contains("no PPDU to several users has these subchannels punctured"));
    }
}

#[test]
fn what_no_group_has() {
    let two = |one: GroupUser| [user(RuSize::Tones52, 100), one];
    let narrow = user(RuSize::Tones52, 100);
    let cases = [
        (GroupVector { guard: Guard::Ns800, ..TB }, two(narrow), None, "guard_ns", "HE TB PPDUs"),
        (GroupVector { ltf: Some(HeLtf::X1), ..MU }, two(narrow), None, "ltf", "HE MU PPDUs"),
        (GroupVector { width: Width::Mhz320, ..MU }, two(narrow), None, "width_mhz", "320"),
        (
            GroupVector { width: Width::Mhz80, band: Band::Ghz2_4, ..MU },
            two(narrow),
            None,
            "width_mhz",
            "2.4 GHz",
        ),
        (MU, two(user(RuSize::Tones242, 100)), Some(0), "ru", "no room for 52 tones"),
        (MU, two(user(RuSize::Tones484, 100)), Some(1), "ru", "wider than a channel of 20 MHz"),
        (MU, two(GroupUser { mcs: 10, ..narrow }), Some(1), "mcs", "1024-QAM below 242 tones"),
        (MU, two(GroupUser { mcs: 12, ..narrow }), Some(1), "mcs", "from 0 to 11"),
        (MU, two(GroupUser { streams: 9, ..narrow }), Some(1), "streams", "from 1 to 8"),
        (MU, two(user(RuSize::Tones52, 0)), Some(1), "psdu_bytes", "is 0"),
        (MU, two(user(RuSize::Tones52, 6_500_632)), Some(1), "psdu_bytes", "6500631"),
        (
            MU,
            two(GroupUser { streams: 5, coding: Some(Coding::Bcc), ..narrow }),
            Some(1),
            "coding",
            "up to 242 tones, 4 streams and MCS 9",
        ),
        (
            GroupVector { format: GroupFormat::Mu(SigBMode { mcs: 6, dual_carrier: false }), ..MU },
            two(narrow),
            None,
            "sig_b_mcs",
            "from 0 to 5",
        ),
    ];
    for (vector, users, place, parameter, words) in cases {
        let (user, found, message) = fault(&vector, &users);
        assert_eq!((user, found), (place, parameter), "{message}");
        assert!(message.contains(words), "{message}");
    }
    let (place, parameter, message) = fault(&MU, &[user(RuSize::Tones106, 100); 3]);
    assert_eq!((place, parameter), (Some(2), "ru"));
    assert!(message.contains("20 MHz, which has 2 of that size"), "{message}");
    let able = GroupVector { small_1024_qam: true, ..MU };
    let fast = GroupUser { mcs: 11, ..narrow };
    assert_eq!(ppdu(&able, &[fast]).users[0].coding, Coding::Ldpc);
    let wide = GroupUser { mcs: 11, ..user(RuSize::Tones242, 100) };
    assert_eq!(ppdu(&MU, &[wide]).users[0].rate.0, 143_382_353);
}
