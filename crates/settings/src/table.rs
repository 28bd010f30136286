//! Tables of keys.

use crate::check::{Faults, TableCheck};
use crate::fault::{Fault, Kind};
use crate::path::Path;
use crate::range::Range;
use crate::schema::Definitions;
use crate::setting::Setting;
use crate::tree::Node;
use crate::unit::Unit;
use serde_json::{Map, Value as Json, json};

/// A table of keys; the documentation of the crate describes the declaration.
pub trait Settings: Default {
    /// Its name in the schema.
    const NAME: &'static str;
    /// Its description.
    const MEANING: &'static str;

    /// The keys, including those of flattened tables.
    fn keys() -> &'static [&'static str];

    /// The table whose values the keys have that a document does not give; a preset, if a key of
    /// the document names one.
    fn preset(_document: &Node) -> Self {
        Self::default()
    }

    /// Reads the value of a key; `false` if there is no such key.
    ///
    /// # Errors
    /// All faults of shape in the value.
    fn take(&mut self, key: &str, value: &Node) -> Result<bool, Fault>;

    /// Writes every key.
    fn give(&self, table: &mut Map<String, Json>);

    /// Describes every key, with its default.
    fn describe(default: &Self, table: &mut Description, definitions: &mut Definitions);

    /// Checks every number that was written.
    fn check_keys(table: &mut TableCheck<'_>);

    /// Relates keys to each other.
    fn relate_keys(&self, at: &Path, faults: &mut Faults);
}

/// Reads a table.
///
/// # Errors
/// All faults of shape: keys that are unknown, and values that do not have their shape.
pub fn read_table<T: Settings>(node: &Node) -> Result<T, Fault> {
    let mut table = T::preset(node);
    read_entries(node, T::keys(), &mut |key, value| table.take(key, value))?;
    Ok(table)
}

/// Gives each key with its value to `take`, which says whether there is such a key.
fn read_entries(
    node: &Node,
    known: &'static [&'static str],
    take: &mut dyn FnMut(&str, &Node) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    /// A table with more unknown keys is another kind of text.
    const MOST_UNKNOWN: usize = 200;
    let (mut faults, mut unknown) = (Fault::default(), 0);
    for (key, value) in node.table(known)? {
        match take(key, value) {
            Ok(true) => {}
            Ok(false) => {
                unknown += 1;
                if unknown <= MOST_UNKNOWN {
                    faults.extend(Fault::new(Kind::UnknownKey { known }).in_key(key));
                }
            }
            Err(fault) => faults.extend(fault.in_key(key)),
        }
    }
    faults.or(())
}

/// Writes a table with every key.
pub fn write_table<T: Settings>(table: &T) -> Json {
    let mut map = Map::new();
    table.give(&mut map);
    Json::Object(map)
}

/// What follows from [`Settings`]: reading, writing, schema and checks.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_by_table {
    ($Table:ty) => {
        $crate::defined_in_schema!(
            $Table,
            <Self as $crate::Settings>::NAME,
            $crate::describe_table::<Self>
        );

        impl $crate::Setting for $Table {
            fn read(
                node: &$crate::Node,
                _: $crate::Unit,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                $crate::read_table(node)
            }

            fn write(&self, _: $crate::Unit) -> $crate::Json {
                $crate::write_table(self)
            }

            $crate::refers_to_definition!();

            fn check(node: &$crate::Node, check: $crate::Check<'_>) {
                <Self as $crate::Settings>::check_keys(&mut check.table(node));
            }

            fn relate(&self, at: &$crate::Path, faults: &mut $crate::Faults) {
                $crate::Settings::relate_keys(self, at, faults);
            }

            fn shown(&self, _: $crate::Unit) -> ::core::option::Option<$crate::Json> {
                None
            }

            fn is_empty_table() -> bool {
                <Self as $crate::Settings>::keys().is_empty()
            }
        }
    };
}

/// The schema of a table.
pub fn describe_table<T: Settings>(definitions: &mut Definitions) -> Json {
    let mut table = Description::default();
    T::describe(&T::default(), &mut table, definitions);
    table.schema(T::MEANING)
}

// What a table needs for each of its keys is a call and not code of its own: the derived functions
// are called once, and compiling them is much of the time of a build.

/// Writes the value of a key.
#[doc(hidden)]
pub fn put(table: &mut Map<String, Json>, key: &str, value: Json) {
    table.insert(key.to_owned(), value);
}

/// Finds violations of rules that relate keys of the value of a key.
#[doc(hidden)]
#[inline(never)]
pub fn relate_key<T: Setting>(value: &T, key: &str, at: &Path, faults: &mut Faults) {
    value.relate(&at.key(key), faults);
}

/// The descriptions of a table's keys.
#[derive(Debug)]
pub struct Description {
    properties: Map<String, Json>,
    required: Vec<&'static str>,
    /// The schema of all other keys. `false` would do where there are none, but then a validator
    /// reports the whole table (taplo each value in it), and not the key.
    others: Json,
}

impl Default for Description {
    fn default() -> Self {
        let others = json!({ "not": { "title": "an unknown key" } });
        Self { properties: Map::new(), required: Vec::new(), others }
    }
}

impl Description {
    /// Permits keys of any name.
    pub(crate) fn others(&mut self, schema: Json) {
        self.others = schema;
    }

    fn schema(self, meaning: &str) -> Json {
        let mut schema = json!({
            "description": meaning,
            "type": "object",
            "properties": self.properties,
            "additionalProperties": self.others,
        });
        if !self.required.is_empty() {
            schema["required"] = Json::from(self.required);
        }
        schema
    }

    /// Adds a key.
    #[inline(never)]
    pub fn key<T: Setting>(
        &mut self,
        key: &'static str,
        meaning: &str,
        default: &T,
        range: &Range,
        required: Option<&str>,
        definitions: &mut Definitions,
    ) {
        let unit = Unit::of(key);
        let schema = T::schema(unit, range, definitions);
        let shown = if required.is_some() { None } else { default.shown(unit) };
        self.insert(key, meaning, schema, shown, required.is_some());
    }

    fn insert(
        &mut self,
        key: &'static str,
        meaning: &str,
        mut schema: Json,
        default: Option<Json>,
        required: bool,
    ) {
        if !meaning.is_empty() {
            schema["description"] = Json::from(meaning);
        }
        if let Some(default) = default {
            schema["default"] = default;
        }
        if required {
            self.required.push(key);
        }
        self.properties.insert(key.to_owned(), schema);
    }
}
