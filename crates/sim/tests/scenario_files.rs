//! The files that are checked in: the JSON schema and the scenarios.

use sim::Scenario;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each scenario by its name, with its text.
fn scenarios() -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(root().join("scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn the_schema_is_up_to_date() {
    let text = fs::read_to_string(root().join("schema/scenario.schema.json")).unwrap_or_default();
    let [kept, now] = [&text, &sim::scenario::schema()]
        .map(|schema| serde_json::from_str::<serde_json::Value>(schema).ok());
    let command = "simoom schema > schema/scenario.schema.json";
    assert!(kept == now, "schema/scenario.schema.json is behind: {command}");
}

#[test]
fn every_scenario_resolves() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 8, "only {} scenarios", scenarios.len());
    for (name, text) in scenarios {
        let scenario = Scenario::parse(&text).unwrap_or_else(|issue| panic!("{name}: {issue:?}"));
        scenario.resolve().unwrap_or_else(|issues| panic!("{name}: {issues:?}"));
        assert!(!scenario.document().title.is_empty(), "{name} has no title");
        assert_eq!(Scenario::parse(&scenario.to_toml()), Ok(scenario), "{name} written again");
    }
}

/// Each line of a file's opening comment may hold settings to try: `--set path=value`, the two
/// together in quotes where a shell wants them.
#[test]
fn what_a_scenario_proposes_to_try_resolves() {
    let mut tried = 0;
    for (name, text) in scenarios() {
        let scenario = Scenario::parse(&text).unwrap();
        let before = tried;
        for line in text.lines().take_while(|line| line.starts_with('#')) {
            let mut changed = scenario.clone();
            for setting in line.split("--set ").skip(1) {
                let setting = match setting.strip_prefix('"') {
                    Some(quoted) => quoted.split('"').next(),
                    None => setting.split_whitespace().next(),
                };
                let (path, value) = setting.unwrap().split_once('=').unwrap();
                changed = changed.set(path, value).unwrap_or_else(|i| panic!("{name}: {i:?}"));
                assert_ne!(changed, scenario, "{name}: {line} changes nothing");
                tried += 1;
            }
            changed.resolve().unwrap_or_else(|issues| panic!("{name}: {line}: {issues:?}"));
        }
        assert!(tried > before, "{name} proposes nothing to try");
    }
    assert!(tried >= 24);
}
