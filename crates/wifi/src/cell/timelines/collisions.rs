//! When stations may count slots after a collision (clauses 10.3.2.3.7, 10.3.2.9, 10.3.2.11 and
//! 10.3.7).
//!
//! With a short preamble a timeout is SIFS + slot + 96 µs = 126 µs, and the first boundary of the
//! slot grid after it lies DIFS + 4 slots = 130 µs after the end of the frames. An EIFS is SIFS +
//! 304 µs + DIFS = 364 µs.

use super::stage::{AP, STA1, STA2, STA3, Script};
use crate::mac::{Eifs, SlotGrid};
use crate::phy::DOT11B;
use kernel::Bytes;

/// Stations 1 and 2 collide at 50 µs and draw 2 and 5 slots. Meanwhile a frame arrives at station
/// 3, which draws 1.
fn collision() -> Script {
    Script::new(&DOT11B, 3)
        .up(0, STA1)
        .up(0, STA2)
        .up(100, STA3)
        .draws(STA1, [2])
        .draws(STA2, [5])
        .draws(STA3, [1])
}

/// The colliding stations count from the first boundary of the slot grid after their timeout, here
/// 343 µs. The third party defers for an EIFS, until it decodes a frame.
#[test]
fn colliding_stations_wait_for_a_timeout_and_others_for_an_eifs() {
    let record = collision().play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (383_000, 546_000, STA1, "data 1"),
            (556_000, 663_000, AP, "ack"),
            (733_000, 896_000, STA3, "data 3"),
            (906_000, 1_013_000, AP, "ack"),
            (1_103_000, 1_266_000, STA2, "data 2"),
            (1_276_000, 1_383_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200
            ap                               *[ack]           *[ack=]            *[ack]
            sta1  +..[1xxxxx].......2[1=====]       ..
            sta2  +..[2xxxxx].......54              ..3              ...2[2=====]
            sta3       +     .........              ..1[3=====]      ...
        ",
    );
    let counts = record.counters.iter().map(|c| (c.attempts, c.collisions));
    assert!(counts.eq([(0, 0), (2, 1), (2, 1), (1, 0)]));
}

/// Off the slot grid: the slots of the colliding stations begin at the end of the timeout, at 339
/// µs.
#[test]
fn on_a_free_grid_slots_begin_with_the_end_of_the_timeout() {
    let record = collision().with(|config| config.timing.slot_grid = SlotGrid::Free).play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (379_000, 542_000, STA1, "data 1"),
            (552_000, 659_000, AP, "ack"),
            (729_000, 892_000, STA3, "data 3"),
            (902_000, 1_009_000, AP, "ack"),
            (1_099_000, 1_262_000, STA2, "data 2"),
            (1_272_000, 1_379_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200
            ap                               *[ack]           *[ack]             *[ack]
            sta1  +..[1xxxxx]......21[1=====]      ...
            sta2  +..[2xxxxx]......54              ...3              ..21[2=====]
            sta3       +     ........              ...[3======]      ..
        ",
    );
}

#[test]
fn on_a_shared_grid_all_resume_when_the_eifs_ends() {
    let record = collision()
        .with(|config| config.timing.slot_grid = SlotGrid::Shared)
        .in_cell_only("slots begin for all together")
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (597_000, 760_000, STA3, "data 3"),
            (770_000, 877_000, AP, "ack"),
            (947_000, 1_110_000, STA1, "data 1"),
            (1_120_000, 1_227_000, AP, "ack"),
            (1_337_000, 1_500_000, STA2, "data 2"),
            (1_510_000, 1_617_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400      1600
            ap                                          *[ack]           *[ack]              *[ack]
            sta1  +..[1xxxxx]..................2              ...[1======]      ..
            sta2  +..[2xxxxx]..................5              ...4              ..321[2=====]
            sta3       +     ..................1[3=====]      ...
        ",
    );
}

