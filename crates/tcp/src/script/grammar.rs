//! The grammar of scripts: parses text into events.

use super::Failure;
use kernel::{Duration, Instant};
use wire::{AccEcn, Flags, HeaderFlag, SackBlock, SackBlocks};

/// An event that is due when the previous one has happened.
const AT_ONCE: When = When::After(Duration::ZERO, Duration::ZERO);

/// When an event is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Between these times since the start.
    At(Instant, Instant),
    /// Between these durations after the previous event.
    After(Duration, Duration),
    /// At any time.
    Any,
}

/// A segment as the script writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) flags: Flags,
    /// The ECN field of the packet, if the script writes one.
    pub(super) ecn: Option<Flags>,
    pub(super) seq: u64,
    pub(super) len: u32,
    pub(super) ack: Option<u64>,
    pub(super) window: Option<u64>,
    pub(super) mss: Option<u64>,
    pub(super) scale: Option<u32>,
    pub(super) sack_ok: bool,
    pub(super) sack: SackBlocks,
    /// The option of accurate ECN.
    pub(super) accurate: Option<AccEcn>,
    /// Timestamp values in milliseconds; `None` matches any value.
    pub(super) timestamps: Option<(Option<u64>, Option<u64>)>,
    /// `<...>`: any options match.
    pub(super) any_options: bool,
}

/// A call of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Connect,
    Listen,
    Accept,
    Write(u64),
    Read(u64),
    /// Only full segments leave, or no longer only those.
    Cork(bool),
    Close,
    Stop,
    Abort,
    /// The link rate is now this value, in kbit/s.
    LinkRate(u32),
}

/// A comparison: the permitted orders of left and right, as -1, 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assertion {
    pub(super) text: String,
    pub(super) name: String,
    pub(super) orders: &'static [std::cmp::Ordering],
    pub(super) value: String,
}

/// An event of a script.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    Inject(Written),
    Expect(Written),
    Call(Call, String),
    Assert(Assertion),
    /// Asserts that no unexpected segment was sent.
    Quiet,
    /// Discards unexpected segments.
    Skip,
}

/// A script: its settings and its events, each with its line number.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub(super) settings: Vec<(usize, String, String)>,
    pub(super) tolerance: Option<Duration>,
    pub(super) events: Vec<(usize, When, Event)>,
}

/// Parses a script.
pub(super) fn parse(text: &str) -> Result<Script, Failure> {
    let mut script = Script::default();
    // A block that has begun: its first line, and when its next event is due.
    let mut block: Option<(usize, When)> = None;
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split("//").next().unwrap_or_default();
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let read = match block {
            Some((_, when)) => read_block(line, when, text, &mut script),
            None => read_line(line, text, &mut script),
        };
        let goes_on = read.map_err(|message| Failure { line, message })?;
        block = goes_on.map(|when| (block.map_or(line, |(first, _)| first), when));
    }
    if let Some((line, _)) = block {
        return Err(Failure { line, message: "the block %{ has no end }%".into() });
    }
    if script.events.is_empty() {
        return Err(Failure { line: 1, message: "a script has one event at least".into() });
    }
    Ok(script)
}

