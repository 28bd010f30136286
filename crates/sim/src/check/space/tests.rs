//! Correct events pass, and each forged event violates the rule that it is made for.

mod bandwidth;
mod duplex;
mod protection;
mod reuse;
mod units;

use super::super::powers::Powers;
use super::*;
use crate::scenario::Scenario;
use kernel::{Db, Seed};
use wire::FrameKind;

const SEED: Seed = Seed { root: 1, replication: 0 };

/// Four nodes that receive each other with a path loss of 50 dB.
const BEGIN: &str = "standard = '11a'\nstations = 3\nwlan.rate_mbps = 24\n\
    radio.error_model = 'nist'\nradio.losses_db = [[0, 50, 50, 50], [50, 0, 50, 50], \
    [50, 50, 0, 50], [50, 50, 50, 0]]\n";
const FLOW: &str = "[[flows]]\nfrom = 'sta0'\nto = 'ap'\n";

pub(super) fn us(n: u64) -> Instant {
    Instant(n * 1000)
}

/// A checker, and methods that pass frames to it.
pub(super) struct Scene {
    pub(super) watch: Watch,
    nodes: u32,
}

impl Scene {
    pub(super) fn new(keys: &str) -> Self {
        Self::of(&format!("{BEGIN}{keys}{FLOW}"))
    }

    /// The checker of a scenario.
    pub(super) fn of(text: &str) -> Self {
        let plan = Scenario::parse(text).expect("a scenario");
        let plan = plan.resolve().expect("a plan");
        let space = plan.space.as_ref().expect("a space");
        let (radio, sites) = crate::build::radio_and_sites(&plan, space, &SEED);
        let access_points: Vec<bool> = sites.iter().map(|site| site.is_access_point).collect();
        let mac = crate::build::mac(&plan, space);
        let powers = Powers::new(radio, sites, mac.timing.standard.band)
            .full_duplex(mac.full_duplex.as_ref());
        let nodes = access_points.len() as u32;
        Self { watch: Watch::new(space, mac, powers, access_points), nodes }
    }

    /// A frame from station 0 or a higher one, in microseconds.
    pub(super) fn frame(
        &self,
        kind: FrameKind,
        ends: (u32, u32),
        times_us: [u64; 3],
    ) -> OngoingFrame {
        let [start, end, reserved] = times_us;
        OngoingFrame {
            from: ends.0,
            to: Some(ends.1),
            kind,
            edcaf: 0,
            mode: *self.watch.mac.timing.standard.modes.first().expect("a mode"),
            psdu: Bytes(100),
            start: us(start),
            end: us(end),
            reserves: us(reserved) - us(end),
            beside: None,
            cut: Db(0.0),
            users: Users::One,
        }
    }

    pub(super) fn heard(&self, node: u32, frame: &OngoingFrame) -> ReceivedFrame {
        ReceivedFrame {
            node,
            from: frame.from,
            to: frame.to,
            kind: frame.kind,
            start: frame.start,
            end: frame.end,
            power: self.watch.powers.at(node, frame),
            bursts: Vec::new(),
            interference: vec![(frame.start, frame.end, 0.0)],
            understood: true,
            hears_signal: false,
        }
    }

    /// A frame begins on an idle medium, and all other nodes receive it.
    pub(super) fn begin(&mut self, frame: &OngoingFrame) {
        let follows = |node| (node != frame.from).then_some((frame.from, frame.start));
        let mpdus = vec![(0, Bytes(100)); usize::from(frame.kind == FrameKind::Data)];
        self.watch.settle(frame.start, &[], vec![(*frame, mpdus)], |node| Senses {
            busy: true,
            follows: follows(node),
        });
    }

    /// The frame ends, with this outcome at the others.
    fn end(&mut self, frame: &OngoingFrame, change: impl Fn(&mut ReceivedFrame)) {
        let others = (0..self.nodes).filter(|&node| node != frame.from);
        let mut heard: Vec<ReceivedFrame> = others.map(|node| self.heard(node, frame)).collect();
        heard.iter_mut().for_each(change);
        self.watch.settle(frame.end, &heard, Vec::new(), |_| IDLE);
    }

