//! A line of the timeline: what a node sends, and what answers.

use super::columns::{Columns, INFALLIBLE};
use crate::{Frame, FrameKind, FrameMode, FrameOutcome, Network, words};
use kernel::{Bytes, Duration, Instant};
use std::fmt::Write;
use wire::TrafficClass;

/// A response begins within this time after its frame: a SIFS and the propagation delays.
const RESPONSE: Duration = Duration::from_micros(50);

/// Frames of one exchange: `[Rts, Cts, Data, Ack]` or a part of it. The further frames of a TXOP
/// have lines of their own.
#[derive(Debug)]
pub(super) struct Exchange {
    number: u64,
    start: Instant,
    end: Instant,
    /// A frame that begins until this instant may continue it; `None` if none may.
    until: Option<Instant>,
    from: u32,
    to: Option<u32>,
    class: TrafficClass,
    /// Back-off slots before it; `None` if no back-off is known.
    slots: Option<u32>,
    has_rts: bool,
    has_cts: bool,
    /// What it is for: data, a BlockAckReq or a CTS-to-self.
    main: Option<FrameKind>,
    response: Option<FrameKind>,
    /// Of its last frame.
    outcome: FrameOutcome,
    last: FrameKind,
    lost_to: Option<u32>,
    mode: FrameMode,
    psdu: Bytes,
    mpdus: usize,
    received: usize,
    retry: bool,
    /// Lines with its content.
    pub(super) content: String,
}

impl Exchange {
    pub(super) fn new(frame: &Frame, slots: Option<u32>) -> Self {
        let mut exchange = Self {
            number: frame.exchange,
            start: frame.start,
            end: frame.end,
            until: None,
            from: frame.from,
            to: frame.to,
            class: frame.class,
            slots,
            has_rts: false,
            has_cts: false,
            main: None,
            response: None,
            outcome: frame.outcome,
            last: frame.kind,
            lost_to: None,
            mode: frame.mode,
            psdu: frame.psdu,
            mpdus: 0,
            received: 0,
            retry: false,
            content: String::new(),
        };
        exchange.add(frame);
        exchange
    }

    /// Adds a frame that continues the line; returns whether it does.
    pub(super) fn join(&mut self, frame: &Frame) -> bool {
        let continues = frame.exchange == self.number
            && self.until.is_some()
            && match frame.kind {
                FrameKind::Cts => self.has_rts && !self.has_cts && self.main.is_none(),
                FrameKind::Data | FrameKind::BlockAckRequest => {
                    self.has_cts && self.main.is_none() && frame.from == self.from
                }
                FrameKind::Ack | FrameKind::BlockAck => self.may_answer(frame),
                _ => false,
            };
        if continues {
            self.add(frame);
        }
        continues
    }

    /// Whether a response may be to this line. With several users, each answers its own data.
    fn may_answer(&self, frame: &Frame) -> bool {
        let is_own = self.mode.tones.is_none() || self.to == Some(frame.from);
        is_own && self.main.is_some_and(|main| main != FrameKind::Trigger)
    }

    fn add(&mut self, frame: &Frame) {
        match frame.kind {
            FrameKind::Rts => self.has_rts = true,
            FrameKind::Cts => self.has_cts = true,
            FrameKind::Ack | FrameKind::BlockAck => self.response = Some(frame.kind),
            _ => {
                self.main = Some(frame.kind);
                self.mode = frame.mode;
                self.psdu = frame.psdu;
                let mpdus = || frame.mpdus.iter().filter(|mpdu| mpdu.is_first());
                self.mpdus = mpdus().count();
                self.received = mpdus().filter(|mpdu| mpdu.received).count();
                self.retry = frame.mpdus.iter().any(|mpdu| mpdu.retry);
            }
        }
        self.end = frame.end;
        self.outcome = frame.outcome;
        self.last = frame.kind;
        self.lost_to = frame.lost_to;
        let is_complete = frame.outcome != FrameOutcome::Received
            || self.response.is_some()
            || frame.kind.has_mpdus() && frame.to.is_none();
        self.until = (!is_complete).then(|| frame.end + frame.nav.max(RESPONSE));
    }

