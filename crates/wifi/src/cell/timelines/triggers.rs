//! Uplink OFDMA (802.11ax-2021 clause 26.5.2): MCS 7 in 20 MHz, one stream.
//!
//! Stations send A-MPDUs of two MPDUs by EDCA, which tell that a third packet waits; then the
//! access point triggers them. Times are in 100 ns from the Trigger frame. At 24 Mb/s a Basic
//! Trigger frame for one, two or four stations lasts 36, 36 or 40 µs, 2 symbols more with padding
//! for 8 or 4 more for 16 µs; a Multi-STA BlockAck that acknowledges a single MPDU of each of two
//! stations 32 µs. On 106 tones a symbol of an HE TB PPDU has 510 bits, on 52 tones 240 bits.

use super::record::Record;
use super::stage::{AP, STA1, STA2, STA3, Script};
use crate::mac::{AfterBsrp, Mu, MuEdca, MuEdcaCategory, Uplink};
use crate::phy::he::NominalPadding;
use crate::phy::{DOT11AX, TxVector};
use kernel::{Bytes, Duration};
use std::collections::BTreeMap;

fn script(stations: usize) -> Script {
    let uplink = Uplink {
        access_interval: Duration::from_micros(10),
        trigger_padding: NominalPadding::Us0,
        bsrp: false,
        ..Uplink::default()
    };
    let mut script = Script::high(&DOT11AX, stations)
        .with(|config| config.mu = Some(Mu { uplink: Some(uplink), ..Mu::default() }));
    script.config.aggregation.as_mut().unwrap().frames = 2;
    let vector = TxVector { mcs: 7, ..DOT11AX.tx_vector().unwrap() };
    script.links.iter_mut().for_each(|link| link.mode = vector.mode().unwrap());
    script
}

/// Three packets of 1536 bytes at each station: the first two go by EDCA, one station after the
/// other, and then it is the access point's turn.
pub(super) fn three_each(stations: u32) -> Script {
    let mut script = (1..=stations).fold(script(stations as usize), |script, station| {
        let at = (station - 1) * 600;
        (0..3).fold(script, |script, _| script.up(at, station).of(1536)).draws(station, [400])
    });
    script.config.rts_threshold = Bytes(1 << 30);
    uplink(&mut script).access_interval = Duration::from_micros(600 * u64::from(stations));
    script
}

pub(super) fn uplink(script: &mut Script) -> &mut Uplink {
    script.config.mu.as_mut().unwrap().uplink.as_mut().unwrap()
}

/// Frames from the first Trigger frame on, in 100 ns after its start.
pub(super) fn from_trigger(record: &Record) -> Vec<(u64, u64, u32, &str)> {
    let is_trigger = |label: &str| matches!(label, "basic" | "bsrp");
    let first = record.frames.iter().position(|it| is_trigger(&it.label)).expect("a trigger");
    let since = record.frames[first].start.0;
    let frames = record.frames[first..].iter();
    frames
        .map(|it| ((it.start.0 - since) / 100, (it.end.0 - since) / 100, it.node, &*it.label))
        .collect()
}

/// On 106 tones a symbol has 510 bits, and the reports of 1540 bytes, rounded up to 1792, fill 29.
/// The Multi-STA BlockAck waits for the announced end, and acknowledges a single MPDU of each.
#[test]
fn stations_answer_together_and_get_one_block_ack() {
    let record = three_each(2).play(10);
    let answers = 360 + 160;
    let (ends, announced) = (answers + 480 + 29 * 144, answers + 4680);
    let ack = announced + 160;
    let expected = [
        (0, 360, AP, "basic"),
        (answers, ends, STA1, "data 3"),
        (answers, ends, STA2, "data 6"),
        (ack, ack + 320, AP, "multi ba"),
    ];
    assert_eq!(from_trigger(&record), expected);
    assert_eq!(record.done.len(), 6);
    assert_eq!(record.counters[0].attempts, 1);
}

/// A cycle of four stations on 52 tones: Trigger frame 40 µs, SIFS, HE TB PPDUs, SIFS, Multi-STA
/// BlockAck.
#[test]
fn four_stations_have_52_tones_each() {
    let record = three_each(4).play(10);
    let answers = 400 + 160;
    let symbols = (22_u64 + 8 * 1792).div_ceil(240);
    let ends = answers + 480 + symbols * 144;
    let seen = from_trigger(&record);
    let expected = [(0, 400, AP, "basic"), (answers, ends, STA1, "data 3")];
    assert_eq!(seen[..2], expected);
    let lasts = (480 + symbols * 144).next_multiple_of(40);
    let ack = answers + lasts + 160;
    assert_eq!(seen[5], (ack, ack + 320, AP, "multi ba"));
    assert_eq!(seen.len(), 6);
}

