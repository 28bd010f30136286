use super::tile::{BINS, FRAMES};
use super::*;
use crate::examples::{self, AP, STA1, STA2, network, us};
use crate::{FrameContent, FrameKind, FrameLoss, FrameOutcome, RouteEvent, RouteStep, WaitKind};
use kernel::Bytes;
use serde_json::json;
use std::path::PathBuf;
use wire::{
    CommonInfo, PuncturedChannels, StationAck, TrafficClass, Trigger, TriggerKind, UserInfo,
};

/// A file in the folder for temporary files, removed when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn of(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("simoom-{}-{name}.air", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn written(records: &[Record<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut air = Air::new(&network(), &mut bytes, AirOptions::default()).unwrap();
    for record in records {
        air.on(record).unwrap();
    }
    air.finish().unwrap();
    drop(air);
    bytes
}

/// Frames of three radios in irregular gaps, of which some are lost.
fn frames(count: u64) -> Vec<Frame> {
    let mut at = 7;
    let mut state = 1u64;
    let mut draw = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut frame = |number: u64| {
        at += 1 + draw(700);
        let lasting = 20 + draw(2000);
        let from = draw(3) as u32;
        let kind = if draw(2) == 0 { FrameKind::Data } else { FrameKind::Ack };
        let mut frame = examples::frame(kind, number, (from, Some(AP)), (at, at + lasting));
        frame.number = number;
        if draw(10) == 0 {
            frame.outcome = FrameOutcome::Lost(FrameLoss::Collision);
        }
        frame
    };
    (0..count).map(&mut frame).collect()
}

fn file_of(name: &str, frames: &[Frame]) -> (Temporary, AirFile) {
    let records: Vec<_> = frames.iter().map(Record::Frame).collect();
    let file = Temporary::of(name, &written(&records));
    let air = AirFile::open(&file.0).unwrap();
    (file, air)
}

fn word(tile: &[u8], number: usize) -> u32 {
    u32::from_le_bytes(tile[4 * number..][..4].try_into().unwrap())
}

/// Bin, radio, frames, lost frames and share of the bin of each entry of a tile with bins.
fn bins(tile: &[u8]) -> Vec<(u32, u32, u32, u32, f32)> {
    assert_eq!(word(tile, 1) & 1, 1, "it has bins");
    let count = word(tile, 2) as usize;
    let length = (4 * count).next_multiple_of(8);
    let column = |number: usize, row: usize| word(&tile[32 + number * length..], row);
    let entry = |row| {
        let share = f32::from_bits(column(5, row));
        (column(0, row), column(1, row), column(2, row), column(3, row), share)
    };
    (0..count).map(entry).collect()
}

#[test]
fn a_tile_of_a_short_stretch_has_each_frame_that_overlaps_it() {
    let all = frames(5000);
    let (_file, air) = file_of("short", &all);
    for number in [0, 1, 17, 100] {
        let (start, end) = (number << 20, (number + 1) << 20);
        let overlap = |frame: &&Frame| frame.start.0 < end && frame.end.0 > start;
        let tile = air.tile(20, number).unwrap();
        assert_eq!(word(&tile, 1) & 1, 0, "it has frames");
        let count = word(&tile, 2) as usize;
        assert_eq!(count, all.iter().filter(overlap).count());
        let starts = tile[32..].chunks_exact(8).take(count);
        let starts: Vec<_> = starts.map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
        let expected: Vec<_> = all.iter().filter(overlap).map(|f| f.start.0 as f64).collect();
        assert_eq!(starts, expected);
    }
}

#[test]
fn bins_have_the_time_on_the_air_of_each_radio_to_the_nanosecond() {
    let all = frames(30_000);
    let (_file, air) = file_of("bins", &all);
    for level in [32, 34, 40] {
        let width = 1u64 << (level - BINS);
        let tile = air.tile(level, 0).unwrap();
        for (bin, radio, count, lost, share) in bins(&tile) {
            let (start, end) = (u64::from(bin) * width, (u64::from(bin) + 1) * width);
            let mut expected = (0, 0, 0);
            for frame in all.iter().filter(|f| f.from == radio && f.start.0 < end) {
                let overlap = frame.end.0.min(end).saturating_sub(frame.start.0.max(start));
                let begins = u32::from(frame.start.0 >= start);
                expected.0 += overlap;
                expected.1 += begins;
                expected.2 += begins * u32::from(frame.outcome != FrameOutcome::Received);
            }
            let own: Vec<_> =
                bins(&tile).into_iter().filter(|b| (b.0, b.1) == (bin, radio)).collect();
            let sum: (u32, u32, f32) =
                own.iter().fold((0, 0, 0.0), |s, b| (s.0 + b.2, s.1 + b.3, s.2 + b.4));
            assert_eq!((sum.0, sum.1), (expected.1, expected.2), "bin {bin} of level {level}");
            let exact = expected.0 as f32 / width as f32;
            assert!((sum.2 - exact).abs() <= 1e-5 * exact, "{} and {exact}", sum.2);
            assert!(count >= lost && share > 0.0);
        }
    }
}

