//! Perfetto traces (`.pftrace`): a `Trace` of `TracePacket`s with `TrackEvent`s, which
//! <https://ui.perfetto.dev> and `trace_processor` read.

mod arrows;
mod names;
mod packets;
mod protobuf;
#[cfg(test)]
mod reading;
mod schema;
#[cfg(test)]
mod tests;
mod tracks;

use crate::{
    Frame, FrameKind, Mpdu, Network, PacketEvent, PacketStep, Place, Record, RouteEvent, RouteStep,
    SegmentEvent, SegmentRecord, Sink, Wait, WaitKind,
};
use arrows::Arrows;
use kernel::{Instant, Span};
use names::{Name, Names, Text};
use packets::Packets;
use protobuf::Buffer;
use schema::{annotation, event};
use settings::Settings;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use tracks::{Group, Lane, Tracks};
use wire::{Body, NodeId, PathId};

/// The names of annotations, in the order of [`Note`].
const NOTES: [&str; 19] = [
    "frame",
    "exchange",
    "mode",
    "PSDU bytes",
    "NAV us",
    "access category",
    "lost to",
    "signal dBm",
    "MPDUs",
    "MPDUs retried",
    "MPDUs received",
    "sequence number",
    "flow",
    "packet",
    "seq",
    "ack",
    "slots before",
    "slots after",
    "route",
];

/// An annotation, by its number.
#[derive(Clone, Copy)]
enum Note {
    Frame = 1,
    Exchange,
    Mode,
    Bytes,
    Nav,
    Class,
    LostTo,
    Signal,
    Mpdus,
    Retried,
    Received,
    Sequence,
    Flow,
    Packet,
    Seq,
    Ack,
    Before,
    After,
    Route,
}

/// Options of [`Perfetto`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "Perfetto")]
pub struct PerfettoOptions {
    /// Whether slices have annotations: mode, bytes, MPDUs, sequence numbers.
    #[setting(default = true)]
    pub annotations: bool,
}

/// Writes a Perfetto trace.
#[derive(Debug)]
pub struct Perfetto<W> {
    network: Network,
    options: PerfettoOptions,
    packets: Packets<W>,
    tracks: Tracks,
    names: Names,
    arrows: Arrows,
    /// Ends of slices that have begun, with the number of their track: earliest first, and at one
    /// instant in the order in which they began.
    ends: BinaryHeap<Reverse<(Instant, u64, u64)>>,
    begun: u64,
    /// By radio: packets in its queue.
    waiting: Vec<u32>,
    /// By flow: the values of its counters.
    gauges: Vec<Gauges>,
}

/// The values that a flow's counters have.
#[derive(Clone, Copy, Debug, Default)]
struct Gauges {
    window: Option<f64>,
    threshold: Option<f64>,
    in_flight: Option<f64>,
    rtt: Option<f64>,
}

impl<W: io::Write + Send> Perfetto<W> {
    /// Begins a trace.
    pub fn new(network: Network, out: W, options: PerfettoOptions) -> io::Result<Self> {
        Ok(Self {
            options,
            packets: Packets::new(out, &NOTES)?,
            tracks: Tracks::new(&network),
            names: Names::default(),
            arrows: Arrows::new(network.flows.len()),
            ends: BinaryHeap::new(),
            begun: 0,
            waiting: vec![0; network.radios.len()],
            gauges: vec![Gauges::default(); network.flows.len()],
            network,
        })
    }