    pub(super) fn show(&mut self, frame: &OngoingFrame) {
        self.begin(frame);
        self.end(frame, |_| {});
    }
}

pub(super) const IDLE: Senses = Senses { busy: false, follows: None };

/// Data from station 1 to the access point, from 34 to 134 µs, with its ACK; SIFS is 16 µs.
fn data(scene: &Scene) -> OngoingFrame {
    scene.frame(FrameKind::Data, (1, 0), [34, 134, 174])
}

fn ack(scene: &Scene) -> OngoingFrame {
    scene.frame(FrameKind::Ack, (0, 1), [150, 174, 174])
}

/// Passes data to the checker, and then a frame.
fn after_data(keys: &str, frame: impl Fn(&Scene) -> OngoingFrame) {
    let mut scene = Scene::new(keys);
    let data = data(&scene);
    scene.show(&data);
    let frame = frame(&scene);
    scene.show(&frame);
}

/// A data frame that one of its receivers reports differently.
fn misheard(change: impl Fn(&Scene, &mut ReceivedFrame)) {
    let mut scene = Scene::new("");
    let data = data(&scene);
    scene.begin(&data);
    let mut wrong = scene.heard(0, &data);
    change(&scene, &mut wrong);
    scene.watch.settle(data.end, &[wrong], Vec::new(), |_| IDLE);
}

#[test]
fn an_exchange_by_the_rules_passes() {
    let mut scene = Scene::new("");
    let frames = [
        scene.frame(FrameKind::Rts, (1, 0), [34, 60, 360]),
        scene.frame(FrameKind::Cts, (0, 1), [76, 100, 360]),
        scene.frame(FrameKind::Data, (1, 0), [116, 320, 360]),
        scene.frame(FrameKind::Ack, (0, 1), [336, 360, 360]),
        // DIFS is 34 µs.
        scene.frame(FrameKind::Data, (2, 0), [394, 400, 440]),
    ];
    for frame in &frames {
        scene.show(frame);
    }
}

#[test]
fn an_undecoded_frame_asks_for_an_eifs() {
    // EIFS: SIFS, an ACK of 44 µs at 6 Mb/s and DIFS.
    let begins = |start: u64| {
        let mut scene = Scene::new("");
        let data = data(&scene);
        scene.begin(&data);
        scene.end(&data, |heard| heard.understood = false);
        let next = scene.frame(FrameKind::Data, (2, 0), [start, start + 50, start + 90]);
        scene.show(&next);
    };
    begins(134 + 94);
    assert!(std::panic::catch_unwind(|| begins(134 + 93)).is_err());
}

#[test]
#[should_panic(expected = "HE-SIG-A sets the NAV of a user")]
fn a_signal_field_of_a_frame_to_one_station_is_found() {
    let mut scene = Scene::new("");
    let data = data(&scene);
    scene.begin(&data);
    scene.end(&data, |heard| (heard.understood, heard.hears_signal) = (false, true));
}

#[test]
#[should_panic(expected = "one transmission per radio")]
fn two_frames_at_once_from_one_node_are_found() {
    let mut scene = Scene::new("");
    let data = data(&scene);
    scene.begin(&data);
    let other = scene.frame(FrameKind::Data, (1, 2), [100, 200, 240]);
    scene.begin(&other);
}

#[test]
#[should_panic(expected = "a response begins a SIFS after its frame")]
fn an_answer_a_nanosecond_late_is_found() {
    after_data("", |scene| {
        let ack = ack(scene);
        OngoingFrame { start: Instant(ack.start.0 + 1), ..ack }
    });
}

#[test]
fn data_follows_a_cts_to_itself_a_sifs_later() {
    let begins = |start: u64| {
        let mut scene = Scene::new("");
        let frames = [
            scene.frame(FrameKind::CtsToSelf, (1, 1), [34, 60, 300]),
            scene.frame(FrameKind::Data, (1, 0), [start, 260, 300]),
        ];
        for frame in &frames {
            scene.show(frame);
        }
    };
    begins(76);
    assert!(std::panic::catch_unwind(|| begins(77)).is_err());
}

