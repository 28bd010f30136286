//! Plays every script of `tests/scripts`; what its text says must happen.

use std::path::PathBuf;
use tcp::drill;

fn scripts() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut paths = Vec::new();
    for topic in std::fs::read_dir(folder).unwrap() {
        let topic = topic.unwrap().path();
        if topic.is_dir() {
            paths.extend(std::fs::read_dir(topic).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "pkt"));
    paths.sort();
    paths
}

#[test]
fn every_script_passes() {
    let paths = scripts();
    assert!(paths.len() >= 120, "{} scripts", paths.len());
    let mut failures = Vec::new();
    for path in &paths {
        let transcript = drill::run(&std::fs::read_to_string(path).unwrap());
        if let Some(failure) = transcript.failure {
            let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display();
            failures.push(format!("{name}:{}: {}", failure.line, failure.message));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A script whose expectations are changed must fail: else it proves nothing.
#[test]
fn a_changed_script_fails() {
    for path in scripts() {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some((time, expected)) = line.split_once("> ") else { continue };
            if line.trim_start().starts_with("//") || !line.contains('(') || line.contains('%') {
                continue;
            }
            // Another number of bytes is another segment.
            let Some((before, after)) = expected.split_once(':') else { continue };
            let digits = before.chars().rev().take_while(char::is_ascii_digit).count();
            let (flags, first) = before.split_at(before.len() - digits);
            let Some((_, rest)) = after.split_once(')') else { continue };
            let first: u64 = first.parse().unwrap();
            let changed = format!("{time}> {flags}{first}:{}(7777){rest}", first + 7777);
            let mut lines: Vec<&str> = lines.clone();
            lines[index] = &changed;
            let transcript = drill::run(&lines.join("\n"));
            let failure = transcript.failure;
            let line = failure.as_ref().map(|failure| failure.line);
            assert_eq!(line, Some(index + 1), "{}: {failure:?}", path.display());
        }
    }
}
