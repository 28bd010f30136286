//! Semantic faults, and the search for numbers out of range in a document.

use crate::choice::Variant;
use crate::issue::{Issue, Said};
use crate::path::Path;
use crate::range::Range;
use crate::table::{Field, Key};
use crate::tree::{Node, Value};
use crate::unit::Unit;
use std::fmt;

/// The faults found so far, which are reported together.
#[derive(Debug, Default)]
pub struct Faults(pub Vec<Issue>);

impl Faults {
    /// One more.
    pub fn fault(&mut self, path: impl fmt::Display, said: impl Into<Said>) {
        self.0.push(Issue::new(path, said));
    }
}

/// The place of a value and the rule that applies to it.
#[derive(Debug)]
pub struct Check<'a> {
    /// The path of the value.
    pub at: &'a Path,
    /// The unit of a number.
    pub unit: Unit,
    /// The range of a number.
    pub range: &'a Range,
    /// The list to which faults are added.
    pub faults: &'a mut Faults,
}

impl<'a> Check<'a> {
    /// A value that is not a number.
    pub fn new(at: &'a Path, faults: &'a mut Faults) -> Self {
        Self { at, unit: Unit::NONE, range: &Range::ANY, faults }
    }

    /// Checks the keys of a table one by one.
    pub fn table(&mut self, fields: &[Field], node: &Node) {
        let entries: &[_] = match &node.value {
            Value::Table(entries) => entries,
            _ => &[],
        };
        for field in fields {
            match field {
                Field::Flat(fields) => self.table(fields, node),
                Field::Key(key) => {
                    let written = entries.iter().find(|(name, _)| name == key.name);
                    self.key(key, written.map(|(_, node)| node));
                }
            }
        }
    }

    fn key(&mut self, key: &Key, written: Option<&Node>) {
        let (at, faults) = (self.at.key(key.name), &mut *self.faults);
        match (written, key.required) {
            (Some(node), _) => {
                (key.check)(node, Check { at: &at, unit: key.unit, range: &key.range, faults });
            }
            // If the text is empty, a rule of the document reports what is missing.
            (None, Some(example)) if !example.is_empty() => {
                faults.fault(&at, Said::new("missing", example));
            }
            _ => {}
        }
    }

    /// Checks the table of the variant that a choice names; a plain name has an empty table.
    pub fn choice(&mut self, variants: &[Variant], node: &Node) {
        const EMPTY: &Node = &Node::EMPTY;
        let (name, node) = match &node.value {
            Value::Text(name) => (name, EMPTY),
            Value::Table(entries) => match &entries[..] {
                [(name, inner)] => (name, inner),
                _ => return,
            },
            _ => return,
        };
        let named = variants.iter().find(|variant| variant.name == name);
        if let Some(table) = named.and_then(|variant| variant.table.as_ref()) {
            (table.check)(node, Check::new(&self.at.key(name), &mut *self.faults));
        }
    }
}
