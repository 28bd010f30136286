//! What happened at the sender, as Python congestion controls see it.

use kernel::Duration;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sim::control::{self, Cause};

/// A delivery rate sample for a Python congestion control.
#[pyclass(frozen, module = "simoom._core")]
pub(crate) struct Delivery(control::Delivery);

#[pymethods]
impl Delivery {
    /// Data delivered over the time it took, in Mb/s.
    #[getter]
    fn rate_mbps(&self) -> f64 {
        self.0.rate.as_mbps()
    }

    /// Whether the sender was application-limited meanwhile, so that the path may be faster.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }

    /// Segments that had been delivered when the acknowledged one left. A round trip ends when this
    /// reaches the value that `total` had at its beginning.
    #[getter]
    fn prior(&self) -> f64 {
        self.0.prior.0
    }

    /// Segments that have been delivered so far.
    #[getter]
    fn total(&self) -> f64 {
        self.0.total.0
    }

    /// Segments in flight once the acknowledged one had left.
    #[getter]
    fn in_flight(&self) -> f64 {
        self.0.in_flight.0
    }

    /// Segments newly considered lost since the acknowledged one left.
    #[getter]
    fn lost(&self) -> f64 {
        self.0.lost.0
    }
}

/// An acknowledgement for a Python congestion control. Python cannot change it. The object is
/// reused for the next acknowledgement if nothing else holds a reference to it.
#[pyclass(module = "simoom._core")]
pub(crate) struct Ack(pub(super) control::Ack);

#[pymethods]
impl Ack {
    /// Simulated time in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// Simulated time in whole nanoseconds, as the simulator counts it.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now.0
    }

    /// Segments that it newly acknowledges, cumulatively.
    #[getter]
    fn acked(&self) -> f64 {
        self.0.acked.0
    }

    /// Segments newly delivered, cumulatively or selectively.
    #[getter]
    fn delivered(&self) -> f64 {
        self.0.delivered.0
    }

    /// Segments newly considered lost.
    #[getter]
    fn lost(&self) -> f64 {
        self.0.lost.0
    }

    /// Segments still in flight.
    #[getter]
    fn in_flight(&self) -> f64 {
        self.0.in_flight.0
    }

    /// The round-trip sample in seconds, if it gave one.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(Duration::as_secs_f64)
    }

    /// The round-trip sample in whole nanoseconds, if it gave one.
    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        self.0.rtt.map(|rtt| rtt.0)
    }

    /// Smoothed round-trip time in seconds; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.0.srtt.as_secs_f64()
    }

    /// Smoothed round-trip time in whole nanoseconds; 0 before the first sample.
    #[getter]
    fn srtt_ns(&self) -> u64 {
        self.0.srtt.0
    }

    /// Minimum round-trip time of the connection in seconds; 0 before the first sample.
    #[getter]
    fn rtt_min_s(&self) -> f64 {
        self.0.rtt_min.as_secs_f64()
    }

    /// Minimum round-trip time of the connection in whole nanoseconds; 0 before the first sample.
    #[getter]
    fn rtt_min_ns(&self) -> u64 {
        self.0.rtt_min.0
    }

    /// The delivery rate sample, if the rate is sampled.
    #[getter]
    fn delivery(&self) -> Option<Delivery> {
        self.0.delivery.map(Delivery)
    }

    /// Whether the window must not grow on this acknowledgement: the window was not used, or
    /// recovery is in progress.
    #[getter]
    fn app_limited(&self) -> bool {
        !self.0.may_grow
    }

    /// Whether fast recovery is in progress.
    #[getter]
    fn recovery(&self) -> bool {
        self.0.recovery
    }

    /// Whether the data that was outstanding at a timeout is still being repaired.
    #[getter]
    fn after_timeout(&self) -> bool {
        self.0.after_timeout
    }

    /// The delay of the forward path and of the receiver in seconds, if there are timestamps.
    #[getter]
    fn forward_delay_s(&self) -> Option<f64> {
        self.0.forward_delay.map(Duration::as_secs_f64)
    }

    /// The delay of the forward path and of the receiver in whole nanoseconds, if there are
    /// timestamps.
    #[getter]
    fn forward_delay_ns(&self) -> Option<u64> {
        self.0.forward_delay.map(|delay| delay.0)
    }

    /// Whether it echoes a congestion mark.
    #[getter]
    fn ecn_echo(&self) -> bool {
        self.0.ecn_echo
    }

    /// Segments of `delivered` that were marked, if each mark is echoed individually.
    #[getter]
    fn marked(&self) -> f64 {
        self.0.marked.0
    }
}

/// A congestion event for a Python congestion control.
#[pyclass(frozen, module = "simoom._core")]
pub(crate) struct Loss(pub(super) control::Loss);

#[pymethods]
impl Loss {
    /// Simulated time in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// Simulated time in whole nanoseconds, as the simulator counts it.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now.0
    }

    /// Segments considered lost.
    #[getter]
    fn lost(&self) -> f64 {
        self.0.lost.0
    }

    /// Segments that were outstanding.
    #[getter]
    fn in_flight(&self) -> f64 {
        self.0.in_flight.0
    }

    /// Whether the timer had already expired for the same segment.
    #[getter]
    fn repeated(&self) -> bool {
        self.0.repeated
    }

    /// `"sack"` (a fast retransmit of any kind), `"timeout"` or `"ecn"`.
    #[getter]
    fn cause<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0.cause {
            Cause::FastRetransmit => pyo3::intern!(py, "sack"),
            Cause::Timeout => pyo3::intern!(py, "timeout"),
            Cause::Ecn => pyo3::intern!(py, "ecn"),
        }
    }
}

/// A data segment that leaves, for a Python congestion control.
#[pyclass(frozen, module = "simoom._core")]
pub(crate) struct Departing(pub(super) control::Departing);

#[pymethods]
impl Departing {
    /// Simulated time in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// Simulated time in whole nanoseconds, as the simulator counts it.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now.0
    }

    /// Its data in segments: 1 for a full segment.
    #[getter]
    fn size(&self) -> f64 {
        self.0.size.0
    }

    /// Segments that were in flight before it.
    #[getter]
    fn in_flight(&self) -> f64 {
        self.0.in_flight.0
    }

    /// Whether it is a retransmission.
    #[getter]
    fn resent(&self) -> bool {
        self.0.resent
    }
}
