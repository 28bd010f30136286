//! Congestion control: what a controller is told to be.

use super::check::{Check, number};
use crate::plan::{Average, Congested, ControlPlan, Steered};
use crate::scenario::control::{self, Control, Epoch, Inner};
use kernel::BitRate;
use tcp::control::{
    self as of, AfwConfig, Bbr3Config, BbrConfig, CubicConfig, LtConfig, VegasConfig,
};

/// The controller of a flow at `path`.
pub(super) fn control(path: &str, control: &Control, check: &mut Check) -> ControlPlan {
    let path = format!("{path}.control");
    match control {
        Control::NewReno(keys) => ControlPlan::Steerable(new_reno(&path, keys, check)),
        Control::Cubic(keys) => ControlPlan::Steerable(cubic(&path, keys, check)),
        Control::Westwood(keys) => ControlPlan::Steerable(westwood(&path, keys, check)),
        Control::Vegas(keys) => ControlPlan::Steerable(vegas(&path, keys, check)),
        Control::Few(keys) => ControlPlan::Steerable(few(&path, keys, check)),
        Control::Afw(keys) => ControlPlan::Steerable(afw(&path, keys, check)),
        Control::Lt(keys) => {
            let path = format!("{path}.lt");
            ControlPlan::Lt(LtConfig {
                weight: check.fraction(format!("{path}.weight"), keys.weight),
                beta_ecn: left(format!("{path}.beta_ecn"), keys.beta_ecn, check),
                timeout_keeps_ssthresh: keys.timeout_keeps_ssthresh,
            })
        }
        Control::Bbr(keys) => ControlPlan::Bbr(BbrConfig { extra_acked: keys.extra_acked }),
        Control::Bbr3(keys) => {
            let path = format!("{path}.bbr3");
            ControlPlan::Bbr3(Bbr3Config {
                loss_threshold: left(format!("{path}.loss_threshold"), keys.loss_threshold, check),
                beta: left(format!("{path}.beta"), keys.beta, check),
                headroom: left(format!("{path}.headroom"), keys.headroom, check),
                extra_acked: keys.extra_acked,
            })
        }
        Control::Python(keys) => {
            if keys.path.split_once(':').is_none_or(|(m, c)| m.is_empty() || c.is_empty()) {
                let message = format!(
                    "{:?} is no import path; write \"module:Class\", as \"mylab.aimd:Aimd\"",
                    keys.path
                );
                check.fault(format!("{path}.python.path"), message);
            }
            ControlPlan::Python { path: keys.path.clone() }
        }
        Control::CrossLayer(keys) => cross_layer(&format!("{path}.cross_layer"), keys, check),
    }
}

/// What of a window is left, in (0, 1).
fn left(path: String, value: f64, check: &mut Check) -> f64 {
    if value > 0.0 && value < 1.0 {
        return value;
    }
    check.fault(path, format!("must be in (0, 1), is {}", number(value)));
    0.5
}

fn new_reno(path: &str, keys: &control::NewReno, check: &mut Check) -> Steered {
    let beta_ecn = keys.beta_ecn.unwrap_or(0.5);
    Steered::NewReno {
        hystart: keys.hystart,
        beta_ecn: left(format!("{path}.new_reno.beta_ecn"), beta_ecn, check),
    }
}

fn cubic(path: &str, keys: &control::Cubic, check: &mut Check) -> Steered {
    let path = format!("{path}.cubic");
    let beta = left(format!("{path}.beta"), keys.beta, check);
    let beta_ecn = match keys.beta_ecn {
        Some(beta_ecn) => left(format!("{path}.beta_ecn"), beta_ecn, check),
        None => beta,
    };
    Steered::Cubic(CubicConfig {
        beta,
        beta_ecn,
        c: check.real(format!("{path}.c"), keys.c, 1e-6, 1e6),
        fast_convergence: keys.fast_convergence,
        friendly: keys.friendly,
        hystart: keys.hystart,
    })
}

fn westwood(path: &str, keys: &control::Westwood, check: &mut Check) -> Steered {
    let memory = check.probability(format!("{path}.westwood.memory"), keys.memory);
    Steered::Westwood { memory }
}

fn vegas(path: &str, keys: &control::Vegas, check: &mut Check) -> Steered {
    const MOST: f64 = 1e6;
    let path = format!("{path}.vegas");
    let mut queued = |key, value| check.real(format!("{path}.{key}"), value, 0.0, MOST);
    let (alpha, beta) = (queued("alpha", keys.alpha), queued("beta", keys.beta));
    let gamma = queued("gamma", keys.gamma);
    if alpha > beta {
        let message = format!("{} is above beta, {}", number(alpha), number(beta));
        check.fault(format!("{path}.alpha"), message);
    }
    Steered::Vegas(VegasConfig { alpha, beta, gamma })
}

