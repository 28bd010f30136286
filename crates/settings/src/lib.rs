//! Settings declared once.
//!
//! A key of a scenario or of a script is one field of the struct that the simulator itself uses:
//!
//! ```
//! use kernel::Duration;
//! use settings::{Range, Settings};
//!
//! /// Controlled delay (RFC 8289).
//! #[derive(Clone, Debug, PartialEq, Settings)]
//! struct CoDel {
//!     /// The standing delay that is tolerated (RFC 8289 section 4.2).
//!     #[setting(key = "target_ms", default = 5.0, range = 0.0..=60_000.0)]
//!     target: Duration,
//!     /// What part of the packets is marked at most.
//!     #[setting(default = 0.1, range = Range::PROBABILITY)]
//!     marked: f64,
//! }
//!
//! assert_eq!(CoDel::default().target, Duration::from_millis(5));
//! assert_eq!(CoDel::keys(), ["target_ms", "marked"]);
//! ```
//!
//! From the declaration are derived: `Default`, reading from TOML, JSON and scripts, writing, the
//! JSON schema with its bounds, the message for a value out of range with its path, and the
//! reference page.
//!
//! `#[setting(...)]` above a field takes
//!
//! - `key = "target_ms"`: the key, if it is not the field's name; its last word is the unit.
//! - `default = 5.0`: a literal number is in that unit, any other expression has the field's type.
//!   Without it the default is that of the type.
//! - `range = 0.0..=1.0`: a range of written numbers, or a [`Range`].
//! - `too_low = ["...", "..."]`: message and remedy where a number is below the range; `{is}` is
//!   the number.
//! - `required = "as 0.01"`: there is no default. The text is the remedy where the key is missing;
//!   without a text a rule of the document reports it.
//! - `alias = "old_key"`: a name of the key from an earlier version.
//! - `flatten`: the keys of the field's table are keys of this table; [`Free`] permits any key.
//! - `skip`: no key sets the field.
//!
//! and `#[settings(...)]` above a struct takes `name = "..."`, its name in the schema, which
//! otherwise is its own name without a `Settings` or `Config` at the end, `check = function`, which
//! checks several keys against each other: `fn(&Self, &Path, &mut Faults)`, and
//! `preset = function`, which gives the values of absent keys where they depend on another key:
//! `fn(&Node) -> Self`.
//!
//! `#[derive(Choice)]` is for an enum whose variants are plain names, or names with one table
//! (`control = "cubic"`, `control.cubic.beta = 0.5`); [`registry!`] declares such an enum from a
//! list of files. Its name in the schema is its own name or `#[settings(name = "...")]`.
//! [`numbered!`] declares a choice among numbers.

pub mod address;
mod any;
mod check;
mod choice;
mod edit;
mod fault;
mod free;
mod issue;
mod number;
mod path;
mod place;
mod range;
mod read;
mod schema;
mod setting;
mod survey;
mod table;
mod text;
mod tree;
mod unit;

pub use any::AnySetting;
pub use check::{Check, Faults};
pub use choice::{
    Choice, Named, Variant, VariantTable, describe_choice, describe_numbers, not_among,
    write_variant,
};
pub use edit::{Root, get, put_at, set, value_of};
pub use fault::{Fault, nearest};
pub use free::Free;
pub use issue::{Issue, Repair, Said};
pub use number::{Number, number};
pub use path::{Path, Step, is_bare, shown};
pub use place::Place;
pub use range::Range;
pub use read::{read, read_sound};
pub use schema::{Defined, Definitions, schema};
pub use setting::Setting;
pub use settings_derive::{Choice, Settings};
pub use survey::Survey;
pub use table::{
    Field, Key, Settings, Table, describe_table, names, read_table, relate_table, write_table,
};
pub use text::{repaired, with_value};
pub use tree::{Node, Value, plural};
pub use unit::Unit;

// Items that the derived code uses.
#[doc(hidden)]
pub use serde_json::{Map, Value as Json, json};
