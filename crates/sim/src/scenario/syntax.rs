//! Messages for texts that are not TOML.

use super::Issue;
use super::document::Document;
use settings::{Node, Place, Said, Survey, shown};
use std::collections::BTreeMap;

/// What is wrong with a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// A value that needs quotes, or is missing.
    Value,
    /// A key or a table that is there already.
    Twice,
    /// A line that does not end behind its value.
    End,
    Other,
}

impl Wrong {
    /// The parser tells no kinds, only texts.
    fn of(message: &str) -> Self {
        match message {
            "duplicate key" => Self::Twice,
            _ if message.contains("quoted") => Self::Value,
            _ if message.contains("newline") => Self::End,
            _ => Self::Other,
        }
    }
}

/// The faults of TOML itself, one for each line that has any, and those of shape in other lines.
pub(super) fn faults(text: &str, errors: &[toml::de::Error], written: &Node) -> Vec<Issue> {
    let mut lines: BTreeMap<usize, Issue> = BTreeMap::new();
    // Without a header the keys below it seem to belong to another table, and without a bracket
    // other lines to a list: only what is wrong in itself leaves the rest as it is meant.
    let mut leaves_others = true;
    for error in errors {
        let (line, wrong, issue) = fault(text, error);
        lines.entry(issue.place.line).or_insert_with(|| {
            let is_of_value = matches!(wrong, Wrong::Value | Wrong::Twice);
            leaves_others &= is_of_value && !line.starts_with('[');
            issue
        });
    }
    let mut found: Vec<Issue> = Vec::new();
    if leaves_others {
        let others = Survey::of::<Document>(written);
        found.extend(others.of_written().filter(|issue| !lines.contains_key(&issue.place.line)));
    }
    found.extend(lines.into_values());
    found.sort_by_key(|issue| (issue.place.line, issue.place.column));
    found
}

fn fault<'a>(text: &'a str, error: &toml::de::Error) -> (&'a str, Wrong, Issue) {
    let offset = error.span().map_or(0, |span| span.start).min(text.len());
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let whole = text[start..].lines().next().unwrap_or_default();
    let (line, wrong) = (whole.trim(), Wrong::of(error.message()));
    let message = error.message().trim_end_matches(", expected literal string");
    let reads = format!("{}it reads: {}", remedy(line, wrong), shown(line));
    let said = Said::new(format!("not TOML: {message}"), reads);
    let place = Place::in_text(text, offset..offset.max(start + whole.len()));
    (line, wrong, Issue { place, ..Issue::new("", said) })
}

/// The remedy for frequent mistakes.
fn remedy(line: &str, wrong: Wrong) -> String {
    let value = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    match (wrong, value) {
        (Wrong::Value, Some((key, ""))) => format!("{key} has no value; "),
        (Wrong::Value, Some((key, value))) => {
            let word = value.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            format!("for text write {} = \"{}\"; ", shown(key), shown(word))
        }
        (Wrong::End, Some((_, value))) if value.ends_with(',') => {
            "a line ends without a comma; ".to_owned()
        }
        (_, Some((_, "True" | "False" | "TRUE" | "FALSE"))) => {
            "write true or false in small letters; ".to_owned()
        }
        (_, None) if line.contains(':') => "write key = value; ".to_owned(),
        (Wrong::Twice, _) => {
            "write each table or key once, and [[flows]] for each flow; ".to_owned()
        }
        _ => String::new(),
    }
}
