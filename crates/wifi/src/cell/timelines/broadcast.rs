//! Broadcasts (clauses 10.3.6 and 10.6.5.2).

use super::stage::{AP, STA1, STA2, STA3, Script};
use crate::MsduOutcome;
use crate::mac::SlotGrid;
use crate::phy::{DOT11B, DOT11G};
use kernel::{BitRate, Bytes};

/// A broadcast is sent at the lowest basic rate, without RTS and without a response. The next frame
/// may begin a DIFS after its end.
#[test]
fn a_broadcast_elicits_no_response() {
    let record = Script::new(&DOT11B, 2)
        .with(|config| config.rts_threshold = Bytes(0))
        .broadcast(0)
        .up(100, STA1)
        .play(20);
    record.shows(
        &[
            (50_000, 978_000, AP, "data 1"),
            (1_028_000, 1_139_000, STA1, "rts"),
            (1_149_000, 1_256_000, AP, "cts"),
            (1_266_000, 1_429_000, STA1, "data 2"),
            (1_439_000, 1_546_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200      1400
            ap    +..[data 1======================================]...     [cts=]        *[ack]
            sta1       +                                          *..[rts=]      [2=====]
            sta2                                                  *
        ",
    );
}

/// The access point does not notice the collision and starts a post-back-off.
#[test]
fn a_broadcast_that_collides_is_lost() {
    let record = Script::new(&DOT11B, 2)
        .with(|config| config.timing.basic_rates = vec![BitRate::from_mbps(11.0)])
        .broadcast(0)
        .up(0, STA1)
        .down(0, STA2)
        .draws(AP, [2])
        .draws(STA1, [9])
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, AP, "data 1"),
            (50_000, 213_000, STA1, "data 2"),
            (303_000, 466_000, AP, "data 3"),
            (476_000, 583_000, STA2, "ack"),
            (813_000, 976_000, STA1, "data 2"),
            (986_000, 1_093_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap    +..[1xxxxx]...2[3=====]       ..                *[ack=]
            sta1  +..[2xxxxx].....              ..987654321[2=====]
            sta2                         *[ack]
        ",
    );
    assert_eq!(record.done[0], (AP, 1, MsduOutcome::Sent));
    assert!(record.delivered.iter().all(|&(_, _, number)| number != 1));
}

/// All resume together: station 1 and the access point when the EIFS ends, at 577 µs.
#[test]
fn on_a_shared_grid_a_broadcast_that_collides_is_no_exception() {
    let record = Script::new(&DOT11B, 2)
        .with(|config| config.timing.basic_rates = vec![BitRate::from_mbps(11.0)])
        .with(|config| config.timing.slot_grid = SlotGrid::Shared)
        .broadcast(0)
        .up(0, STA1)
        .down(0, STA2)
        .draws(AP, [2])
        .draws(STA1, [9])
        .in_cell_only("slots begin for all together")
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, AP, "data 1"),
            (50_000, 213_000, STA1, "data 2"),
            (617_000, 780_000, AP, "data 3"),
            (790_000, 897_000, STA2, "ack"),
            (1_087_000, 1_250_000, STA1, "data 2"),
            (1_260_000, 1_367_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000      1200
            ap    +..[1xxxxx]..................21[3=====]      ...              *[ack]
            sta1  +..[2xxxxx]..................98              ...765432[2======]
            sta2                                         *[ack]
        ",
    );
}

/// Noise destroys the broadcast at station 2 alone, which defers for an EIFS.
#[test]
fn noise_destroys_a_broadcast_at_one_receiver() {
    let record = Script::new(&DOT11B, 3)
        .with(|config| config.timing.basic_rates = vec![BitRate::from_mbps(11.0)])
        .broadcast(0)
        .up(100, STA2)
        .up(100, STA3)
        .draws(STA2, [1])
        .draws(STA3, [12])
        .data_noise(STA2, 0..60)
        .play(20);
    record.shows(
        &[
            (50_000, 213_000, AP, "data 1"),
            (503_000, 666_000, STA3, "data 3"),
            (676_000, 783_000, AP, "ack"),
            (853_000, 1_016_000, STA2, "data 2"),
            (1_026_000, 1_133_000, AP, "ack"),
        ],
        "
            µs    0         200       400       600       800       1000
            ap    +..[1=====]...                   *[ack]           *[ack=]
            sta1            *
            sta2       +     ...............              ..1[2=====]
            sta3       +    *...cba98765432[3=====]       ..
        ",
    );
}

/// One station cannot decode OFDM: the broadcast is sent at 1 Mb/s, in any order of the stations.
#[test]
fn a_broadcast_has_the_modulation_class_that_all_receive() {
    let record = Script::new(&DOT11G, 2).rate(STA2, 11.0).broadcast(0).play(20);
    record.shows(
        &[(28_000, 956_000, AP, "data 1")],
        "
            µs    0         200       400       600       800
            ap    +[data 1=======================================]
            sta1                                                 *
            sta2                                                 *
        ",
    );
}
