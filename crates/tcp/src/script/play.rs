//! Runs a script against an endpoint.

use super::bounded::Bounded;
use super::grammar::{Call, Event, Script, When, Written};
use super::settings::{Endpoint, ScriptSettings, configure, packets};
use super::{Failure, Kind, Line, Transcript};
use crate::control::{Connection, External};
use crate::{Command, Hint, Receiver, Sender, TimerId};
use kernel::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;
use std::fmt::Write as _;
use wire::{Flags, FlowId, SackBlock, SackBlocks, Segment, Timestamps};

const FLOW: FlowId = FlowId(0);
/// The tolerance for the time of a segment, as in packetdrill.
const TOLERANCE: Duration = Duration(4_000_000);
/// The flags that stand for the ECN field of a packet that was not marked.
const IP: Flags = Flags::ECT.and(Flags::ECT1);
/// The most segments that a script may send.
const MOST: usize = 100_000;

/// The endpoint under test.
pub(super) enum TestedEnd {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
}

/// A run of a script.
pub(super) struct Player {
    pub(super) mss: Bytes,
    pub(super) endpoint: TestedEnd,
    pub(super) now: Instant,
    tolerance: Duration,
    timers: [Option<Instant>; TimerId::ALL.len()],
    out: Vec<Command>,
    /// Segments that were sent and not yet expected.
    sent: VecDeque<(Instant, Segment)>,
    /// The window scales of injected and of expected segments.
    scales: [u32; 2],
    delivered: u64,
    pub(super) read: u64,
    total: usize,
    lines: Vec<Line>,
}

/// Runs the script to its end or to its first failure.
pub(super) fn play(script: &Script, external: &dyn External) -> Transcript {
    let mut player = match Player::new(script, external) {
        Ok(player) => player,
        Err(failure) => return Transcript { lines: Vec::new(), failure: Some(failure) },
    };
    let mut failure = None;
    for (line, when, event) in &script.events {
        if let Err(message) = player.event(*line, *when, event) {
            failure = Some(Failure { line: *line, message });
            break;
        }
    }
    for (at, segment) in std::mem::take(&mut player.sent) {
        player.note(at, Kind::Unasked, show(&segment), None);
    }
    player.lines.sort_by_key(|line| line.at);
    Transcript { lines: player.lines, failure }
}

impl Player {
    fn new(script: &Script, external: &dyn External) -> Result<Self, Failure> {
        let ScriptSettings { endpoint, control, config } = configure(script, external)?;
        let of = Connection { config: &config, flow: FLOW, external };
        let endpoint = match endpoint {
            Some(Endpoint::Sender) => {
                let control = Box::new(Bounded(control.get().build(&of)));
                TestedEnd::Sender(Box::new(Sender::new(FLOW, 0, &config, control)))
            }
            _ => TestedEnd::Receiver(Box::new(Receiver::new(FLOW, 0, &config))),
        };
        let scale = |expected: bool| {
            let syn = packets(script, expected).find(|written| written.flags.has(Flags::SYN));
            syn.and_then(|written| written.scale).unwrap_or(0)
        };
        Ok(Self {
            mss: config.mss(),
            endpoint,
            now: Instant::ZERO,
            tolerance: script.tolerance.unwrap_or(TOLERANCE),
            timers: [None; TimerId::ALL.len()],
            out: Vec::new(),
            sent: VecDeque::new(),
            scales: [scale(false), scale(true)],
            delivered: 0,
            read: 0,
            total: 0,
            lines: Vec::new(),
        })
    }

    fn note(&mut self, at: Instant, kind: Kind, text: String, line: Option<usize>) {
        self.lines.push(Line { at, kind, text, line });
    }

