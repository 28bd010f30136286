//! Checks frame exchanges in a cell in which every node hears every other: their order and their
//! durations.

use super::blocks::{Blocks, DataPsdu};
use super::duplex::Beside;
use super::earlier::Known;
use super::group;
use super::opening::{self, Opened};
use super::random_access;
use super::rule::rule;
use super::timing::Times;
use super::triggered;
use kernel::{Bytes, Duration, Instant};
use wifi::mac::{Exchange, ExchangeOutcome, MuExchange, Secondary, TriggerKind, TriggeredExchange};
use wifi::phy::{Mode, ModeClass};
use wifi::{ACCESS_POINT, Cell, MacConfig};
use wire::FrameKind;

/// The records of the exchanges of a cell.
#[derive(Debug)]
pub(super) struct Turns {
    mac: MacConfig,
    times: Times,
    nodes: u32,
    busy_until: Instant,
    /// The node and access category that obtained the medium, and when, if its exchange succeeded.
    won: Option<(u32, u8, Instant)>,
    blocks: Blocks,
    beside: Beside,
    known: Known,
    timers: triggered::Timers,
    random: random_access::Backoffs,
}

/// A secondary frame, its MPDUs and its mode.
type BesideFrame = (Secondary, Vec<(u16, Bytes)>, Mode);

impl Turns {
    pub(super) fn new(mac: MacConfig, nodes: u32) -> Self {
        let beside = Beside::new(&mac);
        let reordering = mac.full_duplex.map_or(Vec::new(), |_| vec![ACCESS_POINT]);
        let blocks = Blocks::new(mac.aggregation, reordering, Known::of(&mac));
        let times = Times::of(&mac.timing);
        Self {
            known: Known::of(&mac),
            mac,
            times,
            nodes,
            busy_until: Instant::ZERO,
            won: None,
            blocks,
            beside,
            timers: triggered::Timers::default(),
            random: random_access::Backoffs::default(),
        }
    }

    /// An exchange or a collision begins.
    pub(super) fn on_began(&mut self, cell: &Cell) {
        let Some(exchange) = cell.exchange() else { return };
        if let Some(group) = cell.group() {
            return self.on_group(exchange, group, cell);
        }
        if let Some(triggered) = cell.triggered() {
            return self.on_triggered(exchange, triggered, cell);
        }
        let mpdus = cell.frames_on_air().map(|frame| (frame.sequence, frame.bytes)).collect();
        let (category, to) = (cell.category_on_air(), cell.receiver_of(exchange.sender));
        let beside = cell.secondary().map(|secondary| {
            let frame = cell.secondary_on_air().map(|frame| (frame.sequence, frame.bytes));
            let mode = *cell.mode(exchange.sender, secondary.sender);
            (*secondary, frame.collect(), mode)
        });
        if let Some(to) = to.filter(|_| exchange.mpdus > 0) {
            let class = cell.mode(exchange.sender, to).class;
            self.known.check_format(exchange.start, exchange.sender, Some(to), class);
        }
        self.on_exchange(exchange, category, to, mpdus, beside);
    }

    /// The access point sends to several stations at once.
    fn on_group(&mut self, exchange: &Exchange, group: &MuExchange, cell: &Cell) {
        let now = exchange.start;
        group::check(&self.mac, &self.times, exchange, group);
        self.known.check_users(now, group.users.iter().map(|user| user.station));
        let first = exchange.data().map_or(now, |data| data.start);
        self.check_opening(exchange, first, group.users.len());
        self.check_start(exchange, exchange.end, cell.category_on_air(), 2);
        let lasting = group.fields.total();
        for user in &group.users {
            let frames = cell.frames_to(user).map(|frame| (frame.sequence, frame.bytes));
            let (from, to, bytes) = (exchange.sender, Some(user.station), user.on_air);
            let (function, mpdus) = (group.category, frames.collect());
            self.blocks.on_psdu(now, &DataPsdu { from, function, to, bytes, lasting, mpdus });
        }
        self.busy_until = exchange.end;
    }

