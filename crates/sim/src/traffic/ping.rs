//! Echo requests, whose round-trip times are measured.

use super::cbr::Clock;
use super::{DatagramSize, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{Bytes, Duration};
use settings::Settings;
use wire::EchoProtocol;

/// Echo requests at a constant interval. The other end replies to each with as many bytes, in the
/// same access category (RFC 1122 section 3.2.2.6). The defaults are those of flent: the size that
/// `ping` sends, five times a second.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Ping {
    /// Time between two requests.
    #[setting(key = "interval_ms", default = 200.0, range = 0.1..=1e6)]
    pub interval: Duration,
    /// Data of a request, and of its reply.
    #[setting(key = "payload_bytes", default = 56, range = 0..=65_507)]
    pub payload: Bytes,
    /// ICMP or UDP, and IP headers of each (RFC 792, RFC 768 and RFC 791).
    #[setting(key = "header_bytes", default = 28, range = 0..=200)]
    pub header: Bytes,
    /// A request to which no reply comes within this time is lost. The round-trip time of a later
    /// reply counts.
    #[setting(key = "timeout_ms", default = 2000.0, range = 0.001..=1e6)]
    pub timeout: Duration,
    /// What carries requests and replies.
    pub protocol: EchoProtocol,
    /// How long the other end takes to reply.
    #[setting(key = "reply_after_ms", default = 0.0, range = 0..=60_000)]
    pub reply_after: Duration,
}

/// How the other end of a flow of echo requests replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replies {
    /// What carries requests and replies.
    pub protocol: EchoProtocol,
    /// How long after a request its reply is sent.
    pub after: Duration,
}

impl TrafficModel for Ping {
    fn transport(&self) -> Transport {
        let (payload, header, deadline) = (self.payload, self.header, self.timeout);
        let size = DatagramSize { payload, header, deadline };
        Transport::Udp(size, Pace::PerSecond(1.0 / self.interval.as_secs_f64()))
    }

    fn source(&self, _: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Clock { payload: self.payload, interval: self.interval })
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    fn echo(&self) -> Option<Replies> {
        Some(Replies { protocol: self.protocol, after: self.reply_after })
    }
}