    fn event(&mut self, line: usize, when: When, event: &Event) -> Result<(), String> {
        let (from, to) = match when {
            When::At(from, to) => (from, to),
            When::After(from, to) => (self.now + from, self.now + to),
            When::Any => (Instant::ZERO, self.now + Duration::from_secs(1_000)),
        };
        if let Event::Expect(written) = event {
            return self.expect(line, from, to, written);
        }
        if from < self.now && when != When::Any {
            let (at, now) = (seconds(from), seconds(self.now));
            return Err(format!("{at} s is before the previous event, at {now} s"));
        }
        let at = from.max(self.now);
        self.run_until(at)?;
        match event {
            Event::Inject(written) => self.inject(line, written),
            Event::Call(call, text) => {
                self.call(*call)?;
                self.note(at, Kind::Call, text.clone(), Some(line));
            }
            Event::Assert(assertion) => {
                self.check(assertion)?;
                self.note(at, Kind::Assertion, assertion.text.clone(), Some(line));
            }
            Event::Quiet => {
                if let Some((at, segment)) = self.sent.front() {
                    let (shown, at) = (show(segment), seconds(*at));
                    return Err(format!("nothing more should be sent; at {at} s was > {shown}"));
                }
            }
            Event::Skip => {
                for (at, segment) in std::mem::take(&mut self.sent) {
                    self.note(at, Kind::Unasked, show(&segment), Some(line));
                }
            }
            Event::Expect(_) => {}
        }
        self.obey()
    }

    /// Lets the timers of the endpoint expire until then.
    fn run_until(&mut self, end: Instant) -> Result<(), String> {
        while let Some((index, at)) = self.next_timer(end) {
            self.now = self.now.max(at);
            self.timers[index] = None;
            let timer = TimerId::ALL[index];
            match &mut self.endpoint {
                TestedEnd::Sender(sender) => sender.on_timer(self.now, timer, &mut self.out),
                TestedEnd::Receiver(receiver) => receiver.on_timer(self.now, timer, &mut self.out),
            }
            self.obey()?;
        }
        self.now = self.now.max(end);
        Ok(())
    }

    fn next_timer(&self, end: Instant) -> Option<(usize, Instant)> {
        let timers = self.timers.iter().enumerate();
        let due = timers.filter_map(|(index, at)| at.map(|at| (index, at)));
        due.filter(|(_, at)| *at <= end).min_by_key(|(index, at)| (*at, *index))
    }

    fn obey(&mut self) -> Result<(), String> {
        for command in std::mem::take(&mut self.out) {
            match command {
                Command::Send(segment) => {
                    self.total += 1;
                    self.sent.push_back((self.now, segment));
                }
                Command::Set(timer, at) => self.timers[timer as usize] = Some(at),
                Command::Cancel(timer) => self.timers[timer as usize] = None,
                Command::Deliver(bytes) => self.delivered += bytes.0,
                _ => {}
            }
        }
        if self.total > MOST {
            return Err(format!("more than {MOST} segments were sent"));
        }
        Ok(())
    }

    fn inject(&mut self, line: usize, written: &Written) {
        let forward = matches!(self.endpoint, TestedEnd::Receiver(_));
        let scale = if written.flags.has(Flags::SYN) { 0 } else { self.scales[0] };
        let window = written.window.unwrap_or(65_535);
        let ms =
            |ms: Option<u64>| Instant(ms.map_or(self.now.0, |ms| ms.saturating_mul(1_000_000)));
        let syn = written.flags.has(Flags::SYN);
        let permits = syn && (written.sack_ok || written.any_options);
        let mut sack = if permits { SackBlocks::PERMITTED } else { written.sack };
        if let Some(accurate) = written.accurate {
            sack.add_accurate(accurate, 3);
        }
        let segment = Segment {
            flow: FLOW,
            connection: 0,
            forward,
            seq: written.seq,
            len: written.len,
            ack: written.ack.unwrap_or(0),
            window: window.saturating_mul(1 << scale),
            flags: written.flags.and(written.ecn.unwrap_or(Flags::NONE)),
            timestamps: written
                .timestamps
                .map(|(value, echo)| Timestamps { value: ms(value), echo: ms(echo) }),
            sack,
            coded: None,
        };
        self.note(self.now, Kind::Injected, written.text.clone(), Some(line));
        match &mut self.endpoint {
            TestedEnd::Sender(sender) => sender.on_segment(self.now, &segment, &mut self.out),
            TestedEnd::Receiver(receiver) => receiver.on_segment(self.now, &segment, &mut self.out),
        }
    }

