//! Nodes may ignore PPDUs of another BSS below the level, and must; each forged one violates a
//! rule.

use super::{Scene, us};
use kernel::{Db, Instant};
use wifi::phy::{DOT11AX, TxVector};
use wifi::space::{OngoingFrame, Senses};
use wire::FrameKind;

/// Two BSSs, of an access point (0, 3) and a station (1, 2) each, whose nodes receive those of the
/// other one at -75 dBm. Those of the first receive each other at -73 dBm.
const TWO: &str = "standard = '11ax'\nwlan.spatial_reuse.obss_pd_dbm = -72\n\
    radio.tx_power_dbm = 16\nradio.losses_db = [[0, 89, 91, 91], [89, 0, 91, 91], \
    [91, 91, 0, 50], [91, 91, 50, 0]]\n[[stations]]\n[[stations]]\ncell = 1\n[[cells]]\n\
    [[flows]]\nfrom = 'sta*'\nto = 'ap'\n";

/// A PPDU of this station to its access point, from 43 µs, the AIFS of best effort, to 243 µs.
fn ppdu(scene: &Scene, from: u32) -> OngoingFrame {
    let to = if from == 1 { 0 } else { 3 };
    let mode = TxVector { mcs: 3, ..DOT11AX.tx_vector().unwrap() }.mode().unwrap();
    OngoingFrame { mode, edcaf: 1, ..scene.frame(FrameKind::Data, (from, to), [43, 243, 303]) }
}

/// At an instant, these nodes follow the frame, and the medium of all others is idle.
fn follow(scene: &mut Scene, at: Instant, frame: &OngoingFrame, by: &[u32]) {
    scene.watch.settle(at, &[], Vec::new(), |node| {
        let follows = by.contains(&node).then_some((frame.from, frame.start));
        Senses { busy: follows.is_some() || node == frame.from, follows }
    });
}

/// The same, whose BSSs are a group of this level, and ignore nothing else that they detect.
fn grouped(level: &str) -> String {
    let group = format!("srg = [{{ bss_colors = [1, 2], obss_pd_dbm = {level} }}]");
    TWO.replace("obss_pd_dbm = -72", &format!("obss_pd_dbm = -82\nwlan.spatial_reuse.{group}"))
}

/// Station 1 sends. The nodes of the other BSS follow its PPDU until 32 µs after its begin.
fn ignored(scenario: &str) -> (Scene, OngoingFrame) {
    let mut scene = Scene::of(scenario);
    let frame = ppdu(&scene, 1);
    scene.begin(&frame);
    follow(&mut scene, us(75), &frame, &[0]);
    (scene, frame)
}

/// Station 2 sends beside it, at this instant and with so much less power.
fn sends_beside(scenario: &str, at: u64, cut: f64) {
    let (mut scene, first) = ignored(scenario);
    let own = ppdu(&scene, 2);
    let (start, end) = (us(at), us(at + 200));
    let own = OngoingFrame { start, end, cut: Db(cut), ..own };
    let follows = |node| match node {
        0 => Some((1, first.start)),
        3 => Some((2, start)),
        _ => None,
    };
    let began = vec![(own, vec![(0, own.psdu)])];
    let senses = |node| Senses { busy: true, follows: follows(node) };
    scene.watch.settle(start, &[], began, senses);
}

#[test]
fn a_ppdu_of_another_bss_is_ignored_when_its_color_is_known() {
    // The station may have 21 - 10 = 11 dBm.
    sends_beside(TWO, 75 + 43, 5.0);
}

#[test]
#[should_panic(expected = "access waits for an idle medium and an interframe space")]
fn who_ignores_a_ppdu_waits_for_an_aifs() {
    sends_beside(TWO, 75 + 42, 5.0);
}

#[test]
#[should_panic(expected = "who has ignored a PPDU sends with less power")]
fn full_power_beside_an_ignored_ppdu_is_found() {
    sends_beside(TWO, 75 + 43, 0.0);
}

#[test]
#[should_panic(expected = "only a PPDU of another BSS is ignored")]
fn a_ppdu_that_is_ignored_too_early_is_found() {
    let mut scene = Scene::of(TWO);
    let frame = ppdu(&scene, 1);
    scene.begin(&frame);
    follow(&mut scene, us(74), &frame, &[0, 2]);
}

#[test]
#[should_panic(expected = "only a PPDU of another BSS is ignored")]
fn who_ignores_its_own_bss_is_found() {
    let mut scene = Scene::of(TWO);
    let frame = ppdu(&scene, 1);
    scene.begin(&frame);
    follow(&mut scene, us(75), &frame, &[]);
}

