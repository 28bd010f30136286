//! Congestion controllers written in Python, called back from the run.

use pyo3::prelude::*;
use pyo3::types::PyString;
use sim::control::{self, Cause, Config, Control, External, Hint, Loss, NoExternal};
use std::fmt;
use std::sync::{Arc, Mutex};

/// The first exception that a controller raised, and where.
#[derive(Debug, Default)]
pub(crate) struct Failure(Mutex<Option<(PyErr, String)>>);

impl Failure {
    /// The exception, with a note of the flow and the simulated time.
    pub(crate) fn take(&self, py: Python<'_>) -> Option<PyErr> {
        let (error, note) = self.0.lock().ok()?.take()?;
        // A note that cannot be added is no reason to hide the exception.
        let _ = error.value(py).call_method1("add_note", (note,));
        Some(error)
    }

    fn put(&self, error: PyErr, note: String) {
        if let Ok(mut slot) = self.0.lock() {
            slot.get_or_insert((error, note));
        }
    }

    fn is_set(&self) -> bool {
        self.0.lock().is_ok_and(|slot| slot.is_some())
    }
}

/// Makes controllers from import paths such as `mylab.aimd:Aimd`.
#[derive(Debug, Default)]
pub(crate) struct Controllers {
    pub(crate) failure: Arc<Failure>,
}

impl External for Controllers {
    fn check(&self, path: &str) -> Result<(), String> {
        Python::attach(|py| {
            construct(py, path, &Config::default()).map(drop).map_err(|error| told(py, &error))
        })
    }

    fn control(&self, path: &str, flow: u32, config: &Config) -> Box<dyn Control> {
        let made = Python::attach(|py| {
            let instance = construct(py, path, config)?;
            let window = read_window(py, &instance)?;
            Ok((instance, window))
        });
        match made {
            Ok((instance, window)) => {
                let failure = Arc::clone(&self.failure);
                Box::new(PythonControl { instance, window, flow, failure, now_s: 0.0 })
            }
            Err(error) => {
                self.failure.put(error, format!("in flows[{flow}].control, while it was made"));
                NoExternal.control(path, flow, config)
            }
        }
    }
}

fn told(py: Python<'_>, error: &PyErr) -> String {
    format!("{}: {}", error.get_type(py), error.value(py))
}

fn construct(py: Python<'_>, path: &str, config: &Config) -> PyResult<Py<PyAny>> {
    let make = py.import("simoom.control")?.getattr("make")?;
    let initial = config.initial_window.0;
    Ok(make.call1((path, initial, config.initial_ssthresh.map(|s| s.0)))?.unbind())
}

fn read_window(py: Python<'_>, instance: &Py<PyAny>) -> PyResult<f64> {
    instance.bind(py).getattr(pyo3::intern!(py, "window"))?.extract()
}

/// An acknowledgement, as a Python controller sees it.
#[pyclass(frozen, get_all, module = "simoom._core")]
pub(crate) struct Ack {
    /// Simulated time in seconds.
    now_s: f64,
    /// Segments that it newly acknowledges, cumulatively.
    acked: f64,
    /// Segments newly known to have arrived, cumulatively or selectively.
    delivered: f64,
    /// Segments newly taken for lost.
    lost: f64,
    /// Segments still in flight.
    in_flight: f64,
    /// The round-trip sample in seconds, if it gave one.
    rtt_s: Option<f64>,
    /// Smoothed round-trip time in seconds; 0 before the first sample.
    srtt_s: f64,
    /// Least round-trip time of the connection in seconds; 0 before the first sample.
    rtt_min_s: f64,
    /// Delivery rate in Mb/s, where it is sampled.
    delivery_mbps: Option<f64>,
    /// The window must not grow by this acknowledgement: it was not used, or recovery is under way.
    app_limited: bool,
    /// Fast recovery is under way.
    recovery: bool,
    /// It echoes a congestion mark.
    ecn_echo: bool,
}

