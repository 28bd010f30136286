//! Basic access (clauses 10.3.4.2 and 10.3.4.3).

use super::stage::{AP, STA1, STA2, STA3, Script};
use crate::mac::Countdown;
use crate::phy::DOT11B;

#[test]
fn a_frame_is_sent_after_a_difs() {
    let record = Script::new(&DOT11B, 1).up(0, STA1).play(10);
    record.shows(
        &[(50_000, 213_000, STA1, "data 1"), (223_000, 330_000, AP, "ack")],
        "
            µs    0         100       200       300
            ap                         *[ack======]
            sta1  +....[data 1========]
        ",
    );
    assert_eq!(record.delivered, [(213_000, AP, 1)]);
}

#[test]
fn a_frame_that_finds_the_medium_idle_for_a_difs_goes_at_once() {
    let record = Script::new(&DOT11B, 1).up(120.001, STA1).play(10);
    record.shows(
        &[(120_001, 283_001, STA1, "data 1"), (293_001, 400_001, AP, "ack")],
        "
            µs    0         100       200       300       400
            ap                                *[ack======]
            sta1              +data 1========]
        ",
    );
}

/// Immediate access needs a DIFS and no back-off.
#[test]
fn a_frame_that_comes_within_the_difs_waits_for_its_end() {
    let record = Script::new(&DOT11B, 2).up(0, STA1).up(350, STA2).play(10);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (380_000, 543_000, STA2, "data 2"),
            (553_000, 660_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400       500       600
            ap                         *[ack======]                     *[ack======]
            sta1  +....[data 1========]            .....
            sta2                                     +..[data 2========]
        ",
    );
}

#[test]
fn a_frame_that_comes_on_a_busy_medium_backs_off() {
    let record = Script::new(&DOT11B, 2).up(0, STA1).up(120, STA2).draws(STA2, [3]).play(10);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (440_000, 603_000, STA2, "data 2"),
            (613_000, 720_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400       500       600       700
            ap                         *[ack======]                           *[ack======]
            sta1  +....[data 1========]            .....
            sta2              +                    .....332211[data 2========]
        ",
    );
}

/// Between data and Ack no station transmits, but the medium is reserved: the NAV has not expired.
#[test]
fn a_frame_that_comes_within_the_sifs_backs_off() {
    let record = Script::new(&DOT11B, 2).up(0, STA1).up(218, STA2).draws(STA2, [3]).play(10);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (440_000, 603_000, STA2, "data 2"),
            (613_000, 720_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400       500       600       700
            ap                         *[ack======]                           *[ack======]
            sta1  +....[data 1========]            .....
            sta2                       +           .....332211[data 2========]
        ",
    );
}

/// Station 3 has counted two of its four slots and resumes with the other two.
#[test]
fn back_offs_freeze_and_resume() {
    let record = Script::new(&DOT11B, 3)
        .up(0, STA1)
        .up(100, STA2)
        .up(110, STA3)
        .draws(STA2, [2])
        .draws(STA3, [4])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (420_000, 583_000, STA2, "data 2"),
            (593_000, 700_000, AP, "ack"),
            (790_000, 953_000, STA3, "data 3"),
            (963_000, 1_070_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap              *[ack=]            *[ack]            *[ack=]
            sta1  +..[1=====]      ..
            sta2       +           ..21[2=====]      ...
            sta3       +           ..43              ...21[3=====]
        ",
    );
}

/// Station 3 transmits at once, a nanosecond before station 2 has counted its first slot.
#[test]
fn the_broken_slot_does_not_count() {
    let record = Script::new(&DOT11B, 3)
        .up(0, STA1)
        .up(100, STA2)
        .up(399.999, STA3)
        .draws(STA2, [4])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (399_999, 562_999, STA3, "data 3"),
            (572_999, 679_999, AP, "ack"),
            (809_999, 972_999, STA2, "data 2"),
            (982_999, 1_089_999, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap              *[ack=]           *[ack]              *[ack]
            sta1  +..[1=====]      ..
            sta2       +           ..4              ...432[2======]
            sta3                     +[3=====]      ...
        ",
    );
}

