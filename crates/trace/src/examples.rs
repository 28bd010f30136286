//! Records for tests: a cell with an access point and stations, some of its frames, and a TCP flow.

use crate::{
    FlowInfo, Format, Frame, FrameContent, FrameKind, FrameLoss, FrameMode, FrameOutcome, Mpdu,
    Network, NodeInfo, PacketEvent, PacketStep, Place, RadioInfo, RadioRole, SegmentEvent,
    SegmentRecord, SenderState, Transport, Wait, WaitKind, WireInfo,
};
use kernel::{BitRate, Bytes, Duration, Instant};
use wire::{Body, Datagram, Ecn, Flags, FlowId, NodeId, Packet, SackBlocks, Segment, TrafficClass};

pub(crate) const AP: u32 = 0;
pub(crate) const STA1: u32 = 1;
pub(crate) const STA2: u32 = 2;

/// An access point, stations 1 and 2, and a server behind a link. Flow 0 is a download from the
/// server to station 1, flow 1 sends UDP datagrams from the access point to all.
pub(crate) fn network() -> Network {
    let node = |name: &str| NodeInfo { name: name.into() };
    let radio = |name: &str, number: u32| RadioInfo {
        name: name.into(),
        node: NodeId(number),
        role: match number {
            AP => RadioRole::AccessPoint,
            _ => RadioRole::Station { access_point: AP },
        },
        channel_mhz: 2412,
        has_qos: false,
        has_ccmp: false,
    };
    let wire = |from: u32, to: u32| WireInfo {
        name: "server-ap".into(),
        from: NodeId(from),
        to: NodeId(to),
        rate: Some(BitRate(100_000_000)),
    };
    let flow = |name: &str, from: u32, to: Option<u32>, transport: Transport| FlowInfo {
        name: name.into(),
        from: NodeId(from),
        to: to.map(NodeId),
        transport,
        header: Bytes(40),
        mss: 1460,
        window_shift: 8,
        class: TrafficClass::BestEffort,
        dscp: None,
        tape: None,
    };
    Network {
        nodes: [node("ap"), node("sta1"), node("sta2"), node("server")].into(),
        radios: vec![radio("ap", AP), radio("sta1", STA1), radio("sta2", STA2)],
        wires: vec![wire(3, AP), wire(AP, 3)],
        flows: [
            flow("download1", 3, Some(STA1), Transport::Tcp),
            flow("beacon", AP, None, Transport::Udp),
        ]
        .into(),
        measured_from: us(0),
        end: us(100_000),
    }
}

pub(crate) fn us(us: u64) -> Instant {
    Instant(us * 1000)
}

pub(crate) fn mode(format: Format, mbps: f64) -> FrameMode {
    FrameMode {
        format,
        rate: BitRate::from_mbps(mbps),
        mcs: None,
        streams: 1,
        width_mhz: 20,
        punctured: None,
        guard_ns: 0,
        ldpc: false,
        tones: None,
        ru_index: None,
        user: None,
    }
}

pub(crate) fn he() -> FrameMode {
    let mcs = Some(11);
    FrameMode { mcs, streams: 2, width_mhz: 80, guard_ns: 800, ..mode(Format::He, 1201.0) }
}

/// A frame of exchange `exchange`, from and to at the times in microseconds.
pub(crate) fn frame(
    kind: FrameKind,
    exchange: u64,
    (from, to): (u32, Option<u32>),
    (start, end): (u64, u64),
) -> Frame {
    Frame {
        number: 10 * exchange,
        start: us(start),
        payload: us(start + 20),
        end: us(end),
        from,
        to,
        kind,
        class: TrafficClass::BestEffort,
        mode: mode(Format::Ofdm, 54.0),
        psdu: Bytes(14),
        aggregate: false,
        nav: Duration::ZERO,
        exchange,
        flow: None,
        outcome: FrameOutcome::Received,
        lost_to: None,
        signal_dbm: None,
        sig_b: None,
        padding: Bytes::ZERO,
        mpdus: Vec::new(),
        content: FrameContent::None,
    }
}

/// A data frame with these packets.
pub(crate) fn data(
    exchange: u64,
    path: (u32, Option<u32>),
    times: (u64, u64),
    packets: &[Packet],
) -> Frame {
    let mpdu = |(number, packet): (u64, &Packet)| Mpdu {
        packet_id: 100 * exchange + number,
        packet: *packet,
        sequence: (100 * exchange + number) as u16,
        retry: false,
        bytes: Bytes(packet.size.0 + 36),
        received: true,
        subframe: None,
    };
    let mpdus: Vec<Mpdu> = (0..).zip(packets).map(mpdu).collect();
    Frame {
        psdu: mpdus.iter().map(|mpdu| mpdu.bytes).sum(),
        aggregate: mpdus.len() > 1,
        nav: Duration::from_micros(44),
        mpdus,
        ..frame(FrameKind::Data, exchange, path, times)
    }
}

/// The same frame, lost.
pub(crate) fn lost(mut frame: Frame, loss: FrameLoss, lost_to: Option<u32>) -> Frame {
    frame.mpdus.iter_mut().for_each(|mpdu| mpdu.received = false);
    Frame { outcome: FrameOutcome::Lost(loss), lost_to, ..frame }
}

pub(crate) fn wait(radio: u32, times: (u64, u64), kind: WaitKind) -> Wait {
    let class = TrafficClass::BestEffort;
    Wait { start: us(times.0), end: us(times.1), radio, class, kind }
}

/// Data of flow 0: `len` bytes from `seq` on.
pub(crate) fn segment(seq: u64, len: u32) -> Segment {
    Segment {
        flow: FlowId(0),
        connection: 0,
        forward: true,
        seq,
        len,
        ack: 1,
        window: 65_535,
        flags: Flags::ACK,
        timestamps: None,
        sack: SackBlocks::NONE,
        coded: None,
    }
}

/// An ACK of flow 0.
pub(crate) fn ack(number: u64) -> Segment {
    Segment { forward: false, ack: number, ..segment(1, 0) }
}

/// The packet of a segment of flow 0.
pub(crate) fn tcp(segment: Segment) -> Packet {
    let (from, to) = if segment.forward { (3, STA1) } else { (STA1, 3) };
    Packet::new(
        NodeId(from),
        Some(NodeId(to)),
        Bytes(u64::from(segment.len) + 40),
        Instant::ZERO,
        Body::Segment(segment),
    )
}

/// A broadcast datagram of flow 1.
pub(crate) fn datagram(number: u64) -> Packet {
    let body = Body::Datagram(Datagram { flow: FlowId(1), number, len: 200, stream: 0 });
    Packet { from: NodeId(AP), to: None, size: Bytes(228), body, ..tcp(segment(1, 0)) }
}

pub(crate) fn packet(at: u64, packet: Packet, place: Place, step: PacketStep) -> PacketEvent {
    PacketEvent { at: us(at), packet_id: 7, packet, place, step }
}

/// A segment that its end sends; the congestion window is then `window` bytes.
pub(crate) fn sent(at: u64, segment: Segment, window: f64, retransmission: bool) -> SegmentEvent {
    SegmentEvent {
        at: us(at),
        packet_id: 7,
        event: SegmentRecord::Sent,
        segment,
        ecn: Ecn::NotCapable,
        retransmission,
        sender: Some(SenderState {
            cwnd_bytes: window,
            ssthresh_bytes: f64::INFINITY,
            in_flight_bytes: u64::from(segment.len),
            srtt: None,
            rtt: Some(Duration::from_millis(20)),
            rto: Duration::from_secs(1),
            state: "open",
        }),
    }
}