    fn on_frame(&mut self, frame: &Frame) -> io::Result<()> {
        let lane = match frame.kind {
            FrameKind::Rts | FrameKind::Cts | FrameKind::CtsToSelf => Lane::Protection,
            FrameKind::Ack
            | FrameKind::BlockAckRequest
            | FrameKind::BlockAck
            | FrameKind::Trigger => Lane::Acknowledgement,
            _ => Lane::Data,
        };
        let name = Name::Frame { kind: frame.kind, to: frame.to, outcome: frame.outcome };
        let name = self.names.name(name, &self.network, &mut self.packets)?;
        let mode = self.text(Text::from(&frame.mode))?;
        let has_qos = self.network.radios[frame.from as usize].has_qos;
        let class = if has_qos { self.text(Text::Class(frame.class))? } else { None };
        let lost_to = match frame.lost_to {
            Some(radio) => self.text(Text::Radio(radio))?,
            None => None,
        };
        let flow = match frame.mpdus.first().and_then(|mpdu| mpdu.packet.flow()) {
            Some(flow) => self.text(Text::Flow(flow.0))?,
            None => None,
        };
        let path = frame.mpdus.first().and_then(|mpdu| mpdu.packet.source_route);
        let route = match path.filter(|path| !path.is_implied()) {
            Some(path) => self.text(Text::Path(path))?,
            None => None,
        };
        let track = self.begin(frame.from, lane, frame.start, frame.end)?;
        let (begin, end) = self.arrows.on_frame(frame);
        let annotations = self.options.annotations;
        self.packets.event(frame.start, event::SLICE_BEGIN, track, |e| {
            e.varint(event::NAME_IID, name);
            for &id in begin {
                e.fixed64(event::FLOW_IDS, id);
            }
            for &id in end {
                e.fixed64(event::TERMINATING_FLOW_IDS, id);
            }
            if annotations {
                note(e, Note::Frame, frame.number);
                note(e, Note::Exchange, frame.exchange);
                text(e, Note::Mode, mode);
                text(e, Note::Class, class);
                note(e, Note::Bytes, frame.psdu.0);
                double(e, Note::Nav, frame.nav.as_micros_f64());
                text(e, Note::LostTo, lost_to);
                if let Some(dbm) = frame.signal_dbm {
                    double(e, Note::Signal, dbm);
                }
                text(e, Note::Flow, flow);
                text(e, Note::Route, route);
                note_mpdus(e, frame);
            }
        })
    }

    fn on_wait(&mut self, wait: &Wait) -> io::Result<()> {
        let (lane, name) = match wait.kind {
            WaitKind::Backoff { .. } => (Lane::Backoff(wait.class), Name::Backoff),
            WaitKind::Defer => (Lane::Backoff(wait.class), Name::Defer),
            WaitKind::Nav => (Lane::Nav, Name::Nav),
            WaitKind::BusyTone => (Lane::Backoff(wait.class), Name::BusyTone),
        };
        let name = self.names.name(name, &self.network, &mut self.packets)?;
        let track = self.begin(wait.radio, lane, wait.start, wait.end)?;
        let annotations = self.options.annotations;
        self.packets.event(wait.start, event::SLICE_BEGIN, track, |e| {
            e.varint(event::NAME_IID, name);
            if let (true, WaitKind::Backoff { before, after }) = (annotations, wait.kind) {
                note(e, Note::Before, u64::from(before));
                note(e, Note::After, u64::from(after));
            }
        })
    }

