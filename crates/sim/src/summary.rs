//! The results of a run, each under its path.

use crate::observe::{self, Counters, Kind, PARTS, Value};
use crate::observers::World;
use crate::plan::Plan;
use kernel::Duration;

/// Reads all results of a world whose measurements are complete.
pub(crate) fn summarise(plan: &Plan, world: &World, counters: &Counters) -> Vec<(String, Value)> {
    let mut rows = Vec::new();
    let mut counts = counters.added(world);
    let mut added = || counts.next().expect("the window has opened with these counts");
    for subject in observe::subjects(plan) {
        let place = subject.path();
        for observable in observe::of(plan, subject) {
            let put = |end: &[&str], value| {
                let mut path = [&place, ".", observable.name].concat();
                path.extend(end.iter().copied());
                rows.push((path, value));
            };
            read(&observable.kind, subject.index, plan, world, &mut added, put);
        }
    }
    rows
}

/// Reads the results of one observable, and puts each under its path, which is split into parts.
/// `added` gives the increases of its counters in the window, one after the other.
fn read(
    kind: &Kind,
    index: usize,
    plan: &Plan,
    world: &World,
    added: &mut impl FnMut() -> u64,
    mut put: impl FnMut(&[&str], Value),
) {
    match kind {
        Kind::Text(name) => put(&[], name(plan, index).into()),
        Kind::Counter(_) | Kind::Lost(_) => put(&[], added().into()),
        Kind::Total(count) => put(&[], count(world, index).into()),
        Kind::Ratio(..) => put(&[], (added() as f64 / added() as f64).into()),
        Kind::Part(..) => {
            put(&[], (added() as f64 / added() as f64).clamp(0.0, 1.0).into());
        }
        Kind::MeanRate(..) => put(&[], (added() as f64 * 1e-6 / added() as f64).into()),
        Kind::MeanTime(..) => {
            let (time, events) = (added() as f64 * 1e-9, added());
            put(&[], if events == 0 { f64::NAN } else { time / events as f64 }.into());
        }
        Kind::Share(_) => {
            let window = world.observers.meter.window().as_secs_f64();
            put(&[], (Duration(added()).as_secs_f64() / window).into());
        }
        Kind::Rate(_, mean) => put(&[], mean(world, index).into()),
        Kind::Gauge(_) | Kind::Each(_) | Kind::Controller(_) => {}
        Kind::Last(now, condition) => {
            if (condition.holds)(plan, index) {
                put(&[], now(world, index).into());
            }
        }
        Kind::Delays { read, .. } => {
            if let Some(delays) = read(world, index) {
                for (part, value) in PARTS {
                    put(&[".", part], value(&delays));
                }
            }
        }
        Kind::Fractions(read) => {
            for (k, fraction) in read(world, index).into_iter().enumerate() {
                put(&["[", &k.to_string(), "]"], fraction.into());
            }
        }
        Kind::Once(value) => put(&[], value(world, index)),
        Kind::Airtime(kind) => {
            put(&[], world.observers.meter.ledger.fraction(*kind).into());
        }
    }
}
