//! Contention windows and retry limits (clauses 10.3.3 and 10.3.4.4), RTS and CTS (10.3.2.9).

use super::record::Record;
use super::stage::{AP, STA1, STA2, Script};
use crate::MsduOutcome;
use crate::phy::DOT11B;
use kernel::Bytes;

/// An RTS precedes data frames longer than the threshold. The CTS has the rate of the RTS.
#[test]
fn long_frames_are_preceded_by_rts_and_cts() {
    let record = Script::new(&DOT11B, 1)
        .with(|config| config.rts_threshold = Bytes(92))
        .up(0, STA1)
        .up(0, STA1)
        .of(93)
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (380_000, 491_000, STA1, "rts"),
            (501_000, 608_000, AP, "cts"),
            (618_000, 782_000, STA1, "data 2"),
            (792_000, 899_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800
            ap              *[ack=]        [cts]         *[ack]
            sta1  +..[1=====]      ..[rts=]      [2=====]
        ",
    );
}

/// After seven attempts the frame is discarded. The window doubles up to 1023, and returns to its
/// minimum for the next frame.
#[test]
fn the_window_doubles_until_the_short_retry_limit() {
    let record = Script::new(&DOT11B, 1).up(0, STA1).up(0, STA1).data_noise(STA1, 0..2100).play(40);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (343_000, 506_000, STA1, "data 1"),
            (636_000, 799_000, STA1, "data 1"),
            (929_000, 1_092_000, STA1, "data 1"),
            (1_222_000, 1_385_000, STA1, "data 1"),
            (1_515_000, 1_678_000, STA1, "data 1"),
            (1_808_000, 1_971_000, STA1, "data 1"),
            (2_101_000, 2_264_000, STA1, "data 2"),
            (2_274_000, 2_381_000, AP, "ack"),
        ],
        "
            µs    0         400       800       1200      1600      2000      2400
            ap                                                            *[a]
            sta1  +[1~] ...[1~]...[1~]...[1~] ...[1~]...[1~]...[1~] ...[2=]
        ",
    );
    assert_eq!(record.windows(STA1), [31, 63, 127, 255, 511, 1023, 1023, 31]);
    assert_eq!(record.done, [(STA1, 1, MsduOutcome::RetryLimit), (STA1, 2, MsduOutcome::Sent)]);
    assert_eq!(record.counters[1].retry_drops, 1);
}

#[test]
fn success_resets_the_window() {
    let record = Script::new(&DOT11B, 1).up(0, STA1).up(0, STA1).data_noise(STA1, 0..60).play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (343_000, 506_000, STA1, "data 1"),
            (516_000, 623_000, AP, "ack"),
            (673_000, 836_000, STA1, "data 2"),
            (846_000, 953_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800
            ap                             *[ack]          *[ack=]
            sta1  +..[1~~~~~]......[1=====]       ..[2=====]
        ",
    );
    assert_eq!(record.windows(STA1), [31, 63, 31]);
}

/// After a CTS, failures count against the long retry limit, here two.
#[test]
fn data_frames_after_a_cts_have_the_long_retry_limit() {
    let record = Script::new(&DOT11B, 1)
        .with(|config| (config.rts_threshold, config.long_retry_limit) = (Bytes(0), 2))
        .up(0, STA1)
        .data_noise(STA1, 0..2000)
        .play(20);
    record.shows(
        &[
            (50_000, 161_000, STA1, "rts"),
            (171_000, 278_000, AP, "cts"),
            (288_000, 451_000, STA1, "data 1"),
            (581_000, 692_000, STA1, "rts"),
            (702_000, 809_000, AP, "cts"),
            (819_000, 982_000, STA1, "data 1"),
        ],
        "
            µs    0         200       400       600       800
            ap             [cts]                     [cts]
            sta1  +..[rts]      [1~~~~~~]......[rts=]      [1~~~~~]
        ",
    );
    assert_eq!(record.done, [(STA1, 1, MsduOutcome::RetryLimit)]);
}

