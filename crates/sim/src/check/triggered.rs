//! Checks exchanges that a Trigger frame begins.

use super::group::check_units;
use super::rule::rule;
use super::timing::Times;
use kernel::{Bytes, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};
use wifi::mac::{
    Exchange, MuEdcaCategory, Step, TriggerKind, TriggeredExchange, TriggeredResponse,
    TriggeredUser, multi_sta_block_ack,
};
use wifi::phy::he::{GroupFormat, GroupUser, GroupVector, HeFormat};
use wifi::phy::{AccessCategory, Guard};
use wifi::{ACCESS_POINT, MacConfig};

/// The Trigger frame, the answers and their acknowledgement keep the rules.
pub(super) fn check(
    mac: &MacConfig,
    times: &Times,
    exchange: &Exchange,
    triggered: &TriggeredExchange,
) {
    check_trigger(mac, exchange.start, exchange.sender == ACCESS_POINT, triggered);
    check_answers(mac, exchange.start, triggered);
    check_order(mac, times, exchange, triggered);
}

/// A Trigger frame of the access point asks stations once, in resource units that do not overlap,
/// and gives them time to prepare.
pub(super) fn check_trigger(
    mac: &MacConfig,
    now: Instant,
    is_own: bool,
    triggered: &TriggeredExchange,
) {
    let detail = || format!("{triggered:?}");
    let uplink = mac.mu.as_ref().and_then(|mu| mu.uplink.as_ref());
    let Some(uplink) = uplink else {
        return rule(now, false, "only with uplink OFDMA there are Trigger frames", detail);
    };
    rule(now, is_own, "the access point triggers", detail);
    let units: Vec<_> =
        triggered.units().map(|unit| (unit[0].ru, unit[0].mode.channel())).collect();
    check_units(now, &units);
    let asked: Vec<u32> = asked(triggered).map(|user| user.station).collect();
    let is_once = asked.iter().collect::<BTreeSet<_>>().len() == asked.len();
    rule(now, is_once, "a Trigger frame asks a station once", detail);
    // One User Info is for all RA-RUs.
    let infos = asked.len() + usize::from(asked.len() < units.len());
    let bare = triggered.kind.bytes(infos as u64);
    let padding = Bytes(triggered.trigger_bytes.0.saturating_sub(bare.0));
    let rate = triggered.trigger.airtime.payload.0 as f64 / triggered.trigger_bytes.bits() as f64;
    let prepared = Duration((rate * padding.bits() as f64).ceil() as u64);
    // In whole symbols, of which SERVICE and tail have a part.
    let needed = uplink.trigger_padding.lasts().saturating_sub(Duration::from_micros(4));
    rule(now, prepared >= needed, "stations have time to prepare", detail);
}

/// Those whom a Trigger frame asks.
pub(super) fn asked(triggered: &TriggeredExchange) -> impl Iterator<Item = &TriggeredUser> {
    triggered.users.iter().filter(|user| !user.is_random)
}

/// All answers last equally long, as the Trigger frame says, and fit.
pub(super) fn check_answers(mac: &MacConfig, now: Instant, triggered: &TriggeredExchange) {
    let detail = || format!("{triggered:?}");
    let Some(mu) = &mac.mu else { return };
    let Some(first) = triggered.users.first() else {
        return rule(now, false, "a Trigger frame asks somebody", detail);
    };
    let is_long = first.mode.guard == Guard::Ns3200;
    let vector = GroupVector {
        format: GroupFormat::Tb,
        guard: if is_long { Guard::Ns3200 } else { Guard::Ns1600 },
        ltf: None,
        ..mu.vector(mac.timing.standard.band, &first.mode, 0)
    };
    let user = |user: &TriggeredUser| GroupUser {
        size: user.ru.size,
        mcs: user.mcs,
        streams: user.mode.streams,
        coding: mu.coding,
        psdu: user.room,
    };
    let users: Vec<GroupUser> = triggered.units().map(|unit| user(&unit[0])).collect();
    let same = vector.ppdu(&users).is_ok_and(|whole| {
        let own = &triggered.fields;
        whole.fields.preamble() == own.preamble() && whole.fields.data == own.data
    });
    rule(now, same, "answers last as long as the Trigger frame says", detail);
    for user in &triggered.users {
        let fits = match user.response {
            TriggeredResponse::Nothing => user.on_air == Bytes::ZERO && !user.arrives(),
            _ => user.on_air <= user.room,
        };
        rule(now, fits, "an answer fits into its resource unit", detail);
        let is_basic = triggered.kind == TriggerKind::Basic;
        let without = user.response == TriggeredResponse::Null;
        rule(
            now,
            is_basic || without || !user.sends(),
            "only a Basic Trigger asks for data",
            detail,
        );
    }
}

