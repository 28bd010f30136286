//! From the tree to the types.
//!
//! A deserializer of our own instead of the one of a format, for three things: a fault knows its
//! path, its line and what would have been right; TOML and JSON read alike; and a choice may be
//! written by its name alone (`control = "new_reno"` is `control.new_reno = {}`).

use crate::check::{Check, Faults, Issue};
use crate::fault::{Fault, Kind, nearest};
use crate::path::{Path, Step};
use crate::schema::schema;
use crate::setting::Setting;
use crate::tree::{Node, Value};
use schemars::JsonSchema;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

/// Beyond this a float no longer counts in ones.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a tree.
///
/// # Errors
/// The first fault of shape, at its path and line.
pub fn read<T: for<'de> Deserialize<'de> + JsonSchema>(node: &Node) -> Result<T, Issue> {
    typed(node).map_err(|fault| fault.into_issue(schema::<T>))
}

/// Reads a tree as far as it is sound: what is at fault, in its shape or its range, is told, and has
/// its default.
pub fn read_sound<T>(node: &Node) -> (T, Faults)
where
    T: for<'de> Deserialize<'de> + JsonSchema + Setting + Default,
{
    let (root, mut sound, mut faults) = (Path::default(), node.clone(), Faults::default());
    while let Err(issue) = read::<T>(&sound) {
        let before = sound.clone();
        sound.remove(&issue.path);
        faults.0.push(issue);
        if sound == before {
            return (T::default(), faults);
        }
    }
    let told: Vec<String> = faults.0.iter().map(|issue| issue.path.clone()).collect();
    let mut of_range = Faults::default();
    T::check(&sound, Check::new(&root, &mut of_range));
    of_range.0.retain(|issue| !told.contains(&issue.path));
    for issue in &of_range.0 {
        sound.remove(&issue.path);
    }
    faults.0.extend(of_range.0);
    (read(&sound).unwrap_or_default(), faults)
}

pub(crate) fn typed<'de, T: Deserialize<'de>>(node: &'de Node) -> Result<T, Fault> {
    T::deserialize(Reader(node))
}

#[derive(Clone, Copy)]
struct Reader<'de>(&'de Node);

