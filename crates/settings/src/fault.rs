//! Structural faults: the document does not have the shape of a scenario.

use crate::check::Issue;
use crate::path::{Path, Step, is_bare, shown};
use crate::schema;
use crate::tree::Node;
use serde_json::Value as Json;

/// A fault of shape and its place.
#[derive(Debug)]
pub struct Fault {
    /// From the innermost step outwards: the path grows while the fault is passed up.
    steps: Vec<Step>,
    /// 0 if unknown.
    line: usize,
    pub(crate) kind: Kind,
}

/// The kind of a fault.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A message.
    Message(String),
    /// The key at the end of the fault's path, which its table does not have.
    UnknownKey { key: String, known: &'static [&'static str] },
    /// Several variants of a choice are given at once.
    Several { given: Vec<String>, variants: &'static [&'static str] },
}

impl Fault {
    pub(crate) fn new(line: usize, kind: Kind) -> Self {
        Self { steps: Vec::new(), line, kind }
    }

    pub(crate) fn message(line: usize, message: impl Into<String>) -> Self {
        Self::new(line, Kind::Message(message.into()))
    }

    /// A fault of a value.
    pub fn here(message: impl Into<String>) -> Self {
        Self::message(0, message)
    }

    /// The same fault, relative to the table in which `node` is at `key`.
    pub(crate) fn in_key(self, key: &str, node: &Node) -> Self {
        self.within(Step::Key(key.to_owned()), node)
    }

    /// The same fault, relative to the list in which `node` is.
    pub(crate) fn in_item(self, index: usize, node: &Node) -> Self {
        self.within(Step::Index(index), node)
    }

    fn within(mut self, step: Step, node: &Node) -> Self {
        self.steps.push(step);
        if self.line == 0 {
            self.line = node.line;
        }
        self
    }

    /// Its path.
    pub(crate) fn path(&self) -> Path {
        Path(self.steps.iter().rev().cloned().collect())
    }

    /// The message for users; the schema of the document tells to which table an unknown key
    /// belongs.
    pub(crate) fn into_issue(self, schema: impl FnOnce() -> Json) -> Issue {
        let path = self.path();
        let line = match self.line {
            0 => String::new(),
            line => format!(" (line {line})"),
        };
        let (path, message) = match self.kind {
            Kind::Message(message) => (path, format!("{message}{line}")),
            Kind::UnknownKey { key, known } => {
                let advice = advice(&path, &key, known, &schema());
                (path, format!("unknown key{line}; {advice}"))
            }
            Kind::Several { given, variants } => {
                let given = given.iter().map(|name| shown(name)).collect::<Vec<_>>().join(" and ");
                let variants = variants.join(", ");
                let message = format!("takes one of {variants}, not both {given}{line}");
                (path, message)
            }
        };
        Issue { path: path.to_string(), message }
    }
}

/// The suggestion for an unknown key at `path`.
fn advice(path: &Path, key: &str, known: &[&str], schema: &Json) -> String {
    const MOST: usize = 4;
    let mut places = if is_bare(key) { schema::places(schema, key) } else { Vec::new() };
    let table = &path.0[..path.0.len().saturating_sub(1)];
    let below = format!("{}.", Path(table.to_vec()).general());
    let inside = places.iter().any(|place| place.starts_with(&below));
    if inside {
        places.retain(|place| place.starts_with(&below));
    }
    if places.len() > MOST {
        places.truncate(MOST);
        places.push("…".to_owned());
    }
    if inside {
        return format!("it belongs at {}", places.join(" or "));
    }
    let nearest = nearest(key, known.iter().copied());
    if !nearest.is_empty() {
        return format!("did you mean {}?", nearest.join(" or "));
    }
    let here = format!("the keys here are {}", known.join(", "));
    if places.is_empty() {
        return here;
    }
    format!("it belongs at {}; {here}", places.join(" or "))
}

/// Up to three of the candidates for which a mistyped word may stand, nearest first.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    /// The minimum similarity of a helpful suggestion.
    const ALIKE: f64 = 0.66;
    // A mistyped word has about the length of the intended one: longer words are not compared.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return Vec::new();
    }
    let word = word.to_lowercase();
    let mut scored: Vec<_> = candidates
        .map(|candidate| (likeness(&word, candidate), candidate))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    scored.into_iter().take(3).filter(|(s, _)| *s > best - 0.15).map(|(_, c)| c).collect()
}

/// The similarity of two words: 1 if they are equal; nearly as much for a word without its unit or
/// with another, as `duration` or `duration_ms` for `duration_s`, and for one that contains the
/// candidate, as `802.11g` for `11g`, or is a part of it, as `reno` for `new_reno`. The letters of
/// standards decide: `11be` is not nearly `11b`.
fn likeness(word: &str, candidate: &str) -> f64 {
    let letters = |name: &'_ str| name.find(|letter: char| !letter.is_ascii_digit());
    if let (Some(at @ 1..), Some(same)) = (letters(word), letters(candidate))
        && at == same
    {
        return strsim::normalized_damerau_levenshtein(&word[at..], &candidate[at..]);
    }
    let stem = candidate.rsplit_once('_').map_or(candidate, |(stem, _)| stem);
    let word_stem = word.rsplit_once('_').map_or(word, |(stem, _)| stem);
    if stem == word || stem == word_stem {
        return 0.9;
    }
    if word.split(|letter: char| !letter.is_alphanumeric()).any(|part| part == candidate) {
        return 0.85;
    }
    if word.len() > 2 && candidate.split('_').any(|part| part == word) {
        return 0.8;
    }
    strsim::normalized_damerau_levenshtein(word, candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_finds_what_was_meant() {
        let keys = ["rate_mbps", "basic_rates_mbps", "cw_min", "cw_max", "duration_s", "slot"];
        let near = |word| nearest(word, keys.into_iter());
        assert_eq!(near("rate_mpbs"), ["rate_mbps"]);
        assert_eq!(near("rate"), ["rate_mbps"]);
        assert_eq!(near("rate_kbps"), ["rate_mbps"]);
        assert_eq!(near("duration"), ["duration_s"]);
        assert_eq!(near("duration_ms"), ["duration_s"]);
        assert_eq!(near("cwmin"), ["cw_min"]);
        assert_eq!(near("slot time"), ["slot"]);
        assert_eq!(near("colour"), [""; 0]);
        let others = |word| nearest(word, ["11b", "11ax", "new_reno", "tcp"].into_iter());
        assert_eq!(others("reno"), ["new_reno"]);
        assert_eq!(others("tpc"), ["tcp"]);
        assert_eq!(others("802.11b"), ["11b"]);
        assert_eq!(others("11be"), [""; 0]);
        assert_eq!(near(&"x".repeat(100_000)), [""; 0]);
    }
}