/// 24 Mb/s are 12 bytes a symbol: 16 µs of time to prepare are 48 bytes.
#[test]
fn a_trigger_frame_is_padded() {
    for (padding, lasts) in [(NominalPadding::Us8, 440), (NominalPadding::Us16, 520)] {
        let mut script = three_each(2);
        uplink(&mut script).trigger_padding = padding;
        let record = script.play(10);
        let seen = from_trigger(&record);
        assert_eq!(seen[0], (0, lasts, AP, "basic"), "{padding:?}");
        assert_eq!(seen[1].0, lasts + 160);
    }
}

/// The station that does not hear the Trigger frame leaves its resource unit empty and sends by
/// EDCA when its back-off ends, whose slots the triggered exchange has not changed.
#[test]
fn who_misses_the_trigger_leaves_an_empty_resource_unit() {
    let record = three_each(2).ack_noise(STA2, 1150..1250).play(10);
    let seen = from_trigger(&record);
    let labels: Vec<_> = seen.iter().map(|it| (it.2, it.3)).collect();
    assert_eq!(labels[..3], [(AP, "basic"), (STA1, "data 3"), (AP, "multi ba")]);
    assert_eq!(record.windows(AP)[0], 15, "one answer is a success");
    assert!(record.delivered.iter().any(|&(_, node, number)| (node, number) == (AP, 6)));
}

/// Nobody hears the Trigger frame: the contention window doubles.
#[test]
fn the_attempt_fails_if_nobody_answers() {
    let script = three_each(2).ack_noise(STA1, 1150..1250).ack_noise(STA2, 1150..1250);
    let record = script.play(10);
    let seen = from_trigger(&record);
    assert_eq!((seen[0].3, seen[1].3), ("basic", "basic"), "{seen:?}");
    assert_eq!(record.windows(AP)[..2], [15, 31]);
    assert_eq!(record.counters[0].noise_losses, 1);
}

/// The access point waits 57 µs for HE TB PPDUs: until then two slots more have passed after the
/// AIFS of 43 µs.
#[test]
fn who_gets_no_answer_waits_for_he_tb_ppdus() {
    let mut script = three_each(1);
    uplink(&mut script).access_interval = Duration::from_micros(50);
    let record = script.ack_noise(STA1, 480..530).play(10);
    let seen = from_trigger(&record);
    assert_eq!((seen[0].3, seen[1].3), ("basic", "basic"), "{seen:?}");
    assert_eq!(seen[1].0 - seen[0].1, 430 + 2 * 90);
}

/// Noise destroys the MPDU of one station: it learns so from the Multi-STA BlockAck of the other,
/// and sends again, with the contention window that it had.
#[test]
fn a_lost_mpdu_is_sent_again() {
    let record = three_each(2).data_noise(STA2, 1150..1250).play(10);
    let seen = from_trigger(&record);
    let labels: Vec<_> = seen.iter().map(|it| (it.2, it.3)).collect();
    assert_eq!(labels[1..3], [(STA1, "data 3"), (STA2, "data 6")]);
    assert_eq!(record.windows(STA2), vec![15; record.windows(STA2).len()]);
    assert_eq!(record.frame_counters[2].repeated_mpdus, 1);
    assert!(record.delivered.iter().any(|&(_, node, number)| (node, number) == (AP, 6)));
}

/// A triggered station keeps the slots that are left: without the Trigger frame it would have begun
/// as much earlier as the exchange lasts with an AIFS.
#[test]
fn a_back_off_stands_still() {
    let with = three_each(2).up(2000, STA1).of(500).play(10);
    let mut script = three_each(2).up(2000, STA1).of(500);
    uplink(&mut script).access_interval = Duration::ZERO;
    let without = script.play(10);
    let begins = |record: &Record, label| {
        record.frames.iter().find(|it| it.label == label).map(|it| it.start.0)
    };
    let (own, slots) = (begins(&with, "data 7").unwrap(), begins(&without, "data 3 7").unwrap());
    let exchange = &from_trigger(&with)[3];
    // The slot in which the Trigger frame begins counts.
    assert_eq!(own, slots + (exchange.1 * 100 + 43_000) - 9_000);
}

