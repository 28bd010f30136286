//! Addresses: elements of lists by name in paths of documents and of results.
//!
//! In brackets is an index, a name, a name with wildcards, or conditions on the ends:
//! `sum(flows[to="sta*"].goodput_mbps)` (`python/simoom/scenario/address.py` says what each means).

use crate::fault::nearest;
use crate::issue::{Issue, Said};
use crate::path::{Path, Step};
use crate::said;
use crate::tree::{Node, Value};

/// What turns the values of several elements into one number.
const FUNCTIONS: [&str; 4] = ["sum", "mean", "min", "max"];

/// The keys of an element that a condition may name; the group of a station is its table's name.
const KEYS: [&str; 4] = ["name", "from", "to", "group"];

/// An element of a list, by its index and its values of [`KEYS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The index.
    pub index: usize,
    /// Name, ends and group; empty if it has none.
    pub values: [String; KEYS.len()],
}

impl Row {
    /// Whether a single flow or station is one of the table with this name.
    fn is_of_table(&self, table: &str) -> bool {
        let [name, from, to, group] = &self.values;
        group == table
            || name.strip_prefix(table).and_then(|rest| rest.strip_prefix(' ')).is_some_and(
                |ends| ends == from || ends == to || ends.split_once("->") == Some((from, to)),
            )
    }
}

/// A path of elements of a list: `flows["download"].control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// `flows`
    pub list: &'a str,
    /// What stands in brackets.
    pub which: &'a str,
    /// `.control`
    pub rest: &'a str,
}

impl<'a> Element<'a> {
    /// The first list of a path with the brackets behind it, if it has any.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (list, inside) = text.split_once('[')?;
        let end = outside(inside, ']').next()?;
        let (which, rest) = (&inside[..end], &inside[end + 1..]);
        is_word(list).then_some(Self { list, which, rest })
    }

    fn has_index(&self) -> bool {
        !self.which.is_empty() && self.which.bytes().all(|b| b.is_ascii_digit())
    }

    fn has_name(&self) -> bool {
        !self.has_index() && !matches!(self.which, "*" | "+")
    }

    /// Whether in brackets is the name of one table, without a wildcard or condition.
    fn has_one_name(&self) -> bool {
        let quoted = self.which.trim().strip_prefix('"').and_then(|name| name.strip_suffix('"'));
        let several =
            |c| matches!(c, '*' | '?' | '"') || quoted.is_none() && matches!(c, '=' | ',');
        !quoted.unwrap_or(self.which).contains(several)
    }

    /// The path of the element with an index.
    fn path(&self, index: usize) -> String {
        format!("{}[{index}]{}", self.list, self.rest)
    }

    /// The keys and values that an element must have.
    ///
    /// # Errors
    /// Why the text in brackets has none.
    pub fn conditions(&self) -> Result<Vec<(&'static str, &'a str)>, Said> {
        let (list, mut found, mut begin) = (self.list, Vec::new(), 0);
        for end in outside(self.which, ',').chain([self.which.len()]) {
            let part = &self.which[begin..end];
            begin = end + 1;
            let (key, value) = match outside(part, '=').next() {
                Some(at) => (part[..at].trim(), part[at + 1..].trim()),
                None => ("name", part.trim()),
            };
            let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            let is_bare = !value.is_empty() && !value.contains(['"', '=']);
            if !is_word(key) || !is_bare && quoted.is_none_or(|value| value.contains('"')) {
                return Err(format!(
                    "write an index, a name or conditions: {list}[\"download\"] or \
                     {list}[from=\"server\", to=\"sta*\"]"
                )
                .into());
            }
            let Some(key) = KEYS.into_iter().find(|known| *known == key) else {
                return Err(format!("{key} is none of {}", KEYS.join(", ")).into());
            };
            found.push((key, quoted.unwrap_or(value)));
        }
        Ok(found)
    }

    /// The indices of the elements that the brackets name, at least one.
    ///
    /// # Errors
    /// Why there is none, with names that may be meant.
    pub fn matching(&self, rows: &[Row]) -> Result<Vec<usize>, Said> {
        if self.which == "*" {
            return Ok(rows.iter().map(|row| row.index).collect());
        }
        if self.has_index() {
            return Ok(self.which.parse().into_iter().collect());
        }
        let mut found: Vec<&Row> = rows.iter().collect();
        for (key, wanted) in self.conditions()? {
            let place = KEYS.iter().position(|known| *known == key).unwrap_or_default();
            let rules: [&dyn Fn(&Row) -> bool; 3] = [
                &|row| row.values[place] == wanted,
                &|row| key == "name" && row.is_of_table(wanted),
                &|row| fits(wanted, &row.values[place]),
            ];
            let Some(rule) = rules.into_iter().find(|rule| found.iter().any(|row| rule(row)))
            else {
                let names = each_once(rows.iter().map(|row| row.values[place].as_str()));
                let close = match near(wanted, &names) {
                    close if close.is_empty() => names.into_iter().take(5).collect(),
                    close => close,
                };
                let close = if close.is_empty() { "none".to_owned() } else { close.join(", ") };
                return Err(said!("no {key} is '{wanted}'", "there are {close}"));
            };
            found.retain(|row| rule(row));
        }
        Ok(found.into_iter().map(|row| row.index).collect())
    }
}