/// A SIFS is between the Trigger frame, the answers and their acknowledgement, which waits for the
/// end that L-SIG announces.
fn check_order(mac: &MacConfig, times: &Times, exchange: &Exchange, triggered: &TriggeredExchange) {
    let now = exchange.start;
    let detail = || format!("{exchange:?}: {triggered:?}");
    let (trigger, sifs) = (&triggered.trigger, times.sifs());
    let any = triggered.users.iter().any(|user| user.response != TriggeredResponse::Nothing);
    let answers = any.then(|| trigger.end() + sifs);
    rule(now, triggered.answers == answers, "answers begin a SIFS after the Trigger frame", detail);
    let told = triggered.users.iter().filter(|user| user.is_acknowledged());
    let bits: Vec<u16> = told.map(|user| bitmap(mac, user)).collect();
    let Some(start) = answers else {
        let quiet = triggered.ack.is_none() && exchange.end == trigger.end();
        return rule(now, quiet, "without answers nothing follows", detail);
    };
    let lasts = triggered.fields.total();
    let band = mac.timing.standard.band;
    let told = HeFormat::Tb.announced(HeFormat::Tb.length(lasts, band), band);
    let is_ns3 = mac.mu.as_ref().is_some_and(|mu| mu.timing == wifi::phy::PpduTiming::Ns3);
    let over = start + if is_ns3 { lasts } else { told };
    rule(now, start + triggered.announced == over, "UL Length is in steps of 4 us", detail);
    let acknowledged = triggered.ack.is_some() != bits.is_empty();
    rule(now, acknowledged, "who sends data is acknowledged", detail);
    let end = triggered.ack.as_ref().map_or(over, |(ack, _)| Step::end(ack));
    if let Some((ack, bytes)) = &triggered.ack {
        rule(now, ack.start == over + sifs, "a BlockAck follows a SIFS after the answers", detail);
        let size = multi_sta_block_ack(bits);
        rule(now, *bytes == size, "a Multi-STA BlockAck has a bitmap for each A-MPDU", detail);
    }
    rule(now, exchange.end == end, "an exchange ends with its last frame", detail);
}

/// The bits of the bitmap that acknowledges what a station has sent.
pub(super) fn bitmap(mac: &MacConfig, user: &TriggeredUser) -> u16 {
    let window = mac.aggregation.map_or(64, |limits| limits.window);
    match user.mpdus() {
        1 => 0,
        _ if window <= 64 => 64,
        _ => 256,
    }
}

/// The MU EDCA timers of categories of stations: until when they contend by other parameters, or
/// not at all (clause 26.2.7).
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeMap<(u32, u8), (Instant, MuEdcaCategory)>);

impl Timers {
    /// Who hears the acknowledgement of data that a Basic Trigger frame asked for starts a timer.
    pub(super) fn on_triggered(
        &mut self,
        mac: &MacConfig,
        exchange: &Exchange,
        triggered: &TriggeredExchange,
    ) {
        let told = triggered.users.iter().filter(|user| user.is_told());
        told.for_each(|user| self.on_told(mac, exchange.end, triggered.kind, user));
    }

    /// The same of one of them, which hears it now.
    pub(super) fn on_told(
        &mut self,
        mac: &MacConfig,
        now: Instant,
        kind: TriggerKind,
        user: &TriggeredUser,
    ) {
        let category = AccessCategory::ALL[usize::from(user.category)];
        let edca = mac.mu.as_ref().and_then(|mu| mu.edca.as_ref());
        let own = edca.and_then(|edca| edca.of(category));
        if let (Some(own), TriggerKind::Basic, 1..) = (own, kind, user.mpdus()) {
            let until = now + Duration::from_micros(8192) * u64::from(own.timer);
            self.0.insert((user.station, user.category), (until, *own));
        }
    }

    /// A station leaves its access point, and stops its timers.
    pub(super) fn on_left(&mut self, station: u32) {
        self.0.retain(|&(own, _), _| own != station);
    }

    /// By what parameters a category contends now, if its timer runs.
    pub(super) fn parameters(
        &self,
        now: Instant,
        station: u32,
        category: u8,
    ) -> Option<&MuEdcaCategory> {
        let (until, own) = self.0.get(&(station, category))?;
        (now < *until).then_some(own)
    }