/// Under noise each packet arrives once and in the order of its station, beside EDCA in both
/// directions. Among radios it is the same if no packets come during a Trigger frame: there a
/// station decides what it answers when it does.
#[test]
fn packets_arrive_once_and_in_order() {
    under_noise(script(3), 0.5);
    under_noise(script(3).in_cell_only("packets come during Trigger frames"), 40.0);
}

fn under_noise(mut script: Script, every_us: f64) {
    uplink(&mut script).access_interval = Duration::from_micros(300);
    let mut sent = BTreeMap::<u32, Vec<u64>>::new();
    for number in 1..=400_u64 {
        let station = 1 + (number % 3) as u32;
        let at = number as f64 * every_us;
        if number % 8 == 0 && every_us > 1.0 {
            script = script.down(at, station).of(600);
            sent.entry(100 + station).or_default().push(number);
        } else {
            script = script.up(at, station).of(200 + number);
            sent.entry(station).or_default().push(number);
        }
    }
    for station in [STA1, STA2, STA3] {
        script = script.some_noise(station, 0..60_000, 0.3);
    }
    let slots = |node: u32| (0..2000_u32).map(move |n| (n * (5 + 2 * node) + n / 7) % 16);
    for node in [AP, STA1, STA2, STA3] {
        script = script.draws(node, slots(node));
    }
    let record = script.ack_noise(STA2, 3000..6000).play(10);
    let mut received = BTreeMap::<u32, Vec<u64>>::new();
    for &(_, node, number) in &record.delivered {
        let from = if node == AP { 1 + (number % 3) as u32 } else { 100 + node };
        received.entry(from).or_default().push(number);
    }
    assert_eq!(received, sent);
    assert_eq!(record.done.len(), 400);
    let triggers = record.frames.iter().filter(|frame| frame.label == "basic").count();
    assert!(triggers >= 20, "{triggers} Trigger frames");
    assert!(record.counters[0].collisions > 0);
    assert!(record.frames.iter().any(|frame| frame.label == "null" || frame.label == "bar"));
}

/// A round of BSRP and Basic Trigger frames (`mac::trigger` has its durations): 40 µs, SIFS,
/// reports of 76.8 µs whose end is announced at 80, SIFS, 40 µs, SIFS, data, SIFS, 32 µs. Nobody
/// has sent before: the reports tell what waits.
#[test]
fn reports_are_asked_for_before_data() {
    let mut script = script(4).down(0, STA1).of(500);
    uplink(&mut script).bsrp = true;
    script.config.aggregation.as_mut().unwrap().frames = 3;
    // The packets come while the access point sends, so that all back off.
    let script = (1..=4).fold(script, |script, station| {
        let packets = (0..3).fold(script, |script, _| script.up(60, station).of(1536));
        packets.draws(station, [900])
    });
    // Three MPDUs of 1536 bytes, told in units of 256 bytes.
    let psdu = 1024 + (3 * 1540_u64 - 1024).next_multiple_of(256);
    let record = script.play(10);
    let seen = from_trigger(&record);
    let nulls = 400 + 160;
    let basic = nulls + 800 + 160;
    let data_at = basic + 400 + 160;
    let symbols = (22 + 8 * psdu).div_ceil(240);
    let ends = data_at + 480 + symbols * 144;
    let acks = data_at + (480 + symbols * 144).next_multiple_of(40) + 160;
    let mut expected = vec![(0, 400, AP, "bsrp")];
    expected.extend((1..=4).map(|station| (nulls, nulls + 768, station, "null")));
    expected.push((basic, basic + 400, AP, "basic"));
    let packets = ["data 2 3 4", "data 5 6 7", "data 8 9 10", "data 11 12 13"];
    expected.extend((1..=4).zip(packets).map(|(station, data)| (data_at, ends, station, data)));
    expected.push((acks, acks + 800, AP, "multi ba"));
    assert_eq!(seen[..11], expected);
}

/// Two stations that back off for long, beside BSRPs that never lead to data.
fn by_ns3() -> Record {
    let mut script = script(2).down(0, STA1).of(500);
    uplink(&mut script).bsrp = true;
    uplink(&mut script).after_bsrp = AfterBsrp::Ns3;
    let script = [STA1, STA2]
        .into_iter()
        .fold(script, |script, station| script.up(60, station).of(1536).draws(station, [900]));
    script.play(10)
}

/// As in ns-3, a BSRP has its access without a TXOP limit to itself. Without downlink packets only
/// BSRPs follow.
#[test]
fn ns3_never_comes_to_data() {
    let record = by_ns3();
    let seen = from_trigger(&record);
    let first = seen.iter().position(|it| it.3.starts_with("data")).expect("EDCA");
    let all = seen[..first].iter().all(|it| matches!(it.3, "bsrp" | "null" | "trigger"));
    assert!(first > 20 && all, "{:?}", &seen[first - 4..first]);
}

