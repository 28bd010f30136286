//! The columns of the timeline.

use crate::Network;
use kernel::Instant;
use std::fmt::{Display, Write};

/// Why writing to a `String` does not fail.
pub(super) const INFALLIBLE: &str = "a String takes all";

/// Fewer columns than this leave no room for the duration and for wide gaps.
const WIDE: usize = 100;

/// What the columns of an exchange mean.
const EXCHANGES: [(&str, &str); 10] = [
    ("Frame exchanges in the order of time", ""),
    ("", ""),
    ("time", "when it begins, in seconds"),
    ("slots", "idle slots of back-off before it; with EDCA behind the access category"),
    ("sent", "frames of the transmitter; x4: an A-MPDU of 4 MPDUs; *: Retry bit set"),
    ("mode", "format and Mb/s; from HT on: format, MCS, streams x MHz"),
    ("us", "microseconds from the start of its first frame to the end of its last one"),
    ("bytes", "size of the PSDU"),
    (
        "answer",
        "frames that come back (3/4: 3 of 4 MPDUs); or why the last frame is lost (to whom)",
    ),
    ("", "below: what the frame carries, as flow: TCP flags, first:end(bytes)"),
];

/// What the lines mean where there is no radio.
const SEGMENTS: [(&str, &str); 1] =
    [("Segments and lost packets; time in seconds, sizes and windows in bytes", "")];

/// The widths of the columns, in characters.
#[derive(Debug)]
pub(super) struct Columns {
    total: usize,
    gap: usize,
    pub(super) name: usize,
    pub(super) slots: usize,
    pub(super) sent: usize,
    pub(super) mode: usize,
    pub(super) us: Option<usize>,
    pub(super) bytes: usize,
}

impl Columns {
    pub(super) const TIME: usize = 11;

    pub(super) fn new(total: usize, network: &Network) -> Self {
        let longest = network.radios.iter().map(|radio| radio.name.chars().count()).max();
        let name = longest.unwrap_or(0).clamp(4, 8);
        let is_wide = total >= WIDE;
        Self {
            total: total.max(40),
            gap: if is_wide { 2 } else { 1 },
            name,
            // An access category takes two more.
            slots: if network.radios.iter().any(|radio| radio.has_qos) { 7 } else { 5 },
            sent: 12,
            mode: 11,
            us: is_wide.then_some(7),
            bytes: 6,
        }
    }

    /// The lines above the timeline.
    pub(super) fn header(&self, has_radios: bool, text: &mut String) {
        let legend: &[(&str, &str)] = if has_radios { &EXCHANGES } else { &SEGMENTS };
        for (term, meaning) in legend {
            if *term == "us" && self.us.is_none() {
                continue;
            }
            let term = format!("# {term:<7}");
            self.wrap(0, &format!("{term} {meaning}"), term.len(), text);
        }
        if !has_radios {
            return;
        }
        write!(text, "#\n#{:>width$}", "time", width = Self::TIME - 1).expect(INFALLIBLE);
        self.names("from", "to", text);
        self.right("slots", self.slots, text);
        self.left(self.sent, text, |text| text.push_str("sent"));
        self.left(self.mode, text, |text| text.push_str("mode"));
        if let Some(width) = self.us {
            self.right("us", width, text);
        }
        self.right("bytes", self.bytes, text);
        self.gap(text);
        text.push_str("answer\n");
    }

    /// Where the content of a frame begins.
    pub(super) fn content(&self) -> usize {
        Self::TIME + self.gap + 2 * self.name + 3 + self.gap + self.slots + self.gap
    }

    /// Where the text of a line about a node begins.
    pub(super) fn names_begin(&self) -> usize {
        Self::TIME + self.gap
    }

    /// Seconds with seven decimals.
    pub(super) fn time(at: Instant, text: &mut String) {
        let (seconds, rest) = (at.0 / 1_000_000_000, at.0 % 1_000_000_000);
        write!(text, "{seconds:>width$}.{:07}", rest / 100, width = Self::TIME - 8)
            .expect(INFALLIBLE);
    }

    pub(super) fn names(&self, from: &str, to: &str, text: &mut String) {
        let width = self.name;
        self.gap(text);
        write!(text, "{from:>width$} > {to:<width$}").expect(INFALLIBLE);
    }

    /// A column that `fill` writes, flush left.
    pub(super) fn left(&self, width: usize, text: &mut String, fill: impl FnOnce(&mut String)) {
        self.gap(text);
        let begin = text.len();
        fill(text);
        let used = text[begin..].chars().count();
        spaces(width.saturating_sub(used), text);
    }

    /// A column flush right.
    pub(super) fn right(&self, value: impl Display, width: usize, text: &mut String) {
        self.gap(text);
        write!(text, "{value:>width$}").expect(INFALLIBLE);
    }

    /// A column with one decimal, flush right.
    pub(super) fn tenths(&self, value: f64, width: usize, text: &mut String) {
        self.gap(text);
        write!(text, "{value:>width$.1}").expect(INFALLIBLE);
    }

    pub(super) fn gap(&self, text: &mut String) {
        spaces(self.gap, text);
    }

    /// Appends a line behind `lead` spaces. Words that would pass the last column go to further
    /// lines, which begin with `indent` spaces, the first of which is a `#` if the line is a
    /// comment.
    pub(super) fn wrap(&self, lead: usize, line: &str, indent: usize, text: &mut String) {
        let (mut lead, mut rest) = (lead, line.trim_end());
        spaces(lead, text);
        while lead + rest.chars().count() > self.total {
            let room = self.total.saturating_sub(lead);
            // The space may stand just behind the last column. Spaces of the indentation are none.
            let words = rest.len() - rest.trim_start().len();
            let places = rest.char_indices().take(room + 1);
            let space = places.filter(|&(at, letter)| letter == ' ' && at > words).last();
            let Some((space, _)) = space else { break };
            text.push_str(rest[..space].trim_end());
            text.push('\n');
            rest = rest[space..].trim_start();
            lead = indent;
            if line.starts_with('#') {
                text.push('#');
                spaces(indent.saturating_sub(1), text);
            } else {
                spaces(indent, text);
            }
        }
        text.push_str(rest);
        text.push('\n');
    }
}

fn spaces(count: usize, text: &mut String) {
    text.extend(std::iter::repeat_n(' ', count));
}
