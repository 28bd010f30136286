//! The TCP script runner.

use crate::control::Controllers;
use pyo3::prelude::*;

/// Time in seconds, kind, text and the script's line.
type Line = (f64, &'static str, String, Option<usize>);

/// A transcript, and the line and message of the failure if there is one.
type Played = (Vec<Line>, Option<(usize, String)>);

/// The line and the message of the fault of a text that is no script.
#[pyfunction]
pub(crate) fn tcp_script_fault(text: &str) -> Option<(usize, String)> {
    sim::tcp_script::check(text).err().map(|fault| (fault.line, fault.message))
}

/// Runs a script. Raises the first exception of a congestion control in Python.
#[pyfunction]
pub(crate) fn tcp_script(py: Python<'_>, text: &str) -> PyResult<Played> {
    let controllers = Controllers::default();
    let transcript = py.detach(|| sim::tcp_script::run_with(text, &controllers));
    if let Some(error) = controllers.failure.take(py, None) {
        return Err(error);
    }
    let lines = transcript.lines.into_iter();
    let lines = lines.map(|line| (line.at.0 as f64 / 1e9, line.kind.name(), line.text, line.line));
    let failure = transcript.failure.map(|failure| (failure.line, failure.message));
    Ok((lines.collect(), failure))
}
