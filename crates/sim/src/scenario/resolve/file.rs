//! Files that a scenario names.

use std::fs::File;
use std::io::Read;

/// The maximum size of a file in bytes.
const LARGEST_FILE: u64 = 256 << 20;

/// The text of a file, or why it cannot be read.
pub(super) fn text(name: &str) -> Result<String, String> {
    if name.is_empty() {
        return Err("is empty; name a file".to_owned());
    }
    let mut text = Vec::new();
    File::open(name)
        .and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut text))
        .map_err(|error| format!("{name} cannot be read: {error}"))?;
    if text.len() as u64 > LARGEST_FILE {
        return Err(format!("{name} is larger than {} MiB", LARGEST_FILE >> 20));
    }
    String::from_utf8(text).map_err(|_| format!("{name} is not a text file"))
}
