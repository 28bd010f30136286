//! User-defined congestion controls in Python, which the run calls.

use kernel::{BitRate, Duration, Instant, Segments};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use sim::Plan;
use sim::control::{self, Cause, Config, Control, External, Hint, Loss, NoExternal};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pyo3::import_exception!(simoom.control, NoControllerError);

/// The first exception that a congestion control raised, with its flow and time; before the first
/// event there is no time.
#[derive(Debug, Default)]
pub(crate) struct Failure(OnceLock<(PyErr, u32, Option<Instant>)>);

impl Failure {
    /// The exception, with a note that has the scenario's path, the simulated time and the flow.
    pub(crate) fn take(&self, py: Python<'_>, plan: &Plan) -> Option<PyErr> {
        let (error, flow, when) = self.0.get()?;
        let when = match when {
            Some(now) => format!(" at {:.9} s", now.as_secs_f64()),
            None => ", while it was made".to_owned(),
        };
        let of = &plan.flows[*flow as usize];
        let note = format!("in flows[{}].control{when} (flow {flow}, {})", of.group, of.name);
        // If the note cannot be added, the exception is still reported.
        let _ = error.value(py).call_method1("add_note", (note,));
        Some(error.clone_ref(py))
    }

    fn put(&self, error: PyErr, flow: u32, when: Option<Instant>) {
        // Only the first exception counts.
        let _ = self.0.set((error, flow, when));
    }

    fn is_set(&self) -> bool {
        self.0.get().is_some()
    }
}

/// Builds congestion controls from import paths such as `mylab.aimd:Aimd`.
#[derive(Debug, Default)]
pub(crate) struct Controllers {
    pub(crate) failure: Arc<Failure>,
}

impl External for Controllers {
    /// A path that names no class is a fault of the scenario. A class that fails is not: it fails
    /// again when it is built, with its own traceback.
    fn check(&self, path: &str) -> Result<(), String> {
        Python::attach(|py| {
            let found = py
                .import("simoom.control")
                .and_then(|module| module.getattr("find"))
                .and_then(|find| find.call1((path,)));
            match found {
                Err(error) if error.is_instance_of::<NoControllerError>(py) => {
                    Err(error.value(py).to_string())
                }
                _ => Ok(()),
            }
        })
    }

    fn control(&self, path: &str, flow: u32, config: &Config) -> Box<dyn Control> {
        match Python::attach(|py| PythonControl::make(py, path, flow, config, &self.failure)) {
            Ok(control) => Box::new(control),
            Err(error) => {
                self.failure.put(error, flow, None);
                NoExternal.control(path, flow, config)
            }
        }
    }
}

/// A copy of this text that lives as long as the process, for the names of gauges.
fn lasting(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name = String::leak(name);
    names.insert(name);
    name
}

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
pub(crate) struct Ack(control::Ack);

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
pub(crate) struct LossEvent(Loss);

#[pymethods]
impl LossEvent {
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

/// The cube root of the simulator, which is equal to the last bit on every platform.
#[pyfunction]
pub(crate) fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// A congestion control that is implemented in Python.
struct PythonControl {
    instance: Py<PyAny>,
    /// Its methods `on_ack` and `on_loss`, looked up once.
    on_ack: Py<PyAny>,
    on_loss: Py<PyAny>,
    /// The last acknowledgement that it received.
    ack: Option<Py<Ack>>,
    /// Its `window` and `pacing_mbps` after the last call.
    window: f64,
    pacing: Option<BitRate>,
    /// The names in its `gauges` when it was built.
    gauges: Vec<&'static str>,
    flow: u32,
    failure: Arc<Failure>,
    now: Instant,
}

impl fmt::Debug for PythonControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonControl").field("window", &self.window).finish_non_exhaustive()
    }
}

/// An attribute that must be a number.
fn number(py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let number = value.extract::<f64>().map_err(|error| {
        let message = format!("{name}: must be a number, is {value:?}");
        let clear = PyTypeError::new_err(message);
        clear.set_cause(py, Some(error));
        clear
    })?;
    if number.is_nan() {
        return Err(PyValueError::new_err(format!("{name}: is NaN")));
    }
    Ok(number)
}

