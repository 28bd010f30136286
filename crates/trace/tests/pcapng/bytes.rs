//! The octets of captures.

use super::fixture::*;
use super::reader::{Captured, read};
use kernel::{Bytes, Duration, Instant};
use std::num::NonZeroU8;
use trace::pcapng::{Interfaces, Pcapng, PcapngOptions, Tsft};
use trace::{
    BlockAck, Format, Frame, FrameContent, FrameKind, FrameLoss, FrameMode, FrameOutcome, Mpdu,
    Network, PacketEvent, PacketStep, Record, Sink,
};
use wire::{
    AccEcn, Beacon, Body, Coded, EchoProtocol, Ecn, Flags, Management, PuncturedChannels,
    QueueReport, SackBlock, Segment, StationAck, Timestamps, TrafficClass, TriggerKind,
};

const OFDM: Format = Format::Ofdm;

/// The octets of a hexadecimal text with spaces.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// The capture of one frame by the monitor.
fn one(frame: &Frame) -> Captured {
    let file = capture(network(5180, true), PcapngOptions::default(), &[Record::Frame(frame)]);
    read(&file).packets.remove(0)
}

/// The capture of one segment on the air.
fn on_air(segment: Segment) -> Captured {
    let packets = vec![mpdu(packet(segment), 1, 38)];
    one(&data(AP, STA0, legacy(OFDM, 54.0), (0.0, 248.0), packets))
}

#[test]
fn control_frames_have_the_octets_of_the_standard() {
    let mode = legacy(OFDM, 24.0);
    let block_ack =
        |bits| FrameContent::BlockAck(BlockAck { start: 0xabc, bitmap: [0x0102, 3, 4, 5], bits });
    let frame = |kind| Frame {
        nav: Duration(43_001),
        class: TrafficClass::Video,
        ..control(kind, AP, STA0, mode, (0.0, 28.0))
    };
    let (ap, sta0) = ("02 00 00 00 00 00", "02 00 00 00 00 01");
    let short = Frame { content: block_ack(64), ..frame(FrameKind::BlockAck) };
    let long = Frame { content: block_ack(256), ..frame(FrameKind::BlockAck) };
    let request = Frame { content: block_ack(64), ..frame(FrameKind::BlockAckRequest) };
    // 44 µs in the Duration field, TID 5 in the BAR Control field.
    let cases = [
        (frame(FrameKind::Rts), format!("b4 00 2c 00 {sta0} {ap}")),
        (frame(FrameKind::Cts), format!("c4 00 2c 00 {sta0}")),
        (frame(FrameKind::Ack), format!("d4 00 2c 00 {sta0}")),
        (request, format!("84 00 2c 00 {sta0} {ap} 04 50 c0 ab")),
        (short, format!("94 00 2c 00 {sta0} {ap} 04 50 c0 ab 02 01 00 00 00 00 00 00")),
        (
            long,
            format!(
                "94 00 2c 00 {sta0} {ap} 04 50 c4 ab 02 01 00 00 00 00 00 00
                 03 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00"
            ),
        ),
    ];
    for (frame, octets) in cases {
        let captured = one(&frame);
        assert_eq!(captured.frame(), hex(&octets), "{:?}", frame.kind);
        assert!(captured.fcs_is_right());
    }
}

#[test]
fn trigger_frames_have_the_octets_of_the_standard() {
    let mode = legacy(OFDM, 24.0);
    let (ap, sta0, all) = ("02 00 00 00 00 00", "02 00 00 00 00 01", "ff ff ff ff ff ff");
    let frame = |kind: TriggerKind, stations: u16, padding| Frame {
        to: None,
        content: trigger(kind, stations),
        psdu: kind.bytes(u64::from(stations)) + Bytes(padding),
        nav: Duration(43_001),
        class: TrafficClass::Video,
        ..control(FrameKind::Trigger, AP, STA0, mode, (0.0, 40.0))
    };
    // UL Length 0xabc, CS Required, 80 MHz, 2x with 1.6 µs, four HE-LTFs, an extra segment of LDPC,
    // factor 3 with PE disambiguity; 106 tones, LDPC, MCS 7, two streams, full power.
    let common = |kind: TriggerKind| format!("c{} ab 1a 09 1c 00 c0 7f", kind.code());
    let user = |aid| format!("0{aid} a0 f6 20 7f");
    let cases = [
        // Video has the ACI 2; no limit of TIDs.
        (TriggerKind::Basic, 2, 6, all, format!("{} 9c {} 9c ff ff ff ff ff ff", user(1), user(2))),
        (TriggerKind::MuBar, 1, 0, sta0, format!("{} 04 50 30 12", user(1))),
        (TriggerKind::Bsrp, 2, 0, all, format!("{} {}", user(1), user(2))),
        (TriggerKind::MuRts, 1, 0, sta0, user(1)),
    ];
    for (kind, stations, padding, receiver, users) in cases {
        let frame = frame(kind, stations, padding);
        let captured = one(&frame);
        let octets = format!("24 00 2c 00 {receiver} {ap} {} {users}", common(kind));
        assert_eq!(captured.frame(), hex(&octets), "{kind:?}");
        assert_eq!(captured.frame().len() as u64 + 4, frame.psdu.0, "{kind:?}");
        assert!(captured.fcs_is_right());
    }
}

