//! Checks random access of uplink OFDMA: who sends in an RA-RU, and who does not.

use super::rule::rule;
use super::triggered::asked;
use super::units::TriggerSent;
use kernel::Instant;
use std::collections::{BTreeMap, BTreeSet};
use wifi::mac::{
    Contender, RandomAccess, RandomAccessTriggers, TriggerKind, TriggeredExchange,
    TriggeredResponse, TriggeredUser,
};
use wifi::{ACCESS_POINT, MacConfig};

/// What a station has, as far as Trigger frames and answers tell (802.11ax-2021 clause 26.5.4).
#[derive(Clone, Copy, Debug)]
struct Own {
    ocw: u32,
    /// `None` after a draw.
    obo: Option<u32>,
}

/// What all stations have.
#[derive(Debug, Default)]
pub(super) struct Backoffs {
    all: BTreeMap<u32, Own>,
    /// When stations that roam were last associated.
    since: BTreeMap<u32, Instant>,
}

impl Backoffs {
    /// Stations that are not asked and have something to send, as `waits` tells, count the RA-RUs
    /// of a Trigger frame. Those whose counters are not greater than their number send.
    pub(super) fn on_triggered(
        &mut self,
        mac: &MacConfig,
        triggered: &TriggeredExchange,
        nodes: u32,
        waits: impl Fn(u32) -> bool,
    ) {
        let now = triggered.trigger.start;
        let detail = || format!("{triggered:?}");
        let asked: BTreeSet<u32> = asked(triggered).map(|user| user.station).collect();
        let counts = |station| triggered.contenders.iter().any(|own| own.station == station);
        let has_units = triggered.units().any(|unit| unit[0].is_random);
        for station in (1..nodes).filter(|_| has_units) {
            let should = !asked.contains(&station) && waits(station);
            let message = "who has packets and is not asked counts RA-RUs, and nobody else";
            rule(now, should == counts(station), message, detail);
        }
        for unit in triggered.units().filter(|unit| unit[0].is_random) {
            check_unit(unit, now, &detail);
        }
        self.on_units(mac, triggered, ACCESS_POINT, None);
    }

    /// A station is associated with an access point: it begins anew.
    pub(super) fn on_associated(&mut self, now: Instant, station: u32) {
        self.all.remove(&station);
        self.since.insert(station, now);
    }

    /// What an access point among radios has triggered is over: stations that have heard the
    /// Trigger frame have counted its RA-RUs. Of several in one, the strongest may be received.
    pub(super) fn on_over(&mut self, mac: &MacConfig, own: &TriggerSent) {
        self.on_units(mac, &own.exchange, own.frame.from, Some(&own.told));
    }

    /// Among radios, those who are `told` have decoded the acknowledgement.
    fn on_units(
        &mut self,
        mac: &MacConfig,
        triggered: &TriggeredExchange,
        access_point: u32,
        told: Option<&BTreeSet<u32>>,
    ) {
        let now = triggered.trigger.start;
        let detail = || format!("{triggered:?}");
        let settings = mac.mu.as_ref().and_then(|mu| mu.uplink.as_ref()?.random_access.as_ref());
        let number = triggered.units().filter(|unit| unit[0].is_random).count() as u32;
        let due = settings.map_or(0, |settings| units_in(settings, triggered.kind));
        rule(now, number == due, "a Trigger frame has its number of RA-RUs", detail);
        let Some(settings) = settings.filter(|_| number > 0) else { return };
        let contenders: BTreeMap<u32, &Contender> =
            triggered.contenders.iter().map(|contender| (contender.station, contender)).collect();
        let is_sender = |user: &&TriggeredUser| user.is_random && user.station != access_point;
        let senders = triggered.users.iter().filter(is_sender);
        let senders: BTreeMap<u32, &TriggeredUser> =
            senders.map(|user| (user.station, user)).collect();
        let known = senders.keys().all(|station| contenders.contains_key(station));
        rule(now, known, "who sends in an RA-RU counts them", detail);
        let is_of_before = |station| self.since.get(station).is_some_and(|&since| now < since);
        let those = contenders.values().filter(|own| !is_of_before(&own.station));
        for contender in those.collect::<Vec<_>>() {
            let sent = match (senders.get(&contender.station), told) {
                // Among radios the medium may be busy where it is to send.
                (Some(user), Some(_)) if user.response == TriggeredResponse::Nothing => {
                    Sent::PutOff
                }
                (None, Some(_)) if contender.obo <= number => Sent::PutOff,
                (None, _) => Sent::Nothing,
                (Some(user), _) => {
                    let is_told = told.map_or(user.is_told(), |told| told.contains(&user.station));
                    Sent::Answer { is_success: is_told || !user.sends() }
                }
            };
            self.on_contender(settings, contender, number, sent, triggered);
        }
    }

