//! Reading: from the tree to the types.
//!
//! [`Setting::read`] is used instead of serde for four reasons: a fault has its path, its line and
//! a suggestion; TOML and JSON read alike; a choice may be written by its name alone (`control
//! = "new_reno"` is `control.new_reno = {}`); and for serde's generic traits the compiler generated
//! the code of each table for each caller, so that builds took several times as long.

use crate::check::Faults;
use crate::choice::Named;
use crate::fault::{Fault, Kind, nearest};
use crate::issue::{Issue, Repair, Said};
use crate::schema::Defined;
use crate::setting::{Setting, typed};
use crate::survey::Survey;
use crate::tree::{Node, Value};

/// Above this number a float cannot represent every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a tree.
///
/// # Errors
/// All faults of shape, with their paths and places.
pub fn read<T: Setting + Defined>(node: &Node) -> Result<T, Vec<Issue>> {
    let told = |fault: Fault| fault.into_issues::<T>(node).into_iter().map(|(_, _, issue)| issue);
    typed(node).map_err(|fault| told(fault).collect())
}

/// Reads a tree and reports all faults of shape and range. Each faulty value is replaced by its
/// default.
pub fn read_sound<T: Setting + Defined + Default>(node: &Node) -> (T, Faults) {
    let survey = Survey::of::<T>(node);
    let sound = survey.sound::<T>().and_then(|sound| typed(&sound).ok());
    (sound.unwrap_or_default(), Faults(survey.issues().collect()))
}

/// The value as the key expects it, or the fault that it is something else.
impl Node {
    pub(crate) fn wrong(&self, expected: &str, remedy: &str) -> Fault {
        let found = self.described();
        Fault::here(Said::new(format!("must be {expected}, is {found}"), remedy))
    }

    /// The fault if a number is expected.
    fn no_number(&self, expected: &str) -> Fault {
        let Value::Text(text) = &self.value else { return self.wrong(expected, "") };
        let digits = text.trim().trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
        match digits.parse::<f64>() {
            Ok(_) if digits == text.trim() => self
                .wrong(expected, &format!("write it without quotes: {digits}"))
                .with_values([digits.to_owned()]),
            Ok(_) => self.wrong(expected, "write only the number: the key names the unit"),
            Err(_) => self.wrong(expected, ""),
        }
    }

    pub(crate) fn boolean(&self) -> Result<bool, Fault> {
        if let Value::Bool(value) = self.value {
            return Ok(value);
        }
        let fault = self.wrong("true or false", "both are written without quotes");
        let meant = self.text().ok().filter(|text| matches!(*text, "true" | "false"));
        Err(fault.with_values(meant.map(str::to_owned)))
    }

    /// A number.
    ///
    /// # Errors
    /// A fault if it is no number.
    pub fn number(&self) -> Result<f64, Fault> {
        match self.value {
            Value::Integer(value) => Ok(value as f64),
            Value::Float(value) => Ok(value),
            _ => Err(self.no_number("a number")),
        }
    }

    /// A whole number from 0.
    ///
    /// # Errors
    /// A fault if it is no such number.
    pub fn whole(&self) -> Result<u64, Fault> {
        const EXPECTED: &str = "a whole number from 0";
        match self.value {
            Value::Integer(value) => u64::try_from(value)
                .map_err(|_| Fault::here(format!("must be at least 0, is {value}"))),
            // In TOML `1e6` is a float; users write it as an integer.
            Value::Float(value) if (0.0..=EXACT).contains(&value) && value.trunc() == value => {
                Ok(value as u64)
            }
            Value::Float(value) if value > EXACT => {
                Err(self.wrong("a whole number", "that is too large"))
            }
            _ => Err(self.no_number(EXPECTED)),
        }
    }

    pub(crate) fn text(&self) -> Result<&str, Fault> {
        match &self.value {
            Value::Text(text) => Ok(text),
            Value::Integer(_) | Value::Float(_) | Value::Bool(_) | Value::Date(_) => {
                let written = self.described();
                let quoted = format!("\"{}\"", written.trim_start_matches("the date "));
                Err(self.wrong("text", "put it in quotes").with_values([quoted]))
            }
            _ => Err(self.wrong("text", "")),
        }
    }

    pub(crate) fn items(&self) -> Result<&[Self], Fault> {
        match &self.value {
            Value::List(items) => Ok(items),
            Value::Table(_) => {
                let remedy =
                    "a list of tables has two brackets in each of its headers, as [[flows]]";
                Err(self.wrong("a list", remedy).with_repairs([Repair::List]))
            }
            _ => Err(self.wrong("a list", "a list is written in brackets, as [1, 2]")),
        }
    }

    pub(crate) fn table(&self, keys: &[&str]) -> Result<&[(String, Self)], Fault> {
        match &self.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.wrong(&format!("a table with the keys {}", keys.join(", ")), "")),
        }
    }

    /// One of the variants of a choice.
    ///
    /// # Errors
    /// A fault if it is none of the variants, or if several are given.
    pub fn named(&self, variants: &'static [&'static str]) -> Result<Named<'_>, Fault> {
        let named = match &self.value {
            Value::Text(name) => Named { name, table: None },
            // A name that consists of digits needs no quotes.
            Value::Integer(number) => {
                match variants.iter().find(|name| name.parse() == Ok(*number)) {
                    Some(name) => Named { name, table: None },
                    None => return Err(self.wrong(&one_of(variants), "")),
                }
            }
            Value::Table(entries) => self.one_entry(entries, variants)?,
            _ => return Err(self.wrong(&one_of(variants), "")),
        };
        if variants.contains(&named.name) {
            return Ok(named);
        }
        if named.table.is_some() {
            return Err(Fault::new(Kind::UnknownVariant { known: variants }).in_key(named.name));
        }
        let near = nearest(named.name, variants.iter().copied());
        let remedy = match near.first() {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => String::new(),
        };
        let quoted = near.iter().map(|name| format!("\"{name}\""));
        Err(self.wrong(&one_of(variants), &remedy).with_values(quoted))
    }

    fn one_entry<'a>(
        &self,
        entries: &'a [(String, Self)],
        variants: &'static [&'static str],
    ) -> Result<Named<'a>, Fault> {
        // If there are several, a misspelt name comes first, since it may be the only mistake.
        let misspelt = entries.iter().find(|(name, _)| !variants.contains(&&name[..]));
        match (entries, misspelt) {
            ([], _) => Err(self.wrong(&one_of(variants), "")),
            ([(name, table)], _) | (_, Some((name, table))) => {
                Ok(Named { name, table: Some(table) })
            }
            _ => {
                let given = entries.iter().map(|(key, _)| key.clone()).collect();
                Err(Fault::new(Kind::Several { given, variants }))
            }
        }
    }
}

fn one_of(variants: &[&str]) -> String {
    let quoted: Vec<_> = variants.iter().map(|name| format!("\"{name}\"")).collect();
    match &quoted[..] {
        [only] => only.clone(),
        _ => format!("one of {}", quoted.join(", ")),
    }
}
