//! The simulator for browsers, as WebAssembly without imports. A page writes the text of a scenario
//! into `input(bytes)`, calls `run(seed)`, which returns a length, and reads so many bytes of JSON
//! at `output()`: results, or faults.

use kernel::Seed;
use serde_json::{Map, Value as Json, json};
use sim::{Issue, Scenario, Simulation, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The address of so many bytes for the text of a scenario, in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    let mut input = locked(&INPUT);
    input.clear();
    input.resize(bytes, 0);
    input.as_mut_ptr()
}

/// Simulates the scenario in `input`, and returns the number of bytes at `output`.
#[unsafe(no_mangle)]
pub extern "C" fn run(seed: u32) -> usize {
    let text = String::from_utf8_lossy(&locked(&INPUT)).into_owned();
    let mut output = locked(&OUTPUT);
    *output = answer(&text, seed).to_string().into_bytes();
    output.len()
}

/// The address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    locked(&OUTPUT).as_ptr()
}

fn locked(buffer: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `{"digest", "summary"}` of a run, or `{"issues"}` with path and message of each fault.
fn answer(text: &str, seed: u32) -> Json {
    results(text, seed).unwrap_or_else(|issues| {
        let told = |issue: &Issue| json!({ "path": issue.path, "message": issue.told() });
        json!({ "issues": issues.iter().map(told).collect::<Vec<_>>() })
    })
}

fn results(text: &str, seed: u32) -> Result<Json, Vec<Issue>> {
    let plan = Scenario::parse(text)?.resolve()?;
    let seed = Seed { root: u64::from(seed), replication: 0 };
    let run = Simulation::new(&plan, seed, &[], false)?.finish();
    let summary: Map<String, Json> =
        run.summary.into_iter().map(|(path, value)| (path, plain(value))).collect();
    Ok(json!({ "digest": format!("{:016x}", run.digest), "summary": summary }))
}

fn plain(value: Value) -> Json {
    match value {
        Value::Number(number) => number.into(),
        Value::Count(count) => count.into(),
        Value::Text(text) => text.into(),
        Value::None => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: &str = r#"
        standard = "11b"
        duration_s = 1.0
        stations = 1
        flows = [{ from = "server", to = "sta0" }]
    "#;

    #[test]
    fn a_scenario_has_results() {
        let found = answer(CELL, 1);
        assert!(found["summary"]["total.goodput_mbps"].as_f64().unwrap() > 1.0);
        assert_eq!(found["digest"].as_str().unwrap().len(), 16);
        assert_ne!(found["digest"], answer(CELL, 2)["digest"]);
    }

    #[test]
    fn faults_have_paths() {
        let found = answer(&CELL.replace("sta0", "sta7"), 1);
        assert_eq!(found["issues"][0]["path"], "flows[0].to");
        assert_eq!(answer("standard = 3", 1)["issues"][0]["path"], "standard");
    }

    #[test]
    fn the_page_reads_what_was_written() {
        let address = input(CELL.len());
        assert!(!address.is_null());
        locked(&INPUT).copy_from_slice(CELL.as_bytes());
        let length = run(1);
        assert_eq!(locked(&OUTPUT).len(), length);
        assert_eq!(output(), locked(&OUTPUT).as_ptr());
    }
}
