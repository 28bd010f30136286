//! Messages for texts that are not TOML.

use super::Issue;
use super::document::Document;
use settings::{Node, Place, Survey, shown};
use std::collections::BTreeMap;

/// The faults of TOML itself, one for each line that has any, and those of shape in other lines.
pub(super) fn faults(text: &str, errors: &[toml::de::Error], written: &Node) -> Vec<Issue> {
    let mut lines: BTreeMap<usize, Issue> = BTreeMap::new();
    for error in errors {
        let issue = fault(text, error);
        lines.entry(issue.place.line).or_insert(issue);
    }
    // Without a header the keys below it seem to belong to another table, and without a bracket
    // other lines to a list: only what is wrong in itself leaves the rest as it is meant.
    let is_of_value = |issue: &Issue| {
        let of_value = issue.message.contains("quoted") || issue.message.contains("duplicate key");
        of_value && !issue.remedy.contains("it reads: [")
    };
    let mut found: Vec<Issue> = Vec::new();
    if lines.values().all(is_of_value) {
        let others = Survey::of::<Document>(written);
        found.extend(others.of_written().filter(|issue| !lines.contains_key(&issue.place.line)));
    }
    found.extend(lines.into_values());
    found.sort_by_key(|issue| (issue.place.line, issue.place.column));
    found
}

fn fault(text: &str, error: &toml::de::Error) -> Issue {
    let offset = error.span().map_or(0, |span| span.start).min(text.len());
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let message = error.message().trim_end_matches(", expected literal string");
    let remedy = remedy(line.trim(), message);
    let said = format!("not TOML: {message}{remedy}; it reads: {}", shown(line.trim()));
    let place = Place::in_text(text, offset..offset.max(start + line.len()));
    Issue { place, ..Issue::new("", said) }
}

/// The remedy for frequent mistakes.
fn remedy(line: &str, message: &str) -> String {
    let value = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    match value {
        Some((key, "")) if message.contains("quoted") => format!("; {key} has no value"),
        Some((key, value)) if message.contains("quoted") => {
            let word = value.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            format!("; for text write {} = \"{}\"", shown(key), shown(word))
        }
        Some((_, value)) if message.contains("newline") && value.ends_with(',') => {
            "; a line ends without a comma".to_owned()
        }
        Some((_, "True" | "False" | "TRUE" | "FALSE")) => {
            "; write true or false in small letters".to_owned()
        }
        None if line.contains(':') => "; write key = value".to_owned(),
        _ if message == "duplicate key" => {
            "; write each table or key once, and [[flows]] for each flow".to_owned()
        }
        _ => String::new(),
    }
}
