//! What MPDUs and packets carry, in the notation of TCP scripts (docs/tcp-script.md):
//! `download0: . 1:1461(1460) ack 1 win 65535`.

use super::columns::INFALLIBLE;
use crate::{Frame, Network, words};
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use wire::{Body, Echo, Ecn, Flags, Packet, PowerBits, Segment};

/// A run of MPDUs that is written as one: of the same flow, with consecutive data.
#[derive(Clone, Copy, Debug)]
struct Run<'a> {
    first: &'a Packet,
    last: &'a Packet,
    count: usize,
    marks: Marks,
}

/// What is said behind a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// TCP has sent its data before.
    pub(super) retransmission: bool,
    /// The MAC has sent it before, as opposed to other MPDUs of the frame.
    pub(super) retry: bool,
    /// It was lost, as opposed to other MPDUs of the frame.
    pub(super) lost: bool,
    /// How its MAC header serves power saving.
    pub(super) power: PowerBits,
}

/// Writes the content of a frame, a line for each run of MPDUs.
pub(super) fn of_frame(
    frame: &Frame,
    repeated: &BTreeSet<u64>,
    network: &Network,
    mut line: impl FnMut(&str),
) {
    if let Some(trigger) = words::trigger(frame) {
        let whom = words::named(frame, network);
        return line(&format!("{}: {whom}", trigger.kind.name()));
    }
    let mpdus = &frame.mpdus;
    let all_retry = mpdus.iter().all(|mpdu| mpdu.retry);
    let none_received = !mpdus.iter().any(|mpdu| mpdu.received);
    let mut text = String::new();
    let mut run: Option<Run<'_>> = None;
    for mpdu in mpdus {
        let packet = &mpdu.packet;
        let marks = Marks {
            retransmission: repeated.contains(&mpdu.packet_id),
            retry: mpdu.retry && !all_retry,
            lost: !mpdu.received && !none_received,
            power: mpdu.power_bits(),
        };
        match &mut run {
            Some(run) if run.marks == marks && continues(run.last, packet) => {
                run.last = packet;
                run.count += 1;
            }
            _ => {
                if let Some(run) = &run {
                    line(run.render(network, &mut text));
                }
                run = Some(Run { first: packet, last: packet, count: 1, marks });
            }
        }
    }
    if let Some(run) = &run {
        line(run.render(network, &mut text));
    }
}

/// The content of a packet.
pub(super) fn of_packet(packet: &Packet, marks: Marks, network: &Network) -> String {
    let mut text = String::new();
    Run { first: packet, last: packet, count: 1, marks }.render(network, &mut text);
    text
}

/// A segment.
pub(super) fn of_segment(segment: &Segment, marks: Marks, network: &Network) -> String {
    let mut text = network.flows[segment.flow].name.clone();
    text.push(':');
    write_segments(&mut text, segment, segment, 1).expect(INFALLIBLE);
    marks.append(&mut text);
    text
}

impl Marks {
    fn append(self, text: &mut String) {
        for (is_set, mark) in [
            (self.retransmission, ", retransmission"),
            (self.retry, ", retry"),
            (self.lost, ", lost"),
        ] {
            if is_set {
                text.push_str(mark);
            }
        }
        power_bits(text, self.power);
    }
}

