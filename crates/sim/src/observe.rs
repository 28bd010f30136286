//! The catalogue of observables: everything that a run measures, each declared once.
//!
//! An observable has a path within its place (`retransmissions` of `flows[3]`), a unit, a
//! description, and how it is read. Results, probes, `docs/results.md` and table
//! headings are derived from the catalogue.

mod catalogue;
mod counters;
mod declared;
mod describe;
mod driver;
mod dual;
mod duplex;
mod flow;
mod hop;
mod interferer;
mod link;
mod mu;
mod node;
mod observable;
mod place;
mod power_save;
mod roaming;
mod routing;
mod spatial_reuse;
mod value;
mod whole;

pub(crate) use catalogue::{at, of};
pub(crate) use counters::Counters;
pub use describe::observables;
pub(crate) use observable::{Count, Counter, Gauge, Kind, Observable, PARTS, Read};
pub(crate) use place::{Place, Subject, subjects};
pub use value::Value;
