//! One transfer.

use super::{Command, Event, MUCH, Origin, Source, TrafficModel, Transport};
use kernel::{Bytes, Instant};
use settings::Settings;

/// One transfer over TCP.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Bulk {
    /// The amount sent. Default: unlimited.
    #[setting(key = "size_bytes", range = 1..=MUCH)]
    pub size: Option<Bytes>,
}

/// The amount of an unlimited transfer: more than any run can send.
const ENDLESS: Bytes = Bytes(1 << 60);

impl TrafficModel for Bulk {
    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    fn source(&self, _: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Transfer { size: self.size })
    }
}

#[derive(Debug)]
struct Transfer {
    size: Option<Bytes>,
}

impl Source for Transfer {
    fn on_event(&mut self, _: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, stop } => {
                // The stop needs its own timer, since data that is already written would otherwise
                // be sent after it.
                out.extend(stop.map(Command::Wake));
                out.push(Command::Wake(start));
            }
            Event::Timer => {
                out.extend([Command::Open, Command::Write(self.size.unwrap_or(ENDLESS))]);
                out.extend(self.size.map(|_| Command::Close));
            }
            Event::Stop => out.push(Command::Abandon),
            Event::Delivered(_)
            | Event::Arrived { .. }
            | Event::Offered { .. }
            | Event::Acknowledged
            | Event::Closed
            | Event::Room => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};

    const START: Instant = Instant(5);
    const STOP: Instant = Instant(9);

    #[test]
    fn a_transfer_is_written_at_once_and_closed() {
        let mut source = source(&Bulk { size: Some(Bytes(7)) });
        let begin = Event::Begin { start: START, stop: None };
        let events = [(Instant(0), begin), (START, Event::Timer), (STOP, Event::Closed)];
        let written = [Command::Open, Command::Write(Bytes(7)), Command::Close];
        assert_eq!(asked(&mut *source, &events), [&[Command::Wake(START)], &written[..]].concat());
    }

    #[test]
    fn an_endless_transfer_is_abandoned_at_its_stop() {
        let mut source = source(&Bulk { size: None });
        let begin = Event::Begin { start: START, stop: Some(STOP) };
        let events = [(Instant(0), begin), (START, Event::Timer), (STOP, Event::Stop)];
        assert_eq!(
            asked(&mut *source, &events),
            [
                Command::Wake(STOP),
                Command::Wake(START),
                Command::Open,
                Command::Write(ENDLESS),
                Command::Abandon
            ]
        );
    }
}
