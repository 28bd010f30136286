//! A fault of a document as users hear of it.
//!
//! A fault has fields from where it is found, and nothing reads its text.

use crate::place::Place;
use std::fmt;

/// A fault in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The path; empty for the document as a whole.
    pub path: String,
    /// What is told of it.
    pub said: Said,
    /// Where the value is written, or the table that lacks it.
    pub place: Place,
    /// The line of a file that the value names in which the fault is; 0 without one.
    pub file_line: usize,
}

/// What is told of a fault, wherever the value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The value found, and the rule.
    pub message: String,
    /// What to do about it; empty if the message says it.
    pub remedy: String,
    /// The changes of which each might be meant.
    pub repairs: Vec<Repair>,
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

/// A [`Said`]: formats of the message and of the remedy, if there is one.
#[macro_export]
macro_rules! said {
    ($message:literal) => {
        $crate::Said::from(format!($message))
    };
    ($message:literal, $remedy:literal) => {
        $crate::Said::new(format!($message), format!($remedy))
    };
}

impl Said {
    /// Message and remedy.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: remedy.into(), repairs: Vec::new() }
    }

    /// Of a key that is to be removed.
    pub fn remove(message: impl Into<String>) -> Self {
        Self::new(message, "remove the key").with_repairs([Repair::Remove])
    }

    /// The same behind the beginning of its message.
    #[must_use]
    pub fn after(self, begin: impl fmt::Display) -> Self {
        Self { message: format!("{begin}{}", self.message), ..self }
    }

    /// The same with the changes of which each might be meant.
    #[must_use]
    pub fn with_repairs(self, repairs: impl IntoIterator<Item = Repair>) -> Self {
        Self { repairs: repairs.into_iter().collect(), ..self }
    }

    /// The same with another text, if one might be meant.
    #[must_use]
    pub fn with_text(self, meant: Option<impl fmt::Display>) -> Self {
        self.with_repairs(meant.map(|text| Repair::Value(format!("\"{text}\""))))
    }
}

impl<T: Into<String>> From<T> for Said {
    fn from(message: T) -> Self {
        Self::new(message, "")
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.remedy.is_empty() { "" } else { "; " };
        write!(f, "{}{mark}{}", self.message, self.remedy)
    }
}

impl Issue {
    /// A fault at a path.
    pub fn new(path: impl fmt::Display, said: impl Into<Said>) -> Self {
        let (path, said) = (path.to_string(), said.into());
        Self { path, said, place: Place::NOWHERE, file_line: 0 }
    }

    /// The fault in one line of text, with its line in the document.
    pub fn with_line(&self) -> String {
        match (self.path.as_str(), self.place.line) {
            (_, 0) => self.to_string(),
            ("", line) => format!("line {line}: {}", self.said),
            (path, line) => format!("{path} (line {line}): {}", self.said),
        }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.said.fmt(f)
    }
}

impl std::error::Error for Issue {}
