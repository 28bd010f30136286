//! A-MPDUs and BlockAcks (clauses 10.12 and 10.25).

use super::stage::{AP, STA1, STA2, Script};
use crate::MsduOutcome;
use crate::mac::{Delivery, MissedBlockAck};
use crate::phy::{DOT11AC, DOT11AX, DOT11N};
use kernel::Bytes;

/// The first packet finds an idle medium and is sent alone. The three others go in one A-MPDU.
#[test]
fn queued_packets_share_an_a_mpdu() {
    let script = Script::high(&DOT11N, 1).up(0, STA1).draws(STA1, [2]);
    let record = script.up(50, STA1).up(60, STA1).up(70, STA1).play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (196_000, 268_000, STA1, "data 2 3 4"),
            (284_000, 316_000, AP, "ba"),
        ],
        "
            µs    0         100       200       300
            ap             * [a]            * [ba]
            sta1  +...[1==]     ....21[2 3 4]
        ",
    );
}

/// With `delivery` per MPDU, the recipient delivers each MPDU when its own bytes end; the frames on
/// the air are the same.
#[test]
fn each_mpdu_may_be_delivered_when_it_ends() {
    let gathered = || {
        let script = Script::high(&DOT11N, 1).up(0, STA1).draws(STA1, [2]);
        script.up(50, STA1).up(60, STA1).up(70, STA1)
    };
    let piecemeal = |config: &mut crate::MacConfig| {
        config.aggregation.as_mut().expect("aggregation").delivery = Delivery::Mpdu;
    };
    let numbers = |record: &super::record::Record| -> Vec<(u64, u64)> {
        record.delivered.iter().map(|&(at, _, number)| (at, number)).collect()
    };
    let (whole, each) = (
        gathered().play(10),
        gathered().with(piecemeal).in_cell_only("each MPDU is delivered").play(10),
    );
    let end = 268_000;
    assert_eq!(numbers(&whole), [(91_000, 1), (end, 2), (end, 3), (end, 4)]);
    // 36 us of preamble and header, then 32 us for three MPDUs, of which the first two end in
    // padding.
    let begin = 196_000 + 36_000;
    let [first, second, third, last] = numbers(&each)[..] else { panic!("four come up") };
    assert_eq!((first, last), ((91_000, 1), (end, 4)));
    assert!(begin < second.0 && second.0 < third.0 && third.0 < end);
    assert_eq!((second.1, third.1), (2, 3));
    assert_eq!(whole.counters, each.counters);
}

/// A single MPDU is an S-MPDU in VHT, with a delimiter, and an Ack acknowledges it.
#[test]
fn a_single_frame_gets_an_ack() {
    let record = Script::high(&DOT11AC, 1).up(0, STA1).of(200).play(10);
    record.shows(
        &[(43_000, 107_000, STA1, "data 1"), (123_000, 151_000, AP, "ack")],
        "
            µs    0         100
            ap              * [a]
            sta1  +...[1====]
        ",
    );
}

/// The access point serves one receiver at a time: it passes over the packet for station 2.
#[test]
fn an_aggregate_has_one_receiver() {
    let script = Script::high(&DOT11N, 2).down(0, STA1).draws(AP, [1, 0]);
    let record = script.down(0, STA2).down(0, STA1).down(0, STA2).play(10);
    record.shows(
        &[
            (43_000, 103_000, AP, "data 1 3"),
            (119_000, 151_000, STA1, "ba"),
            (203_000, 263_000, AP, "data 2 4"),
            (279_000, 311_000, STA2, "ba"),
        ],
        "
            µs    0         100       200       300
            ap    +...[1 3=]      ....[2 4=]
            sta1            * [b]
            sta2                            * [b]
        ",
    );
}

/// A lost MPDU is retransmitted, and later ones wait for it in the reorder buffer.
#[test]
fn lost_mpdus_are_retransmitted_and_delivered_in_order() {
    let script =
        Script::high(&DOT11N, 1).up(0, STA1).draws(STA1, [2, 1]).some_noise(STA1, 100..300, 0.5);
    let record = script.up(50, STA1).up(51, STA1).up(52, STA1).up(53, STA1).play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (196_000, 280_000, STA1, "data 2 3 4 5"),
            (296_000, 328_000, AP, "ba"),
            (380_000, 452_000, STA1, "data 3 4 5"),
            (468_000, 500_000, AP, "ba"),
        ],
        "
            µs    0         100       200       300       400       500
            ap             * [a]              * [b]            * [b]
            sta1  +...[1==]     ....21[2 3 4 ]     .....[3 4 5]
        ",
    );
    let late = [3, 4, 5].map(|number| (452_000, AP, number));
    let prompt = [(91_000, AP, 1), (280_000, AP, 2)];
    assert!(record.delivered.iter().eq(prompt.iter().chain(&late)));
}

