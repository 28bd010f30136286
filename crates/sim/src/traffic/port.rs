//! The packets of real programs.

use super::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{Bytes, Duration, Instant};
use settings::Settings;
use std::collections::VecDeque;
use std::sync::Arc;
use trace::{Tape, TapePacket};
use wire::{RealPacket, Unreadable};

/// The largest IP packet that a port takes: the MTU of Ethernet (RFC 894).
const MTU: Bytes = Bytes(1500);
/// Packets per second that are planned for while a program runs.
const LIVE_PER_S: f64 = 1000.0;

/// IP packets of real programs, which enter at the sender: while the programs run in `simoom
/// emulate`, or from the tape that it wrote. Each has its own size, DSCP and ECN field. A flow
/// without a tape sends nothing in other commands.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Port {
    /// The tape, relative to the folder of the scenario; none for the packets of a running program.
    #[setting(default = String::new())]
    pub file: String,
    /// The interface of the tape whose packets it sends, from 0.
    #[setting(default = 0, range = 0..=65_535)]
    pub interface: u32,
    /// A packet that takes longer than this, or does not arrive, is late.
    #[setting(key = "deadline_ms", default = 150.0, range = 0.001..=1e6)]
    pub deadline: Duration,
    /// The packets of the tape.
    #[setting(skip)]
    pub packets: Arc<[TapePacket]>,
}

impl Port {
    /// Reads the content of the file.
    ///
    /// # Errors
    /// Why it is not a tape with this interface.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), String> {
        let tape = Tape::read(bytes)?;
        let (interface, flows) = (self.interface as usize, tape.flows.len());
        let flow = tape.flows.into_iter().nth(interface).ok_or_else(|| {
            format!("has {flows} interfaces, from 0, and interface {interface} is asked for")
        })?;
        if let Some(place) = flow.packets.iter().position(|it| header(it).is_err()) {
            return Err(format!("has a packet of {}, number {place}, that is not IPv4", flow.name));
        }
        self.packets = flow.packets;
        Ok(())
    }
}

impl TrafficModel for Port {
    fn transport(&self) -> Transport {
        let largest = self.packets.iter().map(|packet| packet.len).max();
        let payload = largest.map_or(MTU, |largest| Bytes(largest.into()));
        let size = DatagramSize { payload, header: Bytes::ZERO, deadline: self.deadline };
        let lasts = self.packets.last().map(|last| (last.at - Instant::ZERO).as_secs_f64());
        let per_s = lasts.map_or(LIVE_PER_S, |lasts| self.packets.len() as f64 / lasts.max(1.0));
        Transport::Udp(size, Pace::PerSecond(per_s))
    }

    fn source(&self, _: &Origin<'_>) -> Box<dyn Source> {
        let read = |packet: &TapePacket| {
            (packet.at, header(packet).expect("the packets of a tape are read"))
        };
        Box::new(Entrance { waiting: self.packets.iter().map(read).collect() })
    }

    fn tape(&self) -> Option<Arc<[TapePacket]>> {
        (!self.file.is_empty()).then(|| Arc::clone(&self.packets))
    }
}

fn header(packet: &TapePacket) -> Result<RealPacket, Unreadable> {
    RealPacket::read(&packet.bytes, packet.len as usize)
}

/// Where packets enter, each at its instant.
#[derive(Debug)]
struct Entrance {
    waiting: VecDeque<(Instant, RealPacket)>,
}

impl Entrance {
    fn admit_next(&self, out: &mut Vec<Command>) {
        out.extend(self.waiting.front().map(|&(at, _)| Command::Admit(at)));
    }
}

impl Source for Entrance {
    fn on_event(&mut self, _: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { .. } => self.admit_next(out),
            Event::Offered { at, packet } => {
                self.waiting.push_back((at, packet));
                if self.waiting.len() == 1 {
                    self.admit_next(out);
                }
            }
            Event::Timer => {
                out.extend(self.waiting.pop_front().map(|(_, packet)| Command::Pass(packet)));
                self.admit_next(out);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};
    use trace::TapeWriter;

    /// A UDP datagram without data, to this port.
    fn datagram(port: u8) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        bytes.extend([0, 9, 0, port, 0, 8, 0, 0]);
        bytes
    }

    fn read(bytes: &[u8]) -> RealPacket {
        RealPacket::read(bytes, bytes.len()).expect("the packet has no fault")
    }

    fn tape() -> Vec<u8> {
        let mut out = Vec::new();
        let flows = ["a to b".to_owned(), "b to a".to_owned()];
        let mut tape = TapeWriter::new(&mut out, "", &flows).unwrap();
        tape.packet(1, Instant(7), &datagram(1), usize::MAX).unwrap();
        tape.packet(1, Instant(9), &datagram(2), RealPacket::READ).unwrap();
        out
    }

    #[test]
    fn a_tape_and_offers_make_the_same_commands() {
        let mut port = Port { interface: 1, ..Port::default() };
        port.read(&tape()).expect("the tape has no fault");
        let [first, second] = [1, 2].map(|port| read(&datagram(port)));
        let begin = (Instant::ZERO, Event::Begin { start: Instant::ZERO, stop: None });
        let timers = [(Instant(7), Event::Timer), (Instant(9), Event::Timer)];
        let expected = [
            Command::Admit(Instant(7)),
            Command::Pass(first),
            Command::Admit(Instant(9)),
            Command::Pass(second),
        ];
        let taped = [&[begin], &timers[..]].concat();
        assert_eq!(asked(&mut *source(&port), &taped), expected);

        let offer = |at, packet| (Instant(5), Event::Offered { at, packet });
        let live = [begin, offer(Instant(7), first), offer(Instant(9), second)];
        let live = [&live[..], &timers].concat();
        assert_eq!(asked(&mut *source(&Port::default()), &live), expected);
    }

    #[test]
    fn an_interface_that_the_tape_lacks_is_named() {
        let mut port = Port { interface: 2, ..Port::default() };
        let fault = port.read(&tape()).expect_err("there are two");
        assert_eq!(fault, "has 2 interfaces, from 0, and interface 2 is asked for");
    }

    #[test]
    fn a_tape_of_other_packets_is_refused() {
        let mut out = Vec::new();
        let mut tape = TapeWriter::new(&mut out, "", &["a to b".to_owned()]).unwrap();
        tape.packet(0, Instant(7), &[0x60; 40], usize::MAX).unwrap();
        let fault = Port::default().read(&out).expect_err("IPv6");
        assert_eq!(fault, "has a packet of a to b, number 0, that is not IPv4");
    }
}
