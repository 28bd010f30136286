//! Checks the second data frame of a full-duplex exchange: what may overlap, and nothing else.

use super::rule::rule;
use super::timing::Times;
use kernel::{Duration, Instant};
use wifi::ACCESS_POINT;
use wifi::mac::{Exchange, ExchangeOutcome, FullDuplex, Secondary, Step, Timing};
use wifi::phy::Airtime;
use wire::FrameKind;

/// The rules of a full-duplex cell.
#[derive(Debug)]
pub(super) struct Beside {
    settings: Option<FullDuplex>,
    model_header: Option<Duration>,
}

impl Beside {
    pub(super) fn new(settings: Option<FullDuplex>, timing: &Timing) -> Self {
        Self { settings, model_header: timing.model_header }
    }

    /// A station sends to the access point, and the access point to another station; or if stations
    /// are full duplex, they send to each other.
    pub(super) fn on_both(
        &self,
        times: &Times,
        exchange: &Exchange,
        to: Option<u32>,
        secondary: &Secondary,
    ) {
        let now = exchange.start;
        let detail = || format!("{exchange:?} beside {secondary:?}");
        let is_allowed = self.settings.is_some();
        rule(now, is_allowed, "only a full-duplex access point sends while it receives", detail);
        let answers = to == Some(secondary.sender) && secondary.sender != exchange.sender;
        rule(now, answers, "the receiver of the primary frame sends the secondary one", detail);
        let of_cell = |from, to| (from == ACCESS_POINT) != (to == ACCESS_POINT);
        let between = of_cell(exchange.sender, secondary.sender)
            && of_cell(secondary.sender, secondary.receiver);
        rule(now, between, "frames are from or to the access point", detail);
        let is_mutual = secondary.receiver == exchange.sender;
        let may_be = !is_mutual || self.settings.is_some_and(|settings| settings.bidirectional);
        rule(now, may_be, "a secondary frame is for another station", detail);
        let mut kinds = exchange.steps().map(|step| step.kind);
        let opened = kinds.next() == Some(FrameKind::Rts) && kinds.next() == Some(FrameKind::Cts);
        rule(now, opened, "a secondary frame follows RTS and CTS", detail);
        let Some(data) = exchange.data() else { return rule(now, false, "there is data", detail) };
        let together = secondary.data.start == data.start;
        rule(now, together, "both data frames begin at the same instant", detail);
        self.check_duration(now, times, secondary, is_mutual);
        let sent = |outcome| outcome != ExchangeOutcome::DataLost;
        let is_answered = secondary.answer.is_some() == sent(secondary.outcome);
        rule(now, is_answered, "a response follows a data frame that arrives", detail);
        let start = data.end().max(secondary.data.end()) + times.sifs();
        let own = exchange.steps().filter(|step| step.start > data.start);
        let mut responses = own.chain(&secondary.answer);
        rule(
            now,
            responses.all(|step| step.start == start),
            "both responses begin together",
            detail,
        );
    }

    /// When the last frame of the exchange ends.
    pub(super) fn over(exchange: &Exchange, secondary: &Secondary) -> Instant {
        let frames = exchange.steps().chain([&secondary.data]).chain(&secondary.answer);
        frames.map(Step::end).max().unwrap_or(exchange.end)
    }

    /// A secondary frame lasts as long as its bytes at its rate.
    fn check_duration(&self, now: Instant, times: &Times, secondary: &Secondary, is_mutual: bool) {
        let given = self.settings.and_then(|settings| settings.secondary_rate);
        let own = secondary.mode.rate;
        // Without a third node nothing interferes.
        let rate = is_mutual || given.is_none_or(|rate| rate == own);
        rule(now, rate, "a secondary frame has the given rate", || format!("{secondary:?}"));
        let lasts = secondary.data.airtime.total();
        let expected = match (self.model_header, times.standard_mode(own)) {
            (Some(header), _) => header + Duration(secondary.psdu.bits() * 1_000_000_000 / own.0),
            (None, Some(mode)) => Airtime::total(&times.airtime(&mode, secondary.psdu)),
            (None, None) => Duration::ZERO,
        };
        rule(now, lasts == expected, "a secondary frame lasts as long as its bytes take", || {
            format!("{expected}: {secondary:?}")
        });
    }
}
