//! Frames of exchanges with several users: those of an access point with stations 1 and 2, whose
//! PPDU has ended after 1000 us.

use super::super::super::group::tests::begun;
use super::super::super::triggered::tests::played;
use super::{FLOW, Scene, us};
use wifi::mac::TriggeredExchange;
use wifi::space::{OngoingFrame, Users};
use wire::FrameKind::{self, BlockAck, BlockAckRequest, Data, Trigger};

/// An access point and two stations that receive each other.
fn scene(acknowledgement: &str) -> Scene {
    let text = format!(
        "standard = '11ax'\nstations = 2\nwlan.mcs = 7\nwlan.mu.acknowledgement = \
         '{acknowledgement}'\nradio.losses_db = [[0, 50, 50], [50, 0, 50], [50, 50, 0]]\n{FLOW}"
    );
    let mut scene = Scene::of(&text);
    let (_, _, group) = begun(acknowledgement);
    scene.watch.groups.put(0, us(1000), group);
    scene
}

/// A frame of the exchange that begins at this time.
fn frame(
    scene: &Scene,
    kind: FrameKind,
    ends: (u32, u32),
    users: Users,
    at_us: u64,
) -> OngoingFrame {
    OngoingFrame { users, ..scene.frame(kind, ends, [at_us, at_us + 40, at_us + 40]) }
}

/// The access point sends this frame.
fn send(acknowledgement: &str, kind: FrameKind, to: u32, users: Users, at_us: u64) {
    let mut scene = scene(acknowledgement);
    let sent = frame(&scene, kind, (0, to), users, at_us);
    scene.watch.now = us(at_us);
    scene.watch.check_in_group(&sent);
}

/// A station answers the PPDU to several users with this frame.
fn answer(acknowledgement: &str, station: u32, users: Users) {
    let scene = scene(acknowledgement);
    let asked = frame(&scene, Data, (0, station), Users::Several, 960);
    let sent = frame(&scene, BlockAck, (station, 0), users, 1016);
    scene.watch.check_user(&asked, &sent);
}

#[test]
fn what_keeps_the_rules_passes() {
    send("mu_bar", Trigger, 0, Users::Several, 1016);
    answer("bar_chain", 1, Users::Chained);
    answer("aggregated_mu_bar", 2, Users::Unit(1));
    let scene = scene("mu_bar");
    let data = frame(&scene, Data, (0, 0), Users::Several, 960);
    let seen = |node| scene.watch.groups.receiver(&data, node);
    assert_eq!([1, 2, 3].map(seen), [Some(1), Some(2), Some(0)], "node 3 is no user");
}

#[test]
#[should_panic(expected = "a MU-BAR follows a SIFS after its PPDU")]
fn a_trigger_frame_that_is_late_is_found() {
    send("mu_bar", Trigger, 0, Users::Several, 1017);
}

#[test]
#[should_panic(expected = "a MU-BAR follows a SIFS after its PPDU")]
fn a_trigger_frame_in_a_chain_is_found() {
    send("bar_chain", Trigger, 0, Users::Several, 1016);
}

#[test]
#[should_panic(expected = "a BlockAckReq of a chain is for a user")]
fn a_request_to_one_who_is_no_user_is_found() {
    send("bar_chain", BlockAckRequest, 3, Users::Chained, 1016);
}

#[test]
#[should_panic(expected = "a BlockAckReq of a chain is in time")]
fn a_request_without_an_answer_before_is_found() {
    send("bar_chain", BlockAckRequest, 2, Users::Chained, 1016);
}

#[test]
#[should_panic(expected = "a frame to users is of an exchange with several")]
fn a_request_of_a_station_is_found() {
    let mut scene = scene("bar_chain");
    let sent = frame(&scene, BlockAckRequest, (1, 2), Users::Chained, 1016);
    scene.watch.check_in_group(&sent);
}

#[test]
#[should_panic(expected = "a user answers in its place")]
fn an_answer_in_the_resource_unit_of_another_is_found() {
    answer("aggregated_mu_bar", 1, Users::Unit(1));
}

#[test]
#[should_panic(expected = "a user answers in its place")]
fn an_answer_of_the_second_user_before_it_is_asked_is_found() {
    answer("bar_chain", 2, Users::Chained);
}

/// All of the power of a station is in 106 of 242 tones, and preambles add up.
#[test]
fn a_resource_unit_has_all_of_the_power() {
    let mut scene = scene("mu_bar");
    let both = [1, 2].map(|n| frame(&scene, BlockAck, (n, 0), Users::Unit(n as u8 - 1), 1072));
    scene.watch.frames.extend(both);
    let mean = scene.watch.powers.at(0, &both[0]);
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    scene.watch.now = both[0].start;
    assert!(close(scene.watch.power_of(&both[0], 0), mean * 242.0 / 106.0));
    assert!(close(scene.watch.power_together(&both[0], 0), 2.0 * mean));
}