impl Run<'_> {
    fn render<'t>(&self, network: &Network, text: &'t mut String) -> &'t str {
        text.clear();
        if let Some(flow) = self.first.flow() {
            text.push_str(&network.flows[flow].name);
            text.push(':');
        }
        if self.first.ecn == Ecn::Experienced {
            text.push_str(" [ce]");
        }
        match (&self.first.body, &self.last.body) {
            (Body::Segment(first), Body::Segment(last)) => {
                write_segments(text, first, last, self.count)
            }
            (Body::Datagram(first), Body::Datagram(last)) if self.count > 1 => write!(
                text,
                " datagrams {} to {} ({} x {})",
                first.number, last.number, self.count, first.len
            ),
            (Body::Datagram(first), _) => {
                write!(text, " datagram {} ({})", first.number, first.len)
            }
            (Body::Echo(first), Body::Echo(last)) if self.count > 1 => write!(
                text,
                " {} {} to {} ({} x {})",
                echo(first),
                first.number,
                last.number,
                self.count,
                first.len
            ),
            (Body::Echo(first), _) => {
                write!(text, " {} {} ({})", echo(first), first.number, first.len)
            }
            (Body::Media(first), _) => {
                write!(text, " {} {} ({})", first.kind.name(), first.number, first.len)
            }
            (Body::Routing(message), _) => {
                text.push_str(message.name());
                Ok(())
            }
            (Body::Arp(message), _) => {
                text.push_str(message.name());
                Ok(())
            }
            (Body::Management(frame), _) => {
                frame.tell(text);
                Ok(())
            }
            _ => unreachable!("a run is of one flow"),
        }
        .expect(INFALLIBLE);
        self.marks.append(text);
        text
    }
}

/// The bits by which a frame serves power saving, by their names in Wireshark.
fn power_bits(text: &mut String, bits: PowerBits) {
    let names = [
        (PowerBits::POWER_MANAGEMENT, "PM"),
        (PowerBits::MORE_DATA, "more data"),
        (PowerBits::EOSP, "EOSP"),
    ];
    for (_, name) in names.into_iter().filter(|&(bit, _)| bits.has(bit)) {
        let comma = if text.is_empty() { "" } else { ", " };
        write!(text, "{comma}{name}").expect(INFALLIBLE);
    }
}

/// Whether a packet continues a run that ends with `last`.
fn continues(last: &Packet, next: &Packet) -> bool {
    if last.ecn != next.ecn {
        return false;
    }
    match (&last.body, &next.body) {
        (Body::Datagram(last), Body::Datagram(next)) => {
            (last.flow, last.number + 1, last.len) == (next.flow, next.number, next.len)
        }
        (Body::Echo(last), Body::Echo(next)) => {
            (last.flow, last.number + 1, last.len, last.is_reply)
                == (next.flow, next.number, next.len, next.is_reply)
        }
        (Body::Segment(last), Body::Segment(next)) => {
            let alike = |s: &Segment| (s.flow, s.connection, s.forward, s.flags, s.len, s.window);
            let plain = |s: &Segment| s.sack.is_empty() && s.coded.is_none();
            let follows = if last.seq_len() == 0 {
                last.seq == next.seq
            } else {
                last.seq_end() == next.seq && last.ack == next.ack
            };
            alike(last) == alike(next) && plain(last) && plain(next) && follows
        }
        _ => false,
    }
}

/// The name of an echo request or reply.
fn echo(echo: &Echo) -> &'static str {
    if echo.is_reply { "echo reply" } else { "echo request" }
}

fn write_segments(text: &mut String, first: &Segment, last: &Segment, count: usize) -> fmt::Result {
    text.push(' ');
    flags(text, first.flags);
    write!(text, " {}:{}(", first.seq, last.seq + u64::from(last.len))?;
    if count > 1 && first.len > 0 {
        write!(text, "{count} x ")?;
    }
    write!(text, "{})", first.len)?;
    if first.flags.has(Flags::ACK) {
        write!(text, " ack {}", first.ack)?;
        if first.ack != last.ack {
            write!(text, " to {}", last.ack)?;
        }
    }
    write!(text, " win {}", first.window)?;
    let mut opening = " <sack ";
    for block in first.sack.as_slice() {
        write!(text, "{opening}{}:{}", block.start, block.end)?;
        opening = " ";
    }
    if !first.sack.is_empty() {
        text.push('>');
    }
    if count > 1 && first.len == 0 {
        write!(text, ", {count} segments")?;
    }
    if let Some(coded) = first.coded {
        let kind = if coded.is_parity() { "parity" } else { "data" };
        write!(text, ", {kind} unit {}", coded.unit)?;
    }
    Ok(())
}

/// The letters of TCP scripts.
fn flags(text: &mut String, flags: Flags) {
    let before = text.len();
    text.extend(flags.letters());
    if text.len() == before {
        text.push('-');
    }
}
