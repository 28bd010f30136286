//! Files that a scenario names.

use settings::{Said, said};
use std::fs::File;
use std::io::Read;

/// The maximum size of a file in bytes.
const LARGEST_TEXT: u64 = 256 << 20;
/// The maximum size of a tape in bytes.
const LARGEST_TAPE: u64 = 1 << 30;

/// The text of a file, or why it cannot be read.
pub(super) fn text(name: &str) -> Result<String, Said> {
    String::from_utf8(bytes(name, LARGEST_TEXT)?).map_err(|_| said!("{name} is not a text file"))
}

/// The content of a tape, or why it cannot be read.
pub(super) fn tape(name: &str) -> Result<Vec<u8>, Said> {
    bytes(name, LARGEST_TAPE)
}

fn bytes(name: &str, most: u64) -> Result<Vec<u8>, Said> {
    if name.is_empty() {
        return Err(said!("is empty", "name a file"));
    }
    let mut content = Vec::new();
    File::open(name)
        .and_then(|file| file.take(most + 1).read_to_end(&mut content))
        .map_err(|error| format!("{name} cannot be read: {error}"))?;
    if content.len() as u64 > most {
        return Err(format!("{name} is larger than {} MiB", most >> 20).into());
    }
    Ok(content)
}
