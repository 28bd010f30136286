//! Correct exchanges of two data frames pass, and each forged one violates a rule.

use super::{IDLE, Scene, us};
use kernel::{Bytes, Duration};
use wifi::space::{OngoingFrame, Senses};
use wire::FrameKind;

const KEYS: &str = "wlan.full_duplex = {}\nwlan.rts_threshold_bytes = 0\n";

/// RTS of station 1 and CTS of the access point, which announces a frame that ends 100 us after
/// that of the station; then both data frames.
fn both(keys: &str, change: impl Fn(&mut [OngoingFrame; 2])) -> (Scene, [OngoingFrame; 2]) {
    let mut scene = Scene::new(keys);
    let beside = |delay: u64, frame| {
        let beside = Some(Duration::from_micros(delay));
        OngoingFrame { beside, ..frame }
    };
    let cts = beside(100, scene.frame(FrameKind::Cts, (0, 1), [76, 100, 460]));
    for frame in [scene.frame(FrameKind::Rts, (1, 0), [34, 60, 360]), cts] {
        scene.show(&frame);
    }
    let mut frames = [
        beside(100, scene.frame(FrameKind::Data, (1, 0), [116, 320, 460])),
        beside(0, scene.frame(FrameKind::Data, (0, 2), [116, 420, 460])),
    ];
    change(&mut frames);
    let began = frames.map(|frame| (frame, vec![(0, Bytes(100))])).to_vec();
    let follows = |node| Senses { busy: true, follows: (node == 0).then_some((1, us(116))) };
    scene.watch.settle(us(116), &[], began, follows);
    (scene, frames)
}

#[test]
fn a_station_and_the_access_point_send_at_once() {
    let (mut scene, [primary, _]) = both(KEYS, |_| {});
    let heard = scene.heard(0, &primary);
    scene.watch.settle(us(320), &[heard], Vec::new(), |_| Senses { busy: true, ..IDLE });
    scene.watch.settle(us(420), &[], Vec::new(), |_| IDLE);
    let beside = Some(Duration::ZERO);
    let ack = scene.frame(FrameKind::Ack, (0, 1), [436, 460, 460]);
    scene.begin(&OngoingFrame { beside, ..ack });
}

#[test]
#[should_panic(expected = "a response begins a SIFS after its frame")]
fn a_response_before_the_end_of_the_longer_frame_is_found() {
    let (mut scene, [primary, _]) = both(KEYS, |frames| {
        // The access point would end first.
        frames[1].end = us(220);
        frames[1].reserves = Duration::from_micros(240);
        frames[1].beside = Some(Duration::from_micros(100));
        frames[0].beside = Some(Duration::ZERO);
    });
    let heard = scene.heard(0, &primary);
    scene.watch.settle(us(320), &[heard], Vec::new(), |_| IDLE);
    let ack = scene.frame(FrameKind::Ack, (0, 1), [335, 360, 360]);
    scene.begin(&ack);
}

#[test]
#[should_panic(expected = "a full-duplex node sends a secondary frame")]
fn a_secondary_frame_of_a_half_duplex_access_point_is_found() {
    both("wlan.rts_threshold_bytes = 0\n", |_| {});
}

#[test]
#[should_panic(expected = "a secondary frame is for another")]
fn a_secondary_frame_for_the_primary_transmitter_is_found() {
    both(KEYS, |frames| frames[1].to = Some(1));
}

#[test]
#[should_panic(expected = "a secondary frame has the given rate")]
fn a_secondary_frame_at_another_rate_is_found() {
    both("wlan.full_duplex.secondary_rate_mbps = 54.0\nwlan.rts_threshold_bytes = 0\n", |_| {});
}

#[test]
#[should_panic(expected = "responses follow the longer frame")]
fn a_response_that_would_come_early_is_found() {
    both(KEYS, |frames| frames[0].beside = Some(Duration::from_micros(99)));
}

#[test]
#[should_panic(expected = "a CTS announces two frames")]
fn a_frame_beside_another_without_a_cts_is_found() {
    let mut scene = Scene::new(KEYS);
    let frame = scene.frame(FrameKind::Data, (1, 0), [34, 134, 174]);
    scene.begin(&OngoingFrame { beside: Some(Duration::ZERO), ..frame });
}

#[test]
#[should_panic(expected = "a node that sends receives nothing")]
fn a_frame_that_began_after_its_own_is_not_received() {
    let mut scene = Scene::new(KEYS);
    let own = scene.frame(FrameKind::Data, (0, 2), [34, 134, 174]);
    scene.begin(&own);
    let other = scene.frame(FrameKind::Data, (1, 0), [35, 134, 174]);
    let follows = |node| Senses { busy: true, follows: (node == 0).then_some((1, us(35))) };
    scene.watch.frames.push(other);
    scene.watch.settle(us(35), &[], Vec::new(), follows);
}
