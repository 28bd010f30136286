//! What `tshark` finds in captures.

use super::fixture::*;
use super::program::{self, CHECKS, ERROR, is_installed};
use kernel::Bytes;
use std::path::PathBuf;
use trace::pcapng::{Interfaces, PcapngOptions, Tsft};
use trace::{
    BlockAck, Format, Frame, FrameContent, FrameKind, FrameLoss, FrameMode, FrameOutcome, Mpdu,
    Record,
};
use wire::{
    AccEcn, EchoProtocol, Flags, QueueReport, SackBlock, SackBlocks, Segment, StationAck,
    TrafficClass, TriggerKind,
};

/// The severity `PI_WARN` of tshark.
const WARNING: u32 = 0x0060_0000;

/// The values of fields in each packet of a capture; several values are separated by commas.
fn fields(name: &str, file: &[u8], preferences: &[&str], fields: &[&str]) -> Vec<Vec<String>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("capture.pcapng");
    std::fs::write(&path, file).unwrap();
    program::fields(&path, preferences, fields)
}

/// One frame of every kind and every format, with some lost ones.
fn all_kinds() -> Vec<Frame> {
    let ofdm = legacy(Format::Ofdm, 54.0);
    let basic = legacy(Format::Ofdm, 24.0);
    let dsss = |short_preamble| legacy(Format::Dsss { short_preamble }, 11.0);
    let high = |format, mcs, rate_mbps, width_mhz, guard_ns| FrameMode {
        mcs: Some(mcs),
        width_mhz,
        guard_ns,
        ..legacy(format, rate_mbps)
    };
    let syn = packet(segment(true, Flags::SYN, 0, 0, 0));
    let answer = packet(segment(false, Flags::SYN.and(Flags::ACK), 0, 0, 1));
    let full = |n: u16| {
        let seq = 1 + 1446 * u64::from(n);
        mpdu(packet(segment(true, Flags::ACK, seq, 1446, 1)), 100 + n, 38)
    };
    let call = |to| mpdu(datagram(7, 172, to), 9, 38);
    let block_ack =
        |bits| FrameContent::BlockAck(BlockAck { start: 103, bitmap: [3, 0, 0, 0], bits });
    let down = |mode, us, mpdus| data(AP, STA0, mode, us, mpdus);
    let answered = |kind, us| control(kind, STA0, AP, basic, us);
    let ampdu = |mode, us, n| {
        let plain = down(mode, us, vec![full(n), full(n + 1)]);
        Frame { aggregate: true, number: u64::from(n), ..plain }
    };
    let lost = FrameOutcome::Lost(FrameLoss::Interference);
    vec![
        control(FrameKind::Rts, AP, STA0, basic, (1000.0, 28.0)),
        answered(FrameKind::Cts, (1100.0, 28.0)),
        down(ofdm, (1200.0, 36.0), vec![mpdu(syn, 1, 38)]),
        answered(FrameKind::Ack, (1300.0, 28.0)),
        data(STA0, AP, ofdm, (1400.0, 36.0), vec![mpdu(answer, 1, 38)]),
        Frame { outcome: lost, ..down(dsss(false), (2000.0, 1310.0), vec![full(0)]) },
        down(dsss(true), (4000.0, 1214.0), vec![full(1)]),
        down(high(Format::Ht, 7, 65.0, 20, 800), (6000.0, 228.0), vec![full(2)]),
        ampdu(high(Format::Ht, 7, 65.0, 20, 800), (7000.0, 416.0), 3),
        Frame { content: block_ack(64), ..answered(FrameKind::BlockAck, (7432.0, 32.0)) },
        ampdu(high(Format::Vht, 9, 433.3, 80, 400), (8000.0, 97.2), 5),
        Frame {
            content: block_ack(64),
            ..control(FrameKind::BlockAckRequest, AP, STA0, basic, (8200.0, 32.0))
        },
        Frame { content: block_ack(256), ..answered(FrameKind::BlockAck, (8300.0, 40.0)) },
        ampdu(high(Format::He, 11, 143.4, 20, 800), (9000.0, 220.8), 7),
        ampdu(high(Format::Eht, 13, 172.1, 20, 800), (9250.0, 200.0), 9),
        Frame {
            class: TrafficClass::Voice,
            ..down(ofdm, (9500.0, 56.0), vec![call(Some(STATION))])
        },
        Frame { to: None, ..down(ofdm, (9600.0, 56.0), vec![call(None)]) },
        data(PEER0, PEER1, ofdm, (9700.0, 56.0), vec![call(Some(STATION))]),
        control(FrameKind::CtsToSelf, STA1, STA1, basic, (9800.0, 28.0)),
    ]
    .into_iter()
    .chain(of_several())
    .collect()
}

