//! The JSON schema, and queries about it.

use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::collections::BTreeMap;

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
pub fn schema<T: Defined>() -> Value {
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

/// The paths of the keys with this name.
pub(crate) fn places(root: &Value, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    search(root, root, "", key, &mut found);
    found.dedup();
    found
}

/// Walks the schema; it has no recursive types.
fn search(schema: &Value, root: &Value, path: &str, key: &str, found: &mut Vec<String>) {
    let reference = schema.get("$ref").and_then(Value::as_str);
    if let Some(target) = reference.and_then(|to| root.pointer(to.trim_start_matches('#'))) {
        search(target, root, path, key, found);
    }
    for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let dot = if path.is_empty() { "" } else { "." };
        let inner_path = format!("{path}{dot}{name}");
        if name == key && path.is_empty() {
            found.push("the top, above the first [table]".to_owned());
        } else if name == key {
            found.push(inner_path.clone());
        }
        search(inner, root, &inner_path, key, found);
    }
    for alternatives in ["oneOf", "anyOf", "allOf"] {
        let alternatives = schema.get(alternatives).and_then(Value::as_array);
        for inner in alternatives.into_iter().flatten() {
            search(inner, root, path, key, found);
        }
    }
    if let Some(inner) = schema.get("items") {
        search(inner, root, &format!("{path}[*]"), key, found);
    }
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
        assert_eq!(places(&root, "max_p"), ["ap.queue.red.max_p", "links[*].queue.red.max_p"]);
        assert_eq!(places(&root, "duration_s"), ["the top, above the first [table]"]);
        assert_eq!(places(&root, "nonsense"), [""; 0]);
    }
}
