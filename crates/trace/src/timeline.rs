//! The text timeline (`.txt`): a line for each frame exchange, lined up in columns for print.

mod columns;
mod content;
mod exchange;
#[cfg(test)]
mod tests;

use crate::{
    Frame, FrameKind, Network, PacketEvent, PacketStep, Place, Record, RouteEvent, RouteStep,
    SegmentEvent, SegmentRecord, Sink, Wait, WaitKind,
};
use columns::{Columns, INFALLIBLE};
use content::Marks;
use exchange::Exchange;
use kernel::Instant;
use settings::Settings;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;
use std::io;
use wire::{NodeId, TrafficClass};

/// Retransmissions whose packets are under way. Where a filter omits their arrivals, the oldest
/// are forgotten.
const REPEATED: usize = 65_536;

/// Options of [`Timeline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "Timeline")]
pub struct TimelineOptions {
    /// Characters in a line.
    #[setting(default = 100, range = 40..=1000)]
    pub columns: u16,
    /// Whether the content of data frames is below them.
    #[setting(default = true)]
    pub content: bool,
    /// Whether each wait has a line.
    pub waits: bool,
    /// Whether each step of a packet has a line; losses always have one.
    pub packets: bool,
    /// Whether each segment that an end sends or receives has a line. They have one where no
    /// two nodes have radios.
    pub segments: bool,
}

/// Writes the text timeline.
#[derive(Debug)]
pub struct Timeline<W> {
    network: Network,
    out: W,
    options: TimelineOptions,
    columns: Columns,
    /// By radio and access category: slots counted since its last exchange.
    slots: Vec<[Option<u32>; 4]>,
    /// Packets that carry retransmissions.
    repeated: BTreeSet<u64>,
    /// Lines in the order of their times. The first one is an exchange that may continue; the
    /// others wait for it.
    lines: VecDeque<Line>,
    /// Lines under construction.
    text: String,
    row: String,
}

#[derive(Debug)]
enum Line {
    Exchange(Box<Exchange>),
    Text(String),
}

impl<W: io::Write + Send> Timeline<W> {
    /// Begins a timeline with its header.
    pub fn new(network: Network, mut out: W, options: TimelineOptions) -> io::Result<Self> {
        let columns = Columns::new(usize::from(options.columns), &network);
        // The access point has a radio even where no station has one.
        let has_radios = network.radios.len() > 1;
        let mut text = String::new();
        columns.header(has_radios, &mut text);
        out.write_all(text.as_bytes())?;
        Ok(Self {
            options: TimelineOptions { segments: options.segments || !has_radios, ..options },
            columns,
            slots: vec![[None; 4]; network.radios.len()],
            repeated: BTreeSet::new(),
            lines: VecDeque::new(),
            text,
            row: String::new(),
            network,
            out,
        })
    }

    fn on_frame(&mut self, frame: &Frame) {
        let exchanges = self.lines.iter_mut().rev().filter_map(|line| match line {
            Line::Exchange(exchange) => Some(exchange),
            Line::Text(_) => None,
        });
        let mut joined = None;
        for exchange in exchanges {
            if exchange.join(frame) {
                joined = Some(exchange);
                break;
            }
        }
        let exchange = if let Some(exchange) = joined {
            exchange
        } else {
            let slots = match frame.kind {
                FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck => None,
                _ => self.slots(frame.from, frame.class).take(),
            };
            self.lines.push_back(Line::Exchange(Box::new(Exchange::new(frame, slots))));
            let Some(Line::Exchange(exchange)) = self.lines.back_mut() else {
                unreachable!("it was pushed above")
            };
            exchange
        };
        if self.options.content {
            let text = &mut exchange.content;
            let indent = self.columns.content();
            content::of_frame(frame, &self.repeated, &self.network, |line| {
                self.columns.wrap(indent, line, indent + 2, text);
            });
        }
    }

    fn on_wait(&mut self, wait: &Wait) {
        if let WaitKind::Backoff { before, after } = wait.kind {
            let slots = self.slots(wait.radio, wait.class);
            *slots = Some(slots.unwrap_or(0) + before.saturating_sub(after));
        }
        if !self.options.waits {
            return;
        }
        let what = match wait.kind {
            WaitKind::Backoff { before, after } => format!("back-off {before} to {after} slots,"),
            WaitKind::Defer => "defers".into(),
            WaitKind::Nav => "NAV".into(),
            WaitKind::BusyTone => "busy tone".into(),
        };
        let radio = &self.network.radios[wait.radio as usize];
        let class = match wait.kind {
            WaitKind::Backoff { .. } | WaitKind::Defer if radio.has_qos => {
                format!("{} ", crate::words::class_name(wait.class))
            }
            _ => String::new(),
        };
        let us = (wait.end - wait.start).as_micros_f64();
        let mut text = self.begin(wait.start, &radio.name);
        write!(text, "{class}{what} {us:.1} us").expect(INFALLIBLE);
        self.lines.push_back(Line::Text(text));
    }