/// The BlockAck is lost: the originator sends a BlockAckReq, and retransmits nothing.
#[test]
fn a_block_ack_request_follows_a_lost_block_ack() {
    let record = missed().play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (196_000, 256_000, STA1, "data 2 3"),
            (272_000, 304_000, AP, "ba"),
            (416_000, 448_000, STA1, "bar"),
            (464_000, 496_000, AP, "ba"),
        ],
        "
            µs    0         100       200       300       400       500
            ap             * [a]           * [b]                [ba]
            sta1  +...[1==]     ....21[2 3=]     ..........1[b]
        ",
    );
    assert_eq!(record.counters[0].duplicates, 0);
}

#[test]
fn or_all_is_sent_again() {
    let retransmit = |config: &mut crate::MacConfig| {
        config.aggregation.as_mut().expect("aggregation").missed = MissedBlockAck::Retransmit;
    };
    let record = missed().with(retransmit).play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (196_000, 256_000, STA1, "data 2 3"),
            (272_000, 304_000, AP, "ba"),
            (416_000, 476_000, STA1, "data 2 3"),
            (492_000, 524_000, AP, "ba"),
        ],
        "
            µs    0         100       200       300       400       500
            ap             * [a]           * [b]                   [b]
            sta1  +...[1==]     ....21[2 3=]     ..........1[2 3=]
        ",
    );
    assert_eq!(record.counters[0].duplicates, 2);
}

fn missed() -> Script {
    let script =
        Script::high(&DOT11N, 1).up(0, STA1).draws(STA1, [2, 1, 0]).ack_noise(STA1, 100..250);
    script.up(50, STA1).up(51, STA1)
}

/// Two A-MPDUs collide: both originators send a BlockAckReq, and the BlockAck acknowledges nothing.
#[test]
fn after_a_collision_of_a_mpdus_both_originators_send_a_request() {
    let script = Script::high(&DOT11N, 2).up(0, STA1).draws(STA1, [2, 0, 1]).draws(STA2, [2, 3, 1]);
    let record = script.up(50, STA1).up(51, STA1).up(50, STA2).up(51, STA2).play(12);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (196_000, 256_000, STA1, "data 2 3"),
            (196_000, 256_000, STA2, "data 4 5"),
            (308_000, 340_000, STA1, "bar"),
            (356_000, 388_000, AP, "ba"),
            (440_000, 500_000, STA1, "data 2 3"),
            (516_000, 548_000, AP, "ba"),
            (591_000, 623_000, STA2, "bar"),
            (639_000, 671_000, AP, "ba"),
            (723_000, 783_000, STA2, "data 4 5"),
            (799_000, 831_000, AP, "ba"),
        ],
        "
            µs    0         120       240       360       480       600       720
            ap           * []                   []         * [b]       [b]         * []
            sta1  +...+1=]    ...2[2 3] ....[]     ...1[2 3]    ....
            sta2      +       ...2[4 5] ....       ...2         ...[b]    ....[4 5]
        ",
    );
}

/// A window of two: the third MPDU waits until the first has arrived.
#[test]
fn the_window_bounds_what_is_outstanding() {
    let script = Script::high(&DOT11N, 1)
        .with(|config| config.aggregation.as_mut().expect("aggregation").window = 2)
        .up(0, STA1)
        .draws(STA1, [2, 1])
        .some_noise(STA1, 100..220, 0.5);
    let record = script.up(50, STA1).up(51, STA1).up(52, STA1).up(53, STA1).play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (196_000, 256_000, STA1, "data 2 3"),
            (272_000, 304_000, AP, "ba"),
            (356_000, 416_000, STA1, "data 3 4"),
            (432_000, 464_000, AP, "ba"),
            (507_000, 555_000, STA1, "data 5"),
            (571_000, 599_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400       500       600
            ap             * [a]           * [b]           * [b]         * [a]
            sta1  +...[1==]     ....21[2 3-]     ....1[3 4=]     ....[5==]
        ",
    );
}

/// An RTS precedes an A-MPDU that is longer than the threshold.
#[test]
fn an_aggregate_may_follow_rts_and_cts() {
    let script = Script::high(&DOT11AX, 1)
        .with(|config| config.rts_threshold = Bytes(150))
        .up(0, STA1)
        .draws(STA1, [2]);
    let record = script.up(50, STA1).up(51, STA1).play(10);
    record.shows(
        &[
            (43_000, 99_800, STA1, "data 1"),
            (115_800, 143_800, AP, "ack"),
            (204_800, 232_800, STA1, "rts"),
            (248_800, 276_800, AP, "cts"),
            (292_800, 349_600, STA1, "data 2 3"),
            (365_600, 405_600, AP, "ba"),
        ],
        "
            µs    0         100       200       300       400
            ap             *  []           [c]      *  [ba]
            sta1  +...[1===]     ....2[r]      [2 3=]
        ",
    );
    let sent = |number| (STA1, number, MsduOutcome::Sent);
    assert_eq!(record.done, [sent(1), sent(2), sent(3)]);
}
