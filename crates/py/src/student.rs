//! Student's t distribution, of which intervals of the Python package are made.

use pyo3::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The value below which Student's t is with this probability, exact to 9 digits for up to 1,000
/// degrees of freedom and to 5 digits for 100,000; NaN where the arguments are none.
#[pyfunction]
pub(crate) fn student_t_quantile(probability: f64, degrees_of_freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .map_or(f64::NAN, |student| student.inverse_cdf(probability))
}

/// The probability that Student's t is at most `x`; NaN where the arguments are none.
#[pyfunction]
pub(crate) fn student_t_cdf(x: f64, degrees_of_freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom).map_or(f64::NAN, |student| student.cdf(x))
}
