//! Traffic sources: what a flow has to send, and when.
//!
//! A source is a machine: [`Event`]s in, [`Command`]s out. It knows nothing of the network; the
//! world carries its commands to the flow's transport. Each kind of traffic is a file in
//! `traffic/`, with its settings, its machine and their tests, and a line below.

mod size;

pub use size::*;

use kernel::{Bytes, Instant, Rng, Seed};
use settings::Settings;
use std::fmt::Debug;

settings::registry! {
    /// What there is to send.
    pub enum Traffic: TrafficModel = Bulk;
    bulk: Bulk(Bulk),
    web: Web(Web),
    cbr: Cbr(Cbr),
    saturated: Saturated(Saturated),
    #[cfg(feature = "toy")]
    toy: Toy(ToySourceConfig),
}

/// What the settings of a source answer to those who plan a run and build it.
pub trait TrafficModel {
    /// What the data travels over.
    fn transport(&self) -> Transport;

    /// The source of one flow.
    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source>;

    /// Whether it has sessions, the delay of which is a result.
    fn has_sessions(&self) -> bool {
        false
    }
}

/// What data travels over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transport {
    /// A TCP connection.
    Tcp,
    /// UDP datagrams, all of one size.
    Udp(DatagramSize, Pace),
}

/// How many datagrams a source sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At most so many a second.
    PerSecond(f64),
    /// One always waits at the node of the source, whatever the network carries.
    Saturated,
}

/// Size of the datagrams of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct DatagramSize {
    /// User data of each datagram.
    #[setting(key = "payload_bytes", default = 1000, range = 1..=1_000_000)]
    pub payload: Bytes,
    /// UDP and IP headers of each datagram (RFC 768 and RFC 791).
    #[setting(key = "header_bytes", default = 28, range = 0..=200)]
    pub header: Bytes,
}

impl DatagramSize {
    /// Size of the IP packet.
    pub fn packet(self) -> Bytes {
        self.payload + self.header
    }
}

/// What a source is made with.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The seed of the run.
    pub seed: &'a Seed,
    /// The number of the flow.
    pub flow: u32,
    /// TCP fills what is written up to a multiple of this: one byte, or a full segment.
    pub unit: Bytes,
}

impl Origin<'_> {
    /// The flow's own random stream for a purpose.
    pub fn stream(&self, purpose: &'static str) -> Rng {
        self.seed.stream(purpose, self.flow)
    }
}

/// A source as a machine.
pub trait Source: Debug + Send {
    /// Something happens; what the source asks for is appended to `out`.
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>);
}

/// What happens to a source. After the flow's stop only `Delivered`, `Acknowledged` and `Stop`
/// come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run begins; the source asks for its first timer.
    Begin {
        /// When the flow starts.
        start: Instant,
        /// When it stops, if that is before the end of the run.
        stop: Option<Instant>,
    },
    /// A timer has run out.
    Timer,
    /// A timer has run out, and the flow has stopped: nothing new is to be sent.
    Stop,
    /// Bytes in order have reached the receiver's application, over TCP.
    Delivered(Bytes),
    /// All that was written to the connection is acknowledged.
    Acknowledged,
    /// The sender's side of the connection has closed.
    Closed,
    /// One more datagram may wait at the node of a saturated source; see [`Command::Fill`].
    Room,
}

/// What a source asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `Timer` is to come at this instant, or `Stop` if the flow has stopped by then.
    Wake(Instant),
    /// The flow's connection is replaced by a new one.
    Renew,
    /// The connection is opened.
    Open,
    /// Data is written to the connection.
    Write(Bytes),
    /// Nothing more will be written.
    Close,
    /// What is written but not sent yet is never sent.
    Abandon,
    /// A datagram with so much user data is sent.
    Send(Bytes),
    /// `Room` is to come for each datagram that may wait at the node, now and from now on.
    Fill,
    /// A session that began at this instant has ended.
    Session(Instant),
}

impl Traffic {
    /// Whether a datagram always waits at the node of the source.
    pub fn is_saturated(&self) -> bool {
        matches!(self.get().transport(), Transport::Udp(_, Pace::Saturated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::Choice;

    /// The source of a flow.
    pub(super) fn source(model: &dyn TrafficModel) -> Box<dyn Source> {
        let seed = Seed { root: 1, replication: 0 };
        model.source(&Origin { seed: &seed, flow: 0, unit: Bytes(1) })
    }

    /// What a source asks for when these events happen, one after the other.
    pub(super) fn asked(source: &mut dyn Source, events: &[(Instant, Event)]) -> Vec<Command> {
        let mut out = Vec::new();
        for &(now, event) in events {
            source.on_event(now, event, &mut out);
        }
        out
    }

    #[test]
    fn every_source_begins_with_a_timer() {
        for traffic in Traffic::all() {
            let mut source = source(traffic.get());
            let begin = Event::Begin { start: Instant(5), stop: None };
            let asked = asked(&mut *source, &[(Instant(0), begin)]);
            let [Command::Wake(at)] = asked[..] else { panic!("{}: {asked:?}", traffic.name()) };
            assert!(at >= Instant(5), "{}", traffic.name());
        }
    }
}
