//! An access function: the DCF of a station (IEEE Std 802.11-2020, clause 10.3), or one of its four
//! EDCAFs (clause 10.23.2). The DCF is a function with an AIFSN of 2, no TXOP, and its own rules of
//! which slots count and of when a frame that finds the medium idle may go.

use crate::frame::Msdu;
use crate::timing::Times;
use crate::workload::Workload;
use kernel::{Duration, Instant, Rng};
use std::collections::VecDeque;
use wifi::mac::{BackoffDraw, Countdown, SlotGrid};
use wifi::phy::Edca;

/// Which slots a back-off counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    /// Those that end idle (clause 10.3.4.3).
    Ended,
    /// Those, and each busy period as one, as in Bianchi's chain.
    EndedOrBusy,
    /// Those that begin on an idle medium (clause 10.23.2.4).
    Begun,
}

pub(crate) struct Function {
    pub(crate) parameters: Edca,
    counting: Counting,
    draw: BackoffDraw,
    draws: Rng,
    /// First the one in service.
    pub(crate) queue: VecDeque<Msdu>,
    pub(crate) window: u32,
    pub(crate) short_retries: u32,
    pub(crate) long_retries: u32,
    /// Slots left of a back-off in progress. One of no slots lasts up to the next boundary.
    pub(crate) backoff: Option<u32>,
    /// The next slot boundary, on an idle medium.
    pub(crate) boundary: Option<Instant>,
    /// It has passed a boundary since the medium became idle and the back-off began.
    passed_boundary: bool,
    next_sequence: u16,
}

/// Up to when the medium may not be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hindrance {
    /// When AIFS begins.
    pub(crate) busy_until: Instant,
    /// Slots do not begin before this moment: the end of a timeout.
    pub(crate) not_before: Instant,
}

impl Function {
    /// The functions of a node, in the order of rising priority.
    pub(crate) fn all(workload: &Workload, node: u32) -> Vec<Self> {
        let config = &workload.config;
        let stream = |purpose, index| workload.seed.stream(purpose, index);
        let Some(edca) = &config.edca else {
            let (cw_min, cw_max) = (config.cw_min, config.cw_max);
            let dcf = Edca { cw_min, cw_max, aifsn: 2, txop_limit: Duration::ZERO };
            return vec![Self::new(workload, dcf, stream("mac.backoff", node))];
        };
        let all = if node == 0 { &edca.access_point } else { &edca.stations };
        let draws = |category| stream("mac.backoff.edca", node * 4 + category);
        let function = |(&edca, category)| Self::new(workload, edca, draws(category));
        all.iter().zip(0..).map(function).collect()
    }

    fn new(workload: &Workload, parameters: Edca, draws: Rng) -> Self {
        let config = &workload.config;
        let counting = match config.countdown {
            Countdown::Bianchi => Counting::EndedOrBusy,
            Countdown::Standard if config.edca.is_some() => Counting::Begun,
            Countdown::Standard | Countdown::IdleSlots => Counting::Ended,
        };
        Self {
            parameters,
            counting,
            draw: config.backoff_draw,
            draws,
            queue: VecDeque::new(),
            window: parameters.cw_min,
            short_retries: 0,
            long_retries: 0,
            backoff: None,
            boundary: None,
            passed_boundary: false,
            next_sequence: 0,
        }
    }

    /// Invokes the back-off procedure (clauses 10.3.4.3, 10.23.2.2).
    pub(crate) fn back_off(&mut self) {
        let most = match self.draw {
            BackoffDraw::Standard => self.window,
            BackoffDraw::Ns2 => self.window - 1,
        };
        self.backoff = Some(self.draws.up_to(most));
        (self.boundary, self.passed_boundary) = (None, false);
    }

    /// Computes the next slot boundary, if there is something to wait for: AIFS after the end of
    /// EIFS or NAV, and each slot after that.
    pub(crate) fn await_boundary(&mut self, now: Instant, times: &Times, hindrance: Hindrance) {
        let is_idle = self.backoff.is_none() && self.queue.is_empty();
        if is_idle || self.boundary.is_some() {
            return;
        }
        let Hindrance { busy_until, not_before } = hindrance;
        let mut at = busy_until + times.aifs(self.parameters.aifsn);
        if times.slot_grid == SlotGrid::Free {
            at = at.max(not_before);
        }
        // A frame that finds the medium idle goes at once if slots count in the end.
        let earliest = if self.counting == Counting::Begun { now } else { not_before };
        while at < earliest {
            at += times.slot;
        }
        self.boundary = Some(at.max(now));
    }

    /// What it does at a slot boundary; whether it would send (clauses 10.3.4.3, 10.23.2.4).
    pub(crate) fn pass_boundary(&mut self, slot: Duration) -> bool {
        let one_ended = std::mem::replace(&mut self.passed_boundary, true);
        let slots = self.backoff.unwrap_or(0);
        let (is_over, counts) = match self.counting {
            Counting::Begun => (slots == 0, true),
            Counting::Ended | Counting::EndedOrBusy => (slots <= u32::from(one_ended), one_ended),
        };
        if !is_over {
            self.backoff = Some(slots - u32::from(counts));
            self.boundary = self.boundary.map(|at| at + slot);
            return false;
        }
        // Without a frame that waits, this is the end of the back-off after a transmission.
        (self.backoff, self.boundary) = (None, None);
        !self.queue.is_empty()
    }

    /// The medium becomes busy, for the first time since it was idle for so long; by an exchange of
    /// its own, if `is_own`.
    pub(crate) fn freeze(&mut self, is_own: bool, idle: Duration, times: &Times) {
        self.boundary = None;
        // The frames of one exchange are a SIFS apart and one step of Bianchi's chain.
        if self.counting == Counting::EndedOrBusy && idle >= times.difs() {
            self.backoff = self.backoff.map(|slots| slots.saturating_sub(1));
        }
        let waits = !self.queue.is_empty() && !is_own;
        if !waits && self.backoff == Some(0) && self.passed_boundary {
            self.backoff = None;
        }
        // Clause 10.3.4.2: a frame that finds the medium busy waits for a back-off.
        if waits && self.backoff.is_none() {
            self.back_off();
        }
        self.passed_boundary = false;
    }

    /// The next MSDU comes into service and gets its sequence number.
    pub(crate) fn number(&mut self) {
        if let Some(msdu) = self.queue.front_mut() {
            msdu.aside = false;
            if std::mem::replace(&mut msdu.numbered, true) {
                return;
            }
            msdu.sequence = self.next_sequence;
            self.next_sequence = (self.next_sequence + 1) % 4096;
        }
    }

    /// After a success or at a retry limit the window is its smallest again.
    pub(crate) fn reset_window(&mut self) {
        self.window = self.parameters.cw_min;
        (self.short_retries, self.long_retries) = (0, 0);
    }
}
