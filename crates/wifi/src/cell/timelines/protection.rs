//! Protection of 802.11g among 802.11b (clauses 10.27 and 18.4): STA1 sends OFDM, STA2 is an
//! 802.11b station.

use super::stage::{AP, STA1, STA2, Script};
use crate::mac::{NonErp, Protection};
use crate::phy::{DOT11B, DOT11G};

/// Short preambles, the long slot; STA1 at 54 Mb/s, STA2 at 11 Mb/s.
fn mixed(protection: Protection) -> Script {
    Script::new(&DOT11G, 2).rate(STA2, 11.0).with(|config| {
        config.timing.protection = protection;
        config.timing.slot = DOT11B.slot;
        config.timing.basic_rates = DOT11B.modes.iter().map(|mode| mode.rate).collect();
        config.non_erp = Some(NonErp { nodes: vec![STA2], cw_min: DOT11B.cw_min });
    })
}

/// DIFS 50. A CTS of 14 bytes at 11 Mb/s lasts 96 + 11 µs; 92 bytes last 42 µs at 54 Mb/s, with a
/// signal extension of 6 µs, and 163 µs at 11 Mb/s; an Ack lasts 34 µs at 24 Mb/s and 107 µs at 11
/// Mb/s.
#[test]
fn a_cts_to_self_precedes_ofdm_and_not_cck() {
    let record = mixed(Protection::CtsToSelf).up(0, STA1).up(60, STA2).draws(STA2, [1]).play(10);
    record.shows(
        &[
            (50_000, 157_000, STA1, "cts"),
            (167_000, 209_000, STA1, "data 1"),
            (219_000, 253_000, AP, "ack"),
            (323_000, 486_000, STA2, "data 2"),
            (496_000, 603_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400       500       600
            ap                        * [a]                       * [ack=====]
            sta1  +....[cts======] [1=]     .....
            sta2        +                   .....1[data 2=========]
        ",
    );
}

/// RTS of 20 bytes at 11 Mb/s: 96 + 15 µs.
#[test]
fn rts_and_cts_have_a_basic_rate() {
    let record = mixed(Protection::RtsCts).up(0, STA1).play(10);
    record.shows(
        &[
            (50_000, 161_000, STA1, "rts"),
            (171_000, 278_000, AP, "cts"),
            (288_000, 330_000, STA1, "data 1"),
            (340_000, 374_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300
            ap                     [cts======]     *[a]
            sta1  +....[rts======]             [1=]
            sta2
        ",
    );
}

/// The transmitter of a CTS-to-self does not notice its collision, and its data is lost too. The
/// contention windows of the two stations are those of their standards.
#[test]
fn after_a_cts_that_collides_the_data_is_lost() {
    let record = mixed(Protection::CtsToSelf)
        .up(0, STA1)
        .up(0, STA2)
        .draws(STA1, [3])
        .draws(STA2, [9])
        .play(20);
    // The medium is idle since 213. STA1 waits until 209 + 10 + 20 + 20 = 259 and counts from 263.
    // STA2 waits until 213 + 10 + 20 + 96 = 339 and would count from 343.
    record.shows(
        &[
            (50_000, 157_000, STA1, "cts"),
            (167_000, 209_000, STA1, "data 1"),
            (50_000, 213_000, STA2, "data 2"),
            (323_000, 430_000, STA1, "cts"),
            (440_000, 482_000, STA1, "data 1"),
            (492_000, 526_000, AP, "ack"),
            (756_000, 919_000, STA2, "data 2"),
            (929_000, 1_036_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap                            *[                   *[ack=]
            sta1  +..[cts][] ...32[cts=][]   ..
            sta2  +..[2xxxxx]......          ..987654321[2=====]
        ",
    );
    assert_eq!(record.windows(STA1), [15, 31]);
    assert_eq!(record.windows(STA2), [31, 63]);
}

/// Without protection, STA2 has no NAV from a frame that noise destroys: it counts from the end of
/// the frame.
#[test]
fn a_station_of_802_11b_has_no_nav_from_ofdm() {
    let begin = |protection, first_us: u64| {
        let record = mixed(protection)
            .data_noise(STA1, 0..300)
            .up(0, STA1)
            .up(60, STA2)
            .draws(STA1, [30])
            .draws(STA2, [0])
            .play(10);
        let begins = record.windows.iter().find(|access| access.1 == STA2).map(|access| access.0);
        assert_eq!(begins, Some(first_us * 1000), "{protection:?}");
    };
    begin(Protection::None, 50 + 42 + 50);
    begin(Protection::CtsToSelf, 253 + 50);
}
