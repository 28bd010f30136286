//! Congestion control: how much may be in flight. One controller a file.

mod new_reno;

pub use new_reno::{Counting, NewReno};

use kernel::{BitRate, Duration, Instant, Segments};
use std::fmt::Debug;

/// New data was acknowledged, outside fast recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When the acknowledgement arrived.
    pub now: Instant,
    /// How much it newly acknowledges.
    pub acked: Segments,
    /// What is still outstanding after it.
    pub in_flight: Segments,
    /// The sample of the round-trip time it gave, if any.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Least round-trip time of the connection; zero before the first sample.
    pub rtt_min: Duration,
    /// The rate at which data is being delivered, where it is sampled.
    pub delivery: Option<BitRate>,
    /// Whether less was outstanding than the window allowed when it arrived, for want of data or
    /// by the receiver's window: the window was not tested and should not grow (RFC 7661 §4).
    pub app_limited: bool,
    /// Whether it echoes a congestion mark (RFC 3168).
    pub ecn_echo: bool,
}

/// How the sender came to know of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Duplicate or selective acknowledgements showed a hole.
    Sack,
    /// The retransmission timer expired: the window falls to one segment (RFC 5681 §3.1).
    Timeout,
    /// A router marked a packet (RFC 3168).
    Ecn,
}

/// Congestion: a loss or a mark, told once per window of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// When it was noticed.
    pub now: Instant,
    /// How it was noticed.
    pub cause: Cause,
    /// How much is taken for lost.
    pub lost: Segments,
    /// What was outstanding (RFC 5681's `FlightSize`, without what limited transmit sent).
    pub in_flight: Segments,
    /// Whether the same segment has timed out before, with no progress since: the threshold of
    /// slow start stays as it is (RFC 5681 §3.1).
    pub repeated: bool,
}

/// What lower layers can tell that TCP cannot see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hint {
    /// The link layer gave up on packets of this flow: a loss without congestion.
    LinkLoss {
        /// When it gave up.
        now: Instant,
        /// How much it dropped.
        lost: Segments,
    },
    /// The first hop's rate is now this.
    LinkRate(BitRate),
    /// The route changed at this time.
    RouteChanged(Instant),
}

/// How much may be in flight. What is lost, and when to retransmit, is the sender's business;
/// so is inflating the window during fast recovery (RFC 6582).
pub trait Control: Debug + Send {
    /// How much may be in flight; the sender takes less than one segment for one.
    fn window(&self) -> Segments;
    /// New data was acknowledged, outside fast recovery.
    fn on_ack(&mut self, ack: &Ack);
    /// A loss or a mark was noticed.
    fn on_loss(&mut self, loss: &Loss);
    /// A lower layer has something to tell.
    fn on_hint(&mut self, _hint: &Hint) {}
    /// The rate at which segments should leave, if they should be paced.
    fn pacing(&self) -> Option<BitRate> {
        None
    }
    /// Shows the controller's state by name. `ssthresh_segments` is where slow start ends, for
    /// those that have it.
    fn gauges(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}
