//! Saturated traffic: a datagram is always waiting.

use super::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{Bytes, Instant};
use settings::Settings;

/// Saturated traffic over UDP: a datagram is always waiting at the node.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Saturated {
    /// Size of each datagram: an IP packet of 1500 bytes, the payload of an Ethernet frame.
    #[setting(flatten, default = DatagramSize { payload: Bytes(1472), ..Default::default() })]
    pub size: DatagramSize,
}

impl TrafficModel for Saturated {
    fn transport(&self) -> Transport {
        Transport::Udp(self.size, Pace::Saturated)
    }

    fn source(&self, _: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Backlog { payload: self.size.payload })
    }
}

#[derive(Debug)]
struct Backlog {
    payload: Bytes,
}

impl Source for Backlog {
    fn on_event(&mut self, _: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => out.push(Command::Wake(start)),
            Event::Timer => out.push(Command::Fill),
            Event::Room => out.push(Command::Send(self.payload)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};

    #[test]
    fn wherever_there_is_room_there_is_a_datagram() {
        let mut source = source(&Saturated::default());
        let start = Instant(5);
        let begin = Event::Begin { start, stop: None };
        let events = [(Instant(0), begin), (start, Event::Timer), (start, Event::Room)];
        assert_eq!(
            asked(&mut *source, &events),
            [Command::Wake(start), Command::Fill, Command::Send(Bytes(1472))]
        );
    }
}