/// Whether a path names an element by more than its index.
pub fn is_address(path: &str) -> bool {
    call(path).is_some() || Element::parse(path).is_some_and(|element| element.has_name())
}

/// A path without its function, with other brackets in place of each.
pub fn general(path: &str, brackets: &str) -> String {
    let mut rest = match call(path) {
        Some((function, inner)) if FUNCTIONS.contains(&function) => inner,
        _ => path.trim(),
    };
    let mut told = String::new();
    while let Some((begin, inside)) = rest.split_once('[')
        && let Some(end) = outside(inside, ']').next()
    {
        told.extend([begin, brackets]);
        rest = &inside[end + 1..];
    }
    told + rest
}

/// Whether a path is one for which an address may stand, or a part of it.
pub fn covers(address: &str, path: &str) -> bool {
    let is_part = |whole: &str, path: &str| {
        path.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let has_index = Element::parse(address).is_some_and(|element| element.has_index());
    is_part(address, path) || !has_index && is_part(&general(address, "[*]"), &general(path, "[*]"))
}

/// The paths with indices for which a path stands in a document.
///
/// # Errors
/// It is no path, or names no element.
pub fn indexed(document: &Node, path: &str) -> Result<Vec<Path>, Issue> {
    let Some(element) = Element::parse(path).filter(Element::has_name) else {
        return Ok(vec![Path::parse(path)?]);
    };
    let list = element.list;
    let rows: Option<Vec<Row>> = match document.part(&Step::Key(list.to_owned())) {
        Some(Node { value: Value::List(tables), .. }) => {
            let is_table = |table: &Node| matches!(table.value, Value::Table(_));
            let rows = tables.iter().enumerate().map(|(n, table)| row(list, n, table));
            tables.iter().all(is_table).then(|| rows.collect())
        }
        _ => None,
    };
    let chosen = match rows {
        Some(rows) => element.matching(&rows),
        None => Err(format!("{list} is no array of tables with names").into()),
    };
    let chosen = chosen.map_err(|said| Issue::new(path, said))?;
    chosen.into_iter().map(|index| Path::parse(&element.path(index))).collect()
}

/// A table of a document; without a name it has the one that reports give it.
fn row(list: &str, index: usize, table: &Node) -> Row {
    let mut values = KEYS.map(|key| table.text_at(key).unwrap_or_default().to_owned());
    let [name, from, to, _] = &values;
    if name.is_empty() && !from.is_empty() {
        values[0] = format!("{from}{}{to}", if list == "links" { "-" } else { "->" });
    }
    Row { index, values }
}

/// The elements of a list of results, by index, from all paths and the texts that they have.
fn rows(list: &str, results: &[(String, String)]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (path, text) in results {
        let Some((index, key)) = element(path, list) else { continue };
        let at = rows.iter().rposition(|row| row.index == index).unwrap_or_else(|| {
            rows.push(Row { index, values: Default::default() });
            rows.len() - 1
        });
        if let Some(place) = KEYS.iter().position(|known| *known == key) {
            rows[at].values[place].clone_from(text);
        }
    }
    rows
}

/// The index of an element of a list, and the rest of its path.
pub fn element<'a>(path: &'a str, list: &str) -> Option<(usize, &'a str)> {
    let (index, rest) = path.strip_prefix(list)?.strip_prefix('[')?.split_once("].")?;
    Some((index.parse().ok()?, rest))
}

