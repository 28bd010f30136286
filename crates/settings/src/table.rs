//! Tables of keys.
//!
//! What is declared of a table is a constant, [`Settings::FIELDS`]: reading, writing, schema and
//! checks go through it here, once for all types. The derived code of a table is that constant and
//! access to the values of its fields. Given up for it: direct calls where settings are read. Code
//! of its own for each key was a fifth of the machine code of the protocol crates.

use crate::any::AnySetting;
use crate::check::{Check, Faults};
use crate::fault::{Fault, Kind};
use crate::free::Free;
use crate::path::{Path, Step};
use crate::range::Range;
use crate::schema::Definitions;
use crate::tree::Node;
use crate::unit::Unit;
use serde_json::{Map, Value as Json, json};

/// A table of keys; the documentation of the crate describes the declaration.
pub trait Settings: Table + Default {
    /// Its name in the schema.
    const NAME: &'static str;
    /// Its description.
    const MEANING: &'static str;
    /// Its fields that keys set, as declared.
    const FIELDS: &'static [Field];

    /// The keys, including those of flattened tables.
    fn keys() -> &'static [&'static str];

    /// The table whose values the keys have that a document does not give; a preset, if a key of
    /// the document names one.
    fn preset(_document: &Node) -> Self {
        Self::default()
    }
}

/// A field that keys set.
#[derive(Debug)]
pub enum Field {
    /// The value of a key.
    Key(Key),
    /// A table with these fields, whose keys are keys of the table around it.
    Flat(&'static [Field]),
}

/// What is declared of a key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its name in an earlier version.
    pub alias: Option<&'static str>,
    /// Its description.
    pub meaning: &'static str,
    /// The unit of its number.
    pub unit: Unit,
    /// The range of its number.
    pub range: Range,
    /// The remedy where the key is missing, if there is no default.
    pub required: Option<&'static str>,
    /// `Setting::schema` of its type.
    pub schema: fn(Unit, &Range, &mut Definitions) -> Json,
    /// `Setting::check` of its type.
    pub check: fn(&Node, Check<'_>),
}

/// A table of keys, of whatever type.
pub trait Table {
    /// [`Settings::FIELDS`].
    fn fields(&self) -> &'static [Field];

    /// The value of the field with this number among them.
    fn value(&self, number: usize) -> &dyn AnySetting;

    /// The same, to change it.
    fn value_mut(&mut self, number: usize) -> &mut dyn AnySetting;

    /// Relates keys of this table to each other.
    fn relate_fields(&self, _at: &Path, _faults: &mut Faults) {}

    /// This table, if any key may be in it.
    fn free(&self) -> Option<&Free> {
        None
    }