    /// A node wins the medium with this category.
    pub(super) fn on_win(&self, now: Instant, node: u32, category: u8) {
        let own = self.parameters(now, node, category);
        rule(now, own.is_none_or(|own| own.aifsn > 0), "a muted category does not contend", || {
            format!("node {node}, category {category}: {own:?}")
        });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use kernel::Seed;
    use wifi::mac::MuEdca;
    use wifi::phy::he::{Ru, RuSize};
    use wifi::{Cell, Command, Link};
    use wire::{Body, Datagram, FlowId, NodeId, Packet};

    fn packet(from: u32) -> Packet {
        let body = Body::Datagram(Datagram { flow: FlowId(0), number: 0, len: 1000, stream: 0 });
        Packet::new(NodeId(from), Some(NodeId(0)), Bytes(1028), Instant::ZERO, body)
    }

    /// Stations report more than they have, so that the access point triggers them.
    struct Endless;

    impl wifi::MsduSource for Endless {
        fn next(
            &mut self,
            node: u32,
            _: wire::TrafficClass,
            _: u32,
            most: Bytes,
        ) -> Option<Packet> {
            (node > 0 && most > Bytes(1100)).then(|| packet(node))
        }

        fn next_other(&mut self, _: u32, _: wire::TrafficClass, _: u32) -> Option<(Packet, u32)> {
            None
        }

        fn each(&self, node: u32, _: wire::TrafficClass, visit: &mut dyn FnMut(u32, &Packet)) {
            for _ in 0..if node > 0 { 5 } else { 0 } {
                visit(0, &packet(node));
            }
        }
    }

    fn both(triggered: &TriggeredExchange) -> bool {
        let all = triggered.users.iter().all(|user| user.mpdus() > 1);
        all && triggered.users.len() == 2
    }

    fn triggered() -> (MacConfig, Exchange, TriggeredExchange) {
        played("", both)
    }

    /// Plays a cell of two stations, with these keys of `wlan`, until its access point triggers
    /// them so.
    pub(in crate::check) fn played(
        keys: &str,
        is_it: impl Fn(&TriggeredExchange) -> bool,
    ) -> (MacConfig, Exchange, TriggeredExchange) {
        let text = format!(
            "standard = '11ax'\nstations = 2\n[wlan]\nmcs = 7\naggregation.frames = 4\n\
             mu.uplink.bsrp = false\nmu.uplink.access_interval_us = 100\n{keys}\
             [[flows]]\nfrom = 'sta*'\nto = 'ap'\n"
        );
        let plan = Scenario::parse(&text).expect("a scenario").resolve().expect("a plan");
        let link = Link { mode: plan.stations[0].up.mode(), data_loss: 0.0, ack_loss: 0.0 };
        let seed = Seed { root: 1, replication: 0 };
        let mut cell = Cell::new(plan.wlan.clone(), vec![link; 2], &seed);
        let mut out = Vec::new();
        for station in [1, 2] {
            cell.on_packet(Instant(1_000_000), station, &packet(station), Some(0), &mut out);
        }
        let (mut events, mut now) = (BTreeMap::new(), Instant(1_000_000));
        for number in 0_u32.. {
            let mut next = 0;
            while let Some(&command) = out.get(next) {
                next += 1;
                match command {
                    Command::Step(at) => drop(events.insert((at, number, next), None)),
                    Command::Access(ticket) => {
                        events.insert((ticket.at, number, next), Some(ticket.generation));
                    }
                    Command::Done { node, .. } if cell.is_free(node) => {
                        cell.on_packet(now, node, &packet(node), Some(0), &mut out);
                    }
                    _ => {}
                }
            }
            out.clear();
            let Some(((at, ..), event)) = events.pop_first() else { panic!("no trigger") };
            now = at;
            match event {
                None => cell.on_step(at, &mut Endless, &mut out),
                Some(generation) => cell.on_access(at, generation, &mut Endless, &mut out),
            }
            if let Some(triggered) = cell.triggered().filter(|it| is_it(it)) {
                return (plan.wlan.clone(), *cell.exchange().unwrap(), triggered.clone());
            }
        }
        unreachable!()
    }

    /// A triggered exchange is shown to the checker after a change.
    fn show(change: impl Fn(&mut MacConfig, &mut Exchange, &mut TriggeredExchange)) {
        let (mut mac, mut exchange, mut triggered) = triggered();
        change(&mut mac, &mut exchange, &mut triggered);
        check(&mac, &Times::of(&mac.timing), &exchange, &triggered);
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        show(|_, _, triggered| {
            assert!(triggered.users.iter().all(|user| user.mpdus() > 1 && user.arrives()));
        });
    }

    #[test]
    #[should_panic(expected = "only with uplink OFDMA there are Trigger frames")]
    fn a_trigger_without_uplink_is_found() {
        show(|mac, _, _| mac.mu.as_mut().unwrap().uplink = None);
    }

    #[test]
    #[should_panic(expected = "the access point triggers")]
    fn a_station_that_triggers_is_found() {
        show(|_, exchange, _| exchange.sender = 1);
    }

    #[test]
    #[should_panic(expected = "resource units do not overlap")]
    fn two_stations_on_one_resource_unit_are_found() {
        show(|_, _, triggered| triggered.users[1].ru = triggered.users[0].ru);
    }

    #[test]
    #[should_panic(expected = "resource units are in the channel")]
    fn a_resource_unit_beyond_the_channel_is_found() {
        let beyond = Ru { size: RuSize::Tones106, index: 2 };
        show(|_, _, triggered| triggered.users[1].ru = beyond);
    }

    #[test]
    #[should_panic(expected = "stations have time to prepare")]
    fn a_trigger_without_padding_is_found() {
        show(|_, _, triggered| triggered.trigger_bytes = triggered.kind.bytes(2));
    }

    #[test]
    #[should_panic(expected = "answers last as long as the Trigger frame says")]
    fn answers_that_end_early_are_found() {
        show(|_, _, triggered| triggered.fields.data -= Duration(14_400));
    }

    #[test]
    #[should_panic(expected = "an answer fits into its resource unit")]
    fn an_answer_that_is_too_long_is_found() {
        show(|_, _, triggered| triggered.users[0].on_air = triggered.users[0].room + Bytes(1));
    }

    #[test]
    #[should_panic(expected = "answers begin a SIFS after the Trigger frame")]
    fn answers_that_are_late_are_found() {
        show(|_, _, triggered| triggered.answers.as_mut().unwrap().0 += 1);
    }

    #[test]
    #[should_panic(expected = "UL Length is in steps of 4 us")]
    fn an_end_that_is_not_announced_is_found() {
        show(|_, _, triggered| triggered.announced += Duration(1));
    }

    #[test]
    #[should_panic(expected = "who sends data is acknowledged")]
    fn a_missing_block_ack_is_found() {
        show(|_, _, triggered| triggered.ack = None);
    }

    #[test]
    #[should_panic(expected = "a BlockAck follows a SIFS after the answers")]
    fn a_block_ack_that_is_late_is_found() {
        show(|_, _, triggered| triggered.ack.as_mut().unwrap().0.start.0 += 1);
    }

    #[test]
    #[should_panic(expected = "a Multi-STA BlockAck has a bitmap for each A-MPDU")]
    fn a_block_ack_of_one_station_is_found() {
        show(|_, _, triggered| triggered.ack.as_mut().unwrap().1 = Bytes(30));
    }

    #[test]
    #[should_panic(expected = "an exchange ends with its last frame")]
    fn an_exchange_that_ends_late_is_found() {
        show(|_, exchange, _| exchange.end.0 += 1);
    }

    /// A station that was triggered, under MU EDCA, begins an exchange so long afterwards.
    fn contends_after(us: u64) {
        contends(us, |_, _| {});
    }

    /// The same, after what happens to the station before.
    fn contends(us: u64, happens: impl Fn(&mut Timers, u32)) {
        let (mut mac, exchange, triggered) = triggered();
        let category = MuEdcaCategory { timer: 2, ..MuEdcaCategory::default() };
        let edca = MuEdca { best_effort: Some(category), ..MuEdca::default() };
        mac.mu.as_mut().unwrap().edca = Some(edca);
        let mut timers = Timers::default();
        timers.on_triggered(&mac, &exchange, &triggered);
        let start = exchange.end + Duration::from_micros(us);
        let user = &triggered.users[0];
        happens(&mut timers, user.station);
        timers.on_win(start, user.station, user.category);
    }

    #[test]
    fn a_timer_ends() {
        contends_after(2 * 8192);
    }

    #[test]
    fn a_timer_ends_with_the_association() {
        contends(1, Timers::on_left);
    }

    #[test]
    #[should_panic(expected = "a muted category does not contend")]
    fn a_timer_goes_on_when_another_station_leaves() {
        contends(1, |timers, station| timers.on_left(station + 1));
    }

    #[test]
    #[should_panic(expected = "a muted category does not contend")]
    fn a_station_that_contends_early_is_found() {
        contends_after(2 * 8192 - 1);
    }
}
