//! All faults of a document, and the document without them.
//!
//! The rules between several keys run several times with other values in place of what is faulty.
//! What is not told each time with the same message is left out: so no rule needs to know which of
//! its keys may be faulty.

use crate::check::{Check, Faults};
use crate::issue::{Issue, Repair};
use crate::path::{Path, Step};
use crate::schema::{Defined, samples, schema};
use crate::setting::{Setting, typed};
use crate::tree::{Node, Value};
use std::collections::BTreeSet;

/// What is wrong with the shape and the numbers of a document.
#[derive(Debug)]
pub struct Survey<'a> {
    document: &'a Node,
    wrong: Vec<Wrong>,
    /// Of the values that cannot be read.
    faulty: BTreeSet<Path>,
    is_malformed: bool,
}

#[derive(Debug)]
struct Wrong {
    /// Of the fault.
    path: Path,
    /// Of the value that cannot be read.
    faulty: Path,
    issue: Issue,
}

impl<'a> Survey<'a> {
    /// Looks for all faults of shape and range, and missing keys.
    pub fn of<T: Setting + Defined>(document: &'a Node) -> Self {
        let shape = match typed::<T>(document) {
            Ok(_) => Vec::new(),
            Err(fault) => fault.into_issues::<T>(document),
        };
        let (root, mut range) = (Path::default(), Faults::default());
        T::check(document, Check::new(&root, &mut range));
        let is_malformed = !shape.is_empty();
        let wrong = |(path, faulty, issue)| Wrong { path, faulty, issue };
        let mut wrong: Vec<_> = shape.into_iter().map(wrong).collect();
        let (more, instead) = beside(document, &wrong, range.0);
        wrong.retain(|one| !instead.contains(&one.path));
        wrong.extend(more);
        let faulty = wrong.iter().map(|one| one.faulty.clone()).collect();
        Self { document, wrong, faulty, is_malformed }
    }

    /// Whether a value does not have the shape of its key, or a key is unknown.
    pub fn is_malformed(&self) -> bool {
        self.is_malformed
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.wrong.is_empty()
    }

    /// All faults.
    pub fn issues(&self) -> impl Iterator<Item = Issue> {
        self.wrong.iter().map(|wrong| wrong.issue.clone())
    }

    /// The faults of what is written, without missing keys.
    pub fn of_written(&self) -> impl Iterator<Item = Issue> {
        let written = self.wrong.iter().filter(|wrong| self.document.at(&wrong.path).is_some());
        written.map(|wrong| wrong.issue.clone())
    }

    /// Whether a path leads to a faulty value or a part of it, or to a list with a faulty element.
    pub fn covers(&self, path: &str) -> bool {
        let Ok(path) = Path::parse(path) else { return false };
        let is_part =
            (0..=path.0.len()).any(|length| self.faulty.contains(&Path(path.0[..length].to_vec())));
        let mut parts =
            self.faulty.range(path.index(0)..).take_while(|it| it.0.starts_with(&path.0));
        is_part || parts.any(|part| part.0.len() == path.0.len() + 1)
    }

    /// The document without the faulty values, so that each has its default; `None` if it cannot be
    /// read even then.
    pub fn sound<T: Setting>(&self) -> Option<Node> {
        /// Each round removes what is faulty only because of what the last one has removed.
        const ROUNDS: usize = 8;
        let mut wrong = self.faulty.clone();
        for _ in 0..ROUNDS {
            let mut sound = self.document.clone();
            if prune(&mut sound, &mut Path::default(), &wrong) {
                return None;
            }
            match typed::<T>(&sound) {
                Ok(_) => return Some(sound),
                Err(fault) => wrong.extend(fault.each().map(crate::fault::One::faulty)),
            }
        }
        None
    }

    /// The document with other values in place of the faulty ones, in as many ways as one of them
    /// has candidates: first without them, then as each might be meant. None is out of its range.
    ///
    /// A fault that depends on a faulty value is not found in all of them, or not with the same
    /// message.
    pub fn variations<T: Setting + Defined>(&self) -> impl Iterator<Item = T> {
        /// Of documents, and of values that are varied.
        const MOST: [usize; 2] = [16, 64];
        let sound = self.sound::<T>();
        let schema = schema::<T>();
        let candidates: Vec<Vec<(Path, Node)>> = self.wrong[..self.wrong.len().min(MOST[1])]
            .iter()
            .map(|wrong| {
                let mut all = wrong.candidates(self.document, schema);
                all.retain(|one| {
                    sound.as_ref().is_some_and(|sound| is_in_range::<T>(sound, &one.0, &one.1))
                });
                all
            })
            .collect();
        let count = candidates.iter().map(Vec::len).max().unwrap_or(0).min(MOST[0]);
        let varied = move |number: usize| {
            let mut tree = sound.clone()?;
            for (own, all) in candidates.iter().enumerate().filter(|(_, all)| !all.is_empty()) {
                if let Some(number) = number.checked_sub(1) {
                    let (path, value) = &all[(number + own) % all.len()];
                    put(&mut tree, &path.0, value);
                }
            }
            typed(&tree).ok()
        };
        (0..=count).filter_map(varied)
    }
}

