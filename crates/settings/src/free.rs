//! Keys with free names, for settings of what is defined outside the simulator.

use crate::any::AnySetting;
use crate::fault::Fault;
use crate::table::{Field, Settings, Table};
use crate::tree::{Node, Value};
use serde_json::{Map, Value as Json};
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

    pub(crate) fn take(&mut self, key: &str, value: &Node) -> Result<bool, Fault> {
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

    pub(crate) fn give(&self, table: &mut Map<String, Json>) {
        for (key, value) in &self.0 {
            table.insert(key.clone(), Node::of(value.clone()).to_json());
        }
    }
}

impl Settings for Free {
    const NAME: &'static str = "Free";
    const MEANING: &'static str = "";
    const FIELDS: &'static [Field] = &[];

    fn keys() -> &'static [&'static str] {
        &[]
    }
}

impl Table for Free {
    fn fields(&self) -> &'static [Field] {
        Self::FIELDS
    }

    fn value(&self, _: usize) -> &dyn AnySetting {
        unreachable!("it has no fields")
    }

    fn value_mut(&mut self, _: usize) -> &mut dyn AnySetting {
        unreachable!("it has no fields")
    }

    fn free(&self) -> Option<&Free> {
        Some(self)
    }

    fn free_mut(&mut self) -> Option<&mut Free> {
        Some(self)
    }
}

crate::setting_by_table!(Free);
