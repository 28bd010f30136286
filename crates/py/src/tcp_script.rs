//! The TCP script runner.

use pyo3::prelude::*;

/// Time in seconds, kind, text and the script's line.
type Line = (f64, &'static str, String, Option<usize>);

/// Runs a script: the transcript, and the line and message of the failure if there is one.
#[pyfunction]
pub(crate) fn tcp_script(py: Python<'_>, text: &str) -> (Vec<Line>, Option<(usize, String)>) {
    let transcript = py.detach(|| sim::tcp_script::run(text));
    let lines = transcript.lines.into_iter();
    let lines = lines.map(|line| (line.at.0 as f64 / 1e9, line.kind.name(), line.text, line.line));
    (lines.collect(), transcript.failure.map(|failure| (failure.line, failure.message)))
}
