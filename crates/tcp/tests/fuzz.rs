//! Robustness: text that is not a script, modified scripts, segments that no TCP would send. No
//! input causes a panic or an endless run, and an invalid script gets a message of one line.

use crate::plain::plain;
use crate::{controls, corpus};
use kernel::{BitRate, Bytes, Duration, Instant, Segments};
use proptest::prelude::*;
use tcp::{
    AccurateEcn, Command, Config, DelayedAck, Ecn, Hint, Receiver, Recovery, Sack, Sender, TimerId,
    script,
};
use wire::{Flags, FlowId, SackBlock, SackBlocks, Segment, Timestamps};

/// Runs a text; a failure refers to a line of the text, and its message is one line.
fn play(text: &str) -> Result<(), TestCaseError> {
    let transcript = script::run(text);
    if let Some(failure) = transcript.failure {
        let lines = text.lines().count().max(1);
        prop_assert!((1..=lines).contains(&failure.line), "line {} of {lines}", failure.line);
        prop_assert!(!failure.message.is_empty());
        prop_assert!(!failure.message.contains('\n'), "{:?}", failure.message);
    }
    Ok(())
}

/// Words of the grammar, and numbers at its limits.
fn word() -> impl Strategy<Value = String> {
    let words = "0.1 +0.1 * + ~ 0.1~0.3 > < S S. . F. R SEWA [ce] [ect0] [ect1] [noecn] 0:0(0) \
                 1:1001(1000) ack win 1 1001 65535 0 -1 18446744073709551615 4294967296 1e9 nan \
                 inf <mss 1000,sackOK> <sack 1:2> <TS val ecr> <...> wscale 14 99 set control \
                 cubic beta=0.7 beta= =1 few afw bbr lt vegas epoch=timeouts connect listen \
                 accept write read cork uncork close shutdown stop abort quiet skip \
                 link_rate_kbps assert cwnd == ssthresh infinite ca_state open state closed \
                 endpoint nagle sender minshall %{ }% --tolerance_usecs= // # rack off mss window \
                 rto_max_ms ( ) ,";
    let words: Vec<&str> = words.split_whitespace().collect();
    prop::sample::select(words).prop_map(str::to_owned)
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(word(), 0..8).prop_map(|words| words.join(" ")),
        "\\PC{0,40}",
        any::<Vec<u8>>().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ]
}

