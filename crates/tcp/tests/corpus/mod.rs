//! The scripts of `tests/scripts`.

use std::path::PathBuf;

/// Name and text of each, by name.
pub(crate) fn scripts() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut paths = Vec::new();
    for topic in std::fs::read_dir(&folder).unwrap() {
        let topic = topic.unwrap().path();
        if topic.is_dir() {
            paths.extend(std::fs::read_dir(topic).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "pkt"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        (name, std::fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(read).collect()
}
