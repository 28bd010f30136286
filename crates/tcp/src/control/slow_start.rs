//! Slow start (RFC 5681 §3.1, RFC 3465), with or without `HyStart++`.

use super::first_hystart::FirstHyStart;
use super::hystart::{Advice, HyStart, UNPACED_LIMIT};
use super::{Ack, Cause};
use crate::Config;
use settings::Choice;

/// What makes the window grow (byte counting or ACK counting).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// The data acknowledged (RFC 3465). In slow start at most `limit` segments per acknowledgement
    /// count, and one in the slow start after a timeout (§2.3). In congestion avoidance the window
    /// grows by one segment per acknowledged window (§2.1).
    Bytes {
        /// RFC 3465's L: at most 2; 1 is conservative.
        limit: u32,
    },
    /// The acknowledgements, whatever they cover: one segment each in slow start, 1/window each in
    /// congestion avoidance. This is the rule of ns-2.
    Acks,
    /// All data that is delivered, in any slow start, as in Linux (`tcp_slow_start`).
    All,
}

impl Counting {
    /// The way of counting for this connection.
    pub fn of(config: &Config) -> Self {
        match (config.byte_counting, config.linux()) {
            (false, _) => Self::Acks,
            (true, None) => Self::Bytes { limit: 2 },
            (true, Some(_)) => Self::All,
        }
    }
}

/// What ends the first slow start before a loss does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum HyStartRule {
    /// `HyStart++` (RFC 9406): a rise of the delay slows the growth down, and ends slow start if it
    /// lasts.
    #[default]
    PlusPlus,
    /// `HyStart` as first published (Ha and Rhee 2011) and as in Linux's and ns-3's CUBIC: a rise
    /// of the delay, or a long train of acknowledgements, ends slow start at once.
    First,
    /// The same as in Linux from 5.6 on (`hystart_update`): the delays of a round are compared from
    /// the ninth sample on, and a train may last up to half a millisecond longer.
    Linux,
}

/// The slow start threshold, and how the window grows below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlowStart {
    /// The threshold in segments.
    pub(super) threshold: f64,
    pub(super) counting: Counting,
    /// Whether this slow start follows a timeout (RFC 3465 §2.3).
    pub(super) after_timeout: bool,
    hystart: Option<HyStart>,
    first_hystart: Option<FirstHyStart>,
    /// RFC 9406's L: how many segments per acknowledgement count in the slow start of `HyStart++`.
    limit: f64,
}

impl SlowStart {
    pub(super) fn new(threshold: Option<kernel::Segments>) -> Self {
        Self {
            threshold: threshold.map_or(f64::INFINITY, |s| s.0),
            counting: Counting::Bytes { limit: 2 },
            after_timeout: false,
            hystart: None,
            first_hystart: None,
            limit: UNPACED_LIMIT,
        }
    }

    /// Lets `HyStart` end the first slow start, if the threshold is arbitrarily high. Where pacing
    /// prevents bursts, the growth per acknowledgement has no limit (RFC 9406 §4.3).
    pub(super) fn watched(&mut self, rule: HyStartRule, is_paced: bool) {
        let is_high = self.threshold.is_infinite();
        match rule {
            HyStartRule::PlusPlus => self.hystart = is_high.then(HyStart::default),
            HyStartRule::First => self.first_hystart = is_high.then(FirstHyStart::default),
            HyStartRule::Linux => self.first_hystart = is_high.then(FirstHyStart::of_linux),
        }
        self.limit = if is_paced { f64::INFINITY } else { UNPACED_LIMIT };
    }

    /// An acknowledgement in slow start with this window, where the window grows by another rule;
    /// returns whether the first `HyStart` ends slow start.
    pub(super) fn watch(&mut self, window: f64, ack: &Ack) -> bool {
        let ends = self.first_hystart.as_mut().is_some_and(|first| first.on_ack(ack, window));
        if ends {
            self.first_hystart = None;
        }
        ends
    }

    /// The window after an acknowledgement.
    pub(super) fn grow(&mut self, window: f64, ack: &Ack) -> f64 {
        let advice = self.hystart.as_mut().map(|hystart| hystart.on_ack(ack));
        let ends = self.first_hystart.as_mut().is_some_and(|first| first.on_ack(ack, window));
        if advice == Some(Advice::End) || ends {
            (self.hystart, self.first_hystart) = (None, None);
            self.threshold = window;
        }
        if !ack.may_grow {
            return window;
        }
        let (divisor, most) = match advice {
            Some(Advice::Grow(divisor)) => (divisor, Some(self.limit)),
            _ => (1.0, None),
        };
        let acked = ack.acked.0;
        let step = match self.counting {
            Counting::Acks => 1.0,
            Counting::All => ack.delivered.0,
            Counting::Bytes { .. } if self.after_timeout => acked.min(1.0),
            Counting::Bytes { limit } => acked.min(most.unwrap_or(f64::from(limit))),
        };
        (window + step / divisor).min(self.threshold.max(window))
    }

    /// Congestion: this slow start is over, and the next one is a normal one.
    pub(super) fn on_loss(&mut self, cause: Cause) {
        (self.hystart, self.first_hystart) = (None, None);
        self.after_timeout = cause == Cause::Timeout;
    }
}