    /// Whether no frame that begins at `now` or later continues the line.
    pub(super) fn is_complete(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now > until)
    }

    pub(super) fn render(&self, columns: &Columns, network: &Network, text: &mut String) {
        let name = |radio: u32| network.radios[radio as usize].name.as_str();
        Columns::time(self.start, text);
        columns.names(name(self.from), self.to.map_or("all", name), text);
        let has_qos = network.radios[self.from as usize].has_qos;
        let class = if has_qos { words::class_name(self.class) } else { "" };
        let width = columns.slots - class.len();
        columns.gap(text);
        text.push_str(class);
        match self.slots {
            Some(slots) => write!(text, "{slots:>width$}"),
            None => write!(text, "{:>width$}", '-'),
        }
        .expect(INFALLIBLE);
        columns.left(columns.sent, text, |text| self.sent(text));
        columns.left(columns.mode, text, |text| mode(&self.mode, text));
        if let Some(width) = columns.us {
            columns.tenths((self.end - self.start).as_micros_f64(), width, text);
        }
        columns.right(self.psdu.0, columns.bytes, text);
        columns.gap(text);
        self.answer(name, text);
    }

    fn sent(&self, text: &mut String) {
        match (self.has_rts, self.main) {
            (true, Some(main)) => {
                text.push_str("RTS ");
                text.push_str(main.name());
            }
            (true, None) => text.push_str("RTS"),
            (false, Some(main)) => text.push_str(main.name()),
            // A response whose exchange began before the trace.
            (false, None) => text.push_str(self.last.name()),
        }
        if self.mpdus > 1 {
            write!(text, " x{}", self.mpdus).expect(INFALLIBLE);
        }
        if self.retry {
            text.push('*');
        }
    }

    /// What comes back, or why the last frame is lost.
    fn answer<'a>(&self, name: impl Fn(u32) -> &'a str, text: &mut String) {
        let is_response = |kind| matches!(kind, FrameKind::Ack | FrameKind::BlockAck);
        let begins = !self.has_rts && self.main.is_none();
        let mut separator = "";
        if self.has_cts && self.last != FrameKind::Cts {
            text.push_str("CTS");
            separator = ", ";
        }
        match self.outcome {
            FrameOutcome::Lost(loss) => {
                text.push_str(separator);
                if !begins && (is_response(self.last) || self.last == FrameKind::Cts) {
                    text.push_str(self.last.name());
                    text.push_str(" lost: ");
                }
                text.push_str(loss.name());
                if let Some(other) = self.lost_to {
                    write!(text, " ({})", name(other)).expect(INFALLIBLE);
                }
            }
            FrameOutcome::Received if begins => text.push_str("received"),
            FrameOutcome::Received => match self.response {
                Some(kind) => {
                    text.push_str(separator);
                    text.push_str(kind.name());
                    if self.mpdus > 1 {
                        write!(text, " {}/{}", self.received, self.mpdus).expect(INFALLIBLE);
                    }
                }
                None if self.last == FrameKind::Rts => text.push_str("no CTS"),
                None if self.last == FrameKind::Cts => text.push_str("CTS, no data"),
                None => {
                    text.push_str(separator);
                    text.push_str("received");
                }
            },
            FrameOutcome::NotAddressed => text.push_str("reserves the medium"),
            FrameOutcome::Unknown => {
                text.push_str(separator);
                text.push_str("the run ends");
            }
        }
    }
}

/// Format and rate in Mb/s; or format, MCS, and streams x MHz, some of them punctured, or x tones
/// of a resource unit.
fn mode(mode: &FrameMode, text: &mut String) {
    text.push_str(mode.format.name());
    match mode.mcs {
        Some(mcs) => match (mode.tones, mode.punctured) {
            (Some(tones), _) => write!(text, " {mcs} {}x{tones}t", mode.streams),
            (None, None) => write!(text, " {mcs} {}x{}", mode.streams, mode.width_mhz),
            (None, Some(_)) => {
                write!(text, " {mcs} {}x{} punctured", mode.streams, mode.width_mhz)
            }
        },
        None => write!(text, " {}", mode.rate.as_mbps()),
    }
    .expect(INFALLIBLE);
}