/// The paths of results for which an address stands, and the function that makes one number of
/// their values, if there is more than one value. The results are all paths with the texts that
/// they have.
///
/// # Errors
/// The address is malformed, names no element, or several without a function.
pub fn chosen(
    path: &str,
    results: &[(String, String)],
) -> Result<(Option<&'static str>, Vec<String>), Said> {
    let (name, inner) = call(path).map_or((None, path), |(name, inner)| (Some(name), inner));
    let function = FUNCTIONS.into_iter().find(|own| Some(*own) == name);
    if let Some(name) = name.filter(|_| function.is_none()) {
        let known = FUNCTIONS.join(", ");
        return Err(said!("{path}: there is no function '{name}'", "there are {known}"));
    }
    let Some(element) = Element::parse(inner) else {
        let example = "sum(flows[*].goodput_mbps)";
        return Err(format!("{path}: must be of elements of a list, as {example}").into());
    };
    let (list, which) = (element.list, element.which);
    let chosen = element.matching(&rows(list, results));
    let chosen = chosen.map_err(|said| said.after(format_args!("{list}[{which}]: ")))?;
    let paths: Vec<String> = chosen.into_iter().map(|index| element.path(index)).collect();
    if !paths.iter().any(|path| results.iter().any(|(known, _)| known == path)) {
        let known = each_once(results.iter().map(|(known, _)| general(known, "[i]")));
        let close = nearest(&general(inner, "[i]"), known.iter().map(String::as_str));
        return Err(Said::new(format!("there is no '{path}'"), suggested(&close)));
    }
    match (function, paths.len()) {
        (None, 1) | (Some(_), _) => Ok((function, paths)),
        (None, _) if element.has_one_name() => Ok((Some("mean"), paths)),
        (None, n) => Err(said!("{path}: are {n} {list}", "write sum({path}), or mean, min, max")),
    }
}

/// The names that may be meant: those that begin so, that contain it, that are similar.
pub fn near<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    const MOST: usize = 3;
    let low = wanted.to_lowercase();
    let begin = names.iter().filter(|name| name.to_lowercase().starts_with(&low));
    let hold = names.iter().filter(|name| name.to_lowercase().contains(&low));
    let found = each_once(begin.chain(hold).copied().filter(|_| !low.is_empty()).take(MOST * 2));
    match found.len() {
        0 => nearest(wanted, names.iter().copied()),
        n => found[..n.min(MOST)].to_vec(),
    }
}

/// The remedy that suggests names; empty if there are none.
pub fn suggested(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => format!("the nearest is {name}"),
        _ => format!("the nearest are {}", names.join(", ")),
    }
}

fn each_once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut found, each| {
        if !found.contains(&each) {
            found.push(each);
        }
        found
    })
}

/// Function and argument of `sum(flows[*].lost)`.
fn call(text: &str) -> Option<(&str, &str)> {
    let (function, inner) = text.trim().strip_suffix(')')?.split_once('(')?;
    let is_name = !function.is_empty() && function.bytes().all(|b| b.is_ascii_lowercase());
    (is_name && !inner.is_empty()).then_some((function, inner.trim()))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Where a text has a letter that is not quoted; nowhere if a quote does not close before.
fn outside(text: &str, letter: char) -> impl Iterator<Item = usize> + '_ {
    let mut is_quoted = false;
    text.char_indices().filter_map(move |(at, c)| {
        is_quoted ^= c == '"';
        (c == letter && !is_quoted).then_some(at)
    })
}