#[test]
#[should_panic(expected = "a response begins a SIFS after its frame")]
fn an_answer_to_what_was_not_understood_is_found() {
    let mut scene = Scene::new("");
    let (data, ack) = (data(&scene), ack(&scene));
    scene.begin(&data);
    scene.end(&data, |heard| heard.understood = heard.node != 0);
    scene.begin(&ack);
}

#[test]
#[should_panic(expected = "a response begins a SIFS after its frame")]
fn an_answer_of_somebody_else_is_found() {
    after_data("", |scene| OngoingFrame { from: 2, ..ack(scene) });
}

#[test]
#[should_panic(expected = "a response begins a SIFS after its frame")]
fn a_cts_for_data_is_found() {
    after_data("", |scene| OngoingFrame { kind: FrameKind::Cts, ..ack(scene) });
}

#[test]
#[should_panic(expected = "Duration fields end with the exchange")]
fn a_wrong_duration_field_is_found() {
    after_data("", |scene| OngoingFrame { end: us(180), reserves: Duration::ZERO, ..ack(scene) });
}

#[test]
#[should_panic(expected = "the last frame of an exchange reserves nothing")]
fn an_ack_that_reserves_is_found() {
    after_data("", |scene| OngoingFrame {
        end: us(170),
        reserves: Duration::from_micros(4),
        ..ack(scene)
    });
}

#[test]
#[should_panic(expected = "access waits for an idle medium and an interframe space")]
fn access_within_the_nav_is_found() {
    // The medium is idle from 134 µs on, and reserved up to 174 µs.
    after_data("", |scene| scene.frame(FrameKind::Data, (2, 0), [207, 250, 290]));
}

#[test]
#[should_panic(expected = "access waits for an idle medium and an interframe space")]
fn access_to_a_busy_medium_is_found() {
    let mut scene = Scene::new("");
    let data = data(&scene);
    scene.begin(&data);
    let other = scene.frame(FrameKind::Data, (2, 0), [100, 200, 240]);
    scene.begin(&other);
}

const QOS: &str = "wlan.qos = true\nwlan.edca.background = { aifsn = 2, txop_limit_us = 320 }\n";

#[test]
fn a_txop_goes_on_after_a_sifs() {
    let mut scene = Scene::new(QOS);
    let frames = [
        data(&scene),
        ack(&scene),
        scene.frame(FrameKind::Data, (1, 0), [190, 314, 354]),
        scene.frame(FrameKind::Ack, (0, 1), [330, 354, 354]),
    ];
    for frame in &frames {
        scene.show(frame);
    }
}

#[test]
#[should_panic(expected = "a TXOP keeps its limit")]
fn a_txop_that_is_too_long_is_found() {
    let mut scene = Scene::new(QOS);
    let frames = [data(&scene), ack(&scene), scene.frame(FrameKind::Data, (1, 0), [190, 315, 355])];
    for frame in &frames {
        scene.show(frame);
    }
}

#[test]
#[should_panic(expected = "only a single frame may be longer than its TXOP")]
fn an_aggregate_that_is_too_long_is_found() {
    let mut scene = Scene::new(QOS);
    let frame = scene.frame(FrameKind::Data, (1, 0), [34, 324, 355]);
    let mpdus = vec![(0, Bytes(40)), (1, Bytes(40))];
    scene.watch.settle(frame.start, &[], vec![(frame, mpdus)], |_| IDLE);
}

#[test]
#[should_panic(expected = "access waits for an idle medium and an interframe space")]
fn without_a_limit_there_is_one_exchange() {
    let mut scene = Scene::new("");
    let frames = [data(&scene), ack(&scene), scene.frame(FrameKind::Data, (1, 0), [190, 250, 290])];
    for frame in &frames {
        scene.show(frame);
    }
}

#[test]
#[should_panic(expected = "a received frame was sent")]
fn hearing_what_nobody_sent_is_found() {
    misheard(|_, heard| heard.start = us(35));
}