    /// A station counts so many RA-RUs, and perhaps sends in one.
    fn on_contender(
        &mut self,
        settings: &RandomAccess,
        contender: &Contender,
        units: u32,
        sent: Sent,
        triggered: &TriggeredExchange,
    ) {
        let now = triggered.trigger.start;
        let least = (1 << settings.eocw_min) - 1;
        let most = (1 << settings.eocw_max) - 1;
        let own = self.all.entry(contender.station).or_insert(Own { ocw: least, obo: None });
        let detail = || format!("{contender:?}, not {own:?}: {triggered:?}");
        rule(now, contender.ocw == own.ocw, "OCW follows from failures and successes", detail);
        let counts_on = own.obo.is_none_or(|obo| obo == contender.obo);
        rule(now, counts_on, "OBO is what RA-RUs have left of it", detail);
        rule(now, contender.obo <= contender.ocw, "OBO is drawn from 0 to OCW", detail);
        let is_silent = matches!(sent, Sent::Nothing);
        if !contender.hears {
            rule(now, is_silent, "who does not hear the Trigger frame is silent", detail);
            own.obo = Some(contender.obo);
            return;
        }
        let is_due = contender.obo <= units;
        rule(now, is_due != is_silent, "who has counted down sends, and nobody else", detail);
        *own = match sent {
            Sent::Nothing => Own { obo: Some(contender.obo - units), ..*own },
            Sent::PutOff => Own { obo: None, ..*own },
            Sent::Answer { is_success: true } => Own { ocw: least, obo: None },
            Sent::Answer { .. } => Own { ocw: most.min(2 * own.ocw + 1), obo: None },
        };
    }
}

/// What a station that counts RA-RUs sends.
#[derive(Clone, Copy, Debug)]
enum Sent {
    Nothing,
    /// Nothing, because the medium is busy.
    PutOff,
    Answer {
        is_success: bool,
    },
}

/// The RA-RUs of a Trigger frame of this type.
fn units_in(settings: &RandomAccess, kind: TriggerKind) -> u32 {
    let has = match settings.triggers {
        RandomAccessTriggers::All => matches!(kind, TriggerKind::Basic | TriggerKind::Bsrp),
        RandomAccessTriggers::Basic => kind == TriggerKind::Basic,
        RandomAccessTriggers::Bsrp => kind == TriggerKind::Bsrp,
    };
    if has { settings.units } else { 0 }
}

/// Of several that send in an RA-RU none is received.
fn check_unit(unit: &[TriggeredUser], now: Instant, detail: &impl Fn() -> String) {
    let collides = unit.len() > 1;
    let apart = |user: &TriggeredUser| user.collides() == collides && !(collides && user.arrives());
    rule(now, unit.iter().all(apart), "of several in an RA-RU none is received", detail);
}

#[cfg(test)]
mod tests {
    use super::super::triggered::tests::played;
    use super::*;
    use kernel::Duration;

