//! Runs a scenario file without Python: `run FILE [SEED] [SET...] `. Prints the digest and a few
//! results. Instruction counts and profiles are taken of this program.

use kernel::Seed;
use sim::{Scenario, Simulation, Value};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: run FILE [SEED] [path=value]...");
        return ExitCode::from(2);
    };
    let root = arguments.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    match run(&file, root, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(file: &str, root: u64, sets: impl Iterator<Item = String>) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let all = |issues: Vec<sim::Issue>| {
        issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let mut scenario = Scenario::parse(&text).map_err(all)?;
    for set in sets {
        let (path, value) = set.split_once('=').ok_or("expected path=value")?;
        scenario = scenario.set(path, value).map_err(all)?;
    }
    let plan = scenario.resolve().map_err(all)?;
    let check = std::env::var_os("CHECK").is_some();
    let seed = Seed { root, replication: 0 };
    let run = Simulation::new(&plan, seed, &[], check).map_err(all)?.finish();
    for (path, value) in &run.summary {
        let wanted = ["total.", "airtime.", "contending.", "run.", "ap."];
        if wanted.iter().any(|prefix| path.starts_with(prefix)) && *value != Value::None {
            println!("{path} = {value:?}");
        }
    }
    println!("digest = {:016x}", run.digest);
    Ok(())
}