/// Reads a line. If a block begins with it and goes on, returns when its next event is due.
fn read_line(line: usize, text: &str, script: &mut Script) -> Result<Option<When>, String> {
    if let Some(number) = text.strip_prefix("--tolerance_usecs=") {
        let micros: u32 = number.trim().parse().map_err(|_| {
            format!("{number:?} is no tolerance; write whole microseconds, as 4000")
        })?;
        script.tolerance = Some(Duration::from_micros(micros.into()));
        return Ok(None);
    }
    if let Some(rest) = text.strip_prefix("set ") {
        let (key, value) = rest.trim().split_once([' ', '=']).unwrap_or((rest.trim(), "on"));
        let value = value.trim_start_matches([' ', '=']).trim();
        script.settings.push((line, key.trim().into(), value.into()));
        return Ok(None);
    }
    let first = text.chars().next().unwrap_or_default();
    let (when, rest) = if first.is_ascii_digit() || "+.*".contains(first) {
        let (time, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        (read_time(time)?, rest.trim())
    } else {
        (AT_ONCE, text)
    };
    if let Some(inner) = rest.strip_prefix("%{") {
        return read_block(line, when, inner, script);
    }
    if let Some(event) = read_event(rest)? {
        script.events.push((line, when, event));
    }
    Ok(None)
}

/// Reads a line within a block: statements that semicolons separate, and the end of the block.
fn read_block(
    line: usize,
    mut when: When,
    text: &str,
    script: &mut Script,
) -> Result<Option<When>, String> {
    let (inner, after) = text.split_once("}%").map_or((text, None), |(a, b)| (a, Some(b.trim())));
    if let Some(after) = after.filter(|after| !after.is_empty()) {
        return Err(format!("{after:?} follows }}%; it needs a line of its own"));
    }
    let mut rest = inner;
    while !rest.is_empty() {
        let (statement, others) = split(rest, ';');
        if let Some(event) = Some(statement).filter(|it| !it.is_empty()).map(read_event) {
            if let Some(event) = event? {
                script.events.push((line, when, event));
            }
            when = AT_ONCE;
        }
        rest = others;
    }
    Ok(after.is_none().then_some(when))
}

/// The text before the first such separator outside quotation marks and brackets, and the text
/// behind it.
fn split(text: &str, separator: char) -> (&str, &str) {
    let (mut quote, mut depth) = (None, 0_i32);
    for (place, letter) in text.char_indices() {
        match letter {
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_some() => {}
            '"' | '\'' => quote = Some(letter),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if letter == separator && depth <= 0 => {
                return (text[..place].trim(), &text[place + letter.len_utf8()..]);
            }
            _ => {}
        }
    }
    (text.trim(), "")
}

fn read_time(text: &str) -> Result<When, String> {
    let seconds = |text: &str| {
        let number = text.trim_start_matches('+');
        let seconds: f64 = number.parse().map_err(|_| {
            format!("{text:?} is no time; write seconds, as 0.1, or after the previous event, +0.1")
        })?;
        if (0.0..=1e6).contains(&seconds) {
            Ok(Duration((seconds * 1e9).round() as u64))
        } else {
            Err(format!("a time is from 0 to 1000000 seconds; is {text}"))
        }
    };
    if text == "*" {
        return Ok(When::Any);
    }
    let (from, to) = text.split_once('~').unwrap_or((text, text));
    let (low, high) = (seconds(from)?, seconds(to)?);
    if high < low {
        return Err(format!("{text}: the later time comes second"));
    }
    if text.starts_with('+') {
        return Ok(When::After(low, high));
    }
    Ok(When::At(Instant::ZERO + low, Instant::ZERO + high))
}

fn read_event(text: &str) -> Result<Option<Event>, String> {
    let spelled = text.strip_prefix("inject").or_else(|| text.strip_prefix("expect"));
    let text = spelled.map_or(text, str::trim);
    if let Some(packet) = text.strip_prefix('<') {
        return Ok(Some(Event::Inject(read_packet(packet.trim())?)));
    }
    if let Some(packet) = text.strip_prefix('>') {
        return Ok(Some(Event::Expect(read_packet(packet.trim())?)));
    }
    let asserted = text.strip_prefix("assert");
    if let Some(rest) = asserted.filter(|rest| rest.starts_with([' ', '\t', '('])) {
        return read_assertion(rest.trim().trim_end_matches(';')).map(|a| Some(Event::Assert(a)));
    }
    match text {
        "quiet" => return Ok(Some(Event::Quiet)),
        "skip" => return Ok(Some(Event::Skip)),
        _ => {}
    }
    read_call(text)
}

fn read_call(text: &str) -> Result<Option<Event>, String> {
    // `write(4, ..., 1000) = 1000` or `write 1000`.
    let letter = |c: &char| c.is_ascii_alphabetic() || *c == '_';
    let name: String = text.chars().take_while(letter).collect();
    let rest = &text[name.len()..];
    let inner = rest.trim().strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let inner = inner.map_or(rest.trim(), |(inner, _)| inner);
    let amount = || {
        let last = inner.rsplit(',').next().unwrap_or_default().trim();
        last.parse().map_err(|_| format!("{name} takes a number of bytes; is {last:?}"))
    };
    let call = match name.as_str() {
        "connect" => Call::Connect,
        "listen" => Call::Listen,
        "accept" => Call::Accept,
        "write" | "send" => Call::Write(amount()?),
        "read" | "recv" => Call::Read(amount()?),
        "cork" => Call::Cork(true),
        "uncork" => Call::Cork(false),
        "setsockopt" if inner.contains("TCP_CORK") => Call::Cork(!inner.contains("[0]")),
        // Data flows in one direction only, so that each close is a half-close.
        "close" | "shutdown" => Call::Close,
        "stop" => Call::Stop,
        "abort" => Call::Abort,
        "link_rate_kbps" => Call::LinkRate(
            u32::try_from(amount()?).map_err(|_| format!("{text:?}: no link is so fast"))?,
        ),
        // Calls that a socket needs and an endpoint does not.
        "socket" | "setsockopt" | "bind" | "fcntl" => return Ok(None),
        _ => {
            let known = "connect, listen, accept, write, read, cork, uncork, close, shutdown, \
                         stop, abort, link_rate_kbps, assert, quiet, skip, < or >";
            return Err(format!("{text:?} is no event; an event is {known}"));
        }
    };
    Ok(Some(Event::Call(call, text.into())))
}

/// `cwnd == 10` or, as in Python, `cwnd == 10, message`: the message has no meaning here.
fn read_assertion(text: &str) -> Result<Assertion, String> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    const SIGNS: [(&str, &[std::cmp::Ordering]); 6] = [
        ("==", &[Equal]),
        ("!=", &[Less, Greater]),
        ("<=", &[Less, Equal]),
        (">=", &[Greater, Equal]),
        ("<", &[Less]),
        (">", &[Greater]),
    ];
    let (text, _) = split(text, ',');
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let text = inner.filter(|inner| !inner.contains(['(', ')'])).unwrap_or(text).trim();
    for (sign, orders) in SIGNS {
        if let Some((name, value)) = text.split_once(sign) {
            let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
            return Ok(Assertion { text: text.into(), name, orders, value });
        }
    }
    Err(format!("{text:?} is no comparison; write it as cwnd == 10"))
}

