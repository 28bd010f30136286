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

/// Station 1 sends. The nodes of the other BSS follow its PPDU until 32 µs after its begin.
fn ignored() -> (Scene, OngoingFrame) {
    let mut scene = Scene::of(TWO);
    let frame = ppdu(&scene, 1);
    scene.begin(&frame);
    follow(&mut scene, us(75), &frame, &[0]);
    (scene, frame)
}

/// Station 2 sends beside it, at this instant and with so much less power.
fn sends_beside(at: u64, cut: f64) {
    let (mut scene, first) = ignored();
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
    sends_beside(75 + 43, 5.0);
}

#[test]
#[should_panic(expected = "access waits for an idle medium and an interframe space")]
fn who_ignores_a_ppdu_waits_for_an_aifs() {
    sends_beside(75 + 42, 5.0);
}

#[test]
#[should_panic(expected = "who has ignored a PPDU sends with less power")]
fn full_power_beside_an_ignored_ppdu_is_found() {
    sends_beside(75 + 43, 0.0);
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