/// Frames for several stations, and of several.
fn of_several() -> Vec<Frame> {
    let basic = legacy(Format::Ofdm, 24.0);
    let unit = |index| FrameMode { user: Some(index), ..high_in_unit(52, index) };
    // With padding of 48 bytes; twelve bytes a symbol.
    let triggers = |kind: TriggerKind, stations, us| {
        let psdu = kind.bytes(u64::from(stations)) + Bytes(48);
        let lasts = 20 + 4 * (22 + psdu.bits()).div_ceil(96);
        let bare = control(FrameKind::Trigger, AP, STA0, basic, (us, lasts as f64));
        Frame { to: None, psdu, content: trigger(kind, stations), ..bare }
    };
    let null = |all| Frame {
        aggregate: true,
        content: FrameContent::Queue(QueueReport { size: 0x41, all }),
        ..control(FrameKind::QosNull, STA0, AP, unit(0), (10_200.0, 80.0))
    };
    let acked = |bits| Some(BlockAck { start: 103, bitmap: [3, 0, 0, 0], bits });
    let ack = |aid, block_ack| {
        let class = TrafficClass::BestEffort;
        StationAck { aid, class, block_ack }
    };
    let acks = vec![ack(1, None), ack(2, acked(64)), ack(3, acked(256))];
    vec![
        triggers(TriggerKind::Basic, 4, 9900.0),
        triggers(TriggerKind::MuBar, 2, 9960.0),
        triggers(TriggerKind::Bsrp, 4, 10_020.0),
        triggers(TriggerKind::MuRts, 3, 10_080.0),
        triggers(TriggerKind::Basic, 1, 10_140.0),
        null(Some(0x0181_8001)),
        null(None),
        Frame {
            to: None,
            content: FrameContent::MultiSta(acks),
            // Three records: 2, 12 and 36 bytes beside 22.
            ..control(FrameKind::BlockAck, AP, STA0, basic, (10_400.0, 48.0))
        },
    ]
}

fn capture_of(frames: &[Frame], options: PcapngOptions) -> Vec<u8> {
    let records: Vec<Record<'_>> = frames.iter().map(Record::Frame).collect();
    capture(network(5180, true), options, &records)
}

/// The highest severity of an expert information in a packet.
fn severity(field: &str) -> u32 {
    field.split(',').filter_map(|it| it.parse().ok()).max().unwrap_or(0)
}

/// The packets of frames: for each MPDU its frame.
fn per_packet(frames: &[Frame]) -> Vec<&Frame> {
    frames.iter().flat_map(|it| std::iter::repeat_n(it, it.mpdus.len().max(1))).collect()
}

#[test]
fn tshark_finds_no_fault_in_any_frame() {
    if !is_installed("tshark_finds_no_fault_in_any_frame") {
        return;
    }
    let frames = all_kinds();
    let file = capture_of(&frames, PcapngOptions::default());
    let wanted = [
        "_ws.expert.severity",
        "_ws.malformed",
        "wlan.fcs.status",
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
    ];
    let found = fields("faults", &file, &CHECKS, &wanted);
    let frames = per_packet(&frames);
    assert_eq!(found.len(), frames.len());
    for (found, frame) in found.iter().zip(frames) {
        assert!(severity(&found[0]) < WARNING, "{found:?}: {frame:?}");
        assert_eq!((found[1].as_str(), found[2].as_str()), ("", "1"), "{frame:?}");
        let transport: Vec<&str> = found[3..].iter().map(String::as_str).collect();
        match frame.mpdus.first().map(|mpdu| mpdu.packet.body) {
            None => assert_eq!(transport, ["", "", ""]),
            Some(wire::Body::Segment(_)) => assert_eq!(transport, ["1", "1", ""]),
            Some(wire::Body::Datagram(_) | wire::Body::Media(_)) => {
                assert_eq!(transport, ["1", "", "1"]);
            }
            Some(wire::Body::Echo(echo)) => {
                let is_udp = echo.protocol == EchoProtocol::Udp;
                assert_eq!(transport, ["1", "", if is_udp { "1" } else { "" }]);
            }
            Some(wire::Body::Routing(_) | wire::Body::Arp(_) | wire::Body::Management(_)) => {
                unreachable!("the fixture has no routing")
            }
        }
    }
}

