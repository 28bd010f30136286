//! The JSON schema, and what can be learnt from it.

use super::document::Document;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Value, json};

/// The JSON schema (draft 2020-12) of a scenario, indented, with a newline at its end.
pub fn schema() -> String {
    format!("{:#}\n", root())
}

fn root() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<Document>();
    RecursiveTransform(bare_choices).transform(&mut schema);
    RecursiveTransform(tidy).transform(&mut schema);
    schema.to_value()
}

/// A choice may be written by its name alone: beside `{"bulk": {…}}` the schema allows `"bulk"`.
fn bare_choices(schema: &mut Schema) {
    let Some(Value::Array(variants)) = schema.get_mut("oneOf") else { return };
    let names: Vec<Value> = variants.iter().filter_map(sole_key).map(Value::from).collect();
    if !names.is_empty() {
        variants.push(json!({
            "description": "The name alone, with all defaults.",
            "type": "string",
            "enum": names,
        }));
    }
}

/// Descriptions without the line breaks of the source, and no default where a key is required.
fn tidy(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for key in required.iter().filter_map(Value::as_str) {
        if let Some(Value::Object(property)) = properties.get_mut(key) {
            property.remove("default");
        }
    }
}

/// The key of a variant with settings.
fn sole_key(variant: &Value) -> Option<&str> {
    let required = variant.get("required")?.as_array()?;
    let [only] = &required[..] else { return None };
    only.as_str()
}

/// The paths at which a key of this name stands.
pub(super) fn places(key: &str) -> Vec<String> {
    let root = root();
    let mut found = Vec::new();
    search(&root, &root, "", key, &mut found);
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
        assert_eq!(places("slot_grid"), ["wlan.slot_grid"]);
        assert_eq!(places("window_bytes"), ["flows[*].tcp.window_bytes"]);
        assert_eq!(places("duration_s"), ["the top, above the first [table]"]);
        assert_eq!(
            places("per"),
            [
                "stations.queue.drr.per",
                "stations[*].queue.drr.per",
                "ap.queue.drr.per",
                "cells[*].queue.drr.per",
                "wire.queue.drr.per",
                "links[*].queue.drr.per",
                "links[*].reverse.queue.drr.per"
            ]
        );
        assert_eq!(places("nonsense"), [""; 0]);
    }
}