/// A Trigger frame that collides with data of stations: it lasts no longer than itself, nobody
/// answers, and the contention window doubles.
#[test]
fn a_trigger_may_collide() {
    let record = by_ns3();
    let place = record.frames.iter().position(|it| it.label == "trigger").expect("a collision");
    let (trigger, data) = (&record.frames[place], &record.frames[place + 1]);
    assert_eq!(trigger.end.0 - trigger.start.0, 36_000);
    assert_eq!((data.start, data.label.starts_with("data")), (trigger.start, true));
    assert!(record.windows(AP).contains(&31));
}

/// Two stations whose third packets the access point triggers, and that then have one more each.
fn under_mu_edca(own: MuEdcaCategory) -> Script {
    let mut script = three_each(2);
    script.config.mu.as_mut().unwrap().edca =
        Some(MuEdca { best_effort: Some(own), ..MuEdca::default() });
    // One more trigger, as no report tells of the last packets.
    let script = [STA1, STA2].into_iter().fold(script, |script, it| script.up(3000, it).of(500));
    script.draws(AP, [0])
}

/// When the frames with these packets begin, in µs after the acknowledgement of triggered data.
fn after_ack(record: &Record, label: &str) -> f64 {
    let ack = record.frames.iter().find(|it| it.label == "multi ba").expect("an acknowledgement");
    let frame = record.frames.iter().find(|it| it.label == label).expect("the frame");
    (frame.start.0 as f64 - ack.end.0 as f64) / 1000.0
}

/// With AIFSN 0 the category does not contend until 8.192 ms after the acknowledgement; then the
/// slots are counted that were left, from a boundary of the station's own slots. The station had
/// 400 slots, of which the access point's first Trigger frame left so many.
#[test]
fn a_muted_category_waits_for_its_timer() {
    let category = MuEdcaCategory { timer: 1, ..MuEdcaCategory::default() };
    let with = under_mu_edca(category);
    let with = with.play(10);
    let without = under_mu_edca(category);
    let never = MuEdcaCategory { timer: 0, ..category };
    let mut without = without;
    without.config.mu.as_mut().unwrap().edca =
        Some(MuEdca { best_effort: Some(never), ..MuEdca::default() });
    let without = without.play(10);
    let (late, usual) = (after_ack(&with, "data 7"), after_ack(&without, "data 7"));
    let slots = (usual - 43.0) / 9.0;
    assert!((slots - slots.round()).abs() < 1e-6 && slots > 100.0, "{slots}");
    let grid = |from: f64| from + ((8192.0 - from) / 9.0).ceil() * 9.0;
    assert!((late - (grid(43.0) + slots * 9.0)).abs() < 1e-6, "{late} {usual}");
    assert_eq!(with.windows(STA1), vec![15; with.windows(STA1).len()]);
}

/// With an AIFSN the slots that are left follow the longer interframe space.
#[test]
fn a_longer_interframe_space_holds_until_the_timer_ends() {
    let usual = MuEdcaCategory { timer: 0, ..MuEdcaCategory::default() };
    let longer = MuEdcaCategory { aifsn: 10, timer: 255, ..usual };
    let [usual, longer] =
        [usual, longer].map(|own| after_ack(&under_mu_edca(own).play(10), "data 7"));
    assert!((longer - usual - 7.0 * 9.0).abs() < 1e-6, "{longer} {usual}");
}

/// Each acknowledgement of triggered data starts the timer anew; a `QoS` Null does not.
#[test]
fn each_acknowledgement_starts_the_timer_anew() {
    let category = MuEdcaCategory { timer: 1, ..MuEdcaCategory::default() };
    let script = under_mu_edca(category).down(5000, STA1).of(500).down(5000, STA2).of(500);
    let mut script = script;
    uplink(&mut script).bsrp = true;
    uplink(&mut script).access_interval = Duration::from_micros(1200);
    let record = script.play(10);
    let triggered: Vec<_> = record.frames.iter().filter(|it| it.label == "multi ba").collect();
    assert!(triggered.len() >= 2, "{}", record.picture());
    let sent =
        |frame: &&super::record::Frame| frame.node == STA1 && frame.label.starts_with("data");
    let all: Vec<_> = record.frames.iter().filter(sent).collect();
    assert!(all.iter().any(|it| it.label == "data 7"), "polls come to it before its timer ends");
}
