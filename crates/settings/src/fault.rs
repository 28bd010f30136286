//! Structural faults: the document does not have the shape of a scenario.

use crate::issue::{Issue, Repair, Said};
use crate::path::{Path, Step, is_bare, shown};
use crate::schema::{Defined, Places};
use crate::tree::Node;

/// The faults of shape of a value, each with its place in the value. Reading goes on after a fault,
/// so that all are found.
#[derive(Debug, Default)]
pub struct Fault(Vec<One>);

/// A fault of shape.
#[derive(Debug)]
pub(crate) struct One {
    /// From the innermost step outwards: the path grows while the fault is passed up.
    steps: Vec<Step>,
    pub(crate) kind: Kind,
}

/// The kind of a fault.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A message, and the values of which one may be meant.
    Message(Said),
    /// The key at the end of the fault's path, which its table does not have.
    UnknownKey { known: &'static [&'static str] },
    /// The key at the end of the fault's path, which is none of the variants.
    UnknownVariant { known: &'static [&'static str] },
    /// Several variants of a choice are given at once.
    Several { given: Vec<String>, variants: &'static [&'static str] },
}

impl Fault {
    pub(crate) fn new(kind: Kind) -> Self {
        Self(vec![One { steps: Vec::new(), kind }])
    }

    /// A fault of a value.
    pub fn here(said: impl Into<Said>) -> Self {
        Self::new(Kind::Message(said.into()))
    }

    /// A fault of a value that another value would cure, which is written as in TOML.
    pub(crate) fn with_values(self, values: impl IntoIterator<Item = String>) -> Self {
        self.with_repairs(values.into_iter().map(Repair::Value))
    }

    /// A fault that one of these changes would cure.
    pub(crate) fn with_repairs(mut self, repairs: impl IntoIterator<Item = Repair>) -> Self {
        if let Some(One { kind: Kind::Message(said), .. }) = self.0.first_mut() {
            said.repairs = repairs.into_iter().collect();
        }
        self
    }

    /// The same faults, relative to the table in which the value is at `key`.
    pub(crate) fn in_key(self, key: &str) -> Self {
        self.within(&Step::Key(key.to_owned()))
    }

    /// The same faults, relative to the list in which the value is.
    pub(crate) fn in_item(self, index: usize) -> Self {
        self.within(&Step::Index(index))
    }

    fn within(mut self, step: &Step) -> Self {
        self.0.iter_mut().for_each(|one| one.steps.push(step.clone()));
        self
    }

    /// Adds those of another value.
    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// The value, if there is no fault.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = &One> {
        self.0.iter()
    }

    /// The faults as users hear of them, with the path of each and that of the value which is
    /// faulty: an unknown variant makes its choice so.
    pub(crate) fn into_issues<T: Defined>(self, document: &Node) -> Vec<(Path, Path, Issue)> {
        let told = |one: One| {
            let (path, faulty) = (one.path(), one.faulty());
            let (place, said) = (document.place_of(&path), one.said(Places::of::<T>()));
            let issue = Issue { place, ..Issue::new(&path, said) };
            (path, faulty, issue)
        };
        self.0.into_iter().map(told).collect()
    }
}

impl One {
    /// Its path.
    pub(crate) fn path(&self) -> Path {
        Path(self.steps.iter().rev().cloned().collect())
    }

    /// The path of the value that cannot be read.
    pub(crate) fn faulty(&self) -> Path {
        let mut path = self.path();
        if matches!(self.kind, Kind::UnknownVariant { .. }) {
            path.0.pop();
        }
        path
    }

    /// The message for users; the places of all keys tell to which table an unknown key belongs.
    fn said(self, places: &Places) -> Said {
        let path = self.path();
        match self.kind {
            Kind::Message(said) => said,
            Kind::UnknownKey { known } | Kind::UnknownVariant { known } => {
                let Some(Step::Key(key)) = path.0.last() else { return "".into() };
                advice(&path, key, known, places)
            }
            Kind::Several { given, variants } => {
                let given = given.iter().map(|name| shown(name)).collect::<Vec<_>>().join(" and ");
                let variants = variants.join(", ");
                format!("takes one of {variants}, not both {given}").into()
            }
        }
    }
}

/// The message about an unknown key at `path`.
fn advice(path: &Path, key: &str, known: &[&str], places: &Places) -> Said {
    const MOST: usize = 4;
    let said = |remedy: String| Said::new("unknown key", remedy);
    let mut places = if is_bare(key) { places.with_key(key).to_vec() } else { Vec::new() };
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
        return said(format!("it belongs at {}", places.join(" or ")));
    }
    let nearest = nearest(key, known.iter().copied());
    if !nearest.is_empty() {
        let repairs = nearest.iter().map(|near| Repair::Rename((*near).to_owned()));
        let meant = format!("did you mean {}?", nearest.join(" or "));
        return said(meant).with_repairs(repairs);
    }
    let here = format!("the keys here are {}", known.join(", "));
    if places.is_empty() {
        return said(here);
    }
    said(format!("it belongs at {}; {here}", places.join(" or ")))
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
