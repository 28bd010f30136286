//! A source for the test of extensions, which sends all its datagrams at once.

use crate::traffic::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::Instant;
use settings::Settings;

/// Datagrams over UDP, all at once.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ToySourceConfig {
    /// The number of datagrams.
    #[setting(default = 3, range = 1..=100)]
    pub packets: u32,
    /// Their size.
    #[setting(flatten)]
    pub size: DatagramSize,
}

impl TrafficModel for ToySourceConfig {
    fn transport(&self) -> Transport {
        Transport::Udp(self.size, Pace::PerSecond(f64::from(self.packets)))
    }

    fn source(&self, _: &Origin<'_>) -> Box<dyn Source> {
        Box::new(ToySource(self.clone()))
    }
}

#[derive(Debug)]
struct ToySource(ToySourceConfig);

impl Source for ToySource {
    fn on_event(&mut self, _: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => out.push(Command::Wake(start)),
            Event::Timer => {
                out.extend((0..self.0.packets).map(|_| Command::Send(self.0.size.payload)));
            }
            _ => {}
        }
    }
}