#[test]
fn tshark_names_the_frames_and_their_radio() {
    if !is_installed("tshark_names_the_frames_and_their_radio") {
        return;
    }
    let frames = all_kinds();
    let file = capture_of(&frames, PcapngOptions::default());
    let wanted = ["wlan.fc.type_subtype", "wlan_radio.phy", "wlan_radio.data_rate", "wlan.seq"];
    let found = fields("names", &file, &[], &wanted);
    for (found, frame) in found.iter().zip(per_packet(&frames)) {
        let kind = match frame.kind {
            FrameKind::BlockAckRequest => "0x0018",
            FrameKind::BlockAck => "0x0019",
            FrameKind::Trigger => "0x0012",
            FrameKind::Rts => "0x001b",
            FrameKind::Cts | FrameKind::CtsToSelf => "0x001c",
            FrameKind::Ack => "0x001d",
            FrameKind::Data => "0x0028",
            FrameKind::Beacon => "0x0008",
            FrameKind::Null => "0x0024",
            FrameKind::QosNull => "0x002c",
            FrameKind::PsPoll => "0x001a",
            FrameKind::Authentication => "0x000b",
            FrameKind::ReassociationRequest => "0x0002",
            FrameKind::ReassociationResponse => "0x0003",
        };
        let phy = match frame.mode.format {
            Format::Dsss { .. } => "4",
            Format::Ofdm => "5",
            Format::Ht => "7",
            Format::Vht => "8",
            Format::He => "11",
            // Wireshark 4.0 does not know the fields of EHT.
            Format::Eht => continue,
        };
        assert_eq!((found[0].as_str(), found[1].as_str()), (kind, phy));
        let rate: f64 = found[2].parse().unwrap();
        assert!((rate - frame.mode.rate.as_mbps()).abs() < 0.05, "{rate}: {frame:?}");
    }
}

/// Begin and end of each packet in whole microseconds, as tshark computes them.
fn times(name: &str, frames: &[Frame], tsft: Tsft) -> Vec<Option<(u64, u64)>> {
    let file = capture_of(frames, PcapngOptions { tsft, ..PcapngOptions::default() });
    let at_end = match tsft {
        Tsft::PpduEnd => "wlan_radio.tsf_at_end:TRUE",
        Tsft::MpduStart => "wlan_radio.tsf_at_end:FALSE",
    };
    let wanted = ["wlan_radio.start_tsf", "wlan_radio.end_tsf"];
    let found = fields(name, &file, &[at_end], &wanted);
    found.iter().map(|it| it[0].parse().ok().zip(it[1].parse().ok())).collect()
}

#[test]
fn tshark_reads_what_frames_for_several_stations_say() {
    if !is_installed("tshark_reads_what_frames_for_several_stations_say") {
        return;
    }
    let file = capture_of(&of_several(), PcapngOptions::default());
    let wanted = [
        "wlan.trigger.he.trigger_type",
        "wlan.trigger.he.ul_length",
        "wlan.trigger.he.user_info.aid12",
        "wlan.trigger.he.preferred_ac",
        "wlan.ba.control.ba_type",
        "wlan.ba.multi_sta.aid11",
        "wlan.ba.multi_sta.ack_type",
        "wlan.qos.queue_size",
        "wlan.htc.he.a_control.bsr.queue_size_all",
    ];
    let found = fields("several", &file, &[], &wanted);
    let aids = |n: u16| (1..=n).map(|aid| format!("0x{aid:016x}")).collect::<Vec<_>>().join(",");
    let trigger = |kind: &str, stations, acs: &str, ba: &str| {
        [kind, "2748", &aids(stations), acs, ba, "", "", "", ""].map(str::to_owned)
    };
    let null = |all: &str| ["", "", "", "", "", "", "", "65", all].map(str::to_owned);
    let expected = [
        trigger("0", 4, "0x00,0x00,0x00,0x00", ""),
        trigger("2", 2, "", "0x0002,0x0002"),
        trigger("4", 4, "", ""),
        trigger("3", 3, "", ""),
        trigger("0", 1, "0x00", ""),
        null("0x00000060"),
        null(""),
        ["", "", "", "", "0x000b", "0x0001,0x0002,0x0003", "0x0001,0x0000,0x0000", "", ""]
            .map(str::to_owned),
    ];
    assert_eq!(found, expected);
}

