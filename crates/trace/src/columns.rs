//! Tables of a trace in columns, batch by batch: what Python makes data frames of.

mod names;
mod schema;

/// The numbers that stand for names.
pub(crate) mod codes {
    pub(crate) use super::names::{drop_cause, is_lost, kind, outcome, step, wait};
}

pub use names::WAIT_NAMES;
pub use schema::{FRAMES, MPDUS, PACKETS, ROUTES, SEGMENTS, TABLES, WAITS};

use crate::words;
use crate::{
    Frame, Network, PacketEvent, Place, Record, RouteEvent, RouteStep, SegmentEvent, SegmentRecord,
    Sink, Wait,
};
use names::{Names, accurate, drop_cause, ecn, flags, format, kind, outcome, sack, step};
use std::io;
use std::sync::mpsc::Sender;
use wire::{Body, TrafficClass};

/// Rows of a batch.
const ROWS: usize = 1 << 16;

/// Rows of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The index of the table in [`TABLES`].
    pub table: usize,
    /// The number of rows.
    pub rows: usize,
    /// The values of each column, in native byte order. Texts are separated by line feeds.
    pub columns: Vec<Vec<u8>>,
    next: usize,
}

impl Batch {
    fn of(table: usize) -> Self {
        let columns = vec![Vec::new(); TABLES[table].1.len()];
        Self { table, columns, ..Self::default() }
    }

    /// Appends a value to the next column.
    fn put<const N: usize>(&mut self, value: [u8; N]) -> &mut Self {
        self.columns[self.next].extend_from_slice(&value);
        self.next += 1;
        self
    }

    fn u8(&mut self, value: Option<u8>) -> &mut Self {
        self.put(value.unwrap_or(u8::MAX).to_ne_bytes())
    }

    fn bool(&mut self, value: bool) -> &mut Self {
        self.put([u8::from(value)])
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.put(value.to_ne_bytes())
    }

    fn u32(&mut self, value: Option<u32>) -> &mut Self {
        self.put(value.unwrap_or(u32::MAX).to_ne_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.put(value.to_ne_bytes())
    }

    fn f64(&mut self, value: Option<f64>) -> &mut Self {
        self.put(value.unwrap_or(f64::NAN).to_ne_bytes())
    }

    fn text(&mut self, value: &str) -> &mut Self {
        let column = &mut self.columns[self.next];
        column.extend_from_slice(value.as_bytes());
        column.push(b'\n');
        self.next += 1;
        self
    }

    fn end_row(&mut self) {
        debug_assert_eq!(self.next, self.columns.len(), "{}", TABLES[self.table].0);
        (self.next, self.rows) = (0, self.rows + 1);
    }
}

/// A sink that sends batches of columns.
#[derive(Debug)]
pub struct Columns {
    network: Network,
    names: Names,
    batches: [Batch; TABLES.len()],
    out: Sender<Batch>,
}

impl Columns {
    /// Sends batches through this channel.
    pub fn new(network: Network, out: Sender<Batch>) -> Self {
        let names = Names::new(&network);
        let batches = std::array::from_fn(Batch::of);
        Self { network, names, batches, out }
    }

    /// The names to which a kind of code refers; see [`TABLES`].
    pub fn names(network: &Network) -> Vec<(&'static str, Vec<String>)> {
        Names::new(network).all()
    }

    fn on_frame(&mut self, frame: &Frame) {
        let mut mpdus: Vec<(u16, bool, bool)> =
            frame.mpdus.iter().map(|mpdu| (mpdu.sequence, mpdu.retry, mpdu.received)).collect();
        mpdus.dedup_by_key(|mpdu| mpdu.0);
        let count =
            |is: fn(&(u16, bool, bool)) -> bool| mpdus.iter().filter(|m| is(m)).count() as u16;
        let mode = &frame.mode;
        self.batches[0]
            .u64(frame.number)
            .f64(Some(seconds(frame.start)))
            .f64(Some(seconds(frame.end)))
            .f64(Some(seconds(frame.payload)))
            .u32(Some(self.names.radio(frame.from)))
            .u32(frame.to.map(|to| self.names.radio(to)))
            .u32(Some(kind(frame.kind)))
            .u32(Some(class(frame.class)))
            .u32(Some(format(mode.format)))
            .f64(Some(mode.rate.as_mbps()))
            .u8(mode.mcs)
            .u8(Some(mode.streams))
            .u16(mode.width_mhz)
            .text(&words::subchannels(mode.punctured.map_or(0, |channels| channels.subchannels)))
            .u16(mode.tones.unwrap_or(u16::MAX))
            .u16(mode.ru_index.unwrap_or(u16::MAX))
            .u16(mode.user.unwrap_or(u16::MAX))
            .u64(frame.psdu.0)
            .u32(mode.tones.map(|_| frame.padding.0 as u32))
            .u32(words::trigger(frame).map(|trigger| trigger.kind.code().into()))
            .text(&words::named(frame, &self.network))
            .u16(count(|_| true))
            .u16(count(|mpdu| mpdu.1))
            .u16(count(|mpdu| mpdu.2))
            .f64(Some(frame.nav.as_micros_f64()))
            .u64(frame.exchange)
            .u32(Some(outcome(frame.outcome)))
            .u32(frame.lost_to.map(|radio| self.names.radio(radio)))
            .f64(frame.signal_dbm)
            .end_row();
        for mpdu in &frame.mpdus {
            self.batches[1]
                .u64(frame.number)
                .u64(mpdu.packet_id)
                .u32(mpdu.packet.flow().map(|flow| self.names.flow(flow)))
                .u16(mpdu.sequence)
                .bool(mpdu.retry)
                .u32(Some(mpdu.bytes.0 as u32))
                .bool(mpdu.received)
                .end_row();
        }
    }