/// A failed RTS counts against the short retry limit, here two, and a CTS resets this counter: the
/// frame of station 1 survives a second collision.
#[test]
fn a_cts_resets_the_short_retry_count() {
    let record = Script::new(&DOT11B, 2)
        .with(|config| (config.rts_threshold, config.short_retry_limit) = (Bytes(0), 2))
        .up(0, STA1)
        .up(0, STA2)
        .up(0, STA2)
        .draws(STA1, [0, 5, 0])
        .draws(STA2, [3, 1, 9])
        .data_noise(STA1, 0..600)
        .play(40);
    record.shows(
        &[
            (50_000, 161_000, STA1, "rts"),
            (50_000, 161_000, STA2, "rts"),
            (291_000, 402_000, STA1, "rts"),
            (412_000, 519_000, AP, "cts"),
            (529_000, 692_000, STA1, "data 1"),
            (919_000, 1_030_000, STA2, "rts"),
            (1_040_000, 1_147_000, AP, "cts"),
            (1_157_000, 1_320_000, STA2, "data 2"),
            (1_330_000, 1_437_000, AP, "ack"),
            (1_507_000, 1_618_000, STA1, "rts"),
            (1_507_000, 1_618_000, STA2, "rts"),
            (1_748_000, 1_859_000, STA1, "rts"),
            (1_869_000, 1_976_000, AP, "cts"),
            (1_986_000, 2_149_000, STA1, "data 1"),
            (2_159_000, 2_266_000, AP, "ack"),
            (2_496_000, 2_607_000, STA2, "rts"),
            (2_617_000, 2_724_000, AP, "cts"),
            (2_734_000, 2_897_000, STA2, "data 3"),
            (2_907_000, 3_014_000, AP, "ack"),
        ],
        "
            µs    0         400       800       1200      1600      2000      2400      2800
            ap              [c]             [c]    *a]           []    *[a]        [c]    *[]
            sta1  +[r] ..[r]   [1~] ...53             ..[] ...[]    [1=]   .
            sta2  +[r] ...          nnn.2[r]   [2=]   ..[] ...             .9753[r]   [3=]
        ",
    );
    assert_eq!(record.counters[1].collisions, 2);
    let sent = [(STA2, 2), (STA1, 1), (STA2, 3)];
    assert_eq!(record.done, sent.map(|(node, number)| (node, number, MsduOutcome::Sent)));
}

/// The access point sends two frames to station 1, and 4095 to station 2 between them. Sequence
/// numbers have twelve bits, so that the two frames have the same number. The second one collides
/// first.
fn frames_with_one_number(rts_threshold: u64) -> Record {
    let frames = || {
        let script = Script::new(&DOT11B, 2)
            .with(|config| config.rts_threshold = Bytes(rts_threshold))
            .down(0, STA1);
        (0..4095).fold(script, |script, _| script.down(0, STA2)).down(0, STA1)
    };
    let undisturbed = frames().play(1000);
    assert_eq!(undisturbed.delivered.len(), 4097);
    let last = undisturbed.last_access_ns();
    frames().up(last as f64 * 1e-3, STA2).draws(STA2, [9]).play(1000)
}

/// The Retry bit is set if the data frame was transmitted before (clause 9.2.4.1.6). Only its RTS
/// was: the second frame is new to station 1, which accepts it.
#[test]
fn an_rts_that_fails_makes_no_duplicate() {
    let record = frames_with_one_number(0);
    assert_eq!((record.counters[0].collisions, record.counters[1].duplicates), (1, 0));
    assert!(record.delivered.iter().any(|&(_, node, number)| (node, number) == (STA1, 4097)));
}

/// The data frame was transmitted before: station 1 wrongly takes the number and the Retry bit for
/// a duplicate.
#[test]
fn a_sequence_number_that_wraps_on_a_retry_counts_as_a_duplicate() {
    let record = frames_with_one_number(2347);
    assert_eq!((record.counters[0].collisions, record.counters[1].duplicates), (1, 1));
    assert!(record.delivered.iter().all(|&(_, node, number)| (node, number) != (STA1, 4097)));
}
