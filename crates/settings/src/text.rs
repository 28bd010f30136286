//! Changes of a document's text, in which comments and order stay.

use crate::issue::Repair;
use crate::path::{Path, Step};
use crate::place::Place;
use crate::tree::{Node, Value};

/// The text with another value at a path, which is written as in TOML; `None` if there is no place
/// for it. The caller sees whether the result is what is meant.
pub fn with_value(text: &str, path: &Path, value: &str) -> Option<String> {
    let (document, _) = Node::from_faulty_toml(text);
    if let Some(node) = document.at(path)
        && header(text, node.place).is_none()
    {
        let [begin, end] = node.place.value;
        return spliced(text, begin, end, value);
    }
    let (Step::Key(key), table) = path.0.split_last()? else { return None };
    let parent = document.at(&Path(table.to_vec()));
    let (at, line) = match parent.and_then(|node| header(text, node.place)) {
        Some(end) => (end, format!("{key} = {value}\n")),
        // A dotted key at the top, where no header has begun another table.
        None => (first_header(text, &document), format!("{path} = {value}\n")),
    };
    let gap = if at == 0 || text[..at].ends_with('\n') { "" } else { "\n" };
    spliced(text, at, at, &format!("{gap}{line}"))
}

/// The text with the repair of a fault at a place.
pub fn repaired(text: &str, place: Place, repair: &Repair) -> Option<String> {
    let [begin, end] = place.key;
    match repair {
        Repair::Rename(key) => spliced(text, begin, end, key),
        Repair::Value(value) => spliced(text, place.value[0], place.value[1], value),
        Repair::List => {
            let start = line_start(text, begin)?;
            let close = end + text.get(end..)?.find(']')?;
            let is_header = text.get(start..close)?.trim_start().starts_with('[');
            let with_end = spliced(text, close, close, "]").filter(|_| is_header)?;
            let open = start + with_end.get(start..)?.find('[')?;
            spliced(&with_end, open, open, "[")
        }
        Repair::Remove => {
            let [begin, end] = place.whole();
            let (start, next) = (line_start(text, begin)?, next_line(text, end)?);
            let rest = text.get(end..next)?.trim();
            // A key that has its lines for itself.
            let alone = text.get(start..begin)?.trim_start();
            let is_dotted = alone.is_empty() || alone.ends_with('.') && !alone.contains(['{', '=']);
            let is_alone = is_dotted && (rest.is_empty() || rest.starts_with('#'));
            spliced(text, start, next, "").filter(|_| is_alone)
        }
    }
}

/// Where the line of a byte begins; `None` if the byte is not the first of a character.
fn line_start(text: &str, at: usize) -> Option<usize> {
    Some(text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1))
}

/// Where the line after that of a byte begins, or where the text ends.
fn next_line(text: &str, at: usize) -> Option<usize> {
    Some(text.get(at..)?.find('\n').map_or(text.len(), |newline| at + newline + 1))
}

fn spliced(text: &str, begin: usize, end: usize, value: &str) -> Option<String> {
    Some([text.get(..begin)?, value, text.get(end..)?].concat())
}

/// The end of the line in which a table has its header, if it has one.
fn header(text: &str, place: Place) -> Option<usize> {
    let [begin, end] = place.key;
    let is_written = place.line > 0 && end > 0;
    let head = text.get(line_start(text, begin)?..end)?;
    (is_written && head.trim_start().starts_with('[')).then_some(next_line(text, end)?)
}

/// The begin of the first header.
fn first_header(text: &str, document: &Node) -> usize {
    let Value::Table(entries) = &document.value else { return text.len() };
    let heads = entries.iter().filter_map(|(_, node)| {
        let first = match &node.value {
            Value::List(items) => items.first().unwrap_or(node),
            _ => node,
        };
        header(text, first.place)?;
        line_start(text, first.place.key[0])
    });
    heads.min().unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A cell.\nstations = 3  # laptops\n\n[wlan] # the air\ncw_min = 30\n\n\
                        [[flows]]\nfrom = 'ap'\ntcp.ecn = 'off'\n[[flows]]\nfrom = \"é\"";

    fn set(path: &str, value: &str) -> String {
        with_value(TEXT, &Path::parse(path).unwrap(), value).unwrap()
    }

    #[test]
    fn a_value_is_replaced_where_it_stands() {
        assert_eq!(set("stations", "5"), TEXT.replace("stations = 3", "stations = 5"));
        assert_eq!(set("flows[0].tcp.ecn", "1"), TEXT.replace("'off'", "1"));
        assert_eq!(set("flows[1].from", "'b'"), TEXT.replace("\"é\"", "'b'"));
    }

    #[test]
    fn a_new_key_stands_in_its_table() {
        let after = TEXT.replace("# the air\n", "# the air\nslot = 'long'\n");
        assert_eq!(set("wlan.slot", "'long'"), after);
        let after = TEXT.replace("[[flows]]\nfrom = \"é", "[[flows]]\nto = 'x'\nfrom = \"é");
        assert_eq!(set("flows[1].to", "'x'"), after);
        let after = TEXT.replace("\n[wlan]", "\nap.channel = 6\n[wlan]");
        assert_eq!(set("ap.channel", "6"), after);
        let short = with_value("stations = 3", &Path::parse("duration_s").unwrap(), "2");
        assert_eq!(short.unwrap(), "stations = 3\nduration_s = 2\n");
    }

    #[test]
    fn a_repair_changes_no_more_than_it_must() {
        let place = |text: &str, path: &str| {
            Node::from_toml(text).unwrap().place_of(&Path::parse(path).unwrap())
        };
        let repair = |path: &str, repair| repaired(TEXT, place(TEXT, path), &repair).unwrap();
        let renamed = repair("wlan.cw_min", Repair::Rename("cw_max".to_owned()));
        assert_eq!(renamed, TEXT.replace("cw_min", "cw_max"));
        assert_eq!(
            repair("stations", Repair::Value("4".to_owned())),
            TEXT.replace("stations = 3", "stations = 4")
        );
        assert_eq!(repair("wlan.cw_min", Repair::Remove), TEXT.replace("cw_min = 30\n", ""));
        assert_eq!(
            repair("flows[0].tcp.ecn", Repair::Remove),
            TEXT.replace("tcp.ecn = 'off'\n", "")
        );
        let single = "a = 1\n[ flows ] # all\nfrom = 'ap'\n";
        let list = repaired(single, place(single, "flows"), &Repair::List).unwrap();
        assert_eq!(list, "a = 1\n[[ flows ]] # all\nfrom = 'ap'\n");
        let inline = "wlan = { slot = 'long', cw_min = 3 }\n";
        assert_eq!(repaired(inline, place(inline, "wlan.slot"), &Repair::Remove), None);
    }
}
