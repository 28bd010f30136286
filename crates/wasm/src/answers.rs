//! What is answered to each question of the page.

use crate::run;
use serde_json::{Value as Json, json};
use sim::control::NoExternal;
use sim::{Issue, Plan, Scenario};

/// The answer to a question, by its `do`; `{"issues"}` and `{"error"}` tell what is wrong.
pub(crate) fn answer(question: &Json) -> Vec<u8> {
    let text = question["text"].as_str().unwrap_or_default();
    let told = match question["do"].as_str().unwrap_or_default() {
        "check" => Ok(check(text)),
        "edit" => Ok(edit(text, &question["changes"])),
        "written" => Ok(written(text)),
        "begin" => Ok(run::begin(text, question).unwrap_or_else(|faults| issues(text, &faults))),
        "news" => Ok(run::news()),
        "finish" => run::finish(),
        "tile" => return run::tile(question).unwrap_or_default(),
        other => run::told(other, question),
    };
    told.unwrap_or_else(|error| json!({ "error": error })).to_string().into_bytes()
}

/// Faults, and the keys with their defaults where the text has the shape of a scenario.
fn check(text: &str) -> Json {
    let found = Scenario::parse(text);
    let faults = match &found {
        Ok(scenario) => resolved(scenario).err().unwrap_or_default(),
        Err(faults) => faults.clone(),
    };
    let mut told = issues(text, &faults);
    told["keys"] = found.ok().map_or(Json::Null, |scenario| keys(&scenario));
    told
}

pub(crate) fn resolved(scenario: &Scenario) -> Result<Plan, Vec<Issue>> {
    let plan = scenario.resolve()?;
    sim::control::check(&plan, &NoExternal)?;
    Ok(plan)
}

/// Every key of a scenario with its value or default.
pub(crate) fn keys(scenario: &Scenario) -> Json {
    serde_json::from_str(&scenario.to_full_json()).unwrap_or_default()
}

/// The keys that a text sets.
fn written(text: &str) -> Json {
    let found = Scenario::parse(text).ok();
    found.and_then(|scenario| serde_json::from_str(&scenario.to_json()).ok()).unwrap_or_default()
}

/// The text with changes, each a path and a value as in TOML; without a value it is unset.
fn edit(text: &str, changes: &Json) -> Json {
    let mut edited = text.to_owned();
    for change in changes.as_array().into_iter().flatten() {
        let path = change[0].as_str().unwrap_or_default();
        let next = match change[1].as_str() {
            Some(value) => Scenario::parse(&edited)
                .and_then(|scenario| scenario.set(path, value))
                .map(|scenario| scenario.over(&edited, path, value)),
            None => Scenario::parse(&edited)
                .and_then(|scenario| scenario.unset(path))
                .map(|scenario| scenario.below(&edited)),
        };
        match next {
            Ok(next) => edited = next,
            Err(faults) => return issues(text, &faults),
        }
    }
    json!({ "text": edited })
}

/// Path and message of each fault, and where an editor shows it.
fn issues(text: &str, faults: &[Issue]) -> Json {
    // Editors of browsers count in units of UTF-16.
    let units = |end: usize| text.get(..end).unwrap_or(text).encode_utf16().count();
    let told = |issue: &Issue| {
        let place = &issue.place;
        let from = place.key[0].min(place.value[0]);
        let to = place.key[1].max(place.value[1]);
        let first_line = text.find('\n').unwrap_or(text.len());
        json!({
            "path": issue.path,
            "message": issue.said.to_string(),
            "from": units(from),
            "to": units(if to == 0 { first_line } else { to }),
            "line": place.line.max(1),
        })
    };
    json!({ "issues": faults.iter().map(told).collect::<Vec<_>>() })
}
