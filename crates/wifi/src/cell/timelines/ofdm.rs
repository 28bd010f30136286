//! 802.11a and 802.11g: the same rules with other constants (clauses 17.4.4, 18.5.4).

use super::stage::{AP, STA1, STA2, STA3, Script};
use crate::phy::{DOT11A, DOT11G};
use kernel::{Bytes, Duration};

/// SIFS 16, slot 9, DIFS 34; a symbol lasts 4 µs.
#[test]
fn dot11a() {
    let record = Script::new(&DOT11A, 2).up(0, STA1).up(50, STA2).draws(STA2, [3]).play(4);
    record.shows(
        &[
            (34_000, 70_000, STA1, "data 1"),
            (86_000, 114_000, AP, "ack"),
            (175_000, 211_000, STA2, "data 2"),
            (227_000, 255_000, AP, "ack"),
        ],
        "
            µs    0         40        80        120       160       200       240
            ap                     *    [ack==]                       *    [ack==]
            sta1  +........[1======]           ........
            sta2              +                ........3332211[2======]
        ",
    );
}

/// SIFS 10, slot 9, DIFS 28; each frame includes 6 µs without signal.
#[test]
fn dot11g() {
    let record = Script::new(&DOT11G, 2).up(0, STA1).up(50, STA2).draws(STA2, [3]).play(4);
    record.shows(
        &[
            (28_000, 70_000, STA1, "data 1"),
            (80_000, 114_000, AP, "ack"),
            (169_000, 211_000, STA2, "data 2"),
            (221_000, 255_000, AP, "ack"),
        ],
        "
            µs    0         40        80        120       160       200       240
            ap                     *  [ack====]                       *  [ack====]
            sta1  +......[data 1===]           .......
            sta2              +                .......332211[data 2===]
        ",
    );
}

/// The frames of a paper: a data frame of 92 bytes at 54 Mb/s lasts 24 µs and its bits, 13.629 µs.
/// Other frames last as long as ever: RTS, CTS and ACK at 24 Mb/s 28 µs.
#[test]
fn data_frames_of_a_model_have_a_header_of_its_own() {
    let record = Script::new(&DOT11A, 1)
        .with(|config| {
            config.timing.model_header = Some(Duration::from_micros(24));
            config.rts_threshold = Bytes(0);
        })
        .up(0, STA1)
        .play(4);
    record.shows(
        &[
            (34_000, 62_000, STA1, "rts"),
            (78_000, 106_000, AP, "cts"),
            (122_000, 159_629, STA1, "data 1"),
            (175_629, 203_629, AP, "ack"),
        ],
        "
            µs    0         40        80        120       160       200
            ap                        [cts==]            *    [ack==]
            sta1  +........[rts==]               [1======]
        ",
    );
}

/// Timeout 16 + 9 + 20 = 45 µs, boundary 52 µs; EIFS 16 + 44 + 34 = 94 µs.
#[test]
fn dot11a_after_a_collision() {
    let record = Script::new(&DOT11A, 3)
        .up(0, STA1)
        .up(0, STA2)
        .up(60, STA3)
        .draws(STA1, [8])
        .draws(STA2, [11])
        .draws(STA3, [2])
        .play(7);
    record.shows(
        &[
            (34_000, 70_000, STA1, "data 1"),
            (34_000, 70_000, STA2, "data 2"),
            (182_000, 218_000, STA3, "data 3"),
            (234_000, 262_000, AP, "ack"),
            (314_000, 350_000, STA1, "data 1"),
            (366_000, 394_000, AP, "ack"),
            (455_000, 491_000, STA2, "data 2"),
            (507_000, 535_000, AP, "ack"),
        ],
        "
            µs    0         70        140       210       280       350       420       490
            ap                                   * [ac]             * [ac]              * [ac]
            sta1  +....[1xx]........87665433            .....21[1==]       .....
            sta2  +....[2xx]........ba998766            .....54            .....321[2==]
            sta3          + ..............21[3==]       .....
        ",
    );
}

/// Timeout 10 + 9 + 20 = 39 µs, boundary 46 µs; EIFS 10 + 50 + 28 = 88 µs.
#[test]
fn dot11g_after_a_collision() {
    let record = Script::new(&DOT11G, 3)
        .up(0, STA1)
        .up(0, STA2)
        .up(60, STA3)
        .draws(STA1, [8])
        .draws(STA2, [11])
        .draws(STA3, [2])
        .play(7);
    record.shows(
        &[
            (28_000, 70_000, STA1, "data 1"),
            (28_000, 70_000, STA2, "data 2"),
            (176_000, 218_000, STA3, "data 3"),
            (228_000, 262_000, AP, "ack"),
            (308_000, 350_000, STA1, "data 1"),
            (360_000, 394_000, AP, "ack"),
            (449_000, 491_000, STA2, "data 2"),
            (501_000, 535_000, AP, "ack"),
        ],
        "
            µs    0         70        140       210       280       350       420       490
            ap                                   * [ac]             *[ack]              * [ac]
            sta1  +...[1xxx].......877654332            ....21[1===]       ....
            sta2  +...[2xxx].......baa987665            ....54             ....321[2===]
            sta3          + .............21[3===]       ....
        ",
    );
}

/// With 802.11b stations, the slot is long and the DIFS 50 µs.
#[test]
fn dot11g_with_the_long_slot() {
    let record = Script::new(&DOT11G, 1)
        .with(|config| config.timing.slot = Duration::from_micros(20))
        .up(0, STA1)
        .up(0, STA1)
        .draws(STA1, [2])
        .play(4);
    record.shows(
        &[
            (50_000, 92_000, STA1, "data 1"),
            (102_000, 136_000, AP, "ack"),
            (226_000, 268_000, STA1, "data 2"),
            (278_000, 312_000, AP, "ack"),
        ],
        "
            µs    0         40        80        120       160       200       240       280
            ap                           *  [ack===]                                 *  [ack===]
            sta1  +............[data 1==]           .............2222211111[data 2==]
        ",
    );
}

/// RTS and CTS are sent at the fastest basic rate, 24 Mb/s.
#[test]
fn dot11a_with_rts() {
    let record =
        Script::new(&DOT11A, 1).with(|config| config.rts_threshold = Bytes(0)).up(0, STA1).play(4);
    record.shows(
        &[
            (34_000, 62_000, STA1, "rts"),
            (78_000, 106_000, AP, "cts"),
            (122_000, 158_000, STA1, "data 1"),
            (174_000, 202_000, AP, "ack"),
        ],
        "
            µs    0         40        80        120       160       200
            ap                        [cts==]            *    [ack==]
            sta1  +........[rts==]               [1======]
        ",
    );
}
