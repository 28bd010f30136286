//! A document as a tree: the common form of TOML and JSON, in the order of the text and with the
//! line of each value.

use crate::path::{Path, Step, is_bare, shown};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::fmt;
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Counted from 1; 0 if the value does not come from a text with lines.
    pub line: usize,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// A text.
    Text(String),
    /// A TOML date or time. No key accepts one; it is kept for the message.
    Date(String),
    /// A list.
    List(Vec<Node>),
    /// A table, in the order of the text.
    Table(Vec<(String, Node)>),
}

impl Node {
    /// A table without a key.
    pub const EMPTY: Self = Self { value: Value::Table(Vec::new()), line: 0 };

    /// A tree from TOML.
    ///
    /// # Errors
    /// That of the TOML parser.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let document = DeTable::parse(text)?;
        let lines = Lines::of(text);
        Ok(Self { value: table(document.get_ref(), &lines), line: 1 })
    }

    /// A tree from a single TOML value.
    ///
    /// # Errors
    /// That of the TOML parser.
    pub fn from_toml_value(text: &str) -> Result<Self, toml::de::Error> {
        let value = DeValue::parse(text)?;
        Ok(Self { value: convert(value.get_ref(), &Lines(Vec::new())), line: 0 })
    }

    /// The text at a key of a table.
    pub fn text_at(&self, key: &str) -> Option<&str> {
        let Value::Table(entries) = &self.value else { return None };
        match &entries.iter().find(|(name, _)| name == key)?.1.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Removes the value at a path, if there is one; an element of a list stays.
    pub fn remove(&mut self, path: &str) {
        let Ok(Path(steps)) = Path::parse(path) else { return };
        let mut node = self;
        for (position, step) in steps.iter().enumerate() {
            let last = position + 1 == steps.len();
            node = match (step, &mut node.value) {
                (Step::Key(key), Value::Table(entries)) if last => {
                    return entries.retain(|(name, _)| name != key);
                }
                (Step::Key(key), Value::Table(entries)) => {
                    let inner = entries.iter_mut().find(|(name, _)| name == key);
                    let Some((_, inner)) = inner else { return };
                    inner
                }
                (Step::Index(index), Value::List(items)) => {
                    let Some(inner) = items.get_mut(*index) else { return };
                    inner
                }
                _ => return,
            };
        }
    }

    /// Removes all line numbers.
    pub fn forget_lines(&mut self) {
        self.line = 0;
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(Self::forget_lines),
            Value::Table(entries) => entries.iter_mut().for_each(|(_, node)| node.forget_lines()),
            _ => {}
        }
    }

    /// The kind of the value, and the value, for a message.
    pub fn described(&self) -> String {
        match &self.value {
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Text(text) => format!("\"{}\"", shown(text)),
            Value::Date(date) => format!("the date {date}"),
            Value::List(items) if items.is_empty() => "an empty list".to_owned(),
            Value::List(items)
                if items.iter().all(|item| matches!(item.value, Value::Table(_))) =>
            {
                format!("an array of {} table{}", items.len(), plural(items.len()))
            }
            Value::List(items) => format!("a list of {} value{}", items.len(), plural(items.len())),
            Value::Table(entries) if entries.is_empty() => "an empty table".to_owned(),
            Value::Table(entries) => format!("a table with the key {}", shown(&entries[0].0)),
        }
    }

    /// The tree as JSON; NaN and infinity become null.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Bool(value) => Json::from(*value),
            Value::Integer(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::Text(text) | Value::Date(text) => Json::from(text.clone()),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(entries) => {
                Json::Object(entries.iter().map(|(k, node)| (k.clone(), node.to_json())).collect())
            }
        }
    }

    /// The tree as TOML: single values first, then a section for each table, in which deeper values
    /// have dotted keys.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let Value::Table(entries) = &self.value else { return text };
        for (key, node) in entries {
            if section_heads(key, node).is_none() {
                lines_of(&mut text, &key_text(key), node);
            }
        }
        for (key, node) in entries {
            for (head, section) in section_heads(key, node).into_iter().flatten() {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&head);
                text.push('\n');
                for (key, node) in section {
                    lines_of(&mut text, &key_text(key), node);
                }
            }
        }
        text
    }
}

/// "s" for all counts except one.
pub fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

type Section<'a> = (String, &'a [(String, Node)]);

