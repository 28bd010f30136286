//! Tables of keys.

use crate::check::{Faults, TableCheck};
use crate::path::Path;
use crate::range::Range;
use crate::setting::Setting;
use crate::unit::Unit;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserializer, Serializer};
use serde_json::{Map, Value as Json};
use std::fmt;
use std::marker::PhantomData;

/// A table of keys; see the crate's documentation for how one is declared.
pub trait Settings: Default {
    /// What the schema calls it.
    const NAME: &'static str;
    /// What it is for.
    const MEANING: &'static str;

    /// The keys, those of tables among them included.
    fn keys() -> &'static [&'static str];

    /// Reads the value of a key; `false` if there is no such key.
    ///
    /// # Errors
    /// The map's, where the value does not have the key's shape.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;

    /// Writes every key.
    ///
    /// # Errors
    /// The map's.
    fn give<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Describes every key, with its default.
    fn describe(default: &Self, table: &mut Description, generator: &mut SchemaGenerator);

    /// Checks every number that was written.
    fn check_keys(table: &mut TableCheck<'_>);

    /// Relates keys to each other.
    fn relate_keys(&self, at: &Path, faults: &mut Faults);
}

/// Reads a table.
///
/// # Errors
/// The deserializer's, where a key is unknown or a value does not have its shape.
pub fn read_table<'de, T: Settings, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    struct Table<T>(PhantomData<T>);

    impl<'de, T: Settings> Visitor<'de> for Table<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a table with the keys {}", T::keys().join(", "))
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut table = T::default();
            while let Some(key) = map.next_key::<String>()? {
                if !table.take(&key, &mut map)? {
                    map.next_value_seed(Unknown { key: &key, known: T::keys() })?;
                }
            }
            Ok(table)
        }
    }
    from.deserialize_struct(T::NAME, T::keys(), Table(PhantomData))
}

/// The value of a key that there is not: a fault at its place.
struct Unknown<'a> {
    key: &'a str,
    known: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for Unknown<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<(), D::Error> {
        Err(D::Error::unknown_field(self.key, self.known))
    }
}

/// Writes a table with every key.
///
/// # Errors
/// The serializer's.
pub fn write_table<T: Settings, S: Serializer>(table: &T, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(None)?;
    table.give(&mut map)?;
    map.end()
}

/// The schema of a table.
pub fn describe_table<T: Settings + JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut table = Description::default();
    T::describe(&T::default(), &mut table, generator);
    let mut schema = json_schema!({
        "description": T::MEANING,
        "type": "object",
        "properties": table.properties,
        "additionalProperties": false,
    });
    if !table.required.is_empty() {
        schema.insert("required".to_owned(), Json::from(table.required));
    }
    schema
}

/// What the keys of a table are.
#[derive(Debug, Default)]
pub struct Description {
    properties: Map<String, Json>,
    required: Vec<&'static str>,
}

impl Description {
    /// One more key.
    pub fn key<T: Setting>(
        &mut self,
        key: &'static str,
        meaning: &str,
        default: &T,
        range: &Range,
        required: Option<&str>,
        generator: &mut SchemaGenerator,
    ) {
        let unit = Unit::of(key);
        let schema = T::schema(unit, range, generator);
        let shown = if required.is_some() { None } else { default.shown(unit) };
        self.insert(key, meaning, schema, shown, required.is_some());
    }

    fn insert(
        &mut self,
        key: &'static str,
        meaning: &str,
        mut schema: Schema,
        default: Option<Json>,
        required: bool,
    ) {
        if !meaning.is_empty() {
            schema.insert("description".to_owned(), Json::from(meaning));
        }
        if let Some(default) = default {
            schema.insert("default".to_owned(), default);
        }
        if required {
            self.required.push(key);
        }
        self.properties.insert(key.to_owned(), schema.to_value());
    }
}
