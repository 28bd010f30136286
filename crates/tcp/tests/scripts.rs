//! Runs every script of `tests/scripts`; its expectations must hold.

mod corpus;

use corpus::scripts;
use tcp::script;

#[test]
fn every_script_passes() {
    let scripts = scripts();
    assert!(scripts.len() >= 200, "{} scripts", scripts.len());
    let mut failures = Vec::new();
    for (name, text) in &scripts {
        if let Some(failure) = script::run(text).failure {
            failures.push(format!("{name}:{}: {}", failure.line, failure.message));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A script whose expectations are changed must fail; otherwise it proves nothing.
#[test]
fn a_changed_script_fails() {
    for (name, text) in scripts() {
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
            let transcript = script::run(&lines.join("\n"));
            let failure = transcript.failure;
            let line = failure.as_ref().map(|failure| failure.line);
            assert_eq!(line, Some(index + 1), "{name}: {failure:?}");
        }
    }
}