/// A MU-BAR is the last MPDU of its A-MPDU.
#[test]
fn tshark_finds_a_mu_bar_behind_the_data() {
    if !is_installed("tshark_finds_a_mu_bar_behind_the_data") {
        return;
    }
    let call = mpdu(datagram(7, 172, Some(STATION)), 9, 38);
    let frame = Frame {
        aggregate: true,
        content: trigger(TriggerKind::MuBar, 1),
        ..data(AP, STA0, high_in_unit(52, 1), (10_500.0, 80.0), vec![call])
    };
    let file = capture_of(&[frame], PcapngOptions::default());
    let wanted = ["wlan.fc.type_subtype", "radiotap.ampdu.flags.last", "_ws.malformed"];
    let found = fields("mu-bar", &file, &CHECKS, &wanted);
    assert_eq!(found, [["0x0028", "0", ""], ["0x0012", "1", ""]]);
}

#[test]
fn tshark_computes_when_frames_begin_and_end() {
    if !is_installed("tshark_computes_when_frames_begin_and_end") {
        return;
    }
    let frames = all_kinds();
    let frames: Vec<&Frame> = per_packet(&frames);
    let owned = all_kinds();
    for tsft in [Tsft::PpduEnd, Tsft::MpduStart] {
        let name = format!("times {tsft:?}");
        for (found, frame) in times(&name, &owned, tsft).into_iter().zip(&frames) {
            let exact = (frame.start.0 / 1000, frame.end.0 / 1000);
            match frame.mode.format {
                // Wireshark 4.0 computes no duration of HE PPDUs.
                Format::He | Format::Eht => {}
                Format::Vht | Format::Ht if frame.aggregate => {
                    let (start, end) = found.unwrap();
                    match tsft {
                        Tsft::PpduEnd => assert_eq!(end, exact.1, "the end of the PPDU"),
                        Tsft::MpduStart => assert!(start >= exact.0 && end <= exact.1 + 1),
                    }
                }
                _ => assert_eq!(found, Some(exact), "{frame:?}"),
            }
        }
    }
}

#[test]
fn tshark_computes_when_each_mpdu_of_an_a_mpdu_begins_and_ends() {
    if !is_installed("tshark_computes_when_each_mpdu_of_an_a_mpdu_begins_and_ends") {
        return;
    }
    let frames: Vec<Frame> = all_kinds();
    let ht = |frame: &Frame| frame.aggregate && frame.mode.format == Format::Ht;
    let frames: Vec<Frame> = frames.into_iter().filter(ht).collect();
    // 260 bits a symbol: the first MPDU ends in symbol 48 of 95 (clause 19.3.11), at 36 + 192 µs.
    let found = times("a-mpdu", &frames, Tsft::MpduStart);
    assert_eq!(found, [Some((7000, 7228)), Some((7228, 7416))]);
}

#[test]
fn times_have_nanoseconds() {
    if !is_installed("times_have_nanoseconds") {
        return;
    }
    let frame = control(FrameKind::Ack, AP, STA0, legacy(Format::Ofdm, 24.0), (1000.25, 28.125));
    let file = capture_of(&[frame], PcapngOptions::default());
    let found = fields("nanoseconds", &file, &[], &["frame.time_epoch", "radiotap.timestamp.ts"]);
    assert_eq!(found, [["0.001000250", "1028375"]]);
}

