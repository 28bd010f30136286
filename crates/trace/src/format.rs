//! The file formats that are written here, by the extension of the file.

use crate::pcapng::{Pcapng, PcapngOptions};
use crate::{Cast, Perfetto, PerfettoOptions, Sink, Timeline, TimelineOptions};
use std::io;

/// Where a format writes; buffered.
pub type Out = Box<dyn io::Write + Send>;

/// A file format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The extension of its files, without a dot.
    pub extension: &'static str,
    /// What it is, in a few words.
    pub meaning: &'static str,
    /// Begins a file.
    pub open: fn(Cast, Out) -> io::Result<Box<dyn Sink>>,
}

/// All formats: one line each.
pub const FORMATS: &[Format] = &[
    Format {
        extension: "pcapng",
        meaning: "a capture for Wireshark",
        open: |cast, out| Ok(Box::new(Pcapng::new(cast, out, PcapngOptions::default())?)),
    },
    Format {
        extension: "pftrace",
        meaning: "lanes and counters for Perfetto",
        open: |cast, out| Ok(Box::new(Perfetto::new(cast, out, PerfettoOptions::default())?)),
    },
    Format {
        extension: "txt",
        meaning: "a line for each frame exchange",
        open: |cast, out| Ok(Box::new(Timeline::new(cast, out, TimelineOptions::default())?)),
    },
];

/// The format of an extension.
pub fn format(extension: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.extension == extension)
}
