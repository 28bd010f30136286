//! The run of this instance: one at a time, whose timeline stays until the next is begun.

use crate::answers::{keys, resolved};
use crate::locked;
use kernel::{Instant, Seed};
use serde_json::{Map, Value as Json, json};
use sim::control::NoExternal;
use sim::trace::Filter;
use sim::{Issue, Scenario, Series, Simulation, Value};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use trace::columns::Columns;
use trace::{Air, AirFile, AirOptions, Query};

static RUN: Mutex<Option<Running>> = Mutex::new(None);
static AIR: Mutex<Option<AirFile>> = Mutex::new(None);

struct Running {
    simulation: Simulation,
    told_at: Option<Instant>,
    air: Option<Memory>,
    notices: Vec<String>,
    toml: String,
}

/// A file in memory, of which the simulation and the page each have a part.
#[derive(Clone, Debug, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        locked(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins a run, with time series and a timeline if they are wanted.
///
/// # Errors
/// All faults of the scenario.
pub(crate) fn begin(text: &str, question: &Json) -> Result<Json, Vec<Issue>> {
    let scenario = Scenario::parse(text)?;
    let plan = resolved(&scenario)?;
    let seed = Seed { root: question["seed"].as_u64().unwrap_or(1), replication: 0 };
    let mut simulation = Simulation::new(&plan, seed, &probes(&plan, question), false)?;
    let network = sim::trace::network(&plan);
    let names = Columns::names(&network).into_iter().find(|(kind, _)| *kind == "node");
    let air = match whole(&question["air_mib"]).unwrap_or(0) {
        0 => None,
        limit_mib => {
            let memory = Memory::default();
            let options = AirOptions { limit_mib };
            let sink = Air::new(&network, memory.clone(), options).expect("memory takes all");
            simulation.trace(&Filter::default(), vec![Box::new(sink)])?;
            Some(memory)
        }
    };
    *locked(&AIR) = None;
    let (notices, toml) = (sim::caveats(&plan, &seed), scenario.to_toml());
    *locked(&RUN) = Some(Running { simulation, told_at: None, air, notices, toml });
    Ok(json!({
        "keys": keys(&scenario),
        "flows": serde_json::from_str::<Json>(&sim::flows(&plan)).unwrap_or_default(),
        "nodes": names.map(|(_, names)| names),
    }))
}

/// The wanted series that a scenario has, as many as there is room for.
fn probes(plan: &sim::Plan, question: &Json) -> Vec<String> {
    let known = sim::probes(plan, &NoExternal);
    let mut room = whole(&question["series"]).unwrap_or(0);
    let wanted = question["wanted"].as_array().into_iter().flatten().filter_map(Json::as_str);
    wanted
        .filter(|path| {
            let own = known.iter().find(|probe| probe.path == *path);
            let fits = own.is_some_and(|probe| probe.series <= room);
            room -= own.filter(|_| fits).map_or(0, |probe| probe.series);
            fits
        })
        .map(str::to_owned)
        .collect()
}

/// Goes on for up to so many events; true while events remain.
pub(crate) fn advance(events: u64) -> bool {
    locked(&RUN).as_mut().is_some_and(|run| run.simulation.advance(events))
}

/// How far the run is, and the samples since it was last asked.
pub(crate) fn news() -> Json {
    let mut running = locked(&RUN);
    let Some(run) = running.as_mut() else { return Json::Null };
    let series = run.simulation.samples_since(run.told_at);
    let now = run.simulation.now();
    run.told_at = Some(now);
    json!({
        "progress": run.simulation.progress(),
        "simulated_s": now.as_secs_f64(),
        "series": sampled(&series),
    })
}

fn sampled(series: &[Series]) -> Json {
    let one = |own: &Series| (own.path.clone(), json!({ "t": own.time_s, "v": own.value }));
    Json::Object(series.iter().map(one).collect())
}

/// Ends the run, and tells its results; `counts` are the paths of whole numbers.
///
/// # Errors
/// Its timeline is damaged.
pub(crate) fn finish() -> Result<Json, String> {
    let running = locked(&RUN).take();
    let Some(Running { simulation, air, notices, toml, .. }) = running else {
        return Err("no run was begun".to_owned());
    };
    let run = simulation.finish();
    let is_count = |(_, value): &&(String, Value)| matches!(value, Value::Count(_));
    let counts: Vec<_> =
        run.summary.iter().filter(is_count).map(|(path, _)| path.clone()).collect();
    let summary: Map<_, _> =
        run.summary.into_iter().map(|(path, value)| (path, plain(value))).collect();
    if let Some(memory) = air {
        let bytes = std::mem::take(&mut *locked(&memory.0));
        let file = AirFile::in_memory(bytes).map_err(|error| error.to_string())?;
        *locked(&AIR) = Some(file);
    }
    Ok(json!({
        "summary": summary,
        "counts": counts,
        "series": sampled(&run.series),
        "digest": format!("{:016x}", run.digest),
        "events": run.events,
        "simulated_s": run.simulated_s,
        "scenario": toml,
        "notices": notices,
    }))
}

fn plain(value: Value) -> Json {
    match value {
        Value::Number(number) => number.into(),
        Value::Count(count) => count.into(),
        Value::Text(text) => text.into(),
        Value::None => Json::Null,
    }
}

/// A tile of the timeline; nothing if there is none.
pub(crate) fn tile(question: &Json) -> Option<Vec<u8>> {
    let (level, number) = (whole(&question["level"])?, whole(&question["number"])?);
    locked(&AIR).as_ref()?.tile(level, number).ok()
}

/// A whole number of a question that is not too large.
fn whole<T: TryFrom<u64>>(value: &Json) -> Option<T> {
    value.as_u64().and_then(|number| T::try_from(number).ok())
}

/// What else the timeline is asked.
///
/// # Errors
/// There is no timeline or no such question, or the timeline is damaged.
pub(crate) fn told(what: &str, question: &Json) -> Result<Json, String> {
    let air = locked(&AIR);
    let file = air.as_ref().ok_or("this run has no timeline: run it again with one")?;
    let number = question["number"].as_i64().unwrap_or(-1);
    let named = whole(&question["number"]).unwrap_or(u32::MAX);
    let found = match what {
        "about" => Ok(file.about()),
        "find" => {
            let query = Query {
                radio: whole(&question["radio"]),
                kind: whole(&question["kind"]),
                outcome: whole(&question["outcome"]),
                lost: question["lost"].as_bool().unwrap_or(false),
                retried: question["retried"].as_bool().unwrap_or(false),
            };
            file.told_find(&query, number, question["forward"].as_bool().unwrap_or(true))
        }
        "frame" => file.told_frame(named),
        "life" => file.told_life(named),
        other => return Err(format!("{other}: is no question")),
    };
    found.map_err(|error| error.to_string())
}
