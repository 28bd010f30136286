//! The JSON schema, and queries about it.

use crate::path::Step;
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A type with a definition of its own in the schema.
pub trait Defined: 'static {
    /// Its name there. Types of equal names get different ones.
    fn schema_name() -> &'static str;

    /// Its schema.
    fn definition(definitions: &mut Definitions) -> Value;
}

/// The definitions to which a schema refers, in the order in which a reader meets them.
#[derive(Debug, Default)]
pub struct Definitions {
    by_name: Map<String, Value>,
    names: BTreeMap<TypeId, String>,
}

impl Definitions {
    /// A schema that refers to the definition of a type, which is added if it is new.
    pub fn refer<T: Defined>(&mut self) -> Value {
        self.refer_to(TypeId::of::<T>(), T::schema_name(), T::definition)
    }

    // One function for all types, and not one for each: compiling them takes long.
    fn refer_to(&mut self, id: TypeId, name: &str, definition: fn(&mut Self) -> Value) -> Value {
        let name = self.names.get(&id).cloned().unwrap_or_else(|| {
            let name = self.unused(name);
            self.names.insert(id, name.clone());
            // Its place is before those to which it refers.
            self.by_name.insert(name.clone(), Value::Null);
            let schema = definition(self);
            self.by_name.insert(name.clone(), schema);
            name
        });
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    /// This name, or with a number if it is taken.
    fn unused(&self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !self.by_name.contains_key(name)).expect("there is always a next number")
    }

    /// What a definition describes, by a schema that refers to it.
    pub(crate) fn description(&self, reference: &Value) -> Option<&str> {
        let name = reference.get("$ref")?.as_str()?.rsplit('/').next()?;
        self.by_name.get(name)?.get("description")?.as_str()
    }
}

/// The JSON schema (draft 2020-12) of a document.
pub fn schema<T: Defined>() -> &'static Value {
    &made::<T>().0
}

/// A schema and the places of its keys, which are made once: that takes 8 ms, and messages about
/// faults look things up in them.
fn made<T: Defined>() -> &'static (Value, Places) {
    static MADE: Mutex<BTreeMap<TypeId, &'static (Value, Places)>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(TypeId::of::<T>()).or_insert_with(|| {
        let root = make::<T>();
        let places = Places::in_schema(&root);
        Box::leak(Box::new((root, places)))
    })
}

fn make<T: Defined>() -> Value {
    let mut definitions = Definitions::default();
    let mut root = T::definition(&mut definitions);
    root["title"] = Value::from(T::schema_name());
    root["$schema"] = Value::from(DIALECT);
    if !definitions.by_name.is_empty() {
        root["$defs"] = Value::Object(definitions.by_name);
    }
    root
}

/// Gives a type a definition of its own in the schema: its name there, and the function that
/// describes it.
#[doc(hidden)]
#[macro_export]
macro_rules! defined_in_schema {
    ($Type:ty, $name:expr, $describe:expr) => {
        impl $crate::Defined for $Type {
            fn schema_name() -> &'static str {
                $name
            }

            fn definition(definitions: &mut $crate::Definitions) -> $crate::Json {
                $describe(definitions)
            }
        }
    };
}

/// The part of [`Setting`](crate::Setting) by which a key's schema refers to that definition.
#[doc(hidden)]
#[macro_export]
macro_rules! refers_to_definition {
    () => {
        fn schema(
            _: $crate::Unit,
            _: &$crate::Range,
            definitions: &mut $crate::Definitions,
        ) -> $crate::Json {
            definitions.refer::<Self>()
        }
    };
}

/// The paths at which a schema has each key.
#[derive(Debug, Default)]
pub(crate) struct Places(BTreeMap<String, Vec<String>>);

impl Places {
    /// Those of a document.
    pub(crate) fn of<T: Defined>() -> &'static Self {
        &made::<T>().1
    }

    fn in_schema(root: &Value) -> Self {
        let mut found = Self(BTreeMap::new());
        found.search(root, root, "");
        found.0.values_mut().for_each(Vec::dedup);
        found
    }

    /// The paths of the keys with this name.
    pub(crate) fn with_key(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// Walks the schema; it has no recursive types.
    fn search(&mut self, schema: &Value, root: &Value, path: &str) {
        if let Some(target) = referred(schema, root) {
            self.search(target, root, path);
        }
        for (name, inner) in properties(schema) {
            let dot = if path.is_empty() { "" } else { "." };
            let inner_path = format!("{path}{dot}{name}");
            let place = match path {
                "" => "the top, above the first [table]".to_owned(),
                _ => inner_path.clone(),
            };
            self.0.entry(name.clone()).or_default().push(place);
            self.search(inner, root, &inner_path);
        }
        for inner in alternatives(schema) {
            self.search(inner, root, path);
        }
        if let Some(inner) = schema.get("items") {
            self.search(inner, root, &format!("{path}[*]"));
        }
    }
}

fn referred<'a>(schema: &Value, root: &'a Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.trim_start_matches('#'))
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|key| schema.get(key));
    lists.filter_map(Value::as_array).flatten()
}

/// Some values that the schema permits at a path: what stands for a faulty one to see which other
/// faults depend on it.
pub(crate) fn samples(schema: &Value, root: &Value, steps: &[Step], found: &mut Vec<Value>) {
    if let Some(target) = referred(schema, root) {
        samples(target, root, steps, found);
    }
    for inner in alternatives(schema) {
        samples(inner, root, steps, found);
    }
    match steps.split_first() {
        Some((Step::Key(key), rest)) => {
            for (_, inner) in properties(schema).filter(|(name, _)| *name == key) {
                samples(inner, root, rest, found);
            }
        }
        Some((_, rest)) => {
            if let Some(inner) = schema.get("items") {
                samples(inner, root, rest, found);
            }
        }
        None => found.extend(values_of(schema)),
    }
}

/// Some values of a schema of one value.
fn values_of(schema: &Value) -> Vec<Value> {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let named = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let mut values: Vec<Value> = schema.get("const").into_iter().chain(named).cloned().collect();
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => values.extend([Value::from(false), Value::from(true)]),
        Some("integer") => {
            values
                .extend(["minimum", "maximum"].iter().filter_map(|key| schema.get(*key)).cloned());
        }
        Some("number") => {
            let low = number("minimum").or(number("exclusiveMinimum"));
            let high = number("maximum").or(number("exclusiveMaximum"));
            if let (Some(low), Some(high)) = (low, high) {
                let inside = |part: f64| Value::from(low + (high - low) * part);
                values.extend([inside(1e-6), inside(0.5), inside(1.0 - 1e-6)]);
            }
        }
        Some("object") if properties(schema).next().is_some() => {
            values.push(Value::Object(Map::new()));
        }
        _ => {}
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_wherever_it_stands() {
        let root = json!({
            "$defs": {
                "Queue": { "oneOf": [
                    { "properties": { "drr": { "properties": { "per": {} } } } },
                    { "properties": { "red": { "properties": { "max_p": {} } } } },
                ] },
            },
            "properties": {
                "duration_s": {},
                "ap": { "properties": { "queue": { "$ref": "#/$defs/Queue" } } },
                "links": { "items": { "properties": { "queue": { "$ref": "#/$defs/Queue" } } } },
            },
        });
        let found = Places::in_schema(&root);
        let places = |key: &str| found.with_key(key).to_vec();
        assert_eq!(places("max_p"), ["ap.queue.red.max_p", "links[*].queue.red.max_p"]);
        assert_eq!(places("duration_s"), ["the top, above the first [table]"]);
        assert_eq!(places("nonsense"), [""; 0]);
    }
}