#[test]
fn frames_of_all_tiles_of_a_level_are_the_frames_of_the_run() {
    let all = frames(30_000);
    let (_file, air) = file_of("levels", &all);
    let end = all.iter().map(|frame| frame.end.0).max().unwrap();
    for level in [33, 36, 45] {
        let tiles = (0..=end >> level).map(|number| air.tile(level, number).unwrap());
        let counts: u32 = tiles.flat_map(|tile| bins(&tile)).map(|bin| bin.2).sum();
        assert_eq!(counts, 30_000, "level {level}");
    }
    assert_eq!(air.counts().frames, 30_000);
}

#[test]
fn a_tile_with_too_many_frames_has_bins_and_the_next_level_has_frames() {
    let all = frames(FRAMES as u64 + 1);
    let (_file, air) = file_of("limit", &all);
    let end = all.iter().map(|frame| frame.end.0).max().unwrap();
    let level = u64::BITS - end.leading_zeros();
    assert_eq!(word(&air.tile(level, 0).unwrap(), 1) & 1, 1);
    assert_eq!(word(&air.tile(level - 1, 0).unwrap(), 1) & 1, 0);
}

#[test]
fn a_level_that_does_not_exist_is_refused() {
    let (_file, air) = file_of("refused", &frames(10));
    for (level, number) in [(0, 0), (7, 0), (54, 0), (64, 0), (20, u64::MAX), (53, 1 << 11)] {
        let error = air.tile(level, number).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{level} {number}");
    }
    assert_eq!(word(&air.tile(20, 1 << 30).unwrap(), 2), 0, "after the end there is nothing");
}

#[test]
fn a_search_finds_the_next_and_the_last_frame_of_a_radio_that_was_lost() {
    let all = frames(5000);
    let (_file, air) = file_of("search", &all);
    let query = Query { radio: Some(STA1), lost: true, ..Query::default() };
    let lost = |frame: &&Frame| frame.from == STA1 && frame.outcome != FrameOutcome::Received;
    let expected: Vec<u64> = all.iter().filter(lost).map(|frame| frame.number).collect();
    let mut forward = Vec::new();
    let mut at = -1;
    while let Some(found) = air.find(&query, at, true).unwrap() {
        at = i64::from(found.frame.number);
        forward.push(at as u64);
    }
    assert_eq!(forward, expected);
    let last = air.find(&query, i64::MAX, false).unwrap().unwrap();
    assert_eq!(u64::from(last.frame.number), *expected.last().unwrap());
    assert!(air.find(&Query { radio: Some(99), ..query }, -1, true).unwrap().is_none());
}

#[test]
fn the_life_of_a_segment_ends_with_its_acknowledgement() {
    let segment = examples::segment(1, 1448);
    let sent = examples::sent(100, segment, 14_480.0, false);
    let mut frame = examples::data(0, (AP, Some(STA1)), (200, 400), &[examples::tcp(segment)]);
    frame.mpdus[0].packet_id = sent.packet_id;
    let arrives = |at, number| SegmentEvent {
        packet_id: 8,
        event: SegmentRecord::Received,
        ..examples::sent(at, examples::ack(number), 14_480.0, false)
    };
    let (early, ack) = (arrives(500, 1448), arrives(900, 1449));
    let records = [
        Record::Segment(&sent),
        Record::Frame(&frame),
        Record::Segment(&early),
        Record::Segment(&ack),
    ];
    let file = Temporary::of("life", &written(&records));
    let life = AirFile::open(&file.0).unwrap().life(7).unwrap();
    assert_eq!(life.len(), 3, "{life:?}");
    assert!(matches!(life[0], Step::Segment(row) if row.length == 1448));
    let Step::Frame(frame, mpdu) = life[1] else { panic!("{life:?}") };
    assert_eq!((frame.start, mpdu.received), (us(200).0, 1));
    assert!(matches!(life[2], Step::Acknowledged(row) if row.at == us(900).0));
}

#[test]
fn waits_are_in_the_tiles_that_they_overlap() {
    let wait = |start, end, radio| {
        examples::wait(radio, (start, end), WaitKind::Backoff { before: 7, after: 3 })
    };
    let waits = [wait(10, 5000, STA1), wait(2000, 2100, STA2)];
    let records: Vec<_> = waits.iter().map(Record::Wait).collect();
    let file = Temporary::of("waits", &written(&records));
    let air = AirFile::open(&file.0).unwrap();
    let counts: Vec<u32> = (0..6).map(|n| word(&air.tile(20, n).unwrap(), 3)).collect();
    assert_eq!(counts, [1, 2, 2, 1, 1, 0]);
}

#[test]
fn records_beyond_the_limit_are_left_out_and_the_file_says_from_when() {
    let mut bytes = Vec::new();
    let mut air = Air::new(&network(), &mut bytes, AirOptions { limit_mib: 1 }).unwrap();
    let all = frames(200_000);
    for frame in &all {
        air.on(&Record::Frame(frame)).unwrap();
    }
    air.finish().unwrap();
    drop(air);
    let file = Temporary::of("cut", &bytes);
    let air = AirFile::open(&file.0).unwrap();
    let kept = air.counts().frames;
    assert_eq!(air.cut(), Some(all[kept as usize].start.0));
    assert!(kept < 200_000);
}

