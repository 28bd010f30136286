//! Frames that noise destroys (clauses 9.2.5, 10.3.2.3.7, 10.3.2.4, 10.3.2.11 and 10.3.2.14).

use super::stage::{AP, STA1, STA2, Script};
use crate::MsduOutcome;
use crate::phy::DOT11B;
use kernel::BitRate;

/// The data frame of station 1 is lost. Its own timeout runs to the boundary at 343 µs. The NAV of
/// station 2 reserves the medium for the Ack, until 330 µs. The access point could not decode the
/// frame and defers for an EIFS, until 577 µs.
#[test]
fn a_lost_data_frame_has_three_effects_on_three_nodes() {
    let record = Script::new(&DOT11B, 2)
        .up(0, STA1)
        .up(100, STA2)
        .down(110, STA2)
        .draws(STA1, [4])
        .draws(STA2, [1])
        .draws(AP, [1])
        .data_noise(STA1, 0..60)
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (400_000, 563_000, STA2, "data 2"),
            (573_000, 680_000, AP, "ack"),
            (750_000, 913_000, AP, "data 3"),
            (923_000, 1_030_000, STA2, "ack"),
            (1_100_000, 1_263_000, STA1, "data 1"),
            (1_273_000, 1_380_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200
            ap         +     .........        *[ack]...1[3=====]      ..         *[ack]
            sta1  +..[1~~~~~].......43              ...2              ..1[1=====]
            sta2       +     nnnnnn..1[2=====]      ...        *[ack=]
        ",
    );
}

/// With Acks at 1 Mb/s, the NAV of station 2 expires at 527 µs, and the timeout of station 1 ends
/// at the boundary at 443 µs.
#[test]
fn a_transmitter_without_response_may_transmit_within_the_nav_of_the_others() {
    let record = Script::new(&DOT11B, 2)
        .with(|config| config.timing.basic_rates = vec![BitRate::from_mbps(1.0)])
        .up(0, STA1)
        .up(100, STA2)
        .draws(STA1, [0])
        .draws(STA2, [2])
        .data_noise(STA1, 0..60)
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (443_000, 606_000, STA1, "data 1"),
            (616_000, 920_000, AP, "ack"),
            (1_010_000, 1_173_000, STA2, "data 2"),
            (1_183_000, 1_487_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400
            ap                                  *[ack==========]            *[ack==========]
            sta1  +..[1~~~~~]...........[1=====]                ...
            sta2       +     nnnnnnnnnnnn                       ...21[2=====]
        ",
    );
}

/// No station transmits at 250 µs, but the medium is reserved: the frame backs off. At 340 µs it
/// would not.
#[test]
fn a_frame_that_comes_within_the_nav_backs_off() {
    let lost = || Script::new(&DOT11B, 2).up(0, STA1).draws(STA1, [9]).data_noise(STA1, 0..60);
    let within = lost().up(250, STA2).draws(STA2, [3]).play(20);
    within.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (440_000, 603_000, STA2, "data 2"),
            (613_000, 720_000, AP, "ack"),
            (870_000, 1_033_000, STA1, "data 1"),
            (1_043_000, 1_150_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap                                  *[ack]               *[ack=]
            sta1  +..[1~~~~~].......9876              ...54321[1=====]
            sta2              +nnnn..321[2=====]      ...
        ",
    );
    let after = lost().up(340, STA2).play(20);
    after.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (380_000, 543_000, STA2, "data 2"),
            (553_000, 660_000, AP, "ack"),
            (870_000, 1_033_000, STA1, "data 1"),
            (1_043_000, 1_150_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap                               *[ack]                  *[ack=]
            sta1  +..[1~~~~~].......9              ...87654321[1=====]
            sta2                   +.[2=====]      ...
        ",
    );
}

/// The Ack is lost. Its receiver waits for its end and an EIFS, until 694 µs, and retransmits the
/// frame. Station 2 has decoded the Ack and waits for a DIFS. The access point acknowledges the
/// frame again, but delivers it once.
#[test]
fn a_lost_ack_makes_a_duplicate() {
    let record = Script::new(&DOT11B, 2)
        .up(0, STA1)
        .up(100, STA2)
        .draws(STA1, [1])
        .draws(STA2, [18])
        .ack_noise(STA1, 0..60)
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (714_000, 877_000, STA1, "data 1"),
            (887_000, 994_000, AP, "ack"),
            (1_084_000, 1_247_000, STA2, "data 2"),
            (1_257_000, 1_364_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200
            ap              *[ack~]                           [ack=]            *[ack]
            sta1  +..[1=====]      ..................1[1=====]      ...
            sta2       +           ..ihgfedcba98765432              ...2[2=====]
        ",
    );
    assert_eq!(record.delivered, [(213_000, AP, 1), (1_247_000, AP, 2)]);
    assert_eq!(record.counters[0].duplicates, 1);
    assert_eq!((record.counters[1].noise_losses, record.counters[1].sent), (1, 1));
}

/// A frame whose Acks are all lost is delivered once.
#[test]
fn a_discarded_mpdu_may_have_arrived() {
    let record = Script::new(&DOT11B, 1)
        .with(|config| config.short_retry_limit = 2)
        .up(0, STA1)
        .ack_noise(STA1, 0..1000)
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, STA1, "data 1"),
            (223_000, 330_000, AP, "ack"),
            (694_000, 857_000, STA1, "data 1"),
            (867_000, 974_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800
            ap              *[ack~]                          [ack~]
            sta1  +..[1=====]      ..................[1=====]
        ",
    );
    assert_eq!(record.delivered, [(213_000, AP, 1)]);
    assert_eq!(record.done, [(STA1, 1, MsduOutcome::RetryLimit)]);
}