    /// A Trigger frame with so many RA-RUs and none for a station that is asked. Windows are 0, so
    /// that both stations send, in one or in two of them.
    fn sent(units: u32, chosen: usize) -> (MacConfig, TriggeredExchange) {
        let keys = format!(
            "mu.max_users = {units}\nmu.min_users = 1\nmu.uplink.random_access = \
             {{ units = {units}, eocw_min = 0, eocw_max = 1 }}\n"
        );
        let is_it = |triggered: &TriggeredExchange| {
            let used = triggered.units().filter(|unit| unit[0].station != ACCESS_POINT);
            let fresh = triggered.contenders.iter().filter(|it| it.ocw == 0);
            fresh.count() == 2 && used.count() == chosen
        };
        let (mac, _, triggered) = played(&keys, is_it);
        (mac, triggered)
    }

    /// Shows the checker what two stations send in two RA-RUs, after a change.
    fn show(change: impl Fn(&mut RandomAccess, &mut TriggeredExchange)) {
        let mut backoffs = Backoffs::default();
        show_to(&mut backoffs, change);
    }

    fn show_to(
        backoffs: &mut Backoffs,
        change: impl Fn(&mut RandomAccess, &mut TriggeredExchange),
    ) {
        let (mut mac, mut triggered) = sent(2, 2);
        change(settings(&mut mac), &mut triggered);
        backoffs.on_triggered(&mac, &triggered, 3, |_| true);
    }

    fn settings(mac: &mut MacConfig) -> &mut RandomAccess {
        let uplink = mac.mu.as_mut().unwrap().uplink.as_mut().unwrap();
        uplink.random_access.as_mut().unwrap()
    }

    /// Nobody sends in the first RA-RU.
    fn empty(triggered: &mut TriggeredExchange) {
        triggered.users[0].station = ACCESS_POINT;
        triggered.users[0].response = TriggeredResponse::Nothing;
    }

    /// The station that sends in the first RA-RU.
    fn first(triggered: &mut TriggeredExchange) -> &mut Contender {
        let station = triggered.users[0].station;
        triggered.contenders.iter_mut().find(|it| it.station == station).unwrap()
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        show(|_, triggered| {
            assert!(triggered.users.iter().all(|user| user.arrives() && !user.collides()));
        });
    }

    #[test]
    #[should_panic(expected = "a Trigger frame has its number of RA-RUs")]
    fn too_many_units_are_found() {
        show(|settings, _| settings.units = 1);
    }

    #[test]
    #[should_panic(expected = "a Trigger frame has its number of RA-RUs")]
    fn units_in_another_trigger_frame_are_found() {
        show(|settings, _| settings.triggers = RandomAccessTriggers::Bsrp);
    }

    #[test]
    #[should_panic(expected = "who has packets and is not asked counts RA-RUs, and nobody else")]
    fn who_does_not_count_is_found() {
        show(|_, triggered| triggered.contenders.truncate(1));
    }

    #[test]
    #[should_panic(expected = "who has packets and is not asked counts RA-RUs, and nobody else")]
    fn who_counts_without_packets_is_found() {
        let (mac, triggered) = sent(2, 2);
        Backoffs::default().on_triggered(&mac, &triggered, 3, |station| station == 1);
    }

    #[test]
    #[should_panic(expected = "who has packets and is not asked counts RA-RUs, and nobody else")]
    fn who_is_asked_and_counts_is_found() {
        show(|settings, triggered| {
            settings.units = 1;
            triggered.users[0].is_random = false;
        });
    }

    #[test]
    #[should_panic(expected = "who sends in an RA-RU counts them")]
    fn who_sends_without_counting_is_found() {
        let (mac, mut triggered) = sent(2, 2);
        triggered.contenders.retain(|it| it.station == 1);
        Backoffs::default().on_triggered(&mac, &triggered, 3, |station| station == 1);
    }

    #[test]
    #[should_panic(expected = "of several in an RA-RU none is received")]
    fn a_collision_that_is_received_is_found() {
        let (mut mac, mut triggered) = sent(2, 2);
        settings(&mut mac).units = 1;
        triggered.users[1].unit = triggered.users[0].unit;
        Backoffs::default().on_triggered(&mac, &triggered, 3, |_| true);
    }