    /// The access point triggers stations.
    fn on_triggered(&mut self, exchange: &Exchange, triggered: &TriggeredExchange, cell: &Cell) {
        let now = exchange.start;
        triggered::check(&self.mac, &self.times, exchange, triggered);
        self.known.check_users(now, triggered.users.iter().map(|user| user.station));
        if triggered.kind == TriggerKind::Basic {
            let asked = triggered::asked(triggered).count();
            self.check_opening(exchange, triggered.trigger.start, asked);
        }
        let known = &self.known;
        let waits = |station| !cell.is_free(station) && known.knows(station, ModeClass::He);
        self.random.on_triggered(&self.mac, triggered, self.nodes, waits);
        self.timers.on_triggered(&self.mac, exchange, triggered);
        let category = cell.category_on_air();
        self.check_start(exchange, exchange.end, category, 0);
        if triggered.kind == TriggerKind::Bsrp && exchange.outcome == ExchangeOutcome::Success {
            // A Basic Trigger frame may follow without a limit, too.
            let since = self.won.map_or(now, |(_, _, since)| since);
            self.won = category.map(|category| (exchange.sender, category, since));
        }
        let lasting = triggered.airtime().total();
        for user in triggered.users.iter().filter(|user| user.mpdus() > 0) {
            let frames = cell.frames_of(user).map(|frame| (frame.sequence, frame.bytes));
            let (from, to, bytes) = (user.station, Some(ACCESS_POINT), user.on_air);
            let (function, mpdus) = (user.category, frames.collect());
            self.blocks.on_psdu(now, &DataPsdu { from, function, to, bytes, lasting, mpdus });
        }
        self.busy_until = exchange.end;
    }

    /// An MU-RTS and its CTSs precede the first frame, if they are to and it begins an access.
    fn check_opening(&self, exchange: &Exchange, first: Instant, stations: usize) {
        let goes_on = exchange.start == self.busy_until + self.times.sifs();
        opening::check(&self.mac, &self.times, exchange, &Opened { first, stations, goes_on });
    }

    fn on_exchange(
        &mut self,
        exchange: &Exchange,
        category: Option<u8>,
        to: Option<u32>,
        mpdus: Vec<(u16, Bytes)>,
        beside: Option<BesideFrame>,
    ) {
        let now = exchange.start;
        let exists = exchange.sender < self.nodes;
        rule(now, exists, "a sender is a node of the cell", || format!("{exchange:?}"));
        let secondary = beside.as_ref().map(|(secondary, ..)| secondary);
        if let Some(category) = category {
            self.timers.on_win(now, exchange.sender, category);
        }
        self.check_steps(exchange, secondary);
        if let Some((secondary, _, mode)) = &beside {
            self.beside.on_both(&self.times, exchange, to, mode, secondary);
        }
        let own_end = Beside::own_end(exchange, secondary);
        self.check_start(exchange, own_end, category, mpdus.len());
        let data = exchange.data().filter(|data| data.kind == FrameKind::Data);
        if let (Some(data), Some(function)) = (data, category) {
            let (from, bytes, lasting) = (exchange.sender, exchange.psdu, data.airtime.total());
            self.blocks.on_psdu(now, &DataPsdu { from, function, to, bytes, lasting, mpdus });
        }
        if let Some((secondary, mpdus, _)) = beside {
            let (to, lasting) = (Some(secondary.receiver), secondary.data.airtime.total());
            let (from, bytes, function) = (secondary.sender, secondary.psdu, secondary.category);
            let psdu = DataPsdu { from, function, to, bytes, lasting, mpdus };
            if secondary.mpdus > 0 {
                self.blocks.on_psdu(now, &psdu);
            }
            let (_, limit) = self.parameters(from, Some(function));
            Beside::check_limit(exchange, &secondary, limit);
            // A TXOP ends with an exchange of two frames.
            self.won = None;
        }
        self.busy_until = exchange.end;
    }