    fn call(&mut self, call: Call) -> Result<(), String> {
        match (&mut self.endpoint, call) {
            (TestedEnd::Sender(sender), call) => call_sender(sender, call, self.now, &mut self.out),
            (TestedEnd::Receiver(receiver), Call::Read(n)) => {
                let there = self.delivered - self.read;
                if n > there {
                    return Err(format!("read: {n} bytes are requested, {there} are available"));
                }
                self.read += n;
                receiver.on_read(self.now, Bytes(n), &mut self.out);
                Ok(())
            }
            (TestedEnd::Receiver(receiver), call) => {
                call_receiver(receiver, call, self.now, &mut self.out)
            }
        }
    }

    // ---- what is expected ----

    fn expect(
        &mut self,
        line: usize,
        from: Instant,
        to: Instant,
        written: &Written,
    ) -> Result<(), String> {
        let text = &written.text;
        let late = to + self.tolerance;
        while self.sent.is_empty() {
            let Some((_, at)) = self.next_timer(late) else {
                let (from, to) = (seconds(from), seconds(to));
                let when = if from == to { from } else { format!("{from} to {to}") };
                return Err(format!("> {text} was expected at {when} s; nothing was sent"));
            };
            self.run_until(at)?;
        }
        let Some((at, segment)) = self.sent.pop_front() else { return Ok(()) };
        let shown = show(&segment);
        if let Some(rule) = self.difference(written, &segment) {
            let at = seconds(at);
            return Err(format!("> {text} was expected; at {at} s was > {shown}: {rule}"));
        }
        if at > late || at + self.tolerance < from {
            let (at, from, to) = (seconds(at), seconds(from), seconds(to));
            let by = self.tolerance.as_secs_f64();
            return Err(format!(
                "> {text} was sent at {at} s; expected from {from} to {to} s, {by} s either way"
            ));
        }
        self.now = self.now.max(at).max(from);
        self.note(at, Kind::Sent, shown, Some(line));
        Ok(())
    }

    /// The differences between a segment and the expected one.
    fn difference(&self, written: &Written, segment: &Segment) -> Option<String> {
        let header = Flags(segment.flags.0 & !(IP.0 | Flags::CE.0));
        if written.flags != header {
            return Some("the flags differ".into());
        }
        if (written.seq, written.len) != (segment.seq, segment.len) {
            return Some("the numbers differ".into());
        }
        if header.has(Flags::ACK) && written.ack != Some(segment.ack) {
            return Some("the acknowledgement differs".into());
        }
        let scale = if header.has(Flags::SYN) { 0 } else { self.scales[1] };
        let window = segment.window >> scale;
        if written.window.is_some_and(|expected| expected != window) {
            return Some(format!("the window is {window}"));
        }
        let ecn = Flags(segment.flags.0 & IP.0);
        if written.ecn.is_some_and(|expected| expected != ecn) {
            return Some("the ECN field differs".into());
        }
        if written.any_options {
            return None;
        }
        if written.sack.as_slice() != segment.sack.as_slice() {
            return Some("the selective acknowledgements differ".into());
        }
        if written.accurate != segment.sack.accurate() {
            return Some("the option of accurate ECN differs".into());
        }
        if written.sack_ok && !segment.sack.are_permitted() {
            return Some("it does not permit selective acknowledgements".into());
        }
        let stamps = (written.timestamps, segment.timestamps);
        match stamps {
            (None, None) => None,
            (Some((_, expected)), Some(stamps)) => {
                let echo = stamps.echo.0 / 1_000_000;
                let same = expected.is_none_or(|expected| expected == echo);
                (!same).then(|| format!("the timestamp echoed is {echo}"))
            }
            (Some(_), None) => Some("it has no timestamp".into()),
            (None, Some(_)) => Some("it has a timestamp".into()),
        }
    }
}

