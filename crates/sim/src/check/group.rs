//! Checks exchanges of an access point with several stations at once.

use super::rule::rule;
use super::timing::Times;
use kernel::{Bytes, Duration, Instant};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use wifi::mac::{Exchange, Mu, MuExchange, MuStep, Step};
use wifi::phy::Puncturing;
use wifi::phy::he::{GroupUser, Ru, RuSize};
use wifi::{ACCESS_POINT, MacConfig};
use wire::FrameKind;

/// The PPDU and the frames that acknowledge it keep the rules.
pub(super) fn check(mac: &MacConfig, times: &Times, exchange: &Exchange, group: &MuExchange) {
    let now = exchange.start;
    let detail = || format!("{exchange:?}: {group:?}");
    let Some(settings) = &mac.mu else {
        return rule(now, false, "only with OFDMA a PPDU has several users", detail);
    };
    let is_own = exchange.sender == ACCESS_POINT;
    rule(now, is_own, "the access point sends to several users", detail);
    let lasts = exchange.data().map_or(Duration::ZERO, |data| data.airtime.total());
    check_data(mac, settings, now, lasts, group);
    check_steps(now, times, exchange, group);
}

/// A PPDU to several users that lasts so long.
pub(super) fn check_data(
    mac: &MacConfig,
    settings: &Mu,
    now: Instant,
    lasts: Duration,
    group: &MuExchange,
) {
    let number = group.users.len() as u32;
    let most = settings.max_users.unwrap_or(u32::MAX);
    let allowed = (settings.min_users..=most).contains(&number);
    rule(now, allowed, "a PPDU has as many users as it may", || format!("{group:?}"));
    let users = group.users.iter().map(|user| (user.station, user.ru, user.mode.channel()));
    check_users(now, &users.collect::<Vec<_>>());
    check_ppdu(mac, settings, now, lasts, group);
}

/// Each station is served once, and their resource units do not overlap.
pub(super) fn check_users(now: Instant, users: &[(u32, Ru, Puncturing)]) {
    let detail = || format!("{users:?}");
    let stations: BTreeSet<u32> = users.iter().map(|&(station, ..)| station).collect();
    let is_once = stations.len() == users.len() && !stations.contains(&ACCESS_POINT);
    rule(now, is_once, "a PPDU serves a station once", detail);
    let units: Vec<(Ru, Puncturing)> =
        users.iter().map(|&(_, ru, channel)| (ru, channel)).collect();
    check_units(now, &units);
}

/// Resource units do not overlap, and are in what is not punctured of one channel.
pub(super) fn check_units(now: Instant, units: &[(Ru, Puncturing)]) {
    let detail = || format!("{units:?}");
    let apart = |nth: usize| units[..nth].iter().all(|(ru, _)| !ru.overlaps(units[nth].0));
    rule(now, (0..units.len()).all(apart), "resource units do not overlap", detail);
    let is_one = units.windows(2).all(|pair| pair[0].1 == pair[1].1);
    rule(now, is_one, "the users of a PPDU have one channel", detail);
    let fits = units.iter().all(|&(ru, channel)| {
        let in_width = ru.index < ru.size.number_in(channel.width);
        in_width && subchannels_of(ru).all(|nth| !channel.punctured.has(nth))
    });
    rule(now, fits, "resource units are in the channel", detail);
}

/// The subchannels of 20 MHz that a resource unit reaches into, from the lowest (802.11ax-2021
/// clause 27.3.2.2). The 26 tones in the middle of 80 MHz are in two of them.
fn subchannels_of(ru: Ru) -> RangeInclusive<u32> {
    let Ru { size, index } = ru;
    let first = match size {
        RuSize::Tones26 => match index % 37 {
            18 => return index / 37 * 4 + 1..=index / 37 * 4 + 2,
            within => index / 37 * 4 + (within - u32::from(within > 18)) / 9,
        },
        RuSize::Tones52 => index / 4,
        RuSize::Tones106 => index / 2,
        RuSize::Tones242 => index,
        RuSize::Tones484 => 2 * index,
        RuSize::Tones996 => 4 * index,
        RuSize::Tones1992 => 0,
    };
    first..=first + (size.tones() / 242).next_power_of_two().max(1) - 1
}