fn few(path: &str, keys: &control::Few, check: &mut Check) -> Steered {
    Steered::Few { alpha: check.fraction(format!("{path}.few.alpha"), keys.alpha) }
}

fn afw(path: &str, keys: &control::Afw, check: &mut Check) -> Steered {
    const MOST: f64 = 1e6;
    let path = format!("{path}.afw");
    let mut factor = |key: &str, value: f64| {
        let path = format!("{path}.{key}");
        if value <= 1.0 {
            check.fault(path, format!("must be above 1, is {}", number(value)));
            return 2.0;
        }
        check.real(path, value, 1.0, MOST)
    };
    let (alpha, beta) = (factor("alpha", keys.alpha), factor("beta", keys.beta));
    let s_min = check.fraction(format!("{path}.s_min"), keys.s_min);
    let s_max = check.fraction(format!("{path}.s_max"), keys.s_max);
    if s_min > s_max {
        let message = format!("{} is above s_max, {}", number(s_min), number(s_max));
        check.fault(format!("{path}.s_min"), message);
    }
    let epoch = match &keys.epoch {
        Epoch::Timeouts => of::Epoch::Timeouts,
        Epoch::Rounds(rounds) => {
            let path = format!("{path}.epoch.rounds.number");
            of::Epoch::Rounds(check.whole(path, rounds.number, 1, 1_000_000) as u32)
        }
    };
    let congested = match keys.congested {
        Congested::Timeout => of::Congested::Timeout,
        Congested::AnyLoss => of::Congested::AnyLoss,
    };
    let gate_hops = keys
        .gate_hops
        .map(|hops| check.whole(format!("{path}.gate_hops"), hops, 1, 1_000_000) as u32);
    Steered::Afw(AfwConfig { alpha, beta, s_min, s_max, epoch, congested, gate_hops })
}

fn cross_layer(path: &str, keys: &control::CrossLayer, check: &mut Check) -> ControlPlan {
    let inner_path = format!("{path}.inner");
    let inner = match &keys.inner {
        Inner::NewReno(keys) => new_reno(&inner_path, keys, check),
        Inner::Cubic(keys) => cubic(&inner_path, keys, check),
        Inner::Westwood(keys) => westwood(&inner_path, keys, check),
        Inner::Vegas(keys) => vegas(&inner_path, keys, check),
        Inner::Few(keys) => few(&inner_path, keys, check),
        Inner::Afw(keys) => afw(&inner_path, keys, check),
    };
    let samples = check.whole(format!("{path}.samples"), keys.samples, 1, 100_000) as usize;
    ControlPlan::CrossLayer {
        inner,
        throughputs: throughputs(path, keys, check),
        average: match keys.average {
            Average::Samples => of::Average::Samples(samples),
            Average::Smoothed => of::Average::Smoothed,
        },
    }
}

fn throughputs(path: &str, keys: &control::CrossLayer, check: &mut Check) -> of::Throughputs {
    let usual = of::Throughputs::dot11ac_20mhz();
    let (rates, gets) = match (&keys.rates_mbps, &keys.throughputs_mbps) {
        (None, None) => return usual,
        (rates, gets) => (rates.as_deref().unwrap_or(&[]), gets.as_deref().unwrap_or(&[])),
    };
    let rates_path = format!("{path}.rates_mbps");
    if rates.is_empty() || rates.len() != gets.len() {
        let (n, m) = (rates.len(), gets.len());
        let message = format!("{n} rates for {m} throughputs_mbps; each rate has one");
        check.fault(rates_path, message);
        return usual;
    }
    let ascend = rates.is_sorted_by(|a, b| a < b);
    if !ascend {
        check.fault(&rates_path, format!("must ascend, as [6.5, 13.0]; is {rates:?}"));
    }
    let before = check.faults();
    let mut mbps = |key: &str, list: &[f64]| -> Vec<BitRate> {
        let rate = |(i, rate): (usize, &f64)| {
            let rate = check.real(format!("{path}.{key}[{i}]"), *rate, 1e-3, 1e6);
            BitRate::from_mbps(rate)
        };
        list.iter().enumerate().map(rate).collect()
    };
    let (rates, gets) = (mbps("rates_mbps", rates), mbps("throughputs_mbps", gets));
    if !ascend || check.faults() > before {
        return usual;
    }
    of::Throughputs::new(&rates.into_iter().zip(gets).collect::<Vec<_>>())
}