#[test]
fn frames_that_nodes_cannot_decode_have_a_bad_fcs() {
    if !is_installed("frames_that_nodes_cannot_decode_have_a_bad_fcs") {
        return;
    }
    let options = PcapngOptions { interfaces: Interfaces::Radios, ..PcapngOptions::default() };
    let frames = all_kinds();
    let file = capture_of(&frames, options);
    let wanted = ["frame.interface_name", "wlan.fcs.status", "_ws.expert.severity", "tcp.seq"];
    let found = fields("nodes", &file, &CHECKS, &wanted);
    let bad: Vec<_> = found.iter().filter(|it| it[1] == "0").collect();
    assert_eq!(bad.len(), 1, "one frame is lost");
    assert_eq!((bad[0][0].as_str(), severity(&bad[0][2])), ("sta0", ERROR));
    let good = found.iter().filter(|it| it[1] != "0");
    assert!(good.map(|it| severity(&it[2])).all(|severity| severity < ERROR));
    let plain = fields("nodes plain", &file, &[], &["_ws.expert.severity", "_ws.malformed"]);
    assert!(plain.iter().all(|it| severity(&it[0]) < ERROR && it[1].is_empty()));
}

#[test]
fn mac_retransmissions_can_be_told_from_those_of_tcp() {
    if !is_installed("mac_retransmissions_can_be_told_from_those_of_tcp") {
        return;
    }
    let ofdm = legacy(Format::Ofdm, 54.0);
    let of = |sequence, retry, segment| Mpdu { retry, ..mpdu(packet(segment), sequence, 38) };
    let first = segment(true, Flags::ACK, 1, 1446, 1);
    let sent = [
        (1000.0, of(5, false, first)),
        (2000.0, of(5, true, first)),
        (3000.0, of(6, false, Segment { seq: 1447, ..first })),
        (9000.0, of(7, false, first)),
    ];
    let frames = sent.map(|(at, mpdu)| data(AP, STA0, ofdm, (at, 248.0), vec![mpdu]));
    let file = capture_of(&frames, PcapngOptions::default());
    let wanted = ["wlan.fc.retry", "tcp.analysis.retransmission"];
    let found = fields("retry", &file, &["wlan.retransmitted:FALSE"], &wanted);
    assert_eq!(found, [["0", ""], ["1", ""], ["0", ""], ["0", "1"]]);
}

#[test]
fn tshark_reads_accurate_ecn() {
    if !is_installed("tshark_reads_accurate_ecn") {
        return;
    }
    let ofdm = legacy(Format::Ofdm, 54.0);
    let mut ack = segment(false, Flags::ACK.and(Flags::of_ace(6)), 1, 0, 1);
    ack.sack.add_accurate(AccEcn::new(true, 3, [1, 4380, 2921]), 3);
    let frames = [data(STA0, AP, ofdm, (1000.0, 60.0), vec![mpdu(packet(ack), 1, 38)])];
    let file = capture_of(&frames, PcapngOptions::default());
    let option = |name| format!("tcp.options.acc_ecn.{name}");
    let names = ["ee1b", "eceb", "ee0b"].map(option);
    let bits = ["tcp.flags.ae", "tcp.flags.cwr", "tcp.flags.ece"];
    let wanted = [bits[0], bits[1], bits[2], &names[0], &names[1], &names[2]];
    assert_eq!(fields("accurate", &file, &[], &wanted), [["1", "1", "0", "2921", "4380", "1"]]);
}

#[test]
fn the_packets_of_an_a_msdu_are_dissected_each() {
    if !is_installed("the_packets_of_an_a_msdu_are_dissected_each") {
        return;
    }
    let ht = FrameMode { mcs: Some(7), format: Format::Ht, ..legacy(Format::Ofdm, 65.0) };
    // Bodies of 8 + 152, 8 + 151 and 8 + 52 bytes in subframes with headers of 14 bytes.
    let whole: u64 = 26 + 176 + 176 + 74 + 4;
    let lengths: [(u64, u32); 3] = [(1, 100), (101, 99), (200, 0)];
    let of = |sequence, more: u64| {
        let part = |(place, (seq, len)): (usize, &(u64, u32))| Mpdu {
            subframe: Some(place as u16),
            bytes: Bytes(whole + more),
            ..mpdu(packet(segment(true, Flags::ACK, *seq, *len, 1)), sequence, 0)
        };
        lengths.iter().enumerate().map(part).collect::<Vec<Mpdu>>()
    };
    let mpdus = [of(1, 0), of(2, 6)].concat();
    let frame = Frame { aggregate: true, ..data(AP, STA0, ht, (1000.0, 124.0), mpdus) };
    let file = capture_of(&[frame], PcapngOptions::default());
    let wanted =
        ["tcp.len", "tcp.checksum.status", "frame.len", "_ws.malformed", "wlan.fcs.status"];
    let found = fields("a-msdu", &file, &CHECKS, &wanted);
    let expected = |len| ["100,99,0", "1,1,1", len, "", "1"].map(String::from);
    assert_eq!(found, [expected("508"), expected("514")]);
}

