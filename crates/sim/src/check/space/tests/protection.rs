//! Frames of an access point that asks stations 1 and 2 for CTSs.

use super::super::super::group::tests::begun;
use super::{FLOW, Scene, us};
use kernel::{BitRate, Bytes};
use wifi::mac::{MuProtection, TriggerKind};
use wifi::space::{OngoingFrame, Users};
use wire::FrameKind::{Cts, Data, Trigger};

/// An access point and three stations that receive each other.
fn scene() -> Scene {
    let text = format!(
        "standard = '11ax'\nstations = 3\nwlan.mcs = 7\nwlan.mu.protection = 'mu_rts'\n\
         radio.losses_db = [[0, 50, 50, 50], [50, 0, 50, 50], [50, 50, 0, 50], [50, 50, 50, 0]]\n\
         {FLOW}"
    );
    let mut scene = Scene::of(&text);
    scene.watch.groups.put_opened(0, vec![1, 2], 2);
    scene
}

/// An MU-RTS to both, from 100 us on, which reserves 2 ms.
fn mu_rts(scene: &Scene) -> OngoingFrame {
    let mode = scene.watch.mac.timing.standard.mode(BitRate::from_mbps(24.0)).expect("24 Mb/s");
    let psdu = TriggerKind::MuRts.bytes(2);
    let frame = scene.frame(Trigger, (0, 0), [100, 100, 2100]);
    let end = frame.start + scene.watch.times.airtime(&mode, psdu).total();
    let reserves = us(2100) - end;
    OngoingFrame { to: None, mode, psdu, end, reserves, users: Users::Opening, ..frame }
}

/// The access point begins with what `change` makes of a right MU-RTS.
fn ask(change: impl Fn(&mut Scene, &mut OngoingFrame)) {
    let mut scene = scene();
    let mut sent = mu_rts(&scene);
    change(&mut scene, &mut sent);
    scene.begin(&sent);
}

/// A station answers with what `change` makes of a right CTS.
fn answer(change: impl Fn(&mut OngoingFrame)) -> Scene {
    answer_in(scene(), change)
}

fn answer_in(mut scene: Scene, change: impl Fn(&mut OngoingFrame)) -> Scene {
    let asked = mu_rts(&scene);
    scene.show(&asked);
    let mode = *scene.watch.mac.timing.standard.modes.first().expect("6 Mb/s");
    let start = asked.end + (us(16) - us(0));
    let end = start + (us(44) - us(0));
    let psdu = Bytes(14);
    let cts = scene.frame(Cts, (1, 0), [0, 0, 0]);
    let mut cts = OngoingFrame { mode, psdu, start, end, users: Users::Together, ..cts };
    cts.reserves = us(2100) - end;
    change(&mut cts);
    scene.show(&cts);
    scene
}

/// A station that has turned to another access point is not asked, and its NAV is set.
#[test]
#[should_panic(expected = "a response begins a SIFS after its frame")]
fn a_cts_of_a_station_that_has_turned_away_is_found() {
    let mut scene = scene();
    scene.watch.groups.on_left(1, 3);
    answer_in(scene, |_| {});
}

/// Data to both stations begins so much later than the CTS allows, and reserves what is left.
fn protect(late_us: u64, longer_us: u64) {
    let mut scene = answer(|_| {});
    let (_, _, group) = begun("mu_bar");
    let start = us(100 + 36 + 16 + 44 + 16 + late_us);
    scene.watch.groups.put(0, start, group);
    let data = scene.frame(Data, (0, 0), [0, 0, 0]);
    let mut data = OngoingFrame { to: None, start, users: Users::Several, ..data };
    data.end = start + (us(500) - us(0));
    data.reserves = us(2100 + longer_us) - data.end;
    scene.watch.now = start;
    scene.watch.check_protected(&data, 2, 2);
}

#[test]
fn what_keeps_the_rules_passes() {
    ask(|_, _| {});
    answer(|_| {});
    protect(0, 0);
}

#[test]
#[should_panic(expected = "only with protection there is an MU-RTS")]
fn an_mu_rts_that_nobody_wants_is_found() {
    ask(|scene, _| {
        scene.watch.mac.mu.as_mut().expect("OFDMA").protection = MuProtection::None;
    });
}

#[test]
#[should_panic(expected = "the access point asks for CTSs")]
fn an_mu_rts_of_a_station_is_found() {
    ask(|_, sent| sent.from = 1);
}

#[test]
#[should_panic(expected = "an MU-RTS has a User Info for each station")]
fn an_mu_rts_to_one_of_two_is_found() {
    ask(|_, sent| sent.psdu = TriggerKind::MuRts.bytes(1));
}

#[test]
#[should_panic(expected = "an MU-RTS is not padded")]
fn an_mu_rts_with_padding_is_found() {
    ask(|_, sent| sent.end += us(8) - us(0));
}

#[test]
#[should_panic(expected = "a response begins a SIFS after its frame")]
fn a_cts_of_one_who_is_not_asked_is_found() {
    answer(|cts| cts.from = 3);
}

#[test]
#[should_panic(expected = "a response begins a SIFS after its frame")]
fn a_cts_that_is_late_is_found() {
    answer(|cts| cts.start += us(1) - us(0));
}

#[test]
#[should_panic(expected = "a CTS that answers an MU-RTS has 6 Mb/s")]
fn a_cts_with_another_rate_is_found() {
    answer(|cts| cts.mode.rate = BitRate::from_mbps(12.0));
}

#[test]
#[should_panic(expected = "Duration fields end with the exchange")]
fn a_cts_that_reserves_too_little_is_found() {
    answer(|cts| cts.reserves = us(0) - us(0));
}

#[test]
#[should_panic(expected = "an MU-RTS precedes an access for several stations")]
fn data_that_begins_late_after_a_cts_is_found() {
    protect(1, 0);
}

#[test]
#[should_panic(expected = "Duration fields end with the exchange")]
fn data_that_reserves_more_than_its_cts_is_found() {
    protect(0, 1);
}

/// The CTSs of both stations are received as one frame, with the power of both.
#[test]
fn equal_ctss_add_up() {
    let mut scene = scene();
    let cts = |station| {
        let cts = scene.frame(Cts, (station, 0), [152, 196, 2100]);
        OngoingFrame { users: Users::Together, ..cts }
    };
    let both = [cts(1), cts(2)];
    scene.watch.frames.extend(both);
    let mean = scene.watch.powers.at(0, &both[0]);
    for node in [0, 3] {
        scene.watch.now = both[0].start;
        assert!((scene.watch.power_of(&both[0], node) / (2.0 * mean) - 1.0).abs() < 1e-9);
    }
}
