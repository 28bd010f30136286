//! The simulator for browsers, as WebAssembly without imports. A page writes a question, which is
//! JSON, into `input(bytes)`, calls `ask()`, which returns a length, and reads so many bytes at
//! `output()`: JSON, or a tile. A run is begun by a question, and goes on in `advance(events)`.

mod answers;
mod run;

use serde_json::Value as Json;
use std::panic;
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static HOOK: Once = Once::new();

/// The address of so many bytes for a question, in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    HOOK.call_once(|| panic::set_hook(Box::new(|told| leave(&told.to_string()))));
    let mut input = locked(&INPUT);
    input.clear();
    input.resize(bytes, 0);
    input.as_mut_ptr()
}

/// Answers the question in `input`, and returns the number of bytes at `output`.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let question: Json = serde_json::from_slice(&locked(&INPUT)).unwrap_or_default();
    let answer = answers::answer(&question);
    let mut output = locked(&OUTPUT);
    *output = answer;
    output.len()
}

/// Goes on with the run for up to so many events; 1 while events remain.
#[unsafe(no_mangle)]
pub extern "C" fn advance(events: u32) -> u32 {
    u32::from(run::advance(u64::from(events)))
}

/// The address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    locked(&OUTPUT).as_ptr()
}

/// The number of bytes at `output`: after a defect, for which WebAssembly stops, those of its text.
#[unsafe(no_mangle)]
pub extern "C" fn output_bytes() -> usize {
    locked(&OUTPUT).len()
}

fn leave(text: &str) {
    let mut output = match OUTPUT.try_lock() {
        Ok(output) => output,
        Err(TryLockError::Poisoned(output)) => output.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    *output = text.as_bytes().to_vec();
}

fn locked<T>(buffer: &Mutex<T>) -> MutexGuard<'_, T> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CELL: &str = r#"
        standard = "11b"
        duration_s = 1.0
        stations = 1
        flows = [{ from = "server", to = "sta0" }]
    "#;

    fn asked(question: &Json) -> Json {
        serde_json::from_slice(&answers::answer(question)).unwrap()
    }

    #[test]
    fn a_run_has_results_series_and_a_timeline() {
        let wanted = ["flows[*].goodput_mbps", "no such series"];
        let begun = asked(&json!({
            "do": "begin", "text": CELL, "seed": 1, "wanted": wanted, "series": 64, "air_mib": 64,
        }));
        assert_eq!(begun["flows"][0]["to"], "sta0");
        assert!(run::advance(1000));
        let news = asked(&json!({ "do": "news" }));
        assert!(news["progress"].as_f64().unwrap() > 0.0);
        assert!(news["series"]["flows[0].goodput_mbps"]["t"].is_array());
        while run::advance(100_000) {}
        let found = asked(&json!({ "do": "finish" }));
        assert!(found["summary"]["total.goodput_mbps"].as_f64().unwrap() > 1.0);
        assert_eq!(found["digest"].as_str().unwrap().len(), 16);
        assert!(found["counts"].as_array().unwrap().contains(&json!("flows[0].lost")));
        let about = asked(&json!({ "do": "about" }));
        assert_eq!(about["radios"], json!(["ap", "sta0"]));
        let frame = asked(&json!({ "do": "find", "number": -1, "forward": true }));
        assert_eq!(asked(&json!({ "do": "frame", "number": frame["number"] }))["to"], frame["to"]);
        let tile = answers::answer(&json!({ "do": "tile", "level": 30, "number": 0 }));
        assert_eq!(tile[..4], 1_u32.to_le_bytes());
    }

    #[test]
    fn faults_have_paths_and_places() {
        let text = CELL.replace("sta0", "sta7").replace("1.0", "-1.0");
        let found = asked(&json!({ "do": "check", "text": format!("# é\n{text}") }));
        let issues = found["issues"].as_array().unwrap();
        let paths: Vec<_> = issues.iter().map(|issue| &issue["path"]).collect();
        assert_eq!(paths, ["duration_s", "flows[0].to"]);
        let at = text.find("duration_s").unwrap() + "# é\n".len();
        let from = format!("# é\n{text}")[..at].encode_utf16().count();
        assert_eq!(issues[0]["from"], from);
        assert_eq!(issues[0]["to"], from + "duration_s = -1.0".len());
        assert_eq!(issues[0]["line"], 4);
    }

    #[test]
    fn a_text_is_edited_where_it_has_the_value() {
        let changes = json!([["duration_s", "2.0"], ["ap.queue", "fq_codel"]]);
        let found = asked(&json!({ "do": "edit", "text": CELL, "changes": changes }));
        assert!(found["text"].as_str().unwrap().contains("duration_s = 2.0"));
        let fault = asked(&json!({ "do": "edit", "text": CELL, "changes": [["nothing", "2"]] }));
        assert_eq!(fault["issues"][0]["path"], "nothing");
    }

    #[test]
    fn the_page_reads_what_was_written() {
        let question = json!({ "do": "check", "text": CELL }).to_string();
        let address = input(question.len());
        assert!(!address.is_null());
        locked(&INPUT).copy_from_slice(question.as_bytes());
        let length = ask();
        assert_eq!(output_bytes(), length);
        assert_eq!(output(), locked(&OUTPUT).as_ptr());
    }
}
