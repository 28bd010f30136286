//! Reading and changing a scenario by path, with names of tables and of single stations.

use super::{Issue, Path, Scenario, check_size};
use crate::plan::FlowPlan;
use settings::address::{Element, Row, indexed, is_address};
use settings::{Node, Said, Step, Value, said};
use std::borrow::Cow;

fn one(issue: Issue) -> Vec<Issue> {
    vec![issue]
}

fn fault<T>(path: &str, said: impl Into<Said>) -> Result<T, Vec<Issue>> {
    Err(one(Issue::new(path, said)))
}

impl Scenario {
    /// A text of which this is the scenario once the value at a path, written as in TOML, is
    /// another. Comments and order stay where the text has a place for the value.
    pub fn over(&self, text: &str, path: &str, value: &str) -> String {
        let place = Path::parse(path).ok();
        let edited = place.and_then(|place| settings::with_value(text, &place, value));
        let is_own = |text: &String| Self::parse(text).is_ok_and(|found| found == *self);
        edited.filter(is_own).unwrap_or_else(|| self.below(text))
    }

    /// As TOML below the comment with which a text begins, and the empty lines after it.
    pub fn below(&self, text: &str) -> String {
        let comment = text.split_inclusive('\n').take_while(|line| line.starts_with('#'));
        let length: usize = comment.map(str::len).sum();
        let empty = text[length..].len() - text[length..].trim_start_matches('\n').len();
        format!("{}{}", &text[..length + empty], self.to_toml())
    }

    /// The scenario with another value at a path; `[*]` is every element of a list, and `[+]` a
    /// further one. A table may be named, `flows["download"]`, and so may a station, which then
    /// gets a table of its own. The value is TOML, or text without quotes if it is not TOML. Naming
    /// a variant of a choice, or a key within a variant, replaces the variant chosen before.
    pub fn set(&self, path: &str, value: &str) -> Result<Self, Vec<Issue>> {
        check_size(value.len())?;
        if let Some(list) = path.strip_suffix("[+]") {
            return self.with_table(list, path, value);
        }
        let (single, path) = self.single(path, false)?;
        let mut changed = single.into_owned();
        for path in indexed(&changed.written, &path).map_err(one)? {
            let value = settings::value_of(&path, value).map_err(one)?;
            changed = changed.put(&path, &value)?;
        }
        Ok(changed)
    }

    pub(super) fn put(&self, path: &Path, value: &Node) -> Result<Self, Vec<Issue>> {
        let (written, document) = settings::set(&self.written, path, value)?;
        Ok(Self { written, document })
    }

    /// The scenario without the value at a path.
    pub fn unset(&self, path: &str) -> Result<Self, Vec<Issue>> {
        let (single, path) = self.single(path, false)?;
        let mut written = single.written.clone();
        // The last elements first, so that the indices of others do not change.
        for path in indexed(&written, &path).map_err(one)?.iter().rev() {
            if !written.remove(&path.0) {
                let top = match (&written.value, path.0.len()) {
                    (Value::Table(entries), 1) => {
                        let keys: Vec<_> = entries.iter().map(|(key, _)| &key[..]).collect();
                        format!(" (top-level keys that are set: {})", keys.join(", "))
                    }
                    _ => String::new(),
                };
                let path = path.to_string();
                return fault(&path, format!("is not set, so that it cannot be unset{top}"));
            }
        }
        Self::read_again(written)
    }

    /// Whether the scenario gives a value at a path with indices.
    pub fn has(&self, path: &str) -> Result<bool, Vec<Issue>> {
        Ok(self.written.at(&Path::parse(path).map_err(one)?).is_some())
    }

    /// The value at a path, or its default; null if the default depends on other keys. `[*]` gives
    /// a list.
    pub fn get(&self, path: &str) -> Result<serde_json::Value, Vec<Issue>> {
        let (single, path) = self.single(path, true)?;
        let paths = indexed(&single.written, &path).map_err(one)?;
        if let [first, _, ..] = &paths[..] {
            let count = paths.len();
            return fault(&path, said!("are {count} tables", "name one, as {first}"));
        }
        let steps = paths.first().map_or(&[][..], |path| &path.0);
        settings::get(&single.full(), steps, &mut Path::default()).map_err(one)
    }

    /// A scenario with a table for each station that these paths name, and for each of them the
    /// paths with indices for which it stands there.
    pub fn addressed(&self, paths: &[String]) -> Result<(Self, Vec<Vec<String>>), Vec<Issue>> {
        let mut single = self.clone();
        for path in paths {
            single = single.single(path, false)?.0.into_owned();
        }
        let told = |path: &String| {
            let (_, path) = single.single(path, false)?;
            let paths = indexed(&single.written, &path).map_err(one)?;
            Ok::<_, Vec<Issue>>(paths.iter().map(ToString::to_string).collect())
        };
        let paths = paths.iter().map(told).collect::<Result<_, _>>()?;
        Ok((single, paths))
    }

