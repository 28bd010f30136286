//! The controller of a script: `set control NAME KEY=VALUE ...`.

use super::Failure;
use super::grammar::Script;
use super::settings::on;
use crate::control::{
    Afw, AfwConfig, Average, Bbr, Bbr3, Bbr3Config, BbrConfig, Congested, Counting, CrossLayer,
    Cubic, CubicConfig, Epoch, Few, Lt, LtConfig, NewReno, Steerable, Throughputs, Vegas,
    VegasConfig, Westwood,
};
use crate::{Ack, Config, Control, Hint, Loss};
use kernel::{BitRate, Segments};

const NAMES: &str = "new_reno, cubic, westwood, vegas, few, afw, lt, bbr, bbr3, cross_layer";
/// A window beyond this many segments is a runaway.
const MOST_WINDOW: f64 = 50_000.0;

/// The controller that the script's last `set control` names; `NewReno` without one.
pub(super) fn control(script: &Script, config: &Config) -> Result<Box<dyn Control>, Failure> {
    let set = script.settings.iter().rev().find(|(_, key, _)| key == "control");
    let text = set.map_or("new_reno", |(_, _, value)| value);
    match read(text, config) {
        Ok(control) => Ok(Box::new(Bounded(control))),
        Err(message) => Err(Failure {
            line: set.map_or(1, |set| set.0),
            message: format!("control: {message}"),
        }),
    }
}

fn read(text: &str, config: &Config) -> Result<Box<dyn Control>, String> {
    let mut keys = Keys::read(text)?;
    let control: Box<dyn Control> = match keys.name {
        "lt" => {
            let usual = LtConfig::default();
            let settings = LtConfig {
                weight: keys.number("weight", usual.weight, 0.0..=1.0)?,
                beta_ecn: keys.number("beta_ecn", usual.beta_ecn, 0.0..=1.0)?,
                timeout_keeps_ssthresh: keys.on("timeout_keeps_ssthresh", false)?,
            };
            Box::new(Lt::new(config, settings))
        }
        "bbr" => {
            let extra_acked = keys.on("extra_acked", BbrConfig::default().extra_acked)?;
            Box::new(Bbr::new(config, BbrConfig { extra_acked }))
        }
        "bbr3" => {
            let usual = Bbr3Config::default();
            let settings = Bbr3Config {
                loss_threshold: keys.number("loss_threshold", usual.loss_threshold, 0.0..=1.0)?,
                beta: keys.number("beta", usual.beta, 0.0..=1.0)?,
                headroom: keys.number("headroom", usual.headroom, 0.0..=0.9)?,
                extra_acked: keys.on("extra_acked", usual.extra_acked)?,
            };
            Box::new(Bbr3::new(config, settings))
        }
        "cross_layer" => {
            let samples = keys.number("samples", 10.0, 1.0..=1e4)? as usize;
            let average = match keys.word("average", "samples", &["samples", "smoothed"])? {
                "smoothed" => Average::Smoothed,
                _ => Average::Samples(samples),
            };
            let names = ["new_reno", "cubic", "westwood", "vegas", "few", "afw"];
            let name = keys.word("inner", "cubic", &names)?;
            let inner = steerable(name, &mut Keys::read(name)?, config)?;
            let inner = inner.ok_or_else(|| format!("{name} cannot be steered"))?;
            Box::new(CrossLayer::new(inner, Throughputs::dot11ac_20mhz(), average, config.mss))
        }
        name => match steerable(name, &mut keys, config)? {
            Some(control) => control,
            None => return Err(format!("{name:?} is none; there are {NAMES}")),
        },
    };
    keys.end()?;
    Ok(control)
}

/// A controller with a window of its own.
fn steerable(
    name: &str,
    keys: &mut Keys,
    config: &Config,
) -> Result<Option<Box<dyn Steerable>>, String> {
    Ok(Some(match name {
        "new_reno" => {
            let control = NewReno::from(config).counting(keys.counting()?);
            let control = control.beta_ecn(keys.number("beta_ecn", 0.5, 0.0..=1.0)?);
            Box::new(if keys.on("hystart", false)? { control.hystart() } else { control })
        }
        "cubic" => Box::new(Cubic::new(config, cubic(keys)?)),
        "westwood" => {
            let memory = keys.number("memory", Westwood::MEMORY, 0.0..=0.999)?;
            Box::new(Westwood::new(config, memory))
        }
        "vegas" => {
            let usual = VegasConfig::default();
            let settings = VegasConfig {
                alpha: keys.number("alpha", usual.alpha, 0.0..=1e6)?,
                beta: keys.number("beta", usual.beta, 0.0..=1e6)?,
                gamma: keys.number("gamma", usual.gamma, 0.0..=1e6)?,
            };
            Box::new(Vegas::new(config, settings))
        }
        "few" => {
            let alpha = keys.number("alpha", Few::ALPHA, 0.0..=1.0)?;
            Box::new(Few::new(config, alpha, keys.counting()?))
        }
        "afw" => Box::new(Afw::new(config, afw(keys)?, keys.counting()?)),
        _ => return Ok(None),
    }))
}

