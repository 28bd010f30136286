//! The settings of a script: what follows `set`.

use super::Failure;
use super::grammar::{Call, Event, Script, Written};
use crate::{Config, DelayedAck, EcnMode, Recovery, Reduction, RtoRule};
use kernel::{Bytes, Duration, Segments};
use wire::Flags;

/// What a header's 16 bits hold.
const MOST_MSS: u64 = 65_535;
/// More segments at once are a runaway, and no script.
const MOST_WINDOW: u64 = 10_000;

/// The segments that a script expects, or those that it injects.
pub(super) fn packets(script: &Script, expected: bool) -> impl Iterator<Item = &Written> {
    script.events.iter().filter_map(move |(_, _, event)| match event {
        Event::Expect(written) if expected => Some(written),
        Event::Inject(written) if !expected => Some(written),
        _ => None,
    })
}

/// The settings of the script, within what the injected SYN allows.
pub(super) fn configure(script: &Script) -> Result<Config, Failure> {
    let timer = Duration::from_millis(40);
    let mut config = Config {
        delayed_ack: DelayedAck::Fixed { segments: 2, timer },
        reads: script.events.iter().any(|e| matches!(e.2, Event::Call(Call::Read(_), _))),
        timestamps: true,
        ..Config::default()
    };
    for (line, key, value) in &script.settings {
        set(&mut config, key, value).map_err(|message| Failure { line: *line, message })?;
    }
    if let Some(syn) = packets(script, false).find(|written| written.flags.has(Flags::SYN)) {
        config.mss = Bytes(config.mss.0.min(syn.mss.unwrap_or(config.mss.0)).max(1));
        if !syn.any_options {
            // Who opens says first whether there are timestamps.
            let opens =
                |asked: &&Written| asked.flags.has(Flags::SYN) && !asked.flags.has(Flags::ACK);
            let asked = packets(script, true).find(opens);
            config.timestamps &= asked.unwrap_or(syn).timestamps.is_some();
        }
    }
    Ok(config)
}

fn set(config: &mut Config, key: &str, value: &str) -> Result<(), String> {
    let number = || -> Result<f64, String> {
        let number: f64 = value.parse().map_err(|_| format!("{key}: {value:?} is no number"))?;
        if (0.0..=1e12).contains(&number) {
            Ok(number)
        } else {
            Err(format!("{key}: must be from 0 to 1e12, is {value}"))
        }
    };
    let count = |most: u64| -> Result<u64, String> {
        let n = number()? as u64;
        let right = (1..=most).contains(&n);
        if right { Ok(n) } else { Err(format!("{key}: must be from 1 to {most}, is {value}")) }
    };
    let ms = || number().map(|ms| Duration((ms * 1e6) as u64));
    let on = || on(key, value);
    match key {
        "mss" => config.mss = Bytes(count(MOST_MSS)?),
        "window" => config.window = Bytes(count(1 << 30)?),
        "initial_window" => config.initial_window = Segments(count(MOST_WINDOW)? as f64),
        "initial_ssthresh" => config.initial_ssthresh = Some(Segments(count(1 << 30)? as f64)),
        "timestamps" => config.timestamps = on()?,
        "limited_transmit" => config.limited_transmit = on()?,
        "restart_after_idle" => config.restart_after_idle = on()?,
        "validation" => config.validation = on()?,
        "fin" => config.fin = on()?,
        "pacing" => config.pacing = on()?,
        "rto_initial_ms" => config.rto_initial = ms()?,
        "rto_min_ms" => config.rto_min = ms()?,
        "rto_max_ms" => config.rto_max = ms()?,
        "rto_granularity_ms" => config.rto_granularity = ms()?,
        "delayed_ack" if value == "none" => config.delayed_ack = DelayedAck::None,
        "delayed_ack" | "delayed_ack_ms" => {
            let (mut segments, mut timer) = match config.delayed_ack {
                DelayedAck::Fixed { segments, timer } => (segments, timer),
                _ => (2, Duration::from_millis(40)),
            };
            if key == "delayed_ack" {
                segments = count(MOST_WINDOW)? as u32;
            } else {
                timer = ms()?;
            }
            config.delayed_ack = DelayedAck::Fixed { segments, timer };
        }
        // Made once the configuration is complete.
        "control" => {}
        _ => return set_by_name(config, key, value),
    }
    Ok(())
}

/// The settings that are chosen by name, and those of recovery.
fn set_by_name(config: &mut Config, key: &str, value: &str) -> Result<(), String> {
    let one_of = |names: &str| format!("{key}: one of {names}, is {value:?}");
    let on = || on(key, value);
    let mut sack = config.sack().unwrap_or_default();
    match key {
        "rto_rule" => {
            config.rto_rule = match value {
                "rfc6298" => RtoRule::Rfc6298,
                "linux" => RtoRule::Linux,
                _ => return Err(one_of("rfc6298, linux")),
            }
        }
        "ecn" => {
            config.ecn = match value {
                "off" => EcnMode::Off,
                "classic" | "on" => EcnMode::Classic,
                "accurate" => EcnMode::Accurate,
                _ => return Err(one_of("off, classic, accurate")),
            }
        }
        "recovery" => {
            config.recovery = match value {
                "new_reno" => Recovery::NewReno,
                "sack" => Recovery::Sack(sack),
                _ => return Err(one_of("new_reno, sack")),
            }
        }
        "rack" | "f_rto" | "undo" | "reduction" => {
            match key {
                "rack" => sack.rack = on()?,
                "f_rto" => sack.f_rto = on()?,
                "undo" => sack.undo = on()?,
                _ => sack.reduction = reduction(value).ok_or_else(|| one_of(REDUCTIONS))?,
            }
            config.recovery = Recovery::Sack(sack);
        }
        _ => return Err(format!("{key:?} is no setting")),
    }
    Ok(())
}

/// Whether something is on.
pub(super) fn on(key: &str, value: &str) -> Result<bool, String> {
    match value {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(format!("{key}: on or off, is {value:?}")),
    }
}

const REDUCTIONS: &str = "at_once, proportional, proportional_rfc6937";

fn reduction(name: &str) -> Option<Reduction> {
    Some(match name {
        "at_once" => Reduction::AtOnce,
        "proportional" => Reduction::Proportional,
        "proportional_rfc6937" => Reduction::Proportional6937,
        _ => return None,
    })
}