/// Whether a text is as a pattern, in which `*` stands for any letters and `?` for one.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Behind the last star, and where the letters for which it stands end.
    let mut star = None;
    while t < text.len() {
        match (pattern.get(p), star) {
            (Some('*'), _) => {
                p += 1;
                star = Some((p, t));
            }
            (Some(c), _) if *c == '?' || *c == text[t] => (p, t) = (p + 1, t + 1),
            (_, Some((behind, end))) => {
                (p, t) = (behind, end + 1);
                star = Some((p, t));
            }
            _ => return false,
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_address_and_an_index_is_none() {
        for path in ["flows[\"up\"].timeouts", "sum(flows[*].timeouts)", "flows[a=b]", "no(x)"] {
            assert!(is_address(path), "{path}");
        }
        for path in [
            "flows[0].timeouts",
            "flows[*].control",
            "flows[+]",
            "a.b[x]",
            "flows[\"a]",
            "a[99999999999999999999]",
        ] {
            assert!(!is_address(path), "{path}");
        }
    }

    #[test]
    fn the_general_path_has_no_index_and_no_name() {
        assert_eq!(general("sum(flows[\"up\"].goodput_mbps)", "[i]"), "flows[i].goodput_mbps");
        assert_eq!(general("max(flows[to=\"a]b\"].mos)", "[i]"), "flows[i].mos");
        assert_eq!(general("stations[3].bins[2]", "[*]"), "stations[*].bins[*]");
        assert_eq!(general("total.attempts", "[i]"), "total.attempts");
    }

    #[test]
    fn an_address_covers_the_paths_for_which_it_may_stand() {
        for path in ["flows[1].tcp", "flows[0].tcp.ecn", "flows[2].tcp[0]"] {
            assert!(covers("flows[\"up\"].tcp", path) && covers("flows[*].tcp", path), "{path}");
        }
        assert!(!covers("flows[\"up\"].tcp", "flows[1].tcp_x"));
        assert!(covers("flows[1].tcp", "flows[1].tcp") && !covers("flows[0].tcp", "flows[1].tcp"));
        assert!(covers("stations", "stations.count") && !covers("title", "titles"));
    }

    #[test]
    fn wildcards_stand_for_letters() {
        for (pattern, text) in [("call *", "call up"), ("*n", "down"), ("s?a*", "sta12"), ("*", "")]
        {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("call *", "recall up"), ("*n", "up"), ("?", ""), ("a*b*a", "ab")] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
        assert!(!fits(&"a*".repeat(50), &"a".repeat(49)));
    }

    #[test]
    fn names_that_may_be_meant() {
        let names = ["browsing sta0", "call up", "call down", "recall"];
        assert_eq!(near("call", &names), ["call up", "call down", "recall"]);
        assert_eq!(near("dwonload", &["download", "upload"]), ["download"]);
        assert_eq!(suggested(&["up", "down"]), "the nearest are up, down");
    }

    #[test]
    fn tables_of_a_document_have_names() {
        let text =
            "[[flows]]\nname = \"down\"\nfrom = \"server\"\n[[flows]]\nfrom = \"a\"\nto = \"b\"";
        let tree = Node::from_toml(text).unwrap();
        let told = |path: &str| match indexed(&tree, path) {
            Ok(paths) => paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            Err(issue) => issue.to_string(),
        };
        assert_eq!(told("flows[down].x"), "flows[0].x");
        assert_eq!(told("flows[a->b].x"), "flows[1].x");
        assert_eq!(told("flows[\"*\"].x"), "flows[0].x flows[1].x");
        assert_eq!(told("flows[ from = \"a\" , to=b].x"), "flows[1].x");
        assert_eq!(told("flows[7].x"), "flows[7].x");
        assert_eq!(told("flows[dwn].x"), "flows[dwn].x: no name is 'dwn'; there are down");
        assert_eq!(
            told("flows[size=3].x"),
            "flows[size=3].x: size is none of name, from, to, group"
        );
        for path in ["flows[a=b=c]", "flows[]", "flows[a,]", "flows[a\"b\"]", "flows[=b]"] {
            assert!(told(path).contains("write an index, a name or conditions: "), "{path}");
        }
        assert!(told("links[a].x").ends_with("links is no array of tables with names"));
    }

    #[test]
    fn single_flows_and_stations_have_the_name_of_their_table() {
        let row = |values: [&str; 4]| Row { index: 0, values: values.map(str::to_owned) };
        assert!(row(["up sta0", "sta0", "server", ""]).is_of_table("up"));
        assert!(row(["up a->b", "a", "b", ""]).is_of_table("up"));
        assert!(row(["sta0", "", "", "laptops"]).is_of_table("laptops"));
        assert!(!row(["up sta1", "sta0", "server", ""]).is_of_table("up"));
    }

    #[test]
    fn a_function_takes_one_number_of_several_results() {
        let of = |n: usize, to: &str| {
            let path = |key: &str| format!("flows[{n}].{key}");
            [
                (path("name"), format!("down {to}")),
                (path("to"), to.to_owned()),
                (path("lost"), String::new()),
            ]
        };
        let results: Vec<_> = [of(0, "a"), of(1, "b"), of(2, "b")].concat();
        let told = |path: &str| match chosen(path, &results) {
            Ok((function, paths)) => format!("{} {}", function.unwrap_or("-"), paths.join(" ")),
            Err(said) => said.to_string(),
        };
        assert_eq!(told("sum(flows[to=b].lost)"), "sum flows[1].lost flows[2].lost");
        assert_eq!(told("flows[\"down\"].lost"), "mean flows[0].lost flows[1].lost flows[2].lost");
        assert_eq!(told("flows[to=a].lost"), "- flows[0].lost");
        for (path, message) in [
            (
                "flows[to=\"*\"].lost",
                "flows[to=\"*\"].lost: are 3 flows; write sum(flows[to=\"*\"]",
            ),
            ("flows[dwn].lost", "flows[dwn]: no name is 'dwn'; there are down a"),
            (
                "median(flows[*].lost)",
                "median(flows[*].lost): there is no function 'median'; there",
            ),
            (
                "sum(flows[*].lostt)",
                "there is no 'sum(flows[*].lostt)'; the nearest is flows[i].lo",
            ),
            ("sum(total.lost)", "sum(total.lost): must be of elements of a list, as sum(flows[*]"),
        ] {
            assert!(told(path).starts_with(message), "{path}: {}", told(path));
        }
    }
}