#[test]
#[should_panic(expected = "one reception per radio")]
fn two_receptions_at_once_are_found() {
    let mut scene = Scene::new("");
    let data = data(&scene);
    scene.begin(&data);
    let heard = scene.heard(0, &data);
    scene.watch.settle(data.end, &[heard.clone(), heard], Vec::new(), |_| IDLE);
}

#[test]
#[should_panic(expected = "a node that sends receives nothing")]
fn hearing_while_sending_is_found() {
    misheard(|scene, heard| {
        heard.node = 1;
        heard.power = scene.watch.powers.at(0, &data(scene));
    });
}

#[test]
#[should_panic(expected = "a node that sends receives nothing")]
fn following_while_sending_is_found() {
    let mut scene = Scene::new("");
    let data = data(&scene);
    let mpdus = vec![(0, Bytes(100))];
    let all_follow = Senses { busy: true, follows: Some((1, data.start)) };
    scene.watch.settle(data.start, &[], vec![(data, mpdus)], |_| all_follow);
}

#[test]
#[should_panic(expected = "the received power follows from propagation")]
fn a_wrong_power_is_found() {
    misheard(|_, heard| heard.power *= 1.0 + 1e-8);
}

#[test]
#[should_panic(expected = "interference is the sum of all others")]
fn a_wrong_interference_is_found() {
    misheard(|scene, heard| heard.interference[0].2 = 2e-9 * scene.watch.powers.noise);
}

#[test]
#[should_panic(expected = "interference is the sum of all others")]
fn interference_below_zero_is_found() {
    misheard(|_, heard| heard.interference[0].2 = -f64::MIN_POSITIVE);
}

#[test]
#[should_panic(expected = "interference is reported for the whole frame")]
fn interference_of_a_part_is_found() {
    misheard(|_, heard| heard.interference[0].1 = us(130));
}

#[test]
#[should_panic(expected = "interference is cut where it changes")]
fn interference_that_changes_unseen_is_found() {
    let mut scene = Scene::new("");
    let (first, second) = (data(&scene), scene.frame(FrameKind::Data, (2, 0), [34, 100, 140]));
    let mpdus = || vec![(0, Bytes(100))];
    let busy = Senses { busy: true, follows: None };
    scene.watch.settle(us(34), &[], vec![(first, mpdus()), (second, mpdus())], |_| busy);
    scene.watch.settle(us(100), &[], Vec::new(), |_| busy);
    let heard = scene.heard(0, &first);
    scene.watch.settle(us(134), &[heard], Vec::new(), |_| IDLE);
}

#[test]
#[should_panic(expected = "a decoded frame reaches the sensitivity")]
fn understanding_what_is_too_weak_is_found() {
    // 16 dBm less 50 dB is -34 dBm.
    let mut scene = Scene::new("radio.sensitivity_dbm = -33\n");
    let data = data(&scene);
    scene.show(&data);
}

#[test]
#[should_panic(expected = "a received frame can be detected")]
fn following_what_is_too_weak_is_found() {
    let mut scene = Scene::new("radio.detect_dbm = -33\n");
    let data = data(&scene);
    scene.show(&data);
}

#[test]
#[should_panic(expected = "a frame in reception is on the air")]
fn following_what_is_not_there_is_found() {
    let mut scene = Scene::new("");
    let senses = Senses { busy: true, follows: Some((1, us(3))) };
    scene.watch.settle(us(4), &[], Vec::new(), |_| senses);
}

#[test]
#[should_panic(expected = "carrier sense agrees with the frames on the air")]
fn sensing_what_is_not_there_is_found() {
    let senses = Senses { busy: true, follows: None };
    Scene::new("").watch.settle(us(4), &[], Vec::new(), |_| senses);
}

#[test]
#[should_panic(expected = "carrier sense agrees with the frames on the air")]
fn not_sensing_energy_is_found() {
    let mut scene = Scene::new("");
    let data = data(&scene);
    let senses = |node| if node == 2 { IDLE } else { Senses { busy: true, follows: None } };
    scene.watch.settle(data.start, &[], vec![(data, vec![(0, Bytes(100))])], senses);
}
