//! Reading and replacing parts of a document by path.

use crate::fault::{Fault, Kind, One, nearest};
use crate::issue::{Issue, Said};
use crate::path::{Path, Step, shown};
use crate::read::read;
use crate::schema::Defined;
use crate::setting::{Setting, typed};
use crate::tree::{Node, Value, plural};
use serde_json::Value as Json;

/// A value as in `--set path=value`: TOML, or a bare word.
///
/// # Errors
/// An issue if the value is missing, or begins like TOML and is not.
pub fn value_of(path: &Path, text: &str) -> Result<Node, Issue> {
    let text = text.trim();
    let issue = |message: String| Err(Issue::new(path, message));
    match Node::from_toml_value(text) {
        // No key accepts a date: text that looks like one is part of a title.
        Ok(Node { value: Value::Date(date), .. }) => Ok(Node::of(Value::Text(date))),
        Ok(node) => Ok(node),
        Err(_) if text.is_empty() => issue("a value is missing: write path=value".to_owned()),
        Err(error) if text.starts_with(['"', '\'', '[', '{']) => {
            issue(format!("{} is not a TOML value: {}", shown(text), error.message()))
        }
        Err(_) => Ok(Node::of(Value::Text(text.to_owned()))),
    }
}

/// A document that is written as a tree, and its short forms.
pub trait Root: Setting + Defined {
    /// Tables that may be written as the value of one of their keys: `stations = 10` stands for
    /// `stations.count = 10`.
    const SHORT_FORMS: &'static [(&'static str, &'static str)];
}

/// Sets a value at each place that the path names, and reads the result.
///
/// # Errors
/// Issues if the path leads nowhere, or the value does not have the shape of its place.
pub fn set<T: Root>(tree: &Node, path: &Path, value: &Node) -> Result<(Node, T), Vec<Issue>> {
    let tree = put_at::<T>(tree, path, value).map_err(|issue| vec![issue])?;
    read(&tree).map(|document| (tree, document))
}

/// Sets a value at each place that the path names; another variant of a choice on the path is
/// replaced.
///
/// # Errors
/// An issue if the path leads nowhere.
pub fn put_at<T: Root>(tree: &Node, path: &Path, value: &Node) -> Result<Node, Issue> {
    let mut tree = tree.clone();
    put::<T>(&mut tree, &path.0, value, &mut Path::default())?;
    // One level at a time from the outside.
    for _ in 0..=path.0.len() {
        match typed::<T>(&tree) {
            Err(fault) if drop_other_variants(&mut tree, path, &fault) => {}
            _ => break,
        }
    }
    Ok(tree)
}

/// If a fault is that a choice on the path has a second variant, keeps only the variant of the
/// path, at every such place.
fn drop_other_variants(tree: &mut Node, path: &Path, fault: &Fault) -> bool {
    let is_on_path = |one: &&One| {
        let at = one.path().general();
        matches!(one.kind, Kind::Several { .. }) && path.general().0.starts_with(&at.0)
    };
    let Some(at) = fault.each().filter(is_on_path).map(|one| one.path().0.len()).min() else {
        return false;
    };
    let Some(Step::Key(chosen)) = path.0.get(at) else { return false };
    let mut dropped = false;
    each(tree, &path.0[..at], &mut |node| {
        let Value::Table(entries) = &mut node.value else { return };
        if entries.len() > 1 && entries.iter().any(|(key, _)| key == chosen) {
            entries.retain(|(key, _)| key == chosen);
            dropped = true;
        }
    });
    dropped
}

/// Calls `visit` with every node that the steps lead to.
fn each(node: &mut Node, steps: &[Step], visit: &mut impl FnMut(&mut Node)) {
    let Some((step, rest)) = steps.split_first() else { return visit(node) };
    match (step, &mut node.value) {
        (Step::Key(key), Value::Table(entries)) => {
            entries.iter_mut().filter(|(k, _)| k == key).for_each(|(_, n)| each(n, rest, visit));
        }
        (Step::Every, Value::List(items)) => items.iter_mut().for_each(|n| each(n, rest, visit)),
        (Step::Index(index), Value::List(items)) => {
            items.iter_mut().skip(*index).take(1).for_each(|n| each(n, rest, visit));
        }
        _ => {}
    }
}