/// A download over the link: the second of five segments is lost behind the link.
fn conversation() -> Vec<(f64, u32, Segment)> {
    let data = |n: u64| segment(true, Flags::ACK, 1 + 1448 * n, 1448, 1);
    let ack = |n: u64, sacked: Option<(u64, u64)>| {
        let mut blocks = SackBlocks::NONE;
        if let Some((first, last)) = sacked {
            blocks.push(SackBlock { start: 1 + 1448 * first, end: 1 + 1448 * last });
        }
        Segment { sack: blocks, ..segment(false, Flags::ACK, 1, 0, 1 + 1448 * n) }
    };
    vec![
        (1000.0, DOWN, segment(true, Flags::SYN, 0, 0, 0)),
        (3000.0, UP, segment(false, Flags::SYN.and(Flags::ACK), 0, 0, 1)),
        (3500.0, DOWN, segment(true, Flags::ACK, 1, 0, 1)),
        (4000.0, DOWN, data(0)),
        (4100.0, DOWN, data(1)),
        (4200.0, DOWN, data(2)),
        (4300.0, DOWN, data(3)),
        (4400.0, DOWN, data(4)),
        (6000.0, UP, ack(1, None)),
        (6200.0, UP, ack(1, Some((2, 3)))),
        (6300.0, UP, ack(1, Some((2, 4)))),
        (6400.0, UP, ack(1, Some((2, 5)))),
        (6900.0, DOWN, data(1)),
        (9000.0, UP, ack(5, None)),
        (9100.0, DOWN, segment(true, Flags::FIN.and(Flags::ACK), 7241, 0, 1)),
        (11_100.0, UP, segment(false, Flags::FIN.and(Flags::ACK), 1, 0, 7242)),
    ]
}

#[test]
fn the_tcp_analysis_of_tshark_finds_rtt_duplicates_and_retransmissions() {
    if !is_installed("the_tcp_analysis_of_tshark_finds_rtt_duplicates_and_retransmissions") {
        return;
    }
    let events: Vec<_> = conversation()
        .into_iter()
        .zip(0..)
        .map(|((at_us, wire, segment), id)| crossed(packet(segment), id, wire, at_us))
        .collect();
    let records: Vec<Record<'_>> = events.iter().map(Record::Packet).collect();
    let file = capture(network(5180, true), PcapngOptions::default(), &records);
    let wanted = [
        "tcp.seq",
        "tcp.ack",
        "tcp.window_size",
        "tcp.analysis.ack_rtt",
        "tcp.analysis.duplicate_ack_num",
        "tcp.analysis.retransmission",
        "tcp.options.sack_re",
        "_ws.expert.severity",
    ];
    let found = fields("conversation", &file, &CHECKS, &wanted);
    let column =
        |index: usize| -> Vec<&str> { found.iter().map(|it| it[index].as_str()).collect() };
    let seconds = |text: &str| text.parse::<f64>().ok();
    let rtt: Vec<Option<f64>> = column(3).into_iter().map(seconds).collect();
    assert_eq!((rtt[1], rtt[2], rtt[8]), (Some(0.002), Some(0.000_5), Some(0.002)));
    assert_eq!(column(4)[8..12], ["", "1", "2", "3"]);
    let again: Vec<usize> = (0..found.len()).filter(|it| !column(5)[*it].is_empty()).collect();
    assert_eq!(again, [12], "one retransmission");
    assert_eq!(column(6)[9..12], ["4345", "5793", "7241"]);
    assert_eq!((column(0)[12], column(1)[13]), ("1449", "7241"));
    assert!(column(2)[2..].iter().all(|window| *window == "65536"), "{:?}", column(2));
    assert!(found.iter().all(|it| severity(&it[7]) < ERROR));
}