    /// The frames of an exchange follow each other a SIFS apart. The response waits for the end of
    /// a secondary frame.
    fn check_steps(&self, exchange: &Exchange, secondary: Option<&Secondary>) {
        let now = exchange.start;
        let sifs = self.times.sifs();
        let mut at = now;
        for step in exchange.steps() {
            rule(now, step.start == at, "frames of an exchange are a SIFS apart", || {
                format!("{:?} begins at {}, not {at}", step.kind, step.start)
            });
            let is_data = matches!(step.kind, FrameKind::Data | FrameKind::BlockAckRequest);
            let beside = secondary.filter(|_| is_data);
            at = beside.map_or(step.end(), |other| step.end().max(other.data.end())) + sifs;
        }
        let last = match secondary {
            Some(secondary) => Beside::over(exchange, secondary),
            None => exchange.steps().last().map_or(exchange.end, wifi::mac::Step::end),
        };
        rule(now, last == exchange.end, "an exchange ends with its last frame", || {
            format!("{exchange:?}")
        });
    }

    /// An exchange begins within a TXOP, or at least an interframe space after the previous one.
    /// `own_end` is when it would end without a secondary frame.
    /// The access categories of a collision are not known.
    fn check_start(
        &mut self,
        exchange: &Exchange,
        own_end: Instant,
        category: Option<u8>,
        mpdus: usize,
    ) {
        let (now, free, times) = (exchange.start, self.busy_until, &self.times);
        rule(now, now >= free, "one transmission per radio", || format!("{now} before {free}"));
        let (aifsn, limit) = self.parameters(exchange.sender, category);
        let goes_on = self.won.filter(|&(sender, of, _)| {
            now == free + times.sifs() && (sender, Some(of)) == (exchange.sender, category)
        });
        let since = if let Some((_, _, since)) = goes_on {
            let unlimited = limit == Duration::ZERO;
            let keeps = if unlimited { mpdus == 0 } else { own_end <= since + limit };
            rule(now, keeps, "a TXOP keeps its limit", || {
                format!("won at {since}, {limit} long: {exchange:?}")
            });
            since
        } else {
            let first = free == Instant::ZERO;
            let space = times.aifs(aifsn);
            rule(now, first || now >= free + space, "access waits for an interframe space", || {
                format!("{now}, busy until {free}: {exchange:?}")
            });
            let over = limit > Duration::ZERO && own_end > now + limit;
            rule(
                now,
                mpdus < 2 || !over,
                "only a single frame may be longer than its TXOP",
                || format!("{mpdus} frames, {limit}: {exchange:?}"),
            );
            now
        };
        let lasts = exchange.outcome == ExchangeOutcome::Success && limit > Duration::ZERO;
        self.won = category.filter(|_| lasts).map(|category| (exchange.sender, category, since));
    }

