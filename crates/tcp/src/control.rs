//! Congestion control: how much data may be in flight. A congestion control is one file, with its
//! settings, its implementation and its tests, and one line in the registry.
//!
//! A control with a model of the path may own its window ([`Wants::own_window`]): the RFCs write
//! the rules that limit it further for controls with ssthresh. It repairs losses by its own rule.
//! [`Event::Departing`], [`Wants::timer`] and [`Event::Timer`] let a control act without an ACK; a
//! control that wants delivery records is told of each lost segment with the state in which it left
//! ([`Event::Lost`]).

mod first_hystart;
#[cfg(test)]
mod fixture;
mod hystart;
mod max_filter;
mod path_model;
mod rounds;
mod slow_start;

pub use slow_start::{Counting, HyStartRule};

use crate::{Config, Feedback};
use kernel::{BitRate, Duration, Instant, Segments};
use std::fmt::Debug;
use wire::{Flags, FlowId};

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
    dctcp: Dctcp(DctcpConfig),
    prague: Prague(PragueConfig),
    cross_layer: CrossLayer(CrossLayerConfig),
    fixed: Fixed(FixedWindowConfig),
    python: Python(PythonConfig),
    #[cfg(feature = "toy")]
    toy: Toy(ToyControlConfig),
}

impl ControlSettings {
    /// The settings with the rules of the endpoint where they have no value.
    #[must_use]
    pub fn with_endpoint(self, config: &Config) -> Self {
        match (self, config.linux()) {
            (Self::Bbr(bbr), Some(linux)) => Self::Bbr(bbr.with_endpoint(linux)),
            (Self::Cubic(cubic), Some(linux)) => Self::Cubic(cubic.with_endpoint(linux)),
            (other, _) => other,
        }
    }
}

/// The settings of a congestion control.
pub trait Controller {
    /// Builds the congestion control of a connection.
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control>;

    /// The same as a control whose window another one may set; `None` if it does not allow this.
    fn steerable(&self, _config: &Config) -> Option<Box<dyn Steerable>> {
        None
    }

    /// The congestion window, if only these settings determine it.
    fn set_window(&self) -> Option<Segments> {
        None
    }

    /// These settings, if the control is defined outside the crate.
    fn external(&self) -> Option<&PythonConfig> {
        None
    }
}

/// The connection that a congestion control is for.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// Its settings.
    pub config: &'a Config,
    /// Its flow.
    pub flow: FlowId,
    /// The factory of controls that are defined outside the crate.
    pub external: &'a dyn External,
}

/// A delivery rate sample, taken at the most recently sent of the newly delivered segments (Cheng,
/// Cardwell, Yeganeh and Jacobson, "Delivery Rate Estimation",
/// draft-cheng-iccrg-delivery-rate-estimation-02).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// The delivery rate: the data delivered divided by the time it took.
    pub rate: BitRate,
    /// Whether the sender was application-limited meanwhile, so that the path may be faster.
    pub app_limited: bool,
    /// The amount delivered before that segment left. A round trip ends when this reaches the value
    /// that `total` had at its beginning.
    pub prior: Segments,
    /// The amount delivered so far.
    pub total: Segments,
    /// The amount in flight once that segment had left.
    pub in_flight: Segments,
    /// The amount newly considered lost since that segment left.
    pub lost: Segments,
}

/// An acknowledgement that acknowledges new data, cumulatively or selectively.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When the acknowledgement arrived.
    pub now: Instant,
    /// How much it newly acknowledges cumulatively; zero if it only adds SACK blocks.
    pub acked: Segments,
    /// How much it newly reports as delivered, cumulatively or selectively.
    pub delivered: Segments,
    /// How much is newly considered lost on this acknowledgement.
    pub lost: Segments,
    /// How much is still in flight after it.
    pub in_flight: Segments,
    /// The RTT sample that it gave, if any.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Minimum round-trip time of the connection; zero before the first sample.
    pub rtt_min: Duration,
    /// The delivery rate sample, if the rate is sampled.
    pub delivery: Option<Delivery>,
    /// When the next segment may leave at the pacing rate; in the past if it may leave now.
    pub due: Instant,
    /// Whether the window may grow on this acknowledgement. It may not if less was outstanding than
    /// the window allows, because data or receive window lacked, so that the window was not
    /// validated (RFC 7661 §4). It may not during fast recovery either, nor if the acknowledgement
    /// echoes a congestion mark.
    pub may_grow: bool,
    /// Whether fast recovery is in progress. Unless the congestion control owns its window
    /// ([`Wants::own_window`]), the window is then the target of proportional rate reduction.
    pub recovery: bool,
    /// Whether the data that was outstanding at a timeout is still being repaired.
    pub after_timeout: bool,
    /// The time from the departure of a data segment to that of this acknowledgement, if the
    /// connection uses timestamps: the delay of the forward path and of the receiver. The clocks of
    /// both ends agree.
    pub forward_delay: Option<Duration>,
    /// Whether it echoes a congestion mark (RFC 3168).
    pub ecn_echo: bool,
    /// How much of `delivered` was marked: all of it if it echoes a mark, or what accurate ECN
    /// counts.
    pub marked: Segments,
}

/// How the sender detected congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Acknowledgements indicated a loss, which is retransmitted at once: by three duplicate ACKs
    /// (RFC 5681), or by SACK blocks and count (RFC 6675) or time (RFC 8985).
    FastRetransmit,
    /// The retransmission timer expired: the window falls to one segment (RFC 5681 §3.1).
    Timeout,
    /// A router marked a packet (RFC 3168).
    Ecn,
}