/// A scene after a Trigger frame that has ended after 1000 us, and asks two stations for data,
/// which the access point has decoded. The answers begin after 1016 us.
fn triggered() -> (Scene, TriggeredExchange) {
    let text = format!(
        "standard = '11ax'\nstations = 2\nwlan.mcs = 7\nwlan.aggregation.frames = 4\n\
         wlan.mu.uplink.access_interval_us = 100\n\
         radio.losses_db = [[0, 50, 50], [50, 0, 50], [50, 50, 0]]\n{FLOW}"
    );
    let mut scene = Scene::of(&text);
    let both =
        |it: &TriggeredExchange| it.users.iter().filter(|user| user.mpdus() > 1).count() == 2;
    let (_, _, exchange) = played("", both);
    let trigger = OngoingFrame { to: None, ..frame(&scene, Trigger, (0, 0), Users::Several, 960) };
    let trigger = OngoingFrame { reserves: us(2000) - us(0), ..trigger };
    scene.watch.groups.put_trigger(trigger, exchange.clone());
    for station in [1, 2] {
        let asked = OngoingFrame { to: Some(station), ..trigger };
        scene.watch.receivers[station as usize].exchanges.asked.push(asked);
    }
    (scene, exchange)
}

/// A station answers the Trigger frame with what `change` makes of a right answer.
fn answer_trigger(at_us: u64, change: impl Fn(&mut OngoingFrame)) {
    let (mut scene, exchange) = triggered();
    let user = &exchange.users[0];
    let users = Users::Unit(user.unit as u8);
    let mut sent = frame(&scene, Data, (user.station, 0), users, at_us);
    sent.end = sent.start + exchange.announced;
    sent.reserves = us(3000) - sent.end;
    change(&mut sent);
    scene.watch.now = us(at_us);
    scene.watch.check_in_group(&sent);
}

#[test]
fn an_answer_to_a_trigger_frame_passes() {
    answer_trigger(1016, |_| {});
    acknowledge(0, 0, |_| {});
}

#[test]
#[should_panic(expected = "an HE TB PPDU begins a SIFS after its Trigger frame")]
fn an_answer_that_is_late_is_found() {
    answer_trigger(1017, |_| {});
}

#[test]
#[should_panic(expected = "a user answers in its place")]
fn an_answer_in_another_resource_unit_is_found() {
    answer_trigger(1016, |sent| sent.users = Users::Unit(7));
}

#[test]
#[should_panic(expected = "answers last as long as the Trigger frame says")]
fn an_answer_that_ends_early_is_found() {
    answer_trigger(1016, |sent| sent.end = us(1020));
}

#[test]
#[should_panic(expected = "Duration fields end with the exchange")]
fn an_answer_that_reserves_too_much_is_found() {
    answer_trigger(1016, |sent| sent.reserves += us(1) - us(0));
}

/// The access point acknowledges what it has decoded, so much late, and with so many bytes too
/// many.
fn acknowledge(late_us: u64, bytes: u64, change: impl Fn(&mut Scene)) {
    let (mut scene, exchange) = triggered();
    change(&mut scene);
    let sifs = us(16) - us(0);
    let over = us(1016) + exchange.announced;
    scene.watch.receivers[0].exchanges.units_until = over;
    let start = over + sifs + (us(late_us) - us(0));
    let (_, psdu) = exchange.ack.expect("it is acknowledged");
    let sent = frame(&scene, BlockAck, (0, 0), Users::Several, 0);
    let end = start + (us(40) - us(0));
    let psdu = kernel::Bytes(psdu.0 + bytes);
    let sent = OngoingFrame { to: None, start, end, psdu, reserves: us(0) - us(0), ..sent };
    scene.watch.now = start;
    scene.watch.on_begin(&sent, Vec::new());
}

#[test]
#[should_panic(expected = "a BlockAck follows a SIFS after the answers")]
fn an_acknowledgement_that_is_late_is_found() {
    acknowledge(1, 0, |_| {});
}

#[test]
#[should_panic(expected = "a Multi-STA BlockAck has a bitmap for each A-MPDU")]
fn an_acknowledgement_that_is_too_long_is_found() {
    acknowledge(0, 8, |_| {});
}

#[test]
#[should_panic(expected = "a BlockAck tells what was decoded")]
fn an_acknowledgement_of_what_is_lost_is_found() {
    acknowledge(0, 0, |scene| scene.watch.groups.forget_decoded());
}

#[test]
#[should_panic(expected = "a Multi-STA BlockAck is of a triggered exchange")]
fn an_acknowledgement_of_nothing_is_found() {
    let mut scene = scene("mu_bar");
    let sent = frame(&scene, BlockAck, (0, 0), Users::Several, 1016);
    scene.watch.now = us(1016);
    scene.watch.on_begin(&OngoingFrame { to: None, ..sent }, Vec::new());
}