    /// The AIFSN, or the smallest if the access category is not known, and the TXOP limit.
    fn parameters(&self, sender: u32, category: Option<u8>) -> (u32, Duration) {
        let Some(edca) = &self.mac.edca else { return (2, Duration::ZERO) };
        let all = if sender == ACCESS_POINT { &edca.access_point } else { &edca.stations };
        if let Some(category) = category {
            let own = &all[usize::from(category)];
            return (own.aifsn, own.txop_limit);
        }
        let least = edca.access_point.iter().chain(&edca.stations).map(|own| own.aifsn).min();
        (least.unwrap_or(0), Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use kernel::Seed;
    use wifi::{Command, Link, NoMsduSource};
    use wire::{Body, Datagram, FlowId, NodeId, Packet};

    /// Best effort has an AIFS of SIFS and 2 slots of 9 µs, and a TXOP limit of 320 µs.
    const QOS: &str = "wlan.qos = true\nwlan.edca.best_effort = \
                       { aifsn = 2, txop_limit_us = 320 }\n";

    /// A cell of one station whose exchange has just begun.
    fn begun(keys: &str) -> (Turns, Exchange, Option<u8>) {
        begun_with(keys, |_| {})
    }

    /// The same in a network that was modified.
    fn begun_with(keys: &str, alter: impl Fn(&mut MacConfig)) -> (Turns, Exchange, Option<u8>) {
        let begin = "standard = '11a'\nstations = 1\nwlan.rate_mbps = 24\n";
        let flow = "[[flows]]\nfrom = 'sta0'\nto = 'ap'\n";
        let plan = Scenario::parse(&format!("{begin}{keys}{flow}")).expect("a scenario");
        let plan = plan.resolve().expect("a plan");
        let mut mac = plan.wlan.clone();
        alter(&mut mac);
        let mode = plan.stations[0].up.mode();
        let link = Link { mode, data_loss: 0.0, ack_loss: 0.0 };
        let mut cell = Cell::new(mac.clone(), vec![link], &Seed { root: 1, replication: 0 });
        let (flow, number, len) = (FlowId(0), 0, 500);
        let packet = Packet::new(
            NodeId(1),
            Some(NodeId(0)),
            Bytes(528),
            Instant::ZERO,
            Body::Datagram(Datagram { flow, number, len, stream: 0 }),
        );
        let mut out = Vec::new();
        cell.on_packet(Instant(1_000_000), 1, &packet, Some(0), &mut out);
        let Some(Command::Access(ticket)) = out.pop() else { panic!("no access: {out:?}") };
        cell.on_access(ticket.at, ticket.generation, &mut NoMsduSource, &mut out);
        let exchange = *cell.exchange().expect("an exchange");
        (Turns::new(mac, 2), exchange, cell.category_on_air())
    }

    /// Passes a modified exchange with this many frames to the checker.
    fn show(keys: &str, mpdus: u16, change: impl Fn(&mut Turns, &mut Exchange)) {
        let (mut turns, mut exchange, category) = begun(keys);
        change(&mut turns, &mut exchange);
        let mpdus = (0..mpdus).map(|number| (number, Bytes(10))).collect();
        turns.on_exchange(&exchange, category, Some(0), mpdus, None);
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        show("", 1, |turns, x| turns.busy_until = Instant(x.start.0 - 34_000));
        show(QOS, 1, |turns, x| turns.busy_until = Instant(x.start.0 - 34_000));
        show(QOS, 1, |turns, x| {
            turns.busy_until = Instant(x.start.0 - 16_000);
            turns.won = Some((1, 1, Instant(x.end.0 - 320_000)));
        });
    }

    #[test]
    #[should_panic(expected = "a sender is a node of the cell")]
    fn an_unknown_sender_is_found() {
        show("", 1, |_, exchange| exchange.sender = 2);
    }

    #[test]
    #[should_panic(expected = "frames of an exchange are a SIFS apart")]
    fn a_network_with_a_wrong_sifs_is_found() {
        let (mut turns, exchange, category) = begun_with("", |mac| {
            let mut wrong = *mac.timing.standard;
            wrong.sifs = Duration::from_micros(15);
            mac.timing.standard = Box::leak(Box::new(wrong));
        });
        turns.on_exchange(&exchange, category, Some(0), vec![(0, Bytes(10))], None);
    }

    #[test]
    #[should_panic(expected = "an exchange ends with its last frame")]
    fn an_exchange_that_ends_late_is_found() {
        show("", 1, |_, exchange| exchange.end.0 += 1);
    }

    #[test]
    #[should_panic(expected = "one transmission per radio")]
    fn two_exchanges_at_once_are_found() {
        show("", 1, |turns, exchange| turns.busy_until = Instant(exchange.start.0 + 1));
    }

    #[test]
    #[should_panic(expected = "access waits for an interframe space")]
    fn access_a_nanosecond_early_is_found() {
        show("", 1, |turns, x| turns.busy_until = Instant(x.start.0 - 33_999));
    }

    #[test]
    #[should_panic(expected = "access waits for an interframe space")]
    fn who_goes_on_without_a_txop_is_found() {
        show(QOS, 1, |turns, x| {
            turns.busy_until = Instant(x.start.0 - 16_000);
            turns.won = Some((0, 1, Instant(x.end.0 - 320_000)));
        });
    }

    #[test]
    #[should_panic(expected = "a TXOP keeps its limit")]
    fn a_txop_that_is_too_long_is_found() {
        show(QOS, 1, |turns, x| {
            turns.busy_until = Instant(x.start.0 - 16_000);
            turns.won = Some((1, 1, Instant(x.end.0 - 320_001)));
        });
    }

    #[test]
    #[should_panic(expected = "only a single frame may be longer than its TXOP")]
    fn an_aggregate_that_is_too_long_is_found() {
        let short = QOS.replace("320", "32");
        show(&short, 2, |_, _| {});
    }

    #[test]
    #[should_panic(expected = "an A-MPDU has no more frames than it may")]
    fn an_aggregate_where_there_are_none_is_found() {
        show("", 2, |_, _| {});
    }
}
