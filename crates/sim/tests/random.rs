//! Random scenarios of every class and with every key, from the generator of the campaign
//! (`campaign/features.py`), which takes ranges and choices from the declarations of settings.

use sim::Scenario;
use std::path::Path;
use std::process::Command;

/// Keys that are removed at the most.
const REMOVED: u32 = 20;

/// A random scenario.
pub(crate) struct Random {
    /// Its class in `campaign/features.py`.
    pub(crate) class: String,
    /// As JSON.
    pub(crate) text: String,
    /// Without the keys that faults name, because keys that are drawn one by one contradict each
    /// other; `None` where that does not help.
    pub(crate) sound: Option<Scenario>,
}

/// So many scenarios, none of which simulates more than a time.
pub(crate) fn scenarios(seed: u32, count: u32, longest_s: f64) -> Vec<Random> {
    let done = Command::new("python3")
        .args(["-m", "campaign.texts"])
        .args([seed.to_string(), count.to_string(), longest_s.to_string()])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .expect("python3 makes the scenarios");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let lines = String::from_utf8(done.stdout).expect("it is JSON");
    let random = |line: &str| {
        let (class, text) = line.split_once('\t').expect("class and scenario");
        Random { class: class.to_owned(), text: text.to_owned(), sound: sound(text) }
    };
    lines.lines().map(random).collect()
}

fn sound(text: &str) -> Option<Scenario> {
    let mut scenario = Scenario::parse(text).ok()?;
    for _ in 0..REMOVED {
        let Err(faults) = scenario.resolve() else { return Some(scenario) };
        scenario = scenario.unset(&faults[0].path).ok()?;
    }
    None
}