/// `[key]` with its entries, or `[[key]]` for each of several; `None` if the value is no section.
fn section_heads<'a>(key: &str, node: &'a Node) -> Option<Vec<Section<'a>>> {
    match &node.value {
        Value::Table(entries) => Some(vec![(format!("[{}]", key_text(key)), entries)]),
        Value::List(items) if !items.is_empty() => items
            .iter()
            .map(|item| match &item.value {
                Value::Table(entries) => Some((format!("[[{}]]", key_text(key)), &entries[..])),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// `key = value`, or one such line for each value of a table.
fn lines_of(text: &mut String, key: &str, node: &Node) {
    match &node.value {
        Value::Table(entries) if !entries.is_empty() => {
            for (inner, node) in entries {
                lines_of(text, &format!("{key}.{}", key_text(inner)), node);
            }
        }
        _ => text.extend([key, " = ", &inline(node), "\n"]),
    }
}

fn inline(node: &Node) -> String {
    match &node.value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => toml::Value::Float(*value).to_string(),
        Value::Text(text) => toml::Value::String(text.clone()).to_string(),
        Value::Date(date) => date.clone(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Table(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Table(entries) => {
            let parts: Vec<_> = entries
                .iter()
                .map(|(key, node)| format!("{} = {}", key_text(key), inline(node)))
                .collect();
            format!("{{ {} }}", parts.join(", "))
        }
    }
}

fn key_text(key: &str) -> String {
    if is_bare(key) { key.to_owned() } else { toml::Value::String(key.to_owned()).to_string() }
}

/// The offsets at which the lines after the first begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn number(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }
}

fn table(table: &DeTable<'_>, lines: &Lines) -> Value {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let node = |offset, value| Node { value: convert(value, lines), line: lines.number(offset) };
    Value::Table(
        entries
            .into_iter()
            .map(|(key, value)| {
                (key.get_ref().to_string(), node(key.span().start, value.get_ref()))
            })
            .collect(),
    )
}

fn convert(value: &DeValue<'_>, lines: &Lines) -> Value {
    match value {
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Integer(value) => match i64::from_str_radix(value.as_str(), value.radix()) {
            Ok(value) => Value::Integer(value),
            // Beyond 64 bits: still a number, which the key will reject as too large.
            Err(_) => Value::Float(value.as_str().parse().unwrap_or(f64::INFINITY)),
        },
        DeValue::Float(value) => Value::Float(value.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node {
                    value: convert(item.get_ref(), lines),
                    line: lines.number(item.span().start),
                })
                .collect(),
        ),
        DeValue::Table(inner) => table(inner, lines),
    }
}

/// From JSON; null stands for an absent key.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(JsonVisitor)?;
        value.map(|value| Self { value, line: 0 }).ok_or_else(|| de::Error::custom("null"))
    }
}

struct MaybeNull(Option<Node>);

impl<'de> Deserialize<'de> for MaybeNull {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(JsonVisitor)?;
        Ok(Self(value.map(|value| Node { value, line: 0 })))
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Value::Bool(value)))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Value::Integer(value)))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(match i64::try_from(value) {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Float(value as f64),
        }))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(Value::Float(value)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Value::Text(text.to_owned())))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<MaybeNull>()? {
            let null = || de::Error::custom("null in a list");
            list.push(item.0.ok_or_else(null)?);
        }
        Ok(Some(Value::List(list)))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut table = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            let node: MaybeNull = entries.next_value()?;
            if !seen.insert(key.clone()) {
                let message = format!("the key \"{}\" is given twice", shown(&key));
                return Err(de::Error::custom(message));
            }
            table.extend(node.0.map(|node| (key, node)));
        }
        Ok(Some(Value::Table(table)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_keeps_its_order_and_its_lines() {
        let tree = Node::from_toml("z = 1\na = 2.5\n\n[m]\ny.x = \"q\"\n").unwrap();
        let Value::Table(entries) = &tree.value else { panic!() };
        let lines: Vec<_> = entries.iter().map(|(key, node)| (key.as_str(), node.line)).collect();
        assert_eq!(lines, [("z", 1), ("a", 2), ("m", 4)]);
    }

    #[test]
    fn toml_is_written_as_sections_of_dotted_keys() {
        let text = r#"stations = 3

[wlan]
basic_rates_mbps = [1.0, 5.5]

[[flows]]
from = "a"
traffic.web.size.pareto.shape = 1.5
traffic.web.files = 3
x = {}

[[flows]]
from = 'b "quoted"'
"#;
        let tree = Node::from_toml(text).unwrap();
        assert_eq!(tree.to_toml(), text);
        assert_eq!(Node::from_toml(&tree.to_toml()).unwrap(), tree);
    }

    #[test]
    fn json_null_is_an_absent_key() {
        let tree: Node = serde_json::from_str(r#"{"a": null, "b": [1, 2.5, true]}"#).unwrap();
        assert_eq!(tree.to_json().to_string(), r#"{"b":[1,2.5,true]}"#);
        assert!(serde_json::from_str::<Node>(r#"{"a": 1, "a": 2}"#).is_err());
        assert!(serde_json::from_str::<Node>("[null]").is_err());
    }
}