#[test]
fn a_multi_sta_block_ack_has_a_record_for_each_station() {
    let mode = legacy(OFDM, 24.0);
    let acked = |bits| Some(BlockAck { start: 0xabc, bitmap: [0x0102, 3, 4, 5], bits });
    let ack = |aid, block_ack| StationAck { aid, class: TrafficClass::Video, block_ack };
    let acks = vec![ack(1, None), ack(2, acked(64)), ack(3, acked(256))];
    let content = FrameContent::MultiSta(acks);
    let frame = Frame { content, ..control(FrameKind::BlockAck, AP, STA0, mode, (0.0, 40.0)) };
    let octets = "94 00 00 00 ff ff ff ff ff ff 02 00 00 00 00 00 16 00
                  01 58 02 50 c0 ab 02 01 00 00 00 00 00 00
                  03 50 c4 ab 02 01 00 00 00 00 00 00
                  03 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00";
    assert_eq!(one(&frame).frame(), hex(octets));
}

/// TID 0, no Ack, Queue Size 0x41; then a BSR Control.
#[test]
fn a_qos_null_tells_what_waits() {
    let mode = FrameMode { user: Some(0), ..high_in_unit(52, 1) };
    let null = |all| Frame {
        aggregate: true,
        content: FrameContent::Queue(QueueReport { size: 0x41, all }),
        ..control(FrameKind::QosNull, STA0, AP, mode, (0.0, 80.0))
    };
    let (ap, sta0) = ("02 00 00 00 00 00", "02 00 00 00 00 01");
    let octets = |flags, control| format!("c8 {flags} 00 00 {ap} {sta0} {ap} 00 00 30 41{control}");
    assert_eq!(one(&null(None)).frame(), hex(&octets("01", "")));
    let all = Some(0x0123_4567);
    assert_eq!(one(&null(all)).frame(), hex(&octets("81", " cf 59 d1 48")));
}

/// Of 2x996 tones there is one; of 26 tones 37 in each 80 MHz.
#[test]
fn radiotap_tells_the_resource_unit() {
    let words = |mode| {
        let captured = one(&control(FrameKind::Ack, STA0, AP, mode, (0.0, 80.0)));
        let at = captured.radiotap().len() - 12;
        let word = |n: usize| {
            let at = at + 2 * n;
            u16::from_le_bytes([captured.radiotap()[at], captured.radiotap()[at + 1]])
        };
        [word(0) & 3, word(1), word(4) & 15]
    };
    let wide = |tones, index| FrameMode { width_mhz: 160, ..high_in_unit(tones, index) };
    assert_eq!(words(high_in_unit(52, 3)), [3, 0x4302, 5]);
    assert_eq!(words(wide(26, 36)), [3, 0x6403, 4]);
    assert_eq!(words(wide(26, 38)), [3, 0xc103, 4]);
    assert_eq!(words(wide(996, 1)), [3, 0xc003, 9]);
    assert_eq!(words(wide(1992, 0)), [3, 0x4002, 10]);
}

