//! Where a value is written in a text.

use std::cell::Cell;
use std::ops::Range;

/// Where a value is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line of its key, or of itself in a list; counted from 1, and 0 if no text has the value.
    pub line: usize,
    /// The column of the same, in characters from 1.
    pub column: usize,
    /// The first byte of the key and the one after its last.
    pub key: [usize; 2],
    /// The first byte of the value and the one after its last.
    pub value: [usize; 2],
}

impl Place {
    /// The place of a value that no text has.
    pub const NOWHERE: Self = Self { line: 0, column: 0, key: [0; 2], value: [0; 2] };

    /// The place of a document as a whole: its begin.
    pub const BEGIN: Self = Self { line: 1, column: 1, ..Self::NOWHERE };

    /// The place of these bytes.
    pub fn in_text(text: &str, bytes: Range<usize>) -> Self {
        Lines::of(text).place(bytes.clone(), bytes)
    }

    /// The bytes of key and value. A table with a header reaches to the end of the header.
    pub fn whole(&self) -> [usize; 2] {
        [self.key[0].min(self.value[0]), self.key[1].max(self.value[1])]
    }
}

/// A text, and the offsets at which its lines after the first begin.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// An offset and its column: those of one long line are asked for in their order.
    known: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        Self { text, starts, known: Cell::new((0, 1)) }
    }

    /// The place of a value with its key.
    pub(crate) fn place(&self, key: Range<usize>, value: Range<usize>) -> Place {
        let number = self.starts.partition_point(|start| *start <= key.start);
        let start = if number == 0 { 0 } else { self.starts[number - 1] };
        Place {
            line: number + 1,
            column: self.column(start, key.start),
            key: [key.start, key.end],
            value: [value.start, value.end],
        }
    }

    fn column(&self, start: usize, offset: usize) -> usize {
        let (known, column) = match self.known.get() {
            known if (start..=offset).contains(&known.0) => known,
            _ => (start, 1),
        };
        let between = self.text.get(known..offset).unwrap_or_default();
        let column = column + between.chars().count();
        self.known.set((offset, column));
        column
    }
}
