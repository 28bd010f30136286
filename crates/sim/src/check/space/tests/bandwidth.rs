//! A transmitter may leave out what of its channel was busy, and must; each forged frame violates a
//! rule.

use super::{Scene, us};
use wifi::phy::{DOT11BE, ModeClass, Punctured, TxVector, Width};
use wifi::space::{OngoingFrame, Senses, Users};
use wire::FrameKind;

/// An access point with 80 MHz on channel 36, its station, a station of 20 MHz in channel 48, and
/// the access point of that. With a loss of 80 dB the last two arrive at the first with -60 dBm.
fn two(loss_db: u32) -> Scene {
    Scene::of(&format!(
        "standard = '11be'\nwlan.bandwidth_operation = 'punctured'\nap.channel = 36\n\
         radio.tx_power_dbm = 20\nradio.losses_db = [[0, 50, {loss_db}, {loss_db}], \
         [50, 0, {loss_db}, {loss_db}], [{loss_db}, {loss_db}, 0, 50], \
         [{loss_db}, {loss_db}, 50, 0]]\n[[stations]]\nwidth_mhz = 80\n\
         [[stations]]\ncell = 1\n[[cells]]\nchannel = 48\n[[flows]]\nfrom = 'sta*'\nto = 'ap'\n"
    ))
}

/// A PPDU of station 1 with this width and these subchannels punctured, from then to 200 µs later.
fn wide(scene: &Scene, at: u64, width: Width, punctured: &[u32]) -> OngoingFrame {
    let punctured = Punctured::of_numbers(width, punctured).unwrap();
    let vector = TxVector { width, mcs: 3, ..DOT11BE.tx_vector().unwrap() };
    let mode = TxVector { punctured, ..vector }.mode().unwrap();
    let frame = scene.frame(FrameKind::Data, (1, 0), [at, at + 200, at + 260]);
    OngoingFrame { mode, edcaf: 1, ..frame }
}

/// The station of the other network sends from 43 to 243 µs, and station 1 begins at 100 µs, which
/// has begun no TXOP before.
fn sends(loss_db: u32, width: Width, punctured: &[u32]) {
    let mut scene = two(loss_db);
    let other = wide(&scene, 43, Width::Mhz20, &[]);
    let other = OngoingFrame { from: 2, to: Some(3), ..other };
    show(&mut scene, other);
    let own = wide(&scene, 100, width, punctured);
    show(&mut scene, own);
}

/// A frame begins. The nodes of the other network receive the frame of theirs, and access point 0
/// that of station 1.
fn show(scene: &mut Scene, frame: OngoingFrame) {
    let began = vec![(frame, vec![(0, frame.psdu)])];
    scene.watch.settle(frame.start, &[], began, |node| {
        let follows = match node {
            3 => Some((2, us(43))),
            0 if frame.from == 1 => Some((1, frame.start)),
            _ => None,
        };
        Senses { busy: node >= 2 || frame.from == 1, follows }
    });
}

#[test]
fn what_was_busy_is_left_out() {
    sends(80, Width::Mhz80, &[4]);
}

#[test]
fn a_narrower_channel_may_be_taken() {
    sends(80, Width::Mhz40, &[]);
}

#[test]
#[should_panic(expected = "a frame leaves out what was busy before its TXOP")]
fn a_frame_in_all_of_the_channel_is_found() {
    sends(80, Width::Mhz80, &[]);
}

#[test]
#[should_panic(expected = "a frame leaves out what was busy before its TXOP")]
fn a_frame_without_another_part_is_found() {
    sends(80, Width::Mhz80, &[3]);
}

#[test]
#[should_panic(expected = "a punctured frame has a pattern of the standard")]
fn a_frame_without_its_primary_channel_is_found() {
    sends(80, Width::Mhz80, &[1]);
}

/// A station of the wide network sends this in a resource unit, in a TXOP of its access point that
/// has found channel 48, the fourth part, busy.
fn answers(users: Users, class: ModeClass, punctured: &[u32]) {
    let mut scene = two(80);
    scene.watch.bandwidth.on_win(0, vec![5240.0]);
    let frame = wide(&scene, 100, Width::Mhz80, punctured);
    let mut mode = frame.mode;
    mode.class = class;
    scene.watch.now = frame.start;
    scene.watch.check_bandwidth(&OngoingFrame { users, mode, ..frame });
}

#[test]
fn an_answer_beside_what_was_busy_passes() {
    answers(Users::Unit(0), ModeClass::He, &[4]);
}

#[test]
#[should_panic(expected = "a frame leaves out what was busy before its TXOP")]
fn an_answer_in_what_was_busy_is_found() {
    answers(Users::Unit(0), ModeClass::He, &[]);
}

#[test]
#[should_panic(expected = "a punctured frame has a pattern of the standard")]
fn a_punctured_frame_of_ax_to_one_station_is_found() {
    answers(Users::One, ModeClass::He, &[4]);
}

/// At -72.5 dBm, 20 MHz are not busy.
#[test]
fn what_is_too_weak_need_not_be_left_out() {
    sends(93, Width::Mhz80, &[]);
}

#[test]
#[should_panic(expected = "a frame leaves out what was busy before its TXOP")]
fn what_is_just_strong_enough_must() {
    sends(91, Width::Mhz80, &[]);
}