/// Congestion: a loss or a mark, reported once per window of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// When the sender detected it.
    pub now: Instant,
    /// How the sender detected it.
    pub cause: Cause,
    /// How much is considered lost.
    pub lost: Segments,
    /// How much was outstanding (RFC 5681's `FlightSize`, without the segments of limited
    /// transmit).
    pub in_flight: Segments,
    /// Whether the timer had already expired for the same segment: the slow start threshold then
    /// stays as it is (RFC 5681 §3.1).
    pub repeated: bool,
}

/// A segment that is newly considered lost, with the state of the connection when it last left (the
/// packet state of draft-ietf-ccwg-bbr).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// When the sender detected the loss.
    pub now: Instant,
    /// Its first sequence number, and one past its last.
    pub start: u64,
    /// See `start`.
    pub end: u64,
    /// Its size.
    pub size: Segments,
    /// The amount delivered so far.
    pub total: Segments,
    /// The amount delivered before it left.
    pub prior: Segments,
    /// The amount in flight once it had left.
    pub in_flight: Segments,
    /// The amount newly considered lost since it left, with itself.
    pub lost: Segments,
    /// Whether the sender was application-limited when it left.
    pub app_limited: bool,
}

/// A data segment that leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departing {
    /// When it leaves.
    pub now: Instant,
    /// Its user data.
    pub size: Segments,
    /// How much was in flight before it.
    pub in_flight: Segments,
    /// Whether it is a retransmission.
    pub resent: bool,
}

/// Information of lower layers that TCP cannot observe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hint {
    /// The rate of the first hop is now this.
    LinkRate(BitRate),
    /// The number of hops of the route to the receiver is now this.
    RouteHops(u8),
    /// The congestion window is to be this, for a control whose window is set from outside.
    Window(Segments),
}

/// What a congestion control may learn beside acknowledgements and losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// The connection is established with this congestion feedback.
    Connected(Feedback),
    /// A segment is newly considered lost, before [`Control::on_loss`] and [`Control::on_ack`] tell
    /// of the loss. Only a control that wants [`Wants::delivery`] is told, and only if the receiver
    /// sends selective acknowledgements. A change of the window takes effect with the next event.
    Lost(&'a Lost),
    /// A data segment leaves. A change of the window takes effect with the next event.
    Departing(&'a Departing),
    /// The time of [`Wants::timer`] has come.
    Timer(Instant),
    /// The last loss was spurious: the data had arrived (RFC 5682, RFC 3708). A control that has
    /// saved its previous window restores it.
    Undo,
    /// A lower layer passes a hint.
    Hint(&'a Hint),
}

/// What a congestion control wants of its sender, beside a window. The sender asks after each
/// event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wants {
    /// To set its window in each state by itself, as a control with a model of the path does.
    /// Otherwise the sender limits it further: by proportional rate reduction (RFC 9937) or the
    /// deflation of `NewReno` during fast recovery, by a restart after an idle time (RFC 5681 §4.1,
    /// RFC 7661), and by slow start after a spurious timeout (RFC 4015).
    pub own_window: bool,
    /// Delivery rate samples with acknowledgements, and the records of lost segments. The sender
    /// asks once.
    pub delivery: bool,
    /// To answer marks by itself, from [`Ack::marked`]: the sender then reports none by
    /// [`Control::on_loss`], and marks do not make [`Ack::may_grow`] false. The sender asks at the
    /// start and when the connection is established.
    pub marks: bool,
    /// The ECN field of data: `Flags::ECT` is ECT(0), with `Flags::ECT1` too it is ECT(1), which
    /// needs accurate feedback.
    pub ect: Flags,
    /// The pacing rate, if the control sets one.
    pub pacing: Option<BitRate>,
    /// How long the segments that pacing lets leave together may take at the pacing rate. The
    /// sender asks when the connection is established.
    pub burst: Duration,
    /// When the control is to be called with [`Event::Timer`], if at all.
    pub timer: Option<Instant>,
}

impl Default for Wants {
    fn default() -> Self {
        Self {
            own_window: false,
            delivery: false,
            marks: false,
            ect: Flags::ECT,
            pacing: None,
            burst: Duration::ZERO,
            timer: None,
        }
    }
}

/// A congestion control: how much data may be in flight. The sender detects losses, decides when to
/// retransmit, and inflates the window during fast recovery (RFC 6582).
pub trait Control: Debug + Send {
    /// The congestion window. The sender treats a window of less than one segment as one segment.
    fn window(&self) -> Segments;
    /// New data was acknowledged. The window may grow only if `ack.may_grow` is true.
    fn on_ack(&mut self, ack: &Ack);
    /// The sender detected a loss or received a congestion mark.
    fn on_loss(&mut self, loss: &Loss);
    /// Anything else of which a control may learn; most controls look at [`Event::Undo`] alone.
    fn on_event(&mut self, _event: Event<'_>) {}
    /// What the control wants of its sender.
    fn wants(&self) -> Wants {
        Wants::default()
    }
    /// Reports the state by name. `ssthresh_segments` is the slow start threshold, for controls
    /// that have one.
    fn gauges(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
    /// The slow start threshold in segments; `None` while it is arbitrarily high. A control may
    /// know it without the search among its gauges.
    fn ssthresh(&self) -> Option<f64> {
        let mut ssthresh = None;
        self.gauges(&mut |name, value| {
            if name == "ssthresh_segments" && value.is_finite() {
                ssthresh = Some(value);
            }
        });
        ssthresh
    }
}

/// A congestion control whose window another one may set, as [`CrossLayer`] does.
pub trait Steerable: Control {
    /// Sets the window and ends slow start; congestion avoidance continues from this window.
    fn steer(&mut self, window: Segments);
}
