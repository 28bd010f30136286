//! From what was written to what runs: every rule of meaning, every default, every pattern.
//!
//! Each rule reports to a [`Check`] and goes on with a harmless value, so that one pass finds all
//! faults. A [`Plan`] is given out only if there is none.

mod cell;
mod check;
mod control;
mod ends;
mod fec;
mod flows;
mod links;
mod mixed;
mod modes;
mod qos;
mod queues;
mod radio;
mod rate;
mod transport;
mod work;

use super::Issue;
use super::document::Document;
use crate::plan::{MeasurePlan, Plan};
use check::{Check, number};
use kernel::Duration;

/// The longest run, in seconds: beyond it nanoseconds still count, but nobody waits.
const LONGEST_S: f64 = 1e6;

/// Resolves a document.
pub(super) fn resolve(document: &Document) -> Result<Plan, Vec<Issue>> {
    let mut check = Check::default();
    let duration_s = duration(document, &mut check);
    let warmup_s = warmup(document, duration_s, &mut check);
    let wlan = cell::wlan(document, &mut check);
    let stations = cell::stations(document, &wlan, duration_s, &mut check);
    let ap = cell::ap(document, &stations, &mut check);
    let space = radio::space(document, &ap, &stations, &mut check);
    let network = links::network(document, &mut check);
    let flows = flows::flows(document, stations.len(), &network, duration_s, &mut check);
    radio::flows(space.as_ref(), &flows, &mut check);
    let measure = measure(document, duration_s, warmup_s, &mut check);
    let plan = Plan {
        title: document.title.clone(),
        duration: Duration::from_secs_f64(duration_s),
        warmup: Duration::from_secs_f64(warmup_s),
        wlan,
        stations,
        ap,
        space,
        network,
        flows,
        measure,
    };
    work::queues_hold_a_packet(document, &plan, &mut check);
    work::is_bounded(&plan, &mut check);
    check.finish(plan)
}

/// The duration; if it is at fault, NaN, with which no comparison holds, so that nothing else is
/// said to lie outside the run.
fn duration(document: &Document, check: &mut Check) -> f64 {
    let duration_s = check.seconds("duration_s", document.duration_s, 1e-6, LONGEST_S);
    if duration_s == document.duration_s { duration_s } else { f64::NAN }
}

fn warmup(document: &Document, duration_s: f64, check: &mut Check) -> f64 {
    let Some(warmup_s) = document.warmup_s else { return duration_s / 10.0 };
    let warmup_s = check.seconds("warmup_s", warmup_s, 0.0, LONGEST_S);
    if warmup_s >= duration_s {
        let (warmup, duration) = (number(warmup_s), number(duration_s));
        check.fault(
            "warmup_s",
            format!("{warmup} leaves nothing of a run of {duration} s; it is below duration_s"),
        );
    }
    warmup_s
}

fn measure(document: &Document, duration_s: f64, warmup_s: f64, check: &mut Check) -> MeasurePlan {
    const MOST_SAMPLES: f64 = 1e6;
    let batches = check.whole("measure.batches", document.measure.batches, 2, 1000);
    let batch_s = (duration_s - warmup_s) / batches as f64;
    if warmup_s < duration_s && batch_s < 1e-6 {
        let batch = number(batch_s);
        let message =
            format!("{batches} batches of {batch} s each are shorter than 1 us: take fewer");
        check.fault("measure.batches", message);
    }
    let path = "measure.interval_s";
    let interval_s = match document.measure.interval_s {
        None => duration_s / 1000.0,
        Some(interval_s) => check.seconds(path, interval_s, 1e-9, LONGEST_S),
    };
    let samples = duration_s / interval_s;
    if samples > MOST_SAMPLES {
        let (interval, samples) = (number(interval_s), number(samples.round()));
        let least = number(duration_s / MOST_SAMPLES);
        check.fault(
            path,
            format!(
                "{interval} gives {samples} samples a probe, and at most 1000000 are kept; take at \
                 least {least}"
            ),
        );
    }
    MeasurePlan {
        batches: batches as u32,
        // A run of a few microseconds has samples of a nanosecond and not of none.
        interval: Duration(Duration::from_secs_f64(interval_s).0.max(1)),
    }
}
