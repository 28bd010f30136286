//! Modes by a schedule.

use super::{AttemptParameters, LinkModes, RateControl, Rule, TxReport};
use crate::phy::error::ErrorModel;
use crate::phy::{Mode, TxVector};
use kernel::{Instant, Rng};
use settings::{Faults, Path, Said, Settings, number, said};

/// Modes by a schedule.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Schedule")]
pub struct ScheduleSettings {
    /// The changes of mode, each later than the one before. Until the first, `mcs` or `rate_mbps`
    /// holds.
    pub steps: Vec<ScheduleStep>,
}

/// A change of mode.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ScheduleStep {
    /// Time in seconds; required.
    #[setting(
        key = "at_s",
        required = "as 20.0",
        range = settings::Range::above(0.0, 1e6),
        too_low = ["must be above 0", "what holds from the start is mcs or rate_mbps"]
    )]
    pub at: Instant,
    /// The MCS from then on; in 802.11n and later.
    #[setting(range = 0..=31)]
    pub mcs: Option<u32>,
    /// The rate from then on in Mb/s; in 802.11b, a and g.
    pub rate_mbps: Option<f64>,
}

impl ScheduleStep {
    /// The mode of the step, or the faulty key and the reason.
    fn mode(&self, link: &LinkModes) -> Result<Mode, (&'static str, Said)> {
        let name = link.standard.name();
        match (link.vector, self.mcs, self.rate_mbps) {
            (Some(_), _, Some(_)) => {
                Err(("rate_mbps", format!("802.{name} has modes by mcs, not by rate").into()))
            }
            (None, Some(_), _) => Err(("mcs", said!("802.{name} has no MCS", "give rate_mbps"))),
            (Some(_), None, None) => Err(("mcs", said!("missing", "a step changes it"))),
            (None, None, None) => Err(("rate_mbps", said!("missing", "a step changes it"))),
            (None, None, Some(mbps)) => link.mode_at(mbps).map_err(|fault| ("rate_mbps", fault)),
            (Some(vector), Some(mcs), None) => {
                let mode = TxVector { mcs: mcs as u8, ..vector }.mode();
                mode.map_err(|fault| ("mcs", fault.said))
            }
        }
    }

    /// The fault of its time, if any.
    fn fault(&self, before: Instant, end: Instant) -> Option<String> {
        let seconds = |at: Instant| number(at.as_secs_f64());
        if self.at >= end {
            let (is, end) = (seconds(self.at), seconds(end));
            return Some(format!("{is} is not before the end of the run, {end} s"));
        }
        let (is, before_s) = (seconds(self.at), seconds(before));
        (self.at <= before).then(|| format!("{is} is not after the step before, {before_s}"))
    }
}

impl Rule for ScheduleSettings {
    fn check(&self, link: &LinkModes, end: Instant, at: &Path, faults: &mut Faults) {
        let at = at.key("steps");
        if self.steps.is_empty() {
            let example = if link.vector.is_some() { "mcs = 8" } else { "rate_mbps = 11.0" };
            let message = said!("there are none", "a step reads {{ at_s = 20.0, {example} }}");
            faults.fault(at, message);
            return;
        }
        let mut before = Instant::ZERO;
        for (index, step) in self.steps.iter().enumerate() {
            let (at, mode) = (at.index(index), step.mode(link));
            let fault = step.fault(before, end);
            if fault.is_none() && mode.is_ok() {
                before = step.at;
            }
            if let Some(message) = fault {
                faults.fault(at.key("at_s"), message);
            }
            if let Err((key, message)) = mode {
                faults.fault(at.key(key), message);
            }
        }
    }

    fn modes(&self, link: &LinkModes) -> Vec<Mode> {
        vec![link.mode]
    }

    fn build(&self, link: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        let change = |step: &ScheduleStep| Some((step.at, step.mode(link).ok()?));
        let changes = self.steps.iter().filter_map(change).collect();
        Some(Box::new(Schedule { first: link.mode, changes }))
    }
}

/// Modes by a schedule: each holds until the time of the next.
#[derive(Clone, Debug)]
pub struct Schedule {
    first: Mode,
    /// In order of time.
    changes: Vec<(Instant, Mode)>,
}

impl RateControl for Schedule {
    fn select(&mut self, now: Instant, _attempt: u32) -> AttemptParameters {
        let past = self.changes.partition_point(|(at, _)| *at <= now);
        let mode = past.checked_sub(1).map_or(self.first, |last| self.changes[last].1);
        AttemptParameters::plain(mode)
    }

    fn on_report(&mut self, _now: Instant, _report: &TxReport) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::{build_for, link};
    use super::*;
    use crate::phy::DOT11A;

    #[test]
    fn each_mode_holds_until_the_next() {
        let [slow, middle, fast] = [DOT11A.modes[0], DOT11A.modes[3], DOT11A.fastest()];
        let step = |ns, mode: Mode| ScheduleStep {
            at: Instant(ns),
            mcs: None,
            rate_mbps: Some(mode.rate.as_mbps()),
        };
        let steps = vec![step(100, fast), step(200, slow)];
        let link = LinkModes { mode: middle, ..link() };
        let mut schedule = build_for(&ScheduleSettings { steps }, &link);
        let mut rate = |at| schedule.select(Instant(at), 0).mode;
        assert_eq!([rate(0), rate(99), rate(100), rate(199)], [middle, middle, fast, fast]);
        assert_eq!([rate(200), rate(u64::MAX)], [slow, slow]);
    }
}
