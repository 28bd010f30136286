//! A source that is on at given times.

use super::{Burst, Source, SourceKind, Spectrum, Surroundings};
use kernel::{Duration, Instant};
use settings::{Faults, Path, Said, Settings, number, said};

/// A source that is on at the times of a list, in every channel, as a measurement gives them.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "OnOff", check = times_ascend)]
pub struct OnOffSettings {
    /// The text of a CSV file: in each line, in seconds, when the source goes on and when it goes
    /// off; later than in the line before. A first line without numbers is a header.
    #[setting(required = "lines of two times in seconds, as \"0.5,0.75\"")]
    pub csv: String,
    /// The period in seconds after which the list repeats. Default: it does not repeat.
    #[setting(key = "period_s", range = 1e-6..=1e6)]
    pub period: Option<Duration>,
}

/// The most lines of a list.
const LONGEST: usize = 1_000_000;
/// The latest time in seconds.
const LATEST_S: f64 = 1e6;

fn times_ascend(list: &OnOffSettings, at: &Path, faults: &mut Faults) {
    match parse(&list.csv) {
        Err(message) => faults.fault(at.key("csv"), message),
        Ok(spans) => {
            let last = spans.last().map_or(Instant::ZERO, |&(_, off)| off);
            if let Some(period) = list.period.filter(|&period| Instant::ZERO + period < last) {
                let [period, last] =
                    [period, last - Instant::ZERO].map(|time| number(time.as_secs_f64()));
                let message = format!("{period} is before the last time of the list, {last} s");
                faults.fault(at.key("period_s"), message);
            }
        }
    }
}

/// The times at which the source goes on and off, or the first fault.
fn parse(csv: &str) -> Result<Vec<(Instant, Instant)>, Said> {
    let mut spans: Vec<(Instant, Instant)> = Vec::new();
    for (line, text) in (1..).zip(csv.lines()) {
        let text = text.trim();
        let fields: Vec<Option<f64>> =
            text.split(',').map(|field| field.trim().parse().ok()).collect();
        let is_header = spans.is_empty() && fields.iter().all(Option::is_none);
        if text.is_empty() || is_header {
            continue;
        }
        let [Some(on), Some(off)] = fields[..] else {
            return Err(format!("line {line}: \"{text}\" is not two numbers, as 0.5,0.75").into());
        };
        if !(0.0..=LATEST_S).contains(&on) || !(0.0..=LATEST_S).contains(&off) {
            return Err(
                format!("line {line}: times are from 0 to 1000000 s, here \"{text}\"").into()
            );
        }
        if spans.len() == LONGEST {
            return Err(said!("more than {LONGEST} lines", "give fewer"));
        }
        let [on, off] = [on, off].map(|s| Instant::ZERO + Duration::from_secs_f64(s));
        let before = spans.last().map_or(Instant::ZERO, |&(_, off)| off);
        if off <= on || on < before {
            return Err(said!(
                "line {line} goes back in time: \"{text}\"",
                "each time is later than those before"
            ));
        }
        spans.push((on, off));
    }
    if spans.is_empty() {
        return Err("has no line of two times, as 0.5,0.75".into());
    }
    Ok(spans)
}

impl SourceKind for OnOffSettings {
    fn build(&self, _: &Surroundings) -> Box<dyn Source> {
        let spans = parse(&self.csv).unwrap_or_default();
        Box::new(OnOff { spans, period: self.period })
    }
}

#[derive(Debug)]
struct OnOff {
    spans: Vec<(Instant, Instant)>,
    period: Option<Duration>,
}

impl Source for OnOff {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        let burst = |(start, end)| Burst { start, end, device: 0, spectrum: Spectrum::EVERYWHERE };
        let Some(period) = self.period else {
            let next = self.spans.partition_point(|&(_, off)| off <= at);
            return self.spans.get(next).copied().map(burst);
        };
        let (turn, within) = (at.0 / period.0 * period.0, Instant(at.0 % period.0));
        let next = self.spans.partition_point(|&(_, off)| off <= within);
        let (turn, &(on, off)) = match self.spans.get(next) {
            Some(span) => (turn, span),
            None => (turn + period.0, self.spans.first()?),
        };
        Some(burst((on + Duration(turn), off + Duration(turn))))
    }
}