    /// The probes with indices for which a path with the name of a flow or a station stands.
    pub fn probe_paths(&self, path: &str) -> Result<Vec<String>, Vec<Issue>> {
        if !is_address(path) {
            return Ok(vec![path.to_owned()]);
        }
        let Some(element) = Element::parse(path).filter(|e| matches!(e.list, "flows" | "stations"))
        else {
            return fault(path, "a probe is of one flow or station, and has no function");
        };
        let Element { list, rest, .. } = element;
        if list == "stations" {
            return match station(path) {
                Some((number, rest)) => Ok(vec![format!("stations[{number}]{rest}")]),
                None => fault(path, "name a station, as stations[\"sta3\"]"),
            };
        }
        let conditions = element.conditions().or_else(|message| fault(path, message))?;
        if conditions.iter().any(|(key, _)| *key != "name") {
            return fault(path, "a probe names a flow by its index or its name");
        }
        let plan = self.resolve()?;
        let row = |(index, flow): (usize, &FlowPlan)| {
            let end = |node| plan.topology.name(node).to_owned();
            let values = [flow.name.clone(), end(flow.from), end(flow.to), String::new()];
            Row { index, values }
        };
        let rows: Vec<Row> = plan.flows.iter().enumerate().map(row).collect();
        let chosen = element.matching(&rows).or_else(|message| fault(path, message))?;
        Ok(chosen.into_iter().map(|index| format!("{list}[{index}]{rest}")).collect())
    }

    /// The scenario with one table more in a list.
    fn with_table(&self, list: &str, path: &str, text: &str) -> Result<Self, Vec<Issue>> {
        let at = Path::parse(list).map_err(one)?;
        let table = settings::value_of(&at, text).map_err(one)?;
        if !matches!(table.value, Value::Table(_)) {
            let example = format!("{path}={{from = \"server\", to = \"sta0\"}}");
            return fault(path, format!("takes a whole table, as {example}, is {}", text.trim()));
        }
        let mut tables = self.written.at(&at).cloned().unwrap_or(Node::of(Value::List(Vec::new())));
        let Value::List(items) = &mut tables.value else {
            let rule = said!("cannot be appended to: it is no array of tables", "write it as one");
            return fault(list, rule);
        };
        items.push(table);
        self.put(&at, &tables)
    }

    /// The scenario with a table for the station that a path names, and its path. What only reads
    /// gets the table of all where their positions follow from their number.
    fn single(&self, path: &str, reads: bool) -> Result<(Cow<'_, Self>, String), Vec<Issue>> {
        let Some((number, rest)) = station(path) else {
            return Ok((Cow::Borrowed(self), path.to_owned()));
        };
        let at = Path::default().key("stations");
        let tables = match self.written.at(&at) {
            Some(Node { value: Value::List(tables), .. }) => tables.clone(),
            Some(count @ Node { value: Value::Integer(_), .. }) => {
                vec![Node::of(Value::Table(vec![(COUNT.to_owned(), count.clone())]))]
            }
            Some(table) => vec![table.clone()],
            None => Vec::new(),
        };
        let (tables, place) =
            split(tables, number, reads).or_else(|message| fault(path, message))?;
        let (tables, path) = (Node::of(Value::List(tables)), format!("stations[{place}]{rest}"));
        if self.written.at(&at).is_some_and(|written| written.value == tables.value) {
            return Ok((Cow::Borrowed(self), path));
        }
        Ok((Cow::Owned(self.put(&at, &tables)?), path))
    }
}

const COUNT: &str = "count";

/// The number of the single station that a path names, and the rest of the path.
fn station(path: &str) -> Option<(i64, &str)> {
    const MOST_DIGITS: usize = 9;
    let Element { list: "stations", which, rest } = Element::parse(path)? else { return None };
    let which = which.trim();
    let bare = which.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(which);
    let number = bare.strip_prefix("sta")?;
    let is_number = number.len() <= MOST_DIGITS && number.bytes().all(|b| b.is_ascii_digit());
    let is_part = rest.len() > 1 && rest.starts_with('.');
    Some((number.parse().ok().filter(|_| is_number && is_part)?, rest))
}

/// The tables of stations with one of its own for a single station, and its index.
fn split(tables: Vec<Node>, number: i64, reads: bool) -> Result<(Vec<Node>, usize), Said> {
    let part = |table: &Node, key: &str| table.part(&Step::Key(key.to_owned())).cloned();
    let mut first = 0;
    for (place, table) in tables.iter().enumerate() {
        let count = match part(table, COUNT).map(|count| count.value) {
            None => 1,
            Some(Value::Integer(count)) if number < first + count => count,
            Some(Value::Integer(count)) => {
                first += count;
                continue;
            }
            Some(_) => 0,
        };
        if number >= first + count {
            first += 1;
            continue;
        }
        let placed = ["ring_m", "placement"].into_iter().find(|key| part(table, key).is_some());
        match placed {
            Some(key) if count > 1 && !reads => {
                let rule = format!("stands by {key} of {count} stations");
                return Err(Said::new(rule, "give it a table of its own"));
            }
            None if count > 1 => {}
            _ => return Ok((tables, place)),
        }
        let counts = [number - first, 1, first + count - number - 1];
        let own = place + usize::from(counts[0] > 0);
        let parts = counts.into_iter().filter(|count| *count > 0).map(|count| {
            let mut part = table.clone();
            if let Value::Table(entries) = &mut part.value {
                let own = entries.iter_mut().filter(|(key, _)| key == COUNT);
                own.for_each(|(_, node)| node.value = Value::Integer(count));
            }
            part
        });
        let mut apart = tables.clone();
        apart.splice(place..=place, parts);
        return Ok((apart, own));
    }
    Err(match first {
        0 => said!("there is no sta{number}", "there are no stations"),
        _ => Said::new(format!("there is no sta{number}"), format!("the last is sta{}", first - 1)),
    })
}
