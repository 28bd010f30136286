//! The table of `docs/tcp-conformance.md` names only tests that exist.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, all: &mut String) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|_| panic!("{}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_table_names_what_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = crates.parent().unwrap().join("docs/tcp-conformance.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut all = String::new();
    for folder in ["tcp/src", "tcp/tests", "wifi/src", "wifi/tests"] {
        sources(&crates.join(folder), &mut all);
    }
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.contains("tested by"));
    let (mut named, mut missing) = (0, Vec::new());
    for row in rows {
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap();
        for name in cell.split('`').skip(1).step_by(2) {
            named += 1;
            let there = if name.contains('/') {
                crates.join("tcp/tests/scripts").join(name).exists()
            } else {
                all.contains(&format!("fn {name}("))
            };
            if !there {
                missing.push(name);
            }
        }
    }
    assert!(named > 100, "{named} names were found");
    assert!(missing.is_empty(), "not there: {missing:?}");
}
