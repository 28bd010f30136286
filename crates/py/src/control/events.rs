//! What happened at the sender, as Python congestion controls see it.

use kernel::Duration;
use pyo3::prelude::*;
use sim::control::{self, Cause};

/// A class of Python whose properties are read from an event of the simulator.
macro_rules! event {
    (
        $(#[$about:meta])* $class:ident($of:ty) as $event:ident:
        $($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*
    ) => {
        $(#[$about])*
        pub(crate) struct $class(pub(super) $of);

        #[pymethods]
        impl $class {
            $($(#[$doc])* #[getter] fn $name(&self) -> $type { let $event = &self.0; $value })*
        }
    };
}

event! {
    /// A delivery rate sample for a Python congestion control.
    #[pyclass(frozen, module = "simoom._core")]
    Delivery(control::Delivery) as event:

    /// Data delivered over the time it took, in Mb/s.
    rate_mbps: f64 = event.rate.as_mbps();

    /// Whether the sender was application-limited meanwhile, so that the path may be faster.
    app_limited: bool = event.app_limited;

    /// Segments that had been delivered when the acknowledged one left. A round trip ends when this
    /// reaches the value that `total` had at its beginning.
    prior: f64 = event.prior.0;

    /// Segments that have been delivered so far.
    total: f64 = event.total.0;

    /// Segments in flight once the acknowledged one had left.
    in_flight: f64 = event.in_flight.0;

    /// Segments newly considered lost since the acknowledged one left.
    lost: f64 = event.lost.0;
}

event! {
    /// An acknowledgement for a Python congestion control. Python cannot change it. The object is
    /// reused for the next acknowledgement if nothing else holds a reference to it.
    #[pyclass(module = "simoom._core")]
    Ack(control::Ack) as event:

    /// Simulated time in seconds.
    now_s: f64 = event.now.as_secs_f64();

    /// Simulated time in whole nanoseconds, as the simulator counts it.
    now_ns: u64 = event.now.0;

    /// Segments that it newly acknowledges, cumulatively.
    acked: f64 = event.acked.0;

    /// Segments newly delivered, cumulatively or selectively.
    delivered: f64 = event.delivered.0;

    /// Segments newly considered lost.
    lost: f64 = event.lost.0;

    /// Segments still in flight.
    in_flight: f64 = event.in_flight.0;

    /// The round-trip sample in seconds, if it gave one.
    rtt_s: Option<f64> = event.rtt.map(Duration::as_secs_f64);

    /// The round-trip sample in whole nanoseconds, if it gave one.
    rtt_ns: Option<u64> = event.rtt.map(|rtt| rtt.0);

    /// Smoothed round-trip time in seconds; 0 before the first sample.
    srtt_s: f64 = event.srtt.as_secs_f64();

    /// Smoothed round-trip time in whole nanoseconds; 0 before the first sample.
    srtt_ns: u64 = event.srtt.0;

    /// Minimum round-trip time of the connection in seconds; 0 before the first sample.
    rtt_min_s: f64 = event.rtt_min.as_secs_f64();

    /// Minimum round-trip time of the connection in whole nanoseconds; 0 before the first sample.
    rtt_min_ns: u64 = event.rtt_min.0;

    /// The delivery rate sample, if the rate is sampled.
    delivery: Option<Delivery> = event.delivery.map(Delivery);

    /// Whether the window must not grow on this acknowledgement: the window was not used, or
    /// recovery is in progress.
    app_limited: bool = !event.may_grow;

    /// Whether fast recovery is in progress.
    recovery: bool = event.recovery;

    /// Whether the data that was outstanding at a timeout is still being repaired.
    after_timeout: bool = event.after_timeout;

    /// The delay of the forward path and of the receiver in seconds, if there are timestamps.
    forward_delay_s: Option<f64> = event.forward_delay.map(Duration::as_secs_f64);

    /// The delay of the forward path and of the receiver in whole nanoseconds, if there are
    /// timestamps.
    forward_delay_ns: Option<u64> = event.forward_delay.map(|delay| delay.0);

    /// Whether it echoes a congestion mark.
    ecn_echo: bool = event.ecn_echo;

    /// Segments of `delivered` that were marked, if each mark is echoed individually.
    marked: f64 = event.marked.0;
}

event! {
    /// A congestion event for a Python congestion control.
    #[pyclass(frozen, module = "simoom._core")]
    Loss(control::Loss) as event:

    /// Simulated time in seconds.
    now_s: f64 = event.now.as_secs_f64();

    /// Simulated time in whole nanoseconds, as the simulator counts it.
    now_ns: u64 = event.now.0;

    /// Segments considered lost.
    lost: f64 = event.lost.0;

    /// Segments that were outstanding.
    in_flight: f64 = event.in_flight.0;

    /// Whether the timer had already expired for the same segment.
    repeated: bool = event.repeated;

    /// `"sack"` (a fast retransmit of any kind), `"timeout"` or `"ecn"`.
    cause: &'static str = match event.cause {
        Cause::FastRetransmit => "sack",
        Cause::Timeout => "timeout",
        Cause::Ecn => "ecn",
    };
}

event! {
    /// A data segment that leaves, for a Python congestion control.
    #[pyclass(frozen, module = "simoom._core")]
    Departing(control::Departing) as event:

    /// Simulated time in seconds.
    now_s: f64 = event.now.as_secs_f64();

    /// Simulated time in whole nanoseconds, as the simulator counts it.
    now_ns: u64 = event.now.0;

    /// Its data in segments: 1 for a full segment.
    size: f64 = event.size.0;

    /// Segments that were in flight before it.
    in_flight: f64 = event.in_flight.0;

    /// Whether it is a retransmission.
    resent: bool = event.resent;
}
