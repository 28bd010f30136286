//! A document as a tree: the common form of TOML and JSON, in the order of the text and with the
//! place of each value.

use crate::issue::Issue;
use crate::path::{Path, Step, is_bare, shown};
use crate::place::{Lines, Place};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it is written.
    pub place: Place,
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
    pub const EMPTY: Self = Self::of(Value::Table(Vec::new()));

    /// A value that no text has.
    pub const fn of(value: Value) -> Self {
        Self { value, place: Place::NOWHERE }
    }

    /// A tree from TOML.
    ///
    /// # Errors
    /// That of the TOML parser.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let document = DeTable::parse(text)?;
        Ok(Self { value: table(document.get_ref(), &Lines::of(text)), place: Place::BEGIN })
    }

    /// A tree from TOML without what is no TOML, and the errors of the parser.
    pub fn from_faulty_toml(text: &str) -> (Self, Vec<toml::de::Error>) {
        let (document, errors) = DeTable::parse_recoverable(text);
        (Self { value: table(document.get_ref(), &Lines::of(text)), place: Place::BEGIN }, errors)
    }

    /// A tree from a single TOML value.
    ///
    /// # Errors
    /// That of the TOML parser.
    pub fn from_toml_value(text: &str) -> Result<Self, toml::de::Error> {
        let value = DeValue::parse(text)?;
        let mut node = Self::of(convert(value.get_ref(), &Lines::of(text)));
        node.forget_places();
        Ok(node)
    }

    /// The text at a key of a table.
    pub fn text_at(&self, key: &str) -> Option<&str> {
        let Value::Table(entries) = &self.value else { return None };
        match &entries.iter().find(|(name, _)| name == key)?.1.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Removes what steps lead to; whether there was such a value.
    pub fn remove(&mut self, steps: &[Step]) -> bool {
        let Some((step, rest)) = steps.split_first() else { return false };
        match (step, &mut self.value) {
            (Step::Every, Value::List(items)) if rest.is_empty() => {
                !std::mem::take(items).is_empty()
            }
            (Step::Every, Value::List(items)) => {
                items.iter_mut().map(|item| item.remove(rest)).filter(|found| *found).count() > 0
            }
            (Step::Index(index), Value::List(items)) if *index < items.len() => {
                match rest {
                    [] => drop(items.remove(*index)),
                    _ => return items[*index].remove(rest),
                }
                true
            }
            (Step::Key(key), Value::Table(entries)) => {
                let Some(at) = entries.iter().position(|(name, _)| name == key) else {
                    return false;
                };
                match rest {
                    [] => drop(entries.remove(at)),
                    _ => return entries[at].1.remove(rest),
                }
                true
            }
            _ => false,
        }
    }

    /// The part to which a step leads.
    pub fn part(&self, step: &Step) -> Option<&Self> {
        match (step, &self.value) {
            (Step::Key(key), Value::Table(entries)) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
            }
            (Step::Index(index), Value::List(items)) => items.get(*index),
            _ => None,
        }
    }

    /// The value at a path.
    pub fn at(&self, path: &Path) -> Option<&Self> {
        path.0.iter().try_fold(self, Self::part)
    }

    /// Where the value at a path is written, or the table or list that lacks it.
    pub fn place_of(&self, path: &Path) -> Place {
        let mut node = self;
        for step in &path.0 {
            let Some(part) = node.part(step) else { break };
            node = part;
        }
        node.place
    }

    /// Removes all places.
    pub fn forget_places(&mut self) {
        self.place = Place::NOWHERE;
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(Self::forget_places),
            Value::Table(entries) => entries.iter_mut().for_each(|(_, node)| node.forget_places()),
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

fn table(table: &DeTable<'_>, lines: &Lines) -> Value {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let node = |key, value: &Spanned<DeValue<'_>>| {
        let place = lines.place(key, value.span());
        Node { value: convert(value.get_ref(), lines), place }
    };
    Value::Table(
        entries
            .into_iter()
            .map(|(key, value)| (key.get_ref().to_string(), node(key.span(), value)))
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
                .map(|item| {
                    let place = lines.place(item.span(), item.span());
                    Node { value: convert(item.get_ref(), lines), place }
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
        value.map(Self::of).ok_or_else(|| de::Error::custom("null"))
    }
}

struct MaybeNull(Option<Node>);

impl<'de> Deserialize<'de> for MaybeNull {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(JsonVisitor)?;
        Ok(Self(value.map(Node::of)))
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

impl Issue {
    /// The same fault with the place of its value in this document.
    #[must_use]
    pub fn located(mut self, document: &Node) -> Self {
        if self.place == Place::NOWHERE {
            self.place = document.place_of(&Path::parse(&self.path).unwrap_or_default());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_keeps_its_order_and_its_lines() {
        let tree = Node::from_toml("z = 1\na = 2.5\n\n[m]\ny.x = \"q\"\n").unwrap();
        let Value::Table(entries) = &tree.value else { panic!() };
        let lines: Vec<_> =
            entries.iter().map(|(key, node)| (key.as_str(), node.place.line)).collect();
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