fn call_sender(
    sender: &mut Sender,
    call: Call,
    now: Instant,
    out: &mut Vec<Command>,
) -> Result<(), String> {
    match call {
        Call::Connect => sender.on_open(now, out),
        Call::Listen => sender.on_listen(),
        Call::Write(n) => sender.on_data(now, Bytes(n), out),
        Call::Cork(corked) => sender.on_cork(now, corked, out),
        Call::Close => sender.on_close(now, out),
        Call::Stop => sender.on_stop(now, out),
        Call::Abort => sender.on_abort(now, out),
        Call::LinkRate(kbps) => {
            sender.on_hint(now, Hint::LinkRate(BitRate(u64::from(kbps) * 1000)));
        }
        Call::Accept if !sender.is_connected() => {
            return Err("accept: no connection is established".into());
        }
        Call::Accept => {}
        Call::Read(_) => {
            return Err("read: this end sends, and only one direction carries data".into());
        }
    }
    Ok(())
}

fn call_receiver(
    receiver: &mut Receiver,
    call: Call,
    now: Instant,
    out: &mut Vec<Command>,
) -> Result<(), String> {
    match call {
        Call::Close => receiver.on_close(now, out),
        Call::Abort => receiver.on_abort(out),
        Call::Accept if !receiver.is_connected() => {
            return Err("accept: no connection is established".into());
        }
        Call::Listen | Call::Accept | Call::Read(_) => {}
        Call::Connect => {
            return Err("connect: the receiver waits for the SYN; write listen".into());
        }
        Call::Write(_) | Call::Cork(_) | Call::Stop | Call::LinkRate(_) => {
            let message = "this end receives: a script with write, or with `set endpoint sender`, \
                           tests a sender";
            return Err(message.into());
        }
    }
    Ok(())
}

// ---- text ----

fn seconds(at: Instant) -> String {
    format!("{:.6}", at.0 as f64 / 1e9)
}

/// A segment in the grammar of scripts.
fn show(segment: &Segment) -> String {
    let mut text = String::new();
    if segment.flags.has(Flags::ECT1) {
        text += "[ect1] ";
    } else if segment.flags.has(Flags::ECT) {
        text += "[ect0] ";
    }
    text.extend(segment.flags.letters());
    let end = segment.seq + u64::from(segment.len);
    let _ = write!(text, " {}:{end}({})", segment.seq, segment.len);
    if segment.flags.has(Flags::ACK) {
        let _ = write!(text, " ack {}", segment.ack);
    }
    let mut options = Vec::new();
    if segment.sack.are_permitted() {
        options.push("sackOK".to_owned());
    }
    if !segment.sack.is_empty() {
        let block = |block: &SackBlock| format!("{}:{}", block.start, block.end);
        let blocks: Vec<_> = segment.sack.as_slice().iter().map(block).collect();
        options.push(format!("sack {}", blocks.join(" ")));
    }
    if let Some(stamps) = segment.timestamps {
        let ms = |at: Instant| at.0 / 1_000_000;
        options.push(format!("TS val {} ecr {}", ms(stamps.value), ms(stamps.echo)));
    }
    if let Some(accurate) = segment.sack.accurate() {
        let names = if accurate.ect1_first { ["e1b", "ceb", "e0b"] } else { ["e0b", "ceb", "e1b"] };
        let fields = names.iter().zip(accurate.fields).take(usize::from(accurate.count));
        let words = fields.flat_map(|(name, field)| [(*name).to_owned(), field.to_string()]);
        options.push(std::iter::once("ECN".to_owned()).chain(words).collect::<Vec<_>>().join(" "));
    }
    if !options.is_empty() {
        let _ = write!(text, " <{}>", options.join(","));
    }
    text
}