    /// The same, to change it.
    fn free_mut(&mut self) -> Option<&mut Free> {
        None
    }
}

impl dyn Table + '_ {
    /// Reads the value of a key; `false` if there is no such key.
    fn take(&mut self, name: &str, node: &Node) -> Result<bool, Fault> {
        if let Some(free) = self.free_mut() {
            return free.take(name, node);
        }
        let fields = self.fields();
        for (number, field) in fields.iter().enumerate() {
            if let Field::Key(key) = field
                && (key.name == name || key.alias == Some(name))
            {
                return self.value_mut(number).set(node, key.unit).map(|()| true);
            }
        }
        for number in (0..fields.len()).filter(|number| matches!(fields[*number], Field::Flat(_))) {
            if flat(self.value_mut(number).table_mut()).take(name, node)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes every key.
    fn give(&self, map: &mut Map<String, Json>) {
        if let Some(free) = self.free() {
            free.give(map);
        }
        for (number, field) in self.fields().iter().enumerate() {
            let value = self.value(number);
            match field {
                Field::Key(key) => {
                    map.insert(key.name.to_owned(), value.write(key.unit));
                }
                Field::Flat(_) => flat(value.table()).give(map),
            }
        }
    }

    /// Describes every key, with its default, which is the value here.
    fn describe(&self, table: &mut Description, definitions: &mut Definitions) {
        if self.free().is_some() {
            table.others = json!({ "type": ["number", "string", "boolean"] });
        }
        for (number, field) in self.fields().iter().enumerate() {
            let value = self.value(number);
            match field {
                Field::Key(key) => table.key(key, value, definitions),
                Field::Flat(_) => flat(value.table()).describe(table, definitions),
            }
        }
    }

    /// Finds violations of rules that relate several keys.
    pub(crate) fn relate(&self, at: &Path, faults: &mut Faults) {
        // One path for all keys, most of which relate nothing.
        let mut path = at.clone();
        for (number, field) in self.fields().iter().enumerate() {
            let value = self.value(number);
            match field {
                Field::Key(key) => {
                    path.0.push(Step::Key(key.name.to_owned()));
                    value.relate(&path, faults);
                    path.0.pop();
                }
                Field::Flat(_) => flat(value.table()).relate(at, faults),
            }
        }
        self.relate_fields(at, faults);
    }
}

fn flat<T>(table: Option<T>) -> T {
    table.expect("a flattened field is a table")
}

/// The names of all keys.
#[doc(hidden)]
pub fn names(fields: &[Field]) -> Vec<&'static str> {
    let names = fields.iter().map(|field| match field {
        Field::Key(key) => vec![key.name],
        Field::Flat(fields) => names(fields),
    });
    names.flatten().collect()
}

/// Gives the keys of a document to a table.
///
/// # Errors
/// All faults of shape: keys that are unknown, and values that do not have their shape.
pub fn read_table(
    table: &mut dyn Table,
    known: &'static [&'static str],
    node: &Node,
) -> Result<(), Fault> {
    /// A table with more unknown keys is another kind of text.
    const MOST_UNKNOWN: usize = 200;
    let (mut faults, mut unknown) = (Fault::default(), 0);
    for (key, value) in node.table(known)? {
        match table.take(key, value) {
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
pub fn write_table(table: &dyn Table) -> Json {
    let mut map = Map::new();
    table.give(&mut map);
    Json::Object(map)
}

/// The schema of a table with these defaults.
pub fn describe_table(table: &dyn Table, meaning: &str, definitions: &mut Definitions) -> Json {
    let mut description = Description::default();
    table.describe(&mut description, definitions);
    description.schema(meaning)
}

/// Finds violations of rules that relate several keys of a table.
pub fn relate_table(table: &dyn Table, at: &Path, faults: &mut Faults) {
    table.relate(at, faults);
}

/// What follows from [`Settings`]: reading, writing, schema and checks.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_by_table {
    ($Table:ty) => {
        $crate::defined_in_schema!($Table, <Self as $crate::Settings>::NAME, |definitions| {
            let (default, meaning) = (Self::default(), <Self as $crate::Settings>::MEANING);
            $crate::describe_table(&default, meaning, definitions)
        });

        impl $crate::Setting for $Table {
            fn read(
                node: &$crate::Node,
                _: $crate::Unit,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                let mut table = <Self as $crate::Settings>::preset(node);
                $crate::read_table(&mut table, <Self as $crate::Settings>::keys(), node)?;
                Ok(table)
            }

            fn write(&self, _: $crate::Unit) -> $crate::Json {
                $crate::write_table(self)
            }

            $crate::refers_to_definition!();

            fn check(node: &$crate::Node, mut check: $crate::Check<'_>) {
                check.table(<Self as $crate::Settings>::FIELDS, node);
            }

            fn relate(&self, at: &$crate::Path, faults: &mut $crate::Faults) {
                $crate::relate_table(self, at, faults);
            }

            fn shown(&self, _: $crate::Unit) -> ::core::option::Option<$crate::Json> {
                None
            }

            fn is_empty_table() -> bool {
                <Self as $crate::Settings>::keys().is_empty()
            }

            fn as_table(&self) -> ::core::option::Option<&dyn $crate::Table> {
                Some(self)
            }

            fn as_table_mut(&mut self) -> ::core::option::Option<&mut dyn $crate::Table> {
                Some(self)
            }
        }
    };
}

/// The descriptions of a table's keys.
#[derive(Debug)]
struct Description {
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

    fn key(&mut self, key: &'static Key, default: &dyn AnySetting, definitions: &mut Definitions) {
        let mut schema = (key.schema)(key.unit, &key.range, definitions);
        if !key.meaning.is_empty() {
            schema["description"] = Json::from(key.meaning);
        }
        if key.required.is_some() {
            self.required.push(key.name);
        } else if let Some(default) = default.shown(key.unit) {
            schema["default"] = default;
        }
        self.properties.insert(key.name.to_owned(), schema);
    }
}
