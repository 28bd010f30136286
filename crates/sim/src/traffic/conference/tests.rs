use super::*;
use crate::traffic::tests::{asked, source};
use kernel::{BitRate, Seed};

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// When a packet was sent, what it has, and its bytes.
type Packet = (Instant, MediaKind, u16);

/// Runs a conference for this time over a path of 10 ms, which loses what `loses` says of the kind
/// of a packet and its number. Returns the source and the packets that were sent.
fn over(
    conference: &Conference,
    end_ms: u64,
    loses: impl Fn(MediaKind, u64) -> bool,
) -> (Box<dyn Source>, Vec<Packet>) {
    let mut source = source(conference);
    let (mut events, mut sent) = (std::collections::BTreeMap::new(), Vec::new());
    let mut order = 0;
    events.insert((ms(0), order), Event::Begin { start: ms(0), stop: None });
    while let Some(((now, _), event)) = events.pop_first().filter(|((at, _), _)| *at < ms(end_ms)) {
        for command in asked(&mut *source, &[(now, event)]) {
            order += 1;
            match command {
                Command::Wake(at) => {
                    events.insert((at, order), Event::Timer);
                }
                Command::Media { kind, len, number, .. } => {
                    sent.push((now, kind, len));
                    if !loses(kind, number) {
                        let arrived = now + Duration::from_millis(10);
                        events.insert((arrived, order), Event::Arrived { kind, number });
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }
    (source, sent)
}

fn steady() -> Conference {
    let rate = BitRate(1_000_000);
    Conference { min_rate: rate, start_rate: rate, max_rate: rate, ..Conference::default() }
}

#[test]
fn audio_video_and_reports_have_their_rates() {
    let (source, sent) = over(&steady(), 10_000, |_, _| false);
    let count = |kind| sent.iter().filter(|packet| packet.1 == kind).count();
    assert_eq!(count(MediaKind::Audio), 500, "50 a second");
    assert_eq!(count(MediaKind::Feedback), 99, "each 100 ms, not before there is one");
    let media = sent.iter().filter(|packet| packet.1 != MediaKind::Feedback);
    let bits: f64 = media.map(|&(_, _, len)| 8.0 * f64::from(len)).sum();
    // RTP headers of the video come on top of the encoder's rate.
    assert!((bits / 10.0 - 1e6).abs() < 3e4, "{bits}");
    let seen = source.seen(ms(10_000)).expect("a conference");
    assert_eq!((seen.freezes, seen.late), (0, 0));
    assert!(seen.frames > 290, "all but those of the last 150 ms");
}

#[test]
fn a_lost_packet_is_sent_again_and_none_is_late() {
    let lost = |kind, number| kind == MediaKind::Video && (100..102).contains(&number);
    let (source, _) = over(&steady(), 10_000, lost);
    let seen = source.seen(ms(10_000)).expect("a conference");
    assert_eq!((seen.freezes, seen.late), (0, 0));
    // Without retransmission a picture stops until the key frame that is asked for.
    let alone = Conference { retransmit: false, ..steady() };
    let (source, _) = over(&alone, 10_000, lost);
    let stopped = source.seen(ms(10_000)).expect("a conference");
    assert!(stopped.late > 0, "{stopped:?}");
}

#[test]
fn a_silence_of_the_path_is_a_freeze_of_its_length() {
    let conference = steady();
    let (source, _) = over(&conference, 2_000, |_, _| false);
    // Frames are shown 150 ms after their capture, the last one of 1.983 s not later than 2.15 s.
    let before = source.seen(ms(2_250)).expect("a conference");
    assert_eq!(before.freezes, 0);
    let after = source.seen(ms(3_000)).expect("a conference");
    assert_eq!(after.freezes, 1);
    assert!((after.frozen.as_secs_f64() - 0.85).abs() < 0.07, "{:?}", after.frozen);
}

#[test]
fn without_reports_the_rate_stays() {
    let conference = Conference::default();
    let (source, _) = over(&conference, 5_000, |kind, _| kind == MediaKind::Feedback);
    let seen = source.seen(ms(5_000)).expect("a conference");
    assert!((seen.target_mbps - 0.3).abs() < 1e-9);
    let (source, _) = over(&conference, 5_000, |_, _| false);
    let seen = source.seen(ms(5_000)).expect("a conference");
    assert!((seen.target_mbps - 0.3 * libm::pow(1.08, 4.8)).abs() < 0.02, "{}", seen.target_mbps);
}

#[test]
fn key_frames_are_large_and_later_frames_save_it() {
    let second = Some(Duration::from_secs(1));
    let conference = Conference { key_frame_interval: second, frame_spread: 0.0, ..steady() };
    let rng = Seed { root: 1, replication: 0 }.stream("test", 0);
    let mut encoder = encoder::Encoder::new(&conference, rng);
    let interval = conference.frame_interval();
    let mut at = ms(0);
    let frames: Vec<_> = (0..300)
        .map(|_| {
            at += interval;
            encoder.frame(at, 0.96e6)
        })
        .collect();
    // 4000 bytes a frame, and 16000 a key frame.
    let keys: Vec<_> = frames.iter().filter(|frame| frame.is_key).collect();
    assert!((9..=10).contains(&keys.len()), "{}", keys.len());
    assert!(keys.iter().all(|frame| frame.bytes.abs_diff(16_000) <= 1));
    assert_eq!(frames[1].bytes, 2000, "half of it");
    let all: u32 = frames.iter().map(|frame| frame.bytes).sum();
    assert!(all.abs_diff(300 * 4000) < 4000, "{all}");
}