/// All users end together, at the end of the longest, which the whole PPDU tells again.
fn check_ppdu(mac: &MacConfig, settings: &Mu, now: Instant, lasts: Duration, group: &MuExchange) {
    let detail = || format!("{lasts}: {group:?}");
    let users: Vec<GroupUser> = group
        .users
        .iter()
        .map(|user| GroupUser {
            size: user.ru.size,
            mcs: user.mcs,
            streams: user.mode.streams,
            coding: settings.coding,
            psdu: user.on_air,
        })
        .collect();
    let Some(first) = group.users.first() else { return };
    let slowest = users.iter().map(|user| user.mcs).min().unwrap_or(0);
    let vector = settings.vector(mac.timing.standard.band, &first.mode, slowest);
    let Ok(whole) = vector.ppdu(&users) else {
        return rule(now, false, "there is such a PPDU", detail);
    };
    let same = whole.fields == group.fields && lasts == whole.fields.total();
    rule(now, same, "a PPDU lasts as long as its longest user", detail);
    for (user, part) in group.users.iter().zip(&whole.users) {
        let padding = Bytes(user.room.0.saturating_sub(user.on_air.0));
        let pads = part.padding == padding && user.on_air <= user.room;
        rule(now, pads, "a user pads up to the common end", detail);
    }
}