#[test]
fn a_damaged_file_is_refused() {
    let bytes = written(&frames(3000).iter().map(Record::Frame).collect::<Vec<_>>());
    for (name, part) in [("a", &bytes[..bytes.len() - 1]), ("b", &bytes[..10]), ("c", &[])] {
        let file = Temporary::of(name, part);
        assert_eq!(AirFile::open(&file.0).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
    let mut wrong = bytes.clone();
    let at = bytes.len() - 16;
    wrong[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    let file = Temporary::of("d", &wrong);
    assert_eq!(AirFile::open(&file.0).unwrap_err().kind(), io::ErrorKind::InvalidData);
}

fn route(at: u64, node: u32, step: RouteStep) -> RouteEvent {
    let node = wire::NodeId(node);
    RouteEvent { at: kernel::Instant(at), node, destination: wire::NodeId(0), step }
}

/// The time, node and step of each event of a router in a tile without frames.
fn routes(tile: &[u8]) -> Vec<(f64, u32, u8)> {
    assert_eq!((word(tile, 2), word(tile, 3), word(tile, 4)), (0, 0, 0), "it has nothing else");
    let count = word(tile, 6) as usize;
    let words = (4 * count).next_multiple_of(8);
    let at = |n: usize| f64::from_le_bytes(tile[32 + 8 * n..][..8].try_into().unwrap());
    let node = |n: usize| word(&tile[32 + 8 * count..], n);
    let step = |n: usize| tile[32 + 8 * count + 3 * words + n];
    (0..count).map(|n| (at(n), node(n), step(n))).collect()
}

#[test]
fn a_tile_has_the_events_of_routers_and_one_of_a_bin_where_these_are_too_many() {
    let changed = RouteStep::Changed { hops: Some(3) };
    let step = |n: u64| if n.is_multiple_of(2) { changed } else { RouteStep::Failed };
    let events: Vec<_> = (0..5000).map(|n| route(n * 1000, 1 + (n % 2) as u32, step(n))).collect();
    let records: Vec<_> = events.iter().map(Record::Route).collect();
    let file = Temporary::of("routes", &written(&records));
    let air = AirFile::open(&file.0).unwrap();
    assert_eq!(air.counts().routes, 5000);
    let few = routes(&air.tile(15, 3).unwrap());
    let inside = events.iter().filter(|e| e.at.0 >> 15 == 3);
    let expected: Vec<_> = inside.map(|e| (e.at.0 as f64, e.node.0, e.step.code() as u8)).collect();
    assert_eq!(few, expected);
    // Each of 256 bins has events of two nodes.
    let many = routes(&air.tile(22, 0).unwrap());
    assert_eq!(many.len(), 2 * 256);
    assert_eq!(many[0], (8192.0, 1, 0));
    assert_eq!(many[1], (8192.0, 2, 2));
}

/// Pages show of OFDMA what the trace as text does.
#[test]
fn a_frame_of_ofdma_tells_its_unit_its_padding_and_whom_it_names() {
    let user = |aid| UserInfo { aid, ..UserInfo::default() };
    let asks = Trigger {
        kind: TriggerKind::Bsrp,
        common: CommonInfo::default(),
        users: vec![user(2), user(1), UserInfo { random: 3, ..user(0) }],
    };
    let acks = |aid| StationAck { aid, class: TrafficClass::BestEffort, block_ack: None };
    let frame = |number, kind, content| Frame {
        content,
        number,
        ..examples::frame(kind, number, (AP, None), (100 * number, 100 * number + 40))
    };
    let mut unit = frame(1, FrameKind::Data, FrameContent::None);
    (unit.mode.tones, unit.mode.ru_index, unit.padding) = (Some(106), Some(1), Bytes(300));
    unit.mode.punctured = Some(PuncturedChannels { subchannels: 0b1100, information: 5 });
    let all = [
        frame(0, FrameKind::Trigger, FrameContent::Trigger(Box::new(asks))),
        unit,
        frame(2, FrameKind::BlockAck, FrameContent::MultiSta(vec![acks(1)])),
    ];
    let (_file, air) = file_of("ofdma", &all);
    let told = |number| {
        let frame = air.told_frame(number).unwrap();
        ["trigger", "named", "tones", "ru_index", "padding_bytes"].map(|key| frame[key].clone())
    };
    assert_eq!(told(0), [json!(4), json!([2, 1]), json!(null), json!(null), json!(null)]);
    assert_eq!(told(1), [json!(null), json!([]), json!(106), json!(1), json!(300)]);
    assert_eq!(told(2), [json!(null), json!([1]), json!(null), json!(null), json!(null)]);
    assert_eq!(air.about()["trigger"][4], "BSRP");
    let more = |number, key: &str| air.told_frame(number).unwrap()[key].clone();
    assert_eq!((more(0, "random_units"), more(1, "random_units")), (json!(3), json!(0)));
    assert_eq!((more(0, "punctured"), more(1, "punctured")), (json!(null), json!("3 4")));
}
