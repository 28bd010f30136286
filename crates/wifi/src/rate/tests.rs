//! Scripts for single algorithms, and synthetic channels for all of them.

use super::*;
use crate::phy::DOT11A;
use crate::phy::error::Nist;
use kernel::{Duration, Rng, Seed};

/// The eight modes of 802.11a.
pub(super) fn ladder() -> Ladder {
    Ladder::new(&DOT11A, DOT11A.modes.iter().copied())
}

/// A link with an initial mode.
pub(super) fn link() -> LinkModes {
    LinkModes {
        standard: &DOT11A,
        mode: DOT11A.fastest(),
        vector: None,
        lowest: DOT11A.modes[0].rate,
        non_erp: false,
        has_radio: true,
    }
}

/// The controller that an algorithm builds for this link.
pub(super) fn build(rule: &dyn Rule) -> Box<dyn RateControl> {
    build_for(rule, &link())
}

pub(super) fn build_for(rule: &dyn Rule, link: &LinkModes) -> Box<dyn RateControl> {
    let sampling = Seed { root: 5, replication: 0 }.stream("rate.sample", 0);
    rule.build(link, &Nist {}, sampling).expect("a mode that changes")
}

impl RateControl for Box<dyn RateControl> {
    fn select(&mut self, now: Instant, attempt: u32) -> AttemptParameters {
        (**self).select(now, attempt)
    }

    fn on_report(&mut self, now: Instant, report: &TxReport) {
        (**self).on_report(now, report);
    }
}

/// A controller and its attempts.
pub(super) struct Script<R> {
    control: R,
    now: Instant,
    step: Duration,
}

impl<R: RateControl> Script<R> {
    /// One attempt in each 10 ms.
    pub(super) fn new(control: R) -> Self {
        Self::with_step(control, Duration::from_millis(10))
    }

    pub(super) fn with_step(control: R, step: Duration) -> Self {
        Self { control, now: Instant::ZERO, step }
    }

    /// Attempts that succeed (+), fail (-) or end without CTS (r), and the index on the ladder
    /// after each.
    pub(super) fn places(&mut self, attempts: &str) -> Vec<usize> {
        attempts.chars().map(|attempt| self.place_after(attempt)).collect()
    }

    fn place_after(&mut self, attempt: char) -> usize {
        let AttemptParameters { mode, rts, .. } = self.control.select(self.now, 0);
        let answer = match attempt {
            '+' => Answer::Acked(1),
            '-' => Answer::None,
            _ => Answer::NoCts,
        };
        self.control.on_report(self.now, &TxReport { mode, rts, sent: 1, answer, snr: None });
        let place = ladder().find(&self.control.select(self.now, 0).mode).unwrap();
        self.now += self.step;
        place
    }

    /// Whether the next attempt has an RTS.
    pub(super) fn rts(&mut self) -> bool {
        self.control.select(self.now, 0).rts
    }
}

/// A channel in which each mode has its success probability. In addition, collisions affect every
/// attempt except those after a CTS.
struct Channel {
    ladder: Ladder,
    success: Vec<f64>,
    collisions: f64,
    rng: Rng,
    now: Instant,
}

/// The throughput of a controller and its modes.
struct Result {
    /// Frames per second of airtime.
    throughput: f64,
    /// Share of attempts by index of the mode.
    share: Vec<f64>,
}

impl Channel {
    fn new(success: &[f64]) -> Self {
        let rng = Seed { root: 11, replication: 0 }.stream("test", 0);
        let success = success.to_vec();
        Self { ladder: ladder(), success, collisions: 0.0, rng, now: Instant::ZERO }
    }

    /// All modes below this index succeed, and no others.
    fn cliff(place: usize) -> Self {
        Self::new(&(0..8).map(|n| f64::from(u8::from(n < place))).collect::<Vec<_>>())
    }

    /// The highest throughput of one fixed mode, in frames per second.
    fn best(&self) -> f64 {
        let rungs = self.ladder.rungs().iter().zip(&self.success);
        let rate = |(rung, success): (&Rung, &f64)| success / rung.time.as_secs_f64();
        rungs.map(rate).fold(0.0, f64::max) * (1.0 - self.collisions)
    }

    /// Sends frames with up to seven attempts for so many seconds of airtime.
    fn run(&mut self, control: &mut dyn RateControl, seconds: u64) -> Result {
        let start = self.now;
        let end = start + Duration::from_secs(seconds);
        let mut attempts = vec![0.0; self.success.len()];
        let mut delivered = 0.0;
        while self.now < end {
            for attempt in 0..7 {
                let choice = control.select(self.now, attempt);
                let place = self.ladder.find(&choice.mode).unwrap();
                attempts[place] += 1.0;
                let collision = self.rng.chance(self.collisions);
                let answer = match (collision, choice.rts) {
                    (true, true) => Answer::NoCts,
                    (false, _) if self.rng.chance(self.success[place]) => Answer::Acked(1),
                    _ => Answer::None,
                };
                self.now += match answer {
                    // RTS and timeout at 6 Mb/s.
                    Answer::NoCts => Duration::from_micros(200),
                    _ => self.ladder.rungs()[place].time,
                };
                let AttemptParameters { mode, rts, .. } = choice;
                let report = TxReport { mode, rts, sent: 1, answer, snr: None };
                control.on_report(self.now, &report);
                if answer == Answer::Acked(1) {
                    delivered += 1.0;
                    break;
                }
            }
        }
        let all: f64 = attempts.iter().sum();
        Result {
            throughput: delivered / self.now.since(start).as_secs_f64(),
            share: attempts.into_iter().map(|count| count / all).collect(),
        }
    }
}

