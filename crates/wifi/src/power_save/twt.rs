//! Individual target wake time.

use super::{Fetch, Listening, PowerSave, PowerSaveMode};
use kernel::{Duration, Instant};
use settings::{Faults, Path, Said, Settings, number};

/// Individual target wake time of 802.11ax and be (802.11ax-2021 clause 26.8.2): the station is
/// awake in service periods at equal intervals, and at no other time, beacons included. Both
/// directions wait for them. The agreement exists from the start.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Twt", check = fits)]
pub struct TwtSettings {
    /// TWT wake interval in ms: from the begin of one service period to that of the next.
    #[setting(key = "interval_ms", default = 102.4, range = 1.0..=1e6)]
    pub interval: Duration,
    /// Nominal minimum TWT wake duration in ms: how long a service period lasts, a multiple of
    /// 0.256 ms, less than the interval.
    #[setting(key = "duration_ms", default = 10.24, range = 0.256..=65.28)]
    pub duration: Duration,
    /// When the first service period begins, in ms.
    #[setting(key = "offset_ms", default = 0.0, range = 0.0..=1e6)]
    pub offset: Duration,
    /// Whether the agreement is announced: the access point sends only when the station has said,
    /// by a `QoS` Null frame at the begin of a service period or by its own data, that it is
    /// awake.
    pub announced: bool,
    /// Whether the agreement is trigger-enabled: in its service periods the station sends in answer
    /// to Trigger frames only. With uplink OFDMA.
    pub triggered: bool,
}

/// The unit of the wake duration (802.11ax-2021 clause 9.4.2.199).
const UNIT: Duration = Duration::from_micros(256);

/// A service period is a number of units, and ends before the next one begins.
fn fits(twt: &TwtSettings, at: &Path, faults: &mut Faults) {
    let TwtSettings { interval, duration, .. } = *twt;
    let ms = |time: Duration| number(time.0 as f64 * 1e-6);
    if !duration.0.is_multiple_of(UNIT.0) {
        let below = UNIT * (duration / UNIT);
        let message = Said::new(
            format!("{} is not a multiple of 0.256 ms [802.11ax-2021 9.4.2.199]", ms(duration)),
            format!("the nearest are {} and {}", ms(below), ms(below + UNIT)),
        );
        faults.fault(at.key("duration_ms"), message);
    }
    if duration >= interval {
        let message = Said::new(
            format!("{} is not less than interval_ms, {}", ms(duration), ms(interval)),
            "take less, or a longer interval",
        );
        faults.fault(at.key("duration_ms"), message);
    }
    if twt.announced && twt.triggered {
        let message = Said::new(
            "announced agreements with Trigger frames are not modelled",
            "remove announced or triggered",
        );
        faults.fault(at.key("announced"), message);
    }
}

/// When a station is awake by its agreement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServicePeriods {
    /// The begin of the first one.
    pub offset: Duration,
    /// From the begin of each to that of the next.
    pub interval: Duration,
    /// How long each lasts.
    pub duration: Duration,
    /// Whether the station announces that it is awake.
    pub announced: bool,
    /// Whether it sends in answer to Trigger frames only.
    pub triggered: bool,
}

impl ServicePeriods {
    /// When the last one began, if any has.
    pub fn last_begin(&self, now: Instant) -> Option<Instant> {
        let since = now.0.checked_sub(self.offset.0)?;
        Some(Instant(now.0 - since % self.interval.0))
    }

    /// When the next one begins, later than now.
    pub fn next_begin(&self, now: Instant) -> Instant {
        let first = Instant::ZERO + self.offset;
        self.last_begin(now).map_or(first, |last| last + self.interval)
    }
}

impl PowerSaveMode for TwtSettings {
    fn rules(&self) -> PowerSave {
        let TwtSettings { offset, interval, duration, announced, triggered } = *self;
        let periods = ServicePeriods { offset, interval, duration, announced, triggered };
        PowerSave { fetch: Fetch::Scheduled(periods), listening: Listening::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_periods_begin_at_equal_intervals() {
        let ms = Duration::from_millis;
        let periods = ServicePeriods {
            offset: ms(5),
            interval: ms(100),
            duration: ms(10),
            announced: false,
            triggered: false,
        };
        let at = |time: u64| Instant::ZERO + ms(time);
        assert_eq!(periods.last_begin(at(4)), None);
        assert_eq!(periods.last_begin(at(5)), Some(at(5)));
        assert_eq!(periods.last_begin(at(104)), Some(at(5)));
        assert_eq!(
            [0, 5, 104, 105].map(|now| periods.next_begin(at(now))),
            [at(5), at(105), at(105), at(205)]
        );
    }
}