fn put<T: Root>(node: &mut Node, steps: &[Step], value: &Node, at: &mut Path) -> Result<(), Issue> {
    let Some((step, rest)) = steps.split_first() else {
        *node = value.clone();
        return Ok(());
    };
    let issue = |path: &Path, message: String| Err(Issue::new(path, message));
    let here = at.to_string();
    match step {
        Step::Key(key) => {
            if let Value::List(items) = &node.value {
                let (is, n) = (node.described(), items.len());
                let message = format!("is {is}: write {here}[*].{key}, or {here}[0] of {n}");
                return issue(at, message);
            }
            spell_out::<T>(node, &here);
            let Value::Table(entries) = &mut node.value else { unreachable!("spelt out") };
            let position = entries.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
                entries.push((key.clone(), Node::EMPTY));
                entries.len() - 1
            });
            at.0.push(step.clone());
            put::<T>(&mut entries[position].1, rest, value, at)?;
        }
        Step::Index(_) | Step::Every => {
            if short_form::<T>(&here).is_some() && !matches!(node.value, Value::List(_)) {
                spell_out::<T>(node, &here);
                let group = std::mem::replace(node, Node::EMPTY);
                node.value = Value::List(vec![group]);
            }
            let Value::List(items) = &mut node.value else {
                let what = if node.value == Node::EMPTY.value {
                    "the document has no list here".to_owned()
                } else {
                    format!("is not a list but {}", node.described())
                };
                return issue(at, what);
            };
            let range = match *step {
                Step::Index(index) if index < items.len() => index..index + 1,
                Step::Every if !items.is_empty() => 0..items.len(),
                _ => return issue(&at.then(step.clone()), there_are(items.len())),
            };
            for index in range {
                at.0.push(Step::Index(index));
                put::<T>(&mut items[index], rest, value, at)?;
                at.0.pop();
            }
            return Ok(());
        }
    }
    at.0.pop();
    Ok(())
}

/// The key that a short form at this path stands for.
fn short_form<T: Root>(path: &str) -> Option<&'static str> {
    T::SHORT_FORMS.iter().find(|(at, _)| *at == path).map(|(_, key)| *key)
}

/// Replaces a short form by the table that it stands for. Any other single value is replaced by a
/// table.
fn spell_out<T: Root>(node: &mut Node, path: &str) {
    if matches!(node.value, Value::Table(_)) {
        return;
    }
    let single =
        std::mem::replace(node, Node { value: Value::Table(Vec::new()), place: node.place });
    if let (Value::Table(entries), Some(key)) = (&mut node.value, short_form::<T>(path)) {
        entries.push((key.to_owned(), single));
    }
}

fn there_are(count: usize) -> String {
    match count {
        0 => "there are none".to_owned(),
        1 => "there is only [0]".to_owned(),
        _ => format!("there are {count}, [0] to [{}]", count - 1),
    }
}

/// The value at a path, or a list if the path has `[*]`; `at` is where the search begins.
///
/// # Errors
/// An issue if the path leads nowhere.
pub fn get(json: &Json, steps: &[Step], at: &mut Path) -> Result<Json, Issue> {
    let Some((step, rest)) = steps.split_first() else { return Ok(json.clone()) };
    let issue = |at: &Path, message: String| Err(Issue::new(at, message));
    let below = at.then(step.clone());
    match (step, json) {
        (Step::Key(key), Json::Object(entries)) => {
            let Some(inner) = entries.get(key) else {
                let known: Vec<&str> = entries.keys().map(String::as_str).collect();
                let near = nearest(key, known.iter().copied());
                let remedy = match near.first() {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("the keys here are {}", known.join(", ")),
                };
                return Err(Issue::new(&below, Said::new("unknown key", remedy)));
            };
            *at = below;
            get(inner, rest, at)
        }
        (Step::Index(index), Json::Array(items)) => {
            let Some(inner) = items.get(*index) else {
                return issue(&below, there_are(items.len()));
            };
            *at = below;
            get(inner, rest, at)
        }
        (Step::Every, Json::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(index, inner)| get(inner, rest, &mut at.then(Step::Index(index))))
            .collect(),
        (Step::Key(_), Json::Array(items)) => {
            let n = items.len();
            issue(&below, format!("{at} is a list of {n} value{}: write {at}[*]", plural(n)))
        }
        _ => issue(&below, format!("{at} is a single value and has no parts")),
    }
}