impl Reader<'_> {
    fn wrong(self, expected: &str, remedy: &str) -> Fault {
        let found = self.0.described();
        let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
        Fault::message(self.0.line, format!("must be {expected}, is {found}{remedy}"))
    }

    /// What helps where a number is expected.
    fn number_remedy(self) -> String {
        let Value::Text(text) = &self.0.value else { return String::new() };
        let digits = text.trim().trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
        match digits.parse::<f64>() {
            Ok(_) if digits == text.trim() => format!("write it without quotes: {digits}"),
            Ok(_) => "write the number alone: the key says the unit".to_owned(),
            Err(_) => String::new(),
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(*value),
            },
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) | Value::Date(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Table(entries) => visitor.visit_map(Entries { entries, next: 0 }),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            _ => Err(self.wrong("true or false", "both are written without quotes")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.value {
            Value::Integer(value) => visitor.visit_f64(value as f64),
            Value::Float(value) => visitor.visit_f64(value),
            _ => Err(self.wrong("a number", &self.number_remedy())),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        const EXPECTED: &str = "a whole number from 0";
        match self.0.value {
            Value::Integer(value) => match u64::try_from(value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => Err(self.wrong(EXPECTED, "")),
            },
            // `1e6` is a float to TOML, and a whole number to everybody else.
            Value::Float(value) if (0.0..=EXACT).contains(&value) && value.trunc() == value => {
                visitor.visit_u64(value as u64)
            }
            Value::Float(value) if value > EXACT => {
                Err(self.wrong("a whole number", "that is too large"))
            }
            _ => Err(self.wrong(EXPECTED, &self.number_remedy())),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Integer(_) | Value::Float(_) | Value::Bool(_) | Value::Date(_) => {
                Err(self.wrong("text", "put it in quotes"))
            }
            _ => Err(self.wrong("text", "")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Table(_) => Err(self.wrong(
                "a list",
                "a list of tables has two brackets in each of its headers, as [[flows]]",
            )),
            _ => Err(self.wrong("a list", "a list is written in brackets, as [1, 2]")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Table(entries) => visitor.visit_map(Entries { entries, next: 0 }),
            _ => Err(self.wrong(&format!("a table with the keys {}", keys.join(", ")), "")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let several = |entries: &[(String, Node)]| {
            let given = entries.iter().map(|(key, _)| key.clone()).collect();
            Fault::new(self.0.line, Kind::Several { given, variants })
        };
        let numeric = match self.0.value {
            Value::Integer(number) => variants.iter().find(|name| name.parse() == Ok(number)),
            _ => None,
        };
        let (name, settings): (&'de str, _) = match &self.0.value {
            Value::Text(name) => (name, None),
            // A name of digits needs no quotes.
            Value::Integer(_) if let Some(name) = numeric => (name, None),
            Value::Table(entries) => match &entries[..] {
                [(name, settings)] => (name, Some(settings)),
                [] => return Err(self.wrong(&one_of(variants), "")),
                // A misspelt name first: it may be all that is wrong.
                _ => match entries.iter().find(|(name, _)| !variants.contains(&&name[..])) {
                    Some((name, settings)) => (name, Some(settings)),
                    None => return Err(several(entries)),
                },
            },
            _ => return Err(self.wrong(&one_of(variants), "")),
        };
        if variants.contains(&name) {
            return visitor.visit_enum(Choice { name, settings });
        }
        if let Some(settings) = settings {
            let kind = Kind::UnknownKey { key: name.to_owned(), known: variants };
            let fault = Fault::new(settings.line, kind);
            return Err(fault.within(Step::Key(name.to_owned()), settings.line));
        }
        let remedy = match nearest(name, variants.iter().copied()).first() {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => String::new(),
        };
        Err(self.wrong(&one_of(variants), &remedy))
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char str bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct map ignored_any
    }
}

fn one_of(variants: &[&str]) -> String {
    let quoted: Vec<_> = variants.iter().map(|name| format!("\"{name}\"")).collect();
    match &quoted[..] {
        [only] => only.clone(),
        _ => format!("one of {}", quoted.join(", ")),
    }
}

struct Items<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        let value = seed.deserialize(Reader(item));
        value.map(Some).map_err(|fault| fault.within(Step::Index(index), item.line))
    }
}

struct Entries<'de> {
    entries: &'de [(String, Node)],
    next: usize,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some((key, node)) = self.entries.get(self.next) else { return Ok(None) };
        let name = StrDeserializer::<Fault>::new(key);
        let at_key = |fault: Fault| {
            Fault::new(node.line, fault.kind).within(Step::Key(key.clone()), node.line)
        };
        seed.deserialize(name).map(Some).map_err(at_key)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let Some((key, node)) = self.entries.get(self.next) else {
            return Err(Fault::custom("a value without a key"));
        };
        self.next += 1;
        seed.deserialize(Reader(node))
            .map_err(|fault| fault.within(Step::Key(key.clone()), node.line))
    }
}

/// A variant by its name, with its settings where they are written.
struct Choice<'de> {
    name: &'de str,
    settings: Option<&'de Node>,
}

impl<'de> Choice<'de> {
    fn locate(&self, fault: Fault) -> Fault {
        match self.settings {
            Some(settings) => fault.within(Step::Key(self.name.to_owned()), settings.line),
            None => fault,
        }
    }

    fn settings(&self) -> Reader<'de> {
        const EMPTY: &Node = &Node::EMPTY;
        Reader(self.settings.unwrap_or(EMPTY))
    }
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let variant = seed.deserialize(StrDeserializer::<Fault>::new(self.name))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.settings {
            None => Ok(()),
            Some(node) if node.value == Node::EMPTY.value => Ok(()),
            Some(node) => {
                let message = format!("has no settings, but here {}", node.described());
                Err(self.locate(Fault::message(node.line, message)))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self.settings()).map_err(|fault| self.locate(fault))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.settings().deserialize_seq(visitor).map_err(|fault| self.locate(fault))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let settings = self.settings().deserialize_struct("", keys, visitor);
        settings.map_err(|fault| self.locate(fault))
    }
}
