//! The path language: `flows[0].traffic.web.size.pareto.shape`, `flows[*].control`.

use crate::issue::Issue;
use crate::said;
use std::fmt;

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// `.key`
    Key(String),
    /// `[3]`
    Index(usize),
    /// `[*]`
    Every,
}

/// Steps from the root of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// Reads `key.key[index].key`; an index is a number or `*`.
    ///
    /// # Errors
    /// An issue that says why the text is not a path.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        /// Longer than the path of any key of a scenario.
        const MOST_STEPS: usize = 32;
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
            if !is_bare(key) {
                return Err(malformed(
                    text,
                    "a key between dots is missing or is not a plain word",
                ));
            }
            steps.push(Step::Key(key.to_owned()));
            while !rest.is_empty() {
                let inner = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let Some((index, after)) = inner else {
                    return Err(malformed(text, "a bracket does not close"));
                };
                steps.push(match (index, index.parse()) {
                    ("*", _) => Step::Every,
                    (_, Ok(number)) => Step::Index(number),
                    _ => {
                        let what = "brackets contain a number from 0, or * for all";
                        return Err(malformed(text, what));
                    }
                });
                rest = after;
            }
            if steps.len() > MOST_STEPS {
                return Err(malformed(text, "no key has so long a path"));
            }
        }
        Ok(Self(steps))
    }

    /// The path with `[*]` for each index, as the schema knows it.
    #[must_use]
    pub fn general(&self) -> Self {
        let general = |step: &Step| match step {
            Step::Key(key) => Step::Key(key.clone()),
            Step::Index(_) | Step::Every => Step::Every,
        };
        Self(self.0.iter().map(general).collect())
    }

    /// The path of a key of this table.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.then(Step::Key(key.to_owned()))
    }

    /// The path of a value of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    /// This path extended by one step.
    #[must_use]
    pub fn then(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

fn malformed(text: &str, what: &str) -> Issue {
    let message = said!("not a path: {what}", "a path reads as flows[0].tcp.mss_bytes");
    Issue::new(shown(text), message)
}

/// Whether a key needs no quotes.
pub fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Text from a document, prepared for a message: shortened and without control characters.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short = String::new();
    for letter in text.chars().take(LONGEST) {
        if letter.is_control() || letter == char::REPLACEMENT_CHARACTER {
            short.extend(letter.escape_default());
        } else {
            short.push(letter);
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) => {
                    let dot = if position == 0 { "" } else { "." };
                    let quote = if is_bare(key) { "" } else { "\"" };
                    write!(f, "{dot}{quote}{}{quote}", shown(key))?;
                }
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Every => write!(f, "[*]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_itself() {
        for text in ["a", "flows[0].tcp.mss_bytes", "flows[*].control", "a.b[1][*].c-d"] {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_path_says_why() {
        let message = |text: &str| Path::parse(text).unwrap_err().said.message;
        for text in ["", ".", "a..b", "a.", "[0]", "a b", "flows[0]tcp"] {
            assert!(message(text).starts_with("not a path: "), "{text}");
        }
        assert!(message(&"a.".repeat(1000)).contains("no key has so long a path"));
        assert!(message(&format!("a{}", "[0]".repeat(1000))).contains("no key has so long a path"));
        assert!(message("flows[0").contains("bracket does not close"));
        assert!(message("flows[x]").contains("a number from 0, or *"));
        assert!(message("flows[-1]").contains("a number from 0, or *"));
        assert!(message("flows[99999999999999999999]").contains("a number from 0, or *"));
    }
}