#[test]
fn the_addresses_of_a_data_frame_follow_from_the_roles_of_the_radios() {
    let mode = legacy(OFDM, 54.0);
    let (server, ap, sta0) = ("06 00 00 00 00 00", "02 00 00 00 00 00", "02 00 00 00 00 01");
    let (peer0, peer1) = ("02 00 00 00 00 03", "02 00 00 00 00 04");
    let ack = packet(segment(false, Flags::ACK, 1, 0, 1449));
    let down = datagram(0, 100, Some(STATION));
    let of = |from, to, packet| data(from, to, mode, (0.0, 60.0), vec![mpdu(packet, 0x123, 38)]);
    let broadcast = Frame { to: None, ..of(AP, STA0, datagram(0, 100, None)) };
    let mut retry = of(PEER0, PEER1, down);
    retry.mpdus[0].retry = true;
    let voice = Frame { class: TrafficClass::Voice, ..of(AP, STA0, down) };
    let cases = [
        (of(AP, STA0, down), format!("88 02 00 00 {sta0} {ap} {server} 30 12 00 00")),
        (voice, format!("88 02 00 00 {sta0} {ap} {server} 30 12 06 00")),
        (of(STA0, AP, ack), format!("88 01 00 00 {ap} {sta0} {server} 30 12 00 00")),
        (retry, format!("88 08 00 00 {peer1} {peer0} 0a 00 00 00 00 00 30 12 00 00")),
        (broadcast, format!("88 02 00 00 ff ff ff ff ff ff {ap} {server} 30 12 20 00")),
    ];
    for (frame, octets) in cases {
        assert_eq!(one(&frame).frame()[..26], hex(&octets), "{} to {:?}", frame.from, frame.to);
    }
}

