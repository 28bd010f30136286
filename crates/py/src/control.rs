//! User-defined congestion controls in Python, which the run calls.

mod events;

pub(crate) use events::{Ack, Delivery, Departing, Loss};

use kernel::{BitRate, Duration, Instant, Segments};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sim::Plan;
use sim::control::{
    self, Config, Control, Event, External, Faults, Hint, NoExternal, Path, PythonConfig, Value,
    Wants,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The first exception that a congestion control raised, with its flow and time; before the first
/// event there is no time.
#[derive(Debug, Default)]
pub(crate) struct Failure(OnceLock<(PyErr, u32, Option<Instant>)>);

impl Failure {
    /// The exception, with a note that has the scenario's path, the simulated time and the flow; a
    /// script has no scenario.
    pub(crate) fn take(&self, py: Python<'_>, plan: Option<&Plan>) -> Option<PyErr> {
        let (error, flow, when) = self.0.get()?;
        let when = match when {
            Some(now) => format!(" at {:.9} s", now.as_secs_f64()),
            None => ", while it was made".to_owned(),
        };
        let note = match plan.map(|plan| &plan.flows[*flow as usize]) {
            Some(of) => format!("in flows[{}].control{when} (flow {flow}, {})", of.group, of.name),
            None => format!("in the control of the script{when}"),
        };
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
    /// A path that names no class is a fault of the scenario, and so is a parameter that the class
    /// does not declare. A class that fails is not: it fails again when it is built, with its own
    /// traceback.
    fn check(&self, python: &PythonConfig, at: &Path, faults: &mut Faults) {
        let found: PyResult<Vec<(String, String)>> = Python::attach(|py| {
            let check = py.import("simoom.scenario.control")?.getattr("faults")?;
            check.call1((&python.path, parameters(py, python)?))?.extract()
        });
        for (key, message) in found.unwrap_or_default() {
            faults.fault(at.key(&key), message);
        }
    }

    fn control(&self, python: &PythonConfig, flow: u32, config: &Config) -> Box<dyn Control> {
        match Python::attach(|py| PythonControl::make(py, python, flow, config, &self.failure)) {
            Ok(control) => Box::new(control),
            Err(error) => {
                self.failure.put(error, flow, None);
                NoExternal.control(python, flow, config)
            }
        }
    }
}

/// The parameters of a class as a dictionary.
fn parameters<'py>(py: Python<'py>, python: &PythonConfig) -> PyResult<Bound<'py, PyDict>> {
    let parameters = PyDict::new(py);
    for (name, value) in python.parameters.iter() {
        match value {
            Value::Bool(value) => parameters.set_item(name, value)?,
            Value::Integer(value) => parameters.set_item(name, value)?,
            Value::Float(value) => parameters.set_item(name, value)?,
            Value::Text(value) => parameters.set_item(name, value)?,
            // `Free` accepts none of these.
            Value::Date(_) | Value::List(_) | Value::Table(_) => {}
        }
    }
    Ok(parameters)
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
    /// Its methods `on_send` and `on_timer`, if its class defines them.
    on_send: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    /// Its `owns_window` when it was built.
    owns_window: bool,
    /// The names in its `gauges` when it was built.
    gauges: Vec<&'static str>,
    flow: u32,
    failure: Arc<Failure>,
    /// The attributes that its methods set, but neither its class nor `__init__`: they are probably
    /// misspelt. Correct classes have none, so that the check costs nothing.
    undeclared: Vec<Py<PyString>>,
    /// The last acknowledgement that it received.
    ack: Option<Py<Ack>>,
    /// Its `window`, `pacing_mbps` and `timer_s` after the last call.
    window: f64,
    pacing: Option<BitRate>,
    timer: Option<Instant>,
    now: Instant,
}

impl fmt::Debug for PythonControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonControl").field("window", &self.window).finish_non_exhaustive()
    }
}

