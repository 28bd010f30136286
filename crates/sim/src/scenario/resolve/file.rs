//! Files that a scenario names.

use std::fs::File;
use std::io::Read;

/// The maximum size of a file in bytes.
const LARGEST_FILE: u64 = 256 << 20;

/// The text of a file, or why it cannot be read.
pub(super) fn text(name: &str) -> Result<String, String> {
    String::from_utf8(bytes(name)?).map_err(|_| format!("{name} is not a text file"))
}

/// The content of a file, or why it cannot be read.
pub(super) fn bytes(name: &str) -> Result<Vec<u8>, String> {
    if name.is_empty() {
        return Err("is empty; name a file".to_owned());
    }
    let mut content = Vec::new();
    File::open(name)
        .and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut content))
        .map_err(|error| format!("{name} cannot be read: {error}"))?;
    if content.len() as u64 > LARGEST_FILE {
        return Err(format!("{name} is larger than {} MiB", LARGEST_FILE >> 20));
    }
    Ok(content)
}