/// Frames follow each other a SIFS apart, or a PIFS where a response did not come.
fn check_steps(now: Instant, times: &Times, exchange: &Exchange, group: &MuExchange) {
    let detail = || format!("{exchange:?}: {group:?}");
    let mut before = exchange.data().copied();
    for MuStep { step, .. } in &group.steps {
        let Some(last) = before else { break };
        let gap = step.start.since(last.end());
        let sifs = gap == times.sifs();
        let pifs = gap == times.aifs(1) && step.kind == FrameKind::BlockAckRequest;
        rule(now, sifs || pifs, "frames are a SIFS or a PIFS apart", detail);
        before = Some(*step);
    }
    let over = before.map_or(exchange.end, |last| Step::end(&last));
    // What follows HE TB PPDUs waits for the end that L-SIG announces, in steps of 4 us.
    let wait = exchange.end.since(over);
    let in_time = exchange.end >= over && wait < Duration::from_micros(4);
    rule(now, in_time, "an exchange ends with its last frame", detail);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use kernel::Seed;
    use std::collections::VecDeque;
    use wifi::phy::{Punctured, Width};
    use wifi::{Cell, Command, Link, MsduSource};
    use wire::{Body, Datagram, FlowId, NodeId, Packet, TrafficClass};

    struct Queue(VecDeque<Packet>);

    impl MsduSource for Queue {
        fn next(&mut self, _: u32, _: TrafficClass, to: u32, _: Bytes) -> Option<Packet> {
            let place = self.0.iter().position(|packet| packet.to == Some(NodeId(to)))?;
            self.0.remove(place)
        }

        fn next_other(&mut self, _: u32, _: TrafficClass, _: u32) -> Option<(Packet, u32)> {
            None
        }

        fn each(&self, _: u32, _: TrafficClass, _: &mut dyn FnMut(u32, &Packet)) {}
    }

    fn packet(to: u32, len: u32) -> Packet {
        let body = Body::Datagram(Datagram { flow: FlowId(0), number: 0, len, stream: 0 });
        let size = Bytes(u64::from(len) + 28);
        Packet::new(NodeId(0), Some(NodeId(to)), size, Instant::ZERO, body)
    }

    /// An exchange with two stations is shown to the checker after a change.
    fn show(acknowledgement: &str, change: impl Fn(&mut Exchange, &mut MuExchange)) {
        let (mac, mut exchange, mut group) = begun(acknowledgement);
        change(&mut exchange, &mut group);
        check(&mac, &Times::of(&mac.timing), &exchange, &group);
    }

    /// An exchange of an access point with stations 1 and 2, and how it is acknowledged.
    pub(in crate::check) fn begun(acknowledgement: &str) -> (MacConfig, Exchange, MuExchange) {
        let text = format!(
            "standard = '11ax'\nstations = 2\n[wlan]\nmcs = 7\n[wlan.mu]\nacknowledgement = \
             '{acknowledgement}'\n[[flows]]\nfrom = 'ap'\nto = 'sta*'\n"
        );
        let plan = Scenario::parse(&text).expect("a scenario").resolve().expect("a plan");
        let link = Link { mode: plan.stations[0].down.mode(), data_loss: 0.0, ack_loss: 0.0 };
        let seed = Seed { root: 1, replication: 0 };
        let mut cell = Cell::new(plan.wlan.clone(), vec![link; 2], &seed);
        let mut out = Vec::new();
        cell.on_packet(Instant(1_000_000), 0, &packet(1, 1000), Some(1), &mut out);
        let Some(Command::Access(ticket)) = out.pop() else { panic!("no access: {out:?}") };
        let mut queue = Queue([packet(2, 300)].into());
        cell.on_access(ticket.at, ticket.generation, &mut queue, &mut out);
        let exchange = *cell.exchange().expect("an exchange");
        let group = cell.group().expect("several users").clone();
        (plan.wlan.clone(), exchange, group)
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        for how in ["bar_chain", "mu_bar", "aggregated_mu_bar"] {
            show(how, |_, group| assert_eq!(group.users.len(), 2));
        }
    }

    #[test]
    #[should_panic(expected = "resource units do not overlap")]
    fn two_users_of_one_resource_unit_are_found() {
        show("mu_bar", |_, group| group.users[1].ru = group.users[0].ru);
    }

    #[test]
    #[should_panic(expected = "resource units are in the channel")]
    fn a_resource_unit_beyond_the_channel_is_found() {
        show("mu_bar", |_, group| group.users[1].ru = Ru { size: RuSize::Tones106, index: 2 });
    }

    #[test]
    #[should_panic(expected = "the users of a PPDU have one channel")]
    fn users_in_two_channels_are_found() {
        show("mu_bar", |_, group| group.users[1].mode.width = Width::Mhz40);
    }

    /// The users, with 106 tones each, are in the second 20 MHz of 80 and in the third.
    fn show_beside(punctured: u32) {
        show("mu_bar", |_, group| {
            for (user, index) in group.users.iter_mut().zip([3, 4]) {
                user.mode.width = Width::Mhz80;
                user.mode.punctured = Punctured::of_numbers(Width::Mhz80, &[punctured]).unwrap();
                user.ru.index = index;
            }
        });
    }

    #[test]
    #[should_panic(expected = "resource units are in the channel")]
    fn a_resource_unit_in_what_is_punctured_is_found() {
        show_beside(3);
    }

    #[test]
    fn resource_units_beside_what_is_punctured_pass() {
        show_beside(1);
    }

    #[test]
    fn resource_units_reach_into_these_subchannels() {
        let of = |size, index| subchannels_of(Ru { size, index });
        let of_26 = |index| of(RuSize::Tones26, index);
        assert_eq!([0, 8, 9, 17].map(of_26), [0..=0, 0..=0, 1..=1, 1..=1]);
        assert_eq!([18, 19, 36, 37, 55].map(of_26), [1..=2, 2..=2, 3..=3, 4..=4, 5..=6]);
        assert_eq!([of(RuSize::Tones52, 7), of(RuSize::Tones106, 7)], [1..=1, 3..=3]);
        assert_eq!([of(RuSize::Tones242, 5), of(RuSize::Tones484, 3)], [5..=5, 6..=7]);
        assert_eq!([of(RuSize::Tones996, 1), of(RuSize::Tones1992, 0)], [4..=7, 0..=7]);
    }

    #[test]
    #[should_panic(expected = "a PPDU serves a station once")]
    fn a_station_with_two_resource_units_is_found() {
        show("mu_bar", |_, group| group.users[1].station = group.users[0].station);
    }

    #[test]
    #[should_panic(expected = "a PPDU lasts as long as its longest user")]
    fn a_ppdu_that_ends_early_is_found() {
        show("mu_bar", |_, group| group.fields.data -= Duration(13_600));
    }

    #[test]
    #[should_panic(expected = "a user pads up to the common end")]
    fn wrong_padding_is_found() {
        show("mu_bar", |_, group| group.users[1].room = Bytes(group.users[1].room.0 - 1));
    }

    #[test]
    #[should_panic(expected = "frames are a SIFS or a PIFS apart")]
    fn a_response_that_is_late_is_found() {
        show("bar_chain", |_, group| group.steps[1].step.start.0 += 1);
    }

    #[test]
    #[should_panic(expected = "frames are a SIFS or a PIFS apart")]
    fn responses_to_a_trigger_frame_that_are_late_are_found() {
        show("mu_bar", |_, group| group.steps[1].step.start.0 += 1);
    }

    #[test]
    #[should_panic(expected = "an exchange ends with its last frame")]
    fn an_exchange_that_ends_late_is_found() {
        show("mu_bar", |exchange, _| exchange.end.0 += 4000);
    }

    #[test]
    #[should_panic(expected = "a PPDU has as many users as it may")]
    fn a_user_alone_is_found() {
        show("mu_bar", |_, group| group.users.truncate(1));
    }
}