impl PythonControl {
    fn make(
        py: Python<'_>,
        path: &str,
        flow: u32,
        config: &Config,
        failure: &Arc<Failure>,
    ) -> PyResult<Self> {
        let make = py.import("simoom.control")?.getattr("make")?;
        let ssthresh = config.initial_ssthresh.map(|s| s.0);
        let instance = make.call1((path, config.initial_window.0, ssthresh, config.mss().0))?;
        let mut control = Self {
            on_ack: instance.getattr("on_ack")?.unbind(),
            on_loss: instance.getattr("on_loss")?.unbind(),
            ack: None,
            instance: instance.unbind(),
            window: config.initial_window.0,
            pacing: None,
            gauges: Vec::new(),
            flow,
            failure: Arc::clone(failure),
            now: Instant::ZERO,
        };
        control.read(py)?;
        let shown = control.shown(py)?;
        control.gauges = shown.into_keys().map(lasting).collect();
        Ok(control)
    }

    /// Reads the attributes after a call.
    fn read(&mut self, py: Python<'_>) -> PyResult<()> {
        let instance = self.instance.bind(py);
        let window = instance.getattr(pyo3::intern!(py, "window"))?;
        self.window = number(py, "window", &window)?;
        let pacing = instance.getattr(pyo3::intern!(py, "pacing_mbps"))?;
        self.pacing = if pacing.is_none() {
            None
        } else {
            let rate = number(py, "pacing_mbps", &pacing)?;
            if rate <= 0.0 {
                let message = format!("pacing_mbps: must be above 0 or None, is {rate}");
                return Err(PyValueError::new_err(message));
            }
            Some(BitRate::from_mbps(rate))
        };
        Ok(())
    }

    /// Its gauges by name.
    fn shown(&self, py: Python<'_>) -> PyResult<BTreeMap<String, f64>> {
        self.instance.bind(py).call_method0(pyo3::intern!(py, "gauges"))?.extract()
    }

    /// Calls a method and reads the attributes. After the first exception of any congestion control
    /// no method is called any more, since the run is about to end.
    fn call(&mut self, method: impl FnOnce(&mut Self, Python<'_>) -> PyResult<()>) {
        if self.failure.is_set() {
            return;
        }
        let result = Python::attach(|py| {
            method(self, py)?;
            self.read(py)
        });
        if let Err(error) = result {
            self.fail(error);
        }
    }

    /// The acknowledgement as a Python object: the previous object, unless the congestion control
    /// has kept it.
    #[allow(deprecated, reason = "what replaces `get_refcnt` is unsafe code")]
    fn seen(&mut self, py: Python<'_>, ack: &control::Ack) -> PyResult<&Py<Ack>> {
        match self.ack.take() {
            Some(last) if last.get_refcnt(py) == 1 => {
                last.borrow_mut(py).0 = *ack;
                Ok(self.ack.insert(last))
            }
            _ => Ok(self.ack.insert(Py::new(py, Ack(*ack))?)),
        }
    }

    fn fail(&self, error: PyErr) {
        self.failure.put(error, self.flow, Some(self.now));
    }
}

impl Control for PythonControl {
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn on_ack(&mut self, ack: &control::Ack) {
        self.now = ack.now;
        self.call(|own, py| {
            let seen = own.seen(py, ack)?.clone_ref(py);
            own.on_ack.call1(py, (seen,)).map(drop)
        });
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.now = loss.now;
        let seen = LossEvent(*loss);
        self.call(|own, py| own.on_loss.call1(py, (seen,)).map(drop));
    }

    fn on_undo(&mut self) {
        self.call(|own, py| own.instance.call_method0(py, "on_undo").map(drop));
    }

    fn on_hint(&mut self, hint: &Hint) {
        let Hint::LinkRate(rate) = hint;
        let (name, value) = ("link_rate_mbps", rate.as_mbps());
        self.call(|own, py| own.instance.call_method1(py, "on_hint", (name, value)).map(drop));
    }

    fn pacing(&self) -> Option<BitRate> {
        self.pacing
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if self.failure.is_set() {
            return;
        }
        match Python::attach(|py| self.shown(py)) {
            Ok(shown) => {
                for &name in &self.gauges {
                    visit(name, shown.get(name).copied().unwrap_or(f64::NAN));
                }
            }
            Err(error) => self.fail(error),
        }
    }
}