/// The same frame with punctured channels: EHT SU, Punctured Channel Information, and the size of
/// the multiple resource unit.
fn punctured(frame: &Frame) -> [(Frame, &'static str, &'static str, &'static str); 2] {
    let with = |width_mhz, subchannels, information| {
        let punctured = Some(PuncturedChannels { subchannels, information });
        Frame { mode: FrameMode { width_mhz, punctured, ..frame.mode }, ..frame.clone() }
    };
    let (present, fields) = ("0b 00 40 10", "10 00 3c 14 40 01");
    [
        (
            // The third of 80 MHz, 484+242 tones.
            with(80, 0b0100, 3),
            present,
            fields,
            "21 00 0c 00 07 00 05 00 40 06 00 00 c0 3e 00 00 \
             22 00 2c 00 04 00 40 00 00 00 00 00 0a 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 \
             00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 96 00 b8 00",
        ),
        (
            // The highest 80 MHz of 320 and the 40 MHz below, 2x996+484 tones.
            with(320, 0xfc00, 24),
            present,
            fields,
            "21 00 0c 00 07 00 06 00 40 30 00 00 c0 3e 00 00 \
             22 00 2c 00 04 00 40 00 00 00 00 00 0d 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 \
             00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 96 00 b8 00",
        ),
    ]
}

#[test]
fn radiotap_describes_each_format() {
    let ofdm = legacy(OFDM, 54.0);
    let dsss = |short_preamble| legacy(Format::Dsss { short_preamble }, 5.5);
    let high = |format, mcs, streams, width_mhz, guard_ns| FrameMode {
        format,
        mcs: Some(mcs),
        streams,
        width_mhz,
        guard_ns,
        ldpc: true,
        ..ofdm
    };
    let frame = |mode| control(FrameKind::Ack, STA0, AP, mode, (0.0, 1.5));
    let signal = Frame { signal_dbm: Some(-62.6), ..frame(ofdm) };
    // The fields between TSFT and timestamp, and those behind the timestamp.
    let cases = [
        (frame(dsss(false)), "0f 00 40 00", "10 0b 3c 14 20 01", ""),
        (frame(dsss(true)), "0f 00 40 00", "12 0b 3c 14 20 01", ""),
        (frame(ofdm), "0f 00 40 00", "10 6c 3c 14 40 01", ""),
        (signal, "2f 00 40 00", "10 6c 3c 14 40 01 c1", ""),
        (frame(high(Format::Ht, 15, 2, 40, 400)), "0b 00 48 00", "10 00 3c 14 40 01 7f 15 0f", ""),
        (
            frame(high(Format::Vht, 9, 2, 80, 400)),
            "0b 00 60 00",
            "10 00 3c 14 40 01 c5 00 04 04 92 00 00 00 01 00 00 00",
            "",
        ),
        (
            frame(high(Format::He, 11, 2, 80, 1600)),
            "0b 00 c0 00",
            "10 00 3c 14 40 01",
            "f0 42 02 00 80 2b 00 00 12 00 02 00",
        ),
        (
            frame(high(Format::Eht, 13, 2, 320, 1600)),
            "0b 00 40 10",
            "10 00 3c 14 40 01",
            // U-SIG: PHY version, bandwidth and direction; EHT: guard interval and user.
            "21 00 0c 00 07 00 06 00 00 00 00 00 00 00 00 00 \
             22 00 2c 00 04 00 00 00 80 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 \
             00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 96 00 d8 01",
        ),
    ];
    let cases = cases.into_iter().chain(punctured(&frame(high(Format::Eht, 11, 1, 80, 800))));
    for (frame, present, fields, last) in cases {
        let captured = one(&frame);
        let radiotap = captured.radiotap();
        assert_eq!(radiotap[4..8], hex(present), "{:?}", frame.mode);
        assert_eq!(radiotap[8..16], 1_u64.to_le_bytes(), "TSFT: the end in microseconds");
        let fields = hex(fields);
        assert_eq!(radiotap[16..16 + fields.len()], fields, "{:?}", frame.mode);
        let timestamp = (16 + fields.len()).next_multiple_of(8);
        assert_eq!(radiotap[timestamp..timestamp + 8], 1500_u64.to_le_bytes());
        assert_eq!(radiotap[timestamp + 8..timestamp + 12], [0, 0, 0x22, 0], "ns, at the end");
        assert_eq!(radiotap[timestamp + 12..], hex(last));
    }
}

#[test]
fn the_mpdus_of_an_a_mpdu_share_a_reference_number() {
    let mode = FrameMode { format: Format::Ht, mcs: Some(7), ..legacy(OFDM, 65.0) };
    let mpdus = [1, 2, 3].map(|n| mpdu(datagram(n, 100, Some(STATION)), n as u16, 38));
    let plain = data(AP, STA0, mode, (100.0, 80.0), mpdus.into());
    let frame = Frame { number: 0x1_0000_0007, aggregate: true, ..plain };
    let file = capture(network(5180, true), PcapngOptions::default(), &[Record::Frame(&frame)]);
    let status = |packet: &Captured| packet.radiotap()[28..36].to_vec();
    let found: Vec<Vec<u8>> = read(&file).packets.iter().map(status).collect();
    let expected =
        ["07 00 00 00 04 00 00 00", "07 00 00 00 04 00 00 00", "07 00 00 00 0c 00 00 00"];
    assert_eq!(found, expected.map(hex));
}

#[test]
fn tsft_is_the_end_of_the_ppdu_or_the_begin_of_its_psdu() {
    let frame = control(FrameKind::Ack, STA0, AP, legacy(OFDM, 24.0), (1000.0, 28.0));
    for (tsft, expected) in [(Tsft::PpduEnd, 1028_u64), (Tsft::MpduStart, 1020)] {
        let options = PcapngOptions { tsft, ..PcapngOptions::default() };
        let file = capture(network(5180, true), options, &[Record::Frame(&frame)]);
        let packet = &read(&file).packets[0];
        assert_eq!(packet.at_ns, 1_000_000, "the capture's own time is the begin of the PPDU");
        assert_eq!(packet.radiotap()[8..16], expected.to_le_bytes());
    }
}

#[test]
fn checksums_hold_for_payloads_of_any_length() {
    for len in [0, 1, 2, 7, 8, 9, 1447, 1448, 65_483] {
        let segment = on_air(segment(true, Flags::ACK, 1, len, 1));
        assert!(segment.checksums_are_right() && segment.fcs_is_right(), "{len} bytes of TCP");
        let packets = vec![mpdu(datagram(300, len, Some(STATION)), 1, 38)];
        let datagram = one(&data(AP, STA0, legacy(OFDM, 54.0), (0.0, 248.0), packets));
        assert!(datagram.checksums_are_right() && datagram.fcs_is_right(), "{len} bytes of UDP");
        for (protocol, is_reply) in [(EchoProtocol::Icmp, true), (EchoProtocol::Udp, false)] {
            let packets = vec![mpdu(echo(protocol, is_reply, len), 1, 38)];
            let echo = one(&data(AP, STA0, legacy(OFDM, 54.0), (0.0, 248.0), packets));
            assert!(echo.checksums_are_right() && echo.fcs_is_right(), "{len} bytes of echo");
        }
    }
}

#[test]
fn a_datagram_without_counted_headers_loses_data_rather_than_its_checksum() {
    let packets = vec![mpdu(datagram(300, 65_535, Some(STATION)), 1, 38)];
    let captured = one(&data(AP, STA0, legacy(OFDM, 54.0), (0.0, 248.0), packets));
    assert_eq!(captured.ip().len(), 65_535);
    assert!(captured.checksums_are_right());
}

#[test]
fn a_frame_is_as_long_as_the_simulation_counts_unless_headers_need_more() {
    // Headers of 24 + 2 + 8 + 4 bytes in 802.11, and of 52 in IP and TCP.
    for (overhead, frame_len) in [(38, 1538), (44, 1544), (20, 1538)] {
        let packets = vec![mpdu(packet(segment(true, Flags::ACK, 1, 1448, 1)), 1, overhead)];
        let captured = one(&data(AP, STA0, legacy(OFDM, 54.0), (0.0, 248.0), packets));
        assert_eq!(captured.frame_len(), frame_len, "{overhead} bytes of overhead");
        assert_eq!(captured.ip().len(), 1500);
        assert!(captured.checksums_are_right() && captured.fcs_is_right());
    }
}

#[test]
fn snaplen_cuts_packets_off_and_keeps_their_lengths() {
    let packets = vec![mpdu(packet(segment(true, Flags::ACK, 1, 1448, 1)), 1, 38)];
    let frame = data(AP, STA0, legacy(OFDM, 54.0), (0.0, 248.0), packets);
    for (snaplen, captured) in [(0, 1574), (50, 50), (201, 201), (1572, 1572), (5000, 1574)] {
        let options = PcapngOptions { snaplen, ..PcapngOptions::default() };
        let file = capture(network(5180, true), options, &[Record::Frame(&frame)]);
        let packet = &read(&file).packets[0];
        assert_eq!((packet.bytes.len(), packet.original), (captured, 1574), "snaplen {snaplen}");
    }
}

#[test]
fn an_interface_of_a_node_captures_what_its_radio_sends_and_begins_to_receive() {
    let outcomes = [
        (FrameOutcome::Received, vec![(1, true), (0, true)]),
        (FrameOutcome::Lost(FrameLoss::Collision), vec![(1, true), (0, false)]),
        (FrameOutcome::Lost(FrameLoss::Noise), vec![(1, true), (0, false)]),
        (FrameOutcome::Lost(FrameLoss::ReceiverTransmits), vec![(1, true)]),
        (FrameOutcome::Lost(FrameLoss::TooWeak), vec![(1, true)]),
        (FrameOutcome::Unknown, vec![(1, true)]),
    ];
    for (outcome, expected) in outcomes {
        let rts = control(FrameKind::Rts, STA0, AP, legacy(OFDM, 24.0), (0.0, 28.0));
        let frame = Frame { outcome, ..rts };
        let options = PcapngOptions { interfaces: Interfaces::Radios, ..PcapngOptions::default() };
        let file = capture(network(5180, true), options, &[Record::Frame(&frame)]);
        let capture = read(&file);
        let names: Vec<&str> = capture.interfaces.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(names[..5], ["ap", "sta0", "sta1", "peer0", "peer1"]);
        let found = capture.packets.iter().map(|it| (it.interface, it.fcs_is_right()));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{outcome:?}");
    }
}

#[test]
fn the_monitor_comments_on_lost_frames() {
    let rts = control(FrameKind::Rts, STA0, AP, legacy(OFDM, 24.0), (0.0, 28.0));
    let collision = Frame {
        outcome: FrameOutcome::Lost(FrameLoss::Collision),
        lost_to: Some(STA1),
        ..rts.clone()
    };
    let too_weak = Frame { outcome: FrameOutcome::Lost(FrameLoss::TooWeak), ..rts.clone() };
    let cases = [
        (rts, ""),
        (collision, "lost at ap: collision, sta1 transmits"),
        (too_weak, "lost at ap: the signal is too weak"),
    ];
    for (frame, comment) in cases {
        let captured = one(&frame);
        assert_eq!(captured.comment, comment);
        assert!(captured.fcs_is_right());
    }
}

#[test]
fn sequence_numbers_wrap_and_count_from_the_initial_one() {
    let seq = |segment| {
        let packet = on_air(segment);
        u32::from_be_bytes(packet.transport()[4..8].try_into().unwrap())
    };
    let syn = seq(segment(true, Flags::SYN, 0, 0, 0));
    let later = seq(segment(true, Flags::ACK, 0x1_0000_0005, 100, 1));
    assert_eq!(later.wrapping_sub(syn), 5);
    let answer = on_air(segment(false, Flags::ACK, 1, 0, 0x1_0000_0069));
    let ack = u32::from_be_bytes(answer.transport()[8..12].try_into().unwrap());
    assert_eq!(ack.wrapping_sub(syn), 0x69);
}

#[test]
fn successive_connections_have_other_ports_and_initial_sequence_numbers() {
    let ends = |connection| {
        let syn = Segment { connection, ..segment(true, Flags::SYN, 0, 0, 0) };
        on_air(syn).transport()[..8].to_vec()
    };
    let (first, second) = (ends(0), ends(1));
    assert_eq!((&first[..4], &second[..4]), (&hex("e000 c000")[..], &hex("e001 c000")[..]));
    assert_ne!(first[4..], second[4..]);
}

#[test]
fn options_of_a_segment_are_those_of_the_rfcs() {
    let timestamps = Some(Timestamps { value: Instant(2_999_999), echo: Instant(1_000_000) });
    let options = |segment| {
        let packet = on_air(segment);
        let end = usize::from(packet.transport()[12] >> 4) * 4;
        packet.transport()[20..end].to_vec()
    };
    let syn = Segment { timestamps, ..segment(true, Flags::SYN, 0, 0, 0) };
    let stamps = "01 01 08 0a 00 00 00 02 00 00 00 01";
    assert_eq!(options(syn), hex(&format!("02 04 05 b4 01 03 03 08 01 01 04 02 {stamps}")));
    let mut ack = Segment { timestamps, ..segment(false, Flags::ACK, 1, 0, 1) };
    let isn = u32::from_be_bytes(on_air(ack).transport()[8..12].try_into().unwrap()) - 1;
    for start in [1000, 3000, 5000, 7000] {
        ack.sack.push(SackBlock { start, end: start + 500 });
    }
    let blocks = options(ack);
    assert_eq!(blocks.len(), 40, "timestamps leave room for three of four blocks");
    assert_eq!(blocks[12..16], hex("01 01 05 1a"));
    assert_eq!(blocks[16..24], [(isn + 1000).to_be_bytes(), (isn + 1500).to_be_bytes()].concat());
    let unit = Coded { unit: 0x102, span: 0x3_0405, data: NonZeroU8::new(10).unwrap(), index: 12 };
    let coded =
        Segment { coded: Some(unit), timestamps: None, ..segment(true, Flags::ACK, 1, 9, 1) };
    assert_eq!(options(coded), hex("fd 0c 4c 54 00 01 02 03 04 05 0a 0c"));
}

#[test]
fn ecn_reaches_the_headers() {
    let flags = Flags::ACK.and(Flags::ECE).and(Flags::CWR).and(Flags::AE);
    let packet = on_air(segment(true, flags, 1, 0, 1));
    assert_eq!(packet.transport()[12..14], [0x81, 0xd0]);
    let ect1 = segment(true, Flags::ACK.and(Flags::ECT).and(Flags::ECT1), 1, 10, 1);
    let ect0 = segment(true, Flags::ACK.and(Flags::ECT), 1, 10, 1);
    for (segment, ecn, bits) in
        [(ect0, Ecn::Ect0, 2), (ect1, Ecn::Ect1, 1), (ect0, Ecn::Experienced, 3)]
    {
        let packet = wire::Packet { ecn, ..super::fixture::packet(segment) };
        let frame = data(AP, STA0, legacy(OFDM, 54.0), (0.0, 60.0), vec![mpdu(packet, 1, 38)]);
        assert_eq!(one(&frame).ip()[1] & 3, bits);
    }
}

#[test]
fn accurate_ecn_has_its_option() {
    let with = |blocks: u64, timestamps: bool, option: AccEcn| {
        let mut ack = segment(false, Flags::ACK, 1, 0, 1000);
        (0..blocks).for_each(|n| ack.sack.push(SackBlock { start: 2000 * n, end: 2000 * n + 9 }));
        ack.sack.add_accurate(option, 3);
        ack.timestamps = ack.timestamps.filter(|_| timestamps);
        let size = ack.sack.option_size().0 as usize;
        let header = on_air(ack).transport().to_vec();
        let options = header[20..usize::from(header[12] >> 4) * 4].to_vec();
        assert_eq!(options.len(), size + if timestamps { 12 } else { 0 }, "{option:?}");
        options
    };
    let counters = [1, 4380, 2921];
    assert_eq!(with(0, false, AccEcn::new(true, 2, counters)), hex("ae 08 00 0b 69 00 11 1c"));
    let three = with(0, true, AccEcn::new(false, 3, counters));
    assert_eq!(three[12..], hex("ac 0b 00 00 01 00 11 1c 00 0b 69 01"));
    let both = with(1, true, AccEcn::new(true, 1, counters));
    assert_eq!(both[12..14], hex("05 0a"));
    assert_eq!(both[22..], hex("ae 05 00 0b 69 01"));
    with(2, true, AccEcn::new(true, 2, counters));
    with(3, false, AccEcn::new(true, 3, counters));
}

#[test]
fn a_window_is_scaled_except_in_a_syn() {
    let window = |flags, window| {
        let packet = on_air(Segment { window, ..segment(true, flags, 0, 0, 0) });
        u16::from_be_bytes(packet.transport()[14..16].try_into().unwrap())
    };
    assert_eq!(window(Flags::SYN, 65_160), 65_160);
    assert_eq!(window(Flags::ACK, 390 << 8), 390);
    assert_eq!(window(Flags::ACK, 92), 0, "a header never shows more than there is");
}

#[test]
fn the_time_to_live_is_that_of_the_packet() {
    let packet = wire::Packet { ttl: 62, ..packet(segment(true, Flags::ACK, 1, 0, 1)) };
    let frame = data(AP, STA0, legacy(OFDM, 54.0), (0.0, 60.0), vec![mpdu(packet, 1, 38)]);
    assert_eq!(one(&frame).ip()[8], 62);
}

#[test]
fn the_timestamp_of_a_beacon_is_when_the_field_itself_is_sent() {
    // A preamble of 192 us and a MAC header of 24 bytes at 1 Mb/s; 20 us, and the symbols before
    // that of bit 208, each of 24 bits, at 6 Mb/s.
    let cases = [(Format::Dsss { short_preamble: false }, 1.0, 1192 + 192), (OFDM, 6.0, 1020 + 32)];
    for (format, rate, expected) in cases {
        let beacon = Management::Beacon(Beacon { interval: 100, ..Beacon::default() });
        let body = Body::Management(beacon);
        let packet = wire::Packet { to: None, body, ..datagram(0, 100, None) };
        let mut frame =
            data(AP, STA0, legacy(format, rate), (1000.0, 3000.0), vec![mpdu(packet, 1, 0)]);
        (frame.to, frame.kind) = (None, FrameKind::Beacon);
        let captured = one(&frame);
        let found = u64::from_le_bytes(captured.frame()[24..32].try_into().unwrap());
        assert_eq!(found, expected, "{rate} Mb/s");
    }
}

#[test]
fn ccmp_protects_frames_by_a_header_with_their_packet_number_and_a_mic() {
    let mut network = network(5180, true);
    network.radios.iter_mut().for_each(|radio| radio.has_ccmp = true);
    let of = |sequence, retry| {
        let packet = packet(segment(true, Flags::ACK, 1, 100, 1));
        let mpdu = Mpdu { retry, ..mpdu(packet, sequence, 38 + 16) };
        data(AP, STA0, legacy(OFDM, 54.0), (0.0, 60.0), vec![mpdu])
    };
    let frames = [of(4094, false), of(4095, false), of(4094, true), of(0, false)];
    let records: Vec<_> = frames.iter().map(Record::Frame).collect();
    let capture = read(&capture(network, PcapngOptions::default(), &records));
    let headers: Vec<&[u8]> = capture.packets.iter().map(|it| &it.frame()[26..34]).collect();
    // PN0, PN1, reserved, Ext IV, PN2 to PN5: the sequence number from 4096 on, times 16.
    let expected = [
        "e0 ff 00 20 01 00 00 00",
        "f0 ff 00 20 01 00 00 00",
        "e0 ff 00 20 01 00 00 00",
        "00 00 00 20 02 00 00 00",
    ];
    assert_eq!(headers, expected.map(hex));
    for packet in &capture.packets {
        assert_eq!(packet.frame()[1] & 0x40, 0x40, "Protected Frame");
        let counted = 26 + 8 + 8 + 40 + 12 + 100 + 8 + 4;
        assert_eq!(packet.frame_len(), counted, "MAC, CCMP, LLC, headers, data, MIC, FCS");
        assert!(packet.checksums_are_right() && packet.fcs_is_right());
    }
}

#[test]
fn each_interface_has_a_file_of_its_own() {
    let names = |options| trace::pcapng::files(&network(5180, true), options);
    let ends = [".server.server-ap", ".ap.server-ap"];
    assert_eq!(names(PcapngOptions::default()), [&[".monitor"], &ends[..]].concat());
    assert_eq!(names(PcapngOptions { merged: true, ..PcapngOptions::default() }), [""]);
    let mut outs = [vec![], vec![], vec![]];
    let files = outs.iter_mut().collect();
    let mut sink = Pcapng::new(network(5180, true), files, PcapngOptions::default()).unwrap();
    let rts = control(FrameKind::Rts, STA0, AP, legacy(OFDM, 24.0), (0.0, 28.0));
    let down = packet(segment(true, Flags::ACK, 1, 10, 1));
    let began = PacketEvent { step: PacketStep::Began, ..crossed(down, 5, DOWN, 7.0) };
    for record in [Record::Frame(&rts), Record::Packet(&began)] {
        sink.on(&record).unwrap();
    }
    sink.finish().unwrap();
    let found: Vec<_> = outs.iter().map(|file| read(file)).collect();
    let interfaces: Vec<_> = found.iter().map(|it| it.interfaces[0].1.as_str()).collect();
    assert_eq!(interfaces, ["monitor", "server.server-ap", "ap.server-ap"]);
    let packets: Vec<_> = found.iter().map(|it| it.packets.len()).collect();
    assert_eq!(packets, [1, 1, 0], "a packet that the link loses is at its sender");
}

#[test]
fn a_comment_says_where_the_measurement_begins() {
    let begin = Instant(500_000_000);
    let network = Network { measured_from: begin, ..network(5180, true) };
    let rts = |at| control(FrameKind::Rts, STA0, AP, legacy(OFDM, 24.0), (at, 28.0));
    let frames = [0.0, 500_000.0, 600_000.0].map(rts);
    let records: Vec<_> = frames.iter().map(Record::Frame).collect();
    let capture = read(&capture(network, PcapngOptions::default(), &records));
    let comment = "the 0.5 s that are measured begin at 0.5 s";
    assert_eq!(capture.comment, comment, "of the file");
    let comments: Vec<_> = capture.packets.iter().map(|it| it.comment.as_str()).collect();
    assert_eq!(comments, ["", comment, ""]);
}

#[test]
fn each_end_of_a_link_captures_what_it_sends_and_what_it_receives() {
    let down = packet(segment(true, Flags::ACK, 1, 10, 1));
    let up = packet(segment(false, Flags::ACK, 1, 0, 11));
    let began =
        |packet, wire, at| PacketEvent { step: PacketStep::Began, ..crossed(packet, 5, wire, at) };
    let events = [
        began(down, DOWN, 6.0),
        crossed(down, 5, DOWN, 7.0),
        began(up, UP, 8.5),
        crossed(up, 6, UP, 9.5),
    ];
    let records: Vec<_> = events.iter().map(Record::Packet).collect();
    let capture = read(&capture(network(5180, true), PcapngOptions::default(), &records));
    let names: Vec<_> = capture.interfaces.iter().map(|it| it.1.as_str()).collect();
    assert_eq!(names, ["monitor", "server.server-ap", "ap.server-ap"]);
    // The access point is a bridge: frames have the addresses of server and station.
    let (down, up) = (
        "02 00 00 00 00 01 06 00 00 00 00 00 08 00 45",
        "06 00 00 00 00 00 02 00 00 00 00 01 08 00 45",
    );
    let expected = [(1, 6000, down), (2, 7000, down), (2, 8500, up), (1, 9500, up)];
    for (packet, (interface, at_ns, octets)) in capture.packets.iter().zip(expected) {
        assert_eq!((packet.interface, packet.at_ns), (interface, at_ns));
        assert_eq!(packet.bytes[..15], hex(octets));
    }
    assert_eq!(capture.packets[0].bytes.len(), 14 + 62);
}