#[test]
fn without_an_eifs_others_transmit_before_the_timeout() {
    let record = collision().with(|config| config.timing.eifs = Eifs::None).play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (283_000, 446_000, STA3, "data 3"),
            (456_000, 563_000, AP, "ack"),
            (653_000, 816_000, STA1, "data 1"),
            (826_000, 933_000, AP, "ack"),
            (1_043_000, 1_206_000, STA2, "data 2"),
            (1_216_000, 1_323_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200
            ap                          *[ack]            *[ack=]             *[ack]
            sta1  +..[1xxxxx]....              ..21[1=====]      ...
            sta2  +..[2xxxxx]....              ..54              ...32[2=====]
            sta3       +     ...[3=====]       ..
        ",
    );
}

/// The others have drawn more slots: station 3 defers for the whole EIFS, until 577 µs.
#[test]
fn an_eifs_lasts_as_long_as_the_slowest_ack() {
    let record = Script::new(&DOT11B, 3)
        .up(0, STA1)
        .up(0, STA2)
        .up(100, STA3)
        .draws(STA1, [14])
        .draws(STA2, [15])
        .draws(STA3, [1])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (597_000, 760_000, STA3, "data 3"),
            (770_000, 877_000, AP, "ack"),
            (967_000, 1_130_000, STA1, "data 1"),
            (1_140_000, 1_247_000, AP, "ack"),
            (1_317_000, 1_480_000, STA2, "data 2"),
            (1_490_000, 1_597_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400      1600
            ap                                          *[ack]            *[ack]            *[ack]
            sta1  +..[1xxxxx].......edcba9876543              ...2[1======]      ..
            sta2  +..[2xxxxx].......fedcba987654              ...32              ..1[2=====]
            sta3       +     ..................1[3=====]      ...
        ",
    );
}

/// A dynamic EIFS contains the Ack that the frames would have elicited: 107 µs at 11 Mb/s.
#[test]
fn an_estimated_eifs_is_shorter() {
    let record = collision().with(|config| config.timing.eifs = Eifs::Estimated).play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (383_000, 546_000, STA1, "data 1"),
            (556_000, 663_000, AP, "ack"),
            (733_000, 896_000, STA3, "data 3"),
            (906_000, 1_013_000, AP, "ack"),
            (1_103_000, 1_266_000, STA2, "data 2"),
            (1_276_000, 1_383_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200
            ap                               *[ack]           *[ack=]            *[ack]
            sta1  +..[1xxxxx].......2[1=====]       ..
            sta2  +..[2xxxxx].......54              ..3              ...2[2=====]
            sta3       +     ........1              ..1[3=====]      ...
        ",
    );
}

/// A back-off of no slots does not end before the EIFS either: station 1 is first.
#[test]
fn a_third_party_with_no_slots_left_does_not_transmit() {
    let record = Script::new(&DOT11B, 3)
        .up(0, STA1)
        .up(0, STA2)
        .up(100, STA3)
        .draws(STA1, [2])
        .draws(STA2, [9])
        .draws(STA3, [0])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (383_000, 546_000, STA1, "data 1"),
            (556_000, 663_000, AP, "ack"),
            (713_000, 876_000, STA3, "data 3"),
            (886_000, 993_000, AP, "ack"),
            (1_183_000, 1_346_000, STA2, "data 2"),
            (1_356_000, 1_463_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400
            ap                               *[ack]          *[ack=]                 *[ack]
            sta1  +..[1xxxxx].......2[1=====]       ..
            sta2  +..[2xxxxx].......98              ..              ...765432[2=====]
            sta3       +     .........              ..[3=====]      ...
        ",
    );
}