/// All controllers that learn from attempts, with the share of the best throughput that each must
/// reach at a cliff.
fn learners() -> Vec<(Box<dyn RateControl>, f64)> {
    vec![
        (build(&ArfSettings::default()), 0.85),
        (build(&AarfSettings::default()), 0.96),
        (build(&CaraSettings {}), 0.80),
        // At 6 Mb/s, six consecutive frames raise the rate, and four losses lower it again.
        (build(&RraaSettings {}), 0.65),
        (build(&MinstrelSettings {}), 0.88),
        (build(&MinstrelHtSettings::default()), 0.90),
    ]
}

#[test]
fn each_controller_finds_the_last_mode_before_a_cliff() {
    for place in [1, 3, 5, 8] {
        for (mut control, wanted) in learners() {
            let mut channel = Channel::cliff(place);
            channel.run(&mut *control, 3);
            let result = channel.run(&mut *control, 10);
            let share = result.throughput / channel.best();
            assert!(share > wanted, "{control:?}\n{share} at {place}: {:?}", result.share);
            assert!(share <= 1.001, "{share}");
        }
    }
}

#[test]
fn each_controller_adapts_to_a_channel_that_changes() {
    for (mut control, wanted) in learners() {
        let mut now = Instant::ZERO;
        for place in [8, 2, 6] {
            let mut channel = Channel { now, ..Channel::cliff(place) };
            channel.run(&mut *control, 2);
            let result = channel.run(&mut *control, 5);
            let share = result.throughput / channel.best();
            assert!(share > wanted - 0.05, "{control:?}\n{share} at {place}: {:?}", result.share);
            now = channel.now;
        }
    }
}

#[test]
fn with_gradual_losses_the_samplers_find_the_highest_throughput() {
    // 36 Mb/s with 0.75 exceeds 24 with 0.97 and 48 with 0.45. ARF treats each loss alike.
    let slope = [1.0, 1.0, 1.0, 0.99, 0.97, 0.90, 0.45, 0.10];
    let throughput = |mut control: Box<dyn RateControl>| {
        let mut channel = Channel::new(&slope);
        channel.run(&mut *control, 3);
        let result = channel.run(&mut *control, 10);
        (result.throughput / channel.best(), result.share[5])
    };
    for (control, _) in learners().into_iter().skip(4) {
        let name = format!("{control:?}");
        let (share, best_place) = throughput(control);
        assert!(share > 0.9 && best_place > 0.75, "{name}\n{share}, {best_place}");
    }
    let (share, _) = throughput(build(&AarfSettings::default()));
    assert!((0.6..0.97).contains(&share), "{share}");
}

#[test]
fn collisions_lower_the_rate_of_arf_and_not_of_algorithms_with_rts() {
    let run = |control: &mut dyn RateControl| {
        let mut channel = Channel { collisions: 0.3, ..Channel::new(&[1.0; 8]) };
        channel.run(control, 3);
        channel.run(control, 10).share
    };
    let arf = run(&mut *build(&ArfSettings::default()));
    let aarf = run(&mut *build(&AarfSettings::default()));
    let cara = run(&mut Cara::new(ladder()));
    let rraa = run(&mut Rraa::new(ladder()));
    assert!(arf[7] < 0.2 && aarf[7] < 0.2, "{arf:?} {aarf:?}");
    assert!(cara[7] > 0.95, "{cara:?}");
    // RRAA sends an RTS only after a loss, so that a fifth of the losses that it counts are still
    // collisions.
    assert!(rraa[5..].iter().sum::<f64>() > 0.95, "{rraa:?}");
    assert!(arf[5..].iter().sum::<f64>() < 0.3, "{arf:?}");
}

#[test]
fn an_mpdu_lost_is_no_failure_and_half_of_them_is() {
    let mode = DOT11A.fastest();
    let success = |sent, answer| TxReport { mode, rts: false, sent, answer, snr: None }.success();
    assert_eq!(success(1, Answer::Acked(1)), Some(true));
    assert_eq!(success(32, Answer::Acked(16)), Some(true));
    assert_eq!(success(32, Answer::Acked(15)), Some(false));
    assert_eq!(success(32, Answer::Acked(0)), Some(false));
    assert_eq!(success(1, Answer::None), Some(false));
    assert_eq!(success(1, Answer::NoCts), None);
}

#[test]
fn equal_streams_give_equal_runs() {
    let run = || {
        let rng = Seed { root: 5, replication: 0 }.stream("rate.sample", 3);
        let mut channel = Channel::new(&[1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]);
        channel.run(&mut Minstrel::new(ladder(), rng), 3).throughput.to_bits()
    };
    assert_eq!(run(), run());
}
