//! Random access of uplink OFDMA (802.11ax-2021 clause 26.5.4): MCS 7 in 20 MHz.
//!
//! As in `triggers`, and no station is asked. A Basic Trigger frame with one User Info, for the
//! RA-RUs, lasts 36 µs at 24 Mb/s. It has room for 1542 bytes in each. With windows of 0 all
//! stations send at once. Times are in 100 ns.

use super::record::Record;
use super::stage::{AP, STA1, STA2, Script};
use super::triggers::{from_trigger, three_each, uplink};
use crate::mac::{RandomAccess, RandomAccessTriggers};

/// So many RA-RUs beside so many stations that are asked.
fn random(stations: u32, units: u32, asked: u32, eocw: u32) -> Script {
    let mut script = three_each(stations);
    uplink(&mut script).random_access = Some(RandomAccess {
        units,
        triggers: RandomAccessTriggers::Basic,
        eocw_min: eocw,
        eocw_max: eocw,
        ..RandomAccess::default()
    });
    script.config.mu.as_mut().unwrap().max_users = Some(units + asked);
    script
}

fn labels(record: &Record) -> Vec<(u32, String)> {
    from_trigger(record).into_iter().map(|it| (it.2, it.3.to_owned())).collect()
}

/// On 242 tones a symbol has 1170 bits.
#[test]
fn who_sends_alone_in_a_unit_is_acknowledged() {
    let record = random(1, 1, 0, 0).play(10);
    let answers = 360 + 160;
    let lasts = 480 + (22 + 8 * 1542_u64).div_ceil(1170) * 144;
    let ack = answers + lasts.next_multiple_of(40) + 160;
    let expected = [
        (0, 360, AP, "basic"),
        (answers, answers + lasts, STA1, "data 3"),
        (ack, ack + 320, AP, "multi ba"),
    ];
    assert_eq!(from_trigger(&record)[..3], expected);
    assert_eq!(record.done.len(), 3);
}

/// Nothing arrives and nothing is acknowledged, and the medium is busy until the answers end. The
/// access point has asked nobody: its contention window stays.
#[test]
fn two_stations_collide_in_one_unit() {
    let record = random(2, 1, 0, 0).play(10);
    let seen = labels(&record);
    let expected = [(AP, "basic"), (STA1, "data 3"), (STA2, "data 6"), (AP, "basic")];
    assert_eq!(seen[..4], expected.map(|(node, label)| (node, label.to_owned())));
    assert_eq!(record.windows(AP)[..2], [15, 15]);
    assert_eq!(record.counters[0].noise_losses, 0);
    assert!(record.frame_counters[1].repeated_mpdus > 0);
    let times = from_trigger(&record);
    assert_eq!((times[1].0, times[1].1), (times[2].0, times[2].1));
}

/// With windows of 127 counters are long, and nobody answers at first. The Trigger frame lasts, and
/// the access point goes on.
#[test]
fn an_empty_unit_is_no_failure() {
    let record = random(2, 1, 0, 7).play(10);
    let seen = labels(&record);
    assert_eq!(seen[..2], [(AP, "basic".to_owned()), (AP, "basic".to_owned())]);
    assert_eq!(record.windows(AP)[..2], [15, 15]);
}

/// The one has 106 tones, and the RA-RU has the others. A station that is asked stays out of it.
#[test]
fn who_is_asked_does_not_send_at_random() {
    let record = random(2, 1, 1, 0).play(10);
    let seen = from_trigger(&record);
    let both = [(AP, "basic"), (STA1, "data 3"), (STA2, "data 6"), (AP, "multi ba")];
    assert_eq!(seen.iter().map(|it| (it.2, it.3)).take(4).collect::<Vec<_>>(), both);
    // As if both had been asked: 29 symbols of 510 bits.
    assert_eq!(seen[1].1 - seen[1].0, 480 + 29 * 144);
    assert_eq!(record.done.len(), 6);
    let alone = random(1, 1, 1, 0).play(10);
    assert_eq!(labels(&alone)[1..3], [(STA1, "data 3".to_owned()), (AP, "multi ba".to_owned())]);
}

/// Who does not hear the Trigger frame does not count its RA-RUs.
#[test]
fn who_misses_the_trigger_is_silent() {
    let record =
        random(1, 1, 0, 0).ack_noise(STA1, 500..650).in_cell_only("noise is of cells").play(10);
    let seen = labels(&record);
    assert_eq!(seen[0], (AP, "basic".to_owned()));
    assert_ne!(seen[1], (STA1, "data 3".to_owned()), "{seen:?}");
}
