//! Keys with free names, for settings of what is defined outside the simulator.

use crate::check::{Faults, TableCheck};
use crate::fault::Fault;
use crate::path::Path;
use crate::schema::Definitions;
use crate::table::{Description, Settings};
use crate::tree::{Node, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The keys of a table that no field declares: any name, with a number, a text, true or false.
/// `#[setting(flatten)]` adds them to a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Free(BTreeMap<String, Value>);

impl Free {
    /// The keys with their values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl Settings for Free {
    const NAME: &'static str = "Free";
    const MEANING: &'static str = "";

    fn keys() -> &'static [&'static str] {
        &[]
    }

    fn take(&mut self, key: &str, value: &Node) -> Result<bool, Fault> {
        match &value.value {
            Value::Float(number) if !number.is_finite() => {
                return Err(Fault::here("must be a finite number"));
            }
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => {}
            _ => return Err(value.wrong("a number, a text, true or false", "")),
        }
        self.0.insert(key.to_owned(), value.value.clone());
        Ok(true)
    }

    fn give(&self, table: &mut Map<String, Json>) {
        for (key, value) in &self.0 {
            table.insert(key.clone(), Node::of(value.clone()).to_json());
        }
    }

    fn describe(_: &Self, table: &mut Description, _: &mut Definitions) {
        table.others(json!({ "type": ["number", "string", "boolean"] }));
    }

    fn check_keys(_: &mut TableCheck<'_>) {}

    fn relate_keys(&self, _: &Path, _: &mut Faults) {}
}
