//! What Perfetto shows of handmade records.

use super::reading::{Shown, read};
use super::{Perfetto, PerfettoOptions};
use crate::examples::{
    AP, STA1, STA2, ack, data, datagram, frame, he, lost, network, packet, segment, sent, tcp, us,
    wait,
};
use crate::{
    DropCause, Frame, FrameKind, FrameLoss, Network, PacketStep, Place, Record, RouteEvent,
    RouteStep, Sink, Wait, WaitKind,
};
use wire::{FlowId, NodeId, Packet, Paths, Segment, TrafficClass};

const PLAIN: PerfettoOptions = PerfettoOptions { annotations: false };

fn written(network: Network, options: PerfettoOptions, records: &[Record<'_>]) -> Shown {
    let mut bytes = Vec::new();
    let mut trace = Perfetto::new(network, &mut bytes, options).unwrap();
    for record in records {
        trace.on(record).unwrap();
    }
    trace.finish().unwrap();
    read(&bytes)
}

fn of_frames(frames: &[Frame]) -> Shown {
    let records: Vec<Record<'_>> = frames.iter().map(Record::Frame).collect();
    written(network(), PLAIN, &records)
}

fn slices(shown: &Shown) -> Vec<(&str, u64, u64, &str)> {
    let in_us = shown.slices.iter().map(|(lane, begin, end, name)| {
        assert!(begin % 1000 == 0 && end % 1000 == 0);
        (lane.as_str(), begin / 1000, end / 1000, name.as_str())
    });
    in_us.collect()
}

#[test]
fn an_exchange_lies_in_the_lanes_of_both_nodes() {
    let frames = [
        frame(FrameKind::Rts, 1, (AP, Some(STA1)), (0, 50)),
        frame(FrameKind::Cts, 1, (STA1, Some(AP)), (60, 100)),
        data(1, (AP, Some(STA1)), (110, 400), &[tcp(segment(1, 1460))]),
        frame(FrameKind::Ack, 1, (STA1, Some(AP)), (410, 450)),
    ];
    assert_eq!(
        slices(&of_frames(&frames)),
        [
            ("nodes/ap/RTS/CTS", 0, 50, "RTS to sta1"),
            ("nodes/sta1/RTS/CTS", 60, 100, "CTS to ap"),
            ("nodes/ap/data", 110, 400, "Data to sta1"),
            ("nodes/sta1/ACK", 410, 450, "Ack to ap"),
        ]
    );
}

#[test]
fn frames_that_collide_overlap_in_two_lanes_and_say_so() {
    let packets = [tcp(ack(1))];
    let collide = |from, exchange| {
        let sent = data(exchange, (from, Some(AP)), (50, 213), &packets);
        lost(sent, FrameLoss::Collision, Some(STA1 + STA2 - from))
    };
    assert_eq!(
        slices(&of_frames(&[collide(STA1, 1), collide(STA2, 2)])),
        [
            ("nodes/sta1/data", 50, 213, "Data to ap: collision"),
            ("nodes/sta2/data", 50, 213, "Data to ap: collision"),
        ]
    );
}

#[test]
fn a_broadcast_is_for_all() {
    let frames = [data(1, (AP, None), (0, 90), &[datagram(0)])];
    assert_eq!(slices(&of_frames(&frames)), [("nodes/ap/data", 0, 90, "Data to all")]);
}

#[test]
fn the_back_off_of_each_access_category_has_a_lane() {
    let mut network = network();
    network.radios[AP as usize].has_qos = true;
    let backoff = WaitKind::Backoff { before: 7, after: 3 };
    let voice = Wait { class: TrafficClass::Voice, ..wait(AP, (10, 46), backoff) };
    let best_effort = wait(AP, (0, 50), WaitKind::Defer);
    let nav = wait(STA1, (20, 300), WaitKind::Nav);
    let other = wait(STA1, (30, 40), backoff);
    let records = [&best_effort, &voice, &nav, &other].map(Record::Wait);
    let shown = written(network, PerfettoOptions::default(), &records);
    assert_eq!(
        slices(&shown),
        [
            ("nodes/ap/back-off BE", 0, 50, "defer"),
            ("nodes/ap/back-off VO", 10, 46, "back-off"),
            ("nodes/sta1/NAV", 20, 300, "NAV"),
            ("nodes/sta1/back-off", 30, 40, "back-off"),
        ]
    );
    assert_eq!(shown.notes[1]["slots before"], "7");
    assert_eq!(shown.notes[1]["slots after"], "3");
}

/// The reader fails if a slice begins on a track before the last one has ended.
#[test]
fn slices_that_overlap_in_a_lane_have_two_tracks_of_one_name() {
    let navs = [(0, 100), (50, 150), (100, 120), (120, 120), (120, 130)];
    let navs = navs.map(|times| wait(STA1, times, WaitKind::Nav));
    let shown = written(network(), PLAIN, &navs.each_ref().map(Record::Wait));
    let expected = [(0, 100), (50, 150), (100, 120), (120, 120), (120, 130)];
    assert_eq!(slices(&shown), expected.map(|(begin, end)| ("nodes/sta1/NAV", begin, end, "NAV")));
}

#[test]
fn an_access_point_with_two_radios_has_the_lanes_of_each() {
    let mut network = network();
    network.radios[STA2 as usize].node = NodeId(AP);
    network.radios[STA2 as usize].name = "ap1".into();
    let frames = [
        data(1, (AP, None), (0, 90), &[datagram(0)]),
        data(2, (STA2, None), (20, 110), &[datagram(1)]),
    ];
    let shown = written(network, PLAIN, &frames.each_ref().map(Record::Frame));
    assert_eq!(
        slices(&shown),
        [("nodes/ap/ap/data", 0, 90, "Data to all"), ("nodes/ap/ap1/data", 20, 110, "Data to all"),]
    );
}

#[test]
fn an_arrow_leads_from_data_to_the_first_ack_for_their_last_byte() {
    let down = |exchange, at, segments: &[(u64, u32)]| {
        let packets: Vec<_> = segments.iter().map(|&(seq, len)| tcp(segment(seq, len))).collect();
        data(exchange, (AP, Some(STA1)), (at, at + 50), &packets)
    };
    let up =
        |exchange, at, number| data(exchange, (STA1, Some(AP)), (at, at + 10), &[tcp(ack(number))]);
    let shown = of_frames(&[
        down(1, 0, &[(1, 1000)]),
        down(2, 100, &[(1001, 1000), (2001, 1000)]),
        // The first ACK is lost, and the second one acknowledges half of the A-MPDU.
        lost(up(3, 200, 1001), FrameLoss::Noise, None),
        up(4, 300, 2001),
        up(5, 400, 3001),
        up(6, 500, 3001),
    ]);
    assert_eq!(shown.arrows, [(0, 300_000), (100_000, 400_000)]);
}

#[test]
fn each_connection_in_a_frame_has_one_arrow() {
    let of = |flow, segment| tcp(Segment { flow: FlowId(flow), ..segment });
    let first = |seq| of(0, segment(seq, 1000));
    let second = |seq| of(1, segment(seq, 500));
    let acks =
        |exchange, at, packets: &[Packet]| data(exchange, (STA1, Some(AP)), (at, at + 10), packets);
    let shown = of_frames(&[
        data(1, (AP, Some(STA1)), (0, 90), &[first(1), second(1), first(1001), second(501)]),
        acks(2, 100, &[of(1, ack(1001)), of(0, ack(1001))]),
        acks(3, 200, &[of(0, ack(2001))]),
    ]);
    assert_eq!(shown.arrows, [(0, 100_000), (0, 200_000)]);
}

#[test]
fn lost_data_have_no_arrow_and_their_retransmission_has_one() {
    let down =
        |exchange, at| data(exchange, (AP, Some(STA1)), (at, at + 50), &[tcp(segment(1, 1000))]);
    let shown = of_frames(&[
        lost(down(1, 0), FrameLoss::Noise, None),
        down(2, 100),
        data(3, (STA1, Some(AP)), (200, 210), &[tcp(ack(1001))]),
    ]);
    assert_eq!(shown.arrows, [(100_000, 200_000)]);
}

#[test]
fn an_aggregate_says_what_it_carries_and_what_arrived() {
    let packets: Vec<_> = (0..3).map(|n| tcp(segment(1 + 1460 * n, 1460))).collect();
    let mut aggregate = data(1, (AP, Some(STA1)), (0, 100), &packets);
    aggregate.mode = he();
    aggregate.mpdus[1].received = false;
    aggregate.mpdus[2].retry = true;
    let shown = written(network(), PerfettoOptions::default(), &[Record::Frame(&aggregate)]);
    let expected = [
        ("MPDUs", "3"),
        ("MPDUs received", "2"),
        ("MPDUs retried", "1"),
        ("NAV us", "44"),
        ("PSDU bytes", "4608"),
        ("ack", "1"),
        ("exchange", "1"),
        ("flow", "download1"),
        ("frame", "10"),
        ("mode", "HE MCS 11, 2 streams, 80 MHz, 1201 Mb/s"),
        ("packet", "100"),
        ("seq", "1"),
        ("sequence number", "100"),
    ];
    assert!(shown.notes[0].iter().map(|(k, v)| (&**k, &**v)).eq(expected));
}

#[test]
fn counters_have_the_values_of_the_sender_when_they_change() {
    let events = [
        sent(0, segment(1, 1460), 14_600.0, false),
        sent(10, segment(1461, 1460), 14_600.0, false),
        sent(20, segment(1, 1460), 7300.25, true),
    ];
    let shown = written(network(), PLAIN, &events.each_ref().map(Record::Segment));
    let values = shown.values.iter().map(|(lane, at, value)| (lane.as_str(), *at, *value));
    assert_eq!(
        values.collect::<Vec<_>>(),
        [
            ("flows/download1/cwnd", 0, 14_600.0),
            ("flows/download1/in flight", 0, 1460.0),
            ("flows/download1/RTT", 0, 20e6),
            ("flows/download1/cwnd", 20_000, 7300.25),
        ]
    );
    let lane = "flows/download1/retransmissions".into();
    assert_eq!(shown.instants, [(lane, 20_000, "retransmission".into())]);
}

#[test]
fn the_queue_of_a_radio_is_counted_and_that_of_a_link_is_sampled() {
    let (radio, wire) = (Place::Radio(AP), Place::Wire(0));
    let step = |at, place, step| packet(at, tcp(segment(1, 1460)), place, step);
    let events = [
        step(0, radio, PacketStep::Queued { waiting: 0 }),
        step(1, radio, PacketStep::Queued { waiting: 1 }),
        step(2, radio, PacketStep::Dropped(DropCause::Queue)),
        step(3, radio, PacketStep::Dequeued),
        // A filter has omitted four arrivals.
        step(4, radio, PacketStep::Queued { waiting: 4 }),
        step(5, wire, PacketStep::Queued { waiting: 9 }),
    ];
    let shown = written(network(), PLAIN, &events.each_ref().map(Record::Packet));
    let values = shown.values.iter().map(|(lane, _, value)| (&**lane, *value));
    let (ap, link) = ("nodes/ap/queue (packets)", "links/server-ap/queue (packets)");
    assert!(values.eq([(ap, 1.0), (ap, 2.0), (ap, 1.0), (ap, 0.0), (ap, 5.0), (link, 9.0)]));
    assert_eq!(shown.instants, [("nodes/ap/drops".into(), 2000, "queue".into())]);
}

#[test]
fn a_plain_slice_takes_at_most_36_bytes() {
    let frames: Vec<Frame> = (0..1000)
        .map(|n| frame(FrameKind::Ack, n, (STA1, Some(AP)), (n * 1300, n * 1300 + 44)))
        .collect();
    let shown = of_frames(&frames);
    let size: usize = shown.sizes.iter().sum();
    assert_eq!(shown.sizes.len(), 2000);
    assert!(size <= 36 * 1000, "{size} bytes for 1000 slices");
}

#[test]
fn routes_have_a_lane_at_their_node_and_a_counter_at_their_flow() {
    let server = NodeId(3);
    let event = |at, destination, step| RouteEvent { at: us(at), node: server, destination, step };
    let to = NodeId(STA1);
    let events = [
        event(1, to, RouteStep::Changed { hops: Some(3) }),
        event(2, NodeId(STA2), RouteStep::Changed { hops: Some(1) }),
        event(3, NodeId(STA2), RouteStep::LinkFailed { in_range: true }),
        event(3, to, RouteStep::Changed { hops: None }),
        event(3, to, RouteStep::Failed),
    ];
    let shown = written(network(), PLAIN, &events.each_ref().map(Record::Route));
    let instants = shown.instants.iter().map(|(lane, at, name)| (&**lane, at / 1000, &**name));
    let lane = "nodes/server/routes";
    assert!(instants.eq([
        (lane, 1, "route to sta1: 3 hops"),
        (lane, 2, "route to sta2: 1 hop"),
        (lane, 3, "link to sta2 failed in range"),
        (lane, 3, "no route to sta1"),
        (lane, 3, "route to sta1 failed"),
    ]));
    // Only flow 0, from the server to sta1, takes one of these routes.
    let hops = "flows/download1/route (hops)".to_owned();
    assert_eq!(shown.values, [(hops.clone(), 1000, 3.0), (hops, 3000, 0.0)]);
}

#[test]
fn a_data_frame_has_its_source_route() {
    let nodes = [NodeId(AP), NodeId(STA1), NodeId(STA2)];
    let path = Paths::default().intern(&nodes);
    let routed = |path| Packet { source_route: Some(path), ..datagram(0) };
    let frames = [
        data(1, (AP, Some(STA1)), (0, 90), &[routed(path)]),
        // The nodes know the flow: the packet carries no route (RFC 4728 section 3.5).
        data(2, (AP, Some(STA1)), (100, 190), &[routed(path.implied())]),
    ];
    let mut bytes = Vec::new();
    let options = PerfettoOptions { annotations: true };
    let mut trace = Perfetto::new(network(), &mut bytes, options).unwrap();
    trace.on_path(path, &nodes);
    for frame in &frames {
        trace.on(&Record::Frame(frame)).unwrap();
    }
    trace.finish().unwrap();
    let shown = read(&bytes);
    assert_eq!(shown.notes[0]["route"], "ap sta1 sta2");
    assert!(!shown.notes[1].contains_key("route"));
}
