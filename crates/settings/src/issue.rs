//! A fault of a document as users hear of it.
//!
//! A fault has fields, and nothing reads its text.

use crate::place::Place;
use std::fmt;

/// A fault in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The path; empty for the document as a whole.
    pub path: String,
    /// The value found, and the rule.
    pub message: String,
    /// What to do about it; empty if the message says it.
    pub remedy: String,
    /// Where the value is written, or the table that lacks it.
    pub place: Place,
    /// The changes of which each might be meant.
    pub repairs: Vec<Repair>,
    /// The line of a file that the value names in which the fault is; 0 without one.
    pub file_line: usize,
}

/// A change of a document at the path of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// Another key.
    Rename(String),
    /// Another value, written as in TOML.
    Value(String),
    /// A list of tables, of which this table is one: `[[flows]]`.
    List,
    /// No such key.
    Remove,
}

impl Issue {
    /// A fault; what stands behind the first semicolon of the text is the remedy. A remedy that
    /// begins with `did you mean "this"?`, or is `remove the key`, is a repair too.
    pub fn new(path: impl fmt::Display, text: impl Into<String>) -> Self {
        let mut message = text.into();
        // A text that is quoted may have semicolons of its own.
        let is_outside = |at: &usize| message[..*at].matches('"').count() % 2 == 0;
        let end = message.match_indices("; ").map(|(at, _)| at).find(is_outside);
        let remedy = end.map_or(String::new(), |at| message.split_off(at)[2..].to_owned());
        let meant = remedy.strip_prefix("did you mean ").and_then(|meant| meant.split_once('?'));
        let repair = match meant {
            Some((meant, _)) if meant.starts_with('"') => Some(Repair::Value(meant.to_owned())),
            None if remedy == "remove the key" => Some(Repair::Remove),
            _ => None,
        };
        let (path, place, repairs) = (path.to_string(), Place::NOWHERE, Vec::from_iter(repair));
        Self { path, message, remedy, place, repairs, file_line: 0 }
    }

    /// The fault in one line of text, with its line in the document.
    pub fn with_line(&self) -> String {
        match (self.path.as_str(), self.place.line) {
            (_, 0) => self.to_string(),
            ("", line) => format!("line {line}: {}", self.told()),
            (path, line) => format!("{path} (line {line}): {}", self.told()),
        }
    }

    /// Message and remedy.
    pub fn told(&self) -> String {
        match self.remedy.as_str() {
            "" => self.message.clone(),
            remedy => format!("{}; {remedy}", self.message),
        }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.told())
    }
}

impl std::error::Error for Issue {}
