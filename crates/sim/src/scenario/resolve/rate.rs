//! Rate control: the rule of a link, and the modes it chooses among.

use super::check::number;
use super::modes::Modes;
use crate::plan::{AdaptiveRule, Mode, Patience, RateControlPlan};
use crate::scenario::rate::{Aarf, Arf, RateControl, Schedule, Step};
use kernel::{Duration, Instant};
use wifi::phy::TxVector;

/// The path of a key at fault, and why.
type Fault = (String, String);

/// The rule at `path` for a link that begins with `mode`.
pub(super) fn control(
    path: &str,
    control: &RateControl,
    mode: Mode,
    vector: Option<TxVector>,
    modes: &Modes<'_>,
) -> Result<RateControlPlan, Vec<Fault>> {
    let rule = match control {
        RateControl::Fixed => return Ok(RateControlPlan::Fixed),
        RateControl::Schedule(keys) => return schedule(path, keys, vector, modes),
        adaptive => rule(path, adaptive, modes).map_err(|fault| vec![fault])?,
    };
    let modes = modes.ladder(&mode, vector, rule == AdaptiveRule::MinstrelHt);
    Ok(RateControlPlan::Adaptive { rule, modes })
}

fn rule(path: &str, control: &RateControl, modes: &Modes<'_>) -> Result<AdaptiveRule, Fault> {
    Ok(match control {
        RateControl::Arf(keys) => arf(path, keys)?,
        RateControl::Aarf(keys) => aarf(path, keys)?,
        RateControl::Simple => AdaptiveRule::Simple,
        RateControl::Cara => AdaptiveRule::Cara,
        RateControl::Rraa => AdaptiveRule::Rraa,
        RateControl::Minstrel => AdaptiveRule::Minstrel,
        RateControl::MinstrelHt if modes.standard.has_mcs() => AdaptiveRule::MinstrelHt,
        RateControl::MinstrelHt => {
            let name = modes.standard.name();
            let message =
                format!("is for modes with an MCS, and 802.{name} has none; take \"minstrel\"");
            return Err((format!("{path}.minstrel_ht"), message));
        }
        RateControl::Ideal if modes.has_radio() => AdaptiveRule::Ideal,
        RateControl::Ideal => {
            let message = "goes by the strength of the signal, and this cell has no radio: every \
                           node hears every other, whatever the mode";
            return Err((format!("{path}.ideal"), message.to_owned()));
        }
        RateControl::Fixed | RateControl::Schedule(_) => unreachable!("they adapt to nothing"),
    })
}

fn arf(path: &str, keys: &Arf) -> Result<AdaptiveRule, Fault> {
    let path = format!("{path}.arf");
    let patience = match (keys.patience_ms, keys.patience_attempts) {
        (Some(ms), _) if (0.001..=1e6).contains(&ms) => {
            Patience::Time(Duration::from_secs_f64(ms * 1e-3))
        }
        (Some(ms), _) => {
            let message = format!("must be from 0.001 to 1000000 ms, is {}", number(ms));
            return Err((format!("{path}.patience_ms"), message));
        }
        (None, 0) => Patience::Endless,
        (None, attempts) => {
            Patience::Attempts(whole(format!("{path}.patience_attempts"), attempts)?)
        }
    };
    Ok(AdaptiveRule::Arf { patience })
}

fn aarf(path: &str, keys: &Aarf) -> Result<AdaptiveRule, Fault> {
    let most_successes = whole(format!("{path}.aarf.most_successes"), keys.most_successes)?;
    Ok(AdaptiveRule::Aarf { most_successes })
}

/// A count from 1 to a million.
fn whole(path: String, value: u64) -> Result<u32, Fault> {
    match u32::try_from(value) {
        Ok(value @ 1..=1_000_000) => Ok(value),
        _ => Err((path, format!("must be from 1 to 1000000, is {value}"))),
    }
}

fn schedule(
    path: &str,
    keys: &Schedule,
    vector: Option<TxVector>,
    modes: &Modes<'_>,
) -> Result<RateControlPlan, Vec<Fault>> {
    let path = format!("{path}.schedule.steps");
    if keys.steps.is_empty() {
        let example = if vector.is_some() { "mcs = 8" } else { "rate_mbps = 11.0" };
        let message = format!("there are none; a step reads {{ at_s = 20.0, {example} }}");
        return Err(vec![(path, message)]);
    }
    let mut steps: Vec<(Instant, Mode)> = Vec::with_capacity(keys.steps.len());
    let mut faults = Vec::new();
    for (index, step) in keys.steps.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let before = steps.last().map_or(Instant::ZERO, |(at, _)| *at);
        let at = moment(&path, step, before, modes.duration_s);
        match (at, step_mode(&path, step, vector, modes)) {
            (Ok(at), Ok(mode)) => steps.push((at, mode)),
            (at, mode) => faults.extend(at.err().into_iter().chain(mode.err())),
        }
    }
    if faults.is_empty() { Ok(RateControlPlan::Schedule(steps)) } else { Err(faults) }
}

fn moment(path: &str, step: &Step, before: Instant, duration_s: f64) -> Result<Instant, Fault> {
    let faulty = |message: String| Err((format!("{path}.at_s"), message));
    let is = number(step.at_s);
    if !(step.at_s > 0.0 && step.at_s < super::LONGEST_S) {
        return faulty(format!(
            "must be above 0, is {is}; what holds from the start is mcs or rate_mbps"
        ));
    }
    if step.at_s >= duration_s {
        return faulty(format!("{is} is not before the end of the run, {} s", number(duration_s)));
    }
    let at = Instant::ZERO + Duration::from_secs_f64(step.at_s);
    if at <= before {
        let before = number(before.as_secs_f64());
        return faulty(format!("{is} is not after the step before, {before}"));
    }
    Ok(at)
}

fn step_mode(
    path: &str,
    step: &Step,
    vector: Option<TxVector>,
    modes: &Modes<'_>,
) -> Result<Mode, Fault> {
    let name = modes.standard.name();
    let key = |key: &str| format!("{path}.{key}");
    match (vector, step.mcs, step.rate_mbps) {
        (Some(_), _, Some(_)) => {
            Err((key("rate_mbps"), format!("802.{name} has modes by mcs, not by rate")))
        }
        (None, Some(_), _) => Err((key("mcs"), format!("802.{name} has no MCS; give rate_mbps"))),
        (Some(_), None, None) => Err((key("mcs"), "missing; a step changes it".to_owned())),
        (None, None, None) => Err((key("rate_mbps"), "missing; a step changes it".to_owned())),
        (None, None, Some(mbps)) => {
            modes.mode_of_rate(mbps).map_err(|message| (key("rate_mbps"), message))
        }
        (Some(vector), Some(mcs), None) => {
            let mcs = u8::try_from(mcs).unwrap_or(u8::MAX);
            let mode = TxVector { mcs, ..vector }.mode();
            mode.map_err(|fault| (key("mcs"), fault.message))
        }
    }
}
