//! Congestion control: how much may be in flight. A controller is one file, which holds its
//! settings, the machine and its tests, and one line in the registry.

#[cfg(test)]
mod fixture;
mod hystart;
mod max_filter;
mod path_model;
mod rounds;
mod slow_start;

pub use slow_start::Counting;

use crate::Config;
use kernel::{BitRate, Duration, Instant, Segments};
use std::fmt::Debug;
use wire::FlowId;

settings::registry! {
    /// Congestion control.
    #[settings(name = "Control")]
    pub enum ControlSettings: Controller = NewReno;
    new_reno: NewReno(NewRenoConfig),
    cubic: Cubic(CubicConfig),
    westwood: Westwood(WestwoodConfig),
    vegas: Vegas(VegasConfig),
    few: Few(FewConfig),
    afw: Afw(AfwConfig),
    lt: Lt(LtConfig),
    bbr: Bbr(BbrConfig),
    bbr3: Bbr3(Bbr3Config),
    cross_layer: CrossLayer(CrossLayerConfig),
    python: Python(PythonConfig),
    #[cfg(feature = "toy")]
    toy: Toy(ToyControlConfig),
}

/// The settings of a controller.
pub trait Controller {
    /// The controller of a connection.
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control>;

    /// The same as one whose window another may set; `None` if no other may.
    fn steerable(&self, _config: &Config) -> Option<Box<dyn Steerable>> {
        None
    }

    /// Where it is found, if it comes from outside.
    fn import_path(&self) -> Option<&str> {
        None
    }
}

/// The connection that a controller is for.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// Its settings.
    pub config: &'a Config,
    /// Its flow.
    pub flow: FlowId,
    /// Who makes controllers from outside.
    pub external: &'a dyn External,
}

/// How fast data was delivered, from the most recently sent segment that was newly delivered
/// (Cheng, Cardwell, Yeganeh and Jacobson, "Delivery Rate Estimation",
/// draft-cheng-iccrg-delivery-rate-estimation-02).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Data delivered over the time it took.
    pub rate: BitRate,
    /// Whether the sender had nothing to send meanwhile, so that the path may be faster.
    pub app_limited: bool,
    /// All that was delivered when that segment left; a round trip ends when this reaches what
    /// `total` was at its beginning.
    pub prior: Segments,
    /// All that has been delivered by now.
    pub total: Segments,
    /// What was in flight once that segment had left.
    pub in_flight: Segments,
    /// What has been taken for lost since that segment left.
    pub lost: Segments,
}

/// An acknowledgement that acknowledges new data, cumulatively or selectively.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When the acknowledgement arrived.
    pub now: Instant,
    /// How much it newly acknowledges, cumulatively; zero where only selective blocks are new.
    pub acked: Segments,
    /// How much has newly arrived by what it says, cumulatively or selectively.
    pub delivered: Segments,
    /// What is newly taken for lost by it.
    pub lost: Segments,
    /// What is still in flight after it.
    pub in_flight: Segments,
    /// The sample of the round-trip time it gave, if any.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Least round-trip time of the connection; zero before the first sample.
    pub rtt_min: Duration,
    /// The rate at which data is being delivered, where it is sampled.
    pub delivery: Option<Delivery>,
    /// Whether the window may grow by this acknowledgement. It may not where less was outstanding
    /// than the window allows, for want of data or by the receiver's window, so that the window was
    /// not tested (RFC 7661 §4); nor during fast recovery; nor where a congestion mark is echoed.
    pub may_grow: bool,
    /// Whether fast recovery is under way. The window that the controller gives is then what
    /// proportional rate reduction steers to, and the model of a controller that has one can learn.
    pub recovery: bool,
    /// Whether it echoes a congestion mark (RFC 3168).
    pub ecn_echo: bool,
    /// How much of `delivered` was marked, where marks are echoed one by one.
    pub marked: Segments,
}

/// How the sender detected congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Acknowledgements showed a loss, which is retransmitted at once: three duplicates (RFC 5681),
    /// or selective blocks by count (RFC 6675) or by time (RFC 8985).
    FastRetransmit,
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
    /// The first hop's rate is now this.
    LinkRate(BitRate),
}

/// How much may be in flight. What is lost, and when to retransmit, is the sender's business;
/// so is inflating the window during fast recovery (RFC 6582).
pub trait Control: Debug + Send {
    /// How much may be in flight; the sender takes less than one segment for one.
    fn window(&self) -> Segments;
    /// New data was acknowledged; the window may grow only where `ack.may_grow` is true.
    fn on_ack(&mut self, ack: &Ack);
    /// A loss or a mark was noticed.
    fn on_loss(&mut self, loss: &Loss);
    /// The last loss was none: what was resent had arrived (RFC 5682, RFC 3708). The window of
    /// before is restored by controllers that remember it.
    fn on_undo(&mut self) {}
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

/// A controller whose window another one may set, as [`CrossLayer`] does.
pub trait Steerable: Control {
    /// Sets the window, and ends slow start there: congestion avoidance goes on from it.
    fn steer(&mut self, window: Segments);
}