/// Whether a value is in its range: one under an unknown key may be too large for the key that is
/// meant.
fn is_in_range<T: Setting>(sound: &Node, path: &Path, value: &Node) -> bool {
    let (mut tree, root, mut faults) = (sound.clone(), Path::default(), Faults::default());
    put(&mut tree, &path.0, value);
    T::check(&tree, Check::new(&root, &mut faults));
    let mut places = faults.0.iter().filter_map(|issue| Path::parse(&issue.path).ok());
    // Keys that are missing have no place there.
    !places.any(|place| place.0.starts_with(&path.0) && tree.at(&place).is_some())
}

/// The numbers out of range and missing keys that are told beside these faults of shape, and the
/// paths at which they are told instead.
fn beside(document: &Node, shape: &[Wrong], range: Vec<Issue>) -> (Vec<Wrong>, BTreeSet<Path>) {
    let malformed: BTreeSet<&Path> = shape.iter().map(|wrong| &wrong.path).collect();
    let meant: BTreeSet<Path> = shape.iter().flat_map(Wrong::renamed).collect();
    let (mut told, mut instead) = (Vec::new(), BTreeSet::new());
    for issue in range {
        let Ok(path) = Path::parse(&issue.path) else { continue };
        let is_told = match document.at(&path) {
            // A whole number below zero is out of range.
            Some(Node { value: Value::Integer(_), .. }) => {
                instead.insert(path.clone());
                true
            }
            Some(_) => !malformed.contains(&path),
            // A misspelt key is not missing.
            None => !meant.contains(&path),
        };
        if is_told {
            let issue = issue.located(document);
            told.push(Wrong { faulty: path.clone(), path, issue });
        }
    }
    (told, instead)
}

impl Wrong {
    /// The paths that may be meant, if it is a misspelt key.
    fn renamed(&self) -> impl Iterator<Item = Path> {
        let table = Path(self.path.0.split_last().map_or(Vec::new(), |(_, table)| table.to_vec()));
        self.issue.said.repairs.iter().filter_map(move |repair| match repair {
            Repair::Rename(key) => Some(table.key(key)),
            _ => None,
        })
    }

    /// The values that may be meant, and their paths.
    fn candidates(&self, document: &Node, schema: &serde_json::Value) -> Vec<(Path, Node)> {
        let mut found = Vec::new();
        if let Some(node) = document.at(&self.path) {
            found.extend(self.renamed().map(|path| (path, node.clone())));
        }
        for repair in &self.issue.said.repairs {
            let value = match repair {
                Repair::Value(text) => Node::from_toml_value(text).ok(),
                Repair::List => {
                    document.at(&self.path).map(|node| Node::of(Value::List(vec![node.clone()])))
                }
                Repair::Rename(_) | Repair::Remove => None,
            };
            found.extend(value.map(|value| (self.path.clone(), value)));
        }
        let mut values = Vec::new();
        samples(schema, schema, &self.faulty.0, &mut values);
        let node = |value| serde_json::from_value::<Node>(value).ok();
        found.extend(values.into_iter().filter_map(node).map(|node| (self.faulty.clone(), node)));
        found
    }
}

/// Removes the values at these paths; whether this one is to be removed itself.
///
/// Of a list of tables one remains in each place, so that the indices of others stay; any other
/// list is removed as a whole.
fn prune(node: &mut Node, at: &mut Path, wrong: &BTreeSet<Path>) -> bool {
    if wrong.contains(at) {
        return true;
    }
    let mut is_pruned = |step: Step, node: &mut Node| {
        at.0.push(step);
        let pruned = prune(node, at, wrong);
        at.0.pop();
        pruned
    };
    match &mut node.value {
        Value::Table(entries) => {
            entries.retain_mut(|(key, inner)| !is_pruned(Step::Key(key.clone()), inner));
            false
        }
        Value::List(items) => {
            let numbered = items.iter_mut().enumerate();
            let pruned: Vec<bool> =
                numbered.map(|(index, item)| is_pruned(Step::Index(index), item)).collect();
            let mut rest = items.iter().zip(&pruned).filter(|(_, pruned)| !**pruned).peekable();
            let are_tables = rest.peek().is_some() && { rest }
                .all(|(item, _)| matches!(item.value, Value::Table(_)));
            for (item, _) in items.iter_mut().zip(&pruned).filter(|(_, pruned)| **pruned) {
                *item = Node::EMPTY;
            }
            pruned.contains(&true) && !are_tables
        }
        _ => false,
    }
}

/// Gives the value at a path, if the tables on the way are there or can be made.
fn put(node: &mut Node, steps: &[Step], value: &Node) {
    let Some((step, rest)) = steps.split_first() else {
        *node = value.clone();
        return;
    };
    match (step, &mut node.value) {
        (Step::Key(key), Value::Table(entries)) => {
            let position = entries.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
                entries.push((key.clone(), Node::EMPTY));
                entries.len() - 1
            });
            put(&mut entries[position].1, rest, value);
        }
        (Step::Index(index), Value::List(items)) => {
            if let Some(item) = items.get_mut(*index) {
                put(item, rest, value);
            }
        }
        _ => {}
    }
}