    fn on_wait(&mut self, wait: &Wait) {
        let (kind, slots) = names::wait(wait.kind);
        self.batches[2]
            .f64(Some(seconds(wait.start)))
            .f64(Some(seconds(wait.end)))
            .u32(Some(self.names.radio(wait.radio)))
            .u32(Some(class(wait.class)))
            .u32(Some(kind))
            .u32(slots.map(|slots| slots.0))
            .u32(slots.map(|slots| slots.1))
            .end_row();
    }

    fn on_packet(&mut self, event: &PacketEvent) {
        let is_forward = match &event.packet.body {
            Body::Segment(segment) => segment.forward,
            Body::Echo(echo) => !echo.is_reply,
            Body::Media(media) => media.is_forward(),
            Body::Datagram(_) | Body::Routing(_) | Body::Arp(_) | Body::Management(_) => true,
        };
        let node = match event.place {
            Place::Node(node) => node,
            Place::Radio(radio) => self.network.radios[radio as usize].node,
            Place::Wire(wire) => {
                let wire = &self.network.wires[wire as usize];
                if event.step == crate::PacketStep::Crossed { wire.to } else { wire.from }
            }
        };
        let (step, waiting) = step(event.step);
        self.batches[3]
            .f64(Some(seconds(event.at)))
            .u64(event.packet_id)
            .u32(event.packet.flow().map(|flow| self.names.flow(flow)))
            .u32(Some(u32::from(!is_forward)))
            .u32(Some(self.names.node(node)))
            .u32(Some(self.names.place(event.place)))
            .u32(Some(step))
            .u32(drop_cause(event.step))
            .u32(waiting)
            .u32(Some(event.packet.size.0 as u32))
            .u32(Some(ecn(event.packet.ecn)))
            .end_row();
    }

    fn on_segment(&mut self, event: &SegmentEvent) {
        let (segment, sender) = (&event.segment, event.sender.as_ref());
        let ms = |duration: kernel::Duration| duration.0 as f64 / 1e6;
        let row = self.batches[4]
            .f64(Some(seconds(event.at)))
            .u64(event.packet_id)
            .u32(Some(self.names.flow(segment.flow)))
            .u32(Some(u32::from(event.event == SegmentRecord::Received)))
            .u32(Some(u32::from(!segment.forward)))
            .u32(Some(segment.connection))
            .u64(segment.seq)
            .u32(Some(segment.len))
            .u64(segment.ack)
            .u64(segment.window)
            .text(&flags(segment.flags))
            .text(&sack(&segment.sack))
            .text(&accurate(&segment.sack))
            .u32(Some(ecn(event.ecn)))
            .bool(event.retransmission);
        row.f64(sender.map(|own| own.cwnd_bytes))
            .f64(sender.map(|own| own.ssthresh_bytes))
            .u64(sender.map_or(0, |own| own.in_flight_bytes))
            .f64(sender.and_then(|own| own.srtt).map(ms))
            .f64(sender.and_then(|own| own.rtt).map(ms))
            .f64(sender.map(|own| ms(own.rto)))
            .text(sender.map_or("", |own| own.state))
            .end_row();
    }

    fn on_route(&mut self, event: &RouteEvent) {
        let hops = match event.step {
            RouteStep::Changed { hops } => hops.map(u32::from),
            _ => None,
        };
        let is_false = event.step == RouteStep::LinkFailed { in_range: true };
        self.batches[5]
            .f64(Some(seconds(event.at)))
            .u32(Some(self.names.node(event.node)))
            .u32(Some(event.step.code()))
            .u32(Some(self.names.node(event.destination)))
            .u32(hops)
            .bool(is_false)
            .end_row();
    }

    fn send(&mut self, least: usize) -> io::Result<()> {
        for batch in &mut self.batches {
            if batch.rows >= least {
                let full = std::mem::replace(batch, Batch::of(batch.table));
                self.out.send(full).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            }
        }
        Ok(())
    }
}

impl Sink for Columns {
    fn on(&mut self, record: &Record<'_>) -> io::Result<()> {
        match record {
            Record::Frame(frame) => self.on_frame(frame),
            Record::Wait(wait) => self.on_wait(wait),
            Record::Packet(event) => self.on_packet(event),
            Record::Segment(event) => self.on_segment(event),
            Record::Route(event) => self.on_route(event),
        }
        self.send(ROWS)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.send(1)
    }
}

fn class(class: TrafficClass) -> u32 {
    class as u32
}
/// The number nearest to an instant in seconds.
fn seconds(at: kernel::Instant) -> f64 {
    at.0 as f64 / 1e9
}
