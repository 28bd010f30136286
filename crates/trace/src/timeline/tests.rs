//! Timelines of handmade records.

use super::content::{Marks, of_packet, of_segment};
use super::{Timeline, TimelineOptions};
use crate::examples::{
    AP, STA1, STA2, ack, data, datagram, frame, he, lost, network, packet, segment, sent, tcp, wait,
};
use crate::{
    DropCause, Frame, FrameContent, FrameKind, FrameLoss, FrameOutcome, Network, PacketStep, Place,
    Record, Sink, Wait, WaitKind,
};
use std::num::NonZeroU8;
use wire::{
    Coded, CommonInfo, Ecn, Flags, Packet, SackBlock, Segment, TrafficClass, Trigger, TriggerKind,
    UserInfo,
};

fn written(network: Network, options: TimelineOptions, records: &[Record<'_>]) -> String {
    let mut bytes = Vec::new();
    let mut timeline = Timeline::new(network, &mut bytes, options).unwrap();
    for record in records {
        timeline.on(record).unwrap();
    }
    timeline.finish().unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Compares the lines below the header, without the indentation that all lines have.
fn shows(options: TimelineOptions, records: &[Record<'_>], expected: &str) {
    let text = written(network(), options, records);
    let below: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let expected: Vec<&str> = expected.trim_end().trim_start_matches('\n').lines().collect();
    assert_eq!(flush(&below), flush(&expected), "the timeline is\n{text}");
}

fn flush<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let common = lines.iter().map(indent).min().unwrap_or(0);
    lines.iter().map(|line| &line[common..]).collect()
}

fn of_frames(frames: &[Frame], expected: &str) {
    let records: Vec<Record<'_>> = frames.iter().map(Record::Frame).collect();
    shows(TimelineOptions::default(), &records, expected);
}

fn rts(exchange: u64, times: (u64, u64)) -> Frame {
    frame(FrameKind::Rts, exchange, (AP, Some(STA1)), times)
}

fn cts(exchange: u64, times: (u64, u64)) -> Frame {
    frame(FrameKind::Cts, exchange, (STA1, Some(AP)), times)
}

fn mac_ack(exchange: u64, times: (u64, u64)) -> Frame {
    frame(FrameKind::Ack, exchange, (STA1, Some(AP)), times)
}

fn download(exchange: u64, times: (u64, u64), seq: u64) -> Frame {
    data(exchange, (AP, Some(STA1)), times, &[tcp(segment(seq, 1460))])
}

#[test]
fn an_exchange_is_one_line_with_its_content_below() {
    of_frames(
        &[
            rts(1, (0, 50)),
            cts(1, (60, 100)),
            download(1, (110, 400), 1),
            mac_ack(1, (410, 450)),
            data(2, (STA1, Some(AP)), (500, 600), &[tcp(ack(1461))]),
            frame(FrameKind::Ack, 2, (AP, Some(STA1)), (610, 650)),
        ],
        "
    0.0000000    ap > sta1      -  RTS Data      OFDM 54        450.0    1536  CTS, Ack
                                   download1: . 1:1461(1460) ack 1 win 65535
    0.0005000  sta1 > ap        -  Data          OFDM 54        150.0      76  Ack
                                   download1: . 1:1(0) ack 1461 win 65535
        ",
    );
}

#[test]
fn the_answer_says_which_frame_is_lost_and_why() {
    let lost_rts = lost(rts(1, (0, 50)), FrameLoss::Interference, Some(STA2));
    let lost_cts = lost(cts(2, (160, 200)), FrameLoss::Noise, None);
    let lost_data = lost(download(4, (400, 500), 1), FrameLoss::ReceiverTransmits, None);
    let mut retry = download(5, (600, 700), 1);
    retry.mpdus[0].retry = true;
    let lost_ack = lost(mac_ack(5, (710, 750)), FrameLoss::TooWeak, None);
    let cut = Frame { outcome: FrameOutcome::Unknown, ..download(7, (1000, 1200), 1) };
    of_frames(
        &[
            lost_rts,
            rts(2, (100, 150)),
            lost_cts,
            rts(3, (300, 350)),
            lost_data,
            retry,
            lost_ack,
            rts(6, (800, 850)),
            cts(6, (860, 900)),
            lost(download(6, (910, 990), 1), FrameLoss::ReceiverBusy, None),
            cut,
        ],
        "
    0.0000000    ap > sta1      -  RTS           OFDM 54         50.0      14  interference (sta2)
    0.0001000    ap > sta1      -  RTS           OFDM 54        100.0      14  CTS lost: noise
    0.0003000    ap > sta1      -  RTS           OFDM 54         50.0      14  no CTS
    0.0004000    ap > sta1      -  Data          OFDM 54        100.0    1536  receiver transmits
                                   download1: . 1:1461(1460) ack 1 win 65535
    0.0006000    ap > sta1      -  Data*         OFDM 54        150.0    1536  Ack lost: too weak
                                   download1: . 1:1461(1460) ack 1 win 65535
    0.0008000    ap > sta1      -  RTS Data      OFDM 54        190.0    1536  CTS, receiver busy
                                   download1: . 1:1461(1460) ack 1 win 65535
    0.0010000    ap > sta1      -  Data          OFDM 54        200.0    1536  the run ends
                                   download1: . 1:1461(1460) ack 1 win 65535
        ",
    );
}

#[test]
fn frames_that_collide_have_neighbouring_lines_with_their_back_off() {
    let backoff = |radio, before| wait(radio, (0, 140), WaitKind::Backoff { before, after: 0 });
    let collide = |from, exchange| {
        let sent = data(exchange, (from, Some(AP)), (140, 303), &[tcp(ack(1))]);
        lost(sent, FrameLoss::Collision, Some(STA1 + STA2 - from))
    };
    // Station 2 has counted two of its nine slots before another frame.
    let begun = wait(STA2, (0, 40), WaitKind::Backoff { before: 9, after: 7 });
    shows(
        TimelineOptions::default(),
        &[
            Record::Wait(&begun),
            Record::Wait(&backoff(STA1, 7)),
            Record::Wait(&backoff(STA2, 7)),
            Record::Frame(&collide(STA1, 1)),
            Record::Frame(&collide(STA2, 2)),
        ],
        "
    0.0001400  sta1 > ap        7  Data          OFDM 54        163.0      76  collision (sta2)
                                   download1: . 1:1(0) ack 1 win 65535
    0.0001400  sta2 > ap        9  Data          OFDM 54        163.0      76  collision (sta1)
                                   download1: . 1:1(0) ack 1 win 65535
        ",
    );
}

/// Each EDCAF has a back-off of its own.
#[test]
fn with_edca_the_slots_are_those_of_the_access_category() {
    let voice = WaitKind::Backoff { before: 2, after: 0 };
    let best_effort = WaitKind::Backoff { before: 9, after: 7 };
    let voice = Wait { class: TrafficClass::Voice, ..wait(AP, (0, 18), voice) };
    let sent = Frame { class: TrafficClass::Voice, ..download(1, (18, 100), 1) };
    let mut network = network();
    network.radios[AP as usize].has_qos = true;
    let options = TimelineOptions { content: false, ..TimelineOptions::default() };
    let text = written(
        network,
        options,
        &[
            Record::Wait(&wait(AP, (0, 18), best_effort)),
            Record::Wait(&voice),
            Record::Frame(&sent),
            Record::Frame(&mac_ack(1, (110, 140))),
            Record::Frame(&download(2, (200, 300), 1461)),
            Record::Frame(&mac_ack(2, (310, 340))),
        ],
    );
    let below = text.lines().filter(|line| !line.starts_with('#')).map(str::trim_start);
    assert!(
        below.eq([
            "0.0000180    ap > sta1  VO    2  Data          OFDM 54        122.0    1536  Ack",
            "0.0002000    ap > sta1  BE    2  Data          OFDM 54        140.0    1536  Ack",
        ]),
        "{text}"
    );
}

/// Consecutive MPDUs with the same fate are one line.
#[test]
fn an_aggregate_is_written_as_runs_of_segments() {
    let packets: Vec<_> = (0..8).map(|n| tcp(segment(1 + 1460 * n, 1460))).collect();
    let mut aggregate = data(1, (AP, Some(STA1)), (0, 100), &packets);
    aggregate.mode = he();
    aggregate.mpdus[3].received = false;
    aggregate.mpdus[7].retry = true;
    let acks: Vec<_> = (1..4).map(|n| tcp(ack(1 + 1460 * n))).collect();
    let mut last = ack(4381);
    last.sack.push(SackBlock { start: 5841, end: 11681 });
    let acks = [acks, vec![tcp(last)]].concat();
    let upward = Frame { mode: he(), ..data(2, (STA1, Some(AP)), (300, 360), &acks) };
    of_frames(
        &[
            aggregate,
            frame(FrameKind::BlockAck, 1, (STA1, Some(AP)), (116, 148)),
            upward,
            frame(FrameKind::BlockAck, 2, (AP, Some(STA1)), (376, 408)),
        ],
        "
    0.0000000    ap > sta1      -  Data x8*      HE 11 2x80     148.0   12288  BlockAck 7/8
                                   download1: . 1:4381(3 x 1460) ack 1 win 65535
                                   download1: . 4381:5841(1460) ack 1 win 65535, lost
                                   download1: . 5841:10221(3 x 1460) ack 1 win 65535
                                   download1: . 10221:11681(1460) ack 1 win 65535, retry
    0.0003000  sta1 > ap        -  Data x4       HE 11 2x80     108.0     304  BlockAck 4/4
                                   download1: . 1:1(0) ack 1461 to 4381 win 65535, 3 segments
                                   download1: . 1:1(0) ack 4381 win 65535 <sack 5841:11681>
        ",
    );
}

#[test]
fn the_packets_of_an_a_msdu_are_one_mpdu() {
    let packets: Vec<_> = (0..4).map(|n| tcp(segment(1 + 1460 * n, 1460))).collect();
    let mut aggregate = data(1, (AP, Some(STA1)), (0, 100), &packets);
    for (mpdu, place) in aggregate.mpdus.iter_mut().zip([0, 1, 0, 1]) {
        mpdu.subframe = Some(place);
        mpdu.received = mpdu.packet_id < 102;
    }
    of_frames(
        &[aggregate, frame(FrameKind::BlockAck, 1, (STA1, Some(AP)), (116, 148))],
        "
    0.0000000    ap > sta1      -  Data x2       OFDM 54        148.0    6144  BlockAck 1/2
                                   download1: . 1:2921(2 x 1460) ack 1 win 65535
                                   download1: . 2921:5841(2 x 1460) ack 1 win 65535, lost
        ",
    );
}

#[test]
fn further_frames_of_a_txop_have_lines_of_their_own() {
    of_frames(
        &[
            Frame {
                outcome: FrameOutcome::NotAddressed,
                ..frame(FrameKind::CtsToSelf, 1, (AP, Some(AP)), (0, 40))
            },
            download(1, (50, 150), 1),
            mac_ack(1, (160, 190)),
            download(1, (200, 300), 1461),
            mac_ack(1, (310, 340)),
            frame(FrameKind::BlockAckRequest, 1, (AP, Some(STA1)), (350, 380)),
            frame(FrameKind::BlockAck, 1, (STA1, Some(AP)), (390, 420)),
        ],
        "
    0.0000000    ap > ap        -  CTS-to-self   OFDM 54         40.0      14  reserves the medium
    0.0000500    ap > sta1      -  Data          OFDM 54        140.0    1536  Ack
                                   download1: . 1:1461(1460) ack 1 win 65535
    0.0002000    ap > sta1      -  Data          OFDM 54        140.0    1536  Ack
                                   download1: . 1461:2921(1460) ack 1 win 65535
    0.0003500    ap > sta1      -  BlockAckReq   OFDM 54         70.0      14  BlockAck
        ",
    );
}

#[test]
fn a_trigger_frame_names_whom_it_asks() {
    let user = |aid| UserInfo { aid, ..UserInfo::default() };
    let (kind, users) = (TriggerKind::MuRts, vec![user(1), user(2)]);
    let content =
        FrameContent::Trigger(Box::new(Trigger { kind, common: CommonInfo::default(), users }));
    of_frames(
        &[
            Frame { content, ..frame(FrameKind::Trigger, 1, (AP, None), (0, 40)) },
            frame(FrameKind::Cts, 1, (STA1, Some(AP)), (56, 100)),
        ],
        "
    0.0000000    ap > all       -  Trigger       OFDM 54         40.0      14  received
                                   MU-RTS: sta1, sta2
    0.0000560  sta1 > ap        -  CTS           OFDM 54         44.0      14  received
        ",
    );
}

#[test]
fn a_broadcast_has_no_answer() {
    of_frames(
        &[
            data(1, (AP, None), (0, 90), &[datagram(4)]),
            data(2, (AP, None), (200, 290), &[datagram(5), datagram(6)]),
        ],
        "
    0.0000000    ap > all       -  Data          OFDM 54         90.0     264  received
                                   beacon: datagram 4 (200)
    0.0002000    ap > all       -  Data x2       OFDM 54         90.0     528  received
                                   beacon: datagrams 5 to 6 (2 x 200)
        ",
    );
}

/// Two exchanges of nodes that do not hear each other.
#[test]
fn exchanges_that_overlap_stand_in_the_order_in_which_they_begin() {
    of_frames(
        &[
            rts(1, (0, 50)),
            data(2, (STA2, None), (20, 300), &[datagram(0)]),
            cts(1, (60, 100)),
            download(1, (110, 400), 1),
            mac_ack(1, (410, 450)),
        ],
        "
    0.0000000    ap > sta1      -  RTS Data      OFDM 54        450.0    1536  CTS, Ack
                                   download1: . 1:1461(1460) ack 1 win 65535
    0.0000200  sta2 > all       -  Data          OFDM 54        280.0     264  received
                                   beacon: datagram 0 (200)
        ",
    );
}

#[test]
fn segments_are_written_as_in_tcp_scripts() {
    let data = segment(1461, 1460);
    let unit = |index| Coded { unit: 9, span: 4380, data: NonZeroU8::new(3).unwrap(), index };
    let flags = |flags| Segment { flags, ..ack(1) };
    for (segment, text) in [
        (Segment { seq: 0, flags: Flags::SYN, ..segment(0, 0) }, "S 0:0(0) win 65535"),
        (flags(Flags::SYN.and(Flags::ACK)), "S. 1:1(0) ack 1 win 65535"),
        (flags(Flags::ACK.and(Flags::ECE)), "E. 1:1(0) ack 1 win 65535"),
        (flags(Flags::FIN.and(Flags::CWR)), "FW 1:1(0) win 65535"),
        (flags(Flags::RST), "R 1:1(0) win 65535"),
        (flags(Flags::NONE), "- 1:1(0) win 65535"),
        (data, ". 1461:2921(1460) ack 1 win 65535"),
        (
            Segment { coded: Some(unit(2)), ..data },
            ". 1461:2921(1460) ack 1 win 65535, data unit 9",
        ),
        (
            Segment { coded: Some(unit(3)), ..data },
            ". 1461:2921(1460) ack 1 win 65535, parity unit 9",
        ),
    ] {
        let written = of_segment(&segment, Marks::default(), &network());
        assert_eq!(written.strip_prefix("download1: "), Some(text));
    }
    let marked = Packet { ecn: Ecn::Experienced, ..tcp(data) };
    assert_eq!(
        of_packet(&marked, Marks::default(), &network()),
        "download1: [ce] . 1461:2921(1460) ack 1 win 65535"
    );
}

#[test]
fn tcp_retransmissions_and_losses_are_marked() {
    let mut again = download(1, (100, 200), 1);
    again.mpdus[0].packet_id = 7;
    let dropped = PacketStep::Dropped(DropCause::RetryLimit);
    let dropped = packet(300, tcp(segment(1, 1460)), Place::Radio(AP), dropped);
    shows(
        TimelineOptions::default(),
        &[
            Record::Segment(&sent(50, segment(1, 1460), 14_600.0, true)),
            Record::Frame(&lost(again, FrameLoss::Noise, None)),
            Record::Packet(&dropped),
        ],
        "
    0.0001000    ap > sta1      -  Data          OFDM 54        100.0    1536  noise
                                   download1: . 1:1461(1460) ack 1 win 65535, retransmission
    0.0003000    ap drops (retry limit) download1: . 1:1461(1460) ack 1 win 65535, retransmission
        ",
    );
}

#[test]
fn waits_packets_and_segments_have_lines_on_request() {
    let queued = PacketStep::Queued { waiting: 3 };
    let options = TimelineOptions {
        waits: true,
        packets: true,
        segments: true,
        ..TimelineOptions::default()
    };
    shows(
        options,
        &[
            Record::Segment(&sent(0, segment(1, 1460), 14_600.0, false)),
            Record::Packet(&packet(0, tcp(segment(1, 1460)), Place::Wire(0), queued)),
            Record::Wait(&wait(AP, (10, 44), WaitKind::Defer)),
            Record::Wait(&wait(AP, (44, 80), WaitKind::Backoff { before: 7, after: 3 })),
            Record::Wait(&wait(STA1, (90, 394), WaitKind::Nav)),
        ],
        "
    0.0000000  server sends download1: . 1:1461(1460) ack 1 win 65535; cwnd 14600 ssthresh inf in
                 flight 1460 open
    0.0000000  server-ap queues behind 3 packets download1: . 1:1461(1460) ack 1 win 65535
    0.0000100    ap defers 34.0 us
    0.0000440    ap back-off 7 to 3 slots, 36.0 us
    0.0000900  sta1 NAV 304.0 us
        ",
    );
}

/// The access point has a radio even where no station has one.
#[test]
fn without_stations_the_timeline_is_that_of_segments() {
    let mut wired = network();
    wired.radios.truncate(1);
    let event = sent(0, segment(1, 1460), 14_600.0, false);
    let text = written(wired, TimelineOptions::default(), &[Record::Segment(&event)]);
    let (header, line) = text.split_once('\n').unwrap();
    assert!(header.starts_with("# Segments and lost packets"), "{header}");
    assert!(line.contains("server sends download1: . 1:1461(1460) ack 1 win 65535"), "{line}");
}

#[test]
fn eighty_columns_suffice() {
    let mut last = ack(4381);
    for n in 1..=4 {
        last.sack.push(SackBlock { start: n * 1_000_000, end: n * 1_000_000 + 1460 });
    }
    let sent = data(1, (STA1, Some(AP)), (300, 360), &[tcp(last)]);
    let options = TimelineOptions { columns: 80, ..TimelineOptions::default() };
    let text = written(network(), options, &[Record::Frame(&lost(sent, FrameLoss::Noise, None))]);
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    shows(
        options,
        &[Record::Frame(&rts(1, (0, 50)))],
        "
    0.0000000   ap > sta1     - RTS          OFDM 54         14 no CTS
        ",
    );
}
