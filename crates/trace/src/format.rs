//! The file formats that are written here, by the extension of the file.

use crate::pcapng::{Pcapng, PcapngOptions};
use crate::{Cast, Perfetto, PerfettoOptions, Sink, Timeline, TimelineOptions};
use settings::Settings;
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
    pub open: fn(Cast, Out, &Options) -> io::Result<Box<dyn Sink>>,
}

/// How files are written, by the extension of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "Trace")]
pub struct Options {
    /// Captures for Wireshark.
    pub pcapng: PcapngOptions,
    /// Traces for Perfetto.
    pub pftrace: PerfettoOptions,
    /// Text timelines.
    pub txt: TimelineOptions,
}

/// All formats: one line each.
pub const FORMATS: &[Format] = &[
    Format {
        extension: "pcapng",
        meaning: "a capture for Wireshark",
        open: |cast, out, options| Ok(Box::new(Pcapng::new(cast, out, options.pcapng)?)),
    },
    Format {
        extension: "pftrace",
        meaning: "lanes and counters for Perfetto",
        open: |cast, out, options| Ok(Box::new(Perfetto::new(cast, out, options.pftrace)?)),
    },
    Format {
        extension: "txt",
        meaning: "a line for each frame exchange",
        open: |cast, out, options| Ok(Box::new(Timeline::new(cast, out, options.txt)?)),
    },
];

/// The format of an extension.
pub fn format(extension: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.extension == extension)
}
