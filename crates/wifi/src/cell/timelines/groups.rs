//! Downlink OFDMA (802.11ax-2021 clauses 26.4.4 and 26.5.1): MCS 7 in 20 MHz, one stream.
//!
//! An MPDU of 1536 bytes with its delimiter lasts 387.2 µs on 106 tones and 754.4 µs on 52 tones: a
//! preamble of 47.2 µs, and 25 or 52 symbols of 13.6 µs. A BlockAck of 56 bytes at 24 Mb/s lasts 40
//! µs, a BlockAckReq 32 µs. In an HE TB PPDU of MCS 5 a BlockAck lasts 48 µs and 2 symbols of 14.4
//! µs on 106 tones, or 3 on 52 tones; its end is announced in steps of 4 µs.

use super::record::Record;
use super::stage::{AP, STA1, STA2, STA3, Script};
use crate::mac::mu::scheduler::HeadOfLine;
use crate::mac::{Acknowledgement, Mu, mu::MuSchedulerSettings};
use crate::phy::{DOT11AX, TxVector};
use crate::{Counters, MsduOutcome};
use std::collections::BTreeMap;

fn script(stations: usize, how: Acknowledgement) -> Script {
    let mut script = Script::high(&DOT11AX, stations)
        .with(|config| config.mu = Some(Mu { acknowledgement: how, ..Mu::default() }));
    let vector = TxVector { mcs: 7, ..DOT11AX.tx_vector().unwrap() };
    script.links.iter_mut().for_each(|link| link.mode = vector.mode().unwrap());
    script
}

/// A packet of 1536 bytes for each of so many stations.
pub(super) fn one_each(stations: u32, how: Acknowledgement) -> Script {
    (1..=stations).fold(script(stations as usize, how), |script, to| script.down(0, to).of(1536))
}

/// Frames with start and end in 100 ns.
pub(super) fn frames(record: &Record) -> Vec<(u64, u64, u32, &str)> {
    let frames = record.frames.iter();
    frames.map(|it| (it.start.0 / 100, it.end.0 / 100, it.node, &*it.label)).collect()
}

#[test]
fn block_ack_requests_follow_each_other() {
    let record = one_each(2, Acknowledgement::BarChain).play(10);
    let expected = [
        (430, 4302, AP, "data 1 | 2"),
        (4462, 4862, STA1, "ba"),
        (5022, 5342, AP, "bar"),
        (5502, 5902, STA2, "ba"),
    ];
    assert_eq!(frames(&record), expected);
    assert_eq!(record.delivered, [(430_200, STA1, 1), (430_200, STA2, 2)]);
    assert_eq!(record.counters[0].attempts, 1);
}

#[test]
fn a_trigger_asks_for_all_block_acks() {
    let record = one_each(2, Acknowledgement::MuBar).play(10);
    let expected = [
        (430, 4302, AP, "data 1 | 2"),
        (4462, 4862, AP, "trigger"),
        (5022, 5790, STA1, "ba"),
        (5022, 5790, STA2, "ba"),
    ];
    assert_eq!(frames(&record), expected);
}

/// The MU-BAR has 41 bytes with its delimiter.
#[test]
fn the_trigger_may_be_in_each_a_mpdu() {
    let record = one_each(4, Acknowledgement::AggregatedMuBar).play(10);
    let data = 430 + 7544;
    let acks = data + 160;
    let ends = acks + 912;
    let mut expected = vec![(430, data, AP, "data 1 | 2 | 3 | 4")];
    expected.extend((1..=4).map(|station| (acks, ends, station, "ba")));
    // The 41 bytes take a symbol of 240 bits more.
    let more = 136;
    expected[0].1 += more;
    expected[1..].iter_mut().for_each(|ack| *ack = (ack.0 + more, ack.1 + more, ack.2, ack.3));
    assert_eq!(frames(&record), expected);
}

/// What follows HE TB PPDUs waits for the end that they announce: 80 µs after their start instead
/// of 76.8 µs. Then an AIFS of 43 µs and two slots.
#[test]
fn access_waits_for_the_announced_end() {
    let script = one_each(2, Acknowledgement::MuBar).draws(AP, [2]);
    let record = script.down(100, STA1).of(1536).play(10);
    let last = frames(&record)[4];
    assert_eq!((last.0, last.3), (5022 + 800 + 430 + 180, "data 3"));
}

/// The first station receives nothing: the BlockAckReq to the second one follows a PIFS after the
/// data, because no response has come.
#[test]
fn a_chain_goes_on_without_the_first() {
    let script = one_each(2, Acknowledgement::BarChain).data_noise(STA1, 0..100).draws(AP, [0, 0]);
    let record = script.play(10);
    let expected = [
        (430, 4302, AP, "data 1 | 2"),
        (4302 + 250, 4302 + 250 + 320, AP, "bar"),
        (5032, 5432, STA2, "ba"),
    ];
    assert_eq!(frames(&record)[..3], expected);
    assert_eq!(record.windows(AP)[1], 15, "one answer is a success");
    let last = &record.frames[3..];
    assert_eq!(&*last[0].label, "data 1", "again, and alone");
    assert!(record.done.contains(&(AP, 1, MsduOutcome::Sent)));
}

