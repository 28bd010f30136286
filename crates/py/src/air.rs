//! The indexed trace of a run, as the server of the page reads it.

use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::PathBuf;
use trace::columns::Columns;
use trace::{FrameRow, MpduRow, Network, Query, Series, Step};

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
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let about = PyDict::new(py);
        about.set_item("end_ns", self.0.end())?;
        about.set_item("cut_ns", self.0.cut())?;
        for (list, names) in self.0.names() {
            about.set_item(list, names)?;
        }
        for (list, names) in Columns::names(&Network::default()) {
            if !names.is_empty() {
                about.set_item(list, names)?;
            }
        }
        about.set_item("is_access_point", self.0.is_access_point().to_vec())?;
        let series = self.0.series().iter().map(|series| match *series {
            Series::Window(flow) => ("window", flow),
            Series::Rtt(flow) => ("rtt", flow),
            Series::RadioQueue(radio) => ("radio queue", radio),
            Series::WireQueue(wire) => ("wire queue", wire),
        });
        about.set_item("series", series.collect::<Vec<_>>())?;
        let counts = self.0.counts();
        about.set_item("frames", counts.frames)?;
        about.set_item("waits", counts.waits)?;
        about.set_item("lost", counts.lost)?;
        about.set_item("retried", counts.retried)?;
        about.set_item("routes", counts.routes)?;
        about.set_item("by_radio", self.0.by_radio())?;
        Ok(about)
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
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let query = Query { radio, kind, outcome, lost, retried };
        let found = py.detach(|| self.0.find(&query, number, forward))?;
        found.map(|found| frame_of(py, &found.frame)).transpose()
    }

    /// The frame of a number, with its MPDUs.
    fn frame<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some((frame, mpdus)) = py.detach(|| self.0.frame(number))? else { return Ok(None) };
        let dict = frame_of(py, &frame)?;
        let mpdus = mpdus.iter().map(|row| mpdu_of(py, row)).collect::<PyResult<Vec<_>>>()?;
        dict.set_item("mpdus_carried", mpdus)?;
        Ok(Some(dict))
    }

    /// The steps of a packet, from the segment that was written to its acknowledgement.
    fn life<'py>(&self, py: Python<'py>, packet: u32) -> PyResult<Bound<'py, PyList>> {
        let life = py.detach(|| self.0.life(packet))?;
        let steps = life.iter().map(|step| step_of(py, step)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, steps)
    }
}

fn known(number: u32) -> Option<u32> {
    Some(number).filter(|&number| number != u32::MAX)
}

fn frame_of<'py>(py: Python<'py>, row: &FrameRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("number", row.number)?;
    dict.set_item("start_ns", row.start)?;
    dict.set_item("end_ns", row.end())?;
    dict.set_item("preamble_ns", row.preamble)?;
    dict.set_item("exchange", row.exchange)?;
    dict.set_item("from", row.from)?;
    dict.set_item("to", known(row.to))?;
    dict.set_item("lost_to", known(row.lost_to))?;
    dict.set_item("kind", row.kind)?;
    dict.set_item("access_category", row.class)?;
    dict.set_item("outcome", row.outcome)?;
    dict.set_item("is_lost", row.is_lost())?;
    dict.set_item("mcs", (row.mcs != u8::MAX).then_some(row.mcs))?;
    dict.set_item("streams", row.streams)?;
    dict.set_item("width_mhz", row.width_mhz)?;
    dict.set_item("mpdus", row.mpdus)?;
    dict.set_item("retried", row.retried)?;
    dict.set_item("received", row.received)?;
    dict.set_item("psdu_bytes", row.psdu)?;
    dict.set_item("nav_ns", row.nav)?;
    dict.set_item("rate_mbps", row.rate_mbps)?;
    dict.set_item("signal_dbm", Some(row.signal_dbm).filter(|dbm| !dbm.is_nan()))?;
    Ok(dict)
}

fn mpdu_of<'py>(py: Python<'py>, row: &MpduRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("packet", row.packet)?;
    dict.set_item("flow", known(row.flow))?;
    dict.set_item("bytes", row.bytes)?;
    dict.set_item("sequence", row.sequence)?;
    dict.set_item("retry", row.retry != 0)?;
    dict.set_item("received", row.received != 0)?;
    Ok(dict)
}

fn step_of<'py>(py: Python<'py>, step: &Step) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("at_ns", step.at())?;
    match step {
        Step::Packet(row) => {
            dict.set_item("what", "packet")?;
            dict.set_item("flow", known(row.flow))?;
            dict.set_item("place_kind", row.place_kind)?;
            dict.set_item("place", row.place)?;
            dict.set_item("step", row.step)?;
            dict.set_item("cause", (row.cause != u8::MAX).then_some(row.cause))?;
            dict.set_item("waiting", known(row.waiting))?;
            dict.set_item("size_bytes", row.size)?;
        }
        Step::Frame(frame, mpdu) => {
            dict.set_item("what", "frame")?;
            dict.set_item("frame", frame_of(py, frame)?)?;
            dict.set_item("mpdu", mpdu_of(py, mpdu)?)?;
        }
        Step::Segment(row) | Step::Acknowledged(row) => {
            let is_ack = matches!(step, Step::Acknowledged(_));
            dict.set_item("what", if is_ack { "acknowledged" } else { "segment" })?;
            dict.set_item("flow", row.flow)?;
            dict.set_item("seq", row.seq)?;
            dict.set_item("ack", row.ack)?;
            dict.set_item("length_bytes", row.length)?;
            dict.set_item("received", row.received != 0)?;
            dict.set_item("reverse", row.reverse != 0)?;
            dict.set_item("retransmission", row.retransmission != 0)?;
            dict.set_item("cwnd_bytes", Some(row.cwnd).filter(|x| x.is_finite()))?;
            dict.set_item("in_flight_bytes", Some(row.in_flight).filter(|x| x.is_finite()))?;
            dict.set_item("state", (row.state != u8::MAX).then_some(row.state))?;
        }
    }
    Ok(dict)
}