impl PythonControl {
    fn make(
        py: Python<'_>,
        python: &PythonConfig,
        flow: u32,
        config: &Config,
        failure: &Arc<Failure>,
    ) -> PyResult<Self> {
        let module = py.import("simoom.scenario.control")?;
        let ssthresh = config.initial_ssthresh.map(|s| s.0);
        let start = (config.initial_window().0, ssthresh, config.mss().0);
        let made = (&python.path, parameters(py, python)?, start);
        let instance = module.getattr("make")?.call1(made)?;
        let mut control = Self {
            on_ack: instance.getattr("on_ack")?.unbind(),
            on_loss: instance.getattr("on_loss")?.unbind(),
            on_send: defined(&instance, "on_send")?,
            on_timer: defined(&instance, "on_timer")?,
            owns_window: truth(&instance, "owns_window")?,
            gauges: Vec::new(),
            flow,
            failure: Arc::clone(failure),
            undeclared: module.getattr("undeclared")?.call1((&instance,))?.extract()?,
            ack: None,
            instance: instance.unbind(),
            window: config.initial_window().0,
            pacing: None,
            timer: None,
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
        for name in &self.undeclared {
            if instance.hasattr(name)? {
                let refuse = py.import("simoom.scenario.control")?.getattr("refuse_attribute")?;
                refuse.call1((instance, name))?;
            }
        }
        let window = instance.getattr(pyo3::intern!(py, "window"))?;
        self.window = number(instance, "window", &window)?;
        if !(self.window > 0.0 && self.window.is_finite()) {
            return Err(refused(instance, "window", "a finite number above 0", self.window));
        }
        let pacing = instance.getattr(pyo3::intern!(py, "pacing_mbps"))?;
        self.pacing = if pacing.is_none() {
            None
        } else {
            let rate = number(instance, "pacing_mbps", &pacing)?;
            if rate.is_nan() || rate <= 0.0 {
                return Err(refused(instance, "pacing_mbps", "above 0 or None", rate));
            }
            Some(BitRate::from_mbps(rate))
        };
        if self.on_timer.is_some() {
            self.timer = self.read_timer(py)?;
        }
        Ok(())
    }

    /// Its `timer_s`. A time that has come while the timer was set is due; any other must be in the
    /// future, because a timer that is set to the present for ever stops simulated time.
    fn read_timer(&self, py: Python<'_>) -> PyResult<Option<Instant>> {
        let instance = self.instance.bind(py);
        let timer = instance.getattr(pyo3::intern!(py, "timer_s"))?;
        if timer.is_none() {
            return Ok(None);
        }
        let timer_s = number(instance, "timer_s", &timer)?;
        let at = Instant::ZERO + Duration::from_secs_f64(timer_s.max(0.0));
        if !timer_s.is_finite() || (at <= self.now && Some(at) != self.timer) {
            let rule = format!("a time after {:.9} s, or None", self.now.as_secs_f64());
            return Err(refused(instance, "timer_s", &rule, timer_s));
        }
        Ok(Some(at))
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

impl PythonControl {
    fn on_send(&mut self, departing: &control::Departing) {
        self.now = departing.now;
        if self.on_send.is_some() {
            let seen = Departing(*departing);
            self.call(|own, py| match &own.on_send {
                Some(on_send) => on_send.call1(py, (seen,)).map(drop),
                None => Ok(()),
            });
        }
    }

    fn on_timer(&mut self, now: Instant) {
        // A timer of the flow's previous connection may expire after that connection.
        if self.timer.is_none_or(|at| at > now) {
            return;
        }
        (self.now, self.timer) = (now, None);
        self.call(|own, py| {
            own.instance.setattr(py, pyo3::intern!(py, "timer_s"), py.None())?;
            match &own.on_timer {
                Some(on_timer) => on_timer.call1(py, (now.as_secs_f64(),)).map(drop),
                None => Ok(()),
            }
        });
    }

    fn on_undo(&mut self) {
        self.call(|own, py| own.instance.call_method0(py, "on_undo").map(drop));
    }

    fn on_hint(&mut self, hint: &Hint) {
        let (name, value) = match hint {
            Hint::LinkRate(rate) => ("link_rate_mbps", rate.as_mbps()),
            Hint::RouteHops(hops) => ("route_hops", f64::from(*hops)),
            Hint::Window(window) => ("window_segments", window.0),
        };
        self.call(|own, py| own.instance.call_method1(py, "on_hint", (name, value)).map(drop));
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

    fn on_loss(&mut self, loss: &control::Loss) {
        self.now = loss.now;
        let seen = Loss(*loss);
        self.call(|own, py| own.on_loss.call1(py, (seen,)).map(drop));
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Departing(departing) => self.on_send(departing),
            Event::Timer(now) => self.on_timer(now),
            Event::Undo => self.on_undo(),
            Event::Hint(hint) => self.on_hint(hint),
            _ => {}
        }
    }

    fn wants(&self) -> Wants {
        Wants {
            own_window: self.owns_window,
            delivery: true,
            timer: self.timer,
            pacing: self.pacing,
            ..Wants::default()
        }
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

/// The method of this name, if the class does not inherit it from `simoom.Control`.
fn defined(instance: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let base =
        instance.py().import("simoom.scenario.control")?.getattr("Control")?.getattr(name)?;
    let method = instance.getattr(name)?;
    let inherited = method.getattr("__func__").is_ok_and(|function| function.is(&base));
    Ok((!inherited).then(|| method.unbind()))
}

/// An attribute that must be true or false.
fn truth(instance: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let value = instance.getattr(name)?;
    value.extract().map_err(|_| {
        let message = format!("{}: must be True or False, is {value:?}", place(instance, name));
        PyTypeError::new_err(message)
    })
}

/// An attribute that must be a number.
fn number(instance: &Bound<'_, PyAny>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract::<f64>().map_err(|error| {
        let message = format!("{}: must be a number, is {value:?}", place(instance, name));
        let clear = PyTypeError::new_err(message);
        clear.set_cause(instance.py(), Some(error));
        clear
    })
}

/// The exception for a number that breaks a rule.
fn refused(instance: &Bound<'_, PyAny>, name: &str, rule: &str, is: f64) -> PyErr {
    PyValueError::new_err(format!("{}: must be {rule}, is {is}", place(instance, name)))
}

/// An attribute with its class, for messages: `Aimd.window`.
fn place(instance: &Bound<'_, PyAny>, name: &str) -> String {
    match instance.get_type().qualname() {
        Ok(class) => format!("{class}.{name}"),
        Err(_) => name.to_owned(),
    }
}