/// A script in which some lines are removed, doubled, moved or changed.
fn changed(text: &str, changes: &[(u8, usize, usize, String)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (what, first, second, new) in changes {
        let (i, j) = (first % lines.len().max(1), second % lines.len().max(1));
        match what {
            _ if lines.is_empty() => lines.push(new.clone()),
            0 => drop(lines.remove(i)),
            1 => lines.insert(j, lines[i].clone()),
            2 => lines.swap(i, j),
            3 => lines.insert(i, new.clone()),
            _ => {
                let mut words: Vec<&str> = lines[i].split(' ').collect();
                let k = second % words.len();
                words[k] = new;
                lines[i] = words.join(" ");
            }
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn text_that_is_no_script_is_told_so(lines in prop::collection::vec(line(), 0..12)) {
        play(&lines.join("\n"))?;
    }

    #[test]
    fn a_changed_script_harms_nothing(
        script in prop::sample::select(corpus::scripts()),
        changes in prop::collection::vec((0..8u8, any::<usize>(), any::<usize>(), word()), 1..6),
    ) {
        play(&changed(&script.1, &changes))?;
    }

    #[test]
    fn a_script_cut_short_harms_nothing(
        script in prop::sample::select(corpus::scripts()),
        at in any::<usize>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = script.1.into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        play(&String::from_utf8_lossy(&bytes))?;
        play(&String::from_utf8_lossy(&bytes[..at]))?;
    }
}

const FLOW: FlowId = FlowId(7);

/// An acknowledgement near the sequence numbers of a connection: SACK blocks anywhere, some of them
/// impossible.
fn noise() -> impl Strategy<Value = Segment> {
    let number = || prop_oneof![8 => 0..40u64, 1 => Just(u64::MAX)];
    let numbers = (number(), number(), 0..3u32, prop_oneof![Just(0), Just(10_000u64), 0..500u64]);
    let blocks = prop::collection::vec((number(), number()), 0..5);
    let stamps = prop::option::of((any::<u64>(), any::<u64>()));
    (numbers, any::<u16>(), blocks, stamps).prop_map(
        |((seq, ack, len, window), flags, blocks, t)| {
            let at = |n: u64| if n == u64::MAX { n } else { 1 + 100 * n };
            // Most are possible for a connected receiver. None of them resets the connection.
            let flags = if seq < 30 { flags & !Flags::RST.0 } else { flags };
            let flags = if flags < 51_200 { Flags::ACK.0 | flags & Flags::ECE.0 } else { flags };
            Segment {
                flow: FLOW,
                connection: 3,
                forward: false,
                seq: if seq < 30 { 1 } else { seq },
                len: len / 2,
                ack: at(ack),
                window,
                flags: Flags(flags),
                timestamps: t.map(|(v, e)| Timestamps { value: Instant(v), echo: Instant(e) }),
                sack: blocks.into_iter().fold(SackBlocks::NONE, |mut all, (start, end)| {
                    all.push(SackBlock { start: at(start), end: at(end) });
                    all
                }),
                coded: None,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// Whatever arrives: the window is at least one segment, at most the sent data is in flight,
    /// and never less than nothing (which the scoreboard asserts).
    #[test]
    fn no_acknowledgement_harms_a_sender(
        which in 0..controls::all().len(),
        rack in any::<bool>(),
        sack in any::<bool>(),
        timestamps in any::<bool>(),
        ecn in 0..3_u8,
        events in prop::collection::vec((noise(), 0..10u8, 0..80_000_000u64), 1..120),
    ) {
        let config = Config {
            mss: Some(Bytes(100)),
            window: Some(Bytes(10_000)),
            initial_window: Some(Segments(10.0)),
            timestamps,
            ecn: match ecn {
                0 => Ecn::Off,
                1 => Ecn::Classic,
                _ => Ecn::Accurate(AccurateEcn::default()),
            },
            delayed_ack: DelayedAck::None,
            recovery: if sack {
                Recovery::Sack(Sack { rack, ..Sack::default() })
            } else {
                Recovery::NewReno
            },
            ..plain()
        };
        let mut sender = Sender::new(FLOW, 3, &config, controls::make(which, &config));
        let (mut now, mut out) = (Instant::ZERO, Vec::new());
        sender.on_open(now, &mut out);
        let open = Segment {
            flow: FLOW, connection: 3, forward: false, seq: 0, len: 0, ack: 1, window: 10_000,
            flags: Flags::SYN.and(Flags::ACK).and(Flags::of_ace(if ecn == 2 { 2 } else { 1 })),
            sack: SackBlocks::PERMITTED,
            coded: None,
            timestamps: timestamps.then_some(Timestamps { value: now, echo: now }),
        };
        now += Duration::from_millis(30);
        sender.on_segment(now, &open, &mut out);
        sender.on_data(now, Bytes(3_900), &mut out);
        for (segment, what, later) in events {
            now += Duration(later);
            match what {
                0 => sender.on_timer(now, TimerId::Retransmit, &mut out),
                1 => sender.on_timer(now, TimerId::Pacing, &mut out),
                2 => sender.on_hint(now, Hint::LinkRate(BitRate(later * 10))),
                _ => sender.on_segment(now, &segment, &mut out),
            }
            prop_assert!(out.len() <= 200, "{} commands", out.len());
            out.clear();
            prop_assert!(sender.window_segments() >= 1.0);
            prop_assert!(sender.in_flight_bytes() <= 2 * 3_901, "twice: what is resent counts too");
            prop_assert!(sender.acknowledged_bytes() <= 3_900);
            prop_assert!(sender.rto() <= config.rto_max);
        }
    }
}

/// Segments that a sender would send, and others that none would send.
fn nonsense() -> impl Strategy<Value = Segment> {
    let number = || prop_oneof![8 => 0..60u64, 1 => Just(u64::MAX)];
    let lengths = prop_oneof![Just(0), Just(100u32), 0..400u32, any::<u32>()];
    (number(), number(), lengths, any::<u16>(), any::<bool>()).prop_map(
        |(seq, ack, len, flags, permits)| Segment {
            flow: FLOW,
            connection: 3,
            forward: true,
            seq: if seq == u64::MAX { seq } else { 1 + 50 * seq },
            len,
            // Most acknowledge the SYN. None of them resets a connection that is being opened.
            ack: if ack < 50 { 1 } else { ack },
            window: 10_000,
            flags: match flags {
                0..51_200 => Flags::ACK,
                _ if seq == 0 => Flags(flags & !Flags::RST.0),
                _ => Flags(flags),
            },
            timestamps: None,
            sack: if permits { SackBlocks::PERMITTED } else { SackBlocks::NONE },
            coded: None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// Whatever arrives, however its application reads: a receiver delivers no more than its window
    /// allowed, and the right edge of its window never moves back by a unit of its scale.
    #[test]
    fn no_segment_harms_a_receiver(
        sack in any::<bool>(),
        huge in any::<bool>(),
        grows in any::<bool>(),
        rate in prop::option::of(prop_oneof![Just(1u64), 1..1_000_000_000u64, Just(u64::MAX)]),
        events in prop::collection::vec((nonsense(), 0..10u8, 0..80_000_000u64), 1..120),
    ) {
        let config = Config {
            mss: Some(Bytes(100)),
            window: (!grows).then_some(Bytes(if huge { u64::MAX } else { 1_000 })),
            read_rate: rate.map(BitRate),
            recovery: if sack { Recovery::Sack(Sack::default()) } else { Recovery::NewReno },
            ..plain()
        };
        let mut receiver = Receiver::new(FLOW, 3, &config);
        let (mut now, mut out) = (Instant::ZERO, Vec::new());
        let syn = Segment {
            flow: FLOW, connection: 3, forward: true, seq: 0, len: 0, ack: 0, window: 10_000,
            flags: Flags::SYN, timestamps: None, sack: SackBlocks::PERMITTED, coded: None,
        };
        receiver.on_segment(now, &syn, &mut out);
        let unit = (0..=14).map(|scale| 1 << scale);
        let unit = unit.into_iter().find(|unit| config.window_max().0 / unit <= 65_535);
        let unit = unit.unwrap_or(1 << 14);
        let mut edge = 0;
        for (segment, what, later) in events {
            now += Duration(later);
            match what {
                0 => receiver.on_timer(now, TimerId::DelayedAck, &mut out),
                1 => receiver.on_timer(now, TimerId::Retransmit, &mut out),
                2 => receiver.on_timer(now, TimerId::Pacing, &mut out),
                _ => receiver.on_segment(now, &segment, &mut out),
            }
            for command in out.drain(..) {
                match command {
                    Command::Send(s) if s.flags.has(Flags::RST) => {}
                    Command::Send(s) => {
                        let right = s.ack.saturating_add(s.window);
                        // A FIN takes a sequence number, and no room in the buffer.
                        // RFC 7323 §2.4: a header has whole units of the scale; §2.2: the window of
                        // a SYN is not scaled.
                        let is_syn = s.flags.has(Flags::SYN);
                        let moves = right.saturating_add(unit) <= edge && s.window != 1_000;
                        let stays = is_syn || !moves;
                        prop_assert!(stays, "{right} after {edge}");
                        edge = right.max(edge);
                    }
                    Command::Set(_, at) => prop_assert!(at > now),
                    _ => {}
                }
            }
            prop_assert!(huge || receiver.delivered_bytes() <= edge);
        }
    }
}