    #[test]
    #[should_panic(expected = "OCW follows from failures and successes")]
    fn another_window_is_found() {
        show(|_, triggered| first(triggered).ocw = 1);
    }

    /// After a collision the window is 1, and not 0 as before.
    #[test]
    #[should_panic(expected = "OCW follows from failures and successes")]
    fn a_window_that_stays_after_a_collision_is_found() {
        let (mac, triggered) = sent(1, 1);
        assert!(triggered.users.iter().all(TriggeredUser::collides));
        let mut backoffs = Backoffs::default();
        (0..2).for_each(|_| backoffs.on_triggered(&mac, &triggered, 3, |_| true));
    }

    /// The window is 0 again after a collision in the network before.
    #[test]
    fn a_window_begins_anew_with_an_association() {
        let (mac, triggered) = sent(1, 1);
        let mut backoffs = Backoffs::default();
        backoffs.on_triggered(&mac, &triggered, 3, |_| true);
        for station in [1, 2] {
            backoffs.on_associated(triggered.trigger.start, station);
        }
        backoffs.on_triggered(&mac, &triggered, 3, |_| true);
    }

    /// Where it collided before, the new window does not follow from it.
    #[test]
    fn what_was_triggered_before_an_association_does_not_count() {
        let (mac, triggered) = sent(1, 1);
        let mut backoffs = Backoffs::default();
        let later = triggered.trigger.start + Duration(1);
        for station in [1, 2] {
            backoffs.on_associated(later, station);
        }
        backoffs.on_triggered(&mac, &triggered, 3, |_| true);
        assert!(backoffs.all.is_empty());
    }

    #[test]
    fn a_window_doubles_after_a_collision() {
        let (mac, mut triggered) = sent(1, 1);
        let mut backoffs = Backoffs::default();
        backoffs.on_triggered(&mac, &triggered, 3, |_| true);
        triggered.contenders.iter_mut().for_each(|it| it.ocw = 1);
        (0..2).for_each(|_| backoffs.on_triggered(&mac, &triggered, 3, |_| true));
    }

    #[test]
    fn a_window_is_the_smallest_after_a_success() {
        let mut backoffs = Backoffs::default();
        (0..2).for_each(|_| show_to(&mut backoffs, |_, _| {}));
    }

    #[test]
    #[should_panic(expected = "OBO is drawn from 0 to OCW")]
    fn a_counter_beyond_the_window_is_found() {
        show(|_, triggered| first(triggered).obo = 1);
    }

    /// Of 5, two RA-RUs leave 3.
    fn counts(left: u32) {
        let mut backoffs = Backoffs::default();
        for obo in [5, left] {
            show_to(&mut backoffs, |settings, triggered| {
                settings.eocw_min = 3;
                triggered.contenders.iter_mut().for_each(|it| it.ocw = 7);
                first(triggered).obo = obo;
                empty(triggered);
            });
        }
    }

    #[test]
    fn a_counter_counts_down() {
        counts(3);
    }

    #[test]
    #[should_panic(expected = "OBO is what RA-RUs have left of it")]
    fn a_counter_that_counts_once_is_found() {
        counts(4);
    }

    #[test]
    #[should_panic(expected = "who does not hear the Trigger frame is silent")]
    fn who_answers_without_hearing_is_found() {
        show(|_, triggered| first(triggered).hears = false);
    }

    #[test]
    #[should_panic(expected = "who has counted down sends, and nobody else")]
    fn who_sends_early_is_found() {
        show(|settings, triggered| {
            settings.eocw_min = 3;
            triggered.contenders.iter_mut().for_each(|it| it.ocw = 7);
            first(triggered).obo = 3;
        });
    }

    #[test]
    #[should_panic(expected = "who has counted down sends, and nobody else")]
    fn who_keeps_silent_is_found() {
        show(|_, triggered| empty(triggered));
    }
}
