//! The text of values in a record of a run: JSON as Python's `json` writes it, in a third of the
//! time.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use std::fmt::Write;

/// A value by name on each line, behind so many spaces: what `json.dumps(values, indent=1,
/// ensure_ascii=False)` writes at that depth.
#[pyfunction]
pub(crate) fn json_lines(values: &Bound<'_, PyDict>, depth: usize) -> PyResult<String> {
    /// More than most lines have.
    const LINE: usize = 64;
    if values.is_empty() {
        return Ok("{}".to_owned());
    }
    let mut text = String::with_capacity(LINE * values.len());
    let mut before = '{';
    for (name, value) in values {
        text.push(before);
        begin_line(&mut text, depth);
        write_text(&mut text, name.cast::<PyString>()?.to_str()?);
        text.push_str(": ");
        write_value(&mut text, &value)?;
        before = ',';
    }
    begin_line(&mut text, depth.saturating_sub(1));
    text.push('}');
    Ok(text)
}

fn begin_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', depth));
}

fn write_value(text: &mut String, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(number) = value.cast::<PyFloat>() {
        let number = number.value();
        if may_be_halfway(number) {
            text.push_str(PyFloat::new(value.py(), number).repr()?.to_str()?);
        } else {
            write_number(text, number);
        }
    } else if let Ok(value) = value.cast::<PyString>() {
        write_text(text, value.to_str()?);
    } else if value.is_none() {
        text.push_str("null");
    } else if let Ok(truth) = value.cast::<PyBool>() {
        text.push_str(if truth.is_true() { "true" } else { "false" });
    } else if let Ok(number) = value.cast::<PyInt>() {
        match number.extract::<u64>() {
            Ok(count) => _ = write!(text, "{count}"),
            Err(_) => text.push_str(number.str()?.to_str()?),
        }
    } else {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a record has no values of type {kind}")));
    }
    Ok(())
}

/// Whether a number may be halfway between the two of 17 digits next to it, of which Python takes
/// the even one: it then has 18 digits, so that it is a multiple of 2^-25.
fn may_be_halfway(number: f64) -> bool {
    const MULTIPLE: f64 = (1 << 25) as f64;
    number.fract() != 0.0 && (number * MULTIPLE).fract() == 0.0
}

/// The shortest digits that are read as this number, as Python arranges them.
fn write_number(text: &mut String, number: f64) {
    if !number.is_finite() {
        text.push_str(match number {
            f64::INFINITY => "Infinity",
            f64::NEG_INFINITY => "-Infinity",
            _ => "NaN",
        });
        return;
    }
    let begin = text.len();
    // With digits before the point, or few zeros behind it, Python writes no exponent.
    let size = number.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        _ = write!(text, "{number}");
        if !text[begin..].contains('.') {
            text.push_str(".0");
        }
        return;
    }
    _ = write!(text, "{number:e}");
    let exponent = text[begin..].find('e').map_or(text.len(), |place| begin + place + 1);
    let is_small = text[exponent..].starts_with('-');
    if !is_small {
        text.insert(exponent, '+');
    }
    // At least two digits.
    if text.len() == exponent + 2 {
        text.insert(exponent + 1, '0');
    }
}

fn write_text(text: &mut String, value: &str) {
    text.push('"');
    let mut rest = value;
    while let Some(place) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        let (plain, special) = rest.split_at(place);
        text.push_str(plain);
        match special.as_bytes()[0] {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            8 => text.push_str("\\b"),
            12 => text.push_str("\\f"),
            other => _ = write!(text, "\\u{other:04x}"),
        }
        rest = &special[1..];
    }
    text.push_str(rest);
    text.push('"');
}
