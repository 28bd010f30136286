//! Prints every result of scenarios, to the last bit, for `benches/results.py`.
//!
//! Each line of the input is the path of a scenario file and, after tabs, the settings to change
//! (`path=value`). Each line of the output is a JSON object, in the order of the input: the digest,
//! every value of the summary and every probe series; or the issues of a scenario that is rejected;
//! or the message of a panic.

use kernel::Seed;
use serde_json::{Map, Value as Json, json};
use sim::control::NoExternal;
use sim::{Issue, Run, Scenario, Series, Simulation, Value};
use std::any::Any;
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

const SEED: Seed = Seed { root: 1, replication: 0 };

fn main() {
    let lines: Vec<String> = std::io::stdin().lines().map_while(Result::ok).collect();
    // If a scenario panics, the message is printed as its result.
    std::panic::set_hook(Box::new(|_| {}));
    let next = AtomicUsize::new(0);
    let (send, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let (send, next, lines) = (send.clone(), &next, &lines);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = lines.get(number) else { break };
                    send.send((number, result(line))).expect("main receives until all are done");
                }
            });
        }
        drop(send);
        print_in_order(results);
    });
}

fn print_in_order(results: mpsc::Receiver<(usize, Json)>) {
    let mut out = std::io::stdout().lock();
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (number, result) in results {
        early.insert(number, result);
        while let Some(result) = early.remove(&next) {
            writeln!(out, "{result}").expect("standard output takes the results");
            next += 1;
        }
    }
}

/// The results of one line of the input.
fn result(line: &str) -> Json {
    let mut parts = line.split('\t');
    let file = parts.next().unwrap_or_default();
    let sets: Vec<&str> = parts.collect();
    let mut object = match catch_unwind(|| run(file, &sets)) {
        Ok(Ok(run)) => results(&run),
        Ok(Err(issues)) => json!({ "issues": issues.iter().map(as_row).collect::<Vec<_>>() }),
        Err(panic) => json!({ "panic": message(&*panic) }),
    };
    object["file"] = line.into();
    object
}

fn as_row(issue: &Issue) -> [&str; 2] {
    [&issue.path, &issue.message]
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

fn run(file: &str, sets: &[&str]) -> Result<Run, Vec<Issue>> {
    let fault = |message: String| vec![Issue { path: String::new(), message }];
    let bytes = std::fs::read(file).map_err(|error| fault(format!("{file}: {error}")))?;
    let mut scenario = Scenario::parse_bytes(&bytes).map_err(|issue| vec![issue])?;
    for set in sets {
        let (path, value) =
            set.split_once('=').ok_or_else(|| fault(format!("{set} is not path=value")))?;
        scenario = scenario.set(path, value).map_err(|issue| vec![issue])?;
    }
    let plan = scenario.resolve()?;
    let probes: Vec<_> = sim::probes(&plan, &NoExternal).into_iter().map(|all| all.path).collect();
    Ok(Simulation::new(&plan, SEED, &probes, false)?.finish())
}

fn results(run: &Run) -> Json {
    let values: Map<_, _> =
        run.summary.iter().map(|(path, value)| (path.clone(), text(value).into())).collect();
    assert_eq!(values.len(), run.summary.len(), "a path stands twice in the summary");
    let series: Map<_, _> =
        run.series.iter().map(|series| (series.path.clone(), fingerprint(series).into())).collect();
    json!({ "digest": format!("{:016x}", run.digest), "values": values, "series": series })
}

/// A value in a form that reads back exactly.
fn text(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{number:?}"),
        Value::Count(count) => count.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::None => "none".to_owned(),
    }
}

/// The number of points of a series, and FNV-1a over the bits of all times and values.
fn fingerprint(series: &Series) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for number in series.time_s.iter().chain(&series.value) {
        // NaN has many bit patterns, and one meaning.
        let bits = if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() };
        for byte in bits.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    format!("{} {hash:016x}", series.time_s.len())
}
