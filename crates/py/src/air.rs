//! The indexed trace of a run, as the server of the page reads it.

use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use trace::Query;

/// A complete `.air` file.
#[pyclass(frozen, module = "simoom._core")]
pub(crate) struct AirFile(trace::AirFile);

#[pymethods]
impl AirFile {
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are owned")]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| trace::AirFile::open(&path));
        Ok(Self(opened.map_err(|error| crate::trace::os_error(&error, &path))?))
    }

    /// What the numbers in tiles refer to, and how many rows there are.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.0.about())
    }

    /// The tile of a number at a level.
    fn tile<'py>(&self, py: Python<'py>, level: u32, number: u64) -> PyResult<Bound<'py, PyBytes>> {
        let tile = py.detach(|| self.0.tile(level, number));
        match tile {
            Ok(bytes) => Ok(PyBytes::new(py, &bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(PyLookupError::new_err(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The next frame after a number that matches, or the last one before it.
    #[pyo3(signature = (
        number, forward, *, radio=None, kind=None, outcome=None, lost=false, retried=false
    ))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn find<'py>(
        &self,
        py: Python<'py>,
        number: i64,
        forward: bool,
        radio: Option<u32>,
        kind: Option<u8>,
        outcome: Option<u8>,
        lost: bool,
        retried: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let query = Query { radio, kind, outcome, lost, retried };
        plain(py, &py.detach(|| self.0.told_find(&query, number, forward))?)
    }

    /// The frame of a number, with its MPDUs.
    fn frame<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &py.detach(|| self.0.told_frame(number))?)
    }

    /// The steps of a packet, from the segment that was written to its acknowledgement.
    fn life<'py>(&self, py: Python<'py>, packet: u32) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &py.detach(|| self.0.told_life(packet))?)
    }
}

/// Plain data of Python: what its own module makes of the same JSON.
fn plain<'py>(py: Python<'py>, told: &impl ToString) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (told.to_string(),))
}
