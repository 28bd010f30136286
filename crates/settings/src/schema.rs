//! The JSON schema, and queries about it.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The JSON schema (draft 2020-12) of a document.
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(in_one_line).transform(&mut schema);
    schema.to_value()
}

/// Descriptions without the line breaks of the source.
fn in_one_line(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}

/// Gives a type a definition of its own in the schema: its name there, and the function that
/// describes it. Types of equal names get different definitions.
#[doc(hidden)]
#[macro_export]
macro_rules! defined_in_schema {
    ($Type:ty, $name:expr, $describe:expr) => {
        impl $crate::schemars::JsonSchema for $Type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($Type)).into()
            }

            fn json_schema(
                generator: &mut $crate::schemars::SchemaGenerator,
            ) -> $crate::schemars::Schema {
                $describe(generator)
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
            generator: &mut $crate::schemars::SchemaGenerator,
        ) -> $crate::schemars::Schema {
            generator.subschema_for::<Self>()
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
    use serde_json::json;

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
