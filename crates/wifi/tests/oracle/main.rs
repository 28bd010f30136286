//! DCF and EDCA by brute force: the cell, whose nodes share clocks of idle slots, and the space
//! against stations that each look at each slot boundary, as the standard's text tells them to.
//!
//! All get the same packets, the same random streams and the same options. They must put the same
//! frames on the air at the same nanoseconds, deliver the same packets and end with the same
//! counts. Where the oracle has no rules, for A-MPDUs and for 802.11b among 802.11g, the two media
//! are held against each other. OFDMA of a cell is held against `mu`, in `ofdma`.

mod air;
mod altered;
mod dcf;
mod duplex;
mod edca;
mod frame;
mod function;
mod media;
mod mu;
mod ofdma;
mod record;
mod station;
#[path = "../../../sim/src/check/timing.rs"]
mod timing;
mod workload;

use kernel::Bytes;
use media::{
    Tone, duplex_in_cell, duplex_in_space, in_cell, in_space, watched_in_cell, watched_in_space,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use record::{OnAir, Record, compare};
use wifi::mac::{Countdown, Eifs, RtsCts, SlotGrid};
use wire::FrameKind;
use workload::Workload;

fn config(cases: u32) -> ProptestConfig {
    let max_shrink_iters = 20_000;
    ProptestConfig { cases, max_shrink_iters, failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn both_media_follow_dcf(workload in dcf::workloads()) {
        compare(["cell", "oracle"], &in_cell(&workload), &air::run(&workload))?;
        let workload = possible_in_space(workload);
        compare(["space", "oracle"], &in_space(&workload), &air::run(&workload))?;
    }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn both_media_are_the_same_where_some_know_no_ofdm(workload in dcf::mixed_workloads()) {
        compare(["cell", "space"], &in_cell(&workload), &in_space(&workload))?;
    }
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn both_media_follow_edca(workload in edca::workloads()) {
        let workload = one_by_one(workload);
        let oracle = air::run(&workload);
        compare(["cell", "oracle"], &in_cell(&workload), &oracle)?;
        compare(["space", "oracle"], &in_space(&workload), &oracle)?;
    }

    #[test]
    fn both_media_are_the_same_with_aggregates(workload in edca::workloads()) {
        compare(["cell", "space"], &in_cell(&workload), &in_space(&workload))?;
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn a_cell_follows_the_rules_of_full_duplex(workload in duplex::workloads()) {
        compare(["cell", "oracle"], &in_cell(&workload), &air::run(&workload))?;
    }

    #[test]
    fn a_cell_follows_the_rules_of_full_duplex_with_edca(workload in duplex::workloads_of_edca()) {
        compare(["cell", "oracle"], &in_cell(&workload), &air::run(&workload))?;
    }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn both_media_are_the_same_with_full_duplex(workload in duplex::workloads_in_space()) {
        let (cell, counted, rates) = duplex_in_cell(&workload);
        let (space, counted_in_space, rates_in_space) = duplex_in_space(&workload);
        compare(["cell", "space"], &cell, &space)?;
        prop_assert_eq!((counted, rates), (counted_in_space, rates_in_space));
    }

    #[test]
    fn both_media_are_the_same_with_full_duplex_and_edca(
        workload in duplex::workloads_of_edca_in_space()
    ) {
        let (cell, counted, rates) = duplex_in_cell(&workload);
        let (space, counted_in_space, rates_in_space) = duplex_in_space(&workload);
        compare(["cell", "space"], &cell, &space)?;
        prop_assert_eq!((counted, rates), (counted_in_space, rates_in_space));
    }
}

/// Takes out what only a cell does: slots that begin for all together, and an EIFS that is the
/// shortest of several frames that a receiver can tell apart only in a cell.
fn possible_in_space(mut workload: Workload) -> Workload {
    let timing = &mut workload.config.timing;
    if timing.slot_grid.is_shared() {
        timing.slot_grid = SlotGrid::Standard;
        workload.config.countdown = Countdown::Standard;
    }
    if timing.eifs != Eifs::None {
        let mode = workload.links[0].mode;
        workload.links.iter_mut().for_each(|link| link.mode = mode);
    }
    if timing.eifs == Eifs::Estimated {
        for packet in workload.packets.iter_mut().filter(|packet| packet.node == 0) {
            packet.to = packet.to.or(Some(1));
        }
    }
    workload
}

/// Frames one by one, without A-MPDUs.
fn one_by_one(mut workload: Workload) -> Workload {
    workload.config.aggregation = None;
    workload
}

/// So many workloads, always the same.
fn some(strategy: impl Strategy<Value = Workload>, count: usize) -> Vec<Workload> {
    let mut runner = TestRunner::deterministic();
    let mut next = || strategy.new_tree(&mut runner).expect("a workload").current();
    (0..count).map(|_| next()).collect()
}

/// How often things happened that a medium access has to handle.
#[derive(Debug, Default)]
struct Coverage {
    frames: [usize; 5],
    large_collisions: usize,
    txops: usize,
    /// Collisions, losses by noise, drops at the retry limit, and duplicates.
    counters: [u64; 4],
    internal_collisions: u64,
}

impl Coverage {
    fn add(&mut self, record: &Record) {
        let kinds =
            [FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack, FrameKind::BlockAck];
        for (count, kind) in self.frames.iter_mut().zip(kinds) {
            *count += record.air.iter().filter(|on_air| on_air.kind() == Some(kind)).count();
        }
        let large =
            |on_air: &&OnAir| matches!(on_air, OnAir::Collision { nodes, .. } if nodes.len() > 2);
        self.large_collisions += record.air.iter().filter(large).count();
        self.txops += record.air.windows(3).filter(|on_air| is_continued(on_air)).count();
        for (counters, frames) in &record.counters {
            let all = [
                counters.collisions,
                counters.noise_losses,
                counters.retry_drops,
                counters.duplicates,
            ];
            self.counters.iter_mut().zip(all).for_each(|(sum, count)| *sum += count);
            self.internal_collisions += frames.internal_collisions;
        }
    }
}

/// Whether a node sends a frame a SIFS after the answer to its last.
fn is_continued(on_air: &[OnAir]) -> bool {
    let [
        OnAir::Frame { node: first, end: ended, .. },
        OnAir::Frame { kind: FrameKind::Ack, start: answered, end, .. },
        OnAir::Frame { node, start, .. },
    ] = on_air
    else {
        return false;
    };
    node == first && start.since(*end) == answered.since(*ended)
}

/// Whether a station and the access point send data at once.
fn overlap(on_air: &[OnAir]) -> bool {
    let data = |on_air: &OnAir| on_air.kind() == Some(FrameKind::Data);
    on_air.iter().all(data) && on_air[0].start() == on_air[1].start()
}

/// Whether a data frame begins while another is on the air.
fn joins(on_air: &[OnAir]) -> bool {
    let [OnAir::Frame { kind, start, end, .. }, second] = on_air else { return false };
    let both = [Some(*kind), second.kind()] == [Some(FrameKind::Data); 2];
    both && (*start..*end).contains(&second.start()) && second.start() > *start
}

/// Whether a station and the access point send data at once after an RTS of the access point.
fn overlap_after_own_rts(on_air: &[OnAir]) -> bool {
    let is_rts = on_air[0].kind() == Some(FrameKind::Rts) && on_air[0].first_node() == Some(0);
    is_rts && overlap(&on_air[2..])
}

#[test]
fn a_trace_has_each_frame_of_full_duplex() {
    let of_dcf = some(duplex::workloads(), 300);
    for workload in of_dcf.into_iter().chain(some(duplex::workloads_of_edca(), 100)) {
        let (mut record, frames, _) = watched_in_cell(&workload);
        record.air.retain(|on_air| on_air.kind().is_some());
        assert_eq!(record.air, frames);
    }
}

#[test]
fn a_busy_tone_follows_the_shorter_of_two_data_frames() {
    let mut count = 0;
    for workload in some(duplex::workloads(), 100) {
        let with_tone = workload.config.full_duplex.is_some_and(|settings| settings.busy_tone);
        let (_, _, tones) = watched_in_cell(&workload);
        let record = air::run(&workload);
        let expected: Vec<Tone> = record.air.windows(2).filter_map(tone_after).collect();
        assert_eq!(tones, if with_tone { expected } else { Vec::new() });
        count += tones.len();
    }
    assert!(count > 150, "{count}");
}

/// The tone after the shorter of two frames, if they overlap.
fn tone_after(on_air: &[OnAir]) -> Option<Tone> {
    let [
        OnAir::Frame { node: first, kind: FrameKind::Data, end: one, .. },
        OnAir::Frame { node: second, kind: FrameKind::Data, start, end: other },
    ] = on_air
    else {
        return None;
    };
    let sender = if one < other { first } else { second };
    (start < one && one != other).then_some((*sender, *one.min(other), *one.max(other)))
}

#[test]
fn a_trace_in_space_has_both_frames_of_an_exchange() {
    for mut workload in some(duplex::workloads_in_space(), 300) {
        let settings = workload.config.full_duplex.as_mut().expect("full duplex");
        settings.rts_cts = RtsCts::Required;
        workload.config.rts_threshold = Bytes::ZERO;
        let (mut record, frames) = watched_in_space(&workload);
        record.air.retain(|on_air| on_air.kind().is_some());
        let on_air: Vec<OnAir> = frames.iter().map(|(on_air, _)| on_air.clone()).collect();
        assert_eq!(record.air, on_air);
        let together = frames.windows(2).filter(|both| both[0].0.start() == both[1].0.start());
        for both in together {
            assert_eq!(both[0].1, both[1].1, "two frames of one exchange: {both:?}");
        }
    }
}

/// A frame that joins another belongs to its exchange.
#[test]
fn a_trace_in_space_has_the_exchange_of_a_frame_that_joins() {
    let mut count = 0;
    for workload in some(duplex::workloads_of_edca_in_space(), 100) {
        let (_, frames) = watched_in_space(&workload);
        for both in frames.windows(2) {
            let [(first, of_first), (second, of_second)] = both else { unreachable!("two") };
            let are_data = [first, second].iter().all(|f| f.kind() == Some(FrameKind::Data));
            if are_data && first.start() < second.start() && second.start() < first.end() {
                assert_eq!(of_first, of_second, "{first:?} {second:?}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

/// The workloads are worth something: what DCF and EDCA have to decide happens in them.
#[test]
fn workloads_cover_the_rules() {
    let mut dcf = Coverage::default();
    let broadcasts =
        |workload: &Workload| workload.packets.iter().filter(|packet| packet.to.is_none()).count();
    let [mut of_dcf, mut of_edca] = [0; 2];
    for workload in some(dcf::workloads(), 300) {
        of_dcf += broadcasts(&workload);
        dcf.add(&air::run(&workload));
    }
    assert!(dcf.frames[..4].iter().all(|&count| count > 300), "{dcf:?}");
    assert!(dcf.counters.iter().all(|&count| count > 300), "{dcf:?}");
    assert!(dcf.large_collisions > 300, "{dcf:?}");

    let mut duplex = Coverage::default();
    let (mut overlaps, mut of_stations, mut joined) = (0, 0, 0);
    for workload in some(duplex::workloads(), 300) {
        let record = air::run(&workload);
        overlaps += record.air.windows(2).filter(|pair| overlap(pair)).count();
        let own = record.air.windows(4).filter(|frames| overlap_after_own_rts(frames));
        of_stations += own.count();
        joined += record.air.windows(2).filter(|pair| joins(pair)).count();
        duplex.add(&record);
    }
    assert!(overlaps > 300 && of_stations > 100, "{overlaps} {of_stations}");
    assert!(joined > 150, "{joined} data frames joined without RTS and CTS");
    assert!(duplex.counters.iter().all(|&count| count > 300), "{duplex:?}");

    let mut counted = [0; 5];
    for workload in some(duplex::workloads_in_space(), 300) {
        let (_, all, rates) = duplex_in_space(&workload);
        let [joint, bidirectional, stations] =
            [all.joint, all.bidirectional, all.station_secondary];
        let several = rates.iter().filter(|rate| rate.frames > 0).count() as u64;
        let each = [all.secondary, joint, bidirectional, stations, several];
        counted.iter_mut().zip(each).for_each(|(sum, count)| *sum += count);
    }
    assert!(counted.iter().all(|&count| count > 200), "{counted:?}");

    let (mut edca, mut aggregated) = (Coverage::default(), Coverage::default());
    for workload in some(edca::workloads(), 300) {
        of_edca += broadcasts(&workload);
        aggregated.add(&in_space(&workload));
        edca.add(&air::run(&one_by_one(workload)));
    }
    assert!(edca.frames[..4].iter().all(|&count| count > 300), "{edca:?}");
    assert!(edca.counters.iter().all(|&count| count > 300), "{edca:?}");
    assert!(edca.txops > 300 && edca.internal_collisions > 300, "{edca:?}");
    assert!(aggregated.frames[4] > 300, "{aggregated:?}");
    assert!(of_dcf > 300 && of_edca > 300, "broadcasts: {of_dcf} and {of_edca}");
}