fn cubic(keys: &mut Keys) -> Result<CubicConfig, String> {
    let usual = CubicConfig::default();
    let beta = keys.number("beta", usual.beta, 0.01..=0.99)?;
    Ok(CubicConfig {
        beta,
        beta_ecn: keys.number("beta_ecn", beta, 0.01..=0.99)?,
        c: keys.number("c", usual.c, 1e-6..=1e6)?,
        fast_convergence: keys.on("fast_convergence", usual.fast_convergence)?,
        friendly: keys.on("friendly", usual.friendly)?,
        hystart: keys.on("hystart", usual.hystart)?,
    })
}

fn afw(keys: &mut Keys) -> Result<AfwConfig, String> {
    let usual = AfwConfig::default();
    let rounds = keys.number("epoch", 1.0, 1.0..=1e6);
    Ok(AfwConfig {
        alpha: keys.number("alpha", usual.alpha, 1.0..=1e6)?,
        beta: keys.number("beta", usual.beta, 1.0..=1e6)?,
        s_min: keys.number("s_min", usual.s_min, 0.0..=1.0)?,
        s_max: keys.number("s_max", usual.s_max, 0.0..=1.0)?,
        epoch: if keys.is("epoch", "timeouts") {
            Epoch::Timeouts
        } else {
            Epoch::Rounds(rounds? as u32)
        },
        congested: match keys.word("congested", "timeout", &["timeout", "any_loss"])? {
            "any_loss" => Congested::AnyLoss,
            _ => Congested::Timeout,
        },
        gate_hops: match keys.number("gate_hops", 0.0, 0.0..=1e6)? as u32 {
            0 => None,
            hops => Some(hops),
        },
    })
}

/// The parameters that a script gives a controller, and the names of those that there are.
struct Keys<'a> {
    name: &'a str,
    given: Vec<(&'a str, &'a str)>,
    known: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let name = words.next().ok_or("a controller is missing, as set control cubic")?;
        let pair = |word: &'a str| {
            word.split_once('=').ok_or_else(|| format!("{word:?}: write a parameter as beta=0.7"))
        };
        let given = words.map(pair).collect::<Result<_, _>>()?;
        Ok(Self { name, given, known: Vec::new() })
    }

    fn value(&mut self, key: &'static str) -> Option<&'a str> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.given.iter().rev().find(|(given, _)| *given == key).map(|(_, value)| *value)
    }

    fn is(&mut self, key: &'static str, value: &str) -> bool {
        self.value(key) == Some(value)
    }

    fn number(
        &mut self,
        key: &'static str,
        usual: f64,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<f64, String> {
        let Some(text) = self.value(key) else { return Ok(usual) };
        let number: f64 = text.parse().map_err(|_| format!("{key}: {text:?} is no number"))?;
        if range.contains(&number) {
            return Ok(number);
        }
        let (low, high) = (range.start(), range.end());
        Err(format!("{key}: must be from {low} to {high}, is {text}"))
    }

    fn on(&mut self, key: &'static str, usual: bool) -> Result<bool, String> {
        self.value(key).map_or(Ok(usual), |value| on(key, value))
    }

    fn word(
        &mut self,
        key: &'static str,
        usual: &'a str,
        words: &[&str],
    ) -> Result<&'a str, String> {
        let word = self.value(key).unwrap_or(usual);
        if words.contains(&word) {
            return Ok(word);
        }
        Err(format!("{key}: one of {}, is {word:?}", words.join(", ")))
    }

    fn counting(&mut self) -> Result<Counting, String> {
        Ok(match self.word("counting", "bytes", &["bytes", "acks"])? {
            "acks" => Counting::Acks,
            _ => Counting::Bytes { limit: 2 },
        })
    }

    /// Every parameter that was given is one of the controller's.
    fn end(&self) -> Result<(), String> {
        match self.given.iter().find(|(key, _)| !self.known.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                let known = self.known.join(", ");
                Err(format!("{} has no parameter {key:?}; it has {known}", self.name))
            }
        }
    }
}

/// A controller whose window no script can let run away.
#[derive(Debug)]
struct Bounded(Box<dyn Control>);

impl Control for Bounded {
    fn window(&self) -> Segments {
        Segments(self.0.window().0.min(MOST_WINDOW))
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }

    fn on_undo(&mut self) {
        self.0.on_undo();
    }

    fn on_hint(&mut self, hint: &Hint) {
        self.0.on_hint(hint);
    }

    fn pacing(&self) -> Option<BitRate> {
        self.0.pacing()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(visit);
    }
}
