//! MU-RTS before exchanges with several stations (802.11ax-2021 clause 26.2.6): MCS 7 in 20 MHz.
//!
//! At 24 Mb/s an MU-RTS to two stations lasts 36 µs, to four 40 µs; the CTSs last 44 µs at 6 Mb/s.
//! With two SIFSs what follows begins 112 or 116 µs later than without. Times are in 100 ns.

use super::groups::{frames, one_each};
use super::stage::{AP, STA1, STA2, Script};
use super::triggers::{from_trigger, three_each, uplink};
use crate::mac::{Acknowledgement, MuProtection};

fn protected(script: Script) -> Script {
    script.with(|config| config.mu.as_mut().unwrap().protection = MuProtection::MuRts)
}

#[test]
fn an_mu_rts_and_equal_ctss_precede_the_data() {
    let record = protected(one_each(2, Acknowledgement::MuBar)).play(10);
    let data = 430 + 1120;
    let expected = [
        (430, 430 + 360, AP, "mu-rts"),
        (950, 950 + 440, STA1, "cts"),
        (950, 950 + 440, STA2, "cts"),
        (data, data + 3872, AP, "data 1 | 2"),
        (data + 4032, data + 4432, AP, "trigger"),
        (data + 4592, data + 5360, STA1, "ba"),
        (data + 4592, data + 5360, STA2, "ba"),
    ];
    assert_eq!(frames(&record), expected);
    assert_eq!(record.delivered.len(), 2);
}

#[test]
fn four_stations_take_four_microseconds_more() {
    let record = protected(one_each(4, Acknowledgement::BarChain)).play(10);
    let seen = frames(&record);
    assert_eq!(seen[0], (430, 830, AP, "mu-rts"));
    for (nth, cts) in seen[1..5].iter().enumerate() {
        assert_eq!(*cts, (990, 1430, nth as u32 + 1, "cts"));
    }
    assert_eq!(seen[5], (430 + 1160, 430 + 1160 + 7544, AP, "data 1 | 2 | 3 | 4"));
}

/// The MU-RTS collides: the medium is busy for the longer frame, no data has been sent, and the
/// contention window doubles once. A BlockAckReq is due to nobody.
#[test]
fn an_mu_rts_collides_in_place_of_the_data() {
    let collides = one_each(2, Acknowledgement::MuBar).up(0, STA1).of(100);
    let script = protected(collides).draws(AP, [0, 0]).draws(STA1, [0, 40]);
    let record = script.play(10);
    let seen = frames(&record);
    assert_eq!(seen[0], (430, 790, AP, "trigger"));
    assert_eq!((seen[1].0, seen[1].2, seen[1].3), (430, STA1, "data 3"));
    let labels: Vec<&str> = seen.iter().map(|it| it.3).collect();
    assert_eq!(labels[2..6], ["mu-rts", "cts", "cts", "data 1 | 2"]);
    assert_eq!(record.windows(AP)[..2], [15, 31]);
    assert_eq!(record.frame_counters[0].repeated_mpdus, 0);
    assert_eq!(record.counters[0].collisions, 1);
}

#[test]
fn a_basic_trigger_frame_is_protected() {
    let record = protected(three_each(2)).play(10);
    let place = record.frames.iter().position(|it| it.label == "mu-rts").expect("an MU-RTS");
    let start = record.frames[place].start.0 / 100;
    let seen: Vec<_> = frames(&record)[place..place + 5]
        .iter()
        .map(|it| (it.0 - start, it.1 - start, it.2, it.3))
        .collect();
    // As `triggers` has it, 112 µs later.
    let answers = 1120 + 360 + 160;
    let expected = [
        (0, 360, AP, "mu-rts"),
        (520, 960, STA1, "cts"),
        (520, 960, STA2, "cts"),
        (1120, 1480, AP, "basic"),
        (answers, answers + 480 + 29 * 144, STA1, "data 3"),
    ];
    assert_eq!(seen, expected);
}

/// Who has answered a BSRP needs no MU-RTS in the same TXOP.
#[test]
fn answers_to_a_bsrp_protect_what_follows() {
    let mut script = protected(three_each(2));
    uplink(&mut script).bsrp = true;
    let record = script.play(10);
    let labels: Vec<&str> = from_trigger(&record).iter().map(|it| it.3).collect();
    assert_eq!(labels[..4], ["bsrp", "null", "null", "basic"]);
    assert!(!labels.contains(&"mu-rts"), "{labels:?}");
}
