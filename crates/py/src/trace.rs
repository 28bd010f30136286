//! The trace of a run: batches of columns for Python, and files that are written here.

use crate::fault;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sim::trace::{Failure, Filter};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use trace::columns::{Batch, Columns, TABLES};
use trace::format::{FORMATS, Options, Out, format};
use trace::{Network, Sink, Tape};

/// The size of the buffer before a file.
const BUFFER: usize = 1 << 18;

/// What Python wants of a trace.
#[derive(FromPyObject)]
pub(crate) struct Tracing<'py> {
    start_s: Option<f64>,
    end_s: Option<f64>,
    nodes: Vec<String>,
    flows: Vec<String>,
    /// Paths of files, each with the extension that determines its format.
    files: Vec<(PathBuf, String)>,
    /// Options of the formats: paths and values.
    options: Vec<(String, String)>,
    /// Called with each batch: the index of its table, and the bytes of its columns.
    on_batch: Option<Bound<'py, PyAny>>,
}

/// A trace in progress.
pub(crate) struct Trace<'py> {
    failure: Failure,
    files: Vec<PathBuf>,
    batches: Option<(Receiver<Batch>, Bound<'py, PyAny>)>,
}

impl<'py> Tracing<'py> {
    /// Adds the trace to a run.
    pub(crate) fn begin(
        self,
        plan: &sim::Plan,
        simulation: &mut sim::Simulation,
    ) -> PyResult<Trace<'py>> {
        let Self { start_s, end_s, nodes, flows, files, options, on_batch } = self;
        let options = Options::of(&options).map_err(fault)?;
        let network = sim::trace::network(plan);
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        for (path, extension) in &files {
            sinks.push(open(&network, path, extension, &options)?);
        }
        let batches = on_batch.map(|on_batch| {
            let (send, receive) = channel();
            sinks.push(Box::new(Columns::new(network, send)));
            (receive, on_batch)
        });
        let filter = Filter { start_s, end_s, nodes, flows };
        let failure = simulation.trace(&filter, sinks).map_err(fault)?;
        let files = files.into_iter().map(|(path, _)| path).collect();
        Ok(Trace { failure, files, batches })
    }
}

impl Trace<'_> {
    /// Passes what has been recorded to Python, and raises what went wrong.
    pub(crate) fn pass_on(&mut self, py: Python<'_>) -> PyResult<()> {
        if let Some((number, error)) = self.failure.take() {
            return Err(match self.files.get(number) {
                Some(path) => os_error(&error, path),
                None => error.into(),
            });
        }
        if let Some((batches, on_batch)) = &self.batches {
            for batch in batches.try_iter() {
                let columns: Vec<_> =
                    batch.columns.iter().map(|values| PyBytes::new(py, values)).collect();
                on_batch.call1((batch.table, columns))?;
            }
        }
        Ok(())
    }
}

fn open(
    network: &Network,
    path: &Path,
    extension: &str,
    options: &Options,
) -> PyResult<Box<dyn Sink>> {
    let error = |error: std::io::Error| os_error(&error, path);
    let format = format(extension).ok_or_else(|| error(std::io::ErrorKind::Unsupported.into()))?;
    let mut outs: Vec<Out> = Vec::new();
    for part in (format.files)(network, options) {
        let file = File::create(beside(path, &part)).map_err(error)?;
        outs.push(Box::new(BufWriter::with_capacity(BUFFER, file)));
    }
    (format.open)(network.clone(), outs, options).map_err(error)
}

/// The path of a part of a trace, whose name stands before the name of the path.
fn beside(path: &Path, part: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{part}{name}"))
}

/// The files of a trace in this format, by what stands before the extension.
pub(crate) fn files(
    plan: &sim::Plan,
    extension: &str,
    options: &[(String, String)],
) -> PyResult<Vec<String>> {
    let options = Options::of(options).map_err(fault)?;
    let format = format(extension).ok_or_else(|| PyOSError::new_err("no such format"))?;
    Ok((format.files)(&sim::trace::network(plan), &options))
}

/// The Python exception of an error with a file.
pub(crate) fn os_error(error: &std::io::Error, path: &Path) -> PyErr {
    let message = error.to_string();
    match error.raw_os_error() {
        Some(number) => {
            // Rust adds the number to the system's message.
            let text = message.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, text, path.to_path_buf()))
        }
        None => PyOSError::new_err(format!("{}: {message}", path.display())),
    }
}

/// The name of each table of a trace, with the names and types of its columns.
#[pyfunction]
pub(crate) fn trace_tables() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    TABLES.iter().map(|(name, columns)| (*name, columns.to_vec())).collect()
}

/// The extension of each file format that is written here, and what it is.
#[pyfunction]
pub(crate) fn trace_formats() -> Vec<(&'static str, &'static str)> {
    FORMATS.iter().map(|format| (format.extension, format.meaning)).collect()
}

/// The paths of the options of these formats.
#[pyfunction]
pub(crate) fn trace_options() -> Vec<String> {
    trace::format::option_paths()
}

/// A comment, an end in seconds, and name and number of packets of each flow.
type TapeRow = (String, Option<f64>, Vec<(String, usize)>);

/// The comment of a tape, its end in seconds, and name and number of packets of each flow.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]
pub(crate) fn read_tape(path: PathBuf) -> PyResult<TapeRow> {
    let bytes = std::fs::read(&path).map_err(|error| os_error(&error, &path))?;
    let tape = Tape::read(&bytes)
        .map_err(|why| PyOSError::new_err(format!("{} {why}", path.display())))?;
    let last = tape.flows.iter().filter_map(|flow| flow.packets.last()).map(|it| it.at).max();
    let end_s = tape.end.or(last).map(kernel::Instant::as_secs_f64);
    let flows = tape.flows.into_iter().map(|flow| (flow.name, flow.packets.len())).collect();
    Ok((tape.comment, end_s, flows))
}
