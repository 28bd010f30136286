//! Semantic faults, and the search for numbers out of range in a document.

use crate::issue::Issue;
use crate::path::Path;
use crate::range::Range;
use crate::setting::Setting;
use crate::tree::{Node, Value};
use crate::unit::Unit;
use std::fmt;

/// The faults found so far, which are reported together.
#[derive(Debug, Default)]
pub struct Faults(pub Vec<Issue>);

impl Faults {
    /// One more.
    pub fn fault(&mut self, path: impl fmt::Display, message: impl Into<String>) {
        self.0.push(Issue::new(path, message));
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

    /// Checks a table key by key.
    pub fn table(self, node: &'a Node) -> TableCheck<'a> {
        let entries: &[_] = match &node.value {
            Value::Table(entries) => entries,
            _ => &[],
        };
        TableCheck { entries, at: self.at, faults: self.faults }
    }

    /// The variant that a choice names; a plain name has an empty table.
    pub fn variant(self, node: &'a Node) -> Option<VariantCheck<'a>> {
        const EMPTY: &Node = &Node::EMPTY;
        let (name, node, at) = match &node.value {
            Value::Text(name) => (&name[..], EMPTY, self.at.key(name)),
            Value::Table(entries) => match &entries[..] {
                [(name, inner)] => (&name[..], inner, self.at.key(name)),
                _ => return None,
            },
            _ => return None,
        };
        Some(VariantCheck { name, node, at, faults: self.faults })
    }
}

/// A table under check.
#[derive(Debug)]
pub struct TableCheck<'a> {
    entries: &'a [(String, Node)],
    at: &'a Path,
    faults: &'a mut Faults,
}

impl<'a> TableCheck<'a> {
    /// Checks the value of a key; `required` completes "missing; ...", and if it is empty a rule of
    /// the document reports what is missing.
    #[inline(never)]
    pub fn key<T: Setting>(
        &mut self,
        key: &str,
        unit: Unit,
        range: &Range,
        required: Option<&str>,
    ) {
        let at = self.at.key(key);
        match self.written(key) {
            Some(node) => T::check(node, Check { at: &at, unit, range, faults: &mut *self.faults }),
            None => self.missing(&at, required),
        }
    }

    #[inline(never)]
    fn written(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    #[inline(never)]
    fn missing(&mut self, at: &Path, required: Option<&str>) {
        if let Some(example) = required.filter(|example| !example.is_empty()) {
            self.faults.fault(at, format!("missing; {example}"));
        }
    }
}

/// A variant under check.
#[derive(Debug)]
pub struct VariantCheck<'a> {
    /// Its name.
    pub name: &'a str,
    node: &'a Node,
    at: Path,
    faults: &'a mut Faults,
}

impl VariantCheck<'_> {
    /// Checks the variant's table.
    pub fn check<T: Setting>(self) {
        T::check(self.node, Check::new(&self.at, self.faults));
    }
}