    fn on_packet(&mut self, event: &PacketEvent) {
        let what = match event.step {
            PacketStep::Sent => "sends".into(),
            PacketStep::Queued { waiting } => format!("queues behind {waiting} packets"),
            PacketStep::Marked => "marks".into(),
            PacketStep::Dequeued => "takes from the queue".into(),
            PacketStep::Dropped(cause) => format!("drops ({})", cause.name()),
            PacketStep::Began => "sends over the link".into(),
            PacketStep::Crossed => "delivers".into(),
            PacketStep::Received => "receives".into(),
            PacketStep::Served => "has served".into(),
            PacketStep::Arrived => "gets".into(),
            PacketStep::Resident => "holds at the end".into(),
        };
        let is_loss = matches!(event.step, PacketStep::Dropped(_));
        let retransmission = self.repeated.contains(&event.packet_id);
        if is_loss || self.options.packets {
            let place = match event.place {
                Place::Node(node) => &self.network.nodes[node].name,
                Place::Radio(radio) => &self.network.radios[radio as usize].name,
                Place::Wire(wire) => &self.network.wires[wire as usize].name,
            };
            let marks = Marks { retransmission, ..Marks::default() };
            let content = content::of_packet(&event.packet, marks, &self.network);
            let mut text = self.begin(event.at, place);
            write!(text, "{what} {content}").expect(INFALLIBLE);
            self.lines.push_back(Line::Text(text));
        }
        if is_loss || event.step == PacketStep::Arrived {
            self.repeated.remove(&event.packet_id);
        }
    }

    fn on_segment(&mut self, event: &SegmentEvent) {
        if event.event == SegmentRecord::Sent && event.retransmission {
            if self.repeated.len() == REPEATED {
                self.repeated.pop_first();
            }
            self.repeated.insert(event.packet_id);
        }
        if !self.options.segments {
            return;
        }
        let segment = &event.segment;
        let flow = &self.network.flows[segment.flow];
        let is_sent = event.event == SegmentRecord::Sent;
        let node = if segment.forward == is_sent { Some(flow.from) } else { flow.to };
        let node = node.map_or("all", |node| &self.network.nodes[node].name);
        let verb = if is_sent { "sends" } else { "gets" };
        let marks = Marks { retransmission: event.retransmission, ..Marks::default() };
        let content = content::of_segment(segment, marks, &self.network);
        let mut text = self.begin(event.at, node);
        write!(text, "{verb} {content}").expect(INFALLIBLE);
        if let Some(sender) = event.sender {
            write!(
                text,
                "; cwnd {:.0} ssthresh {:.0} in flight {}",
                sender.cwnd_bytes, sender.ssthresh_bytes, sender.in_flight_bytes
            )
            .expect(INFALLIBLE);
            if let Some(srtt) = sender.srtt {
                write!(text, " srtt {:.1} ms", srtt.as_micros_f64() / 1000.0).expect(INFALLIBLE);
            }
            write!(text, " {}", sender.state).expect(INFALLIBLE);
        }
        self.lines.push_back(Line::Text(text));
    }

    fn on_route(&mut self, event: &RouteEvent) {
        let name = |node: NodeId| &self.network.nodes[node].name;
        let mut text = self.begin(event.at, name(event.node));
        let to = name(event.destination);
        let what = match event.step {
            RouteStep::Changed { hops: None } => format!("has no route to {to}"),
            RouteStep::Changed { hops: Some(hops) } => format!("route to {to}: {hops} hops"),
            RouteStep::Discovered => format!("has found a route to {to}"),
            RouteStep::Failed => format!("route to {to} has failed"),
            RouteStep::Restored => format!("has a route to {to} again"),
            RouteStep::LinkFailed { in_range: false } => format!("link to {to} has failed"),
            RouteStep::LinkFailed { in_range: true } => {
                format!("link to {to} has failed, which is in range")
            }
        };
        text += &what;
        self.lines.push_back(Line::Text(text));
    }

    /// The slots that an EDCAF has counted; without EDCA all access categories are one.
    fn slots(&mut self, radio: u32, class: TrafficClass) -> &mut Option<u32> {
        let has_qos = self.network.radios[radio as usize].has_qos;
        let class = if has_qos { class } else { TrafficClass::BestEffort };
        &mut self.slots[radio as usize][class as usize]
    }

    /// A line about something that happens at a node or a link.
    fn begin(&self, at: Instant, place: &str) -> String {
        let mut text = String::new();
        Columns::time(at, &mut text);
        self.columns.right(place, self.columns.name, &mut text);
        text.push(' ');
        text
    }

    /// Writes the lines before the first exchange that frames from `now` on may continue.
    fn write(&mut self, now: Instant) -> io::Result<()> {
        while let Some(line) = self.lines.front() {
            self.text.clear();
            match line {
                Line::Exchange(exchange) if !exchange.is_complete(now) => break,
                Line::Exchange(exchange) => {
                    self.row.clear();
                    exchange.render(&self.columns, &self.network, &mut self.row);
                    self.columns.wrap(0, &self.row, self.columns.content() + 2, &mut self.text);
                    self.text.push_str(&exchange.content);
                }
                Line::Text(line) => {
                    self.columns.wrap(0, line, self.columns.names_begin() + 2, &mut self.text);
                }
            }
            self.out.write_all(self.text.as_bytes())?;
            self.lines.pop_front();
        }
        Ok(())
    }
}

impl<W: io::Write + Send> Sink for Timeline<W> {
    fn on(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.write(record.at())?;
        match record {
            Record::Frame(frame) => self.on_frame(frame),
            Record::Wait(wait) => self.on_wait(wait),
            Record::Packet(event) => self.on_packet(event),
            Record::Segment(event) => self.on_segment(event),
            Record::Route(event) => self.on_route(event),
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write(Instant::NEVER)?;
        self.out.flush()
    }
}
