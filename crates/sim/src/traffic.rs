//! Traffic sources: which data a flow sends, and when.
//!
//! A source is a state machine that takes [`Event`]s and returns [`Command`]s. It does not depend
//! on the network; the world passes its commands to the flow's transport. Each kind of traffic is a
//! file in `traffic/`, with its settings, its state machine and their tests, and a line below.

mod size;
mod stock;

pub use size::*;
pub(crate) use stock::{Refill, Stock};

use kernel::{Bytes, Duration, Instant, Rng, Seed};
use settings::Settings;
use std::fmt::Debug;
use std::sync::Arc;
use trace::TapePacket;
use wire::{MediaKind, RealPacket};

settings::registry! {
    /// The traffic of a flow.
    pub enum Traffic: TrafficModel = Bulk;
    bulk: Bulk(Bulk),
    web: Web(Web),
    requests: Requests(Requests),
    writes: Writes(Writes),
    video: Video(Video),
    cbr: Cbr(Cbr),
    poisson: Poisson(Poisson),
    on_off: OnOff(OnOff),
    call: Call(Call),
    conference: Conference(Conference),
    game: Game(Game),
    ping: Ping(Ping),
    csv: Csv(CsvTraffic),
    port: Port(Port),
    saturated: Saturated(Saturated),
    #[cfg(feature = "toy")]
    toy: Toy(ToySourceConfig),
}

/// The properties of a source by its settings, for planning and building a run.
pub trait TrafficModel {
    /// The transport of the data.
    fn transport(&self) -> Transport;

    /// The source of one flow.
    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source>;

    /// The time between two messages, pauses or periods, if it is constant: sources that start
    /// together would stay in step. By default a flow starts at a random part of its interval.
    fn interval(&self) -> Option<Duration> {
        None
    }

    /// Whether it has sessions, whose delay is a result.
    fn has_sessions(&self) -> bool {
        false
    }

    /// The settings of its voice, if it has one, whose quality is a result.
    fn call(&self) -> Option<Call> {
        None
    }

    /// How often its receiver reports, if it is a conference, whose picture is a result.
    fn feedback(&self) -> Option<Duration> {
        None
    }

    /// How the other end replies if its datagrams are echo requests, whose round-trip times are a
    /// result.
    fn echo(&self) -> Option<Replies> {
        None
    }

    /// The packets of real programs that a tape has for it.
    fn tape(&self) -> Option<Arc<[TapePacket]>> {
        None
    }

    /// Whether it is a video, whose picture is a result.
    fn is_video(&self) -> bool {
        false
    }
}

/// The transport of a flow.
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
    /// At most this many per second.
    PerSecond(f64),
    /// Saturated: one always waits at the node of the source, whatever the network carries.
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
    /// A datagram that takes longer than this, or does not arrive, is late. The default is the
    /// delay that most voice and video bear (ITU-T G.114).
    #[setting(key = "deadline_ms", default = 150.0, range = 0.001..=1e6)]
    pub deadline: Duration,
}

impl DatagramSize {
    /// Size of the IP packet.
    pub fn packet(self) -> Bytes {
        self.payload + self.header
    }
}

/// The parameters of a source.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The seed of the run.
    pub seed: &'a Seed,
    /// The number of the flow.
    pub flow: u32,
    /// TCP rounds each write up to a multiple of this: one byte, or a full segment.
    pub unit: Bytes,
}

impl Origin<'_> {
    /// The flow's own random stream for a purpose.
    pub fn stream(&self, purpose: &'static str) -> Rng {
        self.seed.stream(purpose, self.flow)
    }
}

/// A source as a state machine.
pub trait Source: Debug + Send {
    /// An event occurs; the source appends its commands to `out`.
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>);

    /// What the viewer of a video has seen by now.
    fn viewed(&self, _now: Instant) -> Option<Viewed> {
        None
    }

    /// What the viewer of a conference has seen by now.
    fn seen(&self, _now: Instant) -> Option<Seen> {
        None
    }
}

/// An event for a source. After the stop of the flow only `Delivered`, `Acknowledged`, `Arrived`
/// and `Stop` occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run begins; the source asks for its first timer.
    Begin {
        /// When the flow starts.
        start: Instant,
        /// When it stops, if that is before the end of the run.
        stop: Option<Instant>,
    },
    /// The timer expired.
    Timer,
    /// The timer expired after the flow has stopped: nothing new may be sent.
    Stop,
    /// Over TCP, bytes in order reached the receiver's application.
    Delivered(Bytes),
    /// A packet of a conference has reached the other end.
    Arrived {
        /// What it has.
        kind: MediaKind,
        /// Its number in its direction.
        number: u64,
    },
    /// A real program sends a packet, which enters the network at this instant.
    Offered {
        /// The instant, after that of the packet before.
        at: Instant,
        /// What its header says.
        packet: RealPacket,
    },
    /// All that was written to the connection is acknowledged.
    Acknowledged,
    /// The sender's end of the connection is closed.
    Closed,
    /// One more datagram may wait at the node of a saturated source; see [`Command::Fill`].
    Room,
}

/// The events of a run at which a source acts, or the other end that replies to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SourceTimer {
    /// That of the source.
    Own,
    /// The destination of its echo requests replies.
    Reply,
    /// A packet of a real program enters, after what other sources send. So its place does not
    /// depend on when it was scheduled, and a tape repeats an emulation.
    Admission,
}

/// A command of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Requests `Timer` at this instant, or `Stop` if the flow has stopped by then.
    Wake(Instant),
    /// Replaces the flow's connection by a new one.
    Renew,
    /// Opens the connection.
    Open,
    /// Writes data to the connection.
    Write(Bytes),
    /// Closes the connection: nothing more will be written.
    Close,
    /// Withdraws the data that was written and not sent yet.
    Abandon,
    /// Sends a datagram with this much user data.
    Send(Bytes),
    /// Sends a packet of a conference, or a report of its receiver.
    Media {
        /// What it has.
        kind: MediaKind,
        /// Bytes of data, with the RTP header.
        len: u16,
        /// Its number among the audio packets, or that of its video frame.
        unit: u32,
        /// Its number in its direction.
        number: u64,
    },
    /// Requests `Timer` at this instant, after the timers of all other sources.
    Admit(Instant),
    /// Sends a packet of a real program.
    Pass(RealPacket),
    /// Requests `Room` for each datagram that may wait at the node, now and from now on.
    Fill,
    /// A session that began at this instant has ended.
    Session(Instant),
}

impl Traffic {
    /// Whether the source is saturated: a datagram always waits at its node.
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

    /// The commands of a source for these events, one after the other.
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
            if traffic.name() == "port" {
                assert_eq!(asked, [], "it sends what is offered");
                continue;
            }
            let [Command::Wake(at)] = asked[..] else { panic!("{}: {asked:?}", traffic.name()) };
            assert!(at >= Instant(5), "{}", traffic.name());
        }
    }
}