/// Congestion, as a Python controller sees it.
#[pyclass(frozen, module = "simoom._core")]
pub(crate) struct LossEvent {
    /// Simulated time in seconds.
    #[pyo3(get)]
    now_s: f64,
    /// Segments taken for lost.
    #[pyo3(get)]
    lost: f64,
    /// Segments that were outstanding.
    #[pyo3(get)]
    in_flight: f64,
    cause: Cause,
}

#[pymethods]
impl LossEvent {
    /// `"sack"`, `"timeout"` or `"ecn"`.
    #[getter]
    fn cause<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.cause {
            Cause::Sack => pyo3::intern!(py, "sack"),
            Cause::Timeout => pyo3::intern!(py, "timeout"),
            Cause::Ecn => pyo3::intern!(py, "ecn"),
        }
    }
}

/// A controller that lives in Python.
struct PythonControl {
    instance: Py<PyAny>,
    /// Its `window` attribute after the last call.
    window: f64,
    flow: u32,
    failure: Arc<Failure>,
    now_s: f64,
}

impl fmt::Debug for PythonControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonControl").field("window", &self.window).finish_non_exhaustive()
    }
}

impl PythonControl {
    /// Calls a method and reads the window it leaves behind. After the first exception of any
    /// controller nothing is called any more: the run is about to end.
    fn call(&mut self, method: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<()>) {
        if self.failure.is_set() {
            return;
        }
        let result = Python::attach(|py| {
            method(py, &self.instance)?;
            let window = read_window(py, &self.instance)?;
            if window.is_nan() {
                return Err(pyo3::exceptions::PyValueError::new_err("window: is NaN"));
            }
            Ok(window)
        });
        match result {
            Ok(window) => self.window = window,
            Err(error) => {
                let note = format!("in flows[{}].control at {:.9} s", self.flow, self.now_s);
                self.failure.put(error, note);
            }
        }
    }
}

impl Control for PythonControl {
    fn window(&self) -> kernel::Segments {
        kernel::Segments(self.window)
    }

    fn on_ack(&mut self, ack: &control::Ack) {
        self.now_s = ack.now.as_secs_f64();
        let seen = Ack {
            now_s: self.now_s,
            acked: ack.acked.0,
            delivered: ack.delivered.0,
            lost: ack.lost.0,
            in_flight: ack.in_flight.0,
            rtt_s: ack.rtt.map(kernel::Duration::as_secs_f64),
            srtt_s: ack.srtt.as_secs_f64(),
            rtt_min_s: ack.rtt_min.as_secs_f64(),
            delivery_mbps: ack.delivery.map(|delivery| delivery.rate.as_mbps()),
            app_limited: ack.app_limited,
            recovery: ack.recovery,
            ecn_echo: ack.ecn_echo,
        };
        self.call(|py, instance| {
            instance.call_method1(py, pyo3::intern!(py, "on_ack"), (seen,)).map(drop)
        });
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.now_s = loss.now.as_secs_f64();
        let seen = LossEvent {
            now_s: self.now_s,
            lost: loss.lost.0,
            in_flight: loss.in_flight.0,
            cause: loss.cause,
        };
        self.call(|py, instance| {
            instance.call_method1(py, pyo3::intern!(py, "on_loss"), (seen,)).map(drop)
        });
    }

    fn on_hint(&mut self, hint: &Hint) {
        let (name, value) = match hint {
            Hint::LinkLoss { lost, .. } => ("link_loss", lost.0),
            Hint::LinkRate(rate) => ("link_rate_mbps", rate.as_mbps()),
            Hint::RouteChanged(when) => ("route_changed_s", when.as_secs_f64()),
        };
        self.call(|py, instance| {
            instance.call_method1(py, pyo3::intern!(py, "on_hint"), (name, value)).map(drop)
        });
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let ssthresh = Python::attach(|py| {
            self.instance.bind(py).getattr(pyo3::intern!(py, "ssthresh"))?.extract::<f64>()
        });
        if let Ok(ssthresh) = ssthresh {
            visit("ssthresh_segments", ssthresh);
        }
    }
}