    fn on_packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        match event.step {
            PacketStep::Dropped(cause) => self.instant(event, Name::Drop(cause))?,
            PacketStep::Marked => self.instant(event, Name::Mark)?,
            _ => {}
        }
        let (group, value) = match (event.place, event.step) {
            // A radio reports each packet that enters or leaves its queue. `waiting` corrects the
            // count where a filter has omitted some.
            (Place::Radio(radio), PacketStep::Queued { waiting }) => {
                self.waiting[radio as usize] = waiting + 1;
                (self.tracks.of_radio(&self.network, radio), waiting + 1)
            }
            (
                Place::Radio(radio),
                PacketStep::Dequeued | PacketStep::Dropped(crate::DropCause::Queue),
            ) => {
                let waiting = &mut self.waiting[radio as usize];
                *waiting = waiting.saturating_sub(1);
                let value = *waiting;
                (self.tracks.of_radio(&self.network, radio), value)
            }
            // A link reports only how many packets each arrival finds.
            (Place::Wire(wire), PacketStep::Queued { waiting }) => (Group::Wire(wire), waiting),
            _ => return Ok(()),
        };
        self.counter(event.at, (group, Lane::Queue), f64::from(value))
    }

    fn on_segment(&mut self, event: &SegmentEvent) -> io::Result<()> {
        let flow = event.segment.flow.0;
        let group = Group::Flow(flow);
        if event.event == SegmentRecord::Sent && event.retransmission {
            let track =
                self.tracks.of(group, Lane::Retransmissions, &self.network, &mut self.packets)?;
            let name = self.names.name(Name::Retransmission, &self.network, &mut self.packets)?;
            let annotations = self.options.annotations;
            self.packets.event(event.at, event::INSTANT, track, |e| {
                e.varint(event::NAME_IID, name);
                if annotations {
                    note(e, Note::Packet, event.packet_id);
                    note(e, Note::Seq, event.segment.seq);
                }
            })?;
        }
        let Some(sender) = event.sender else { return Ok(()) };
        let before = self.gauges[flow as usize];
        let now = Gauges {
            window: Some(sender.cwnd_bytes),
            threshold: Some(sender.ssthresh_bytes)
                .filter(|bytes| bytes.is_finite())
                .or(before.threshold),
            in_flight: Some(sender.in_flight_bytes as f64),
            rtt: sender.rtt.map(|rtt| rtt.0 as f64).or(before.rtt),
        };
        self.gauges[flow as usize] = now;
        for (lane, before, now) in [
            (Lane::Window, before.window, now.window),
            (Lane::Threshold, before.threshold, now.threshold),
            (Lane::InFlight, before.in_flight, now.in_flight),
            (Lane::Rtt, before.rtt, now.rtt),
        ] {
            if let Some(value) = now.filter(|_| now != before) {
                self.counter(event.at, (group, lane), value)?;
            }
        }
        Ok(())
    }

    /// An instant at the node; where the route of a flow changes, its hops, 0 without a route.
    fn on_route(&mut self, event: &RouteEvent) -> io::Result<()> {
        let RouteEvent { at, node, destination, step } = *event;
        let lane = (Group::Node(node.0), Lane::Routes);
        let track = self.tracks.of(lane.0, lane.1, &self.network, &mut self.packets)?;
        let name = Name::Route { destination, step };
        let name = self.names.name(name, &self.network, &mut self.packets)?;
        self.packets.event(at, event::INSTANT, track, |e| e.varint(event::NAME_IID, name))?;
        let RouteStep::Changed { hops } = step else { return Ok(()) };
        for flow in self.network.flows.ids() {
            let ends = &self.network.flows[flow];
            if (ends.from, ends.to) == (node, Some(destination)) {
                let lane = (Group::Flow(flow.0), Lane::Hops);
                self.counter(at, lane, f64::from(hops.unwrap_or(0)))?;
            }
        }
        Ok(())
    }

    /// Finds the track of a slice, and notes that it ends.
    fn begin(&mut self, radio: u32, lane: Lane, start: Instant, end: Instant) -> io::Result<u64> {
        let group = self.tracks.of_radio(&self.network, radio);
        let slice = Span { start, end };
        let track = self.tracks.for_slice(group, lane, slice, &self.network, &mut self.packets)?;
        self.begun += 1;
        self.ends.push(Reverse((end, self.begun, track)));
        Ok(track)
    }

    fn instant(&mut self, event: &PacketEvent, name: Name) -> io::Result<()> {
        let group = match event.place {
            Place::Node(node) => Group::Node(node.0),
            Place::Radio(radio) => self.tracks.of_radio(&self.network, radio),
            Place::Wire(wire) => Group::Wire(wire),
        };
        let track = self.tracks.of(group, Lane::Drops, &self.network, &mut self.packets)?;
        let name = self.names.name(name, &self.network, &mut self.packets)?;
        let flow = match event.packet.flow() {
            Some(flow) => self.text(Text::Flow(flow.0))?,
            None => None,
        };
        let annotations = self.options.annotations;
        self.packets.event(event.at, event::INSTANT, track, |e| {
            e.varint(event::NAME_IID, name);
            if annotations {
                text(e, Note::Flow, flow);
                note(e, Note::Packet, event.packet_id);
            }
        })
    }

    fn counter(&mut self, at: Instant, lane: (Group, Lane), value: f64) -> io::Result<()> {
        let track = self.tracks.of(lane.0, lane.1, &self.network, &mut self.packets)?;
        self.packets.event(at, event::COUNTER, track, |e| {
            if is_whole(value) {
                e.varint(event::COUNTER_VALUE, value as u64);
            } else {
                e.double(event::DOUBLE_COUNTER_VALUE, value);
            }
        })
    }

    /// Writes the ends of the slices that end until then.
    fn end_slices(&mut self, until: Instant) -> io::Result<()> {
        while let Some(&Reverse((end, _, track))) = self.ends.peek() {
            if end > until {
                break;
            }
            self.ends.pop();
            self.packets.event(end, event::SLICE_END, track, |_| {})?;
        }
        Ok(())
    }

    /// The number of a text, if annotations are written.
    fn text(&mut self, text: Text) -> io::Result<Option<u64>> {
        if !self.options.annotations {
            return Ok(None);
        }
        self.names.text(text, &self.network, &mut self.packets).map(Some)
    }
}

