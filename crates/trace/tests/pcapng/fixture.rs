//! A small network and hand-made records of it.

use kernel::{BitRate, Bytes, Duration, Instant};
use trace::pcapng::{Pcapng, PcapngOptions};
use trace::{
    FlowInfo, Format, Frame, FrameContent, FrameKind, FrameMode, FrameOutcome, Mpdu, Network,
    NodeInfo, PacketEvent, PacketStep, Place, RadioInfo, RadioRole, Record, Sink, Transport,
    WireInfo,
};
use wire::{
    Body, CommonInfo, Datagram, Echo, EchoProtocol, Flags, FlowId, NodeId, Packet, SackBlocks,
    Segment, Timestamps, TrafficClass, Trigger, TriggerKind, UserInfo,
};

pub(crate) const SERVER: NodeId = NodeId(0);
pub(crate) const STATION: NodeId = NodeId(2);

/// Radios.
pub(crate) const AP: u32 = 0;
pub(crate) const STA0: u32 = 1;
pub(crate) const STA1: u32 = 2;
/// Two stations without an access point.
pub(crate) const PEER0: u32 = 3;
pub(crate) const PEER1: u32 = 4;

/// The link directions from the server to the access point and back.
pub(crate) const DOWN: u32 = 0;
pub(crate) const UP: u32 = 1;

pub(crate) const DOWNLOAD: FlowId = FlowId(0);
pub(crate) const CALL: FlowId = FlowId(1);

/// A server behind an access point with two stations, and two stations of an ad-hoc network.
pub(crate) fn network(channel_mhz: u16, has_qos: bool) -> Network {
    let node = |name: &str| NodeInfo { name: name.into() };
    let radio = |name: &str, node, role| RadioInfo {
        name: name.into(),
        node: NodeId(node),
        role,
        channel_mhz,
        has_qos,
        has_ccmp: false,
    };
    let wire = |from, to| WireInfo { name: "server-ap".into(), from, to, rate: None };
    let flow = |name: &str, to, transport, header| FlowInfo {
        name: name.into(),
        from: SERVER,
        to,
        transport,
        header: Bytes(header),
        mss: 1460,
        window_shift: 8,
        class: TrafficClass::BestEffort,
        dscp: None,
        tape: None,
    };
    let station = RadioRole::Station { access_point: AP };
    Network {
        nodes: ["server", "ap", "sta0", "sta1", "peer0", "peer1"].map(node).into(),
        radios: vec![
            radio("ap", 1, RadioRole::AccessPoint),
            radio("sta0", 2, station),
            radio("sta1", 3, station),
            radio("peer0", 4, RadioRole::AdHoc),
            radio("peer1", 5, RadioRole::AdHoc),
        ],
        wires: vec![wire(SERVER, NodeId(1)), wire(NodeId(1), SERVER)],
        flows: [
            flow("download0", Some(STATION), Transport::Tcp, 52),
            flow("call", Some(STATION), Transport::Udp, 28),
        ]
        .into(),
        measured_from: Instant::ZERO,
        end: Instant(1_000_000_000),
    }
}

