//! Names of elements in paths of results.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sim::scenario::address;

pyo3::import_exception!(simoom.scenario.address, AddressError);

/// Whether a path names an element by more than its index.
#[pyfunction]
pub(crate) fn is_address(path: &str) -> bool {
    address::is_address(path)
}

/// A path without its function, with other brackets in place of each.
#[pyfunction]
pub(crate) fn general(path: &str, brackets: &str) -> String {
    address::general(path, brackets)
}

/// Whether a path is one for which an address may stand, or a part of it.
#[pyfunction]
pub(crate) fn covers(address: &str, path: &str) -> bool {
    address::covers(address, path)
}

/// The index of an element of a list, and the rest of its path.
#[pyfunction]
pub(crate) fn element<'a>(path: &'a str, kind: &str) -> Option<(usize, &'a str)> {
    address::element(path, kind)
}

/// The function that makes one number, if there is more than one value, and the paths of results.
#[pyfunction]
pub(crate) fn chosen(
    path: &str,
    results: &Bound<'_, PyDict>,
) -> PyResult<(Option<&'static str>, Vec<String>)> {
    let row = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let text = value.cast::<PyString>().map(ToString::to_string).unwrap_or_default();
        Ok((path.extract::<String>()?, text))
    };
    let results = results.iter().map(row).collect::<PyResult<Vec<_>>>()?;
    address::chosen(path, &results).map_err(|said| AddressError::new_err(said.to_string()))
}

/// The names that may be meant.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]
pub(crate) fn near(wanted: &str, names: Vec<String>) -> Vec<String> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    address::near(wanted, &names).into_iter().map(str::to_owned).collect()
}

/// The remedy that suggests names; empty without any.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]
pub(crate) fn suggested(names: Vec<String>) -> String {
    address::suggested(&names.iter().map(String::as_str).collect::<Vec<_>>())
}