/// Within the EIFS the medium is idle: station 3 need not back off until station 1 transmits first.
#[test]
fn a_frame_within_the_eifs_backs_off_when_another_station_transmits() {
    let record = Script::new(&DOT11B, 3)
        .up(0, STA1)
        .up(0, STA2)
        .up(300, STA3)
        .draws(STA1, [2])
        .draws(STA2, [9])
        .draws(STA3, [3])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (383_000, 546_000, STA1, "data 1"),
            (556_000, 663_000, AP, "ack"),
            (773_000, 936_000, STA3, "data 3"),
            (946_000, 1_053_000, AP, "ack"),
            (1_183_000, 1_346_000, STA2, "data 2"),
            (1_356_000, 1_463_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400
            ap                               *[ack]             *[ack=]              *[ack]
            sta1  +..[1xxxxx].......2[1=====]       ..
            sta2  +..[2xxxxx].......98              ..765              ...432[2=====]
            sta3                 +....              ..321[3=====]      ...
        ",
    );
}

/// The timeout of station 1 runs from the end of its own frame and has expired when the medium
/// becomes idle. Station 1 then waits for a DIFS, because it transmitted when the longer frame
/// began and decodes nothing of it.
#[test]
fn colliding_frames_of_different_length_have_different_timeouts() {
    let record = Script::new(&DOT11B, 2)
        .up(0, STA1)
        .up(0, STA2)
        .of(400)
        .draws(STA1, [3])
        .draws(STA2, [0])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (50_000, 437_000, STA2, "data 2"),
            (547_000, 710_000, STA1, "data 1"),
            (720_000, 827_000, AP, "ack"),
            (877_000, 1_264_000, STA2, "data 2"),
            (1_274_000, 1_381_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200
            ap                                       *[ack]                      *[ack]
            sta1  +..[1xxxxx]           ...32[1======]      ..
            sta2  +..[data 2xxxxxxxxxxx]......              ..[data 2===========]
        ",
    );
}

/// The frame of station 1 is discarded after the collision. Its post-back-off has no slots, but
/// ends only when slots may begin: when station 2 transmits first, the next frame of station 1 need
/// not draw again.
#[test]
fn a_post_back_off_of_no_slots_lasts_until_slots_may_begin() {
    let record = Script::new(&DOT11B, 2)
        .with(|config| config.short_retry_limit = 1)
        .up(0, STA1)
        .of(400)
        .up(0, STA2)
        .up(100, STA1)
        .up(100, STA2)
        .draws(STA1, [0, 7])
        .draws(STA2, [0, 8])
        .play(20);
    record.shows(
        &[
            (50_000, 437_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (487_000, 650_000, STA2, "data 4"),
            (660_000, 767_000, AP, "ack"),
            (817_000, 980_000, STA1, "data 3"),
            (990_000, 1_097_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap                                    *[ack]           *[ack]
            sta1  +..[data 1xxxxxxxxxxx]...              ..[3=====]
            sta2  +..[2xxxxx]           ..[4======]      ..
        ",
    );
}

/// Two RTS frames are 52 µs shorter than the two data frames.
#[test]
fn a_collision_of_rts_is_short() {
    let record = Script::new(&DOT11B, 2)
        .with(|config| config.rts_threshold = Bytes(0))
        .up(0, STA1)
        .up(0, STA2)
        .draws(STA1, [0])
        .draws(STA2, [7])
        .play(20);
    record.shows(
        &[
            (50_000, 161_000, STA1, "rts"),
            (50_000, 161_000, STA2, "rts"),
            (291_000, 402_000, STA1, "rts"),
            (412_000, 519_000, AP, "cts"),
            (529_000, 692_000, STA1, "data 1"),
            (702_000, 809_000, AP, "ack"),
            (999_000, 1_110_000, STA2, "rts"),
            (1_120_000, 1_227_000, AP, "cts"),
            (1_237_000, 1_400_000, STA2, "data 2"),
            (1_410_000, 1_517_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400
            ap                         [cts]        *[ack]                [cts]         *[ack]
            sta1  +..[rts] ......[rts]      [1======]      ..
            sta2  +..[rts] ......                          ..7654321[rts=]      [2=====]
        ",
    );
}
