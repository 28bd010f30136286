//! Tables with keys of any name.

use serde_json::json;
use settings::{Free, Node, Setting, Settings, Unit, read, schema};

/// A thing that is defined elsewhere.
#[derive(Clone, Debug, PartialEq, Settings)]
struct Foreign {
    /// Where.
    path: String,
    #[setting(flatten)]
    free: Free,
}

fn foreign(toml: &str) -> Result<Foreign, String> {
    read(&Node::from_toml(toml).unwrap()).map_err(|issues| issues[0].with_line())
}

#[test]
fn free_keys_are_written_as_they_were_read() {
    let given = foreign("path = \"a:B\"\nbeta = 0.5\ncount = 3\nfast = true\nname = \"x\"");
    let written = given.unwrap().write(Unit::NONE);
    let wanted = json!({ "path": "a:B", "beta": 0.5, "count": 3, "fast": true, "name": "x" });
    assert_eq!(written, wanted);
}

#[test]
fn a_free_key_has_a_single_value() {
    let fault = |toml| foreign(toml).unwrap_err();
    assert_eq!(
        fault("path = \"a:B\"\nbeta = [1, 2]"),
        "beta (line 2): must be a number, a text, true or false, is a list of 2 values"
    );
    assert_eq!(fault("beta = inf"), "beta (line 1): must be a finite number");
    assert!(
        fault("path = 1").starts_with("path (line 1): must be text, is 1"),
        "a declared key stays"
    );
}

#[test]
fn the_schema_permits_free_keys() {
    let schema = schema::<Foreign>();
    assert_eq!(schema["additionalProperties"]["type"], json!(["number", "string", "boolean"]));
    assert_eq!(schema["properties"].as_object().unwrap().len(), 1);
}