/// As `back_offs_freeze_and_resume`, with one slot less for station 3 after each busy period.
#[test]
fn in_bianchis_model_a_busy_period_counts_as_a_slot() {
    let record = Script::new(&DOT11B, 3)
        .with(|config| config.countdown = Countdown::Bianchi)
        .up(0, STA1)
        .up(100, STA2)
        .up(110, STA3)
        .draws(STA2, [2])
        .draws(STA3, [4])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (420_000, 583_000, STA2, "data 2"),
            (593_000, 700_000, AP, "ack"),
            (770_000, 933_000, STA3, "data 3"),
            (943_000, 1_050_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap              *[ack=]            *[ack]           *[ack=]
            sta1  +..[1=====]      ..
            sta2       +           ..21[2=====]      ...
            sta3       +           ..43              ...1[3=====]
        ",
    );
}

/// A station draws a back-off after each frame, whether or not another frame waits: the second
/// frame arrives within this back-off and waits for its end.
#[test]
fn a_post_back_off_runs_with_an_empty_queue() {
    let record = Script::new(&DOT11B, 1).up(0, STA1).up(420, STA1).draws(STA1, [4]).play(10);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (460_000, 623_000, STA1, "data 2"),
            (633_000, 740_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400       500       600       700
            ap                         *[ack======]                             *[ack======]
            sta1  +....[data 1========]            .....4433+211[data 2========]
        ",
    );
}

#[test]
fn after_its_post_back_off_a_station_sends_at_once() {
    let record = Script::new(&DOT11B, 1).up(0, STA1).up(477, STA1).draws(STA1, [4]).play(10);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (477_000, 640_000, STA1, "data 2"),
            (650_000, 757_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400       500       600       700
            ap                         *[ack======]                               *[ack======]
            sta1  +....[data 1========]            .....44332211 +[data 2========]
        ",
    );
}

/// The medium was busy when the second frame arrived, but the post-back-off had ended: the station
/// backs off.
#[test]
fn a_post_back_off_that_is_over_does_not_serve_a_later_frame() {
    let record = Script::new(&DOT11B, 2)
        .up(0, STA1)
        .up(390, STA2)
        .up(500, STA1)
        .draws(STA1, [0, 2])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (390_000, 553_000, STA2, "data 2"),
            (563_000, 670_000, AP, "ack"),
            (760_000, 923_000, STA1, "data 3"),
            (933_000, 1_040_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap              *[ack=]          *[ack=]            *[ack]
            sta1  +..[1=====]      ..      +        ..21[3=====]
            sta2                     +[2=====]      ..
        ",
    );
}

#[test]
fn back_offs_that_end_together_collide() {
    let record = Script::new(&DOT11B, 3)
        .up(0, STA1)
        .up(100, STA2)
        .up(200, STA3)
        .draws(STA2, [1, 0])
        .draws(STA3, [1, 5])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (400_000, 563_000, STA2, "data 2"),
            (400_000, 563_000, STA3, "data 3"),
            (693_000, 856_000, STA2, "data 2"),
            (866_000, 973_000, AP, "ack"),
            (1_123_000, 1_286_000, STA3, "data 3"),
            (1_296_000, 1_403_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400
            ap              *[ack=]                         *[ack=]               *[ack]
            sta1  +..[1=====]      ..
            sta2       +           ..1[2xxxxx] ......[2=====]      ...
            sta3            +      ..1[3xxxxx] ......              ...5432[3=====]
        ",
    );
}

/// The packet of station 3 arrives at the instant at which the back-off of station 2 ends: station
/// 3 finds the medium idle and transmits as well.
#[test]
fn no_station_detects_a_frame_that_begins_at_the_same_instant() {
    let record = Script::new(&DOT11B, 3)
        .up(0, STA1)
        .up(100, STA2)
        .up(420, STA3)
        .draws(STA2, [2, 1])
        .draws(STA3, [6])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (420_000, 583_000, STA2, "data 2"),
            (420_000, 583_000, STA3, "data 3"),
            (733_000, 896_000, STA2, "data 2"),
            (906_000, 1_013_000, AP, "ack"),
            (1_163_000, 1_326_000, STA3, "data 3"),
            (1_336_000, 1_443_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400
            ap              *[ack=]                           *[ack=]               *[ack]
            sta1  +..[1=====]      ..
            sta2       +           ..21[2xxxxx] ......1[2=====]      ...
            sta3                       +3xxxxx] ......6              ...5432[3=====]
        ",
    );
}