impl<W: io::Write + Send> Sink for Perfetto<W> {
    fn on(&mut self, record: &Record<'_>) -> io::Result<()> {
        // Packets are in the order of time, and a slice ends before the next one on its track
        // begins.
        self.end_slices(record.at())?;
        match record {
            Record::Frame(frame) => self.on_frame(frame),
            Record::Wait(wait) => self.on_wait(wait),
            Record::Packet(event) => self.on_packet(event),
            Record::Segment(event) => self.on_segment(event),
            Record::Route(event) => self.on_route(event),
        }
    }

    fn on_path(&mut self, id: PathId, nodes: &[NodeId]) {
        let own = self.names.paths.intern(nodes);
        debug_assert_eq!(own, id, "a sink learns of each path in their order");
    }

    fn finish(&mut self) -> io::Result<()> {
        self.end_slices(Instant::NEVER)?;
        self.packets.flush()
    }
}

fn note(e: &mut Buffer, note: Note, value: u64) {
    e.message(event::DEBUG_ANNOTATIONS, |a| {
        a.varint(annotation::NAME_IID, note as u64);
        a.varint(annotation::UINT, value);
    });
}

fn double(e: &mut Buffer, note: Note, value: f64) {
    e.message(event::DEBUG_ANNOTATIONS, |a| {
        a.varint(annotation::NAME_IID, note as u64);
        if is_whole(value) {
            a.varint(annotation::UINT, value as u64);
        } else {
            a.double(annotation::DOUBLE, value);
        }
    });
}

/// Whether a number is also an integer, which takes fewer bytes than a double.
fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value >= 0.0
}

fn text(e: &mut Buffer, note: Note, iid: Option<u64>) {
    let Some(iid) = iid else { return };
    e.message(event::DEBUG_ANNOTATIONS, |a| {
        a.varint(annotation::NAME_IID, note as u64);
        a.varint(annotation::STRING_IID, iid);
    });
}

/// How many MPDUs there are, and the sequence numbers of the first and the acknowledgement number
/// of the last.
fn note_mpdus(e: &mut Buffer, frame: &Frame) {
    let mpdus = &frame.mpdus;
    let (Some(first), Some(last)) = (mpdus.first(), mpdus.last()) else { return };
    let count = |counts: fn(&Mpdu) -> bool| {
        mpdus.iter().filter(|mpdu| mpdu.is_first() && counts(mpdu)).count() as u64
    };
    let all = count(|_| true);
    if all > 1 {
        note(e, Note::Mpdus, all);
        note(e, Note::Received, count(|mpdu| mpdu.received));
    }
    note(e, Note::Retried, count(|mpdu| mpdu.retry));
    note(e, Note::Sequence, u64::from(first.sequence));
    note(e, Note::Packet, first.packet_id);
    if let Body::Segment(segment) = first.packet.body {
        note(e, Note::Seq, segment.seq);
    }
    if let Body::Segment(segment) = last.packet.body {
        note(e, Note::Ack, segment.ack);
    }
}
