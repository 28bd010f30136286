//! The file formats that are written here, by the extension of the file.

use crate::{Cast, Sink};
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
pub const FORMATS: &[Format] = &[];

/// The format of an extension.
pub fn format(extension: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.extension == extension)
}