#[test]
#[should_panic(expected = "a PPDU of another BSS below the level is ignored")]
fn who_goes_on_receiving_another_bss_is_found() {
    let mut scene = Scene::of(TWO);
    let frame = ppdu(&scene, 1);
    scene.begin(&frame);
    follow(&mut scene, us(75), &frame, &[0, 2]);
}

#[test]
fn a_group_has_a_level_and_a_power_of_its_own() {
    // The station may have 21 - 15 = 6 dBm.
    sends_beside(&grouped("-67"), 75 + 43, 10.0);
}

#[test]
#[should_panic(expected = "who has ignored a PPDU sends with less power")]
fn the_power_of_all_others_beside_a_ppdu_of_the_group_is_found() {
    sends_beside(&grouped("-67").replace("= -82", "= -72"), 75 + 43, 5.0);
}

#[test]
#[should_panic(expected = "only a PPDU of another BSS is ignored")]
fn a_ppdu_above_the_level_of_the_group_is_found() {
    ignored(&grouped("-76"));
}

#[test]
#[should_panic(expected = "a PPDU of another BSS below the level is ignored")]
fn who_goes_on_receiving_its_group_is_found() {
    let mut scene = Scene::of(&grouped("-67"));
    let frame = ppdu(&scene, 1);
    scene.begin(&frame);
    follow(&mut scene, us(75), &frame, &[0, 2]);
}

/// Three BSSs, of which the first and the third do not hear each other. All are a group but the
/// first. The second one loses 15 dB by PPDUs of the first, and 5 by those of the third.
const THREE: &str = "standard = '11ax'\nwlan.spatial_reuse.obss_pd_dbm = -62\n\
    wlan.spatial_reuse.srg = [{ bss_colors = [2, 3], obss_pd_dbm = -62, obss_pd_min_dbm = -72 }]\n\
    radio.tx_power_dbm = 16\nradio.losses_db = [[0, 50, 91, 300, 91, 300], \
    [50, 0, 91, 300, 91, 300], [91, 91, 0, 80, 50, 80], [300, 300, 80, 0, 80, 50], \
    [91, 91, 50, 80, 0, 80], [300, 300, 80, 50, 80, 0]]\n[[stations]]\n[[stations]]\ncell = 1\n\
    [[stations]]\ncell = 2\n[[cells]]\n[[cells]]\n[[flows]]\nfrom = 'sta*'\nto = 'ap'\n";

/// The second BSS ignores a PPDU of the first, and then one of the third that arrives at -64 dBm.
/// Its station sends beside both with so much less power.
fn sends_beside_two(cut: f64) {
    const NONE: u32 = 0;
    let mut scene = Scene::of(THREE);
    let to = |frame: OngoingFrame, to: u32, start: u64| OngoingFrame {
        to: Some(to),
        start: us(start),
        end: us(start + 200),
        ..frame
    };
    let first = to(ppdu(&scene, 1), 0, 43);
    let third = to(ppdu(&scene, 3), 5, 80);
    let own = to(ppdu(&scene, 2), 4, 80 + 32 + 43);
    let own = OngoingFrame { cut: Db(cut), ..own };
    let settle = |scene: &mut Scene, at: Instant, begins: Option<OngoingFrame>, by: [u32; 6]| {
        let frame = |from: u32| [first, own, third].into_iter().find(|frame| frame.from == from);
        let began = begins.map(|frame| (frame, vec![(0, frame.psdu)])).into_iter().collect();
        scene.watch.settle(at, &[], began, |node| {
            let sends = frame(node).is_some_and(|frame| frame.start <= at);
            let followed = frame(by[node as usize]).filter(|_| !sends);
            let follows = followed.map(|frame| (frame.from, frame.start));
            Senses { busy: sends || follows.is_some(), follows }
        });
    };
    settle(&mut scene, first.start, Some(first), [1, NONE, 1, NONE, 1, NONE]);
    settle(&mut scene, us(75), None, [1, NONE, NONE, NONE, NONE, NONE]);
    settle(&mut scene, third.start, Some(third), [1, NONE, 3, NONE, 3, 3]);
    settle(&mut scene, us(112), None, [1, NONE, NONE, NONE, NONE, 3]);
    settle(&mut scene, own.start, Some(own), [1, NONE, NONE, NONE, 2, 3]);
}

#[test]
fn of_two_ppdus_the_one_that_permits_less_power_counts() {
    sends_beside_two(15.0);
}

#[test]
#[should_panic(expected = "who has ignored a PPDU sends with less power")]
fn the_power_beside_the_last_ppdu_alone_is_found() {
    sends_beside_two(5.0);
}