/// A capture of records, in order.
pub(crate) fn capture(network: Network, options: PcapngOptions, records: &[Record<'_>]) -> Vec<u8> {
    let mut file = Vec::new();
    let options = PcapngOptions { merged: true, ..options };
    let mut sink = Pcapng::new(network, vec![&mut file], options).unwrap();
    for record in records {
        sink.on(record).unwrap();
    }
    sink.finish().unwrap();
    file
}

/// A mode before HT.
pub(crate) fn legacy(format: Format, rate_mbps: f64) -> FrameMode {
    let rate = BitRate::from_mbps(rate_mbps);
    let guard_ns = if format == Format::Ofdm { 800 } else { 0 };
    FrameMode {
        format,
        rate,
        mcs: None,
        streams: 1,
        width_mhz: 20,
        punctured: None,
        guard_ns,
        ldpc: false,
        tones: None,
        ru_index: None,
        user: None,
    }
}

/// A mode of 802.11ax in a resource unit.
pub(crate) fn high_in_unit(tones: u16, index: u16) -> FrameMode {
    FrameMode {
        format: Format::He,
        mcs: Some(7),
        guard_ns: 1600,
        tones: Some(tones),
        ru_index: Some(index),
        ..legacy(Format::Ofdm, 16.7)
    }
}

/// A Trigger frame for stations from AID 1 on.
pub(crate) fn trigger(kind: TriggerKind, stations: u16) -> FrameContent {
    let common = CommonInfo {
        length: 0xabc,
        bandwidth: 2,
        guard_ltf: 1,
        ltfs: 2,
        ldpc_extra: true,
        pre_fec: 3,
        pe_disambiguity: true,
    };
    let user =
        |aid| UserInfo { aid, ru: 106, ldpc: true, mcs: 7, streams: 2, random: 0, start: 0x123 };
    let users = (1..=stations).map(user).collect();
    FrameContent::Trigger(Box::new(Trigger { kind, common, users }))
}

/// A frame without data from one radio to another, from `start_us` for `lasting_us`.
pub(crate) fn control(
    kind: FrameKind,
    from: u32,
    to: u32,
    mode: FrameMode,
    us: (f64, f64),
) -> Frame {
    let (start_us, lasting_us) = us;
    let start = Instant((start_us * 1e3).round() as u64);
    Frame {
        number: 0,
        start,
        payload: start + Duration::from_micros(preamble_us(&mode)),
        end: start + Duration((lasting_us * 1e3).round() as u64),
        from,
        to: Some(to),
        kind,
        class: TrafficClass::BestEffort,
        mode,
        psdu: Bytes(14),
        aggregate: false,
        nav: Duration::ZERO,
        exchange: 0,
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

/// A frame with MPDUs.
pub(crate) fn data(from: u32, to: u32, mode: FrameMode, us: (f64, f64), mpdus: Vec<Mpdu>) -> Frame {
    let psdu = mpdus.iter().map(|mpdu| mpdu.bytes).sum();
    Frame { psdu, mpdus, ..control(FrameKind::Data, from, to, mode, us) }
}

/// The first transmission of a packet in an MPDU with so many bytes besides the packet.
pub(crate) fn mpdu(packet: Packet, sequence: u16, overhead: u64) -> Mpdu {
    let bytes = packet.size + Bytes(overhead);
    Mpdu {
        packet_id: u64::from(sequence),
        packet,
        sequence,
        retry: false,
        bytes,
        received: true,
        subframe: None,
    }
}

/// A segment of the download with timestamps.
pub(crate) fn segment(forward: bool, flags: Flags, seq: u64, len: u32, ack: u64) -> Segment {
    Segment {
        flow: DOWNLOAD,
        connection: 0,
        forward,
        seq,
        len,
        ack,
        window: 65_536,
        flags,
        timestamps: Some(Timestamps::default()),
        sack: if flags.has(Flags::SYN) { SackBlocks::PERMITTED } else { SackBlocks::NONE },
        coded: None,
    }
}

/// The packet of a segment: 52 bytes of header.
pub(crate) fn packet(segment: Segment) -> Packet {
    let (from, to) = if segment.forward { (SERVER, STATION) } else { (STATION, SERVER) };
    Packet::new(
        from,
        Some(to),
        Bytes(52) + segment.sack.option_size() + segment.payload(),
        Instant::ZERO,
        Body::Segment(segment),
    )
}

/// A datagram of the call.
pub(crate) fn datagram(number: u64, len: u32, to: Option<NodeId>) -> Packet {
    Packet {
        class: TrafficClass::Voice,
        ..Packet::new(
            SERVER,
            to,
            Bytes(28 + u64::from(len)),
            Instant::ZERO,
            Body::Datagram(Datagram { flow: CALL, number, len, stream: 0 }),
        )
    }
}

/// An echo request of the call, or the reply to it.
pub(crate) fn echo(protocol: EchoProtocol, is_reply: bool, len: u32) -> Packet {
    let (from, to) = if is_reply { (STATION, SERVER) } else { (SERVER, STATION) };
    let asked = Instant::ZERO;
    let echo = Echo { flow: CALL, number: 3, len, protocol, is_reply, asked };
    Packet::new(from, Some(to), Bytes(28 + u64::from(len)), asked, Body::Echo(echo))
}

/// A packet reaches the end of a link direction.
pub(crate) fn crossed(packet: Packet, packet_id: u64, wire: u32, at_us: f64) -> PacketEvent {
    PacketEvent {
        at: Instant((at_us * 1e3).round() as u64),
        packet_id,
        packet,
        place: Place::Wire(wire),
        step: PacketStep::Crossed,
    }
}

fn preamble_us(mode: &FrameMode) -> u64 {
    match mode.format {
        Format::Dsss { short_preamble: true } => 96,
        Format::Dsss { short_preamble: false } => 192,
        Format::Ofdm => 20,
        Format::Ht => 32 + 4 * u64::from(mode.streams),
        Format::Vht => 36 + 4 * u64::from(mode.streams),
        Format::He => 44,
        Format::Eht => 52,
    }
}
