//! Checks the second data frame of a full-duplex exchange: what may overlap, and nothing else.

use super::rule::rule;
use super::timing::Times;
use kernel::{Bytes, Duration, Instant};
use wifi::mac::{
    BusyTone, DELIMITER, Exchange, ExchangeOutcome, FullDuplex, OwnFrame, RtsCts, Secondary, Step,
};
use wifi::phy::{Airtime, Mode, ModeClass};
use wifi::{ACCESS_POINT, MacConfig};
use wire::FrameKind;

/// The rules of a full-duplex cell.
#[derive(Debug)]
pub(super) struct Beside {
    settings: Option<FullDuplex>,
    model_header: Option<Duration>,
    /// Bytes of the MAC header of a data frame.
    header: Bytes,
}

impl Beside {
    pub(super) fn new(mac: &MacConfig) -> Self {
        let header = mac.data_header();
        Self { settings: mac.full_duplex, model_header: mac.timing.model_header, header }
    }

    /// A station sends to the access point, and the access point to another station; or if stations
    /// are full duplex, they send to each other.
    pub(super) fn on_both(
        &self,
        times: &Times,
        exchange: &Exchange,
        to: Option<u32>,
        mode: &Mode,
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
        let bidirectional = self.settings.is_some_and(|settings| settings.bidirectional);
        // An own data frame for a half-duplex station that sends is lost.
        let is_lost = secondary.outcome == ExchangeOutcome::Collision;
        let may_be = !is_mutual || bidirectional || is_lost;
        rule(now, may_be, "a secondary frame is for another station", detail);
        let Some(data) = exchange.data() else { return rule(now, false, "there is data", detail) };
        self.check_begin(times, exchange, data, mode, secondary);
        self.check_duration(now, times, secondary, is_mutual);
        self.check_tone(exchange, data, secondary);
        let is_answered = secondary.answer.is_some() == secondary.outcome.data_arrives();
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

    /// After RTS and CTS both data frames begin together. Without, the secondary one begins when
    /// the MAC header of the primary one is over, or has begun with it.
    fn check_begin(
        &self,
        times: &Times,
        exchange: &Exchange,
        data: &Step,
        mode: &Mode,
        secondary: &Secondary,
    ) {
        let now = exchange.start;
        let detail = || format!("{exchange:?} beside {secondary:?}");
        let start = secondary.data.start;
        let mut kinds = exchange.steps().map(|step| step.kind);
        let opened = kinds.next() == Some(FrameKind::Rts) && kinds.next() == Some(FrameKind::Cts);
        let optional = self.settings.is_some_and(|settings| settings.rts_cts == RtsCts::Optional);
        rule(now, opened || optional, "a secondary frame follows RTS and CTS", detail);
        if opened || secondary.own == OwnFrame::Data {
            let is_own = opened != (secondary.own == OwnFrame::Data);
            rule(now, is_own, "an own data frame begins without RTS and CTS", detail);
            let together = start == data.start;
            return rule(now, together, "both data frames begin at the same instant", detail);
        }
        let is_delimited = matches!(mode.class, ModeClass::Vht | ModeClass::He | ModeClass::Eht);
        let is_delimited = is_delimited || exchange.mpdus > 1;
        let header = self.header + if is_delimited { DELIMITER } else { Bytes::ZERO };
        let parts = if let Some(lasts) = self.model_header {
            lasts + Duration(header.bits() * 1_000_000_000 / mode.rate.0)
        } else {
            let parts = times.airtime(mode, header);
            parts.preamble + parts.header + parts.payload
        };
        let decoded = data.start + parts;
        // An RTS of its own may last longer.
        let is_late = secondary.own == OwnFrame::Rts && start > decoded;
        let in_time = (start == decoded || is_late) && start <= data.end();
        rule(now, in_time, "a secondary frame begins after the MAC header of the primary", detail);
    }

    /// A busy tone, if nodes send one, fills the time between the ends of the two data frames.
    fn check_tone(&self, exchange: &Exchange, data: &Step, secondary: &Secondary) {
        let ends = [(data.end(), exchange.sender), (secondary.data.end(), secondary.sender)];
        let ((start, sender), (end, _)) =
            (*ends.iter().min().expect("two"), ends.into_iter().max().expect("two"));
        let with_tone = self.settings.is_some_and(|settings| settings.busy_tone);
        let expected = (with_tone && start < end).then_some(BusyTone { sender, start, end });
        rule(
            exchange.start,
            secondary.tone == expected,
            "a busy tone fills the time of the longer data frame",
            || format!("{exchange:?} beside {secondary:?}"),
        );
    }

    /// An A-MPDU beside another frame keeps the TXOP limit of its access category.
    pub(super) fn check_limit(exchange: &Exchange, secondary: &Secondary, limit: Duration) {
        let lasts = secondary.data.airtime.total();
        let keeps = secondary.mpdus < 2 || limit == Duration::ZERO || lasts <= limit;
        rule(exchange.start, keeps, "an A-MPDU keeps the TXOP limit of its category", || {
            format!("{limit}: {exchange:?} beside {secondary:?}")
        });
    }

    /// When an exchange would end without a secondary frame.
    pub(super) fn own_end(exchange: &Exchange, secondary: Option<&Secondary>) -> Instant {
        let (Some(secondary), Some(data)) = (secondary, exchange.data()) else {
            return exchange.end;
        };
        let last = exchange.steps().last().map_or(exchange.end, Step::end);
        let delay = secondary.data.end().since(data.end());
        if last == data.end() { last } else { last - delay }
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
        let mcs = self.settings.and_then(|settings| settings.secondary_mcs);
        let is_high = secondary.mode.class.is_high();
        let is_request = secondary.mpdus == 0;
        // Without a third node nothing interferes.
        let rate = match () {
            () if is_mutual || is_request => true,
            () if secondary.own == OwnFrame::Data => {
                let is_collision = secondary.outcome == ExchangeOutcome::Collision;
                is_collision || given.is_none_or(|rate| rate >= own)
            }
            () if is_high => mcs.is_none_or(|mcs| mcs == u32::from(secondary.mode.mcs)),
            () => given.is_none_or(|rate| rate == own),
        };
        rule(now, rate, "a secondary frame has the given rate", || format!("{secondary:?}"));
        let lasts = secondary.data.airtime.total();
        let standard_mode = if is_high { Some(secondary.mode) } else { times.standard_mode(own) };
        let expected = match (self.model_header.filter(|_| !is_request), standard_mode) {
            (Some(header), _) => header + Duration(secondary.psdu.bits() * 1_000_000_000 / own.0),
            (None, Some(mode)) => Airtime::total(&times.airtime(&mode, secondary.psdu)),
            (None, None) => Duration::ZERO,
        };
        rule(now, lasts == expected, "a secondary frame lasts as long as its bytes take", || {
            format!("{expected}: {secondary:?}")
        });
    }
}