/// Nobody answers. The access point waits for a BlockAck in OFDM for 45 µs, and for HE TB PPDUs for
/// 57 µs: until then one of its slots more has passed after the AIFS of 43 µs, or two.
#[test]
fn the_access_point_waits_longer_for_he_tb_ppdus() {
    use Acknowledgement::{AggregatedMuBar, BarChain, MuBar};
    for (how, waits) in [(BarChain, 520), (MuBar, 610), (AggregatedMuBar, 610)] {
        let noisy = [STA1, STA2].into_iter().fold(one_each(2, how), |script, station| {
            script.data_noise(station, 0..700).ack_noise(station, 0..700)
        });
        let record = noisy.draws(AP, [0, 0]).play(10);
        let frames = frames(&record);
        let next = frames.iter().rposition(|frame| frame.3 == "data 1 | 2").unwrap();
        assert!(next > 0, "{how:?}: {frames:?}");
        assert_eq!(frames[next].0 - frames[next - 1].1, waits, "{how:?}");
    }
}

/// Nobody answers: the contention window doubles, once for all.
#[test]
fn the_attempt_fails_if_nobody_answers() {
    for how in [Acknowledgement::BarChain, Acknowledgement::MuBar, Acknowledgement::AggregatedMuBar]
    {
        let noisy = one_each(2, how);
        let noisy = [STA1, STA2].into_iter().fold(noisy, |script, station| {
            script.data_noise(station, 0..100).ack_noise(station, 0..100)
        });
        let record = noisy.draws(AP, [0, 0, 0, 0]).play(10);
        assert_eq!(record.windows(AP)[..2], [15, 31], "{how:?}");
        let Counters { noise_losses, sent, .. } = record.counters[0];
        assert_eq!((noise_losses, sent), (1, 2), "{how:?}");
    }
}

/// A station alone gets a PPDU of a single user, and an Ack.
#[test]
fn a_station_alone_has_the_whole_channel() {
    let record = one_each(1, Acknowledgement::MuBar).play(10);
    let seen = frames(&record);
    assert_eq!((seen[0].3, seen[1].3), ("data 1", "ack"));
    let least = |config: &mut crate::MacConfig| config.mu.as_mut().unwrap().min_users = 1;
    let record = one_each(1, Acknowledgement::BarChain).with(least).play(10);
    assert_eq!(frames(&record)[1].3, "ba", "an HE MU PPDU elicits a BlockAck");
}

/// Round robin leaves no resource unit empty and serves two of three stations; head of line serves
/// all three.
#[test]
fn schedulers_differ_in_whom_they_serve() {
    let record = one_each(3, Acknowledgement::MuBar).play(10);
    let data: Vec<_> = frames(&record).into_iter().filter(|it| it.3.starts_with("data")).collect();
    assert_eq!([data[0].3, data[1].3], ["data 1 | 2", "data 3"]);
    let all = |config: &mut crate::MacConfig| {
        config.mu.as_mut().unwrap().scheduler = MuSchedulerSettings::HeadOfLine(HeadOfLine {});
    };
    let record = one_each(3, Acknowledgement::MuBar).with(all).play(10);
    assert_eq!(frames(&record)[0], (430, 430 + 7544, AP, "data 1 | 2 | 3"));
}

/// An MPDU that does not fit into 5.484 ms on its resource unit: that station is left out, and gets
/// the channel alone when it is the first.
#[test]
fn a_slow_station_is_served_alone() {
    let mut script = one_each(3, Acknowledgement::MuBar);
    let slow = TxVector { mcs: 0, ..DOT11AX.tx_vector().unwrap() };
    script.links[1].mode = slow.mode().unwrap();
    let wide = |config: &mut crate::MacConfig| {
        config.mu.as_mut().unwrap().scheduler = MuSchedulerSettings::HeadOfLine(HeadOfLine {});
    };
    let record = script.with(wide).play(10);
    let data: Vec<_> = frames(&record).into_iter().filter(|it| it.3.starts_with("data")).collect();
    assert_eq!([data[0].3, data[1].3], ["data 1 | 3", "data 2"]);
    assert_eq!(data[0].1 - data[0].0, 3872, "106 tones each, as there are two");
}

/// Under noise each packet arrives once and in the order of its station, whatever the sequence of
/// acknowledgement, and beside stations that contend.
#[test]
fn packets_arrive_once_and_in_order() {
    for how in [Acknowledgement::BarChain, Acknowledgement::MuBar, Acknowledgement::AggregatedMuBar]
    {
        // In a space, those whose data has collided are asked for BlockAcks nevertheless.
        let mut script = script(3, how).in_cell_only("nobody answers after a collision");
        let mut sent = BTreeMap::<u32, Vec<u64>>::new();
        for number in 1..=300_u64 {
            let station = 1 + (number % 3) as u32;
            let at = (number * 40) as f64;
            if number % 10 == 0 {
                script = script.up(at, station).of(600);
                sent.entry(AP).or_default().push(number);
            } else {
                script = script.down(at, station).of(200 + number);
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
            received.entry(node).or_default().push(number);
        }
        // Those of three stations mix at the access point.
        received.get_mut(&AP).unwrap().sort_unstable();
        assert_eq!(received, sent, "{how:?}");
        assert_eq!(record.done.len(), 300, "{how:?}");
        let several = record.frames.iter().filter(|frame| frame.label.contains('|')).count();
        assert!(several >= 10, "{several} PPDUs of several users with {how:?}");
        assert!(record.counters[0].collisions > 0, "{how:?}");
    }
}