fn read_packet(text: &str) -> Result<Written, String> {
    let mut written = Written { text: text.into(), ..Written::default() };
    let mut rest = text;
    if let Some((ecn, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        written.ecn = Some(match ecn {
            "ect0" | "ect" => Flags::ECT,
            "ect1" => Flags::ECT.and(Flags::ECT1),
            "ce" => Flags::ECT.and(Flags::CE),
            "noecn" => Flags::NONE,
            _ => return Err(format!("[{ecn}] is no ECN field: [ect0], [ect1], [ce] or [noecn]")),
        });
        rest = after.trim();
    }
    let (rest, options) = match rest.split_once('<') {
        Some((rest, options)) => {
            let end = options.rfind('>').ok_or_else(|| format!("{text:?}: a > is missing"))?;
            (rest.trim(), Some(options[..end].trim()))
        }
        None => (rest, None),
    };
    let mut words = rest.split_whitespace();
    let flags = words.next().ok_or("a packet begins with its flags, as S. or F. or .")?;
    written.flags = read_flags(flags)?;
    if let Some(numbers) = words.next() {
        (written.seq, written.len) = read_numbers(numbers)?;
    } else if !written.flags.has(Flags::SYN) {
        return Err(format!("{text:?}: numbers are missing, as 1:1001(1000)"));
    }
    while let Some(word) = words.next() {
        let value = words.next().and_then(|value| value.parse().ok());
        match word {
            "ack" => written.ack = Some(value.ok_or("ack takes a number")?),
            "win" => written.window = Some(value.ok_or("win takes a number")?),
            _ => return Err(format!("{word:?} is neither ack nor win")),
        }
    }
    if written.flags.has(Flags::ACK) && written.ack.is_none() {
        return Err(format!("{text:?}: the flag . needs ack and a number"));
    }
    if let Some(options) = options {
        read_options(options, &mut written)?;
    }
    Ok(written)
}

fn read_flags(text: &str) -> Result<Flags, String> {
    text.chars().try_fold(Flags::NONE, |flags, letter| {
        let known = HeaderFlag::ALL.iter().find(|known| known.letter == letter);
        Ok(flags.and(match (letter, known) {
            (_, Some(known)) => known.flag,
            // The field ACE of RFC 9768, as packetdrill writes it.
            ('0'..='7', _) => Flags::of_ace(u64::from(letter as u32 - '0' as u32)),
            // tcpdump's letter.
            ('C', _) => Flags::CWR,
            // The PSH flag has no meaning here.
            ('P', _) => Flags::NONE,
            _ => {
                return Err(format!(
                    "{letter:?} in {text:?} is no flag; flags are SFPREWA. and 0 to 7"
                ));
            }
        }))
    })
}

/// `1:1001(1000)`.
fn read_numbers(text: &str) -> Result<(u64, u32), String> {
    let wrong = || format!("{text:?} is no range of bytes; write first:end(length)");
    let (range, len) = text.strip_suffix(')').and_then(|t| t.split_once('(')).ok_or_else(wrong)?;
    let (first, end) = range.split_once(':').ok_or_else(wrong)?;
    let first: u64 = first.parse().map_err(|_| wrong())?;
    let end: u64 = end.parse().map_err(|_| wrong())?;
    let len: u32 = len.parse().map_err(|_| wrong())?;
    if first.checked_add(u64::from(len)) != Some(end) {
        let right = first.saturating_add(u64::from(len));
        return Err(format!("{text}: {first} and {len} bytes end at {right}"));
    }
    Ok((first, len))
}

/// `ECN e1b 1 ceb 0 e0b 1`, the option of accurate ECN: the first name tells the order.
fn read_counters(option: &str, fields: &[&str]) -> Result<AccEcn, String> {
    let first = fields.first().copied().unwrap_or_default();
    let names = if first == "e0b" { ["e0b", "ceb", "e1b"] } else { ["e1b", "ceb", "e0b"] };
    let wrong = || {
        format!("{option:?}: write ECN e1b N ceb N e0b N, or in the order e0b, ceb, e1b; fewer too")
    };
    let mut read = AccEcn { ect1_first: first != "e0b", ..AccEcn::default() };
    for (place, field) in fields.chunks(2).enumerate() {
        let [name, value] = field[..] else { return Err(wrong()) };
        if names.get(place) != Some(&name) {
            return Err(wrong());
        }
        let value: u32 = value.parse().map_err(|_| wrong())?;
        if value >= 1 << 24 {
            return Err(format!("{option:?}: a field has 24 bits"));
        }
        (read.fields[place], read.count) = (value, place as u8 + 1);
    }
    Ok(read)
}

fn read_options(text: &str, written: &mut Written) -> Result<(), String> {
    if text == "..." {
        written.any_options = true;
        return Ok(());
    }
    for option in text.split(',').map(str::trim) {
        let words: Vec<&str> = option.split_whitespace().collect();
        let number = |word: &str| -> Result<u64, String> {
            word.parse().map_err(|_| format!("{word:?} in {option:?} is no number"))
        };
        match words[..] {
            ["nop" | "eol"] | [] => {}
            ["sackOK"] => written.sack_ok = true,
            ["mss", value] => written.mss = Some(number(value)?),
            ["wscale", value] => written.scale = Some(number(value)?.min(14) as u32),
            ["sack", ref blocks @ ..] => {
                for block in blocks {
                    let wrong = || format!("{block:?} is no block; write first:end");
                    let (start, end) = block.split_once(':').ok_or_else(wrong)?;
                    let block = SackBlock { start: number(start)?, end: number(end)? };
                    written.sack.push(block);
                }
            }
            ["TS", "val", value, "ecr", echo] => {
                let any = |word: &str| -> Result<Option<u64>, String> {
                    if word == "*" { Ok(None) } else { number(word).map(Some) }
                };
                written.timestamps = Some((any(value)?, any(echo)?));
            }
            ["ECN", ref fields @ ..] => written.accurate = Some(read_counters(option, fields)?),
            _ => {
                return Err(format!(
                    "{option:?} is no option; options are mss, sackOK, wscale, sack, TS, ECN, \
                     nop, eol"
                ));
            }
        }
    }
    Ok(())
}
